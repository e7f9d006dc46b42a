//! The step lengths of online gradient descent.

use margins_losses::{MarginLoss, OutOfRange};

use crate::{Error, Lambda};

/// The step length `eta_t` of step t = 1, 2, ...
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case", deny_unknown_fields))]
#[non_exhaustive]
pub enum Schedule {
    /// The length is `eta`.
    Constant(f64),
    /// The length is `eta / sqrt(t)`.
    InverseSqrt(f64),
    /// The length is `eta / t`.
    InverseTime(f64),
    /// The length is `eta / (1 + 2 lambda eta t)`: nearly constant at first, like `1/(2 lambda t)`
    /// in the end (Bottou, *Stochastic gradient descent tricks*, 2012, section 5.2).
    Bottou {
        /// The number `eta`.
        first: f64,
        /// The regularisation.
        lambda: Lambda,
    },
}

impl Schedule {
    /// Returns `1/(2 lambda t)`, the step of Pegasos, whose lambda is twice ours.
    pub fn pegasos(lambda: Lambda) -> Self {
        Schedule::InverseTime(0.5 / lambda.get())
    }

    /// Returns `1/(scale sqrt(lambda) t)`, the step of margin pursuit of this scale in its
    /// comparison with Pegasos (Holland 2019, section 4, with its t counted from 0). No step moves
    /// the coefficients by more than `0.95 ||x||/(sqrt(lambda) t)`, because the slope of that loss
    /// is at most 0.95 times the scale.
    pub fn margin_pursuit(scale: f64, lambda: Lambda) -> Self {
        Schedule::InverseTime(1.0 / (scale * lambda.get().sqrt()))
    }

    /// Returns Bottou's schedule with `eta = w / max(1, |L'(-w)|)`, `w = (2 lambda)^(-1/4)`: the
    /// coefficients after one step are then of the size that the penalty allows. This is the
    /// heuristic of scikit-learn's `optimal`.
    pub fn bottou(loss: &(impl MarginLoss + ?Sized), lambda: Lambda) -> Self {
        let size = (2.0 * lambda.get()).powf(-0.25);
        let first = size / loss.derivative(-size).abs().max(1.0);
        Schedule::Bottou { first, lambda }
    }

    /// Returns `eta_t`, t counted from 1.
    #[inline(always)]
    pub fn rate(&self, t: u64) -> f64 {
        let t = t as f64;
        match *self {
            Schedule::Constant(first) => first,
            Schedule::InverseSqrt(first) => first / t.sqrt(),
            Schedule::InverseTime(first) => first / t,
            Schedule::Bottou { first, lambda } => first / (1.0 + 2.0 * lambda.get() * first * t),
        }
    }

    /// Returns the schedule with all steps multiplied by a factor; Bottou's with the first steps
    /// multiplied.
    #[must_use]
    pub(crate) fn times(self, factor: f64) -> Self {
        match self {
            Schedule::Constant(first) => Schedule::Constant(factor * first),
            Schedule::InverseSqrt(first) => Schedule::InverseSqrt(factor * first),
            Schedule::InverseTime(first) => Schedule::InverseTime(factor * first),
            Schedule::Bottou { first, lambda } => {
                Schedule::Bottou { first: factor * first, lambda }
            }
        }
    }

    /// Refuses a schedule without steps.
    ///
    /// # Errors
    /// [`Error::Parameter`]: `eta` is not a finite number greater than 0.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let (Schedule::Constant(first)
        | Schedule::InverseSqrt(first)
        | Schedule::InverseTime(first)
        | Schedule::Bottou { first, .. }) = *self;
        OutOfRange::check_positive("the first step", first)?;
        Ok(())
    }
}
