//! Paths of several classes in one problem by dual ascent on a kernel matrix.

use std::cell::Cell;

use margins_data::Design;
use margins_losses::MarginLoss;
use nalgebra::DMatrix;

use super::joint::{JointFit, with_samples};
use crate::method::{
    BlockAscent, Ending, Monitor, Observed, Observer, OnMatrix, Options, Progress, Status,
};
use crate::problem::summation::UNIT;
use crate::problem::{JointObjective, Lambda};
use crate::space::joint::JointSamples;
use crate::space::{Duals, Extent, Scores, Space};
use crate::{Certificate, Error};

/// Returns the minimisers of a [`JointObjective`] over the functions `f_c = sum_i a_ic k(x_i, .)` of the
/// space of a kernel, given its positive semidefinite n x n matrix K, at every lambda, each once and largest
/// first: the coefficients of a class are its `a_ic`. The design of the objective is not read. Dual ascent
/// minimises, which is made for losses with a kink; where it is too slow the status is
/// [`Status::Stalled`].
///
/// The gap is for duals that are balanced, with their own functions, so that it is their Fenchel-Young sum
/// but for rounding.
///
/// # Errors
/// [`Error::Tolerance`]: the tolerance is not positive. [`Error::NoLambdas`]: there are no lambdas.
/// [`Error::Lambda`]: a lambda is 0. [`Error::Shape`]: the matrix has another order. [`Error::Unsuitable`]:
/// the loss is not convex.
pub fn joint_path_on_matrix<L: MarginLoss + ?Sized>(
    objective: &JointObjective<'_, L>,
    matrix: &DMatrix<f64>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<JointFit>, Error> {
    options.check()?;
    let (expected, found) = (objective.design.rows(), matrix.nrows());
    if expected != found {
        return Err(Error::Shape {
            what: "rows of the kernel matrix, one per sample",
            expected,
            found,
        });
    }
    if lambdas.contains(&Lambda::NONE) {
        return Err(Error::Lambda(0.0));
    }
    let lambdas = Lambda::descending(lambdas)?;
    // The functions are in the matrix alone.
    let empty = Design::from_samples(DMatrix::zeros(1, expected))?;
    let objective = &objective.over(empty);
    with_samples(objective, &Extent::of(&objective.design), |samples| {
        samples.check_loss()?;
        let classes = objective.present();
        ascend(samples, matrix, &classes, &lambdas, options, observer)
    })
}

fn ascend(
    mut samples: JointSamples<'_>,
    matrix: &DMatrix<f64>,
    classes: &[usize],
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<JointFit>, Error> {
    /// The shares of the tolerance that the ascent goes to, until balanced duals are within it.
    const SHARES: [f64; 3] = [0.5, 0.1, 0.01];
    const PASSES: usize = 100_000;
    let n = matrix.nrows();
    let mut fits = Vec::with_capacity(lambdas.len());
    if samples.is_unbounded() {
        let value = samples.risk_at(&vec![0.0; n * classes.len()], 0.0);
        for &lambda in lambdas {
            let report = Ending::unbounded(value).report(0, options.tolerance);
            observer(&Observed::new(lambda, &report));
            fits.push(JointFit {
                lambda,
                classes: classes.to_vec(),
                intercepts: vec![0.0; classes.len()],
                coefs: vec![vec![0.0; n]; classes.len()],
                report,
                pulls: None,
            });
        }
        return Ok(fits);
    }
    let mut ascent: Option<BlockAscent<OnMatrix<'_>>> = None;
    for &lambda in lambdas {
        let mut monitor = Monitor::new(options, lambda, PASSES);
        let ascent = ascent.get_or_insert_with(|| {
            let expansion = OnMatrix::new(matrix, classes.len());
            BlockAscent::new(&mut samples, expansion, lambda)
        });
        ascent.move_to(lambda);
        let mut attempt = 0;
        let (status, certificate, pulls) = loop {
            let passes = Cell::new(0);
            let is_exhausted = || passes.get() >= monitor.left();
            let stop = || is_exhausted() || options.is_late() || monitor.is_stopped();
            let count = |more| passes.set(passes.get() + more);
            let tolerance = SHARES[attempt] * options.tolerance;
            attempt += 1;
            let reached = ascent.approach(&mut samples, tolerance, &stop, count);
            monitor.count(passes.get());
            let pulls = ascent.settle(&mut samples);
            let certificate = on_matrix(ascent, &mut samples, matrix, &pulls, lambda);
            let judged = monitor.judge(monitor.iterations(), &certificate, || samples.summary());
            let is_over = !reached || attempt == SHARES.len();
            if let Some(status) = judged.or(is_over.then_some(Status::Stalled)) {
                break (status, certificate, pulls);
            }
        };
        let contradicted = || samples.parts().0.is_contradicted(samples.margins());
        let ending = monitor.end(status, certificate).examined_by(contradicted);
        let passes = ending.iterations;
        let report = ending.report(passes, options.tolerance);
        observer(&Observed::new(lambda, &report));
        let mut intercepts = ascent.intercepts();
        let mean = intercepts.iter().sum::<f64>() / intercepts.len() as f64;
        intercepts.iter_mut().for_each(|b| *b -= mean);
        let column = |pulls: nalgebra::DVectorView<'_, f64>| pulls.as_slice().to_vec();
        let half = 0.5 / lambda.get();
        let of_class = |pulls| column(pulls).iter().map(|r| half * r).collect();
        fits.push(JointFit {
            lambda,
            classes: classes.to_vec(),
            intercepts,
            coefs: pulls.column_iter().map(of_class).collect(),
            report,
            pulls: options.keep_duals.then(|| pulls.column_iter().map(column).collect()),
        });
    }
    Ok(fits)
}

/// Returns the certificate of the functions of an ascent that has settled, whose duals have these pulls.
fn on_matrix(
    ascent: &mut BlockAscent<OnMatrix<'_>>,
    samples: &mut JointSamples<'_>,
    matrix: &DMatrix<f64>,
    pulls: &DMatrix<f64>,
    lambda: Lambda,
) -> Certificate {
    let Progress { objective, .. } = ascent.progress(samples);
    let sums = samples.sums();
    let norms: Vec<f64> = matrix.diagonal().iter().map(|k| k.max(0.0).sqrt()).collect();
    // With S the norm of a function if nothing cancels, rounding moves its value at sample i by at most
    // e S sqrt(K_ii) (Higham and Mary 2019).
    let unit = 4.0 * UNIT * (norms.len() as f64).sqrt();
    let sizes: Vec<f64> = (pulls.column_iter())
        .map(|r| 0.5 / lambda.get() * r.iter().zip(&norms).map(|(r, k)| r.abs() * k).sum::<f64>())
        .collect();
    let (largest, radius) = (max(&sizes), max(&norms));
    let of_penalty = lambda.get() * unit * sizes.iter().map(|s| s * s).sum::<f64>();
    let of_scores = 2.0 * unit * largest * radius;
    let rounding = sums.rounding(objective, of_scores) + of_penalty;
    let sizes_of_intercepts = ascent.intercepts().iter().map(|b| b.abs()).fold(1.0, f64::max);
    let imbalance = match samples.has_intercepts() {
        true => pulls.column_iter().map(|r| r.sum().abs()).sum::<f64>(),
        false => 0.0,
    };
    let rest = imbalance * sizes_of_intercepts.max(sums.largest) + of_penalty;
    let duals = ascent.duals().to_vec();
    samples.fenchel_young(&duals).certificate(objective, rounding, rest)
}

fn max(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(0.0, f64::max)
}
