//! Many trials in parallel, with a journal of the finished ones.
//!
//! The journal is a text file. Its first line names the arguments that the trials depend on; every
//! other line is one finished trial, written and synchronised as soon as it is there. A line
//! without its end, as a process killed in mid-write leaves it, is cut off when the journal is
//! opened. Numbers are written in the shortest form that reads back the same, so that a resumed run
//! gives what one in one go gives.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

use crate::Failure;
use crate::files::naming;

/// Which trial: the key of its row, and its number.
pub(crate) type Key = (String, usize);

/// The finished trials.
struct Journal<T> {
    path: PathBuf,
    file: Mutex<File>,
    finished: HashMap<Key, T>,
}

impl<T: FromStr<Err = String> + Display> Journal<T> {
    /// Reads the journal, or makes a new one.
    ///
    /// # Errors
    /// A journal of other arguments, with a line that is none of its own, or in use by another
    /// process.
    fn open(path: &Path, arguments: &str) -> Result<Self, Failure> {
        let name = path.display();
        let named = naming(path);
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(&named)?;
        file.try_lock().map_err(|error| format!("{name}: another run has it: {error}"))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(&named)?;
        // A line without an end is what a killed run has left.
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let is_new = whole == 0 && arguments.as_bytes().starts_with(&bytes);
        let finished = if is_new {
            HashMap::new()
        } else {
            read(&bytes[..whole], arguments).map_err(|error| format!("{name}{error}"))?
        };
        file.set_len(whole as u64).map_err(&named)?;
        file.seek(SeekFrom::End(0)).map_err(&named)?;
        if is_new {
            write_line(&mut file, arguments).map_err(&named)?;
        }
        Ok(Journal { path: path.to_owned(), file: Mutex::new(file), finished })
    }

    fn append(&self, (row, number): &Key, trial: &T) -> Result<(), Failure> {
        let mut file = self.file.lock().map_err(|_| "a thread that wrote the journal panicked")?;
        write_line(&mut file, &format!("{row} {number} {trial}")).map_err(naming(&self.path))
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

/// Runs what the journal at `path` does not have of `keys` on `threads` threads (0 for one a core);
/// the trials come back in the order of the keys.
///
/// # Errors
/// The ways to fail of the journal and of the trials; trials finished before are kept.
pub(crate) fn run<T>(
    path: &Path,
    arguments: &str,
    keys: &[Key],
    threads: usize,
    trial: impl Fn(&Key) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure>
where
    T: FromStr<Err = String> + Display + Clone + Send + Sync,
{
    let mut journal: Journal<T> = Journal::open(path, arguments)?;
    let missing: Vec<&Key> =
        keys.iter().filter(|key| !journal.finished.contains_key(*key)).collect();
    let bar = ProgressBar::new(keys.len() as u64).with_style(ProgressStyle::with_template(
        "{wide_bar} {pos}/{len} trials, {elapsed} so far, {eta} to go",
    )?);
    bar.set_position((keys.len() - missing.len()) as u64);
    bar.reset_eta();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let fresh: Vec<(Key, T)> = pool.install(|| {
        let solve = |key: &&Key| {
            let result = trial(key).map_err(|error| format!("{}, trial {}: {error}", key.0, key.1));
            let result: T = result?;
            journal.append(key, &result)?;
            bar.inc(1);
            Ok::<_, Failure>(((*key).clone(), result))
        };
        missing.par_iter().with_max_len(1).map(solve).collect::<Result<_, _>>()
    })?;
    bar.finish_and_clear();
    journal.finished.extend(fresh);
    Ok(keys.iter().map(|key| journal.finished[key].clone()).collect())
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::{Journal, run};

    #[derive(Clone, Debug, PartialEq)]
    struct Number(f64);

    impl std::str::FromStr for Number {
        type Err = String;

        fn from_str(text: &str) -> Result<Self, String> {
            text.parse().map(Number).map_err(|_| format!("'{text}' is not a number"))
        }
    }

    impl std::fmt::Display for Number {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            self.0.fmt(f)
        }
    }

    fn refusal(path: &std::path::Path, arguments: &str) -> String {
        let error = Journal::<Number>::open(path, arguments).err().expect("a refusal");
        error.to_string().replace(&path.display().to_string(), "JOURNAL")
    }

    #[test]
    fn a_failed_trial_is_named_and_the_others_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let keys: Vec<_> = (0..5).map(|k| ("row".to_owned(), k)).collect();
        let third = |fails: bool| {
            let trial = |key: &(String, usize)| match key.1 {
                3 if fails => Err("it failed".into()),
                k => Ok(Number(k as f64 / 3.0)),
            };
            run(&path, "arguments", &keys, 1, trial)
        };
        assert_eq!(third(true).expect_err("a failure").to_string(), "row, trial 3: it failed");
        let expected: Vec<Number> = (0..5).map(|k| Number(f64::from(k) / 3.0)).collect();
        assert_eq!(third(false).expect("trials"), expected);
    }

    #[test]
    fn what_is_no_journal_of_these_arguments_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let write = |text: &str| std::fs::write(&path, text).expect("a file");
        write("seed=1\n");
        let other = refusal(&path, "seed=2");
        write("seed=1\nrow x 0.5\n");
        let number = refusal(&path, "seed=1");
        write("seed=1\nrow 1 0.5\nrow 2\n");
        let short = refusal(&path, "seed=1");
        write("seed=1\nrow 1 0.5\nrow 2 half\n");
        let result = refusal(&path, "seed=1");
        insta::assert_snapshot!([other, number, short, result].join("\n"));
    }
    /// A journal whose bytes are changed at random is refused by its name and left as it was, or goes on.
    #[test]
    fn a_changed_journal_goes_on_or_is_refused_and_kept() {
        const PIECES: [&[u8]; 6] = [b"\n", b" ", b"\xff", b"NaN", b"-", b"99999999999999999999"];
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut refused = 0;
        for _ in 0..3000 {
            let mut bytes = b"seed=1\nrow 1 0.5\nother 12 0.25\nrow 3 -1e-3\nrow 4".to_vec();
            for _ in 0..random.random_range(0..4) {
                let at = random.random_range(0..bytes.len());
                let piece = PIECES[random.random_range(0..PIECES.len())];
                match random.random_range(0..3) {
                    0 => bytes.truncate(at + 1),
                    1 => drop(bytes.splice(at..=at, piece.iter().copied())),
                    _ => drop(bytes.splice(at..at, piece.iter().copied())),
                }
            }
            std::fs::write(&path, &bytes).expect("a file");
            match Journal::<Number>::open(&path, "seed=1") {
                Ok(journal) => assert!(journal.finished.len() <= 6),
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
                    assert!(std::fs::read(&path).expect("a file") == bytes, "{error}");
                }
            }
        }
        assert!((500..2500).contains(&refused), "{refused}");
    }
}
