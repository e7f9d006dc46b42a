//! The limits of estimators without a certificate, and the memory for block files.

use std::time::{Duration, Instant};

use margins_data::Memory;
use margins_data::blocks::BlockFile;
use margins_optim::method::Limits;
use margins_optim::shards::OnDisk;

use crate::regularised::IterationObserver;

/// The copies of the features during fits to rows in memory: the rows as they are read, the scaled
/// rows, and the copy of a solver.
pub const COPIES: usize = 3;

/// Returns the memory for the rows of a file, by default [half of the free](Memory::half), if it is
/// less than this many copies of all rows take; `features`, if given, replaces the number of features
/// of the file. `None` if the rows fit, or if no memory is given and the system does not report any.
pub fn memory_below(
    file: &BlockFile,
    memory: Option<Memory>,
    copies: usize,
    features: Option<usize>,
) -> Option<Memory> {
    let bytes = match features {
        Some(features) => file.rows() * features * size_of::<f64>(),
        None => (0..file.partitions()).map(|k| file.bytes_of(k)).sum::<usize>(),
    };
    let all = Memory::from_bytes(copies * (bytes + file.rows() * OnDisk::BYTES_PER_ROW));
    let memory = memory.or_else(|| Memory::free().map(Memory::half))?;
    (all > memory).then_some(memory)
}

impl IterationObserver<()> {
    /// Returns the limits of a method that begins now and may take so long.
    pub(crate) fn limits(&self, time_limit: Option<Duration>) -> Limits<'_> {
        let deadline = time_limit.and_then(|limit| Instant::now().checked_add(limit));
        Limits { deadline, watch: self.watch() }
    }
}
