//! The command `cv`.

use std::io::Write;

use margins::calibration::probability::PlattScaling;
use margins::data::Dataset;
use margins::losses::MarginLoss;
use margins::optim::{ErrorCurve, Fit, Lambda, Observed, Training};
use margins::{Prepared, Registry, TimeLimit, folds_of};

use crate::Failure;
use crate::args::CvArguments;
use crate::choices::{OutputFormat, SolverChoice};
use crate::document::{CvDocument, DataDocument, KernelDocument};
use crate::files::{input, keep_apart, output, report};
use crate::job::{Job, warn_of_gaps, write_json};
use crate::model::save;
use crate::multiclass;
use crate::probability::{PlattDocument, scaled};
use crate::table::{Table, facts, gap, number, percent};
use crate::train::{progress, refusal};

/// The folds of a cross-validation.
struct Folds {
    /// Of every row, from 0.
    of_rows: Vec<usize>,
    count: usize,
    /// Of those that were drawn.
    seed: Option<u64>,
}

impl Folds {
    fn of(arguments: &CvArguments, data: &Dataset) -> Result<Self, Failure> {
        let seed = arguments.train.seed;
        let (of_rows, drawn) = match arguments.leave_one_out {
            Some(_) => ((0..data.rows()).collect(), false),
            None => folds_of(data, arguments.folds, seed).map_err(Failure::usage)?,
        };
        let count = of_rows.iter().max().map_or(0, |last| last + 1);
        Ok(Folds { of_rows, count, seed: drawn.then_some(seed) })
    }
}

/// What a search for lambda has come to: with the kernel of the least error, if there are several.
struct Chosen<'d> {
    prepared: Prepared<'d>,
    curve: ErrorCurve,
    fit: Fit,
    /// What there was to choose from; empty for linear classifiers.
    kernels: Vec<KernelDocument>,
    /// The scaling of its scores, if it was asked for.
    platt: Option<PlattScaling>,
}

pub(crate) fn cv(registry: &Registry, arguments: &CvArguments) -> Result<(), Failure> {
    let train = &arguments.train;
    keep_apart([
        Some(input("--data", &arguments.data.data)),
        output("--out", arguments.out.as_deref()),
    ])?;
    if let Some(scheme) = train.multi_class {
        return multiclass::cv(registry, arguments, scheme);
    }
    let loss = train.loss(registry)?;
    if let SolverChoice::Robust(learner) = &train.solver {
        return Err(Failure::usage(format!("cv selects among fits of F, and not of {learner}")));
    }
    let data = arguments.data.dataset()?;
    let sample_weights = data.weights().map(<[f64]>::to_vec);
    let data = train.weigh(data)?;
    let folds = Folds::of(arguments, &data)?;
    let weights = sample_weights.as_deref();
    let Chosen { prepared, curve, fit, kernels, platt } =
        choose(registry, arguments, &*loss, (&data, weights), &folds)?;
    warn_of_gaps(
        curve.certified.iter().copied(),
        Some(fit.report.converged()),
        &[fit.report.status],
    );
    if let Some(path) = &arguments.out {
        let model = prepared.model(&*loss, train.standardize, &fit);
        save(model.map(|model| scaled(model, platt)), path)?;
    }
    let job = Job { name: &arguments.data.data, train, loss: &*loss, data: &data, prepared };
    let outputs = [arguments.out.as_deref()];
    match train.format {
        OutputFormat::Json => {
            let document = CvDocument::new(
                DataDocument::new(job.name, &data),
                job.training_document(),
                (folds.count, folds.seed),
                (&curve, &kernels),
                &arguments.select,
                &fit,
            );
            let document =
                CvDocument { platt: platt.as_ref().map(PlattDocument::from), ..document };
            report(outputs, |out| write_json(out, &document))
        }
        OutputFormat::Table => {
            let lines = [describe_cv(&curve, folds.count), job.describe_fit(&fit)?].concat();
            report(outputs, |out| {
                facts(out, &job.describe())?;
                writeln!(out)?;
                write_kernels(out, &kernels)?;
                cv_table(&curve).write(out)?;
                writeln!(out)?;
                facts(out, &lines)
            })
        }
    }
}

