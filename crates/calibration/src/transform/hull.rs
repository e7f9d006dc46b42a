//! Psi of a loss without convexity: a convex lower bound of `psi~`.
//!
//! `-H` is convex in `a = 2 eta - 1` with the slope `(L(-u) - L(u))/2` at a minimiser `u`, and `H-`
//! is concave. So on a cell of a grid `psi~ = H- - H` is at least the chord of `H-` plus the larger
//! of the two tangents of `-H` at the ends: a line with one bend. The lower convex hull of the ends
//! and bends of all cells is at most Psi.

use margins_losses::MarginLoss;

use super::{NotCalibrated, least_risk_at, risk_at};

/// The lower convex hull of a lower bound of `psi~`.
#[derive(Debug, Clone)]
pub(super) struct Hull {
    /// The vertices, ascending.
    vertices: Vec<(f64, f64)>,
}

/// A value of `psi~` at one `a`.
#[derive(Clone, Copy)]
struct Node {
    a: f64,
    /// The infimum `H-`.
    wrong: f64,
    /// The value of `psi~`, less what rounding may have added.
    gap: f64,
    /// The slope of `-H`.
    slope: f64,
}

impl Hull {
    /// The relative distance of the bound from `psi~` down to which cells are halved, in a first
    /// pass and in a second one.
    const PRECISIONS: (f64, f64) = (1e-4, 5e-10);
    const MOST_CELLS: usize = 1 << 17;
    const SHORTEST_CELL: f64 = 1e-13;
    /// The power of 1/2 at which the first cell, from 0, ends: at dyadic `a` the shares
    /// `(1 +- a)/2` are exact.
    const FIRST_CELL: i32 = 27;

    /// Returns the bound for a calibrated loss.
    ///
    /// The hull of some values of `psi~` is at least Psi. Where the bound of a cell lies above it,
    /// the cell bears no part of the hull and is not halved in the second pass.
    pub(super) fn of(loss: &dyn MarginLoss) -> Result<Self, NotCalibrated> {
        let (coarse, fine) = Self::PRECISIONS;
        let mut above = Hull { vertices: vec![(0.0, 0.0)] };
        for_each_cell(loss, &|cell| cell.is_close(coarse), &mut |cell| {
            above.push(cell.end.a, cell.end.gap);
        })?;
        let mut hull = Hull { vertices: vec![(0.0, 0.0)] };
        for_each_cell(loss, &|cell| cell.is_close(fine) || cell.is_above(&above), &mut |cell| {
            hull.push(cell.bend.0, cell.bend.1);
            if cell.end.slope.is_finite() {
                hull.push(cell.end.a, cell.end.gap);
            }
        })?;
        Ok(hull)
    }

    /// Adds a point on the right and removes those above the chord of their neighbours.
    fn push(&mut self, a: f64, value: f64) {
        while let [.., (x0, y0), (x1, y1)] = self.vertices[..] {
            if (y1 - y0) * (a - x0) < (value - y0) * (x1 - x0) {
                break;
            }
            self.vertices.pop();
        }
        self.vertices.push((a, value));
    }

    /// Returns the bound at `a`, linear between vertices.
    pub(super) fn value(&self, a: f64) -> f64 {
        let after = self.vertices.partition_point(|&(x, _)| x <= a);
        match (self.vertices.get(after.wrapping_sub(1)), self.vertices.get(after)) {
            (Some(&(x0, y0)), Some(&(x1, y1))) => y0 + (y1 - y0) * ((a - x0) / (x1 - x0)),
            (Some(&(_, y)), None) | (None, Some(&(_, y))) => y,
            (None, None) => f64::NAN,
        }
    }
}

/// A part of [0, 1], on which the bound of `psi~` is a line with one bend.
struct Cell {
    start: Node,
    end: Node,
    /// The place of the bend and the bound there.
    bend: (f64, f64),
}

/// Takes cells of [0, 1] from left to right, each halved until it is `fine`.
fn for_each_cell(
    loss: &dyn MarginLoss,
    fine: &dyn Fn(&Cell) -> bool,
    take: &mut dyn FnMut(&Cell),
) -> Result<(), NotCalibrated> {
    let mut start = Node::at(loss, 0.0)?;
    let mut taken = 0;
    for exponent in (0..=Hull::FIRST_CELL).rev() {
        let mut stack = vec![Node::at(loss, 0.5f64.powi(exponent))?];
        while let Some(end) = stack.pop() {
            let cell = Cell { start, end, bend: start.bend(&end) };
            let width = end.a - start.a;
            let last = taken + stack.len() > Hull::MOST_CELLS || width < Hull::SHORTEST_CELL;
            if last || fine(&cell) {
                take(&cell);
                taken += 1;
                start = end;
            } else {
                stack.push(end);
                stack.push(Node::at(loss, f64::midpoint(start.a, end.a))?);
            }
        }
    }
    Ok(())
}

