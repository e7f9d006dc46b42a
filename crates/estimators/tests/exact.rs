//! Certificates of approximated kernels for the kernels themselves.
#![cfg(feature = "kernels")]

use std::sync::Arc;

use margins_data::Dataset;
use margins_data::generate::{Example, GaussianMixture};
use margins_estimators::regularised::{Approximation, Regularisation, Settings};
use margins_losses::{Hinge, LeakyHockeyStick, Logistic, MarginLoss};
use margins_model::Scheme;
use margins_optim::lambda_grid;

fn settings(loss: Arc<dyn MarginLoss>, approximation: Approximation) -> Settings {
    let mut settings = Settings { loss, certify_exact: true, ..Settings::default() };
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
    let data = GaussianMixture::example(Example::One, 1).unwrap().sample(200, 2).unwrap();
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

/// Every member has its certificate, over the rows that take part.
#[test]
fn several_classes_are_certified_one_by_one() {
    let mixture = GaussianMixture::example(Example::One, 1).unwrap();
    let two = mixture.sample(90, 2).unwrap();
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
