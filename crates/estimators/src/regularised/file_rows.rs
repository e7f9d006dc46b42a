//! Classifiers of the rows of a block file, which may be larger than memory: linear ones, and those
//! that are linear in Nystrom features.

use std::sync::Arc;

#[cfg(feature = "kernels")]
use margins_data::Design;
use margins_data::blocks::BlockFile;
use margins_data::{Memory, parallel};
#[cfg(feature = "kernels")]
use margins_kernels::features::NystromMap;
use margins_losses::MarginLoss;
#[cfg(feature = "kernels")]
use margins_optim::Fit;
#[cfg(feature = "kernels")]
use margins_optim::shards::Blocks;
use margins_optim::shards::{BYTES_A_SAMPLED_VALUE, MOST_SAMPLED, OnDisk, Shard, Threads};

use super::data_summary::DataSummary;
#[cfg(feature = "kernels")]
use super::elsewhere::Functions;
use super::fitted::{Fitted, Path};
#[cfg(feature = "kernels")]
use super::landmarks::{LandmarkFeatures, Mapped};
use super::settings::Settings;
use crate::Error;

/// The rows of a block file, of which so much memory holds what it can.
#[derive(Debug)]
pub struct FileRows {
    shares: Vec<OnDisk>,
    /// The bytes for the sample that a fit begins with, and for features in the place of those of
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
                 samples of the rows {}",
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
            partitions: file.partitions(),
            folds: file.folds(),
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

    /// Returns the rows as workers that make features of landmarks of them.
    #[cfg(feature = "kernels")]
    fn mapped<'r>(
        &'r mut self,
        loss: &Arc<dyn MarginLoss>,
        features: &'r LandmarkFeatures,
    ) -> Result<(MappedThreads<'r>, &'r DataSummary), Error> {
        // Features are made of one block while those of the last are in use.
        let largest = self.blocks().map(|(_, rows)| rows).max().unwrap_or(0);
        let need = 2 * 8 * self.shares.len() * largest * features.count();
        // The sample has its part whatever the number of threads leaves.
        let of_sample = self.for_sample / 4;
        let left = self.for_sample - of_sample;
        if need > left {
            let (need, left) = (Memory::from_bytes(need), Memory::from_bytes(left));
            let count = features.count();
            let reason = format!(
                "features of {count} landmarks take {need} for the blocks in use, and {left} are \
                 left: write fewer rows a block, or give more memory"
            );
            return Err(margins_optim::Error::Shards(reason.into()).into());
        }
        let mapped = self.shares.iter_mut().map(|share| Mapped::new(share, features));
        let shards = mapped.map(|blocks| Shard::new(Arc::clone(loss), blocks));
        let workers = Threads::new(shards.collect());
        Ok((workers.with_most_sampled(of_sample / BYTES_A_SAMPLED_VALUE), &self.table))
    }

    /// Returns the numbers of the partitions, with those of their rows.
    #[cfg(feature = "kernels")]
    fn blocks(&self) -> impl Iterator<Item = (usize, usize)> {
        self.shares.iter().flat_map(|share| {
            let of = |(k, &partition): (usize, &usize)| (partition, share.rows(k).len());
            share.partitions().iter().enumerate().map(of)
        })
    }

    /// Returns the features of some rows, in the order that they are given in.
    #[cfg(feature = "kernels")]
    fn select(&mut self, rows: &[usize]) -> Result<Design, Error> {
        let mut starts = vec![0; self.table.partitions + 1];
        self.blocks().for_each(|(partition, count)| starts[partition + 1] = count);
        (1..starts.len()).for_each(|k| starts[k] += starts[k - 1]);
        let mut found: Vec<(usize, Vec<usize>, Design)> = Vec::new();
        for share in &mut self.shares {
            for k in 0..share.partitions().len() {
                let partition = share.partitions()[k];
                let within = starts[partition]..starts[partition + 1];
                let places: Vec<usize> =
                    (0..rows.len()).filter(|&i| within.contains(&rows[i])).collect();
                if !places.is_empty() {
                    let own: Vec<usize> = places.iter().map(|&i| rows[i] - within.start).collect();
                    let design = share.design(k).map_err(margins_optim::Error::Shards)?;
                    found.push((partition, places, design.select(&own)));
                }
            }
        }
        found.sort_by_key(|(partition, ..)| *partition);
        let places = found.iter().flat_map(|(_, places, _)| places);
        let mut order = vec![0; rows.len()];
        places.enumerate().for_each(|(at, &place)| order[place] = at);
        let parts: Vec<Design> = found.into_iter().map(|(.., design)| design).collect();
        Ok(Design::stack(&parts)?.select(&order))
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

/// Threads with features of landmarks.
#[cfg(feature = "kernels")]
type MappedThreads<'r> = Threads<Mapped<'r, &'r mut OnDisk>, dyn MarginLoss>;

impl Settings {
    /// Fits a classifier to the rows of a block file, with a certificate over all of them: a linear
    /// one, or one in Nystrom features, whose landmarks are the rows that a fit in memory draws. The
    /// features are made anew in every pass. The bits of the result do not depend on the number of threads, nor
    /// on the memory from 800 MB on, a quarter of which holds the largest sample that a fit begins with.
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
            #[cfg(feature = "kernels")]
            if let Some(features) = self.features_of(rows)? {
                let (mut workers, table) = rows.mapped(&self.loss, &features)?;
                let write = |fits: &[Fit]| features.basis(fits);
                let functions = Functions { kernel: features.specification(), write: &write };
                return self.fit_over(&mut workers, table, Some(&functions));
            }
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
            #[cfg(feature = "kernels")]
            if let Some(features) = self.features_of(rows)? {
                let (mut workers, table) = rows.mapped(&self.loss, &features)?;
                return self.path_over(&mut workers, table, Some(features.specification()));
            }
            let (mut workers, table) = rows.workers(&self.loss);
            self.path_elsewhere(&mut workers, table)
        })
    }

    /// Returns the Nystrom features that take the place of those of the rows, if the settings name
    /// such a kernel.
    #[cfg(feature = "kernels")]
    fn features_of(&self, rows: &mut FileRows) -> Result<Option<LandmarkFeatures>, Error> {
        let Some((kernel, count)) = self.landmarks()? else { return Ok(None) };
        let drawn = NystromMap::rows(rows.table.rows(), count, self.seed);
        LandmarkFeatures::on(self, &kernel, &rows.select(&drawn)?).map(Some)
    }
}
