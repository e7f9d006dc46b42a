//! The kernel matrix of samples, its parts, and matrices from elsewhere.

use margins_kernels::{Error, Gaussian, Gram, Kernel};
use margins_test_support::{KERNELS, dense, kernel, relatively_close, rows_with_zeros, sparse};
use nalgebra::DMatrix;

/// Whether kernel values agree, in which sums of terms of both signs may cancel.
fn agree(kernel: &dyn Kernel, diagonal: f64, a: f64, b: f64) -> bool {
    let cancels = ["linear", "poly", "sigmoid"].iter().any(|n| kernel.specification().contains(n));
    relatively_close(a, b, 1e-12) || cancels && (a - b).abs() <= 1e-14 * diagonal.abs().max(1.0)
}

fn assert_matches_values(n: usize, p: usize) {
    let rows = rows_with_zeros(n, p);
    let (dense, sparse) = (dense(&rows), sparse(&rows));
    // A matrix of the sigmoid, the last one, is refused unless it happens to be positive
    // semidefinite.
    for specification in &KERNELS[..KERNELS.len() - 1] {
        let kernel = kernel(specification);
        let gram = Gram::new(&*kernel, &dense).unwrap();
        let from_sparse = Gram::new(&*kernel, &sparse).unwrap();
        assert_eq!((gram.len(), gram.is_empty()), (n, false));
        let diagonal = gram.matrix().unwrap().diagonal().amax();
        for i in 0..n {
            for j in 0..n {
                let case = format!("{specification} {i} {j}");
                let entry = gram.matrix().unwrap()[(i, j)];
                let value = kernel.value(&dense.sample(i), &dense.sample(j));
                assert!(agree(&*kernel, diagonal, entry, value), "{case}: {entry} {value}");
                let other = from_sparse.matrix().unwrap()[(i, j)];
                assert!(agree(&*kernel, diagonal, entry, other), "{case}: {entry} {other} sparse");
                assert!(
                    entry == gram.matrix().unwrap()[(j, i)]
                        && other == from_sparse.matrix().unwrap()[(j, i)]
                );
                if !specification.contains("anova") {
                    let value = kernel.value(&sparse.sample(i), &sparse.sample(j));
                    assert!(agree(&*kernel, diagonal, other, value), "{case}: {other} {value}");
                }
            }
        }
    }
}

#[test]
fn a_gram_matrix_holds_the_value_of_every_pair_dense_or_sparse() {
    assert_matches_values(40, 5);
    assert_matches_values(2, 1);
}

#[test]
fn blocks_join_without_a_seam() {
    assert_matches_values(300, 3);
}

#[test]
fn parts_of_a_gram_matrix_are_those_of_the_samples() {
    let rows = rows_with_zeros(12, 3);
    let design = dense(&rows);
    let gram = Gram::new(&Gaussian::new(0.4).unwrap(), &design).unwrap();
    let chosen = [7, 2, 2, 11];
    let part = gram.select(&chosen);
    let cross = gram.cross_of(&[0, 5], &chosen);
    assert_eq!((part.len(), cross.shape()), (4, (2, 4)));
    for (j, &b) in chosen.iter().enumerate() {
        for (i, &a) in chosen.iter().enumerate() {
            assert_eq!(part.matrix().unwrap()[(i, j)], gram.matrix().unwrap()[(a, b)]);
        }
        for (i, &a) in [0, 5].iter().enumerate() {
            assert_eq!(cross[(i, j)], gram.matrix().unwrap()[(a, b)]);
        }
    }
    assert!(gram.select(&[]).is_empty());
}

#[test]
fn precomputed_matrices_must_be_square_finite_and_symmetric() {
    let refusal = |matrix: DMatrix<f64>| Gram::precomputed(matrix).unwrap_err().to_string();
    assert_eq!(
        refusal(DMatrix::zeros(2, 3)),
        "columns of a precomputed kernel matrix: expected 2, found 3"
    );
    let mut matrix = DMatrix::identity(3, 3);
    matrix[(2, 1)] = f64::NAN;
    assert_eq!(
        refusal(matrix.clone()),
        "entry NaN of the kernel matrix, row 2, column 1, is not finite"
    );
    assert_eq!(
        refusal(matrix.transpose()),
        "entry NaN of the kernel matrix, row 1, column 2, is not finite"
    );
    matrix[(2, 1)] = 0.5;
    assert_eq!(
        refusal(matrix.clone()),
        "the kernel matrix is not symmetric: 0.5 in row 2, column 1, but 0 in row 1, column 2"
    );
    // A difference in the twelfth digit is rounding, and is removed.
    matrix[(1, 2)] = 0.5 * (1.0 + 1e-12);
    let gram = Gram::precomputed(matrix).unwrap();
    assert_eq!(gram.matrix().unwrap()[(1, 2)], gram.matrix().unwrap()[(2, 1)]);
}

#[test]
fn a_matrix_of_single_precision_is_semidefinite_to_its_digits() {
    let n = 80;
    let at = |i: usize| i as f64 / n as f64;
    let exact = DMatrix::from_fn(n, n, |i, j| (-(at(i) - at(j)).powi(2)).exp());
    let single = exact.map(|k| f64::from(k as f32));
    let least = single.clone().symmetric_eigenvalues().min();
    assert!(least < -1e-10 * n as f64, "{least}");
    assert!(Gram::precomputed(single.clone()).is_ok());
    // The same error in a matrix whose entries need double precision.
    let shifted = single.map(|k| k * (1.0 + 1e-12));
    assert!(matches!(Gram::precomputed(shifted), Err(Error::Indefinite)));
    let indefinite = single - DMatrix::identity(n, n) * 0.125;
    assert!(matches!(Gram::precomputed(indefinite), Err(Error::Indefinite)));
}
