//! The excess risk bound of margin pursuit with estimated quantities.

use margins_data::generate::{Example, GaussianMixture};
use margins_data::{Dataset, Design, Labels};
use margins_estimators::risk_bound::{EstimatedRiskBound, RiskBoundSettings};
use margins_losses::catoni::psi_prime;
use nalgebra::DMatrix;

fn mixture(rows: usize) -> Dataset {
    GaussianMixture::example(Example::One, 1).unwrap().sample(rows, 2).unwrap()
}

/// Returns the matrix of samples, a row each, with the signs.
fn matrix(data: &Dataset) -> (DMatrix<f64>, Vec<f64>) {
    (data.design().to_dense(), data.labels().signs().to_vec())
}

#[test]
fn moments_are_those_of_the_samples() {
    let data = mixture(300);
    let (x, _) = matrix(&data);
    let found = RiskBoundSettings::new(1.0, 10.0).estimate(&data).unwrap();
    let gram = x.transpose() * &x / 300.0;
    let largest = gram.symmetric_eigenvalues().max();
    assert!((found.operator_norm / largest - 1.0).abs() < 1e-12);
    assert!((found.input_second_moment / gram.trace() - 1.0).abs() < 1e-12);
    assert_eq!((found.samples, found.dimension), (300, 2));
    assert!(found.is_stationary && (found.radius / found.minimizer_norm - 2.0).abs() < 1e-14);
    // Standard normal projections have the constant 1/2; these are close to it.
    assert!((0.5..1.0).contains(&found.gradient_constant), "{}", found.gradient_constant);
}

/// No Hessian in the ball has a smaller eigenvalue than kappa (remark 10).
#[test]
fn kappa_is_at_most_the_curvature_anywhere_in_the_ball() {
    let data = mixture(200);
    let (x, signs) = matrix(&data);
    let mut least_ratio = f64::INFINITY;
    for scale in [4.0, 8.0, 30.0] {
        for radius in [0.3, 1.0, 3.0] {
            let settings =
                RiskBoundSettings { radius: Some(radius), ..RiskBoundSettings::new(1.0, scale) };
            let found = settings.estimate(&data).unwrap();
            for k in 0..24 {
                let angle = f64::from(k) / 12.0 * std::f64::consts::PI;
                let w = [radius * angle.cos(), radius * angle.sin()];
                let mut hessian = DMatrix::zeros(2, 2);
                for (row, sign) in x.row_iter().zip(&signs) {
                    let margin = sign * (row[0] * w[0] + row[1] * w[1]);
                    hessian += row.transpose() * row * (psi_prime((1.0 - margin) / scale) / 200.0);
                }
                let curvature = hessian.symmetric_eigenvalues().min();
                assert!(found.strong_convexity <= curvature + 1e-12, "{scale} {radius} {angle}");
                if found.strong_convexity > 0.0 {
                    least_ratio = least_ratio.min(found.strong_convexity / curvature);
                }
            }
        }
    }
    // And it is not trivial: a large scale loses little.
    assert!(least_ratio > 0.0 && least_ratio < 1.0, "{least_ratio}");
    let wide = RiskBoundSettings { radius: Some(0.3), ..RiskBoundSettings::new(1.0, 300.0) };
    let wide = wide.estimate(&data).unwrap();
    assert!(wide.strong_convexity > 0.99 * wide.curvature_at_minimizer);
}

#[test]
fn the_errors_move_apart_along_the_scale() {
    let data = mixture(2000);
    let at = |scale: f64| RiskBoundSettings::new(1.0, scale).estimate(&data).unwrap();
    // A2 is not shown at a small scale, and the bound says nothing.
    let small = at(0.5);
    assert!(small.strong_convexity == 0.0 && small.bound.is_none() && small.is_vacuous());
    // Remark 12: kappa rises with the scale, and so does s epsilon*.
    let found = [10.0, 40.0, 160.0].map(at);
    for pair in found.windows(2) {
        assert!(pair[0].strong_convexity < pair[1].strong_convexity);
        let noise = |k: usize| {
            let terms = pair[k].bound.unwrap();
            pair[k].scale * terms.published.epsilon_star
        };
        assert!(noise(0) < noise(1));
        let terms = pair[1].bound.unwrap();
        assert!(terms.misclassification <= 1.0 && terms.sound_misclassification <= 1.0);
        assert!(terms.sound.sound_epsilon_star > terms.published.epsilon_star);
    }
    assert!(found.iter().all(EstimatedRiskBound::is_vacuous));
}

/// With enough samples in one dimension the bound is not vacuous.
#[test]
fn a_bound_that_is_not_vacuous_holds() {
    let n = 100_000;
    // The margin is 1 for all samples, so that gamma = 1 is attained and the Bayes error is 0.
    let rows: Vec<[f64; 1]> = (0..n).map(|i| [if i % 2 == 0 { 1.0 } else { -1.0 }]).collect();
    let signs = rows.iter().map(|row| row[0]).collect();
    let data = Dataset::new(Design::from_rows(&rows).unwrap(), Labels::from_signs(signs).unwrap())
        .unwrap();
    let settings = RiskBoundSettings { radius: Some(1.2), ..RiskBoundSettings::new(1.0, 1.8) };
    let found = settings.estimate(&data).unwrap();
    assert!(found.approximation_error < 1e-12 && (found.minimizer_norm - 1.0).abs() < 1e-6);
    let bound = found.bound.unwrap();
    assert!(!found.is_vacuous(), "{bound:?}");
    assert!(bound.sound_misclassification > 0.0 && bound.misclassification > 0.0);
}

#[test]
fn refusals() {
    let data = mixture(50);
    let refused = |settings: RiskBoundSettings, data: &Dataset| {
        settings.estimate(data).unwrap_err().to_string()
    };
    let plain = RiskBoundSettings::new(1.0, 1.0);
    for (settings, expected) in [
        (RiskBoundSettings { delta: 0.5, ..plain }, "delta is 0.5"),
        (RiskBoundSettings { radius: Some(0.0), ..plain }, "the radius is 0"),
        (RiskBoundSettings { gamma: -1.0, ..plain }, "gamma"),
    ] {
        let error = refused(settings, &data);
        assert!(error.contains(expected), "{error}");
    }
    let weighted = mixture(50).with_weights(vec![2.0; 50]).unwrap();
    assert!(refused(plain, &weighted).contains("sample weights"));
}
