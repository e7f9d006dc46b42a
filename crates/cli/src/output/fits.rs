//! Fits of the regularised risk, and the choice among them.

use std::io::Write;
use std::path::Path;

use margins::estimators::regularised;
use margins::optim::{Certificate, ErrorCurve, Fit, Lambda, Status};
use margins::{KernelReport, TrainingReport, status_in_words};
use margins_report::LambdaError;
use serde::Serialize;

use super::Lines;
use super::data::DataDocument;
use super::files::emit;
use super::table::{Table, gap, number, percent};
use super::training::{PlattDocument, TrainingDocument};
use crate::failure::Failure;

/// A fit with its certificate.
#[derive(Serialize)]
pub(crate) struct FitDocument<'a> {
    lambda: f64,
    objective: f64,
    dual_objective: f64,
    relative_gap: f64,
    rounding: f64,
    relative_rounding: f64,
    gradient_norm: f64,
    iterations: usize,
    passes: usize,
    /// The rounds of messages to rows that are not in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    rounds: Option<usize>,
    converged: bool,
    status: &'static str,
    /// The certificate for the kernel that features approximate, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<ExactDocument>,
    intercept: f64,
    coef: &'a [f64],
}

/// The certificate of a fit on features for the kernel that these approximate.
#[derive(Serialize)]
struct ExactDocument {
    objective: f64,
    dual_objective: f64,
    relative_gap: f64,
    relative_rounding: f64,
}

impl<'a> FitDocument<'a> {
    pub(crate) fn new(fit: &'a Fit, exact: Option<&Certificate>) -> Self {
        let report = &fit.report;
        FitDocument {
            exact: exact.map(|exact| ExactDocument {
                objective: exact.objective,
                dual_objective: exact.dual_objective(),
                relative_gap: exact.relative_gap(),
                relative_rounding: exact.relative_rounding(),
            }),
            lambda: fit.lambda.get(),
            objective: report.objective,
            dual_objective: report.dual_objective,
            relative_gap: report.relative_gap,
            rounding: report.rounding,
            relative_rounding: report.relative_rounding(),
            gradient_norm: report.gradient_norm,
            iterations: report.iterations,
            passes: report.passes,
            rounds: (report.rounds > 0).then_some(report.rounds),
            converged: report.converged(),
            status: report.status.name(),
            intercept: fit.intercept,
            coef: &fit.coef,
        }
    }
}

/// The fits of a path, or the only one.
#[derive(Serialize)]
pub(crate) struct PathDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) data: DataDocument,
    pub(crate) training: TrainingDocument,
    pub(crate) fits: Vec<FitDocument<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) platt: Option<PlattDocument>,
}

/// A cross-validation with the fit that it selects.
#[derive(Serialize)]
pub(crate) struct CvDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) data: DataDocument,
    pub(crate) training: TrainingDocument,
    pub(crate) folds: usize,
    /// The seed of the fold assignment; null if the data say the folds.
    pub(crate) seed: Option<u64>,
    pub(crate) all_certified: bool,
    /// The kernels that there were to choose from; empty for linear classifiers.
    pub(crate) kernels: &'a [KernelDocument],
    /// The curve of the kernel chosen.
    pub(crate) lambdas: Vec<LambdaError>,
    pub(crate) best_lambda: f64,
    pub(crate) one_standard_error_lambda: f64,
    pub(crate) selection: String,
    pub(crate) fit: FitDocument<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) platt: Option<PlattDocument>,
}

/// The cross-validated error with a kernel.
#[derive(Serialize)]
pub(crate) struct KernelDocument {
    pub(crate) kernel: String,
    pub(crate) best_lambda: f64,
    pub(crate) least_error: f64,
    pub(crate) standard_error: f64,
    pub(crate) all_certified: bool,
    /// The cross-validated error along the lambdas.
    pub(crate) errors: Vec<f64>,
    /// Bounds on the distance of these errors from those of exact minimisers.
    pub(crate) unproven: Vec<Option<f64>>,
}

impl KernelDocument {
    pub(crate) fn new(kernel: String, curve: &ErrorCurve) -> Self {
        KernelDocument {
            kernel,
            best_lambda: curve.lambdas[curve.best].get(),
            least_error: curve.mean_error[curve.best],
            standard_error: curve.standard_error[curve.best],
            all_certified: curve.certified.iter().all(|&certified| certified),
            errors: curve.mean_error.clone(),
            unproven: curve.unproven.clone(),
        }
    }
}

