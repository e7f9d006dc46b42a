//! Options of `margins report`, and the option of the other commands for a page.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::data::{FileArguments, Source, WeightArguments};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Model file
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) file: FileArguments,
    /// Data that the model was fitted to, for comparison
    ///
    /// They are read as --data is. The report then shows margins, curves and decisions of both.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    training: Option<String>,
    #[command(flatten)]
    weights: WeightArguments,
    /// Write the report to this file; - for standard output, as without it
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Format of the report; json for a file whose name ends in .json, else html, unless told
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    format: Option<ReportFormat>,
}

impl ReportArguments {
    pub(crate) fn source<'a>(&'a self, file: &'a FileArguments) -> Source<'a> {
        let weights_column = self.weights.weights_column.as_deref();
        Source { file, positive: None, weights_column, encode: None }
    }

    /// Returns the file of the training data, which is read as that of the test data is.
    pub(crate) fn training(&self) -> Option<FileArguments> {
        self.training.as_ref().map(|file| self.file.of(file))
    }

    pub(crate) fn out(&self) -> Option<&Path> {
        self.out.as_deref()
    }

    pub(crate) fn format(&self) -> ReportFormat {
        self.format.unwrap_or_else(|| ReportFormat::of(self.out()))
    }
}

/// The formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// A page to look at
    Html,
    /// Its numbers
    Json,
}

impl ReportFormat {
    /// Returns the format that the name of a file asks for.
    pub(crate) fn of(path: Option<&Path>) -> Self {
        let ending = path.and_then(Path::extension);
        match ending.is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
            true => ReportFormat::Json,
            false => ReportFormat::Html,
        }
    }
}

/// The option for a page on what was fitted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PageArguments {
    /// Write a page to look at: HTML with pictures; - for standard output
    ///
    /// It needs no network. It has the data at a glance, the choice of lambda, certificates, margins,
    /// curves, probabilities and coefficients, each picture with its numbers. A file whose name ends in
    /// .json gets the numbers alone.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

impl PageArguments {
    pub(crate) fn path(&self) -> Option<&Path> {
        self.report.as_deref()
    }
}

/// The option for rows that were not fitted to, on the page.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct TestArguments {
    /// Data that --report shows beside those fitted to
    ///
    /// They are read as --data is. The page then has margins, curves and decisions of both.
    #[arg(long, value_name = "FILE", requires = "report", hide_short_help = true)]
    test: Option<String>,
}

impl TestArguments {
    /// Returns the file, if there is one.
    pub(crate) fn path(&self) -> Option<&str> {
        self.test.as_deref()
    }

    /// Returns the file, which is read as that of the other data is. It is read after the fit, and
    /// therefore looked for before.
    pub(crate) fn file(&self, data: &FileArguments) -> Result<Option<FileArguments>, Failure> {
        let Some(name) = &self.test else { return Ok(None) };
        let file = data.of(name);
        file.source().check_there()?;
        if data.files().contains(name) && file.source().is_standard_input() {
            return Err(Failure::usage("--data and --test cannot both be standard input"));
        }
        Ok(Some(file))
    }
}
