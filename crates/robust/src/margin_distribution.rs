//! The large-margin distribution machine.

mod metric;

use margins_losses::{MarginLoss, OutOfRange};
use margins_optim::method::{Ending, Monitor};
use margins_optim::problem::summation::{SUM_ERROR, UNIT, dot};
use margins_optim::problem::{EmpiricalRisk, Point};
use margins_optim::space::{Extent, RowSpace};
use margins_optim::{Certificate, Fit, Lambda, Objective, Options};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::Error;
use metric::Metric;

/// The largest order of a matrix to factorise: the four that are held take two gigabytes then.
const LARGEST_ORDER: usize = 8000;

/// The large-margin distribution machine: a large mean and a small variance of the margins beside a
/// small loss.
///
/// With `u_i = y_i (b + <w, x_i>)`, `d_i = c_i/n` and the weighted mean `m = sum d_i u_i / sum d_i`
/// it minimises
///
/// `F(b, w) = sum_i d_i (L(u_i) - mu u_i + nu (u_i - m)^2) + lambda ||w||^2`
///
/// for any convex loss, differentiable or not; the source has the hinge. Its objective
/// `||w||^2/2 + lambda_1 v - lambda_2 m + C sum_i xi_i`, in which v is the mean over all pairs of
/// `(u_i - u_j)^2`, twice the variance, is `F/(2 lambda)` with
///
/// `mu = 2 lambda lambda_2`, `nu = 4 lambda lambda_1`, `C = 1/(2 n lambda)`.
///
/// The classifier of the source has no intercept; here there may be one if `nu > 0`, when the
/// variance determines it. With `z_i = y_i (1, x_i)` (without intercept `y_i x_i`) and
///
/// `Q = lambda diag(0, 1, ..., 1) + nu (sum d_i z_i z_i' - sum d_i z_i sum d_i z_i'/sum d_i)`
///
/// the dual is to maximise
///
/// `D(s) = -sum_i d_i L*(-s_i) - v'Q^-1 v/4`, `v = sum_i d_i (s_i + mu) z_i`,
///
/// for the hinge over the box `[0, 1]^n`, a quadratic program; `(b, w) = Q^-1 v/2`. Coordinates are
/// maximised exactly one after the other in random order, which needs one product with a row of
/// `Q^-1 z_i` each. For any s and any `(b, w)` with derivative 0 in b,
///
/// `F - D <= sum_i d_i (L(u_i) + L*(-s_i) + s_i u_i) + ||2 lambda w - X'r||^2/(4 lambda)`,
/// `r_i = d_i y_i (s_i + mu - 2 nu (u_i - m))`.
///
/// The first terms are Fenchel-Young terms, none of which is negative, and the last bounds the
/// distance in the metric of Q from the point that belongs to s.
///
/// Source: Zhang and Zhou, *Large margin distribution machine*, KDD 2014, section 3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarginDistribution {
    mean: f64,
    variance: f64,
    /// The seed of the order of the coordinates.
    pub seed: u64,
}

/// A classifier with the dual point that certifies it.
#[derive(Debug, Clone)]
pub struct MarginDistributionSolution {
    /// The classifier.
    pub point: Point,
    /// The duals `s_i`, one per sample.
    pub duals: Vec<f64>,
    /// The end of the solver.
    pub ending: Ending,
    /// The number of products with the data, an epoch counting as two.
    pub passes: usize,
}

impl MarginDistribution {
    /// Returns the machine with the weights mu of the mean and nu of the variance of the margins.
    /// With both 0 it is the minimiser of the loss alone, for the hinge the support vector machine.
    ///
    /// # Errors
    /// [`Error::Parameter`]: a weight is not within 0 to 1e100.
    pub fn new(mean: f64, variance: f64) -> Result<Self, Error> {
        for (parameter, value) in [("mean", mean), ("variance", variance)] {
            let valid = |value| (0.0..=1e100).contains(&value);
            OutOfRange::check(parameter, value, "a number from 0 to 1e100", valid)?;
        }
        Ok(MarginDistribution { mean, variance, seed: 1 })
    }

    /// Returns the weight mu of the mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Returns the weight nu of the variance.
    pub fn variance(&self) -> f64 {
        self.variance
    }

