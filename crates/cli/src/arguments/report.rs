//! Options of `margins report`, and the option of the other commands for a page.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use margins::optim::Lambda;

use super::data::{FileArguments, Source, WeightArguments};
use super::global::ThreadsArguments;
use super::values::parse_lambda;
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
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
    /// Training data of the model, for comparison
    ///
    /// Read with the same options as --data. The report shows margins, curves and decisions of both.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    training: Option<PathBuf>,
    #[command(flatten)]
    weights: WeightArguments,
    /// File to write the report to; - is standard output [default: standard output]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Format of the report [default: by the file name]
    ///
    /// By default, json for names that end in .json; html for .html, .htm, no ending and standard
    /// output. Other endings need this option.
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    format: Option<ReportFormat>,
}

impl ReportArguments {
    pub(crate) fn source<'a>(&'a self, file: &'a FileArguments) -> Source<'a> {
        let weights_column = self.weights.weights_column.as_deref();
        Source { file, positive: None, weights_column, encode: None }
    }

    /// Returns the file of the training data, which is read with the options of `--data`.
    pub(crate) fn training(&self) -> Option<FileArguments> {
        self.training.as_ref().map(|file| self.file.of(file))
    }

    pub(crate) fn out(&self) -> Option<&Path> {
        self.out.as_deref()
    }

    /// Returns the format that was given, or the format of the file name.
    pub(crate) fn format(&self) -> Result<ReportFormat, Failure> {
        match (self.format, self.out()) {
            (Some(format), _) => Ok(format),
            (None, None) => Ok(ReportFormat::Html),
            (None, Some(path)) => ReportFormat::of(path).map_err(|reason| {
                let path = path.display();
                Failure::usage(format!("--out {path}: {reason}. Or add --format"))
            }),
        }
    }
}

/// The formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Web page
    Html,
    /// Numbers of the page as JSON
    Json,
}

impl ReportFormat {
    /// Returns the format by the ending of a file name, or the error for an unknown ending.
    fn of(path: &Path) -> Result<Self, String> {
        let Some(ending) = path.extension() else { return Ok(ReportFormat::Html) };
        let ending = ending.to_string_lossy();
        match ending.to_ascii_lowercase().as_str() {
            "html" | "htm" => Ok(ReportFormat::Html),
            "json" => Ok(ReportFormat::Json),
            _ => Err(format!(
                "the name ends in .{ending}, but must end in .html or .htm for a page, or in .json for \
                 its numbers"
            )),
        }
    }
}

/// A file to write a report to, in the format of its name.
#[derive(Debug, Clone)]
struct ReportFile {
    path: PathBuf,
    format: ReportFormat,
}

impl ReportFile {
    fn new(path: PathBuf) -> Result<Self, String> {
        let format = ReportFormat::of(&path)?;
        Ok(ReportFile { path, format })
    }
}

/// The option for a page on what was fitted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PageArguments {
    /// HTML report to write, with charts; - writes to standard output
    ///
    /// The page is a single file and needs no network. It shows the data, the selection of lambda,
    /// certificates, margins, curves, probabilities and coefficients. A name that ends in .json writes
    /// the numbers only; other endings than .json, .html and .htm are an error.
    #[arg(
        long,
        value_name = "FILE",
        value_parser = PathBufValueParser::new().try_map(ReportFile::new)
    )]
    report: Option<ReportFile>,
}

impl PageArguments {
    pub(crate) fn path(&self) -> Option<&Path> {
        self.report.as_ref().map(|file| file.path.as_path())
    }

    /// Returns the format of the page.
    pub(crate) fn format(&self) -> ReportFormat {
        self.report.as_ref().map_or(ReportFormat::Html, |file| file.format)
    }
}

/// The option for rows that were not fitted to, on the page.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct TestArguments {
    /// Test data to show in --report beside the training data
    ///
    /// Read with the same options as --data. The page shows margins, curves and decisions of both.
    #[arg(long, value_name = "FILE", requires = "report", hide_short_help = true)]
    test: Option<PathBuf>,
}

impl TestArguments {
    /// Returns the file, if there is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.test.as_deref()
    }

    /// Returns the file as the [data to test on](test_file).
    pub(crate) fn file(&self, data: &FileArguments) -> Result<Option<FileArguments>, Failure> {
        test_file(self.path(), data)
    }
}

/// Returns a file, which is read as that of the other data is. It is read after the fit, and therefore
/// looked for before.
pub(crate) fn test_file(
    test: Option<&Path>,
    data: &FileArguments,
) -> Result<Option<FileArguments>, Failure> {
    let Some(name) = test else { return Ok(None) };
    let file = data.of(name);
    file.source().check_there()?;
    if data.files().iter().any(|other| other == name) && file.source().is_standard_input() {
        return Err(Failure::usage("--data and --test cannot both be standard input"));
    }
    Ok(Some(file))
}
