//! The settings of games.

#[cfg(feature = "serde")]
use std::collections::BTreeMap;
#[cfg(feature = "serde")]
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use margins_boost::{Horizon, PlayerKind, SlackKind, Stop, Subsample, kesler_sample};
use margins_data::{ClassLabels, Dataset, Sample};
use margins_losses::{MarginLoss, ZeroOne};
use margins_optim::ClassWeights;

use super::learner::FocusedLearner;
use super::output::{self, Output};
use crate::Error;
#[cfg(feature = "serde")]
use crate::checkpoint::digest_of;
use crate::regularised::{ClassCosts, IterationObserver};

/// The settings of a game of focused online learning.
///
/// The default is a perceptron with an intercept, the 0-1 loss, a majority vote, and as many steps and
/// classifiers as theorem 1 asks for with a learner that makes as many mistakes as there are
/// samples. The game ends as soon as the ensemble is right on every sample with a loss of at most
/// [`epsilon`](Self::epsilon).
///
/// Weights are costs: with the weight of a sample, multiplied by that of its class and divided by the
/// largest of these products, as v_i, the losses of the game are `v_i l_i`. A sample with
/// `v_i <= epsilon` need not be right. The errors, the baseline and the rows held out count samples by
/// their own weights.
#[derive(Debug, Clone)]
pub struct EnsembleSettings {
    /// The loss, which is clipped to [0, 1]: the hinge loss becomes the ramp.
    pub loss: Arc<dyn MarginLoss>,
    /// The largest loss of a sample at which the game ends, between 0 and 1.
    pub epsilon: f64,
    /// True to scale features to mean 0 and deviation 1 first, sparse ones to deviation 1. The
    /// model is one of the features as given.
    pub standardize: bool,
    /// The online learner.
    pub learner: FocusedLearner,
    /// True for an intercept of linear learners.
    pub intercept: bool,
    /// The most steps of a game.
    pub max_steps: Option<u64>,
    /// The number of classifiers in the ensemble, taken before random steps.
    pub outputs: Option<usize>,
    /// The classifier that comes out: by default the majority of those taken, which is right on every
    /// sample wherever theorem 1 holds (corollary 1).
    pub output: Output,
    /// The probability with which theorem 1, or the bound of a validated output, may fail.
    pub delta: f64,
    /// The bound on the sum of the learner's losses in theorem 1.
    pub mistakes: MistakeBound,
    /// The player who draws the samples. Theorem 1 holds for the focused one alone.
    pub player: PlayerKind,
    /// The slack for outliers.
    pub slack: SlackRule,
    /// The number of outliers that are likely not among the samples learned from, a random part of
    /// all.
    pub subsample: Option<Subsampling>,
    /// The weights of the classes.
    pub class_weights: ClassWeights,
    /// The costs of errors by class, which multiply the weights too.
    pub class_costs: ClassCosts,
    /// The seed of the player, the outputs, the part of the samples and the learner.
    pub seed: u64,
    /// The time after which no more steps are taken, and the ensemble so far is judged.
    pub time_limit: Option<Duration>,
    /// The function that is called every so many steps, and may end the game, of which then only
    /// the checkpoint is left.
    pub iterations: IterationObserver<()>,
    /// The file of the state of the game.
    #[cfg(feature = "serde")]
    pub checkpoint: Option<Checkpointing>,
}

/// The bound B on the sum of the losses that the learner suffers on any sequence of the samples, with
/// the 0-1 loss of its mistakes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum MistakeBound {
    /// As many as there are samples, an assumption.
    #[default]
    Samples,
    /// A number.
    Mistakes(f64),
    /// `(R/gamma)^2` for a perceptron on samples of norm at most R that a hyperplane separates with
    /// the margin gamma (Novikoff); `2 (R/gamma)^2` in one game of several classes, where gamma is the
    /// [margin of Kesler's construction](margins_boost::KeslerPerceptron). Samples are as the learner
    /// sees them: standardised if features are, and with one more feature, of value 1, for an intercept.
    Margin(f64),
}

