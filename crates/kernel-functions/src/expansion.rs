//! The values of a kernel in a block, and scores of kernel expansions `sum_j a_j k(., z_j)`, a block
//! at a time.

use faer::{Accum, MatMut, MatRef, Par};
use margins_data::{Design, parallel};
use nalgebra::DMatrix;

use crate::block::{all_finite, center};
use crate::{Block, Error, Kernel, Points};

const SIDE: usize = Block::SIDE;

/// Returns `sum_j coef_j k(x_i, z_j)` for every sample `x_i` of `rows` over the samples `z_j` of
/// `columns`, block by block, [in parallel](margins_data::parallel): of the kernel values no more
/// than a block a thread is held.
///
/// # Errors
/// Different numbers of features; another number of coefficients than of columns; a kernel value
/// that is not finite.
pub fn combine(
    kernel: &dyn Kernel,
    rows: &Design,
    columns: &Design,
    coef: &[f64],
) -> Result<Vec<f64>, Error> {
    let coefs = DMatrix::from_row_slice(1, coef.len(), coef);
    Ok(combine_all(kernel, rows, columns, &coefs)?.as_slice().to_vec())
}

/// Returns the scores of [`combine`] for several classifiers at once, one per row of `coefs` and of
/// the result: each kernel value is computed once for all of them.
///
/// # Errors
/// The errors of [`combine`].
pub fn combine_all(
    kernel: &dyn Kernel,
    rows: &Design,
    columns: &Design,
    coefs: &DMatrix<f64>,
) -> Result<DMatrix<f64>, Error> {
    let (count, found) = coefs.shape();
    if columns.rows() != found {
        return Err(Error::Shape { what: "coefficients", expected: columns.rows(), found });
    }
    let mut out = DMatrix::zeros(count, rows.rows());
    each_block(kernel, rows, columns, out.as_mut_slice(), count, |out, first, rows, values| {
        let width = values.len() / rows;
        let part = &coefs.as_slice()[first * count..(first + width) * count];
        faer::linalg::matmul::matmul(
            MatMut::from_column_major_slice_mut(out, count, rows),
            Accum::Add,
            MatRef::from_column_major_slice(part, count, width),
            MatRef::from_column_major_slice(values, rows, width).transpose(),
            1.0,
            Par::Seq,
        );
    })?;
    Ok(out)
}

/// Returns `k(x_i, x_i)` of every sample.
///
/// # Errors
/// A kernel value that is not finite.
pub fn diagonal(kernel: &dyn Kernel, design: &Design) -> Result<Vec<f64>, Error> {
    let points = Points::new(design);
    let mut out = vec![0.0; points.len()];
    for (i, out) in out.iter_mut().enumerate() {
        let block = Block::new(&points, i..i + 1, i..i + 1);
        block.evaluate(kernel, std::slice::from_mut(out))?;
    }
    Ok(out)
}

/// Calls `take(out, first_column, row_count, values)` for every block of a strip of rows, in the
/// order of the columns; `out` holds `width` numbers per row, of which a strip gets its own.
fn each_block(
    kernel: &dyn Kernel,
    rows: &Design,
    columns: &Design,
    out: &mut [f64],
    width: usize,
    take: impl Fn(&mut [f64], usize, usize, &[f64]) + Sync,
) -> Result<(), Error> {
    // Samples of both sides less the same centre, which sparse ones do not take.
    let center = if rows.is_sparse() { vec![0.0; columns.columns()] } else { center(columns) };
    let columns = Points::around(&center, columns)?;
    parallel::try_for_each_chunk(out, SIDE * width, |k, out| {
        // A strip of rows at a time: to make all of them ready takes as long as some hundred columns.
        let strip: Vec<usize> = (k * SIDE..rows.rows().min((k + 1) * SIDE)).collect();
        let row_count = strip.len();
        let strip = rows.select(&strip);
        let strip = Points::around(&center, &strip)?;
        let mut values = vec![0.0; row_count * SIDE];
        for first_column in (0..columns.len()).step_by(SIDE) {
            let column_count = SIDE.min(columns.len() - first_column);
            let block = Block::between(
                (&strip, 0..row_count),
                (&columns, first_column..first_column + column_count),
            );
            let values = &mut values[..block.len()];
            block.evaluate(kernel, values).map_err(|error| error.of_rows_from(k * SIDE))?;
            take(out, first_column, row_count, values);
        }
        Ok(())
    })
}

