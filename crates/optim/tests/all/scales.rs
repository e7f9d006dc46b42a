//! Features of any scale and offset, weights of any size: what a report says is true, or it says
//! that it cannot tell.

use margins_data::{Design, Labels};
use margins_losses::{Logistic, MarginLoss};
use margins_optim::{Fit, Objective, Options, Solver, Status, fit, lambda_grid, path};
use margins_test_support::{CONVEX_LOSSES, Column, SOLVERS, Table, lambda, loss, tables};
use nalgebra_sparse::CsrMatrix;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Columns of any unit, some far from zero.
fn columns(p: usize) -> impl Strategy<Value = Vec<Column>> {
    // In spreads of the column; most have none.
    let offset = prop_oneof![3 => Just(0.0), 1 => (0.0..10.0f64).prop_map(|e| 10f64.powf(e))];
    let column = (-12.0..12.0f64, offset)
        .prop_map(|(exponent, offset)| Column { unit: 10f64.powf(exponent), offset });
    proptest::collection::vec(column, p)
}

/// The terms of F at a fit and the sum of their sizes; scores in twice the working precision.
fn value(table: &Table, loss: &dyn MarginLoss, at: f64, fit: &Fit) -> (f64, f64) {
    let n = table.rows.len() as f64;
    let (mut total, mut size) = (0.0, 0.0);
    for ((row, y), c) in table.rows.iter().zip(&table.signs).zip(&table.weights) {
        let (mut high, mut low, mut absolute) = (fit.intercept, 0.0, fit.intercept.abs());
        for (x, w) in row.iter().zip(&fit.coef) {
            let product = x * w;
            low += x.mul_add(*w, -product);
            let sum = high + product;
            let taken = sum - high;
            low += (high - (sum - taken)) + (product - taken);
            high = sum;
            absolute += product.abs();
        }
        let margin = y * (high + low);
        let term = c / n * loss.value(margin);
        total += term;
        // A coefficient is known to a unit of roundoff.
        size += term.abs() + c / n * loss.derivative(margin).abs() * (1.0 + absolute);
    }
    let penalty: f64 = fit.coef.iter().map(|w| at * w * w).sum();
    (total + penalty, size + penalty)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn what_a_report_says_is_true(
        table in tables(1..20, columns),
        name in proptest::sample::select(&CONVEX_LOSSES[..]),
        exponent in -8.0..2.0f64,
        intercept: bool,
    ) {
        let loss = loss(name);
        let at = 10f64.powf(exponent);
        let design = Design::from_rows(&table.rows).unwrap();
        let labels = Labels::from_signs(table.signs.clone()).unwrap();
        let mut objective =
            Objective::new(&*loss, &design, &labels).unwrap().with_weights(&table.weights).unwrap();
        if !intercept {
            objective = objective.without_intercept();
        }
        let mut fits = Vec::new();
        for solver in SOLVERS {
            let options = Options { solver, max_iterations: Some(200), ..Options::default() };
            match fit(&objective, lambda(at), &options) {
                Ok(fit) => fits.push((solver, fit)),
                // A solver that does not take the loss, or a square that overflows.
                Err(error) => prop_assert!(solver != Solver::Bundle, "{solver:?}: {error}"),
            }
        }
        let mut least = f64::INFINITY;
        let mut bounds = Vec::new();
        for (solver, fit) in &fits {
            let report = &fit.report;
            if report.status == Status::Unbounded {
                continue;
            }
            if report.status == Status::NumericalTrouble {
                prop_assert!(!report.converged());
                continue;
            }
            let (value, size) = value(&table, &*loss, at, fit);
            let slack = 1e-13 * size + report.rounding;
            prop_assert!(
                (value - report.objective).abs() <= slack,
                "{solver:?} {name}: F is {value:e}, not {:e}: {report:?}", report.objective
            );
            prop_assert!(report.duality_gap >= 0.0, "{solver:?} {report:?}");
            let zero = f64::EPSILON.min(report.rounding);
            let is_visible = report.relative_rounding() <= 1e-6 || report.objective.abs() <= zero;
            let certified = report.relative_gap <= 1e-6 && is_visible;
            prop_assert_eq!(report.converged(), certified, "{:?} {:?}", solver, report);
            least = least.min(value + 1e-13 * size);
            bounds.push((solver, report.dual_objective));
        }
        // No lower bound lies above a value that F takes.
        for (solver, bound) in bounds {
            prop_assert!(bound <= least, "{solver:?} {name}: bound {bound:e} above {least:e}");
        }
    }
}

