//! Fits with features that no penalty acts on.

use margins_data::{Dataset, Design, Labels};
use margins_losses::{Logistic, MarginLoss};
use margins_optim::problem::PenaltyFactors;
use margins_optim::{Error, Fit, Options, Solver, Status, Training};
use margins_test_support::{lambda, losses_of};

fn noise(i: usize, j: usize) -> f64 {
    ((i * 37 + j * 101 + i * i * 13 + i * j * 7) % 199) as f64 / 99.5 - 1.0
}

/// Samples of some features, the classes of which overlap.
fn data(features: impl Fn(usize) -> Vec<f64>) -> Dataset {
    const N: usize = 150;
    let rows: Vec<Vec<f64>> = (0..N).map(features).collect();
    let sign = |i: usize| noise(i, 0) + noise(i, 1) + 1.2 * noise(i, 20) > 0.3;
    labelled(&rows, sign)
}

fn labelled(rows: &[Vec<f64>], is_positive: impl Fn(usize) -> bool) -> Dataset {
    let sign = |i: usize| if is_positive(i) { 1.0 } else { -1.0 };
    let labels = Labels::from_signs((0..rows.len()).map(sign).collect()).expect("two classes");
    Dataset::new(Design::from_rows(rows).expect("finite"), labels).expect("as many")
}

/// Returns the path with these penalty factors.
fn path(data: &Dataset, factors: &[f64], of: &Training<'_, dyn MarginLoss>) -> Vec<Fit> {
    let factors = PenaltyFactors::of_columns(factors.to_vec()).expect("factors");
    let options = Options { tolerance: 1e-9, ..of.options };
    let training = Training { penalty: Some(&factors), options, ..*of };
    training.path(data, &[1.0, 1e-2, 1e-4].map(lambda)).expect("fits")
}

/// With a factor e in place of 0 the minimum is above the one with 0, by at most
/// `lambda e ||B||^2`, B the coefficients of these features: whatever loss, and whatever other solver
/// finds it.
fn assert_limit(data: &Dataset, small: f64, factors: &dyn Fn(f64) -> Vec<f64>) {
    for name in losses_of(Solver::Auto) {
        let loss = margins_test_support::loss(name);
        for intercept in [true, false] {
            for standardize in [true, false] {
                let of = Training { intercept, standardize, ..Training::new(&*loss) };
                let fits = |e: f64| path(data, &factors(e), &of);
                for (free, limit) in fits(0.0).iter().zip(fits(small)) {
                    let what = format!("{name} {} {intercept} {standardize}", free.lambda);
                    let ends = [free, &limit].map(|fit| fit.report.status);
                    assert_eq!(ends, [Status::Converged; 2], "{what} {free:?}");
                    // Standardised coefficients are smaller by the deviations, which are below 1.
                    let of_free =
                        factors(0.0).into_iter().zip(&free.coef).filter(|(e, _)| *e == 0.0);
                    let square: f64 = of_free.map(|(_, w)| w * w).sum();
                    let above = free.lambda.get() * small * square;
                    let (a, b) = (free.report.objective, limit.report.objective);
                    let gaps = free.report.duality_gap + limit.report.duality_gap;
                    assert!(a - b <= gaps && b - a <= above + gaps, "{what}: {a} {b} {above:e}");
                }
            }
        }
    }
}

#[test]
fn the_minimum_is_the_limit_of_small_factors() {
    let data = data(|i| (0..6).map(|j| noise(i, j)).collect());
    assert_limit(&data, 1e-7, &|e| vec![e, 1.0, 4.0, e, 1.0, 0.3]);
}

/// Losses with kinks are solved in the row space of the other features.
#[test]
fn more_features_than_samples_have_that_limit_too() {
    const N: usize = 30;
    let value =
        |i: usize, j: usize| if j < 2 || (i + j).is_multiple_of(5) { noise(i, j) } else { 0.0 };
    let rows: Vec<Vec<f64>> = (0..N).map(|i| (0..70).map(|j| value(i, j)).collect()).collect();
    let dense = labelled(&rows, |i| noise(i, 0) + 2.0 * noise(i, 80) > 0.0);
    let stored =
        |row: &Vec<f64>| row.iter().copied().enumerate().filter(|(_, x)| *x != 0.0).collect();
    let rows: Vec<_> = rows.iter().map(stored).collect();
    let sparse = Design::from_sparse_rows(&rows, 70).expect("finite");
    let sparse = Dataset::new(sparse, dense.labels().clone()).expect("as many");
    let factors = |e: f64| (0..70).map(|j| if j < 2 { e } else { 1.0 }).collect();
    for data in [&dense, &sparse] {
        assert_limit(data, 1e-2, &factors);
    }
}

