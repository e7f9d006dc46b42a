//! Kernels and widths at feature scales far from 1.

use crate::common::matrix;
use margins_data::Design;
use margins_kernel_functions::{Gaussian, Kernel, SigmaRange, combine};
use margins_test_support::{dense, kernel, sparse};

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

/// Rows stored densely and sparsely give the same scores, whatever the kernel does with
/// zeros.
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
    let one = SigmaRange::of(&dense(&rows(1.0)), None, 1).unwrap();
    for k in [-509, -300, -40, 40, 300, 508] {
        for design in [dense(&rows(power(k))), sparse(&rows(power(k)))] {
            let range = SigmaRange::of(&design, None, 1).unwrap();
            // To the last bit: powers of two round nothing.
            assert_eq!(range.low * power(k) * power(k), one.low, "{k}");
            assert_eq!(range.median * power(k) * power(k), one.median, "{k}");
            assert_eq!(range.high * power(k) * power(k), one.high, "{k}");
        }
    }
    // One row far from the others is in no quantile, though its squares are beyond the numbers.
    let mut outlier = rows(1.0);
    let near = SigmaRange::of(&dense(&outlier), None, 1).unwrap();
    outlier.push(vec![1e250, 0.0, 0.0]);
    let range = SigmaRange::of(&dense(&outlier), None, 1).unwrap();
    assert!((range.low / near.low - 1.0).abs() < 0.5 && range.high.is_finite(), "{range:?}");
}

#[test]
fn widths_that_are_no_numbers_are_refused_with_rows_and_distance() {
    for (unit, size) in [(1e200, "e200"), (1e-200, "e-200"), (1e-310, "e-310")] {
        for design in [dense(&rows(unit)), sparse(&rows(unit))] {
            let message = SigmaRange::of(&design, None, 1).unwrap_err().to_string();
            assert!(message.starts_with("rows ") && message.contains(size), "{message}");
            assert!(message.contains("scale the features first"), "{message}");
        }
    }
    let design = dense(&[vec![-1.7e308], vec![1.7e308]]);
    assert_eq!(
        SigmaRange::of(&design, None, 1).unwrap_err().to_string(),
        "the distance of rows 1 and 0 overflows: scale the features first"
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
                let gram = matrix(&*kernel, &design).unwrap();
                let want = matrix(&*other, &want).unwrap();
                let coef: Vec<f64> = (0..30).map(|i| f64::from(i).cos()).collect();
                let scores = combine(&*kernel, &design, &design, &coef).unwrap();
                for (i, found) in scores.iter().enumerate() {
                    let score: f64 = (0..30).map(|j| want[(i, j)] * coef[j]).sum();
                    assert!((found - score).abs() <= 1e-12, "{name} {unit:e}");
                    for j in 0..30 {
                        let (value, want) = (gram[(i, j)], want[(i, j)]);
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
        let gram = matrix(&gaussian, &design).unwrap();
        assert_eq!((gram[(0, 0)], gram[(1, 1)]), (1.0, 1.0));
        assert!((gram[(0, 1)] - want).abs() < 1e-15);
        assert!((gaussian.value(&design.sample(0), &design.sample(1)) - want).abs() < 1e-15);
    }
    // A narrow one tells such rows apart.
    let gram = matrix(&Gaussian::new(1.0).unwrap(), &dense(&rows(1e200))).unwrap();
    assert_eq!(gram.trace(), 30.0);
    assert!(gram.iter().all(|k| *k == 0.0 || *k == 1.0));
}

#[test]
fn a_distance_beyond_the_numbers_names_the_rows() {
    let design = Design::from_rows(&[[-1.7e308], [1.7e308]]).unwrap();
    for specification in [
        "laplacian:sigma=1e-308",
        "matern32:length=1e308",
        "matern52:length=1e308",
        "bessel:sigma=1e-308",
    ] {
        let message = matrix(&*kernel(specification), &design).unwrap_err().to_string();
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
        assert_eq!(matrix(&*kernel, &design).unwrap()[(0, 1)], 0.0);
        assert_eq!(kernel.value(&design.sample(0), &design.sample(1)), 0.0);
    }
}
