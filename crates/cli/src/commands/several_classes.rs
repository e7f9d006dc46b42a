//! `fit` and `cv` with `--multi-class`, and what `path` has in common with them: data of two classes or
//! more.

use std::io::{self, Write};
use std::path::Path;

use margins::Scheme;
use margins::calibration::location::MarginLocation;
use margins::data::digits::percent;
use margins::data::{ClassLabels, Classes};
use margins::estimators::regularised::{ClassifierSettings, DataSummary, FittedClassifier};
use margins::optim::{Lambda, Status};

use super::page::{Page, chosen, classifier_of, title};
use super::regularised::{Task, progress};
use crate::arguments::regularised::ModelArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::messages::{is_verbose, methods, step};
use crate::output::classes::{
    CertificateDocument, ClassesDocument, ClassesFitDocument, CurveDocument, MemberDocument,
    MulticlassDocument, member_table, status_of,
};
use crate::output::cross_validation::{
    describe_cv, kernel_documents, loss_documents, summarise_cv, write_tables,
};
use crate::output::data::{ClassDocument, size};
use crate::output::duals::write_duals;
use crate::output::files::{check_files, inputs, output, report};
use crate::output::fits::{describe_certificate, summarise_certificate};
use crate::output::model::save;
use crate::output::table::{MOST_LISTED, facts, number};
use crate::output::warnings::{Warnings, ends_of, of_gaps, of_members, refuse_contradiction};
use crate::output::{Lines, VERSION, write_json};
use crate::rows::Rows;

/// Fits a classifier of several classes by the settings and reports on it; `selection` names the
/// rule of a cross-validation.
pub(super) fn fit(
    task: Task<'_>,
    settings: &ClassifierSettings,
    to: &ModelArguments,
    page: Page<'_>,
    selection: Option<String>,
    duals: Option<&Path>,
) -> Result<(), Failure> {
    check_files(
        inputs("--data", task.arguments.data.file.files())
            .chain([output("--out", to.out()), output("--duals", duals)]),
    )?;
    let mut rows = task.rows_of_classes(selection.is_some())?;
    if let (true, Some(data)) = (selection.is_some(), rows.in_memory()) {
        task.arguments.source().note_of_encoding(data);
    }
    settings.check()?;
    let table = rows.summary();
    let mut warnings = Warnings::default();
    warnings.add(table.doubt());
    let (bar, observer) = progress();
    let progress = if selection.is_some() { observer } else { settings.progress.clone() };
    let settings = ClassifierSettings { progress, ..settings.clone() };
    let fitted = step("fitting", || rows.fit(&settings));
    bar.finish_and_clear();
    let fitted = fitted?;
    methods(&fitted.fits);
    let summary = &fitted.report;
    let curve = summary.curve.as_ref();
    let ends: Vec<Status> = summary.members.iter().filter_map(status_of).collect();
    refuse_contradiction(&summary.loss, &ends)?;
    // Without a penalty a small gradient is all the evidence that there is.
    let is_stationary =
        |end: &Status| lambda_of(&fitted) == Lambda::NONE.get() && *end == Status::RuleMet;
    let ends: Vec<Status> = ends.into_iter().filter(|end| !is_stationary(end)).collect();
    let certified = curve.into_iter().flat_map(ends_of);
    warnings.add(of_gaps(certified, None, &ends, task.arguments));
    warnings.add(of_members(&ends, task.arguments));
    warnings.add_report(summary);
    if let Some(path) = to.out() {
        save(&fitted.model, path)?;
    }
    let locations = fitted.margin_locations()?;
    let forms = match duals {
        Some(file) => write_duals(file, &fitted, &settings)?,
        None => Vec::new(),
    };
    /// The share of a time limit that the training error may take after the fits.
    const SHARE: f64 = 0.1;
    let training_error = match settings.time_limit {
        Some(limit) => fitted.training_error_within(limit.mul_f64(SHARE))?,
        None => Some(fitted.training_error()?),
    };
    let of_classes =
        format!("{} of {} classes", classifier_of(summary.kernel.as_deref()), table.classes.len());
    let kind = if curve.is_some() { format!("cross-validated {of_classes}") } else { of_classes };
    page.write(
        &title(&task.arguments.data.name(), &kind),
        || {
            Ok([describe_fitted(task, &fitted, &rows), outcome(task, &fitted, training_error)]
                .concat())
        },
        warnings,
        |report| {
            report.selection = chosen(summary);
            page.describe_fitted(report, &fitted, &settings, rows.in_memory())
        },
    )?;
    let outputs = [to.out(), duals, page.path];
    match to.format() {
        OutputFormat::Json => {
            let names = fitted.model.scheme().member_names(fitted.model.classes());
            let mut document = document(task, &fitted, &names, &table, training_error, selection);
            document.fit.add_forms(&forms);
            document.fit.add_locations(&locations);
            report(outputs, |out| write_json(out, &document))
        }
        OutputFormat::Table => report(outputs, |out| {
            facts(out, &describe_fitted(task, &fitted, &rows))?;
            writeln!(out)?;
            if curve.is_some() && !is_verbose() {
                return facts(out, &summarise(task, &fitted, training_error, to));
            }
            write_details(out, task, &fitted, &locations)?;
            let certificate = joint_certificate(&fitted).unwrap_or_default();
            facts(out, &[certificate, chosen_lambda(&fitted, training_error)].concat())
        }),
    }
}