impl Cell {
    /// Returns true if the bound is within a share of the chord.
    fn is_close(&self, precision: f64) -> bool {
        let share = (self.bend.0 - self.start.a) / (self.end.a - self.start.a);
        let chord = self.start.gap + share * (self.end.gap - self.start.gap);
        chord - self.bend.1 <= precision * chord
    }

    /// Returns true if the bound is nowhere below a convex function.
    fn is_above(&self, convex: &Hull) -> bool {
        let points = [(self.start.a, self.start.gap), self.bend, (self.end.a, self.end.gap)];
        points.iter().all(|&(a, bound)| bound >= convex.value(a))
    }
}

impl Node {
    fn at(loss: &dyn MarginLoss, a: f64) -> Result<Self, NotCalibrated> {
        const ROUNDING: f64 = 8.0 * f64::EPSILON;
        let eta = 0.5 * (1.0 + a);
        let (wrong, minimizer) = (least_wrong_risk(loss, eta), loss.population_minimizer(eta));
        let right = least_risk_at(loss, eta, minimizer);
        let gap = (wrong - right) - ROUNDING * (wrong.abs() + right.abs());
        if a == 0.0 {
            let slope = half_difference(loss, minimizer);
            return Ok(Node { a, wrong, gap: 0.0, slope });
        }
        if gap > 0.0 {
            Ok(Node { a, wrong, gap, slope: half_difference(loss, minimizer) })
        } else {
            Err(NotCalibrated::WrongSign { eta })
        }
    }

    /// Returns the place where the bound in the cell up to `next` bends, and its value there.
    fn bend(&self, next: &Node) -> (f64, f64) {
        const ROUNDING: f64 = 4.0 * f64::EPSILON;
        let width = next.a - self.a;
        let chord = (next.wrong - self.wrong - ROUNDING * (next.wrong + self.wrong).abs()) / width;
        let (left, right) = (self.slope + chord, next.slope + chord);
        let offset = if right.is_finite() && right > left {
            ((self.gap - next.gap + right * width) / (right - left)).clamp(0.0, width)
        } else {
            // The tangent is vertical, or the line straight.
            width
        };
        (self.a + offset, (self.gap + left * offset).max(0.0))
    }
}

/// Returns `(L(-u) - L(u))/2`, the slope of `-H` in `a` at the minimiser `u`.
fn half_difference(loss: &dyn MarginLoss, u: f64) -> f64 {
    0.5 * (loss.value(-u) - loss.value(u))
}

/// Returns `H-(eta)` for `eta >= 1/2`: the infimum of the conditional risk over `u <= 0`, by a scan
/// on a logarithmic grid and golden section around its best point.
fn least_wrong_risk(loss: &dyn MarginLoss, eta: f64) -> f64 {
    const STEPS: i32 = 400;
    let at = |k: i32| -1e-6 * 10f64.powf(f64::from(k) * 12.0 / f64::from(STEPS));
    let risk = |u: f64| {
        let risk = risk_at(loss, eta, u);
        if risk.is_nan() { f64::INFINITY } else { risk }
    };
    let best = (0..=STEPS).min_by(|&i, &j| risk(at(i)).total_cmp(&risk(at(j)))).unwrap_or(0);
    let (left, right) = (at((best + 1).min(STEPS)), if best == 0 { 0.0 } else { at(best - 1) });
    risk(0.0).min(golden_section(risk, left, right))
}

/// Returns the smallest value that golden section finds of a function with one minimum in [low, high].
fn golden_section(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    const STEPS: usize = 60;
    let mut x = high - RATIO * (high - low);
    let mut y = low + RATIO * (high - low);
    let (mut fx, mut fy) = (f(x), f(y));
    for _ in 0..STEPS {
        if fx <= fy {
            (high, y, fy) = (y, x, fx);
            x = high - RATIO * (high - low);
            fx = f(x);
        } else {
            (low, x, fx) = (x, y, fy);
            y = low + RATIO * (high - low);
            fy = f(y);
        }
    }
    fx.min(fy)
}
