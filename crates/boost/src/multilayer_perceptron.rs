//! A small multilayer perceptron as an online learner, written out so that it can be stored and
//! compared bit by bit.

use margins_data::Sample;
use margins_losses::{MarginLoss, OutOfRange};
use margins_optim::online::{OnlineLearner, Scorer};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::Error;

/// A fully connected layer, `z = b + W'x`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Layer {
    /// The matrix `W`, the weights of an input one after the other: a sparse sample touches its own
    /// only.
    weights: Vec<f64>,
    bias: Vec<f64>,
}

impl Layer {
    /// Draws normal weights of variance 2/inputs (He et al. 2015).
    fn new(inputs: usize, outputs: usize, random: &mut ChaCha8Rng) -> Self {
        let deviation = (2.0 / inputs as f64).sqrt();
        let mut normal = || -> f64 { StandardNormal.sample(random) };
        let weights = (0..inputs * outputs).map(|_| deviation * normal()).collect();
        Layer { weights, bias: vec![0.0; outputs] }
    }

    fn inputs(&self) -> usize {
        self.weights.len() / self.bias.len().max(1)
    }

    fn of_input(&self, input: usize) -> &[f64] {
        let outputs = self.bias.len();
        &self.weights[input * outputs..(input + 1) * outputs]
    }

    fn apply(&self, x: &Sample<'_>) -> Vec<f64> {
        let mut z = self.bias.clone();
        x.for_each(|input, value| {
            if value != 0.0 {
                z.iter_mut().zip(self.of_input(input)).for_each(|(z, w)| *z += value * w);
            }
        });
        z
    }

    /// Computes `W -= step x d'`, `b -= step d`.
    fn descend(&mut self, x: &Sample<'_>, d: &[f64], step: f64) {
        let outputs = self.bias.len();
        x.for_each(|input, value| {
            if value != 0.0 {
                let weights = &mut self.weights[input * outputs..(input + 1) * outputs];
                weights.iter_mut().zip(d).for_each(|(w, d)| *w -= step * value * d);
            }
        });
        self.bias.iter_mut().zip(d).for_each(|(b, d)| *b -= step * d);
    }
}

/// A network of fully connected layers with `max(0, z)` between them and one score at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Layers")]
pub struct Network {
    /// The layers, at least one; each takes what the one before it gives, the last gives one score.
    layers: Vec<Layer>,
}

/// A network as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Layers {
    layers: Vec<Layer>,
}

impl TryFrom<Layers> for Network {
    type Error = Error;

    fn try_from(Layers { layers }: Layers) -> Result<Self, Error> {
        let Some(last) = layers.last() else {
            return Err(Error::Shape { what: "layers", expected: 1, found: 0 });
        };
        Error::check_len("scores of the last layer", 1, last.bias.len())?;
        let mut inputs = None;
        for layer in &layers {
            let outputs = layer.bias.len();
            let inputs = inputs.replace(outputs).unwrap_or_else(|| layer.inputs());
            OutOfRange::check(
                "the size of a layer",
                outputs.min(inputs) as f64,
                "at least 1",
                |n| n >= 1.0,
            )?;
            let weights = inputs.saturating_mul(outputs);
            Error::check_len("weights of a layer", weights, layer.weights.len())?;
        }
        Ok(Network { layers })
    }
}

/// Takes `max(0, z)` in place; what is no number stays so.
fn rectify(z: &mut [f64]) {
    z.iter_mut().filter(|z| **z < 0.0).for_each(|z| *z = 0.0);
}

/// Returns the number of units of all layers, from the features to the score.
fn sizes(features: usize, hidden: &[usize]) -> Vec<usize> {
    [&[features], hidden, &[1]].concat()
}

/// Returns the number of weights and biases, in floating point, where no number of units overflows.
fn weights(sizes: &[usize]) -> f64 {
    sizes.windows(2).map(|pair| (pair[0] as f64 + 1.0) * pair[1] as f64).sum()
}

