//! Fits of the regularised risk.

use std::path::Path;

use margins::ScaleReport;
use margins::calibration::location::MarginLocation;
use margins::data::digits::{self, gap, percent};
use margins::estimators::regularised::{self, ClassifierSettings, FittedClassifier};
use margins::losses::Interval;
use margins::optim::{Certificate, Fit, Lambda, LeaveOneOutBounds, Report, Status};
use serde::Serialize;

use super::Lines;
use super::data::DataDocument;
use super::duals::ConstrainedDocument;
use super::files::emit;
use super::table::{Table, number};
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
    /// The bound on the share of rows that are wrong if they are left out, of a method that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed_moments_leave_one_out_bound: Option<f64>,
    /// The location of the training margins, for a loss that aims at a level.
    #[serde(skip_serializing_if = "Option::is_none")]
    margin_location: Option<MarginLocation>,
    /// The scale of margin pursuit, if it comes from the training data.
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<ScaleReport>,
    /// Bounds on the leave-one-out error, of a fit without an intercept.
    #[serde(skip_serializing_if = "Option::is_none")]
    leave_one_out: Option<[f64; 2]>,
    /// The ends of the interval of best intercepts, where it is more than a point.
    #[serde(skip_serializing_if = "Option::is_none")]
    best_intercepts: Option<[f64; 2]>,
    /// The constrained form, where the dual variables are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    constrained: Option<ConstrainedDocument>,
    intercept: f64,
    coef: &'a [f64],
}

/// The certificate of a fit on features for the kernel that these approximate.
#[derive(Serialize)]
pub(crate) struct ExactDocument {
    objective: f64,
    dual_objective: f64,
    relative_gap: f64,
    relative_rounding: f64,
}

impl From<&Certificate> for ExactDocument {
    fn from(exact: &Certificate) -> Self {
        ExactDocument {
            objective: exact.objective,
            dual_objective: exact.dual_objective(),
            relative_gap: exact.relative_gap(),
            relative_rounding: exact.relative_rounding(),
        }
    }
}

impl<'a> FitDocument<'a> {
    pub(crate) fn new(fit: &'a Fit, exact: Option<&Certificate>) -> Self {
        let report = &fit.report;
        FitDocument {
            exact: exact.map(ExactDocument::from),
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
            fixed_moments_leave_one_out_bound: report.fixed_moments_leave_one_out_bound,
            margin_location: None,
            scale: None,
            leave_one_out: None,
            best_intercepts: None,
            constrained: None,
            intercept: fit.intercept,
            coef: &fit.coef,
        }
    }
}

impl FitDocument<'_> {
    /// Adds what is known of the training margins.
    pub(crate) fn with_margins(self, found: &OfMargins) -> Self {
        let leave_one_out = found.leave_one_out.map(|bounds| [bounds.lower, bounds.upper]);
        let OfMargins { location: margin_location, scale, .. } = *found;
        FitDocument { margin_location, scale, leave_one_out, ..self }
    }

    /// Adds the location of the training margins.
    pub(crate) fn with_location(self, margin_location: Option<MarginLocation>) -> Self {
        FitDocument { margin_location, ..self }
    }

    /// Adds the best intercepts.
    pub(crate) fn with_intercepts(self, best: Option<Interval>) -> Self {
        FitDocument { best_intercepts: best.map(|best| [best.lower, best.upper]), ..self }
    }

    /// Adds the constrained form of the dual variables, if there are any.
    pub(crate) fn with_form(self, constrained: Option<ConstrainedDocument>) -> Self {
        FitDocument { constrained, ..self }
    }
}

/// What is known of the training margins of a fit.
#[derive(Clone, Copy)]
pub(crate) struct OfMargins {
    /// The scale of margin pursuit, if it comes from the training data.
    scale: Option<ScaleReport>,
    /// Their location, for a loss that aims at a level.
    location: Option<MarginLocation>,
    /// Bounds on the leave-one-out error, without an intercept.
    leave_one_out: Option<LeaveOneOutBounds>,
}

impl OfMargins {
    pub(crate) fn new(
        fitted: &FittedClassifier,
        settings: &ClassifierSettings,
    ) -> Result<Self, Failure> {
        Ok(OfMargins {
            scale: fitted.report.scale,
            location: fitted.margin_locations()?.first().copied(),
            leave_one_out: fitted.leave_one_out_bounds(settings)?,
        })
    }

