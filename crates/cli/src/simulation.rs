//! Simulated data: mixtures with known class probabilities, and noisy halfspaces with exact errors.

use std::path::Path;

use margins::data::Dataset;
use margins::data::generate::{Example, GaussianMixture, MassartDistribution};
use margins::data::read::Unlabelled;
use margins::losses::Specification;

use crate::failure::Failure;

/// The prefix of a draw from a mixture.
const MIXTURE: &str = "mixture:";

/// The prefix of a draw from the points of a noisy halfspace.
const HALFSPACE: &str = "halfspace:";

/// The largest number of rows and of points.
const MOST_ROWS: u64 = 100_000_000;

/// A draw from a distribution that is known. The seed draws the distribution and the sample, in
/// streams of their own.
pub(crate) struct Simulation {
    distribution: Distribution,
    rows: usize,
    seed: u64,
}

enum Distribution {
    /// A mixture of section 6.1 of Kwon and Zou (2023).
    Mixture(GaussianMixture),
    /// Points with Massart noise, definition 1.1 of Diakonikolas and Zarifis (2024).
    Halfspace(Box<MassartDistribution>),
}

impl Simulation {
    /// Reads `mixture:example=1,n=200,p=2,seed=1` or
    /// `halfspace:d=20,gamma=0.1,eta=0.3,adversary=random,points=1000,n=4000,seed=1`, each part
    /// optional; `None` for any other name.
    pub(crate) fn named(name: &Path) -> Result<Option<Self>, Failure> {
        let name = name.to_string_lossy();
        if let Some(parameters) = name.strip_prefix(MIXTURE) {
            return Self::mixture(given(parameters)?).map(Some);
        }
        match name.strip_prefix(HALFSPACE) {
            Some(parameters) => Self::halfspace(given(parameters)?).map(Some),
            None => Ok(None),
        }
    }

    fn mixture(mut given: Specification<'_>) -> Result<Self, Failure> {
        let example = given.take_text("example").unwrap_or("1");
        let (rows, p) = (whole(&mut given, "n")?.unwrap_or(200), whole(&mut given, "p")?);
        let seed = whole(&mut given, "seed")?.unwrap_or(1);
        given.finish("example, n, p and seed").map_err(refuse)?;
        let rows = count("n", rows, 2)?;
        let example = match (example, p) {
            ("1", None | Some(2)) => Example::One,
            ("2", None | Some(2)) => Example::Two,
            ("3", None | Some(30)) => Example::Three { p: 30 },
            ("3", Some(10)) => Example::Three { p: 10 },
            ("3-corrected", None | Some(30)) => Example::ThreeCorrected,
            ("1" | "2", Some(p)) => {
                return Err(refuse(format!("example {example} has p=2, not {p}")));
            }
            ("3", Some(p)) => return Err(refuse(format!("example 3 has p=10 or p=30, not {p}"))),
            ("3-corrected", Some(p)) => {
                return Err(refuse(format!("example 3-corrected has p=30, not {p}")));
            }
            _ => {
                return Err(refuse(format!(
                    "example is '{example}', but must be 1, 2, 3 or 3-corrected"
                )));
            }
        };
        let mixture = GaussianMixture::example(example, seed).map_err(Failure::job)?;
        Ok(Simulation { distribution: Distribution::Mixture(mixture), rows, seed })
    }

    fn halfspace(mut given: Specification<'_>) -> Result<Self, Failure> {
        let adversary = given.take_text("adversary").unwrap_or("random");
        let mut number = |key: &str| given.take::<f64>(key, "a number").map_err(refuse);
        let (gamma, eta) = (number("gamma")?.unwrap_or(0.1), number("eta")?.unwrap_or(0.3));
        let d = whole(&mut given, "d")?.unwrap_or(20);
        let points = whole(&mut given, "points")?.unwrap_or(1000);
        let rows = whole(&mut given, "n")?.unwrap_or(4000);
        let seed = whole(&mut given, "seed")?.unwrap_or(1);
        given.finish("d, gamma, eta, adversary, points, n and seed").map_err(refuse)?;
        let (d, points, rows) =
            (count("d", d, 2)?, count("points", points, 1)?, count("n", rows, 2)?);
        let noisy = MassartDistribution::simulated(d, gamma, eta, adversary, points, seed);
        let (_, noisy) = noisy.map_err(refuse)?;
        Ok(Simulation { distribution: Distribution::Halfspace(Box::new(noisy)), rows, seed })
    }

    /// Returns the distribution with exact errors, if it is one.
    pub(crate) fn noisy(&self) -> Option<&MassartDistribution> {
        match &self.distribution {
            Distribution::Halfspace(noisy) => Some(noisy),
            Distribution::Mixture(_) => None,
        }
    }

    /// Returns the draw as data to predict.
    pub(crate) fn features(&self) -> Result<Unlabelled, Failure> {
        let data = self.draw()?;
        let labels = data.labels();
        let names = labels.signs().iter().map(|&sign| labels.class_name(sign));
        Ok(Unlabelled {
            feature_names: None,
            labels: Some(names.collect()),
            weights: None,
            dropped: Vec::new(),
            unknown_levels: 0,
            design: data.design().clone(),
        })
    }

    pub(crate) fn draw(&self) -> Result<Dataset, Failure> {
        match &self.distribution {
            Distribution::Mixture(mixture) => mixture.sample(self.rows, self.seed),
            Distribution::Halfspace(noisy) => noisy.sample(self.rows, self.seed),
        }
        .map_err(Failure::job)
    }

    /// Returns the Bayes error and the error of that number.
    pub(crate) fn bayes_error(&self) -> Result<(f64, f64), Failure> {
        const SAMPLES: usize = 200_000;
        let mixture = match &self.distribution {
            Distribution::Mixture(mixture) => mixture,
            Distribution::Halfspace(noisy) => return Ok((noisy.opt(), 0.0)),
        };
        if mixture.columns() == 2 {
            let quadrature = mixture.bayes_error_quadrature(1e-6).map_err(Failure::job)?;
            return Ok((quadrature.rate, quadrature.error));
        }
        let estimate = mixture.bayes_error_estimate(SAMPLES, self.seed).map_err(Failure::job)?;
        Ok((estimate.rate, estimate.standard_error))
    }
}

fn given(parameters: &str) -> Result<Specification<'_>, Failure> {
    match parameters.trim() {
        "" => Specification::parse(""),
        list => Specification::parse_list(list),
    }
    .map_err(refuse)
}

fn whole(given: &mut Specification<'_>, key: &str) -> Result<Option<u64>, Failure> {
    given.take::<u64>(key, "a whole number").map_err(refuse)
}

/// Returns a number of rows, points or features.
fn count(key: &str, value: u64, least: u64) -> Result<usize, Failure> {
    if !(least..=MOST_ROWS).contains(&value) {
        return Err(refuse(format!("{key} is {value}, but must be from {least} to {MOST_ROWS}")));
    }
    Ok(value as usize)
}

pub(crate) fn refuse(reason: impl std::fmt::Display) -> Failure {
    Failure::Usage(format!("simulated data: {reason}"))
}
