use margins_losses::MarginLoss;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::schedule::Schedule;
use crate::online::{LinearClassifier, OnlineGradient};
use crate::problem::summation::dot;
use crate::{Error, Lambda};

/// Which samples the steps of an epoch take, n of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sampling {
    /// Each once, in a new random order every epoch.
    #[default]
    Shuffled,
    /// Independent draws.
    WithReplacement,
}

/// Which classifier a run ends with.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Averaging {
    /// The last iterate.
    #[default]
    None,
    /// The mean of all iterates after the first step (Polyak and Juditsky 1992).
    Polyak,
    /// The mean of the iterates of the last share, in (0, 1], of the steps (Rakhlin, Shamir and
    /// Sridharan 2012).
    Suffix(f64),
}

/// Where a run begins.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Start {
    /// At the origin.
    #[default]
    Origin,
    /// At coefficients of this norm and of a random direction; the intercept is 0.
    Random(f64),
}

/// When a run ends before its epochs are over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EarlyStopping {
    /// Share of the samples of each class that is not trained on.
    pub hold_out: f64,
    /// Epochs in a row without a smaller mean loss of the samples held out before the run ends. The
    /// classifier is that of the best epoch.
    pub patience: usize,
}

/// How a stochastic gradient method runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StochasticGradient {
    /// Step lengths.
    pub schedule: Schedule,
    /// Passes over the samples.
    pub epochs: usize,
    /// The order of the samples.
    pub sampling: Sampling,
    /// Visits a step.
    pub batch: usize,
    /// The classifier to end with.
    pub averaging: Averaging,
    /// Radius of the ball around 0 that coefficients are kept in; `None` for no projection.
    pub projection: Option<f64>,
    /// Where to begin.
    pub start: Start,
    /// Whether to stop early.
    pub early_stopping: Option<EarlyStopping>,
    /// Seed of the order, of the start and of the samples held out.
    pub seed: u64,
    /// The relative duality gap at which a fit counts as converged.
    pub tolerance: f64,
    /// Whether the report has one history entry an epoch, each of which costs as much as an epoch or
    /// two.
    pub history: bool,
}

impl StochasticGradient {
    /// Ten shuffled epochs from the origin, a sample a step, and nothing else.
    pub fn new(schedule: Schedule) -> Self {
        StochasticGradient {
            schedule,
            epochs: 10,
            sampling: Sampling::Shuffled,
            batch: 1,
            averaging: Averaging::None,
            projection: None,
            start: Start::Origin,
            early_stopping: None,
            seed: 1,
            tolerance: 1e-6,
            history: false,
        }
    }

    /// Pegasos, for the hinge loss: steps `1/(2 lambda t)` and the projection on the ball of radius
    /// `1/sqrt(2 lambda)`, in which the minimiser lies (theorem 1 of its source, whose lambda is twice
    /// ours).
    pub fn pegasos(lambda: Lambda) -> Self {
        let projection = Some((2.0 * lambda.get()).sqrt().recip());
        StochasticGradient { projection, ..Self::new(Schedule::pegasos(lambda)) }
    }

    /// Margin pursuit as Holland (2019, section 4) runs it beside Pegasos: steps
    /// `1/(scale sqrt(lambda) t)`, the ball of radius `1/sqrt(lambda)`, samples drawn independently.
    pub fn margin_pursuit(scale: f64, lambda: Lambda) -> Self {
        StochasticGradient {
            projection: Some(lambda.get().sqrt().recip()),
            sampling: Sampling::WithReplacement,
            ..Self::new(Schedule::margin_pursuit(scale, lambda))
        }
    }

    /// Whether the settings make sense.
    ///
    /// # Errors
    /// Steps, a radius, a norm of the start or a tolerance that is not a finite number greater than 0; no
    /// epochs, an empty batch, no patience; a share outside (0, 1], for the samples held out (0, 1).
    pub fn check(&self) -> Result<(), Error> {
        self.schedule.check()?;
        Error::check_positive("the tolerance", self.tolerance)?;
        self.projection.map_or(Ok(0.0), |radius| {
            Error::check_positive("the radius of the projection", radius)
        })?;
        if let Start::Random(norm) = self.start {
            Error::check_positive("the norm of the start", norm)?;
        }
        if let Some(EarlyStopping { hold_out, .. }) = self.early_stopping
            && !(hold_out > 0.0 && hold_out < 1.0)
        {
            return Err(Error::Parameter {
                parameter: "the share held out",
                value: hold_out,
                requirement: "above 0 and below 1",
            });
        }
        let patience = self.early_stopping.map_or(1, |early| early.patience);
        let counts = [
            ("the number of epochs", self.epochs),
            ("the size of a batch", self.batch),
            ("the patience", patience),
        ];
        if let Some((parameter, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(Error::Parameter { parameter, value: 0.0, requirement: "at least 1" });
        }
        match self.averaging {
            Averaging::Suffix(share) if !(share > 0.0 && share <= 1.0) => Err(Error::Parameter {
                parameter: "the share of the steps that is averaged",
                value: share,
                requirement: "above 0 and at most 1",
            }),
            _ => Ok(()),
        }
    }

    /// The learner of a run of this number of steps.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn learner<L: MarginLoss>(
        &self,
        loss: L,
        features: usize,
        lambda: Lambda,
        intercept: bool,
        steps: u64,
    ) -> Result<OnlineGradient<L>, Error> {
        self.check()?;
        let mut learner = OnlineGradient::new(loss, features, self.schedule)?.penalized(lambda);
        if !intercept {
            learner = learner.without_intercept();
        }
        if let Some(radius) = self.projection {
            learner = learner.projected(radius)?;
        }
        if let Start::Random(norm) = self.start {
            learner = learner.starting_at(random_start(features, norm, self.seed))?;
        }
        Ok(match self.averaging {
            Averaging::None => learner,
            Averaging::Polyak => learner.averaged_after(0),
            Averaging::Suffix(share) => {
                learner.averaged_after(((1.0 - share) * steps as f64).round() as u64)
            }
        })
    }
}

/// Coefficients of this norm, their direction uniform.
fn random_start(features: usize, norm: f64, seed: u64) -> LinearClassifier {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(1);
    let direction: Vec<f64> = (0..features).map(|_| StandardNormal.sample(&mut random)).collect();
    let size = dot(&direction, &direction).sqrt();
    LinearClassifier { intercept: 0.0, coef: direction.iter().map(|d| norm / size * d).collect() }
}
