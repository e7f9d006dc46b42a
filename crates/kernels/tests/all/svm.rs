//! The support vector machine against a slow solver and its own symmetries.

use margins_data::Design;
use margins_kernels::{Gram, KernelFit, svm};
use margins_optim::{Options, Status, lambda_grid};
use margins_test_support::lambda;
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

fn tight(tolerance: f64) -> Options<'static> {
    Options { tolerance, ..Options::default() }
}

fn gram(rows: &[Vec<f64>], k: impl Fn(&[f64], &[f64]) -> f64) -> Gram {
    precomputed(DMatrix::from_fn(rows.len(), rows.len(), |i, j| k(&rows[i], &rows[j])))
}

fn precomputed(matrix: DMatrix<f64>) -> Gram {
    Gram::precomputed(matrix).expect("positive semidefinite")
}

fn linear(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(x, z)| x * z).sum()
}

fn gaussian(sigma: f64) -> impl Fn(&[f64], &[f64]) -> f64 {
    move |x, z| (-sigma * x.iter().zip(z).map(|(x, z)| (x - z).powi(2)).sum::<f64>()).exp()
}

/// Two points at 1 and -1 of a line: coefficients `a, -a` give the margins `2a`, and `a` is 1/2 or,
/// if that is less, its bound `1/(4 lambda)`. Without intercept the coefficients are not unique.
#[test]
fn two_samples_have_a_closed_form() {
    let gram = precomputed(DMatrix::from_row_slice(2, 2, &[1.0, -1.0, -1.0, 1.0]));
    for (at, coef) in [(0.1, 0.5), (0.5, 0.5), (1.0, 0.25)] {
        for intercept in [true, false] {
            let fit =
                svm::fit(&gram, &[1.0, -1.0], None, intercept, lambda(at), &tight(1e-14)).unwrap();
            // f = (2a, -2a).
            let objective = (1.0 - 2.0 * coef) + at * 4.0 * coef * coef;
            assert!(fit.report.relative_gap <= 1e-14, "{:?}", fit.report);
            assert!((fit.report.objective - objective).abs() <= 1e-13, "{:?}", fit.report);
            assert!(fit.intercept.abs() <= 1e-13);
            let fitted = gram.matrix().unwrap() * DVector::from_vec(fit.coef);
            assert!((fitted[0] - 2.0 * coef).abs() <= 1e-13, "{fitted}");
        }
    }
}

/// `F` and `D` from their definitions, and the largest violation of the conditions on `s` and `u`.
fn definitions(gram: &Gram, signs: &[f64], weights: &[f64], fit: &KernelFit) -> (f64, f64, f64) {
    let n = signs.len() as f64;
    let a = DVector::from_column_slice(&fit.coef);
    let fitted = gram.matrix().unwrap() * &a;
    let penalty = fit.lambda.get() * a.dot(&fitted);
    let (mut risk, mut linear, mut violation) = (0.0, 0.0, 0.0f64);
    for i in 0..signs.len() {
        let u = signs[i] * (fit.intercept + fitted[i]);
        risk += weights[i] * (1.0 - u).max(0.0) / n;
        linear += 2.0 * fit.lambda.get() * signs[i] * a[i];
        let bound = weights[i] / (2.0 * n * fit.lambda.get());
        let size = signs[i] * a[i];
        assert!(0.0 <= size && size <= bound * (1.0 + 1e-15), "coefficient {i} is {size}");
        if size < bound * (1.0 - 1e-12) {
            violation = violation.max(1.0 - u);
        }
        if size > bound * 1e-12 {
            violation = violation.max(u - 1.0);
        }
    }
    (risk + penalty, linear - penalty, violation)
}

fn is_certified(gram: &Gram, signs: &[f64], weights: &[f64], fit: &KernelFit) {
    let report = &fit.report;
    assert!(report.converged() && report.duality_gap >= 0.0, "{report:?}");
    let (primal, dual, violation) = definitions(gram, signs, weights, fit);
    let size = primal.abs().max(dual.abs());
    // Scores follow the coefficients that change; what rounding that gathers counts in the report.
    let rounding = 1e-12 * size + report.rounding;
    assert!((report.objective - primal).abs() <= rounding, "{primal}: {report:?}");
    // Reported gaps allow for rounding.
    let above = report.duality_gap - (primal - dual);
    assert!((-rounding..=1e-9 * size + rounding).contains(&above), "{above}: {report:?}");
    assert!(violation <= report.gradient_norm + 1e-9, "{violation}: {report:?}");
}

