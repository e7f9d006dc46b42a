//! Fits at feature scales far from 1.

use std::sync::Arc;

use margins_data::{Design, Labels, Memory};
use margins_kernels::{
    Gaussian, Gram, Kernel, KernelFit, KernelObjective, KernelRegistry, KnownFunction,
    PivotedCholesky, certify, combine, fit, svm,
};
use margins_losses::{LeakyHockeyStick, MarginLoss, Squared};
use margins_optim::problem::EmpiricalRisk;
use margins_optim::{Objective, Options, Solver, Status};
use margins_test_support::{
    CONVEX_LOSSES, Column, Table, dense, kernel, lambda, loss, sparse, tables,
};
use proptest::prelude::*;

/// `2^k`.
fn power(k: i32) -> f64 {
    2f64.powi(k)
}

/// Thirty rows of three features, some zero, times the unit.
fn rows(unit: f64) -> Vec<Vec<f64>> {
    let entry = |t: f64| {
        let value = 1.5 * (1.7 * t + 0.3 * t.sqrt()).sin();
        if value.abs() < 0.5 { 0.0 } else { value * unit }
    };
    (0..30).map(|i| (0..3).map(|j| entry(f64::from(3 * i + j))).collect()).collect()
}

#[test]
fn a_factor_that_does_not_fit_says_which_rank_would() {
    let design = dense(&rows(1.0));
    let gaussian = Gaussian::new(3.0).unwrap();
    let whole = PivotedCholesky::within(&gaussian, &design, 1e-9, 1.0).unwrap();
    let rank = whole.pivots().len();
    assert!(rank > 20);
    // Sixteen bytes per row and a pivot.
    let gigabytes = |rank: usize| 1e-9 * 16.0 * 30.0 * (rank as f64 + 0.5);
    let same = PivotedCholesky::within(&gaussian, &design, 1e-9, gigabytes(rank)).unwrap();
    assert_eq!(same.pivots(), whole.pivots());
    let error = PivotedCholesky::within(&gaussian, &design, 1e-9, gigabytes(10)).unwrap_err();
    let margins_kernels::Error::FactorTooLarge { n, rank: reached, needed, left, .. } = error
    else {
        panic!("{error}")
    };
    assert_eq!((n, reached), (30, 10));
    assert!((11..=30).contains(&needed) && left > 1e-9, "{needed} {left}");
    let message = error.to_string();
    assert!(message.starts_with("pivoted Cholesky stopped at rank 10"), "{message}");
    // Nothing to be had of no memory, all of it needed.
    let none = PivotedCholesky::within(&gaussian, &design, 1e-9, 1e-9).unwrap_err();
    assert!(none.to_string().contains("About rank 30 would be needed"), "{none}");
}

#[test]
fn a_matrix_whose_trace_is_beyond_the_numbers_is_still_semidefinite() {
    let matrix = nalgebra::DMatrix::identity(30, 30) * 1e307;
    assert_eq!(Gram::precomputed(matrix).unwrap().len(), 30);
}

