//! The robust learners, and their specifications.

use std::fmt;
use std::str::FromStr;

use margins_losses::{MarginLoss, OutOfRange, SpecialCase, Specification, did_you_mean};

use crate::Error;
use crate::{CatoniRisk, GargRothDescent, MarginDistribution, MedianOfMeans, Restarts};
use margins_optim::{Fit, Lambda, Objective, Options};

/// A robust learner, as `name:parameter=value,...`; [`fmt::Display`] writes what [`FromStr`] reads.
///
/// * `catoni:alpha=1,restarts=0,seed=1`
/// * `median-of-means:blocks=11,steps=2000,seed=1`
/// * `margin-distribution:mean=1,variance=1,seed=1`, or `margin-distribution:lambda1=1,lambda2=1,lambda3=1,seed=1`,
///   which sets lambda as well ([`MarginDistribution::by_letters`])
/// * `garg-roth:restarts=10,seed=1`
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RobustLearner {
    /// Catoni's estimate of the mean loss is minimised.
    Catoni(CatoniRisk),
    /// The median of the mean losses of blocks is minimised.
    MedianOfMeans(MedianOfMeans),
    /// The large-margin distribution machine is solved.
    MarginDistribution(MarginDistribution),
    /// The loss is minimised by descents from several starts.
    GargRoth(GargRothDescent),
}

impl RobustLearner {
    /// The names that specifications begin with.
    pub const NAMES: [&'static str; 4] =
        ["catoni", "median-of-means", "margin-distribution", "garg-roth"];

    /// Returns true if fits come with a duality gap.
    pub fn is_certified(&self) -> bool {
        matches!(self, RobustLearner::MarginDistribution(_))
    }

    /// Returns the lambda that the specification sets, if it sets one.
    pub fn lambda(&self) -> Option<Lambda> {
        match self {
            RobustLearner::MarginDistribution(learner) => learner.lambda(),
            _ => None,
        }
    }

    /// Returns the fit of the learner at one lambda.
    ///
    /// # Errors
    /// The errors of the `fit` of the learner. `Unsuitable`: the loss of `garg-roth` has another
    /// name.
    pub fn fit<L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'_, L>,
        lambda: Lambda,
        options: &Options,
    ) -> Result<Fit, Error> {
        match self {
            RobustLearner::Catoni(learner) => learner.fit(objective, lambda, options),
            RobustLearner::MedianOfMeans(learner) => learner.fit(objective, lambda, options),
            RobustLearner::MarginDistribution(learner) => learner.fit(objective, lambda, options),
            RobustLearner::GargRoth(learner) => {
                let loss = objective.risk().loss();
                if !matches!(loss.special_case(), Some(SpecialCase::GargRoth { .. })) {
                    return Err(margins_optim::Error::Unsuitable {
                        loss: loss.specification(),
                        lacks: "is not the projection profile, which garg-roth minimises",
                        alternative: "Use the loss garg-roth:alpha=1,beta=1",
                    }
                    .into());
                }
                learner.fit(objective, lambda, options)
            }
        }
    }

    /// Returns the fits of the learner at every lambda, each once and largest first, independently.
    ///
    /// # Errors
    /// The errors of [`fit`](Self::fit). `NoLambdas`: there are no lambdas.
    pub fn path<L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'_, L>,
        lambdas: &[Lambda],
        options: &Options,
        observer: &margins_optim::Observer<'_>,
    ) -> Result<Vec<Fit>, Error> {
        let fit = |lambda| {
            let fit = self.fit(objective, lambda, options)?;
            observer(&margins_optim::Observed::new(fit.lambda, &fit.report));
            Ok(fit)
        };
        Lambda::descending(lambdas)?.into_iter().map(fit).collect()
    }
}

