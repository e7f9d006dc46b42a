//! Files of experiments. Each error names its file.

use std::io;
use std::path::Path;

use margins_data::write_atomically;

use crate::Failure;

/// Returns a function that adds the name of a file to an error of the system.
pub fn naming(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |error| format!("{}: {error}", path.display()).into()
}

/// Creates a folder and the folders that contain it, unless they exist.
///
/// # Errors
/// The error of the system, with the name of the folder.
pub fn make_folder(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path).map_err(naming(path))
}

/// Writes a file under a temporary name and renames it, so that it is complete or unchanged.
///
/// # Errors
/// The error of the system, with the name of the file.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    write_atomically(path, |out| out.write_all(text.as_bytes())).map_err(naming(path))
}
