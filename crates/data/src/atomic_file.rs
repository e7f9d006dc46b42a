use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file that is written so that an interruption leaves either the old file or the new one: a
/// temporary file in the same directory that takes the name, and the permissions of the old file,
/// when all is written. Symbolic links are followed; what is no regular file (a device, a pipe) is
/// written directly.
///
/// ```
/// use std::io::Write;
///
/// use margins_data::AtomicFile;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("notes.txt");
/// let mut file = AtomicFile::create(&path)?;
/// file.write_all(b"half")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"half");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile(BufWriter<Target>);

#[derive(Debug)]
enum Target {
    Temporary { file: NamedTempFile, path: PathBuf },
    Direct(File),
}

impl AtomicFile {
    /// Begins to write the file of this name.
    ///
    /// # Errors
    /// A path that the system does not let write.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let existing = std::fs::metadata(path).ok();
        if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
            let file = File::options().write(true).open(path)?;
            return Ok(AtomicFile(BufWriter::new(Target::Direct(file))));
        }
        let path = if existing.is_some() { path.canonicalize()? } else { path.to_path_buf() };
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let file = new_file_in(directory)?;
        if let Some(existing) = existing {
            file.as_file().set_permissions(existing.permissions())?;
        }
        Ok(AtomicFile(BufWriter::new(Target::Temporary { file, path })))
    }

    /// Gives the file its name. A file that is dropped before vanishes.
    ///
    /// # Errors
    /// The errors of the system.
    pub fn commit(self) -> io::Result<()> {
        match self.0.into_inner().map_err(io::IntoInnerError::into_error)? {
            Target::Direct(_) => Ok(()),
            Target::Temporary { file, path } => {
                file.as_file().sync_all()?;
                file.persist(&path).map_err(|error| error.error)?;
                Ok(())
            }
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::Temporary { file, .. } => file.write(bytes),
            Target::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::Temporary { file, .. } => file.flush(),
            Target::Direct(file) => file.flush(),
        }
    }
}

/// Writes a file as an [`AtomicFile`] is written.
///
/// # Errors
/// A path that the system does not let write, and the errors of `write`.
pub fn write_atomically(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    write(&mut file)?;
    file.commit()
}

/// Makes a temporary file with the permissions of any new file, not the private ones of a temporary
/// file.
fn new_file_in(directory: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    let builder = {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666))
    };
    builder.tempfile_in(directory)
}
