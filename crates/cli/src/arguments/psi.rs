//! Options of `margins psi`.

use clap::Args;

use super::regularised::FormatArguments;
use super::values::number;

#[derive(Debug, Args)]
pub(crate) struct PsiArguments {
    /// Loss: name or name:parameter=value,..., such as l-r:r=2
    #[arg(long, help_heading = "Loss")]
    pub(crate) loss: String,
    /// Excess misclassification risks in [0, 1], comma-separated
    ///
    /// With --inverse, excess surrogate risks of at least 0. Excesses are over the lowest risk of all
    /// measurable functions, not over the lowest risk of linear functions or another class.
    #[arg(
        long,
        value_name = "LIST",
        required = true,
        value_delimiter = ',',
        value_parser = number,
        help_heading = "Loss"
    )]
    pub(crate) at: Vec<f64>,
    /// Evaluate the inverse: the largest possible excess of the misclassification risk
    #[arg(long, help_heading = "Loss")]
    pub(crate) inverse: bool,
    #[command(flatten)]
    pub(crate) output: FormatArguments,
}
