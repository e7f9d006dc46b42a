//! Several classes in one problem: fits, paths, cross-validation and models.

use std::sync::Arc;

use margins_data::{ClassLabels, Classes, Dataset, Design};
use margins_estimators::regularised::{
    ClassifierSettings, CrossValidation, KernelChoice, LeaveOneOut, Probabilities, Regularisation,
};
use margins_losses::{Hinge, LeakyHockeyStick, Logistic, MarginLoss};
use margins_model::{Format, Model, Registry, Scheme};
use margins_optim::problem::PenaltyFactors;
use margins_optim::{ClassWeights, Lambda, Options, Solver, Status, lambda_grid};
use margins_test_support::{CONVEX_LOSSES, loss};

const JOINT: [Scheme; 3] = [Scheme::Joint, Scheme::Multinomial, Scheme::CrammerSinger];

/// Points around the corners of a triangle, and a feature that says nothing.
fn three() -> Dataset<Classes> {
    let rows: Vec<[f64; 3]> = (0..90)
        .map(|i| {
            let angle = f64::from(i % 3) * std::f64::consts::TAU / 3.0;
            let t = f64::from(i);
            let noise = [(1.7 * t).sin(), (2.3 * t).cos()].map(|x| 0.8 * x);
            [angle.cos() + noise[0], angle.sin() + noise[1], (0.9 * t).cos()]
        })
        .collect();
    let names: Vec<&str> = (0..90).map(|i| ["a", "b", "c"][i % 3]).collect();
    Dataset::new(Design::from_rows(&rows).unwrap(), Classes::new(&names).unwrap()).unwrap()
}

fn settings(scheme: Scheme, regularisation: Regularisation) -> ClassifierSettings {
    let loss: Arc<dyn MarginLoss> = match scheme {
        Scheme::CrammerSinger => Arc::new(Hinge),
        _ => Arc::new(Logistic),
    };
    let scheme = Some(scheme);
    ClassifierSettings { scheme, regularisation, loss, ..ClassifierSettings::default() }
}

fn at(lambda: f64) -> Regularisation {
    Regularisation::Single(Lambda::new(lambda).unwrap())
}

/// The model of a fit decides for the largest score, which has the largest probability, and a file
/// keeps it; the fit at a lambda is the one on the path, whatever the loss.
#[test]
fn a_fit_is_one_problem_with_one_certificate() {
    let data = three();
    let losses: [Arc<dyn MarginLoss>; 3] =
        [Arc::new(Logistic), Arc::new(LeakyHockeyStick), Arc::new(Hinge)];
    for scheme in JOINT {
        for loss in &losses {
            let only = settings(scheme, at(0.01)).loss.specification();
            if scheme != Scheme::Joint && loss.specification() != only {
                continue;
            }
            let of = |regularisation| ClassifierSettings {
                loss: Arc::clone(loss),
                standardize: true,
                ..settings(scheme, regularisation)
            };
            let fitted = of(at(0.01)).fit(&data).unwrap();
            let [first, rest @ ..] = &fitted.fits[..] else { panic!("fits") };
            assert!(first.report.converged() && rest.len() == 2);
            assert!(rest.iter().all(|fit| fit.report == first.report));
            let total: f64 = fitted.fits.iter().map(|fit| fit.intercept).sum();
            assert!(total.abs() <= 1e-13);
            let path = of(Regularisation::path(lambda_grid(1.0, 0.01, 3).unwrap()).unwrap());
            let path = path.path(&data).unwrap();
            let (a, b) = (path.fits[2][0].report.objective, first.report.objective);
            assert!((a - b).abs() <= 2e-6 * b.abs(), "{scheme} {a} {b}");
            let registry = Registry::standard();
            for format in [Format::Json, Format::Binary] {
                let bytes = fitted.model.to_bytes(format).unwrap();
                assert_eq!(Model::from_bytes(&bytes, &registry).unwrap(), fitted.model);
            }
            let model = &fitted.model;
            assert_eq!(model.scheme(), scheme);
            let scores = model.decision_functions(data.design(), &registry).unwrap();
            let classes = model.predict(data.design(), &registry).unwrap();
            let p = model.class_probabilities(&scores, &**loss);
            assert_eq!(p.is_ok(), loss.probability(0.0).is_some());
            for (row, &class) in classes.iter().enumerate() {
                assert_eq!(class, scores.row(row).transpose().argmax().0);
                if let Ok(p) = &p {
                    assert!((p.row(row).sum() - 1.0).abs() < 1e-12);
                    assert_eq!(class, p.row(row).transpose().argmax().0);
                }
            }
        }
    }
}

