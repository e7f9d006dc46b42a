//! The descent that Newton-like methods share: direction, line search and certificate.

use crate::method::line_search::{Accept, search};
use crate::method::{Ending, Monitor, Status};
use crate::problem::{MarginSummary, Point, Products};
use crate::{Certificate, Lambda, Options};

/// The parts of an objective that Newton-like methods need; [`descend`] does the rest.
pub trait Descent {
    /// The products that belong to a point.
    type Products: Products;

    /// Moves the intercept of a point to the minimum of F over it, and certifies the result.
    fn certify(&mut self, lambda: Lambda, point: &mut Point<Self::Products>) -> Certificate;

    /// Returns `point + t direction` at the intercept of the lowest F, without products, and its
    /// certificate.
    fn certify_step(
        &mut self,
        lambda: Lambda,
        point: &Point<Self::Products>,
        direction: &Point<Self::Products>,
        t: f64,
    ) -> (Point<()>, Certificate) {
        let mut next = point.step(t, direction);
        let certificate = self.certify(lambda, &mut next);
        (next.bare(), certificate)
    }

    /// Returns the certificate of the point that was certified last, given what was returned for it, which
    /// may be an estimate: the search goes by it where it is above the tolerance, but ends by this.
    fn confirm(
        &mut self,
        _lambda: Lambda,
        _point: &Point<Self::Products>,
        certificate: Certificate,
    ) -> Certificate {
        certificate
    }

    /// Returns the certificate of `next = from + direction`, certified already, by the duals that
    /// the quadratic model behind that direction predicts, `s - L''(u) du`; `None` if the method has
    /// no such model.
    ///
    /// The slopes at a point carry the rounding of its scores; a feature of large scale, all but
    /// unpenalised, magnifies it in the gradient, whose square the gap divides by lambda. The
    /// predicted duals solve the linear equations of the step, and carry no rounding but their own.
    fn certify_by_model(
        &mut self,
        _lambda: Lambda,
        _from: &Point<Self::Products>,
        _direction: &Point<Self::Products>,
        _next: &Point<()>,
        _tolerance: f64,
    ) -> Option<Certificate> {
        None
    }

    /// Returns true if the method gives up before its limit of steps, at the point of a certificate: it
    /// leaves the rest to another one.
    fn gives_up(&mut self, _certificate: &Certificate, _tolerance: f64) -> bool {
        false
    }

    /// Discards what was learned about F from earlier steps, after a direction without progress. Returns
    /// true if the next direction from the same point is another one.
    fn restart(&mut self) -> bool {
        false
    }

    /// Returns the decrease of F that can be expected along the direction of a derivative from the
    /// point of a certificate. Default: half of the slope, as a quadratic model predicts it.
    fn expected_decrease(&self, slope: f64, _from: &Certificate) -> f64 {
        -0.5 * slope
    }

    /// Returns the derivative of `t -> F(point + t direction)`.
    fn slope_along(
        &mut self,
        lambda: Lambda,
        point: &Point<Self::Products>,
        direction: &Point<Self::Products>,
        t: f64,
    ) -> f64;

    /// Returns a direction from the point that was certified last, and the derivative of F along
    /// it, which is negative if the direction is one of descent.
    fn direction(
        &mut self,
        lambda: Lambda,
        certificate: &Certificate,
        tolerance: f64,
    ) -> (Point<Self::Products>, f64);

    /// Returns the number of products with the data so far, for the report.
    fn passes(&self) -> usize;

    /// Returns a summary of the margins of the point that was certified last, for the history.
    fn margins(&mut self) -> MarginSummary;
}

/// Minimises F from `point`, in place, in at most `limit` steps. The point returned has a settled
/// intercept. Steps that only creep, one after another, end the search: kinks stop each of them.
pub fn descend<D: Descent>(
    problem: &mut D,
    lambda: Lambda,
    point: &mut Point<D::Products>,
    options: &Options,
    limit: usize,
) -> Ending {
    /// The number of creeping steps in a row that end the search.
    const PATIENCE: usize = 20;
    let mut monitor = Monitor::new(options, lambda, limit);
    let mut certificate = problem.certify(lambda, point);
    let mut least_gap = certificate.duality_gap;
    let mut creeping = 0;
    let status = loop {
        let seen = match monitor.is_watched() {
            true => problem.confirm(lambda, point, certificate),
            false => certificate,
        };
        if let Some(status) = monitor.judge(problem.passes(), &seen, || problem.margins()) {
            break status;
        }
        if problem.gives_up(&certificate, options.tolerance) {
            break Status::IterationLimit;
        }
        monitor.count(1);
        let (direction, slope) = problem.direction(lambda, &certificate, options.tolerance);
        let decrease = problem.expected_decrease(slope, &certificate);
        let step = Step { direction: &direction, slope, decrease, from: &certificate, least_gap };
        let Some(Taken { length, next, certificate: reached }) =
            step.take(problem, lambda, point, options.tolerance)
        else {
            if problem.restart() {
                continue;
            }
            break step.reason(options.tolerance);
        };
        monitor.stepped(length);
        creeping = if step.creeps(&reached) { creeping + 1 } else { 0 };
        let reason = step.reason(options.tolerance);
        point.advance(length, &direction, next);
        certificate = reached;
        least_gap = least_gap.min(certificate.duality_gap);
        if creeping == PATIENCE {
            break reason;
        }
    };
    let certificate = problem.confirm(lambda, point, certificate);
    monitor.end(status, certificate)
}

/// A step that was taken.
struct Taken {
    /// The length of the step along the direction.
    length: f64,
    /// The point after it.
    next: Point<()>,
    certificate: Certificate,
}

