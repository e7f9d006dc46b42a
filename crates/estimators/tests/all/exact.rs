//! Certificates of approximated kernels for the kernels themselves.

use std::sync::Arc;

use margins_data::{Dataset, Memory};
use margins_estimators::regularised::{
    Approximation, ClassifierSettings, CrossValidation, Regularisation,
};
use margins_losses::{Hinge, LeakyHockeyStick, Logistic, MarginLoss};
use margins_model::Scheme;
use margins_optim::{Solver, lambda_grid};
use margins_test_support::plane;

fn settings(loss: Arc<dyn MarginLoss>, approximation: Approximation) -> ClassifierSettings {
    let mut settings =
        ClassifierSettings { loss, certify_exact: true, ..ClassifierSettings::default() };
    settings.kernels.specifications = vec!["gaussian:sigma=1".to_owned()];
    settings.kernels.approximation = approximation;
    settings.regularisation = Regularisation::path(lambda_grid(0.1, 1e-3, 3).unwrap()).unwrap();
    settings
}

fn nystrom(landmarks: usize) -> Approximation {
    Approximation::Nystrom { landmarks, leverage: None }
}

/// The minimum for the kernel lies between the two objectives of every certificate, and with more
/// landmarks the gap is smaller.
#[test]
fn the_exact_minimum_lies_within_the_gap() {
    let data = plane(200);
    let losses: [Arc<dyn MarginLoss>; 3] =
        [Arc::new(LeakyHockeyStick), Arc::new(Logistic), Arc::new(Hinge)];
    for loss in losses {
        let mut plain = settings(loss.clone(), Approximation::None);
        plain.certify_exact = false;
        let exact = plain.path(&data).unwrap();
        assert_eq!(exact.exact, None);
        let mut gaps = Vec::new();
        for landmarks in [10, 100] {
            let path = settings(loss.clone(), nystrom(landmarks)).path(&data).unwrap();
            let certificates = path.exact.unwrap();
            for ((of_lambda, exact), fit) in certificates.iter().zip(&exact.fits).zip(&path.fits) {
                let (certificate, exact) = (of_lambda[0], &exact[0].report);
                let apart = (certificate.objective - fit[0].report.objective).abs();
                assert!(apart <= certificate.rounding + fit[0].report.rounding + 1e-7, "{apart}");
                assert!(certificate.dual_objective() <= exact.objective);
                assert!(certificate.objective >= exact.dual_objective - 1e-9);
            }
            gaps.push(certificates.iter().map(|c| c[0].duality_gap).sum::<f64>());
        }
        assert!(gaps[1] < gaps[0], "{gaps:?}");
    }
}

/// On Nystrom features the hinge goes by steps along the inner products of the samples where nothing
/// else is asked for, and by proximal steps in the coefficients: both reach the same minima, in folds
/// and on all rows.
#[test]
fn the_hinge_on_features_has_one_minimum_whatever_the_solver() {
    let data = plane(200);
    let by = |solver: Solver, memory: Option<Memory>| {
        let mut settings = settings(Arc::new(Hinge), nystrom(30));
        settings.options.solver = solver;
        settings.kernels.memory = memory;
        let path = settings.path(&data).unwrap();
        let lambdas = lambda_grid(0.1, 1e-3, 3).unwrap();
        let how = CrossValidation { lambdas, folds: Some(3), ..CrossValidation::default() };
        settings.regularisation = Regularisation::CrossValidated(how);
        (path, settings.fit(&data).unwrap().fits.swap_remove(0))
    };
    let (one, of_one) = by(Solver::Auto, None);
    let (other, of_other) = by(Solver::ProximalNewton, None);
    // The inner products of 200 samples take 160,000 bytes.
    let (without, _) = by(Solver::Auto, Some(Memory::from_bytes(159_999)));
    assert_eq!(without.fits, other.fits);
    for (one, other) in one.fits.iter().flatten().zip(other.fits.iter().flatten()) {
        let (one, other) = (&one.report, &other.report);
        assert!(one.converged() && other.converged(), "{one:?} {other:?}");
        let apart = (one.objective - other.objective).abs();
        assert!(apart <= one.duality_gap + other.duality_gap + 1e-12, "{one:?} {other:?}");
        // The steps differ: it is not one solver twice.
        assert_ne!(one.iterations, other.iterations);
    }
    assert!(of_one.report.converged() && of_other.report.converged());
    assert_eq!(of_one.lambda, of_other.lambda);
}

/// Every member has its certificate, over the rows that take part.
#[test]
fn several_classes_are_certified_one_by_one() {
    let two = plane(90);
    let names: Vec<String> = (0..90).map(|i| ["a", "b", "c"][i % 3].to_owned()).collect();
    let data = Dataset::new(two.design().clone(), margins_data::Classes::new(&names).unwrap());
    let data = data.unwrap();
    for scheme in [Scheme::OneVersusRest, Scheme::OneVersusOne] {
        // All samples are landmarks: the features are those of the kernel itself.
        let mut settings = settings(Arc::new(Logistic), nystrom(90));
        settings.scheme = Some(scheme);
        let path = settings.path(&data).unwrap();
        for certificates in path.exact.unwrap() {
            assert_eq!(certificates.len(), 3);
            assert!(certificates.iter().all(|certificate| certificate.relative_gap() <= 1e-5));
        }
    }
}

/// With all samples as landmarks a loss with a kink is certified for the kernel to the digits of the fit,
/// by every solver and for every member.
#[test]
fn losses_with_kinks_are_certified_for_the_kernel() {
    let two = plane(60);
    let names: Vec<String> = (0..60).map(|i| ["a", "b", "c"][i % 3].to_owned()).collect();
    let three = Dataset::new(two.design().clone(), margins_data::Classes::new(&names).unwrap());
    let three = three.unwrap();
    for solver in [Solver::Auto, Solver::ProximalNewton] {
        for specification in ["hinge", "leaky-relu:lambda=0.2"] {
            let loss = margins_losses::LossRegistry::standard().parse(specification).unwrap();
            let mut settings = settings(loss.into(), nystrom(60));
            settings.options.solver = solver;
            let of_two = settings.path(&two).unwrap().exact.unwrap();
            settings.scheme = Some(Scheme::OneVersusOne);
            let of_three = settings.path(&three).unwrap().exact.unwrap();
            for certificate in of_two.iter().chain(&of_three).flatten() {
                let gap = certificate.relative_gap();
                assert!(gap <= 1e-4, "{specification} by {solver:?}: {certificate:?}");
            }
        }
    }
}

#[test]
fn other_approximations_are_refused() {
    for (approximation, reason) in [
        (Approximation::None, "already"),
        ("cholesky".parse().unwrap(), "already"),
        ("rff:m=50".parse().unwrap(), "no functions of the space"),
    ] {
        let refused = settings(Arc::new(Logistic), approximation).check().unwrap_err().to_string();
        assert!(refused.contains("certify_exact") && refused.contains(reason), "{refused}");
    }
}
