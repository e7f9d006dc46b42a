//! Cutting planes in the unit ball.
//!
//! A localisation method keeps a convex set that holds every point sought and proposes a centre of
//! it; an oracle accepts the centre or cuts off a part of the set that the centre is in.

mod analytic_centre;
mod ellipsoid;

use analytic_centre::AnalyticCentre;
use ellipsoid::Ellipsoid;
use margins_optim::Status;
use margins_optim::method::Limits;

/// A cut: `<normal, w - v> >= depth` for every v sought, where w is the point asked about; the
/// depth is at least 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// The normal, which is not zero.
    pub normal: Vec<f64>,
    /// The depth of the cut beyond the point, in units of the normal; 0 is a cut through the point
    /// itself.
    pub depth: f64,
}

/// A localisation method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Analytic centres: the minimiser of `-log(1 - ||v||^2) - sum log(b_i - <a_i, v>)`, by
    /// Newton's method. All centres are in the span of the normals of the cuts, so that the work is
    /// in as many dimensions as there are cuts, or d if that is less. (Nesterov 1995; Goffin and
    /// Vial 2002 for deep cuts.)
    AnalyticCentre,
    /// The smallest ellipsoid around what is left of the last one: the simple reference, with O(d^2
    /// log) calls of the oracle. (Yudin and Nemirovskii 1976; Bland, Goldfarb and Todd 1981 for
    /// deep cuts.)
    Ellipsoid,
}

/// The reason why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The oracle accepted a point.
    Accepted,
    /// The set is empty: the cuts contradict each other.
    Empty,
    /// The oracle was called as often as the limit allows.
    CallLimit,
    /// The deadline came first, the callback stopped the search, or a minimisation ended before its
    /// gap was small.
    Stopped(Status),
}

trait Localizer {
    /// Returns the centre of the set.
    fn centre(&self) -> Vec<f64>;

    /// Returns the largest value, or a bound on it, of `<normal, centre - v>` for a v in the set.
    fn width(&self, normal: &[f64]) -> f64;

    /// Takes a part of the set away; returns false if nothing is left, or if the limits interrupt it.
    fn cut(&mut self, cut: &Cut, limits: &Limits<'_>) -> bool;
}

/// Searches the unit ball for a point that the oracle does not cut off; returns why it ended and
/// how often the oracle was called. The oracle ends the search where it accepts the point or has
/// another reason; the callback of the limits may end it while a cut is made.
pub fn localize(
    method: Method,
    columns: usize,
    most_calls: usize,
    limits: &Limits<'_>,
    mut oracle: impl FnMut(&[f64]) -> Result<Cut, End>,
) -> (End, usize) {
    let mut set = method.unit_ball(columns);
    for calls in 1..=most_calls {
        match oracle(&set.centre()) {
            Err(end) => return (end, calls),
            Ok(cut) if set.cut(&cut, limits) => {}
            Ok(_) if limits.is_interrupted() => return (End::Stopped(Status::Interrupted), calls),
            Ok(_) => return (End::Empty, calls),
        }
    }
    (End::CallLimit, most_calls)
}

/// The smallest value of a convex function on the unit ball, to a certain gap.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The best point found.
    pub point: Vec<f64>,
    /// The value of the function there.
    pub value: f64,
    /// The gap: the value is at most this much above the minimum.
    pub gap: f64,
    /// The number of evaluations of the function.
    pub calls: usize,
    /// The reason why the search ended before the gap was at most the tolerance, if it did: a limit of
    /// evaluations ([`Status::IterationLimit`]) or of time, the callback, or rounding
    /// ([`Status::Stalled`]).
    pub stopped: Option<Status>,
}

/// Returns the minimum of a convex function on the unit ball, given its value and a subgradient, to
/// a gap of at most `tolerance` or after `most_calls` evaluations. The limits are checked after every
/// evaluation.
pub fn minimize_on_unit_ball(
    method: Method,
    columns: usize,
    tolerance: f64,
    most_calls: usize,
    limits: &Limits<'_>,
    function: impl Fn(&[f64]) -> (f64, Vec<f64>),
) -> Minimum {
    let mut set = method.unit_ball(columns);
    let mut best = Minimum {
        point: set.centre(),
        value: f64::INFINITY,
        gap: f64::INFINITY,
        calls: 0,
        stopped: Some(Status::IterationLimit),
    };
    let mut lower = f64::NEG_INFINITY;
    while best.calls < most_calls {
        let point = set.centre();
        let (value, normal) = function(&point);
        best.calls += 1;
        // f(v) >= value - <normal, point - v>, and a minimiser that was cut off has value
        // `best.value`.
        lower = f64::max(lower, f64::min(best.value, value - set.width(&normal)));
        if value < best.value {
            (best.point, best.value) = (point, value);
        }
        best.gap = best.value - lower;
        if best.gap <= tolerance {
            return Minimum { stopped: None, ..best };
        }
        if let Some(limit) = limits.reached() {
            return Minimum { stopped: Some(limit), ..best };
        }
        if !set.cut(&Cut { normal, depth: value - best.value }, limits) {
            let interrupted = limits.is_interrupted();
            let stopped = if interrupted { Status::Interrupted } else { Status::Stalled };
            return Minimum { stopped: Some(stopped), ..best };
        }
    }
    best
}

impl Method {
    /// Returns the number of cuts after which the unit ball should have no ball of this radius left:
    /// `4 (d+1) ln((d+1)/r)` with analytic centres, by experience, and `2 d (d+1) ln(1/r)` with
    /// ellipsoids, for certain.
    ///
    /// A cut leaves an ellipsoid of at most `exp(-1/(2 (d+1)))` of its volume. As long as no cut takes
    /// a part of a ball of radius r in the unit ball away, the ellipsoid has at least its volume, the
    /// share `r^d` of the first one.
    pub fn most_cuts(self, columns: usize, radius: f64) -> usize {
        let d = columns as f64;
        let cuts = match self {
            Method::AnalyticCentre => 4.0 * (d + 1.0) * ((d + 1.0) / radius).ln(),
            Method::Ellipsoid => 2.0 * d * (d + 1.0) * radius.recip().ln(),
        };
        cuts.ceil() as usize
    }

    fn unit_ball(self, columns: usize) -> Box<dyn Localizer> {
        match self {
            Method::AnalyticCentre => Box::new(AnalyticCentre::unit_ball(columns)),
            Method::Ellipsoid => Box::new(Ellipsoid::unit_ball(columns)),
        }
    }
}
