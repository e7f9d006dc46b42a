use margins_data::Design;
use margins_losses::MarginLoss;
use margins_optim::solver_kit::{EmpiricalRisk, Ending};
use margins_optim::{Lambda, Objective, Options, Report, Status};
use nalgebra::{DMatrix, DVector};

use crate::gram::{combine, combine_all, diagonal};
use crate::newton::norm_of;
use crate::{Error, Kernel, KernelFit};

/// `K = Z Z'` up to a trace tolerance, by Cholesky with the largest remaining diagonal entry as pivot: the
/// kernel matrix is never formed, r columns of it are enough.
///
/// The function space is that of kernel sections at the r pivots. A classifier in it is a candidate for
/// the whole problem, and is certified as such.
///
/// Source: Fine and Scheinberg, *Efficient SVM training using low-rank kernel representations*, JMLR 2
/// (2001).
#[derive(Debug, Clone)]
pub struct PivotedCholesky {
    pivots: Vec<usize>,
    /// `Z`, one row a sample.
    coordinates: Design,
    /// Trace of `K - Z Z'`.
    residual: f64,
}

impl PivotedCholesky {
    /// Until the trace of what remains is at most `tolerance` times that of K, or there are `most_pivots`
    /// of them.
    ///
    /// # Errors
    /// A kernel value that is not finite; a kernel that is not known to be positive
    /// semidefinite; a tolerance that is not positive.
    pub fn new(
        kernel: &dyn Kernel,
        design: &Design,
        tolerance: f64,
        most_pivots: usize,
    ) -> Result<Self, Error> {
        if !(tolerance.is_finite() && tolerance > 0.0) {
            return Err(margins_optim::Error::Tolerance(tolerance).into());
        }
        if !kernel.is_positive_semidefinite() {
            return Err(Error::MaybeIndefinite(kernel.specification()));
        }
        let n = design.rows();
        let mut remaining = diagonal(kernel, design)?;
        let trace: f64 = remaining.iter().sum();
        let mut factor: Vec<Vec<f64>> = Vec::new();
        let mut pivots: Vec<usize> = Vec::new();
        while pivots.len() < most_pivots.min(n) {
            let pivot =
                (0..n).fold(0, |best, i| if remaining[i] > remaining[best] { i } else { best });
            // What is left of a pivot by rounding alone is none.
            let left: f64 = remaining.iter().sum();
            if left <= tolerance * trace || remaining[pivot] <= f64::EPSILON * trace {
                break;
            }
            let mut next = column(kernel, design, pivot)?;
            for earlier in &factor {
                let share = earlier[pivot];
                next.iter_mut().zip(earlier).for_each(|(k, z)| *k -= share * z);
            }
            let root = remaining[pivot].sqrt();
            next.iter_mut().for_each(|k| *k /= root);
            // The rows of earlier pivots are done: theirs are zeros up to rounding.
            pivots.iter().for_each(|&done| next[done] = 0.0);
            next[pivot] = root;
            remaining.iter_mut().zip(&next).for_each(|(d, z)| *d = (*d - z * z).max(0.0));
            remaining[pivot] = 0.0;
            pivots.push(pivot);
            factor.push(next);
        }
        if factor.is_empty() {
            factor.push(vec![0.0; n]);
            pivots.push(0);
        }
        let coordinates = DMatrix::from_fn(factor.len(), n, |k, i| factor[k][i]);
        Ok(PivotedCholesky {
            pivots,
            coordinates: Design::from_samples(coordinates)?,
            residual: remaining.iter().sum(),
        })
    }

    /// The samples whose kernel sections span the function space, in the order in which they were chosen.
    pub fn pivots(&self) -> &[usize] {
        &self.pivots
    }

    /// `Z`, one row a sample.
    pub fn coordinates(&self) -> &Design {
        &self.coordinates
    }

    /// Trace of `K - Z Z'`.
    pub fn residual(&self) -> f64 {
        self.residual
    }

