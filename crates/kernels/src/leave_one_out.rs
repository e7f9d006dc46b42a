use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, Par, Side};
use margins_losses::MarginLoss;
use margins_optim::Options;
use margins_optim::solver_kit::{EmpiricalRisk, Minimizer};
use nalgebra::DMatrix;
use rayon::prelude::*;

use crate::newton::SampleNewton;
use crate::{Error, KernelFit, KernelObjective};

/// Samples that are left out one after the other with the same factor. Fixed, so that results do not
/// depend on the number of threads.
const RUN: usize = 32;

/// The score of every sample under the classifier fitted without it, exactly: n refits, each of one or two
/// Newton steps from the fit to all samples, whose factor serves all of them.
///
/// A sample left out is a sample of weight zero; the mean of the losses still divides by n, so that
/// `n lambda`, hence C of a support vector machine, stays what it is.
///
/// Returned beside the scores is whether all refits converged.
///
/// # Errors
/// As [`path`](crate::path); a class of which only one sample counts.
pub fn leave_one_out<L: MarginLoss + ?Sized>(
    objective: &KernelObjective<'_, L>,
    fit: &KernelFit,
    options: &Options,
) -> Result<(Vec<f64>, bool), Error> {
    objective.risk.check_loss()?;
    let n = objective.gram.len();
    let start = objective.point(fit.intercept, fit.coef.clone());
    let mut whole = SampleNewton::new(&objective.risk, objective.gram.matrix());
    whole.factorize(fit.lambda, &start);
    let samples: Vec<usize> = (0..n).collect();
    let parts: Vec<Result<(Vec<f64>, bool), Error>> = samples
        .par_chunks(RUN)
        .map(|samples| {
            let mut preconditioner = whole.preconditioner().clone();
            let mut scores = Vec::with_capacity(samples.len());
            let mut converged = true;
            for &i in samples {
                let risk = without(&objective.risk, i)?;
                let mut solver =
                    SampleNewton::resume(&risk, objective.gram.matrix(), preconditioner);
                let mut point = start.clone();
                let ending = solver.minimize(fit.lambda, &mut point, options);
                converged &= ending.certificate.relative_gap() <= options.tolerance;
                scores.push(point.products[i] + point.intercept);
                preconditioner = solver.into_preconditioner();
            }
            Ok((scores, converged))
        })
        .collect();
    let mut scores = Vec::with_capacity(n);
    let mut converged = true;
    for part in parts {
        let (part, all) = part?;
        scores.extend(part);
        converged &= all;
    }
    Ok((scores, converged))
}

fn without<'a, L: MarginLoss + ?Sized>(
    risk: &EmpiricalRisk<'a, L>,
    i: usize,
) -> Result<EmpiricalRisk<'a, L>, Error> {
    let mut weights = vec![1.0; risk.weights().len()];
    weights[i] = 0.0;
    Ok(risk.clone().with_weights(&weights)?)
}

/// The same by one Newton step from the fit to all samples, for all of them at the cost of one factorisation:
/// an approximation, exact for the squared loss.
///
/// With H the Hessian of F in the function space and `v_i = k_i'H^(-1) k_i` (the intercept included), the step
/// without sample i changes its score by `g_i v_i/(1 - D_i v_i)`, `g_i = c_i y_i L'(u_i)/n`,
/// `D_i = c_i L''(u_i)/n` (Sherman and Morrison).
///
/// Source: the formula of the predicted residual sum of squares, carried over to Newton's step as in
/// Cawley and Talbot, *Efficient approximate leave-one-out cross-validation for kernel logistic
/// regression*, Machine Learning 71 (2008).
///
/// # Errors
/// A loss without curvature; a matrix that is not positive semidefinite.
pub fn one_step_leave_one_out<L: MarginLoss + ?Sized>(
    objective: &KernelObjective<'_, L>,
    fit: &KernelFit,
) -> Result<Vec<f64>, Error> {
    objective.risk.check_loss()?;
    let n = objective.gram.len();
    let point = objective.point(fit.intercept, fit.coef.clone());
    let mut margins = objective.risk.margins();
    margins.set(&point.products, point.intercept);
    let mut gradient = vec![0.0; n];
    margins.gradient(&mut gradient);
    let curvatures = margins.curvatures().to_vec();
    let variances = Variances::new(objective, &curvatures, 2.0 * fit.lambda.get())?;
    Ok((0..n)
        .map(|i| {
            let v = variances.of(i);
            let score = point.products[i] + point.intercept;
            score + gradient[i] * v / (1.0 - curvatures[i] * v)
        })
        .collect())
}

