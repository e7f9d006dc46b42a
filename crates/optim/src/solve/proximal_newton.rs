//! The last digits of a fit by the proximal point method on the dual, with Newton for its steps.
//!
//! A step maximises `D(s) - (sigma/2n) sum c_i (s_i - a_i)^2` about the present duals `a`. Its own
//! dual is F with the losses of [`EmpiricalRisk::smoothed`](crate::problem::risk::EmpiricalRisk),
//! which semismooth Newton minimises with the exact intercept, whatever kinks `L` has; the slopes
//! there are the next duals, and feasible. Where the dual is piecewise linear-quadratic, as that of
//! the hinge is, finitely many such steps reach its maximum, whatever sigma (Rockafellar,
//! *Augmented Lagrangians and applications of the proximal point algorithm in convex programming*,
//! Math. Oper. Res. 1, 1976).

use std::borrow::Cow;
use std::rc::Rc;

use margins_losses::MarginLoss;

use crate::certificate::Evaluator;
use crate::certificate::dual::{self, DualPoint};
use crate::problem::{InMemory, Point, Samples};
use crate::solve::newton::{Newton, System};
use crate::solve::{Ending, Monitor, Rule, Status};
use crate::{Certificate, Lambda, Objective, Options};

/// Improves duals and point until the monitor ends it, from the better one of the point of the
/// duals and a given one; returns the status and the certificate.
pub(crate) fn polish<L: MarginLoss + ?Sized>(
    evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
    system: &mut System,
    lambda: Lambda,
    best: &mut DualPoint,
    given: Point,
    options: &Options,
    monitor: &mut Monitor<'_>,
) -> (Status, Certificate) {
    /// The number of proximal steps that may pass without a smaller gap.
    const PATIENCE: usize = 5;
    /// The largest number of Newton steps of a proximal step at which sigma becomes smaller.
    const FEW: usize = 12;
    let (mut sigma, mut idle) = (1.0, 0);
    // The reason why the steps lead no further.
    let mut reason = Status::Stalled;
    // The point of the duals of another lambda may be far off.
    let is_nearer = evaluator.value_at(lambda, &given) <= best.certificate.objective;
    let mut point = if is_nearer { given } else { best.point.clone() };
    let mut centres = best.duals.clone();
    loop {
        if idle == PATIENCE {
            return (reason, best.certificate);
        }
        let inner = Options {
            tolerance: 0.1 * options.tolerance,
            max_iterations: Some(monitor.left()),
            history: false,
            watch: None,
            ..*options
        };
        let (ending, duals) =
            minimize_smoothed(evaluator, system, lambda, (&centres, sigma), &mut point, &inner);
        monitor.count(ending.iterations.max(1));
        let (certificate, _) = dual::certify(evaluator, lambda, &point, &duals);
        let gap_before = best.certificate.duality_gap;
        best.improve(&duals, &point, certificate);
        idle = if best.certificate.duality_gap < gap_before { 0 } else { idle + 1 };
        let by_rounding = ending.status == Status::RoundingLimit;
        reason = if by_rounding { Status::RoundingLimit } else { Status::Stalled };
        if ending.status == Status::Converged {
            centres = duals;
            if ending.iterations <= FEW {
                sigma *= 0.25;
            }
        } else {
            // Steps as long as this one magnify the rounding of the scores.
            sigma = f64::min(1.0, 16.0 * sigma);
            centres.clone_from(&best.duals);
            point.clone_from(&best.point);
        }
        let margins = || evaluator.samples.summary();
        let passes = evaluator.passes;
        let judged = monitor.judge_by(Rule::Gap, passes, &best.certificate, &certificate, margins);
        if let Some(status) = judged {
            return (status, best.certificate);
        }
    }
}

/// Takes a point to the minimum of F with the losses smoothed about the centres with the strength
/// sigma; returns the end of Newton's method and the slopes there, the next duals.
fn minimize_smoothed<L: MarginLoss + ?Sized>(
    evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
    system: &mut System,
    lambda: Lambda,
    (centres, sigma): (&[f64], f64),
    point: &mut Point,
    options: &Options,
) -> (Ending, Vec<f64>) {
    let objective = evaluator.samples.objective;
    let smoothed = Objective {
        risk: objective.risk.clone().smoothed(centres.to_vec(), sigma),
        design: Cow::Borrowed(&*objective.design),
    };
    let mut inner = Evaluator::with_extent(&smoothed, Rc::clone(&evaluator.samples.extent));
    let mut newton = Newton::new(&mut inner, system);
    let ending = newton.minimize(lambda, point, options);
    let duals = newton.into_duals();
    evaluator.passes += inner.passes;
    (ending, duals)
}
