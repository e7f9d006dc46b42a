//! A shard: partitions with the vectors kept for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use margins_data::Design;
use margins_losses::MarginLoss;

use crate::shards::answer::Question;
use crate::shards::part::{Part, State};
use crate::shards::{Block, Failure, FeatureSource, Landmarks, Reply, Request, Rows};

/// The partitions that a shard answers for, in memory or on disk.
pub trait Blocks {
    /// Returns the numbers of the partitions, ascending.
    fn partitions(&self) -> &[usize];

    /// Returns all of the samples of the k-th partition but their features.
    fn rows(&self, k: usize) -> &Arc<Rows>;

    /// Returns the features of the k-th partition. A shard asks for them in ascending order, at most
    /// twice in turn, and only for requests that need features.
    ///
    /// # Errors
    /// The partition cannot be read.
    fn design(&mut self, k: usize) -> Result<Arc<Design>, Failure>;

    /// Returns true if the features of all partitions are in memory, where those of some samples may be kept
    /// beside them.
    fn are_in_memory(&self) -> bool {
        false
    }

    /// Replaces the features of the samples with those of landmarks, or restores the original ones.
    ///
    /// # Errors
    /// The partitions have no kernels, or not that of the landmarks; the landmarks contradict
    /// themselves.
    fn map(&mut self, landmarks: Option<&Landmarks>) -> Result<(), Failure> {
        match landmarks {
            None => Ok(()),
            Some(_) => Err("this shard makes no features of landmarks".into()),
        }
    }
}

impl<B: Blocks + ?Sized> Blocks for &mut B {
    fn partitions(&self) -> &[usize] {
        (**self).partitions()
    }

    fn rows(&self, k: usize) -> &Arc<Rows> {
        (**self).rows(k)
    }

    fn design(&mut self, k: usize) -> Result<Arc<Design>, Failure> {
        (**self).design(k)
    }

    fn are_in_memory(&self) -> bool {
        (**self).are_in_memory()
    }

    fn map(&mut self, landmarks: Option<&Landmarks>) -> Result<(), Failure> {
        (**self).map(landmarks)
    }
}

/// Partitions in memory.
#[derive(Debug, Clone, Default)]
pub struct Resident {
    partitions: Vec<usize>,
    blocks: Vec<Block>,
}

impl Resident {
    /// Adds a partition with its number among those of all shards; it takes the place of one with
    /// the same number.
    pub fn insert(&mut self, partition: usize, block: Block) {
        match self.partitions.binary_search(&partition) {
            Ok(k) => self.blocks[k] = block,
            Err(k) => {
                self.partitions.insert(k, partition);
                self.blocks.insert(k, block);
            }
        }
    }
}

impl Blocks for Resident {
    fn partitions(&self) -> &[usize] {
        &self.partitions
    }

    fn rows(&self, k: usize) -> &Arc<Rows> {
        &self.blocks[k].rows
    }

    fn design(&mut self, k: usize) -> Result<Arc<Design>, Failure> {
        Ok(Arc::clone(&self.blocks[k].design))
    }

    fn are_in_memory(&self) -> bool {
        true
    }
}

/// Some of the partitions, with what is kept of each between requests: a vector for each slot in
/// use, one of signs and one of curvatures, 8 bytes per row each. A problem of two classes among several
/// keeps their samples, and their features where [those of all](Blocks::are_in_memory) are in memory.
pub struct Shard<B, L: ?Sized> {
    loss: Arc<L>,
    blocks: B,
    states: BTreeMap<usize, State>,
}

impl<B: Blocks, L: MarginLoss + ?Sized> Shard<B, L> {
    /// Returns a shard of partitions.
    pub fn new(loss: Arc<L>, blocks: B) -> Self {
        Shard { loss, blocks, states: BTreeMap::new() }
    }

    /// Returns the partitions.
    pub fn blocks(&mut self) -> &mut B {
        &mut self.blocks
    }

    /// Replaces the features of the samples, and drops what was computed from the former ones.
    fn map(&mut self, landmarks: Option<&Landmarks>) -> Result<(), Failure> {
        self.states.clear();
        self.blocks.map(landmarks)
    }

    /// Returns the answer for every partition of this shard, in ascending order.
    ///
    /// # Errors
    /// A partition cannot be read, the message is about a slot that the shard does not have, or
    /// vectors are not as long as the samples.
    pub fn answer(&mut self, request: &Request) -> Result<Vec<Reply>, Failure> {
        match &request.features {
            FeatureSource::Same => {}
            FeatureSource::Own => self.map(None)?,
            FeatureSource::Of(landmarks) => self.map(Some(landmarks))?,
        }
        let mut replies = Vec::with_capacity(self.blocks.partitions().len());
        for k in 0..self.blocks.partitions().len() {
            let all = Arc::clone(self.blocks.rows(k));
            let number = self.blocks.partitions()[k];
            let state = self.states.entry(number).or_default();
            if request.reset {
                *state = State::default();
            }
            let drawn = request.weighting.draw.map(|draw| state.draw(&all, number, draw));
            let folds = drawn.as_ref().map_or(all.folds(), |drawn| Some(drawn));
            let pair = state.pair(&all, folds, &request.weighting);
            let (rows, folds) = match &pair {
                Some(pair) => (pair.rows(), pair.rows().folds()),
                None => (&all, folds),
            };
            let keep = self.blocks.are_in_memory();
            let mut design = || {
                let design = self.blocks.design(k)?;
                Ok(pair.as_ref().map_or_else(|| Arc::clone(&design), |of| of.design(&design, keep)))
            };
            state.prepare(&*self.loss, number, rows, &mut design, request)?;
            let signs = state.signs(rows, request.weighting.class);
            let part = Part { number, rows, signs: &signs, folds, design: &mut design };
            let question = Question::new(&*self.loss, part, state, &request.weighting);
            replies.push(Reply { partition: number, answer: question.answer(&request.ask)? });
        }
        Ok(replies)
    }
}