/// A cross-validation judges the class of the largest score, and counts one fit a fold and lambda.
#[test]
fn a_cross_validation_chooses_lambda() {
    let data = three();
    for scheme in JOINT {
        let how = CrossValidation {
            lambdas: lambda_grid(1.0, 1e-3, 5).unwrap(),
            folds: Some(3),
            ..CrossValidation::default()
        };
        let fitted = settings(scheme, Regularisation::CrossValidated(how)).fit(&data).unwrap();
        let curve = fitted.report.curve.as_ref().unwrap();
        assert!(curve.certified.iter().all(|certified| *certified));
        assert!(curve.mean_error[curve.best] < 0.2);
        let has_probabilities = scheme != Scheme::CrammerSinger;
        assert!(curve.mean_log_loss.iter().all(|mean| mean.is_some() == has_probabilities));
    }
}

fn kernels(specifications: &[&str], approximation: &str) -> KernelChoice {
    KernelChoice {
        specifications: specifications.iter().map(|&kernel| kernel.to_owned()).collect(),
        approximation: approximation.parse().unwrap(),
        ..KernelChoice::default()
    }
}

/// Kernels, exact or approximated, have fits, paths, cross-validations over kernels, model files and
/// probabilities; the functions that stand for the kernel itself have the same minimum.
#[test]
fn kernels_take_all_classes_in_one_problem() {
    let data = three();
    let registry = Registry::standard();
    let losses: [Arc<dyn MarginLoss>; 2] = [Arc::new(Logistic), Arc::new(Hinge)];
    for (scheme, loss) in [(JOINT[0], &losses[0]), (JOINT[0], &losses[1]), (JOINT[1], &losses[0])] {
        let mut objectives = Vec::new();
        for approximation in
            ["none", "cholesky:tol=1e-12", "nystrom:m=90", "nystrom:m=20", "rff:m=40"]
        {
            let of = |regularisation| ClassifierSettings {
                loss: Arc::clone(loss),
                standardize: true,
                kernels: kernels(&["gaussian:sigma=0.5"], approximation),
                ..settings(scheme, regularisation)
            };
            let fitted = of(at(0.01)).fit(&data).unwrap();
            let case = format!("{scheme} {} {approximation}", loss.specification());
            let report = &fitted.fits[0].report;
            assert!(report.converged(), "{case} {report:?}");
            assert!(fitted.training_error().unwrap() < 0.3, "{case}");
            objectives.push((report.dual_objective, report.objective));
            let path = of(Regularisation::path(lambda_grid(1.0, 0.01, 3).unwrap()).unwrap());
            let path = path.path(&data).unwrap();
            let along = &path.fits[2][0].report;
            let gaps = along.duality_gap + report.duality_gap;
            assert!((along.objective - report.objective).abs() <= gaps, "{case}");
            let scores = fitted.model.decision_functions(data.design(), &registry).unwrap();
            let classes = fitted.model.predict(data.design(), &registry).unwrap();
            for format in [Format::Json, Format::Binary] {
                let bytes = fitted.model.to_bytes(format).unwrap();
                assert_eq!(Model::from_bytes(&bytes, &registry).unwrap(), fitted.model);
            }
            let p = fitted.model.class_probabilities(&scores, &**loss);
            assert_eq!(p.is_ok(), loss.probability(0.0).is_some());
            for (row, &class) in classes.iter().enumerate() {
                assert_eq!(class, scores.row(row).transpose().argmax().0);
                assert!(
                    p.as_ref().is_ok_and(|p| p.row(row).transpose().argmax().0 == class)
                        || p.is_err()
                );
            }
        }
        // The first three are the kernel itself, to rounding.
        for (bound, _) in &objectives[..3] {
            for (_, value) in &objectives[..3] {
                assert!(bound <= &(value + 1e-10), "{scheme} {objectives:?}");
            }
        }
    }
}

