//! The commands that fit: `fit`, `path` and `cv`.

use std::io::Write;
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use margins::Model;
use margins::data::{Dataset, split};
use margins::losses::{LossRegistry, MarginLoss};
use margins::optim::{
    self, ClassWeights, CrossValidation, Fit, Options, Report, Training, cross_validate,
};

use crate::args::{
    ClassWeight, CvArguments, FitArguments, OutputFormat, PathArguments, Selection, TrainArguments,
};
use crate::document::{
    CvDocument, DataDocument, FitDocument, PathDocument, TrainDocument, VERSION,
};
use crate::table::{Table, facts, gap, number, percent};
use crate::{Failure, emit, keep_input};

const DEFAULT_FOLDS: usize = 5;
const DEFAULT_SEED: u64 = 1;

impl TrainArguments {
    fn training<'a>(
        &self,
        loss: &'a dyn MarginLoss,
        observer: &'a (dyn Fn(&Report) + Sync),
    ) -> Training<'a, dyn MarginLoss + 'a> {
        Training {
            intercept: !self.no_intercept,
            standardize: self.standardize,
            class_weights: match self.class_weight {
                ClassWeight::None => ClassWeights::AsGiven,
                ClassWeight::Balanced => ClassWeights::Balanced,
            },
            options: Options {
                solver: self.solver.into(),
                tolerance: self.tol,
                max_iterations: self.max_iterations,
                ..Options::default()
            },
            observer,
            ..Training::new(loss)
        }
    }

    fn loss(&self, registry: &LossRegistry) -> Result<Box<dyn MarginLoss>, Failure> {
        registry.parse(&self.loss).map_err(Failure::usage)
    }

    /// Runs a job of some tasks on a pool of the number of threads asked for, but no more than tasks.
    fn on_threads<T: Send>(
        &self,
        tasks: usize,
        job: impl FnOnce() -> T + Send,
    ) -> Result<T, Failure> {
        let threads = self.threads.map_or(0, |threads| tasks.min(threads.into()));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        Ok(pool.map_err(Failure::job)?.install(job))
    }
}

/// A bar on standard error, if that is a terminal.
fn progress(fits: usize) -> ProgressBar {
    let bar = ProgressBar::new(fits as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} fits, {eta} left") {
        bar.set_style(style);
    }
    bar
}

pub(crate) fn fit(registry: &LossRegistry, arguments: &FitArguments) -> Result<(), Failure> {
    let loss = arguments.train.loss(registry)?;
    keep_input(arguments.out.as_deref(), Path::new(&arguments.data.data))?;
    let data = arguments.data.dataset()?;
    let training = arguments.train.training(&*loss, &|_| {});
    let fits = arguments
        .train
        .on_threads(1, || training.path(&data, &[arguments.lambda]))?
        .map_err(refusal)?;
    warn_if_uncertified(fits.iter().map(|fit| fit.report.converged()));
    if let Some(path) = &arguments.out {
        let model = Model::new(&*loss, &data, arguments.train.standardize, &fits[0]);
        model.save(path).map_err(Failure::job)?;
    }
    match arguments.train.format {
        OutputFormat::Json => {
            write_path("margins-fit", &arguments.data.data, &arguments.train, &*loss, &data, &fits)
        }
        OutputFormat::Table => emit(None, |out| {
            let head = describe(&arguments.data.data, &*loss, &data);
            facts(out, &[&head[..], &describe_fit(&data, &fits[0])].concat())
        }),
    }
}

