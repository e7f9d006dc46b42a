//! The command that learns halfspaces under Massart noise.

mod classes;
mod without_fit;

use margins::data::digits::percent;
use margins::data::{Counted, Dataset};
use margins::estimators::massart::{
    FittedHalfspace, HalfspaceMethod, HalfspaceSettings, RowScaling, Selection,
};
use margins::estimators::{COPIES, Evidence, memory_below};
use margins::massart::{Problem, Target};
use margins::model::{DecisionList, Member};
use margins::optim::Status;
use margins::{Model, Registry};
use margins_report::CandidateChoice;

use super::page::{Invocation, Page, title};
use crate::arguments::check;
use crate::arguments::massart::{MassartArguments, MassartLearner, PlanName};
use crate::arguments::values::{OutputFormat, name_of};
use crate::failure::Failure;
use crate::messages::step;
use crate::output::files::{check_files, input, inputs, output, report};
use crate::output::massart::{ExactErrors, MassartDocument, RuleDocument};
use crate::output::model::save;
use crate::output::table::facts;
use crate::output::warnings::{Warnings, no_better};
use crate::output::{VERSION, write_json};
use crate::program;
use crate::simulation::Simulation;

pub(super) fn massart(
    registry: &Registry,
    arguments: &MassartArguments,
    invocation: &Invocation,
) -> Result<(), Failure> {
    check::massart(arguments)?;
    if arguments.learner.audit {
        return without_fit::audit(arguments);
    }
    let settings = settings(arguments, method(arguments)?);
    if arguments.learner.calculate {
        let problem = problem(arguments)?;
        return match settings.method {
            HalfspaceMethod::Cuts { .. } => {
                without_fit::calculate_cuts(arguments, &settings, problem)
            }
            _ => without_fit::calculate(arguments, &settings, problem),
        };
    }
    let to = &arguments.output;
    check_files(
        inputs("--data", arguments.data.file.files())
            .chain([output("--out", to.out()), output("--report", arguments.page.path())])
            .chain([arguments.test.path().map(|file| input("--test", file))]),
    )?;
    let test = arguments.test.file(&arguments.data.file)?;
    let page = Page::new(&arguments.page, registry, invocation, settings.seed)
        .with_test(test.as_ref().map(|file| arguments.data.of(file)));
    if arguments.learner.multi_class.is_some() {
        return classes::massart(arguments, &settings, page);
    }
    let (fitted, rows, data) = fit(arguments, &settings)?;
    let mut warnings = Warnings::default();
    warnings.add(unfinished(arguments, fitted.status, fitted.steps));
    let needed = settings.proven_rows(fitted.model.columns(), fitted.steps, fitted.status);
    warnings.add(unproven(arguments, needed, fitted.rows));
    let useless = worthless(&fitted, settings.standardize);
    let missed = missed(&fitted, &settings).filter(|_| useless.is_none());
    warnings.add_useless(useless);
    warnings.add(missed);
    if let Some(path) = to.out() {
        save(&fitted.model, path)?;
    }
    let exact = exact(registry, arguments, &fitted)?;
    let document = MassartDocument { exact, ..document(arguments, &fitted, rows) };
    page.write(
        &title(&arguments.data.name(), "halfspace under Massart noise"),
        || Ok(document.lines()),
        warnings,
        |report| {
            report.candidates = choice(&fitted);
            page.describe(report, &fitted.model, data.as_ref())
        },
    )?;
    report([to.out(), page.path], |out| match to.format() {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => facts(out, &document.lines()),
    })
}

/// Returns the warning about a learner that did not finish.
fn unfinished(arguments: &MassartArguments, status: Status, steps: usize) -> Option<String> {
    const NO_MINIMUM: &str = "The LeakyReLU loss was not minimised to a gap of epsilon gamma/4. --epsilon may be too small.";
    const NO_HALFSPACE: &str = "The cutting planes found no halfspace with an error of at most eta + epsilon/2 on the \
         data. eta or gamma may be wrong, or there may be too few rows, or too few dimensions in --project.";
    match status {
        Status::RuleMet => None,
        Status::TimeLimit => Some(format!("The time limit ended the learner after {steps} steps.")),
        _ if matches!(
            arguments.learner.learner,
            MassartLearner::LeakyRelu | MassartLearner::Partition
        ) =>
        {
            Some(NO_MINIMUM.to_owned())
        }
        _ => Some(NO_HALFSPACE.to_owned()),
    }
}

