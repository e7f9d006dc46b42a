//! The pivoted Cholesky factorisation of a kernel matrix, and fits in its coordinates.

use margins_data::{Design, Memory, parallel};
use margins_kernel_functions::{Kernel, combine, combine_all, diagonal};
use margins_losses::MarginLoss;
use margins_optim::method::Ending;
use margins_optim::problem::{EmpiricalRisk, Margins};
use margins_optim::{Fit, Lambda, Objective, Observer, Options, Status};
use nalgebra::{DMatrix, DVector};

use crate::rkhs_norm::SampleNorms;
use crate::room::is_free;
use crate::{Error, KernelFit};

/// The factorisation `K = Z Z'` up to a trace tolerance, by Cholesky with the largest remaining
/// diagonal entry as pivot: the kernel matrix is never formed, r columns of it are enough.
///
/// The function space is that of kernel sections at the r pivots. A classifier in it is a candidate
/// for the whole problem, and is certified as such.
///
/// Source: Fine and Scheinberg, *Efficient SVM training using low-rank kernel representations*,
/// JMLR 2 (2001).
#[derive(Debug, Clone)]
pub struct PivotedCholesky {
    pivots: Vec<usize>,
    /// The matrix `Z`, one row per sample.
    coordinates: Design,
    /// The trace of `K - Z Z'`.
    residual: f64,
}

impl PivotedCholesky {
    /// Adds pivots until the trace of what remains is at most `tolerance` times that of K, or there
    /// are `most_pivots` of them.
    ///
    /// # Errors
    /// A kernel value or a trace that is not finite; a kernel that is not known to be positive
    /// semidefinite; a tolerance that is not positive.
    pub fn new(
        kernel: &dyn Kernel,
        design: &Design,
        tolerance: f64,
        most_pivots: usize,
    ) -> Result<Self, Error> {
        Self::grown(kernel, design, tolerance, most_pivots)?.finish()
    }

    /// Adds pivots until the trace of what remains is at most `tolerance` times that of K, in at
    /// most so many gigabytes (1e9 bytes) of memory: a factor of rank r for n samples takes `16 r
    /// n` bytes while it is made.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new), and [`Error::FactorTooLarge`] where the memory does not
    /// do, or half of what is free; it says about which rank would be needed.
    pub fn within(
        kernel: &dyn Kernel,
        design: &Design,
        tolerance: f64,
        gigabytes: f64,
    ) -> Result<Self, Error> {
        let n = design.rows();
        // The fits shift a copy of the factor.
        let free = Memory::free().map_or(f64::INFINITY, |free| free.half().gigabytes());
        let gigabytes = gigabytes.min(free);
        let most_pivots = (1e9 * gigabytes / factor_bytes(n, 1)).floor() as usize;
        let factorization = Self::grown(kernel, design, tolerance, most_pivots)?;
        if factorization.pivot(tolerance).is_none() {
            return factorization.finish();
        }
        let needed = factorization.rank_for(tolerance);
        Err(Error::FactorTooLarge {
            n,
            rank: factorization.rank(),
            gigabytes,
            left: factorization.left(),
            tolerance,
            needed,
            needed_gigabytes: 1e-9 * factor_bytes(n, needed),
        })
    }

    fn grown(
        kernel: &dyn Kernel,
        design: &Design,
        tolerance: f64,
        most_pivots: usize,
    ) -> Result<Factorization, Error> {
        if !(tolerance.is_finite() && tolerance > 0.0) {
            return Err(margins_optim::Error::Tolerance(tolerance).into());
        }
        if !kernel.is_positive_semidefinite() {
            return Err(Error::MaybeIndefinite(kernel.specification()));
        }
        let mut factorization = Factorization::new(diagonal(kernel, design)?);
        if !factorization.trace.is_finite() {
            return Err(Error::Trace(kernel.specification()));
        }
        while factorization.rank() < most_pivots
            && let Some(pivot) = factorization.pivot(tolerance)
        {
            factorization.extend(pivot, column(kernel, design, pivot)?);
        }
        Ok(factorization)
    }

