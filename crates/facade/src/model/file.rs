use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::{Error, Model, binary, json};
use crate::Registry;

/// How a model is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// JSON, for people and other programs.
    Json,
    /// Compact, with a checksum.
    Binary,
}

impl Format {
    /// What the name of a file asks for: JSON where it ends in `.json`, in whatever case, else binary.
    pub fn of_path(path: impl AsRef<Path>) -> Self {
        match path.as_ref().extension() {
            Some(extension) if extension.eq_ignore_ascii_case("json") => Format::Json,
            _ => Format::Binary,
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Format::Json => "JSON",
            Format::Binary => "binary",
        })
    }
}

/// What a model file says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// How it is written.
    pub format: Format,
    /// Version of the layout.
    pub version: u32,
    /// Version of the crate that wrote it, from version 3 of the layout.
    pub crate_version: Option<String>,
    /// Bytes of the file.
    pub length: usize,
    /// CRC-32 of a binary file.
    pub checksum: Option<u32>,
}

impl Model {
    /// Writes the model, as JSON where the name of the file ends in `.json`, else binary; to a temporary file
    /// first that then takes the name `path`.
    ///
    /// # Errors
    /// What the system says.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.save_as(&path, Format::of_path(&path))
    }

    /// [`save`](Self::save) in a format, whatever the name of the file.
    ///
    /// # Errors
    /// As [`save`](Self::save).
    pub fn save_as(&self, path: impl AsRef<Path>, format: Format) -> Result<(), Error> {
        let path = path.as_ref();
        let write = || {
            let bytes = self.to_bytes(format)?;
            write_atomically(path, |out| out.write_all(&bytes))?;
            Ok(())
        };
        write().map_err(of_file(path))
    }

    /// What [`save_as`](Self::save_as) writes.
    ///
    /// # Errors
    /// A model whose description takes more bytes than a header may have, 2^30.
    pub fn to_bytes(&self, format: Format) -> Result<Vec<u8>, Error> {
        match format {
            Format::Json => json::write(self),
            Format::Binary => binary::write(self),
        }
    }

    /// Reads a model in either format, which the content tells, and checks that it makes sense.
    ///
    /// # Errors
    /// [`Error::File`] with the reason: a file that cannot be read, is no model, is damaged, has a newer
    /// version, holds numbers that are not finite or contradicts itself, or whose loss or kernel is not in
    /// the registry.
    pub fn load(path: impl AsRef<Path>, registry: &Registry) -> Result<Self, Error> {
        Self::load_with_header(path, registry).map(|(_, model)| model)
    }

    /// [`load`](Self::load) with what the file says of itself.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_with_header(
        path: impl AsRef<Path>,
        registry: &Registry,
    ) -> Result<(Header, Self), Error> {
        let path = path.as_ref();
        let read = || Self::read(&std::fs::read(path)?, registry);
        read().map_err(of_file(path))
    }

    /// The model that [`to_bytes`](Self::to_bytes) has written, in either format. For bytes from anywhere: it
    /// does not panic, and allocates no more than a multiple of their number.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn from_bytes(bytes: &[u8], registry: &Registry) -> Result<Self, Error> {
        Self::read(bytes, registry).map(|(_, model)| model)
    }

    fn read(bytes: &[u8], registry: &Registry) -> Result<(Header, Self), Error> {
        if binary::starts(bytes) {
            return binary::read(bytes, registry);
        }
        match bytes.trim_ascii_start().first() {
            Some(b'{') => json::read(bytes, registry),
            Some(_) => Err(Error::NotAModel(
                "it begins neither as a binary model nor with the { of JSON".to_owned(),
            )),
            None => Err(Error::NotAModel("it is empty".to_owned())),
        }
    }
}

/// What is wrong, with the file that it is about.
fn of_file(path: &Path) -> impl Fn(Error) -> Error {
    move |source| Error::File { path: path.to_owned(), source: Box::new(source) }
}

/// Writes a file so that an interruption leaves either the old file or the new one: to a temporary file
/// in the same directory that takes the name, and the permissions of the old file, when all is
/// written. Symbolic links are followed; what is no regular file (a device, a pipe) is written to
/// directly.
///
/// # Errors
/// What the system or `write` says.
pub fn write_atomically(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let path = path.as_ref();
    let existing = std::fs::metadata(path).ok();
    if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
        let mut out = BufWriter::new(File::options().write(true).open(path)?);
        write(&mut out)?;
        return out.flush();
    }
    let path = if existing.is_some() { path.canonicalize()? } else { path.to_path_buf() };
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let temporary = new_file_in(directory)?;
    if let Some(existing) = existing {
        temporary.as_file().set_permissions(existing.permissions())?;
    }
    let mut out = BufWriter::new(temporary);
    write(&mut out)?;
    let temporary = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
    temporary.as_file().sync_all()?;
    temporary.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

/// A temporary file with the permissions of any new file, not the private ones of a temporary file.
fn new_file_in(directory: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    let builder = {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666))
    };
    builder.tempfile_in(directory)
}
