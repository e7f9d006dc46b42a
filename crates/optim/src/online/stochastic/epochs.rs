//! The order of samples in epochs, and the loop over them.

use margins_data::Design;
use margins_losses::MarginLoss;
use prefetch_index::prefetch_index;
use pulp::{Arch, Simd, WithSimd};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::StochasticLearner;
use super::settings::{Sampling, StochasticGradient};
use crate::online::Example;
use crate::{Error, Objective};

/// The samples that steps are taken from.
pub(super) struct Visits<'d> {
    pub(super) design: &'d Design,
    pub(super) signs: &'d [f64],
    /// The weights of the losses, with mean 1 over the rows drawn if the samples have no weights of
    /// their own.
    pub(super) weights: &'d [f64],
}

impl Visits<'_> {
    /// Returns the number of steps by which a sample is requested ahead: they take the time of a
    /// wait for memory, and more samples would not fit into the nearest cache.
    fn steps_ahead(&self) -> usize {
        const VALUES_AHEAD: usize = 1 << 11;
        let values = self.design.stored() / self.design.rows().max(1);
        (VALUES_AHEAD / values.max(1)).clamp(1, 32)
    }

    #[inline(always)]
    fn prefetch(&self, i: usize) {
        self.design.prefetch(i);
        prefetch_index(self.signs, i);
        prefetch_index(self.weights, i);
    }

    #[inline(always)]
    pub(super) fn example(&self, i: usize) -> Example<'_> {
        Example { x: self.design.sample(i), y: self.signs[i], weight: self.weights[i] }
    }
}

/// The order of the samples, epoch after epoch.
pub(super) struct Epochs<'d> {
    design: &'d Design,
    signs: &'d [f64],
    weights: Vec<f64>,
    /// The rows of the present epoch in order; if shuffled, a permutation that every epoch shuffles
    /// on.
    order: Vec<usize>,
    rows: Vec<usize>,
    batch: usize,
    sampling: Sampling,
    random: ChaCha8Rng,
    /// The number of visits of the present epoch so far.
    taken: usize,
    pub(super) done: usize,
}

impl<'d> Epochs<'d> {
    /// Returns the order of all rows but those held out, which are in ascending order.
    pub(super) fn new<L: MarginLoss + ?Sized>(
        objective: &'d Objective<'_, L>,
        held_out: &[usize],
        settings: &StochasticGradient,
    ) -> Self {
        let rows: Vec<usize> =
            (0..objective.design.rows()).filter(|i| held_out.binary_search(i).is_err()).collect();
        let count = rows.len() as f64;
        Epochs {
            design: &objective.design,
            signs: objective.risk.signs(),
            weights: objective.risk.weights().iter().map(|c| c * count).collect(),
            order: rows.clone(),
            rows,
            batch: settings.batch,
            sampling: settings.sampling,
            random: ChaCha8Rng::seed_from_u64(settings.seed),
            taken: 0,
            done: 0,
        }
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = usize> {
        self.rows.iter().copied()
    }

    pub(super) fn steps_per_epoch(&self) -> u64 {
        self.rows.len().div_ceil(self.batch) as u64
    }

    /// Lets a learner take this number of steps, or fewer if the epoch ends before; returns true if
    /// the epoch has ended.
    pub(super) fn advance<L: MarginLoss>(
        &mut self,
        learner: &mut StochasticLearner<L>,
        steps: u64,
    ) -> Result<bool, Error> {
        if self.taken == 0 {
            match self.sampling {
                Sampling::Shuffled => self.order.shuffle(&mut self.random),
                Sampling::WithReplacement => {
                    for row in &mut self.order {
                        *row = self.rows[self.random.random_range(0..self.rows.len())];
                    }
                }
            }
        }
        let wanted = usize::try_from(steps).unwrap_or(usize::MAX).saturating_mul(self.batch);
        let end = self.taken.saturating_add(wanted).min(self.order.len());
        let order = &self.order[self.taken..end];
        let samples = Visits { design: self.design, signs: self.signs, weights: &self.weights };
        pass(learner, &samples, order, self.batch, 0, |_| ())?;
        let epoch_over = end == self.order.len();
        self.taken = if epoch_over { 0 } else { end };
        self.done += usize::from(epoch_over);
        Ok(epoch_over)
    }
}

/// Takes steps over samples in the order given, and shows the score of each before its step; the
/// rows in errors are counted on from `before`.
pub(super) fn pass<L: MarginLoss>(
    learner: &mut StochasticLearner<L>,
    samples: &Visits<'_>,
    order: &[usize],
    batch: usize,
    before: u64,
    show: impl FnMut(f64),
) -> Result<(), Error> {
    let steps = Pass { learner: &mut *learner, samples, order, batch, show };
    Arch::new().dispatch(steps).map_err(|(place, error)| Error::AtSample {
        row: before + order[place] as u64 + 1,
        step: learner.steps() + 1,
        error: Box::new(error),
    })
}

/// A loop of steps, compiled for the instruction set of the machine as a whole: a dispatch for
/// every sample would cost as much as a short sample.
struct Pass<'s, 'd, L, F> {
    learner: &'s mut StochasticLearner<L>,
    samples: &'s Visits<'d>,
    order: &'s [usize],
    batch: usize,
    show: F,
}

impl<L: MarginLoss, F: FnMut(f64)> WithSimd for Pass<'_, '_, L, F> {
    /// The error comes with the place in the order of the sample that caused it.
    type Output = Result<(), (usize, Error)>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Pass { learner, samples, order, batch, mut show } = self;
        let learner = match learner {
            StochasticLearner::Adaptive(learner) => {
                return one_by_one(samples, order, |x| learner.learn(x), show);
            }
            StochasticLearner::Gradient(learner) if batch == 1 => {
                return one_by_one(samples, order, |x| learner.learn(x), show);
            }
            StochasticLearner::Gradient(learner) => learner,
        };
        for (k, rows) in order.chunks(batch).enumerate() {
            let examples = rows.iter().map(|&i| samples.example(i));
            learner
                .learn_batch(examples, &mut show)
                .map_err(|(at, error)| (k * batch + at, error))?;
        }
        Ok(())
    }
}

/// Takes a step on each sample and shows its score before.
#[inline(always)]
fn one_by_one(
    samples: &Visits<'_>,
    order: &[usize],
    mut learn: impl FnMut(&Example<'_>) -> Result<f64, Error>,
    mut show: impl FnMut(f64),
) -> Result<(), (usize, Error)> {
    let ahead = samples.steps_ahead();
    for (place, &i) in order.iter().enumerate() {
        if let Some(&soon) = order.get(place + ahead) {
            samples.prefetch(soon);
        }
        show(learn(&samples.example(i)).map_err(|error| (place, error))?);
    }
    Ok(())
}
