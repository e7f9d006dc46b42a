use margins_data::Design;

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
}