    /// The coefficients of all samples, 0 but for the pivots, of a linear classifier on the coordinates:
    /// `Z_P' a_P = w`, triangular in the order of the pivots.
    fn kernel_coefficients(&self, coef: &[f64]) -> Vec<f64> {
        let rank = self.pivots.len();
        let samples = self.coordinates.dense_samples().unwrap_or_default();
        let triangle = DMatrix::from_fn(rank, rank, |k, l| samples[self.pivots[l] * rank + k]);
        let mut a = DVector::from_column_slice(coef);
        triangle.solve_upper_triangular_mut(&mut a);
        let mut out = vec![0.0; self.coordinates.rows()];
        self.pivots.iter().zip(a.iter()).for_each(|(&i, &a)| out[i] = a);
        out
    }

    /// A path in the function space of the pivots, certified against the whole kernel: the gap bounds
    /// the distance to the minimum over all kernel sections, to which the truncation adds. Kernel values
    /// are computed anew for the certificates, once for all lambdas.
    ///
    /// # Errors
    /// As [`margins_optim::path`]; kernel values that are not finite.
    pub fn path<L: MarginLoss + ?Sized>(
        &self,
        risk: &EmpiricalRisk<'_, L>,
        kernel: &dyn Kernel,
        design: &Design,
        lambdas: &[Lambda],
        options: &Options,
        observer: &(dyn Fn(&Report) + Sync),
    ) -> Result<Vec<KernelFit>, Error> {
        let reduced = Objective::from_risk(risk.clone(), &self.coordinates)?;
        let fits = margins_optim::path(&reduced, lambdas, options, observer)?;
        let coefs: Vec<Vec<f64>> =
            fits.iter().map(|fit| self.kernel_coefficients(&fit.coef)).collect();
        let stack =
            |rows: &[Vec<f64>]| DMatrix::from_fn(rows.len(), design.rows(), |k, i| rows[k][i]);
        let scores = combine_all(kernel, design, design, &stack(&coefs))?;
        let mut margins = risk.margins();
        let mut gradients = Vec::with_capacity(fits.len());
        let mut intercepts = Vec::with_capacity(fits.len());
        for (k, fit) in fits.iter().enumerate() {
            let scores: Vec<f64> = scores.row(k).iter().copied().collect();
            intercepts.push(margins.settle(&scores, fit.intercept));
            let mut gradient = vec![0.0; design.rows()];
            margins.gradient(&mut gradient);
            for (r, a) in gradient.iter_mut().zip(&coefs[k]) {
                *r += 2.0 * fit.lambda.get() * a;
            }
            gradients.push(gradient);
        }
        let images = combine_all(kernel, design, design, &stack(&gradients))?;
        let largest = diagonal(kernel, design)?.into_iter().fold(0.0, f64::max);
        let radius = f64::sqrt(largest);
        Ok((fits.into_iter().zip(coefs).enumerate())
            .map(|(k, (fit, coef))| {
                let scores: Vec<f64> = scores.row(k).iter().copied().collect();
                let intercept = margins.settle(&scores, intercepts[k]);
                let penalty =
                    fit.lambda.get() * coef.iter().zip(&scores).map(|(a, f)| a * f).sum::<f64>();
                let image: Vec<f64> = images.row(k).iter().copied().collect();
                let objective = margins.risk() + penalty;
                let norm = norm_of(&gradients[k], &image, radius);
                let certificate = margins.certificate(fit.lambda, objective, norm, radius);
                let status = match fit.report.status {
                    _ if certificate.relative_gap() <= options.tolerance => Status::Converged,
                    Status::Converged => Status::Truncated,
                    other => other,
                };
                let (lambda, passes) = (fit.lambda, fit.report.passes + 2);
                let ending = Ending { certificate, status, ..Ending::from(fit.report) };
                KernelFit { lambda, intercept, coef, report: ending.report(passes) }
            })
            .collect())
    }
}

/// The kernel values of all samples with sample `i`.
fn column(kernel: &dyn Kernel, design: &Design, i: usize) -> Result<Vec<f64>, Error> {
    combine(kernel, design, &design.select(&[i]), &[1.0])
}
