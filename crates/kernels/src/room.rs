//! Checks that memory is free before it is allocated.

use margins_data::Memory;

use crate::Error;

/// Returns the bytes of so many matrices of double precision of order n.
pub(crate) fn matrices(count: usize, n: usize) -> usize {
    n.saturating_mul(n).saturating_mul(count).saturating_mul(size_of::<f64>())
}

impl Error {
    /// Returns an error if this many bytes are not free.
    pub(crate) fn check_room(
        bytes: usize,
        n: usize,
        what: &'static str,
        remedy: &'static str,
    ) -> Result<(), Error> {
        let refused = |shortage| Error::Memory { what, n, shortage, remedy };
        Memory::from_bytes(bytes).check_free().map_err(refused)
    }
}

/// Returns true if this many bytes are free for what only saves time, beside a reserve.
pub(crate) fn is_free(bytes: usize) -> bool {
    const FEW: usize = 1 << 20;
    const RESERVE: usize = 16 << 20;
    let fits = |free: Memory| bytes.saturating_add(RESERVE) <= free.bytes();
    bytes <= FEW || Memory::free().is_none_or(fits)
}
