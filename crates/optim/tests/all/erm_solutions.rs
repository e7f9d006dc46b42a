//! Agreement with independently computed minimisers, and of the solvers with each other.

use margins_data::{Design, Labels};
use margins_optim::{Objective, Options, Solver, fit};
use margins_test_support::{lambda, reference_problems};

#[test]
fn newton_reaches_the_reference_minimisers() {
    reaches_the_reference_minimisers(Solver::Newton);
}

#[test]
fn mm_reaches_the_reference_minimisers() {
    reaches_the_reference_minimisers(Solver::MM);
}

#[test]
fn accelerated_mm_reaches_the_reference_minimisers() {
    reaches_the_reference_minimisers(Solver::MM_ACCELERATED);
}

#[test]
fn dual_ascent_reaches_the_reference_minimisers() {
    reaches_the_reference_minimisers(Solver::SDCA);
}

#[test]
fn cutting_planes_reach_the_reference_minimisers() {
    reaches_the_reference_minimisers(Solver::Bundle);
}

fn reaches_the_reference_minimisers(solver: Solver) {
    let mut checked = 0;
    for problem in &reference_problems() {
        let design = Design::from_rows(&problem.x_rows).unwrap();
        let labels = Labels::from_signs(problem.y.clone()).unwrap();
        for solution in problem.solutions.iter().filter(|s| s.kernel.is_none()) {
            let loss = solution.loss();
            let takes_kinks = matches!(
                solver,
                Solver::Auto | Solver::ProximalNewton | Solver::SDCA | Solver::Bundle
            );
            if !(loss.is_differentiable() || takes_kinks) {
                continue;
            }
            // Plain MM converges at a rate that goes with lambda.
            if solver == Solver::MM && solution.lambda < 1e-2 {
                continue;
            }
            let objective = Objective::new(&*loss, &design, &labels).unwrap();
            let options = Options {
                solver,
                // Half of the accuracy asked of the objective, which the gap bounds; fitted values
                // are only as accurate as the root of the gap.
                tolerance: match solver {
                    _ if !solution.is_unique() => 5e-10,
                    // Its gap is a difference of two objectives, which 1e-12 would be the rounding
                    // of.
                    Solver::Bundle => 1e-11,
                    _ => 1e-12,
                },
                max_iterations: Some(2_000_000),
                ..Options::default()
            };
            let fit = fit(&objective, lambda(solution.lambda), &options).unwrap();
            solution.assert_reached(problem.y.len(), &fit.report);
            solution.assert_fitted(&fit.decision_function(&design));
            checked += 1;
        }
    }
    let least = if solver == Solver::MM { 40 } else { 80 };
    assert!(checked >= least, "only {checked} cases were checked");
}