/// A direction from a point, with the certificate of the point.
struct Step<'a, P> {
    direction: &'a Point<P>,
    /// The derivative of F along the direction.
    slope: f64,
    /// The decrease of F that can be expected.
    decrease: f64,
    from: &'a Certificate,
    /// The smallest gap of all points so far.
    least_gap: f64,
}

impl<P: Products> Step<'_, P> {
    /// Returns true if the decrease to expect leads to the minimum within the tolerance.
    fn is_last(&self, tolerance: f64) -> bool {
        self.decrease <= tolerance * self.from.objective.abs() + self.from.rounding
    }

    /// Returns the status of a step without progress: where the minimum is expected within the
    /// tolerance, rounding alone keeps the certificate from showing it.
    fn reason(&self, tolerance: f64) -> Status {
        if self.is_last(tolerance) { Status::RoundingLimit } else { Status::Stalled }
    }

    /// Returns true if a step has kept next to nothing of the decrease that its direction promised,
    /// and has not halved the smallest gap either.
    fn creeps(&self, reached: &Certificate) -> bool {
        const LEAST: f64 = 1e-3;
        let decrease = self.from.objective - reached.objective;
        decrease < -LEAST * self.slope && reached.duality_gap > 0.5 * self.least_gap
    }

    /// Returns the point after a line search and an exact intercept; `None` if rounding hides any
    /// progress.
    ///
    /// Where the step may be the last one, the full step comes first, and the duals of the model
    /// certify it if rounding keeps up the gap by the gradient: at once if that gap has hardly
    /// shrunk, else when nothing else leads on.
    fn take(
        &self,
        problem: &mut impl Descent<Products = P>,
        lambda: Lambda,
        point: &Point<P>,
        tolerance: f64,
    ) -> Option<Taken> {
        /// The share of its gap that a step leaves near the minimum, unless rounding keeps it up.
        const EXPECTED: f64 = 0.1;
        if self.slope >= 0.0 || self.slope.is_nan() {
            return None;
        }
        let taken = if self.is_last(tolerance) {
            let least = EXPECTED * self.from.duality_gap;
            self.take_full(problem, lambda, point, tolerance, least)
                .or_else(|| self.search(problem, lambda, point))
                .or_else(|| self.take_full(problem, lambda, point, tolerance, 0.0))
        } else {
            self.search(problem, lambda, point)
        };
        if taken.is_none() {
            // The problem must describe the point that is kept.
            problem.certify(lambda, &mut point.clone());
        }
        taken
    }

    /// Returns the point after the full step, if that is progress; where the gap by the gradient is
    /// above the tolerance and more than `least`, the duals of the model certify it, too.
    fn take_full(
        &self,
        problem: &mut impl Descent<Products = P>,
        lambda: Lambda,
        point: &Point<P>,
        tolerance: f64,
        least: f64,
    ) -> Option<Taken> {
        let (next, mut certificate) = problem.certify_step(lambda, point, self.direction, 1.0);
        if certificate.relative_gap() > tolerance
            && certificate.duality_gap > least
            && let Some(by_model) =
                problem.certify_by_model(lambda, point, self.direction, &next, tolerance)
        {
            let gradient_norm = certificate.gradient_norm;
            certificate = Certificate { gradient_norm, ..certificate.or(by_model) };
        }
        let solved = certificate.relative_gap() <= tolerance && self.is_no_rise(&certificate);
        let is_taken = solved || self.is_progress(&certificate);
        is_taken.then_some(Taken { length: 1.0, next, certificate })
    }

    /// Returns true if F has decreased by enough; or, where rounding blurs that, if the gap, which
    /// bounds F by itself, is half as large as the least so far.
    fn is_progress(&self, certificate: &Certificate) -> bool {
        // The share of the largest possible decrease of F that counts; the size of F bounds that
        // decrease where the gap is far larger.
        const DECREASE: f64 = 1e-10;
        let size = self.from.objective.abs();
        let worth = DECREASE * self.from.duality_gap.min(size);
        let decreased = certificate.objective < self.from.objective - worth;
        let tightened = certificate.duality_gap <= 0.5 * self.least_gap;
        decreased || (tightened && self.is_no_rise(certificate))
    }

    /// Returns true if F has not grown beyond the rounding of a decrease.
    fn is_no_rise(&self, certificate: &Certificate) -> bool {
        const BLUR: f64 = 1e-6;
        certificate.objective <= self.from.objective + BLUR * self.from.objective.abs()
    }

    /// Returns the first step along the direction that is progress, of three: the step of a coarse
    /// search; the full step, whose gap is more informative than its F near the minimum; and a step short of
    /// the minimum along the line, which decreases F for certain.
    fn search(
        &self,
        problem: &mut impl Descent<Products = P>,
        lambda: Lambda,
        point: &Point<P>,
    ) -> Option<Taken> {
        let coarse = self.length(problem, lambda, point, Accept::Near);
        for attempt in 0..3 {
            let t = match attempt {
                0 => coarse,
                1 if coarse == 1.0 => continue,
                1 => 1.0,
                _ => self.length(problem, lambda, point, Accept::Before),
            };
            let (next, certificate) = problem.certify_step(lambda, point, self.direction, t);
            if self.is_progress(&certificate) {
                return Some(Taken { length: t, next, certificate });
            }
        }
        None
    }

    fn length(
        &self,
        problem: &mut impl Descent<Products = P>,
        lambda: Lambda,
        point: &Point<P>,
        accept: Accept,
    ) -> f64 {
        let slope_at = |t| problem.slope_along(lambda, point, self.direction, t);
        search(slope_at, self.slope, accept)
    }
}
