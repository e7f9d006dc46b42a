//! What is known without a fit: the numbers of plans, and a lower bound on the noise rate.

use margins::data::{Dataset, Labels};
use margins::estimators::massart::{HalfspaceMethod, HalfspaceSettings};
use margins::massart::{MarginBound, Plan, Problem};

use super::{settings, target};
use crate::arguments::data::Source;
use crate::arguments::massart::{LocalizationName, MassartArguments, PlanName};
use crate::arguments::values::{OutputFormat, name_of};
use crate::failure::Failure;
use crate::messages::step;
use crate::output::files::emit;
use crate::output::massart::{AuditDocument, CutPlanDocument, PlanDocument, Suspect};
use crate::output::table::facts;
use crate::output::{VERSION, write_json};

/// Prints the numbers of a plan, and what the rows prove if there are any.
pub(super) fn calculate(
    arguments: &MassartArguments,
    settings: &HalfspaceSettings,
    problem: Problem,
) -> Result<(), Failure> {
    let name = arguments.learner.plan.unwrap_or(PlanName::Proven);
    let plan = name.plan(&problem);
    let (mut rows, mut seconds) = (None, None);
    if !arguments.data.file.files().is_empty() {
        let (weighted, _, data) = size(&arguments.source())?;
        rows = Some(weighted);
        if let Some(data) = data {
            let of_step = step("timing steps", || settings.seconds_per_step(&data, &problem))?;
            seconds = Some(of_step * plan.steps as f64);
        }
    }
    let document = PlanDocument {
        format: "margins-massart-plan",
        version: VERSION,
        eta: problem.noise.get(),
        gamma: problem.margin.get(),
        epsilon: problem.target.epsilon(),
        delta: problem.target.delta(),
        plan: name_of(&name),
        step: plan.step,
        steps: plan.steps,
        candidates: plan.most_candidates(),
        held_out_rows: plan.selection,
        rows_needed: plan.rows(),
        seconds,
        rows,
        proven_epsilon: rows.and_then(|rows| Plan::proven_epsilon(&problem, rows)),
    };
    emit(None, |out| match arguments.output.format() {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => facts(out, &document.lines()),
    })
}

/// Returns the number of rows of positive weight, the number of features, and the rows themselves
/// unless they are in a block file.
fn size(source: &Source<'_>) -> Result<(usize, usize, Option<Dataset>), Failure> {
    let Some(file) = source.block_file()? else {
        let data = source.dataset()?;
        return Ok((weighted_rows(&data), data.columns(), Some(data)));
    };
    let weighted = |k| file.read::<Labels>(k).map(|data| weighted_rows(&data));
    let rows = match file.has_weights() {
        true => (0..file.partitions()).map(weighted).sum::<Result<usize, _>>()?,
        false => file.rows(),
    };
    Ok((rows, file.features(), None))
}

/// Prints the numbers of cutting planes with fresh rows in each call, and how many calls the rows are
/// enough for.
pub(super) fn calculate_cuts(
    arguments: &MassartArguments,
    settings: &HalfspaceSettings,
    problem: Problem,
) -> Result<(), Failure> {
    const UNKNOWN: &str =
        "--calculate with --learner cuts needs the number of features. Add --data";
    if arguments.data.file.files().is_empty() {
        return Err(Failure::usage(UNKNOWN));
    }
    let (rows, columns, data) = size(&arguments.source())?;
    let plan = settings.cut_plan(columns).expect("a calculation is of fresh rows");
    let learner = &arguments.learner;
    let timed = |data: &Dataset| settings.seconds_per_row_of_a_call(data, &problem);
    let of_row = data.map(|data| step("timing calls", || timed(&data))).transpose()?;
    let document = CutPlanDocument {
        format: "margins-massart-cut-plan",
        version: VERSION,
        eta: problem.noise.get(),
        gamma: problem.margin.get(),
        epsilon: problem.target.epsilon(),
        delta: problem.target.delta(),
        features: columns + usize::from(settings.intercept),
        localization: name_of(&learner.cuts.localization.unwrap_or(LocalizationName::Ellipsoid)),
        calls: plan.calls,
        rows_per_call: plan.rows_per_call,
        held_out_rows: plan.selection,
        rows_needed: plan.rows(),
        seconds: of_row.map(|seconds| seconds * plan.calls as f64 * plan.rows_per_call as f64),
        rows,
        calls_of_rows: plan.calls.min(rows.saturating_sub(plan.selection) / plan.rows_per_call),
    };
    emit(None, |out| match arguments.output.format() {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => facts(out, &document.lines()),
    })
}

/// Returns the number of rows of positive weight.
fn weighted_rows(data: &Dataset) -> usize {
    let count = |weights: &[f64]| weights.iter().filter(|&&weight| weight > 0.0).count();
    data.weights().map_or(data.rows(), count)
}

/// Prints a lower bound on the noise rate, and the rows that speak for it.
pub(super) fn audit(arguments: &MassartArguments) -> Result<(), Failure> {
    let lacking = || Failure::usage("--audit needs the margin, such as --gamma 0.05");
    let gamma = arguments.noise.gamma.ok_or_else(lacking)?;
    let margin = MarginBound::new(gamma).map_err(Failure::usage)?;
    let target = target(arguments)?;
    let (delta, settings) =
        (target.delta(), settings(arguments, HalfspaceMethod::Adaptive { target }));
    let data = arguments.source().dataset()?;
    let found = step("auditing", || settings.audit(&data, margin, delta))?;
    let suspect = |&(row, term): &(usize, f64)| Suspect {
        row: row + 1,
        label: data.labels().class_name(data.labels().signs()[row]).to_owned(),
        term,
    };
    let document = AuditDocument {
        format: "margins-massart-audit",
        version: VERSION,
        file: arguments.data.name(),
        rows: data.rows(),
        columns: data.columns(),
        gamma: margin.get(),
        delta,
        divisor: found.divisor,
        eta_bound: found.eta_bound,
        flipped: found.flipped,
        status: found.status.name(),
        suspects: found.suspects.iter().map(suspect).collect(),
    };
    emit(None, |out| match arguments.output.format() {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => facts(out, &document.lines()),
    })
}
