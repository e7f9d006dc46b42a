//! Files written so that an interruption leaves either the old content or the new one.

mod destination;

use std::cell::Cell;
use std::fs::{File, TryLockError};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use destination::{Destination, folder_of, open, takes_owner};

/// A file that is written so that an interruption leaves either the old file or the new one: a
/// temporary file in the same folder, which takes the name and the permissions of the old file when
/// all is written.
///
/// * A symbolic link is followed, also to a file that does not exist yet.
/// * A file that its owner has made read-only, or that this process may not write to, is refused.
/// * A file that cannot be replaced is overwritten when all is written: its folder is not writable,
///   another user owns it, or a file system is mounted on it.
/// * `/dev/stdout` and `/dev/stderr` are the streams of this process, wherever they lead. Devices,
///   pipes and other descriptors are written to directly.
///
/// The temporary file is hidden and is called after the file, as in `.model.bin.a1B2c3.partial`. A
/// process that is killed leaves it behind; the next one that writes the file removes it. It knows
/// that the file is abandoned, because a process that writes one has locked it.
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
    /// A file that takes the place of the one at the path, if there is one.
    Replacement {
        file: NamedTempFile,
        path: PathBuf,
    },
    /// A file whose content is copied into `old`, which cannot be replaced.
    Copy {
        file: File,
        old: File,
    },
    Direct(File),
}

impl AtomicFile {
    /// Begins to write the file of this name.
    ///
    /// # Errors
    /// A file that this process may not write, that is read-only or a folder; a folder that does not
    /// exist or takes no new file.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(AtomicFile(BufWriter::new(match Destination::of(path.as_ref())? {
            Destination::Stream(file) => Target::Direct(file),
            // At the end: the file of a descriptor may have content.
            Destination::Special(path) => Target::Direct(File::options().append(true).open(&path)?),
            Destination::New(path) => Target::Replacement { file: new_file(&path)?, path },
            Destination::Old { path, file: old } => match new_file(&path) {
                Ok(file) if takes_owner(file.as_file(), &old)? => {
                    file.as_file().set_permissions(old.metadata()?.permissions())?;
                    Target::Replacement { file, path }
                }
                Ok(_) => Target::Copy { file: tempfile::tempfile()?, old },
                Err(error) if is_unwritable(&error) => {
                    Target::Copy { file: tempfile::tempfile()?, old }
                }
                Err(error) => return Err(error),
            },
        })))
    }

    /// Checks that [`create`](Self::create) would begin, and leaves everything as it is.
    ///
    /// # Errors
    /// The errors of [`create`](Self::create), but for those of devices and pipes, which are not
    /// opened.
    pub fn check(path: impl AsRef<Path>) -> io::Result<()> {
        match Destination::of(path.as_ref())? {
            Destination::Stream(_) | Destination::Special(_) => Ok(()),
            Destination::Old { .. } | Destination::New(_) => AtomicFile::create(path).map(drop),
        }
    }

    /// Returns the number of the descriptor of this process that a path leads to, such as 1 for
    /// `/dev/stdout`. What is written there has no name, and may not be read again.
    ///
    /// ```
    /// use margins_data::AtomicFile;
    ///
    /// assert_eq!(AtomicFile::descriptor("/dev/stderr"), cfg!(unix).then_some(2));
    /// assert_eq!(AtomicFile::descriptor("model.json"), None);
    /// ```
    pub fn descriptor(path: impl AsRef<Path>) -> Option<u32> {
        destination::descriptor(path.as_ref())
    }

    /// Gives the file its name. A file that is dropped before vanishes.
    ///
    /// # Errors
    /// The errors of the system.
    pub fn commit(self) -> io::Result<()> {
        match self.0.into_inner().map_err(io::IntoInnerError::into_error)? {
            Target::Direct(_) => Ok(()),
            Target::Copy { mut file, mut old } => copy(&mut file, &mut old),
            Target::Replacement { file, path } => {
                file.as_file().sync_all()?;
                match file.persist(&path) {
                    Ok(_) => sync_folder_of(&path),
                    Err(mut refused) if is_mounted(&refused.error) => {
                        copy(refused.file.as_file_mut(), &mut open(&path)?)
                    }
                    Err(refused) => Err(refused.error),
                }
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

impl Target {
    fn file(&mut self) -> &mut File {
        match self {
            Target::Replacement { file, .. } => file.as_file_mut(),
            Target::Copy { file, .. } | Target::Direct(file) => file,
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

fn copy(from: &mut File, to: &mut File) -> io::Result<()> {
    from.rewind()?;
    to.set_len(0)?;
    io::copy(from, to)?;
    to.sync_all()
}

/// Returns true if the system refuses to put a new file into a folder.
fn is_unwritable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Returns true if the system refuses to replace a file because a file system is mounted on it.
fn is_mounted(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices)
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

fn is_partial(name: &str, prefix: &str) -> bool {
    let random = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(SUFFIX));
    random.is_some_and(|random| {
        random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Removes temporary files of processes that have ended. Files that cannot be removed stay, which
/// does no harm.
fn remove_abandoned(directory: &Path, prefix: &str) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| is_partial(name, prefix));
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        // The lock is held until the file is removed, so that no other process takes it.
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Makes a temporary file for a file, in the same folder.
fn new_file(path: &Path) -> io::Result<NamedTempFile> {
    let (folder, prefix) = (folder_of(path), hidden_prefix(path));
    remove_abandoned(folder, &prefix);
    new_file_in(folder, &prefix)
}

/// Makes a temporary file, locked for as long as it is written.
fn new_file_in(directory: &Path, prefix: &str) -> io::Result<NamedTempFile> {
    loop {
        let file = new_unlocked_file_in(directory, prefix)?;
        match file.as_file().try_lock() {
            // Another process took the file for an abandoned one before it was locked.
            Err(TryLockError::WouldBlock) => {}
            Ok(()) if !file.path().exists() => {}
            // Where the system has no locks, no process removes the file either.
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
    let Ok(folder) = File::open(folder_of(path)) else { return Ok(()) };
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
