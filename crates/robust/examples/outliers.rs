//! Fits the mean hinge loss and its Catoni estimate to data of which some samples were moved far to
//! the wrong side, and counts the errors on clean samples.
//!
//!     cargo run -p margins-robust --example outliers

use margins_data::generate::GaussianMixture;
use margins_data::{Design, metrics};
use margins_losses::Hinge;
use margins_optim::{Fit, Lambda, Objective, Options, fit};
use margins_robust::CatoniRisk;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mixture = GaussianMixture::with_centres(vec![vec![1.0, 1.0]], vec![vec![-1.0, -1.0]], 1.0)?;
    let (train, clean) = (mixture.sample(200, 2)?, mixture.sample(5000, 3)?);
    let (lambda, options) = (Lambda::new(0.01)?, Options::default());
    println!("{:>6}{:>12}{:>12}", "moved", "mean", "Catoni");
    for moved in [0, 2, 5, 10, 20] {
        let mut table = train.design().to_dense();
        table.rows_mut(0, moved).scale_mut(-30.0);
        let design = Design::dense(&table)?;
        let objective = Objective::new(&Hinge, &design, train.labels())?;
        let mean = fit(&objective, lambda, &options)?;
        let robust = CatoniRisk::new(1.0)?.fit(&objective, lambda, &options)?;
        let error = |fit: &Fit| {
            let scores: Vec<f64> =
                (0..clean.rows()).map(|row| fit.score(&clean.design().sample(row))).collect();
            metrics::error_rate(&scores, clean.labels().signs(), None)
        };
        let [mean, robust] = [error(&mean)?.rate, error(&robust)?.rate];
        println!("{moved:>6}{:>11.1}%{:>11.1}%", 100.0 * mean, 100.0 * robust);
    }
    Ok(())
}
