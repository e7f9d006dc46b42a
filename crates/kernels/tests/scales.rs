//! Kernels, widths and fits at feature scales far from 1.

use margins_data::{Design, Labels};
use margins_kernels::{
    Gaussian, Gram, Kernel, KernelObjective, KernelRegistry, PivotedCholesky, SigmaRange, combine,
    fit, svm,
};
use margins_losses::{LeakyHockeyStick, Squared};
use margins_optim::Options;
use margins_test_support::lambda;
use proptest::prelude::*;

fn kernel(specification: &str) -> Box<dyn Kernel> {
    KernelRegistry::standard().parse(specification).expect("a kernel of the registry")
}

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

fn dense(rows: &[Vec<f64>]) -> Design {
    Design::from_rows(rows).unwrap()
}

fn sparse(rows: &[Vec<f64>]) -> Design {
    let stored =
        |row: &Vec<f64>| row.iter().copied().enumerate().filter(|(_, x)| *x != 0.0).collect();
    let rows: Vec<Vec<(usize, f64)>> = rows.iter().map(stored).collect();
    Design::from_sparse_rows(&rows, 3).unwrap()
}

/// The same rows stored densely and sparsely give the same scores, whatever the kernel does with zeros.
#[test]
fn zeros_that_are_not_stored_count_like_others() {
    let rows = rows(1.0);
    for specification in
        ["anova:sigma=1", "anova:sigma=0.2,degree=3", "anova:sigma=1*linear+anova:sigma=2"]
    {
        let kernel = kernel(specification);
        let (dense, sparse) = (dense(&rows), sparse(&rows));
        for i in 0..30 {
            for j in 0..30 {
                let want = kernel.value(&dense.sample(i), &dense.sample(j));
                for (x, z) in [(&sparse, &sparse), (&sparse, &dense), (&dense, &sparse)] {
                    let value = kernel.value(&x.sample(i), &z.sample(j));
                    assert!(
                        (value - want).abs() <= 1e-14 * want.abs(),
                        "{specification}: {value} {want}"
                    );
                }
            }
        }
    }
}

#[test]
fn widths_are_right_as_long_as_they_are_numbers() {
    let one = SigmaRange::of(&dense(&rows(1.0)), 1).unwrap();
    for k in [-509, -300, -40, 40, 300, 508] {
        for design in [dense(&rows(power(k))), sparse(&rows(power(k)))] {
            let range = SigmaRange::of(&design, 1).unwrap();
            // To the last bit: powers of two round nothing.
            assert_eq!(range.low * power(k) * power(k), one.low, "{k}");
            assert_eq!(range.median * power(k) * power(k), one.median, "{k}");
            assert_eq!(range.high * power(k) * power(k), one.high, "{k}");
        }
    }
    // One row far from the others is in no quantile, though its squares are beyond the numbers.
    let mut outlier = rows(1.0);
    let near = SigmaRange::of(&dense(&outlier), 1).unwrap();
    outlier.push(vec![1e250, 0.0, 0.0]);
    let range = SigmaRange::of(&dense(&outlier), 1).unwrap();
    assert!((range.low / near.low - 1.0).abs() < 0.5 && range.high.is_finite(), "{range:?}");
}

#[test]
fn widths_that_are_no_numbers_are_refused_with_rows_and_distance() {
    for (unit, size) in [(1e200, "e200"), (1e-200, "e-200"), (1e-310, "e-310")] {
        for design in [dense(&rows(unit)), sparse(&rows(unit))] {
            let message = SigmaRange::of(&design, 1).unwrap_err().to_string();
            assert!(message.starts_with("rows ") && message.contains(size), "{message}");
            assert!(message.contains("scale the features first"), "{message}");
        }
    }
    let design = dense(&[vec![-1.7e308], vec![1.7e308]]);
    assert_eq!(
        SigmaRange::of(&design, 1).unwrap_err().to_string(),
        "rows 1 and 0 are farther from each other than the largest number: scale the features first"
    );
}

