//! Shards on the threads of this process.

use margins_data::parallel;
use margins_losses::MarginLoss;

use crate::shards::{Blocks, Failure, MOST_SAMPLED, Message, Reply, Shard, Workers};

/// Shards in this process, each asked on a thread of the current pool: the reference for shards
/// elsewhere.
pub struct Threads<B, L: ?Sized> {
    shards: Vec<Shard<B, L>>,
    most_sampled: usize,
}

impl<B, L: ?Sized> Threads<B, L> {
    /// Returns workers of shards.
    pub fn new(shards: Vec<Shard<B, L>>) -> Self {
        Threads { shards, most_sampled: MOST_SAMPLED }
    }

    /// Sets the number of values that a sample of the rows may have.
    #[must_use]
    pub fn with_most_sampled(self, values: usize) -> Self {
        Threads { most_sampled: values, ..self }
    }
}

impl<B: Blocks + Send, L: MarginLoss + ?Sized> Workers for Threads<B, L> {
    fn round(&mut self, message: &Message<'_>) -> Result<Vec<Reply>, Failure> {
        let mut asked: Vec<_> = self.shards.iter_mut().map(|shard| (shard, Vec::new())).collect();
        parallel::try_for_each_chunk(&mut asked, 1, |_, some| {
            some.iter_mut().try_for_each(|(shard, replies)| {
                *replies = shard.answer(message.request())?;
                Ok::<(), Failure>(())
            })
        })?;
        Ok(asked.into_iter().flat_map(|(_, replies)| replies).collect())
    }

    fn most_sampled(&self) -> usize {
        self.most_sampled
    }
}
