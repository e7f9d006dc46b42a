//! Room in memory for designs.

use super::{Design, Storage};
use crate::{Error, Memory, Shortage};

/// The bytes that the label of a sample takes beside its features, in all that is made of it.
pub(crate) const LABEL: usize = 32;

/// The bytes that a fit holds of a sample beside its features: margins, slopes, curvatures and weights.
const STATE: usize = 64;

impl Design {
    /// Refuses a table of so many labelled samples and dense features if memory has no room for it.
    ///
    /// # Errors
    /// [`Error::Memory`], with what is needed and what is free.
    pub fn check_room(rows: usize, columns: usize) -> Result<(), Error> {
        let sample = columns.saturating_mul(size_of::<f64>()).saturating_add(LABEL);
        let memory = Memory::from_bytes(rows.saturating_mul(sample));
        memory.check_free().map_err(|shortage| Error::Memory {
            rows,
            columns: Some(columns),
            shortage,
        })
    }

    /// Refuses so many fits at the same time if memory has no room for what they hold of every sample
    /// and for so many further designs of this size.
    ///
    /// # Errors
    /// [`Error::Copies`], with what is needed and what is free.
    pub fn check_fits(&self, fits: usize, copies: usize) -> Result<(), Error> {
        let (rows, columns) = (self.rows(), self.columns());
        let states = fits.saturating_mul(rows.saturating_mul(STATE));
        let designs = copies.saturating_mul(self.memory().bytes());
        let refused = |shortage| Error::Copies { rows, columns, shortage };
        Memory::from_bytes(designs.saturating_add(states)).check_free().map_err(refused)
    }

    /// Returns the memory that the samples take.
    pub fn memory(&self) -> Memory {
        Memory::from_bytes(match &self.storage {
            Storage::Dense(samples) => size_of_val(samples.as_slice()),
            Storage::Sparse(matrix) => {
                let (offsets, indices, values) = matrix.csr_data();
                size_of_val(offsets) + size_of_val(indices) + size_of_val(values)
            }
        })
    }

    /// Refuses columns if a vector with an entry for each has no room.
    pub(super) fn check_vector(rows: usize, columns: usize) -> Result<(), Error> {
        let memory = Memory::from_bytes(columns.saturating_mul(size_of::<f64>()));
        memory.check_free().map_err(|shortage| Error::Memory {
            rows,
            columns: Some(columns),
            shortage,
        })
    }

    /// Returns the error of a design of so many bytes that the system has refused.
    pub(super) fn no_room(rows: usize, columns: usize, bytes: usize) -> Error {
        let shortage = Shortage { needed: Memory::from_bytes(bytes), free: Memory::free() };
        Error::Memory { rows, columns: Some(columns), shortage }
    }
}
