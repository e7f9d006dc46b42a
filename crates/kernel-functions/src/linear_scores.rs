//! Scores of several linear functions, of features or of a feature map, in one matrix product.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use margins_data::Design;
use nalgebra::DMatrix;

/// Returns `coefs X'` for k vectors of length p, one per row of `coefs`: one row per vector, one
/// column per sample. The numbers of a single vector are those of [`Design::multiply`].
///
/// ```
/// use margins_data::Design;
/// use margins_kernel_functions::linear_scores;
/// use nalgebra::dmatrix;
///
/// let design = Design::from_rows(&[[1.0, 2.0], [3.0, -1.0]])?;
/// let scores = linear_scores(&design, &dmatrix![1.0, 0.0; 1.0, 1.0; 0.0, -1.0]);
/// assert_eq!(scores, dmatrix![1.0, 3.0; 3.0, 2.0; -2.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If the number of columns is not p.
pub fn linear_scores(design: &Design, coefs: &DMatrix<f64>) -> DMatrix<f64> {
    let (count, p) = coefs.shape();
    assert_eq!(p, design.columns(), "one coefficient per feature");
    let mut out = DMatrix::zeros(count, design.rows());
    if count == 1 {
        design.multiply(coefs.as_slice(), out.as_mut_slice());
        return out;
    }
    design.for_each_part(count, out.as_mut_slice(), |rows, out| match design.dense_samples() {
        Some(samples) => matmul(
            MatMut::from_column_major_slice_mut(out, count, rows.len()),
            Accum::Replace,
            MatRef::from_column_major_slice(coefs.as_slice(), count, p),
            MatRef::from_column_major_slice(&samples[rows.start * p..rows.end * p], p, rows.len()),
            1.0,
            Par::Seq,
        ),
        None => {
            for (i, out) in rows.zip(out.chunks_exact_mut(count.max(1))) {
                design.sample(i).for_each(|column, x| {
                    let coefs = &coefs.as_slice()[column * count..(column + 1) * count];
                    out.iter_mut().zip(coefs).for_each(|(out, w)| *out += x * w);
                });
            }
        }
    });
    out
}
