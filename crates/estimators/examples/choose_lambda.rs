//! Chooses the penalty of a linear classifier by cross-validation: the one with the lowest error, and the
//! largest one within a standard error of it. Every fit in every fold carries its gap.
//!
//!     cargo run --release -p margins-estimators --example choose_lambda

use margins_data::generate::{Example, GaussianMixture};
use margins_estimators::regularised::{ClassifierSettings, CrossValidation, Regularisation};
use margins_optim::lambda_grid;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = GaussianMixture::example(Example::ThreeCorrected, 1)?.sample(300, 2)?;
    let how =
        CrossValidation { lambdas: lambda_grid(100.0, 1e-2, 13)?, ..CrossValidation::default() };
    let regularisation = Regularisation::CrossValidated(how);
    let fitted = ClassifierSettings { regularisation, seed: 3, ..ClassifierSettings::default() }
        .fit(&data)?;
    let curve = fitted.report.curve.as_ref().ok_or("no curve")?;
    println!("{:>10}{:>10}{:>8}{:>12}", "lambda", "error", "+-", "largest gap");
    for (k, lambda) in curve.lambdas.iter().enumerate() {
        let chosen = match k {
            _ if k == curve.best => " least error",
            _ if k == curve.one_standard_error => " within one standard error",
            _ => "",
        };
        println!(
            "{:>10.1e}{:>9.2}%{:>7.2}%{:>12.1e}{chosen}",
            lambda.get(),
            100.0 * curve.mean_error[k],
            100.0 * curve.standard_error[k],
            curve.worst_relative_gap[k],
        );
    }
    Ok(())
}