#[test]
fn kernels_of_distances_are_right_at_every_scale() {
    let one = rows(1.0);
    for unit in [1e-200, 1e-160, 1e160, 1e200] {
        let scaled = rows(unit);
        for (name, parameter) in [
            ("laplacian:sigma", 0.7 / unit),
            ("matern32:length", 1.3 * unit),
            ("matern52:length", 0.4 * unit),
        ] {
            let at_one =
                if name == "laplacian:sigma" { parameter * unit } else { parameter / unit };
            let (kernel, other) =
                (kernel(&format!("{name}={parameter:e}")), kernel(&format!("{name}={at_one:e}")));
            for (design, want) in [(dense(&scaled), dense(&one)), (sparse(&scaled), sparse(&one))] {
                let gram = Gram::new(&*kernel, &design).unwrap();
                let want = Gram::new(&*other, &want).unwrap();
                let coef: Vec<f64> = (0..30).map(|i| f64::from(i).cos()).collect();
                let scores = combine(&*kernel, &design, &design, &coef).unwrap();
                for (i, found) in scores.iter().enumerate() {
                    let score: f64 = (0..30).map(|j| want.matrix()[(i, j)] * coef[j]).sum();
                    assert!((found - score).abs() <= 1e-12, "{name} {unit:e}");
                    for j in 0..30 {
                        let (value, want) = (gram.matrix()[(i, j)], want.matrix()[(i, j)]);
                        assert!((value - want).abs() <= 1e-13, "{name} {unit:e}: {value} {want}");
                        let single = kernel.value(&design.sample(i), &design.sample(j));
                        assert!(
                            (value - single).abs() <= 1e-13,
                            "{name} {unit:e}: {value} {single}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_gaussian_needs_no_square_that_is_a_number() {
    // sigma ||x - z||^2 = 4e-320 (5e159)^2 is about 1.
    let design = Design::from_rows(&[[0.0, 1e160], [5e159, 1e160]]).unwrap();
    let sigma = 4e-320;
    let want = f64::exp(-(sigma * 5e159) * 5e159);
    for design in [design.clone(), sparse(&[vec![0.0, 1e160, 0.0], vec![5e159, 1e160, 0.0]])] {
        let gaussian = Gaussian::new(sigma).unwrap();
        let gram = Gram::new(&gaussian, &design).unwrap();
        assert_eq!((gram.matrix()[(0, 0)], gram.matrix()[(1, 1)]), (1.0, 1.0));
        assert!((gram.matrix()[(0, 1)] - want).abs() < 1e-15);
        assert!((gaussian.value(&design.sample(0), &design.sample(1)) - want).abs() < 1e-15);
    }
    // A narrow one tells such rows apart.
    let gram = Gram::new(&Gaussian::new(1.0).unwrap(), &dense(&rows(1e200))).unwrap();
    assert_eq!(gram.matrix().trace(), 30.0);
    assert!(gram.matrix().iter().all(|k| *k == 0.0 || *k == 1.0));
}

#[test]
fn a_distance_beyond_the_numbers_names_the_rows() {
    let design = Design::from_rows(&[[-1.7e308], [1.7e308]]).unwrap();
    for specification in
        ["laplacian:sigma=1e-308", "matern32:length=1e308", "matern52:length=1e308"]
    {
        let message = Gram::new(&*kernel(specification), &design).unwrap_err().to_string();
        assert!(message.contains("of rows 1 and 0 is NaN; scale the features first"), "{message}");
    }
}

#[test]
fn a_matern_kernel_vanishes_far_away() {
    let design = Design::from_rows(&[[0.0], [1.0]]).unwrap();
    for specification in
        ["matern32:length=1e-300", "matern52:length=1e-300", "matern52:length=1e-308"]
    {
        let kernel = kernel(specification);
        assert_eq!(Gram::new(&*kernel, &design).unwrap().matrix()[(0, 1)], 0.0);
        assert_eq!(kernel.value(&design.sample(0), &design.sample(1)), 0.0);
    }
}

#[test]
fn a_factor_that_does_not_fit_says_which_rank_would() {
    let design = dense(&rows(1.0));
    let gaussian = Gaussian::new(3.0).unwrap();
    let whole = PivotedCholesky::within(&gaussian, &design, 1e-9, 1.0).unwrap();
    let rank = whole.pivots().len();
    assert!(rank > 20);
    // Sixteen bytes a row and a pivot.
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
    assert!(none.to_string().contains("would take about rank 30"), "{none}");
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
    assert!(error.to_string().contains("add up to more than the largest number"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// With the width from the data, or with a parameter that is scaled by hand, features in other units change
    /// nothing: powers of two to the last bit.
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
            let kernel = KernelRegistry::standard().parse_for(specification, &design, 3).unwrap();
            let gram = Gram::new(&*kernel, &design).unwrap();
            let options = Options::default();
            let newton = |loss: &dyn margins_losses::MarginLoss| {
                let objective = KernelObjective::new(loss, &gram, &labels).unwrap();
                let fit = fit(&objective, at, &options).unwrap();
                let mut scores = combine(&*kernel, &design, &design, &fit.coef).unwrap();
                scores.push(fit.intercept);
                scores
            };
            let machine = svm::fit(&gram, &signs, None, true, at, &options).unwrap();
            [newton(&LeakyHockeyStick), newton(&Squared), machine.scores(gram.matrix())]
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
