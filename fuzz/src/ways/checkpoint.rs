//! The states of unfinished jobs: of a cross-validation and of a game.

use std::path::PathBuf;

use margins_data::{Dataset, Design, Labels};
use margins_estimators::focused::{self, Checkpointing};
use margins_estimators::regularised::{self, CrossValidation, Regularisation};
use margins_optim::Lambda;

use super::Way;
use super::scratch::Scratch;

pub(super) fn ways() -> Vec<Way> {
    vec![
        way("cv-checkpoint", |data, path| {
            let lambdas = [1.0, 0.1].map(|lambda| Lambda::new(lambda).expect("positive")).to_vec();
            let checkpoint = Some(path);
            let how = CrossValidation { lambdas, folds: Some(2), ..Default::default() };
            let regularisation = Regularisation::CrossValidated(how);
            let settings =
                regularised::Settings { regularisation, checkpoint, ..Default::default() };
            settings.fit(data).map(drop).map_err(|error| error.to_string())
        }),
        way("focus-checkpoint", |data, path| {
            let checkpoint = Some(Checkpointing { path, pause_at: None });
            let settings =
                focused::Settings { checkpoint, max_steps: Some(20), ..Default::default() };
            settings.fit(data).map(drop).map_err(|error| error.to_string())
        }),
    ]
}

fn data() -> Dataset {
    let rows = [[0.5, 1.0], [1.5, -4.0], [0.25, 7.5], [3.0, 1.0], [-1.0, 2.0], [2.0, 2.0]];
    let labels = Labels::new(&["no", "yes", "yes", "no", "no", "yes"]).expect("two classes");
    Dataset::new(Design::from_rows(&rows).expect("finite rows"), labels).expect("as many labels")
}

/// Returns the way in of a job that goes on from the file at a path.
fn way(name: &'static str, job: fn(&Dataset, PathBuf) -> Result<(), String>) -> Way {
    let data = data();
    let scratch = Scratch::new();
    let path = scratch.path("state");
    job(&data, path.clone()).expect("an undisturbed job");
    let state = std::fs::read(&path).expect("the state of the job");
    Way {
        name,
        corpus: vec![state],
        words: &["null", "true", "\"gap\"", "\"NaN\"", "[]", "{}", "-1", "1e300", "\"wrong\":["],
        seal: sealed,
        // The job holds what a file says, and more of its own.
        read: Box::new(|_| ()),
        most_bytes_a_byte: 0,
        check: Box::new(move |bytes| job(&data, scratch.holding(bytes))),
    }
}

/// Returns the bytes with the hash of the state in the first line as it should be.
fn sealed(bytes: Vec<u8>) -> Vec<u8> {
    const FIELD: &str = "\"hash\":";
    let Ok(text) = std::str::from_utf8(&bytes) else { return bytes };
    let Some((header, state)) = text.split_once('\n') else { return bytes };
    let Some((before, _)) = header.split_once(FIELD) else { return bytes };
    let hash = state.trim_end().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{before}{FIELD}{hash}}}\n{state}").into_bytes()
}
