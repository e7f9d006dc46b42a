//! Halfspaces learned from the rows of a block file, which memory need not hold.

use std::sync::Arc;

use margins_data::blocks::BlockFile;
use margins_data::{Design, Labels, Memory};
use margins_massart::{
    CutOptions, PartedSample, Plan, Projection, SeePart, error_of_parts,
    learn_adaptively_from_parts, learn_by_cuts_from_parts, learn_from_parts,
};
use margins_optim::shards::{Blocks, Failure, OnDisk};
use margins_optim::solve::Limits;

use super::{Answer, Fitted, Method, Settings, Source, design_with_constant};
use crate::Error;

impl Settings {
    /// Learns a halfspace from the rows of a block file, of which so much memory holds some at a time. The
    /// stochastic gradient takes the steps that it takes in memory, at the price of a pass over the file
    /// for as many steps as memory holds rows, and cutting planes take a pass for every call of their
    /// oracle. No more rows are held out than a half of the memory takes.
    ///
    /// # Errors
    /// The errors of [`fit`](Self::fit). [`Error::Optim`]: a block is damaged, or the memory does not suffice for what
    /// every row takes.
    pub fn fit_file(&self, file: &BlockFile, memory: Memory) -> Result<Fitted, Error> {
        file.check_classes::<Labels>()?;
        let fit = || self.fit_rows(file, &mut FileSample::open(file, memory, self.intercept)?);
        #[cfg(feature = "rayon")]
        let fitted = crate::on_threads(self.threads, fit);
        #[cfg(not(feature = "rayon"))]
        let fitted = fit();
        fitted
    }

    fn fit_rows(&self, file: &BlockFile, sample: &mut FileSample) -> Result<Fitted, Error> {
        let limits = self.iterations.limits(self.time_limit);
        let mut answer = self.learn_from_parts(file, sample, &limits)?;
        let training_error = Some(error_of_parts(sample, &answer.classifier.coef)?);
        if self.intercept {
            answer.classifier.intercept = answer.classifier.coef.pop().unwrap_or_default();
        }
        let fitted = answer.fitted(Source {
            classes: (&file.classes()[0], &file.classes()[1]),
            feature_names: file.feature_names().map(<[String]>::to_vec),
            rows: file.rows(),
        })?;
        let model = fitted.model.with_encoding(file.encoding().cloned())?;
        Ok(Fitted { model, training_error, ..fitted })
    }

    fn learn_from_parts(
        &self,
        file: &BlockFile,
        sample: &mut FileSample,
        limits: &Limits<'_>,
    ) -> Result<Answer, Error> {
        Ok(match self.method {
            Method::Gradient { problem } => {
                let plan = Plan::practical(&problem);
                let learned = learn_from_parts(&problem, &plan, sample, self.seed, limits)?;
                Answer::by_gradient(problem, learned)
            }
            Method::Cuts { problem, dimensions } => {
                let options = CutOptions { limits: *limits, ..CutOptions::default() };
                let worthwhile =
                    || Projection::worthwhile_for(&problem, file.rows(), file.stored());
                let dimensions = dimensions.or_else(worthwhile);
                let map = |m| Projection::new(sample.columns(), m, self.seed);
                let map = dimensions.map(map).transpose()?;
                let learned = learn_by_cuts_from_parts(&problem, &options, sample, map.as_ref())?;
                Answer::by_cuts(problem, dimensions, learned)
            }
            Method::Adaptive { target } => {
                let adaptive = learn_adaptively_from_parts(target, sample, self.seed, limits)?;
                Answer::adaptively(target, adaptive)
            }
        })
    }
}

/// The rows of a block file, of which memory holds some blocks, or rows that were drawn.
struct FileSample {
    blocks: OnDisk,
    /// The first row of every block, and the number of all rows.
    starts: Vec<usize>,
    features: usize,
    /// True if every sample gets a feature that is 1.
    intercept: bool,
    signs: Arc<[f64]>,
    weights: Arc<[f64]>,
    most_rows: usize,
}

impl FileSample {
    /// Reads all blocks of a file once. Half of what memory has beside the least is for rows that are
    /// drawn, and at least as much as a block takes.
    fn open(
        file: &BlockFile,
        memory: Memory,
        intercept: bool,
    ) -> Result<Self, margins_massart::Error> {
        let least = OnDisk::least(file, 1).bytes();
        let count = file.partitions();
        let largest = (0..count).map(|k| file.bytes_of(k)).max().unwrap_or(0);
        let for_rows = (memory.bytes().saturating_sub(least) / 2).max(largest);
        let for_blocks = Memory::from_bytes(memory.bytes().saturating_sub(for_rows));
        let all: usize = (0..count).map(|k| file.bytes_of(k)).sum();
        let of_row = OnDisk::BYTES_A_ROW + all.div_ceil(file.rows().max(1));
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
        Ok(FileSample {
            blocks,
            starts,
            features: file.features() + usize::from(intercept),
            intercept,
            signs: signs.into(),
            weights: weights.into(),
            most_rows: (for_rows / of_row).max(1),
        })
    }

    /// Returns the features of some rows of a block, all of them unless told.
    fn part(
        &mut self,
        k: usize,
        rows: Option<&[usize]>,
    ) -> Result<Arc<Design>, margins_massart::Error> {
        let mut design = self.blocks.design(k).map_err(failed)?;
        if let Some(rows) = rows {
            design = Arc::new(design.select(rows));
        }
        if self.intercept { Ok(Arc::new(design_with_constant(&design)?)) } else { Ok(design) }
    }
}

fn failed(failure: Failure) -> margins_massart::Error {
    margins_massart::Error::Optim(margins_optim::Error::Shards(failure))
}

impl PartedSample for FileSample {
    fn columns(&self) -> usize {
        self.features
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
