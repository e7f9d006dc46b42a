//! The settings of stochastic gradient.

use std::sync::Arc;
use std::time::Duration;

use margins_losses::{LeakyHockeyStick, MarginLoss, SpecialCase};
use margins_optim::online::Experts;
use margins_optim::online::stochastic::{
    Averaging, EarlyStopping, Sampling, Schedule, Start, Steps, StochasticGradient,
};
use margins_optim::{ClassWeights, Lambda};

use crate::Error;
use crate::regularised::{ClassCosts, IterationObserver};

/// The settings of stochastic gradient.
///
/// By default: the leaky hockey stick loss, an intercept, ten shuffled epochs over data in memory or
/// one pass over a stream, one sample per step, adaptive steps, the last iterate.
#[derive(Debug, Clone)]
pub struct StreamSettings {
    /// The loss.
    pub loss: Arc<dyn MarginLoss>,
    /// The regularisation, or [`Lambda::NONE`].
    pub lambda: Lambda,
    /// The method, with its steps.
    pub method: StreamMethod,
    /// True for an intercept, which is not penalised.
    pub intercept: bool,
    /// The number of passes over data in memory; by default, set by the method.
    pub epochs: Option<usize>,
    /// The order of the samples of data in memory; by default shuffled, or as the method draws them.
    pub sampling: Option<Sampling>,
    /// The number of samples per step.
    pub batch: usize,
    /// The averaging of iterates that gives the classifier.
    pub averaging: Averaging,
    /// The ball that coefficients are kept in.
    pub projection: Projection,
    /// The starting point.
    pub start: Start,
    /// The rule by which epochs over data in memory stop early, if there is one.
    pub early_stopping: Option<EarlyStopping>,
    /// The step after which margin pursuit sets its scale once from the margins of data in memory,
    /// as [`data_driven_scale`](super::data_driven_scale) does it.
    pub rescale_at: Option<u64>,
    /// The steps after the scale was set.
    pub rescale_steps: RescaleSteps,
    /// The number of rows of data in memory of two classes to fit to: drawn at random, half of them of
    /// each class or as near to half as the classes allow. By default all rows.
    pub balanced_rows: Option<usize>,
    /// True to scale features of data in memory to unit standard deviation for the fit.
    pub standardize: bool,
    /// The weights of the classes of data in memory.
    pub class_weights: ClassWeights,
    /// The costs of errors on the samples of each class of data in memory.
    pub class_costs: ClassCosts,
    /// The seed of the order, of the start and of the samples held out.
    pub seed: u64,
    /// The relative duality gap at which a fit to data in memory counts as converged.
    pub tolerance: f64,
    /// True for one history entry per epoch over data in memory, which takes as long as one or two
    /// more epochs.
    pub history: bool,
    /// The time limit of a fit to data in memory; the current epoch is finished first.
    pub time_limit: Option<Duration>,
    /// The function that is called after every epoch over data in memory, and may end the fit; each
    /// epoch then takes two or three times as long.
    pub iterations: IterationObserver,
}

/// A method of stochastic gradient.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum StreamMethod {
    /// Any loss, by adaptive, normalised and importance-aware steps of three lengths and by coin
    /// betting, mixed by what each has lost: nothing to tune, whatever the units of the features.
    #[default]
    Adaptive,
    /// Any loss, by coin betting alone.
    Coin,
    /// Any loss, by steps of these lengths.
    Gradient {
        /// The schedule of step lengths.
        schedule: StepSchedule,
        /// The first step length; by default 1, or set by the schedule.
        first: Option<f64>,
    },
    /// The hinge loss, by steps of `1/(2 lambda t)` within the ball of radius `1/sqrt(2 lambda)`.
    Pegasos,
    /// The margin-pursuit loss, by steps of `1/(scale sqrt(lambda) t)` within the ball of radius
    /// `1/sqrt(lambda)`, on independent draws from data in memory (Holland 2019, section 4).
    MarginPursuit,
}

/// The steps of a run whose scale was set from the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RescaleSteps {
    /// The lengths are divided by the factor that the scale grows by, as the printed formula does.
    #[default]
    Divide,
    /// The lengths stay those of the schedule.
    Keep,
}

/// The schedule of the lengths of the steps t = 1, 2, ... of stochastic gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StepSchedule {
    /// `eta`.
    Constant,
    /// `eta / sqrt(t)`.
    InverseSqrt,
    /// `eta / t`.
    InverseTime,
    /// `eta / (1 + 2 lambda eta t)`, where eta by default follows from the loss.
    #[default]
    Bottou,
    /// `1 / (scale sqrt(lambda) t)`, of the margin-pursuit loss, which sets its own eta.
    MarginPursuit,
}

/// The ball around 0 that coefficients are kept in.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Projection {
    /// The ball of the method: the ball of Pegasos, or none.
    #[default]
    OfTheMethod,
    /// No ball.
    None,
    /// The ball of this radius.
    Radius(f64),
}

impl StreamSettings {
    /// Returns the settings for a lambda.
    pub fn new(lambda: Lambda) -> Self {
        StreamSettings {
            loss: Arc::new(LeakyHockeyStick),
            lambda,
            method: StreamMethod::default(),
            intercept: true,
            epochs: None,
            sampling: None,
            batch: 1,
            averaging: Averaging::None,
            projection: Projection::default(),
            start: Start::Origin,
            early_stopping: None,
            rescale_at: None,
            rescale_steps: RescaleSteps::default(),
            balanced_rows: None,
            standardize: false,
            class_weights: ClassWeights::AsGiven,
            class_costs: ClassCosts::default(),
            seed: 1,
            tolerance: 1e-6,
            history: false,
            time_limit: None,
            iterations: IterationObserver::default(),
        }
    }

