//! Options of raw tables.

use clap::{ArgGroup, Args, ValueEnum};
use margins::data::encode::{EncodeOptions, Missing, MissingWords, Unknown};

/// The options for columns with words and missing values.
#[derive(Debug, Args)]
#[command(
    next_help_heading = "Data",
    group(ArgGroup::new("raw").args(["encode", "categorical", "drop"]).multiple(true))
)]
pub(crate) struct EncodeArguments {
    #[arg(long)]
    encode: bool,
    /// Numeric column to encode as categories; may be repeated; implies --encode
    #[arg(long, value_name = "COLUMN", hide_short_help = true)]
    categorical: Vec<String>,
    /// Column to drop, '' for a column without a name; may be repeated; implies --encode
    #[arg(long, value_name = "COLUMN", hide_short_help = true)]
    drop: Vec<String>,
    /// How to encode missing values [default: median]
    #[arg(long, value_name = "RULE", requires = "raw", hide_short_help = true)]
    missing: Option<MissingName>,
    /// Words for missing values, comma-separated [default: ?,na,n/a,nan,null,none,missing]
    ///
    /// Upper and lower case are the same. An empty cell is always a missing value.
    #[arg(
        long,
        value_name = "WORDS",
        value_delimiter = ',',
        requires = "raw",
        hide_short_help = true
    )]
    missing_words: Option<Vec<String>>,
    /// How to encode categories that the training rows lack [default: refuse]
    #[arg(long, value_name = "RULE", requires = "raw", hide_short_help = true)]
    unknown: Option<UnknownName>,
}

/// The encodings of missing values.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum MissingName {
    /// Replace by the median of the column, and add an indicator
    Median,
    /// Report an error
    Refuse,
}

/// The encodings of unknown categories.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum UnknownName {
    /// Report an error
    Refuse,
    /// Set every indicator to 0
    None,
}

impl EncodeArguments {
    /// Returns the option by which words and missing values are taken, if they are.
    pub(crate) fn asked(&self) -> Option<&'static str> {
        let options = [
            ("--encode", self.encode),
            ("--categorical", !self.categorical.is_empty()),
            ("--drop", !self.drop.is_empty()),
        ];
        options.into_iter().find_map(|(option, given)| given.then_some(option))
    }

    /// Returns the columns to leave out.
    pub(crate) fn dropped(&self) -> &[String] {
        &self.drop
    }

    /// Returns what was asked for, if words and missing values are taken.
    pub(crate) fn options(&self) -> Option<EncodeOptions> {
        self.asked().map(|_| EncodeOptions {
            categorical: self.categorical.clone(),
            drop: self.drop.clone(),
            missing: match self.missing {
                Some(MissingName::Refuse) => Missing::Refuse,
                Some(MissingName::Median) | None => Missing::Median,
            },
            unknown: match self.unknown {
                Some(UnknownName::None) => Unknown::None,
                Some(UnknownName::Refuse) | None => Unknown::Refuse,
            },
            missing_words: match &self.missing_words {
                Some(words) => MissingWords::new(words),
                None => MissingWords::default(),
            },
        })
    }
}
