//! The partitions of a block file, cached in memory and read ahead.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use margins_data::blocks::BlockFile;
use margins_data::{Classes, Dataset, Design, Error, Memory, parallel};

use crate::shards::{Block, Blocks, Failure, Rows};

/// Partitions of a block file: as many as fit are kept in memory, and a thread reads the others ahead.
#[derive(Debug)]
pub struct OnDisk {
    file: BlockFile,
    partitions: Vec<usize>,
    rows: Vec<Arc<Rows>>,
    kept: Vec<Option<Arc<Design>>>,
    /// The bytes that neither features nor anything else takes.
    spare: usize,
    /// The features that were asked for last, of those that are not kept.
    last: Option<(usize, Arc<Design>)>,
    ahead: Option<Ahead>,
}

impl OnDisk {
    /// The bytes that all but the features takes in memory, a row: classes, weights, folds, and what
    /// a [`Shard`](crate::shards::Shard) keeps for the solver.
    pub const BYTES_PER_ROW: usize = 64;

    /// Returns the smallest memory for a file in so many shares: that of its rows without features, and
    /// of the blocks in use.
    pub fn least(file: &BlockFile, shares: usize) -> Memory {
        // A block is in use, as it is and in other units, one is read ahead, and one is made of its
        // bytes.
        const BLOCKS: usize = 4;
        let count = file.partitions();
        let largest = (0..count).map(|k| file.bytes_of(k)).max().unwrap_or(0);
        let in_use = BLOCKS * shares.clamp(1, count.max(1)) * largest;
        Memory::from_bytes(file.rows() * Self::BYTES_PER_ROW + in_use)
    }

    /// Returns the partitions of a file in so many shares, which together take at most this much
    /// memory beside what a solver needs for its coefficients. All partitions are read once.
    ///
    /// # Errors
    /// A partition cannot be read, or the memory is below the [least](Self::least).
    pub fn open(file: &BlockFile, shares: usize, memory: Memory) -> Result<Vec<Self>, Failure> {
        let count = file.partitions();
        let shares = shares.clamp(1, count.max(1));
        let least = Self::least(file, shares);
        let Some(rest) = memory.bytes().checked_sub(least.bytes()) else {
            let name = file.path().display();
            return Err(format!(
                "'{name}' cannot be used in {memory}: labels, margins and blocks in use take {least}; \
                 blocks of fewer rows take less"
            )
            .into());
        };
        let share = |k: usize| -> Result<Self, Failure> {
            let partitions: Vec<usize> = (0..count).filter(|i| i % shares == k).collect();
            Self::share(file.clone(), partitions, rest / shares)
        };
        parallel::try_map(0..shares, share)
    }

    fn share(file: BlockFile, partitions: Vec<usize>, memory: usize) -> Result<Self, Failure> {
        let mut rest = memory;
        let (mut rows, mut kept) = (Vec::new(), Vec::new());
        for &partition in &partitions {
            let Block { rows: own, design } = Block::of(read(&file, partition)?);
            rows.push(own);
            let fits = rest.checked_sub(file.bytes_of(partition));
            rest = fits.unwrap_or(0);
            kept.push(fits.map(|_| design));
        }
        Ok(OnDisk { file, partitions, rows, kept, spare: rest, last: None, ahead: None })
    }

    /// Lets go of features that are kept until there are so many bytes a row for a shard, which fits of all
    /// classes at once for losses with kinks need.
    ///
    /// # Errors
    /// Without any features there are fewer.
    pub fn make_room(&mut self, bytes_per_row: usize) -> Result<(), Failure> {
        let rows: usize = self.rows.iter().map(|rows| rows.len()).sum();
        let bytes = rows.saturating_mul(bytes_per_row);
        while self.spare < bytes {
            let Some(k) = self.kept.iter().rposition(Option::is_some) else {
                let (name, missing) = (self.file.path().display(), bytes - self.spare);
                return Err(format!(
                    "'{name}' needs {} more memory for {bytes_per_row} bytes a row: losses without kinks \
                     need none of them",
                    Memory::from_bytes(missing)
                )
                .into());
            };
            self.kept[k] = None;
            self.spare += self.file.bytes_of(self.partitions[k]);
        }
        Ok(())
    }

    /// Returns the number of partitions that are kept in memory.
    pub fn kept(&self) -> usize {
        self.kept.iter().flatten().count()
    }

    /// Adds the number of rows of every class.
    pub fn count_classes(&self, counts: &mut [usize]) {
        self.rows.iter().for_each(|rows| rows.count_classes(counts));
    }

    /// Returns the partition to read ahead while the k-th is in use, if it is another one.
    fn next(&self, k: usize) -> Option<usize> {
        let count = self.partitions.len();
        (1..count).map(|step| (k + step) % count).find(|&next| self.kept[next].is_none())
    }

    /// Returns the features of a partition from the thread that reads ahead, or from the file.
    fn fetch(&mut self, k: usize) -> Result<Arc<Design>, Failure> {
        let partition = self.partitions[k];
        let ready = self.ahead.as_mut().and_then(|ahead| ahead.take(partition));
        let design = match ready {
            Some(design) => design?,
            None => Arc::new(read(&self.file, partition)?.into_design()),
        };
        if let Some(next) = self.next(k) {
            let ahead = self.ahead.get_or_insert_with(|| Ahead::new(self.file.clone()));
            ahead.ask(self.partitions[next]);
        }
        Ok(design)
    }
}

impl Blocks for OnDisk {
    fn partitions(&self) -> &[usize] {
        &self.partitions
    }

    fn rows(&self, k: usize) -> &Arc<Rows> {
        &self.rows[k]
    }

    fn design(&mut self, k: usize) -> Result<Arc<Design>, Failure> {
        if let Some(kept) = &self.kept[k] {
            return Ok(Arc::clone(kept));
        }
        if let Some((last, design)) = &self.last
            && *last == k
        {
            return Ok(Arc::clone(design));
        }
        self.last = None;
        let design = self.fetch(k)?;
        self.last = Some((k, Arc::clone(&design)));
        Ok(design)
    }
}

/// A thread that reads one partition while another is in use.
#[derive(Debug)]
struct Ahead {
    asks: Sender<usize>,
    answers: Receiver<Result<Design, Error>>,
    /// The partition that was asked for and not taken yet.
    pending: Option<usize>,
}

impl Ahead {
    fn new(file: BlockFile) -> Self {
        let (asks, asked) = channel();
        let (answer, answers) = channel();
        // The thread ends when the other end of a channel is dropped.
        thread::spawn(move || {
            for partition in asked {
                let design = read(&file, partition).map(Dataset::into_design);
                if answer.send(design).is_err() {
                    return;
                }
            }
        });
        Ahead { asks, answers, pending: None }
    }

    fn ask(&mut self, partition: usize) {
        self.pending = self.asks.send(partition).is_ok().then_some(partition);
    }

    /// Returns the partition that was asked for, if it is this one.
    fn take(&mut self, partition: usize) -> Option<Result<Arc<Design>, Error>> {
        let asked = self.pending.take()?;
        let design = self.answers.recv().ok()?;
        (asked == partition).then(|| design.map(Arc::new))
    }
}

fn read(file: &BlockFile, partition: usize) -> Result<Dataset<Classes>, Error> {
    file.read(partition)
}
