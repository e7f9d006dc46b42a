//! Cross-validated errors along lambdas and among kernels.

use std::io::Write;

use margins::data::digits::{self, gap, percent, with_error};
use margins::data::metrics::Measure;
use margins::optim::{ErrorCurve, Lambda};
use margins::{CandidateReport, TrainingReport};
use margins_report::LambdaError;
use serde::Serialize;

use super::Lines;
use super::chart::{Chart, write_chart};
use super::data::DataDocument;
use super::fits::FitDocument;
use super::table::{Table, number};
use super::training::{PlattDocument, TrainingDocument};

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
    /// The measure by which lambda and the kernel are chosen.
    pub(crate) measure: &'static str,
    pub(crate) all_certified: bool,
    /// The losses that there were to choose from; empty for one.
    pub(crate) losses: Vec<CandidateDocument>,
    /// The kernels that there were to choose from; empty for linear classifiers.
    pub(crate) kernels: &'a [CandidateDocument],
    /// The curve of the loss and kernel chosen.
    pub(crate) lambdas: Vec<LambdaError>,
    pub(crate) best_lambda: f64,
    pub(crate) one_standard_error_lambda: f64,
    pub(crate) selection: String,
    pub(crate) fit: FitDocument<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) platt: Option<PlattDocument>,
}

/// A loss or kernel that there was to choose from, with its cross-validated error along the lambdas.
#[derive(Serialize)]
pub(crate) struct CandidateDocument {
    #[serde(flatten)]
    candidate: Candidate,
    pub(crate) best_lambda: f64,
    pub(crate) least_error: f64,
    pub(crate) standard_error: f64,
    #[serde(skip)]
    measure: Measure,
    /// The mean of the measure at the best lambda, and its standard error.
    pub(crate) best_measure: f64,
    pub(crate) measure_standard_error: f64,
    pub(crate) all_certified: bool,
    /// The cross-validated error along the lambdas.
    pub(crate) errors: Vec<f64>,
    /// The mean of the measure along the lambdas.
    pub(crate) measures: Vec<f64>,
    /// Bounds on the distance of the errors from those of exact minimisers.
    pub(crate) unproven: Vec<Option<f64>>,
}

/// The specification of a loss or of a kernel.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Candidate {
    Loss(String),
    Kernel(String),
}

impl CandidateDocument {
    pub(crate) fn new(candidate: Candidate, curve: &ErrorCurve) -> Self {
        CandidateDocument {
            candidate,
            best_lambda: curve.lambdas[curve.best].get(),
            least_error: curve.mean_error[curve.best],
            standard_error: curve.standard_error[curve.best],
            measure: curve.measure,
            best_measure: curve.mean_measure[curve.best],
            measure_standard_error: curve.measure_standard_error[curve.best],
            all_certified: curve.certified.iter().all(|&certified| certified),
            errors: curve.mean_error.clone(),
            measures: curve.mean_measure.clone(),
            unproven: curve.unproven.clone(),
        }
    }

    fn specification(&self) -> String {
        let (Candidate::Loss(specification) | Candidate::Kernel(specification)) = &self.candidate;
        digits::specification(specification)
    }
}

/// Returns the lines on a cross-validation whose fits aim at this relative gap, with the errors that
/// are proven to be exact; none if there was no cross-validation.
pub(crate) fn describe_cv(report: &TrainingReport, folds: usize, tolerance: f64) -> Lines {
    let exact = report.curve.as_ref().and_then(|curve| exact_errors(report, curve));
    summarise_cv(report, folds, tolerance).into_iter().chain(exact).collect()
}

