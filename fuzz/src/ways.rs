//! The fuzz targets: the readers of bytes, each with a corpus and checks.

mod block_file;
mod checkpoint;
mod journal;
mod messages;
mod model;
mod scratch;
mod solvers;
mod specification;
mod text;

pub use model::adversaries;

/// What reads bytes, and drops what they say.
pub type Read = Box<dyn Fn(&[u8])>;

/// What reads bytes, and panics if what must hold of them does not. An error in words is as good as a result.
pub type Check = Box<dyn Fn(&[u8]) -> Result<(), String>>;

/// A way by which bytes come in.
pub struct Way {
    /// The name.
    pub name: &'static str,
    /// Bytes that are as they should be.
    pub corpus: Vec<Vec<u8>>,
    /// Pieces that mean something there.
    pub words: &'static [&'static str],
    /// Repairs checksums and lengths, so that what stands behind them is reached.
    pub seal: fn(Vec<u8>) -> Vec<u8>,
    /// The reader whose memory is measured.
    pub read: Read,
    /// The bytes that reading may have in use at once, for each byte that comes in.
    pub most_bytes_a_byte: usize,
    /// What looks for faults.
    pub check: Check,
}

impl Way {
    /// Returns the memory that reading may have in use at once: a multiple of the bytes, and what is
    /// reserved for lists and buffers before their elements have been seen.
    pub fn allowed(&self, bytes: usize) -> usize {
        const BUFFERS: usize = 4 << 20;
        self.most_bytes_a_byte * bytes + BUFFERS
    }
}

/// Returns all ways in.
pub fn ways() -> Vec<Way> {
    let mut ways = vec![model::way()];
    ways.extend(text::ways());
    ways.push(block_file::way());
    ways.extend(checkpoint::ways());
    ways.push(journal::way());
    ways.extend(specification::ways());
    ways.extend(messages::ways());
    ways.push(solvers::way());
    ways
}

/// Returns the way in of a name.
pub fn find(name: &str) -> Option<Way> {
    ways().into_iter().find(|way| way.name == name)
}

/// Returns bytes as they are: there is nothing to repair.
fn as_they_are(bytes: Vec<u8>) -> Vec<u8> {
    bytes
}
