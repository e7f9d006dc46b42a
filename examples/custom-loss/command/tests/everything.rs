//! What a loss gets for free: fits with a certificate, kernels, cross-validation, probabilities,
//! the Psi-transform, model files, the command.

use std::process::Command;

use custom_command::registry;
use custom_losses::{DistanceWeighted, Tsallis};
use margins::calibration::PsiTransform;
use margins::data::generate::{Example, GaussianMixture};
use margins::data::split::stratified_folds;
use margins::data::{Dataset, Sample};
use margins::kernels::{Gaussian, Gram, Kernel, KernelObjective};
use margins::losses::MarginLoss;
use margins::model::Format;
use margins::optim::{
    Lambda, Objective, Options, Solver, Training, cross_validate, fit, lambda_grid,
};
use margins::{Model, Preparation, Prepared, Registry};

/// `1/(1 + ||x - z||^2/width^2)`: positive semidefinite, as a mixture of Gaussians.
#[derive(Debug)]
struct Cauchy {
    width: f64,
}

impl Kernel for Cauchy {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        1.0 / (1.0 + x.squared_distance(z) / self.width.powi(2))
    }
    fn name(&self) -> &str {
        "cauchy"
    }
    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("width", self.width)]
    }
    fn is_positive_semidefinite(&self) -> bool {
        true
    }
}

fn losses() -> [Box<dyn MarginLoss>; 3] {
    [
        Box::new(DistanceWeighted::new(1.0).unwrap()),
        Box::new(Tsallis::new(1.5).unwrap()),
        Box::new(Tsallis::new(2.0).unwrap()),
    ]
}

fn data() -> Dataset {
    GaussianMixture::example(Example::One, 1).unwrap().sample(80, 2).unwrap()
}

#[test]
fn linear_and_kernel_fits_are_certified() {
    let data = data();
    let gram = Gram::new(&Gaussian::new(0.5).unwrap(), data.design()).unwrap();
    for loss in losses() {
        for lambda in [1.0, 1e-2, 1e-4] {
            let lambda = Lambda::new(lambda).unwrap();
            let objective = Objective::of(&*loss, &data).unwrap();
            let newton = fit(&objective, lambda, &Options::default()).unwrap().report;
            let options = Options { solver: Solver::MM_ACCELERATED, ..Options::default() };
            let mm = fit(&objective, lambda, &options).unwrap().report;
            assert!(newton.converged() && mm.converged(), "{newton:?} {mm:?}");
            assert!((newton.objective - mm.objective).abs() <= 2e-6 * newton.objective);
            let objective = KernelObjective::new(&*loss, &gram, data.labels()).unwrap();
            let fit = margins::kernels::fit(&objective, lambda, &Options::default()).unwrap();
            assert!(fit.report.converged(), "{:?}", fit.report);
        }
    }
}

#[test]
fn the_psi_transform_bounds_the_excess_error() {
    for loss in losses() {
        let psi = PsiTransform::of(&*loss).unwrap();
        for a in [0.1, 0.5, 0.9] {
            assert!((psi.inverse(psi.value(a)) - a).abs() < 1e-9);
        }
    }
    // With the entropy H, Psi(a) = H(1/2) - H((1+a)/2); of order 2 a quarter of a^2.
    let sparsemax = Tsallis::new(2.0).unwrap();
    let psi = PsiTransform::of(&sparsemax).unwrap();
    assert!((psi.value(0.6) - 0.09).abs() < 1e-9);
}

#[test]
fn a_model_needs_the_registry_that_knows_its_loss() {
    let folder = tempfile::tempdir().unwrap();
    let data = data();
    let loss = registry().losses.parse("tsallis:alpha=1.5").unwrap();
    let training = Training::new(&*loss);
    let folds = stratified_folds(data.labels(), 4, 1).unwrap();
    let grid = lambda_grid(1.0, 1e-4, 8).unwrap();
    let cv = cross_validate(&training, &data, &folds, &grid).unwrap();
    assert!(cv.curve.certified.iter().all(|&certified| certified));
    let best = &cv.fits[cv.curve.best];
    let model = Prepared::linear(&data).model(&*loss, false, best).unwrap();
    for name in ["model.json", "model.mgn"] {
        let path = folder.path().join(name);
        model.save(&path).unwrap();
        let read = Model::load(&path, &registry()).unwrap();
        assert_eq!(read, model);
        let scores = read.decision_function(data.design(), &registry()).unwrap();
        for (score, x) in scores.iter().zip(data.design().samples()) {
            assert_eq!(*score, best.score(&x));
        }
        let refusal = Model::load(&path, &Registry::standard()).unwrap_err().to_string();
        assert!(refusal.contains("Registry::with_loss(\"tsallis\", ...)"), "{refusal}");
    }
    // From 1/(alpha - 1) on the class is certain.
    assert_eq!(loss.probability(2.5), Some(1.0));
}