/// Returns the end of a fit for a cell of a table, which is empty if the fit is certified.
pub(crate) fn state(end: Status) -> String {
    match end {
        Status::Converged => String::new(),
        other => format!("not certified: {}", other.name()),
    }
}

/// Returns the lines on a fit.
pub(crate) fn describe_fit(fit: &Fit, exact: Option<&Certificate>, training_error: f64) -> Lines {
    let report = &fit.report;
    let zeros = fit.coef.iter().filter(|&&w| w == 0.0).count();
    let state = match report.status {
        Status::Converged => String::new(),
        other => format!(", NOT CERTIFIED: {}", status_in_words(other)),
    };
    let mut lines = vec![
        ("lambda", number(fit.lambda.get())),
        ("objective", number(report.objective)),
        ("relative gap", format!("{}{state}", gap(report.relative_gap))),
    ];
    // Without a bound there is no allowance either.
    let has_bound = report.relative_gap.is_finite();
    lines.extend(has_bound.then(|| ("rounding", gap(report.relative_rounding()))));
    lines.extend((!has_bound).then(|| ("gradient norm", number(report.gradient_norm))));
    lines.extend(exact.map(|exact| ("gap for kernel", gap(exact.relative_gap()))));
    lines.push(("iterations", report.iterations.to_string()));
    // Rows in memory are asked without messages.
    lines.extend((report.rounds > 0).then(|| ("rounds", report.rounds.to_string())));
    lines.extend([
        ("training error", format!("{} %", percent(training_error))),
        ("intercept", number(fit.intercept)),
        ("coefficients", format!("{}, {zeros} of them zero", fit.coef.len())),
    ]);
    lines
}

/// Returns the table of the fits of two classes along a path.
pub(crate) fn path_table(path: &regularised::Path) -> Result<Table, Failure> {
    let mut header = vec![
        "lambda",
        "objective",
        "relative gap",
        "rounding",
        "iterations",
        "norm of w",
        "error %",
        "",
    ];
    let has_rounds = path.fits.iter().flatten().any(|fit| fit.report.rounds > 0);
    if has_rounds {
        header.insert(5, "rounds");
    }
    if path.exact.is_some() {
        header.insert(4, "gap for kernel");
    }
    let mut table = Table::new(&header);
    for (at, fit) in path.fits.iter().flatten().enumerate() {
        let mut row = vec![
            number(fit.lambda.get()),
            number(fit.report.objective),
            gap(fit.report.relative_gap),
            gap(fit.report.relative_rounding()),
            fit.report.iterations.to_string(),
            number(path.norms(at)?.into_iter().sum()),
            percent(path.training_error(at)?),
            state(fit.report.status),
        ];
        if has_rounds {
            row.insert(5, fit.report.rounds.to_string());
        }
        if let Some(exact) = &path.exact {
            row.insert(4, gap(exact[at][0].relative_gap()));
        }
        table.row(row);
    }
    Ok(table)
}

/// Returns the lines on a cross-validation whose fits aim at this relative gap; none if there was no
/// cross-validation.
pub(crate) fn describe_cv(report: &TrainingReport, folds: usize, tolerance: f64) -> Lines {
    let Some(curve) = &report.curve else { return Lines::new() };
    let at = |k: usize| {
        format!(
            "{}, error {} % +- {}",
            number(curve.lambdas[k].get()),
            percent(curve.mean_error[k]),
            percent(curve.standard_error[k])
        )
    };
    let mut lines = vec![("folds", folds.to_string())];
    if report.kernels.len() > 1 {
        let is_whole = |tried: &&KernelReport| tried.curve.certified.iter().all(|&yes| yes);
        let whole = report.kernels.iter().filter(is_whole).count();
        let all = report.kernels.len();
        lines.push(("kernels", format!("{all}, {whole} of them certified at every lambda")));
    }
    let certified = curve.certified.iter().filter(|&&certified| certified).count();
    let all = curve.lambdas.len();
    let goal = format!("every fold to a relative gap of {tolerance:e}");
    lines.push(("certified", format!("{certified} of {all} lambdas, {goal}")));
    lines.extend(exact_errors(report, curve));
    lines.push(("best lambda", at(curve.best)));
    lines.push(("one-SE lambda", at(curve.one_standard_error)));
    lines
}

