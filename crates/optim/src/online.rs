//! Learners that take one sample at a time.
//!
//! ```
//! use margins_data::{Design, Labels};
//! use margins_optim::online::{OnlineLearner, Perceptron, Scorer};
//!
//! let design = Design::from_rows(&[[1.0, 0.2], [-0.5, 1.0]])?;
//! let labels = Labels::from_signs(vec![1.0, -1.0])?;
//! let mut perceptron = Perceptron::new(2);
//! for _ in 0..2 {
//!     for (x, &y) in design.samples().zip(labels.signs()) {
//!         perceptron.step(&x, y)?;
//!     }
//! }
//! let classifier = perceptron.snapshot();
//! assert!(classifier.score(&design.sample(0)) > 0.0 && classifier.score(&design.sample(1)) <= 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adaptive;
mod averaged_perceptron;
mod iterate;
mod linear_classifier;
mod online_gradient;
mod passive_aggressive;
mod perceptron;
mod schedule;
pub mod stochastic;

use margins_data::Sample;

use crate::Error;

pub use adaptive::{Adaptive, Experts};
pub use averaged_perceptron::AveragedPerceptron;
pub use iterate::{Direction, Iterate};
pub use linear_classifier::LinearClassifier;
pub(crate) use online_gradient::Example;
pub use online_gradient::OnlineGradient;
pub use passive_aggressive::{Aggressiveness, PassiveAggressive};
pub use perceptron::Perceptron;

/// A function that gives a sample a score: a score above 0 predicts +1, any other -1.
pub trait Scorer {
    /// Returns the score of a sample.
    fn score(&self, x: &Sample<'_>) -> f64;

    /// Returns the number of features that samples must have, or `None` if any number will do; a
    /// caller asks before the first score.
    fn columns(&self) -> Option<usize> {
        None
    }
}

/// A classifier that learns continually, one sample at a time.
///
/// Its score is that of the present classifier; a snapshot keeps the present classifier.
pub trait OnlineLearner: Scorer {
    /// A classifier that learns no more.
    type Snapshot: Scorer + Clone + Send + Sync;

    /// Learns from a sample `x` with the label `y`, -1 or +1.
    ///
    /// # Errors
    /// A number in the sample, or in the learner after it, is not finite; the learner is then as it
    /// was before.
    fn step(&mut self, x: &Sample<'_>, y: f64) -> Result<(), Error>;

    /// Returns the present classifier.
    fn snapshot(&self) -> Self::Snapshot;
}
