//! The command that prints the numbers of the theorems on the maximal loss.

use margins::boost::bounds::{TypicalAndRare, subsample_failure};
use margins::boost::{Error, Horizon, Slack, Subsample};

use crate::arguments::plan::PlanArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::output::files::emit;
use crate::output::plan::{GamePlan, MixturePlan, PlanDocument, SubsamplePlan};
use crate::output::table::facts;
use crate::output::{VERSION, write_json};

pub(crate) fn plan(arguments: &PlanArguments) -> Result<(), Failure> {
    let document = PlanDocument {
        format: "margins-plan",
        version: VERSION,
        delta: arguments.delta,
        theorem_1: game(arguments).map_err(Failure::usage)?,
        theorem_2: mixture(arguments).map_err(Failure::usage)?,
        theorem_3: subsample(arguments).map_err(Failure::usage)?,
    };
    emit(None, |out| match arguments.output.format {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => facts(out, &document.lines()),
    })
}

/// Returns steps and classifiers of theorem 1, and how likely it fails with others.
fn game(arguments: &PlanArguments) -> Result<Option<GamePlan>, Error> {
    const CLASSIFICATION: f64 = 0.49;
    let Some(rows) = arguments.game.rows else { return Ok(None) };
    let epsilon = arguments.epsilon.unwrap_or(CLASSIFICATION);
    let mistakes = arguments.game.mistakes.unwrap_or(rows as f64);
    let slack = arguments.game.slack;
    let regret = Slack::regret(slack)?;
    let theory = Horizon::with_regret(rows, epsilon, arguments.delta, mistakes, regret)?;
    let (steps, outputs) = (arguments.game.steps, arguments.game.outputs);
    let limits = (steps.is_some() || outputs.is_some()).then(|| {
        Horizon::new(steps.unwrap_or(theory.rounds()), outputs.unwrap_or(theory.outputs()))
    });
    let losses = |horizon: &Horizon| mistakes + regret * (horizon.rounds() as f64).sqrt();
    let failure = |horizon: Horizon| horizon.failure(rows, epsilon, losses(&horizon));
    let failure = limits.transpose()?.map(failure).transpose()?;
    let (theory_steps, theory_outputs) = (theory.rounds(), theory.outputs());
    Ok(Some(GamePlan {
        rows,
        mistakes,
        slack,
        epsilon,
        steps: theory_steps,
        outputs: theory_outputs,
        limits: (steps.unwrap_or(theory_steps), outputs.unwrap_or(theory_outputs)),
        failure,
    }))
}

/// Returns the number of samples of theorem 2, and the naive one.
fn mixture(arguments: &PlanArguments) -> Result<Option<MixturePlan>, Error> {
    let numbers = &arguments.mixture;
    let (Some(dimension), Some(epsilon), Some(rare)) =
        (numbers.dimension, arguments.epsilon, numbers.rare_share)
    else {
        return Ok(None);
    };
    let plan = TypicalAndRare {
        dimension,
        reduced_dimension: numbers.reduced_dimension.unwrap_or(dimension),
        epsilon,
        gap: numbers.gap.unwrap_or(epsilon),
        rare,
        delta: arguments.delta,
    };
    Ok(Some(MixturePlan {
        dimension,
        reduced_dimension: plan.reduced_dimension,
        epsilon,
        gap: plan.gap,
        rare_share: rare,
        samples: plan.samples()?,
        naive_samples: plan.naive_samples()?,
    }))
}

/// Returns the probability that a subsample fails, by theorem 3.
fn subsample(arguments: &PlanArguments) -> Result<Option<SubsamplePlan>, Error> {
    let numbers = &arguments.subsample;
    let (Some(rows), Some(outliers), Some(rare)) =
        (arguments.game.rows, numbers.outliers, numbers.rare)
    else {
        return Ok(None);
    };
    let size = match numbers.size {
        Some(size) => size,
        None => Subsample::new(rows, outliers, rare)?.size(),
    };
    let failure = subsample_failure(rows, outliers, rare, size)?;
    Ok(Some(SubsamplePlan {
        rows,
        outliers,
        rare,
        size,
        failure: failure.exact,
        bound: failure.bound,
        published_bound: failure.published,
    }))
}
