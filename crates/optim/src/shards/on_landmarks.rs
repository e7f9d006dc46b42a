//! Samples with the features of landmarks: the driver draws the landmarks, and every shard computes
//! the features of its own samples.

use std::collections::BTreeMap;
use std::sync::Arc;

use margins_data::Design;

use crate::Error;
use crate::shards::workers::stored;
use crate::shards::{
    Ask, Failure, FeatureSource, Landmarks, Message, Reply, Request, Weighting, Workers,
};

/// Workers whose samples have the features of landmarks. The first message contains the landmarks,
/// and so does every message to a rebuilt shard.
pub struct OnLandmarks<'w> {
    workers: &'w mut dyn Workers,
    landmarks: Arc<Landmarks>,
    is_sent: bool,
}

impl<'w> OnLandmarks<'w> {
    /// Returns workers that get landmarks.
    pub fn new(workers: &'w mut dyn Workers, landmarks: Landmarks) -> Self {
        OnLandmarks { workers, landmarks: Arc::new(landmarks), is_sent: false }
    }
}

impl Workers for OnLandmarks<'_> {
    fn round(&mut self, message: &Message<'_>) -> Result<Vec<Reply>, Failure> {
        let all = FeatureSource::Of(Arc::clone(&self.landmarks));
        let features = if self.is_sent { FeatureSource::Same } else { all.clone() };
        let request = &Request { features, ..message.request.clone() };
        let slots = message.slots.clone();
        let replies = self.workers.round(&Message { request, slots, features: all })?;
        self.is_sent = true;
        Ok(replies)
    }

    fn trials(&self) -> usize {
        self.workers.trials()
    }

    fn most_sampled(&self) -> usize {
        self.workers.most_sampled()
    }
}

/// Returns the features of some rows in the order given. `rows` are counted through all partitions,
/// whose lengths are given too.
///
/// # Errors
/// [`Error::Shards`]: the round of messages failed. [`Error::Data`]: there are no rows to return.
pub fn rows_over_shards(
    workers: &mut dyn Workers,
    partitions: &[usize],
    rows: &[usize],
    features: usize,
    sparse: bool,
) -> Result<Design, Error> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&place| rows[place]);
    let mut wanted = BTreeMap::<usize, Vec<u32>>::new();
    let (mut partition, mut start) = (0, 0);
    for &place in &order {
        while partition < partitions.len() && rows[place] >= start + partitions[partition] {
            start += partitions[partition];
            partition += 1;
        }
        wanted.entry(partition).or_default().push((rows[place] - start) as u32);
    }
    let request = Request {
        reset: false,
        define: Vec::new(),
        forget: Vec::new(),
        features: FeatureSource::Own,
        weighting: Weighting::default(),
        ask: Ask::Rows(wanted),
    };
    let found = workers.round(&Message::of(&request)).and_then(stored).map_err(Error::Shards)?;
    if found.len() != rows.len() {
        let reason = format!("{} rows came, of {}", found.len(), rows.len());
        return Err(Error::Shards(reason.into()));
    }
    let design = found.into_design(features, sparse)?;
    let mut back = vec![0; rows.len()];
    order.into_iter().enumerate().for_each(|(at, place)| back[place] = at);
    Ok(design.select(&back))
}