#[test]
fn a_trace_beyond_the_numbers_is_no_kernel_of_rank_zero() {
    let design = dense(&rows(5e153));
    let error = PivotedCholesky::new(&*kernel("linear"), &design, 1e-6, 100).unwrap_err();
    assert!(
        error.to_string().contains("the trace of the matrix of kernel 'linear' overflows"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// With the width from the data, or with a parameter that is scaled by hand, features in other
    /// units change nothing: powers of two to the last bit.
    #[test]
    fn fits_are_invariant_to_the_units_of_the_features(
        entries in prop::collection::vec(prop_oneof![2 => -3.0..3.0f64, 1 => Just(0.0)], 60),
        exponent in -40..=40i32,
        is_sparse in any::<bool>(),
        at in -5.0..0.0f64,
    ) {
        let unit = power(exponent);
        let at = lambda(10f64.powf(at));
        let signs: Vec<f64> = (0..20).map(|i| if entries[3 * i] > 0.1 * i as f64 { 1.0 } else { -1.0 }).collect();
        prop_assume!(signs.contains(&1.0) && signs.contains(&-1.0));
        let labels = Labels::from_signs(signs.clone()).unwrap();
        let design = |unit: f64| {
            let rows: Vec<Vec<f64>> =
                entries.chunks(3).map(|row| row.iter().map(|x| x * unit).collect()).collect();
            if is_sparse { sparse(&rows) } else { dense(&rows) }
        };
        let scores = |specification: &str, unit: f64| {
            let design = design(unit);
            let mut kernel = KernelRegistry::standard().parse(specification).unwrap();
 kernel.adapt_to(&design, None, 3).unwrap();
            let gram = Gram::new(&*kernel, &design).unwrap();
            let options = Options::default();
            let newton = |loss: &dyn MarginLoss| {
                let objective = KernelObjective::new(loss, &gram, &labels).unwrap();
                let fit = fit(&objective, at, &options).unwrap();
                let mut scores = combine(&*kernel, &design, &design, &fit.coef).unwrap();
                scores.push(fit.intercept);
                scores
            };
            let machine = svm::fit(&gram, &signs, None, true, at, &options).unwrap();
            [newton(&LeakyHockeyStick), newton(&Squared), machine.scores(gram.matrix().unwrap())]
        };
        let square = power(-2 * exponent);
        for (one, other) in [
            ("gaussian".to_owned(), "gaussian".to_owned()),
            ("laplacian:sigma=0.5".to_owned(), format!("laplacian:sigma={:e}", 0.5 / unit)),
            ("matern32:length=0.5".to_owned(), format!("matern32:length={:e}", 0.5 * unit)),
            ("matern52:length=3".to_owned(), format!("matern52:length={:e}", 3.0 * unit)),
            ("anova:sigma=0.3,degree=2".to_owned(), format!("anova:sigma={:e},degree=2", 0.3 * square)),
            ("poly".to_owned(), format!("poly:degree=3,scale={square:e},offset=1")),
        ] {
            prop_assert_eq!(scores(&one, 1.0), scores(&other, unit), "{} {}", other, exponent);
        }
    }
}

/// A sum in twice the working precision.
#[derive(Clone, Copy)]
struct Long {
    high: f64,
    low: f64,
}

impl Long {
    fn add_product(self, a: f64, b: f64) -> Self {
        let product = a * b;
        let sum = self.high + product;
        let taken = sum - self.high;
        let lost = (self.high - (sum - taken)) + (product - taken);
        Long { high: sum, low: self.low + a.mul_add(b, -product) + lost }
    }

    fn value(self) -> f64 {
        self.high + self.low
    }
}

/// Returns F of a fit, scores and norm in twice the working precision; how far the rounding of
/// those can have moved it; and the squared norm that its coefficients would have if none
/// cancelled.
fn value(table: &Table, gram: &Gram, loss: &dyn MarginLoss, fit: &KernelFit) -> (f64, f64, f64) {
    let n = table.rows.len();
    let at_origin = table.weights.iter().sum::<f64>() * loss.value(0.0).abs() / n as f64;
    // A number this small beside F at the origin cannot be distinguished from zero.
    let (mut risk, mut slack, mut without) = (0.0, 1e-15 * at_origin, 0.0);
    let mut norm = Long { high: 0.0, low: 0.0 };
    for i in 0..n {
        let column = gram.matrix().unwrap().column(i);
        let start = Long { high: fit.intercept, low: 0.0 };
        let pairs = || column.iter().zip(&fit.coef);
        let score = pairs().fold(start, |sum, (k, a)| sum.add_product(*k, *a)).value();
        let absolute: f64 = pairs().map(|(k, a)| (k * a).abs()).sum();
        let (y, c) = (table.signs[i], table.weights[i] / n as f64);
        let term = c * loss.value(y * score);
        risk += term;
        // Scores are right here but for their last digits.
        let blur = 1e-15 * (1.0 + score.abs());
        let slope_at = |blur: f64| loss.derivative(y * score + blur).abs();
        slack += 1e-14 * term.abs() + c * blur * slope_at(-blur).max(slope_at(blur));
        norm = norm.add_product(fit.coef[i], score - fit.intercept);
        without += absolute * fit.coef[i].abs();
    }
    let penalty = fit.lambda.get() * norm.value();
    (risk + penalty, slack + 1e-14 * penalty.abs(), without)
}

/// Columns in one unit for all, and a smaller one for each: a kernel knows but one scale.
fn columns(p: usize) -> impl Strategy<Value = Vec<Column>> {
    (-12.0..12.0f64, prop::collection::vec(-2.0..0.0f64, p)).prop_map(|(common, exponents)| {
        let column = |e| Column { unit: 10f64.powf(common + e), offset: 0.0 };
        exponents.into_iter().map(column).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(60) })]

    /// F is what a report says, and no lower bound of one solver lies above a value that another
    /// one reached, whatever the scales and weights.
    #[test]
    fn what_a_report_says_is_true(
        table in tables(1..16, columns),
        name in proptest::sample::select(&CONVEX_LOSSES[..]),
        specification in proptest::sample::select(&["linear", "gaussian", "poly:degree=2"][..]),
        exponent in -8.0..2.0f64,
        intercept: bool,
    ) {
        let loss = loss(name);
        let at = lambda(10f64.powf(exponent));
        let options = Options { max_iterations: Some(500), ..Options::default() };
        let design = dense(&table.rows);
        let labels = Labels::from_signs(table.signs.clone()).unwrap();
        let mut kernel = KernelRegistry::standard().parse(specification).unwrap();
 kernel.adapt_to(&design, None, 3).unwrap();
        let gram = Gram::new(&*kernel, &design).unwrap();
        let weights = &table.weights;
        let objective = KernelObjective::new(&*loss, &gram, &labels).unwrap();
        let objective = objective.with_weights(weights).unwrap();
        let objective = if intercept { objective } else { objective.without_intercept() };
        let mut fits = Vec::new();
        for solver in [Solver::Auto, Solver::Newton, Solver::MM] {
            // A solver that does not take the loss says so.
            if let Ok(fit) = fit(&objective, at, &Options { solver, ..options }) {
                fits.push((format!("{solver:?}"), fit));
            }
        }
        if name == "hinge" {
            let signs = &table.signs;
            let fit = svm::fit(&gram, signs, Some(weights), intercept, at, &options).unwrap();
            fits.push(("svm".to_owned(), fit));
        }
        fits.retain(|(_, fit)| {
            !matches!(fit.report.status, Status::Unbounded | Status::NumericalTrouble)
        });
        let mut least = f64::INFINITY;
        let mut bounds = Vec::new();
        for (who, fit) in &fits {
            let KernelFit { report, .. } = fit;
            prop_assert!(report.duality_gap >= 0.0, "{who} {report:?}");
            let is_visible = report.relative_rounding() <= options.tolerance
                || report.objective.abs() <= f64::EPSILON.min(report.rounding);
            let is_within = report.relative_gap <= options.tolerance && is_visible;
            prop_assert_eq!(report.converged(), is_within, "{} {:?}", who, report);
            let (value, slack, without) = value(&table, &gram, &*loss, fit);
            prop_assert!(
                (value - report.objective).abs() <= slack + report.rounding,
                "{who} {name} {specification}: F is {value:e}, not {:e}: {report:?}",
                report.objective
            );
            // K is known to its rounding, and semidefinite to it.
            let slack = slack + 1e-14 * at.get() * without;
            least = least.min(value + slack);
            bounds.push((who, report.dual_objective - slack));
        }
        for (who, bound) in bounds {
            prop_assert!(bound <= least, "{who} {name}: bound {bound:e} above {least:e}");
        }
    }
}

/// `|1 - u|`, with a kink where most margins come to lie.
#[derive(Debug)]
struct AbsoluteError;

impl MarginLoss for AbsoluteError {
    fn value(&self, u: f64) -> f64 {
        (1.0 - u).abs()
    }
    fn derivative(&self, u: f64) -> f64 {
        if u < 1.0 { -1.0 } else { 1.0 }
    }
    fn second_derivative(&self, _: f64) -> f64 {
        0.0
    }
    fn is_differentiable(&self) -> bool {
        false
    }
    fn conjugate(&self, t: f64) -> f64 {
        if t.abs() <= 1.0 { -t } else { f64::INFINITY }
    }
}

fn five() -> (Design, Labels) {
    let rows = [[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 1.0], [0.5, 3.0]];
    let labels = Labels::from_signs(vec![-1.0, 1.0, -1.0, 1.0, -1.0]).unwrap();
    (Design::from_rows(&rows).unwrap(), labels)
}

/// At full rank the approximation is the kernel, and the gap that of the exact fit.
#[test]
fn approximations_of_full_rank_are_certified_whatever_the_kinks() {
    let (design, labels) = five();
    let gaussian = Gaussian::new(0.5).unwrap();
    let factor = PivotedCholesky::within(&gaussian, &design, 1e-8, 1.0).unwrap();
    assert_eq!(factor.pivots().len(), 5);
    let gram = Gram::matrix_free(Arc::new(gaussian), design.clone(), Memory::from_bytes(1 << 20));
    let gram = gram.unwrap();
    let named = ["hinge", "leaky-relu:lambda=0.1"].map(loss);
    let losses = named.iter().map(|loss| &**loss).chain([&AbsoluteError as &dyn MarginLoss]);
    for loss in losses {
        for intercept in [true, false] {
            let risk = EmpiricalRisk::new(loss, &labels).unwrap();
            let risk = if intercept { risk } else { risk.without_intercept() };
            let lambdas = [0.1, 1e-2, 1e-4].map(lambda);
            let options = Options::default();
            let fits = factor.path(&risk, &gaussian, &design, &lambdas, &options, &|_| {}).unwrap();
            for fit in &fits {
                assert!(fit.report.converged(), "{loss:?} {:?}", fit.report);
            }
            // The same functions as any others of the space, with the duals of the fit and without.
            let keep_duals = Options { keep_duals: true, ..options };
            let reduced = Objective::from_risk(risk.clone(), factor.coordinates()).unwrap();
            for fit in margins_optim::path(&reduced, &lambdas, &keep_duals, &|_| {}).unwrap() {
                let mut scores = vec![0.0; 5];
                factor.coordinates().multiply(&fit.coef, &mut scores);
                let square_norm = fit.coef.iter().map(|w| w * w).sum();
                let (lambda, intercept, duals) = (fit.lambda, fit.intercept, fit.report.duals);
                let risk = &risk;
                let known = KnownFunction { risk, lambda, intercept, scores, square_norm, duals };
                let by_duals = certify(&gram, &[known]).unwrap()[0];
                assert!(by_duals.relative_gap() <= 2e-6, "{loss:?} {by_duals:?}");
            }
        }
    }
}

/// At a lower rank the minimum for the kernel is no lower than the gap says.
#[test]
fn coarse_approximations_of_a_support_vector_machine_have_a_true_gap() {
    let (design, labels) = five();
    let gaussian = Gaussian::new(0.5).unwrap();
    let factor = PivotedCholesky::new(&gaussian, &design, 1e-8, 3).unwrap();
    let hinge = loss("hinge");
    let risk = EmpiricalRisk::new(&*hinge, &labels).unwrap();
    let options = Options::default();
    let fits = factor.path(&risk, &gaussian, &design, &[lambda(1e-2)], &options, &|_| {}).unwrap();
    let gram = Gram::new(&gaussian, &design).unwrap();
    let exact = svm::fit(&gram, labels.signs(), None, true, lambda(1e-2), &options).unwrap().report;
    let report = &fits[0].report;
    assert_eq!(report.status, Status::Truncated, "{report:?}");
    assert!(report.dual_objective <= exact.objective && exact.dual_objective <= report.objective);
}
