//! Halfspaces learned from the rows of a block file, which may be larger than memory.

use std::borrow::Cow;
use std::sync::Arc;

use margins_data::blocks::BlockFile;
use margins_data::{Design, Labels, Memory, SeeRows, Standardizer};
use margins_massart::{
    SamplesInParts, SeePart, Sphere, learn_adaptively_from_parts, learn_from_parts,
};
use margins_optim::method::Limits;
use margins_optim::online::LinearClassifier;
use margins_optim::shards::{Blocks, Failure, OnDisk};

use super::answer::{Answer, Source};
use super::features::{FeatureScaling, baseline, positive_rows, wrong_weight};
use super::{FittedHalfspace, HalfspaceMethod, HalfspaceSettings, RowScaling};
use crate::Error;

impl HalfspaceSettings {
    /// Learns a halfspace from the rows of a block file, of which so much memory holds some at a time. The
    /// stochastic gradient takes the steps that it takes in memory, at the price of a pass over the file
    /// for as many steps as memory holds rows, and cutting planes take a pass for every call of their
    /// oracle. No more rows are held out than a half of the memory takes.
    ///
    /// # Errors
    /// The errors of [`fit`](Self::fit). [`Error::Contradiction`]: an earlier learner.
    /// [`Error::Optim`]: a block is damaged, or the memory does not suffice for what every row takes.
    pub fn fit_file(&self, file: &BlockFile, memory: Memory) -> Result<FittedHalfspace, Error> {
        file.check_classes::<Labels>()?;
        self.on_threads(|| self.fit_rows(file, &mut FileSample::open(file, memory, self)?))
    }

    fn fit_rows(
        &self,
        file: &BlockFile,
        sample: &mut FileSample,
    ) -> Result<FittedHalfspace, Error> {
        let limits = self.iterations.limits(self.time_limit);
        let answer = self.learn_from_parts(file, sample, &limits)?;
        let classifier = sample.features.classifier(&answer.halfspace);
        let training_error = Some(sample.error_of(&classifier)?);
        let source = Source {
            classes: (&file.classes()[0], &file.classes()[1]),
            feature_names: file.feature_names().map(<[String]>::to_vec),
            rows: file.rows(),
            baseline: baseline(&sample.signs, Some(&sample.weights)),
            divisor: sample.divisor,
        };
        let fitted = answer.fitted(&sample.features, source)?;
        let model = fitted.model.with_encoding(file.encoding().cloned())?;
        let rows = sample.weights.iter().filter(|&&weight| weight > 0.0).count();
        Ok(FittedHalfspace { model, training_error, rows, ..fitted })
    }

    fn learn_from_parts(
        &self,
        file: &BlockFile,
        sample: &mut FileSample,
        limits: &Limits<'_>,
    ) -> Result<Answer, Error> {
        Ok(match self.method {
            HalfspaceMethod::Gradient { problem, plan } => {
                let learned = learn_from_parts(&problem, &plan, sample, self.seed, limits)?;
                Answer::by_gradient(problem, learned)
            }
            HalfspaceMethod::Cuts { problem, dimensions, search } => {
                let rows = (file, sample);
                search.learn_from_parts(problem, dimensions, rows, self.seed, limits)?
            }
            HalfspaceMethod::Baseline { .. } | HalfspaceMethod::Partition { .. } => {
                return Err(Error::contradiction(
                    "an earlier learner".to_owned(),
                    "a file larger than memory".to_owned(),
                    "it needs all rows at once",
                ));
            }
            HalfspaceMethod::Adaptive { target } => {
                let adaptive = learn_adaptively_from_parts(target, sample, self.seed, limits)?;
                Answer::adaptively(target, adaptive)
            }
        })
    }
}

/// The rows of a block file, of which memory holds some blocks, or rows that were drawn.
pub(super) struct FileSample {
    blocks: OnDisk,
    /// The first row of every block, and the number of all rows.
    starts: Vec<usize>,
    features: FeatureScaling,
    /// The number of features that the learner sees.
    columns: usize,
    divisor: Option<f64>,
    signs: Arc<[f64]>,
    weights: Arc<[f64]>,
    most_rows: usize,
}

