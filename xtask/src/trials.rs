//! Many trials in parallel, with a journal of the finished ones.

mod journal;

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

use crate::Failure;
use journal::Journal;
pub(crate) use journal::Key;

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
                k => Ok(Number(k as f64 / 3.0)),
            };
            run(&path, "arguments", &keys, 1, trial)
        };
        assert_eq!(third(true).expect_err("a failure").to_string(), "row, trial 3: it failed");
        let expected: Vec<Number> = (0..5).map(|k| Number(f64::from(k) / 3.0)).collect();
        assert_eq!(third(false).expect("trials"), expected);
    }

    #[test]
    fn keys_that_could_not_be_read_again_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let keys = [("a row".to_owned(), 0)];
        let found = run(&folder.path().join("journal"), "", &keys, 1, |_| Ok(Number(1.0)));
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
        insta::assert_snapshot!([other, number, short, result].join("\n"));
    }
}
