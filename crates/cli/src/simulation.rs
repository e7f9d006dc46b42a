//! Simulated data: mixtures with known class probabilities, noisy halfspaces with exact errors, and
//! samples of which some are rare.

use std::path::Path;

use margins::data::Dataset;
use margins::data::generate::{
    Example, GaussianMixture, MOST_SIMULATED, MassartDistribution, RareSamples,
};
use margins::data::read::Unlabelled;
use margins::losses::Specification;

use crate::failure::Failure;

/// The prefix of a draw from a mixture.
const MIXTURE: &str = "mixture:";

/// The prefix of a draw from the points of a noisy halfspace.
const HALFSPACE: &str = "halfspace:";

/// The largest number of coordinates of centres.
const MOST_COORDINATES: usize = 10_000_000;

/// The prefix of a draw from the distribution of section 3.1 on the maximal loss.
const GAP: &str = "gap:";

/// The prefix of a draw of typical and rare samples.
const RARE: &str = "rare:";

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
    /// Section 3.1 of Shalev-Shwartz and Wexler (2016).
    Gap { alpha: f64, epsilon: f64 },
    /// Typical and rare samples, section 3.2, with the number of rare ones.
    Rare(usize),
}

impl Simulation {
    /// Reads `mixture:example=1,n=200,p=2,seed=1`, `mixture:k=3,p=2,sigma=0.3,n=200,seed=1`,
    /// `halfspace:d=20,gamma=0.1,eta=0.3,adversary=random,points=1000,n=4000,seed=1`,
    /// `gap:alpha=0.001,epsilon=0.01,n=1200,seed=1` or `rare:n=2000,rare=10,seed=1`, each part
    /// optional; `None` for any other name.
    pub(crate) fn named(name: &Path) -> Result<Option<Self>, Failure> {
        let name = name.to_string_lossy();
        if let Some(parameters) = name.strip_prefix(MIXTURE) {
            return Self::mixture(given(parameters)?).map(Some);
        }
        if let Some(parameters) = name.strip_prefix(HALFSPACE) {
            return Self::halfspace(given(parameters)?).map(Some);
        }
        if let Some(parameters) = name.strip_prefix(GAP) {
            return Self::gap(given(parameters)?).map(Some);
        }
        match name.strip_prefix(RARE) {
            Some(parameters) => Self::rare(given(parameters)?).map(Some),
            None => Ok(None),
        }
    }