/// Fills `out` with `k(z_j, x_i)`, all samples `z_j` of `rows` for one sample `x_i` of `columns`
/// after the other, and calls `take` for the values of every strip of columns,
/// [in parallel](margins_data::parallel).
///
/// # Errors
/// Different numbers of features; a kernel value that is not finite, with its row in `rows` and its
/// row in `columns`.
///
/// # Panics
/// If `out` does not have one number per pair.
pub fn fill_strips(
    kernel: &dyn Kernel,
    rows: &Design,
    columns: &Design,
    out: &mut [f64],
    take: impl Fn(&mut [f64]) + Sync,
) -> Result<(), Error> {
    /// The number of columns of a strip; with a thousand rows its values stay in the cache.
    const WIDTH: usize = 64;
    let center = if columns.is_sparse() { vec![0.0; rows.columns()] } else { center(rows) };
    let rows = Points::around(&center, rows)?;
    let columns = Points::around(&center, columns)?;
    let row_count = rows.len();
    assert_eq!(out.len(), row_count * columns.len(), "one value per pair");
    parallel::try_for_each_chunk(out, WIDTH * row_count, |k, values| {
        let column_count = values.len() / row_count;
        let first_column = k * WIDTH;
        let block = Block::between(
            (&rows, 0..row_count),
            (&columns, first_column..first_column + column_count),
        );
        block.evaluate(kernel, values)?;
        take(values);
        Ok(())
    })
}

impl Block<'_> {
    /// Fills the values of a kernel for each pair, all of them finite.
    ///
    /// # Errors
    /// [`Error::KernelValue`]: a value that is not finite, with its rows in the two designs.
    /// [`Error::Refused`]: a sample for which the kernel is not defined.
    /// [`Error::Interrupted`], [`Error::NeedsData`]: a kernel in that state.
    ///
    /// # Panics
    /// If there is not one number per pair.
    ///
    /// ```
    /// use margins_data::Design;
    /// use margins_kernel_functions::{Block, Linear, Points};
    ///
    /// let design = Design::from_rows(&[[1.0, 2.0], [3.0, -1.0], [0.0, 1.0]])?;
    /// let points = Points::new(&design);
    /// let mut values = [0.0; 2];
    /// Block::new(&points, 1..3, 0..1).evaluate(&Linear, &mut values)?;
    /// assert_eq!(values, [1.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn evaluate(&self, kernel: &dyn Kernel, values: &mut [f64]) -> Result<(), Error> {
        assert_eq!(values.len(), self.len(), "one value per pair");
        if kernel.is_interrupted() {
            return Err(Error::Interrupted);
        }
        if kernel.needs_data() {
            return Err(Error::NeedsData { kernel: kernel.specification() });
        }
        kernel.fill(self, values);
        if all_finite(values) {
            return Ok(());
        }
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(at) => Err(self.fault(kernel, at, values[at])),
        }
    }

    /// Returns the error of a value that is not finite.
    fn fault(&self, kernel: &dyn Kernel, at: usize, value: f64) -> Error {
        let (i, j) = (at % self.row_count, at / self.row_count);
        let (one, other) = (self.first_row + i, self.first_column + j);
        let refusal = kernel.refusal(&self.row(i)).or_else(|| kernel.refusal(&self.column(j)));
        let kernel = kernel.specification();
        match refusal {
            Some(reason) => Error::Refused { kernel, one, other, reason },
            None => Error::KernelValue { kernel, one, other, value },
        }
    }
}