/// A kernel of one's own is found by its name in the same way.
#[test]
fn a_model_needs_the_registry_that_knows_its_kernel() {
    let registry = Registry::standard().with_kernel("cauchy", &[("width", Some(1.0))], |values| {
        Ok(Box::new(Cauchy { width: values[0] }))
    });
    let (data, loss) = (data(), Tsallis::new(1.5).unwrap());
    let kernels = &registry.kernels;
    let preparation = Preparation { standardize: true, seed: 1, ..Preparation::default() };
    let prepared = Prepared::for_kernel("cauchy:width=2", kernels, &data, preparation).unwrap();
    let fits = prepared.path(&Training::new(&loss), &[Lambda::new(0.01).unwrap()]).unwrap();
    let model = prepared.model(&loss, true, &fits[0]).unwrap();
    let bytes = model.to_bytes(Format::Binary).unwrap();

    let refusal = Model::from_bytes(&bytes, &custom_command::registry()).unwrap_err().to_string();
    assert!(refusal.contains("Registry::with_kernel(\"cauchy\", ...)"), "{refusal}");
    let registry =
        Registry { losses: custom_losses::register(registry.losses), kernels: registry.kernels };
    let read = Model::from_bytes(&bytes, &registry).unwrap();
    let scores = read.decision_function(data.design(), &registry).unwrap();
    for (score, fitted) in scores.iter().zip(prepared.scores(&fits[0]).unwrap()) {
        assert!((score - fitted).abs() < 1e-9, "{score} {fitted}");
    }
}

#[test]
fn the_command_knows_the_losses() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_custom-command"))
            .current_dir(folder.path())
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let data = "mixture:example=1,n=60,seed=1";
    let cv = ["cv", "--data", data, "--lambdas", "1:1e-3:5", "--out"];
    for (model, extra) in [
        ("model.json", &["--loss", "dwd:q=2"][..]),
        ("model.mgn", &["--loss", "tsallis", "--kernel", "gaussian"]),
    ] {
        let table = run(&[&cv[..], &[model], extra].concat());
        assert!(table.contains("5 of 5 lambdas, every fold"), "{table}");
        let predictions = run(&["predict", "--model", model, "--data", data]);
        assert_eq!(predictions.lines().count(), 61);
        assert!(predictions.starts_with("score,label,probability\n"), "{predictions}");
    }
    assert!(run(&["psi", "--loss", "dwd", "--at", "0.5"]).contains("0.5"));
}

/// Whatever the program prints about itself can be typed again, because it has its own name.
#[test]
fn the_command_calls_itself_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let program = env!("CARGO_BIN_EXE_custom-command");
        let output = Command::new(program).current_dir(&folder).args(arguments).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let version = concat!("custom-command (margins ", env!("CARGO_PKG_VERSION"), ")");
    assert_eq!(run(&["--version"]), format!("{version}\n"));
    let fit =
        ["fit", "--data", "mixture:n=20", "--loss", "dwd", "--lambda", "1", "--report", "p.json"];
    run(&fit);
    let page = std::fs::read_to_string(folder.path().join("p.json")).unwrap();
    assert!(page.contains(&format!("\"custom-command {}\"", fit.join(" "))), "{page}");
    assert!(page.contains(&format!("\"program\":\"{version}\"")), "{page}");
    run(&["man", "man1"]);
    let manual = std::fs::read_to_string(folder.path().join("man1/custom-command-fit.1")).unwrap();
    let texts = [
        run(&["--help"]),
        run(&["examples"]),
        run(&["completions", "bash"]),
        run(&["completions", "--help"]),
        run(&["fit", "--epochs", "1"]),
        run(&["stream", "--data", "mixture:n=20", "--lambda", "1"]),
        run(&["fit", "--data", "mixture:n=20", "--lambda", "1", "--memory", "1GB"]),
        manual,
    ];
    for text in texts {
        assert!(text.contains("custom-command") || text.contains("custom\\-command"), "{text}");
        for command in ["fit", "inspect", "stream", "blocks", "examples", "completions"] {
            assert!(!text.contains(&format!("margins {command}")), "{text}");
        }
    }
}
