//! Options of `margins bound`.

use std::path::PathBuf;

use clap::Args;

use super::data::{FileArguments, PositiveArguments, Source};
use super::encode::EncodeArguments;
use super::regularised::FormatArguments;
use super::values::{number, tolerance, whole};

#[derive(Debug, Args)]
pub(crate) struct BoundArguments {
    #[command(flatten)]
    pub(crate) file: FileArguments,
    #[command(flatten)]
    positive: PositiveArguments,
    #[command(flatten)]
    encode: EncodeArguments,
    /// Linear model: print the bound of Garg and Roth on its error instead
    ///
    /// It needs no loss: margins of the model on the rows, normalised, bound its error with probability
    /// 1 - 4 delta, if the rows were not fitted.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["loss", "standardize", "radius", "scales", "raw"],
        help_heading = "Model"
    )]
    pub(crate) model: Option<PathBuf>,
    /// Seed of the half of the rows whose errors count, with --model
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        value_parser = whole::<u64>,
        requires = "model",
        help_heading = "Model"
    )]
    pub(crate) seed: u64,
    /// Loss: margin-pursuit with its level and scale
    #[arg(long, default_value = "margin-pursuit:gamma=1,scale=1", help_heading = "Loss")]
    pub(crate) loss: String,
    /// Scale each feature to mean 0 and standard deviation 1
    #[arg(long, help_heading = "Loss")]
    pub(crate) standardize: bool,
    /// Radius of the ball of parameters [default: twice the norm of the minimiser]
    #[arg(long, value_name = "R", value_parser = number, help_heading = "Bound")]
    pub(crate) radius: Option<f64>,
    /// The bound holds with probability 1 - 2 delta, with --model 1 - 4 delta
    #[arg(
        long,
        value_name = "DELTA",
        default_value = "0.025",
        value_parser = tolerance,
        help_heading = "Bound"
    )]
    pub(crate) delta: f64,
    /// Scales to compare, comma-separated [default: 1, 4, 16, 64 and 256 times the scale of --loss]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = number,
        help_heading = "Bound"
    )]
    pub(crate) scales: Option<Vec<f64>>,
    #[command(flatten)]
    pub(crate) output: FormatArguments,
}

impl BoundArguments {
    pub(crate) fn source(&self) -> Source<'_> {
        let positive = self.positive.positive.as_deref();
        Source { positive, encode: Some(&self.encode), ..self.file.source() }
    }
}
