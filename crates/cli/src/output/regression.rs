//! Regressions by focused online learning.

use margins::data::Counted;
use margins::data::encode::Encoding;
use margins::data::read::Targets;
use margins::estimators::focused::{FittedRegressor, RegressorSettings};
use margins::optim::online::LinearClassifier;
use serde::Serialize;

use super::table::number;
use super::{Lines, VERSION};
use crate::output::data::size;

/// The end of a regression.
#[derive(Serialize)]
pub(crate) struct RegressionDocument<'a> {
    format: &'static str,
    version: u32,
    data: RowsDocument<'a>,
    /// The smallest and the largest target.
    target_range: [f64; 2],
    /// The largest error at which the game ends, as a share of the range of the targets.
    epsilon: f64,
    /// The largest norm of the coefficients of a function, with its intercept.
    norm: f64,
    /// True if the norm is that of the least squares solution.
    least_squares: bool,
    standardize: bool,
    seed: u64,
    steps: u64,
    max_steps: u64,
    theorem: TheoremDocument,
    status: &'static str,
    max_error: f64,
    mean_error: f64,
    /// The errors, one per row.
    errors: &'a [f64],
    /// Null without names.
    feature_names: Option<&'a [String]>,
    /// Null unless the columns were encoded.
    encoding: Option<&'a Encoding>,
    /// The linear functions of the features, whose clipped mean is the prediction.
    functions: &'a [LinearClassifier],
    /// Null unless other rows are predicted.
    test: Option<TestDocument>,
}

/// The rows of a regression.
#[derive(Serialize)]
struct RowsDocument<'a> {
    name: &'a str,
    rows: usize,
    columns: usize,
    sparse: bool,
}

/// Theorem 1 for the game.
#[derive(Serialize)]
struct TheoremDocument {
    delta: f64,
    /// The steps and functions of the theorem; null where it needs more than a game can have.
    steps: Option<u64>,
    outputs: Option<usize>,
    /// The functions of the game.
    #[serde(skip)]
    played: usize,
    /// The probability of failure with the most steps and the functions of the game.
    failure: f64,
}

/// Other rows that were predicted.
#[derive(Serialize)]
pub(crate) struct TestDocument {
    pub(crate) name: String,
    pub(crate) rows: usize,
    /// Null where no row has a label that is a number.
    pub(crate) errors: Option<ErrorsDocument>,
}

/// The errors of predictions.
#[derive(Serialize)]
pub(crate) struct ErrorsDocument {
    /// The number of rows measured, whose label is a number.
    rows: usize,
    max_error: f64,
    mean_error: f64,
}

impl ErrorsDocument {
    /// Returns the measures of errors, if there are any.
    pub(crate) fn new(errors: &[f64]) -> Option<Self> {
        let rows = errors.len();
        (rows > 0).then(|| ErrorsDocument {
            rows,
            max_error: errors.iter().copied().fold(0.0, f64::max),
            mean_error: errors.iter().sum::<f64>() / rows as f64,
        })
    }
}

impl<'a> RegressionDocument<'a> {
    pub(crate) fn new(
        (name, data): (&'a str, &'a Targets),
        settings: &RegressorSettings,
        fitted: &'a FittedRegressor,
        test: Option<TestDocument>,
    ) -> Self {
        let theory = fitted.theory;
        RegressionDocument {
            format: "margins-regression",
            version: VERSION,
            data: RowsDocument {
                name,
                rows: data.design.rows(),
                columns: data.design.columns(),
                sparse: data.design.is_sparse(),
            },
            target_range: fitted.regressor.range,
            epsilon: settings.epsilon,
            norm: fitted.norm,
            least_squares: fitted.least_squares,
            standardize: settings.standardize,
            seed: settings.seed,
            steps: fitted.ending.rounds,
            max_steps: fitted.horizon.rounds(),
            theorem: TheoremDocument {
                delta: settings.delta,
                steps: theory.map(|theory| theory.rounds()),
                outputs: theory.map(|theory| theory.outputs()),
                played: fitted.horizon.outputs(),
                failure: fitted.failure,
            },
            status: fitted.status.name(),
            max_error: fitted.max_error(),
            mean_error: fitted.errors.iter().sum::<f64>() / fitted.errors.len() as f64,
            errors: &fitted.errors,
            feature_names: data.feature_names.as_deref(),
            encoding: data.encoding.as_ref(),
            functions: &fitted.regressor.functions,
            test,
        }
    }

    pub(crate) fn lines(&self) -> Lines {
        let [low, high] = self.target_range;
        let epsilon = self.epsilon * (high - low);
        let largest = match self.max_error > epsilon {
            true => format!("{}, above epsilon {}", number(self.max_error), number(epsilon)),
            false => format!("{}, at most epsilon {}", number(self.max_error), number(epsilon)),
        };
        let origin = if self.least_squares { ", that of least squares" } else { "" };
        let mut lines = vec![
            size(self.data.name, self.data.rows, self.data.columns),
            ("targets", format!("{} to {}", number(low), number(high))),
            ("steps", format!("{} of at most {}", self.steps, self.max_steps)),
            ("status", self.status.to_owned()),
            ("functions", format!("mean of {}", self.functions.len())),
            ("largest norm", format!("{}{origin}", number(self.norm))),
            ("largest error", largest),
            ("mean error", number(self.mean_error)),
            ("theorem 1", self.theorem.line(self.max_steps)),
        ];
        lines.extend(self.test.as_ref().map(|test| ("test", test.line())));
        lines
    }
}

impl TheoremDocument {
    /// Returns the line on the theorem, and on the game if its limits are others.
    fn line(&self, most: u64) -> String {
        let here = format!(
            "if a function of this norm has no error, failure probability at most {} with {most} steps and \
             {} functions",
            number(self.failure),
            self.played
        );
        match (self.steps, self.outputs) {
            (Some(steps), Some(outputs)) if (steps, outputs) == (most, self.played) => here,
            (Some(steps), Some(outputs)) => {
                let delta = self.delta;
                format!("{here}; {delta} with {steps} steps and {outputs} functions")
            }
            _ => here,
        }
    }
}

impl TestDocument {
    fn line(&self) -> String {
        let size = Counted(self.rows, "row");
        let name = &self.name;
        let Some(ErrorsDocument { rows, max_error, mean_error }) = &self.errors else {
            return format!("{name}: {size}, no label is a number");
        };
        let (largest, mean) = (number(*max_error), number(*mean_error));
        let of = if *rows == self.rows { String::new() } else { format!("{rows} of ") };
        format!("{name}: {of}{size}, largest error {largest}, mean error {mean}")
    }
}