#[test]
fn a_cross_validation_chooses_the_kernel_of_all_classes() {
    let data = three();
    for scheme in JOINT {
        for approximation in ["none", "nystrom:m=30"] {
            let how = CrossValidation {
                lambdas: lambda_grid(1.0, 1e-3, 3).unwrap(),
                folds: Some(3),
                ..CrossValidation::default()
            };
            let of_kernels = ClassifierSettings {
                kernels: kernels(&["gaussian:sigma=0.3", "gaussian:sigma=1000"], approximation),
                ..settings(scheme, Regularisation::CrossValidated(how))
            };
            let fitted = of_kernels.fit(&data).unwrap();
            let curve = fitted.report.curve.as_ref().unwrap();
            assert!(curve.certified.iter().all(|certified| *certified));
            assert!(curve.mean_error[curve.best] < 0.25, "{scheme} {approximation}");
            assert_eq!(fitted.report.kernels.len(), 2);
            let kernel = fitted.report.kernel.as_deref();
            assert_eq!(kernel, Some("gaussian:sigma=0.3"), "{scheme} {approximation}");
        }
    }
}

/// The certificate of fits on landmarks for the kernel itself bounds its minimum.
#[test]
fn the_exact_minimum_of_all_classes_lies_within_the_gap() {
    let data = three();
    let losses: [Arc<dyn MarginLoss>; 2] = [Arc::new(Logistic), Arc::new(Hinge)];
    for loss in losses {
        let of = |approximation: &str, certify_exact| ClassifierSettings {
            loss: Arc::clone(&loss),
            kernels: kernels(&["gaussian:sigma=0.5"], approximation),
            certify_exact,
            ..settings(Scheme::Joint, at(0.01))
        };
        let exact = of("none", false).fit(&data).unwrap();
        let minimum = exact.fits[0].report.dual_objective;
        for landmarks in [5, 20, 90] {
            let fitted = of(&format!("nystrom:m={landmarks}"), true).fit(&data).unwrap();
            let certificates = fitted.exact.as_ref().unwrap();
            assert_eq!(certificates.len(), 1);
            let certificate = &certificates[0];
            let case = format!("{} {landmarks} {certificate:?} {minimum}", loss.specification());
            assert!(
                (certificate.objective - fitted.fits[0].report.objective).abs() < 1e-12,
                "{case}"
            );
            assert!(certificate.dual_objective() <= exact.fits[0].report.objective, "{case}");
            assert!(certificate.objective >= minimum - 1e-12, "{case}");
            assert_eq!(certificate.relative_gap() <= 2e-6, landmarks == 90, "{case}");
        }
    }
}

