//! Room in memory for designs.

use super::{Design, Storage};
use crate::{Error, Memory, Shortage};

/// The bytes that the label of a sample takes beside its features, in all that is made of it.
pub(crate) const LABEL: usize = 32;

/// The bytes that a fit holds of a sample beside its features: margins, slopes, curvatures and weights.
const STATE: usize = 64;

impl Design {
    /// Returns an error if a table of this many labelled samples and dense features does not fit in
    /// memory.
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

    /// Returns an error if this many simultaneous fits do not fit in memory: their values for each
    /// sample, this many further designs of this size, and this many square matrices for each fit,
    /// whose order is the number of features or of samples, whichever is smaller.
    ///
    /// # Errors
    /// [`Error::Copies`], with what is needed and what is free.
    pub fn check_fits(&self, fits: usize, copies: usize, squares: usize) -> Result<(), Error> {
        let (rows, columns) = (self.rows(), self.columns());
        let designs = copies.saturating_mul(self.memory().bytes());
        let bytes = designs.saturating_add(Self::bytes_of_fits(rows, columns, fits, squares));
        let refused = |shortage| Error::Copies { rows, columns, shortage };
        Memory::from_bytes(bytes).check_free().map_err(refused)
    }

    /// Returns the bytes of this many simultaneous fits, each with so many square matrices, beside copies
    /// of the design, as [`check_fits`](Self::check_fits) counts them.
    pub fn bytes_of_fits(rows: usize, columns: usize, fits: usize, squares: usize) -> usize {
        let order = rows.min(columns).saturating_add(1);
        let square = order.saturating_mul(order).saturating_mul(size_of::<f64>());
        let state = rows.saturating_mul(STATE).saturating_add(squares.saturating_mul(square));
        fits.saturating_mul(state)
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

    /// Returns an error if a vector with an entry for each column does not fit in memory.
    pub(super) fn check_vector(rows: usize, columns: usize) -> Result<(), Error> {
        let memory = Memory::from_bytes(columns.saturating_mul(size_of::<f64>()));
        memory.check_free().map_err(|shortage| Error::Memory {
            rows,
            columns: Some(columns),
            shortage,
        })
    }

    pub(super) fn no_room(rows: usize, columns: usize, bytes: usize) -> Error {
        let shortage = Shortage { needed: Memory::from_bytes(bytes), free: Memory::free() };
        Error::Memory { rows, columns: Some(columns), shortage }
    }
}
