//! Every way to a classifier gives the same bits on 1, 2 and 8 threads.
#![cfg(all(feature = "rayon", feature = "serde"))]

use std::fmt::Debug;
use std::sync::Arc;

use margins_data::blocks::{self, BlockFile, BlockSettings};
use margins_data::{ClassLabels, Classes, Dataset, Memory};
use margins_estimators::regularised::{
    Approximation, ClassifierSettings, CrossValidation, FileRows, FittedClassifier, KernelChoice,
    LeaveOneOut, Probabilities, Regularisation,
};
use margins_estimators::{Error, focused, massart, on_threads, stream};
use margins_massart::{Problem, Target};
use margins_model::{Format, Model, Registry, Scheme};
use margins_optim::{Lambda, lambda_grid};
use margins_test_support::{SOLVERS, lambda, loss, losses_of, mixture};

/// The learners of games.
const LEARNERS: [&str; 7] = [
    "perceptron",
    "averaged-perceptron",
    "passive-aggressive:capped=1",
    "online-gradient:inverse-sqrt=1,loss=hinge",
    "stump:thresholds=10,eta=0.1",
    "kernel-perceptron:budget=50",
    "mlp:hidden=8,step=0.05,loss=logistic",
];

/// A fit, which returns its whole result as text.
type Job = Box<dyn Fn() -> Result<String, Error> + Send + Sync>;

/// Rows of two classes, enough of them for threads to have several parts each.
fn many() -> Dataset {
    mixture(4000, 10)
}

/// Rows of so many values that products with them are made by parts.
fn large() -> Dataset {
    mixture(30_000, 40)
}

fn few() -> Dataset {
    mixture(150, 10)
}

/// The rows with three classes, by the quadrant of the first two features.
fn three(data: &Dataset) -> Dataset<Classes> {
    let name = |row: usize| {
        let mut first = [0.0; 2];
        data.design().sample(row).for_each(|column, x| {
            if let Some(own) = first.get_mut(column) {
                *own = x;
            }
        });
        if first[0] > 0.0 {
            "right"
        } else if first[1] > 0.0 {
            "above"
        } else {
            "below"
        }
    };
    let names: Vec<&str> = (0..data.rows()).map(name).collect();
    data.relabelled(Classes::new(&names).expect("three classes")).expect("as many labels")
}

fn told(what: impl Debug) -> String {
    format!("{what:?}")
}

fn text(model: &Model) -> String {
    let bytes = model.to_bytes(Format::Json).expect("a model is JSON");
    String::from_utf8(bytes).expect("JSON is text")
}

fn outcome(fitted: &FittedClassifier) -> String {
    let (errors, reports) = (&fitted.report.curve, fitted.fits.iter().map(|fit| &fit.report));
    let ends = reports.map(|report| (report.objective, report.relative_gap, report.iterations));
    told((text(&fitted.model), errors, ends.collect::<Vec<_>>(), &fitted.exact))
}

fn grid() -> Vec<Lambda> {
    lambda_grid(1.0, 1e-4, 5).expect("a grid")
}

fn at(value: f64) -> ClassifierSettings {
    ClassifierSettings {
        regularisation: Regularisation::Single(lambda(value)),
        ..ClassifierSettings::default()
    }
}

fn validated(settings: ClassifierSettings) -> ClassifierSettings {
    let how = CrossValidation { lambdas: grid(), folds: Some(3), ..CrossValidation::default() };
    ClassifierSettings { regularisation: Regularisation::CrossValidated(how), ..settings }
}

fn kernel(settings: ClassifierSettings, approximation: Approximation) -> ClassifierSettings {
    let specifications = vec!["gaussian:sigma=0.5".to_owned()];
    let kernels = KernelChoice { specifications, approximation, ..KernelChoice::default() };
    ClassifierSettings { kernels, ..settings }
}

fn with_loss(name: &str, settings: ClassifierSettings) -> ClassifierSettings {
    ClassifierSettings { loss: Arc::from(loss(name)), ..settings }
}

fn fit<Y>(settings: ClassifierSettings, data: Dataset<Y>) -> Job
where
    Y: ClassLabels + Send + Sync + 'static,
{
    Box::new(move || settings.fit(&data).map(|fitted| outcome(&fitted)))
}

fn regularised() -> Vec<(String, Job)> {
    let mut jobs: Vec<(String, Job)> = Vec::new();
    let mut add = |name: &str, job: Job| jobs.push((name.to_owned(), job));
    for solver in SOLVERS {
        let name = losses_of(solver)[0];
        let mut settings = with_loss(name, at(1e-3));
        settings.options.solver = solver;
        settings.options.max_iterations = Some(50);
        add(&format!("{solver:?} of {name}"), fit(settings, many()));
    }
    add("large", fit(ClassifierSettings { standardize: true, ..at(1e-4) }, large()));
    add("standardised", fit(ClassifierSettings { standardize: true, ..at(1e-5) }, many()));
    add("cross-validation", fit(validated(ClassifierSettings::default()), many()));
    add(
        "cross-validated hinge",
        fit(validated(with_loss("hinge", ClassifierSettings::default())), many()),
    );
    for scheme in [Scheme::OneVersusRest, Scheme::OneVersusOne] {
        let settings =
            ClassifierSettings { scheme: Some(scheme), ..validated(ClassifierSettings::default()) };
        add(&format!("{scheme:?}"), fit(settings, three(&many())));
    }
    let platt = Probabilities::Platt { folds: Some(3) };
    add("Platt scaling", fit(ClassifierSettings { probabilities: platt, ..at(1e-2) }, many()));
    for learner in ["catoni", "median-of-means", "margin-distribution", "garg-roth"] {
        // Some of them make scores from which no probabilities follow.
        let of = if learner == "garg-roth" { "garg-roth:alpha=1,beta=1" } else { "hinge" };
        let settings = with_loss(of, at(1e-2));
        let parsed = learner.parse().expect("a learner");
        add(learner, fit(ClassifierSettings { learner: Some(parsed), ..settings }, few()));
    }
    jobs
}

