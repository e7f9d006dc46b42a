//! Dual variables and best intercepts of fits in every space of functions.

use std::sync::Arc;

use margins_data::{Dataset, Design, Labels};
use margins_estimators::Error;
use margins_estimators::regularised::{
    Approximation, ClassifierSettings, KernelChoice, Regularisation,
};
use margins_losses::{Hinge, LeakyHockeyStick, MarginLoss};
use margins_model::Scheme;
use margins_optim::Lambda;
use margins_test_support::{plane, weighted};

fn settings(loss: Arc<dyn MarginLoss>, kernel: &[&str]) -> ClassifierSettings {
    let mut settings = ClassifierSettings {
        loss,
        regularisation: Regularisation::Single(Lambda::new(0.02).unwrap()),
        kernels: KernelChoice {
            specifications: kernel.iter().map(|&kernel| kernel.to_owned()).collect(),
            ..KernelChoice::default()
        },
        ..ClassifierSettings::default()
    };
    settings.options.tolerance = 1e-10;
    settings.options.keep_duals = true;
    settings
}

/// The same duals and the same form in the features, for the linear kernel, by its Cholesky factor and by
/// Nystrom features with all samples; with weights and standardised features.
#[test]
fn the_form_is_the_same_in_every_space() {
    let data = weighted(plane(40));
    let losses: [Arc<dyn MarginLoss>; 2] = [Arc::new(LeakyHockeyStick), Arc::new(Hinge)];
    for loss in losses {
        for standardize in [false, true] {
            let solved = |kernel: &[&str], approximation| {
                let mut settings = settings(Arc::clone(&loss), kernel);
                settings.kernels.approximation = approximation;
                settings.standardize = standardize;
                let fitted = settings.fit(&data).unwrap();
                fitted.dual_solutions(&settings).unwrap().unwrap().remove(0)
            };
            let expected = solved(&[], Approximation::None);
            let form = expected.constrained.as_ref().unwrap();
            assert!((expected.norm / form.norm - 1.0).abs() < 1e-3);
            let cholesky = Approximation::Cholesky { tolerance: 1e-12, gigabytes: 1.0 };
            let nystrom = Approximation::Nystrom { landmarks: 40, leverage: None };
            for approximation in [Approximation::None, cholesky, nystrom] {
                let solution = solved(&["linear"], approximation);
                for (one, other) in solution.samples.iter().zip(&expected.samples) {
                    assert_eq!((one.sign, one.weight), (other.sign, other.weight));
                    assert!((one.margin - other.margin).abs() < 1e-3, "{one:?} {other:?}");
                    assert!((one.dual - other.dual).abs() < 1e-2, "{one:?} {other:?}");
                }
                let found = solution.constrained.unwrap();
                assert!((found.norm / form.norm - 1.0).abs() < 1e-4, "{approximation}");
                let size = found.primal.abs() + 40.0;
                assert!(found.gap >= 0.0 && found.gap < 1e-3 * size, "{found:?}");
                assert!((found.primal - form.primal).abs() < 1e-3 * size);
            }
        }
    }
}

#[test]
fn duals_are_refused_where_there_is_no_form() {
    let data = plane(40);
    let refused = |change: &dyn Fn(&mut ClassifierSettings)| {
        let mut settings = settings(Arc::new(LeakyHockeyStick), &[]);
        change(&mut settings);
        settings.fit(&data).unwrap_err()
    };
    let cases: [&dyn Fn(&mut ClassifierSettings); 3] = [
        &|settings| settings.regularisation = Regularisation::Single(Lambda::NONE),
        &|settings| settings.learner = Some("catoni".parse().unwrap()),
        &|settings| {
            let factors = margins_optim::problem::PenaltyFactors::of_names(vec![("x".into(), 2.0)]);
            settings.penalty_factors = Some(factors.unwrap());
        },
    ];
    for change in cases {
        let error = refused(change);
        assert!(matches!(error, Error::Contradiction { .. }), "{error}");
        assert!(error.to_string().contains("keep_duals"), "{error}");
    }
}

/// Remark 3: with a kernel as well, equal classes whose margins are all below 1 leave an interval.
#[test]
fn flat_risks_have_an_interval_of_intercepts() {
    let rows = [[-1.0], [1.0], [-1.0], [1.0]];
    let labels = Labels::from_signs(vec![-1.0, -1.0, 1.0, 1.0]).unwrap();
    let data = Dataset::new(Design::from_rows(&rows).unwrap(), labels).unwrap();
    for kernel in [&[][..], &["gaussian:sigma=1"]] {
        let mut settings = settings(Arc::new(LeakyHockeyStick), kernel);
        let best = |settings: &ClassifierSettings| {
            settings.fit(&data).unwrap().best_intercepts(settings).unwrap()
        };
        let interval = best(&settings).expect("an interval");
        assert!((interval.lower + 1.0).abs() < 1e-6 && (interval.upper - 1.0).abs() < 1e-6);
        settings.intercept = false;
        assert_eq!(best(&settings), None);
        settings.intercept = true;
        settings.loss = Arc::new(margins_losses::Logistic);
        assert_eq!(best(&settings), None);
    }
}

#[test]
fn pairs_of_classes_have_no_dual_for_every_row() {
    let rows: Vec<[f64; 1]> = (0..30).map(|i| [f64::from(i % 3) + f64::from(i).sin()]).collect();
    let names: Vec<String> = (0..30).map(|i| format!("class {}", i % 3)).collect();
    let classes = margins_data::Classes::new(&names).unwrap();
    let data = Dataset::new(Design::from_rows(&rows).unwrap(), classes).unwrap();
    let mut settings = settings(Arc::new(LeakyHockeyStick), &[]);
    settings.scheme = Some(Scheme::OneVersusRest);
    let fitted = settings.fit(&data).unwrap();
    assert_eq!(fitted.dual_solutions(&settings).unwrap().unwrap().len(), 3);
    assert_eq!(fitted.best_intercepts(&settings).unwrap(), None);
    settings.scheme = Some(Scheme::OneVersusOne);
    let error = settings.fit(&data).unwrap_err();
    assert!(error.to_string().contains("one-versus-one"), "{error}");
}
