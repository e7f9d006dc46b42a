//! Cutting planes for the regularised risk, with line search.
//!
//! Teo, Vishwanathan, Smola and Le, *Bundle methods for regularized risk minimization*, JMLR 11 (2010);
//! Franc and Sonnenburg, *Optimized cutting plane algorithm for large-scale risk minimization*, JMLR 10
//! (2009), for the line search and for where to cut.
//!
//! The intercept is minimised out: `R(w) = min_b (1/n) sum c_i L(y_i (b + <w, x_i>))` is convex, and every
//! feasible dual `s` cuts it from below,
//!
//! `R(w) >= e - <v, w>`, `e = -(1/n) sum c_i L*(-s_i)`, `v = (1/n) sum c_i s_i y_i x_i`,
//!
//! with equality at w if `-s_i` is a subgradient of L at `u_i`. The minimum of `lambda ||w||^2` plus the
//! largest of the planes bounds that of F from below. With weights `a` on the planes, at least 0 and with
//! the sum 1, it is the maximum of `<a, e> - ||sum a_k v_k||^2/(4 lambda)`, the dual of F over the convex
//! hull of the `s` seen so far. Planes do not depend on lambda and serve the whole path.

use margins_losses::MarginLoss;
use nalgebra::{Cholesky, DMatrix, DVector};

use crate::certificate::{Certificate, Evaluator};
use crate::dual::pulls;
use crate::point::{Point, dot};
use crate::report::{Ending, HistoryEntry, Status};
use crate::{Lambda, Options};

const DEFAULT_ITERATIONS: usize = 2000;
/// A plane leaves after so many iterations in a row without weight.
const LONGEST_REST: usize = 100;
/// How far from the best point towards the minimiser of the model the next cut is made.
const CUT: f64 = 0.1;

/// One lower bound of the risk.
struct Plane {
    /// `e`.
    offset: f64,
    /// `v`.
    pull: Vec<f64>,
    /// Its share in the minimiser of the model.
    weight: f64,
    /// Iterations without one.
    rest: usize,
}

/// The planes so far.
#[derive(Default)]
pub(crate) struct Bundle {
    planes: Vec<Plane>,
    /// `<v_k, v_l>`.
    gram: Vec<Vec<f64>>,
}