impl FileSample {
    /// Reads all blocks of a file once, and some times more for means, deviations and the largest norm. Half of what memory has beside the least is for rows that are
    /// drawn, and at least as much as a block takes.
    fn open(
        file: &BlockFile,
        memory: Memory,
        settings: &HalfspaceSettings,
    ) -> Result<Self, margins_massart::Error> {
        let least = OnDisk::least(file, 1).bytes();
        let count = file.partitions();
        let largest = (0..count).map(|k| file.bytes_of(k)).max().unwrap_or(0);
        let for_rows = (memory.bytes().saturating_sub(least) / 2).max(largest);
        let for_blocks = Memory::from_bytes(memory.bytes().saturating_sub(for_rows));
        let all: usize = (0..count).map(|k| file.bytes_of(k)).sum();
        let of_row = OnDisk::BYTES_PER_ROW + all.div_ceil(file.rows().max(1));
        let blocks = OnDisk::open(file, 1, for_blocks).map_err(failed)?;
        let blocks =
            blocks.into_iter().next().ok_or_else(|| failed("there are no blocks".into()))?;
        let mut starts = vec![0];
        let (mut signs, mut weights) = (Vec::new(), Vec::new());
        for k in 0..count {
            let rows = blocks.rows(k);
            starts.push(starts[k] + rows.len());
            signs.extend(rows.signs(1));
            weights.extend((0..rows.len()).map(|i| rows.weight(i)));
        }
        let mut sample = FileSample {
            blocks,
            starts,
            features: settings.features(false, None),
            columns: file.features() + usize::from(settings.intercept),
            divisor: None,
            signs: signs.into(),
            weights: weights.into(),
            most_rows: (for_rows / of_row).max(1),
        };
        if settings.standardize {
            let standardizer = sample.standardizer(file.features()).map_err(failed)?;
            sample.features = settings.features(file.is_sparse(), Some(standardizer));
        }
        if settings.scaling != Some(RowScaling::Each) {
            let mut largest: f64 = 0.0;
            let weights = Arc::clone(&sample.weights);
            sample.each(&mut |start, design| {
                let rows = positive_rows(&weights[start..start + design.rows()]);
                let chosen = rows.map(|rows| design.select(&rows));
                largest = largest.max(Sphere::largest_norm(chosen.as_ref().unwrap_or(design))?);
                Ok(())
            })?;
            sample.divisor = Some(largest);
        }
        Ok(sample)
    }

    /// Returns the means and deviations of the features as given.
    fn standardizer(&mut self, columns: usize) -> Result<Standardizer, Failure> {
        Standardizer::fit_parts(columns, |see: &mut SeeRows<'_>| {
            (0..self.starts.len() - 1).try_for_each(|k| {
                let rows = self.starts[k]..self.starts[k + 1];
                see(&*self.blocks.design(k)?, Some(&self.weights[rows]));
                Ok(())
            })
        })
    }

    /// Returns the share of the rows that a classifier of the features as given gets wrong, by
    /// weight.
    fn error_of(&mut self, classifier: &LinearClassifier) -> Result<f64, margins_massart::Error> {
        let mut wrong = 0.0;
        for k in 0..self.starts.len() - 1 {
            let rows = self.starts[k]..self.starts[k + 1];
            let design = self.blocks.design(k).map_err(failed)?;
            let (signs, weights) = (&self.signs[rows.clone()], &self.weights[rows]);
            wrong += wrong_weight(classifier, &design, signs, Some(weights));
        }
        Ok(wrong / self.weights.iter().sum::<f64>())
    }

    /// Returns the features of some rows of a block, or of all rows.
    fn part(
        &mut self,
        k: usize,
        rows: Option<&[usize]>,
    ) -> Result<Arc<Design>, margins_massart::Error> {
        let mut design = self.blocks.design(k).map_err(failed)?;
        if let Some(rows) = rows {
            design = Arc::new(design.select(rows));
        }
        let features = match self.features.of(&design)? {
            Cow::Borrowed(_) => None,
            Cow::Owned(features) => Some(Arc::new(features)),
        };
        Ok(features.unwrap_or(design))
    }
}

fn failed(failure: Failure) -> margins_massart::Error {
    margins_massart::Error::Optim(margins_optim::Error::Shards(failure))
}

impl SamplesInParts for FileSample {
    fn columns(&self) -> usize {
        self.columns
    }

    fn divisor(&self) -> Option<f64> {
        self.divisor
    }

    fn signs(&self) -> Arc<[f64]> {
        Arc::clone(&self.signs)
    }

    fn weights(&self) -> Arc<[f64]> {
        Arc::clone(&self.weights)
    }

    fn most_rows(&self) -> usize {
        self.most_rows
    }

    fn select(&mut self, rows: &[usize]) -> Result<Design, margins_massart::Error> {
        let mut parts = Vec::new();
        let mut rest = rows;
        for k in 0..self.starts.len() - 1 {
            let (start, end) = (self.starts[k], self.starts[k + 1]);
            let (own, others) = rest.split_at(rest.partition_point(|&row| row < end));
            rest = others;
            if !own.is_empty() {
                let own: Vec<usize> = own.iter().map(|row| row - start).collect();
                parts.push(Arc::unwrap_or_clone(self.part(k, Some(&own))?));
            }
        }
        Ok(Design::stack(&parts)?)
    }

    fn each(&mut self, see: &mut SeePart<'_>) -> Result<(), margins_massart::Error> {
        (0..self.starts.len() - 1).try_for_each(|k| {
            let design = self.part(k, None)?;
            if design.rows() == 0 { Ok(()) } else { see(self.starts[k], &design) }
        })
    }
}
