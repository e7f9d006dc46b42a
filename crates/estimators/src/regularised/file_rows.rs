//! Linear classifiers of the rows of a block file, which may be larger than memory.

use std::sync::Arc;

use margins_data::blocks::BlockFile;
use margins_data::{Memory, parallel};
use margins_losses::MarginLoss;
use margins_optim::shards::{BYTES_A_SAMPLED_VALUE, MOST_SAMPLED, OnDisk, Shard, Threads};

use super::data_summary::DataSummary;
use super::fitted::{Fitted, Path};
use super::settings::Settings;
use crate::Error;

/// The rows of a block file, of which so much memory holds what it can.
#[derive(Debug)]
pub struct FileRows {
    shares: Vec<OnDisk>,
    /// The number of values of the sample that a fit begins with.
    most_sampled: usize,
    table: DataSummary,
}

impl FileRows {
    /// Reads all blocks of a file, and keeps as many in memory as fit; a fit reads the others in each
    /// pass over the data. Half of what the rows leave, or less, is
    /// for the sample that a fit begins with.
    ///
    /// # Errors
    /// A block is damaged, or the memory does not suffice for what every row takes.
    pub fn open(file: &BlockFile, memory: Memory) -> Result<Self, Error> {
        let shares = parallel::threads();
        let rest = memory.bytes().saturating_sub(OnDisk::least(file, shares).bytes());
        let for_sample = (rest / 2).min(MOST_SAMPLED * BYTES_A_SAMPLED_VALUE);
        let for_blocks = Memory::from_bytes(memory.bytes() - for_sample);
        let shares = OnDisk::open(file, shares, for_blocks);
        let shares = shares.map_err(margins_optim::Error::Shards)?;
        let mut class_rows = vec![0; file.classes().len()];
        shares.iter().for_each(|share| share.count_classes(&mut class_rows));
        let table = DataSummary {
            classes: file.classes().to_vec(),
            class_rows,
            features: file.features(),
            sparse: file.is_sparse(),
            partitions: file.partitions(),
            folds: file.folds(),
            feature_names: file.feature_names().map(<[String]>::to_vec),
            encoding: file.encoding().cloned(),
        };
        Ok(FileRows { shares, most_sampled: for_sample / BYTES_A_SAMPLED_VALUE, table })
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
        let workers = Threads::new(shards.collect()).with_most_sampled(self.most_sampled);
        (workers, &self.table)
    }
}

impl Settings {
    /// Fits a linear classifier to the rows of a block file, with a certificate over all of them. The
    /// bits of the result depend neither on the memory nor on the number of threads.
    ///
    /// # Errors
    /// The errors of [`fit_elsewhere`](Self::fit_elsewhere); a block that cannot be read.
    ///
    /// ```
    /// use margins_data::blocks::{self, BlockFile, BlockSettings};
    /// use margins_data::Memory;
    /// use margins_data::generate::{Example, GaussianMixture};
    /// use margins_estimators::regularised::{FileRows, Regularisation, Settings};
    /// use margins_optim::Lambda;
    ///
    /// let data = GaussianMixture::example(Example::One, 1)?.sample(60, 2)?;
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("rows.blocks");
    /// blocks::write(&data, &path, BlockSettings { rows: Some(20), ..BlockSettings::default() })?;
    /// let mut rows = FileRows::open(&BlockFile::open(&path)?, Memory::from_bytes(100_000))?;
    /// let regularisation = Regularisation::Single(Lambda::new(0.01)?);
    /// let fitted = Settings { regularisation, ..Settings::default() }.fit_file(&mut rows)?;
    /// assert!(fitted.report.is_certified());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fit_file(&self, rows: &mut FileRows) -> Result<Fitted, Error> {
        self.check()?;
        self.on_threads(|| {
            let (mut workers, table) = rows.workers(&self.loss);
            self.fit_elsewhere(&mut workers, table)
        })
    }

    /// Fits to the rows of a block file at every lambda of [`Regularisation::Path`](super::Regularisation::Path), down to the one
    /// at its index.
    ///
    /// # Errors
    /// The errors of [`path_elsewhere`](Self::path_elsewhere); a block that cannot be read.
    pub fn path_file(&self, rows: &mut FileRows) -> Result<Path, Error> {
        self.check()?;
        self.on_threads(|| {
            let (mut workers, table) = rows.workers(&self.loss);
            self.path_elsewhere(&mut workers, table)
        })
    }
}
