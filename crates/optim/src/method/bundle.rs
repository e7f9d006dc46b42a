//! Cutting planes for the regularised risk, with line search.
//!
//! Teo, Vishwanathan, Smola and Le, *Bundle methods for regularized risk minimization*, JMLR 11
//! (2010); Franc and Sonnenburg, *Optimized cutting plane algorithm for large-scale risk
//! minimization*, JMLR 10 (2009), for the line search and for where to cut.
//!
//! The intercept is minimised out: `R(w) = min_b (1/n) sum c_i L(y_i (b + <w, x_i>))` is convex,
//! and every feasible dual `s` cuts it from below,
//!
//! `R(w) >= e - <v, w>`, `e = -(1/n) sum c_i L*(-s_i)`, `v = (1/n) sum c_i s_i y_i x_i`,
//!
//! The bound is an equality at w if `-s_i` is a subgradient of L at `u_i`. The minimum of
//! `lambda ||w||^2` plus the largest of the planes bounds the minimum of F from below. With weights
//! `a` on the planes, at least 0 and with the sum 1, it is the maximum of
//! `<a, e> - ||sum a_k v_k||^2/(4 lambda)`, the dual of F over the convex hull of the `s` seen so
//! far. Planes do not depend on lambda and serve the whole path.

use margins_losses::MarginLoss;
use nalgebra::{DMatrix, DVector};

use crate::certificate::{Evaluator, Valued};
use crate::method::factor::{cholesky, solve_factored};
use crate::method::{Ending, Monitor, Status};
use crate::problem::Point;
use crate::problem::summation::dot;
use crate::space::{InMemory, Scores};
use crate::{Certificate, Lambda, Options};

const DEFAULT_ITERATIONS: usize = 2000;
/// The factor by which F may exceed its size or the gap where a cut is made.
const BEYOND: f64 = 1e3;
/// The number of iterations in a row without weight after which a plane is dropped.
const LONGEST_REST: usize = 30;
/// The largest weight that counts as none.
const NO_WEIGHT: f64 = 1e-10;
/// The share of the way from the best point to the minimiser of the model at which the next cut is
/// made.
const CUT: f64 = 0.1;

/// One lower bound of the risk.
struct Plane {
    /// The offset `e`.
    offset: f64,
    /// The vector `v`.
    pull: Vec<f64>,
    /// The weight of the plane in the minimiser of the model.
    weight: f64,
    /// The number of iterations in a row without weight.
    rest: usize,
}

#[derive(Default)]
pub(crate) struct Bundle {
    planes: Vec<Plane>,
    /// The products `<v_k, v_l>`.
    gram: Vec<Vec<f64>>,
}