/// Groups of ten nearly collinear columns whose spreads fall by nineteen orders from the first to
/// the last, as raw tables have them: `n` rows, `10 groups` columns.
fn collinear_groups(n: usize, groups: usize, seed: u64) -> (Design, Labels) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
    let signs: Vec<f64> = (0..n).map(|_| if normal() < -0.4 { 1.0 } else { -1.0 }).collect();
    let mut rows = vec![Vec::new(); n];
    for g in 0..groups {
        let says = if g % 3 == 0 { 0.2 } else { 0.0 };
        let common: Vec<f64> = signs.iter().map(|y| (normal() + says * y).exp()).collect();
        for k in 0..10 {
            let share = f64::from(k) / 9.0;
            let noise = 10f64.powf(-1.0 - 3.0 * share);
            let scale = 10f64.powf(10.0 - share - 19.0 * g as f64 / (groups - 1) as f64);
            for (row, f) in rows.iter_mut().zip(&common) {
                row.push(f.powf(0.98 + 0.04 * share) * (1.0 + noise * normal()) * scale);
            }
        }
    }
    (Design::from_rows(&rows).unwrap(), Labels::from_signs(signs).unwrap())
}

/// More columns than rows and more rows than columns, dense and sparse: every lambda down to 1e-7
/// is certified, unless the loss is smooth and the minimum is below a thousandth of F at the
/// origin; there the fit comes within a millionth of that and says what it knows.
#[test]
fn collinear_columns_of_all_scales_are_certified() {
    let lambdas = lambda_grid(1.0, 1e-7, 15).unwrap();
    for (n, groups, losses) in [
        (40, 9, ["lhs", "logistic", "squared-hinge", "hinge"]),
        (200, 4, ["lhs", "logistic", "squared-hinge", "hinge"]),
    ] {
        let (dense, labels) = collinear_groups(n, groups, 7);
        let sparse = Design::sparse(CsrMatrix::from(&dense.to_dense())).unwrap();
        for design in [&dense, &sparse] {
            for name in losses {
                let loss = loss(name);
                let objective = Objective::new(&*loss, design, &labels).unwrap();
                let fits = path(&objective, &lambdas, &Options::default(), &|_| {}).unwrap();
                let at_origin = loss.value(0.0);
                let smooth = matches!(name, "logistic" | "squared-hinge");
                for Fit { lambda, report, .. } in fits {
                    let is_near = report.objective.min(report.duality_gap) <= 1e-6 * at_origin;
                    let is_nothing = smooth && is_near && report.objective <= 1e-3 * at_origin;
                    let gave_up = matches!(report.status, Status::RoundingLimit | Status::Stalled);
                    assert!(
                        report.converged() || (is_nothing && gave_up),
                        "{n} rows, {name}, {lambda}: {report:?}"
                    );
                }
            }
        }
    }
}

/// A column of times in seconds beside an ordinary one, and the same column without its offset: one
/// problem.
#[test]
fn an_offset_of_a_column_changes_nothing() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
    let signs: Vec<f64> = (0..200).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let rows: Vec<[f64; 2]> =
        signs.iter().map(|y| [(1e5 * (0.8 * y + normal())).round(), normal() + 0.3 * y]).collect();
    let labels = Labels::from_signs(signs).unwrap();
    let fits = |offset: f64, sparse: bool, solver| {
        let rows: Vec<[f64; 2]> = rows.iter().map(|[t, x]| [t + offset, *x]).collect();
        let mut design = Design::from_rows(&rows).unwrap();
        if sparse {
            design = Design::sparse(CsrMatrix::from(&design.to_dense())).unwrap();
        }
        let loss = loss("logistic");
        let objective = Objective::new(&*loss, &design, &labels).unwrap();
        fit(&objective, lambda(1e-3), &Options { solver, ..Options::default() }).unwrap()
    };
    for solver in SOLVERS {
        for sparse in [false, true] {
            let (near, far) = (fits(0.0, sparse, solver), fits(1.7e9, sparse, solver));
            assert!(near.report.converged(), "{solver:?} {:?}", near.report);
            assert!(far.report.converged(), "{solver:?} {:?}", far.report);
            let (one, other) = (&near.report, &far.report);
            assert!(one.dual_objective <= other.objective + other.rounding, "{solver:?}");
            assert!(other.dual_objective <= one.objective + one.rounding, "{solver:?}");
        }
    }
}

