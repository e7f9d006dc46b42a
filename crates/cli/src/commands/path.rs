//! The command that fits along a path.

use margins::data::{ClassLabels, Labels};
use margins::estimators::regularised::{ClassifierSettings, Path, Regularisation};
use margins::optim::{Fit, Status};
use margins::{Registry, Scheme};
use margins_report::{DataSummary, PathPoint, Profile, Report};

use super::page::{Invocation, Page, classifier_of, title};
use super::regularised::{Task, progress};
use super::several_classes;
use crate::arguments::check;
use crate::arguments::path::PathArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::messages::{methods, step};
use crate::output::chart::{Chart, Point, write_chart};
use crate::output::classes::{ClassesDocument, ClassesFitDocument, ClassesPathDocument};
use crate::output::data::DataDocument;
use crate::output::duals::{Forms, write_duals_of_path};
use crate::output::files::{check_files, emit, inputs, output, report};
use crate::output::fits::{FitDocument, PathDocument, PathStep, one_of, path_table};
use crate::output::limit::{LimitDocument, describe_limit};
use crate::output::model::{coefficients, save_path};
use crate::output::table::facts;
use crate::output::warnings::{of_end, refuse_contradiction};
use crate::output::{VERSION, write_json};
use crate::rows::Rows;

/// The most members whose locations of margins are drawn along a path.
const MOST_DRAWN: usize = 7;

pub(super) fn path(
    registry: &Registry,
    arguments: &PathArguments,
    invocation: &Invocation,
) -> Result<(), Failure> {
    let common = &arguments.common;
    check_files(
        inputs("--data", common.data.file.files())
            .chain([output("--out", arguments.output.out())])
            .chain([output("--duals", arguments.duals.path())])
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
    settings.options.keep_duals = arguments.duals.path().is_some();
    settings.checkpoint.clone_from(checkpoint);
    let page = Page::new(&arguments.page, registry, invocation, common.solver.seed());
    if let Some(scheme) = arguments.multi_class {
        settings.scheme = Some(scheme.into());
        return fit(task, arguments, settings, task.rows_of_classes(false)?, page);
    }
    let rows = task.rows()?;
    match arguments.limit {
        Some(exponent) => {
            let format = arguments.output.format();
            limit(&rows, &settings, exponent, &common.data.name(), format)
        }
        None => fit(task, arguments, settings, rows, page),
    }
}

/// Fits along the path, and reports on it.
fn fit<Y: ClassLabels>(
    task: Task<'_>,
    arguments: &PathArguments,
    mut settings: ClassifierSettings,
    mut rows: Rows<Y>,
    page: Page<'_>,
) -> Result<(), Failure> {
    let common = &arguments.common;
    let (bar, observer) = progress();
    settings.progress = observer;
    let path = step("fitting", || rows.path(&settings));
    bar.finish_and_clear();
    let (path, table) = (path?, rows.summary());
    let ends: Vec<Status> = path.problems().flatten().map(|fit| fit.report.status).collect();
    refuse_contradiction(&settings.loss.specification(), &ends)?;
    methods(path.problems().flatten());
    let mut warnings = task.warnings(path.problems());
    warnings.add(arguments.multi_class.and_then(|_| table.doubt()));
    let last = path.fits.last().map_or(f64::NAN, |fits| fits[0].lambda.get());
    warnings.add(of_end(path.fits.len(), arguments.lambdas.lambdas.0.len(), last));
    warnings.add_note(path.separation(&settings)?);
    if let Some(file) = arguments.output.out() {
        save_path(&path.models(&settings)?, file)?;
    }
    let forms = match arguments.duals.path() {
        Some(file) => write_duals_of_path(file, &path, &settings, &table.classes)?,
        None => Vec::new(),
    };
    let (loss, kernel) = (settings.loss.specification(), path.kernel_specification());
    let outputs = [arguments.output.out(), arguments.duals.path(), arguments.page.path()];
    let lines = || {
        let functions = task.describe(loss.clone(), kernel.clone(), Some(path.dimension()));
        let name = common.data.name();
        let of_rows = match arguments.multi_class {
            Some(_) => several_classes::describe(&name, path.scheme(), &rows),
            None => rows.describe(&name),
        };
        [of_rows, functions].concat()
    };
    let of_classes = match arguments.multi_class {
        Some(_) => format!(" of {} classes", table.classes.len()),
        None => String::new(),
    };
    let kind = format!("path of {}s{of_classes}", classifier_of(kernel.as_deref()));
    page.write(
        &title(&common.data.name(), &kind),
        || Ok(lines()),
        warnings,
        |report| {
            report.duals = Profile::spread(&path.duals(&settings)?.unwrap_or_default());
            fill(report, &path, &settings, &rows)
        },
    )?;
    match arguments.output.format() {
        OutputFormat::Json if arguments.multi_class.is_some() => {
            let names = path.scheme().member_names(&table.classes);
            let document = ClassesPathDocument {
                format: "margins-multiclass-path",
                version: VERSION,
                data: ClassesDocument::new(common.data.name(), &table),
                training: task.document(loss.clone(), kernel.clone()),
                scheme: path.scheme().to_string(),
                fits: documents_of_classes(&path, &settings, &names, &forms)?,
            };
            report(outputs, |out| write_json(out, &document))
        }
        OutputFormat::Json => {
            let document = PathDocument {
                format: "margins-path",
                version: VERSION,
                data: DataDocument::new(&common.data.name(), &table),
                training: task.document(loss.clone(), kernel.clone()),
                fits: documents(&path, &settings, &forms)?,
                platt: None,
            };
            report(outputs, |out| write_json(out, &document))
        }
        OutputFormat::Table => {
            let table = path_table(&path, &PathStep::all(&path, &settings)?);
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
fn documents<'p>(
    path: &'p Path,
    settings: &ClassifierSettings,
    forms: &[Forms],
) -> Result<Vec<FitDocument<'p>>, Failure> {
    let exact = |at: usize| path.exact.as_ref().map(|exact| &exact[at][0]);
    let fits = path.fits.iter().flatten().enumerate();
    let document = |(at, fit): (usize, &'p Fit)| {
        let location = one_of(&path.margin_locations(settings, at)?);
        let form = forms.get(at).and_then(|forms| forms[0].clone());
        Ok(FitDocument::new(fit, exact(at)).with_location(location).with_form(form))
    };
    fits.map(document).collect()
}

/// Returns the documents on the classifiers of several classes along a path, by members of these names.
fn documents_of_classes<'p>(
    path: &'p Path,
    settings: &ClassifierSettings,
    names: &'p [String],
    forms: &[Forms],
) -> Result<Vec<ClassesFitDocument<'p>>, Failure> {
    let is_joint = path.scheme().is_joint();
    let document = |(at, fits): (usize, &'p Vec<Fit>)| {
        let exact = path.exact.as_ref().map(|exact| &exact[at][..]);
        let error = path.training_error(at)?;
        let mut found = ClassesFitDocument::of_fits(names, fits, exact, is_joint, error);
        if let Some(forms) = forms.get(at) {
            found.add_forms(forms);
        }
        found.add_locations(&path.margin_locations(settings, at)?);
        Ok(found)
    };
    path.fits.iter().enumerate().map(document).collect()
}