    pub(crate) fn lines(&self) -> Lines {
        let bounds = self.leave_one_out.map(|LeaveOneOutBounds { lower, upper }| {
            let text = format!("{} % to {} %, without refits", percent(lower), percent(upper));
            ("leave-one-out error", text)
        });
        let scale = self.scale.map(scale_line);
        scale.into_iter().chain(self.location_line()).chain(bounds).collect()
    }

    /// Returns the line on the location of the margins, if there is one.
    pub(crate) fn location_line(&self) -> Option<(&'static str, String)> {
        location_line(self.location)
    }
}

/// Returns the line on the scale from the training data.
fn scale_line(found: ScaleReport) -> (&'static str, String) {
    let ScaleReport { scale, k, variance_bound, fits, .. } = found;
    let [scale, k, v] = [scale, k, variance_bound].map(number);
    (
        "scale",
        format!("{scale} from the data (k {k}, variance of the margins at most {v}, {fits} fits)"),
    )
}

/// Returns the line on the location of the training margins, if there is one.
pub(crate) fn location_line(location: Option<MarginLocation>) -> Option<(&'static str, String)> {
    let found = location?;
    let verb = if found.attained { "attains" } else { "does not attain" };
    let text = format!(
        "{}, which {verb} gamma {} (mean {}, variance {}, skewness {}{})",
        number(found.estimate),
        number(found.gamma),
        number(found.mean),
        number(found.variance),
        number(found.skewness),
        interval_of(&found)
    );
    Some(("margin location", text))
}

/// Returns the only one of the locations, for tables of two classes.
pub(crate) fn one_of(locations: &[MarginLocation]) -> Option<MarginLocation> {
    if let [one] = locations { Some(*one) } else { None }
}

/// Returns the words on the interval of the location of margins, if there is one.
fn interval_of(found: &MarginLocation) -> String {
    let (Some([lower, upper]), Some(v)) = (found.interval, found.variance_bound) else {
        return String::new();
    };
    let [lower, upper, v] = [lower, upper, v].map(number);
    format!(
        "; 95 % interval {lower} to {upper} for a variance up to {v} and new rows, which these are not"
    )
}

