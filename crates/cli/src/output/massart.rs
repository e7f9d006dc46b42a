//! Halfspaces learned under Massart noise.

mod classes;

use margins::data::Counted;
use margins::data::digits::percent;
use serde::Serialize;

use super::Lines;
use super::data::size;
use super::table::{number, two_classes};
pub(crate) use classes::{HalfspacesDocument, MemberDocument};

/// A halfspace with its guarantee.
#[derive(Serialize)]
pub(crate) struct MassartDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) file: String,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) negative_class: &'a str,
    pub(crate) positive_class: &'a str,
    /// The learner.
    pub(crate) solver: String,
    /// The plan of `sgd` and `cuts`.
    pub(crate) plan: Option<String>,
    pub(crate) eta: f64,
    pub(crate) gamma: f64,
    /// True if the features were standardised.
    pub(crate) standardize: bool,
    /// The number that all rows were divided by; `None` if each was divided by its norm.
    pub(crate) divisor: Option<f64>,
    /// Gamma as a distance from the boundary, in the units of the features.
    pub(crate) distance: Option<f64>,
    pub(crate) epsilon: f64,
    pub(crate) delta: f64,
    pub(crate) seed: u64,
    /// The steps of the stochastic gradient, or calls of the oracle.
    pub(crate) steps: usize,
    /// The name of the status.
    pub(crate) status: &'static str,
    /// The number of dimensions that the features were projected to, if they were.
    pub(crate) dimensions: Option<usize>,
    /// The share of all rows on the wrong side; `None` for a stream, which is read once.
    pub(crate) training_error: Option<f64>,
    /// The share of all rows that always predicting the larger class gets wrong.
    pub(crate) baseline_error: f64,
    /// The candidates that the halfspace was chosen among, by the rows held out.
    pub(crate) candidates: usize,
    pub(crate) held_out_rows: usize,
    /// The share of those rows on the wrong side.
    pub(crate) held_out_error: f64,
    /// The number of the halfspace among the candidates, from 1.
    pub(crate) chosen_candidate: usize,
    /// Candidates by their number with that share for each of them.
    pub(crate) candidate_errors: Vec<(usize, f64)>,
    /// With probability 1 - delta the error is at most this.
    pub(crate) error_bound: f64,
    /// The exact errors on simulated data.
    pub(crate) exact: Option<ExactErrors>,
    /// `None` of a decision list, as the coefficients.
    pub(crate) intercept: Option<f64>,
    pub(crate) coef: Option<&'a [f64]>,
    /// The rules of a decision list, in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rules: Option<Vec<RuleDocument<'a>>>,
}

/// A halfspace of a decision list, which decides on the rows with larger scores that no rule before it
/// has decided on.
#[derive(Serialize)]
pub(crate) struct RuleDocument<'a> {
    pub(crate) threshold: f64,
    pub(crate) intercept: f64,
    pub(crate) coef: &'a [f64],
}

/// Errors on a distribution that is known.
#[derive(Serialize)]
pub(crate) struct ExactErrors {
    /// The error of the halfspace.
    pub(crate) error: f64,
    /// The lowest error, of the halfspace w*.
    pub(crate) opt: f64,
}

/// Returns the name of a learner, with its plan if it is the proven one.
fn learner(solver: &str, plan: Option<&str>) -> String {
    match plan {
        Some("proven") => format!("{solver}, proven plan"),
        _ => solver.to_owned(),
    }
}

/// Returns how rows were scaled.
fn scaling_in_words(standardize: bool, divisor: Option<f64>) -> String {
    let divided = match divisor {
        Some(divisor) => format!("divided by the largest norm, {}", number(divisor)),
        None => "divided by the norm of each".to_owned(),
    };
    if standardize { format!("standardised, {divided}") } else { divided }
}

