//! Options of `margins psi`.

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::regularised::FormatArguments;
use super::values::number;

#[derive(Debug, Args)]
pub(crate) struct PsiArguments {
    /// Loss: name or name:parameter=value,..., such as l-r:r=2
    #[arg(long, required_unless_present = "cubic", help_heading = "Loss")]
    loss: Option<String>,
    /// Excess misclassification risks in [0, 1], comma-separated
    ///
    /// For the inverse, excess surrogate risks of at least 0. Excesses are over the lowest risk of all
    /// measurable functions, not over the lowest risk of linear functions or another class. For risk and
    /// minimizer, probabilities of the positive class in [0, 1].
    #[arg(
        long,
        value_name = "LIST",
        required_unless_present = "cubic",
        value_delimiter = ',',
        value_parser = number,
        help_heading = "Loss"
    )]
    pub(crate) at: Vec<f64>,
    /// Function to evaluate
    #[arg(long, value_name = "WHAT", default_value = "psi", help_heading = "Loss")]
    quantity: Quantity,
    /// Evaluate the inverse, as --quantity inverse does
    #[arg(long, conflicts_with = "quantity", help_heading = "Loss")]
    inverse: bool,
    /// Print the real roots of a u^3 + b u^2 + c u + d instead
    ///
    /// They are those of getroot (Holland 2019, appendix 6.3): the score with the lowest conditional risk of
    /// margin pursuit is a root of a cubic.
    #[arg(
        long,
        value_name = "A,B,C,D",
        value_parser = coefficients,
        allow_hyphen_values = true,
        conflicts_with_all = ["loss", "at", "quantity", "inverse"],
        help_heading = "Cubic"
    )]
    pub(crate) cubic: Option<[f64; 4]>,
    #[command(flatten)]
    pub(crate) output: FormatArguments,
}

/// A function of a loss and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Quantity {
    /// Psi: the lowest excess surrogate risk at an excess misclassification risk
    Psi,
    /// Inverse of Psi: the largest excess misclassification risk at an excess surrogate risk
    Inverse,
    /// H: the lowest conditional risk at a class probability
    Risk,
    /// u*: the score with the lowest conditional risk at a class probability
    Minimizer,
}

/// Reads the coefficients of a cubic.
fn coefficients(text: &str) -> Result<[f64; 4], String> {
    let found = text.split(',').map(number).collect::<Result<Vec<f64>, String>>()?;
    let count = found.len();
    found.try_into().map_err(|_| format!("a cubic has 4 coefficients, not {count}"))
}

impl PsiArguments {
    /// Returns the loss; it is there unless the cubic is.
    pub(crate) fn loss(&self) -> &str {
        self.loss.as_deref().unwrap_or_default()
    }

    pub(crate) fn quantity(&self) -> Quantity {
        if self.inverse { Quantity::Inverse } else { self.quantity }
    }
}
