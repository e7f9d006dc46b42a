//! The losses and margins of a classifier on every sample of a game.

use margins_data::{Design, Labels};
use margins_losses::MarginLoss;
use margins_optim::method::Limits;
use margins_optim::online::Scorer;

use crate::Error;

/// Returns `min(1, max(0, L(u)))`: the 0-1 loss is as it was, the hinge loss becomes the ramp, any
/// other its clipped form.
///
/// # Errors
/// A score with which the loss is no number.
pub(crate) fn clipped(
    loss: &dyn MarginLoss,
    row: usize,
    sign: f64,
    score: f64,
) -> Result<f64, Error> {
    let value = loss.value(sign * score);
    if value.is_nan() { Err(Error::Loss { row, score }) } else { Ok(value.clamp(0.0, 1.0)) }
}

/// The losses and margins of a classifier on every sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The loss of every sample, clipped to [0, 1].
    pub losses: Vec<f64>,
    /// The samples with a margin that is not positive, from 0, ascending.
    pub wrong: Vec<usize>,
}

impl Evaluation {
    /// Evaluates a classifier in one pass over the samples.
    ///
    /// # Errors
    /// Another number of labels than of samples; a score that is NaN or infinite, and stands for no
    /// class.
    pub fn new<S: Scorer + ?Sized>(
        scorer: &S,
        design: &Design,
        labels: &Labels,
        loss: &dyn MarginLoss,
    ) -> Result<Self, Error> {
        Self::within(scorer, design, labels, loss, &Limits::default())
    }

    /// Evaluates a classifier unless the callback of the limits, called at every sixteenth sample,
    /// stops it. Ignores the deadline: a partial evaluation has no meaning.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new), and [`Error::Interrupted`].
    pub fn within<S: Scorer + ?Sized>(
        scorer: &S,
        design: &Design,
        labels: &Labels,
        loss: &dyn MarginLoss,
        limits: &Limits<'_>,
    ) -> Result<Self, Error> {
        const SAMPLES_A_LOOK: usize = 16;
        Error::check_len("labels", design.rows(), labels.len())?;
        let mut wrong = Vec::new();
        let losses = design.samples().zip(labels.signs()).enumerate().map(|(row, (x, &y))| {
            if row.is_multiple_of(SAMPLES_A_LOOK) && limits.is_interrupted() {
                return Err(Error::Interrupted);
            }
            let score = scorer.score(&x);
            margins_optim::Error::check_scores(&[score], std::iter::once(row))?;
            if y * score <= 0.0 {
                wrong.push(row);
            }
            clipped(loss, row, y, score)
        });
        let losses = losses.collect::<Result<_, _>>()?;
        Ok(Evaluation { losses, wrong })
    }

    /// Returns the evaluation in a game with [weights](crate::Game::with_weights): the loss of every
    /// sample multiplied by its weight.
    ///
    /// # Errors
    /// Another number of weights than of samples.
    pub fn weighted(mut self, weights: &[f64]) -> Result<Self, Error> {
        Error::check_len("weights", self.losses.len(), weights.len())?;
        self.losses.iter_mut().zip(weights).for_each(|(loss, weight)| *loss *= weight);
        Ok(self)
    }

    /// Returns the number of samples with a margin that is not positive.
    pub fn mistakes(&self) -> usize {
        self.wrong.len()
    }

    /// Returns the largest loss.
    pub fn max_loss(&self) -> f64 {
        self.losses.iter().copied().fold(0.0, f64::max)
    }

    /// Returns the mean loss.
    pub fn mean_loss(&self) -> f64 {
        self.losses.iter().sum::<f64>() / self.losses.len() as f64
    }

    /// Returns true if every sample has a positive margin.
    pub fn consistent(&self) -> bool {
        self.wrong.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use margins_losses::ZeroOne;
    use margins_optim::online::LinearClassifier;

    use super::*;

    #[test]
    fn a_score_that_overflows_is_refused() {
        let design = Design::from_rows(&[[1.0, 0.0], [1e200, 0.0]]).unwrap();
        let labels = Labels::from_signs(vec![1.0, -1.0]).unwrap();
        let scorer = LinearClassifier { intercept: 0.0, coef: vec![1e200, 0.0] };
        let refused = Evaluation::new(&scorer, &design, &labels, &ZeroOne).unwrap_err().to_string();
        assert!(
            refused.starts_with("row 2: the score is inf, which decides for no class"),
            "{refused}"
        );
    }
}
