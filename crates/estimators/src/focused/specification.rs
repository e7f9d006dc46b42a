//! Learners, slack and parts of the samples by their specifications.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use margins_boost::SlackKind;
use margins_losses::{MarginLoss, Specification, did_you_mean};
use margins_model::Registry;
use margins_optim::Lambda;
use margins_optim::online::Aggressiveness;
use margins_optim::online::stochastic::Schedule;

use super::learner::FocusedLearner;
use super::settings::{SlackBudget, SlackRule, Subsampling};

const NUMBER: &str = "a number";
const WHOLE: &str = "a whole number";

/// Returns the known names, with a suggestion, for the error about an unknown name.
fn known_are(given: &str, known: &[&str]) -> String {
    format!("known are {}{}", known.join(", "), did_you_mean(given, known.iter().copied()))
}

impl FocusedLearner {
    /// The names of all learners.
    const NAMES: [&'static str; 8] = [
        "perceptron",
        "averaged-perceptron",
        "passive-aggressive",
        "online-gradient",
        "adaptive",
        "stump",
        "kernel-perceptron",
        "mlp",
    ];

    /// Returns the learner of a specification: `perceptron`, `averaged-perceptron`,
    /// `passive-aggressive` (`capped=C` for PA-I, `damped=C` for PA-II),
    /// `online-gradient:inverse-sqrt=1,radius=5,lambda=1e-3,loss=hinge` (or `constant`, or
    /// `inverse-time`), `adaptive:loss=logistic`, `stump:thresholds=20,eta=0.1`, `kernel-perceptron:budget=1000` with the
    /// kernel given, `mlp:hidden=32x16,step=0.05,loss=logistic`. The loss comes last.
    ///
    /// # Errors
    /// The reason in words: an unknown name, a parameter that the learner does not take, a value
    /// that is no number, a loss that the registry does not have.
    pub fn parse(text: &str, kernel: Option<&str>, registry: &Registry) -> Result<Self, String> {
        let mut given = with_loss(text)?;
        let (learner, known) = match given.name() {
            "perceptron" => (FocusedLearner::Perceptron, ""),
            "averaged-perceptron" => (FocusedLearner::AveragedPerceptron, ""),
            "passive-aggressive" => {
                let how = match (given.take("capped", NUMBER)?, given.take("damped", NUMBER)?) {
                    (None, None) => Aggressiveness::Full,
                    (Some(c), None) => Aggressiveness::Capped(c),
                    (None, Some(c)) => Aggressiveness::Damped(c),
                    (Some(_), Some(_)) => return Err("capped or damped, not both".to_owned()),
                };
                (FocusedLearner::PassiveAggressive(how), "capped or damped")
            }
            "online-gradient" => {
                let learner = online_gradient(&mut given, registry)?;
                (learner, "constant, inverse-sqrt or inverse-time, radius, lambda and loss")
            }
            "adaptive" => (FocusedLearner::Adaptive { loss: loss(&mut given, registry)? }, "loss"),
            "stump" => {
                let thresholds = given.take("thresholds", WHOLE)?.unwrap_or(20);
                let eta = given.take("eta", NUMBER)?.unwrap_or(0.1);
                (FocusedLearner::Stump { thresholds, eta }, "thresholds and eta")
            }
            "kernel-perceptron" => {
                let budget = given.take("budget", WHOLE)?.unwrap_or(1000);
                let (kernel, registry) = (kernel.unwrap_or_default().to_owned(), &registry.kernels);
                let registry = registry.clone();
                (FocusedLearner::KernelPerceptron { kernel, registry, budget }, "budget")
            }
            "mlp" => {
                let hidden = given.take_text("hidden").unwrap_or("32");
                let layers =
                    hidden.split('x').map(|units| Specification::read("hidden", units, WHOLE));
                let hidden = layers.collect::<Result<_, _>>()?;
                let step = given.take("step", NUMBER)?.unwrap_or(0.05);
                let loss = loss(&mut given, registry)?;
                (
                    FocusedLearner::MultilayerPerceptron { hidden, step, loss },
                    "hidden, step and loss",
                )
            }
            other => return Err(known_are(other, &FocusedLearner::NAMES)),
        };
        given.finish(known)?;
        Ok(learner)
    }
}