impl Bundle {
    /// Minimises F from a point.
    pub(crate) fn minimize<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<'_, '_, L>,
        lambda: Lambda,
        point: &mut Point,
        options: &Options,
    ) -> Ending {
        /// Iterations that may pass without progress.
        const PATIENCE: usize = 20;
        let limit = options.max_iterations.unwrap_or(DEFAULT_ITERATIONS);
        evaluator.settle_intercept(point);
        self.cut(evaluator, point);
        let mut objective = evaluator.value_at(lambda, point);
        let mut lower = f64::NEG_INFINITY;
        let mut history = Vec::new();
        let (mut iterations, mut idle) = (0, 0);
        let status = loop {
            let (bound, coef) = self.minimize_model(lambda);
            let certificate = bounds(objective, lower.max(bound));
            if options.history {
                history.push(HistoryEntry::new(iterations, evaluator.passes, &certificate));
            }
            if !objective.is_finite() || bound.is_nan() {
                break Status::NumericalTrouble;
            }
            if certificate.relative_gap() <= options.tolerance {
                lower = lower.max(bound);
                break Status::Converged;
            }
            if iterations == limit || idle == PATIENCE {
                lower = lower.max(bound);
                break if idle == PATIENCE { Status::Stalled } else { Status::IterationLimit };
            }
            iterations += 1;
            let mut target = Point::at(&evaluator.objective.design, point.intercept, coef);
            evaluator.passes += 1;
            evaluator.settle_intercept(&mut target);
            let direction = target.step(-1.0, point);
            let t = exact_search(|t| evaluator.slope_along(lambda, point, &direction, t));
            let mut next = point.step(t, &direction);
            evaluator.settle_intercept(&mut next);
            let next_objective = evaluator.value_at(lambda, &next);
            let least = f64::EPSILON * objective.abs();
            idle = if bound > lower + least || next_objective < objective - least { 0 } else { idle + 1 };
            lower = lower.max(bound);
            if next_objective < objective {
                (*point, objective) = (next, next_objective);
            }
            let mut at = point.step(CUT, &target.step(-1.0, point));
            evaluator.settle_intercept(&mut at);
            self.cut(evaluator, &at);
        };
        evaluator.settle_intercept(point);
        evaluator.set_gradient(lambda, point);
        let gradient_norm = dot(&evaluator.gradient, &evaluator.gradient).sqrt();
        let certificate = Certificate { gradient_norm, ..bounds(objective, lower) };
        Ending { iterations, status, certificate, history }
    }

    /// Adds the plane that touches the risk at a point whose intercept is settled.
    fn cut<L: MarginLoss + ?Sized>(&mut self, evaluator: &mut Evaluator<'_, '_, L>, point: &Point) {
        let objective = evaluator.objective;
        let duals = evaluator.margins.settled_duals(&point.products, point.intercept);
        let mut pull = vec![0.0; objective.design.columns()];
        objective.design.multiply_transposed(&pulls(&objective.risk, &duals), &mut pull);
        evaluator.passes += 1;
        let offset = objective.risk.dual_value(&duals);
        if !offset.is_finite() {
            return;
        }
        let mut row: Vec<f64> = self.planes.iter().map(|plane| dot(&plane.pull, &pull)).collect();
        for (other, product) in self.gram.iter_mut().zip(&row) {
            other.push(*product);
        }
        row.push(dot(&pull, &pull));
        self.gram.push(row);
        let weight = if self.planes.is_empty() { 1.0 } else { 0.0 };
        self.planes.push(Plane { offset, pull, weight, rest: 0 });
    }

    /// The minimum of the model over w and where it is.
    fn minimize_model(&mut self, lambda: Lambda) -> (f64, Vec<f64>) {
        self.weigh(lambda);
        self.forget();
        let mut coef = vec![0.0; self.planes.first().map_or(0, |plane| plane.pull.len())];
        let mut offset = 0.0;
        for plane in self.planes.iter().filter(|plane| plane.weight > 0.0) {
            offset += plane.weight * plane.offset;
            for (w, v) in coef.iter_mut().zip(&plane.pull) {
                *w += 0.5 / lambda.get() * plane.weight * v;
            }
        }
        (offset - lambda.get() * dot(&coef, &coef), coef)
    }

    /// Sets the weights to the maximiser of `<a, e> - a'Ga/(4 lambda)` on the simplex by an active-set
    /// method: the maximiser on the planes of positive weight as long as it is inside, else as far
    /// towards it as weights stay positive; then the plane that the model cuts into most joins them.
    fn weigh(&mut self, lambda: Lambda) {
        let count = self.planes.len();
        let scale = 0.5 / lambda.get();
        let mut active: Vec<usize> =
            (0..count).filter(|&k| self.planes[k].weight > 0.0).collect();
        for _ in 0..10 * count + 10 {
            let Some((weights, level)) = self.maximize_on(&active, scale) else { break };
            // The share of the way on which this plane keeps its weight.
            let shares: Vec<f64> = (active.iter().zip(&weights))
                .map(|(&k, &to)| {
                    let from = self.planes[k].weight;
                    if to < 0.0 { from / (from - to) } else { 1.0 }
                })
                .collect();
            let step = shares.iter().copied().fold(1.0, f64::min);
            for ((&k, &to), &share) in active.iter().zip(&weights).zip(&shares) {
                let from = self.planes[k].weight;
                let gone = to <= 0.0 && share <= step;
                self.planes[k].weight = if gone { 0.0 } else { (from + step * (to - from)).max(0.0) };
            }
            active.retain(|&k| self.planes[k].weight > 0.0);
            if step < 1.0 {
                continue;
            }
            let slope = |k: usize| {
                let pull: f64 =
                    active.iter().map(|&l| self.gram[k][l] * self.planes[l].weight).sum();
                self.planes[k].offset - scale * pull
            };
            let best = (0..count)
                .filter(|k| !active.contains(k))
                .map(|k| (slope(k), k))
                .max_by(|one, other| one.0.total_cmp(&other.0));
            match best {
                Some((slope, k)) if slope > level + 1e-13 * (1.0 + level.abs()) => active.push(k),
                _ => break,
            }
        }
        let total: f64 = self.planes.iter().map(|plane| plane.weight).sum();
        for plane in &mut self.planes {
            plane.weight /= total;
        }
    }

    /// The maximiser on the hyperplane of the sum 1, and the common slope there; `None` if the matrix
    /// is not numerically definite.
    fn maximize_on(&self, active: &[usize], scale: f64) -> Option<(Vec<f64>, f64)> {
        let size = active.len();
        let largest = active.iter().map(|&k| self.gram[k][k]).fold(0.0, f64::max);
        let matrix = |ridge: f64| {
            DMatrix::from_fn(size, size, |k, l| {
                scale * (self.gram[active[k]][active[l]] + if k == l { ridge } else { 0.0 })
            })
        };
        // Planes that depend on each other, but for their offsets, are told apart by a little more on
        // the diagonal, as little as will do.
        let mut ridge = f64::EPSILON * largest.max(f64::MIN_POSITIVE);
        let factor = loop {
            match Cholesky::new(matrix(ridge)) {
                Some(factor) => break factor,
                None if ridge < largest => ridge *= 4.0,
                None => return None,
            }
        };
        let offsets = DVector::from_fn(size, |k, _| self.planes[active[k]].offset);
        let mut weights = factor.solve(&offsets);
        let ones = factor.solve(&DVector::from_element(size, 1.0));
        let level = (weights.sum() - 1.0) / ones.sum();
        weights -= level * ones;
        weights.iter().all(|a| a.is_finite()).then(|| (weights.as_slice().to_vec(), level))
    }

    /// Drops the planes that have rested long.
    fn forget(&mut self) {
        for plane in &mut self.planes {
            plane.rest = if plane.weight > 0.0 { 0 } else { plane.rest + 1 };
        }
        let keep: Vec<bool> = self.planes.iter().map(|plane| plane.rest <= LONGEST_REST).collect();
        if keep.iter().all(|&keep| keep) {
            return;
        }
        let mut kept = keep.iter();
        self.planes.retain(|_| kept.next() == Some(&true));
        let mut kept = keep.iter();
        self.gram.retain(|_| kept.next() == Some(&true));
        for row in &mut self.gram {
            let mut kept = keep.iter();
            row.retain(|_| kept.next() == Some(&true));
        }
    }
}

/// A certificate without its gradient.
fn bounds(objective: f64, lower: f64) -> Certificate {
    let duality_gap = (objective - lower).max(0.0);
    Certificate { objective, duality_gap, gradient_norm: f64::NAN }
}

/// The minimiser over `t >= 0` of a convex function, by bisection of its derivative.
fn exact_search(mut slope_at: impl FnMut(f64) -> f64) -> f64 {
    const MOST_DOUBLINGS: usize = 60;
    const MOST_HALVINGS: usize = 40;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..MOST_DOUBLINGS {
        if slope_at(high) >= 0.0 {
            break;
        }
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..MOST_HALVINGS {
        let middle = low + 0.5 * (high - low);
        if slope_at(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