/// A feature with a factor W is the feature divided by the root of W, whose coefficient is larger by it.
#[test]
fn a_positive_factor_scales_a_feature() {
    let (plain, scaled) =
        (data(|i| vec![noise(i, 0), noise(i, 1)]), data(|i| vec![0.5 * noise(i, 0), noise(i, 1)]));
    let of = Training::new(&Logistic as &dyn MarginLoss);
    let with_factor = path(&plain, &[4.0, 1.0], &of);
    for (one, other) in with_factor.iter().zip(path(&scaled, &[1.0, 1.0], &of)) {
        assert_eq!(one.report.objective.to_bits(), other.report.objective.to_bits());
        assert_eq!(one.coef[0].to_bits(), (0.5 * other.coef[0]).to_bits());
        assert_eq!(one.coef[1].to_bits(), other.coef[1].to_bits());
    }
}

/// All levels of a category and the intercept are dependent, as is a feature given twice: the last
/// of them are left at 0, and the fit is that without them.
#[test]
fn dependent_free_columns_share_a_minimum() {
    let level = |i: usize, k: usize| f64::from(u8::from(i % 3 == k));
    let all = |i: usize| {
        vec![noise(i, 0), level(i, 0), level(i, 1), level(i, 2), noise(i, 1), noise(i, 1)]
    };
    let few = |i: usize| vec![noise(i, 0), level(i, 0), level(i, 1), noise(i, 1)];
    for name in ["logistic", "hinge", "lhs"] {
        let loss = margins_test_support::loss(name);
        let of = Training::new(&*loss);
        let factors = ([1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]);
        let dependent = path(&data(all), &factors.0, &of);
        for (one, other) in dependent.iter().zip(path(&data(few), &factors.1, &of)) {
            assert!(one.report.converged(), "{name} {} {:?}", one.lambda, one.report);
            let (a, b) = (one.report.objective, other.report.objective);
            assert!((a - b).abs() <= 2e-9 * a.abs(), "{name} {}: {a} {b}", one.lambda);
            // An objective within the gap holds penalised coefficients to the root of gap/lambda.
            let most = (one.report.duality_gap.max(0.0) / one.lambda.get()).sqrt();
            assert!(one.coef[3].abs() <= most && one.coef[5].abs() <= most, "{:?}", one.coef);
        }
    }
}

/// Free columns that are almost dependent, or of which a value is far out, have the minimum that they
/// have in better coordinates, at any tolerance.
#[test]
fn nearly_dependent_free_columns_have_their_minimum() {
    let well = |i: usize| vec![noise(i, 0), noise(i, 5), noise(i, 1)];
    let ill = |i: usize| vec![noise(i, 0), noise(i, 0) + 1e-6 * noise(i, 5), noise(i, 1)];
    let far = |i: usize| vec![noise(i, 0) + if i == 7 { 1e6 } else { 0.0 }, 0.0, noise(i, 1)];
    for name in ["logistic", "hinge", "lhs"] {
        let loss = margins_test_support::loss(name);
        let of = Training::new(&*loss);
        let expected = path(&data(well), &[0.0, 0.0, 1.0], &of);
        for (one, other) in path(&data(ill), &[0.0, 0.0, 1.0], &of).iter().zip(&expected) {
            assert!(one.report.converged(), "{name} {} {:?}", one.lambda, one.report);
            let (a, b) = (one.report.objective, other.report.objective);
            assert!((a - b).abs() <= 1e-8 * a.abs().max(b.abs()), "{name}: {a} {b}");
        }
        for tolerance in [1e-2, 1e-6] {
            let options = Options { tolerance, ..Options::default() };
            let factors = PenaltyFactors::of_columns(vec![0.0, 0.0, 1.0]).expect("factors");
            let training = Training { penalty: Some(&factors), options, ..of };
            for data in [data(ill), data(far)] {
                let fits = training.path(&data, &[lambda(0.1)]).expect("a fit");
                assert!(fits[0].report.converged(), "{name} {tolerance} {:?}", fits[0].report);
            }
        }
    }
}

/// Without any penalty the gradient of the mean loss is zero, and no lambda matters.
#[test]
fn all_features_may_be_free() {
    let data = data(|i| vec![noise(i, 0), noise(i, 1)]);
    let fits = path(&data, &[0.0, 0.0], &Training::new(&Logistic as &dyn MarginLoss));
    for fit in &fits {
        let mut gradient = [0.0; 3];
        let scores = fit.decision_function(data.design());
        for (i, (score, y)) in scores.iter().zip(data.labels().signs()).enumerate() {
            let slope = y * Logistic.derivative(y * score) / data.rows() as f64;
            let terms = [1.0, noise(i, 0), noise(i, 1)];
            gradient.iter_mut().zip(terms).for_each(|(g, z)| *g += slope * z);
        }
        // With curvature k the excess over the minimum is at least g^2/(2k), k at most 1/4.
        let most = (0.5 * fit.report.duality_gap).sqrt() + 1e-15;
        assert!(gradient.iter().all(|g| g.abs() <= most), "{gradient:?} {most:e}");
        assert!((fit.report.objective - fits[0].report.objective).abs() <= 1e-9);
    }
}