/// Features without a penalty stand beside linear functions and kernels; without any penalty the solver
/// certifies the minimum of the mean loss.
#[test]
fn features_without_a_penalty_take_all_classes() {
    let data = three();
    let registry = Registry::standard();
    let free = || Some(PenaltyFactors::of_columns(vec![0.0, 1.0, 1.0]).unwrap());
    for scheme in JOINT {
        let mut fits = Vec::new();
        for kernel in [&[][..], &["linear"], &["gaussian:sigma=0.5"]] {
            let fitted = ClassifierSettings {
                penalty_factors: free(),
                kernels: kernels(kernel, "none"),
                ..settings(scheme, at(0.05))
            };
            let fitted = fitted.fit(&data).unwrap();
            let report = fitted.fits[0].report.clone();
            assert!(report.converged(), "{scheme} {kernel:?} {report:?}");
            let scores = fitted.model.decision_functions(data.design(), &registry).unwrap();
            let classes = fitted.model.predict(data.design(), &registry).unwrap();
            for (row, &class) in classes.iter().enumerate() {
                assert_eq!(class, scores.row(row).transpose().argmax().0);
            }
            fits.push(report);
        }
        // The linear kernel has the linear functions.
        let gaps = fits[0].duality_gap + fits[1].duality_gap + 1e-10;
        assert!((fits[0].objective - fits[1].objective).abs() <= gaps, "{scheme}");
        if scheme == Scheme::CrammerSinger {
            // Without a penalty a loss with a kink is refused.
            continue;
        }
        let none = settings(scheme, Regularisation::Single(Lambda::NONE)).fit(&data).unwrap();
        let report = &none.fits[0].report;
        assert!(report.converged() && none.fits[2].lambda == Lambda::NONE, "{scheme} {report:?}");
        assert!(report.objective < fits[0].objective, "{scheme}");
        assert!(none.training_error().unwrap() < 0.2, "{scheme}");
    }
}

/// A class without weight is kept and never decided, nor is any other where one class alone has weight.
#[test]
fn classes_without_weight_are_never_decided() {
    let data = three();
    let fit_apart = [Scheme::OneVersusRest, Scheme::OneVersusOne];
    for scheme in JOINT.into_iter().chain(fit_apart) {
        for absent in [&[1][..], &[1, 2]] {
            let weight = |row| f64::from(u8::from(!absent.contains(&data.labels().index(row))));
            let weighted = data.clone().with_weights((0..90).map(weight).collect()).unwrap();
            let fitted = settings(scheme, at(0.01)).fit(&weighted).unwrap();
            assert_eq!(fitted.fits.len(), 3);
            let words = match absent {
                [1] => "Class 'b' has no row of positive weight: it is never predicted.",
                _ => "2 classes have no row of positive weight and are never predicted: 'b', 'c'.",
            };
            assert_eq!(fitted.report.warnings, [words], "{scheme}");
            let classes = fitted.model.predict(data.design(), &Registry::standard()).unwrap();
            assert!(classes.iter().all(|class| !absent.contains(class)), "{scheme} {absent:?}");
        }
    }
}

/// Balanced classes have the fit of samples that weigh as much less as their class is larger.
#[test]
fn balanced_classes_have_the_same_weight() {
    let few: Vec<usize> = (0..90).filter(|row| row % 3 > 0 || row % 2 == 0).collect();
    let data = three().select(&few);
    let count = |class| data.labels().rows_of(class).len() as f64;
    let weight = |row| few.len() as f64 / (3.0 * count(data.labels().index(row)));
    let weighted = data.clone().with_weights((0..few.len()).map(weight).collect()).unwrap();
    for scheme in JOINT {
        let balanced = ClassifierSettings {
            class_weights: ClassWeights::Balanced,
            ..settings(scheme, at(0.1))
        };
        let (one, other) =
            (balanced.fit(&data).unwrap(), settings(scheme, at(0.1)).fit(&weighted).unwrap());
        let (a, b) = (&one.fits[0].report, &other.fits[0].report);
        assert!((a.objective - b.objective).abs() <= a.duality_gap + b.duality_gap);
    }
}

