//! Collects the samples of a stream into batches.

use margins_data::Sample;
use margins_losses::MarginLoss;

use super::StochasticLearner;
use super::epochs::{self, Visits};
use crate::Error;
use crate::online::{Example, Scorer};

/// The batches of a stream: their size, and the samples of the last batch while it is incomplete.
///
/// The samples wait for the rest of their batch, which the next chunk of the stream brings. The
/// batches, and with them the iterates, therefore do not depend on how the stream is cut into chunks.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Batches {
    size: usize,
    waiting: Vec<Waiting>,
}

/// A sample that waits for the rest of its batch.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
struct Waiting {
    /// The row of the stream, counted from 1.
    row: u64,
    x: Values,
    y: f64,
    weight: f64,
}

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
enum Values {
    Dense(Vec<f64>),
    Sparse { columns: Vec<usize>, values: Vec<f64>, features: usize },
}

impl From<Sample<'_>> for Values {
    fn from(sample: Sample<'_>) -> Self {
        match sample {
            Sample::Dense(x) => Values::Dense(x.to_vec()),
            Sample::Sparse { columns, values, features } => {
                Values::Sparse { columns: columns.to_vec(), values: values.to_vec(), features }
            }
        }
    }
}

impl Values {
    fn sample(&self) -> Sample<'_> {
        match self {
            Values::Dense(x) => Sample::Dense(x),
            Values::Sparse { columns, values, features } => {
                Sample::Sparse { columns, values, features: *features }
            }
        }
    }

    fn fit(&self, features: usize) -> bool {
        match self {
            Values::Dense(x) => x.len() == features,
            Values::Sparse { columns, values, features: own } => {
                *own == features
                    && columns.len() == values.len()
                    && columns.iter().all(|&column| column < features)
            }
        }
    }
}

impl Waiting {
    fn example(&self) -> Example<'_> {
        Example { x: self.x.sample(), y: self.y, weight: self.weight }
    }
}

impl Batches {
    /// Returns batches of this many samples, before the first sample.
    ///
    /// # Panics
    /// The function panics if the size is 0.
    pub fn new(size: usize) -> Self {
        assert!(size > 0, "a batch has at least one sample");
        Batches { size, waiting: Vec::new() }
    }

    /// Returns the number of samples of a batch.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns true if the samples that wait have this number of features.
    pub fn fit(&self, features: usize) -> bool {
        self.waiting.iter().all(|waiting| waiting.x.fit(features))
    }

    /// Takes the step of the samples that wait, as a smaller batch. Without such samples nothing
    /// happens.
    ///
    /// # Errors
    /// [`Error::AtSample`]: a number is not finite; the error names step and row.
    pub fn finish<L: MarginLoss>(
        &mut self,
        learner: &mut StochasticLearner<L>,
    ) -> Result<(), Error> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let examples = self.waiting.iter().map(Waiting::example);
        let step = learner.steps() + 1;
        let taken = match learner {
            StochasticLearner::Gradient(learner) => learner.learn_batch(examples, &mut |_| ()),
            StochasticLearner::Adaptive(learner) => examples
                .enumerate()
                .try_for_each(|(k, x)| learner.learn(&x).map(drop).map_err(|error| (k, error))),
        };
        taken.map_err(|(k, error)| {
            let row = self.waiting[k].row;
            Error::AtSample { row, step, error: Box::new(error) }
        })?;
        self.waiting.clear();
        Ok(())
    }

    /// Takes the steps of the batches that the samples of a chunk complete, and keeps the others
    /// waiting; shows the score of each sample before the step of its batch.
    pub(super) fn take<L: MarginLoss>(
        &mut self,
        learner: &mut StochasticLearner<L>,
        samples: &Visits<'_>,
        order: &[usize],
        before: u64,
        mut show: impl FnMut(f64),
    ) -> Result<(), Error> {
        let missing = if self.waiting.is_empty() { 0 } else { self.size - self.waiting.len() };
        let (first, rest) = order.split_at(missing.min(order.len()));
        self.wait(learner, samples, first, before, &mut show);
        if self.waiting.len() == self.size {
            self.finish(learner)?;
        }
        let (whole, last) = rest.split_at(rest.len() / self.size * self.size);
        epochs::pass(learner, samples, whole, self.size, before, &mut show)?;
        self.wait(learner, samples, last, before, &mut show);
        Ok(())
    }

    fn wait<L: MarginLoss>(
        &mut self,
        learner: &StochasticLearner<L>,
        samples: &Visits<'_>,
        rows: &[usize],
        before: u64,
        show: &mut impl FnMut(f64),
    ) {
        for &i in rows {
            let Example { x, y, weight } = samples.example(i);
            show(learner.score(&x));
            self.waiting.push(Waiting { row: before + i as u64 + 1, x: x.into(), y, weight });
        }
    }
}
