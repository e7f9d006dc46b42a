//! The large-margin distribution machine.

mod metric;

use margins_losses::{MarginLoss, OutOfRange, SpecialCase};
use margins_optim::method::{Ending, Monitor};
use margins_optim::problem::summation::{SUM_ERROR, UNIT, dot};
use margins_optim::problem::{EmpiricalRisk, Point};
use margins_optim::space::{Extent, RowSpace};
use margins_optim::{Certificate, Fit, Lambda, Objective, Options, Status};
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
/// Holland (2019, section 2.1) writes `||w||^2/2 + lambda_1 v - lambda_2 m + (lambda_3/n) sum_i xi_i` with
/// the variance v, which is `F/(2 lambda)` for `lambda = 1/(2 lambda_3)`, `mu = lambda_2/lambda_3` and
/// `nu = lambda_1/lambda_3`: see [`by_letters`](Self::by_letters).
///
/// Source: Zhang and Zhou, *Large margin distribution machine*, KDD 2014, section 3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarginDistribution {
    mean: f64,
    variance: f64,
    /// `lambda_1`, `lambda_2` and `lambda_3`, if the weights were given so.
    letters: Option<[f64; 3]>,
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
    /// The bound of Zhang and Zhou on the share of rows that are misclassified if they are left out, for the
    /// hinge: `(1/n) (sum over I_1 of a_i U_ii + #I_2)`, where I_1 holds the rows with `0 < s_i < 1` and
    /// I_2 those with `s_i = 1`, `a_i = d_i s_i/(2 lambda)` and `U_ii = lambda z_i' Q^-1 z_i`.
    ///
    /// A row is left out by its loss alone: the mean and the variance remain those of all rows. Then its
    /// margin falls by at most `a_i U_ii`: with the change `e` of `(b, w)`, `2 e'Q e <= d_i s_i z_i'e`, because
    /// the slopes of the other losses rise with their margins, and Cauchy and Schwarz bound `z_i'e`. This is
    /// for the minimum itself. Where the moments are computed again, more rows may be wrong.
    pub fixed_moments_leave_one_out_bound: Option<f64>,
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
        Ok(MarginDistribution { mean, variance, letters: None, seed: 1 })
    }

    /// Returns the machine that minimises
    /// `||w||^2/2 + lambda_1 v - lambda_2 m + (lambda_3/n) sum_i xi_i`, with the mean m and the variance v
    /// of the margins and the losses `xi_i`, at its [`lambda`](Self::lambda) `1/(2 lambda_3)`.
    ///
    /// ```
    /// use margins_robust::MarginDistribution;
    ///
    /// let machine = MarginDistribution::by_letters(1.0, 4.0, 2.0)?;
    /// assert_eq!((machine.mean(), machine.variance()), (2.0, 0.5));
    /// assert_eq!(machine.lambda().map(|lambda| lambda.get()), Some(0.25));
    /// # Ok::<(), margins_robust::Error>(())
    /// ```
    ///
    /// Source: Holland, *Classification using margin pursuit* (2019), section 2.1.
    ///
    /// # Errors
    /// [`Error::Parameter`]: `lambda_3` is not within 1e-100 to 1e100, or `lambda_1` or `lambda_2` is
    /// negative or more than 1e100 times `lambda_3`.
    pub fn by_letters(lambda_1: f64, lambda_2: f64, lambda_3: f64) -> Result<Self, Error> {
        let valid = |value| (1e-100..=1e100).contains(&value);
        OutOfRange::check("lambda3", lambda_3, "a number from 1e-100 to 1e100", valid)?;
        for (name, value) in [("lambda1", lambda_1), ("lambda2", lambda_2)] {
            let valid = |value: f64| value >= 0.0 && value <= 1e100 * lambda_3.min(1.0);
            OutOfRange::check(
                name,
                value,
                "a number from 0 to 1e100, and to 1e100 lambda3",
                valid,
            )?;
        }
        let machine = MarginDistribution::new(lambda_2 / lambda_3, lambda_1 / lambda_3)?;
        Ok(MarginDistribution { letters: Some([lambda_1, lambda_2, lambda_3]), ..machine })
    }

    /// Returns `lambda_1`, `lambda_2` and `lambda_3` of [`by_letters`](Self::by_letters).
    pub fn letters(&self) -> Option<[f64; 3]> {
        self.letters
    }

    /// Returns the lambda that the letters stand for, if the weights were given so; fits at another
    /// lambda would have another objective.
    pub fn lambda(&self) -> Option<Lambda> {
        self.letters.and_then(|[.., lambda_3]| Lambda::new(0.5 / lambda_3).ok())
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
    /// `Unsuitable`: the loss is not convex. [`Error::Parameter`]: lambda is not that of the letters.
    /// [`Error::FreeIntercept`]: there is an intercept, but no variance weight.
    /// [`Error::TooLarge`]: features and samples are both more than 8000.
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
        let mut report = ending.report(solution.passes, options.tolerance);
        report.fixed_moments_leave_one_out_bound = solution.fixed_moments_leave_one_out_bound;
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
        if self.lambda().is_some_and(|own| own != lambda) {
            let requirement = "1/(2 lambda3), which the objective sets";
            return Err(OutOfRange { parameter: "lambda", value: lambda.get(), requirement }.into());
        }
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
                let fixed_moments_leave_one_out_bound = (status == Status::Converged)
                    .then(|| fixed_moments_leave_one_out_bound(risk, &duals, &curvatures))
                    .flatten();
                return Ok(MarginDistributionSolution {
                    point,
                    duals,
                    ending,
                    passes,
                    fixed_moments_leave_one_out_bound,
                });
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

/// Returns the bound on the share of rows that are misclassified if their losses are left out one at a
/// time, given `d_i z_i' Q^-1 z_i/2`; `None` for another loss than the hinge.
fn fixed_moments_leave_one_out_bound<L: MarginLoss + ?Sized>(
    risk: &EmpiricalRisk<'_, L>,
    duals: &[f64],
    curvatures: &[f64],
) -> Option<f64> {
    if risk.loss().special_case() != Some(SpecialCase::Hinge) {
        return None;
    }
    let weighed = (risk.weights().iter()).zip(duals.iter().zip(curvatures));
    let weighed = weighed.filter(|(d, _)| **d > 0.0).map(|(_, pair)| pair);
    let of_row =
        |(&s, curvature): (&f64, &f64)| if s < 1.0 { (s * curvature).min(1.0) } else { 1.0 };
    Some(weighed.map(of_row).sum::<f64>() / duals.len() as f64)
}

fn margins<L: MarginLoss + ?Sized>(risk: &EmpiricalRisk<'_, L>, point: &Point) -> Vec<f64> {
    risk.signs().iter().zip(&point.products).map(|(y, f)| y * (f + point.intercept)).collect()
}