fn kernels() -> Vec<(String, Job)> {
    let mut jobs: Vec<(String, Job)> = Vec::new();
    let approximations = [
        Approximation::None,
        Approximation::Cholesky { tolerance: 1e-6, gigabytes: Approximation::CHOLESKY_GIGABYTES },
        Approximation::Nystrom { landmarks: 30, leverage: None },
        Approximation::Fourier { features: 40 },
    ];
    for approximation in approximations {
        for name in ["hinge", "lhs", "logistic"] {
            let single = kernel(with_loss(name, at(1e-4)), approximation);
            jobs.push((format!("{name}, {approximation}"), fit(single, few())));
            let searched =
                kernel(validated(with_loss(name, ClassifierSettings::default())), approximation);
            jobs.push((format!("grid of {name}, {approximation}"), fit(searched, few())));
        }
    }
    let nystrom = Approximation::Nystrom { landmarks: 30, leverage: Some(1e-3) };
    let certified = ClassifierSettings { certify_exact: true, ..kernel(at(1e-3), nystrom) };
    jobs.push(("certified against the kernel".to_owned(), fit(certified, few())));
    for leave_one_out in [LeaveOneOut::Exact, LeaveOneOut::OneStep] {
        let leave_one_out = Some(leave_one_out);
        let how = CrossValidation { lambdas: grid(), leave_one_out, ..CrossValidation::default() };
        let regularisation = Regularisation::CrossValidated(how);
        let settings = kernel(
            ClassifierSettings {
                regularisation,
                ..with_loss("lhs", ClassifierSettings::default())
            },
            Approximation::None,
        );
        jobs.push((format!("{leave_one_out:?}"), fit(settings, few())));
    }
    jobs
}

fn others() -> Vec<(String, Job)> {
    let mut jobs: Vec<(String, Job)> = Vec::new();
    // The memory bounds the sample that the second begins with.
    let from_files = [
        ("rows of a file", many(), 100, 700_000, validated(ClassifierSettings::default())),
        ("a sample of the rows of a file", large(), 1000, 16_000_000, at(1e-3)),
    ];
    for (name, data, rows, memory, settings) in from_files {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rows.blocks");
        blocks::write(&data, &path, BlockSettings { rows: Some(rows), ..BlockSettings::default() })
            .expect("a block file");
        let file = BlockFile::open(&path).expect("a block file");
        let job = move || {
            // The folder lasts as long as the job.
            let _ = &folder;
            let mut rows = FileRows::open(&file, Memory::from_bytes(memory))?;
            settings.fit_file(&mut rows).map(|fitted| outcome(&fitted))
        };
        jobs.push((name.to_owned(), Box::new(job)));
    }
    let problem = Problem::new(0.2, 0.1).expect("a problem");
    let problem = problem.with_target(Target::new(0.2, 0.1).expect("a target"));
    let methods = [
        massart::HalfspaceMethod::gradient(problem),
        massart::HalfspaceMethod::Cuts {
            problem,
            dimensions: Some(2),
            search: massart::CutSearch::default(),
        },
        massart::HalfspaceMethod::Adaptive { target: problem.target },
    ];
    for method in methods {
        let settings = massart::HalfspaceSettings::new(method);
        let data = many();
        let job = move || settings.fit(&data).map(|fitted| text(&fitted.model));
        jobs.push((format!("{method:?}"), Box::new(job)));
    }
    let gradient =
        stream::StreamMethod::Gradient { schedule: stream::StepSchedule::default(), first: None };
    let methods = [
        stream::StreamMethod::Adaptive,
        stream::StreamMethod::Coin,
        gradient,
        stream::StreamMethod::Pegasos,
    ];
    for method in methods {
        let loss = Arc::from(loss("hinge"));
        let settings = stream::StreamSettings::new(lambda(1e-3));
        let settings = stream::StreamSettings { loss, method, epochs: Some(3), ..settings };
        let data = many();
        let job = move || settings.fit(&data).map(|fitted| text(&fitted.model));
        jobs.push((format!("stream by {method:?}"), Box::new(job)));
    }
    for specification in LEARNERS {
        let kernel = specification.starts_with("kernel").then_some("gaussian:sigma=1");
        let learner = focused::FocusedLearner::parse(specification, kernel, &Registry::standard());
        let learner = learner.expect("a learner");
        let name = format!("game of {learner}");
        let settings = focused::EnsembleSettings {
            learner,
            max_steps: Some(200),
            ..focused::EnsembleSettings::default()
        };
        let data = few();
        let job = move || {
            let fitted = settings.fit(&data)?;
            Ok(told((&fitted.ensemble, &fitted.evaluation, &fitted.ending)))
        };
        jobs.push((name, Box::new(job)));
    }
    jobs
}

fn assert_same_bits(jobs: Vec<(String, Job)>) {
    for (name, job) in jobs {
        let on = |threads| match on_threads(Some(threads), &job) {
            Ok(outcome) => outcome,
            Err(error) => panic!("{name}: {error}"),
        };
        let one = on(1);
        for threads in [2, 8] {
            assert!(on(threads) == one, "{name} differs on {threads} threads");
        }
    }
}

#[test]
fn regularised_fits_do_not_depend_on_threads() {
    assert_same_bits(regularised());
}

#[test]
fn kernel_fits_do_not_depend_on_threads() {
    assert_same_bits(kernels());
}

#[test]
fn other_learners_do_not_depend_on_threads() {
    assert_same_bits(others());
}
