//! The states of unfinished jobs: of a cross-validation, of fits to the rows of a file and of a game.

use std::path::PathBuf;

use margins_data::blocks::{self, BlockFile, BlockSettings};
use margins_data::{Dataset, Design, Labels, Memory};
use margins_estimators::focused::{self, Checkpointing};
use margins_estimators::regularised::{self, CrossValidation, FileRows, Regularisation};
use margins_optim::{Lambda, Options};

use super::Target;
use super::scratch::Scratch;

pub(super) fn targets() -> Vec<Target> {
    vec![
        target("cv-checkpoint", |data, path| {
            let checkpoint = Some(path);
            let how = CrossValidation { lambdas: lambdas(), folds: Some(2), ..Default::default() };
            let regularisation = Regularisation::CrossValidated(how);
            let settings = regularised::ClassifierSettings {
                regularisation,
                checkpoint,
                ..Default::default()
            };
            settings.fit(data).map(drop).map_err(|error| error.to_string())
        }),
        points(),
        target("focus-checkpoint", |data, path| {
            let checkpoint = Some(Checkpointing { path, pause_at: None });
            let settings =
                focused::EnsembleSettings { checkpoint, max_steps: Some(20), ..Default::default() };
            settings.fit(data).map(drop).map_err(|error| error.to_string())
        }),
    ]
}

fn lambdas() -> Vec<Lambda> {
    [1.0, 0.1].map(|lambda| Lambda::new(lambda).expect("positive")).to_vec()
}

/// Returns the target for the points that fits to the rows of a block file have reached. What is certified
/// must be the minimum, whatever the points say.
fn points() -> Target {
    let folder = Scratch::new();
    let of_rows = folder.path("rows.blocks");
    let settings = BlockSettings { rows: Some(3), ..BlockSettings::default() };
    blocks::write(&data(), &of_rows, settings).expect("a small file");
    let file = BlockFile::open(&of_rows).expect("a block file");
    let fit = move |checkpoint: Option<PathBuf>| {
        // The folder of the file lasts as long as this.
        let _ = &folder;
        let mut rows = FileRows::open(&file, Memory::from_bytes(1 << 20)).expect("enough");
        let options = Options { max_iterations: Some(20), ..Options::default() };
        let regularisation = Regularisation::path(lambdas()).expect("lambdas");
        let settings = regularised::ClassifierSettings {
            regularisation,
            checkpoint,
            options,
            ..Default::default()
        };
        settings.fit_file(&mut rows).map(|fitted| fitted.fits).map_err(|error| error.to_string())
    };
    let minima = fit(None).expect("an undisturbed fit");
    resumed("points-checkpoint", move |path| {
        for (fit, minimum) in fit(Some(path))?.iter().zip(&minima) {
            let (one, other) = (fit.report.objective, minimum.report.objective);
            let apart = (one - other).abs();
            assert!(!fit.report.converged() || apart <= 2e-6 * other.abs(), "{one} and {other}");
        }
        Ok(())
    })
}

fn data() -> Dataset {
    let rows = [[0.5, 1.0], [1.5, -4.0], [0.25, 7.5], [3.0, 1.0], [-1.0, 2.0], [2.0, 2.0]];
    let labels = Labels::new(&["no", "yes", "yes", "no", "no", "yes"]).expect("two classes");
    Dataset::new(Design::from_rows(&rows).expect("finite rows"), labels).expect("as many labels")
}

/// Returns the target for a job that continues from the file at a path.
fn target(name: &'static str, job: fn(&Dataset, PathBuf) -> Result<(), String>) -> Target {
    let data = data();
    resumed(name, move |path| job(&data, path))
}

/// Returns the target for a job that knows its data.
fn resumed(name: &'static str, job: impl Fn(PathBuf) -> Result<(), String> + 'static) -> Target {
    let scratch = Scratch::new();
    let path = scratch.path("state");
    job(path.clone()).expect("an undisturbed job");
    let state = std::fs::read(&path).expect("the state of the job");
    Target {
        name,
        corpus: vec![state],
        words: &["null", "true", "\"gap\"", "\"NaN\"", "[]", "{}", "-1", "1e300", "\"wrong\":["],
        seal: sealed,
        // The job holds what a file says, and more of its own.
        read: Box::new(|_| ()),
        bytes_per_input_byte: 0,
        check: Box::new(move |bytes| job(scratch.holding(bytes))),
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
