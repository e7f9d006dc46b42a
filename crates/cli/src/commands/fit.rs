//! The command that fits at one lambda.

use std::path::Path;

use margins::Registry;
use margins::estimators::regularised::{
    ClassifierSettings, DataSummary, FittedClassifier, Regularisation,
};
use margins::optim::Certificate;

use super::page::{Invocation, Page, classifier_of, title};
use super::regularised::{Task, probabilities};
use super::several_classes;
use crate::arguments::check;
use crate::arguments::fit::FitArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::messages::{methods, step};
use crate::output::data::DataDocument;
use crate::output::duals::{constrained_line, write_duals};
use crate::output::files::{check_files, input, inputs, output, report};
use crate::output::fits::{
    FitDocument, OfMargins, PathDocument, describe_fit, intercepts_line, write_history,
};
use crate::output::model::save;
use crate::output::table::facts;
use crate::output::training::PlattDocument;
use crate::output::warnings::{of_step, refuse_contradiction};
use crate::output::{Lines, VERSION, write_json};
use crate::source::read_model;

pub(super) fn fit(
    registry: &Registry,
    arguments: &FitArguments,
    invocation: &Invocation,
) -> Result<(), Failure> {
    let FitArguments { common, classifier, output: to, .. } = arguments;
    check::fit(arguments)?;
    check::checkpoint(arguments.points.checkpoint.as_deref())?;
    check_named(arguments)?;
    let test = arguments.test.file(&common.data.file)?;
    let task = Task {
        arguments: common,
        objective: arguments.objective.objective,
        keeps_points: arguments.points.checkpoint.is_some(),
    };
    let mut settings = settings(registry, arguments, &task)?;
    let page = Page::new(&arguments.page, registry, invocation, common.solver.seed())
        .with_test(test.as_ref().map(|file| common.data.of(file)));
    if let Some(scheme) = classifier.multi_class {
        settings.scheme = Some(scheme.into());
        return several_classes::fit(task, &settings, to, page, None, arguments.duals.path());
    }
    let mut rows = task.rows()?;
    if let Some(path) = &arguments.start {
        settings.start = Some(start_of(path, registry, &rows.summary())?);
    }
    let fitted = step("fitting", || rows.fit(&settings))?;
    methods(&fitted.fits);
    let table = rows.summary();
    let (fit, exact) = (&fitted.fits[0], exact(&fitted));
    refuse_contradiction(&fitted.report.loss, &[fit.report.status])?;
    if let Some(path) = &arguments.history {
        write_history(path, fit, table.rows())?;
    }
    let best_intercepts = fitted.best_intercepts(&settings)?;
    let duals = arguments.duals.path();
    let forms = match duals {
        Some(file) => write_duals(file, &fitted, &settings)?,
        None => Vec::new(),
    };
    let mut warnings = task.warnings([&fitted.fits[..]].into_iter());
    warnings.add(of_step(arguments.step, fit.report.converged()));
    warnings.add_report(&fitted.report);
    if let Some(path) = to.out() {
        save(&fitted.model, path)?;
    }
    let margins = OfMargins::new(&fitted, &settings)?;
    let (loss, kernel) = (fitted.report.loss.clone(), fitted.report.kernel.clone());
    let outputs = [to.out(), arguments.history.as_deref(), duals, page.path];
    let lines = || -> Result<Lines, Failure> {
        let mut found = describe_fit(fit, exact, fitted.training_error()?);
        found.extend(margins.lines());
        found.extend(intercepts_line(best_intercepts));
        found.extend(forms.iter().map(|form| constrained_line(form.as_ref())));
        let functions = task.describe(loss.clone(), kernel.clone(), Some(fitted.dimension()));
        Ok([rows.describe(&common.data.name()), functions, found].concat())
    };
    let title = title(&common.data.name(), classifier_of(fitted.report.kernel.as_deref()));
    page.write(&title, lines, warnings, |report| {
        page.describe(report, &fitted.model, rows.in_memory())
    })?;
    match to.format() {
        OutputFormat::Json => {
            let document = FitDocument::new(fit, exact).with_margins(&margins);
            let document = document.with_intercepts(best_intercepts);
            let document = document.with_form(forms.first().cloned().flatten());
            let document = PathDocument {
                format: "margins-fit",
                version: VERSION,
                data: DataDocument::new(&common.data.name(), &table),
                training: task.document(loss, kernel),
                fits: vec![document],
                platt: platt(&fitted),
            };
            report(outputs, |out| write_json(out, &document))
        }
        OutputFormat::Table => {
            let lines = lines()?;
            report(outputs, |out| facts(out, &lines))
        }
    }
}

/// Returns the settings of the fit but for its scheme.
fn settings(
    registry: &Registry,
    arguments: &FitArguments,
    task: &Task<'_>,
) -> Result<ClassifierSettings, Failure> {
    let FitArguments { common, classifier, .. } = arguments;
    let own = task.objective.and_then(|objective| objective.lambda());
    let lambda = arguments.lambda.or(own).ok_or_else(|| {
        Failure::usage("the objective needs a lambda. Add --lambda 0.01, for example")
    })?;
    let mut settings = task.settings(registry, Regularisation::Single(lambda))?;
    settings.checkpoint.clone_from(&arguments.points.checkpoint);
    settings.probabilities = probabilities(classifier.probability, None);
    let steps = arguments.step.unwrap_or_default();
    settings.options.solver = common.solver.solver().solver(common.solver.seed(), steps);
    settings.options.history = arguments.history.is_some();
    settings.options.keep_duals = arguments.duals.path().is_some();
    Ok(settings)
}

/// Returns the intercept and the coefficients of a linear model of the two classes and the features of
/// the rows.
fn start_of(path: &Path, registry: &Registry, rows: &DataSummary) -> Result<Vec<f64>, Failure> {
    let (_, model) = read_model(path, registry)?;
    let refused = |reason: String| Failure::Usage(format!("--start {}: {reason}", path.display()));
    let ([member], None) = (model.members(), model.basis()) else {
        return Err(refused("the start must be a linear model of two classes".to_owned()));
    };
    model
        .accept(rows.features, rows.feature_names.as_deref())
        .map_err(|e| refused(e.to_string()))?;
    if model.classes() != rows.classes {
        let [ours, theirs] = [&rows.classes[..], model.classes()].map(|names| names.join(", "));
        return Err(refused(format!(
            "its classes are {theirs}, and the rows have {ours}. Use a model of the same classes"
        )));
    }
    Ok([&[member.intercept], &member.coef[..]].concat())
}

/// Returns an error if an output cannot be written, or two options name the same file.
fn check_named(arguments: &FitArguments) -> Result<(), Failure> {
    check_files(inputs("--data", arguments.common.data.file.files()).chain([
        output("--out", arguments.output.out()),
        output("--checkpoint", arguments.points.checkpoint.as_deref()),
        output("--history", arguments.history.as_deref()),
        output("--duals", arguments.duals.path()),
        output("--report", arguments.page.path()),
        arguments.test.path().map(|file| input("--test", file)),
        arguments.start.as_ref().map(|model| input("--start", model)),
    ]))
}

/// Returns the certificate of the only member for the kernel itself, if it was asked for.
pub(super) fn exact(fitted: &FittedClassifier) -> Option<&Certificate> {
    fitted.exact.as_ref().map(|exact| &exact[0])
}

/// Returns the document on the scaling of the only member, if there is one.
pub(super) fn platt(fitted: &FittedClassifier) -> Option<PlattDocument> {
    let member = fitted.model.members().first()?;
    member.platt.as_ref().map(PlattDocument::from)
}
