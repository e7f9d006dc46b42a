//! Online learners by their specifications.

use std::sync::Arc;

use margins::Registry;
use margins::estimators::focused::Learner;
use margins::losses::MarginLoss;
use margins::optim::Lambda;
use margins::optim::online::Aggressiveness;
use margins::optim::online::stochastic::Schedule;

use crate::failure::Failure;
use crate::specification::Specification;

/// Reads `--learner`, with the kernel of a kernel perceptron.
pub(super) fn parse(
    text: &str,
    kernel: Option<&str>,
    registry: &Registry,
) -> Result<Learner, Failure> {
    let mut given = Specification::new("--learner", text)?;
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
            let learner = online_gradient(&mut given, registry)?;
            (learner, "constant, inverse-sqrt or inverse-time, radius, lambda and loss")
        }
        "stump" => {
            let thresholds = given.take("thresholds")?.unwrap_or(20);
            let eta = given.take("eta")?.unwrap_or(0.1);
            (Learner::Stump { thresholds, eta }, "thresholds and eta")
        }
        "kernel-perceptron" => {
            let budget = given.take("budget")?.unwrap_or(1000);
            let (kernel, registry) = (kernel.unwrap_or_default().to_owned(), &registry.kernels);
            let registry = registry.clone();
            (Learner::KernelPerceptron { kernel, registry, budget }, "budget")
        }
        "mlp" => {
            let hidden = given.take_text("hidden").unwrap_or("32");
            let layers = hidden.split('x').map(|units| given.number("hidden", units));
            let hidden = layers.collect::<Result<_, _>>()?;
            let step = given.take("step")?.unwrap_or(0.05);
            let loss = loss(&mut given, registry)?;
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

/// Reads the parameters of stochastic gradient.
fn online_gradient(given: &mut Specification<'_>, registry: &Registry) -> Result<Learner, Failure> {
    let schedules = [
        given.take("constant")?.map(Schedule::Constant),
        given.take("inverse-sqrt")?.map(Schedule::InverseSqrt),
        given.take("inverse-time")?.map(Schedule::InverseTime),
    ];
    let mut schedules = schedules.into_iter().flatten();
    let schedule = schedules.next().unwrap_or(Schedule::InverseSqrt(1.0));
    if schedules.next().is_some() {
        return Err(given.refuse("one of constant, inverse-sqrt and inverse-time"));
    }
    let lambda = given.take("lambda")?.map(Lambda::new).transpose();
    Ok(Learner::OnlineGradient {
        schedule,
        radius: given.take("radius")?,
        lambda: lambda.map_err(|error| given.refuse(error))?,
        loss: loss(given, registry)?,
    })
}

/// Reads the loss that a learner descends on.
fn loss(
    given: &mut Specification<'_>,
    registry: &Registry,
) -> Result<Arc<dyn MarginLoss>, Failure> {
    let loss = given.take_text("loss").unwrap_or("logistic");
    registry.losses.parse(loss).map(Arc::from).map_err(|error| given.refuse(error))
}
