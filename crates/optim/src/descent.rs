use crate::line_search::{Accept, search};
use crate::point::Point;
use crate::report::{Ending, HistoryEntry, MarginSummary, Status};
use crate::{Certificate, Lambda, Options};

/// What a Newton-like method has to know of an objective; [`minimize`] does the rest.
pub trait Descent {
    /// Moves the intercept of a point to the minimum of F over it, and certifies the result.
    fn certify(&mut self, lambda: Lambda, point: &mut Point) -> Certificate;

    /// Derivative of `t -> F(point + t direction)`.
    fn slope_along(&mut self, lambda: Lambda, point: &Point, direction: &Point, t: f64) -> f64;

    /// A direction from the point that was certified last, and the derivative of F along it, which is
    /// negative if the direction is one of descent.
    fn direction(
        &mut self,
        lambda: Lambda,
        certificate: &Certificate,
        tolerance: f64,
    ) -> (Point, f64);

    /// Products with the data so far, for the report.
    fn passes(&self) -> usize;

    /// What the margins of the point that was certified last are like, for the history.
    fn margins(&self) -> MarginSummary;
}

/// Minimises F from `point`, in place, in at most `limit` steps. On return the point's intercept is
/// settled.
pub fn minimize(
    problem: &mut impl Descent,
    lambda: Lambda,
    point: &mut Point,
    options: &Options,
    limit: usize,
) -> Ending {
    let mut history = Vec::new();
    let mut iterations = 0;
    let mut certificate = problem.certify(lambda, point);
    let mut least_gap = certificate.duality_gap;
    let status = loop {
        if options.history {
            let (passes, margins) = (problem.passes(), problem.margins());
            history.push(HistoryEntry::new(iterations, passes, &certificate, margins));
        }
        if !certificate.is_finite() {
            break Status::NumericalTrouble;
        }
        if certificate.relative_gap() <= options.tolerance {
            break Status::Converged;
        }
        if let Some(status) = options.exhausted(iterations, limit) {
            break status;
        }
        iterations += 1;
        let (direction, slope) = problem.direction(lambda, &certificate, options.tolerance);
        if slope >= 0.0 || slope.is_nan() {
            break Status::Stalled;
        }
        let Some((next, next_certificate)) =
            descend(problem, lambda, point, &direction, slope, &certificate, least_gap)
        else {
            break Status::Stalled;
        };
        *point = next;
        certificate = next_certificate;
        least_gap = least_gap.min(certificate.duality_gap);
    };
    Ending { iterations, status, certificate, history }
}

/// The point after a line search and an exact intercept. `None` if rounding hides any progress.
///
/// Progress is a sufficient decrease of F; or, where rounding blurs that, a gap half as large as the
/// least so far, which bounds F by itself.
fn descend(
    problem: &mut impl Descent,
    lambda: Lambda,
    point: &mut Point,
    direction: &Point,
    slope: f64,
    from: &Certificate,
    least_gap: f64,
) -> Option<(Point, Certificate)> {
    const BLUR: f64 = 1e-6;
    // Of the most that F can decrease, for which its own size stands in where the gap is far larger.
    const DECREASE: f64 = 1e-10;
    let worth = DECREASE * from.duality_gap.min(from.objective.abs());
    // A coarse search first; then the full step, whose gap tells more than its F near the minimum;
    // then a step short of the minimum along the line, which decreases F for certain.
    let coarse = search(|t| problem.slope_along(lambda, point, direction, t), slope, Accept::Near);
    for attempt in 0..3 {
        let t = match attempt {
            0 => coarse,
            1 if coarse == 1.0 => continue,
            1 => 1.0,
            _ => {
                search(|t| problem.slope_along(lambda, point, direction, t), slope, Accept::Before)
            }
        };
        let mut next = point.step(t, direction);
        let certificate = problem.certify(lambda, &mut next);
        let decreased = certificate.objective < from.objective - worth;
        let tightened = certificate.duality_gap <= 0.5 * least_gap
            && certificate.objective <= from.objective + BLUR * from.objective.abs();
        if decreased || tightened {
            return Some((next, certificate));
        }
    }
    // The problem must describe the point that is kept.
    problem.certify(lambda, point);
    None
}
