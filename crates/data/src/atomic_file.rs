use std::cell::Cell;
use std::fs::{File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file that is written so that an interruption leaves either the old file or the new one: a
/// temporary file in the same directory that takes the name, and the permissions of the old file,
/// when all is written. Symbolic links are followed; what is no regular file (a device, a pipe) is
/// written directly.
///
/// The temporary file is hidden and is called after the file, as in `.model.bin.a1B2c3.partial`. A
/// process that is killed leaves it behind; the next one that writes the file removes it. It knows
/// that nobody writes it any more, because who does has locked it.
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
        let prefix = hidden_prefix(&path);
        remove_abandoned(directory, &prefix);
        let file = new_file_in(directory, &prefix)?;
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
                sync_folder_of(&path)
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
            Target::Temporary { file, .. } => file.as_file_mut().write(bytes),
            Target::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::Temporary { file, .. } => file.as_file_mut().flush(),
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

/// The end of the names of temporary files.
const SUFFIX: &str = ".partial";

/// The number of random characters in the names of temporary files.
const RANDOM: usize = 6;

/// Returns the beginning of the names of temporary files for this file.
fn hidden_prefix(path: &Path) -> String {
    // A name may have 255 bytes, and a character has up to four.
    const MOST: usize = 50;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!(".{}.", name.chars().take(MOST).collect::<String>())
}

/// Returns true for the name of a temporary file with this beginning.
fn is_partial(name: &str, prefix: &str) -> bool {
    let random = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(SUFFIX));
    random.is_some_and(|random| {
        random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Removes temporary files that processes which are no more have left. What cannot be removed
/// stays: it is in nobody's way.
fn remove_abandoned(directory: &Path, prefix: &str) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| is_partial(name, prefix));
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        // The lock is held until the file is gone, so that nobody takes it for their own.
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Makes a temporary file, locked for as long as it is written.
fn new_file_in(directory: &Path, prefix: &str) -> io::Result<NamedTempFile> {
    loop {
        let file = new_unlocked_file_in(directory, prefix)?;
        match file.as_file().try_lock() {
            // Another process took the file for an abandoned one before it was locked.
            Err(TryLockError::WouldBlock) => {}
            Ok(()) if !file.path().exists() => {}
            // Where the system has no locks, nobody removes the file either.
            _ => return Ok(file),
        }
    }
}

/// Makes a temporary file with the permissions of any new file, not the private ones of a temporary
/// file. Errors are those of the system, without the name of the temporary file.
fn new_unlocked_file_in(directory: &Path, prefix: &str) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(SUFFIX).rand_bytes(RANDOM);
    let refusal = Cell::new(None);
    let open = |path: &Path| {
        let opened = File::options().read(true).write(true).create_new(true).open(path);
        opened.inspect_err(|error| refusal.set(error.raw_os_error()))
    };
    let made = builder.make_in(directory, open);
    made.map_err(|error| refusal.get().map_or(error, io::Error::from_raw_os_error))
}

/// Has the system write the new name of a file to the disk, which synchronising the file does not.
/// A folder that may not be read, or a system without this for folders, goes without.
#[cfg(unix)]
fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let Ok(folder) = File::open(folder) else { return Ok(()) };
    match folder.sync_all() {
        Err(error) if !is_unsupported(&error) => Err(error),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}

#[cfg(not(unix))]
fn sync_folder_of(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names in a folder, in order.
    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn an_error_does_not_show_the_name_of_the_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "no folder").unwrap();
        let refused =
            [("missing", io::ErrorKind::NotFound), ("file", io::ErrorKind::NotADirectory)];
        for (name, kind) in refused {
            let error = AtomicFile::create(folder.path().join(name).join("model.bin")).unwrap_err();
            assert_eq!(error.kind(), kind);
            assert!(!error.to_string().contains(SUFFIX), "{error}");
        }
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in
            [".model.bin.a1B2c3.partial", ".model.bin.notes.partial", ".other.bin.a1B2c3.partial"]
        {
            std::fs::write(at(name), "half").unwrap();
        }
        std::fs::create_dir(at(".model.bin.folder.partial")).unwrap();
        let mut one = AtomicFile::create(at("model.bin")).unwrap();
        one.write_all(b"one").unwrap();
        // The file that another one writes at this moment stays.
        let mut other = AtomicFile::create(at("model.bin")).unwrap();
        other.write_all(b"two").unwrap();
        assert_eq!(names(folder.path()).len(), 5);
        one.commit().unwrap();
        assert_eq!(std::fs::read(at("model.bin")).unwrap(), b"one");
        other.commit().unwrap();
        assert_eq!(std::fs::read(at("model.bin")).unwrap(), b"two");
        let left = [
            ".model.bin.folder.partial",
            ".model.bin.notes.partial",
            ".other.bin.a1B2c3.partial",
            "model.bin",
        ];
        assert_eq!(names(folder.path()), left);
    }

    #[test]
    fn long_names_have_temporary_files_too() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["n".repeat(255), "\u{1F980}".repeat(63)] {
            write_atomically(folder.path().join(&name), |out| out.write_all(b"all")).unwrap();
            assert_eq!(names(folder.path()), std::slice::from_ref(&name));
            std::fs::remove_file(folder.path().join(&name)).unwrap();
        }
    }

    #[test]
    fn threads_that_write_one_file_leave_one_of_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let write = |k: usize| {
            for _ in 0..50 {
                let text = format!("{k}").repeat(1000);
                write_atomically(&path, |out| out.write_all(text.as_bytes())).unwrap();
            }
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|k| {
                scope.spawn(move || write(k));
            });
        });
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!((text.len(), text.matches(&text[..1]).count()), (1000, 1000));
        assert_eq!(names(folder.path()), ["file"]);
    }
}