/// Writes the tables of a cross-validation, if there was one, and of the members that have their own
/// certificates.
fn write_details(
    out: &mut dyn Write,
    task: Task<'_>,
    fitted: &FittedClassifier,
    locations: &[MarginLocation],
) -> io::Result<()> {
    let summary = &fitted.report;
    if let Some(curve) = &summary.curve {
        write_tables(out, &loss_documents(summary), &kernel_documents(summary), curve)?;
        facts(out, &describe_folds(task, fitted))?;
        writeln!(out)?;
    }
    if summary.scheme.is_joint() {
        return Ok(());
    }
    member_table(&summary.members, locations).write(out)?;
    if summary.members.len() > MOST_LISTED {
        writeln!(out, "... and {} more members", summary.members.len() - MOST_LISTED)?;
    }
    writeln!(out)
}

/// Returns the lines on the certificate of one problem for all classes, if there is one.
fn joint_certificate(fitted: &FittedClassifier) -> Option<Lines> {
    let first = fitted.fits.first().filter(|_| fitted.report.scheme.is_joint());
    let exact = fitted.exact.as_ref().and_then(|exact| exact.first());
    first.map(|fit| describe_certificate(fit, exact))
}

/// Returns the few lines on a cross-validation that matter most: the lambdas, the final fit and the
/// file written.
fn summarise(
    task: Task<'_>,
    fitted: &FittedClassifier,
    training_error: Option<f64>,
    to: &ModelArguments,
) -> Lines {
    let (tolerance, members) = (task.arguments.solver.tolerance(), &fitted.report.members);
    let certified = members.iter().filter(|member| member.summary.converged).count();
    let mut lines = summarise_cv(&fitted.report, folds(fitted), tolerance);
    lines.push(match (fitted.report.scheme.is_joint(), fitted.fits.first()) {
        (true, Some(fit)) => ("relative gap", summarise_certificate(fit)),
        _ => ("members", format!("{certified} of {} certified", members.len())),
    });
    lines.extend(chosen_lambda(fitted, training_error));
    lines.extend(to.written());
    lines
}

/// Returns the number of folds.
fn folds(fitted: &FittedClassifier) -> usize {
    fitted.folds.as_ref().map_or(0, |folds| folds.count)
}

/// Returns what came out, in lines.
fn outcome(task: Task<'_>, fitted: &FittedClassifier, training_error: Option<f64>) -> Lines {
    let certificate = joint_certificate(fitted).unwrap_or_default();
    [describe_folds(task, fitted), certificate, chosen_lambda(fitted, training_error)].concat()
}

/// Returns the lines on the cross-validation, if there was one.
fn describe_folds(task: Task<'_>, fitted: &FittedClassifier) -> Lines {
    describe_cv(&fitted.report, folds(fitted), task.arguments.solver.tolerance())
}

fn chosen_lambda(fitted: &FittedClassifier, training_error: Option<f64>) -> Lines {
    let error = training_error.map_or_else(
        || "not counted: the time limit was reached first".to_owned(),
        |error| format!("{} %", percent(error)),
    );
    vec![("lambda", number(lambda_of(fitted))), ("training error", error)]
}

fn describe_fitted(task: Task<'_>, fitted: &FittedClassifier, rows: &Rows<Classes>) -> Lines {
    let report = &fitted.report;
    let functions = task.describe(report.loss.clone(), report.kernel.clone(), None);
    [describe(&task.arguments.data.name(), report.scheme, rows), functions].concat()
}

/// Returns the lines on rows of several classes and on the scheme that decides between them.
pub(super) fn describe<Y: ClassLabels>(name: &str, scheme: Scheme, rows: &Rows<Y>) -> Lines {
    let table = rows.summary();
    let mut lines = vec![
        size(name, table.rows(), table.features),
        ("classes", ClassDocument::line(&ClassDocument::all(&table.classes, &table.class_rows))),
        ("scheme", scheme.to_string()),
    ];
    lines.extend(rows.memory());
    lines
}

fn document<'c>(
    task: Task<'c>,
    fitted: &'c FittedClassifier,
    names: &'c [String],
    table: &'c DataSummary,
    training_error: Option<f64>,
    selection: Option<String>,
) -> MulticlassDocument<'c> {
    let report = &fitted.report;
    let is_joint = report.scheme.is_joint();
    let certificate = |at: usize| {
        let exact = fitted.exact.as_ref().and_then(|exact| exact.get(at));
        let problem = report.members.get(at)?;
        Some(CertificateDocument::of_problem(problem).with_exact(exact))
    };
    let members =
        names.iter().zip(fitted.model.members()).enumerate().map(|(at, (name, member))| {
            let own = if is_joint { None } else { certificate(at) };
            MemberDocument::new(name, own, member)
        });
    MulticlassDocument {
        format: "margins-multiclass",
        version: VERSION,
        data: ClassesDocument::new(task.arguments.data.name(), table),
        training: task.document(report.loss.clone(), report.kernel.clone()),
        scheme: report.scheme.to_string(),
        fit: ClassesFitDocument {
            lambda: lambda_of(fitted),
            training_error,
            all_certified: report.is_certified(),
            certificate: if is_joint { certificate(0) } else { None },
            members: members.collect(),
        },
        cv: selection.and_then(|selection| CurveDocument::new(fitted, selection)),
    }
}

/// Returns the lambda that all members have in common.
fn lambda_of(fitted: &FittedClassifier) -> f64 {
    fitted.fits.first().map_or(f64::NAN, |fit| fit.lambda.get())
}
