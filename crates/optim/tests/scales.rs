//! Features of any scale and offset, weights of any size: what a report says is true, or it says that it cannot tell.

use margins_data::{Design, Labels};
use margins_losses::MarginLoss;
use margins_optim::{Fit, Objective, Options, Solver, Status, fit};
use margins_test_support::{lambda, loss};
use proptest::prelude::*;

const CONVEX: [&str; 11] = [
    "hinge",
    "leaky-relu:lambda=0.1",
    "lhs",
    "l-r:r=2",
    "margin-pursuit:gamma=1,scale=1",
    "log-cosh:gamma=1,scale=0.5",
    "logistic",
    "squared-hinge",
    "smoothed-hinge:width=0.5",
    "squared",
    "exponential",
];

const SOLVERS: [Solver; 7] = [
    Solver::Newton,
    Solver::Sdca,
    Solver::Bundle,
    Solver::GradientDescent,
    Solver::Mm,
    Solver::MmAccelerated,
    Solver::MmBatched,
];

/// A small table whose columns have scales and offsets of their own.
#[derive(Debug, Clone)]
struct Table {
    rows: Vec<Vec<f64>>,
    signs: Vec<f64>,
    weights: Vec<f64>,
}

fn tables() -> impl Strategy<Value = Table> {
    (2usize..8, 1usize..20, any::<bool>()).prop_flat_map(|(half, p, separable)| {
        let n = 2 * half;
        let unit = proptest::collection::vec(-1.0..1.0f64, n * p);
        let scales = proptest::collection::vec(-12.0..12.0f64, p);
        // In spreads of the column; most have none.
        let offset = prop_oneof![3 => Just(0.0), 1 => (0.0..10.0f64).prop_map(|e| 10f64.powf(e))];
        let offsets = proptest::collection::vec(offset, p);
        let weight = prop_oneof![4 => Just(1.0), 1 => (-2.0..12.0f64).prop_map(|e| 10f64.powf(e))];
        let weights = proptest::collection::vec(weight, n);
        (unit, scales, offsets, weights).prop_map(move |(unit, scales, offsets, weights)| {
            let signs: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
            let entry = |i: usize, j: usize| {
                let side = if separable && j == 0 { 2.0 * signs[i] } else { 0.0 };
                10f64.powf(scales[j]) * (offsets[j] + side + unit[i * p + j])
            };
            let rows = (0..n).map(|i| (0..p).map(|j| entry(i, j)).collect()).collect();
            Table { rows, signs, weights }
        })
    })
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
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn what_a_report_says_is_true(
        table in tables(),
        name in proptest::sample::select(CONVEX.to_vec()),
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
            let options = Options { solver, max_iterations: Some(400), ..Options::default() };
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
            prop_assert_eq!(report.converged(), report.relative_gap <= 1e-6, "{:?} {:?}", solver, report);
            least = least.min(value + 1e-13 * size);
            bounds.push((solver, report.dual_objective));
        }
        // No lower bound lies above a value that F takes.
        for (solver, bound) in bounds {
            prop_assert!(bound <= least, "{solver:?} {name}: bound {bound:e} above {least:e}");
        }
    }
}
