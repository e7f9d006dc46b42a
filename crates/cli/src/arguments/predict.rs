//! Options of `margins predict`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::data::{FileArguments, Source, WeightArguments};
use super::regularised::FormatArguments;

#[derive(Debug, Args)]
pub(crate) struct PredictArguments {
    /// Model file
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) file: FileArguments,
    #[command(flatten)]
    weights: WeightArguments,
    /// Write the predictions to this file; - for standard output, as without it
    ///
    /// Standard output then shows how good the predictions are, if the data have labels.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: FormatArguments,
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
