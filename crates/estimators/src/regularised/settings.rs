//! The settings of regularised classifiers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use margins_data::{Dataset, Memory};
use margins_losses::{LeakyHockeyStick, MarginLoss};
use margins_model::Scheme;
use margins_optim::problem::PenaltyFactors;
use margins_optim::{ClassWeights, Lambda, Options, Training};
use margins_robust::RobustLearner;

use super::class_costs::ClassCosts;
use super::cross_validation::CrossValidation;
use super::progress::{IterationObserver, Observer};
use super::scale_rule::AutoScale;
use super::space::FunctionSpace;
use super::space::KernelChoice;
use crate::Error;

/// The settings of a regularised classifier.
///
/// By default: a linear classifier with an intercept, the leaky hockey stick loss, features and
/// classes as given, lambda by cross-validation over the default grid
/// ([`CrossValidation::default`]), the automatic solver at a relative duality gap of 1e-6, seed 1,
/// one-versus-one where there are more than two classes. Results do not depend on the number of
/// threads.
#[derive(Debug, Clone)]
pub struct ClassifierSettings {
    /// The loss.
    pub loss: Arc<dyn MarginLoss>,
    /// Further losses to choose from by cross-validation, on the same folds: that of the lowest error
    /// is taken, of several the first.
    pub or_losses: Vec<Arc<dyn MarginLoss>>,
    /// The rule by which the scale of margin pursuit follows from the training data, instead of the scale
    /// of the loss: for fits at one lambda to unweighted samples of two classes in memory.
    pub auto_scale: Option<AutoScale>,
    /// A robust learner with an objective of its own, instead of the regularised risk.
    pub learner: Option<RobustLearner>,
    /// The candidate kernels; empty for a linear classifier.
    pub kernels: KernelChoice,
    /// True to bound how far fits on Nystrom features are from the minimum for the kernel itself:
    /// one pass over the kernel matrix, which is never stored.
    pub certify_exact: bool,
    /// How lambda is chosen.
    pub regularisation: Regularisation,
    /// The parameter that is the same for problems of different numbers of rows.
    pub fixed_parameter: FixedParameter,
    /// How more than two classes are fitted; by default one-versus-one, which has the best mean rank by error
    /// and log-loss in the experiment `multi-class` on ten data sets.
    pub scheme: Option<Scheme>,
    /// True for an intercept, which is not penalised.
    pub intercept: bool,
    /// True to scale features to unit standard deviation for the fit: by the training rows of every
    /// fold for linear classifiers, once over all rows for kernels.
    pub standardize: bool,
    /// How strongly the penalty acts on each feature; by default on all alike. A factor of 0 takes a
    /// feature out of the penalty, and out of the kernel if there is one: the classifier is then linear in
    /// this feature beside the function of the kernel, a partially linear model.
    pub penalty_factors: Option<PenaltyFactors>,
    /// The point at which fits without a penalty start: the intercept, then a coefficient per feature.
    /// By default the origin.
    pub start: Option<Vec<f64>>,
    /// The weights of the two sides of every binary problem.
    pub class_weights: ClassWeights,
    /// The costs of errors on the samples of each class, in the fit and in the cross-validated
    /// error alike.
    pub class_costs: ClassCosts,
    /// The weight of every sample, for data that have none of their own.
    pub sample_weights: Option<Vec<f64>>,
    /// The source of probabilities.
    pub probabilities: Probabilities,
    /// The solver, its tolerance and limits.
    pub options: Options<'static>,
    /// The seed of folds, landmarks and random features.
    pub seed: u64,
    /// The number of threads; by default, all threads of the current rayon pool.
    #[cfg(feature = "rayon")]
    pub threads: Option<usize>,
    /// The time after which fits are not improved further. A cross-validation gets four fifths of
    /// it and then chooses among the lambdas that were certified in all folds. It replaces
    /// the deadline of the options.
    pub time_limit: Option<Duration>,
    /// The checkpoint file of a job; if the file exists, the job resumes from it. A cross-validation in memory keeps finished folds and ends with the same bits; kernels may
    /// be added to those of the file. Fits to samples that are not in memory keep the points `(b, w)`
    /// reached at each lambda, and certify them again: a tenth of the time at most goes into writing
    /// the file, and the last points may be missing after a kill. A file of other data or settings is refused.
    #[cfg(feature = "serde")]
    pub checkpoint: Option<std::path::PathBuf>,
    /// The function that is called after every fit.
    pub progress: Observer,
    /// The function that is called after every iteration of every fit, and may stop it.
    pub iterations: IterationObserver,
}

/// How lambda is chosen.
#[derive(Debug, Clone, PartialEq)]
pub enum Regularisation {
    /// A single lambda; [`Lambda::NONE`] fits linear functions without a penalty.
    Single(Lambda),
    /// A path from the largest lambda down to the one at an index, from warm starts.
    Path {
        /// The lambdas in any order, each counted once.
        lambdas: Vec<Lambda>,
        /// The index of the last, in descending order.
        index: usize,
    },
    /// Cross-validation, with one lambda for all members; the error is that of the class decided by
    /// all of them.
    CrossValidated(CrossValidation),
}

