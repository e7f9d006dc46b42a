//! Table 2 with certified fits and with the stopping rule of the authors' program, on the same splits.
//!
//! On small samples many lambdas have the lowest cross-validated error. The table therefore has the
//! largest of them and the one of the lowest log-loss. Of every trial the journal keeps the errors on
//! the test rows at all lambdas, so that the table can also say which lambda would have been as good.

mod numbers;
mod tables;
mod trial;
mod words;

use std::path::Path;

use margins_experiments::Document;
use margins_experiments::trials::{self, Key};
use rand_chacha::ChaCha8Rng;

use super::comparison::{Row, Settings, stream};
use super::tuning::{Samples, lambdas};
use crate::Failure;
use numbers::Shown;
use trial::trial;

/// Runs the trials and returns the document. `trials_of` is the number of trials of a row, `with_rule`
/// whether the published rule is in one of them, and `draw` makes the samples of one.
pub(super) fn run(
    name: &'static str,
    arguments: &str,
    rows: &[Row],
    (trials_of, with_rule): (impl Fn(&Row) -> usize, impl Fn(&Row, usize) -> bool + Sync),
    settings: &Settings,
    folder: &Path,
    draw: impl Fn(&Row, &mut ChaCha8Rng) -> Result<Samples, Failure> + Sync,
) -> Result<Document, Failure> {
    if rows.is_empty() {
        return Err(format!("{name}: no row begins with {:?}", settings.only).into());
    }
    let keys: Vec<Key> =
        rows.iter().flat_map(|row| (0..trials_of(row)).map(|k| (row.key(), k))).collect();
    let journal = folder.join(format!("{name}.journal"));
    let numbers = trials::run(&journal, arguments, &keys, settings.threads, |(key, number)| {
        let row = rows.iter().find(|row| row.key() == *key).ok_or("a row of no table")?;
        let mut random = stream(settings.seed, row.stream, *number);
        trial(&draw(row, &mut random)?, row.space, with_rule(row, *number))
    })?;
    let (count, mut rest) = (lambdas()?.len(), &numbers[..]);
    let mut shown = Vec::new();
    for row in rows {
        let (own, others) = rest.split_at(trials_of(row));
        shown.push(Shown { row, trials: own, count });
        rest = others;
    }
    Ok(Document::new(name, "Table 2: errors on data sets", words::finding(&shown))
        .figure(tables::figure(&shown))
        .csv(name, tables::csv(&shown))
        .table(tables::errors(&shown))
        .table(tables::choices(&shown)?)
        .text(words::parts_in_words(&shown))
        .table(tables::parts(&shown)))
}
