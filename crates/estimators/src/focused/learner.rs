//! The online learners of games, and their specifications.

use std::fmt;
use std::sync::Arc;

use margins_kernels::KernelRegistry;
use margins_losses::{Logistic, MarginLoss};
use margins_optim::Lambda;
use margins_optim::online::Aggressiveness;
use margins_optim::online::stochastic::Schedule;

/// An online learner with its parameters. It is displayed as its specification, such as
/// `stump:thresholds=20,eta=0.1`.
#[derive(Debug, Clone)]
pub enum FocusedLearner {
    /// The perceptron.
    Perceptron,
    /// The perceptron whose classifier is the mean of all that it was.
    AveragedPerceptron,
    /// The passive-aggressive learner.
    PassiveAggressive(Aggressiveness),
    /// Stochastic gradient.
    OnlineGradient {
        /// The step lengths.
        schedule: Schedule,
        /// The radius of the ball that coefficients are kept in.
        radius: Option<f64>,
        /// The regularisation.
        lambda: Option<Lambda>,
        /// The loss.
        loss: Arc<dyn MarginLoss>,
    },
    /// Adaptive steps without a step length to choose
    /// ([`Adaptive`](margins_optim::online::Adaptive)).
    Adaptive {
        /// The loss.
        loss: Arc<dyn MarginLoss>,
    },
    /// Multiplicative weights over decision stumps.
    Stump {
        /// The number of thresholds a feature.
        thresholds: usize,
        /// The learning rate.
        eta: f64,
    },
    /// The perceptron in the function space of a kernel, with a budget of samples.
    KernelPerceptron {
        /// The specification of the kernel, such as `gaussian:sigma=0.5`; `gaussian` alone takes
        /// sigma from the data.
        kernel: String,
        /// The kernels that the specification may name.
        registry: KernelRegistry,
        /// The most samples that the kernel is evaluated at.
        budget: usize,
    },
    /// A multilayer perceptron.
    MultilayerPerceptron {
        /// The number of units of each hidden layer.
        hidden: Vec<usize>,
        /// The step length.
        step: f64,
        /// The loss.
        loss: Arc<dyn MarginLoss>,
    },
}

impl FocusedLearner {
    /// Returns true if the classifiers of the learner are linear.
    pub fn is_linear(&self) -> bool {
        match self {
            FocusedLearner::Perceptron
            | FocusedLearner::AveragedPerceptron
            | FocusedLearner::PassiveAggressive(_)
            | FocusedLearner::OnlineGradient { .. }
            | FocusedLearner::Adaptive { .. } => true,
            FocusedLearner::Stump { .. } | FocusedLearner::MultilayerPerceptron { .. } => false,
            FocusedLearner::KernelPerceptron { .. } => false,
        }
    }

    /// Returns the learner for samples that no classifier of this one gets right.
    ///
    /// A perceptron never settles on them: it moves by whole samples for ever, and the last ones
    /// decide. Adaptive steps on the logistic loss settle, in any units of the features.
    pub(super) fn against_noise(&self) -> FocusedLearner {
        match self {
            FocusedLearner::Perceptron => FocusedLearner::Adaptive { loss: Arc::new(Logistic) },
            other => other.clone(),
        }
    }

    /// Returns the kernels that the specification of the learner's kernel may name, if it has one.
    pub(super) fn registry(&self) -> Option<&KernelRegistry> {
        match self {
            FocusedLearner::KernelPerceptron { registry, .. } => Some(registry),
            _ => None,
        }
    }

    /// Returns true if a model holds the classifiers of the learner.
    pub fn makes_model(&self) -> bool {
        match self {
            FocusedLearner::KernelPerceptron { .. } => true,
            _ => self.is_linear(),
        }
    }
}

impl fmt::Display for FocusedLearner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FocusedLearner::Perceptron => f.write_str("perceptron"),
            FocusedLearner::AveragedPerceptron => f.write_str("averaged-perceptron"),
            FocusedLearner::PassiveAggressive(Aggressiveness::Full) => {
                f.write_str("passive-aggressive")
            }
            FocusedLearner::PassiveAggressive(Aggressiveness::Capped(c)) => {
                write!(f, "passive-aggressive:capped={c}")
            }
            FocusedLearner::PassiveAggressive(Aggressiveness::Damped(c)) => {
                write!(f, "passive-aggressive:damped={c}")
            }
            FocusedLearner::OnlineGradient { schedule, radius, lambda, loss } => {
                f.write_str("online-gradient:")?;
                match schedule {
                    Schedule::Constant(step) => write!(f, "constant={step}")?,
                    Schedule::InverseSqrt(step) => write!(f, "inverse-sqrt={step}")?,
                    Schedule::InverseTime(step) => write!(f, "inverse-time={step}")?,
                    other => write!(f, "steps={other:?}")?,
                }
                if let Some(radius) = radius {
                    write!(f, ",radius={radius}")?;
                }
                if let Some(lambda) = lambda {
                    write!(f, ",lambda={lambda}")?;
                }
                write!(f, ",loss={}", loss.specification())
            }
            FocusedLearner::Adaptive { loss } => {
                write!(f, "adaptive:loss={}", loss.specification())
            }
            FocusedLearner::Stump { thresholds, eta } => {
                write!(f, "stump:thresholds={thresholds},eta={eta}")
            }
            FocusedLearner::KernelPerceptron { budget, .. } => {
                write!(f, "kernel-perceptron:budget={budget}")
            }
            FocusedLearner::MultilayerPerceptron { hidden, step, loss } => {
                let hidden: Vec<String> = hidden.iter().map(usize::to_string).collect();
                write!(
                    f,
                    "mlp:hidden={},step={step},loss={}",
                    hidden.join("x"),
                    loss.specification()
                )
            }
        }
    }
}
