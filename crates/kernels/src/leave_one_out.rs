//! Exact leave-one-out scores by refits that share one factorisation.

mod response;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use margins_data::parallel;
use margins_losses::MarginLoss;
use margins_optim::method::{Accept, search};
use margins_optim::path::Minimizer;
use margins_optim::problem::summation::dot;
use margins_optim::problem::{EmpiricalRisk, Margins, Point};
use margins_optim::{Lambda, Options};
use nalgebra::{DMatrix, DVector};

use crate::leave_one_out::response::Response;
use crate::newton::SampleNewton;
use crate::{Error, KernelFit, KernelObjective};

/// The number of samples that are left out together. It is fixed, so that results do not depend on
/// the number of threads.
const RUN: usize = 64;

/// The number of steps with the curvatures of the fit to all samples. What they do not solve is
/// fitted by itself.
const COMMON_STEPS: usize = 10;

/// Returns the score of every sample under the classifier fitted without it, exactly: n refits from
/// the fit to all samples, each to the tolerance of a gap of its own.
///
/// A sample left out is a sample of weight zero; the mean of the losses still divides by n, so that
/// `n lambda`, hence C of a support vector machine, stays what it is. The refits advance together:
/// the Hessian of the fit to all samples, corrected for the sample that is missing, serves all of
/// them, and a step of many is two products of matrices. Newton takes over where that does not
/// converge.
///
/// The second value is true if all refits converged.
///
/// # Errors
/// The errors of [`path`](crate::path); a class of which only one sample counts.
pub fn leave_one_out<L: MarginLoss + ?Sized>(
    objective: &KernelObjective<'_, L>,
    fit: &KernelFit,
    options: &Options,
) -> Result<(Vec<f64>, bool), Error> {
    objective.risk.check_loss()?;
    let n = objective.gram.len();
    let matrix = objective.gram.held_for("leave-one-out")?;
    let start = objective.point(fit.intercept, fit.coef.clone());
    let response = Response::new(objective, fit.lambda, &start)?;
    let together = Together {
        objective,
        matrix,
        lambda: fit.lambda,
        start: &start,
        variances: response.matrix(matrix),
        response: &response,
        tolerance: options.tolerance,
    };
    let samples: Vec<usize> = (0..n).collect();
    let mut scores = of_runs(&samples, |run| together.refit(run))?;
    let open: Vec<usize> = (0..n).filter(|&i| scores[i].is_none()).collect();
    let alone = refit_alone(objective, fit.lambda, &start, &open, options)?;
    let mut converged = true;
    for (i, (score, done)) in open.into_iter().zip(alone) {
        scores[i] = Some(score);
        converged &= done;
    }
    Ok((scores.into_iter().flatten().collect(), converged))
}

/// Returns the scores of these samples under Newton fits without them, and true for each fit that
/// converged.
fn refit_alone<L: MarginLoss + ?Sized>(
    objective: &KernelObjective<'_, L>,
    lambda: Lambda,
    start: &Point,
    samples: &[usize],
    options: &Options,
) -> Result<Vec<(f64, bool)>, Error> {
    if samples.is_empty() {
        return Ok(Vec::new());
    }
    let mut whole = SampleNewton::new(&objective.risk, objective.gram.entries());
    whole.factorize(lambda, start);
    of_runs(samples, |run| {
        let mut preconditioner = whole.preconditioner().clone();
        let mut scores = Vec::with_capacity(run.len());
        for &i in run {
            let risk = without(&objective.risk, i)?;
            let mut solver = SampleNewton::resume(&risk, objective.gram.entries(), preconditioner);
            let mut point = start.clone();
            let ending = solver.minimize(lambda, &mut point, options);
            let done = ending.certificate.is_within(options.tolerance);
            scores.push((point.products[i] + point.intercept, done));
            preconditioner = solver.into_preconditioner();
        }
        Ok(scores)
    })
}

/// Returns what `refit` says of the samples, a run of them at a time.
fn of_runs<T: Send>(
    samples: &[usize],
    refit: impl Fn(&[usize]) -> Result<Vec<T>, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let runs: Vec<&[usize]> = samples.chunks(RUN).collect();
    Ok(parallel::try_map_large(0..runs.len(), |k| refit(runs[k]))?.into_iter().flatten().collect())
}

/// The common part of the refits without one sample.
struct Together<'o, 'a, L: MarginLoss + ?Sized> {
    objective: &'o KernelObjective<'a, L>,
    matrix: &'o DMatrix<f64>,
    lambda: Lambda,
    start: &'o Point,
    response: &'o Response,
    /// The matrix `V`.
    variances: DMatrix<f64>,
    tolerance: f64,
}

