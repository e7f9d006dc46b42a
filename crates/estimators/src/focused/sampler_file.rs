//! Files of the states of samplers, which continue to the same bits.

use std::path::Path;

use margins_boost::FocusedSampler;
use margins_model::{Error as ModelError, write_atomically};

use crate::Error;

/// The kind of the bytes of samplers.
const KIND: &str = "a focused sampler";

/// Returns the state of a sampler as bytes with a checksum.
///
/// # Errors
/// [`Error::Model`]: a sampler that cannot be written.
pub fn sampler_to_bytes(sampler: &FocusedSampler) -> Result<Vec<u8>, Error> {
    Ok(margins_model::to_checked_bytes(KIND, sampler)?)
}

/// Returns the sampler of the bytes that [`sampler_to_bytes`] has made.
///
/// # Errors
/// [`Error::Model`]: bytes that were altered, or are of something else.
pub fn sampler_from_bytes(bytes: &[u8]) -> Result<FocusedSampler, Error> {
    Ok(margins_model::from_checked_bytes(KIND, bytes)?)
}

/// Writes the state of a sampler to a temporary file that then takes the name `path`.
///
/// ```
/// use margins_boost::FocusedSampler;
/// use margins_estimators::focused::{load_sampler, save_sampler};
///
/// let mut sampler = FocusedSampler::new(100, 1)?;
/// sampler.draw(2)?;
/// # let path = std::env::temp_dir().join(format!("sampler-{}", std::process::id()));
/// save_sampler(&sampler, &path)?;
/// let mut read = load_sampler(&path)?;
/// # std::fs::remove_file(&path)?;
/// sampler.observe(&[1.0, 0.0])?;
/// read.observe(&[1.0, 0.0])?;
/// assert_eq!(read.draw(10)?, sampler.draw(10)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Model`] with the file and what the system says.
pub fn save_sampler(sampler: &FocusedSampler, path: impl AsRef<Path>) -> Result<(), Error> {
    let bytes = sampler_to_bytes(sampler)?;
    let written = write_atomically(&path, |out| out.write_all(&bytes));
    written.map_err(|error| of_file(path.as_ref(), error.into()))
}

/// Reads the sampler of a file that [`save_sampler`] has written.
///
/// # Errors
/// [`Error::Model`] with the file: one that cannot be read, was altered, or holds something else.
pub fn load_sampler(path: impl AsRef<Path>) -> Result<FocusedSampler, Error> {
    let path = path.as_ref();
    let bytes = std::fs::read(path).map_err(|error| of_file(path, error.into()))?;
    let read = margins_model::from_checked_bytes(KIND, &bytes);
    read.map_err(|error| of_file(path, error))
}

fn of_file(path: &Path, error: ModelError) -> Error {
    ModelError::File { path: path.to_owned(), source: Box::new(error) }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_files_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sampler");
        let refused = load_sampler(&path).unwrap_err().to_string();
        assert!(refused.contains("sampler"), "{refused}");
        save_sampler(&FocusedSampler::new(5, 1).unwrap(), &path).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let refused = load_sampler(&path).unwrap_err().to_string();
        assert!(refused.contains("not the bytes of a focused sampler: it is damaged"), "{refused}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
