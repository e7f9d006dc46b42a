//! The trait that carries messages to shards, and how their answers are combined.

use margins_data::parallel;

use crate::problem::MOST_OF_A_PART;
use crate::shards::{
    Answer, Definition, Description, Failure, FeatureSource, Partial, Reply, Request, SampledRows,
    StoredRows,
};

/// The number of values that a sample of the rows has at most, unless workers say otherwise.
pub const MOST_SAMPLED: usize = MOST_OF_A_PART;

/// The bytes that a value of a sample of the rows takes at most, from the answer of a shard to the
/// end of the fit to the sample.
pub const BYTES_A_SAMPLED_VALUE: usize = 48;

/// Carries messages to shards, in this process or on other machines, and answers back.
///
/// Every partition belongs to one shard, and every answer names its partition. Sums are added in
/// the order of the partitions, so that a result has the same bits for any number of shards, in
/// whatever order they answer.
pub trait Workers {
    /// Returns the answers of all shards to a message.
    ///
    /// # Errors
    /// A shard cannot be asked, or refuses the message.
    fn round(&mut self, message: &Message<'_>) -> Result<Vec<Reply>, Failure>;

    /// Returns the number of trial steps to send at once: one where a message costs nothing, more
    /// where an answer is long in coming.
    fn trials(&self) -> usize {
        1
    }

    /// Returns the number of values that a sample of the rows may have, which the driver fetches to
    /// begin near the solution; a value takes [`BYTES_A_SAMPLED_VALUE`] there for a while.
    fn most_sampled(&self) -> usize {
        MOST_SAMPLED
    }
}

/// A message to all shards.
#[derive(Debug)]
pub struct Message<'a> {
    pub(super) request: &'a Request,
    pub(super) slots: Vec<Definition>,
    pub(super) features: FeatureSource,
}

impl<'a> Message<'a> {
    /// Returns the message of a request that is about no slots, to samples with their own features.
    pub(super) fn of(request: &'a Request) -> Self {
        Message { request, slots: Vec::new(), features: FeatureSource::Own }
    }

    /// Returns the request for a shard that has answered all requests so far.
    pub fn request(&self) -> &Request {
        self.request
    }

    /// Returns the request for a shard that has just been made, or that has got partitions of
    /// another one: it answers with the same bits as the lost one would have.
    pub fn for_new_shard(&self) -> Request {
        Request {
            reset: true,
            define: self.slots.clone(),
            forget: Vec::new(),
            features: self.features.clone(),
            ..self.request.clone()
        }
    }
}

/// Returns the sums of answers, added pairwise in the order of the partitions, of which there must
/// be one each.
pub(super) fn sums(replies: Vec<Reply>, partitions: usize) -> Result<Partial, Failure> {
    let mut sums: Vec<Partial> = in_order(replies)?
        .into_iter()
        .map(|answer| match answer {
            Answer::Sums(sums) => Ok(sums),
            _ => Err(Failure::from("a shard answered another question")),
        })
        .collect::<Result<_, _>>()?;
    if sums.len() != partitions {
        let found = sums.len();
        return Err(format!("{found} partitions answered, of {partitions}").into());
    }
    while sums.len() > 1 {
        let mut pairs = sums.into_iter();
        sums = Vec::with_capacity(pairs.len().div_ceil(2));
        while let Some(mut sum) = pairs.next() {
            if let Some(other) = pairs.next() {
                sum.add(&other)?;
            }
            sums.push(sum);
        }
    }
    Ok(sums.pop().unwrap_or_default())
}

/// Returns the descriptions of all partitions, in order.
pub(super) fn descriptions(replies: Vec<Reply>) -> Result<Vec<Description>, Failure> {
    let described = |answer| match answer {
        Answer::Described(description) => Ok(*description),
        _ => Err(Failure::from("a shard answered another question")),
    };
    in_order(replies)?.into_iter().map(described).collect()
}

/// Returns the samples drawn of all partitions, in order.
pub(super) fn sampled(replies: Vec<Reply>) -> Result<SampledRows, Failure> {
    let mut all = SampledRows::default();
    for answer in in_order(replies)? {
        let Answer::Sampled(some) = answer else {
            return Err("a shard answered another question".into());
        };
        all.append(*some);
    }
    Ok(all)
}

/// Returns the merged samples of all partitions, in order, with their number in each; `None` if a
/// partition has too many.
pub(super) fn merged(replies: Vec<Reply>) -> Result<Option<(SampledRows, Vec<usize>)>, Failure> {
    let (mut all, mut counts) = (SampledRows::default(), Vec::new());
    for answer in in_order(replies)? {
        match answer {
            Answer::Sampled(some) => {
                counts.push(some.signs.len());
                all.append(*some);
            }
            Answer::Sums(_) => return Ok(None),
            _ => return Err("a shard answered another question".into()),
        }
    }
    Ok(Some((all, counts)))
}

/// Returns the rows of all partitions, in order.
pub(super) fn stored(replies: Vec<Reply>) -> Result<StoredRows, Failure> {
    let mut all = StoredRows::default();
    for answer in in_order(replies)? {
        let Answer::Rows(some) = answer else {
            return Err("a shard answered another question".into());
        };
        all.append(*some);
    }
    Ok(all)
}

/// Returns the answers in the order of the partitions 0, 1, 2, ..., none of which may be missing.
fn in_order(mut replies: Vec<Reply>) -> Result<Vec<Answer>, Failure> {
    replies.sort_by_key(|reply| reply.partition);
    for (k, reply) in replies.iter().enumerate() {
        if reply.partition > k {
            return Err(format!("no shard answered for partition {k}").into());
        }
        if reply.partition < k {
            return Err(format!("two shards answered for partition {}", reply.partition).into());
        }
    }
    Ok(replies.into_iter().map(|reply| reply.answer).collect())
}

impl Partial {
    /// Returns the sum of parts of a partition, added in their order: it does not depend on the number of
    /// threads, of which each computes one part at a time.
    pub(super) fn of_parts(
        parts: usize,
        of_part: impl Fn(usize) -> Result<Partial, Failure> + Sync,
    ) -> Result<Partial, Failure> {
        let mut all: Option<Partial> = None;
        let at_once = parallel::threads().max(1);
        for first in (0..parts).step_by(at_once) {
            for partial in parallel::try_map(first..parts.min(first + at_once), &of_part)? {
                match &mut all {
                    Some(all) => all.add(&partial)?,
                    None => all = Some(partial),
                }
            }
        }
        Ok(all.unwrap_or_default())
    }

    pub(super) fn add(&mut self, other: &Partial) -> Result<(), Failure> {
        let fits =
            self.added.len() == other.added.len() && self.largest.len() == other.largest.len();
        if !fits {
            return Err("two partitions answered with different numbers of sums".into());
        }
        self.added.iter_mut().zip(&other.added).for_each(|(sum, x)| *sum += x);
        for (largest, x) in self.largest.iter_mut().zip(&other.largest) {
            // NaN must not be lost.
            if *x > *largest || x.is_nan() {
                *largest = *x;
            }
        }
        self.listed.extend_from_slice(&other.listed);
        Ok(())
    }
}
