//! Statements of the leaky hockey stick paper that `docs/errata.md` corrects, on the examples there.

use margins_losses::{LeakyHockeyStick, MarginLoss};
use margins_test_support::dense;
use nalgebra::{DMatrix, DVector, SymmetricEigen, dmatrix};

use crate::common::gram;

/// Appendix C after (20): Sherman and Morrison's formula needs the first row of U, where the paper
/// prints its first column.
#[test]
fn the_first_row_of_the_eigenvectors_frees_the_intercept_of_the_penalty() {
    let (n, lambda) = (4.0, 0.1);
    let z = dmatrix![1.0, 1.0, 0.0; 1.0, 0.0, 2.0; 1.0, 1.0, 1.0; 1.0, -1.0, 1.0];
    let gram = z.transpose() * &z;
    let ridge = 2.0 * n * lambda;
    let penalised = &gram + DMatrix::identity(3, 3) * ridge;
    let mut free = penalised.clone();
    free[(0, 0)] -= ridge;
    let SymmetricEigen { eigenvectors: u, eigenvalues } = SymmetricEigen::new(gram);
    let inverse = DMatrix::from_diagonal(&eigenvalues.map(|value| 1.0 / (value + ridge)));
    let formula = |v: &DVector<f64>| {
        let g = ridge / (1.0 - ridge * v[0]);
        &u * &inverse * u.transpose() + v * v.transpose() * g
    };
    let exact = free.try_inverse().expect("regular");
    let of_row = &u * &inverse * u.row(0).transpose();
    assert!((of_row[0] - 0.457_896).abs() < 1e-6, "{of_row}");
    assert!((formula(&of_row) - &exact).amax() < 1e-14);
    for column in u.column_iter() {
        let of_column = &u * &inverse * column;
        assert!((&of_column - &of_row).amax() > 0.05, "{of_column}");
        assert!((formula(&of_column) - &exact).amax() > 0.05);
    }
}

/// Appendices A.13 and A.15 take `||f||^2 <= sup |f|^2/inf K`, which is false for the fourth difference
/// of the Gaussian kernel on [0, 1].
#[test]
fn a_supremum_bounds_no_norm() {
    let differences = [1.0, -4.0, 6.0, -4.0, 1.0];
    let centres: Vec<Vec<f64>> = (0..5).map(|k| vec![0.25 * f64::from(k)]).collect();
    let square = gram("gaussian:sigma=1", &dense(&centres)).quadratic_form(&differences);
    let f = |x: f64| -> f64 {
        let value = |c: &Vec<f64>| (-(x - c[0]).powi(2)).exp();
        centres.iter().map(value).zip(differences).map(|(k, a)| k * a).sum()
    };
    let largest = (0..=10_000).map(|k| f(f64::from(k) / 10_000.0).abs()).fold(0.0, f64::max);
    let printed = largest.powi(2) / (-1f64).exp();
    assert!((square - 0.017_815).abs() < 1e-6, "{square}");
    assert!((printed - 0.004_863).abs() < 1e-6, "{printed}");
}

/// Lemma 1 takes `C = ||beta||`. On the four points of remark 2 the minimiser of (2) has beta = 0, and
/// sign(x) solves (3) for every C up to 1.
#[test]
fn a_zero_minimiser_has_no_constrained_form() {
    let points = [(-1.0, 1.0), (-1.0, -1.0), (1.0, 1.0), (1.0, -1.0)];
    let risk = |intercept: f64, w: f64| -> f64 {
        points.iter().map(|(y, x)| LeakyHockeyStick.value(y * (intercept + x * w))).sum()
    };
    let grid = || (-40..=40).map(|k| 0.1 * f64::from(k));
    for intercept in grid() {
        for w in grid() {
            // A penalty on w adds to this, so that w = 0 is the only minimiser of (2).
            assert!(risk(intercept, w) >= risk(0.0, 0.0) - 1e-12, "{intercept} {w}");
            // With slacks at their best, (3) is this risk at C times its variables, but for a constant.
            for c in [0.1, 0.5, 1.0] {
                assert!(risk(c * intercept, c * w) >= risk(0.0, c) - 1e-12, "{c}");
            }
        }
    }
}