    /// Returns the minimiser of `F`. An iteration is an epoch of n coordinates (at most 10000
    /// by default).
    ///
    /// # Errors
    /// `Unsuitable`: the loss is not convex. [`Error::FreeIntercept`]: there is an intercept, but
    /// no variance weight. [`Error::TooLarge`]: features and samples are both more than 8000.
    /// `Tolerance`: the tolerance is not positive. `Overflow`: products of the features overflow.
    pub fn fit<L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'_, L>,
        lambda: Lambda,
        options: &Options,
    ) -> Result<Fit, Error> {
        let solution = self.solve(objective, lambda, options)?;
        let Point { intercept, coef, products } = solution.point;
        let ending = solution.ending.examined(objective.risk(), &products, intercept);
        let report = ending.report(solution.passes, options.tolerance);
        Ok(Fit { lambda, intercept, coef, report })
    }

    /// Returns the minimiser of `F` with the dual point that certifies it.
    ///
    /// # Errors
    /// The errors of [`fit`](Self::fit).
    pub fn solve<L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'_, L>,
        lambda: Lambda,
        options: &Options,
    ) -> Result<MarginDistributionSolution, Error> {
        options.check()?;
        let (risk, design) = (objective.risk(), objective.design());
        if !risk.loss().is_convex() {
            return Err(margins_optim::Error::Unsuitable {
                loss: risk.loss().specification(),
                lacks: "is not convex, and the large-margin distribution machine solves its dual",
                alternative: "Use a convex loss, such as hinge",
            }
            .into());
        }
        if risk.has_intercept() && self.variance == 0.0 {
            return Err(Error::FreeIntercept);
        }
        self.check_order(design.columns().min(design.rows()))?;
        if design.columns() <= design.rows() {
            return self.ascend(objective, lambda, options);
        }
        let space = RowSpace::of(design, &Extent::of(design), lambda)?;
        let reduced = objective.over(space.coordinates.clone());
        let mut solution = self.ascend(&reduced, lambda, options)?;
        let coef = space.coefficients(design, &solution.point.coef);
        let mut point = Point::at(design, solution.point.intercept, coef);
        let certificate = self.certify_linear(objective, lambda, &mut point, &solution.duals);
        solution.point = point;
        solution.ending = solution.ending.certified_by(certificate, options.tolerance);
        Ok(solution)
    }

    /// Refuses matrices of an order, the number of features or of samples, that is too large.
    ///
    /// # Errors
    /// [`Error::TooLarge`]: the order is above 8000.
    pub fn check_order(&self, order: usize) -> Result<(), Error> {
        if order <= LARGEST_ORDER {
            return Ok(());
        }
        Err(Error::TooLarge { order, limit: LARGEST_ORDER })
    }

    /// Returns the result of dual coordinate ascent.
    fn ascend<L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'_, L>,
        lambda: Lambda,
        options: &Options,
    ) -> Result<MarginDistributionSolution, Error> {
        const DEFAULT_EPOCHS: usize = 10_000;
        /// The number of epochs between two certificates, after the first few.
        const STRIDE: usize = 10;
        let (risk, design) = (objective.risk(), objective.design());
        let (weights, signs) = (risk.weights(), risk.signs());
        let metric = Metric::new(self.variance, objective, lambda)?;
        let mut order: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
        let curvatures: Vec<f64> =
            (0..weights.len()).map(|i| 0.5 * weights[i] * metric.diagonal(design, i)).collect();
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut duals = vec![-risk.loss().derivative(0.0); weights.len()];
        let mut monitor = Monitor::new(options, lambda, DEFAULT_EPOCHS);
        let mut passes = 2;
        loop {
            // The point is recomputed from the duals, so that no rounding accumulates.
            let mut beta = self.primal(objective, &metric, &duals);
            let mut point = metric.point(design, &beta);
            let certificate = self.certify_linear(objective, lambda, &mut point, &duals);
            passes += 3;
            if let Some(status) = monitor.judge(passes, &certificate, || {
                risk.margin_summary(&point.products, point.intercept)
            }) {
                let ending = monitor.end(status, certificate);
                return Ok(MarginDistributionSolution { point, duals, ending, passes });
            }
            let round = if monitor.iterations() < STRIDE { 1 } else { STRIDE }.min(monitor.left());
            for _ in 0..round {
                order.shuffle(&mut random);
                for &i in &order {
                    let margin = signs[i] * metric.score(design, i, &beta);
                    let dual = risk.loss().dual_step(duals[i], margin, curvatures[i]);
                    let change = dual - duals[i];
                    if change != 0.0 {
                        metric.add(design, i, 0.5 * weights[i] * signs[i] * change, &mut beta);
                        duals[i] = dual;
                    }
                }
            }
            monitor.count(round);
            passes += 2 * round;
        }
    }

    /// Returns `(b, w) = Q^-1 v/2`.
    fn primal<L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'_, L>,
        metric: &Metric,
        duals: &[f64],
    ) -> Vec<f64> {
        let (risk, design) = (objective.risk(), objective.design());
        let factors = risk.signs().iter().zip(risk.weights()).zip(duals);
        let pulls: Vec<f64> = factors
            .map(|((y, d), s)| if *d > 0.0 { 0.5 * y * d * (s + self.mean) } else { 0.0 })
            .collect();
        let mut right = vec![0.0; design.columns() + metric.first];
        if metric.first == 1 {
            right[0] = pulls.iter().sum();
        }
        design.multiply_transposed(&pulls, &mut right[metric.first..]);
        metric.solve(&right)
    }

    fn certify_linear<L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'_, L>,
        lambda: Lambda,
        point: &mut Point,
        duals: &[f64],
    ) -> Certificate {
        self.certify(objective.risk(), lambda, point, duals, |coef, pulls| {
            let mut residual = vec![0.0; coef.len()];
            objective.design().multiply_transposed(pulls, &mut residual);
            for (r, w) in residual.iter_mut().zip(coef) {
                *r -= 2.0 * lambda.get() * w;
            }
            (dot(coef, coef), dot(&residual, &residual))
        })
    }

    /// Moves the intercept of a point to where the derivative of F in it is 0 with the slopes
    /// `-s_i` of the loss, and returns the certificate of the result. Given the coefficients and
    /// the `r_i`, `squares` returns the squared norms `||w||^2` and
    /// `||2 lambda w - sum r_i x_i||^2`.
    pub fn certify<L: MarginLoss + ?Sized>(
        &self,
        risk: &EmpiricalRisk<'_, L>,
        lambda: Lambda,
        point: &mut Point,
        duals: &[f64],
        squares: impl FnOnce(&[f64], &[f64]) -> (f64, f64),
    ) -> Certificate {
        let (signs, weights) = (risk.signs(), risk.weights());
        let total: f64 = weights.iter().sum();
        if risk.has_intercept() {
            let balance = dot(signs, weights);
            let spread = total - balance * balance / total;
            let slope: f64 = self.pulls(risk, point, duals).iter().sum();
            point.intercept += slope / (2.0 * self.variance * spread);
        } else {
            point.intercept = 0.0;
        }
        let pulls = self.pulls(risk, point, duals);
        let margins = margins(risk, point);
        let mean = dot(&margins, weights) / total;
        let (square, residual) = squares(&point.coef, &pulls);
        let (mut objective, mut size) = (lambda.get() * square, 0.0);
        for (&u, &d) in margins.iter().zip(weights).filter(|(_, d)| **d > 0.0) {
            let terms = [risk.loss().value(u), -self.mean * u, self.variance * (u - mean).powi(2)];
            objective += d * terms.iter().sum::<f64>();
            size += d * terms.iter().map(|t| t.abs()).sum::<f64>();
        }
        let units = SUM_ERROR + margins.len() as f64;
        let rounding = units * UNIT * (size + lambda.get() * square);
        let gap = 0.25 * residual / lambda.get();
        let certificate = risk.fenchel_young(&margins, duals).certificate(objective, rounding, gap);
        Certificate { gradient_norm: residual.sqrt(), ..certificate }
    }

    /// Returns `r_i = d_i y_i (s_i + mu - 2 nu (u_i - m))`; at the solution
    /// `w = sum r_i x_i/(2 lambda)`.
    pub fn pulls<L: MarginLoss + ?Sized>(
        &self,
        risk: &EmpiricalRisk<'_, L>,
        point: &Point,
        duals: &[f64],
    ) -> Vec<f64> {
        let (signs, weights) = (risk.signs(), risk.weights());
        let margins = margins(risk, point);
        let mean = dot(&margins, weights) / weights.iter().sum::<f64>();
        let pull = |i: usize| {
            let tilt = self.mean - 2.0 * self.variance * (margins[i] - mean);
            if weights[i] > 0.0 { weights[i] * signs[i] * (duals[i] + tilt) } else { 0.0 }
        };
        (0..weights.len()).map(pull).collect()
    }
}

fn margins<L: MarginLoss + ?Sized>(risk: &EmpiricalRisk<'_, L>, point: &Point) -> Vec<f64> {
    risk.signs().iter().zip(&point.products).map(|(y, f)| y * (f + point.intercept)).collect()
}