    /// Factorises a matrix in memory as accurately as most certificates need; returns `None` if that
    /// takes more than so many pivots, or if the factor does not fit in memory beside so many bytes, with
    /// paths over it.
    pub(crate) fn of_low_rank(matrix: &DMatrix<f64>, most: usize, reserve: usize) -> Option<Self> {
        const TOLERANCE: f64 = 1e-10;
        let n = matrix.nrows();
        // A path shifts a copy of the coordinates, and holds a system with its factor.
        let of_path = size_of::<f64>() * (n * most + 2 * most * most);
        let of_paths = parallel::threads().saturating_mul(of_path);
        if !is_free((factor_bytes(n, most) as usize).saturating_add(of_paths.max(reserve))) {
            return None;
        }
        let mut factorization = Factorization::new(matrix.diagonal().as_slice().to_vec());
        if !factorization.trace.is_finite() {
            return None;
        }
        while let Some(pivot) = factorization.pivot(TOLERANCE) {
            let rank = factorization.rank();
            // The pace slackens from pivot to pivot: what is too slow at the present one stays so.
            let looks = rank > 0 && rank.is_multiple_of((most / 8).max(1));
            if rank == most || looks && factorization.rank_for(TOLERANCE) > most {
                return None;
            }
            factorization.extend(pivot, matrix.column(pivot).iter().copied().collect());
        }
        factorization.finish().ok()
    }

    /// Returns the samples whose kernel sections span the function space, in the order in which
    /// they were chosen.
    pub fn pivots(&self) -> &[usize] {
        &self.pivots
    }

    /// Returns `Z`, one row per sample.
    pub fn coordinates(&self) -> &Design {
        &self.coordinates
    }

    /// Returns the trace of `K - Z Z'`.
    pub fn residual(&self) -> f64 {
        self.residual
    }

    /// Returns the map from a linear classifier w on the coordinates to the coefficients of all
    /// samples, 0 but for the pivots: `Z_P' a_P = w`, triangular in the order of the pivots.
    pub(crate) fn lift(&self) -> impl Fn(&[f64]) -> Vec<f64> {
        let rank = self.pivots.len();
        let samples = self.coordinates.dense_samples().unwrap_or_default();
        let triangle = DMatrix::from_fn(rank, rank, |k, l| samples[self.pivots[l] * rank + k]);
        move |coef| {
            let mut a = DVector::from_column_slice(coef);
            triangle.solve_upper_triangular_mut(&mut a);
            let mut out = vec![0.0; self.coordinates.rows()];
            self.pivots.iter().zip(a.iter()).for_each(|(&i, &a)| out[i] = a);
            out
        }
    }

    /// Follows a path in the function space of the pivots, certified against the whole kernel: the
    /// gap bounds the distance to the minimum over all kernel sections, to which the truncation
    /// adds. Kernel values are recomputed for the certificates, once for all lambdas.
    ///
    /// # Errors
    /// The errors of [`path`](fn@margins_optim::path); kernel values that are not finite.
    pub fn path<L: MarginLoss + ?Sized>(
        &self,
        risk: &EmpiricalRisk<'_, L>,
        kernel: &dyn Kernel,
        design: &Design,
        lambdas: &[Lambda],
        options: &Options,
        observer: &Observer<'_>,
    ) -> Result<Vec<KernelFit>, Error> {
        let (rows, rank) = (self.coordinates.rows(), self.pivots.len());
        self.coordinates.check_fits(1, 1, options.solver.squares(rows, rank))?;
        let reduced = Objective::from_risk(risk.clone(), &self.coordinates)?;
        // The slopes at a kink are those of one side, and certify little.
        let has_kinks = !risk.loss().is_differentiable();
        let inner = Options { keep_duals: has_kinks, ..*options };
        let fits = margins_optim::path(&reduced, lambdas, &inner, observer)?;
        let lift = self.lift();
        let coefs: Vec<Vec<f64>> = fits.iter().map(|fit| lift(&fit.coef)).collect();
        let products = |rows: &[Vec<f64>]| {
            let stacked = DMatrix::from_fn(rows.len(), design.rows(), |k, i| rows[k][i]);
            combine_all(kernel, design, design, &stacked)
        };
        let scores = products(&coefs)?;
        let functions: Vec<Lifted<'_, '_, L>> = (fits.into_iter().zip(coefs).enumerate())
            .map(|(k, (fit, coef))| Lifted::new(risk, fit, coef, scores.row(k).iter().copied()))
            .collect();
        let gradients: Vec<Vec<f64>> = functions.iter().map(Lifted::gradient).collect();
        let images = products(&gradients)?;
        let norms = SampleNorms::new(diagonal(kernel, design)?);
        Ok((functions.into_iter().zip(&gradients).enumerate())
            .map(|(k, (function, gradient))| {
                let image: Vec<f64> = images.row(k).iter().copied().collect();
                let norm = norms.norm_of(gradient, &image);
                function.certified(&norms, norm, options)
            })
            .collect())
    }
}

