//! Journals of experiments.

use std::path::Path;

use margins_experiments::trials::{Journal, Numbers};

use super::scratch::Scratch;
use super::{Target, as_they_are};

const ARGUMENTS: &str = "seed=1";

const JOURNALS: [&str; 4] = [
    "seed=1\nrow 1 0.5\nother 12 0.25\nrow 3 -1e-3\nrow 4",
    "seed=1\n",
    "seed=",
    "seed=1\nrow 1 0.1\nrow 2 0.30000000000000004\n",
];

pub(super) fn target() -> Target {
    let scratch = Scratch::new();
    Target {
        name: "journal",
        corpus: JOURNALS.map(|text| text.as_bytes().to_vec()).to_vec(),
        words: &["\n", " ", "NaN", "-", "99999999999999999999", "row 1 ", "seed=1\n"],
        seal: as_they_are,
        // What is kept is a number for every line.
        read: Box::new(|_| ()),
        bytes_per_input_byte: 0,
        check: Box::new(move |bytes| check(bytes, &scratch.path("journal"))),
    }
}

/// A journal that is refused stays as it was; another takes a trial more, and gives all of them back.
fn check(bytes: &[u8], path: &Path) -> Result<(), String> {
    std::fs::write(path, bytes).expect("a file");
    let journal = Journal::<Numbers>::open(path, ARGUMENTS).inspect_err(|error| {
        assert_eq!(std::fs::read(path).expect("a file"), bytes, "a refused journal has changed");
        assert!(error.starts_with(&path.display().to_string()), "{error}");
    })?;
    let key = ("one-more".to_owned(), 7);
    journal.append(&key, &Numbers(vec![0.1])).expect("a file");
    let mut expected: Vec<_> = shown(&journal);
    drop(journal);
    expected.retain(|(own, _)| *own != key);
    expected.push((key, Numbers(vec![0.1]).to_string()));
    expected.sort();
    let again = Journal::<Numbers>::open(path, ARGUMENTS).expect("what was written");
    assert_eq!(shown(&again), expected);
    Ok(())
}

/// Returns the trials in words, in the order of their keys.
fn shown(journal: &Journal<Numbers>) -> Vec<((String, usize), String)> {
    let trials = journal.finished.iter();
    let mut shown: Vec<_> = trials.map(|(key, trial)| (key.clone(), trial.to_string())).collect();
    shown.sort();
    shown
}
