//! The last digits of a fit by the proximal point method on the dual, with Newton for its steps.
//!
//! A step maximises `D(s) - (sigma/2n) sum c_i (s_i - a_i)^2` about the present duals `a`. Its own dual is
//! F with the losses of [`EmpiricalRisk::smoothed`](crate::risk::EmpiricalRisk), which semismooth Newton
//! minimises with the exact intercept, whatever kinks `L` has; the slopes there are the next duals, and
//! feasible. Where the dual is piecewise linear-quadratic, as that of the hinge is, finitely many such
//! steps reach its maximum, whatever sigma (Rockafellar, *Augmented Lagrangians and applications of the
//! proximal point algorithm in convex programming*, Math. Oper. Res. 1, 1976).

use std::borrow::Cow;

use margins_losses::MarginLoss;

use crate::certificate::Evaluator;
use crate::dual::{self, DualPoint};
use crate::newton::{Newton, System};
use crate::report::{Ending, HistoryEntry, Status};
use crate::{Lambda, Objective, Options};

/// Improves duals and point until the gap reaches the tolerance; `so_far` tells what was spent on them.
pub(crate) fn polish<L: MarginLoss + ?Sized>(
    evaluator: &mut Evaluator<'_, '_, L>,
    system: &mut System,
    lambda: Lambda,
    best: &mut DualPoint,
    options: &Options,
    so_far: Ending,
    limit: usize,
) -> Ending {
    /// Proximal steps that may pass without a smaller gap.
    const PATIENCE: usize = 5;
    /// Newton steps that a proximal step may take for sigma to become smaller.
    const FEW: usize = 12;
    let objective = evaluator.objective;
    let Ending { mut iterations, mut history, .. } = so_far;
    let mut sigma = 1.0;
    let mut idle = 0;
    let mut point = best.point.clone();
    let mut centres = best.duals.clone();
    let status = loop {
        if best.certificate.relative_gap() <= options.tolerance {
            break Status::Converged;
        }
        if let Some(status) = options.exhausted(iterations, limit) {
            break status;
        }
        if idle == PATIENCE {
            break Status::Stalled;
        }
        let smoothed = Objective {
            risk: objective.risk.clone().smoothed(centres.clone(), sigma),
            design: Cow::Borrowed(&*objective.design),
        };
        let mut inner = Evaluator::new(&smoothed);
        let inner_options = Options {
            tolerance: 0.1 * options.tolerance,
            max_iterations: Some(limit - iterations),
            history: false,
            ..*options
        };
        let ending =
            Newton { evaluator: &mut inner, system }.minimize(lambda, &mut point, &inner_options);
        iterations += ending.iterations.max(1);
        evaluator.passes += inner.passes;
        let slopes = inner.margins.slopes().iter();
        centres = slopes.map(|slope| -slope).collect();
        let mut duals = centres.clone();
        objective.risk.balance(&mut duals);
        // The gradient of the smoothed F is 2 lambda w - v.
        let distance = ending.certificate.duality_gap / lambda.get();
        let certificate = dual::certify(evaluator, lambda, &point, &duals, distance);
        if options.history {
            let margins = evaluator.margins.summary();
            history.push(HistoryEntry::new(iterations, evaluator.passes, &certificate, margins));
        }
        if certificate.duality_gap < best.certificate.duality_gap {
            *best = DualPoint { duals, point: point.clone(), certificate };
            idle = 0;
        } else {
            idle += 1;
        }
        if ending.iterations <= FEW {
            sigma *= 0.25;
        }
    };
    Ending { iterations, status, certificate: best.certificate, history }
}
