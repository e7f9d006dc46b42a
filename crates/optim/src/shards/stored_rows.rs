//! The features of some rows, as messages carry them.

use margins_data::Design;
use nalgebra::DMatrix;

use crate::Error;
use crate::shards::Failure;

/// The features of some rows, as messages carry them.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StoredRows {
    /// The number of values of every row that are not zero.
    pub lengths: Vec<u32>,
    /// The features of these values, row after row.
    pub columns: Vec<u32>,
    /// The values.
    pub values: Vec<f64>,
}

impl StoredRows {
    /// Returns rows of a design.
    ///
    /// # Panics
    /// The function panics if a row is out of range.
    pub fn of(design: &Design, rows: impl IntoIterator<Item = usize>) -> Self {
        let mut stored = StoredRows::default();
        for row in rows {
            let before = stored.values.len();
            design.sample(row).for_each(|column, x| {
                if x != 0.0 {
                    stored.columns.push(column as u32);
                    stored.values.push(x);
                }
            });
            stored.lengths.push((stored.values.len() - before) as u32);
        }
        stored
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    pub(super) fn append(&mut self, other: StoredRows) {
        self.lengths.extend(other.lengths);
        self.columns.extend(other.columns);
        self.values.extend(other.values);
    }

    /// Returns true if the lists belong to the same rows, and all columns are features.
    pub(super) fn fit(&self, features: usize) -> bool {
        let announced: u64 = self.lengths.iter().map(|&length| u64::from(length)).sum();
        announced == self.columns.len() as u64
            && self.values.len() == self.columns.len()
            && self.columns.iter().all(|&column| (column as usize) < features)
    }

    /// Returns the reason why rows are refused whose lists do not [fit](Self::fit).
    pub(super) fn misfit() -> Failure {
        "a shard sent rows whose parts do not fit".into()
    }

    /// Returns the rows as a design with this many features.
    ///
    /// # Errors
    /// [`Error::Shards`]: the lists do not belong to the same rows. [`Error::Data`]: there are no rows,
    /// columns of a row do not ascend, or a value is not finite.
    pub fn into_design(self, features: usize, sparse: bool) -> Result<Design, Error> {
        if !self.fit(features) {
            return Err(Error::Shards(Self::misfit()));
        }
        let StoredRows { lengths, columns, values } = self;
        if sparse {
            return Ok(Design::from_stored(&lengths, columns, values, features)?);
        }
        let mut samples = DMatrix::zeros(features, lengths.len());
        let mut stored = columns.into_iter().zip(values);
        for (mut sample, &length) in samples.column_iter_mut().zip(&lengths) {
            for (column, x) in stored.by_ref().take(length as usize) {
                sample[column as usize] = x;
            }
        }
        Ok(Design::from_samples(samples)?)
    }
}