/// Which slack outliers may take.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum SlackRule {
    /// No slack at first. If some losses exceed epsilon after the steps of theorem 1, a second game is
    /// played with slack ([`SlackKind::AdditiveSum`]) for as many outliers as there are such samples,
    /// and the ensemble with fewer of them is returned. [`FocusedLearner::Adaptive`] on the logistic
    /// loss plays it instead of the perceptron, which never settles on such samples. With
    /// a subsample, a validated output, whose rows held out would choose the slack, or another player
    /// than the focused one there is no second game.
    #[default]
    Automatic,
    /// No slack.
    Off,
    /// Slack from the first step.
    Budget(SlackBudget),
}

/// The slack that outliers may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlackBudget {
    /// The effect of slack on a loss.
    pub kind: SlackKind,
    /// The most slack of all samples together.
    pub budget: f64,
}

/// The size of the random part of the samples that a game is played on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subsampling {
    /// The number of outliers, which are likely not in it.
    pub outliers: usize,
    /// The number of rare samples, of which enough are likely in it.
    pub rare: usize,
}

/// What theorem 1 says of a game: with probability `1 - delta` the mean loss of the classifiers is
/// small enough for epsilon on every sample, if the learner suffers at most [`mistakes`](Self::mistakes)
/// in sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guarantee {
    /// The probability with which it may fail.
    pub delta: f64,
    /// The bound B on the sum of the learner's losses.
    pub mistakes: f64,
    /// The steps and classifiers of the theorem.
    pub theory: Horizon,
    /// The most steps of the game and its classifiers.
    pub horizon: Horizon,
    /// A bound on the probability that it fails at the end of [`horizon`](Self::horizon); `None` of
    /// another player than the focused one, with slack, and of an output that is not an ensemble.
    pub failure: Option<f64>,
    /// A bound on the probability that the subsample has an outlier or too few rare samples (theorem
    /// 3); `None` without a subsample.
    pub of_subsample: Option<f64>,
}

/// The file to which the state of a game is written, regularly and at the end; if it exists already,
/// the game resumes from it.
#[cfg(feature = "serde")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpointing {
    /// The file.
    pub path: PathBuf,
    /// The step after which the game ends, to be resumed later.
    pub pause_at: Option<u64>,
}

#[cfg(feature = "serde")]
impl Checkpointing {
    /// Returns the file of the game of a class against the rest: `.k` is added to its name, k from 1.
    pub(super) fn of_class(&self, class: usize) -> Self {
        let mut path = self.path.clone().into_os_string();
        path.push(format!(".{}", class + 1));
        Checkpointing { path: path.into(), ..self.clone() }
    }
}

impl Default for EnsembleSettings {
    fn default() -> Self {
        EnsembleSettings {
            loss: Arc::new(ZeroOne),
            epsilon: 0.49,
            standardize: false,
            learner: FocusedLearner::Perceptron,
            intercept: true,
            max_steps: None,
            outputs: None,
            output: Output::Majority,
            delta: 0.01,
            mistakes: MistakeBound::Samples,
            player: PlayerKind::Focused,
            slack: SlackRule::Automatic,
            subsample: None,
            class_weights: ClassWeights::AsGiven,
            class_costs: ClassCosts::default(),
            seed: 1,
            time_limit: None,
            iterations: IterationObserver::default(),
            #[cfg(feature = "serde")]
            checkpoint: None,
        }
    }
}

impl EnsembleSettings {
    /// Returns true if a model holds the ensemble: of linear learners and kernels, not of stumps and
    /// networks.
    pub fn makes_model(&self) -> bool {
        self.learner.makes_model()
    }

