use margins_losses::MarginLoss;
use margins_optim::solver_kit::{Descent, Eigenspace, Ending, Point, follow};
use margins_optim::{Fitted, Lambda, Objective, Options, Report, Solver, Status};

use nalgebra::{DMatrix, DVector};

use crate::newton::SampleNewton;
use crate::{Error, KernelObjective};

/// A kernel classifier `f(x) = b + sum_i a_i k(x_i, x)` with the certificate of its fit.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelFit {
    /// The regularisation.
    pub lambda: Lambda,
    /// `b`, 0 where the objective has none.
    pub intercept: f64,
    /// `a`, one coefficient a training sample.
    pub coef: Vec<f64>,
    /// How good it is.
    pub report: Report,
}

impl Fitted for KernelFit {
    fn lambda(&self) -> Lambda {
        self.lambda
    }

    fn report(&self) -> &Report {
        &self.report
    }
}

impl KernelFit {
    /// The training samples that the classifier is made of, those with `a_i` other than 0, ascending.
    pub fn support(&self) -> impl Iterator<Item = usize> + '_ {
        self.coef.iter().enumerate().filter(|(_, a)| **a != 0.0).map(|(i, _)| i)
    }

    /// The scores of samples, given their kernel values with the training samples, one row a sample.
    ///
    /// # Panics
    /// If the matrix has another number of columns than there are training samples.
    pub fn scores(&self, cross: &DMatrix<f64>) -> Vec<f64> {
        assert_eq!(cross.ncols(), self.coef.len(), "one column a training sample");
        let mut scores = DVector::from_element(cross.nrows(), self.intercept);
        scores.gemv(1.0, cross, &DVector::from_column_slice(&self.coef), 1.0);
        scores.as_slice().to_vec()
    }
}

/// Minimises `F` at one lambda.
///
/// # Errors
/// As [`path`].
pub fn fit<L: MarginLoss + ?Sized>(
    objective: &KernelObjective<'_, L>,
    lambda: Lambda,
    options: &Options,
) -> Result<KernelFit, Error> {
    path(objective, &[lambda], options, &|_| {}).map(|mut fits| fits.swap_remove(0))
}

/// Minimises `F` at every lambda, each once and largest first whatever the order given, every fit
/// starting from the ones before it; `observer` sees the
/// report of every fit as it is made, before the verification of the scores. Beyond separation the path of a loss with a homogeneous tail is followed in closed form, as that of
/// [`margins_optim::path`].
///
/// [`Solver::Auto`] and [`Solver::Newton`] are Newton in sample space, which needs no decomposition of
/// K; [`Solver::Mm`] and [`Solver::MmAccelerated`] run on the numerically nonzero eigenspace of K (Kwon
/// and Zou 2023, section 4.2, with the corrected update), decomposed once for all lambdas. All of them
/// are certified against K itself.
///
/// # Errors
/// A loss or a number of samples that the solver cannot take; a tolerance that is not positive; no
/// lambdas.
pub fn path<L: MarginLoss + ?Sized>(
    objective: &KernelObjective<'_, L>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &(dyn Fn(&Report) + Sync),
) -> Result<Vec<KernelFit>, Error> {
    options.check()?;
    objective.risk.check_loss()?;
    let lambdas = Lambda::descending(lambdas)?;
    let mut solver = SampleNewton::new(&objective.risk, objective.gram.matrix());
    let mut path = match options.solver {
        Solver::Auto | Solver::Newton => newton_path(&mut solver, &lambdas, options, observer),
        Solver::Mm | Solver::MmAccelerated => mm_path(objective, &lambdas, options, observer)?,
    };
    verify(objective, &mut solver, &mut path, options);
    refine(objective, &mut path, options)?;
    Ok(path
        .into_iter()
        .map(|Solved { lambda, point: Point { intercept, coef, .. }, ending, passes }| KernelFit {
            lambda,
            intercept,
            coef,
            report: ending.report(passes + 1),
        })
        .collect())
}

/// A point with how the solver that reached it ended.
struct Solved {
    lambda: Lambda,
    point: Point,
    ending: Ending,
    passes: usize,
}

fn newton_path<L: MarginLoss + ?Sized>(
    solver: &mut SampleNewton<'_, L>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &(dyn Fn(&Report) + Sync),
) -> Vec<Solved> {
    let mut path = Vec::with_capacity(lambdas.len());
    follow(solver, lambdas, options, |_, lambda, point, ending, passes| {
        observer(&ending.clone().report(passes));
        path.push(Solved { lambda, point: point.clone(), ending, passes });
    });
    path
}

