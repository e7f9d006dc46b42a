//! Symmetric matrices in single precision, at half the time of reading them in double precision, for
//! steps that need not be exact: the lower half for products, all columns for steps along them.

use nalgebra::DMatrix;

use super::{COLUMNS, block_of, half_product};

/// The share of the largest entry below which an entry counts as zero: products with it could be
/// subnormal numbers, which are slow.
const LEAST: f64 = 1e-18;

/// The lower half of a symmetric matrix in single precision, divided by its largest entry.
#[derive(Debug, Clone)]
pub(crate) struct SingleHalf {
    order: usize,
    scale: f64,
    /// The columns from the diagonal down; those that go together start at the same row.
    entries: Vec<f32>,
}

impl SingleHalf {
    pub(crate) fn new(matrix: &DMatrix<f64>) -> Self {
        let n = matrix.nrows();
        let scale = largest_entry(matrix);
        let mut entries = Vec::with_capacity(start_of(n, n));
        for (j, column) in matrix.as_slice().chunks_exact(n.max(1)).enumerate() {
            let part = &column[block_of(j)..];
            entries.extend(part.iter().map(|&entry| single(entry / scale)));
        }
        SingleHalf { order: n, scale, entries }
    }

    /// Computes `out = K x`, each number with an error of about `1e-7` of `max |K| ||x||`.
    pub(crate) fn multiply(&self, x: &[f64], out: &mut [f64]) {
        if x.iter().any(|x| !x.is_finite()) {
            return out.fill(f64::NAN);
        }
        let largest = x.iter().fold(f64::MIN_POSITIVE, |largest, x| largest.max(x.abs()));
        let x: Vec<f32> = x.iter().map(|x| single(x / largest)).collect();
        let mut sums = vec![0.0; x.len()];
        half_product(|j| self.column(j), &x, &mut sums);
        let back = self.scale * largest;
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = back * f64::from(sum));
    }

    /// Returns a column from the first row of its block on the diagonal down.
    fn column(&self, j: usize) -> &[f32] {
        &self.entries[start_of(self.order, j)..][..self.order - block_of(j)]
    }
}

/// All columns of a symmetric matrix in single precision, divided by its largest entry.
#[derive(Debug, Clone)]
pub(crate) struct SingleColumns {
    pub(crate) scale: f64,
    pub(crate) entries: Vec<f32>,
}

impl SingleColumns {
    pub(crate) fn new(matrix: &DMatrix<f64>) -> Self {
        let scale = largest_entry(matrix);
        // Other folds wait for the copy: a loop on several threads could take up one of them here.
        let entries = matrix.iter().map(|entry| single(entry / scale)).collect();
        SingleColumns { scale, entries }
    }

    pub(crate) fn scale_of(diagonal: &[f64]) -> f64 {
        let largest = diagonal.iter().copied().fold(0.0, f64::max);
        if largest > 0.0 { largest } else { 1.0 }
    }
}

/// Returns the largest entry of a positive semidefinite matrix, which is on its diagonal, or 1 if
/// all are zero.
fn largest_entry(matrix: &DMatrix<f64>) -> f64 {
    SingleColumns::scale_of(matrix.diagonal().as_slice())
}

/// Returns a number of size at most 1 in single precision, or zero if it is tiny.
pub(crate) fn single(x: f64) -> f32 {
    if x.abs() < LEAST { 0.0 } else { x as f32 }
}

/// Returns where column `j` of n begins among the entries.
fn start_of(n: usize, j: usize) -> usize {
    let (block, within) = (j / COLUMNS, j % COLUMNS);
    let before = COLUMNS * (block * n - COLUMNS * (block * block.saturating_sub(1)) / 2);
    before + within * (n - block * COLUMNS)
}

#[cfg(test)]
mod tests {
    use pulp::WithSimd;

    use super::super::HalfProduct;
    use super::*;

    fn matrix(n: usize) -> DMatrix<f64> {
        DMatrix::from_fn(n, n, |i, j| 3.0 * (-1e-3 * (i as f64 - j as f64).powi(2)).exp())
    }

    /// Sums of n terms in single precision, in lanes of at most n/4 terms each.
    #[test]
    fn products_are_right_to_single_precision() {
        for n in [1usize, 3, 4, 5, 19, 20, 67, 403, 2003] {
            let matrix = matrix(n);
            let x: Vec<f64> = (0..n).map(|i| 1e3 * (i as f64).cos()).collect();
            let (mut want, mut out) = (vec![0.0; n], vec![f64::NAN; n]);
            super::super::multiply(&matrix, &x, &mut want);
            SingleHalf::new(&matrix).multiply(&x, &mut out);
            let size: f64 = x.iter().map(|x| 3.0 * x.abs()).sum();
            for (a, b) in out.iter().zip(&want) {
                assert!((a - b).abs() <= 1e-6 * size, "n = {n}: {a} not {b}");
            }
        }
    }

    #[test]
    fn zeros_and_what_is_not_finite_stay_so() {
        let half = SingleHalf::new(&matrix(5));
        let mut out = [1.0; 5];
        half.multiply(&[0.0; 5], &mut out);
        assert_eq!(out, [0.0; 5]);
        for odd in [f64::INFINITY, f64::NAN] {
            half.multiply(&[0.0, odd, 0.0, 0.0, 0.0], &mut out);
            assert!(out.iter().all(|x| x.is_nan()));
        }
    }

    #[test]
    fn products_do_not_depend_on_the_instruction_set() {
        let half = SingleHalf::new(&matrix(203));
        let x: Vec<f32> = (0..203).map(|i| (i as f32).cos()).collect();
        let (mut best, mut portable) = (vec![0.0; 203], vec![0.0; 203]);
        half_product(|j| half.column(j), &x, &mut best);
        let column = |j: usize| half.column(j);
        HalfProduct { column, x: &x, out: &mut portable, columns: 0..203 }.with_simd(pulp::Scalar);
        assert_eq!(best, portable);
    }
}