/// A refit under way.
struct Refit<'r, L: MarginLoss + ?Sized> {
    place: usize,
    sample: usize,
    margins: Margins<'r, L>,
    point: Point,
    objective: f64,
    /// The derivative of F as coefficients of kernel sections.
    residual: Vec<f64>,
}

impl<L: MarginLoss + ?Sized> Together<'_, '_, L> {
    /// Returns the scores of the samples of a run without them; `None` where the common steps are
    /// not enough.
    fn refit(&self, run: &[usize]) -> Result<Vec<Option<f64>>, Error> {
        let risks: Vec<_> =
            run.iter().map(|&i| without(&self.objective.risk, i)).collect::<Result<_, _>>()?;
        let mut open: Vec<Refit<'_, L>> = (risks.iter().zip(run).enumerate())
            .map(|(place, (risk, &sample))| Refit {
                place,
                sample,
                margins: risk.margins(),
                point: self.start.clone(),
                objective: f64::INFINITY,
                residual: vec![0.0; self.start.coef.len()],
            })
            .collect();
        let mut scores = vec![None; run.len()];
        open.iter_mut().for_each(|refit| self.settle(refit));
        for _ in 0..COMMON_STEPS {
            self.step(&mut open);
            open.iter_mut().for_each(|refit| self.settle(refit));
            let images = times(self.matrix, &open);
            let mut k = 0;
            open.retain_mut(|refit| {
                let done = self.is_solved(refit, images.col_as_slice(k));
                k += 1;
                if done {
                    let score = refit.point.products[refit.sample] + refit.point.intercept;
                    scores[refit.place] = Some(score);
                }
                // What has overflowed is left to a solver that searches along its lines.
                !done && refit.objective.is_finite()
            });
            if open.is_empty() {
                break;
            }
        }
        Ok(scores)
    }

    /// Sets the intercept, the objective and the residual of a point.
    fn settle(&self, refit: &mut Refit<'_, L>) {
        let Refit { margins, point, residual, objective, .. } = refit;
        point.intercept = margins.settle(&point.products, point.intercept);
        let ridge = 2.0 * self.lambda.get();
        *objective = margins.risk() + 0.5 * ridge * dot(&point.coef, &point.products);
        margins.gradient(residual);
        residual.iter_mut().zip(&point.coef).for_each(|(r, a)| *r += ridge * a);
    }

    fn is_solved(&self, refit: &mut Refit<'_, L>, image: &[f64]) -> bool {
        let Refit { margins, point, objective, residual, .. } = refit;
        let (lambda, norms) = (self.lambda, &self.response.norms);
        let norm = norms.norm_of(residual, image);
        let rounding = norms.product_rounding(margins, lambda, &point.coef);
        let certificate = margins.certificate(lambda, *objective, rounding, norm, norms.largest());
        certificate.is_within(self.tolerance)
    }