/// Free features that separate the classes leave some losses without a minimum; the fit is then the
/// direction. Where samples of both classes are on the boundary, losses that are bounded have an
/// infimum above 0, and the fit is within the tolerance of it.
#[test]
fn separation_by_free_features_is_named() {
    let rows: Vec<Vec<f64>> =
        (0..60).map(|i| vec![noise(i, 0), noise(i, 1), noise(i, 2)]).collect();
    let along = |x: &[f64]| x[0] - 0.5 * x[2] + 0.1;
    let separated = labelled(&rows, |i| along(&rows[i]) > 0.0);
    // Rows on the boundary have either class.
    let edge: Vec<Vec<f64>> = rows
        .iter()
        .enumerate()
        .map(|(i, x)| if i % 4 == 0 { vec![0.5 * x[2] - 0.1, x[1], x[2]] } else { x.clone() })
        .collect();
    let touching = labelled(&edge, |i| if i % 4 == 0 { i % 8 == 0 } else { along(&edge[i]) > 0.0 });
    for (name, status) in [
        ("logistic", Status::NoMinimum),
        ("exponential", Status::NoMinimum),
        ("dwd:q=1", Status::NoMinimum),
        ("lhs", Status::Unbounded),
        ("l-r:r=2", Status::Unbounded),
        ("hinge", Status::Converged),
        ("squared-hinge", Status::Converged),
        ("margin-pursuit:gamma=1,scale=1", Status::Converged),
    ] {
        let loss = margins_test_support::loss(name);
        for (data, touches) in [(&separated, false), (&touching, true)] {
            for fit in path(data, &[0.0, 1.0, 0.0], &Training::new(&*loss)) {
                let is_infimum = touches && status == Status::NoMinimum && fit.report.converged();
                // Losses with a minimum reach 0, of which no tolerance is a share.
                let is_zero = status == Status::Converged && fit.report.objective < 1e-12;
                let found = if is_infimum || is_zero { status } else { fit.report.status };
                assert_eq!(found, status, "{name} {} {:?}", fit.lambda, fit);
                // Parts of a step that do not recede fade slowly where the loss is a power.
                let is_direction = matches!(status, Status::NoMinimum | Status::Unbounded);
                if fit.report.status == Status::NoMinimum || (is_direction && !touches) {
                    let scores = fit.decision_function(data.design());
                    let margins = scores.iter().zip(data.labels().signs()).map(|(f, y)| f * y);
                    assert!(margins.fold(f64::INFINITY, f64::min) >= -1e-6, "{name} {fit:?}");
                    assert_eq!(fit.coef[1], 0.0);
                }
            }
        }
    }
}

/// A loss without a lower bound may fall along free features that separate no classes.
#[test]
fn a_free_feature_may_outweigh_the_slopes_of_a_loss() {
    let loss = margins_test_support::loss("leaky-relu:lambda=0.3");
    // Also beside more features than samples.
    for others in [0, 160] {
        let free = |i: usize| [0, 1, 20].map(|j| noise(i, j)).into_iter();
        let data = data(|i| free(i).chain((0..others).map(|j| noise(i, 30 + j))).collect());
        let factors = [vec![0.0; 3], vec![1.0; others]].concat();
        for fit in path(&data, &factors, &Training::new(&*loss)) {
            assert_eq!(fit.report.status, Status::Unbounded, "{fit:?}");
            assert!(
                fit.coef[3..].iter().all(|&w| w == 0.0) && fit.coef[..3].iter().any(|&w| w != 0.0)
            );
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for (factors, words) in [
        (vec![1.0, -1.0], "feature 2 is -1"),
        (vec![f64::NAN], "feature 1 is NaN"),
        (vec![0.0; 65], "65 features"),
    ] {
        let columns = factors.len();
        let on = PenaltyFactors::of_columns(factors).and_then(|factors| factors.on(None, columns));
        let error = on.expect_err("refused").to_string();
        assert!(error.contains(words), "{error}");
    }
    let data = data(|i| vec![noise(i, 0), noise(i, 1)]);
    let factors = PenaltyFactors::of_columns(vec![0.0, 1.0]).expect("factors");
    for (_, solver) in Solver::NAMED {
        let options = Options { solver, ..Options::default() };
        let training = Training {
            penalty: Some(&factors),
            options,
            ..Training::new(&Logistic as &dyn MarginLoss)
        };
        let fits = training.path(&data, &[lambda(0.1)]);
        match solver {
            Solver::Auto | Solver::Newton => assert!(fits.expect("a fit")[0].report.converged()),
            _ => assert!(matches!(fits, Err(Error::SolverSpace { .. })), "{solver:?}"),
        }
    }
}