/// Returns the lines on a cross-validation: its folds, the lambdas certified, and the best of them.
pub(crate) fn summarise_cv(report: &TrainingReport, folds: usize, tolerance: f64) -> Lines {
    let Some(curve) = &report.curve else { return Lines::new() };
    let at = |k: usize| {
        let measured = if curve.measure == Measure::Error {
            String::new()
        } else {
            let (scale, unit) = if curve.measure.is_share() { (100.0, " %") } else { (1.0, "") };
            let (mean, spread) = (curve.mean_measure[k], curve.measure_standard_error[k]);
            format!(", {} {}", curve.measure, with_error(scale * mean, scale * spread, unit))
        };
        let (mean, spread) = (curve.mean_error[k], curve.standard_error[k]);
        let error = with_error(100.0 * mean, 100.0 * spread, " %");
        format!("{}{measured}, error {error}", digits::number(curve.lambdas[k].get(), 3))
    };
    let mut lines = vec![("folds", folds.to_string())];
    let losses: Vec<&ErrorCurve> = report.losses.iter().map(|tried| &tried.curve).collect();
    let kernels: Vec<&ErrorCurve> = report.kernels.iter().map(|tried| &tried.curve).collect();
    for (what, tried) in [("losses", losses), ("kernels", kernels)] {
        let is_whole = |curve: &&&ErrorCurve| curve.certified.iter().all(|&yes| yes);
        let (whole, all) = (tried.iter().filter(is_whole).count(), tried.len());
        if all > 1 {
            lines.push((what, format!("{all}, {whole} of them certified at every lambda")));
        }
    }
    let certified = curve.certified.iter().filter(|&&certified| certified).count();
    let all = curve.lambdas.len();
    let goal = format!("every fold to a relative gap of {tolerance:e}");
    lines.push(("certified", format!("{certified} of {all} lambdas, {goal}")));
    lines.push(("best lambda", at(curve.best) + " (standard error)"));
    lines.push(("one-SE lambda", at(curve.one_standard_error)));
    lines
}

/// Returns the heading of a column for a measure.
fn heading(measure: Measure) -> &'static str {
    match measure {
        Measure::Error => "error %",
        Measure::BalancedError => "balanced error %",
        other => other.name(),
    }
}

/// How a measure and its standard error are written in the cells of a table: a share in per cent, with
/// the decimals that one standard error allows.
#[derive(Clone, Copy)]
struct Cells {
    scale: f64,
    decimals: usize,
}

impl Cells {
    fn new(measure: Measure, standard_error: f64) -> Self {
        let scale = if measure.is_share() { 100.0 } else { 1.0 };
        Cells { scale, decimals: digits::decimals(scale * standard_error) }
    }

    fn cell(self, value: f64) -> String {
        format!("{:.*}", self.decimals, self.scale * value)
    }
}

/// Returns the line on errors that are proven to be those of exact minimisers; `None` if
/// this was not checked.
fn exact_errors(report: &TrainingReport, chosen: &ErrorCurve) -> Option<(&'static str, String)> {
    /// A share that is larger than the differences between errors that matter.
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
                "{exact} of {all} are proven to be those of exact minimisers, the lowest {best}{hint}"
            )
        },
    ))
}

/// Returns the losses that there were to choose from; none for fewer than two.
pub(crate) fn loss_documents(report: &TrainingReport) -> Vec<CandidateDocument> {
    documents(&report.losses, Candidate::Loss)
}

/// Returns the kernels that there were to choose from; none for fewer than two.
pub(crate) fn kernel_documents(report: &TrainingReport) -> Vec<CandidateDocument> {
    documents(&report.kernels, Candidate::Kernel)
}

fn documents(tried: &[CandidateReport], of: fn(String) -> Candidate) -> Vec<CandidateDocument> {
    let tried = tried.iter();
    tried
        .map(|tried| CandidateDocument::new(of(tried.specification.clone()), &tried.curve))
        .collect()
}

/// Writes the tables of the losses, the kernels and the lambdas, and a chart if the output is a
/// terminal.
pub(crate) fn write_tables(
    out: &mut dyn Write,
    losses: &[CandidateDocument],
    kernels: &[CandidateDocument],
    curve: &ErrorCurve,
) -> std::io::Result<()> {
    write_tried(out, "loss", losses, &curve.lambdas)?;
    write_tried(out, "kernel", kernels, &curve.lambdas)?;
    cv_table(curve).write(out)?;
    write_chart(out, &Chart::of_curve(curve))?;
    writeln!(out)
}