/// Maximises the dual by exact steps on all pairs, or all single variables, in turn.
fn slow_dual(gram: &Gram, signs: &[f64], intercept: bool, lambda: f64) -> f64 {
    let (n, gram) = (signs.len(), gram.matrix().unwrap());
    let most = 1.0 / (2.0 * n as f64 * lambda);
    // alpha_i = y_i a_i, as textbooks have it.
    let mut alpha = vec![0.0f64; n];
    let slope = |alpha: &[f64], i: usize| {
        let fitted: f64 = (0..n).map(|j| gram[(i, j)] * signs[j] * alpha[j]).sum();
        1.0 - signs[i] * fitted
    };
    for _ in 0..4000 {
        let mut largest = 0.0f64;
        for i in 0..n {
            if !intercept {
                let next = (alpha[i] + slope(&alpha, i) / gram[(i, i)]).clamp(0.0, most);
                largest = largest.max((next - alpha[i]).abs());
                alpha[i] = next;
                continue;
            }
            for j in 0..i {
                // alpha_i moves by t and alpha_j by -y_i y_j t.
                let same = signs[i] * signs[j];
                let curvature = gram[(i, i)] + gram[(j, j)] - 2.0 * gram[(i, j)];
                let t = (slope(&alpha, i) - same * slope(&alpha, j)) / curvature;
                let (low, high) = if same > 0.0 {
                    ((-alpha[i]).max(alpha[j] - most), (most - alpha[i]).min(alpha[j]))
                } else {
                    ((-alpha[i]).max(-alpha[j]), (most - alpha[i]).min(most - alpha[j]))
                };
                let t = t.max(low).min(high);
                alpha[i] = (alpha[i] + t).clamp(0.0, most);
                alpha[j] = (alpha[j] - same * t).clamp(0.0, most);
                largest = largest.max(t.abs());
            }
        }
        if largest <= 1e-13 * most {
            break;
        }
    }
    let total: f64 = alpha.iter().sum();
    let square: f64 = (0..n).map(|i| alpha[i] * (1.0 - slope(&alpha, i))).sum();
    2.0 * lambda * (total - 0.5 * square)
}

