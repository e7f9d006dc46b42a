//! The command that cross-validates.

use margins::data::ClassLabels;
use margins::estimators::regularised::{
    ClassifierSettings, DataSummary, FittedClassifier, Regularisation,
};
use margins::optim::ErrorCurve;
use margins::{CrossValidation, Registry};
use margins_report::LambdaError;

use super::fit::{exact, platt};
use super::page::{Invocation, Page, chosen, classifier_of, title};
use super::regularised::{Task, probabilities, progress};
use super::several_classes;
use crate::arguments::check;
use crate::arguments::cv::{CvArguments, LossesArguments};
use crate::arguments::values::{OutputFormat, name_of};
use crate::failure::Failure;
use crate::messages::{is_verbose, methods, step};
use crate::output::cross_validation::{
    Candidate, CandidateDocument, CvDocument, describe_cv, kernel_documents, loss_documents,
    summarise_cv, write_tables,
};
use crate::output::data::DataDocument;
use crate::output::duals::{constrained_line, write_duals};
use crate::output::files::{check_files, input, inputs, output, report};
use crate::output::fits::{FitDocument, OfMargins, describe_fit, summarise_fit};
use crate::output::model::save;
use crate::output::table::facts;
use crate::output::warnings::{Warnings, ends_of, of_gaps, refuse_contradiction};
use crate::output::{Lines, VERSION, write_json};
use crate::rows::Rows;

pub(super) fn cv(
    registry: &Registry,
    arguments: &CvArguments,
    invocation: &Invocation,
) -> Result<(), Failure> {
    let CvArguments { common, classifier, output: to, .. } = arguments;
    let checkpoint = arguments.choice.checkpoint.as_deref();
    check_named(arguments)?;
    check::cv(arguments)?;
    let test = arguments.test.file(&common.data.file)?;
    check::checkpoint(checkpoint)?;
    let page = Page::new(&arguments.page, registry, invocation, common.solver.seed())
        .with_test(test.as_ref().map(|file| common.data.of(file)));
    let task = Task { arguments: common, objective: None, keeps_points: false };
    let duals = arguments.duals.path();
    let settings = settings(registry, arguments, task)?;
    if let Some(scheme) = classifier.multi_class {
        let settings = ClassifierSettings { scheme: Some(scheme.into()), ..settings };
        let selection = name_of(&arguments.choice.select);
        return several_classes::fit(task, &settings, to, page, Some(selection), duals);
    }
    let mut rows = task.rows_of_folds()?;
    let fitted = with_progress(settings.clone(), &mut rows)?;
    methods(&fitted.fits);
    let table = rows.summary();
    let (fit, curve) = (&fitted.fits[0], curve_of(&fitted)?);
    refuse_contradiction(&fitted.report.loss, &[fit.report.status])?;
    let certified = ends_of(curve);
    let mut warnings = Warnings::default();
    warnings.add(of_gaps(certified, Some(fit.report.converged()), &[fit.report.status], common));
    warnings.add_report(&fitted.report);
    if let Some(path) = to.out() {
        save(&fitted.model, path)?;
    }
    let forms = match duals {
        Some(file) => write_duals(file, &fitted, &settings)?,
        None => Vec::new(),
    };
    let kernels = kernels(&fitted, curve);
    let (loss, kernel) = (fitted.report.loss.clone(), fitted.report.kernel.clone());
    let tolerance = common.solver.tolerance();
    let margins = OfMargins::new(&fitted, &settings)?;
    let found = || -> Result<Lines, Failure> {
        let mut found = describe_found(&fitted, tolerance)?;
        found.extend(margins.lines());
        found.extend(forms.iter().map(|form| constrained_line(form.as_ref())));
        Ok(found)
    };
    let about = || {
        let functions = task.describe(loss.clone(), kernel.clone(), Some(fitted.dimension()));
        [rows.describe(&common.data.name()), functions].concat()
    };
    let lines = || Ok([about(), found()?].concat());
    let kind = format!("cross-validated {}", classifier_of(fitted.report.kernel.as_deref()));
    page.write(&title(&common.data.name(), &kind), lines, warnings, |report| {
        report.selection = chosen(&fitted.report);
        page.describe_fitted(report, &fitted, &settings, rows.in_memory())
    })?;
    let outputs = [to.out(), duals, page.path];
    match to.format() {
        OutputFormat::Json => {
            let mut document = document(task, arguments, &table, &fitted, &kernels)?;
            document.fit = document.fit.with_margins(&margins);
            document.fit = document.fit.with_form(forms.first().cloned().flatten());
            report(outputs, |out| write_json(out, &document))
        }
        OutputFormat::Table => {
            let found =
                if is_verbose() { found()? } else { summarise(&fitted, arguments, &margins)? };
            report(outputs, |out| {
                facts(out, &about())?;
                writeln!(out)?;
                if is_verbose() {
                    write_tables(out, &loss_documents(&fitted.report), &kernels, curve)?;
                }
                facts(out, &found)
            })
        }
    }
}

