//! Samples in partitions, and workers that hold them.

use std::sync::Arc;

use margins_data::{Dataset, Design};
use margins_losses::{LossRegistry, MarginLoss};
use margins_optim::Fit;
use margins_optim::shards::{
    Block, Failure, MOST_SAMPLED, Message, Reply, Resident, Shard, Threads, Workers,
};
use margins_test_support::mixture;

pub(crate) type Loss = Arc<dyn MarginLoss>;

pub(crate) fn data() -> Dataset {
    mixture(240, 10)
}

/// Returns the data with most values zero and not stored.
pub(crate) fn sparse(data: &Dataset) -> Dataset {
    let value = |i: usize, j: usize, x: f64| if (i * 7 + j * 3) % 5 < 2 { x } else { 0.0 };
    let rows = data.design().samples().enumerate().map(|(i, sample)| {
        let mut row: Vec<(usize, f64)> = Vec::new();
        sample.for_each(|j, x| {
            if value(i, j, x) != 0.0 {
                row.push((j, x));
            }
        });
        row
    });
    let design = Design::from_sparse_rows(&rows.collect::<Vec<_>>(), data.columns());
    data.over(design.expect("finite")).expect("as many rows")
}

/// Returns partitions: one without rows, one of one class alone.
pub(crate) fn partitions(data: &Dataset) -> Vec<Block> {
    let signs = data.labels().signs();
    let (one, mixed): (Vec<usize>, Vec<usize>) =
        (0..data.rows()).partition(|&i| signs[i] > 0.0 && i < 60);
    let mut parts = vec![one, Vec::new()];
    parts.extend(mixed.chunks(31.max(data.rows() / 12)).map(<[usize]>::to_vec));
    let block = |rows: &Vec<usize>| {
        let classes = rows.iter().map(|&i| u32::from(signs[i] > 0.0)).collect();
        let block = Block::new(data.design().select(rows), classes).expect("a block");
        let block = match data.weights() {
            Some(weights) => block.with_weights(rows.iter().map(|&i| weights[i]).collect()),
            None => Ok(block),
        };
        let folds = rows.iter().map(|i| (i % 3) as u32).collect();
        block.and_then(|block| block.with_folds(folds)).expect("one per row")
    };
    parts.iter().map(block).collect()
}

pub(crate) fn threads(
    data: &Dataset,
    loss: &Loss,
    count: usize,
) -> Threads<Resident, dyn MarginLoss> {
    in_shards(partitions(data), loss, count)
}

pub(crate) fn in_shards(
    parts: Vec<Block>,
    loss: &Loss,
    count: usize,
) -> Threads<Resident, dyn MarginLoss> {
    let mut shards = vec![Resident::default(); count];
    for (k, block) in parts.into_iter().enumerate() {
        // Neighbours are in different shards.
        shards[k % count].insert(k, block);
    }
    Threads::new(shards.into_iter().map(|blocks| Shard::new(Arc::clone(loss), blocks)).collect())
}

pub(crate) fn loss(name: &str) -> Loss {
    Arc::from(LossRegistry::standard().parse(name).expect("a loss"))
}

pub(crate) fn bits(fits: &[Fit]) -> Vec<u64> {
    let numbers = |fit: &Fit| {
        let report = [fit.intercept, fit.report.objective, fit.report.duality_gap];
        report.into_iter().chain(fit.coef.iter().copied()).map(f64::to_bits).collect::<Vec<_>>()
    };
    fits.iter().flat_map(numbers).collect()
}

/// Workers of which a shard is lost and rebuilt before some of the rounds.
pub(crate) struct Forgetful {
    parts: Vec<Block>,
    loss: Loss,
    shards: Vec<Shard<Resident, dyn MarginLoss>>,
    rounds: usize,
    most_sampled: usize,
}

impl Forgetful {
    pub(crate) fn new(data: &Dataset, loss: &Loss) -> Self {
        Self::of(partitions(data), loss)
    }

    pub(crate) fn of(parts: Vec<Block>, loss: &Loss) -> Self {
        let empty = || Shard::new(Arc::clone(loss), Resident::default());
        let mut shards: Vec<_> = (0..3).map(|_| empty()).collect();
        for (k, block) in parts.iter().enumerate() {
            shards[k % 3].blocks().insert(k, block.clone());
        }
        let (loss, most_sampled) = (Arc::clone(loss), MOST_SAMPLED);
        Forgetful { parts, loss, shards, rounds: 0, most_sampled }
    }

    pub(crate) fn with_most_sampled(self, most_sampled: usize) -> Self {
        Forgetful { most_sampled, ..self }
    }
}

impl Workers for Forgetful {
    fn round(&mut self, message: &Message<'_>) -> Result<Vec<Reply>, Failure> {
        self.rounds += 1;
        let lost = self.rounds.is_multiple_of(5).then_some(self.rounds % self.shards.len());
        if let Some(lost) = lost {
            let mut blocks = Resident::default();
            for (k, block) in self.parts.iter().enumerate() {
                if k % self.shards.len() == lost {
                    blocks.insert(k, block.clone());
                }
            }
            self.shards[lost] = Shard::new(Arc::clone(&self.loss), blocks);
        }
        let mut replies = Vec::new();
        for (k, shard) in self.shards.iter_mut().enumerate() {
            let is_lost = Some(k) == lost;
            replies.extend(if is_lost {
                shard.answer(&message.for_new_shard())?
            } else {
                shard.answer(message.request())?
            });
        }
        // They may answer in any order.
        replies.reverse();
        Ok(replies)
    }

    fn trials(&self) -> usize {
        4
    }

    fn most_sampled(&self) -> usize {
        self.most_sampled
    }
}