    fn gap(mut given: Specification<'_>) -> Result<Self, Failure> {
        let mut number = |key: &str| given.take::<f64>(key, "a number").map_err(refuse);
        let (alpha, epsilon) =
            (number("alpha")?.unwrap_or(0.001), number("epsilon")?.unwrap_or(0.01));
        for (key, value) in [("alpha", alpha), ("epsilon", epsilon)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(refuse(format!("{key} is {value}, but must be between 0 and 1")));
            }
        }
        let rows = whole(&mut given, "n")?.unwrap_or(1200);
        let seed = whole(&mut given, "seed")?.unwrap_or(1);
        given.finish("alpha, epsilon, n and seed").map_err(refuse)?;
        let rows = count("n", rows, 4)?;
        Ok(Simulation { distribution: Distribution::Gap { alpha, epsilon }, rows, seed })
    }

    fn rare(mut given: Specification<'_>) -> Result<Self, Failure> {
        let rows = whole(&mut given, "n")?.unwrap_or(2000);
        let rare = whole(&mut given, "rare")?.unwrap_or(10);
        let seed = whole(&mut given, "seed")?.unwrap_or(1);
        given.finish("n, rare and seed").map_err(refuse)?;
        let (rows, rare) = (count("n", rows, 2)?, count("rare", rare, 0)?);
        if rare > rows {
            return Err(refuse(format!("rare is {rare}, but there are n={rows} rows")));
        }
        Ok(Simulation { distribution: Distribution::Rare(rare), rows, seed })
    }

    fn mixture(mut given: Specification<'_>) -> Result<Self, Failure> {
        let example = given.take_text("example");
        let (rows, p) = (whole(&mut given, "n")?.unwrap_or(200), whole(&mut given, "p")?);
        let seed = whole(&mut given, "seed")?.unwrap_or(1);
        let k = whole(&mut given, "k")?;
        let sigma = given.take::<f64>("sigma", "a number").map_err(refuse)?;
        given.finish("example, k, p, sigma, n and seed").map_err(refuse)?;
        let rows = count("n", rows, 2)?;
        let mixture = match example {
            Some(example) if k.is_none() && sigma.is_none() => {
                GaussianMixture::example(example_of(example, p)?, seed).map_err(Failure::job)?
            }
            Some(example) => {
                return Err(refuse(format!(
                    "example={example} has its own k and sigma. Leave one out"
                )));
            }
            None => {
                // What is left out is that of the first example.
                let (k, p) = (count("k", k.unwrap_or(3), 1)?, count("p", p.unwrap_or(2), 1)?);
                if k.saturating_mul(p) > MOST_COORDINATES {
                    let most = format!("k={k} centres of p={p} features are too many");
                    return Err(refuse(format!("{most}: k p must be at most {MOST_COORDINATES}")));
                }
                let sigma = sigma.unwrap_or(0.1f64.sqrt());
                GaussianMixture::new(k, p, sigma, seed).map_err(refuse)?
            }
        };
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
            Distribution::Mixture(_) | Distribution::Gap { .. } | Distribution::Rare(_) => None,
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
            Distribution::Gap { alpha, epsilon } => {
                RareSamples::new(self.seed, 1).gap(self.rows, *alpha, *epsilon)
            }
            Distribution::Rare(rare) => {
                RareSamples::new(self.seed, 1).typical_and_rare(self.rows - rare, *rare)
            }
        }
        .map_err(Failure::job)
    }

    /// Returns the log odds of the positive class at draws of the distribution; `None` for points.
    pub(crate) fn log_odds(&self) -> Option<Vec<f64>> {
        match &self.distribution {
            Distribution::Mixture(mixture) => {
                Some(mixture.log_odds(GaussianMixture::DRAWS, self.seed))
            }
            _ => None,
        }
    }

    /// Returns the Bayes error and the error of that number.
    pub(crate) fn bayes_error(&self) -> Result<(f64, f64), Failure> {
        match &self.distribution {
            Distribution::Mixture(mixture) => mixture.bayes_error(self.seed).map_err(Failure::job),
            Distribution::Halfspace(noisy) => Ok((noisy.opt(), 0.0)),
            // The features decide the label.
            Distribution::Gap { .. } | Distribution::Rare(_) => Ok((0.0, 0.0)),
        }
    }
}

/// Returns an example of the paper, with this number of features if it is given.
fn example_of(example: &str, p: Option<u64>) -> Result<Example, Failure> {
    match (example, p) {
        ("1", None | Some(2)) => Ok(Example::One),
        ("2", None | Some(2)) => Ok(Example::Two),
        ("3", None | Some(30)) => Ok(Example::Three { p: 30 }),
        ("3", Some(10)) => Ok(Example::Three { p: 10 }),
        ("3-corrected", None | Some(30)) => Ok(Example::ThreeCorrected),
        ("1" | "2", Some(p)) => Err(refuse(format!("example {example} has p=2, not {p}"))),
        ("3", Some(p)) => Err(refuse(format!("example 3 has p=10 or p=30, not {p}"))),
        ("3-corrected", Some(p)) => Err(refuse(format!("example 3-corrected has p=30, not {p}"))),
        _ => Err(refuse(format!("example is '{example}', but must be 1, 2, 3 or 3-corrected"))),
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
    if !(least..=MOST_SIMULATED as u64).contains(&value) {
        let range = format!("from {least} to {MOST_SIMULATED}");
        return Err(refuse(format!("{key} is {value}, but must be {range}")));
    }
    Ok(value as usize)
}

pub(crate) fn refuse(reason: impl std::fmt::Display) -> Failure {
    Failure::Usage(format!("simulated data: {reason}"))
}
