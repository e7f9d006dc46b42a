//! Halfspaces of several classes, each learned against the rest.

use margins::data::{ClassLabels, Counted};
use margins::estimators::Evidence;
use margins::estimators::massart::{FittedHalfspaces, HalfspaceSettings};
use margins::estimators::regularised::DataSummary;

use super::super::page::{Page, title};
use super::{unfinished, unproven};
use crate::arguments::massart::MassartArguments;
use crate::arguments::values::{OutputFormat, name_of};
use crate::failure::Failure;
use crate::messages::step;
use crate::output::classes::ClassesDocument;
use crate::output::files::report;
use crate::output::massart::{HalfspacesDocument, MemberDocument};
use crate::output::model::save;
use crate::output::table::facts;
use crate::output::warnings::{Warnings, no_better};
use crate::output::{VERSION, write_json};

/// Learns the halfspaces and reports on them.
pub(super) fn massart(
    arguments: &MassartArguments,
    settings: &HalfspaceSettings,
    page: Page<'_>,
) -> Result<(), Failure> {
    if arguments.memory.is_some() {
        return Err(Failure::usage("--multi-class reads all rows into memory. Leave out --memory"));
    }
    let to = &arguments.output;
    let data = arguments.source().classes()?;
    let fitted = step("fitting", || settings.fit_classes(&data))?;
    let steps = fitted.classes.iter().map(|class| class.steps).sum();
    let mut warnings = Warnings::default();
    warnings.add(unfinished(arguments, fitted.status, steps));
    // Each class has the rows for itself.
    let most = fitted.classes.iter().map(|class| class.steps).max().unwrap_or(0);
    let needed = settings.proven_rows(fitted.model.columns(), most, fitted.status);
    warnings.add(unproven(arguments, needed, fitted.rows));
    let held_out = format!("the {}", Counted(fitted.held_out, "row held out"));
    let useless = [(fitted.training_error, "the rows"), (fitted.held_out_error, held_out.as_str())];
    warnings.add_useless(useless.into_iter().find_map(|(error, rows)| {
        no_better("The decision", error, rows, fitted.baseline, settings.standardize)
    }));
    if let Some(path) = to.out() {
        save(&fitted.model, path)?;
    }
    let summary = DataSummary::of(&data);
    let table = ClassesDocument::new(arguments.data.name(), &summary);
    let document = document(arguments, settings, table, &fitted);
    let kind = format!("halfspaces of {} classes under Massart noise", data.labels().names().len());
    page.write(
        &title(&arguments.data.name(), &kind),
        || Ok([document.describe(), document.outcome()].concat()),
        warnings,
        |report| page.describe(report, &fitted.model, Some(&data)),
    )?;
    report([to.out(), page.path], |out| match to.format() {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => {
            facts(out, &document.describe())?;
            writeln!(out)?;
            document.table().write(out)?;
            writeln!(out)?;
            facts(out, &document.outcome())
        }
    })
}

fn document<'a>(
    arguments: &MassartArguments,
    settings: &HalfspaceSettings,
    data: ClassesDocument<'a>,
    fitted: &'a FittedHalfspaces,
) -> HalfspacesDocument<'a> {
    let names = fitted.model.classes().iter();
    let members = names.zip(&fitted.classes).zip(fitted.model.members());
    HalfspacesDocument {
        format: "margins-massart-classes",
        version: VERSION,
        data,
        solver: name_of(&arguments.learner.learner),
        plan: arguments.learner.plan_name(),
        scheme: fitted.model.scheme().to_string(),
        standardize: settings.standardize,
        divisor: fitted.classes.first().and_then(|class| class.divisor),
        epsilon: settings.method.target().epsilon(),
        delta: settings.method.target().delta(),
        seed: settings.seed,
        status: fitted.status.name(),
        training_error: fitted.training_error,
        baseline_error: fitted.baseline,
        held_out_rows: fitted.held_out,
        held_out_error: fitted.held_out_error,
        error_bound: bound_of(&fitted.evidence),
        members: members
            .map(|((name, class), member)| MemberDocument {
                name,
                eta: class.problem.noise.get(),
                gamma: class.problem.margin.get(),
                distance: class.distance,
                steps: class.steps,
                status: class.status.name(),
                dimensions: class.dimensions,
                training_error: class.training_error,
                candidates: class.selection.candidates,
                held_out_error: class.selection.error,
                error_bound: bound_of(&class.evidence),
                intercept: member.intercept,
                coef: &member.coef,
            })
            .collect(),
    }
}

/// Returns the bound on an error; 1 of other evidence.
pub(super) fn bound_of(evidence: &Evidence) -> f64 {
    match evidence {
        Evidence::ErrorBound { bound, .. } => *bound,
        _ => 1.0,
    }
}