/// The search for lambda with every kernel, under a bar that shows how far it is.
fn choose<'d>(
    registry: &Registry,
    arguments: &CvArguments,
    loss: &dyn MarginLoss,
    (data, sample_weights): (&'d Dataset, Option<&[f64]>),
    folds: &Folds,
) -> Result<Chosen<'d>, Failure> {
    let train = &arguments.train;
    let paths = match (arguments.leave_one_out, &train.kernel) {
        (Some(_), _) => 1,
        (None, Some(_)) => folds.count,
        (None, None) => folds.count + 1,
    };
    let spaces = 1 + arguments.or_kernel.len();
    let bar = progress(arguments.grid.lambdas.0.len() * paths * spaces);
    let observer = |_: &Observed<'_>| bar.inc(1);
    let limit = train.limit();
    let solved = train.on_threads(|| {
        let mut kernels = Vec::new();
        let mut best: Option<(Prepared<'d>, ErrorCurve, Fit)> = None;
        for place in 0..spaces {
            let prepared = match place.checked_sub(1) {
                None => train.prepare(registry, data)?,
                Some(other) => train.prepare_kernel(&arguments.or_kernel[other], registry, data)?,
            };
            let limit = limit.map(|limit| limit.part(place, spaces));
            let training = Training {
                abandon_hopeless: arguments.abandon_hopeless,
                ..train.training(loss, &observer, limit)
            };
            let (curve, fit) = match search(arguments, &prepared, &training, folds, limit) {
                // Another kernel may have had the time.
                Err(margins::Error::TimeLimit(_)) if place + 1 < spaces || best.is_some() => {
                    continue;
                }
                found => found.map_err(refusal)?,
            };
            kernels.extend(KernelDocument::new(&prepared, &curve));
            let least = |curve: &ErrorCurve| {
                let best = margins::Selection::Best;
                curve.mean_error[limit.map_or(curve.best, |limit| limit.select(best, curve))]
            };
            if best.as_ref().is_none_or(|(_, other, _)| least(&curve) < least(other)) {
                best = Some((prepared, curve, fit));
            }
        }
        let (prepared, curve, fit) =
            best.ok_or_else(|| Failure::usage("no kernel to choose from"))?;
        let lambdas = arguments.grid.lambdas.0.iter().copied();
        let way: Vec<Lambda> = lambdas.filter(|lambda| *lambda >= fit.lambda).collect();
        let training = train.training(loss, &|_| {}, limit);
        let source = (data, arguments.folds);
        let platt = train.platt(&prepared, &training, source, &way, sample_weights)?;
        Ok(Chosen { prepared, curve, fit, kernels, platt })
    });
    bar.finish_and_clear();
    solved
}

/// The search for lambda with one kernel or none.
fn search(
    arguments: &CvArguments,
    prepared: &Prepared<'_>,
    training: &Training<'_, dyn MarginLoss + '_>,
    folds: &Folds,
    limit: Option<TimeLimit>,
) -> Result<(ErrorCurve, Fit), margins::Error> {
    let (lambdas, rule) = (&arguments.grid.lambdas.0, arguments.select.into());
    match arguments.leave_one_out {
        Some(how) => prepared
            .leave_one_out(training, lambdas, how.into(), rule, limit)
            .map(|(curve, _, fit)| (curve, fit)),
        None => {
            let of_rows = &folds.of_rows;
            let chosen = prepared.cross_validate_within(training, of_rows, lambdas, rule, limit);
            chosen.map(|(curve, _, fit)| (curve, fit))
        }
    }
}

pub(crate) fn describe_cv(curve: &ErrorCurve, folds: usize) -> Vec<(&'static str, String)> {
    let at = |k: usize| {
        format!(
            "{}, error {} % +- {}",
            number(curve.lambdas[k].get()),
            percent(curve.mean_error[k]),
            percent(curve.standard_error[k])
        )
    };
    let certified = curve.certified.iter().filter(|&&certified| certified).count();
    vec![
        ("folds", folds.to_string()),
        ("certified", format!("{certified} of {} lambdas", curve.lambdas.len())),
        ("best lambda", at(curve.best)),
        ("one-SE lambda", at(curve.one_standard_error)),
    ]
}

/// Writes the kernels that there were to choose from, if there were several.
pub(crate) fn write_kernels(
    out: &mut dyn Write,
    kernels: &[KernelDocument],
) -> std::io::Result<()> {
    if kernels.len() < 2 {
        return Ok(());
    }
    kernel_table(kernels).write(out)?;
    writeln!(out)
}

fn kernel_table(kernels: &[KernelDocument]) -> Table {
    let mut table = Table::new(&["kernel", "best lambda", "error %", "se", ""]);
    for kernel in kernels {
        table.row(vec![
            kernel.kernel.clone(),
            number(kernel.best_lambda),
            percent(kernel.least_error),
            percent(kernel.standard_error),
            if kernel.all_certified { String::new() } else { "not certified".to_owned() },
        ]);
    }
    table
}

pub(crate) fn cv_table(curve: &ErrorCurve) -> Table {
    let mut table = Table::new(&["lambda", "error %", "se", "worst gap", ""]);
    for k in 0..curve.lambdas.len() {
        let mut notes = Vec::new();
        if k == curve.one_standard_error {
            notes.push("one-SE");
        }
        if k == curve.best {
            notes.push("best");
        }
        if !curve.certified[k] {
            notes.push("not certified");
        }
        if curve.abandoned[k] {
            notes.push("abandoned");
        }
        table.row(vec![
            number(curve.lambdas[k].get()),
            percent(curve.mean_error[k]),
            percent(curve.standard_error[k]),
            gap(curve.worst_relative_gap[k]),
            notes.join(", "),
        ]);
    }
    table
}