impl fmt::Display for RobustLearner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RobustLearner::Catoni(learner) => {
                let Restarts { count, seed } = learner.restarts;
                write!(f, "catoni:alpha={},restarts={count},seed={seed}", learner.alpha())
            }
            RobustLearner::MedianOfMeans(learner) => {
                let (blocks, steps, seed) = (learner.blocks(), learner.steps, learner.seed);
                write!(f, "median-of-means:blocks={blocks},steps={steps},seed={seed}")
            }
            RobustLearner::MarginDistribution(learner) => {
                let (mean, variance, seed) = (learner.mean(), learner.variance(), learner.seed);
                f.write_str("margin-distribution:")?;
                match learner.letters() {
                    Some([l1, l2, l3]) => write!(f, "lambda1={l1},lambda2={l2},lambda3={l3}")?,
                    None => write!(f, "mean={mean},variance={variance}")?,
                }
                write!(f, ",seed={seed}")
            }
            RobustLearner::GargRoth(GargRothDescent { restarts: Restarts { count, seed } }) => {
                write!(f, "garg-roth:restarts={count},seed={seed}")
            }
        }
    }
}

impl FromStr for RobustLearner {
    type Err = Error;

    fn from_str(specification: &str) -> Result<Self, Error> {
        let mut given = Parameters::new(specification)?;
        let seed = given.whole("seed", 1)? as u64;
        let (learner, known) = match given.parts.name() {
            "catoni" => {
                let mut learner = CatoniRisk::new(given.number("alpha", 1.0)?)?;
                learner.restarts = Restarts { count: given.whole("restarts", 0)?, seed };
                (RobustLearner::Catoni(learner), "alpha, restarts and seed")
            }
            "median-of-means" => {
                let mut learner = MedianOfMeans::new(given.whole("blocks", 11)?)?;
                learner.steps = given.whole("steps", learner.steps)?;
                learner.seed = seed;
                (RobustLearner::MedianOfMeans(learner), "blocks, steps and seed")
            }
            "margin-distribution" => {
                let mut letter = |key| given.optional(key);
                let letters = [letter("lambda1")?, letter("lambda2")?, letter("lambda3")?];
                let (mut learner, known) = if letters.iter().any(Option::is_some) {
                    let [l1, l2, l3] = letters.map(|letter| letter.unwrap_or(1.0));
                    let learner = MarginDistribution::by_letters(l1, l2, l3)?;
                    (learner, "lambda1, lambda2, lambda3 and seed")
                } else {
                    let mean = given.number("mean", 1.0)?;
                    let learner = MarginDistribution::new(mean, given.number("variance", 1.0)?)?;
                    (learner, "mean, variance and seed")
                };
                learner.seed = seed;
                (RobustLearner::MarginDistribution(learner), known)
            }
            "garg-roth" => {
                let restarts = Restarts { count: given.whole("restarts", 10)?, seed };
                (RobustLearner::GargRoth(GargRothDescent { restarts }), "restarts and seed")
            }
            other => {
                let (known, meant) = (Self::NAMES.join(", "), did_you_mean(other, Self::NAMES));
                let reason = format!("'{other}' is unknown: known are {known}{meant}");
                return Err(given.refuse(reason));
            }
        };
        given.finish(known)?;
        Ok(learner)
    }
}

/// The parameters of a specification that are not taken yet.
struct Parameters<'t> {
    specification: &'t str,
    parts: Specification<'t>,
}

impl<'t> Parameters<'t> {
    fn new(specification: &'t str) -> Result<Self, Error> {
        let parts =
            Specification::parse(specification).map_err(|reason| refusal(specification, reason))?;
        Ok(Parameters { specification, parts })
    }

    fn optional(&mut self, key: &str) -> Result<Option<f64>, Error> {
        self.parts.take(key, "a number").map_err(|reason| self.refuse(reason))
    }

    fn number(&mut self, key: &str, default: f64) -> Result<f64, Error> {
        Ok(self.optional(key)?.unwrap_or(default))
    }

    fn whole(&mut self, key: &'static str, default: usize) -> Result<usize, Error> {
        let value = self.number(key, default as f64)?;
        // Larger doubles do not hold every whole number.
        const LARGEST: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;
        if value.fract() == 0.0 && (0.0..=LARGEST).contains(&value) {
            Ok(value as usize)
        } else {
            let requirement = "a whole number from 0 to 9007199254740992";
            Err(OutOfRange { parameter: key, value, requirement }.into())
        }
    }

    fn finish(&self, known: &str) -> Result<(), Error> {
        self.parts.finish(known).map_err(|reason| self.refuse(reason))
    }

    fn refuse(&self, reason: String) -> Error {
        refusal(self.specification, reason)
    }
}

fn refusal(specification: &str, reason: String) -> Error {
    Error::Specification { specification: specification.to_owned(), reason }
}
