//! Follows a path with any solver, with warm starts and the closed-form ray.

use std::ops::ControlFlow;

use margins_losses::HomogeneousTail;

use crate::certificate::Evaluator;
use crate::method::Ending;
use crate::problem::{Point, Products};
use crate::space::Samples;
use crate::{Lambda, Options};

/// A solver that a path is followed with.
pub trait Minimizer {
    /// The products that belong to a point.
    type Products: Products;

    /// Returns the tail on which the loss is homogeneous, if there is one.
    fn tail(&self) -> Option<HomogeneousTail>;

    /// Returns true if every margin at a point, of the samples that count, is at least `from`.
    fn all_beyond(&mut self, point: &Point<Self::Products>, from: f64) -> bool;

    /// Returns the point without intercept and coefficients.
    fn origin(&mut self) -> Point<Self::Products>;

    /// Returns the point to start from when no solution at another lambda is known.
    fn begin(&mut self, _lambda: Lambda, _options: &Options) -> Point<Self::Products> {
        self.origin()
    }

    /// Returns the point to start from at a lambda in any case, if one is known.
    fn known(&mut self, _lambda: Lambda) -> Option<Point<Self::Products>> {
        None
    }

    /// Returns `F`.
    fn value(&mut self, lambda: Lambda, point: &Point<Self::Products>) -> f64;

    /// Minimises F from a point, in place.
    fn minimize(
        &mut self,
        lambda: Lambda,
        point: &mut Point<Self::Products>,
        options: &Options,
    ) -> Ending;

    /// Returns a lambda at which the penalty outweighs the curvature of the mean loss, in the units
    /// of the data: the mean squared norm of a sample.
    fn large_lambda(&self) -> f64;

    /// Returns true if the solver needs a start near the solution: Newton does, MM does not.
    fn is_local(&self) -> bool;

    /// Returns the number of products with the data so far.
    fn passes(&self) -> usize;
}

/// Solves at every lambda in turn, each from the solutions before it; `finish` gets the solver, the
/// point reached, the end of the solver and its passes, and may end the path.
pub fn follow<M: Minimizer>(
    solver: &mut M,
    lambdas: &[Lambda],
    options: &Options,
    mut finish: impl FnMut(&mut M, Lambda, &Point<M::Products>, Ending, usize) -> ControlFlow<()>,
) {
    let mut trail = Trail::new();
    for &lambda in lambdas {
        let before = solver.passes();
        let mut point = match (&trail.last, solver.known(lambda)) {
            (None, _) => solver.begin(lambda, options),
            (Some(_), Some(point)) => point,
            (Some(_), None) => trail.start(solver, lambda, options),
        };
        let mut ending = solver.minimize(lambda, &mut point, options);
        if ending.status.is_open() && trail.last.is_none() && solver.is_local() {
            ending = approach(solver, lambda, &mut point, options, ending);
        }
        let passes = solver.passes() - before;
        if finish(solver, lambda, &point, ending, passes).is_break() {
            return;
        }
        trail.push(lambda, point);
    }
}

/// Returns the minimiser for a part of the samples if F is less there than at the origin: a sample
/// that the part lacks may weigh more than all others, even without bound.
pub(super) fn lower<S: Samples>(
    evaluator: &mut Evaluator<S>,
    lambda: Lambda,
    of_part: Point<S::Products>,
    origin: Point<S::Products>,
) -> Point<S::Products> {
    let value = evaluator.value_at(lambda, &of_part);
    let is_lower = value.is_finite() && value <= evaluator.value_at(lambda, &origin);
    if is_lower { of_part } else { origin }
}

/// Repeats a cold start that failed at a small lambda by way of larger ones, within the limit of
/// iterations if one was given.
fn approach<M: Minimizer>(
    solver: &mut M,
    lambda: Lambda,
    point: &mut Point<M::Products>,
    options: &Options,
    failed: Ending,
) -> Ending {
    const RATIO: f64 = 4.0;
    let ratio = solver.large_lambda() / lambda.get();
    if !(ratio > 1.0 && ratio.is_finite()) {
        return failed;
    }
    let mut trail = Trail::new();
    let mut so_far = Ending { history: Vec::new(), ..failed.clone() };
    let count = ratio.log(RATIO).ceil();
    for k in 0..=count as i32 {
        // The last step is at lambda itself, all others are at multiples of it.
        let Ok(at) = Lambda::new(lambda.get() * RATIO.powf(count - f64::from(k))) else {
            continue;
        };
        let Some(options) = options.after(so_far.iterations) else {
            let Ending { iterations, elapsed, .. } = so_far;
            return Ending { iterations, elapsed, ..failed };
        };
        let mut next = trail.start(solver, at, &options);
        so_far = solver.minimize(at, &mut next, &options).after(so_far);
        if at == lambda {
            *point = next;
            return so_far;
        }
        so_far.history.clear();
        trail.push(at, next);
    }
    failed
}

/// The last two solutions of a path, from which the next one starts.
struct Trail<P> {
    last: Option<(Lambda, Point<P>)>,
    before: Option<(Lambda, Point<P>)>,
}

impl<P: Products> Trail<P> {
    fn new() -> Self {
        Trail { last: None, before: None }
    }

    fn push(&mut self, lambda: Lambda, point: Point<P>) {
        self.before = self.last.replace((lambda, point));
    }

    /// Returns the point to start from at a smaller lambda: on the ray if the last solution lies
    /// beyond separation, else the one of least F among the last solution, that solution scaled
    /// along the ray, and the line through the last two in the logarithm of lambda.
    fn start<M: Minimizer<Products = P>>(
        &self,
        solver: &mut M,
        lambda: Lambda,
        options: &Options,
    ) -> Point<P> {
        let Some((last_lambda, last)) = &self.last else {
            return solver.origin();
        };
        let mut candidates = vec![last.clone()];
        if let (Some(tail), true) = (solver.tail(), options.closed_form_ray) {
            let factor = (last_lambda.get() / lambda.get()).powf(1.0 / (1.0 + tail.degree));
            if solver.all_beyond(last, tail.from) {
                return last.scaled(factor);
            }
            candidates.push(last.scaled(factor));
        }
        if let Some((before_lambda, before)) = &self.before {
            let taken = (last_lambda.get() / before_lambda.get()).ln();
            let ahead = (lambda.get() / last_lambda.get()).ln();
            if taken != 0.0 {
                candidates.push(last.step(ahead / taken, &last.step(-1.0, before)));
            }
        }
        let values: Vec<f64> = candidates.iter().map(|point| solver.value(lambda, point)).collect();
        let lowest = (0..candidates.len()).min_by(|&i, &j| values[i].total_cmp(&values[j]));
        candidates.swap_remove(lowest.unwrap_or(0))
    }
}
