//! Files that executions share, one after the other.

use std::path::PathBuf;

use tempfile::TempDir;

/// A folder with files that every execution overwrites: creating and removing them each time would take
/// most of the time.
pub(super) struct Scratch(TempDir);

impl Scratch {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// Returns the path of a name in the folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns the path of a file that holds these bytes.
    pub(super) fn holding(&self, bytes: &[u8]) -> PathBuf {
        let path = self.path("in");
        std::fs::write(&path, bytes).expect("a file");
        path
    }
}