pub(crate) fn path(registry: &LossRegistry, arguments: &PathArguments) -> Result<(), Failure> {
    let loss = arguments.train.loss(registry)?;
    let data = arguments.data.dataset()?;
    let lambdas = &arguments.grid.lambdas.0;
    let bar = progress(lambdas.len());
    let observer = |_: &Report| bar.inc(1);
    let training = arguments.train.training(&*loss, &observer);
    let fits = arguments.train.on_threads(1, || training.path(&data, lambdas))?;
    bar.finish_and_clear();
    let fits = fits.map_err(refusal)?;
    warn_if_uncertified(fits.iter().map(|fit| fit.report.converged()));
    match arguments.train.format {
        OutputFormat::Json => {
            write_path("margins-path", &arguments.data.data, &arguments.train, &*loss, &data, &fits)
        }
        OutputFormat::Table => emit(None, |out| {
            facts(out, &describe(&arguments.data.data, &*loss, &data))?;
            writeln!(out)?;
            path_table(&data, &fits).write(out)
        }),
    }
}

pub(crate) fn cv(registry: &LossRegistry, arguments: &CvArguments) -> Result<(), Failure> {
    let loss = arguments.train.loss(registry)?;
    keep_input(arguments.out.as_deref(), Path::new(&arguments.data.data))?;
    let data = arguments.data.dataset()?;
    let (folds, seed) = match data.folds() {
        Some(folds) => (folds.to_vec(), None),
        None => {
            let count = arguments.folds.unwrap_or(DEFAULT_FOLDS);
            let seed = arguments.seed.unwrap_or(DEFAULT_SEED);
            let folds = split::stratified_folds(data.labels(), count, seed);
            (folds.map_err(Failure::usage)?, Some(seed))
        }
    };
    let count = folds.iter().max().map_or(0, |last| last + 1);
    let lambdas = &arguments.grid.lambdas.0;
    let bar = progress(lambdas.len() * (count + 1));
    let observer = |_: &Report| bar.inc(1);
    let training = arguments.train.training(&*loss, &observer);
    let cv = arguments
        .train
        .on_threads(count + 1, || cross_validate(&training, &data, &folds, lambdas))?;
    bar.finish_and_clear();
    let cv = cv.map_err(refusal)?;
    warn_if_uncertified(cv.curve.certified.iter().copied());
    let selected = match arguments.select {
        Selection::Best => cv.curve.best,
        Selection::OneSe => cv.curve.one_standard_error,
    };
    let fit = &cv.fits[selected];
    if let Some(path) = &arguments.out {
        let model = Model::new(&*loss, &data, arguments.train.standardize, fit);
        model.save(path).map_err(Failure::job)?;
    }
    let name = &arguments.data.data;
    match arguments.train.format {
        OutputFormat::Json => {
            let document = CvDocument::new(
                DataDocument::new(name, &data),
                TrainDocument::new(&arguments.train, loss.specification()),
                (count, seed),
                &cv,
                &arguments.select,
                fit,
            );
            emit(None, |out| write_json(out, &document))
        }
        OutputFormat::Table => emit(None, |out| {
            facts(out, &describe(name, &*loss, &data))?;
            writeln!(out)?;
            cv_table(&cv).write(out)?;
            writeln!(out)?;
            facts(out, &[describe_cv(&cv, count), describe_fit(&data, fit)].concat())
        }),
    }
}

/// A loss that the solver cannot take is a matter of usage, all else one of the job.
fn refusal(error: optim::Error) -> Failure {
    match error {
        optim::Error::Unsuitable { .. } | optim::Error::TooLargeForMm { .. } => {
            Failure::usage(error)
        }
        _ => Failure::job(error),
    }
}

fn warn_if_uncertified(converged: impl ExactSizeIterator<Item = bool>) {
    let all = converged.len();
    let missed = converged.filter(|&converged| !converged).count();
    if missed > 0 {
        eprintln!(
            "warning: at {missed} of {all} lambdas a fit missed the tolerance of its duality gap; \
             --standardize, another --solver or more --max-iterations may help"
        );
    }
}

fn write_json(out: &mut dyn Write, document: &impl serde::Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, document)?;
    writeln!(out)
}

fn write_path(
    format: &'static str,
    name: &str,
    arguments: &TrainArguments,
    loss: &dyn MarginLoss,
    data: &Dataset,
    fits: &[Fit],
) -> Result<(), Failure> {
    let document = PathDocument {
        format,
        version: VERSION,
        data: DataDocument::new(name, data),
        training: TrainDocument::new(arguments, loss.specification()),
        fits: fits.iter().map(FitDocument::from).collect(),
    };
    emit(None, |out| write_json(out, &document))
}

