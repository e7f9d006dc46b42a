//! The settings of stochastic gradient methods.

use margins_losses::{MarginLoss, OutOfRange};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::StochasticLearner;
use crate::online::schedule::Schedule;
use crate::online::{Adaptive, Experts, LinearClassifier, OnlineGradient};
use crate::problem::summation::dot;
use crate::{Error, Lambda};

/// The rule by which an epoch chooses its n samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sampling {
    /// Every sample comes once, in a new random order every epoch.
    #[default]
    Shuffled,
    /// The samples are drawn independently.
    WithReplacement,
}

/// The rule by which the iterates of a run make its classifier.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Averaging {
    /// The last iterate is the classifier.
    #[default]
    None,
    /// The mean of all iterates after the first step is the classifier (Polyak and Juditsky 1992).
    Polyak,
    /// The mean of the iterates of the last share, in (0, 1], of the steps is the classifier
    /// (Rakhlin, Shamir and Sridharan 2012).
    Suffix(f64),
}

/// The classifier that a run begins with.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Start {
    /// The run begins at the origin.
    #[default]
    Origin,
    /// The run begins at coefficients of this norm and of a random direction, with the intercept 0.
    Random(f64),
}

/// The rule that ends a run before its epochs are over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EarlyStopping {
    /// The share of the samples of each class that is held out of training.
    pub hold_out: f64,
    /// The number of epochs in a row without a smaller mean loss of the samples held out, after
    /// which the run ends. The classifier is then that of the best epoch.
    pub patience: usize,
}

/// The rule for the steps of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Steps {
    /// The steps have the lengths of a schedule.
    Scheduled(Schedule),
    /// The steps are those of [`Adaptive`] with these experts, for a sample at a time.
    Adaptive(Experts),
}

/// The settings of a stochastic gradient method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StochasticGradient {
    /// The rule for the steps.
    pub steps: Steps,
    /// The number of passes over the samples.
    pub epochs: usize,
    /// The order of the samples.
    pub sampling: Sampling,
    /// The number of samples of a step.
    pub batch: usize,
    /// The rule by which the iterates make the classifier.
    pub averaging: Averaging,
    /// The radius of the ball around 0 that the projection keeps the coefficients in; `None` for no
    /// projection.
    pub projection: Option<f64>,
    /// The classifier to begin with.
    pub start: Start,
    /// The rule to stop early, if there is one.
    pub early_stopping: Option<EarlyStopping>,
    /// The seed of the order, of the start and of the samples held out.
    pub seed: u64,
}

impl StochasticGradient {
    /// Returns settings of ten shuffled epochs from the origin, a sample per step, without averaging,
    /// projection and early stopping.
    pub fn new(schedule: Schedule) -> Self {
        Self::by(Steps::Scheduled(schedule))
    }

    /// Returns the settings of [`new`](Self::new) with the steps of [`Adaptive`], which need no
    /// tuning.
    pub fn adaptive(experts: Experts) -> Self {
        Self::by(Steps::Adaptive(experts))
    }

    fn by(steps: Steps) -> Self {
        StochasticGradient {
            steps,
            epochs: 10,
            sampling: Sampling::Shuffled,
            batch: 1,
            averaging: Averaging::None,
            projection: None,
            start: Start::Origin,
            early_stopping: None,
            seed: 1,
        }
    }

    /// Returns the settings of Pegasos, for the hinge loss: steps `1/(2 lambda t)` and the
    /// projection on the ball of radius `1/sqrt(2 lambda)`, in which the minimiser lies (theorem 1
    /// of its source, whose lambda is twice ours).
    pub fn pegasos(lambda: Lambda) -> Self {
        let projection = Some((2.0 * lambda.get()).sqrt().recip());
        StochasticGradient { projection, ..Self::new(Schedule::pegasos(lambda)) }
    }

    /// Returns the settings of margin pursuit as Holland (2019, section 4) runs it beside Pegasos:
    /// steps `1/(scale sqrt(lambda) t)`, the ball of radius `1/sqrt(lambda)`, samples drawn
    /// independently.
    pub fn margin_pursuit(scale: f64, lambda: Lambda) -> Self {
        StochasticGradient {
            projection: Some(lambda.get().sqrt().recip()),
            sampling: Sampling::WithReplacement,
            ..Self::new(Schedule::margin_pursuit(scale, lambda))
        }
    }