/// Reads `name` or `name:key=value,...`. The value of `loss` is a specification itself, and hence
/// the rest of the text.
fn with_loss(text: &str) -> Result<Specification<'_>, String> {
    let Some((name, list)) = text.split_once(':') else { return Specification::parse(text) };
    let starts = |&(at, _): &(usize, &str)| {
        let before = list[..at].trim_end();
        before.is_empty() || before.ends_with(',')
    };
    let Some((at, key)) = list.match_indices("loss=").find(starts) else {
        return Specification::parse(text);
    };
    let outer = match list[..at].trim_end().strip_suffix(',') {
        Some(before) => &text[..name.len() + 1 + before.len()],
        None => name,
    };
    let mut given = Specification::parse(outer)?;
    given.push("loss", list[at + key.len()..].trim())?;
    Ok(given)
}

/// Reads the parameters of stochastic gradient.
fn online_gradient(
    given: &mut Specification<'_>,
    registry: &Registry,
) -> Result<FocusedLearner, String> {
    let schedules = [
        given.take("constant", NUMBER)?.map(Schedule::Constant),
        given.take("inverse-sqrt", NUMBER)?.map(Schedule::InverseSqrt),
        given.take("inverse-time", NUMBER)?.map(Schedule::InverseTime),
    ];
    let mut schedules = schedules.into_iter().flatten();
    let schedule = schedules.next().unwrap_or(Schedule::InverseSqrt(1.0));
    if schedules.next().is_some() {
        return Err("one of constant, inverse-sqrt and inverse-time".to_owned());
    }
    let lambda = given.take::<f64>("lambda", NUMBER)?.map(Lambda::new).transpose();
    Ok(FocusedLearner::OnlineGradient {
        schedule,
        radius: given.take("radius", NUMBER)?,
        lambda: lambda.map_err(|error| error.to_string())?,
        loss: loss(given, registry)?,
    })
}

/// Reads the loss that a learner descends on.
fn loss(given: &mut Specification<'_>, registry: &Registry) -> Result<Arc<dyn MarginLoss>, String> {
    let loss = given.take_text("loss").unwrap_or("logistic");
    registry.losses.parse(loss).map(Arc::from).map_err(|error| error.to_string())
}

/// The forms of slack by their names.
const SLACKS: [(&str, SlackKind); 3] = [
    ("additive-sum", SlackKind::AdditiveSum),
    ("additive-euclidean", SlackKind::AdditiveEuclidean),
    ("multiplicative", SlackKind::Multiplicative),
];

impl FromStr for SlackRule {
    type Err = String;

    /// Reads `auto`, `none`, `additive-sum:budget=5`, `additive-euclidean:budget=5` or
    /// `multiplicative:budget=5`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut given = Specification::parse(text)?;
        let Some(&(_, kind)) = SLACKS.iter().find(|(name, _)| *name == given.name()) else {
            let rule = match given.name() {
                "auto" => SlackRule::Automatic,
                "none" => SlackRule::Off,
                other => {
                    let [sum, euclidean, product] = SLACKS.map(|(name, _)| name);
                    return Err(known_are(other, &["auto", "none", sum, euclidean, product]));
                }
            };
            given.finish("")?;
            return Ok(rule);
        };
        let budget = given.take("budget", NUMBER)?;
        given.finish("budget")?;
        let budget = budget.ok_or("its budget is missing, as in budget=5")?;
        Ok(SlackRule::Budget(SlackBudget { kind, budget }))
    }
}

impl fmt::Display for SlackRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SlackRule::Automatic => f.write_str("auto"),
            SlackRule::Off => f.write_str("none"),
            SlackRule::Budget(budget) => budget.fmt(f),
        }
    }
}

impl fmt::Display for SlackBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = SLACKS.iter().find(|(_, kind)| *kind == self.kind).map_or("", |(name, _)| name);
        write!(f, "{name}:budget={}", self.budget)
    }
}

impl FromStr for Subsampling {
    type Err = String;

    /// Reads `outliers=5,rare=200`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut given = Specification::parse_list(text)?;
        let (outliers, rare) = (given.take("outliers", WHOLE)?, given.take("rare", WHOLE)?);
        given.finish("outliers and rare")?;
        let (Some(outliers), Some(rare)) = (outliers, rare) else {
            return Err("both counts are needed, as in outliers=5,rare=200".to_owned());
        };
        Ok(Subsampling { outliers, rare })
    }
}
