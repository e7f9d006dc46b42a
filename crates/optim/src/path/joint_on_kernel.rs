//! Paths of several classes in one problem over the functions of the space of a kernel: by dual ascent on its
//! matrix, and by Newton's method with products of it.

use std::cell::Cell;

use margins_data::Design;
use margins_losses::MarginLoss;
use nalgebra::DMatrix;

use super::joint::{JointFit, with_samples};
use crate::certificate::OnKernel;
use crate::method::{
    BlockAscent, Descent, Ending, KernelNewton, Monitor, Observed, Observer, OnMatrix, Options,
    Progress, Status, descend,
};
use crate::problem::{JointObjective, Lambda};
use crate::space::joint::JointSamples;
use crate::space::{Extent, Scores, Space};
use crate::{Certificate, Error};

/// Returns the minimisers of a [`JointObjective`] over the functions `f_c = sum_i a_ic k(x_i, .)` of the
/// space of a kernel, given its positive semidefinite n x n matrix K, at every lambda, each once and largest
/// first: the coefficients of a class are its `a_ic`. The design of the objective is not read. The loss has a
/// kink, and dual ascent minimises; where it is too slow the status is [`Status::Stalled`].
///
/// The gap is for duals that are balanced, with their own functions, so that it is their Fenchel-Young sum
/// but for rounding.
///
/// # Errors
/// [`Error::Tolerance`]: the tolerance is not positive. [`Error::NoLambdas`]: there are no lambdas.
/// [`Error::Lambda`]: a lambda is 0. [`Error::Shape`]: the matrix has another order. [`Error::Unsuitable`]:
/// the loss is not convex, or has no kink.
pub fn joint_path_on_matrix<L: MarginLoss + ?Sized>(
    objective: &JointObjective<'_, L>,
    matrix: &DMatrix<f64>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<JointFit>, Error> {
    let (expected, found) = (objective.design.rows(), matrix.nrows());
    if expected != found {
        return Err(Error::Shape {
            what: "rows of the kernel matrix, one per sample",
            expected,
            found,
        });
    }
    check_kink(objective, true)?;
    over_kernel(objective, lambdas, options, observer, |samples, classes, lambdas| {
        ascend(samples, matrix, classes, lambdas, options, observer)
    })
}

/// Returns the minimisers that [`joint_path_on_matrix`] returns for a differentiable loss, by Newton's method:
/// of the kernel matrix K, whose diagonal is given, only products `K X` with n x k numbers X are asked.
///
/// # Errors
/// [`Error::Tolerance`]: the tolerance is not positive. [`Error::NoLambdas`]: there are no lambdas.
/// [`Error::Lambda`]: a lambda is 0. [`Error::Shape`]: the diagonal has another length than the samples are.
/// [`Error::Unsuitable`]: the loss is not convex, or has a kink.
///
/// # Panics
/// If products have another shape than X.
pub fn joint_path_by_products<L: MarginLoss + ?Sized>(
    objective: &JointObjective<'_, L>,
    diagonal: &[f64],
    multiply: &dyn Fn(&DMatrix<f64>) -> DMatrix<f64>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<JointFit>, Error> {
    let (expected, found) = (objective.design.rows(), diagonal.len());
    if expected != found {
        return Err(Error::Shape {
            what: "diagonal entries of the kernel matrix, one per sample",
            expected,
            found,
        });
    }
    check_kink(objective, false)?;
    over_kernel(objective, lambdas, options, observer, |mut samples, classes, lambdas| {
        let norms = roots(diagonal.iter().copied());
        let method = KernelNewton::new(&mut samples, multiply, &norms, options.deadline);
        by_newton(method, classes, lambdas, options, observer)
    })
}

/// Refuses a loss that has a kink where none is expected, or none where one is.
fn check_kink<L: MarginLoss + ?Sized>(
    objective: &JointObjective<'_, L>,
    expected: bool,
) -> Result<(), Error> {
    if objective.form().has_kink(objective.loss()) == expected {
        return Ok(());
    }
    let (lacks, alternative) = match expected {
        true => (
            "has no kink, which dual ascent needs",
            "Use Newton's method with products of the kernel matrix",
        ),
        false => {
            ("has a kink, which this method cannot take", "Use dual ascent on the kernel matrix")
        }
    };
    Err(Error::Unsuitable { loss: objective.loss().specification(), lacks, alternative })
}

fn by_newton(
    mut method: KernelNewton<'_, '_>,
    classes: &[usize],
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Vec<JointFit> {
    const STEPS: usize = 200;
    let (k, limit) = (classes.len(), options.max_iterations.unwrap_or(STEPS));
    let mut point = method.origin();
    let mut fits = Vec::with_capacity(lambdas.len());
    for &lambda in lambdas {
        let before = method.passes();
        let ending = descend(&mut method, lambda, &mut point, options, limit);
        // Without the rounding of all steps.
        method.refresh(&mut point);
        let certificate = method.certify(lambda, &mut point);
        let ending = ending.certified_by(certificate, options.tolerance);
        let ending = ending.examined_by(|| method.is_contradicted());
        let report = ending.report(method.passes() - before, options.tolerance);
        observer(&Observed::new(lambda, &report));
        let of_class = |numbers: &[f64], class: usize| -> Vec<f64> {
            numbers.iter().skip(class).step_by(k).copied().collect()
        };
        let (coefs, intercepts) = point.coef.split_at(point.products.len());
        let pulls = options.keep_duals.then(|| method.pulls());
        fits.push(JointFit {
            lambda,
            classes: classes.to_vec(),
            intercepts: if intercepts.is_empty() { vec![0.0; k] } else { centred(intercepts) },
            coefs: (0..k).map(|class| of_class(coefs, class)).collect(),
            report,
            pulls: pulls.map(|pulls| (0..k).map(|class| of_class(&pulls, class)).collect()),
        });
    }
    fits
}

fn ascend(
    mut samples: JointSamples<'_>,
    matrix: &DMatrix<f64>,
    classes: &[usize],
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Vec<JointFit> {
    /// The shares of the tolerance that the ascent goes to, until balanced duals are within it.
    const SHARES: [f64; 3] = [0.5, 0.1, 0.01];
    const PASSES: usize = 100_000;
    let norms = roots(matrix.diagonal().iter().copied());
    let mut fits = Vec::with_capacity(lambdas.len());
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
            let certificate = on_matrix(ascent, &mut samples, &norms, &pulls, lambda);
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
        let column = |pulls: nalgebra::DVectorView<'_, f64>| pulls.as_slice().to_vec();
        let half = 0.5 / lambda.get();
        let of_class = |pulls| column(pulls).iter().map(|r| half * r).collect();
        fits.push(JointFit {
            lambda,
            classes: classes.to_vec(),
            intercepts: centred(&ascent.intercepts()),
            coefs: pulls.column_iter().map(of_class).collect(),
            report,
            pulls: options.keep_duals.then(|| pulls.column_iter().map(column).collect()),
        });
    }
    fits
}

/// Returns the certificate of the functions of an ascent that has settled, whose duals have these pulls.
fn on_matrix(
    ascent: &mut BlockAscent<OnMatrix<'_>>,
    samples: &mut JointSamples<'_>,
    norms: &[f64],
    pulls: &DMatrix<f64>,
    lambda: Lambda,
) -> Certificate {
    let Progress { objective, .. } = ascent.progress(samples);
    let coefs = pulls * (0.5 / lambda.get());
    let of_classes: Vec<&[f64]> = coefs.as_slice().chunks_exact(norms.len()).collect();
    let counted = if samples.has_intercepts() { pulls.ncols() } else { 0 };
    let totals: Vec<f64> = pulls.column_iter().take(counted).map(|r| r.sum()).collect();
    OnKernel {
        lambda,
        norms,
        coefs: &of_classes,
        intercepts: &ascent.intercepts(),
        objective,
        duals: &ascent.duals().to_vec(),
        totals: &totals,
        apart: 0.0,
    }
    .certificate(samples)
}

/// Returns what `minimise` returns for samples whose functions are in a kernel alone, the classes and the
/// lambdas; without it, fits for lambdas of a problem that has no minimum.
fn over_kernel<L: MarginLoss + ?Sized>(
    objective: &JointObjective<'_, L>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
    minimise: impl FnOnce(JointSamples<'_>, &[usize], &[Lambda]) -> Vec<JointFit>,
) -> Result<Vec<JointFit>, Error> {
    options.check()?;
    if lambdas.contains(&Lambda::NONE) {
        return Err(Error::Lambda(0.0));
    }
    let lambdas = Lambda::descending(lambdas)?;
    let n = objective.design.rows();
    let empty = Design::from_samples(DMatrix::zeros(1, n))?;
    let objective = &objective.over(empty);
    with_samples(objective, &Extent::of(&objective.design), |mut samples| {
        samples.check_loss()?;
        let classes = objective.present();
        if !samples.is_unbounded() {
            return Ok(minimise(samples, &classes, &lambdas));
        }
        let value = samples.risk_at(&vec![0.0; n * classes.len()], 0.0);
        let fit = |&lambda: &Lambda| {
            let report = Ending::unbounded(value).report(0, options.tolerance);
            observer(&Observed::new(lambda, &report));
            JointFit {
                lambda,
                classes: classes.clone(),
                intercepts: vec![0.0; classes.len()],
                coefs: vec![vec![0.0; n]; classes.len()],
                report,
                pulls: None,
            }
        };
        Ok(lambdas.iter().map(fit).collect())
    })
}

/// Returns numbers less their mean: intercepts that add up to 0.
fn centred(numbers: &[f64]) -> Vec<f64> {
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    numbers.iter().map(|b| b - mean).collect()
}

fn roots(diagonal: impl Iterator<Item = f64>) -> Vec<f64> {
    diagonal.map(|k| k.max(0.0).sqrt()).collect()
}
