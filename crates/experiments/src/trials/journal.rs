//! The journal of finished trials, a text file. Its first line names the arguments that the trials
//! depend on; every other line is one finished trial, written and synchronised as soon as it is there.
//! A line without its end, as a process killed in mid-write leaves it, is cut off when the journal is
//! opened. Numbers are written in the shortest form that reads back the same, so that a resumed run
//! gives what one in one go gives.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;

/// A trial: the key of its row, without white space, and its number in the row.
pub type Key = (String, usize);

/// The finished trials of a file that is locked for as long as this value lives.
pub struct Journal<T> {
    path: PathBuf,
    file: Mutex<File>,
    /// The trials that the file had when it was opened.
    pub finished: HashMap<Key, T>,
}

impl<T: FromStr<Err = String> + Display> Journal<T> {
    /// Reads the journal, or makes a new one.
    ///
    /// # Errors
    /// The journal is of other arguments, has a line of another program, or is in use by another
    /// process.
    pub fn open(path: &Path, arguments: &str) -> Result<Self, String> {
        let name = path.display();
        let named = |error: std::io::Error| format!("{name}: {error}");
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(named)?;
        file.try_lock().map_err(|error| format!("{name}: another run has it: {error}"))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(named)?;
        // A line without an end is what a killed run has left.
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let is_new = whole == 0 && arguments.as_bytes().starts_with(&bytes);
        let finished = if is_new {
            HashMap::new()
        } else {
            read(&bytes[..whole], arguments).map_err(|error| format!("{name}{error}"))?
        };
        file.set_len(whole as u64).map_err(named)?;
        file.seek(SeekFrom::End(0)).map_err(named)?;
        if is_new {
            write_line(&mut file, arguments).map_err(named)?;
        }
        Ok(Journal { path: path.to_owned(), file: Mutex::new(file), finished })
    }

    /// Writes a finished trial.
    ///
    /// # Errors
    /// The key of the row has a space, at which it would be cut when it is read; or the errors of the
    /// system.
    pub fn append(&self, (row, number): &Key, trial: &T) -> Result<(), String> {
        if row.contains(char::is_whitespace) {
            return Err(format!("the key of a row has a space: '{row}'"));
        }
        let mut file = self.file.lock().map_err(|_| "a thread that wrote the journal panicked")?;
        write_line(&mut file, &format!("{row} {number} {trial}"))
            .map_err(|error| format!("{}: {error}", self.path.display()))
    }
}

fn write_line(file: &mut File, line: &str) -> std::io::Result<()> {
    file.write_all(format!("{line}\n").as_bytes())?;
    file.sync_data()
}

/// Reads the arguments in the first line and the trials in the others; an error begins with its
/// place in the file.
fn read<T: FromStr<Err = String>>(
    bytes: &[u8],
    arguments: &str,
) -> Result<HashMap<Key, T>, String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!(": not a journal of trials: {error}"))?;
    let mut lines = text.lines();
    let first = lines.next().ok_or(": not a journal of trials: it has no line that ends")?;
    if first != arguments {
        let advice = "give another folder, or remove the journal to start again";
        return Err(format!(": the trials are those of '{first}', not of '{arguments}'; {advice}"));
    }
    let trial =
        |(number, line)| parse(line).map_err(|error| format!(", line {}: {error}", number + 2));
    lines.enumerate().map(trial).collect()
}

/// Reads `row number trial`.
fn parse<T: FromStr<Err = String>>(line: &str) -> Result<(Key, T), String> {
    let mut cells = line.splitn(3, ' ');
    let mut cell = |what: &str| cells.next().ok_or_else(|| format!("'{line}' has no {what}"));
    let row = cell("row")?.to_owned();
    let number = cell("trial")?;
    let number = number.parse().map_err(|_| format!("'{number}' is not the number of a trial"))?;
    Ok(((row, number), cell("results")?.parse()?))
}