impl MassartDocument<'_> {
    pub(crate) fn lines(&self) -> Lines {
        let mut lines = vec![
            size(&self.file, self.rows, self.columns),
            ("classes", two_classes(self.positive_class, self.negative_class)),
            ("learner", learner(&self.solver, self.plan.as_deref())),
            ("rows", scaling_in_words(self.standardize, self.divisor)),
            ("noise", format!("eta {}", number(self.eta))),
            (
                "margin",
                match self.distance {
                    Some(distance) => format!(
                        "gamma {}, {} from the boundary in units of the features",
                        number(self.gamma),
                        number(distance)
                    ),
                    None => format!("gamma {}", number(self.gamma)),
                },
            ),
            ("steps", self.steps.to_string()),
            ("status", self.status.to_owned()),
        ];
        lines.extend(self.dimensions.map(|m| ("projected to", format!("{m} dimensions"))));
        lines.extend(self.training_error.map(|e| ("training error", format!("{} %", percent(e)))));
        let held_out = Counted(self.held_out_rows, "row");
        let (error, bound) = (percent(self.held_out_error), percent(self.error_bound));
        lines.extend([
            ("held-out error", format!("{error} % of {held_out}")),
            ("error bound", format!("{bound} % with probability {}", number(1.0 - self.delta))),
        ]);
        lines.extend(self.exact.as_ref().map(|exact| {
            let (error, opt) = (percent(exact.error), percent(exact.opt));
            ("exact error", format!("{error} %, of w* {opt} %"))
        }));
        lines.extend(self.intercept.map(|intercept| ("intercept", number(intercept))));
        lines.extend(self.coef.map(|coef| ("coefficients", coef.len().to_string())));
        lines.extend(self.rules.as_ref().map(|rules| {
            let thresholds: Vec<String> = rules.iter().map(|rule| number(rule.threshold)).collect();
            ("rules", format!("{} with thresholds {}", rules.len(), thresholds.join(", ")))
        }));
        lines
    }
}

/// The numbers of a plan of algorithm 1, and what rows prove.
#[derive(Serialize)]
pub(crate) struct PlanDocument {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) eta: f64,
    pub(crate) gamma: f64,
    pub(crate) epsilon: f64,
    pub(crate) delta: f64,
    /// The name of the plan.
    pub(crate) plan: String,
    pub(crate) step: f64,
    /// T.
    pub(crate) steps: usize,
    /// The random iterates and the last one.
    pub(crate) candidates: usize,
    /// N.
    pub(crate) held_out_rows: usize,
    /// T + N.
    pub(crate) rows_needed: usize,
    /// The predicted seconds of the steps, from steps on the data in memory.
    pub(crate) seconds: Option<f64>,
    /// The number of rows of the data, if there are data.
    pub(crate) rows: Option<usize>,
    /// The smallest epsilon that the proven plan has for these rows; `None` if every epsilon below 1
    /// needs more.
    pub(crate) proven_epsilon: Option<f64>,
}

impl PlanDocument {
    pub(crate) fn lines(&self) -> Lines {
        let (error, probability) = (self.eta + self.epsilon, 1.0 - self.delta);
        let mut lines = vec![
            ("noise", format!("eta {}", number(self.eta))),
            ("margin", format!("gamma {}", number(self.gamma))),
            ("target", format!("error {} with probability {}", number(error), number(probability))),
            ("plan", self.plan.clone()),
            ("step size", number(self.step)),
            ("steps", self.steps.to_string()),
            ("candidates", self.candidates.to_string()),
            ("held-out rows", self.held_out_rows.to_string()),
            ("rows needed", self.rows_needed.to_string()),
        ];
        lines
            .extend(self.seconds.map(|s| ("time", format!("about {} s for the steps", number(s)))));
        if let Some(rows) = self.rows {
            let bound = self.proven_epsilon.map(|epsilon| self.eta + epsilon);
            let proves = match bound {
                Some(bound) if bound < 0.5 => format!("an error of at most {}", number(bound)),
                _ => "no error below 1/2".to_owned(),
            };
            lines.push(("proven", format!("{proves} for {}", Counted(rows, "row"))));
        }
        lines
    }
}