/// Returns an error if an output cannot be written, or two options name the same file.
fn check_named(arguments: &CvArguments) -> Result<(), Failure> {
    check_files(inputs("--data", arguments.common.data.file.files()).chain([
        output("--out", arguments.output.out()),
        output("--checkpoint", arguments.choice.checkpoint.as_deref()),
        output("--duals", arguments.duals.path()),
        output("--report", arguments.page.path()),
        arguments.test.path().map(|file| input("--test", file)),
    ]))
}

/// Returns the lines on a cross-validation and the fit that it selects.
fn describe_found(fitted: &FittedClassifier, tolerance: f64) -> Result<Lines, Failure> {
    let of_fit = describe_fit(&fitted.fits[0], exact(fitted), fitted.training_error()?);
    Ok([describe_cv(&fitted.report, folds(fitted), tolerance), of_fit].concat())
}

/// Returns the number of folds.
fn folds(fitted: &FittedClassifier) -> usize {
    fitted.folds.as_ref().map_or(0, |folds| folds.count)
}

/// Returns the few lines that matter most: the lambdas, the final fit and the file written.
fn summarise(
    fitted: &FittedClassifier,
    arguments: &CvArguments,
    margins: &OfMargins,
) -> Result<Lines, Failure> {
    let tolerance = arguments.common.solver.tolerance();
    let mut lines = summarise_cv(&fitted.report, folds(fitted), tolerance);
    lines.push(("final fit", summarise_fit(&fitted.fits[0], fitted.training_error()?)));
    lines.extend(margins.location_line());
    lines.extend(arguments.output.written());
    Ok(lines)
}

/// Returns what settings fit to data, with a bar while they do.
fn with_progress<Y: ClassLabels>(
    settings: ClassifierSettings,
    rows: &mut Rows<Y>,
) -> Result<FittedClassifier, Failure> {
    let (bar, observer) = progress();
    let settings = ClassifierSettings { progress: observer, ..settings };
    let fitted = step("fitting", || rows.fit(&settings));
    bar.finish_and_clear();
    fitted
}

fn document<'a>(
    task: Task<'_>,
    arguments: &CvArguments,
    table: &DataSummary,
    fitted: &'a FittedClassifier,
    kernels: &'a [CandidateDocument],
) -> Result<CvDocument<'a>, Failure> {
    let curve = curve_of(fitted)?;
    Ok(CvDocument {
        format: "margins-cv",
        version: VERSION,
        data: DataDocument::new(&arguments.common.data.name(), table),
        training: task.document(fitted.report.loss.clone(), fitted.report.kernel.clone()),
        folds: folds(fitted),
        seed: fitted.folds.as_ref().and_then(|folds| folds.seed),
        measure: curve.measure.name(),
        all_certified: curve.certified.iter().all(|&certified| certified),
        losses: loss_documents(&fitted.report),
        kernels,
        lambdas: LambdaError::all(curve),
        best_lambda: curve.lambdas[curve.best].get(),
        one_standard_error_lambda: curve.lambdas[curve.one_standard_error].get(),
        selection: name_of(&arguments.choice.select),
        fit: FitDocument::new(&fitted.fits[0], exact(fitted)),
        platt: platt(fitted),
    })
}

fn settings(
    registry: &Registry,
    arguments: &CvArguments,
    task: Task<'_>,
) -> Result<ClassifierSettings, Failure> {
    let choice = &arguments.choice;
    let settings = task.settings(
        registry,
        Regularisation::CrossValidated(CrossValidation {
            lambdas: arguments.lambdas.lambdas.0.clone(),
            folds: choice.folds,
            splits: None,
            measure: choice.measure.into(),
            selection: choice.select.into(),
            abandon_hopeless: choice.abandon_hopeless,
            leave_one_out: choice.leave_one_out.map(Into::into),
        }),
    )?;
    let LossesArguments { or_loss, scales } = &arguments.losses;
    let first = &arguments.common.loss.loss;
    let settings = settings.with_losses(first, or_loss, scales, &registry.losses);
    let mut settings = settings.map_err(Failure::usage)?;
    settings.options.solver = arguments.stop.of(settings.options.solver);
    settings.options.keep_duals = arguments.duals.path().is_some();
    settings.checkpoint.clone_from(&choice.checkpoint);
    settings.probabilities = probabilities(arguments.classifier.probability, choice.folds);
    let candidates = &arguments.candidates;
    settings.kernels.specifications.extend(candidates.or_kernel.iter().cloned());
    settings.kernels.sigmas.clone_from(&candidates.sigmas);
    Ok(settings)
}

/// Returns the curve of a cross-validated classifier.
pub(super) fn curve_of(fitted: &FittedClassifier) -> Result<&ErrorCurve, Failure> {
    fitted.report.curve.as_ref().ok_or_else(|| Failure::job("the fit was not cross-validated"))
}

/// Returns the kernels tried, of which there may be one.
fn kernels(fitted: &FittedClassifier, curve: &ErrorCurve) -> Vec<CandidateDocument> {
    match &fitted.report.kernel {
        Some(kernel) if fitted.report.kernels.is_empty() => {
            vec![CandidateDocument::new(Candidate::Kernel(kernel.clone()), curve)]
        }
        _ => kernel_documents(&fitted.report),
    }
}
