//! Designs of stored values in flat lists.

use nalgebra_sparse::CsrMatrix;

use super::Design;
use crate::Error;

impl Design {
    /// Makes a sparse design of the number of stored values of every row, and of their columns, which
    /// ascend in each row, and values, row after row.
    ///
    /// # Errors
    /// No rows, no columns, a value that is not finite, a column out of order or beyond the last,
    /// lists that are not as long as the rows say.
    ///
    /// ```
    /// use margins_data::Design;
    ///
    /// let design = Design::from_stored(&[2, 0, 1], vec![0, 3, 1], vec![0.5, 2.0, -1.0], 4)?;
    /// assert_eq!((design.rows(), design.columns(), design.stored()), (3, 4, 3));
    /// # Ok::<(), margins_data::Error>(())
    /// ```
    pub fn from_stored(
        lengths: &[u32],
        columns: Vec<u32>,
        values: Vec<f64>,
        features: usize,
    ) -> Result<Self, Error> {
        let mut offsets = Vec::with_capacity(lengths.len() + 1);
        offsets.push(0);
        for (row, &length) in lengths.iter().enumerate() {
            let start = offsets[row];
            let end = start + length as usize;
            check_columns(row, columns.get(start..end).unwrap_or_default(), features)?;
            offsets.push(end);
        }
        let columns = columns.into_iter().map(|column| column as usize).collect();
        let (rows, found) = (lengths.len(), values.len());
        let matrix = CsrMatrix::try_from_csr_data(rows, features, offsets, columns, values);
        let matrix = matrix.map_err(|_| Error::Shape {
            what: "stored values of sparse rows",
            expected: lengths.iter().map(|&length| length as usize).sum(),
            found,
        })?;
        Design::sparse(matrix)
    }
}

/// Returns an error if the columns of a row do not ascend, or one is not less than `features`.
fn check_columns(row: usize, columns: &[u32], features: usize) -> Result<(), Error> {
    let mut least = 0;
    for column in columns.iter().map(|&column| column as usize) {
        if column < least || column >= features {
            return Err(Error::SparseColumn { row, column, columns: features });
        }
        least = column + 1;
    }
    Ok(())
}
