//! Files of experiments, whose errors name them.

use std::io;
use std::path::Path;

use margins::model::write_atomically;

use crate::Failure;

/// Returns what makes an error of the system one that names the file.
pub(crate) fn naming(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |error| format!("{}: {error}", path.display()).into()
}

/// Makes a folder with all that it is in.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path).map_err(naming(path))
}

/// Writes a file, complete or not at all.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    write_atomically(path, |out| out.write_all(text.as_bytes())).map_err(naming(path))
}
