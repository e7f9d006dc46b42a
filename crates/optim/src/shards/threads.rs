use margins_data::parallel;
use margins_losses::MarginLoss;

use crate::shards::{Blocks, Failure, Message, Reply, Shard, Workers};

/// Shards in this process, each asked on a thread of the current pool: the reference for shards
/// elsewhere.
pub struct Threads<B, L: ?Sized>(Vec<Shard<B, L>>);

impl<B, L: ?Sized> Threads<B, L> {
    /// Returns workers of shards.
    pub fn new(shards: Vec<Shard<B, L>>) -> Self {
        Threads(shards)
    }
}

impl<B: Blocks + Send, L: MarginLoss + ?Sized> Workers for Threads<B, L> {
    fn round(&mut self, message: &Message<'_>) -> Result<Vec<Reply>, Failure> {
        let mut asked: Vec<_> = self.0.iter_mut().map(|shard| (shard, Vec::new())).collect();
        parallel::try_for_each_chunk(&mut asked, 1, |_, some| {
            some.iter_mut().try_for_each(|(shard, replies)| {
                *replies = shard.answer(message.request())?;
                Ok::<(), Failure>(())
            })
        })?;
        Ok(asked.into_iter().flat_map(|(_, replies)| replies).collect())
    }
}
