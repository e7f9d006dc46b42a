//! The sublinear perceptron of Clarkson, Hazan and Woodruff, for comparison with focused online
//! learning.

use margins_data::{Design, Labels};
use margins_losses::OutOfRange;
use margins_optim::online::LinearClassifier;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{Error, SampleTree};

/// The sublinear perceptron: a round reads one sample, and one feature of all samples.
///
/// On samples `A_i = y_i x_i/R` of norm at most 1, without an intercept: the primal player keeps
/// `s_t = sum A_i/sqrt(2 T)` over the samples drawn, projected onto the unit ball, `x_t`. A feature
/// j is drawn in proportion to `x_t(j)^2`, which gives every margin the unbiased estimate `v_i =
/// A_i(j) ||x_t||^2/x_t(j)`; weights are multiplied by `1 - eta v_i + eta^2 v_i^2`, with `v_i`
/// clipped to `[-1/eta, 1/eta]` and `eta = sqrt(ln(m)/T)`. The mean of `x_t` is the classifier. The
/// source has `eta = sqrt(ln(m)/T)/100` and `T = 200^2 ln(m)/gamma^2`, which its authors call
/// loose.
///
/// Source: Clarkson, Hazan and Woodruff (2012), algorithm 1.
#[derive(Debug)]
pub struct SublinearPerceptron<'a> {
    design: &'a Design,
    signs: &'a [f64],
    /// The stored values of every feature with their rows, signed and scaled.
    features: Vec<Vec<(usize, f64)>>,
    /// The scale `1/R`.
    scale: f64,
    rounds: u64,
    eta: f64,
    tree: SampleTree,
    /// The direction `s_t`, and the sum of `x_t`.
    direction: Vec<f64>,
    sum: Vec<f64>,
    round: u64,
    random: ChaCha8Rng,
}

impl<'a> SublinearPerceptron<'a> {
    /// Returns the learner before the first of T rounds.
    ///
    /// # Errors
    /// Another number of labels than of samples; no rounds; samples that are all 0.
    pub fn new(
        design: &'a Design,
        labels: &'a Labels,
        rounds: u64,
        seed: u64,
    ) -> Result<Self, Error> {
        Error::check_len("labels", design.rows(), labels.len())?;
        let positive = |value: f64| value > 0.0;
        OutOfRange::check("the number of rounds", rounds as f64, "at least 1", positive)?;
        let radius = design.samples().map(|x| x.squared_norm()).fold(0.0, f64::max).sqrt();
        let radius =
            OutOfRange::check("the largest norm of a sample", radius, "positive", positive)?;
        let mut features = vec![Vec::new(); design.columns()];
        for (row, (x, y)) in design.samples().zip(labels.signs()).enumerate() {
            x.for_each(|column, value| {
                if value != 0.0 {
                    features[column].push((row, y * value / radius));
                }
            });
        }
        Ok(SublinearPerceptron {
            design,
            signs: labels.signs(),
            features,
            scale: 1.0 / radius,
            rounds,
            eta: ((design.rows() as f64).ln() / rounds as f64).sqrt().min(1.0),
            tree: SampleTree::uniform(design.rows())?,
            direction: vec![0.0; design.columns()],
            sum: vec![0.0; design.columns()],
            round: 0,
            random: ChaCha8Rng::seed_from_u64(seed),
        })
    }

    /// Plays a round; whether there was one left.
    ///
    /// # Errors
    /// Weights that cannot be multiplied, which no data give.
    pub fn play(&mut self) -> Result<bool, Error> {
        if self.round == self.rounds {
            return Ok(false);
        }
        let squares: f64 = self.direction.iter().map(|s| s * s).sum();
        let shrink = 1.0 / squares.sqrt().max(1.0);
        let row = self.tree.draw(&mut self.random);
        let mut point = self.random.random::<f64>() * squares;
        let covers = |s: &f64| {
            point -= s * s;
            point < 0.0
        };
        let feature = self.direction.iter().position(covers);
        self.sum.iter_mut().zip(&self.direction).for_each(|(sum, s)| *sum += shrink * s);
        if let Some(feature) = feature.filter(|_| self.eta > 0.0) {
            let inverse = shrink * squares / self.direction[feature];
            for &(row, value) in &self.features[feature] {
                let estimate = (value * inverse).clamp(-1.0 / self.eta, 1.0 / self.eta);
                let move_by = self.eta * estimate;
                self.tree.multiply(row, 1.0 - move_by + move_by * move_by)?;
            }
        }
        let step = self.signs[row] * self.scale / (2.0 * self.rounds as f64).sqrt();
        self.design.sample(row).add_to(step, &mut self.direction);
        self.round += 1;
        Ok(true)
    }

    /// Returns the mean of the classifiers so far.
    pub fn classifier(&self) -> LinearClassifier {
        let rounds = self.round.max(1) as f64;
        let coef = self.sum.iter().map(|sum| sum / rounds).collect();
        LinearClassifier { intercept: 0.0, coef }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use margins_optim::online::Scorer;

    #[test]
    fn it_separates_what_has_a_margin() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut rows = Vec::new();
        while rows.len() < 200 {
            let x: [f64; 4] = std::array::from_fn(|_| random.random::<f64>() * 2.0 - 1.0);
            if (x[0] - x[3]).abs() > 0.4 {
                rows.push(x);
            }
        }
        let signs = rows.iter().map(|x| (x[0] - x[3]).signum()).collect();
        let (design, labels) =
            (Design::from_rows(&rows).unwrap(), Labels::from_signs(signs).unwrap());
        let mut game = SublinearPerceptron::new(&design, &labels, 20_000, 1).unwrap();
        while game.play().unwrap() {}
        let classifier = game.classifier();
        let right = |(x, y): (_, &f64)| y * classifier.score(&x) > 0.0;
        assert!(design.samples().zip(labels.signs()).all(right));
    }
}