/// The numbers of cutting planes with fresh rows in each call.
#[derive(Serialize)]
pub(crate) struct CutPlanDocument {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) eta: f64,
    pub(crate) gamma: f64,
    pub(crate) epsilon: f64,
    pub(crate) delta: f64,
    /// The number of features, the intercept among them.
    pub(crate) features: usize,
    /// The name of the localisation method.
    pub(crate) localization: String,
    /// The largest number of calls of the oracle.
    pub(crate) calls: usize,
    pub(crate) rows_per_call: usize,
    pub(crate) held_out_rows: usize,
    /// The rows of all calls and those held out.
    pub(crate) rows_needed: usize,
    /// The predicted seconds of all calls, from calls on the data in memory.
    pub(crate) seconds: Option<f64>,
    /// The number of rows of the data.
    pub(crate) rows: usize,
    /// The number of calls that these rows are enough for.
    pub(crate) calls_of_rows: usize,
}

impl CutPlanDocument {
    pub(crate) fn lines(&self) -> Lines {
        let (error, probability) = (self.eta + self.epsilon, 1.0 - self.delta);
        let of_rows = format!("{}, enough for {} calls", self.rows, self.calls_of_rows);
        let time = |seconds| ("time", format!("at most about {} s for the calls", number(seconds)));
        let lines = vec![
            ("noise", format!("eta {}", number(self.eta))),
            ("margin", format!("gamma {}", number(self.gamma))),
            ("target", format!("error {} with probability {}", number(error), number(probability))),
            ("features", self.features.to_string()),
            ("localization", self.localization.clone()),
            ("calls", self.calls.to_string()),
            ("rows per call", self.rows_per_call.to_string()),
            ("held-out rows", self.held_out_rows.to_string()),
            ("rows needed", self.rows_needed.to_string()),
        ];
        lines.into_iter().chain(self.seconds.map(time)).chain([("rows", of_rows)]).collect()
    }
}

/// A lower bound on the noise rate.
#[derive(Serialize)]
pub(crate) struct AuditDocument {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) file: String,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) gamma: f64,
    pub(crate) delta: f64,
    /// The number that all rows were divided by; `None` if each was divided by its norm.
    pub(crate) divisor: Option<f64>,
    /// With probability 1 - delta eta is at least this, if a halfspace has the margin gamma.
    pub(crate) eta_bound: f64,
    /// The share of the labels that is certainly flipped, if one has it.
    pub(crate) flipped: f64,
    pub(crate) status: &'static str,
    /// The rows most likely flipped, the first one most.
    pub(crate) suspects: Vec<Suspect>,
}

/// A row whose label contradicts the halfspace of the audit.
#[derive(Serialize)]
pub(crate) struct Suspect {
    /// The number of the row, from 1.
    pub(crate) row: usize,
    pub(crate) label: String,
    /// The term of the row in the share of flipped labels.
    pub(crate) term: f64,
}

impl AuditDocument {
    pub(crate) fn lines(&self) -> Lines {
        const MOST: usize = 10;
        let (eta, probability) = (number(self.eta_bound), number(1.0 - self.delta));
        let mut lines = vec![
            size(&self.file, self.rows, self.columns),
            ("margin", format!("gamma {}, assumed of some halfspace", number(self.gamma))),
            ("flipped labels", format!("at least {} %", percent(self.flipped))),
            ("noise rate", format!("at least {eta} with probability {probability}")),
            ("status", self.status.to_owned()),
        ];
        let named = |suspect: &Suspect| format!("{} ('{}')", suspect.row, suspect.label);
        let first: Vec<String> = self.suspects.iter().take(MOST).map(named).collect();
        let of = Counted(self.suspects.len(), "row");
        if !first.is_empty() {
            lines.push(("most likely flipped", format!("{}; of {of}", first.join(", "))));
        }
        lines
    }
}