prop_compose! {
    /// Samples in the plane, with both classes among the first two.
    fn samples(most: usize)(n in 2..=most)(
        rows in prop::collection::vec(prop::collection::vec(-2.0..2.0f64, 2), n),
        positive in prop::collection::vec(any::<bool>(), n),
    ) -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut signs: Vec<f64> = positive.iter().map(|p| if *p { 1.0 } else { -1.0 }).collect();
        signs[0] = 1.0;
        signs[1] = -1.0;
        (rows, signs)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn paths_are_certified_and_equal_cold_fits(
        (rows, signs) in samples(60),
        weights in prop::collection::vec(0.1..3.0f64, 60),
        sigma in 0.1..3.0f64,
        is_linear in any::<bool>(),
        intercept in any::<bool>(),
    ) {
        let gram = if is_linear { gram(&rows, linear) } else { gram(&rows, gaussian(sigma)) };
        let weights = &weights[..rows.len()];
        let mut lambdas = lambda_grid(10.0, 1e-4, 11).unwrap();
        lambdas.reverse();
        lambdas.push(lambdas[3]);
        let options = tight(1e-8);
        let fits = svm::path(&gram, &signs, Some(weights), intercept, &lambdas, &options).unwrap();
        prop_assert_eq!(fits.len(), 11);
        prop_assert!(fits.windows(2).all(|pair| pair[0].lambda > pair[1].lambda));
        for fit in &fits {
            is_certified(&gram, &signs, weights, fit);
            prop_assert!(intercept || fit.intercept == 0.0);
            let sum: f64 = fit.coef.iter().sum();
            let size: f64 = fit.coef.iter().map(|a| a.abs()).sum();
            prop_assert!(!intercept || sum.abs() <= 1e-13 * size);
        }
        for warm in fits.iter().step_by(5) {
            let cold = svm::fit(&gram, &signs, Some(weights), intercept, warm.lambda, &options);
            let (cold, warm) = (cold.unwrap().report.objective, warm.report.objective);
            prop_assert!((cold - warm).abs() <= 2e-8 * cold.max(warm), "{cold} {warm}");
        }
    }

    #[test]
    fn a_slow_solver_agrees(
        (rows, signs) in samples(12),
        sigma in 0.3..3.0f64,
        intercept in any::<bool>(),
        exponent in -3.0..0.5f64,
    ) {
        let ridge = DMatrix::identity(rows.len(), rows.len()) * 0.1;
        let gram = precomputed(gram(&rows, gaussian(sigma)).matrix().unwrap() + ridge);
        let at = 10f64.powf(exponent);
        let fit = svm::fit(&gram, &signs, None, intercept, lambda(at), &tight(1e-10)).unwrap();
        let slow = slow_dual(&gram, &signs, intercept, at);
        prop_assert!((fit.report.objective - slow).abs() <= 1e-8 * slow, "{slow} {:?}", fit.report);
    }

    /// The intercept is the best there is for the coefficients.
    #[test]
    fn no_other_intercept_is_better((rows, signs) in samples(30), at in -3.0..3.0f64) {
        let gram = gram(&rows, gaussian(1.0));
        let weights = vec![1.0; rows.len()];
        let options = tight(1e-3);
        let fit = svm::fit(&gram, &signs, None, true, lambda(0.01), &options).unwrap();
        let other = KernelFit { intercept: at, ..fit.clone() };
        let value = |fit| definitions(&gram, &signs, &weights, fit).0;
        prop_assert!(value(&fit) <= value(&other) + 1e-14);
    }

    /// Whatever the kernel, the weights and the lambda: no dual objective that is reported is above
    /// any primal value there is, both evaluated from their definitions in twice the working
    /// precision.
    #[test]
    fn gaps_bound_the_distance_to_every_other_classifier(
        (rows, signs) in samples(24),
        weights in prop::collection::vec(prop_oneof![Just(0.0), 1e-3..1e3f64], 24),
        kind in 0..5usize,
        at in -12.0..6.0f64,
        tolerance in -10.0..-1.0f64,
        intercept in any::<bool>(),
    ) {
        let n = rows.len();
        let mut weights = weights[..n].to_vec();
        weights[..2].fill(1.0);
        let gram = match kind {
            0 => gram(&rows, linear),
            1 => gram(&rows, gaussian(0.7)),
            // Every sample twice.
            2 => gram(&rows, gaussian(2.0)).select(&(0..n).map(|i| i / 2).collect::<Vec<_>>()),
            // All rows equal.
            3 => precomputed(DMatrix::from_element(n, n, 3.0)),
            _ => gram(&rows, |x, z| 1e6 * (1.0 + linear(x, z)).powi(4)),
        };
        let at = lambda(10f64.powf(at));
        let run = |tolerance, max_iterations| {
            let options = Options { max_iterations: Some(max_iterations), ..tight(tolerance) };
            svm::fit(&gram, &signs, Some(&weights), intercept, at, &options).unwrap()
        };
        let fits =
            [run(10f64.powf(tolerance), 100_000), run(1e-9, 100_000), run(1e-9, 3), run(1e-9, 0)];
        let primals = fits.each_ref().map(|fit| exact_primal(&gram, &signs, &weights, fit));
        for (fit, primal) in fits.iter().zip(primals) {
            let report = &fit.report;
            prop_assert!(report.duality_gap >= 0.0 && report.dual_objective <= report.objective);
            let slack = 1e-12 * primal;
            prop_assert!((report.objective - primal).abs() <= slack + report.duality_gap, "{primal} {report:?}");
            for other in primals {
                prop_assert!(report.dual_objective <= other + slack, "{other} {report:?}");
            }
            if report.converged() {
                prop_assert!(report.relative_gap <= 10f64.powf(tolerance).max(1e-9));
            }
        }
    }

    /// The cache forgets columns, and the fit does not notice.
    #[test]
    fn fits_do_not_depend_on_the_cache((rows, signs) in samples(40), intercept in any::<bool>()) {
        let gram = gram(&rows, gaussian(1.0));
        let lambdas = lambda_grid(1.0, 1e-5, 4).unwrap();
        let run = |bytes| {
            svm::path_with_cache(&gram, &signs, None, intercept, &lambdas, &tight(1e-8), bytes).unwrap()
        };
        let whole = run(usize::MAX);
        for bytes in [0, 5 * 40 * 8] {
            prop_assert_eq!(&run(bytes), &whole);
        }
    }
}

