//! Minimises one objective by several solvers. The certificates bound how far each can be from the
//! minimum, so that the objectives agree within the gaps.
//!
//!     cargo run -p margins-optim --example solvers_agree

use margins_data::generate::{Example, GaussianMixture};
use margins_losses::SmoothedHinge;
use margins_optim::{Lambda, Objective, Options, Solver, fit};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = GaussianMixture::example(Example::One, 1)?.sample(500, 2)?;
    let loss = SmoothedHinge::new(0.5)?;
    let objective = Objective::new(&loss, data.design(), data.labels())?;
    let lambda = Lambda::new(1e-3)?;
    let solvers = [
        ("Newton", Solver::Newton),
        ("MM", Solver::MM),
        ("proximal Newton", Solver::ProximalNewton),
        ("dual ascent", Solver::Sdca { seed: 3 }),
    ];
    for (name, solver) in solvers {
        let options = Options { solver, tolerance: 1e-8, ..Options::default() };
        let report = fit(&objective, lambda, &options)?.report;
        println!(
            "{name:<16} objective {:.12}, at most {:.1e} above the minimum, {} iterations",
            report.objective, report.duality_gap, report.iterations
        );
    }
    Ok(())
}