impl Bundle {
    /// Minimises F from a point.
    pub(crate) fn minimize<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        point: &mut Point,
        options: &Options,
    ) -> Ending {
        /// The number of iterations that may pass without progress.
        const PATIENCE: usize = 20;
        let mut monitor = Monitor::new(options, lambda, DEFAULT_ITERATIONS);
        evaluator.settle_intercept(point);
        self.cut(evaluator, point);
        let (mut objective, mut rounding) = valued_at(evaluator, lambda, point);
        let mut lower = f64::NEG_INFINITY;
        let mut idle = 0;
        let (status, certificate) = loop {
            let (bound, coef) = self.minimize_model(lambda, point.coef.len());
            let has_risen = bound > lower + f64::EPSILON * objective.abs();
            lower = lower.max(bound);
            let certificate = bounds(objective, rounding, lower);
            if options.history {
                evaluator.intercept_slope(point);
            }
            let judged =
                monitor.judge(evaluator.passes, &certificate, || evaluator.samples.summary());
            if bound.is_nan() {
                break (Status::NumericalTrouble, certificate);
            }
            if let Some(status) = judged {
                break (status, certificate);
            }
            if idle == PATIENCE {
                break (Status::Stalled, certificate);
            }
            monitor.count(1);
            let mut target = Point::at(&evaluator.samples.objective.design, point.intercept, coef);
            evaluator.passes += 1;
            evaluator.settle_intercept(&mut target);
            let next = search_towards(evaluator, lambda, point, &target);
            let (next_objective, next_rounding) = valued_at(evaluator, lambda, &next);
            let has_fallen = next_objective < objective - f64::EPSILON * objective.abs();
            idle = if has_risen || has_fallen { 0 } else { idle + 1 };
            if next_objective < objective {
                (*point, objective, rounding) = (next, next_objective, next_rounding);
            }
            // At its minimiser the model is wrong, unless it is right everywhere that matters.
            for from in [Some(CUT), (idle > 0).then_some(1.0)].into_iter().flatten() {
                let highest = objective + BEYOND * certificate.duality_gap.max(objective.abs());
                let at = moderate(evaluator, lambda, point, &target, from, highest);
                self.cut(evaluator, &at);
            }
        };
        let recomputed = recertify(evaluator, lambda, point, lower);
        monitor.end(status, certificate).certified_by(recomputed, options.tolerance)
    }

    /// Adds the plane that touches the risk at a point whose intercept is settled.
    fn cut<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        point: &Point,
    ) {
        let objective = evaluator.samples.objective;
        let duals = evaluator.samples.margins.settled_duals(&point.products, point.intercept);
        let mut pull = vec![0.0; objective.design.columns()];
        objective.design.multiply_transposed(&objective.risk.pulls(&duals), &mut pull);
        evaluator.passes += 1;
        // The imbalance that rounding left counts times the size of the margins.
        let size = evaluator.samples.margins.get().iter().fold(1.0f64, |size, u| size.max(u.abs()));
        let unbalanced =
            if objective.risk.intercept { objective.risk.imbalance(&duals).abs() } else { 0.0 };
        let offset = objective.risk.dual_value(&duals) - unbalanced * size;
        if !offset.is_finite() {
            return;
        }
        let mut row: Vec<f64> = self.planes.iter().map(|plane| dot(&plane.pull, &pull)).collect();
        for (other, product) in self.gram.iter_mut().zip(&row) {
            other.push(*product);
        }
        row.push(dot(&pull, &pull));
        self.gram.push(row);
        self.planes.push(Plane { offset, pull, weight: 0.0, rest: 0 });
    }

    fn minimize_model(&mut self, lambda: Lambda, columns: usize) -> (f64, Vec<f64>) {
        if self.planes.is_empty() {
            return (f64::NEG_INFINITY, vec![0.0; columns]);
        }
        self.weigh(lambda);
        self.forget();
        let mut coef = vec![0.0; columns];
        let mut offset = 0.0;
        for plane in self.planes.iter().filter(|plane| plane.weight > 0.0) {
            offset += plane.weight * plane.offset;
            for (w, v) in coef.iter_mut().zip(&plane.pull) {
                *w += 0.5 / lambda.get() * plane.weight * v;
            }
        }
        (offset - lambda.get() * dot(&coef, &coef), coef)
    }

    /// Sets the weights to the maximiser of `<a, e> - a'Ga/(4 lambda)` on the simplex.
    fn weigh(&mut self, lambda: Lambda) {
        let count = self.planes.len();
        let scale = 0.5 / lambda.get();
        let matrix = DMatrix::from_fn(count, count, |k, l| scale * self.gram[k][l]);
        let offsets = DVector::from_fn(count, |k, _| self.planes[k].offset);
        let mut weights = maximize_on_simplex(&matrix, &offsets);
        // An interior point leaves small weights on planes that do not count.
        weights.apply(|a| *a = if *a > NO_WEIGHT { *a } else { 0.0 });
        let total = weights.sum();
        for (plane, weight) in self.planes.iter_mut().zip(&weights) {
            plane.weight = weight / total;
        }
    }

    /// Drops the planes that have long been without weight.
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

/// Returns the maximiser of `<e, a> - a'Ka/2` over `a >= 0` with the sum 1, K positive
/// semidefinite, by the predictor-corrector method (Mehrotra, SIAM J. Optim. 2, 1992). Planes that
/// depend on each other make K singular, which does no harm to an interior point.
fn maximize_on_simplex(matrix: &DMatrix<f64>, offsets: &DVector<f64>) -> DVector<f64> {
    const MOST_STEPS: usize = 100;
    /// The complementarity to reach, relative to the terms of the objective.
    const PRECISION: f64 = 1e-14;
    /// The share of the way to the boundary that a step may go.
    const INSIDE: f64 = 0.995;
    let count = offsets.len();
    let ones = DVector::from_element(count, 1.0);
    let mut weights = &ones / count as f64;
    let mut image = matrix * &weights;
    // The multipliers of the bounds and of the sum are dual feasible at the start.
    let slopes = &image - offsets;
    let spread = slopes.max() - slopes.min();
    let mut level = (if spread > 0.0 { spread } else { 1.0 }) - slopes.min();
    let mut bounds = slopes.add_scalar(level);
    for _ in 0..MOST_STEPS {
        let average = weights.dot(&bounds) / count as f64;
        let terms = weights.dot(&offsets.abs()) + weights.dot(&image);
        if average * count as f64 <= PRECISION * terms {
            break;
        }
        let residual = &image - offsets - &bounds + level * &ones;
        let excess = weights.sum() - 1.0;
        let mut system = matrix.clone();
        for k in 0..count {
            system[(k, k)] += bounds[k] / weights[k];
        }
        if !cholesky(&mut system) {
            break;
        }
        let solve = |mut right: DVector<f64>| {
            solve_factored(&system, right.as_mut_slice());
            right
        };
        let one = solve(ones.clone());
        // The step takes the products of weights and multipliers to the given ones.
        let direction = |products: &DVector<f64>| {
            let right = -&residual - products.component_div(&weights);
            let free = solve(right);
            let level = (free.sum() + excess) / one.sum();
            let weight = free - level * &one;
            let bound = -(products + bounds.component_mul(&weight)).component_div(&weights);
            (weight, bound, level)
        };
        let products = weights.component_mul(&bounds);
        let (weight, bound, _) = direction(&products);
        let step = reach(&weights, &weight).min(reach(&bounds, &bound));
        let after = (&weights + step * &weight).dot(&(&bounds + step * &bound)) / count as f64;
        let centring = average * (after / average).powi(3);
        let corrected = (products + weight.component_mul(&bound)).add_scalar(-centring);
        let (weight, bound, change) = direction(&corrected);
        let step = (INSIDE * reach(&weights, &weight).min(reach(&bounds, &bound))).min(1.0);
        let (next, next_bounds) = (&weights + step * weight, &bounds + step * bound);
        // Rounding ends the method; a weight must stay positive, and NaN is not.
        if !(step > 0.0 && next.iter().chain(&next_bounds).all(|&x| x > 0.0 && x.is_finite())) {
            break;
        }
        (weights, bounds) = (next, next_bounds);
        level += step * change;
        image = matrix * &weights;
    }
    weights
}