impl Network {
    fn new(features: usize, hidden: &[usize], seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let sizes = sizes(features, hidden);
        let layers = sizes.windows(2).map(|pair| Layer::new(pair[0], pair[1], &mut random));
        Network { layers: layers.collect() }
    }

    /// Returns the inputs of all layers but the first, then the score alone.
    fn activations(&self, x: &Sample<'_>) -> Vec<Vec<f64>> {
        let mut activations: Vec<Vec<f64>> = Vec::with_capacity(self.layers.len());
        for (at, layer) in self.layers.iter().enumerate() {
            let mut z = match activations.last() {
                None => layer.apply(x),
                Some(input) => layer.apply(&Sample::Dense(input)),
            };
            if at + 1 < self.layers.len() {
                rectify(&mut z);
            }
            activations.push(z);
        }
        activations
    }

    /// Takes one gradient step, with `slope` the derivative of the loss in the score.
    fn descend(&mut self, x: &Sample<'_>, activations: &[Vec<f64>], slope: f64, step: f64) {
        let mut d = vec![slope];
        for (at, layer) in self.layers.iter_mut().enumerate().rev() {
            let Some(below) = at.checked_sub(1) else {
                layer.descend(x, &d, step);
                break;
            };
            let input = &activations[below];
            let back = |(k, &a): (usize, &f64)| {
                let product: f64 = layer.of_input(k).iter().zip(&d).map(|(w, d)| w * d).sum();
                if a > 0.0 { product } else { 0.0 }
            };
            let next: Vec<f64> = input.iter().enumerate().map(back).collect();
            layer.descend(&Sample::Dense(input), &d, step);
            d = next;
        }
    }
}

impl Scorer for Network {
    fn score(&self, x: &Sample<'_>) -> f64 {
        self.activations(x)[self.layers.len() - 1][0]
    }

    fn columns(&self) -> Option<usize> {
        self.layers.first().map(Layer::inputs)
    }
}

/// A small multilayer perceptron trained by stochastic gradient descent on a margin loss, with a
/// step of constant size.
///
/// The loss is convex in the score, but not in the weights: theorem 1 holds for the network as far
/// as its regret is small, which nothing promises.
///
/// Source: the use that Shalev-Shwartz and Wexler (2016) have in mind; He et al. (2015) for the
/// initial weights.
///
/// ```
/// use margins_boost::MultilayerPerceptron;
/// use margins_data::Design;
/// use margins_losses::Logistic;
/// use margins_optim::online::{OnlineLearner, Scorer};
///
/// let design = Design::from_rows(&[[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])?;
/// let mut learner = MultilayerPerceptron::new(2, &[16], Logistic, 0.1, 1)?;
/// for _ in 0..1000 {
///     for (x, y) in design.samples().zip([-1.0, -1.0, 1.0, 1.0]) {
///         learner.step(&x, y)?;
///     }
/// }
/// assert!(learner.score(&design.sample(1)) < 0.0 && learner.score(&design.sample(2)) > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultilayerPerceptron<L> {
    network: Network,
    loss: L,
    step_size: f64,
}

impl<L> MultilayerPerceptron<L> {
    /// Returns the learner with its loss in another form, such as `()` for a file, which cannot
    /// hold a function.
    pub fn map_loss<M>(self, form: impl FnOnce(L) -> M) -> MultilayerPerceptron<M> {
        let MultilayerPerceptron { network, loss, step_size } = self;
        MultilayerPerceptron { network, loss: form(loss), step_size }
    }
}

impl<L: MarginLoss> MultilayerPerceptron<L> {
    /// Returns a network with hidden layers of the given sizes and weights drawn with the seed.
    ///
    /// # Errors
    /// No features, an empty layer, or a step size that is not positive; more weights than fit in 4
    /// GiB of memory, 8 bytes each.
    pub fn new(
        features: usize,
        hidden: &[usize],
        loss: L,
        step_size: f64,
        seed: u64,
    ) -> Result<Self, Error> {
        let units = hidden.iter().copied().fold(features, usize::min);
        OutOfRange::check("the size of a layer", units as f64, "at least 1", |units| units >= 1.0)?;
        OutOfRange::check("the step size", step_size, "greater than 0", |step| step > 0.0)?;
        let weights = weights(&sizes(features, hidden));
        Error::check_memory(weights, "use smaller or fewer hidden layers", || {
            format!("a network of {weights:.3e} weights")
        })?;
        Ok(MultilayerPerceptron { network: Network::new(features, hidden, seed), loss, step_size })
    }
}

