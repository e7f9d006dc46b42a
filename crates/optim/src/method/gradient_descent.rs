//! Gradient descent in the coefficients, the intercept settled exactly after every step.
//!
//! `G(w) = min_b F(b, w)` is `kappa`-strongly convex, `kappa = 2 lambda`, and its gradient, that of
//! F in w at the best intercept, has the Lipschitz constant
//! `v = L''_max (1/n) sum c_i ||x_i||^2 + 2 lambda`: partial minimisation keeps strong convexity
//! and makes the Hessian no larger. With the step `2/(kappa + v)` the distance to the minimiser
//! shrinks by `(v - kappa)/(v + kappa)` or more at every step.
//!
//! Source: Holland 2019, algorithm 1, with theorem 11 for the step (there without penalty and
//! intercept); Nesterov 2004, theorem 2.1.15, for the rate.

use margins_losses::MarginLoss;

use crate::certificate::Evaluator;
use crate::method::line_search::{Accept, search};
use crate::method::{Ending, Monitor, Status, StepRule};
use crate::problem::summation::dot;
use crate::problem::{Point, curvature};
use crate::space::{InMemory, Scores};
use crate::{Error, Lambda, Objective, Options};

const DEFAULT_ITERATIONS: usize = 10_000;

/// The number of steps after which the products with the data are recomputed.
const FRESH: usize = 64;

/// The parts of gradient descent that serve a whole path.
pub(crate) enum GradientDescent {
    Fixed(f64),
    /// The constant `v` less the share of the penalty.
    Smooth(f64),
    LineSearch,
}

impl GradientDescent {
    pub(crate) fn of<L: MarginLoss + ?Sized>(
        objective: &Objective<'_, L>,
        step: StepRule,
    ) -> Result<Self, Error> {
        Ok(match step {
            StepRule::Fixed(step) => GradientDescent::Fixed(step),
            StepRule::LineSearch => GradientDescent::LineSearch,
            StepRule::Smooth => {
                let risk = &objective.risk;
                let curvature = curvature(risk.loss)?;
                let square = objective.mean_square();
                if !square.is_finite() {
                    return Err(Error::Overflow);
                }
                GradientDescent::Smooth(curvature * square)
            }
        })
    }

    /// Minimises F from `point`, in place. The point returned has a settled intercept.
    pub(crate) fn minimize<L: MarginLoss + ?Sized>(
        &self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        point: &mut Point,
        options: &Options,
    ) -> Ending {
        let mut monitor = Monitor::new(options, lambda, DEFAULT_ITERATIONS);
        // Features of very different sizes are brought to one size.
        let searches = matches!(self, GradientDescent::LineSearch);
        let metric = searches.then(|| evaluator.samples.extent.metric(lambda)).flatten();
        // The next line search begins here.
        let mut trial = 1.0;
        loop {
            if monitor.iterations() % FRESH == FRESH - 1 || evaluator.has_drifted(point) {
                evaluator.refresh(point);
            }
            evaluator.settle_intercept(point);
            let certificate = evaluator.certificate(lambda, point);
            if let Some(status) =
                monitor.judge(evaluator.passes, &certificate, || evaluator.samples.summary())
            {
                return monitor.end(status, certificate);
            }
            monitor.count(1);
            let descent: Vec<f64> = match &metric {
                None => evaluator.gradient.iter().map(|g| -g).collect(),
                Some(metric) => {
                    evaluator.gradient.iter().zip(metric).map(|(g, m)| -g * m).collect()
                }
            };
            let direction = Point::at(&evaluator.samples.objective.design, 0.0, descent);
            evaluator.passes += 1;
            let step = match self {
                GradientDescent::Fixed(step) => *step,
                GradientDescent::Smooth(smoothness) => {
                    1.0 / (2.0 * lambda.get() + 0.5 * smoothness)
                }
                GradientDescent::LineSearch => {
                    let slope = trial * dot(&evaluator.gradient, &direction.coef);
                    let slope_at = |t: f64| {
                        trial * evaluator.slope_along(lambda, point, &direction, t * trial)
                    };
                    trial *= search(slope_at, slope, Accept::Before);
                    trial
                }
            };
            if step == 0.0 {
                evaluator.settle_intercept(point);
                return monitor.end(Status::Stalled, certificate);
            }
            monitor.stepped(step);
            *point = point.step(step, &direction);
        }
    }
}
