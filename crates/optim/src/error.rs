//! The error type of the crate.

use margins_losses::OutOfRange;
use thiserror::Error;

/// The reason why a problem cannot be posed or a solver cannot take it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// Lambda is not a finite positive number.
    #[error("lambda is {0}, but must be a finite number greater than 0")]
    Lambda(f64),
    /// A grid of lambdas cannot be laid out.
    #[error("a lambda grid from {from} to {to} with {count} values: {reason}")]
    LambdaGrid {
        /// The first lambda.
        from: f64,
        /// The last lambda.
        to: f64,
        /// The number of values.
        count: usize,
        /// The reason for the refusal.
        reason: &'static str,
    },
    /// A path has no lambdas.
    #[error("a path needs at least one lambda")]
    NoLambdas,
    /// The tolerance, or the tolerance of a stopping rule, is not positive.
    #[error("the tolerance is {0}, but must be a finite number greater than 0")]
    Tolerance(f64),
    /// The loss lacks a property that the solver is built on.
    #[error("loss '{loss}' {lacks}. {alternative}")]
    Unsuitable {
        /// The specification of the loss.
        loss: String,
        /// The missing property and the method that needs it, as in "has no finite curvature, which
        /// MM needs".
        lacks: &'static str,
        /// The remedy.
        alternative: &'static str,
    },
    /// The solver does not work in the space of the problem.
    #[error("solver {solver} does not take {space}. Use {instead}")]
    SolverSpace {
        /// The name of the solver.
        solver: &'static str,
        /// The space, such as "a kernel".
        space: String,
        /// The remedy: solvers that work there, or another space.
        instead: String,
    },
    /// The eigendecomposition of MM would be too large.
    #[error(
        "MM decomposes a matrix of order {order}, more than its limit of {limit}; \
         use the newton solver for problems of this shape"
    )]
    TooLargeForMm {
        /// The order of the matrix.
        order: usize,
        /// The largest order accepted.
        limit: usize,
    },
    /// Parts of the problem do not fit together.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// The part that does not fit.
        what: &'static str,
        /// The size that fits.
        expected: usize,
        /// The size that was given.
        found: usize,
    },
    /// A classifier has an intercept where the objective fixes it at 0.
    #[error("the intercept is {0}, but the objective has none")]
    Intercept(f64),
    /// The objective is not one whose path has a limit in closed form.
    #[error("the limit of a path {0}")]
    Limit(&'static str),
    /// No direction was found that separates the classes.
    #[error(
        "no direction through the origin separates the classes, down to a fit at lambda {0:e}: the path of other \
         classes has no limiting direction. Add features, or a feature that is 1"
    )]
    NotSeparable(f64),
    /// A sample weight is negative, NaN or infinite.
    #[error("weight {value} of row {row} is not a finite number of at least 0")]
    Weight {
        /// The row, counted from 0.
        row: usize,
        /// The weight.
        value: f64,
    },
    /// More features are to be free of the penalty than a fit takes.
    #[error(
        "{found} features are to have no penalty, and a fit takes at most {limit} of them: penalise the \
         others, by a penalty factor and a lambda above 0"
    )]
    FreeColumns {
        /// The number of such features.
        found: usize,
        /// The largest number.
        limit: usize,
    },
    /// A penalty factor is negative, NaN or infinite.
    #[error(
        "the penalty factor of feature {feature} is {value}, but must be a finite number of at least 0"
    )]
    PenaltyFactor {
        /// The name of the feature, or its number counted from 1.
        feature: String,
        /// The factor.
        value: f64,
    },
    /// Two penalty factors for one feature.
    #[error("feature '{0}' has two penalty factors, its own or that of its column: give one")]
    TwoPenaltyFactors(String),
    /// A penalty factor for a feature that the data do not have.
    #[error("there is no feature '{name}' to give a penalty factor. The features are: {features}")]
    NoSuchFeature {
        /// The name.
        name: String,
        /// The features of the data.
        features: String,
    },
    /// Shards could not be asked, or did not fit together.
    #[error("{0}")]
    Shards(Box<dyn std::error::Error + Send + Sync>),
    /// No sample of a class has a positive weight.
    #[error("no sample of class '{0}' has a positive weight: two classes are needed")]
    OneClass(String),
    /// The folds leave a class out of a training set.
    #[error("fold '{fold}' leaves no sample of class '{class}' to train on")]
    Fold {
        /// The name of the fold; its number, counted from 0, if the data do not name it.
        fold: String,
        /// The class that is missing from its training set.
        class: String,
    },
    /// No row is in a fold, given by its name, or its number counted from 0.
    #[error("no row of a positive weight is in fold '{0}'")]
    EmptyFold(String),
    /// There are no splits.
    #[error("there are no splits of the rows: give at least one")]
    NoSplits,
    /// A split trains on no row, or tests on none.
    #[error("split {index} has no row to {which} on")]
    EmptySplit {
        /// The split, counted from 0.
        index: usize,
        /// The rows that are missing, "train" or "test".
        which: &'static str,
    },
    /// A split names a row that the data do not have, or tests on a row twice.
    #[error(
        "split {index}: row {row} to {which} on is beyond the {rows} rows of the data{}",
        if *which == "test" { ", or repeats" } else { "" }
    )]
    Split {
        /// The split, counted from 0.
        index: usize,
        /// The rows, "train" or "test".
        which: &'static str,
        /// The row, counted from 0.
        row: usize,
        /// The number of rows of the data.
        rows: usize,
    },
    /// Cross-validation needs two folds or more.
    #[error("cross-validation needs at least 2 folds, found {0}")]
    TooFewFolds(usize),
    /// The data crate refused something.
    #[error(transparent)]
    Data(#[from] margins_data::Error),
    /// Products of features and weights are beyond the range of floating point.
    #[error("features or weights are so large that their products overflow: scale them first")]
    Overflow,
    /// Gradient descent with steps of one length left the range of floating point.
    #[error(
        "gradient descent diverges with steps of length {0}: choose a shorter step, or let a search \
         find it, which is the default"
    )]
    StepTooLong(f64),
    /// An eigendecomposition did not converge.
    #[error("the eigendecomposition of a matrix of order {0} did not converge")]
    Eigendecomposition(usize),
    /// A parameter is outside its range.
    #[error(transparent)]
    Parameter(#[from] OutOfRange),
    /// The rule that re-scales a loss failed.
    #[error("the loss cannot be re-scaled: {0}")]
    Rescaling(String),
    /// A setting that adaptive steps and coin betting do not have.
    #[error("adaptive steps and coin betting do not use {0}, which is for stochastic gradient")]
    AdaptiveSteps(&'static str),
    /// A step on a sample failed.
    #[error("at step {step}, row {row}: {error}")]
    AtSample {
        /// The row of the sample, counted from 1; in a stream, its number since the start.
        row: u64,
        /// The step of the learner, counted from 1.
        step: u64,
        /// The error of the step.
        error: Box<Error>,
    },
    /// The coefficients of a learner would be too large for their squared norm to be a number.
    #[error(
        "the squared norm of the coefficients would be {0}: the steps are too long, or a feature is \
         too large. Lower the step length"
    )]
    Unbounded(f64),
    /// The score of a sample is NaN or infinite, so that it decides for no class.
    #[error(
        "row {}: the score is {score}, which decides for no class, because a product of features and \
         coefficients overflowed: scale the features",
        row + 1
    )]
    Score {
        /// The row, counted from 0; the message counts from 1.
        row: usize,
        /// The score.
        score: f64,
    },
    /// A learner of another crate refused a sample.
    #[error("{0}")]
    Learner(Box<dyn std::error::Error + Send + Sync>),
    /// The finished folds of a cross-validation cannot be kept.
    #[error("{0}")]
    Keeping(Box<dyn std::error::Error + Send + Sync>),
    /// A learner met a score that is not a finite number.
    #[error(
        "the score of a sample is {0}: the steps are too long, or a feature is too large. Lower the step length"
    )]
    Diverged(f64),
}

impl Error {
    /// Refuses scores from which no class follows. Scores must be finite: a sum that overflowed to
    /// infinity may have the wrong sign, and NaN has none. The scores belong to the rows in order.
    ///
    /// # Errors
    /// [`Error::Score`] names the first row whose score is NaN or infinite.
    pub fn check_scores(
        scores: &[f64],
        rows: impl IntoIterator<Item = usize>,
    ) -> Result<(), Error> {
        match scores.iter().zip(rows).find(|(score, _)| !score.is_finite()) {
            Some((&score, row)) => Err(Error::Score { row, score }),
            None => Ok(()),
        }
    }
}
