//! Classifiers of the rows of a block file, which may be larger than memory: linear ones, and those
//! that are linear in Nystrom features.

use std::sync::Arc;
use std::time::{Duration, Instant};

use margins_data::blocks::BlockFile;
use margins_data::{Memory, parallel};
use margins_losses::MarginLoss;
use margins_model::Scheme;
use margins_optim::shards::{BYTES_A_SAMPLED_VALUE, MOST_SAMPLED, OnDisk, Shard, Threads};

use super::data_summary::DataSummary;
use super::fitted::{FittedClassifier, Path};
use super::landmarks::LandmarkBlocks;
use super::report::CandidateReport;
use super::search::is_better;
use super::settings::ClassifierSettings;
use crate::Error;

/// The rows of a block file, of which so much memory holds what it can.
#[derive(Debug)]
pub struct FileRows {
    shares: Vec<OnDisk>,
    /// The bytes for the sample that a fit begins with, and for features instead of the features of
    /// the blocks in use.
    for_sample: usize,
    table: DataSummary,
}

impl FileRows {
    /// Reads all blocks of a file, and keeps as many in memory as fit; a fit reads the others in each
    /// pass over the data. A quarter of the memory, 200 MB at most, is for the sample that a fit begins
    /// with: the number of threads has no part in that.
    ///
    /// # Errors
    /// A block is damaged, or the memory does not suffice for what every row takes.
    pub fn open(file: &BlockFile, memory: Memory) -> Result<Self, Error> {
        let shares = parallel::threads();
        let for_sample = bytes_for_sample(memory);
        let for_blocks = Memory::from_bytes(memory.bytes() - for_sample);
        let least = OnDisk::least(file, shares);
        if least > for_blocks {
            let reason = format!(
                "'{}' cannot be used in {memory}: labels, margins and blocks in use take {least}, and \
                 samples of the rows {}; blocks of fewer rows take less (blocks --rows)",
                file.path().display(),
                Memory::from_bytes(for_sample)
            );
            return Err(margins_optim::Error::Shards(reason.into()).into());
        }
        let shares = OnDisk::open(file, shares, for_blocks);
        let shares = shares.map_err(margins_optim::Error::Shards)?;
        let mut class_rows = vec![0; file.classes().len()];
        shares.iter().for_each(|share| share.count_classes(&mut class_rows));
        let table = DataSummary {
            classes: file.classes().to_vec(),
            class_rows,
            features: file.features(),
            sparse: file.is_sparse(),
            partitions: (0..file.partitions()).map(|k| file.rows_of(k)).collect(),
            folds: file.folds().to_vec(),
            feature_names: file.feature_names().map(<[String]>::to_vec),
            encoding: file.encoding().cloned(),
        };
        Ok(FileRows { shares, for_sample, table })
    }

    /// Returns what is known of the rows.
    pub fn table(&self) -> &DataSummary {
        &self.table
    }

    /// Returns the number of blocks that are kept in memory.
    pub fn kept(&self) -> usize {
        self.shares.iter().map(OnDisk::kept).sum()
    }

    /// Returns the rows as workers, and what is known of them.
    fn workers<'r>(
        &'r mut self,
        loss: &Arc<dyn MarginLoss>,
    ) -> (Threads<&'r mut OnDisk, dyn MarginLoss>, &'r DataSummary) {
        let shards = self.shares.iter_mut().map(|share| Shard::new(Arc::clone(loss), share));
        let most_sampled = self.for_sample / BYTES_A_SAMPLED_VALUE;
        let workers = Threads::new(shards.collect()).with_most_sampled(most_sampled);
        (workers, &self.table)
    }

    /// Returns the rows as workers that make features of so many landmarks of them, with the kernels
    /// that these settings may name.
    fn mapped<'r>(
        &'r mut self,
        settings: &ClassifierSettings,
        landmarks: usize,
    ) -> Result<(MappedThreads<'r>, &'r DataSummary), Error> {
        // Features are made of one block while those of the last are in use.
        let largest = self.table.partitions.iter().copied().max().unwrap_or(0);
        let count = landmarks.min(self.table.rows());
        let names = self.table.feature_names.as_deref();
        let factors = settings.penalty_factors.as_ref();
        let factors = factors.map(|factors| factors.on(names, self.table.features));
        let beside = factors.transpose()?.map_or(0, |on| on.free().get().len());
        let need = (2 * 8 * self.shares.len()).saturating_mul(largest);
        let need = need.saturating_mul(count.saturating_add(beside));
        // The sample has its part whatever the number of threads leaves.
        let of_sample = self.for_sample / 4;
        let left = self.for_sample - of_sample;
        if need > left {
            let (need, left) = (Memory::from_bytes(need), Memory::from_bytes(left));
            let reason = format!(
                "features of {count} landmarks take {need} for the blocks in use, and {left} are \
                 left: write fewer rows per block, or give more memory"
            );
            return Err(margins_optim::Error::Shards(reason.into()).into());
        }
        let registry = &settings.kernels.registry;
        let blocks =
            self.shares.iter_mut().map(|share| LandmarkBlocks::new(share, registry.clone()));
        let shards = blocks.map(|blocks| Shard::new(Arc::clone(&settings.loss), blocks));
        let workers = Threads::new(shards.collect());
        Ok((workers.with_most_sampled(of_sample / BYTES_A_SAMPLED_VALUE), &self.table))
    }
}

