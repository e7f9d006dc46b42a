//! Limited-memory BFGS with a weak Wolfe line search, which also descends on functions with kinks:
//! by bisection it steps across a kink to where the slope along the line has turned (Lewis and
//! Overton, *Nonsmooth optimization via quasi-Newton methods*, Mathematical Programming 141, 2013).

use std::cell::Cell;
use std::collections::VecDeque;

use margins_optim::Status;
use margins_optim::method::{Ending, LimitedMemory, Monitor, Rule};
use margins_optim::problem::MarginSummary;
use margins_optim::problem::summation::dot;

use crate::uncertain;

/// The number of pairs of a step and a change of the gradient that are kept.
const MEMORY: usize = 30;

/// The end of a descent.
pub(super) struct Descended {
    pub(super) point: Vec<f64>,
    pub(super) ending: Ending,
}

/// Returns the end of a descent from `start` on a function that also writes its gradient. The
/// descent ends when its last twenty steps together have gained less than `tolerance` of its size
/// ([`Status::RuleMet`]), when no step gains anything, or by the monitor. A step that gains nothing
/// meets the rule too if its slope promised no more than that, as at the minimum of a smooth
/// function; else the descent has [stalled](Status::Stalled). The function never rises. `ended` may
/// end the descent at any point, given with the norm of the gradient there.
pub(super) fn descend(
    mut function: impl FnMut(&[f64], &mut [f64]) -> f64,
    start: Vec<f64>,
    tolerance: f64,
    mut ended: impl FnMut(&[f64], f64) -> Option<Status>,
    mut monitor: Monitor<'_>,
) -> Descended {
    const WINDOW: usize = 20;
    /// The passes of a value with its gradient: one for the scores, one for the gradient.
    const PASSES: usize = 2;
    let passes = Cell::new(0);
    let mut function = |point: &[f64], gradient: &mut [f64]| {
        passes.set(passes.get() + PASSES);
        function(point, gradient)
    };
    let mut gradient = vec![0.0; start.len()];
    let value = function(&start, &mut gradient);
    let mut at = State { point: start, value, gradient };
    let mut memory = LimitedMemory::new(MEMORY);
    let mut values = VecDeque::new();
    loop {
        values.push_back(at.value);
        let gained = |values: &VecDeque<f64>| values[0] - at.value;
        let certificate = uncertain(at.value, &at.gradient);
        if let Some(status) = ended(&at.point, certificate.gradient_norm) {
            return Descended { point: at.point, ending: monitor.end(status, certificate) };
        }
        let met = certificate.gradient_norm == 0.0
            || values.len() > WINDOW && gained(&values) <= tolerance * at.value.abs();
        if values.len() > WINDOW {
            values.pop_front();
        }
        let status = monitor.judge_by(
            Rule::Own { met },
            passes.get(),
            &certificate,
            &certificate,
            MarginSummary::unknown,
        );
        if let Some(status) = status {
            return Descended { point: at.point, ending: monitor.end(status, certificate) };
        }
        monitor.count(1);
        let direction = direction(&memory, &at.gradient);
        let next = line_search(&mut function, &at, &direction).or_else(|| {
            // The steps no longer describe the function here: one without them is tried.
            memory.clear();
            let steepest = self::direction(&memory, &at.gradient);
            line_search(&mut function, &at, &steepest)
        });
        let Some(next) = next else {
            // The model's minimum along the direction is half of the slope below.
            let promised = -0.5 * dot(&at.gradient, &direction);
            let met = promised <= tolerance * at.value.abs();
            let status = if met { Status::RuleMet } else { Status::Stalled };
            return Descended { point: at.point, ending: monitor.end(status, certificate) };
        };
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
        memory.learn(difference(&next.point, &at.point), difference(&next.gradient, &at.gradient));
        at = next;
    }
}

/// A point with the value and the gradient of the function there.
struct State {
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// Returns a step along the direction that decreases the function and along which the slope has
/// lost a tenth of its size; `None` if no step decreases it.
fn line_search(
    function: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
    from: &State,
    direction: &[f64],
) -> Option<State> {
    const MOST_TRIALS: usize = 60;
    const SUFFICIENT_DECREASE: f64 = 1e-4;
    const SLOPE_LEFT: f64 = 0.9;
    let slope = dot(&from.gradient, direction);
    if slope >= 0.0 || slope.is_nan() {
        return None;
    }
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut t = 1.0;
    let mut best = None;
    for _ in 0..MOST_TRIALS {
        let point: Vec<f64> = from.point.iter().zip(direction).map(|(x, d)| x + t * d).collect();
        let mut gradient = vec![0.0; point.len()];
        let value = function(&point, &mut gradient);
        let decreased = value <= from.value + SUFFICIENT_DECREASE * t * slope && value < from.value;
        if !decreased {
            high = t;
        } else {
            let steep = dot(&gradient, direction) < SLOPE_LEFT * slope;
            best = Some(State { point, value, gradient });
            if !steep {
                break;
            }
            low = t;
        }
        t = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * t };
    }
    best
}

/// Returns the direction of a step; without steps before it one of length 1 at most.
fn direction(memory: &LimitedMemory, gradient: &[f64]) -> Vec<f64> {
    let mut direction = memory.direction(gradient, None);
    if memory.is_empty() {
        let norm = dot(gradient, gradient).sqrt().max(1.0);
        direction.iter_mut().for_each(|d| *d /= norm);
    }
    direction
}