/// `v_i = k_i'H^(-1) k_i`: with `V = (K - K_A C^(-1) K_A')/(2 lambda)`, `C = K_AA + W_A^(-1)` over the samples
/// with curvature, `v_i = V_ii + (1 - (V D)_i)^2/(1'D - D'V D)`, the second part from the intercept.
struct Variances {
    /// `V_ii`.
    diagonal: Vec<f64>,
    /// `V D`.
    weighted: Vec<f64>,
    /// `1'D - D'V D`; infinite without an intercept.
    spread: f64,
}

impl Variances {
    fn new<L: MarginLoss + ?Sized>(
        objective: &KernelObjective<'_, L>,
        curvatures: &[f64],
        ridge: f64,
    ) -> Result<Self, Error> {
        let matrix = objective.gram.matrix();
        let n = matrix.nrows();
        let active: Vec<usize> = (0..n).filter(|&i| curvatures[i] > 0.0).collect();
        let halves = half_solves(matrix, &active, |i| ridge / curvatures[i])?;
        let variance = |i: usize| {
            let explained: f64 = halves.col_as_slice(i).iter().map(|h| h * h).sum();
            (matrix[(i, i)] - explained).max(0.0) / ridge
        };
        // V D = (K D - (L^(-1) K_A')' (L^(-1) K_A' D)) / (2 lambda).
        let mut whole = vec![0.0; active.len()];
        for (i, &d) in curvatures.iter().enumerate().filter(|(_, d)| **d > 0.0) {
            whole.iter_mut().zip(halves.col_as_slice(i)).for_each(|(w, h)| *w += d * h);
        }
        let mut weighted = vec![0.0; n];
        crate::symmetric::multiply(matrix, curvatures, &mut weighted);
        for (i, v) in weighted.iter_mut().enumerate() {
            let explained: f64 =
                halves.col_as_slice(i).iter().zip(&whole).map(|(h, w)| h * w).sum();
            *v = (*v - explained) / ridge;
        }
        let total: f64 = curvatures.iter().sum();
        let explained: f64 = curvatures.iter().zip(&weighted).map(|(d, v)| d * v).sum();
        let spread = if objective.risk.has_intercept() { total - explained } else { f64::INFINITY };
        Ok(Variances { diagonal: (0..n).map(variance).collect(), weighted, spread })
    }

    fn of(&self, i: usize) -> f64 {
        if self.spread > 0.0 {
            self.diagonal[i] + (1.0 - self.weighted[i]).powi(2) / self.spread
        } else {
            self.diagonal[i]
        }
    }
}

/// `L^(-1) K_A'`, one column a sample, for `L L' = K_AA + diag(extra)`.
fn half_solves(
    matrix: &DMatrix<f64>,
    active: &[usize],
    extra: impl Fn(usize) -> f64,
) -> Result<Mat<f64>, Error> {
    let (m, n) = (active.len(), matrix.nrows());
    let entry = |i: usize, j: usize| {
        let k = matrix[(active[i], active[j])];
        if i == j { k + extra(active[i]) } else { k }
    };
    let small = Mat::from_fn(m, m, entry);
    let mut halves = Mat::from_fn(m, n, |k, i| matrix[(active[k], i)]);
    if m > 0 {
        let factor = small.llt(Side::Lower).map_err(|_| Error::Indefinite)?;
        solve_lower_triangular_in_place(factor.L(), halves.as_mut(), Par::Seq);
    }
    Ok(halves)
}
