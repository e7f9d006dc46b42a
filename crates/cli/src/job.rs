//! What the commands that fit report.

use std::io::Write;
use std::path::Path;

use margins::calibration::probability::PlattScaling;
use margins::data::Dataset;
use margins::data::metrics::{is_mistake, mistake_rate};
use margins::losses::MarginLoss;
use margins::optim::{Fit, Status};
use margins::{Approximation, Prepared, status_in_words};

use crate::Failure;
use crate::args::TrainArguments;
use crate::choices::SolverChoice;
use crate::document::{
    DataDocument, FitDocument, PathDocument, TrainDocument, VERSION, status_name,
};
use crate::files::report;
use crate::probability::PlattDocument;
use crate::table::{Table, gap, number, percent};
use crate::train::refusal;

/// Warns of fits without a certificate: at each lambda, and of the one at the lambda chosen. What may help depends on
/// how the fits ended that are known so far.
pub(crate) fn warn_of_gaps(
    lambdas: impl Iterator<Item = bool>,
    chosen: Option<bool>,
    ends: &[Status],
) {
    let converged: Vec<bool> = lambdas.collect();
    let missed = converged.iter().filter(|&&converged| !converged).count();
    let at = format!("at {missed} of {} lambdas a fit", converged.len());
    let chosen = chosen == Some(false);
    let who = match (missed > 0, chosen) {
        (false, false) => return,
        (true, false) => at,
        (true, true) => format!("{at}, and so the final one,"),
        (false, true) => "the final fit".to_owned(),
    };
    warn_that_missed(&who, ends);
}

/// Warns of members of a classifier without a certificate.
pub(crate) fn warn_of_members(ends: &[Status]) {
    let missed = ends.iter().filter(|&&end| end != Status::Converged).count();
    if missed > 0 {
        warn_that_missed(&format!("the final fit of {missed} of {} members", ends.len()), ends);
    }
}

fn warn_that_missed(who: &str, ends: &[Status]) {
    const SLOW: &str = "--standardize, another --solver, more --max-iterations, a longer --time-limit or a smaller \
         tolerance of an approximation may help";
    const UNBOUNDED: &str = "--class-weight balanced, --no-intercept or a loss that is bounded below gives it a minimum";
    let unbounded = ends.contains(&Status::Unbounded);
    let only_unbounded =
        ends.iter().all(|end| [Status::Converged, Status::Unbounded].contains(end));
    let mut parts = Vec::new();
    if unbounded {
        parts.extend([status_in_words(Status::Unbounded), UNBOUNDED]);
    }
    if !(unbounded && only_unbounded) {
        parts.push(SLOW);
    }
    eprintln!("warning: {who} missed the tolerance of its duality gap; {}", parts.join("; "));
}

/// How a fit ended, for a cell of a table: nothing of one that is certified.
pub(crate) fn state(end: Status) -> String {
    match end {
        Status::Converged => String::new(),
        other => format!("not certified: {}", status_name(other)),
    }
}

pub(crate) fn write_json(
    out: &mut dyn Write,
    document: &impl serde::Serialize,
) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, document)?;
    writeln!(out)
}

/// What was asked for, for the reports on it.
pub(crate) struct Job<'a> {
    pub(crate) name: &'a str,
    pub(crate) train: &'a TrainArguments,
    pub(crate) loss: &'a dyn MarginLoss,
    pub(crate) data: &'a Dataset,
    pub(crate) prepared: Prepared<'a>,
}

impl Job<'_> {
    pub(crate) fn training_document(&self) -> TrainDocument {
        let kernel = self.prepared.kernel_specification();
        TrainDocument::new(self.train, self.loss.specification(), kernel)
    }

    pub(crate) fn write_path(
        &self,
        format: &'static str,
        fits: &[Fit],
        platt: Option<&PlattScaling>,
        outputs: &[Option<&Path>],
    ) -> Result<(), Failure> {
        let document = PathDocument {
            format,
            version: VERSION,
            data: DataDocument::new(self.name, self.data),
            training: self.training_document(),
            fits: fits.iter().map(FitDocument::from).collect(),
            platt: platt.map(PlattDocument::from),
        };
        report(outputs.iter().copied(), |out| write_json(out, &document))
    }

    pub(crate) fn describe(&self) -> Vec<(&'static str, String)> {
        let (data, labels) = (self.data, self.data.labels());
        let mut lines = vec![
            ("data", format!("{}: {} rows, {} columns", self.name, data.rows(), data.columns())),
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
            ("loss", self.loss.specification()),
        ];
        if let SolverChoice::Robust(learner) = &self.train.solver {
            lines.push(("learner", learner.to_string()));
        }
        if let Some(kernel) = self.prepared.kernel_specification() {
            lines.push(("kernel", kernel));
        }
        if self.train.approx != Approximation::None {
            let dimension = self.prepared.dimension();
            lines.push(("approximation", format!("{}, rank {dimension}", self.train.approx)));
        }
        lines
    }

    /// Share of training samples on the wrong side, by their weights.
    fn training_error(&self, fit: &Fit) -> Result<f64, Failure> {
        let scores = self.prepared.scores(fit).map_err(refusal)?;
        let signs = self.data.labels().signs();
        let wrong: Vec<bool> = scores.iter().zip(signs).map(|(&f, &y)| is_mistake(f, y)).collect();
        Ok(mistake_rate(&wrong, self.data.weights()).map_err(Failure::job)?.rate)
    }

    pub(crate) fn describe_fit(&self, fit: &Fit) -> Result<Vec<(&'static str, String)>, Failure> {
        let report = &fit.report;
        let zeros = fit.coef.iter().filter(|&&w| w == 0.0).count();
        let state = match report.status {
            Status::Converged => String::new(),
            other => format!(", NOT CERTIFIED: {}", status_in_words(other)),
        };
        Ok(vec![
            ("lambda", number(fit.lambda.get())),
            ("objective", number(report.objective)),
            ("relative gap", format!("{}{state}", gap(report.relative_gap))),
            ("iterations", report.iterations.to_string()),
            ("training error", format!("{} %", percent(self.training_error(fit)?))),
            ("intercept", number(fit.intercept)),
            ("coefficients", format!("{}, {zeros} of them zero", fit.coef.len())),
        ])
    }

    pub(crate) fn path_table(&self, fits: &[Fit]) -> Result<Table, Failure> {
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
            table.row(vec![
                number(fit.lambda.get()),
                number(fit.report.objective),
                gap(fit.report.relative_gap),
                fit.report.iterations.to_string(),
                number(self.prepared.norm(fit).map_err(refusal)?),
                percent(self.training_error(fit)?),
                state(fit.report.status),
            ]);
        }
        Ok(table)
    }
}