fn mm_path<L: MarginLoss + ?Sized>(
    objective: &KernelObjective<'_, L>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &(dyn Fn(&Report) + Sync),
) -> Result<Vec<Solved>, Error> {
    let eigenspace = Eigenspace::of(objective.gram.matrix())?;
    let reduced = Objective::from_risk(objective.risk.clone(), &eigenspace.coordinates)?;
    let fits = margins_optim::path(&reduced, lambdas, options, observer)?;
    Ok(fits
        .into_iter()
        .map(|fit| {
            let mut products = vec![0.0; objective.gram.len()];
            eigenspace.coordinates.multiply(&fit.coef, &mut products);
            let coef = eigenspace.lift(&fit.coef);
            Solved {
                lambda: fit.lambda,
                point: Point { intercept: fit.intercept, coef, products },
                passes: fit.report.passes,
                ending: fit.report.into(),
            }
        })
        .collect())
}

/// Solves what sample space has left open in the coordinates of the eigenspace of K.
///
/// Where K is of low rank and has large entries, `r'Kr` is a small difference of large numbers: `r` is not small on
/// the null space of K, which the rounding of the entries does not respect. In the coordinates
/// `Z = U S^(1/2)` the null space is not there, and the gradient `Z'g + 2 lambda beta` is accurate. The certificate
/// is then that of `Z Z'`, which is K to within the rounding of its entries, checked by the scores `Z beta` and `Ka`.
fn refine<L: MarginLoss + ?Sized>(
    objective: &KernelObjective<'_, L>,
    path: &mut [Solved],
    options: &Options,
) -> Result<(), Error> {
    const LARGEST_ORDER: usize = 4000;
    const AGREE: f64 = 1e-8;
    let open: Vec<usize> =
        (0..path.len()).filter(|&k| path[k].ending.status != Status::Converged).collect();
    if open.is_empty() || objective.gram.len() > LARGEST_ORDER {
        return Ok(());
    }
    let Ok(eigenspace) = Eigenspace::of(objective.gram.matrix()) else { return Ok(()) };
    let reduced = Objective::from_risk(objective.risk.clone(), &eigenspace.coordinates)?;
    let lambdas: Vec<Lambda> = open.iter().map(|&k| path[k].lambda).collect();
    let fits = margins_optim::path(&reduced, &lambdas, options, &|_| {})?;
    for (k, fit) in open.into_iter().zip(fits) {
        let point = objective.point(fit.intercept, eigenspace.lift(&fit.coef));
        let mut scores = vec![0.0; point.products.len()];
        eigenspace.coordinates.multiply(&fit.coef, &mut scores);
        let size = scores.iter().fold(1.0f64, |size, f| size.max(f.abs()));
        let mut pairs = scores.iter().zip(&point.products);
        let agree = pairs.all(|(f, g)| (f - g).abs() <= AGREE * size);
        let solved = &mut path[k];
        if agree && fit.report.relative_gap < solved.ending.certificate.relative_gap() {
            let iterations = solved.ending.iterations + fit.report.iterations;
            solved.passes += fit.report.passes;
            solved.point = point;
            solved.ending = Ending { iterations, ..fit.report.into() };
        }
    }
    Ok(())
}

/// Certifies every point whose scores are not what its coefficients and K make of them: neither the
/// rounding that recurrences have gathered nor a factorisation of K is trusted.
fn verify<L: MarginLoss + ?Sized>(
    objective: &KernelObjective<'_, L>,
    solver: &mut SampleNewton<'_, L>,
    path: &mut [Solved],
    options: &Options,
) {
    // Scores this near change the gap by far less than any tolerance.
    const DRIFT: f64 = 1e-11;
    let (n, count) = (objective.gram.len(), path.len());
    let coefs = DMatrix::from_fn(n, count, |i, k| path[k].point.coef[i]);
    let scores = objective.gram.multiply(&coefs);
    for (solved, scores) in path.iter_mut().zip(scores.column_iter()) {
        let size = scores.amax().max(1.0);
        let drift = scores.iter().zip(&solved.point.products).map(|(f, g)| (f - g).abs());
        if drift.fold(0.0, f64::max) > DRIFT * size || size.is_nan() {
            solved.point.products = scores.iter().copied().collect();
            solved.ending.certificate = solver.certify(solved.lambda, &mut solved.point);
        }
        let tight = solved.ending.certificate.relative_gap() <= options.tolerance;
        solved.ending.status = match solved.ending.status {
            _ if tight => Status::Converged,
            Status::Converged => Status::Stalled,
            other => other,
        };
        if !tight {
            // No function at all is a classifier too, and where rounding rules it may be the better one.
            let mut origin = Point::zero(n, n);
            let certificate = solver.certify(solved.lambda, &mut origin);
            let given = solved.ending.certificate.objective;
            if certificate.objective < given || given.is_nan() {
                solved.point = origin;
                solved.ending.certificate = certificate;
            }
        }
    }
}