/// Returns the warning about fewer rows than the proof needs.
fn unproven(arguments: &MassartArguments, needed: Option<usize>, rows: usize) -> Option<String> {
    let needed = needed.filter(|&needed| rows < needed)?;
    (arguments.learner.plan == Some(PlanName::Proven)).then(|| {
        format!(
            "--plan proven has its guarantee for {needed} fresh rows, and there are {rows}. The error bound from the held-out rows \
             holds nevertheless. Add --calculate to see what {rows} rows prove"
        )
    })
}

/// Returns what a learner has found, in words.
fn found_by(fitted: &FittedHalfspace) -> &'static str {
    match fitted.model.decision_list() {
        Some(_) => "The decision list",
        None => "The halfspace",
    }
}

/// Returns the warning about a halfspace that is no better than always predicting the larger class.
fn worthless(fitted: &FittedHalfspace, standardized: bool) -> Option<String> {
    let held_out = format!("the {}", Counted(fitted.selection.held_out, "row held out"));
    let on =
        |error, rows: &str| no_better(found_by(fitted), error, rows, fitted.baseline, standardized);
    let of_training = fitted.training_error.and_then(|error| on(error, "the rows"));
    of_training.or_else(|| on(fitted.selection.error, &held_out))
}

/// Returns the warning about a halfspace with an error above the guarantee for a known eta.
fn missed(fitted: &FittedHalfspace, settings: &HalfspaceSettings) -> Option<String> {
    let (HalfspaceMethod::Gradient { problem, .. }
    | HalfspaceMethod::Cuts { problem, .. }
    | HalfspaceMethod::Baseline { problem, .. }
    | HalfspaceMethod::Partition { problem }) = settings.method
    else {
        return None;
    };
    let (error, most) = (fitted.selection.error, problem.noise.get() + problem.target.epsilon());
    (error > most).then(|| {
        format!(
            "{} is wrong on {} % of the {} held out, above eta + epsilon = {} %. eta or gamma may be wrong, or \
             there may be too few rows for {}.",
            found_by(fitted),
            percent(error),
            Counted(fitted.selection.held_out, "row"),
            percent(most),
            Counted(fitted.model.columns(), "feature"),
        )
    })
}

fn settings(arguments: &MassartArguments, method: HalfspaceMethod) -> HalfspaceSettings {
    let learner = &arguments.learner;
    HalfspaceSettings {
        intercept: !learner.no_intercept,
        standardize: learner.standardize,
        scaling: learner.scale_rows.map(RowScaling::from),
        seed: learner.seed,
        time_limit: learner.time_limit,
        ..HalfspaceSettings::new(method)
    }
}

fn method(arguments: &MassartArguments) -> Result<HalfspaceMethod, Failure> {
    let learner = &arguments.learner;
    if learner.learner == MassartLearner::Auto {
        return Ok(HalfspaceMethod::Adaptive { target: target(arguments)? });
    }
    let problem = problem(arguments)?;
    if learner.learner == MassartLearner::Partition {
        return Ok(HalfspaceMethod::Partition { problem });
    }
    if learner.learner == MassartLearner::Cuts {
        let plan = if learner.calculate { PlanName::Proven } else { learner.fitted_plan() };
        let search = learner.cuts.search(plan);
        return Ok(HalfspaceMethod::Cuts { problem, dimensions: learner.cuts.project, search });
    }
    Ok(match learner.learner.baseline() {
        Some(baseline) => HalfspaceMethod::Baseline { problem, baseline },
        None => {
            let plan = learner.numbers.of(learner.fitted_plan().plan(&problem));
            HalfspaceMethod::Gradient { problem, plan }
        }
    })
}

fn target(arguments: &MassartArguments) -> Result<Target, Failure> {
    let (noise, default) = (&arguments.noise, Target::default());
    let epsilon = noise.epsilon.unwrap_or(default.epsilon());
    Target::new(epsilon, noise.delta.unwrap_or(default.delta())).map_err(Failure::usage)
}

/// Returns the problem of a learner that has to know it.
fn problem(arguments: &MassartArguments) -> Result<Problem, Failure> {
    const UNKNOWN: &str =
        "--eta and --gamma are required, such as --eta 0.3 --gamma 0.05. Or use --learner auto";
    let known = arguments.noise.eta.zip(arguments.noise.gamma);
    let (eta, gamma) = known.ok_or_else(|| Failure::usage(UNKNOWN))?;
    let problem = Problem::new(eta, gamma).map_err(Failure::usage)?;
    Ok(problem.with_target(target(arguments)?))
}