/// Returns the chart of the objective along a path.
fn chart(path: &Path) -> Chart {
    let points = path.problems().map(|fits| Point {
        lambda: fits[0].lambda.get(),
        value: fits.iter().map(|fit| fit.report.objective).sum(),
        spread: 0.0,
        mark: None,
    });
    Chart::new("objective", points)
}

/// Returns the coefficients of the features at a lambda; of several members the norm of those of each
/// feature, as `type.coef = "2norm"` of glmnet shows it.
fn along_features(fits: &[Fit]) -> Vec<f64> {
    let norm = |k: usize| fits.iter().map(|fit| fit.coef[k]).fold(0.0, f64::hypot);
    match fits {
        [only] => only.coef.clone(),
        _ => (0..fits[0].coef.len()).map(norm).collect(),
    }
}

/// Returns the locations of the margins of every member along a path, of several classes, with gamma.
fn locations_of_members(
    path: &Path,
    settings: &ClassifierSettings,
    classes: &[String],
) -> Result<Vec<Profile>, Failure> {
    if path.scheme() == Scheme::Binary {
        return Ok(Vec::new());
    }
    let found = (0..path.fits.len()).map(|at| path.margin_locations(settings, at));
    let found = found.collect::<Result<Vec<_>, _>>()?;
    let Some([first, ..]) = found.first().map(Vec::as_slice) else { return Ok(Vec::new()) };
    let names = path.scheme().member_names(classes).into_iter().take(MOST_DRAWN).enumerate();
    let of_member = |(k, name): (usize, String)| {
        let coef = found.iter().map(|of_members| of_members[k].estimate).collect();
        Profile { name, coef }
    };
    let gamma = Profile { name: "gamma".to_owned(), coef: vec![first.gamma; found.len()] };
    Ok(std::iter::once(gamma).chain(names.map(of_member)).collect())
}

/// Adds the data and the fits of a path to a report, with their coefficients where those are of features.
fn fill<Y: ClassLabels>(
    report: &mut Report,
    path: &Path,
    settings: &ClassifierSettings,
    rows: &Rows<Y>,
) -> Result<(), Failure> {
    report.data.extend(rows.in_memory().map(|data| DataSummary::of("training rows", data)));
    if path.kernel_specification().is_none() {
        let names = rows.summary().feature_names;
        let coef: Vec<Vec<f64>> = path.fits.iter().map(|fits| along_features(fits)).collect();
        let coef: Vec<&[f64]> = coef.iter().map(Vec::as_slice).collect();
        report.profiles = Profile::largest(names.as_deref(), &coef);
        let several = path.fits[0].len() > 1;
        let of_norms = "of a feature, the norm of its coefficients in all members".to_owned();
        report.add_facts(several.then_some(("coefficients along the path", of_norms)));
    }
    report.locations = locations_of_members(path, settings, &rows.summary().classes)?;
    let steps = PathStep::all(path, settings)?;
    let certified = steps.iter().filter(|step| step.status == Status::Converged).count();
    report.add_facts([("certified", format!("{certified} of {} lambdas", steps.len()))]);
    report.path.extend(steps.iter().map(|step| PathPoint {
        lambda: step.lambda,
        objective: step.objective,
        relative_gap: step.relative_gap,
        converged: step.status == Status::Converged,
        norm: step.norm,
        training_error: step.training_error,
        margin_location: step.margin_location,
    }));
    Ok(())
}
