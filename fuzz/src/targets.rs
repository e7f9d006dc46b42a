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

/// Reads bytes, and drops the result.
pub type Read = Box<dyn Fn(&[u8])>;

/// Reads bytes, and panics if a property that must hold does not. An error is as good as a result.
pub type Check = Box<dyn Fn(&[u8]) -> Result<(), String>>;

/// A fuzz target: a reader of bytes with its corpus and its checks.
pub struct Target {
    /// The name.
    pub name: &'static str,
    /// Valid inputs.
    pub corpus: Vec<Vec<u8>>,
    /// Words of the format, for changes.
    pub words: &'static [&'static str],
    /// Repairs checksums and lengths, so that changed bytes get past them.
    pub seal: fn(Vec<u8>) -> Vec<u8>,
    /// The reader whose memory is measured.
    pub read: Read,
    /// The bytes that reading may allocate at once for each byte of input.
    pub bytes_per_input_byte: usize,
    /// The check.
    pub check: Check,
}

impl Target {
    /// Returns the memory that reading may allocate at once: a multiple of the input, plus what is
    /// reserved for lists and buffers before their elements are seen.
    pub fn allowed(&self, bytes: usize) -> usize {
        const BUFFERS: usize = 4 << 20;
        self.bytes_per_input_byte * bytes + BUFFERS
    }
}

/// Returns all targets.
pub fn targets() -> Vec<Target> {
    let mut targets = vec![model::target()];
    targets.extend(text::targets());
    targets.push(block_file::target());
    targets.extend(checkpoint::targets());
    targets.push(journal::target());
    targets.extend(specification::targets());
    targets.extend(messages::targets());
    targets.push(solvers::target());
    targets
}

/// Returns the target of a name.
pub fn find(name: &str) -> Option<Target> {
    targets().into_iter().find(|target| target.name == name)
}

/// Returns bytes as they are: there is nothing to repair.
fn as_they_are(bytes: Vec<u8>) -> Vec<u8> {
    bytes
}