/// The regularisation that is the same for fits to all rows and to parts of them: without a fold,
/// or with two of several classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FixedParameter {
    /// The weight of the penalty beside the mean loss of the rows of the fit.
    #[default]
    Lambda,
    /// The weight of the sum of losses beside half of the penalty, `C = 1/(2 n lambda)`, where n
    /// counts all rows. A row of weight k is then the same as k rows, whatever part they are in.
    /// Fits without one sample have the lambda of all.
    C,
}

/// The source of the probabilities of a classifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Probabilities {
    /// The loss: a score has the probability of which it is the population minimiser,
    /// [`MarginLoss::probability`]. A loss such as hinge has none.
    #[default]
    OfTheLoss,
    /// Platt scaling of scores that samples get when their fold is held out, for any loss. Weights
    /// of samples count there too, costs of classes do not.
    Platt {
        /// The number of folds, as in [`CrossValidation::folds`].
        folds: Option<usize>,
    },
}

impl Default for ClassifierSettings {
    fn default() -> Self {
        ClassifierSettings {
            loss: Arc::new(LeakyHockeyStick),
            or_losses: Vec::new(),
            auto_scale: None,
            learner: None,
            kernels: KernelChoice::default(),
            certify_exact: false,
            regularisation: Regularisation::default(),
            fixed_parameter: FixedParameter::default(),
            scheme: None,
            intercept: true,
            standardize: false,
            penalty_factors: None,
            start: None,
            class_weights: ClassWeights::AsGiven,
            class_costs: ClassCosts::default(),
            sample_weights: None,
            probabilities: Probabilities::default(),
            options: Options::default(),
            seed: 1,
            #[cfg(feature = "rayon")]
            threads: None,
            time_limit: None,
            #[cfg(feature = "serde")]
            checkpoint: None,
            progress: Observer::default(),
            iterations: IterationObserver::default(),
        }
    }
}

impl Default for Regularisation {
    fn default() -> Self {
        Regularisation::CrossValidated(CrossValidation::default())
    }
}

impl Regularisation {
    /// Returns the path of all of the lambdas, of which there is at least one.
    ///
    /// # Errors
    /// [`Error::Optim`]: no lambdas.
    pub fn path(lambdas: Vec<Lambda>) -> Result<Self, Error> {
        let index = Lambda::descending(&lambdas)?.len() - 1;
        Ok(Regularisation::Path { lambdas, index })
    }

    /// Returns the choice of lambda in words, for an error message.
    pub(super) fn describe(&self) -> String {
        match self {
            Regularisation::Single(lambda) => format!("lambda {lambda}"),
            Regularisation::Path { lambdas, .. } => format!("a path of {} lambdas", lambdas.len()),
            Regularisation::CrossValidated(_) => "cross-validation".to_owned(),
        }
    }

    pub(super) fn check(&self, loss: &dyn MarginLoss) -> Result<(), Error> {
        match self {
            Regularisation::Single(_) => Ok(()),
            Regularisation::Path { lambdas, index } => {
                let count = Lambda::descending(lambdas)?.len();
                if *index < count {
                    return Ok(());
                }
                let requirement = format!("less than {count}, the number of lambdas");
                Err(Error::setting("the index of the path", index, requirement))
            }
            Regularisation::CrossValidated(how) => how.check(loss),
        }
    }
}

impl ClassifierSettings {
    /// Returns the spaces for data: a space a kernel, or the linear one.
    pub(super) fn spaces_for(&self, data: &Dataset) -> Result<Vec<FunctionSpace>, Error> {
        self.kernels.spaces_for(data, self.standardize, self.seed)
    }

    /// Returns a space a kernel, or the linear one, as far as one can say without data.
    pub(super) fn spaces(&self) -> Result<Vec<FunctionSpace>, Error> {
        self.kernels.spaces()
    }

    /// Returns the memory limit for the matrix of one of so many kernels, if it is given or known.
    pub(super) fn memory_of_matrix(&self, kernels: usize) -> Option<Memory> {
        self.kernels.memory_of_matrix(kernels)
    }

    /// Returns the settings of fits to data of this number of rows or parts of them, which end by
    /// the deadline, or else by the deadline of the options.
    pub(super) fn training(
        &self,
        rows: usize,
        deadline: Option<Instant>,
    ) -> Training<'_, dyn MarginLoss> {
        let deadline = deadline.or(self.options.deadline);
        let is_joint = self.scheme.is_some_and(Scheme::is_joint);
        Training {
            intercept: self.intercept,
            standardize: self.standardize,
            penalty: self.penalty_factors.as_ref(),
            start: self.start.as_deref(),
            class_weights: self.class_weights,
            of_rows: (self.fixed_parameter == FixedParameter::C).then_some(rows),
            options: Options {
                deadline,
                watch: self.iterations.watch().or(self.options.watch),
                keep_duals: self.options.keep_duals
                    || self.certify_exact && (is_joint || !self.loss.is_differentiable()),
                ..self.options
            },
            ..Training::new(&*self.loss)
        }
    }
}
