//! Halfspaces learned under Massart noise.

use margins::data::Counted;
use margins::data::digits::percent;
use serde::Serialize;

use super::Lines;
use super::data::size;
use super::table::{number, two_classes};

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
    pub(crate) intercept: f64,
    pub(crate) coef: &'a [f64],
}

impl MassartDocument<'_> {
    pub(crate) fn lines(&self) -> Lines {
        let rows = match self.divisor {
            Some(divisor) => format!("divided by the largest norm, {}", number(divisor)),
            None => "divided by the norm of each".to_owned(),
        };
        let mut lines = vec![
            size(&self.file, self.rows, self.columns),
            ("classes", two_classes(self.positive_class, self.negative_class)),
            ("learner", self.solver.clone()),
            ("rows", if self.standardize { format!("standardised, {rows}") } else { rows }),
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
            ("intercept", number(self.intercept)),
            ("coefficients", self.coef.len().to_string()),
        ]);
        lines
    }
}