    /// Refuses settings that the game cannot use; [`fit`](Self::fit) does so too.
    ///
    /// # Errors
    /// [`Error::Contradiction`]: no intercept of a learner that is not linear, slack for the
    /// outliers that a part of the samples is to leave out, a validated output of such a part. [`Error::Setting`]: an epsilon that is
    /// not between 0 and 1, or that no majority reaches with the loss.
    pub fn check(&self) -> Result<(), Error> {
        if !self.intercept && !self.learner.is_linear() {
            return Err(Error::contradiction(
                "no intercept".to_owned(),
                format!("the learner {}", self.learner),
                "only linear learners have an intercept to leave out",
            ));
        }
        if self.slack().is_some() && self.subsample.is_some() {
            return Err(Error::contradiction(
                "slack".to_owned(),
                "a subsample".to_owned(),
                "outliers get slack or are left out",
            ));
        }
        if self.output == Output::Validated && self.subsample.is_some() {
            return Err(Error::contradiction(
                "a validated output".to_owned(),
                "a subsample".to_owned(),
                "the counts of a subsample are those of all rows, of which some are held out",
            ));
        }
        for (name, value) in [("epsilon", self.epsilon), ("delta", self.delta)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(Error::setting(name, &value, "between 0 and 1"));
            }
        }
        if self.class_weights == ClassWeights::Balanced
            && let Some((class, cost)) = self.class_costs.first()
        {
            return Err(Error::contradiction(
                "balanced classes".to_owned(),
                format!("a cost {cost} of class '{class}'"),
                "balanced weights follow from the data",
            ));
        }
        self.check_mistakes()?;
        self.mean_loss(1.0).map(drop)
    }

    fn check_mistakes(&self) -> Result<(), Error> {
        match self.mistakes {
            MistakeBound::Mistakes(b) if !(b >= 0.0 && b.is_finite()) => {
                Err(Error::setting("mistakes", &b, "a finite number of at least 0"))
            }
            MistakeBound::Margin(gamma) if !(gamma > 0.0 && gamma.is_finite()) => {
                Err(Error::setting("margin", &gamma, "a finite number greater than 0"))
            }
            MistakeBound::Margin(_) => {
                let perceptron = matches!(self.learner, FocusedLearner::Perceptron);
                let loss = self.loss.specification();
                if perceptron && loss == ZeroOne.specification() {
                    return Ok(());
                }
                Err(Error::contradiction(
                    "a margin".to_owned(),
                    format!("the learner {} and the loss {loss}", self.learner),
                    "a margin bounds the mistakes of the perceptron; give a number of mistakes instead",
                ))
            }
            MistakeBound::Samples | MistakeBound::Mistakes(_) => Ok(()),
        }
    }

    /// Returns the mean loss, times the weight of a sample, of the classifiers with which their
    /// combination has a loss of at most `epsilon/weight` on the sample. The weight is above epsilon.
    fn mean_loss(&self, weight: f64) -> Result<f64, Error> {
        let (loss, epsilon) = (&*self.loss, self.epsilon / weight);
        let mean = Horizon::mean_loss_for(self.output.combination(), loss, epsilon);
        mean.map(|mean| weight * mean).ok_or_else(|| {
            let unanimous = loss.value(1.0);
            let name = loss.specification();
            let requirement = format!(
                "more than {unanimous:.4}, the loss '{name}' of a unanimous vote; other outputs than the majority have no such limit"
            );
            Error::setting("epsilon", &self.epsilon, requirement)
        })
    }

    /// Returns the mean loss of the game with which no sample exceeds epsilon.
    fn mean_loss_of(&self, weights: Option<&[f64]>) -> Result<f64, Error> {
        let mut distinct = weights.unwrap_or_default().to_vec();
        distinct.sort_unstable_by(f64::total_cmp);
        distinct.dedup();
        let above = distinct.into_iter().filter(|&weight| weight > self.epsilon);
        let means = above.map(|weight| self.mean_loss(weight)).collect::<Result<Vec<_>, _>>()?;
        means.into_iter().reduce(f64::min).map_or_else(|| self.mean_loss(1.0), Ok)
    }

    /// Returns the random part of the samples to learn from, if it is not all of them.
    pub(super) fn subsample(&self, rows: usize) -> Result<Option<Subsample>, Error> {
        let Some(Subsampling { outliers, rare }) = self.subsample else { return Ok(None) };
        Ok(Some(Subsample::new(rows, outliers, rare)?))
    }

    /// Returns the rows to learn from and those held out, if some are.
    pub(super) fn held_out<Y: ClassLabels>(
        &self,
        data: &Dataset<Y>,
    ) -> Result<Option<output::Split>, Error> {
        let validated = self.output == Output::Validated;
        validated.then(|| output::hold_out(data.labels(), self.seed)).transpose()
    }

    /// Returns the rule by which a game ends before its last step.
    pub(super) fn stop(&self) -> Stop {
        match self.output.is_single() {
            true => Stop::LearnerLossAtMost(self.epsilon),
            false => Stop::LossAtMost(self.epsilon),
        }
    }

    /// Returns the slack of the first game.
    pub(super) fn slack(&self) -> Option<SlackBudget> {
        match self.slack {
            SlackRule::Budget(budget) => Some(budget),
            SlackRule::Automatic | SlackRule::Off => None,
        }
    }

    /// Returns what theorem 1 says of a game on samples, as the learner sees them, with their classes if
    /// there are several.
    pub(super) fn guarantee(
        &self,
        data: &Dataset,
        classes: Option<usize>,
    ) -> Result<Guarantee, Error> {
        let (m, mean_loss) = (data.rows(), self.mean_loss_of(data.weights())?);
        let mistakes = match self.mistakes {
            MistakeBound::Samples => m as f64,
            MistakeBound::Mistakes(mistakes) => mistakes,
            MistakeBound::Margin(gamma) => {
                let (vectors, own): (_, fn(&Sample<'_>) -> f64) = match classes {
                    Some(_) => (2.0, |x| kesler_sample(x).0.squared_norm()),
                    None => (1.0, |x| x.squared_norm()),
                };
                let largest = data.design().samples().map(|x| own(&x)).fold(0.0, f64::max);
                vectors * (largest + f64::from(u8::from(self.intercept))) / (gamma * gamma)
            }
        };
        let theory = Horizon::theorem_1(m, mean_loss, self.delta, mistakes)?;
        let steps = self.max_steps.unwrap_or(theory.rounds());
        let horizon = Horizon::new(steps, self.outputs.unwrap_or(theory.outputs()))?;
        let holds = self.player == PlayerKind::Focused
            && !self.output.is_single()
            && self.slack().is_none();
        let failure = holds.then(|| horizon.failure(m, mean_loss, mistakes)).transpose()?;
        Ok(Guarantee { delta: self.delta, mistakes, theory, horizon, failure, of_subsample: None })
    }

    /// Returns true if a game that does not reach epsilon is followed by one with slack: one that had
    /// the steps of theorem 1, so that time was not what it lacked.
    pub(super) fn plays_again(&self, guarantee: &Guarantee) -> bool {
        let on_all = self.subsample.is_none() && self.output != Output::Validated;
        let focused = self.player == PlayerKind::Focused;
        let automatic = self.slack == SlackRule::Automatic && on_all && focused;
        automatic && guarantee.horizon.rounds() >= guarantee.theory.rounds()
    }

    /// Returns the settings that make the game, in words: a file of another game is refused by
    /// them.
    #[cfg(feature = "serde")]
    pub(super) fn describe<Y: ClassLabels>(
        &self,
        data: &Dataset<Y>,
        classes: Option<usize>,
        horizon: &Horizon,
    ) -> BTreeMap<String, String> {
        let kernel = match &self.learner {
            FocusedLearner::KernelPerceptron { kernel, .. } => kernel.clone(),
            _ => String::new(),
        };
        let part =
            self.subsample.map(|Subsampling { outliers, rare }| format!("{outliers},{rare}"));
        let settings = [
            ("data", digest_of(data)),
            ("learner", self.learner.to_string()),
            ("kernel", kernel),
            ("intercept", self.intercept.to_string()),
            ("epsilon", self.epsilon.to_string()),
            ("standardize", self.standardize.to_string()),
            ("combination", self.output.name().to_owned()),
            ("slack", self.slack.to_string()),
            ("subsample", part.unwrap_or_default()),
            ("delta", self.delta.to_string()),
            ("player", self.player.name().to_owned()),
            ("max-steps", horizon.rounds().to_string()),
            ("outputs", horizon.outputs().to_string()),
            ("seed", self.seed.to_string()),
        ];
        let joint = classes.map(|classes| ("classes in one game", classes.to_string()));
        settings.into_iter().chain(joint).map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