    /// Refuses settings out of their range.
    ///
    /// # Errors
    /// [`Error::Parameter`]: a step, a radius or a norm of the start is not a finite number
    /// greater than 0; there are no epochs, an empty batch or no patience; the share
    /// averaged is outside (0, 1], or the share held out outside (0, 1). [`Error::AdaptiveSteps`]:
    /// adaptive steps with a projection, batches or a random start.
    pub fn check(&self) -> Result<(), Error> {
        match self.steps {
            Steps::Scheduled(schedule) => schedule.check()?,
            Steps::Adaptive(_) => self.check_adaptive()?,
        }
        self.projection.map_or(Ok(0.0), |radius| {
            OutOfRange::check_positive("the radius of the projection", radius)
        })?;
        if let Start::Random(norm) = self.start {
            OutOfRange::check_positive("the norm of the start", norm)?;
        }
        if let Some(EarlyStopping { hold_out, .. }) = self.early_stopping {
            let valid = |share| share > 0.0 && share < 1.0;
            OutOfRange::check("the share held out", hold_out, "above 0 and below 1", valid)?;
        }
        let patience = self.early_stopping.map_or(1, |early| early.patience);
        let counts = [
            ("the number of epochs", self.epochs),
            ("the size of a batch", self.batch),
            ("the patience", patience),
        ];
        if let Some((parameter, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(OutOfRange { parameter, value: 0.0, requirement: "at least 1" }.into());
        }
        if let Averaging::Suffix(share) = self.averaging {
            let parameter = "the share of the steps that is averaged";
            let valid = |share| share > 0.0 && share <= 1.0;
            OutOfRange::check(parameter, share, "above 0 and at most 1", valid)?;
        }
        Ok(())
    }

    /// Refuses what adaptive steps cannot heed.
    fn check_adaptive(&self) -> Result<(), Error> {
        let refused = [
            (self.projection.is_some(), "a projection"),
            (self.batch > 1, "batches of samples"),
            (self.start != Start::Origin, "a random start"),
        ];
        match refused.into_iter().find(|(given, _)| *given) {
            Some((_, what)) => Err(Error::AdaptiveSteps(what)),
            None => Ok(()),
        }
    }

    /// Returns the learner of a run of this number of steps.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check).
    pub fn learner<L: MarginLoss>(
        &self,
        loss: L,
        features: usize,
        lambda: Lambda,
        intercept: bool,
        steps: u64,
    ) -> Result<StochasticLearner<L>, Error> {
        self.check()?;
        let averaged_after = match self.averaging {
            Averaging::None => None,
            Averaging::Polyak => Some(0),
            Averaging::Suffix(share) => Some(((1.0 - share) * steps as f64).round() as u64),
        };
        let schedule = match self.steps {
            Steps::Scheduled(schedule) => schedule,
            Steps::Adaptive(experts) => {
                let mut learner = Adaptive::new(loss, features, experts).penalized(lambda);
                if !intercept {
                    learner = learner.without_intercept();
                }
                return Ok(StochasticLearner::Adaptive(match averaged_after {
                    Some(steps) => learner.averaged_after(steps),
                    None => learner,
                }));
            }
        };
        let mut learner = OnlineGradient::new(loss, features, schedule)?.penalized(lambda);
        if !intercept {
            learner = learner.without_intercept();
        }
        if let Some(radius) = self.projection {
            learner = learner.projected(radius)?;
        }
        if let Start::Random(norm) = self.start {
            learner = learner.starting_at(random_start(features, norm, self.seed))?;
        }
        Ok(StochasticLearner::Gradient(match averaged_after {
            Some(steps) => learner.averaged_after(steps),
            None => learner,
        }))
    }
}

/// Returns coefficients of this norm, their direction uniform.
fn random_start(features: usize, norm: f64, seed: u64) -> LinearClassifier {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(1);
    let direction: Vec<f64> = (0..features).map(|_| StandardNormal.sample(&mut random)).collect();
    let size = dot(&direction, &direction).sqrt();
    LinearClassifier { intercept: 0.0, coef: direction.iter().map(|d| norm / size * d).collect() }
}
