//! Rounds of steps, between which the gap is computed.

use std::time::Instant;

use margins_optim::method::is_over;

use super::active::Active;
use crate::symmetric::number::Number;

/// The number of steps after which samples may be set aside.
const SHRINKING_PERIOD: usize = 1000;

/// Where a round of steps has led.
pub(super) struct Round {
    pub(super) coef: Vec<f64>,
    pub(super) steps: usize,
    /// Samples with the gradients that the steps have kept.
    pub(super) gradients: Vec<(usize, f64)>,
}

/// When a round of steps ends.
#[derive(Clone, Copy)]
pub(super) struct Goal {
    /// The violation to be left.
    pub(super) target: f64,
    /// The most steps.
    pub(super) budget: usize,
    /// True if samples that look settled are set aside.
    pub(super) shrinking: bool,
    /// The time at which the round ends.
    pub(super) deadline: Option<Instant>,
}

/// Takes the steps of a round from these coefficients; also returns the number of entries read.
pub(super) fn take_steps<P: Number>(
    mut active: Active<'_, '_, P>,
    coef: &[f64],
    goal: Goal,
) -> (Round, f64) {
    let mut coef = coef.to_vec();
    let mut steps = 0;
    let mut extremes = active.extremes();
    while steps < goal.budget && active.violation(extremes) > goal.target {
        let due = steps.is_multiple_of(SHRINKING_PERIOD);
        if due && steps > 0 && is_over(goal.deadline) {
            break;
        }
        if due && goal.shrinking && active.shrink(extremes, &mut coef) {
            extremes = active.extremes();
        }
        match active.step(extremes) {
            Some(next) => extremes = next,
            None => break,
        }
        steps += 1;
    }
    active.store(&mut coef);
    (Round { coef, steps, gradients: active.kept_gradients() }, active.entries)
}