/// Two classes are a binary problem with any of the settings but another loss.
#[test]
fn two_classes_are_a_binary_problem() {
    let data = three();
    let two = data.select(&(0..90).filter(|row| row % 3 > 0).collect::<Vec<usize>>());
    let two = two
        .relabelled(Classes::new(&(0..60).map(|i| ["b", "c"][i % 2]).collect::<Vec<_>>()).unwrap())
        .unwrap();
    let joint = || settings(Scheme::Joint, at(0.1));
    let options = |solver, keep_duals| Options { solver, keep_duals, ..Options::default() };
    for settings in [
        joint(),
        ClassifierSettings { probabilities: Probabilities::Platt { folds: None }, ..joint() },
        ClassifierSettings { options: options(Solver::SDCA, false), ..joint() },
        ClassifierSettings { options: options(Solver::Auto, true), ..joint() },
    ] {
        assert_eq!(settings.fit(&two).unwrap().model.scheme(), Scheme::Binary);
    }
    let other =
        ClassifierSettings { loss: Arc::new(Hinge), ..settings(Scheme::Multinomial, at(0.1)) };
    assert!(other.fit(&two).is_err());
}

/// Returns the fit to samples of every class with these probabilities for weights, and no feature.
fn conditional(loss: &Arc<dyn MarginLoss>, scheme: Scheme, p: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let names: Vec<String> = (0..p.len()).map(|class| format!("class {class}")).collect();
    let design = Design::from_rows(&vec![[0.0]; p.len()]).unwrap();
    let data = Dataset::new(design, Classes::new(&names).unwrap()).unwrap();
    let data = data.with_weights(p.to_vec()).unwrap();
    let options = Options { tolerance: 1e-12, ..Options::default() };
    let settings =
        ClassifierSettings { loss: Arc::clone(loss), options, ..settings(scheme, at(1.0)) };
    let fitted = settings.fit(&data).unwrap();
    let scores: Vec<f64> = fitted.fits.iter().map(|fit| fit.intercept).collect();
    let ends = [Status::Converged, Status::RoundingLimit];
    let report = &fitted.fits[0].report;
    assert!(ends.contains(&report.status), "{} {p:?} {report:?}", loss.specification());
    let registry = Registry::standard();
    let of_rows = fitted.model.decision_functions(data.design(), &registry).unwrap();
    let q = fitted.model.class_probabilities(&of_rows, &**loss);
    (scores, q.map_or(Vec::new(), |q| q.row(0).iter().copied().collect()))
}

/// The scores that minimise a conditional risk are in the order of the probabilities, which they give back:
/// the losses without a kink are Fisher consistent, those that rise beyond some margin among them.
#[test]
fn minima_have_the_order_of_the_probabilities() {
    let losses: Vec<Arc<dyn MarginLoss>> = CONVEX_LOSSES
        .into_iter()
        .map(|name| Arc::from(loss(name)))
        .filter(|loss: &Arc<dyn MarginLoss>| loss.is_differentiable())
        .collect();
    assert!(losses.len() >= 11, "{}", losses.len());
    let mut cases: Vec<(Scheme, &Arc<dyn MarginLoss>)> =
        losses.iter().map(|loss| (Scheme::Joint, loss)).collect();
    let logistic: Arc<dyn MarginLoss> = Arc::new(Logistic);
    cases.push((Scheme::Multinomial, &logistic));
    for (scheme, loss) in cases {
        for draw in 0..24 {
            let k = 3 + draw % 3;
            // From 1 to 3, so that no score is out of the range that rounding leaves.
            let size = |class: usize| {
                let t = (draw * 31 + class * 17 + draw * class * 7) as f64;
                2.0 + (12.9898 * t).sin()
            };
            let total: f64 = (0..k).map(size).sum();
            let p: Vec<f64> = (0..k).map(|class| size(class) / total).collect();
            let (scores, q) = conditional(loss, scheme, &p);
            let case = format!("{scheme} {} {p:?} {scores:?} {q:?}", loss.specification());
            for (a, b) in (0..k).flat_map(|a| (0..k).map(move |b| (a, b))) {
                assert!(p[b] - p[a] < 0.01 || scores[b] > scores[a], "{case}");
            }
            // Where the loss rises, rates below 0 count as 0.
            let rises = loss.derivative(30.0) > 0.0;
            let is_near = |(p, q): (&f64, &f64)| (p - q).abs() <= 1e-3;
            assert!(rises || p.iter().zip(&q).all(is_near), "{case}");
        }
    }
}

