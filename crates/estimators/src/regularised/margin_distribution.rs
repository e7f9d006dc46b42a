//! The large-margin distribution machine with a kernel, by the eigenspace of its matrix.

use margins_kernels::{KernelFit, KernelObjective};
use margins_losses::MarginLoss;
use margins_optim::problem::Point;
use margins_optim::{Lambda, Objective, Observed, Observer, Options, Report};
use margins_robust::{MarginDistribution, MarginDistributionSolution};
use nalgebra::DMatrix;

use crate::Error;

/// Returns the fits of the large-margin distribution machine in the function space of a kernel: `f
/// = b 1 + K a` and the penalty `lambda a'K a` in the objective of [`MarginDistribution`], at every
/// lambda, each once and largest first for any order of `lambdas`; `observer` sees every fit as it is
/// made.
///
/// The machine is solved in the coordinates of the eigenspace of K (one eigendecomposition for all
/// lambdas, O(n^3)), where it is linear; `a_i = d_i y_i (s_i + mu - 2 nu (u_i - m))/(2 lambda)` is
/// read off the dual solution and certified against K itself.
///
/// Source: Zhang and Zhou, *Large margin distribution machine*, KDD 2014, section 3.1.
///
/// # Errors
/// [`MarginDistribution::fit`] says which; no lambdas; an eigendecomposition that does not
/// converge.
pub fn margin_distribution<L: MarginLoss + ?Sized>(
    machine: &MarginDistribution,
    objective: &KernelObjective<'_, L>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<KernelFit>, Error> {
    let lambdas = Lambda::descending(lambdas)?;
    machine.check_order(objective.gram().len())?;
    let eigenspace = objective.gram().eigenspace()?;
    let reduced = Objective::from_risk(objective.risk().clone(), &eigenspace.coordinates)?;
    let fit = |lambda| {
        let solution = machine.solve(&reduced, lambda, options)?;
        let fit = lifted(machine, objective, lambda, solution, options);
        observer(&Observed::new(lambda, &fit.report));
        Ok(fit)
    };
    lambdas.into_iter().map(fit).collect()
}

/// Returns the kernel classifier that a solution in the coordinates of the eigenspace stands for.
fn lifted<L: MarginLoss + ?Sized>(
    machine: &MarginDistribution,
    objective: &KernelObjective<'_, L>,
    lambda: Lambda,
    solution: MarginDistributionSolution,
    options: &Options,
) -> KernelFit {
    let (risk, gram) = (objective.risk(), objective.gram());
    let MarginDistributionSolution {
        point,
        duals,
        ending,
        passes,
        fixed_moments_leave_one_out_bound,
    } = solution;
    let pulls = machine.pulls(risk, &point, &duals);
    let coef: Vec<f64> = pulls.iter().map(|r| r / (2.0 * lambda.get())).collect();
    let products = gram.multiply(&DMatrix::from_column_slice(coef.len(), 1, &coef));
    let products = products.as_slice().to_vec();
    let mut point = Point { intercept: point.intercept, coef, products };
    let certificate = machine.certify(risk, lambda, &mut point, &duals, |coef, pulls| {
        let residual: Vec<f64> =
            coef.iter().zip(pulls).map(|(a, r)| 2.0 * lambda.get() * a - r).collect();
        let square = |x: &[f64]| gram.quadratic_form(x).max(0.0);
        (square(coef), square(&residual))
    });
    let ending = ending.certified_by(certificate, options.tolerance);
    let Point { intercept, coef, products } = point;
    let ending = ending.examined(risk, &products, intercept);
    let report = ending.report(passes + 3, options.tolerance);
    let report = Report { fixed_moments_leave_one_out_bound, ..report };
    KernelFit { lambda, intercept, coef, report }
}
