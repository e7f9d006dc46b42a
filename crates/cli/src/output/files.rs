//! The files of a command: the folders of those that it writes must be there, no two of them may be one, and
//! what goes to standard output leaves it to nothing else.

use std::io::Write;
use std::path::{Path, PathBuf};

use margins::data::AtomicFile;

use crate::failure::Failure;
use crate::messages::{is_quiet, step};

/// A file that an option names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    option: &'static str,
    path: &'a Path,
    is_output: bool,
}

/// Names a file that the command reads.
pub(crate) fn input<'a>(option: &'static str, path: &'a (impl AsRef<Path> + ?Sized)) -> Named<'a> {
    Named { option, path: path.as_ref(), is_output: false }
}

/// Names the files that the command reads by an option.
pub(crate) fn inputs<'a>(
    option: &'static str,
    paths: &'a [PathBuf],
) -> impl Iterator<Item = Option<Named<'a>>> {
    paths.iter().map(move |path| Some(input(option, path)))
}

/// Names the file that the command writes, if the option is given.
pub(crate) fn output<'a>(
    option: &'static str,
    path: Option<&'a (impl AsRef<Path> + ?Sized)>,
) -> Option<Named<'a>> {
    path.map(|path| Named { option, path: path.as_ref(), is_output: true })
}

/// Returns an error, before any work is done, if an output cannot be written, or if two options name
/// the same file and at least one of them is written.
pub(crate) fn check_files<'a>(
    files: impl IntoIterator<Item = Option<Named<'a>>>,
) -> Result<(), Failure> {
    let files: Vec<Named<'_>> = files.into_iter().flatten().collect();
    for (k, one) in files.iter().enumerate() {
        if one.is_output && !is_standard(one.path) {
            check_place(one)?;
        }
        for other in &files[..k] {
            if (one.is_output || other.is_output) && is_one_file(one, other) {
                return Err(collision(other, one));
            }
        }
    }
    Ok(())
}

/// Refuses a name at which no file can be written, such as that of a folder or of a read-only file.
fn check_place(file: &Named<'_>) -> Result<(), Failure> {
    let Named { option, path, .. } = file;
    AtomicFile::check(path).map_err(|error| {
        Failure::job(format!("{option} {}: cannot be written: {error}", path.display()))
    })
}

fn collision(one: &Named<'_>, other: &Named<'_>) -> Failure {
    let names = |file: &Named<'_>| format!("{} {}", file.option, file.path.display());
    Failure::Usage(match (one.is_output, other.is_output) {
        (true, true) => {
            format!("{} and {} would overwrite each other", names(one), names(other))
        }
        (true, false) => format!("{} would overwrite the input {}", names(one), names(other)),
        _ => format!("{} would overwrite the input {}", names(other), names(one)),
    })
}

/// Returns true if both names stand for the same file, or both outputs are standard output.
fn is_one_file(one: &Named<'_>, other: &Named<'_>) -> bool {
    match (is_standard(one.path), is_standard(other.path)) {
        (true, true) => one.is_output && other.is_output,
        (false, false) => match (place(one.path), place(other.path)) {
            (Some(one), Some(other)) => one == other,
            _ => false,
        },
        _ => false,
    }
}

/// Returns true for `-`, which stands for standard input or output, and for other names of the latter.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-") || AtomicFile::descriptor(path) == Some(1)
}

/// Returns the canonical path of a regular file, or of one that is not there yet; `None` for a
/// device, a pipe or a folder, which several options may share, and for what has no place at all.
fn place(path: &Path) -> Option<PathBuf> {
    if let Ok(existing) = path.canonicalize() {
        return existing.is_file().then_some(existing);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

/// Writes to a file, complete or not at all, or to standard output, which is also what `-` means. A
/// reader that hangs up, such as `head`, is no failure.
pub(crate) fn emit(
    file: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Failure> {
    match file.filter(|path| !is_standard(path)) {
        Some(path) => step(format!("writing {}", path.display()), || {
            margins::model::write_atomically(path, write)
        })
        .map_err(|error| Failure::job(format!("{}: {error}", path.display()))),
        None => print(std::io::stdout().lock(), "standard output", write),
    }
}

/// Writes the report of a command: to standard output, or to standard error where one of its files
/// goes to standard output and is not the only answer that is wanted.
pub(crate) fn report<'a>(
    outputs: impl IntoIterator<Item = Option<&'a Path>>,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Failure> {
    if !outputs.into_iter().flatten().any(is_standard) {
        emit(None, write)
    } else if is_quiet() {
        Ok(())
    } else {
        print(std::io::stderr().lock(), "standard error", write)
    }
}

fn print(
    to: impl Write,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let mut out = std::io::BufWriter::new(to);
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::job(format!("{name}: {error}")))
        }
        _ => Ok(()),
    }
}
