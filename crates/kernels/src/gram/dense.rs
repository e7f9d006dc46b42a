//! Dense matrices: their memory, products, and whether they are positive semidefinite.

use faer::{Accum, MatMut, MatRef, Par, Side};
use margins_data::parallel;
use nalgebra::DMatrix;

use crate::Error;
use crate::room::matrices;
use crate::symmetric::number::Number;

/// Refuses a matrix that is not positive semidefinite: `K + d I` must have a Cholesky factor where d
/// is `rounding` times the trace, which covers the rounding of the entries and of the factorisation.
pub(super) fn check_semidefinite(matrix: &DMatrix<f64>, rounding: f64) -> Result<(), Error> {
    let n = matrix.nrows();
    // A copy of the matrix, and its factor.
    let what = "a factor that shows whether the kernel matrix is positive semidefinite";
    Error::check_room(matrices(2, n), n, what, "fewer rows take less")?;
    // Summed by parts: the trace may be beyond the largest number though no entry is.
    let part: f64 = matrix.diagonal().iter().map(|k| rounding * k).sum();
    let shift = part + f64::MIN_POSITIVE;
    let mut shifted = matrix.clone();
    (0..n).for_each(|i| shifted[(i, i)] += shift);
    let view = MatRef::from_column_major_slice(shifted.as_slice(), n, n);
    view.llt(Side::Lower).map(drop).map_err(|_| Error::Indefinite)
}

pub(crate) fn product(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    let (rows, between) = a.shape();
    let columns = b.ncols();
    let mut out = DMatrix::zeros(rows, columns);
    faer::linalg::matmul::matmul(
        MatMut::from_column_major_slice_mut(out.as_mut_slice(), rows, columns),
        Accum::Replace,
        MatRef::from_column_major_slice(a.as_slice(), rows, between),
        MatRef::from_column_major_slice(b.as_slice(), between, columns),
        1.0,
        Par::Seq,
    );
    out
}

/// Returns `K X` for a symmetric matrix K; in parallel if X has more than one column.
pub(super) fn symmetric_product(matrix: &DMatrix<f64>, x: &DMatrix<f64>) -> DMatrix<f64> {
    const ROWS: usize = 256;
    let (n, k) = x.shape();
    if k < 2 {
        return product(matrix, x);
    }
    // A column of the transposed product takes one of K.
    let mut transposed = DMatrix::zeros(k, n);
    parallel::for_each_chunk(transposed.as_mut_slice(), ROWS * k, |part, out| {
        let rows = out.len() / k;
        let columns = &matrix.as_slice()[part * ROWS * n..][..rows * n];
        faer::linalg::matmul::matmul(
            MatMut::from_column_major_slice_mut(out, k, rows),
            Accum::Replace,
            MatRef::from_column_major_slice(x.as_slice(), n, k).transpose(),
            MatRef::from_column_major_slice(columns, n, rows),
            1.0,
            Par::Seq,
        );
    });
    transposed.transpose()
}

/// Returns zeros for a matrix of order n, if the system has the memory.
pub(super) fn room_for<T: Number>(n: usize) -> Result<Vec<T>, Error> {
    let gigabytes = 1e-9 * size_of::<T>() as f64 * n as f64 * n as f64;
    let too_large = Error::TooLarge { n, gigabytes };
    let Some(length) = n.checked_mul(n) else { return Err(too_large) };
    // Reserved first, because the allocation below aborts if memory is short; zeroed pages are free.
    Vec::<T>::new().try_reserve_exact(length).map_err(|_| too_large)?;
    Ok(vec![T::default(); length])
}

/// Fills the upper half of a matrix of order n from the lower one, tile by tile, so that both stay in
/// the cache.
pub(super) fn mirror<T: Number>(entries: &mut [T], n: usize) {
    const TILE: usize = 32;
    for first_column in (0..n).step_by(TILE) {
        for first_row in (first_column..n).step_by(TILE) {
            for column in first_column..n.min(first_column + TILE) {
                for row in first_row.max(column + 1)..n.min(first_row + TILE) {
                    entries[row * n + column] = entries[column * n + row];
                }
            }
        }
    }
}