fn describe(name: &str, loss: &dyn MarginLoss, data: &Dataset) -> [(&'static str, String); 3] {
    let labels = data.labels();
    [
        ("data", format!("{name}: {} rows, {} columns", data.rows(), data.columns())),
        (
            "classes",
            format!(
                "'{}' positive ({}), '{}' negative ({})",
                labels.positive_class(),
                labels.count_positive(),
                labels.negative_class(),
                labels.len() - labels.count_positive()
            ),
        ),
        ("loss", loss.specification()),
    ]
}

/// Share of training samples on the wrong side.
fn training_error(data: &Dataset, fit: &Fit) -> f64 {
    let scores = fit.decision_function(data.design());
    let signs = data.labels().signs();
    let wrong = scores.iter().zip(signs).filter(|&(&score, &y)| (score > 0.0) != (y > 0.0)).count();
    wrong as f64 / signs.len() as f64
}

fn describe_fit(data: &Dataset, fit: &Fit) -> Vec<(&'static str, String)> {
    let report = &fit.report;
    let zeros = fit.coef.iter().filter(|&&w| w == 0.0).count();
    let state = if report.converged() { "" } else { ", NOT CERTIFIED" };
    vec![
        ("lambda", number(fit.lambda.get())),
        ("objective", number(report.objective)),
        ("relative gap", format!("{}{state}", gap(report.relative_gap))),
        ("iterations", report.iterations.to_string()),
        ("training error", format!("{} %", percent(training_error(data, fit)))),
        ("intercept", number(fit.intercept)),
        ("coefficients", format!("{}, {zeros} of them zero", fit.coef.len())),
    ]
}

fn describe_cv(cv: &CrossValidation, folds: usize) -> Vec<(&'static str, String)> {
    let at = |k: usize| {
        format!(
            "{}, error {} % +- {}",
            number(cv.curve.lambdas[k].get()),
            percent(cv.curve.mean_error[k]),
            percent(cv.curve.standard_error[k])
        )
    };
    let certified = cv.curve.certified.iter().filter(|&&certified| certified).count();
    vec![
        ("folds", folds.to_string()),
        ("certified", format!("{certified} of {} lambdas", cv.curve.lambdas.len())),
        ("best lambda", at(cv.curve.best)),
        ("one-SE lambda", at(cv.curve.one_standard_error)),
    ]
}

fn path_table(data: &Dataset, fits: &[Fit]) -> Table {
    let mut table = Table::new(&[
        "lambda",
        "objective",
        "relative gap",
        "iterations",
        "norm of w",
        "error %",
        "",
    ]);
    for fit in fits {
        let norm = fit.coef.iter().map(|w| w * w).sum::<f64>().sqrt();
        table.row(vec![
            number(fit.lambda.get()),
            number(fit.report.objective),
            gap(fit.report.relative_gap),
            fit.report.iterations.to_string(),
            number(norm),
            percent(training_error(data, fit)),
            if fit.report.converged() { String::new() } else { "not certified".to_owned() },
        ]);
    }
    table
}

fn cv_table(cv: &CrossValidation) -> Table {
    let mut table = Table::new(&["lambda", "error %", "se", "worst gap", ""]);
    for k in 0..cv.curve.lambdas.len() {
        let mut notes = Vec::new();
        if k == cv.curve.one_standard_error {
            notes.push("one-SE");
        }
        if k == cv.curve.best {
            notes.push("best");
        }
        if !cv.curve.certified[k] {
            notes.push("not certified");
        }
        table.row(vec![
            number(cv.curve.lambdas[k].get()),
            percent(cv.curve.mean_error[k]),
            percent(cv.curve.standard_error[k]),
            gap(cv.curve.worst_relative_gap[k]),
            notes.join(", "),
        ]);
    }
    table
}
