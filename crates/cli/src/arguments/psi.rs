//! Options of `margins psi`.

use clap::Args;

use super::regularised::FormatArguments;
use super::values::number;

#[derive(Debug, Args)]
pub(crate) struct PsiArguments {
    /// Loss as name or name:parameter=value,..., such as l-r:r=2
    #[arg(long, help_heading = "Loss")]
    pub(crate) loss: String,
    /// Excess misclassification risks in [0, 1], separated by commas
    ///
    /// With --inverse they are excess surrogate risks of at least 0. Either is the excess over the
    /// least risk of all measurable functions, not over that of the linear functions or another class.
    #[arg(
        long,
        value_name = "LIST",
        required = true,
        value_delimiter = ',',
        value_parser = number,
        help_heading = "Loss"
    )]
    pub(crate) at: Vec<f64>,
    /// Evaluate the inverse: the most that the misclassification risk can exceed the Bayes error by
    #[arg(long, help_heading = "Loss")]
    pub(crate) inverse: bool,
    #[command(flatten)]
    pub(crate) output: FormatArguments,
}
