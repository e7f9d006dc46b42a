//! The scores, decisions and losses of a linear rule, as shards compute them.

use margins_data::Design;
use margins_data::metrics::Measure;
use margins_losses::MarginLoss;

use crate::shards::part::check_coefficients;
use crate::shards::{Failure, Rule};

impl Rule {
    /// Returns the scores of all samples, one list a member.
    pub(super) fn scores(&self, design: &Design) -> Result<Vec<Vec<f64>>, Failure> {
        let score = |(intercept, coef): &(f64, Vec<f64>)| {
            check_coefficients(coef, design)?;
            let mut scores = vec![0.0; design.rows()];
            design.multiply(coef, &mut scores);
            scores.iter_mut().for_each(|score| *score += intercept);
            Ok(scores)
        };
        self.0.iter().map(score).collect()
    }

    /// Returns the class that scores of sample i decide.
    pub(super) fn decide(scores: &[Vec<f64>], i: usize) -> usize {
        match scores {
            [one] => usize::from(one[i] > 0.0),
            each => {
                (1..each.len()).fold(0, |best, k| if each[k][i] > each[best][i] { k } else { best })
            }
        }
    }

    /// Returns the log-loss of sample i of a class: of two classes the loss gives the probability of the
    /// second one, of more those of all, which are divided by their sum. `None` if the loss gives none.
    pub(super) fn log_loss<L: MarginLoss + ?Sized>(
        loss: &L,
        scores: &[Vec<f64>],
        i: usize,
        class: usize,
    ) -> Option<f64> {
        let each: Option<Vec<f64>> = scores.iter().map(|of| loss.probability(of[i])).collect();
        let mut each = each?;
        match each[..] {
            [second] => each = vec![1.0 - second, second],
            _ => {
                let (sum, even) = (each.iter().sum::<f64>(), 1.0 / each.len() as f64);
                each.iter_mut().for_each(|p| *p = if sum > 0.0 { *p / sum } else { even });
            }
        }
        each.get(class)?;
        Measure::LogLoss.of_sample(class, &each)
    }
}
