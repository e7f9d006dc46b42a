//! Random Fourier features against the kernel that they stand for.

use crate::common::matrix;
use margins_data::Design;
use margins_kernel_functions::{Gaussian, RandomFourierMap};
use margins_test_support::{dense, on_threads, sparse};

/// Rows of three features with zeros among them.
fn rows(n: usize) -> Vec<Vec<f64>> {
    let entry = |i: usize, j: usize| {
        let value = 1.5 * ((i * 3 + j) as f64 * 1.7).sin();
        if value.abs() < 0.4 { 0.0 } else { value }
    };
    (0..n).map(|i| (0..3).map(|j| entry(i, j)).collect()).collect()
}

#[test]
fn fourier_features_are_near_the_kernel() {
    let design = dense(&rows(60));
    for (sigma, m) in [(0.5, 400), (0.05, 1000), (3.0, 401)] {
        let gaussian = Gaussian::new(sigma).unwrap();
        let map = RandomFourierMap::new(gaussian, 3, m, 42).unwrap();
        let half = m.div_ceil(2);
        assert_eq!(map.features(), 2 * half);
        let features = map.transform(&design).unwrap();
        assert_eq!((features.rows(), features.columns()), (60, 2 * half));
        let phi = features.to_dense();
        let difference = &phi * phi.transpose() - matrix(&gaussian, &design).unwrap();
        // A pair has the standard deviation s <= 1/sqrt(2 h), thus a mean absolute error <= s,
        // which holds for the mean over pairs in expectation; three times that bounds the mean
        // absolute error with probability above 8/9 for the worst dependence between pairs
        // (Chebyshev), and the seed is fixed. No pair is further off than 6 s: a mean of h numbers
        // in [-1, 1] leaves t with probability 2 exp(-h t^2/2) <= 2 exp(-9) (Hoeffding), and less
        // at this variance.
        let s = (2.0 * half as f64).sqrt().recip();
        assert!(difference.abs().mean() <= s, "{}", difference.abs().mean());
        assert!(difference.amax() <= 6.0 * s, "{}", difference.amax());
        assert!(difference.diagonal().amax() <= 1e-12, "cos^2 + sin^2 is 1");
    }
}

#[test]
fn fourier_features_do_not_depend_on_threads_or_storage() {
    let (dense, sparse) = (dense(&rows(300)), sparse(&rows(300)));
    let gaussian = Gaussian::new(0.5).unwrap();
    let make = |seed| RandomFourierMap::new(gaussian, 3, 50, seed).unwrap();
    let transform = || make(1).transform(&dense).unwrap();
    let features = on_threads(1, transform);
    assert_eq!(on_threads(2, transform), features);
    assert_ne!(make(1), make(2));
    let from_sparse = make(1).transform(&sparse).unwrap();
    assert!((from_sparse.to_dense() - features.to_dense()).amax() <= 1e-14);
    let last = make(1).transform(&dense.select(&[299])).unwrap();
    assert_eq!(last.to_dense(), features.select(&[299]).to_dense());
}

#[test]
fn maps_that_cannot_be_made_are_refused() {
    let gaussian = Gaussian::new(1.0).unwrap();
    let none = RandomFourierMap::new(gaussian, 3, 0, 0).unwrap_err();
    assert_eq!(none.to_string(), "a feature map needs at least 2 features, found 0");
    let narrow = Design::from_rows(&[[1.0, 2.0]]).unwrap();
    let map = RandomFourierMap::new(gaussian, 3, 8, 0).unwrap();
    let error = map.transform(&narrow).unwrap_err();
    assert_eq!(error.to_string(), "features: expected 3, found 2");
}
