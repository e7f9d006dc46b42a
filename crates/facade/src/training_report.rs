use std::fmt;

use margins_optim::{ErrorCurve, Report, Status};

use crate::model::{Model, Scheme, TrainingSummary};

/// How a classifier was fitted, and how good the fit is known to be.
///
/// Displayed it is a page of text: what was fitted, objective and duality gap of every member, the cross-validated
/// error along the lambdas.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingReport {
    /// Specification of the loss.
    pub loss: String,
    /// Specification of the kernel, if there is one.
    pub kernel: Option<String>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// How the members decide between them.
    pub scheme: Scheme,
    /// The binary classifiers.
    pub members: Vec<MemberReport>,
    /// The cross-validated error, if lambda was chosen by it; a classifier from a file has none.
    pub curve: Option<ErrorCurve>,
}

/// How one binary classifier was fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberReport {
    /// Which classes it tells apart, the positive one first.
    pub name: String,
    /// The regularisation.
    pub lambda: f64,
    /// The certificate that a file keeps.
    pub summary: TrainingSummary,
    /// All that the solver said; a classifier from a file has forgotten it.
    pub report: Option<Report>,
}

impl TrainingReport {
    pub(crate) fn new(
        model: &Model,
        kernel: Option<String>,
        reports: Vec<Report>,
        curve: Option<ErrorCurve>,
    ) -> Self {
        let classes = model.classes();
        let mut reports = reports.into_iter();
        let members = names(model.scheme(), classes).into_iter().zip(model.members());
        TrainingReport {
            loss: model.loss().to_owned(),
            kernel,
            classes: classes.to_vec(),
            scheme: model.scheme(),
            members: members
                .map(|(name, member)| MemberReport {
                    name,
                    lambda: member.lambda,
                    summary: member.training.clone(),
                    report: reports.next(),
                })
                .collect(),
            curve,
        }
    }

    /// Whether the duality gap of every member is at most the tolerance.
    pub fn is_certified(&self) -> bool {
        self.members.iter().all(|member| member.summary.converged)
    }
}

fn names(scheme: Scheme, classes: &[String]) -> Vec<String> {
    let pair = |i: usize, j: usize| format!("'{}' against '{}'", classes[j], classes[i]);
    match scheme {
        Scheme::Binary => vec![pair(0, 1)],
        Scheme::OneVersusRest => {
            classes.iter().map(|class| format!("'{class}' against the rest")).collect()
        }
        Scheme::OneVersusOne => Scheme::pairs(classes.len()).map(|(i, j)| pair(i, j)).collect(),
    }
}

impl fmt::Display for TrainingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "loss            {}", self.loss)?;
        if let Some(kernel) = &self.kernel {
            writeln!(f, "kernel          {kernel}")?;
        }
        let (count, names) = (self.classes.len(), self.classes.join("', '"));
        writeln!(f, "classes         {count}: '{names}', {}", self.scheme)?;
        if let Some(first) = self.members.first() {
            writeln!(f, "rows            {}", first.summary.rows)?;
            writeln!(f, "lambda          {}", first.lambda)?;
        }
        for member in &self.members {
            writeln!(f, "{}", member.name)?;
            write!(f, "{member}")?;
        }
        match &self.curve {
            Some(curve) => write_curve(f, curve),
            None => Ok(()),
        }
    }
}

impl fmt::Display for MemberReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number =
            |x: Option<f64>| x.map_or_else(|| "unknown".to_owned(), |x| format!("{x:.6e}"));
        writeln!(f, "  objective     {}", number(self.summary.objective))?;
        let gap = self.summary.relative_gap;
        let gap = gap.map_or_else(|| "unknown".to_owned(), |gap| format!("{gap:.1e}"));
        let state = match (&self.report, self.summary.converged) {
            (_, true) => "certified".to_owned(),
            (Some(report), false) => format!("NOT CERTIFIED: {}", reason(report.status)),
            (None, false) => "NOT CERTIFIED".to_owned(),
        };
        writeln!(f, "  relative gap  {gap}, {state}")
    }
}

fn reason(status: Status) -> &'static str {
    match status {
        Status::Converged => "the gap is small enough",
        Status::IterationLimit => "the iteration limit came first",
        Status::TimeLimit => "the time limit came first",
        Status::Stalled => "rounding allows no further progress",
        Status::Truncated => "the approximation of the kernel is too coarse",
        Status::NumericalTrouble => "numbers overflowed",
        _ => "a rule without certificate was met",
    }
}

fn write_curve(f: &mut fmt::Formatter<'_>, curve: &ErrorCurve) -> fmt::Result {
    writeln!(f, "cross-validated error")?;
    for (k, lambda) in curve.lambdas.iter().enumerate() {
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        let (error, se) = (percent(curve.mean_error[k]), percent(curve.standard_error[k]));
        write!(f, "  {:<12.4e}  {error:>8} +- {se}", lambda.get())?;
        for (holds, note) in [
            (k == curve.best, "best"),
            (k == curve.one_standard_error, "one standard error"),
            (!curve.certified[k], "not certified"),
            (curve.abandoned[k], "abandoned"),
        ] {
            if holds {
                write!(f, ", {note}")?;
            }
        }
        writeln!(f)?;
    }
    Ok(())
}