/// Returns the bytes for samples of the rows: those of the largest one, halved until a quarter of the
/// memory holds them.
fn bytes_for_sample(memory: Memory) -> usize {
    const SHARE: usize = 4;
    let mut bytes = MOST_SAMPLED * BYTES_A_SAMPLED_VALUE;
    while bytes > memory.bytes() / SHARE {
        bytes /= 2;
    }
    bytes
}

type MappedThreads<'r> = Threads<LandmarkBlocks<&'r mut OnDisk>, dyn MarginLoss>;

impl ClassifierSettings {
    /// Fits a classifier to the rows of a block file, with a certificate over all of them: a linear
    /// one, or one in Nystrom features, whose landmarks are the rows that a fit in memory draws. The
    /// features are recomputed in every pass. The bits of the result do not depend on the number of threads, nor
    /// on the memory from 800 MB on, a quarter of which holds the largest sample that a fit begins with.
    ///
    /// # Errors
    /// The errors of [`fit_distributed`](Self::fit_distributed); a block that cannot be read.
    ///
    /// ```
    /// use margins_data::blocks::{self, BlockFile, BlockSettings};
    /// use margins_data::Memory;
    /// use margins_data::generate::{Example, GaussianMixture};
    /// use margins_estimators::regularised::{ClassifierSettings, FileRows, Regularisation};
    /// use margins_optim::Lambda;
    ///
    /// let data = GaussianMixture::example(Example::One, 1)?.sample(60, 2)?;
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("rows.blocks");
    /// blocks::write(&data, &path, BlockSettings { rows: Some(20), ..BlockSettings::default() })?;
    /// let mut rows = FileRows::open(&BlockFile::open(&path)?, Memory::from_bytes(100_000))?;
    /// let regularisation = Regularisation::Single(Lambda::new(0.01)?);
    /// let settings = ClassifierSettings { regularisation, ..ClassifierSettings::default() };
    /// let fitted = settings.fit_file(&mut rows)?;
    /// assert!(fitted.report.is_certified());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fit_file(&self, rows: &mut FileRows) -> Result<FittedClassifier, Error> {
        self.check()?;
        self.on_threads(|| self.best_on_file(rows))
    }

    /// Returns the best classifier of those with each of the losses alone, by the measure of the
    /// cross-validation. Losses share a limit on time: each gets an equal part of what is left.
    fn best_on_file(&self, rows: &mut FileRows) -> Result<FittedClassifier, Error> {
        if self.or_losses.is_empty() {
            return self.fit_rows(rows);
        }
        let began = Instant::now();
        let all = self.with_each_loss();
        let late = Error::TimeLimit(self.time_limit.unwrap_or_default());
        let (mut best, mut losses) = (Err(late), Vec::new());
        for (place, settings) in all.iter().enumerate() {
            let left = |limit: Duration| limit.saturating_sub(began.elapsed());
            let share = |limit| left(limit) / (all.len() - place) as u32;
            let time_limit = self.time_limit.map(share);
            let settings = ClassifierSettings { time_limit, ..settings.as_ref().clone() };
            let fitted = match settings.fit_rows(rows) {
                Err(Error::TimeLimit(_)) => continue,
                fitted => fitted?,
            };
            if let Some(curve) = fitted.report.curve.clone() {
                let specification = fitted.report.loss.clone();
                losses.push(CandidateReport { specification, curve });
            }
            let curve = fitted.report.curve.as_ref();
            if best
                .as_ref()
                .is_ok_and(|best: &FittedClassifier| !is_better(curve, best.report.curve.as_ref()))
            {
                continue;
            }
            best = Ok(fitted);
        }
        let mut best = best?;
        best.report.losses = losses;
        Ok(best)
    }

    /// Makes room for the duals that shards keep for a loss with a kink where all classes are fitted at once:
    /// those before a step and those after it.
    fn make_room(&self, rows: &mut FileRows) -> Result<(), Error> {
        let classes = rows.table.classes.len();
        if self.scheme != Some(Scheme::Joint) || classes < 3 || self.loss.is_differentiable() {
            return Ok(());
        }
        let bytes = 2 * size_of::<f64>() * (classes - 1);
        let made = rows.shares.iter_mut().try_for_each(|share| share.make_room(bytes));
        Ok(made.map_err(margins_optim::Error::Shards)?)
    }

    /// Fits a classifier with one loss to the rows of a block file.
    fn fit_rows(&self, rows: &mut FileRows) -> Result<FittedClassifier, Error> {
        self.make_room(rows)?;
        if let Some((_, landmarks)) = self.landmarks()? {
            let (mut workers, table) = rows.mapped(self, landmarks)?;
            return self.fit_distributed(&mut workers, table);
        }
        let (mut workers, table) = rows.workers(&self.loss);
        self.fit_distributed(&mut workers, table)
    }

    /// Fits to the rows of a block file at every lambda of [`Regularisation::Path`](super::Regularisation::Path), down to the one
    /// at its index.
    ///
    /// # Errors
    /// The errors of [`path_distributed`](Self::path_distributed); a block that cannot be read.
    pub fn path_file(&self, rows: &mut FileRows) -> Result<Path, Error> {
        self.check()?;
        self.make_room(rows)?;
        self.on_threads(|| {
            if let Some((_, landmarks)) = self.landmarks()? {
                let (mut workers, table) = rows.mapped(self, landmarks)?;
                return self.path_distributed(&mut workers, table);
            }
            let (mut workers, table) = rows.workers(&self.loss);
            self.path_distributed(&mut workers, table)
        })
    }
}
