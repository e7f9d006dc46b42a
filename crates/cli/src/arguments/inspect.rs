//! Options of `margins inspect`.

use std::path::PathBuf;

use clap::Args;
use margins::optim::Lambda;

use super::data::{FileArguments, PositiveArguments, Source, WeightArguments};
use super::encode::EncodeArguments;
use super::global::ThreadsArguments;
use super::regularised::FormatArguments;
use super::values::parse_lambda;

#[derive(Debug, Args)]
#[command(mut_group("FileArguments", |options| options.conflicts_with("model")))]
#[command(mut_group("PositiveArguments", |options| options.conflicts_with("model")))]
#[command(mut_group("WeightArguments", |options| options.conflicts_with("model")))]
#[command(mut_group("EncodeArguments", |options| options.conflicts_with("model")))]
#[command(mut_group("ThreadsArguments", |options| options.conflicts_with("model")))]
pub(crate) struct InspectArguments {
    #[command(flatten)]
    pub(crate) threads: ThreadsArguments,
    /// Model file
    #[arg(long, value_name = "FILE", required_unless_present = "data", help_heading = "Model")]
    pub(crate) model: Option<PathBuf>,
    /// Lambda of the model to describe with its coefficients, if the file is one of margins path
    #[arg(
        long,
        value_name = "LAMBDA",
        value_parser = parse_lambda,
        requires = "model",
        conflicts_with = "data",
        help_heading = "Model"
    )]
    pub(crate) lambda: Option<Lambda>,
    #[command(flatten)]
    pub(crate) file: Option<FileArguments>,
    #[command(flatten)]
    positive: PositiveArguments,
    #[command(flatten)]
    weights: WeightArguments,
    #[command(flatten)]
    encode: EncodeArguments,
    /// Loss whose lowest risk is printed for simulated data: mixture:... [default: lhs]
    #[arg(long, conflicts_with = "model", help_heading = "Data")]
    pub(crate) loss: Option<String>,
    #[command(flatten)]
    pub(crate) output: FormatArguments,
}

impl InspectArguments {
    /// Returns the data to describe instead of a model.
    pub(crate) fn source(&self) -> Option<Source<'_>> {
        Some(Source {
            file: self.file.as_ref()?,
            positive: self.positive.positive.as_deref(),
            weights_column: self.weights.weights_column.as_deref(),
            encode: Some(&self.encode),
        })
    }
}
