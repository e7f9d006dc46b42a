//! The support vector machine on a kernel matrix.
//!
//! With `f = K a` it minimises
//!
//! `F(b, a) = (1/n) sum_i c_i max(0, 1 - y_i (b + f_i)) + lambda a'K a`
//!
//! in its dual. The dual variables are the coefficients themselves: with `a_i = y_i c_i s_i/(2
//! lambda n)`, `s_i` in `[0, 1]`,
//!
//! `D = (1/n) sum_i c_i s_i - lambda a'K a = 2 lambda (y'a - a'K a/2)`,
//!
//! to be maximised with `a_i` between 0 and `y_i c_i/(2 lambda n)` and, where there is an
//! intercept, `sum_i a_i = 0`. The gradient of `y'a - a'K a/2` is `g_i = y_i - f_i`, and the
//! conditions of optimality say that no coefficient can rise whose gradient is above that of one
//! that can fall; the signs of the classes appear nowhere but in the bounds.
//!
//! Sequential minimal optimisation moves two coefficients at a time, chosen to second order (Fan,
//! Chen and Lin, *Working set selection using second order information for training support vector
//! machines*, JMLR 6, 2005), and sets aside those that look settled at a bound (Joachims's
//! shrinking, as in Chang and Lin, *LIBSVM: a library for support vector machines*, 2011). It runs
//! in rounds: a round ends when its active samples violate optimality by little enough, then `K a`
//! follows for all samples, afresh or by the columns of the coefficients that have changed, and the
//! duality gap decides whether the fit is done. Steps are in single precision once many have been
//! taken; coefficients, `K a` after a round and the gap are in double precision. If not done,
//! the next round aims at a violation smaller in the proportion in which the gap is too large.
//! Between rounds Newton's method moves all coefficients between their bounds at once.
//!
//! ```
//! use margins_kernels::{Gram, svm};
//! use margins_optim::{Lambda, Options};
//! use nalgebra::DMatrix;
//!
//! let x = [-2.0, -1.0, 1.0, 2.0f64];
//! let gram = DMatrix::from_fn(4, 4, |i, j| (-(x[i] - x[j]).powi(2)).exp());
//! let gram = Gram::precomputed(gram)?;
//! let signs = [-1.0, -1.0, 1.0, 1.0];
//! let fit = svm::fit(&gram, &signs, None, true, Lambda::new(0.01)?, &Options::default())?;
//! assert!(fit.report.converged() && fit.report.duality_gap >= 0.0);
//! # Ok::<(), margins_kernels::Error>(())
//! ```

mod active;
mod columns;
mod decomposition;
mod extremes;
mod face;
mod frame;
mod point;
mod problem;
mod round;
mod sequential;
mod steps;
mod sweep;
mod values;

use margins_data::{Memory, parallel};
use margins_losses::MarginLoss;
use margins_optim::problem::EmpiricalRisk;
use margins_optim::{Lambda, Options};

pub(crate) use self::decomposition::Decomposition;
use self::problem::Problem;
use self::sequential::SequentialMinimization;
use self::values::Values;
use crate::{Error, Gram, KernelFit, PlannedPaths, Route};

/// Fits the support vector machine at one lambda. See [`path`], also for the errors.
///
/// # Errors
/// The errors of [`path`].
pub fn fit(
    gram: &Gram,
    signs: &[f64],
    weights: Option<&[f64]>,
    intercept: bool,
    lambda: Lambda,
    options: &Options,
) -> Result<KernelFit, Error> {
    path(gram, signs, weights, intercept, &[lambda], options).map(|mut fits| fits.swap_remove(0))
}

/// Fits the support vector machine at every lambda, each once and largest first whatever the order
/// given (in the usual parametrisation, from the smallest `C = 1/(2 n lambda)` up). Each fit starts
/// from the coefficients of the one before or from those times the ratio of the lambdas, which
/// keeps bounded coefficients at their bound, whichever is better in the dual.
///
/// `gram` is the n x n kernel matrix K, which its type knows to be positive semidefinite: a gap
/// bounds something there only. `signs` are the labels, -1 or +1. `weights` are the `c_i` of the
/// objective, 1 where absent; n counts all samples, and one of weight 0 is held out: its
/// coefficient is 0. Of `options` the tolerance and the most iterations at one lambda are heeded
/// (by default ten million, or 100 n if that is more, the limit of LIBSVM).
///
/// The intercept is the minimiser of the hinge risk for the coefficients, the middle where that is
/// an interval. In the reports `gradient_norm` is the violation of the conditions of optimality,
/// `max(0, m - M)` with m the largest `y_i - f_i` of a coefficient that can rise and M the smallest
/// of one that can fall; without intercept, the larger of m and -M. `iterations` counts steps, of
/// two coefficients each; `passes` counts the entries of K read, n x n of them as one. The history
/// has an entry for every round of steps.
///
/// `Converged` means that the duality gap, but for twice the rounding of F, is at most the tolerance
/// times the larger size of the two objectives. `Stalled` means that the steps come to a halt before
/// that. `NumericalTrouble` means that products with K overflowed; the coefficients are those of the
/// smallest gap so far, or 0.
///
/// Columns of K are cached for the samples that are not set aside, in at most [`CACHE_BYTES`] of
/// memory; [`path_with_cache`] takes another budget. A copy of K in single precision, half as large as
/// K, serves all fits to the same matrix. The matrix [of features](Gram::of_features) has such columns
/// alone: where steps along them lead no further, the status is `Stalled`. A matrix that is
/// [not held](Gram::matrix_free) is taken by working sets, whose part of it is computed.
///
/// # Errors
/// Sizes that differ; a sign or a weight that is not what it should be; a class of which no sample
/// has a positive weight; no lambdas; a tolerance that is not positive.
pub fn path(
    gram: &Gram,
    signs: &[f64],
    weights: Option<&[f64]>,
    intercept: bool,
    lambdas: &[Lambda],
    options: &Options,
) -> Result<Vec<KernelFit>, Error> {
    path_with_cache(gram, signs, weights, intercept, lambdas, options, cache_bytes())
}

