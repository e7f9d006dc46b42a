//! Minimisation of the LeakyReLU loss on the unit ball.

use margins_losses::{LeakyRelu, MarginLoss};

use crate::massart::SphereSample;
use crate::massart::cutting_planes::{Method, Minimum, minimize as minimize_on_ball};

/// The minimiser of `mean L(y <w, x>)` over the unit ball for the LeakyReLU loss, which on a sample is
/// `(1[wrong] - lambda) |<w, x>|` (claim C.1 of the [paper](crate::massart)), to a gap of `tolerance`, or as near as
/// `most_calls` evaluations come.
pub fn minimize(
    loss: &LeakyRelu,
    sample: &SphereSample<'_>,
    tolerance: f64,
    most_calls: usize,
) -> Minimum {
    let method = Method::AnalyticCentre;
    minimize_on_ball(method, sample.columns(), tolerance, most_calls, |w| {
        let scores = sample.points().scores(w);
        let terms = scores.iter().zip(sample.signs()).zip(sample.weights());
        let sum: f64 = terms.map(|((s, y), c)| c * loss.value(y * s)).sum();
        (sum / sample.total(), sample.mean(&scores, |s, y| y * loss.derivative(y * s)))
    })
}
