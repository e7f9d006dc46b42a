//! Stochastic (sub)gradient on `F(b, w) = (1/n) sum c_i L(y_i (b + <w, x_i>)) + lambda ||w||^2`, for any
//! loss, convex or not, with a kink or without.
//!
//! Step t takes a sample, or the mean over a mini-batch, through [`OnlineGradient`]: see there for the
//! step, and [`Schedule`] for its length. Pegasos (Shalev-Shwartz, Singer, Srebro and Cotter 2011) is the
//! hinge loss with [`StochasticGradient::pegasos`]; the stochastic projected form of margin pursuit
//! (Holland 2019, section 4) is that loss with [`StochasticGradient::margin_pursuit`].
//!
//! A fit comes with the certificate of its result if the loss is convex; else its gap is infinite. The gap
//! of a loss with a kink does not go to 0: its dual point takes one subgradient where samples at the kink
//! would need others.
//!
//! ```
//! use margins_data::{Design, Labels};
//! use margins_losses::Hinge;
//! use margins_optim::online::stochastic::{self, StochasticGradient};
//! use margins_optim::{Lambda, Objective};
//!
//! let design = Design::from_rows(&[[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 1.0]])?;
//! let labels = Labels::from_signs(vec![-1.0, -1.0, 1.0, 1.0])?;
//! let objective = Objective::new(&Hinge, &design, &labels)?.without_intercept();
//! let lambda = Lambda::new(0.1)?;
//! let settings = StochasticGradient { epochs: 500, ..StochasticGradient::pegasos(lambda) };
//! let fit = stochastic::fit(&objective, lambda, &settings)?;
//! assert!(fit.score(&design.sample(3)) > 0.0 && fit.score(&design.sample(1)) < 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod epochs;
mod schedule;

use std::borrow::Cow;
use std::time::Instant;

use margins_data::{Design, Labels, split};
use margins_losses::MarginLoss;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::certificate::Evaluator;
use crate::online::{LinearClassifier, OnlineGradient, OnlineLearner, Scorer};
use crate::problem::summation::dot;
use crate::problem::{EmpiricalRisk, Point};
use crate::solve::{Elapsed, Ending, HistoryEntry, Status};
use crate::{Error, Fit, Lambda, Objective};
use epochs::{Epochs, Visits};

pub use schedule::Schedule;

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

/// Runs the method on an objective. The report counts epochs as iterations, two passes each; history
/// and certificate are those of the samples trained on.
///
/// # Errors
/// As [`StochasticGradient::check`]; too few samples of a class to hold some out; numbers that are none,
/// such as of steps that diverge, with step and row.
pub fn fit<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    lambda: Lambda,
    settings: &StochasticGradient,
) -> Result<Fit, Error> {
    let (objective, held_out) = settings.set_aside(objective)?;
    let run = Run::new(&objective, held_out, lambda, settings)?;
    let learner = run.learner(&objective)?;
    run.finish(&objective, learner)
}

/// A loss that takes the place of another in the course of a run.
#[derive(Debug)]
pub struct Rescaled {
    /// The new loss.
    pub loss: Box<dyn MarginLoss>,
    /// What the steps of the schedule are multiplied by from then on.
    pub step_factor: f64,
}