/// `F(b, w)` of four points at -1 and 1 with the loss of the paper has its minimum 1.7e-17 at w =
/// 2.718. Terms of size 1 cancel in it, so that their rounding is above any share of it.
#[test]
fn a_minimum_of_nearly_zero_is_bounded_by_every_solver() {
    const MINIMUM: f64 = 1.7e-17;
    let design = Design::from_rows(&[[1.0], [-1.0], [1.0], [-1.0]]).unwrap();
    let labels = Labels::from_signs(vec![1.0, -1.0, 1.0, -1.0]).unwrap();
    let loss = loss("lhs");
    let objective = Objective::new(&*loss, &design, &labels).unwrap();
    for solver in SOLVERS {
        let options = Options { solver, ..Options::default() };
        let report = fit(&objective, lambda(0.183_939_720_585_721_17), &options).unwrap().report;
        let ends = [Status::Converged, Status::RoundingLimit];
        assert!(ends.contains(&report.status), "{solver:?} {report:?}");
        assert!(report.relative_gap <= 1e-6 && report.iterations <= 50, "{solver:?} {report:?}");
        assert!(report.dual_objective <= MINIMUM && MINIMUM <= report.objective + report.rounding);
        assert!(report.duality_gap <= 1e-13, "{solver:?} {report:?}");
    }
}

/// With two of forty samples in one class the slopes of this loss, between 0.1 and 0.9, cannot
/// balance.
#[test]
fn objectives_without_a_minimum_are_named_before_any_iteration() {
    let rows: Vec<[f64; 1]> = (0..40).map(|i| [f64::from(i).sin()]).collect();
    let design = Design::from_rows(&rows).unwrap();
    let loss = loss("leaky-relu:lambda=0.1");
    let status = |positive: usize, solver| {
        let signs = (0..40).map(|i| if i < positive { 1.0 } else { -1.0 }).collect();
        let labels = Labels::from_signs(signs).unwrap();
        let objective = Objective::new(&*loss, &design, &labels).unwrap();
        fit(&objective, lambda(0.1), &Options { solver, ..Options::default() }).unwrap().report
    };
    for solver in [Solver::SDCA, Solver::Bundle] {
        let report = status(2, solver);
        assert_eq!((report.status, report.iterations), (Status::Unbounded, 0));
        assert_eq!(report.objective, loss.value(0.0));
        // The ranges of 0.1 to 0.9 times 4 and 36 meet in one point.
        assert!(status(4, solver).converged(), "{:?}", status(4, solver));
    }
}

/// A conjugate that is too small by one would certify the origin with no gap at all.
#[derive(Debug)]
struct ShiftedConjugate;

impl MarginLoss for ShiftedConjugate {
    fn value(&self, u: f64) -> f64 {
        Logistic.value(u)
    }
    fn derivative(&self, u: f64) -> f64 {
        Logistic.derivative(u)
    }
    fn conjugate(&self, s: f64) -> f64 {
        Logistic.conjugate(s) - 1.0
    }
}

#[test]
fn a_wrong_conjugate_is_a_contradiction() {
    let rows: Vec<[f64; 2]> = (0..30).map(|i| [f64::from(i).sin(), f64::from(i).cos()]).collect();
    let signs = (0..30).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let design = Design::from_rows(&rows).unwrap();
    let labels = Labels::from_signs(signs).unwrap();
    let objective = Objective::new(&ShiftedConjugate as &dyn MarginLoss, &design, &labels).unwrap();
    for solver in [Solver::Newton, Solver::SDCA, Solver::Bundle, Solver::GRADIENT_DESCENT] {
        let options = Options { solver, ..Options::default() };
        let report = fit(&objective, lambda(1e-2), &options).unwrap().report;
        assert_eq!(report.status, Status::Contradicted, "{solver:?} {report:?}");
        assert!(report.duality_gap == f64::INFINITY && !report.converged());
    }
}

/// Features times 1e7 and lambda times 1e14 and more: F in other units, and nothing is lost in the
/// majoriser.
#[test]
fn majorisers_survive_large_penalties() {
    let rows: Vec<[f64; 2]> =
        (0..30).map(|i| [1e7 * f64::from(i).sin(), 1e7 * f64::from(i).cos()]).collect();
    let signs = (0..30).map(|i| if (i * i) % 7 < 3 { 1.0 } else { -1.0 }).collect();
    let design = Design::from_rows(&rows).unwrap();
    let labels = Labels::from_signs(signs).unwrap();
    let loss = loss("lhs");
    let objective = Objective::new(&*loss, &design, &labels).unwrap();
    for at in [1e14, 1e16, 1e22, 1e30] {
        for solver in [Solver::MM, Solver::MM_ACCELERATED] {
            let options = Options { solver, ..Options::default() };
            let report = fit(&objective, lambda(at), &options).unwrap().report;
            assert!(report.converged(), "{solver:?} {at}: {report:?}");
        }
    }
}