/// Returns the line on the best intercepts, if there are several.
pub(crate) fn intercepts_line(best: Option<Interval>) -> Option<(&'static str, String)> {
    let best = best?;
    Some(("best intercepts", format!("{} to {}", number(best.lower), number(best.upper))))
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

/// Returns the status of a fit for a cell of a table, which is empty if the fit is certified.
pub(crate) fn state(end: Status) -> String {
    match end {
        Status::Converged => String::new(),
        other => format!("not certified: {other}"),
    }
}

/// Returns the relative gap of a fit, with the reason if it is not certified.
pub(crate) fn summarise_certificate(fit: &Fit) -> String {
    let state = match fit.report.status {
        Status::Converged => String::new(),
        other => format!(", NOT CERTIFIED ({other}): {}", other.explanation()),
    };
    format!("{}{state}", gap(fit.report.relative_gap))
}

/// Returns lambda, training error and certificate of a fit in one line.
pub(crate) fn summarise_fit(fit: &Fit, training_error: f64) -> String {
    format!(
        "lambda {}, training error {} %, relative gap {}",
        digits::number(fit.lambda.get(), 3),
        percent(training_error),
        summarise_certificate(fit)
    )
}

/// Returns true of a fit without a penalty, which has no gap, that ended by its gradient.
pub(crate) fn is_stationary(fit: &Fit) -> bool {
    fit.lambda == Lambda::NONE && fit.report.status == Status::RuleMet
}

/// Returns the lines on a fit.
pub(crate) fn describe_fit(fit: &Fit, exact: Option<&Certificate>, training_error: f64) -> Lines {
    let zeros = fit.coef.iter().filter(|&&w| w == 0.0).count();
    let mut lines = vec![("lambda", number(fit.lambda.get()))];
    lines.extend(describe_certificate(fit, exact));
    lines.push(("training error", format!("{} %", percent(training_error))));
    lines.extend(fit.report.fixed_moments_leave_one_out_bound.map(|bound| {
        let most = percent(bound.min(1.0));
        ("left out", format!("at most {most} % wrong, with the moments of all rows"))
    }));
    lines.extend([
        ("intercept", number(fit.intercept)),
        ("coefficients", format!("{}, {zeros} of them zero", fit.coef.len())),
    ]);
    lines
}

/// Returns the lines on the certificate of a fit and the work for it.
pub(crate) fn describe_certificate(fit: &Fit, exact: Option<&Certificate>) -> Lines {
    let report = &fit.report;
    let gap_in_words = match is_stationary(fit) {
        true => "not available (no penalty)".to_owned(),
        false => summarise_certificate(fit),
    };
    let mut lines = vec![("objective", number(report.objective)), ("relative gap", gap_in_words)];
    // Without a bound there is no allowance either.
    let has_bound = report.relative_gap.is_finite();
    lines.extend(has_bound.then(|| ("rounding", gap(report.relative_rounding()))));
    lines.extend((!has_bound).then(|| ("gradient norm", number(report.gradient_norm))));
    lines.extend(exact.map(|exact| ("gap for kernel", gap(exact.relative_gap()))));
    lines.push(("iterations", report.iterations.to_string()));
    // Rows in memory are asked without messages.
    lines.extend((report.rounds > 0).then(|| ("rounds", report.rounds.to_string())));
    lines
}

/// The problems at one lambda of a path taken together.
pub(crate) struct PathStep {
    pub(crate) lambda: f64,
    /// The sum of the objectives.
    pub(crate) objective: f64,
    /// The largest relative gap.
    pub(crate) relative_gap: f64,
    /// The largest allowance for rounding, relative to its objective.
    rounding: f64,
    /// The most iterations.
    iterations: usize,
    /// The most rounds of messages.
    rounds: usize,
    /// The norm of all coefficients.
    pub(crate) norm: f64,
    pub(crate) training_error: f64,
    /// The location of the training margins, for a loss that aims at a level.
    pub(crate) margin_location: Option<MarginLocation>,
    /// The end of the first problem without a certificate, if there is one.
    pub(crate) status: Status,
}

impl PathStep {
    /// Returns the steps of a path, largest lambda first.
    pub(crate) fn all(
        path: &regularised::Path,
        settings: &ClassifierSettings,
    ) -> Result<Vec<Self>, Failure> {
        let norms = path.norms(settings)?;
        let steps = path.problems().zip(&norms).enumerate();
        let location = |at| Ok::<_, Failure>(one_of(&path.margin_locations(settings, at)?));
        steps.map(|(at, (fits, norms))| Self::new(path, at, fits, norms, location(at)?)).collect()
    }

    fn new(
        path: &regularised::Path,
        at: usize,
        fits: &[Fit],
        norms: &[f64],
        margin_location: Option<MarginLocation>,
    ) -> Result<Self, Failure> {
        let reports = || fits.iter().map(|fit| &fit.report);
        let most = |of: fn(&Report) -> usize| reports().map(of).max().unwrap_or(0);
        let largest = |of: fn(&Report) -> f64| reports().map(of).fold(0.0, f64::max);
        let mut ends = reports().map(|report| report.status);
        Ok(PathStep {
            lambda: fits[0].lambda.get(),
            objective: reports().map(|report| report.objective).sum(),
            relative_gap: largest(|report| report.relative_gap),
            rounding: largest(Report::relative_rounding),
            iterations: most(|report| report.iterations),
            rounds: most(|report| report.rounds),
            norm: norms.iter().copied().fold(0.0, f64::hypot),
            training_error: path.training_error(at)?,
            margin_location,
            status: ends.find(|&end| end != Status::Converged).unwrap_or(Status::Converged),
        })
    }
}

/// Returns the table of the fits along a path.
pub(crate) fn path_table(path: &regularised::Path, steps: &[PathStep]) -> Table {
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
    if steps.iter().any(|step| step.margin_location.is_some()) {
        header.splice(7..7, ["margin location", "gamma attained"]);
    }
    let has_rounds = steps.iter().any(|step| step.rounds > 0);
    if has_rounds {
        header.insert(5, "rounds");
    }
    if path.exact.is_some() {
        header.insert(4, "gap for kernel");
    }
    let mut table = Table::new(&header);
    for (at, step) in steps.iter().enumerate() {
        let mut row = vec![
            number(step.lambda),
            number(step.objective),
            gap(step.relative_gap),
            gap(step.rounding),
            step.iterations.to_string(),
            number(step.norm),
            percent(step.training_error),
            state(step.status),
        ];
        if let Some(location) = step.margin_location {
            let attained = if location.attained { "yes" } else { "no" };
            row.splice(7..7, [number(location.estimate), attained.to_owned()]);
        }
        if has_rounds {
            row.insert(5, step.rounds.to_string());
        }
        if let Some(exact) = &path.exact {
            row.insert(4, gap(exact[at].iter().map(Certificate::relative_gap).fold(0.0, f64::max)));
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
