//! Theorem 3 of the leaky hockey stick paper in closed form, for any exponent of the penalty and any loss
//! with a tail.

use margins_data::{Design, Labels};
use margins_losses::MarginLoss;
use margins_optim::path::{SeparableLimit, separable_limit};
use margins_optim::{Error, Objective, Options, fit};
use margins_test_support::{lambda, loss, rows_and_signs};
use proptest::prelude::*;

const LOSSES: [&str; 5] = ["lhs", "l-r:r=1.5", "l-r:r=2", "l-r:r=5", "dwd:q=1"];
const EXPONENTS: [f64; 5] = [1.0, 1.5, 2.0, 3.0, 8.0];

/// Rows whose last feature separates the classes through the origin, all of the same scale.
fn separable() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<f64>)> {
    rows_and_signs(4..20, 1..6, -1.0..1.0f64).prop_map(|(mut rows, y)| {
        for (i, (x, y)) in rows.iter_mut().zip(&y).enumerate() {
            x.push(y * (0.5 + 0.1 * (i % 5) as f64));
        }
        (rows, y)
    })
}

fn size(w: &[f64], q: f64) -> f64 {
    w.iter().map(|w| w.abs().powf(q)).sum::<f64>().powf(1.0 / q)
}

fn margins(rows: &[Vec<f64>], y: &[f64], w: &[f64]) -> Vec<f64> {
    let score = |x: &Vec<f64>| x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
    rows.iter().zip(y).map(|(x, y)| y * score(x)).collect()
}

/// The criterion that the direction maximises, from the letters of the theorem.
fn criterion(name: &str, margins: &[f64], weights: &[f64]) -> f64 {
    let of = |m: f64| match name {
        "lhs" => m.ln(),
        "dwd:q=1" => -1.0 / m,
        _ => {
            let r: f64 = name.trim_start_matches("l-r:r=").parse().expect("a number");
            r * m.powf(1.0 / r)
        }
    };
    let terms = margins.iter().zip(weights).map(|(m, c)| c * of(*m));
    terms.sum::<f64>() / margins.len() as f64
}

/// The largest violation of the conditions of a minimum of the mean loss plus `lambda ||w||_q^q`, relative
/// to the size of the gradients.
fn violation(
    loss: &dyn MarginLoss,
    (rows, y, weights): (&[Vec<f64>], &[f64], &[f64]),
    w: &[f64],
    lambda: f64,
    q: f64,
) -> f64 {
    let mut gradient = vec![0.0; w.len()];
    for ((x, y), (m, c)) in rows.iter().zip(y).zip(margins(rows, y, w).iter().zip(weights)) {
        let pull = c * y * loss.derivative(*m) / rows.len() as f64;
        gradient.iter_mut().zip(x).for_each(|(g, x)| *g += pull * x);
    }
    let largest = gradient.iter().fold(0.0f64, |size, g| size.max(g.abs()));
    let violations = gradient.iter().zip(w).map(|(g, w)| {
        let own = lambda * q * w.abs().powf(q - 1.0) * w.signum();
        if q == 1.0 && *w == 0.0 { (g.abs() - lambda).max(0.0) } else { (g + own).abs() }
    });
    violations.fold(0.0, f64::max) / largest
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// The closed form satisfies the conditions of a minimum at every lambda from the first one on, and
    /// no direction nearby has a larger criterion.
    #[test]
    fn the_minimisers_of_all_small_lambdas_have_one_direction(
        (rows, y) in separable(),
        weights in proptest::collection::vec(0.5..2.0f64, 20),
        name in proptest::sample::select(LOSSES.to_vec()),
        q in proptest::sample::select(EXPONENTS.to_vec()),
        turn in proptest::collection::vec(-1.0..1.0f64, 7),
    ) {
        let (loss, weights) = (loss(name), &weights[..rows.len()]);
        let (design, labels) = (Design::from_rows(&rows).unwrap(), Labels::from_signs(y.clone()).unwrap());
        let objective = Objective::new(&*loss, &design, &labels).unwrap();
        let objective = objective.with_weights(weights).unwrap().without_intercept();
        let limit = separable_limit(&objective, q).unwrap();
        let SeparableLimit { coef, first_lambda, least_margin, .. } = &limit;
        prop_assert!(limit.relative_gap <= 1e-12, "{limit:?}");
        prop_assert!((size(coef, q) - 1.0).abs() <= 1e-12);
        let found = margins(&rows, &y, coef);
        let least = found.iter().copied().fold(f64::INFINITY, f64::min);
        prop_assert!(least > 0.0 && (least / least_margin - 1.0).abs() <= 1e-12);
        let value = criterion(name, &found, weights);
        prop_assert!((value - limit.criterion).abs() <= 1e-12 * (1.0 + value.abs()));
        // Lemma 5: the size grows without bound; lemma 6: all margins are on the tail.
        let tail = loss.homogeneous_tail().unwrap();
        let mut before = 0.0;
        for share in [1.0, 0.3, 1e-3, 1e-6] {
            let at = share * first_lambda;
            let b = limit.size(lambda(at)).unwrap();
            prop_assert!(b > before);
            before = b;
            let w: Vec<f64> = coef.iter().map(|w| b * w).collect();
            let all = margins(&rows, &y, &w);
            prop_assert!(all.iter().all(|m| *m >= tail.from * (1.0 - 1e-9)), "{all:?}");
            let violation = violation(&*loss, (&rows, &y, weights), &w, at, q);
            prop_assert!(violation <= 1e-4, "{violation} at {share} for q = {q}, {limit:?}");
        }
        prop_assert_eq!(limit.size(lambda(1.01 * first_lambda)), None);
        // A bound is a bound.
        let bound = value + limit.relative_gap * criterion_slope(&found, weights, tail.degree) + 1e-9;
        for length in [1e-3, 0.1, 1.0] {
            let mut other: Vec<f64> = coef.iter().zip(&turn).map(|(w, t)| w + length * t).collect();
            let norm = size(&other, q);
            other.iter_mut().for_each(|w| *w /= norm);
            let moved = margins(&rows, &y, &other);
            if moved.iter().all(|m| *m > 0.0) {
                prop_assert!(criterion(name, &moved, weights) <= bound);
            }
        }
    }

    /// For q = 2 it is the direction of certified fits of our own solvers, wide tables included.
    #[test]
    fn fits_at_small_lambdas_have_that_direction(
        (mut rows, y) in separable(),
        name in proptest::sample::select(LOSSES.to_vec()),
        wide in any::<bool>(),
    ) {
        if wide {
            for (i, x) in rows.iter_mut().enumerate() {
                x.extend((0..30).map(|j| 0.3 * ((i * 31 + j * 7) as f64).sin()));
            }
        }
        let loss = loss(name);
        let (design, labels) = (Design::from_rows(&rows).unwrap(), Labels::from_signs(y).unwrap());
        let objective = Objective::new(&*loss, &design, &labels).unwrap().without_intercept();
        let limit = separable_limit(&objective, 2.0).unwrap();
        prop_assert!(limit.relative_gap <= 1e-12, "{limit:?}");
        let options = Options { tolerance: 1e-12, ..Options::default() };
        let at = lambda(0.5 * limit.first_lambda);
        let fit = fit(&objective, at, &options).unwrap();
        let b = limit.size(at).unwrap();
        for (w, direction) in fit.coef.iter().zip(&limit.coef) {
            prop_assert!((w - b * direction).abs() <= 1e-4 * b, "{w} {direction} {b}");
        }
    }
}

