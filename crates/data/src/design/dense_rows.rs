//! Builds a dense design sample by sample, in memory that is reserved once.

use nalgebra::DMatrix;

use super::Design;
use crate::Error;

/// Dense samples that come one after the other, into memory that is reserved once. They are checked
/// as they come, while they are near the processor.
///
/// ```
/// use margins_data::{DenseRows, Design};
///
/// let mut rows = DenseRows::new(2, 3)?;
/// rows.append([1.0, 2.0, 3.0])?;
/// rows.append([4.0, 5.0, 6.0])?;
/// assert_eq!(rows.finish()?, Design::from_rows(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])?);
/// # Ok::<(), margins_data::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DenseRows {
    columns: usize,
    values: Vec<f64>,
}

impl DenseRows {
    /// Reserves memory for this many samples.
    ///
    /// # Errors
    /// [`Error::Memory`]: they do not fit into memory. No columns.
    pub fn new(rows: usize, columns: usize) -> Result<Self, Error> {
        if columns == 0 {
            return Err(Error::Empty("columns"));
        }
        Design::check_room(rows, columns)?;
        let mut values = Vec::new();
        let count = rows.saturating_mul(columns);
        match values.try_reserve_exact(count) {
            Ok(()) => Ok(DenseRows { columns, values }),
            Err(_) => Err(Design::no_room(rows, columns, count.saturating_mul(size_of::<f64>()))),
        }
    }

    /// Returns the number of features.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Appends values, sample by sample; a call may begin and end within a sample.
    ///
    /// # Errors
    /// A value that is not finite.
    pub fn append(&mut self, values: impl IntoIterator<Item = f64>) -> Result<(), Error> {
        let from = self.values.len();
        self.values.extend(values);
        check_finite(&self.values, from, self.columns)
    }

    /// Returns the samples.
    ///
    /// # Errors
    /// No samples, or a last one that lacks features.
    pub fn finish(self) -> Result<Design, Error> {
        let DenseRows { columns, values } = self;
        let rows = values.len() / columns;
        Design::check_size(rows, columns)?;
        match values.len() % columns {
            0 => Ok(Design::of_finite(DMatrix::from_vec(columns, rows, values))),
            found => Err(Error::Ragged { row: rows, found, expected: columns }),
        }
    }
}

/// Refuses values that are not finite, from one on, of samples of so many columns.
pub(super) fn check_finite(values: &[f64], from: usize, columns: usize) -> Result<(), Error> {
    /// The number of values that are checked at once, without a branch for each.
    const MANY: usize = 1024;
    for (k, some) in values[from..].chunks(MANY).enumerate() {
        if are_finite(some) {
            continue;
        }
        if let Some(place) = some.iter().position(|x| !x.is_finite()) {
            let at = from + k * MANY + place;
            let (row, column) = (at / columns, at % columns);
            return Err(Error::NotFinite { row, column, value: values[at] });
        }
    }
    Ok(())
}

/// Returns true if no exponent is that of infinity and NaN.
fn are_finite(values: &[f64]) -> bool {
    const EXPONENT: u64 = 0x7FF << 52;
    const ONE: u64 = 1 << 52;
    // An exponent of ones alone carries into the sign.
    let carried = values.iter().fold(0, |all, x| all | ((x.to_bits() & EXPONENT) + ONE));
    carried >> 63 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_not_finite_are_found_wherever_they_are() {
        for bad in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for at in [0, 1, 1023, 1024, 2999] {
                let mut values = vec![-f64::MAX; 3000];
                values[1500] = f64::MIN_POSITIVE / 2.0;
                assert!(check_finite(&values, 0, 3).is_ok());
                values[at] = bad;
                let refused = check_finite(&values, 0, 3).unwrap_err();
                let place = format!("row {}, column {}:", at / 3, at % 3);
                assert!(refused.to_string().starts_with(&place), "{refused}");
                assert!(check_finite(&values, at + 1, 3).is_ok());
            }
        }
    }

    #[test]
    fn what_is_no_table_is_refused() {
        assert!(matches!(DenseRows::new(usize::MAX, 2), Err(Error::Memory { .. })));
        assert!(matches!(DenseRows::new(1 << 58, 1), Err(Error::Memory { .. })));
        assert!(matches!(DenseRows::new(1, 0), Err(Error::Empty("columns"))));
        assert!(matches!(DenseRows::new(1, 2).unwrap().finish(), Err(Error::Empty("rows"))));
        let mut rows = DenseRows::new(2, 2).unwrap();
        rows.append([1.0, 2.0, 3.0]).unwrap();
        assert!(matches!(rows.finish(), Err(Error::Ragged { row: 1, found: 1, expected: 2 })));
    }
}