/// `x y` as a number and what rounding took from it.
fn two_product(x: f64, y: f64) -> [f64; 2] {
    let product = x * y;
    [product, x.mul_add(y, -product)]
}

/// The sum as if in twice the working precision (Neumaier 1974).
fn exact_sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}

/// `F` from its definition, all sums of products compensated.
fn exact_primal(gram: &Gram, signs: &[f64], weights: &[f64], fit: &KernelFit) -> f64 {
    let n = signs.len();
    let score = |i: usize| {
        exact_sum((0..n).flat_map(|j| two_product(gram.matrix().unwrap()[(i, j)], fit.coef[j])))
    };
    let scores: Vec<f64> = (0..n).map(score).collect();
    let risk = exact_sum((0..n).map(|i| {
        let margin = signs[i] * exact_sum([fit.intercept, scores[i]]);
        weights[i] * (1.0 - margin).max(0.0) / n as f64
    }));
    let square = exact_sum((0..n).flat_map(|i| two_product(fit.coef[i], scores[i])));
    risk + fit.lambda.get() * square.max(0.0)
}

/// A fit on a matrix that is not positive semidefinite would certify nothing, so that there is
/// none.
#[test]
fn indefinite_kernels_are_refused() {
    let refusal = Gram::precomputed(DMatrix::from_row_slice(2, 2, &[0.0, 1.0, 1.0, 0.0]));
    let message = refusal.unwrap_err().to_string();
    assert!(message.starts_with("the kernel matrix is not positive semidefinite"), "{message}");
}

