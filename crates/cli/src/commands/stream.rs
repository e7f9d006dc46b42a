//! The command that fits by stochastic gradient: in one pass over a stream, or in epochs over data
//! in memory.

mod in_memory;
mod one_pass;

use margins::Registry;
use margins::estimators::stream::{RescaleSteps, StepSchedule, StreamMethod, StreamSettings};

use margins::optim::online::stochastic::{EarlyStopping, Sampling, Start};

use super::regularised::iterations;
use crate::arguments::check;
use crate::arguments::regularised::TOLERANCE;
use crate::arguments::stream::{MethodName, RescaleStepsName, ScheduleName, StreamArguments};
use crate::arguments::values::name_of;
use crate::failure::Failure;
use crate::output::files::{check_files, inputs, output};
use crate::output::training::TrainingDocument;

pub(super) fn stream(registry: &Registry, arguments: &StreamArguments) -> Result<(), Failure> {
    check::stream(arguments)?;
    let to = &arguments.output;
    check_files(inputs("--data", arguments.data.file.files()).chain([
        output("--out", to.out()),
        output("--history", arguments.memory.history.as_deref()),
    ]))?;
    let settings = settings(registry, arguments)?;
    settings.gradient()?;
    match arguments.memory.epochs {
        Some(_) if arguments.multi_class.is_some() => {
            in_memory::fit_several(registry, arguments, &settings)
        }
        Some(_) => in_memory::fit(arguments, &settings),
        None => one_pass::fit(arguments, &settings),
    }
}

fn settings(registry: &Registry, arguments: &StreamArguments) -> Result<StreamSettings, Failure> {
    let StreamArguments { loss, method, memory, penalty, .. } = arguments;
    Ok(StreamSettings {
        loss: registry.losses.parse(&loss.loss).map_err(Failure::usage)?.into(),
        method: match method.method {
            MethodName::Adaptive => StreamMethod::Adaptive,
            MethodName::Coin => StreamMethod::Coin,
            MethodName::Pegasos => StreamMethod::Pegasos,
            MethodName::MarginPursuit => StreamMethod::MarginPursuit,
            MethodName::Sgd => StreamMethod::Gradient {
                schedule: method.schedule.unwrap_or(ScheduleName::Bottou).into(),
                first: method.step,
            },
        },
        intercept: !penalty.no_intercept,
        epochs: memory.epochs,
        sampling: memory.with_replacement.then_some(Sampling::WithReplacement),
        batch: method.batch.unwrap_or(1),
        averaging: method.average.unwrap_or_default(),
        projection: method.projection.unwrap_or_default(),
        start: method.random_start.map_or(Start::Origin, Start::Random),
        early_stopping: memory
            .hold_out
            .map(|hold_out| EarlyStopping { hold_out, patience: memory.patience.unwrap_or(5) }),
        rescale_at: memory.rescale_at,
        rescale_steps: match memory.rescale_steps {
            RescaleStepsName::Divide => RescaleSteps::Divide,
            RescaleStepsName::Keep => RescaleSteps::Keep,
        },
        balanced_rows: memory.balanced_rows,
        standardize: penalty.standardize,
        class_weights: loss.class_weight.rule(),
        class_costs: loss.class_weight.costs()?,
        seed: method.seed,
        tolerance: memory.tol.unwrap_or(TOLERANCE),
        history: memory.history.is_some(),
        time_limit: memory.time_limit,
        iterations: iterations(),
        ..StreamSettings::new(arguments.lambda)
    })
}

impl From<ScheduleName> for StepSchedule {
    fn from(name: ScheduleName) -> Self {
        match name {
            ScheduleName::Constant => StepSchedule::Constant,
            ScheduleName::InverseSqrt => StepSchedule::InverseSqrt,
            ScheduleName::InverseTime => StepSchedule::InverseTime,
            ScheduleName::Bottou => StepSchedule::Bottou,
            ScheduleName::MarginPursuit => StepSchedule::MarginPursuit,
        }
    }
}

/// Returns the document on the settings.
fn document(arguments: &StreamArguments, loss: String) -> TrainingDocument {
    let StreamArguments { method, memory, penalty, .. } = arguments;
    TrainingDocument {
        loss,
        kernel: None,
        approximation: None,
        objective: None,
        solver: name_of(&method.method),
        tolerance: memory.tol.unwrap_or(TOLERANCE),
        intercept: !penalty.no_intercept,
        standardize: penalty.standardize,
        penalty_factors: None,
        class_weight: arguments.loss.class_weight.to_string(),
        seed: method.seed,
    }
}
