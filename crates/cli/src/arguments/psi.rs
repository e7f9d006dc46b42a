//! Options of `margins psi`.

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::regularised::FormatArguments;
use super::values::number;

#[derive(Debug, Args)]
pub(crate) struct PsiArguments {
    /// Loss: name or name:parameter=value,..., such as l-r:r=2
    #[arg(long, help_heading = "Loss")]
    pub(crate) loss: String,
    /// Excess misclassification risks in [0, 1], comma-separated
    ///
    /// For the inverse, excess surrogate risks of at least 0. Excesses are over the lowest risk of all
    /// measurable functions, not over the lowest risk of linear functions or another class. For risk and
    /// minimizer, probabilities of the positive class in [0, 1].
    #[arg(
        long,
        value_name = "LIST",
        required = true,
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

impl PsiArguments {
    pub(crate) fn quantity(&self) -> Quantity {
        if self.inverse { Quantity::Inverse } else { self.quantity }
    }
}