    /// Takes a Newton step of every refit: `df = -V r'`, `da = -(r + D' df)/(2 lambda)`, where `D'`
    /// are the curvatures D of the fit to all samples but for those samples S whose curvature has
    /// changed by much, the one left out among them, and `r' = r - x`, `(I + (D' - D) V_SS) x =
    /// (D' - D) (V r)_S` on S (Woodbury).
    fn step(&self, open: &mut [Refit<'_, L>]) {
        let Response { intercept_weights, ridge, .. } = self.response;
        let mut images = times(&self.variances, open);
        for (k, refit) in open.iter_mut().enumerate() {
            let image = images.col_as_slice_mut(k);
            let changes = self.changes(refit);
            let forces = self.forces(&changes, image);
            let mut intercept = -dot(intercept_weights, &refit.residual);
            for (&(j, _), force) in changes.iter().zip(&forces) {
                let column = self.variances.column(j);
                image.iter_mut().zip(&column).for_each(|(p, v)| *p -= force * v);
                intercept += force * intercept_weights[j];
            }
            let mut curvatures = self.response.curvatures.clone();
            changes.iter().for_each(|&(j, change)| curvatures[j] += change);
            let coef = (image.iter().zip(&refit.residual).zip(&curvatures))
                .map(|((p, r), d)| (d * p - r) / ridge)
                .collect();
            let products = image.iter().map(|p| -p - intercept).collect();
            self.search_line(refit, &Point { intercept, coef, products });
        }
    }

    /// Moves along a direction to where F is near its minimum on the line; stays if F does not
    /// decrease.
    fn search_line(&self, refit: &mut Refit<'_, L>, direction: &Point) {
        let ridge = self.response.ridge;
        let Refit { margins, point, .. } = refit;
        let cross = ridge * dot(&direction.coef, &point.products);
        let square = ridge * dot(&direction.coef, &direction.products);
        let mut slope_along =
            |t: f64| margins.slope_along(point, direction, t) + cross + t * square;
        let slope = slope_along(0.0);
        if slope < 0.0 {
            let t = search(slope_along, slope, Accept::Near);
            *point = point.step(t, direction);
        }
    }

    /// Returns the samples where the curvatures of a refit differ from those of the fit to all
    /// samples by so much that it shows, and the difference; the sample left out comes first.
    fn changes(&self, refit: &mut Refit<'_, L>) -> Vec<(usize, f64)> {
        const SHOWS: f64 = 0.02;
        const MOST: usize = 64;
        let before = &self.response.curvatures;
        let now = refit.margins.curvatures();
        let mut changes: Vec<(usize, f64, f64)> = (0..now.len())
            .map(|j| (j, now[j] - before[j], ((now[j] - before[j]) * self.variances[(j, j)]).abs()))
            .filter(|&(j, _, effect)| j == refit.sample || effect > SHOWS)
            .collect();
        let rank =
            |&(j, _, effect): &(usize, f64, f64)| if j == refit.sample { f64::MAX } else { effect };
        changes.sort_by(|a, b| rank(b).total_cmp(&rank(a)).then(a.0.cmp(&b.0)));
        changes.truncate(MOST);
        changes.into_iter().map(|(j, change, _)| (j, change)).collect()
    }

    /// Returns the forces `x` of [`step`](Self::step).
    fn forces(&self, changes: &[(usize, f64)], image: &[f64]) -> Vec<f64> {
        let m = changes.len();
        let system = DMatrix::from_fn(m, m, |k, l| {
            let ((j, change), (other, _)) = (changes[k], changes[l]);
            f64::from(k == l) + change * self.variances[(j, other)]
        });
        let right = DVector::from_fn(m, |k, _| changes[k].1 * image[changes[k].0]);
        // A system without a solution gives forces that no gap will accept.
        system.lu().solve(&right).map_or(vec![f64::NAN; m], |x| x.as_slice().to_vec())
    }
}

/// Returns a symmetric matrix times the residuals, one column a refit.
fn times<L: MarginLoss + ?Sized>(matrix: &DMatrix<f64>, open: &[Refit<'_, L>]) -> Mat<f64> {
    let n = matrix.nrows();
    let residuals = Mat::from_fn(n, open.len(), |j, k| open[k].residual[j]);
    let mut out = Mat::zeros(n, open.len());
    let matrix = MatRef::from_column_major_slice(matrix.as_slice(), n, n);
    matmul(out.as_mut(), Accum::Replace, matrix, residuals.as_ref(), 1.0, Par::Seq);
    out
}

fn without<'a, L: MarginLoss + ?Sized>(
    risk: &EmpiricalRisk<'a, L>,
    i: usize,
) -> Result<EmpiricalRisk<'a, L>, Error> {
    let mut weights = vec![1.0; risk.sample_count()];
    weights[i] = 0.0;
    Ok(risk.clone().with_weights(&weights)?)
}

/// Returns the leave-one-out scores of [`leave_one_out`] by one Newton step from the fit to all
/// samples, at the cost of one factorisation: an approximation, exact for the squared loss.
///
/// With H the Hessian of F in the function space and `v_i = k_i'H^(-1) k_i` (the intercept
/// included), the step without sample i changes its score by `g_i v_i/(1 - D_i v_i)`, `g_i = c_i
/// y_i L'(u_i)/n`, `D_i = c_i L''(u_i)/n` (Sherman and Morrison).
///
/// Source: the formula of the predicted residual sum of squares, carried over to Newton's step as
/// in Cawley and Talbot, *Efficient approximate leave-one-out cross-validation for kernel logistic
/// regression*, Machine Learning 71 (2008).
///
/// # Errors
/// A loss without curvature; a matrix that is not positive semidefinite.
pub fn one_step_leave_one_out<L: MarginLoss + ?Sized>(
    objective: &KernelObjective<'_, L>,
    fit: &KernelFit,
) -> Result<Vec<f64>, Error> {
    objective.risk.check_loss()?;
    let point = objective.point(fit.intercept, fit.coef.clone());
    let response = Response::new(objective, fit.lambda, &point)?;
    let variances = response.diagonal(objective.gram.held_for("leave-one-out")?);
    Ok((0..point.products.len())
        .map(|i| {
            let v = variances[i];
            let score = point.products[i] + point.intercept;
            score + response.gradient[i] * v / (1.0 - response.curvatures[i] * v)
        })
        .collect())
}