/// Returns the largest step, up to 1, by which no entry of a positive vector becomes negative.
fn reach(at: &DVector<f64>, by: &DVector<f64>) -> f64 {
    let ratios = at.iter().zip(by).filter(|(_, by)| **by < 0.0).map(|(at, by)| -at / by);
    ratios.fold(1.0, f64::min)
}

/// Returns a point a share of the way from the best one to the minimiser of the model, with a
/// settled intercept; the share is smaller if F exceeds `highest` there. A loss that grows
/// exponentially would else be cut where its planes are beyond all scale.
fn moderate<L: MarginLoss + ?Sized>(
    evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
    lambda: Lambda,
    best: &Point,
    target: &Point,
    share: f64,
    highest: f64,
) -> Point {
    const MOST_REDUCTIONS: usize = 50;
    const REDUCTION: f64 = 0.25;
    let direction = target.step(-1.0, best);
    let mut share = share;
    for _ in 0..MOST_REDUCTIONS {
        let mut at = best.step(share, &direction);
        evaluator.settle_intercept(&mut at);
        if evaluator.value_at(lambda, &at) <= highest {
            return at;
        }
        share *= REDUCTION;
    }
    best.clone()
}

/// Returns a certificate without its gradient, from an objective, computed to `rounding`, and a
/// lower bound on the minimum, a sum of as many terms and no larger ones.
fn bounds(objective: f64, rounding: f64, lower: f64) -> Certificate {
    let gap = objective - lower;
    let gap = if gap.is_nan() { f64::INFINITY } else { gap.max(0.0) };
    Certificate::new(objective, gap, 2.0 * rounding, f64::NAN)
}

/// Returns the certificate of a point by a lower bound on the minimum. The products of the point
/// are recomputed, because far larger ones on the way have left their rounding in them.
fn recertify<L: MarginLoss + ?Sized>(
    evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
    lambda: Lambda,
    point: &mut Point,
    lower: f64,
) -> Certificate {
    evaluator.refresh(point);
    evaluator.settle_intercept(point);
    let (objective, rounding) = valued_at(evaluator, lambda, point);
    evaluator.set_gradient(lambda, point);
    let gradient_norm = dot(&evaluator.gradient, &evaluator.gradient).sqrt();
    Certificate { gradient_norm, ..bounds(objective, rounding, lower) }
}

/// Returns `F` of a point with a settled intercept, and how far rounding can have moved it.
fn valued_at<L: MarginLoss + ?Sized>(
    evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
    lambda: Lambda,
    point: &Point,
) -> (f64, f64) {
    evaluator.intercept_slope(point);
    let Valued { objective, rounding, .. } = evaluator.valued(lambda, point);
    (objective, rounding)
}

/// Returns the minimiser of F on the ray from a point through another, with a settled intercept.
fn search_towards<L: MarginLoss + ?Sized>(
    evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
    lambda: Lambda,
    point: &Point,
    target: &Point,
) -> Point {
    let direction = target.step(-1.0, point);
    let t = exact_search(|t| evaluator.slope_along(lambda, point, &direction, t));
    let mut next = point.step(t, &direction);
    evaluator.settle_intercept(&mut next);
    next
}

/// Returns the minimiser over `t >= 0` of a convex function, by bisection of its derivative.
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
