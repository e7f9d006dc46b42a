//! Samples for tests, and where the tests run.

use std::ops::Range;

use margins_data::generate::{Example, GaussianMixture};
use margins_data::{Dataset, Design};
use margins_kernel_functions::{Kernel, KernelRegistry};
use proptest::collection::vec;
use proptest::prelude::*;

/// Returns a kernel of the standard registry.
///
/// # Panics
/// If the specification is not known.
pub fn kernel(specification: &str) -> Box<dyn Kernel> {
    KernelRegistry::standard().parse(specification).expect("a kernel of the registry")
}

/// Returns rows as a dense design.
///
/// # Panics
/// If there are no rows, or they are of different lengths, or not finite.
pub fn dense(rows: &[Vec<f64>]) -> Design {
    Design::from_rows(rows).expect("finite rows of one length")
}

/// Returns rows as a design that stores what is not zero.
///
/// # Panics
/// Panics as [`dense`] does.
pub fn sparse(rows: &[Vec<f64>]) -> Design {
    let stored =
        |row: &Vec<f64>| row.iter().copied().enumerate().filter(|(_, x)| *x != 0.0).collect();
    let stored: Vec<Vec<(usize, f64)>> = rows.iter().map(stored).collect();
    Design::from_sparse_rows(&stored, rows[0].len()).expect("finite rows of one length")
}

/// Returns rows of two overlapping classes in p features.
///
/// # Panics
/// If the number of features is odd, or there are no rows.
pub fn mixture(rows: usize, p: usize) -> Dataset {
    let mixture = GaussianMixture::example(Example::Three { p }, 3).expect("an example");
    mixture.sample(rows, 5).expect("samples")
}

/// Returns rows of two overlapping classes in the plane.
///
/// # Panics
/// If there are no rows.
pub fn plane(rows: usize) -> Dataset {
    let mixture = GaussianMixture::example(Example::One, 1).expect("an example");
    mixture.sample(rows, 2).expect("samples")
}

/// Returns the data with weights from 0.5 to 3.5.
///
/// # Panics
/// If they have no rows.
pub fn weighted(data: Dataset) -> Dataset {
    let weights = (0..data.rows()).map(|i| 0.5 + (i % 4) as f64).collect();
    data.with_weights(weights).expect("weights")
}

/// Returns rows of such entries with labels of both classes.
pub fn rows_and_signs(
    rows: Range<usize>,
    columns: Range<usize>,
    entry: impl Strategy<Value = f64> + Clone + 'static,
) -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<f64>)> {
    (rows, columns).prop_flat_map(move |(n, p)| {
        let signs = vec(prop_oneof![Just(-1.0), Just(1.0)], n - 2);
        (vec(vec(entry.clone(), p), n), signs).prop_map(|(rows, mut signs)| {
            signs.extend([1.0, -1.0]);
            (rows, signs)
        })
    })
}

/// Returns lambdas from 1e-4 to 3.
pub fn any_lambda() -> impl Strategy<Value = f64> {
    (-4.0..0.5f64).prop_map(|exponent| 10f64.powf(exponent))
}

/// Returns what a job gives on this number of threads.
///
/// # Panics
/// If they cannot be started.
pub fn on_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads").install(run)
}
