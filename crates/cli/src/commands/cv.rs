//! The command that cross-validates.

use margins::estimators::regularised::{Fitted, Regularisation, Settings};
use margins::optim::ErrorCurve;
use margins::{CrossValidation, Registry};

use super::fit::platt;
use super::regularised::{Task, probabilities, progress};
use super::several_classes;
use crate::arguments::cv::CvArguments;
use crate::arguments::values::{OutputFormat, name_of};
use crate::failure::Failure;
use crate::output::data::{DataDocument, describe};
use crate::output::files::{inputs, keep_apart, output, report};
use crate::output::fits::{
    CvDocument, CvLambdaDocument, FitDocument, KernelDocument, cv_table, describe_cv, describe_fit,
    kernel_documents, write_kernels,
};
use crate::output::model::save;
use crate::output::table::facts;
use crate::output::warnings::warn_of_gaps;
use crate::output::{VERSION, write_json};

pub(super) fn cv(registry: &Registry, arguments: &CvArguments) -> Result<(), Failure> {
    let CvArguments { common, classifier, output: to, .. } = arguments;
    keep_apart(inputs("--data", common.data.file.files()).chain([output("--out", to.out())]))?;
    let task = Task { arguments: common, objective: None };
    let settings = settings(registry, arguments, task)?;
    if let Some(scheme) = classifier.multi_class {
        let settings = Settings { scheme: Some(scheme.into()), ..settings };
        let selection = name_of(&arguments.choice.select);
        return several_classes::fit(task, &settings, to, Some(selection));
    }
    let data = common.source().dataset()?;
    let (bar, observer) = progress();
    let fitted = Settings { progress: observer, ..settings }.fit(&data);
    bar.finish_and_clear();
    let fitted = fitted?;
    let (fit, curve) = (&fitted.fits[0], curve_of(&fitted)?);
    let certified = curve.certified.iter().copied();
    warn_of_gaps(certified, Some(fit.report.converged()), &[fit.report.status]);
    if let Some(path) = to.out() {
        save(&fitted.model, path)?;
    }
    let count = fitted.folds.as_ref().map_or(0, |folds| folds.count);
    let kernels = kernels(&fitted, curve);
    let (loss, kernel) = (fitted.report.loss.clone(), fitted.report.kernel.clone());
    match to.format() {
        OutputFormat::Json => {
            let document = CvDocument {
                format: "margins-cv",
                version: VERSION,
                data: DataDocument::new(&common.data.name(), &data),
                training: task.document(loss, kernel),
                folds: count,
                seed: fitted.folds.as_ref().and_then(|folds| folds.seed),
                all_certified: curve.certified.iter().all(|&certified| certified),
                kernels: &kernels,
                lambdas: CvLambdaDocument::all(curve),
                best_lambda: curve.lambdas[curve.best].get(),
                one_standard_error_lambda: curve.lambdas[curve.one_standard_error].get(),
                selection: name_of(&arguments.choice.select),
                fit: FitDocument::from(fit),
                platt: platt(&fitted),
            };
            report([to.out()], |out| write_json(out, &document))
        }
        OutputFormat::Table => {
            let functions = task.describe(loss, kernel, Some(fitted.dimension()));
            let found =
                [describe_cv(curve, count), describe_fit(fit, fitted.training_error()?)].concat();
            report([to.out()], |out| {
                facts(out, &[describe(&common.data.name(), &data), functions].concat())?;
                writeln!(out)?;
                write_kernels(out, &kernels, &curve.lambdas)?;
                cv_table(curve).write(out)?;
                writeln!(out)?;
                facts(out, &found)
            })
        }
    }
}

fn settings(
    registry: &Registry,
    arguments: &CvArguments,
    task: Task<'_>,
) -> Result<Settings, Failure> {
    let choice = &arguments.choice;
    let mut settings = task.settings(
        registry,
        Regularisation::CrossValidated(CrossValidation {
            lambdas: arguments.lambdas.lambdas.0.clone(),
            folds: choice.folds,
            selection: choice.select.into(),
            abandon_hopeless: choice.abandon_hopeless,
            leave_one_out: choice.leave_one_out.map(Into::into),
        }),
    )?;
    settings.probabilities = probabilities(arguments.classifier.probability, choice.folds);
    let candidates = &arguments.candidates;
    settings.kernels.specifications.extend(candidates.or_kernel.iter().cloned());
    settings.kernels.sigmas.clone_from(&candidates.sigmas);
    Ok(settings)
}

/// Returns the curve of a cross-validated classifier.
pub(super) fn curve_of(fitted: &Fitted) -> Result<&ErrorCurve, Failure> {
    fitted.report.curve.as_ref().ok_or_else(|| Failure::job("the fit was not cross-validated"))
}

/// Returns the kernels tried, of which there may be one.
fn kernels(fitted: &Fitted, curve: &ErrorCurve) -> Vec<KernelDocument> {
    match &fitted.report.kernel {
        Some(kernel) if fitted.report.kernels.is_empty() => {
            vec![KernelDocument::new(kernel.clone(), curve)]
        }
        _ => kernel_documents(&fitted.report),
    }
}
