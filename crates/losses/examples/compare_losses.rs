//! Prints losses side by side: their values along the margin, and the score that each prefers for a
//! class of probability 3/4.
//!
//!     cargo run -p margins-losses --example compare_losses -- hinge lhs l-r:r=2

use margins_losses::{Error, LossRegistry, MarginLoss};

fn main() -> Result<(), Error> {
    let mut specifications: Vec<String> = std::env::args().skip(1).collect();
    if specifications.is_empty() {
        specifications =
            ["hinge", "logistic", "lhs", "l-r:r=2", "squared"].map(String::from).into();
    }
    let registry = LossRegistry::standard();
    let losses: Vec<Box<dyn MarginLoss>> =
        specifications.iter().map(|words| registry.parse(words)).collect::<Result<_, _>>()?;

    println!(
        "{:>12}{}",
        "margin",
        specifications.iter().map(|s| format!("{s:>12}")).collect::<String>()
    );
    for step in -4..=8 {
        let margin = 0.5 * f64::from(step);
        let values = losses.iter().map(|loss| format!("{:>12.4}", loss.value(margin)));
        println!("{margin:>12.1}{}", values.collect::<String>());
    }
    // The score with the smallest expected loss has the sign of the likelier class; some losses
    // recover the probability from the score.
    let scores: Vec<f64> = losses.iter().map(|loss| loss.population_minimizer(0.75)).collect();
    println!(
        "{:>12}{}",
        "best score",
        scores.iter().map(|s| format!("{s:>12.4}")).collect::<String>()
    );
    let probabilities =
        losses.iter().zip(&scores).map(|(loss, &score)| match loss.probability(score) {
            Some(probability) => format!("{probability:>12.4}"),
            None => format!("{:>12}", "none"),
        });
    println!("{:>12}{}", "probability", probabilities.collect::<String>());
    Ok(())
}