/// The memory that [`path`] takes for its cache of columns, 256 MiB: all columns up to 5800
/// samples. LIBSVM takes 100 MB and scikit-learn 200 MB.
pub const CACHE_BYTES: usize = 256 << 20;

/// Returns the memory for columns of a path: less than the default where little is free. Lists of columns
/// that grow take up to three times as much for a moment, on every thread.
fn cache_bytes() -> usize {
    const SHARE: usize = 8;
    let most = |free: Memory| free.bytes() / (SHARE * parallel::threads());
    Memory::free().map_or(CACHE_BYTES, |free| CACHE_BYTES.min(most(free)))
}

/// Fits as [`path`] does, with at most this many bytes for the cache of columns, but room for at
/// least the two of a step. A column that finds no room takes the place of the one that has not
/// been used for the longest time. The fits do not depend on the budget.
///
/// # Errors
/// The errors of [`path`].
pub fn path_with_cache(
    gram: &Gram,
    signs: &[f64],
    weights: Option<&[f64]>,
    intercept: bool,
    lambdas: &[Lambda],
    options: &Options,
    cache_bytes: usize,
) -> Result<Vec<KernelFit>, Error> {
    check(gram, lambdas, options)?;
    let problem = Problem::new(gram, signs, weights, intercept)?;
    let fits = path_of(&problem, lambdas, options, cache_bytes);
    gram.check()?;
    Ok(fits.into_iter().map(|scored| scored.fit).collect())
}

/// A fit with the scores that it gives all samples, those of weight zero among them.
pub(crate) struct Scored {
    pub(crate) fit: KernelFit,
    pub(crate) scores: Vec<f64>,
}

/// Fits as [`path`] does to the samples of a risk, by the hinge whatever its loss.
pub(crate) fn path_of_risk<L: MarginLoss + ?Sized>(
    gram: &Gram,
    risk: &EmpiricalRisk<'_, L>,
    lambdas: &[Lambda],
    options: &Options,
) -> Result<Vec<Scored>, Error> {
    check(gram, lambdas, options)?;
    let n = risk.sample_count() as f64;
    let weights: Vec<f64> = risk.weights().iter().map(|c| c * n).collect();
    let problem = Problem::new(gram, risk.signs(), Some(&weights), risk.has_intercept())?;
    let problem = problem.counted_by(&risk.counts());
    let fits = path_of(&problem, lambdas, options, cache_bytes());
    gram.check()?;
    Ok(fits)
}

fn check(gram: &Gram, lambdas: &[Lambda], options: &Options) -> Result<(), Error> {
    if !(options.tolerance.is_finite() && options.tolerance > 0.0) {
        return Err(margins_optim::Error::Tolerance(options.tolerance).into());
    }
    if lambdas.is_empty() {
        return Err(margins_optim::Error::NoLambdas.into());
    }
    gram.check_paths(&PlannedPaths::one(Route::SupportVectors, lambdas.len()))
}

fn path_of(
    problem: &Problem<'_>,
    lambdas: &[Lambda],
    options: &Options,
    cache_bytes: usize,
) -> Vec<Scored> {
    let mut lambdas = lambdas.to_vec();
    lambdas.sort_by(|a, b| b.get().total_cmp(&a.get()));
    lambdas.dedup();

    match Values::of(problem.entries) {
        Some(values) => {
            let count = lambdas.len();
            let mut solver = SequentialMinimization::new(problem, values, count, cache_bytes);
            lambdas.into_iter().map(|lambda| solver.fit(lambda, options).scored(problem)).collect()
        }
        None => {
            let mut solver = Decomposition::new(problem, cache_bytes);
            lambdas.into_iter().map(|lambda| solver.fit(lambda, options).scored(problem)).collect()
        }
    }
}
