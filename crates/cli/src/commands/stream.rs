//! The command that fits by stochastic gradient: in one pass over a stream, or in epochs over data in memory.

mod in_memory;
mod one_pass;

use margins::Registry;
use margins::losses::MarginLoss;
use margins::optim::Lambda;
use margins::optim::online::stochastic::{
    EarlyStopping, Sampling, Schedule, Start, StochasticGradient,
};

use crate::arguments::check;
use crate::arguments::regularised::TOLERANCE;
use crate::arguments::stream::{MethodArguments, MethodName, ScheduleName, StreamArguments};
use crate::arguments::values::{Projection, name_of};
use crate::failure::Failure;
use crate::output::files::{input, keep_apart, output};
use crate::output::training::TrainingDocument;

pub(super) fn stream(registry: &Registry, arguments: &StreamArguments) -> Result<(), Failure> {
    check::stream(arguments)?;
    let to = &arguments.output;
    keep_apart([
        Some(input("--data", arguments.data.name())),
        output("--out", to.out()),
        output("--history", arguments.memory.history.as_deref()),
    ])?;
    let loss = registry.losses.parse(&arguments.loss.loss).map_err(Failure::usage)?;
    let method = settings(arguments, &*loss)?;
    match arguments.memory.epochs {
        Some(_) => in_memory::fit(arguments, loss, &method),
        None => one_pass::fit(arguments, &*loss, &method),
    }
}

/// Returns the settings of the method.
fn settings(
    arguments: &StreamArguments,
    loss: &dyn MarginLoss,
) -> Result<StochasticGradient, Failure> {
    let StreamArguments { method, memory, lambda, .. } = arguments;
    let settings = match method.method {
        MethodName::Pegasos if loss.name() != "hinge" => {
            let found = loss.name();
            return Err(Failure::usage(format!(
                "pegasos is stochastic gradient on the hinge loss: say --loss hinge, or --method sgd for '{found}'"
            )));
        }
        MethodName::Pegasos => StochasticGradient::pegasos(*lambda),
        MethodName::Sgd => StochasticGradient::new(schedule(method, loss, *lambda)?),
    };
    let settings = StochasticGradient {
        epochs: memory.epochs.unwrap_or(settings.epochs),
        averaging: method.average.unwrap_or_default(),
        batch: method.batch.unwrap_or(1),
        projection: match method.projection {
            None => settings.projection,
            Some(Projection::None) => None,
            Some(Projection::Radius(radius)) => Some(radius),
        },
        sampling: if memory.with_replacement {
            Sampling::WithReplacement
        } else {
            Sampling::Shuffled
        },
        start: method.random_start.map_or(Start::Origin, Start::Random),
        early_stopping: memory
            .hold_out
            .map(|hold_out| EarlyStopping { hold_out, patience: memory.patience.unwrap_or(5) }),
        seed: method.seed,
        tolerance: memory.tol.unwrap_or(TOLERANCE),
        history: memory.history.is_some(),
        ..settings
    };
    settings.check().map_err(Failure::usage)?;
    Ok(settings)
}

fn schedule(
    method: &MethodArguments,
    loss: &dyn MarginLoss,
    lambda: Lambda,
) -> Result<Schedule, Failure> {
    let length = method.step.unwrap_or(1.0);
    Ok(match method.schedule.unwrap_or(ScheduleName::Bottou) {
        ScheduleName::Constant => Schedule::Constant(length),
        ScheduleName::InverseSqrt => Schedule::InverseSqrt(length),
        ScheduleName::InverseTime => Schedule::InverseTime(length),
        ScheduleName::Bottou => match method.step {
            Some(first) => Schedule::Bottou { first, lambda },
            None => Schedule::bottou(loss, lambda),
        },
        ScheduleName::MarginPursuit => match margin_pursuit(loss) {
            Some((_, scale)) => Schedule::margin_pursuit(scale, lambda),
            None => return Err(Failure::usage("--schedule margin-pursuit is for that --loss")),
        },
    })
}

/// Returns the level and the scale of a margin-pursuit loss.
fn margin_pursuit(loss: &dyn MarginLoss) -> Option<(f64, f64)> {
    let parameters = loss.parameters();
    let get = |key| parameters.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
    if loss.name() == "margin-pursuit" { get("gamma").zip(get("scale")) } else { None }
}

/// Returns the document on the settings.
fn document(arguments: &StreamArguments, loss: &dyn MarginLoss) -> TrainingDocument {
    let StreamArguments { method, memory, penalty, .. } = arguments;
    TrainingDocument {
        loss: loss.specification(),
        kernel: None,
        approximation: None,
        objective: None,
        solver: name_of(&method.method),
        tolerance: memory.tol.unwrap_or(TOLERANCE),
        intercept: !penalty.no_intercept,
        standardize: penalty.standardize,
        class_weight: arguments.loss.class_weight.to_string(),
        seed: method.seed,
    }
}
