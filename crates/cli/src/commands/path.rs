//! The command that fits along a path.

use margins::Registry;
use margins::data::Labels;
use margins::estimators::regularised::{ClassifierSettings, Path, Regularisation};
use margins::optim::Status;
use margins_report::{DataSummary, PathPoint, Profile, Report};

use super::page::{Invocation, Page, classifier_of, title};
use super::regularised::{Task, progress};
use crate::arguments::check;
use crate::arguments::path::PathArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::messages::{methods, step};
use crate::output::chart::{Chart, Point, write_chart};
use crate::output::data::DataDocument;
use crate::output::files::{check_files, emit, inputs, output, report};
use crate::output::fits::{FitDocument, PathDocument, path_table};
use crate::output::limit::{LimitDocument, describe_limit};
use crate::output::model::{coefficients, save_path};
use crate::output::table::facts;
use crate::output::warnings::{of_end, refuse_contradiction};
use crate::output::{VERSION, write_json};
use crate::rows::Rows;

pub(super) fn path(
    registry: &Registry,
    arguments: &PathArguments,
    invocation: &Invocation,
) -> Result<(), Failure> {
    let common = &arguments.common;
    check_files(
        inputs("--data", common.data.file.files())
            .chain([output("--out", arguments.output.out())])
            .chain([output("--report", arguments.page.path())])
            .chain([output("--checkpoint", arguments.points.checkpoint.as_deref())]),
    )?;
    check::path(arguments)?;
    check::checkpoint(arguments.points.checkpoint.as_deref())?;
    let checkpoint = &arguments.points.checkpoint;
    let task = Task {
        arguments: common,
        objective: arguments.objective.objective,
        keeps_points: checkpoint.is_some(),
    };
    let regularisation = Regularisation::path(arguments.lambdas.lambdas.0.clone())?;
    let mut settings = task.settings(registry, regularisation)?;
    settings.options.solver = arguments.stop.of(settings.options.solver);
    settings.checkpoint.clone_from(checkpoint);
    let mut rows = task.rows()?;
    if let Some(exponent) = arguments.limit {
        let format = arguments.output.format();
        return limit(&rows, &settings, exponent, &common.data.name(), format);
    }
    let (bar, observer) = progress();
    settings.progress = observer;
    let path = step("fitting", || rows.path(&settings));
    bar.finish_and_clear();
    let (path, table) = (path?, rows.summary());
    let ends: Vec<Status> = path.fits.iter().flatten().map(|fit| fit.report.status).collect();
    refuse_contradiction(&settings.loss.specification(), &ends)?;
    methods(path.fits.iter().flatten());
    let mut warnings = task.warnings(path.fits.iter().flatten());
    let last = path.fits.last().map_or(f64::NAN, |fits| fits[0].lambda.get());
    warnings.add(of_end(path.fits.len(), arguments.lambdas.lambdas.0.len(), last));
    warnings.add_note(path.separation(&settings)?);
    if let Some(file) = arguments.output.out() {
        save_path(&path.models(&settings)?, file)?;
    }
    let (loss, kernel) = (settings.loss.specification(), path.kernel_specification());
    let outputs = [arguments.output.out(), arguments.page.path()];
    let norms = path.norms(&settings)?;
    let page = Page::new(&arguments.page, registry, invocation, common.solver.seed());
    let lines = || {
        let functions = task.describe(loss.clone(), kernel.clone(), Some(path.dimension()));
        [rows.describe(&common.data.name()), functions].concat()
    };
    let kind = format!("path of {}s", classifier_of(kernel.as_deref()));
    page.write(
        &title(&common.data.name(), &kind),
        || Ok(lines()),
        warnings,
        |report| {
            report.duals = Profile::spread(&path.duals(&settings)?.unwrap_or_default());
            fill(report, &path, &norms, &rows)
        },
    )?;
    match arguments.output.format() {
        OutputFormat::Json => {
            let document = PathDocument {
                format: "margins-path",
                version: VERSION,
                data: DataDocument::new(&common.data.name(), &table),
                training: task.document(loss.clone(), kernel.clone()),
                fits: documents(&path),
                platt: None,
            };
            report(outputs, |out| write_json(out, &document))
        }
        OutputFormat::Table => {
            let table = path_table(&path, &norms)?;
            report(outputs, |out| {
                facts(out, &lines())?;
                writeln!(out)?;
                table.write(out)?;
                write_chart(out, &chart(&path))
            })
        }
    }
}

/// Prints the limit of the path for lambda to 0.
fn limit(
    rows: &Rows<Labels>,
    settings: &ClassifierSettings,
    exponent: f64,
    name: &str,
    format: OutputFormat,
) -> Result<(), Failure> {
    let Some(data) = rows.in_memory() else {
        return Err(Failure::usage("--limit is for rows in memory. Use a larger --memory"));
    };
    let found = step("finding the limit", || settings.separable_limit(data, exponent))?;
    let loss = settings.loss.specification();
    emit(None, |out| match format {
        OutputFormat::Json => {
            write_json(out, &LimitDocument::new(name, &rows.summary(), loss, &found))
        }
        OutputFormat::Table => {
            facts(out, &[rows.describe(name), describe_limit(loss, &found)].concat())?;
            coefficients(data.feature_names(), &found.coef, out)
        }
    })
}

/// Returns the documents on the fits of a path, one per lambda.
fn documents(path: &Path) -> Vec<FitDocument<'_>> {
    let exact = |at: usize| path.exact.as_ref().map(|exact| &exact[at][0]);
    let fits = path.fits.iter().flatten().enumerate();
    fits.map(|(at, fit)| FitDocument::new(fit, exact(at))).collect()
}

/// Returns the chart of the objective along a path.
fn chart(path: &Path) -> Chart {
    let points = path.fits.iter().flatten().map(|fit| Point {
        lambda: fit.lambda.get(),
        value: fit.report.objective,
        spread: 0.0,
        mark: None,
    });
    Chart::new("objective", points)
}

/// Adds the data and the fits of a path to a report, with their coefficients where those are of features.
fn fill(
    report: &mut Report,
    path: &Path,
    norms: &[Vec<f64>],
    rows: &Rows<Labels>,
) -> Result<(), Failure> {
    report.data.extend(rows.in_memory().map(|data| DataSummary::of("training rows", data)));
    if path.kernel_specification().is_none() {
        let names = rows.summary().feature_names;
        let coef: Vec<&[f64]> = path.fits.iter().flatten().map(|fit| &fit.coef[..]).collect();
        report.profiles = Profile::largest(names.as_deref(), &coef);
    }
    let fits = path.fits.iter().flatten();
    let certified = fits.clone().filter(|fit| fit.report.converged()).count();
    report.add_facts([("certified", format!("{certified} of {} lambdas", fits.count()))]);
    for (at, fits) in path.fits.iter().enumerate() {
        let norm = norms[at].iter().sum();
        let training_error = path.training_error(at)?;
        report.path.extend(fits.iter().map(|fit| PathPoint {
            lambda: fit.lambda.get(),
            objective: fit.report.objective,
            relative_gap: fit.report.relative_gap,
            converged: fit.report.converged(),
            norm,
            training_error,
        }));
    }
    Ok(())
}
