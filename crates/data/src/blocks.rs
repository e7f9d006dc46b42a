//! Block files: rows in fixed partitions, with checksums and an index, for data larger than memory.
//!
//! A block file is written once, in a stream, by a [`BlockWriter`],
//! and read by partition through a [`BlockFile`].
//! `docs/data-formats.md` describes the format byte by byte.

mod bytes;
mod content;
mod encoding;
mod file;
mod index;
mod layout;
mod open;
mod rows;
mod writer;

pub use file::BlockFile;
pub use layout::Precision;
pub(crate) use rows::{CodedRows, Ending, RowWriter};
pub use writer::{BlockWriter, LabelledRows, write};

/// Returns true if the first bytes of a file are those of a block file.
pub(crate) fn begins(start: &[u8]) -> bool {
    start.starts_with(&layout::MAGIC)
}

/// The size of a block whose number of rows is not given: 4 MiB.
const TARGET: u64 = 1 << 22;

/// The settings of a block file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockSettings {
    /// The precision of the values.
    pub precision: Precision,
    /// The number of rows of every block but the last; by default as many as fill 4 MiB in the first
    /// block.
    pub rows: Option<usize>,
    /// True if only nonzero values are stored; by default as in the first rows.
    pub sparse: Option<bool>,
}
