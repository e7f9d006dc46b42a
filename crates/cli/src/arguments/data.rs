//! Options of the data.

use std::path::{Path, PathBuf};

use clap::Args;
use margins::data::read::{Format, formats_in_words};

use super::encode::EncodeArguments;
use super::values::{data_format, whole};

/// The place of the data, and how to read them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct FileArguments {
    /// Input: CSV, svmlight, Parquet or block files; - for stdin
    ///
    /// CSV files need a header, the same one in every file. CSV and svmlight may be compressed with
    /// gzip. Parquet needs a build with the feature parquet. mixture:example=1,n=200,seed=1 simulates
    /// data of the leaky hockey stick paper (example 1, 2, 3 or 3-corrected; p=10 or p=30 for
    /// example 3), mixture:k=3,p=10,sigma=0.3,n=200,seed=1 data of other sizes, and
    /// halfspace:d=20,gamma=0.1,eta=0.3,adversary=random,n=4000,seed=1 a halfspace under Massart
    /// noise (adversary random, far, near, greedy or trap), and
    /// gap:alpha=0.001,epsilon=0.01,n=1200,seed=1 and rare:n=2000,rare=10,seed=1 rare samples of the
    /// paper on the maximal loss.
    #[arg(
        long,
        value_name = "FILE",
        required = true,
        num_args = 1..,
        value_hint = clap::ValueHint::FilePath
    )]
    data: Vec<PathBuf>,
    /// Name of the label column [default: label]
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
    /// Column of cross-validation folds
    ///
    /// In cv, rows with the same value are in the same fold. Other commands ignore the column.
    #[arg(long, value_name = "NAME")]
    pub(crate) fold_column: Option<String>,
    /// Number of features of svmlight data [default: the largest index]
    #[arg(long, value_parser = whole::<usize>, value_name = "P", hide_short_help = true)]
    pub(crate) columns: Option<usize>,
    // Its help names the formats that the build reads.
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = data_format(),
        hide_possible_values = true,
        help = format!("Format: {} [default: by the file name]", formats_in_words())
    )]
    pub(crate) data_format: Option<Format>,
    /// Drop rows of CSV and Parquet files without a label
    ///
    /// A missing label is empty, NaN, NA, N/A, ? or one of --missing-words. By default, the first
    /// such row is an error. predict needs no labels, and inspect --encode counts the rows without
    /// one.
    #[arg(long, hide_short_help = true)]
    pub(crate) drop_unlabelled: bool,
}

/// The option for the positive class of two.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct PositiveArguments {
    /// Positive class [default: the second label in sorted order]
    #[arg(long, value_name = "LABEL")]
    pub(crate) positive: Option<String>,
}

/// The option for the weights of samples.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct WeightArguments {
    /// Column of sample weights
    #[arg(long, value_name = "NAME")]
    pub(crate) weights_column: Option<String>,
}

/// The options of data with labels and weights.
#[derive(Debug, Args)]
pub(crate) struct DataArguments {
    #[command(flatten)]
    pub(crate) file: FileArguments,
    #[command(flatten)]
    pub(crate) positive: PositiveArguments,
    #[command(flatten)]
    pub(crate) weights: WeightArguments,
}

/// The option for the classes of a stream.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct ClassesArguments {
    /// Labels of both classes [default: the labels of the first rows]
    ///
    /// By default, a stream uses the two labels found in its first rows, in sorted order.
    #[arg(long, value_name = "NEGATIVE,POSITIVE", conflicts_with = "positive")]
    pub(crate) classes: Option<String>,
}

/// The data that a command asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a FileArguments,
    pub(crate) positive: Option<&'a str>,
    pub(crate) weights_column: Option<&'a str>,
    pub(crate) encode: Option<&'a EncodeArguments>,
}

impl FileArguments {
    /// Returns the data without options for classes and weights.
    pub(crate) fn source(&self) -> Source<'_> {
        Source { file: self, positive: None, weights_column: None, encode: None }
    }

    /// Returns the name of the data, as it was given: the files with commas between them.
    pub(crate) fn name(&self) -> String {
        let names: Vec<String> = self.data.iter().map(|path| path.display().to_string()).collect();
        names.join(", ")
    }

    /// Returns the options with another file to read.
    pub(crate) fn of(&self, file: &Path) -> Self {
        FileArguments { data: vec![file.to_owned()], ..self.clone() }
    }

    /// Returns the files, or what stands in their place.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.data
    }

    /// Returns the first file, or what stands in its place.
    pub(crate) fn first(&self) -> &Path {
        &self.data[0]
    }

    /// Returns the files after the first.
    pub(crate) fn further(&self) -> &[PathBuf] {
        &self.data[1..]
    }
}

impl DataArguments {
    /// Returns the source of another file, whose weights stand in the column of the same name.
    pub(crate) fn of<'a>(&'a self, file: &'a FileArguments) -> Source<'a> {
        let weights_column = self.weights.weights_column.as_deref();
        Source { weights_column, ..file.source() }
    }

    pub(crate) fn source(&self) -> Source<'_> {
        let positive = self.positive.positive.as_deref();
        let weights_column = self.weights.weights_column.as_deref();
        Source { file: &self.file, positive, weights_column, encode: None }
    }

    /// Returns the name of the data, as it was given.
    pub(crate) fn name(&self) -> String {
        self.file.name()
    }
}
