//! Halfspaces learned under Massart noise.

use serde::Serialize;

use super::Lines;
use super::data::size;
use super::table::{number, percent};

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
    pub(crate) epsilon: f64,
    pub(crate) delta: f64,
    pub(crate) seed: u64,
    /// The steps of the stochastic gradient, or calls of the oracle.
    pub(crate) steps: usize,
    /// The limit that ended the learner, if one did.
    pub(crate) stopped: Option<&'static str>,
    /// The number of dimensions that the features were projected to, if they were.
    pub(crate) dimensions: Option<usize>,
    /// The share of all rows on the wrong side; `None` for a stream, which is read once.
    pub(crate) training_error: Option<f64>,
    /// The candidates that the halfspace was chosen among, by the rows held out.
    pub(crate) candidates: Option<usize>,
    pub(crate) held_out_rows: Option<usize>,
    /// The share of those rows on the wrong side.
    pub(crate) held_out_error: Option<f64>,
    /// The number of the halfspace among the candidates, from 1.
    pub(crate) chosen_candidate: Option<usize>,
    /// Candidates by their number with that share for each of them.
    pub(crate) candidate_errors: Option<Vec<(usize, f64)>>,
    /// With probability 1 - delta the error is at most this; `None` where no rows were held out.
    pub(crate) error_bound: Option<f64>,
    pub(crate) coef: &'a [f64],
}

impl MassartDocument<'_> {
    pub(crate) fn lines(&self) -> Lines {
        let bound = self.error_bound.map_or("none: no rows held out".to_owned(), |bound| {
            format!("{} % with probability {}", percent(bound), 1.0 - self.delta)
        });
        let mut lines = vec![
            size(&self.file, self.rows, self.columns),
            (
                "classes",
                format!("'{}' positive, '{}' negative", self.positive_class, self.negative_class),
            ),
            ("learner", self.solver.clone()),
            ("noise", format!("eta {}, gamma {}", number(self.eta), number(self.gamma))),
            ("steps", self.steps.to_string()),
        ];
        lines.extend(self.dimensions.map(|m| ("projected to", format!("{m} dimensions"))));
        lines.extend(self.training_error.map(|e| ("training error", format!("{} %", percent(e)))));
        lines.extend([("error bound", bound), ("coefficients", self.coef.len().to_string())]);
        lines
    }
}