/// A fit in the coordinates of the pivots as a function of the whole kernel.
struct Lifted<'r, 'a, L: MarginLoss + ?Sized> {
    risk: &'r EmpiricalRisk<'a, L>,
    fit: Fit,
    coef: Vec<f64>,
    /// The scores of the samples, without intercept.
    scores: Vec<f64>,
    /// The margins, settled.
    margins: Margins<'r, L>,
}

impl<'r, 'a, L: MarginLoss + ?Sized> Lifted<'r, 'a, L> {
    fn new(
        risk: &'r EmpiricalRisk<'a, L>,
        mut fit: Fit,
        coef: Vec<f64>,
        scores: impl Iterator<Item = f64>,
    ) -> Self {
        let scores: Vec<f64> = scores.collect();
        let mut margins = risk.margins();
        fit.intercept = margins.settle(&scores, fit.intercept);
        Lifted { risk, fit, coef, scores, margins }
    }

    /// Returns the coefficients of the gradient of F, a function of the kernel: by the duals of the
    /// fit, if it has kept them.
    fn gradient(&self) -> Vec<f64> {
        let mut gradient = match &self.fit.report.duals {
            Some(duals) => self.risk.pulls(duals).iter().map(|pull| -pull).collect(),
            None => {
                let mut slopes = vec![0.0; self.scores.len()];
                self.margins.gradient(&mut slopes);
                slopes
            }
        };
        let ridge = 2.0 * self.fit.lambda.get();
        gradient.iter_mut().zip(&self.coef).for_each(|(r, a)| *r += ridge * a);
        gradient
    }

    /// Returns the fit, certified for the whole kernel by the norm of its gradient, with the duals that
    /// certify it if the options ask for them.
    fn certified(mut self, norms: &SampleNorms, norm: f64, options: &Options) -> KernelFit {
        let tolerance = options.tolerance;
        let Fit { lambda, intercept, mut report, .. } = self.fit;
        let duals = report.duals.take();
        let square: f64 = self.coef.iter().zip(&self.scores).map(|(a, f)| a * f).sum();
        let objective = self.margins.risk() + lambda.get() * square;
        let rounding = norms.product_rounding(&mut self.margins, lambda, &self.coef);
        let certificate = match &duals {
            Some(duals) => {
                self.margins.certificate_by_duals(lambda, objective, rounding, norm, duals)
            }
            None => self.margins.certificate(lambda, objective, rounding, norm, norms.largest()),
        };
        let status = match report.status {
            _ if certificate.relative_gap() <= tolerance => Status::Converged,
            Status::Converged => Status::Truncated,
            other => other,
        };
        let passes = report.passes + 2;
        let ending = Ending { certificate, status, ..Ending::from(report) };
        let ending = ending.examined(self.risk, &self.scores, intercept);
        let mut report = ending.report(passes, tolerance);
        report.duals = duals.filter(|_| options.keep_duals);
        KernelFit { lambda, intercept, coef: self.coef, report }
    }
}