/// Returns the halfspace with the number of rows that were read for it, and the rows themselves
/// unless they passed by.
fn fit(
    arguments: &MassartArguments,
    settings: &HalfspaceSettings,
) -> Result<(FittedHalfspace, usize, Option<Dataset>), Failure> {
    let source = arguments.source();
    if !arguments.stream {
        let file = source.block_file()?;
        if file.is_none() && arguments.memory.is_some() {
            return Err(Failure::Usage(format!("--memory is for {}", program::block_file())));
        }
        if let Some(file) = file
            && let Some(memory) = memory_below(&file, arguments.memory, COPIES, None)
        {
            let fitted = step("fitting", || settings.fit_file(&file, memory))?;
            return Ok((fitted, file.rows(), None));
        }
        let data = source.dataset()?;
        let fitted = step("fitting", || settings.fit(&data))?;
        return Ok((fitted, data.rows(), Some(data)));
    }
    let mut stream = source.stream(arguments.classes.classes.as_deref(), false)?;
    let fitted =
        step("fitting", || settings.fit_stream(&mut stream)).map_err(|error| match error {
            margins::Error::Massart(_) | margins::Error::EmptyStream => {
                Failure::job(format!("{}: {error}", arguments.data.name()))
            }
            error => Failure::from(error),
        })?;
    source.note_of_dropped(stream.dropped_rows());
    Ok((fitted, stream.rows() as usize, None))
}

/// Returns the choice among candidates with the bound that it gives, if there was one.
fn choice(fitted: &FittedHalfspace) -> Option<CandidateChoice> {
    let Evidence::ErrorBound { bound, delta } = fitted.evidence else { return None };
    let selection = &fitted.selection;
    // Cutting planes have no choice.
    (selection.candidates > 1).then(|| CandidateChoice {
        eta: fitted.problem.noise.get(),
        gamma: fitted.problem.margin.get(),
        candidates: selection.candidates,
        held_out: selection.held_out,
        error: selection.error,
        bound,
        delta,
        chosen: selection.index + 1,
        errors: candidate_errors(selection),
    })
}

/// Returns candidates by their number, from 1, with their errors.
fn candidate_errors(selection: &Selection) -> Vec<(usize, f64)> {
    selection.candidate_errors.iter().map(|&(index, error)| (index + 1, error)).collect()
}

/// Returns the exact errors on simulated data whose distribution is known.
fn exact(
    registry: &Registry,
    arguments: &MassartArguments,
    fitted: &FittedHalfspace,
) -> Result<Option<ExactErrors>, Failure> {
    let simulation = arguments.source().simulation()?;
    let Some(noisy) = simulation.as_ref().and_then(Simulation::noisy) else { return Ok(None) };
    let scores = fitted.model.decision_function(noisy.design(), registry).map_err(Failure::job)?;
    let error = noisy.error(&scores).map_err(Failure::job)?;
    Ok(Some(ExactErrors { error, opt: noisy.opt() }))
}

fn document<'a>(
    arguments: &'a MassartArguments,
    fitted: &'a FittedHalfspace,
    rows: usize,
) -> MassartDocument<'a> {
    let (classes, problem) = (fitted.model.classes(), &fitted.problem);
    let selection = &fitted.selection;
    let member = &fitted.model.members()[0];
    let halfspace = fitted.model.decision_list().is_none().then_some(member);
    MassartDocument {
        format: "margins-massart",
        version: VERSION,
        file: arguments.data.name(),
        rows,
        columns: fitted.model.columns(),
        negative_class: &classes[0],
        positive_class: &classes[1],
        solver: name_of(&arguments.learner.learner),
        plan: arguments.learner.plan_name(),
        eta: problem.noise.get(),
        gamma: problem.margin.get(),
        standardize: member.training.standardize,
        divisor: fitted.divisor,
        distance: fitted.distance,
        epsilon: problem.target.epsilon(),
        delta: problem.target.delta(),
        seed: arguments.learner.seed,
        steps: fitted.steps,
        status: fitted.status.name(),
        dimensions: fitted.dimensions,
        training_error: fitted.training_error,
        baseline_error: fitted.baseline,
        candidates: selection.candidates,
        held_out_rows: selection.held_out,
        held_out_error: selection.error,
        chosen_candidate: selection.index + 1,
        candidate_errors: candidate_errors(selection),
        error_bound: classes::bound_of(&fitted.evidence),
        exact: None,
        intercept: halfspace.map(|member| member.intercept),
        coef: halfspace.map(|member| member.coef.as_slice()),
        rules: fitted.model.decision_list().map(|list| rules(list, &fitted.model)),
    }
}

/// Returns the rules of a decision list, in their order.
fn rules<'a>(list: &DecisionList, model: &'a Model) -> Vec<RuleDocument<'a>> {
    let rule = |(&threshold, member): (&f64, &'a Member)| RuleDocument {
        threshold,
        intercept: member.intercept,
        coef: &member.coef,
    };
    list.thresholds.iter().zip(model.members()).map(rule).collect()
}
