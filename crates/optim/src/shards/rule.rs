//! The scores, decisions and probabilities of a linear rule, as shards compute them.

use margins_data::Design;
use margins_losses::{MarginLoss, joint_probabilities, softmax};

use crate::problem::JointForm;
use crate::shards::part::check_coefficients;
use crate::shards::{Failure, Rule};

impl Rule {
    pub(super) fn classes(&self) -> usize {
        if self.0.len() == 1 { 2 } else { self.0.len() }
    }

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

    pub(super) fn decide(scores: &[Vec<f64>], i: usize) -> usize {
        match scores {
            [one] => usize::from(one[i] > 0.0),
            each => {
                (1..each.len()).fold(0, |best, k| if each[k][i] > each[best][i] { k } else { best })
            }
        }
    }

    /// Writes the probability of each class at the scores of sample i: of two classes the loss gives the
    /// probability of the second; of more, it gives one for each, which are divided by their sum, unless the
    /// scores are from one problem of this form. Returns `None` if the loss has no probabilities.
    pub(super) fn probabilities<L: MarginLoss + ?Sized>(
        loss: &L,
        form: Option<JointForm>,
        scores: &[Vec<f64>],
        i: usize,
        out: &mut [f64],
    ) -> Option<()> {
        if let ([one], [first, second]) = (scores, &mut *out) {
            *second = loss.probability(one[i])?;
            *first = 1.0 - *second;
            return Some(());
        }
        if let Some(form) = form {
            loss.probability(0.0)?;
            let of_sample: Vec<f64> = scores.iter().map(|of| of[i]).collect();
            match form {
                JointForm::Pairwise => joint_probabilities(loss, &of_sample, out),
                JointForm::Multinomial => softmax(&of_sample, out),
                JointForm::CrammerSinger => return None,
            }
            return Some(());
        }
        for (p, of) in out.iter_mut().zip(scores) {
            *p = loss.probability(of[i])?;
        }
        let (sum, even) = (out.iter().sum::<f64>(), 1.0 / out.len() as f64);
        out.iter_mut().for_each(|p| *p = if sum > 0.0 { *p / sum } else { even });
        Some(())
    }
}
