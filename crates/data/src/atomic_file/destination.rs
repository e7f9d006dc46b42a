//! Resolves the destination of a file to write: links, descriptors and folders.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

pub(super) enum Destination {
    /// Standard output or standard error of this process.
    Stream(File),
    /// A device, a pipe or another descriptor.
    Special(PathBuf),
    /// A regular file, open for writing.
    Old { path: PathBuf, file: File },
    /// No file yet.
    New(PathBuf),
}

impl Destination {
    /// Follows a path, and opens the regular file that it leads to.
    ///
    /// # Errors
    /// A folder, a file in no folder, a file that is read-only or that this process may not write, too
    /// many links.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let path = followed(path)?;
        if let Some(stream) = stream(&path)? {
            return Ok(Destination::Stream(stream));
        }
        let metadata = match fs::metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) => {
                check_folder(folder_of(&path))?;
                let is_new = error.kind() == io::ErrorKind::NotFound;
                return if is_new { Ok(Destination::New(path)) } else { Err(error) };
            }
        };
        if metadata.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        }
        if !metadata.is_file() || is_descriptor(&path) {
            return Ok(Destination::Special(path));
        }
        // A privileged process may write to a read-only file, but it was not meant to.
        if metadata.permissions().readonly() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
        }
        let file = open(&path)?;
        Ok(Destination::Old { path, file })
    }
}

/// Opens a file for writing, as it is.
pub(super) fn open(path: &Path) -> io::Result<File> {
    File::options().write(true).open(path)
}

pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Refuses a folder that is not there, with its name.
fn check_folder(folder: &Path) -> io::Result<()> {
    let name = folder.display();
    match fs::metadata(folder) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => {
            let reason = format!("'{name}' is no folder");
            Err(io::Error::new(io::ErrorKind::NotADirectory, reason))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(io::Error::new(error.kind(), format!("there is no folder '{name}'")))
        }
        Err(error) => Err(error),
    }
}

/// Returns the path that links lead to, whether there is a file or not. Links in the folder of
/// descriptors are not followed: they name the file that a descriptor was opened by.
fn followed(path: &Path) -> io::Result<PathBuf> {
    const MOST: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MOST {
        let is_link = fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
        if !is_link || is_descriptor(&path) {
            return Ok(path);
        }
        path = folder_of(&path).join(fs::read_link(&path)?);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "too many symbolic links"))
}

fn is_descriptor(path: &Path) -> bool {
    let Ok(folder) = folder_of(path).canonicalize() else { return false };
    folder == Path::new("/dev/fd") || (folder.starts_with("/proc") && folder.ends_with("fd"))
}

pub(super) fn descriptor(path: &Path) -> Option<u32> {
    let path = followed(path).ok()?;
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let own = Path::new("/dev/fd").canonicalize().ok()?;
    (folder_of(&path).canonicalize().ok()? == own).then_some(number)
}

#[cfg(unix)]
fn stream(path: &Path) -> io::Result<Option<File>> {
    use std::os::fd::AsFd;
    let copy = match descriptor(path) {
        Some(1) => io::stdout().as_fd().try_clone_to_owned(),
        Some(2) => io::stderr().as_fd().try_clone_to_owned(),
        _ => return Ok(None),
    };
    copy.map(|copy| Some(copy.into()))
}

#[cfg(not(unix))]
fn stream(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// Gives a new file the owner of an old one; false if this process may not do so.
#[cfg(unix)]
pub(super) fn takes_owner(new: &File, old: &File) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let owner = |file: &File| file.metadata().map(|found| (found.uid(), found.gid()));
    let (new_owner, (user, group)) = (owner(new)?, owner(old)?);
    if new_owner == (user, group) {
        return Ok(true);
    }
    match fchown(new, Some(user), Some(group)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
pub(super) fn takes_owner(_: &File, _: &File) -> io::Result<bool> {
    Ok(true)
}
