//! Kernel classifiers and support vector machines against independently computed minimisers.

use margins_data::{Design, Labels};
use margins_kernels::{Gaussian, Gram, KernelObjective, Linear, fit, svm};
use margins_optim::{Options, Solver};
use margins_test_support::{
    ReferenceProblem, ReferenceSolution, close, lambda, loss, reference_problems,
};
use nalgebra::DMatrix;

/// Calls `check` with every reference minimiser that is `wanted`; how many there were.
fn for_each_reference(
    wanted: impl Fn(&ReferenceSolution) -> bool,
    check: impl Fn(&ReferenceProblem, &ReferenceSolution, &Gram),
) -> usize {
    let mut checked = 0;
    for problem in &reference_problems() {
        let design = Design::from_rows(&problem.x_rows).unwrap();
        for solution in problem.solutions.iter().filter(|solution| wanted(solution)) {
            let gram = match (solution.kernel.as_deref(), solution.sigma) {
                (None, _) => Gram::new(&Linear, &design),
                (Some("gaussian"), Some(sigma)) => {
                    Gram::new(&Gaussian::new(sigma).unwrap(), &design)
                }
                other => panic!("kernel {other:?} of the reference file"),
            };
            check(problem, solution, &gram.unwrap());
            checked += 1;
        }
    }
    checked
}

fn is_smooth_with_kernel(solution: &ReferenceSolution) -> bool {
    solution.kernel.is_some() && solution.loss != "hinge"
}

#[test]
fn newton_reaches_the_reference_minimisers() {
    let checked = for_each_reference(is_smooth_with_kernel, |problem, solution, gram| {
        let loss = solution.loss();
        let labels = Labels::from_signs(problem.y.clone()).unwrap();
        let objective = KernelObjective::new(&*loss, gram, &labels).unwrap();
        let options = Options {
            solver: Solver::Newton,
            // Half of the accuracy asked of the objective; fitted values are only as accurate as
            // the root of the gap.
            tolerance: if solution.is_unique() { 1e-12 } else { 5e-10 },
            ..Options::default()
        };
        let fit = fit(&objective, lambda(solution.lambda), &options).unwrap();
        solution.assert_reached(problem.y.len(), &fit.report);
        solution.assert_fitted(&fit.scores(gram.matrix().unwrap()));
    });
    assert!(checked >= 63, "only {checked} cases were checked");
}

#[test]
fn accelerated_mm_reaches_reference_minimisers() {
    let wanted = |s: &ReferenceSolution| is_smooth_with_kernel(s) && s.lambda >= 0.01;
    let checked = for_each_reference(wanted, |problem, solution, gram| {
        let loss = solution.loss();
        let labels = Labels::from_signs(problem.y.clone()).unwrap();
        let objective = KernelObjective::new(&*loss, gram, &labels).unwrap();
        let options =
            Options { solver: Solver::MM_ACCELERATED, tolerance: 1e-7, ..Options::default() };
        let fit = fit(&objective, lambda(solution.lambda), &options).unwrap();
        let case = format!("{} lambda={}", loss.specification(), solution.lambda);
        assert!(fit.report.converged(), "{case}: {:?}", fit.report);
        let error = (fit.report.objective - solution.objective).abs();
        assert!(error <= 1e-6 * solution.objective.abs(), "{case}: {:?}", fit.report);
    });
    assert!(checked >= 30, "only {checked} cases were checked");
}

#[test]
fn support_vector_machines_reach_the_reference_minimisers() {
    let checked = for_each_reference(
        |solution| solution.loss == "hinge",
        |problem, solution, gram| {
            let at = lambda(solution.lambda);
            let options = Options { tolerance: 5e-10, ..Options::default() };
            let fit = svm::fit(gram, &problem.y, None, true, at, &options).unwrap();
            solution.assert_reached(problem.y.len(), &fit.report);
        },
    );
    assert!(checked >= 21, "only {checked} cases were checked");
}

/// A minimiser by hand: with `K = I` and n = 2 the solution is `a = (t, -t)`, `b = 0`, every margin
/// `t`, and `-log t + 2 lambda t^2` has its minimum at `t = 1/(2 sqrt(lambda))` if that is at least
/// 1.
#[test]
fn a_minimiser_in_closed_form() {
    let gram = Gram::precomputed(DMatrix::identity(2, 2)).unwrap();
    let labels = Labels::from_signs(vec![1.0, -1.0]).unwrap();
    let lhs = loss("lhs");
    let objective = KernelObjective::new(&*lhs, &gram, &labels).unwrap();
    for at in [0.25, 1e-2, 1e-7] {
        for solver in [Solver::Newton, Solver::MM_ACCELERATED] {
            let options = Options { solver, tolerance: 1e-11, ..Options::default() };
            let fit = fit(&objective, lambda(at), &options).unwrap();
            let t = 0.5 / at.sqrt();
            assert!(fit.report.converged(), "{solver:?} {:?}", fit.report);
            assert!(close(fit.report.objective, 0.5 - t.ln(), 1e-10), "{solver:?}");
            for (a, y) in fit.coef.iter().zip([1.0, -1.0]) {
                assert!(close(*a, y * t, 1e-4), "{solver:?}: {a} {t}");
            }
        }
    }
}
