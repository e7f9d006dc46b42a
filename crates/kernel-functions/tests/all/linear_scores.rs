//! Scores of several linear functions against those of one after the other.

use margins_data::Design;
use margins_kernel_functions::linear_scores;
use margins_test_support::on_threads;
use nalgebra::DMatrix;
use nalgebra_sparse::CsrMatrix;

/// Large enough to be shared among threads, whose number changes no bit.
#[test]
fn scores_of_several_functions_are_those_of_each() {
    let entry = |i: usize, j: usize| (((i * 7919 + j * 104_729) % 1009) as f64 - 504.0) / 504.0;
    for (n, p, count) in [(2_100, 500, 3), (5, 3, 4), (1, 1, 1)] {
        let samples = DMatrix::from_fn(p, n, |j, i| entry(i, j));
        let sparse = Design::sparse(CsrMatrix::from(&samples.transpose())).unwrap();
        let dense = Design::from_samples(samples).unwrap();
        let coefs = DMatrix::from_fn(count, p, |k, j| entry(j, k));
        for design in [dense, sparse] {
            let all = on_threads(1, || linear_scores(&design, &coefs));
            assert_eq!(all, on_threads(3, || linear_scores(&design, &coefs)));
            for (k, row) in coefs.row_iter().enumerate() {
                let w: Vec<f64> = row.iter().copied().collect();
                let mut one = vec![0.0; n];
                design.multiply(&w, &mut one);
                for (i, one) in one.iter().enumerate() {
                    assert!((all[(k, i)] - one).abs() < 1e-11, "{k} {i}");
                    assert!((design.dot(i, &w) - one).abs() < 1e-11, "{k} {i}");
                    assert!(count > 1 || all[(k, i)] == *one);
                }
            }
        }
    }
}