/// A lambda so small that the dual overflows ends a solver at once.
#[test]
fn lambdas_near_the_least_number_end_soon() {
    let rows: Vec<[f64; 1]> = (0..20).map(|i| [f64::from(i).sin()]).collect();
    let signs = (0..20).map(|i| if (i * i) % 7 < 3 { 1.0 } else { -1.0 }).collect();
    let design = Design::from_rows(&rows).unwrap();
    let labels = Labels::from_signs(signs).unwrap();
    for name in ["hinge", "logistic", "lhs"] {
        let loss = loss(name);
        let objective = Objective::new(&*loss, &design, &labels).unwrap();
        let options = Options { solver: Solver::SDCA, ..Options::default() };
        let report = fit(&objective, lambda(1e-307), &options).unwrap().report;
        assert!(report.converged() || report.iterations < 1000, "{name} {report:?}");
        assert!(report.objective.is_finite() || report.status == Status::NumericalTrouble);
    }
}

/// Six points that a line separates, with some margins exactly 1 at the minimum for every small lambda:
/// there the minimum is lambda times the square of one norm. Rounding moves the loss of such a sample by
/// 1e-16, a thousandth of the minimum at 1e-12.
#[test]
fn separable_classes_are_certified_down_to_a_minimum_of_almost_zero() {
    const SQUARE: f64 = 0.080_997_74;
    let rows =
        [[4.78, 0.45], [2.86, 4.01], [4.35, 3.65], [-1.5, -2.71], [-2.45, -2.82], [-4.07, -3.85]];
    let design = Design::from_rows(&rows).unwrap();
    let labels = Labels::from_signs(vec![1.0, 1.0, 1.0, -1.0, -1.0, -1.0]).unwrap();
    let hinge = loss("hinge");
    let objective = Objective::new(&*hinge, &design, &labels).unwrap();
    for solver in [Solver::Auto, Solver::ProximalNewton] {
        let options = Options { solver, ..Options::default() };
        for at in [1e-10, 1e-12, 1e-14, 1e-18] {
            let report = fit(&objective, lambda(at), &options).unwrap().report;
            let apart = (report.objective / at / SQUARE - 1.0).abs();
            assert!(report.converged() && apart <= 1e-6, "{solver:?} {at:e}: {report:?}");
            assert!(report.relative_rounding() <= 1e-6, "{solver:?} {at:e}: {report:?}");
        }
    }
}

/// Sums of 50,000 products lose five digits more than the margins need.
#[test]
fn many_features_are_certified_where_the_minimum_is_almost_zero() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut draw = || -> f64 { StandardNormal.sample(&mut random) };
    let rows: Vec<Vec<f64>> = (0..20).map(|_| (0..50_000).map(|_| draw()).collect()).collect();
    let signs = (0..20).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let design = Design::from_rows(&rows).unwrap();
    let labels = Labels::from_signs(signs).unwrap();
    let hinge = loss("hinge");
    let objective = Objective::new(&*hinge, &design, &labels).unwrap();
    let [one, other] = [1e-4, 2.5e-8].map(|at| {
        let report = fit(&objective, lambda(at), &Options::default()).unwrap().report;
        assert!(report.converged() && report.relative_rounding() <= 1e-6, "{at:e}: {report:?}");
        report.objective / at
    });
    assert!((one / other - 1.0).abs() <= 3e-6, "{one} {other}");
}

/// A gap that cannot be seen below the rounding is no gap within the tolerance.
#[test]
fn rounding_above_the_tolerance_is_a_status_of_its_own() {
    let rows: Vec<[f64; 2]> = (0..30).map(|i| [f64::from(i).sin(), f64::from(i).cos()]).collect();
    let signs = (0..30).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let design = Design::from_rows(&rows).unwrap();
    let labels = Labels::from_signs(signs).unwrap();
    let objective = Objective::new(&Logistic as &dyn MarginLoss, &design, &labels).unwrap();
    for (tolerance, expected) in [(1e-10, Status::Converged), (1e-16, Status::RoundingLimit)] {
        let options = Options { tolerance, ..Options::default() };
        let report = fit(&objective, lambda(1e-2), &options).unwrap().report;
        assert_eq!(report.status, expected, "{report:?}");
        assert_eq!(report.relative_rounding() <= tolerance, report.converged());
    }
}
