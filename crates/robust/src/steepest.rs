//! Gradient descent (Holland 2019, algorithm 1) on a function that also writes its gradient.

use std::cell::Cell;

use margins_optim::method::{Monitor, Rule};
use margins_optim::problem::MarginSummary;
use margins_optim::problem::summation::dot;
use margins_optim::{Status, StepRule};

use crate::quasi_newton::Descended;
use crate::uncertain;

/// Returns the end of gradient descent from `start`, with steps of a fixed length, the inverse of the
/// smoothness, or lengths that a search finds: by halving until the function falls by a ten thousandth
/// of what the gradient promises, from twice the step before. `ended` may end the descent at any point,
/// given with the norm of the gradient there; it stalls if no step gains anything.
pub(super) fn descend_steepest(
    mut function: impl FnMut(&[f64], &mut [f64]) -> f64,
    start: Vec<f64>,
    (rule, smoothness): (StepRule, f64),
    mut ended: impl FnMut(&[f64], f64) -> Option<Status>,
    margins: impl Fn(&[f64]) -> MarginSummary,
    mut monitor: Monitor<'_>,
) -> Descended {
    const SUFFICIENT_DECREASE: f64 = 1e-4;
    /// The passes of a value with its gradient: one for the scores, one for the gradient.
    const PASSES: usize = 2;
    let passes = Cell::new(0);
    let mut function = |point: &[f64], gradient: &mut [f64]| {
        passes.set(passes.get() + PASSES);
        function(point, gradient)
    };
    let searches = !matches!(rule, StepRule::Fixed(_) | StepRule::Smooth);
    let mut point = start;
    let mut gradient = vec![0.0; point.len()];
    let mut value = function(&point, &mut gradient);
    let mut length = match rule {
        StepRule::Fixed(step) => step,
        StepRule::Smooth => 1.0 / smoothness,
        _ => 1.0 / dot(&gradient, &gradient).sqrt().max(1.0),
    };
    loop {
        let certificate = uncertain(value, &gradient);
        let status = ended(&point, certificate.gradient_norm).or_else(|| {
            let (met, here) = (certificate.gradient_norm == 0.0, &certificate);
            monitor.judge_by(Rule::Own { met }, passes.get(), here, here, || margins(&point))
        });
        if let Some(status) = status {
            return Descended { point, ending: monitor.end(status, certificate) };
        }
        monitor.count(1);
        let square = dot(&gradient, &gradient);
        let mut next_gradient = vec![0.0; point.len()];
        let mut step = |length: f64, gradient_there: &mut [f64]| {
            let there: Vec<f64> =
                point.iter().zip(&gradient).map(|(x, g)| x - length * g).collect();
            let value_there = function(&there, gradient_there);
            (there, value_there)
        };
        let (mut there, mut value_there) = step(length, &mut next_gradient);
        if searches {
            let falls = |length: f64, there: f64| {
                there <= value - SUFFICIENT_DECREASE * length * square && there < value
            };
            while !falls(length, value_there) {
                length *= 0.5;
                if length * square <= f64::EPSILON * value.abs() {
                    return Descended { point, ending: monitor.end(Status::Stalled, certificate) };
                }
                (there, value_there) = step(length, &mut next_gradient);
            }
        }
        monitor.stepped(length);
        (point, value, gradient) = (there, value_there, next_gradient);
        if searches {
            length *= 2.0;
        }
    }
}
