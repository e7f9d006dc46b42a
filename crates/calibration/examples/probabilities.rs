//! Turns scores into probabilities in two ways, and measures on other scores how far those can be
//! trusted. At the end it says what a small surrogate risk proves about the error.
//!
//!     cargo run -p margins-calibration --example probabilities

use margins_calibration::PsiTransform;
use margins_calibration::probability::{Binning, IsotonicRegression, PlattScaling, Reliability};
use margins_losses::{LeakyHockeyStick, Logistic};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Draws scores of samples whose class is +1 with the probability `1/(1 + exp(-3 s))`.
fn draw(count: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let scores: Vec<f64> = (0..count).map(|_| StandardNormal.sample(&mut random)).collect();
    let sign = |score: &f64| {
        let probability = 1.0 / (1.0 + (-3.0 * score).exp());
        if random.random_bool(probability) { 1.0 } else { -1.0 }
    };
    let signs = scores.iter().map(sign).collect();
    (scores, signs)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (scores, signs) = draw(1000, 1);
    let (new_scores, new_signs) = draw(1000, 2);
    let platt = PlattScaling::fit(&scores, &signs)?;
    let isotonic = IsotonicRegression::fit(&scores, &signs, None)?;
    println!("Platt's slope {:.2}, where the truth is -3", platt.slope());
    let ways: [(&str, &dyn Fn(f64) -> f64); 3] = [
        ("1/(1 + exp(-s))", &|score| 1.0 / (1.0 + (-score).exp())),
        ("Platt", &|score| platt.probability(score)),
        ("isotonic", &|score| isotonic.probability(score)),
    ];
    println!("{:<16}{:>10}{:>20}", "probability", "Brier", "calibration error");
    for (name, probability) in ways {
        let probabilities: Vec<f64> = new_scores.iter().map(|&score| probability(score)).collect();
        let brier = probabilities.iter().zip(&new_signs);
        let brier: f64 = brier.map(|(p, sign)| (p - (sign + 1.0) / 2.0).powi(2)).sum();
        let reliability =
            Reliability::new(&probabilities, &new_signs, None, Binning::EqualWidth(10))?;
        let error = reliability.expected_calibration_error();
        println!("{name:<16}{:>10.4}{:>20.4}", brier / 1000.0, error.value);
    }
    for loss in [&LeakyHockeyStick as &dyn margins_losses::MarginLoss, &Logistic] {
        let bound = PsiTransform::of(loss)?.inverse(0.01);
        println!(
            "{}: 0.01 above the minimal risk is at most {bound:.3} above the Bayes error",
            loss.name()
        );
    }
    Ok(())
}