/// Two interleaved lines of points, whose labels a linear kernel cannot separate and a narrow
/// Gaussian can.
fn interleaved(n: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let rows = (0..n).map(|i| vec![i as f64 / 10.0, ((i * i) as f64).sin()]).collect();
    (rows, (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect())
}

#[test]
fn hardly_any_regularisation_ends() {
    let (rows, signs) = interleaved(30);
    for intercept in [true, false] {
        let separable = gram(&rows, gaussian(20.0));
        for at in [1e-7, 1e-12] {
            let options = Options::default();
            let fit = svm::fit(&separable, &signs, None, intercept, lambda(at), &options).unwrap();
            // At 1e-12 the objective is 6e-11, and the rounding of the margins is 1e-15.
            assert!(fit.report.converged() || at == 1e-12, "{:?}", fit.report);
            assert!(fit.report.relative_gap <= 1e-3, "{:?}", fit.report);
        }
        let not = gram(&rows, linear);
        for at in [1e-6, 1e-12, f64::MIN_POSITIVE] {
            let options = Options { max_iterations: Some(300_000), ..Options::default() };
            let fit = svm::fit(&not, &signs, None, intercept, lambda(at), &options).unwrap();
            assert!(fit.report.objective.is_finite() && fit.report.relative_gap.is_finite());
            assert!(fit.report.objective <= 1.0, "{:?}", fit.report);
        }
    }
}

#[test]
fn extreme_inputs_end() {
    let (rows, signs) = interleaved(12);
    let duplicates: Vec<Vec<f64>> = rows.iter().map(|_| vec![1.0, 2.0]).collect();
    for intercept in [true, false] {
        for at in [f64::MAX, 1e-3, 1e-300] {
            let run = |gram: &Gram| {
                let options = Options { max_iterations: Some(100_000), ..Options::default() };
                let fit = svm::fit(gram, &signs, None, intercept, lambda(at), &options).unwrap();
                assert!(fit.report.objective.is_finite(), "{:?}", fit.report);
                assert!(fit.report.duality_gap >= 0.0, "{:?}", fit.report);
                assert!(fit.coef.iter().all(|a| a.is_finite()));
                fit
            };
            run(&gram(&rows, gaussian(1.0)));
            run(&gram(&rows, |x, z| 1e300 * linear(x, z)));
            run(&gram(&rows, |x, z| 1e-300 * linear(x, z)));
            // With an intercept all that can be had is the smaller class: 4 of 12 samples wrong, at
            // a loss of 2 each.
            for useless in [gram(&duplicates, linear), precomputed(DMatrix::zeros(12, 12))] {
                let fit = run(&useless);
                if intercept {
                    // Beside coefficients of 1e298 nothing of the labels is left.
                    assert!(fit.report.converged() || at == 1e-300, "{:?}", fit.report);
                    assert!((fit.report.objective - 2.0 / 3.0).abs() <= 1e-6, "{:?}", fit.report);
                }
            }
        }
    }
}

#[test]
fn the_iteration_limit_is_kept() {
    let (rows, signs) = interleaved(60);
    let options = Options { max_iterations: Some(7), ..Options::default() };
    let fit =
        svm::fit(&gram(&rows, gaussian(1.0)), &signs, None, true, lambda(1e-4), &options).unwrap();
    assert_eq!((fit.report.status, fit.report.iterations), (Status::IterationLimit, 7));
}

#[test]
fn wrong_input_is_named() {
    let good = precomputed(DMatrix::identity(3, 3));
    let signs = [1.0, -1.0, 1.0];
    let refusal = |gram: &Gram, signs: &[f64], weights: Option<&[f64]>| {
        svm::fit(gram, signs, weights, true, lambda(1.0), &Options::default())
            .expect_err("wrong input")
            .to_string()
    };
    assert!(refusal(&good, &[1.0; 3], None).contains("class '-1'"));
    assert!(refusal(&good, &signs, Some(&[0.0, 1.0, 0.0])).contains("class '+1'"));
    assert!(refusal(&good, &signs, Some(&[1.0, -1.0, 0.0])).contains("row 1"));
    assert!(refusal(&good, &signs, Some(&[1.0])).contains("sample weights"));
    assert!(refusal(&good, &[1.0, 0.5, -1.0], None).contains("0.5"));
    assert!(refusal(&good, &[1.0, -1.0], None).contains("expected 2, found 3"));
    assert!(refusal(&good.select(&[]), &[], None).contains("class"));
    assert!(svm::path(&good, &signs, None, true, &[], &Options::default()).is_err());
    assert!(svm::fit(&good, &signs, None, true, lambda(1.0), &tight(f64::NAN)).is_err());
}

#[test]
fn products_of_features_are_those_of_their_matrix() {
    let rows: Vec<Vec<f64>> =
        (0..30).map(|i| (0..7).map(|j| ((5 * i + j * j) as f64).cos()).collect()).collect();
    let of_matrix = gram(&rows, linear);
    let of_features = Gram::of_features(Design::from_rows(&rows).unwrap(), || false).unwrap();
    let some = [3, 29, 0, 14, 3];
    let x = DMatrix::from_fn(30, 2, |i, j| if i % 3 == j { 0.0 } else { (i as f64).sin() });
    let coefs = DMatrix::from_fn(2, 5, |i, j| (i + 2 * j) as f64 - 3.0);
    let vector: Vec<f64> = x.column(0).iter().copied().collect();
    let all = |gram: &Gram| {
        let part = gram.select(&some);
        let quadratic = DMatrix::from_element(1, 1, gram.quadratic_form(&vector));
        [
            gram.multiply(&x),
            gram.cross_of(&some, &[1, 2]),
            gram.combine(&[7, 8, 9], &some, &coefs),
            part.multiply(&coefs.transpose()),
            quadratic,
        ]
    };
    for (one, other) in all(&of_features).iter().zip(all(&of_matrix)) {
        // Sums of at most 30 terms of size 7 times 20.
        assert!((one - &other).amax() <= 1e-12 * (1.0 + other.amax()), "{one} {other}");
    }
}
