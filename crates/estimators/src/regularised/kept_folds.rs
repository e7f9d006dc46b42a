//! The finished folds of a cross-validation in a file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use margins_data::{ClassLabels, Classes, Dataset};
use margins_losses::MarginLoss;
use margins_optim::{FinishedFolds, FoldOutcome, Lambda, Measured, Options};
use serde::{Deserialize, Serialize};

use super::cross_validation::{CrossValidation, Folds};
use super::search::FoldFile;
use super::settings::{ClassifierSettings, Regularisation};
use super::space::FunctionSpace;
use crate::Error;
use crate::checkpoint::{CheckpointFile, Kind, digest, digest_of};

const GRID: Kind = Kind {
    format: "margins-cv-checkpoint",
    version: 1,
    job: "a cross-validation",
    method: "cross-validation",
};

/// The folds that are finished with any of the losses in any of the spaces.
struct KeptFolds<'a> {
    file: CheckpointFile<'a>,
    cells: Mutex<Vec<Cell>>,
}

/// The folds that are finished with one loss in one space.
struct KeptInSpace<'a> {
    kept: &'a KeptFolds<'a>,
    loss: String,
    space: &'a str,
}

/// One fold with one loss in one space, at all of its lambdas.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cell {
    loss: String,
    space: String,
    fold: usize,
    /// The number of rows held out.
    rows: usize,
    lambdas: Vec<f64>,
    outcomes: Vec<Outcome>,
}

/// The outcome of the rows held out at one lambda.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    /// The rows that are wrong, as the bits of numbers, the first row in the lowest bit.
    wrong: Vec<u64>,
    /// The rows whose class is not proven, where that was checked.
    unproven: Option<Vec<u64>>,
    log_loss: Option<f64>,
    measure: Option<f64>,
    /// The gap as text, for JSON has no infinity.
    gap: String,
    converged: bool,
}

impl Outcome {
    fn new(of: &FoldOutcome) -> Self {
        Outcome {
            wrong: numbers(&of.wrong),
            unproven: of.unproven.as_deref().map(numbers),
            log_loss: of.measured.log_loss,
            measure: of.measured.value,
            gap: of.relative_gap.to_string(),
            converged: of.converged,
        }
    }

    /// Returns the outcome of this number of rows, if there are as many.
    fn read(&self, rows: usize) -> Option<FoldOutcome> {
        Some(FoldOutcome {
            wrong: bits(&self.wrong, rows)?,
            unproven: match &self.unproven {
                Some(unproven) => Some(bits(unproven, rows)?),
                None => None,
            },
            measured: Measured { log_loss: self.log_loss, value: self.measure },
            relative_gap: self.gap.parse().ok()?,
            converged: self.converged,
            cut_short: false,
        })
    }
}

/// Returns numbers whose bits these are, the first in the lowest bit of the first number.
fn numbers(bits: &[bool]) -> Vec<u64> {
    let number =
        |bits: &[bool]| bits.iter().enumerate().map(|(k, &bit)| u64::from(bit) << k).sum::<u64>();
    bits.chunks(64).map(number).collect()
}

/// Returns this number of bits of numbers, if there are as many.
fn bits(numbers: &[u64], count: usize) -> Option<Vec<bool>> {
    let bit = |k: usize| numbers[k / 64] >> (k % 64) & 1 == 1;
    (numbers.len() == count.div_ceil(64)).then(|| (0..count).map(bit).collect())
}

impl<'a> KeptFolds<'a> {
    /// Reads the folds that the file has, and writes it if it is not there: what cannot be written
    /// is refused before the first fit.
    fn open(path: &'a Path, settings: BTreeMap<String, String>) -> Result<Self, Error> {
        let file = CheckpointFile { kind: &GRID, path, settings };
        let found: Option<Vec<Cell>> = file.read()?;
        if found.is_none() {
            file.write(&[(); 0])?;
        }
        Ok(KeptFolds { file, cells: Mutex::new(found.unwrap_or_default()) })
    }
}

impl FoldFile for KeptFolds<'_> {
    fn of<'k>(
        &'k self,
        loss: &dyn MarginLoss,
        space: &'k FunctionSpace,
    ) -> Box<dyn FinishedFolds + 'k> {
        let space = space.kernel().unwrap_or("linear");
        Box::new(KeptInSpace { kept: self, loss: loss.specification(), space })
    }
}

