//! Options of `margins predict`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use margins::optim::Lambda;

use super::data::{FileArguments, Source, WeightArguments};
use super::global::ThreadsArguments;
use super::regularised::FormatArguments;
use super::values::{number, parse_lambda};

#[derive(Debug, Args)]
pub(crate) struct PredictArguments {
    #[command(flatten)]
    pub(crate) threads: ThreadsArguments,
    /// Model file
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub(crate) model: PathBuf,
    /// Lambda of the model, if the file is one of margins path
    ///
    /// The path was fitted at this lambda: others have no certificate.
    #[arg(long, value_name = "LAMBDA", value_parser = parse_lambda, help_heading = "Model")]
    pub(crate) lambda: Option<Lambda>,
    #[command(flatten)]
    pub(crate) file: FileArguments,
    #[command(flatten)]
    weights: WeightArguments,
    #[command(flatten)]
    pub(crate) decision: DecisionArguments,
    /// File to write the predictions to [default: standard output]
    ///
    /// With a file, and if the data have labels, standard output shows the measures of the
    /// predictions. - is standard output.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: FormatArguments,
}

/// The options for the decision between two classes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Decision")]
pub(crate) struct DecisionArguments {
    /// Predict the positive class if the score is greater than T [default: 0]
    #[arg(long, value_name = "T", value_parser = number)]
    pub(crate) threshold: Option<f64>,
    /// Compare --threshold with the probability of the positive class instead of the score
    #[arg(long, requires = "threshold")]
    pub(crate) probability: bool,
    /// Costs of a false positive and of a false negative, such as 1:5
    ///
    /// Minimises the expected cost: predicts the positive class if its probability is greater than
    /// FP/(FP+FN).
    #[arg(long, value_name = "FP:FN", conflicts_with_all = ["threshold", "probability"])]
    pub(crate) cost: Option<Costs>,
}

/// The costs of the two kinds of mistakes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Costs {
    false_positive: f64,
    false_negative: f64,
}

impl Costs {
    /// Returns the probability at which both decisions cost the same.
    pub(crate) fn threshold(self) -> f64 {
        // The larger of both is divided by first, so that no sum overflows.
        let largest = self.false_positive.max(self.false_negative);
        let (positive, negative) = (self.false_positive / largest, self.false_negative / largest);
        positive / (positive + negative)
    }
}

impl FromStr for Costs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((positive, negative)) = text.split_once(':') else {
            return Err("expected two costs and a colon, as in 1:5".to_owned());
        };
        let (false_positive, false_negative) = (number(positive)?, number(negative)?);
        let valid = |cost: f64| cost.is_finite() && cost > 0.0;
        if !valid(false_positive) || !valid(false_negative) {
            return Err("both costs must be finite numbers greater than 0".to_owned());
        }
        Ok(Costs { false_positive, false_negative })
    }
}

impl PredictArguments {
    pub(crate) fn source(&self) -> Source<'_> {
        let weights_column = self.weights.weights_column.as_deref();
        Source { weights_column, ..self.file.source() }
    }

    pub(crate) fn out(&self) -> Option<&Path> {
        self.out.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_set_a_threshold() {
        let threshold = |text: &str| text.parse::<Costs>().map(Costs::threshold);
        assert_eq!(threshold("1:1"), Ok(0.5));
        assert_eq!(threshold("1 : 4"), Ok(0.2));
        assert_eq!(threshold("1e308:1e308"), Ok(0.5));
        for wrong in ["", "1", "0:1", "1:0", "-1:2", "1:nan", "inf:1", "a:b", "1:2:3"] {
            assert!(threshold(wrong).is_err(), "{wrong}");
        }
    }
}
