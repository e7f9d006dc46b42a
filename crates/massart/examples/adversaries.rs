//! Learns a halfspace from labels that adversaries flip with probability at most eta, and compares
//! its error on the noisy distribution with the eta + eps that the algorithm promises.
//!
//!     cargo run --release -p margins-massart --example adversaries

use margins_data::generate::{Adversary, MarginHalfspace, MassartDistribution};
use margins_massart::{Plan, Problem, SphereSample, learn};
use margins_optim::method::Limits;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (eta, gamma) = (0.3, 0.1);
    let halfspace = MarginHalfspace::new(10, gamma, 1)?;
    let problem = Problem::new(eta, gamma)?;
    let promised = eta + problem.target.epsilon();
    println!("{:<14}{:>10}{:>10}{:>12}", "adversary", "least", "learned", "promised");
    let adversaries =
        [Adversary::Random, Adversary::FarAway, Adversary::NearBoundary, Adversary::Greedy];
    for adversary in adversaries {
        let points = halfspace.points(1000, 2)?;
        let noisy = MassartDistribution::of_halfspace(&halfspace, points, &adversary, eta)?;
        let draws = noisy.draw(4000, 3);
        let design = noisy.design().select(&draws.rows);
        let sample = SphereSample::new(&design, &draws.signs)?;
        let plan = Plan::practical(&problem);
        let learned = learn(&problem, &plan, &sample, 4, &Limits::default())?;
        let error = noisy.linear_error(&learned.classifier.coef)?;
        let name = format!("{adversary:?}");
        println!("{name:<14}{:>10.4}{error:>10.4}{promised:>12.4}", noisy.opt());
    }
    Ok(())
}