struct Factorization {
    pivots: Vec<usize>,
    /// The columns of `Z`.
    columns: Vec<Vec<f64>>,
    /// The diagonal of `K - Z Z'`.
    remaining: Vec<f64>,
    trace: f64,
    /// The share of the trace that remained before each pivot.
    course: Vec<f64>,
}

/// Returns the most bytes that a factor of this rank takes: its columns and, for a moment, the same
/// numbers row by row.
fn factor_bytes(n: usize, rank: usize) -> f64 {
    2.0 * size_of::<f64>() as f64 * n as f64 * rank as f64
}

impl Factorization {
    fn new(diagonal: Vec<f64>) -> Self {
        let trace = diagonal.iter().sum();
        Factorization {
            pivots: Vec::new(),
            columns: Vec::new(),
            remaining: diagonal,
            trace,
            course: Vec::new(),
        }
    }

    fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// Returns the share of the trace that remains.
    fn left(&self) -> f64 {
        self.remaining.iter().sum::<f64>() / self.trace
    }

    /// Returns the rank at which the share of the trace would be down to the tolerance, if it went
    /// on falling by the same factor a pivot as over the last half of them; at most n.
    fn rank_for(&self, tolerance: f64) -> usize {
        let (n, rank) = (self.remaining.len(), self.rank());
        let Some(before) = self.course.get(rank / 2) else { return n };
        let pace = (before / self.left()).ln() / (rank - rank / 2) as f64;
        let more = (self.left() / tolerance).ln() / pace;
        // Without any progress the pace is 0 and the quotient infinite, which the conversion takes
        // to the largest number.
        rank.saturating_add(more.ceil() as usize).min(n)
    }

    /// Returns the next pivot; `None` if what remains is within the tolerance or rounding.
    fn pivot(&self, tolerance: f64) -> Option<usize> {
        let largest = |best: usize, i: usize| {
            if self.remaining[i] > self.remaining[best] { i } else { best }
        };
        let pivot = (0..self.remaining.len()).reduce(largest)?;
        // A pivot that is left by rounding alone does not count.
        let is_noise = self.remaining[pivot] <= f64::EPSILON * self.trace;
        let left = self.remaining.iter().sum::<f64>();
        (left > tolerance * self.trace && !is_noise).then_some(pivot)
    }

    /// Takes the column of K at a pivot in.
    fn extend(&mut self, pivot: usize, mut column: Vec<f64>) {
        self.course.push(self.left());
        for earlier in &self.columns {
            let share = earlier[pivot];
            column.iter_mut().zip(earlier).for_each(|(k, z)| *k -= share * z);
        }
        let root = self.remaining[pivot].sqrt();
        column.iter_mut().for_each(|k| *k /= root);
        // The rows of earlier pivots are done: theirs are zeros up to rounding.
        self.pivots.iter().for_each(|&done| column[done] = 0.0);
        column[pivot] = root;
        self.remaining.iter_mut().zip(&column).for_each(|(d, z)| *d = (*d - z * z).max(0.0));
        self.remaining[pivot] = 0.0;
        self.pivots.push(pivot);
        self.columns.push(column);
    }

    fn finish(mut self) -> Result<PivotedCholesky, Error> {
        let n = self.remaining.len();
        if self.columns.is_empty() {
            self.columns.push(vec![0.0; n]);
            self.pivots.push(0);
        }
        let coordinates = DMatrix::from_fn(self.columns.len(), n, |k, i| self.columns[k][i]);
        Ok(PivotedCholesky {
            pivots: self.pivots,
            coordinates: Design::from_samples(coordinates)?,
            residual: self.remaining.iter().sum(),
        })
    }
}

/// Returns the kernel values of all samples with sample `i`.
fn column(kernel: &dyn Kernel, design: &Design, i: usize) -> Result<Vec<f64>, Error> {
    Ok(combine(kernel, design, &design.select(&[i]), &[1.0])?)
}
