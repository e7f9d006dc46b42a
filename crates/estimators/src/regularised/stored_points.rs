//! The points reached by fits to distributed samples, in a file.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use margins_optim::Lambda;
use margins_optim::shards::{Failure, PointStore};
use serde::{Deserialize, Serialize};

use super::data_summary::DataSummary;
use super::distributed::PointFile;
use super::settings::ClassifierSettings;
use crate::Error;
use crate::checkpoint::{CheckpointFile, Kind, digest};

const POINTS: Kind = Kind {
    format: "margins-points-checkpoint",
    version: 1,
    job: "a fit",
    method: "fits to samples that are not in memory",
};

struct StoredPoints<'a> {
    file: CheckpointFile<'a>,
    state: Mutex<State>,
}

struct PointsOfProblem<'a> {
    kept: &'a StoredPoints<'a>,
    member: usize,
    fold: Option<u32>,
}

struct State {
    points: Vec<KeptPoint>,
    /// True if the file lacks a point.
    is_fresh: bool,
    /// The time when the file was written last, and how long that took.
    written: Instant,
    took: Duration,
}

/// A point in the bits of its numbers, which text would round.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptPoint {
    member: usize,
    fold: Option<u32>,
    lambda: u64,
    intercept: u64,
    coef: Vec<u64>,
}

impl PointFile for StoredPoints<'_> {
    fn of(&self, member: usize, fold: Option<u32>) -> Box<dyn PointStore + '_> {
        Box::new(PointsOfProblem { kept: self, member, fold })
    }

    fn write(&self) -> Result<(), Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_fresh {
            let start = Instant::now();
            self.file.write(&state.points)?;
            state.is_fresh = false;
            (state.written, state.took) = (Instant::now(), start.elapsed());
        }
        Ok(())
    }
}

impl PointsOfProblem<'_> {
    fn is_at(&self, point: &KeptPoint, lambda: Lambda) -> bool {
        (point.member, point.fold, point.lambda) == (self.member, self.fold, lambda.get().to_bits())
    }
}

impl PointStore for PointsOfProblem<'_> {
    fn find(&self, lambda: Lambda) -> Option<(f64, Vec<f64>)> {
        let state = self.kept.state.lock().unwrap_or_else(PoisonError::into_inner);
        let point = state.points.iter().find(|point| self.is_at(point, lambda))?;
        let coef = point.coef.iter().map(|&bits| f64::from_bits(bits)).collect();
        Some((f64::from_bits(point.intercept), coef))
    }

    /// Keeps a point, and writes the file if less than a tenth of the time went into writing.
    fn keep(&self, lambda: Lambda, intercept: f64, coef: &[f64]) -> Result<(), Failure> {
        const SHARE: u32 = 10;
        let mut state = self.kept.state.lock().unwrap_or_else(PoisonError::into_inner);
        let point = KeptPoint {
            member: self.member,
            fold: self.fold,
            lambda: lambda.get().to_bits(),
            intercept: intercept.to_bits(),
            coef: coef.iter().map(|w| w.to_bits()).collect(),
        };
        match state.points.iter().position(|point| self.is_at(point, lambda)) {
            Some(k) => state.points[k] = point,
            None => state.points.push(point),
        }
        state.is_fresh = true;
        let is_early = state.written.elapsed() < SHARE * state.took;
        drop(state);
        if is_early { Ok(()) } else { Ok(self.kept.write()?) }
    }
}

impl ClassifierSettings {
    /// Reads the points that the file of the settings has, if they name one, and writes it if it is
    /// not there: what cannot be written is refused before the first fit.
    pub(super) fn stored_points(
        &self,
        table: &DataSummary,
    ) -> Result<Option<Box<dyn PointFile + '_>>, Error> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        let settings = self.describe_problem(table)?;
        let file = CheckpointFile { kind: &POINTS, path, settings };
        let start = Instant::now();
        let found: Option<Vec<KeptPoint>> = file.read()?;
        if found.is_none() {
            file.write(&[(); 0])?;
        }
        let (points, took) = (found.unwrap_or_default(), start.elapsed());
        let state = Mutex::new(State { points, is_fresh: false, written: Instant::now(), took });
        Ok(Some(Box::new(StoredPoints { file, state })))
    }

    /// Returns the settings that define the problems, in words, by which a file of other problems is
    /// recognised. Every point is certified again, so the samples need not be compared.
    fn describe_problem(&self, table: &DataSummary) -> Result<BTreeMap<String, String>, Error> {
        let DataSummary { classes, class_rows, features, partitions, folds, .. } = table;
        let data = format!("{classes:?} {class_rows:?} {features} {partitions:?} {folds:?}");
        let others =
            [("data", digest(&data)), ("kernel", format!("{:?}", self.kernels.specifications))];
        Ok(self.problem_in_words(self.scheme_for(classes.len())?, others))
    }
}
