//! Options of `margins regress`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::data::{FileArguments, Source};
use super::encode::EncodeArguments;
use super::regularised::FormatArguments;
use super::report::test_file;
use super::values::{number, seconds, whole};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct RegressArguments {
    #[command(flatten)]
    pub(crate) file: FileArguments,
    #[command(flatten)]
    encode: EncodeArguments,
    #[command(flatten)]
    pub(crate) game: RegressionArguments,
    /// Data to predict, with or without labels [default: those of --data]
    ///
    /// Read with the same options as --data. The report has the errors of the rows with labels.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    test: Option<PathBuf>,
    /// CSV file of predictions to write, one per row; - writes to standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: FormatArguments,
}

/// The options of the game.
#[derive(Debug, Args)]
#[command(next_help_heading = "Game")]
pub(crate) struct RegressionArguments {
    #[arg(long, value_name = "EPSILON", value_parser = number, default_value_t = 0.1)]
    pub(crate) epsilon: f64,
    #[arg(long, value_name = "W", value_parser = number)]
    pub(crate) norm: Option<f64>,
    #[arg(long)]
    pub(crate) standardize: bool,
    #[arg(long)]
    pub(crate) no_intercept: bool,
    #[arg(long, value_parser = whole::<u64>, value_name = "N")]
    pub(crate) max_steps: Option<u64>,
    #[arg(long, value_parser = whole::<usize>, value_name = "K")]
    pub(crate) outputs: Option<usize>,
    #[arg(long, value_parser = number, default_value_t = 0.01)]
    pub(crate) delta: f64,
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) time_limit: Option<Duration>,
    #[arg(long, value_parser = whole::<u64>, default_value_t = 1)]
    pub(crate) seed: u64,
}

impl RegressArguments {
    pub(crate) fn source(&self) -> Source<'_> {
        Source { encode: Some(&self.encode), ..self.file.source() }
    }

    /// Returns the name of the file of the rows to predict, if it is another one.
    pub(crate) fn test(&self) -> Option<&Path> {
        self.test.as_deref()
    }

    /// Returns the file of the rows to predict.
    pub(crate) fn test_file(&self) -> Result<Option<FileArguments>, Failure> {
        test_file(self.test(), &self.file)
    }

    /// Returns the file of the predictions.
    pub(crate) fn out(&self) -> Option<&Path> {
        self.out.as_deref()
    }
}