/// The mean of `c_i m_i^(1-d)`, to which the gap is relative.
fn criterion_slope(margins: &[f64], weights: &[f64], degree: f64) -> f64 {
    let terms = margins.iter().zip(weights).map(|(m, c)| c * m.powf(1.0 - degree));
    terms.sum::<f64>() / margins.len() as f64
}

/// Worked by hand: `sum log m_i` over `||w||_q = 1` on the axes is largest where all coefficients are the
/// same; and one sample has the direction of its dual norm.
#[test]
fn directions_by_hand() {
    let loss = loss("lhs");
    let of = |rows: &[[f64; 2]], y: &[f64], q: f64| {
        let design = Design::from_rows(rows).unwrap();
        let labels = Labels::from_signs(y.to_vec()).unwrap();
        let objective = Objective::new(&*loss, &design, &labels).unwrap().without_intercept();
        separable_limit(&objective, q).unwrap()
    };
    for q in EXPONENTS {
        let limit = of(&[[1.0, 0.0], [0.0, -1.0]], &[1.0, -1.0], q);
        let expected = 0.5f64.powf(1.0 / q);
        assert!(limit.coef.iter().all(|w| (w - expected).abs() < 1e-7), "{q} {limit:?}");
        // Both margins are 2^(-1/q): lambda_0 = 1/(2 q), and B = (1/(q lambda))^(1/q).
        assert!((limit.first_lambda * 2.0 * q - 1.0).abs() < 1e-6, "{q} {limit:?}");
        let b = limit.size(lambda(0.01)).unwrap();
        assert!((b - (1.0 / (q * 0.01)).powf(1.0 / q)).abs() < 1e-9 * b);
        // Twice the same sample but for its sign: w is in proportion to |x|^(1/(q-1)).
        let limit = of(&[[2.0, 1.0], [-2.0, -1.0]], &[1.0, -1.0], q);
        let ratio = if q == 1.0 { 0.0 } else { 2f64.powf(-1.0 / (q - 1.0)) };
        assert!((limit.coef[1] / limit.coef[0] - ratio).abs() < 1e-6, "{q} {limit:?}");
    }
}

#[test]
fn what_has_no_limit_is_refused() {
    let design = Design::from_rows(&[[1.0], [-1.0], [0.5]]).unwrap();
    let separated = Labels::from_signs(vec![1.0, -1.0, 1.0]).unwrap();
    let mixed = Labels::from_signs(vec![1.0, -1.0, -1.0]).unwrap();
    let refused = |name: &str, labels: &Labels, intercept: bool, q: f64| {
        let loss = loss(name);
        let objective = Objective::new(&*loss, &design, labels).unwrap();
        let objective = if intercept { objective } else { objective.without_intercept() };
        separable_limit(&objective, q).unwrap_err()
    };
    assert!(matches!(refused("lhs", &mixed, false, 2.0), Error::NotSeparable(_)));
    assert!(matches!(refused("lhs", &separated, true, 2.0), Error::Limit(_)));
    for name in ["hinge", "logistic", "leaky-relu"] {
        assert!(
            matches!(refused(name, &separated, false, 2.0), Error::Unsuitable { .. }),
            "{name}"
        );
    }
    for q in [0.5, f64::NAN, f64::INFINITY] {
        let error = refused("lhs", &separated, false, q);
        assert!(matches!(error, Error::Parameter(_)), "{error}");
    }
}
