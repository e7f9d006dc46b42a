//! Online learners by their specifications.

use margins::Registry;
use margins::losses::MarginLoss;
use margins::optim::Lambda;
use margins::optim::online::Aggressiveness;
use margins::optim::online::stochastic;

use crate::failure::Failure;
use crate::specification::Specification;

/// An online learner with its parameters.
pub(super) enum Learner {
    Perceptron,
    AveragedPerceptron,
    PassiveAggressive(Aggressiveness),
    OnlineGradient {
        schedule: stochastic::Schedule,
        radius: Option<f64>,
        lambda: Option<Lambda>,
        loss: Box<dyn MarginLoss>,
    },
    Stump {
        thresholds: usize,
        eta: f64,
    },
    KernelPerceptron {
        budget: usize,
    },
    MultilayerPerceptron {
        hidden: Vec<usize>,
        step: f64,
        loss: Box<dyn MarginLoss>,
    },
}

impl Learner {
    pub(super) fn parse(text: &str, registry: &Registry) -> Result<Self, Failure> {
        let mut given = Specification::new("--learner", text)?;
        let loss = |given: &mut Specification<'_>| {
            let loss = given.take_text("loss").unwrap_or("logistic");
            registry.losses.parse(loss).map_err(|error| given.refuse(error))
        };
        let (learner, known) = match given.name() {
            "perceptron" => (Learner::Perceptron, ""),
            "averaged-perceptron" => (Learner::AveragedPerceptron, ""),
            "passive-aggressive" => {
                let how = match (given.take("capped")?, given.take("damped")?) {
                    (None, None) => Aggressiveness::Full,
                    (Some(c), None) => Aggressiveness::Capped(c),
                    (None, Some(c)) => Aggressiveness::Damped(c),
                    (Some(_), Some(_)) => return Err(given.refuse("capped or damped, not both")),
                };
                (Learner::PassiveAggressive(how), "capped or damped")
            }
            "online-gradient" => {
                let schedules = [
                    given.take("constant")?.map(stochastic::Schedule::Constant),
                    given.take("inverse-sqrt")?.map(stochastic::Schedule::InverseSqrt),
                    given.take("inverse-time")?.map(stochastic::Schedule::InverseTime),
                ];
                let mut schedules = schedules.into_iter().flatten();
                let schedule = schedules.next().unwrap_or(stochastic::Schedule::InverseSqrt(1.0));
                if schedules.next().is_some() {
                    return Err(given.refuse("one of constant, inverse-sqrt and inverse-time"));
                }
                let lambda = given.take("lambda")?.map(Lambda::new).transpose();
                let learner = Learner::OnlineGradient {
                    schedule,
                    radius: given.take("radius")?,
                    lambda: lambda.map_err(|error| given.refuse(error))?,
                    loss: loss(&mut given)?,
                };
                (learner, "constant, inverse-sqrt or inverse-time, radius, lambda and loss")
            }
            "stump" => {
                let thresholds = given.take("thresholds")?.unwrap_or(20);
                let eta = given.take("eta")?.unwrap_or(0.1);
                (Learner::Stump { thresholds, eta }, "thresholds and eta")
            }
            "kernel-perceptron" => {
                let budget = given.take("budget")?.unwrap_or(1000);
                (Learner::KernelPerceptron { budget }, "budget")
            }
            "mlp" => {
                let hidden = given.take_text("hidden").unwrap_or("32");
                let layers = hidden.split('x').map(|units| given.number("hidden", units));
                let hidden = layers.collect::<Result<_, _>>()?;
                let step = given.take("step")?.unwrap_or(0.05);
                let loss = loss(&mut given)?;
                (Learner::MultilayerPerceptron { hidden, step, loss }, "hidden, step and loss")
            }
            _ => {
                return Err(given.refuse(
                    "known are perceptron, averaged-perceptron, passive-aggressive, \
                     online-gradient, stump, kernel-perceptron and mlp",
                ));
            }
        };
        given.finish(known)?;
        Ok(learner)
    }

    pub(super) fn takes_kernel(&self) -> bool {
        matches!(self, Learner::KernelPerceptron { .. })
    }

    pub(super) fn is_linear(&self) -> bool {
        !matches!(
            self,
            Learner::Stump { .. }
                | Learner::KernelPerceptron { .. }
                | Learner::MultilayerPerceptron { .. }
        )
    }
}