impl FinishedFolds for KeptInSpace<'_> {
    fn find(&self, fold: usize, lambdas: &[Lambda]) -> Option<Vec<FoldOutcome>> {
        let cells = self.kept.cells.lock().unwrap_or_else(PoisonError::into_inner);
        let is_asked = |cell: &&Cell| {
            let place = (cell.loss.as_str(), cell.space.as_str(), cell.fold);
            place == (self.loss.as_str(), self.space, fold)
                && cell.lambdas.iter().copied().eq(lambdas.iter().map(|lambda| lambda.get()))
        };
        let cell = cells.iter().find(is_asked)?;
        cell.outcomes.iter().map(|outcome| outcome.read(cell.rows)).collect()
    }

    fn keep(
        &self,
        fold: usize,
        lambdas: &[Lambda],
        outcomes: &[FoldOutcome],
    ) -> Result<(), margins_optim::Error> {
        let mut cells = self.kept.cells.lock().unwrap_or_else(PoisonError::into_inner);
        cells.push(Cell {
            loss: self.loss.clone(),
            space: self.space.to_owned(),
            fold,
            rows: outcomes.first().map_or(0, |outcome| outcome.wrong.len()),
            lambdas: lambdas.iter().map(|lambda| lambda.get()).collect(),
            outcomes: outcomes.iter().map(Outcome::new).collect(),
        });
        let write = self.kept.file.write(&*cells);
        write.map_err(|error| margins_optim::Error::Keeping(Box::new(error)))
    }
}

impl ClassifierSettings {
    /// Returns the finished folds of the cross-validation, if it has a file for them.
    pub(super) fn kept_folds(
        &self,
        data: &Dataset<Classes>,
        folds: Option<&Folds>,
    ) -> Result<Option<Box<dyn FoldFile + '_>>, Error> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        match (&self.regularisation, folds) {
            (Regularisation::CrossValidated(how), Some(folds)) => {
                let kept = KeptFolds::open(path, self.describe(data, how, folds)?)?;
                Ok(Some(Box::new(kept)))
            }
            _ => {
                let other = "a fit in memory without folds".to_owned();
                let reason = "a checkpoint stores folds, or the points of a fit to a block file";
                Err(Error::contradiction(format!("checkpoint {}", path.display()), other, reason))
            }
        }
    }

    /// Returns the settings that a fold depends on, in words: a file of another cross-validation is
    /// refused by them. Losses and kernels are not among them: others may be added later.
    fn describe(
        &self,
        data: &Dataset<Classes>,
        how: &CrossValidation,
        folds: &Folds,
    ) -> Result<BTreeMap<String, String>, Error> {
        // Without `..`, so that the compiler asks of each new option whether folds depend on it.
        let Options {
            solver,
            tolerance,
            max_iterations,
            closed_form_ray,
            deadline: _,
            history: _,
            keep_duals: _,
            watch: _,
        } = &self.options;
        let lambdas: Vec<f64> = how.lambdas.iter().map(|lambda| lambda.get()).collect();
        let others = [
            ("data", digest_of(data)),
            ("folds", digest(&format!("{:?}", folds.splits()))),
            ("measure", how.measure.to_string()),
            ("lambdas", digest(&format!("{lambdas:?}"))),
            ("abandon-hopeless", how.abandon_hopeless.to_string()),
            ("solver", format!("{solver:?}")),
            ("tolerance", tolerance.to_string()),
            ("max-iterations", format!("{max_iterations:?}")),
            ("closed-form-ray", closed_form_ray.to_string()),
            ("margins", env!("CARGO_PKG_VERSION").to_owned()),
        ];
        let scheme = self.scheme_for(data.labels().names().len())?;
        let mut words = self.problem_in_words(scheme, others);
        words.remove("loss");
        Ok(words)
    }

    /// Refuses to keep folds that would differ when another run continues.
    pub(super) fn check_kept(&self) -> Result<(), Error> {
        let (Regularisation::CrossValidated(how), Some(path)) =
            (&self.regularisation, &self.checkpoint)
        else {
            return Ok(());
        };
        let refuse = |other: String, reason| {
            Err(Error::contradiction(format!("checkpoint {}", path.display()), other, reason))
        };
        let clock = "a resumed search would reach other lambdas";
        if let Some(limit) = self.time_limit {
            return refuse(format!("a time limit of {limit:?}"), clock);
        }
        if self.options.deadline.is_some() {
            return refuse("a deadline".to_owned(), clock);
        }
        if how.leave_one_out.is_some() {
            return refuse("leave_one_out".to_owned(), "a checkpoint keeps folds");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A gap without a bound is infinite, and rows do not fill the last number.
    #[test]
    fn outcomes_are_read_back_to_the_bit() {
        for (rows, gap) in
            [(1, f64::INFINITY), (64, 1e-7 / 3.0), (65, f64::MIN_POSITIVE), (130, 0.0)]
        {
            let wrong: Vec<bool> = (0..rows).map(|row| row * row % 7 < 3).collect();
            let unproven = (rows != 64).then(|| (0..rows).map(|row| row * row % 5 < 2).collect());
            let held_out = FoldOutcome {
                wrong,
                unproven,
                measured: Measured { log_loss: (rows != 1).then_some(0.1 + gap), value: None },
                relative_gap: gap,
                converged: rows > 64,
                cut_short: false,
            };
            let text = serde_json::to_string(&Outcome::new(&held_out)).unwrap();
            let outcome: Outcome = serde_json::from_str(&text).unwrap();
            assert_eq!(outcome.read(rows).as_ref(), Some(&held_out), "{text}");
            assert_eq!(outcome.read(rows + 64), None);
        }
    }
}
