use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Writes a file so that an interruption leaves either the old file or the new one: to a temporary
/// file in the same directory that takes the name, and the permissions of the old file, when all is
/// written. The function follows symbolic links, and writes directly to what is no regular file (a
/// device, a pipe).
///
/// # Errors
/// A path that the system does not let write, and the errors of `write`.
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

/// Makes a temporary file with the permissions of any new file, not the private ones of a temporary
/// file.
fn new_file_in(directory: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    let builder = {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666))
    };
    builder.tempfile_in(directory)
}
