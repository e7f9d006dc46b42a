//! Iterations of a solver, a line each.

use margins::optim::solve::Iteration;

use super::table::{gap, number};

/// Returns the line on an iteration.
pub(crate) fn describe_iteration(at: &Iteration) -> String {
    let (lambda, objective, gap) = (at.lambda.get(), at.objective, gap(at.relative_gap));
    let step = at.step.map_or("none".to_owned(), number);
    format!(
        "lambda {}, iteration {}: objective {objective}, gap {gap}, step {step}, passes {}, {:.3} s",
        number(lambda),
        at.iteration,
        at.passes,
        at.elapsed.as_secs_f64()
    )
}
