//! Many trials in parallel, with a journal of the finished ones from which an interrupted run resumes.

mod journal;

use std::fmt::{self, Display};
use std::path::Path;
use std::str::FromStr;

use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

use crate::{Failure, files};
pub use journal::{Journal, Key};

/// The trials of an experiment: a number of them for each row of its table.
///
/// ```
/// use margins_experiments::{Mean, Numbers, Trials};
///
/// let folder = std::env::temp_dir().join(format!("trials-{}", std::process::id()));
/// let trials = Trials { name: "halves", protocol: "1", seed: 7, per_row: 4, threads: 1 };
/// let rows = ["1", "2"].map(str::to_owned);
/// let half = |row: &str, _seed: u64| Ok(Numbers(vec![0.5 * row.parse::<f64>()?]));
/// let results = trials.run(&folder, &rows, half)?;
/// let means: Vec<f64> = results.iter().map(|row| Mean::of(row.iter().map(|t| t.0[0])).mean).collect();
/// assert_eq!(means, [0.5, 1.0]);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), margins_experiments::Failure>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Trials<'a> {
    /// The name of the experiment, and of its journal `NAME.journal`.
    pub name: &'a str,
    /// Everything else that the results depend on, in one line. A journal of another name, seed or
    /// protocol is refused.
    pub protocol: &'a str,
    /// The seed of the experiment.
    pub seed: u64,
    /// The number of trials of each row.
    pub per_row: usize,
    /// The number of threads, 0 for one a core. The results do not depend on it.
    pub threads: usize,
}

impl Trials<'_> {
    /// Runs the trials that the journal in the folder does not have, and returns the results of each
    /// row. A trial takes its row, without white space, and a seed of its own, which is the same in all
    /// rows. The folder is created if it is missing.
    ///
    /// # Errors
    /// The error of the first trial that fails, with its row and number; trials that have finished
    /// stay in the journal. The journal belongs to other arguments, is in use, or cannot be read or
    /// written.
    pub fn run<T>(
        &self,
        folder: &Path,
        rows: &[String],
        trial: impl Fn(&str, u64) -> Result<T, Failure> + Sync,
    ) -> Result<Vec<Vec<T>>, Failure>
    where
        T: FromStr<Err = String> + Display + Clone + Send + Sync,
    {
        files::make_folder(folder)?;
        let of_row = |row: &String| (0..self.per_row).map(|k| (row.clone(), k)).collect::<Vec<_>>();
        let keys: Vec<Key> = rows.iter().flat_map(of_row).collect();
        let journal = folder.join(format!("{}.journal", self.name));
        let arguments = format!("{} seed={} {}", self.name, self.seed, self.protocol);
        let results = run(&journal, &arguments, &keys, self.threads, |(row, number)| {
            let seed = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(*number as u64);
            trial(row, seed)
        })?;
        Ok(results.chunks(self.per_row.max(1)).map(<[T]>::to_vec).collect())
    }
}

/// The results of a trial, which a journal has as numbers with spaces between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers(pub Vec<f64>);

impl Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(f64::to_string).collect();
        f.write_str(&numbers.join(" "))
    }
}

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |word: &str| word.parse().map_err(|_| format!("'{word}' is not a number"));
        text.split_whitespace().map(number).collect::<Result<_, _>>().map(Numbers)
    }
}

/// Runs the trials of `keys` that the journal at `path` does not have, on `threads` threads (0 for one a
/// core), and returns the results in the order of the keys. `arguments` is the line of everything that
/// the results depend on. [`Trials`] does this for rows of as many trials each.
///
/// # Errors
/// Those of [`Trials::run`].
pub fn run<T>(
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
    use super::{Journal, Numbers, run};

    fn numbers(number: f64) -> Numbers {
        Numbers(vec![number])
    }

    fn refusal(path: &std::path::Path, arguments: &str) -> String {
        let error = Journal::<Numbers>::open(path, arguments).err().expect("a refusal");
        error.replace(&path.display().to_string(), "JOURNAL")
    }

    #[test]
    fn a_failed_trial_is_named_and_the_others_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let keys: Vec<_> = (0..5).map(|k| ("row".to_owned(), k)).collect();
        let third = |fails: bool| {
            let trial = |key: &(String, usize)| match key.1 {
                3 if fails => Err("it failed".into()),
                k => Ok(numbers(k as f64 / 3.0)),
            };
            run(&path, "arguments", &keys, 1, trial)
        };
        assert_eq!(third(true).expect_err("a failure").to_string(), "row, trial 3: it failed");
        let expected: Vec<Numbers> = (0..5).map(|k| numbers(f64::from(k) / 3.0)).collect();
        assert_eq!(third(false).expect("trials"), expected);
    }

    #[test]
    fn numbers_are_read_back() {
        let numbers = Numbers(vec![0.1, f64::INFINITY, -3.0]);
        assert_eq!(numbers.to_string().parse(), Ok(numbers));
    }

    #[test]
    fn keys_that_could_not_be_read_again_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let keys = [("a row".to_owned(), 0)];
        let found = run(&folder.path().join("journal"), "", &keys, 1, |_| Ok(numbers(1.0)));
        let error = found.expect_err("a refusal").to_string();
        assert_eq!(error, "the key of a row has a space: 'a row'");
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
        let expected = [
            "JOURNAL: the trials are those of 'seed=1', not of 'seed=2'; give another folder, or remove \
             the journal to start again",
            "JOURNAL, line 2: 'x' is not the number of a trial",
            "JOURNAL, line 3: 'row 2' has no results",
            "JOURNAL, line 3: 'half' is not a number",
        ];
        assert_eq!([other, number, short, result], expected);
    }
}
