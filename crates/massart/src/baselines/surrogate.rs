//! Minimisation of a convex surrogate.

use margins_losses::MarginLoss;
use margins_optim::method::Limits;

use crate::SphereSample;
use crate::cutting_planes::{Method, Minimum, minimize_on_unit_ball};

/// Returns the minimiser of `mean L(y <w, x>)` over unit samples in the ball `||w|| <= radius`, to
/// a gap of `tolerance` or as near as `most_calls` evaluations or the limits come.
///
/// The LeakyReLU loss, which on a sample is `(1[wrong] - lambda) |<w, x>|` (claim C.1 of the
/// [paper](crate)), is homogeneous, so that its minimiser has the length of the radius, whatever
/// that is. Other losses have the minimiser of the whole space if it is inside the ball.
pub fn minimize<L: MarginLoss + ?Sized>(
    method: Method,
    loss: &L,
    radius: f64,
    sample: &SphereSample<'_>,
    tolerance: f64,
    most_calls: usize,
    limits: &Limits<'_>,
) -> Minimum {
    let columns = sample.columns();
    let minimum = minimize_on_unit_ball(method, columns, tolerance, most_calls, limits, |v| {
        let mut scores = sample.points().scores(v);
        scores.iter_mut().for_each(|score| *score *= radius);
        let terms = scores.iter().zip(sample.signs()).zip(sample.weights());
        let sum: f64 = terms.map(|((s, y), c)| c * loss.value(y * s)).sum();
        let slope = |s: f64, y: f64| radius * y * loss.derivative(y * s);
        (sum / sample.total(), sample.mean(&scores, slope))
    });
    let point = minimum.point.iter().map(|v| radius * v).collect();
    Minimum { point, ..minimum }
}
