//! Iterations of a solver, a line each.

use margins::data::digits::gap;
use margins::optim::method::Iteration;

use super::table::number;

/// Returns the line on an iteration.
pub(crate) fn describe_iteration(at: &Iteration) -> String {
    let gap = gap(at.relative_gap);
    let step = at.step.map_or("none".to_owned(), number);
    format!(
        "lambda {}, iteration {}: objective {}, gap {gap}, step {step}, passes {}, {:.3} s",
        number(at.lambda.get()),
        at.iteration,
        at.objective,
        at.passes,
        at.elapsed.as_secs_f64()
    )
}