/// Writes the losses or kernels that there were to choose from, if there were several.
fn write_tried(
    out: &mut dyn Write,
    what: &str,
    tried: &[CandidateDocument],
    lambdas: &[Lambda],
) -> std::io::Result<()> {
    /// The most lambdas that the lines of a table have room for.
    const MOST: usize = 12;
    if tried.len() < 2 {
        return Ok(());
    }
    tried_table(what, tried).write(out)?;
    writeln!(out)?;
    if (2..=MOST).contains(&lambdas.len()) {
        measure_table(tried, lambdas).write(out)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Returns the table of the measure by loss or kernel and lambda.
fn measure_table(tried: &[CandidateDocument], lambdas: &[Lambda]) -> Table {
    let lambdas = lambdas.iter().map(|lambda| number(lambda.get()));
    let measure = heading(tried[0].measure).to_owned();
    let header: Vec<String> = [measure].into_iter().chain(lambdas).collect();
    let (mut table, cells) = (Table::new(&header), cells_of(tried));
    for tried in tried {
        let values = tried.measures.iter().map(|&value| cells.cell(value));
        table.row([tried.specification()].into_iter().chain(values).collect());
    }
    table
}

/// Returns the cells of a table of losses or kernels, by the smallest standard error.
fn cells_of(tried: &[CandidateDocument]) -> Cells {
    let errors = tried.iter().map(|tried| tried.measure_standard_error);
    let least = errors.filter(|&error| error > 0.0).fold(f64::INFINITY, f64::min);
    Cells::new(tried[0].measure, least)
}

fn tried_table(what: &str, tried: &[CandidateDocument]) -> Table {
    let measure = heading(tried[0].measure);
    let mut table = Table::new(&[what, "best lambda", measure, "se", ""]);
    let cells = cells_of(tried);
    for tried in tried {
        table.row(vec![
            tried.specification(),
            number(tried.best_lambda),
            cells.cell(tried.best_measure),
            cells.cell(tried.measure_standard_error),
            if tried.all_certified { String::new() } else { "not certified".to_owned() },
        ]);
    }
    table
}

/// Returns the table of the cross-validated error along the lambdas.
fn cv_table(curve: &ErrorCurve) -> Table {
    let is_looked_at = curve.unproven.iter().any(Option::is_some);
    let measure = curve.measure;
    let by_other = measure != Measure::Error;
    let mut header = vec!["lambda", "error %", "se", "worst gap", ""];
    if is_looked_at {
        header.insert(4, "unproven %");
    }
    if by_other {
        header.splice(1..1, [heading(measure), "se"]);
    }
    let mut table = Table::new(&header);
    let errors = Cells::new(Measure::Error, curve.standard_error[curve.best]);
    let measures = Cells::new(measure, curve.measure_standard_error[curve.best]);
    for k in 0..curve.lambdas.len() {
        let mut notes = Vec::new();
        if k == curve.one_standard_error {
            notes.push("one-SE");
        }
        if k == curve.best {
            notes.push("best");
        }
        if !curve.reached[k] {
            let mut row = vec![String::new(); header.len()];
            row[0] = number(curve.lambdas[k].get());
            row[header.len() - 1] = "not reached".to_owned();
            table.row(row);
            continue;
        }
        if !curve.certified[k] {
            notes.push("not certified");
        }
        if curve.abandoned[k] {
            notes.push("abandoned");
        }
        let mut row = vec![
            number(curve.lambdas[k].get()),
            errors.cell(curve.mean_error[k]),
            errors.cell(curve.standard_error[k]),
            gap(curve.worst_relative_gap[k]),
            notes.join(", "),
        ];
        if is_looked_at {
            row.insert(4, curve.unproven[k].map_or(String::new(), |share| errors.cell(share)));
        }
        if by_other {
            let values = [curve.mean_measure[k], curve.measure_standard_error[k]];
            row.splice(1..1, values.map(|value| measures.cell(value)));
        }
        table.row(row);
    }
    table
}