/// The hinge is not consistent: where the second probability is above a third, its class ties with the most
/// probable one.
#[test]
fn the_hinge_ties_classes_of_different_probabilities() {
    let hinge: Arc<dyn MarginLoss> = Arc::new(Hinge);
    let (tied, _) = conditional(&hinge, Scheme::Joint, &[0.4, 0.35, 0.25]);
    assert!((tied[0] - tied[1]).abs() < 1e-5 && (tied[0] - tied[2] - 1.0).abs() < 1e-5, "{tied:?}");
    let (apart, _) = conditional(&hinge, Scheme::Joint, &[0.45, 0.3, 0.25]);
    assert!((apart[0] - apart[1] - 1.0).abs() < 1e-5, "{apart:?}");
}

/// What the table of the book says is refused is refused in these words, and nothing else is.
#[test]
fn the_table_of_the_book_names_the_refusals() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/joint-classes.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        let (what, outcome) = (cells.next()?, cells.next()?);
        outcome.starts_with("refused").then(|| what.to_owned())
    });
    let rows: Vec<String> = rows.collect();
    let data = three();
    let joint = || settings(Scheme::Joint, at(0.1));
    let one_out = CrossValidation {
        lambdas: lambda_grid(1.0, 0.1, 2).unwrap(),
        leave_one_out: Some(LeaveOneOut::Exact),
        ..CrossValidation::default()
    };
    let options = |solver| Options { solver, ..Options::default() };
    let learner = "catoni:alpha=1".parse().unwrap();
    let refusals = [
        (
            "solvers other than `auto` and `newton`",
            ClassifierSettings { options: options(Solver::SDCA), ..joint() },
            "several classes in one problem",
        ),
        (
            "`multinomial` with another loss than `logistic`, `crammer-singer` with another than `hinge`",
            ClassifierSettings { loss: Arc::new(Hinge), ..settings(Scheme::Multinomial, at(0.1)) },
            "loss hinge",
        ),
        (
            "robust objectives",
            ClassifierSettings { learner: Some(learner), ..joint() },
            "a robust learner",
        ),
        (
            "Platt scaling",
            ClassifierSettings { probabilities: Probabilities::Platt { folds: None }, ..joint() },
            "Platt scaling",
        ),
        (
            "leave-one-out",
            ClassifierSettings {
                kernels: kernels(&["gaussian:sigma=1"], "none"),
                ..settings(Scheme::Joint, Regularisation::CrossValidated(one_out))
            },
            "leave_one_out",
        ),
        (
            "duals",
            ClassifierSettings {
                options: Options { keep_duals: true, ..Options::default() },
                ..joint()
            },
            "keep_duals",
        ),
        (
            "a start",
            ClassifierSettings {
                start: Some(vec![0.0; 4]),
                ..settings(Scheme::Joint, Regularisation::Single(Lambda::NONE))
            },
            "a start",
        ),
    ];
    let of_memory: Vec<&String> =
        rows.iter().filter(|row| !row.starts_with("block files")).collect();
    assert_eq!(of_memory, refusals.iter().map(|(row, ..)| *row).collect::<Vec<_>>());
    assert!(rows.len() <= 10);
    let singer = settings(Scheme::CrammerSinger, at(0.1));
    let error = ClassifierSettings { loss: Arc::new(Logistic), ..singer }.fit(&data);
    assert!(error.map(|_| ()).unwrap_err().to_string().contains("loss logistic"));
    for (row, settings, words) in refusals {
        let error = settings.fit(&data).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(words), "{row}: {error}");
    }
}
