//! Several classes in one problem: fits, paths, cross-validation and models.

use std::sync::Arc;

use margins_data::{ClassLabels, Classes, Dataset, Design};
use margins_estimators::regularised::{
    ClassifierSettings, CrossValidation, KernelChoice, LeaveOneOut, Probabilities, Regularisation,
};
use margins_losses::{Hinge, LeakyHockeyStick, Logistic, MarginLoss};
use margins_model::{Format, Model, Registry, Scheme};
use margins_optim::problem::PenaltyFactors;
use margins_optim::{ClassWeights, Lambda, Options, Solver, lambda_grid};

const JOINT: [Scheme; 2] = [Scheme::Joint, Scheme::Multinomial];

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
    let loss: Arc<dyn MarginLoss> = Arc::new(Logistic);
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
            if scheme == Scheme::Multinomial && loss.specification() != "logistic" {
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
        assert!(curve.mean_log_loss.iter().all(Option::is_some));
    }
}

/// A class without weight is kept and never decided, nor is any other where one class alone has weight.
#[test]
fn classes_without_weight_are_never_decided() {
    let data = three();
    for scheme in JOINT {
        for absent in [&[1][..], &[1, 2]] {
            let weight = |row| f64::from(u8::from(!absent.contains(&data.labels().index(row))));
            let weighted = data.clone().with_weights((0..90).map(weight).collect()).unwrap();
            let fitted = settings(scheme, at(0.01)).fit(&weighted).unwrap();
            assert_eq!(fitted.fits.len(), 3);
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

/// What one problem does not take is refused by name, and two classes are a binary problem with any of it.
#[test]
fn refusals_name_what_is_not_there() {
    let data = three();
    let two = data.select(&(0..90).filter(|row| row % 3 > 0).collect::<Vec<usize>>());
    let two = two
        .relabelled(Classes::new(&(0..60).map(|i| ["b", "c"][i % 2]).collect::<Vec<_>>()).unwrap())
        .unwrap();
    let joint = || settings(Scheme::Joint, at(0.1));
    let kernels = KernelChoice {
        specifications: vec!["gaussian:sigma=1".to_owned()],
        ..KernelChoice::default()
    };
    let options = |solver| Options { solver, ..Options::default() };
    let free = PenaltyFactors::of_columns(vec![0.0, 1.0, 1.0]).unwrap();
    let one_out = CrossValidation {
        lambdas: lambda_grid(1.0, 0.1, 2).unwrap(),
        leave_one_out: Some(LeaveOneOut::Exact),
        ..CrossValidation::default()
    };
    let one_out = settings(Scheme::Joint, Regularisation::CrossValidated(one_out));
    assert!(one_out.fit(&data).is_err());
    for (settings, words) in [
        (ClassifierSettings { kernels, ..joint() }, "a kernel"),
        (
            ClassifierSettings { loss: Arc::new(Hinge), ..settings(Scheme::Multinomial, at(0.1)) },
            "loss hinge",
        ),
        (
            ClassifierSettings { probabilities: Probabilities::Platt { folds: None }, ..joint() },
            "Platt scaling",
        ),
        (ClassifierSettings { penalty_factors: Some(free), ..joint() }, "a penalty factor of 0"),
        (
            ClassifierSettings { options: options(Solver::SDCA), ..joint() },
            "several classes in one problem",
        ),
        (
            ClassifierSettings {
                options: Options { keep_duals: true, ..Options::default() },
                ..joint()
            },
            "keep_duals",
        ),
        (settings(Scheme::Joint, Regularisation::Single(Lambda::NONE)), "lambda 0"),
    ] {
        let error = settings.fit(&data).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        let binary = settings.fit(&two).unwrap();
        assert_eq!(binary.model.scheme(), Scheme::Binary);
    }
}
