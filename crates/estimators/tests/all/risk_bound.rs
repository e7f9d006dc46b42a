//! The excess risk bound of margin pursuit with estimated quantities.

use margins_calibration::MarginPursuitPsi;
use margins_data::generate::{Example, GaussianMixture};
use margins_data::{Dataset, Design, Labels};
use margins_estimators::risk_bound::{EstimatedRiskBound, RiskBoundSettings};
use margins_losses::catoni::psi_prime;
use margins_losses::{MarginLoss, MarginPursuit};
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
        let statistical = |k: usize| pair[k].bound.unwrap().published.statistical_error;
        assert!(statistical(0) < statistical(1));
        let terms = pair[1].bound.unwrap();
        assert!(terms.sound.sound_epsilon_star > terms.published.epsilon_star);
    }
    assert!(found.iter().all(EstimatedRiskBound::is_vacuous));
}

/// x is 1 for 60 % of the samples, of class 1, and 5 for the others: the samples are the distribution, no
/// function of x errs on it, and the minimiser errs on 60 %.
#[test]
fn a_bound_that_is_not_vacuous_holds() {
    let kinds = [(1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (5.0, -1.0), (5.0, -1.0)];
    let all = || kinds.iter().cycle().take(100_000);
    let rows: Vec<[f64; 1]> = all().map(|kind| [kind.0]).collect();
    let labels = Labels::from_signs(all().map(|kind| kind.1).collect()).unwrap();
    let data = Dataset::new(Design::from_rows(&rows).unwrap(), labels).unwrap();
    let found = RiskBoundSettings::new(1.0, 3.0).estimate(&data).unwrap();
    let terms = found.bound.unwrap();
    let loss = MarginPursuit::new(1.0, 3.0).unwrap();
    let mean = |of_kind: &dyn Fn(f64, f64) -> f64| {
        kinds.iter().map(|&(x, y)| of_kind(x, y)).sum::<f64>() / 5.0
    };
    // Gradient descent with the step and the number of steps of the bound.
    let mut w = 0.0;
    for _ in 0..terms.quantities.iterations {
        w -= terms.quantities.step * mean(&|x, y| y * x * loss.derivative(y * w * x));
    }
    let risk = mean(&|x, y| loss.value(y * w * x));
    let error = mean(&|x, y| f64::from(y * w * x <= 0.0));
    assert!((error - 0.6).abs() < 1e-15 && !found.is_vacuous());
    let bounds = [terms.misclassification, terms.sound_misclassification];
    assert!(bounds.iter().all(|bound| error < *bound), "{bounds:?}");
    let excess = [terms.published.excess_over_linear, terms.sound.sound_excess_over_linear];
    assert!(excess.iter().all(|bound| risk - found.approximation_error <= *bound), "{excess:?}");
    // Without the approximation error the bounds fail.
    let transform = MarginPursuitPsi::new(1.0, 3.0).unwrap();
    assert!(excess.iter().all(|&bound| transform.inverse(bound) < error), "{excess:?}");
}

#[test]
fn a_bound_needs_the_minimiser_in_the_ball_and_independent_features() {
    let data = mixture(200);
    let settings = RiskBoundSettings::new(1.0, 10.0);
    let inside = settings.estimate(&data).unwrap();
    assert!(!inside.is_outside() && inside.bound.is_some());
    let radius = Some(0.9 * inside.minimizer_norm);
    let outside = RiskBoundSettings { radius, ..settings }.estimate(&data).unwrap();
    assert!(outside.is_outside() && !outside.is_stationary && outside.bound.is_none());
    assert!(outside.strong_convexity > 0.0);
    // Kappa tends to the smallest eigenvalue, which is 0 for dependent features.
    let wide = RiskBoundSettings { scale: 1e4, ..settings }.estimate(&data).unwrap();
    assert!((wide.strong_convexity / wide.smallest_eigenvalue - 1.0).abs() < 1e-5);
    let (x, _) = matrix(&data);
    let rows: Vec<[f64; 2]> = x.row_iter().map(|row| [row[0], -2.0 * row[0]]).collect();
    let dependent = data.with_design(Design::from_rows(&rows).unwrap()).unwrap();
    for found in settings.along(&dependent, &[10.0, 1e4]).unwrap() {
        assert_eq!((found.smallest_eigenvalue, found.strong_convexity), (0.0, 0.0));
        assert!(!found.is_outside() && found.bound.is_none());
    }
}

#[test]
fn bounds_along_the_scale_are_those_of_each_scale() {
    let data = mixture(100);
    let settings = RiskBoundSettings::new(1.0, 10.0);
    let along = settings.along(&data, &[40.0, 10.0]).unwrap();
    assert_eq!((along.len(), &along[1]), (2, &settings.estimate(&data).unwrap()));
    assert_eq!(along[0].scale, 40.0);
    let refused = settings.along(&data, &[10.0, -1.0]).unwrap_err().to_string();
    assert!(refused.contains("scale is -1"), "{refused}");
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
    assert_eq!(
        refused(plain, &weighted),
        "the risk bound cannot be combined with sample weights: theorem 11 is for samples of equal weight"
    );
    // Both classes have the same samples, so that the minimiser is 0.
    let design = Design::from_rows(&[[0.1], [0.7], [0.1], [0.7]]).unwrap();
    let labels = Labels::from_signs(vec![1.0, 1.0, -1.0, -1.0]).unwrap();
    let centred = Dataset::new(design, labels).unwrap();
    assert!(refused(plain, &centred).contains("twice the norm of the minimiser, is 0"));
}