/// Returns the line on errors that are proven to be those of exact minimisers; `None` if nobody looked
/// at that.
fn exact_errors(report: &TrainingReport, chosen: &ErrorCurve) -> Option<(&'static str, String)> {
    /// A share that is larger than the differences between errors that people look at.
    const LOOSE: f64 = 0.01;
    let mut curves: Vec<&ErrorCurve> = report.kernels.iter().map(|tried| &tried.curve).collect();
    if curves.is_empty() {
        curves.push(chosen);
    }
    let unproven: Vec<f64> =
        curves.iter().flat_map(|curve| curve.unproven.iter().flatten().copied()).collect();
    let exact = unproven.iter().filter(|&&share| share == 0.0).count();
    let best = chosen.unproven[chosen.best]?;
    let all = unproven.len();
    Some((
        "exact errors",
        if (exact, all) == (1, 1) {
            "proven to be that of the exact minimiser".to_owned()
        } else if exact == all {
            format!("all {all} are proven to be those of exact minimisers")
        } else {
            let hint = if best > LOOSE { "; a smaller --tol proves more" } else { "" };
            let best = match best {
                0.0 => "among them".to_owned(),
                share => format!("to be within {} %", percent(share)),
            };
            format!(
                "{exact} of {all} are proven to be those of exact minimisers, the least one {best}{hint}"
            )
        },
    ))
}

/// Returns the kernels that there were to choose from; none for fewer than two.
pub(crate) fn kernel_documents(report: &TrainingReport) -> Vec<KernelDocument> {
    let tried = report.kernels.iter();
    tried.map(|tried| KernelDocument::new(tried.kernel.clone(), &tried.curve)).collect()
}

/// Writes the kernels that there were to choose from, if there were several.
pub(crate) fn write_kernels(
    out: &mut dyn Write,
    kernels: &[KernelDocument],
    lambdas: &[Lambda],
) -> std::io::Result<()> {
    /// The most lambdas that the lines of a table have room for.
    const MOST: usize = 12;
    if kernels.len() < 2 {
        return Ok(());
    }
    kernel_table(kernels).write(out)?;
    writeln!(out)?;
    if (2..=MOST).contains(&lambdas.len()) {
        error_table(kernels, lambdas).write(out)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Returns the table of the cross-validated error by kernel and lambda.
fn error_table(kernels: &[KernelDocument], lambdas: &[Lambda]) -> Table {
    let lambdas = lambdas.iter().map(|lambda| number(lambda.get()));
    let header: Vec<String> = ["error %".to_owned()].into_iter().chain(lambdas).collect();
    let mut table = Table::new(&header);
    for kernel in kernels {
        let errors = kernel.errors.iter().map(|&error| percent(error));
        table.row([kernel.kernel.clone()].into_iter().chain(errors).collect());
    }
    table
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

/// Returns the table of the cross-validated error along the lambdas.
pub(crate) fn cv_table(curve: &ErrorCurve) -> Table {
    let is_looked_at = curve.unproven.iter().any(Option::is_some);
    let mut header = vec!["lambda", "error %", "se", "worst gap", ""];
    if is_looked_at {
        header.insert(4, "unproven %");
    }
    let mut table = Table::new(&header);
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
        let mut row = vec![
            number(curve.lambdas[k].get()),
            percent(curve.mean_error[k]),
            percent(curve.standard_error[k]),
            gap(curve.worst_relative_gap[k]),
            notes.join(", "),
        ];
        if is_looked_at {
            row.insert(4, curve.unproven[k].map_or(String::new(), percent));
        }
        table.row(row);
    }
    table
}

/// Writes a CSV file with a row for every iteration of a fit to that many rows of data.
pub(crate) fn write_history(path: &Path, fit: &Fit, rows: usize) -> Result<(), Failure> {
    emit(Some(path), |out| {
        writeln!(
            out,
            "iteration,gradients,passes,objective,relative_gap,training_error,margin_mean,\
             margin_variance,margin_skewness"
        )?;
        for entry in &fit.report.history {
            let gradients = entry.passes.div_ceil(2) * rows;
            let (i, passes, margins) = (entry.iteration, entry.passes, entry.margins);
            writeln!(
                out,
                "{i},{gradients},{passes},{},{},{},{},{},{}",
                entry.objective,
                entry.relative_gap,
                margins.error,
                margins.mean,
                margins.variance,
                margins.skewness
            )?;
        }
        Ok(())
    })
}