    /// Returns the settings of the solver, checked.
    ///
    /// # Errors
    /// [`Error::Contradiction`]: Pegasos with another loss than hinge, margin pursuit or its schedule
    /// with another loss or with a step of its own, re-scaling without a schedule, steps that
    /// follow from lambda without a penalty.
    /// [`Error::Optim`]: a number outside its range, adaptive steps with a projection, batches or a
    /// random start.
    pub fn gradient(&self) -> Result<StochasticGradient, Error> {
        let method = self.of_method()?;
        let gradient = StochasticGradient {
            epochs: self.epochs.unwrap_or(method.epochs),
            sampling: self.sampling.unwrap_or(method.sampling),
            batch: self.batch,
            averaging: self.averaging,
            projection: match self.projection {
                Projection::OfTheMethod => method.projection,
                Projection::None => None,
                Projection::Radius(radius) => Some(radius),
            },
            start: self.start,
            early_stopping: self.early_stopping,
            seed: self.seed,
            ..method
        };
        gradient.check()?;
        if self.rescale_at.is_some() && matches!(gradient.steps, Steps::Adaptive(_)) {
            let reason = "re-scaling divides the steps of a schedule: use the method sgd";
            let steps = "adaptive steps".to_owned();
            return Err(Error::contradiction("re-scaling".to_owned(), steps, reason));
        }
        Ok(gradient)
    }

    /// Refuses steps whose lengths follow from lambda if it is 0.
    fn check_penalty(&self, steps: &str) -> Result<(), Error> {
        if self.lambda != Lambda::NONE {
            return Ok(());
        }
        let reason =
            "its steps follow from lambda: give a lambda above 0, or take the method adaptive";
        Err(Error::contradiction(steps.to_owned(), "lambda 0".to_owned(), reason))
    }

    /// Returns the steps and the ball that the method has for the loss.
    fn of_method(&self) -> Result<StochasticGradient, Error> {
        let (loss, lambda) = (&*self.loss, self.lambda);
        let refuse = |one: &str, other: String, reason| {
            Err(Error::contradiction(one.to_owned(), other, reason))
        };
        let (schedule, first) = match self.method {
            StreamMethod::Adaptive => return Ok(StochasticGradient::adaptive(Experts::All)),
            StreamMethod::Coin => return Ok(StochasticGradient::adaptive(Experts::Coin)),
            StreamMethod::Pegasos if loss.special_case() != Some(SpecialCase::Hinge) => {
                let reason = "pegasos is stochastic gradient on the hinge loss: take that loss, or the method sgd";
                return refuse("pegasos", format!("the loss {}", loss.specification()), reason);
            }
            StreamMethod::Pegasos => {
                self.check_penalty("pegasos")?;
                return Ok(StochasticGradient::pegasos(lambda));
            }
            StreamMethod::MarginPursuit => {
                self.check_penalty("the method margin-pursuit")?;
                let Some((_, scale)) = margin_pursuit(loss) else {
                    let other = format!("the loss {}", loss.specification());
                    let reason = "the method is for the loss margin-pursuit: take that loss, or the method sgd";
                    return refuse("the method margin-pursuit", other, reason);
                };
                return Ok(StochasticGradient::margin_pursuit(scale, lambda));
            }
            StreamMethod::Gradient { schedule, first } => (schedule, first),
        };
        match schedule {
            StepSchedule::Bottou if first.is_none() => {
                self.check_penalty("the schedule bottou without a first step")?;
            }
            StepSchedule::MarginPursuit => self.check_penalty("the schedule margin-pursuit")?,
            _ => (),
        }
        let length = first.unwrap_or(1.0);
        let schedule = match schedule {
            StepSchedule::Constant => Schedule::Constant(length),
            StepSchedule::InverseSqrt => Schedule::InverseSqrt(length),
            StepSchedule::InverseTime => Schedule::InverseTime(length),
            StepSchedule::Bottou => match first {
                Some(first) => Schedule::Bottou { first, lambda },
                None => Schedule::bottou(loss, lambda),
            },
            StepSchedule::MarginPursuit => match (margin_pursuit(loss), first) {
                (Some((_, scale)), None) => Schedule::margin_pursuit(scale, lambda),
                (Some(_), Some(first)) => {
                    let other = format!("a first step of {first}");
                    return refuse("the schedule margin-pursuit", other, "it sets its own step");
                }
                (None, _) => {
                    let other = format!("the loss {}", loss.specification());
                    return refuse(
                        "the schedule margin-pursuit",
                        other,
                        "the schedule is for the loss margin-pursuit",
                    );
                }
            },
        };
        Ok(StochasticGradient::new(schedule))
    }
}

/// Returns gamma and the scale of the margin-pursuit loss that this one is, if it is one.
pub(super) fn margin_pursuit(loss: &dyn MarginLoss) -> Option<(f64, f64)> {
    match loss.special_case() {
        Some(SpecialCase::MarginPursuit { gamma, scale }) => Some((gamma, scale)),
        _ => None,
    }
}