/// Runs the method on an objective, but replaces the loss once, after the step `at`, by what `rule` makes
/// of the margins of the samples trained on. The one-time data-driven scale of margin pursuit (Holland
/// 2019, section 4) is such a rule. The fit is one to the objective with the new loss, which comes with
/// it; early stopping begins after the step.
///
/// # Errors
/// As [`fit`]; those of `rule`; a run of no more than `at` steps.
pub fn fit_rescaled<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    lambda: Lambda,
    settings: &StochasticGradient,
    at: u64,
    rule: impl FnOnce(&[f64]) -> Result<Rescaled, Error>,
) -> Result<(Fit, Box<dyn MarginLoss>), Error> {
    let (objective, held_out) = settings.set_aside(objective)?;
    let mut run = Run::new(&objective, held_out, lambda, settings)?;
    let held_out = run.held_out.take();
    if at == 0 || at >= run.total_steps() {
        return Err(Error::Parameter {
            parameter: "the step of the re-scaling",
            value: at as f64,
            requirement: "at least 1 and less than the number of steps",
        });
    }
    let mut learner = run.learner(&objective)?;
    run.follow(&objective, &mut learner, at)?;
    let classifier = learner.snapshot();
    let point = Point::at(&objective.design, classifier.intercept, classifier.coef);
    let margins: Vec<f64> =
        run.epochs.rows().map(|i| point.margin(i, &objective.risk.signs)).collect();
    let Rescaled { loss, step_factor } = rule(&margins)?;
    run.held_out = held_out;
    let learner = learner.with_loss(&*loss, step_factor)?;
    let fit = run.finish(&objective.with_loss(&*loss), learner)?;
    Ok((fit, loss))
}

/// One pass of a learner over the samples in order, for streams: `before` samples came before these. Their
/// losses are weighted, if there are weights.
///
/// # Errors
/// Numbers that are none, with step and row.
///
/// # Panics
/// If signs or weights are not one a sample, the features not those of the learner, or a batch is empty.
pub fn pass<L: MarginLoss>(
    learner: &mut OnlineGradient<L>,
    design: &Design,
    signs: &[f64],
    weights: Option<&[f64]>,
    batch: usize,
    before: u64,
) -> Result<(), Error> {
    assert_eq!(signs.len(), design.rows(), "one sign a sample");
    let count = weights.map_or(signs.len(), <[f64]>::len);
    assert_eq!(count, design.rows(), "one weight a sample");
    let order: Vec<usize> = (0..design.rows()).collect();
    let weights = weights.map_or_else(|| Cow::Owned(vec![1.0; signs.len()]), Cow::Borrowed);
    epochs::pass(learner, &Visits { design, signs, weights: &weights }, &order, batch, before)
}

/// A run on its way.
struct Run<'d> {
    settings: StochasticGradient,
    lambda: Lambda,
    epochs: Epochs<'d>,
    held_out: Option<HeldOut>,
    began: Instant,
    history: Vec<HistoryEntry>,
}

/// Rows with their weights.
type Weighed = Vec<(usize, f64)>;

/// The rows held out, ascending and with their weights, with the best classifier so far.
struct HeldOut {
    rows: Weighed,
    best: LinearClassifier,
    least_loss: f64,
    epochs_since: usize,
}

impl HeldOut {
    fn of(rows: Weighed) -> Option<Self> {
        let best = LinearClassifier::zero(0);
        let begin = HeldOut { rows, best, least_loss: f64::INFINITY, epochs_since: 0 };
        (!begin.rows.is_empty()).then_some(begin)
    }

    /// Takes note of the classifier of an epoch.
    fn judge<L: MarginLoss + ?Sized>(
        &mut self,
        objective: &Objective<'_, L>,
        now: LinearClassifier,
    ) {
        let EmpiricalRisk { loss, signs, .. } = &objective.risk;
        let value = |i: usize| loss.value(signs[i] * now.score(&objective.design.sample(i)));
        let counted = self.rows.iter().filter(|(_, c)| *c > 0.0);
        let total: f64 = counted.map(|&(i, c)| c * value(i)).sum();
        if total < self.least_loss || self.best.coef.is_empty() {
            (self.best, self.least_loss, self.epochs_since) = (now, total, 0);
        } else {
            self.epochs_since += 1;
        }
    }
}

impl StochasticGradient {
    /// The objective on the samples to train on, the others with weight 0, and the rows of these with the
    /// weights that they had.
    fn set_aside<'a, L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'a, L>,
    ) -> Result<(Objective<'a, L>, Weighed), Error> {
        self.check()?;
        let Some(early) = self.early_stopping else { return Ok((objective.clone(), Vec::new())) };
        let labels = Labels::from_signs(objective.risk.signs.to_vec())?;
        let (train, held_out) = split::hold_out(&labels, early.hold_out, self.seed)?;
        let mut weights = vec![labels.len() as f64 / train.len() as f64; labels.len()];
        held_out.iter().for_each(|&i| weights[i] = 0.0);
        let own = objective.risk.weights();
        let held_out = held_out.into_iter().map(|i| (i, own[i])).collect();
        Ok((objective.clone().with_weights(&weights)?, held_out))
    }
}