impl<L> Scorer for MultilayerPerceptron<L> {
    fn score(&self, x: &Sample<'_>) -> f64 {
        self.network.score(x)
    }

    fn columns(&self) -> Option<usize> {
        self.network.columns()
    }
}

impl<L: MarginLoss> OnlineLearner for MultilayerPerceptron<L> {
    type Snapshot = Network;

    fn step(&mut self, x: &Sample<'_>, y: f64) -> Result<(), margins_optim::Error> {
        let activations = self.network.activations(x);
        let score = activations[activations.len() - 1][0];
        let slope = y * self.loss.derivative(y * score);
        if !(score.is_finite() && slope.is_finite()) {
            return Err(margins_optim::Error::Diverged(score));
        }
        if slope != 0.0 {
            self.network.descend(x, &activations, slope, self.step_size);
        }
        Ok(())
    }

    fn snapshot(&self) -> Network {
        self.network.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use margins_losses::Logistic;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_step_goes_down_the_gradient(
            x in prop::array::uniform5(-1.0..1.0f64), positive: bool, seed in 0u64..100,
        ) {
            let y = if positive { 1.0 } else { -1.0 };
            let step = 1e-3;
            let sample = Sample::Dense(&x);
            let before = MultilayerPerceptron::new(5, &[7, 4], Logistic, step, seed).unwrap();
            let mut after = before.clone();
            after.step(&sample, y).unwrap();
            let h = 1e-6;
            for layer in 0..3 {
                for at in 0..before.network.layers[layer].weights.len() {
                    let value = |shift: f64| {
                        let mut moved = before.network.clone();
                        moved.layers[layer].weights[at] += shift;
                        Logistic.value(y * moved.score(&sample))
                    };
                    let numeric = (value(h) - value(-h)) / (2.0 * h);
                    let moved = before.network.layers[layer].weights[at]
                        - after.network.layers[layer].weights[at];
                    // A kink within h of a unit's input would be another difference.
                    prop_assert!((moved / step - numeric).abs() < 1e-4, "{} {}", moved / step, numeric);
                }
            }
        }
    }

    #[test]
    fn what_is_no_number_is_refused_and_nothing_changes() {
        let mut learner = MultilayerPerceptron::new(2, &[3], Logistic, 0.1, 1).unwrap();
        let before = learner.clone();
        assert!(learner.step(&Sample::Dense(&[f64::NAN, 1.0]), 1.0).is_err());
        assert_eq!(learner, before);
        assert!(MultilayerPerceptron::new(0, &[3], Logistic, 0.1, 1).is_err());
        assert!(MultilayerPerceptron::new(2, &[3, 0], Logistic, 0.1, 1).is_err());
        assert!(MultilayerPerceptron::new(2, &[], Logistic, f64::INFINITY, 1).is_err());
    }

    #[test]
    fn networks_beyond_memory_are_refused() {
        for hidden in [&[usize::MAX / 2][..], &[1 << 20, 1 << 20], &[1 << 28], &[1 << 62, 1 << 62]]
        {
            let refused =
                MultilayerPerceptron::new(2, hidden, Logistic, 0.1, 1).expect_err("refused");
            assert!(matches!(refused, Error::Memory { .. }), "{refused}");
        }
        let refused =
            MultilayerPerceptron::new(2, &[1 << 30], Logistic, 0.1, 1).expect_err("refused");
        assert_eq!(
            refused.to_string(),
            "a network of 4.295e9 weights would take 3.436e10 bytes of memory, more than the limit of 4.295e9: use \
             smaller or fewer hidden layers"
        );
    }
}
