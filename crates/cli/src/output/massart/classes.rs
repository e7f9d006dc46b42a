//! Halfspaces of several classes.

use margins::data::Counted;
use margins::data::digits::percent;
use serde::Serialize;

use super::scaling_in_words;
use crate::output::Lines;
use crate::output::classes::ClassesDocument;
use crate::output::data::{ClassDocument, size};
use crate::output::table::{MOST_LISTED, Table, name_cell, number};

/// A halfspace for each class against the rest, and what they decide together.
#[derive(Serialize)]
pub(crate) struct HalfspacesDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) data: ClassesDocument<'a>,
    /// The learner.
    pub(crate) solver: String,
    /// The plan of `sgd` and `cuts`.
    pub(crate) plan: Option<String>,
    pub(crate) scheme: String,
    /// True if the features were standardised.
    pub(crate) standardize: bool,
    /// The number that all rows were divided by; `None` if each was divided by its norm.
    pub(crate) divisor: Option<f64>,
    pub(crate) epsilon: f64,
    pub(crate) delta: f64,
    pub(crate) seed: u64,
    /// The name of the status.
    pub(crate) status: &'static str,
    /// The share of all rows that the halfspaces together get wrong.
    pub(crate) training_error: f64,
    /// The share of all rows that always predicting the largest class gets wrong.
    pub(crate) baseline_error: f64,
    pub(crate) held_out_rows: usize,
    pub(crate) held_out_error: f64,
    /// With probability 1 - delta the error is at most this.
    pub(crate) error_bound: f64,
    pub(crate) members: Vec<MemberDocument<'a>>,
}

/// The halfspace of a class, whose errors are those of the class against the rest.
#[derive(Serialize)]
pub(crate) struct MemberDocument<'a> {
    pub(crate) name: &'a str,
    pub(crate) eta: f64,
    pub(crate) gamma: f64,
    pub(crate) distance: Option<f64>,
    pub(crate) steps: usize,
    pub(crate) status: &'static str,
    pub(crate) dimensions: Option<usize>,
    pub(crate) training_error: Option<f64>,
    pub(crate) candidates: usize,
    pub(crate) held_out_error: f64,
    pub(crate) error_bound: f64,
    pub(crate) intercept: f64,
    pub(crate) coef: &'a [f64],
}

impl HalfspacesDocument<'_> {
    /// Returns the lines on data and learner.
    pub(crate) fn describe(&self) -> Lines {
        vec![
            size(&self.data.name, self.data.rows, self.data.columns),
            ("classes", ClassDocument::line(&self.data.classes)),
            ("scheme", self.scheme.clone()),
            ("learner", super::learner(&self.solver, self.plan.as_deref())),
            ("rows", scaling_in_words(self.standardize, self.divisor)),
        ]
    }

    /// Returns the table of the first classes.
    pub(crate) fn table(&self) -> Table {
        let header = ["class", "eta", "gamma", "steps", "held-out error", "error bound", ""];
        let mut table = Table::new(&header);
        for member in self.members.iter().take(MOST_LISTED) {
            table.row(vec![
                name_cell(member.name),
                number(member.eta),
                number(member.gamma),
                member.steps.to_string(),
                format!("{} %", percent(member.held_out_error)),
                format!("{} %", percent(member.error_bound)),
                member.status.to_owned(),
            ]);
        }
        table
    }

    /// Returns the lines on the decision of all halfspaces together.
    pub(crate) fn outcome(&self) -> Lines {
        let held_out = Counted(self.held_out_rows, "row");
        let (error, bound) = (percent(self.held_out_error), percent(self.error_bound));
        vec![
            ("status", self.status.to_owned()),
            ("training error", format!("{} %", percent(self.training_error))),
            ("held-out error", format!("{error} % of {held_out}")),
            ("error bound", format!("{bound} % with probability {}", number(1.0 - self.delta))),
        ]
    }
}