impl<'d> Run<'d> {
    fn new<L: MarginLoss + ?Sized>(
        objective: &'d Objective<'_, L>,
        held_out: Weighed,
        lambda: Lambda,
        settings: &StochasticGradient,
    ) -> Result<Self, Error> {
        let rows: Vec<usize> = held_out.iter().map(|(row, _)| *row).collect();
        let epochs = Epochs::new(objective, &rows, settings);
        let held_out = HeldOut::of(held_out);
        Ok(Run {
            settings: *settings,
            lambda,
            epochs,
            held_out,
            began: Instant::now(),
            history: Vec::new(),
        })
    }

    fn total_steps(&self) -> u64 {
        self.settings.epochs as u64 * self.epochs.steps_per_epoch()
    }

    fn learner<'l, L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'l, L>,
    ) -> Result<OnlineGradient<&'l L>, Error> {
        let EmpiricalRisk { loss, intercept, .. } = objective.risk;
        let features = objective.design.columns();
        self.settings.learner(loss, features, self.lambda, intercept, self.total_steps())
    }

    /// Takes a learner to a step, or to where it stops early.
    fn follow<L: MarginLoss + ?Sized>(
        &mut self,
        objective: &Objective<'_, L>,
        learner: &mut OnlineGradient<&L>,
        until: u64,
    ) -> Result<(), Error> {
        while learner.steps() < until {
            let epoch_over = self.epochs.advance(learner, until - learner.steps())?;
            if !epoch_over {
                continue;
            }
            if self.settings.history {
                self.record(objective, learner.snapshot());
            }
            if let Some(held_out) = &mut self.held_out {
                held_out.judge(objective, learner.snapshot());
                let patience = self.settings.early_stopping.map_or(usize::MAX, |e| e.patience);
                if held_out.epochs_since >= patience {
                    break;
                }
            }
        }
        Ok(())
    }

    fn record<L: MarginLoss + ?Sized>(
        &mut self,
        objective: &Objective<'_, L>,
        now: LinearClassifier,
    ) {
        let mut evaluator = Evaluator::in_memory(objective);
        let point = Point::at(&objective.design, now.intercept, now.coef);
        let certificate = evaluator.appraise(self.lambda, &point);
        let (epochs, passes) = (self.epochs.done, 2 * self.epochs.done);
        let margins = objective.risk.margin_summary(&point.products, point.intercept);
        self.history.push(HistoryEntry::new(epochs, passes, &certificate, margins));
    }

    /// Takes a learner to the end of the run.
    fn finish<L: MarginLoss + ?Sized>(
        mut self,
        objective: &Objective<'_, L>,
        mut learner: OnlineGradient<&L>,
    ) -> Result<Fit, Error> {
        self.follow(objective, &mut learner, self.total_steps())?;
        let LinearClassifier { intercept, coef } =
            self.held_out.map_or_else(|| learner.snapshot(), |held_out| held_out.best);
        let mut evaluator = Evaluator::in_memory(objective);
        let point = Point::at(&objective.design, intercept, coef);
        let certificate = evaluator.appraise(self.lambda, &point);
        let converged = certificate.relative_gap() <= self.settings.tolerance;
        let status = if converged { Status::Converged } else { Status::RuleMet };
        let iterations = self.epochs.done;
        let elapsed = Elapsed(self.began.elapsed());
        let ending = Ending { iterations, status, certificate, elapsed, history: self.history };
        let ending = ending.examined(&objective.risk, &point.products, point.intercept);
        let Point { intercept, coef, .. } = point;
        let report = ending.report(2 * iterations + 2);
        Ok(Fit { lambda: self.lambda, intercept, coef, report })
    }
}
