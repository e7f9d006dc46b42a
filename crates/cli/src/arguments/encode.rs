//! Options of raw tables.

use clap::{ArgGroup, Args, ValueEnum};
use margins::data::encode::{EncodeOptions, Missing, MissingWords, Unknown};

/// The options for columns with words and gaps.
#[derive(Debug, Args)]
#[command(
    next_help_heading = "Data",
    group(ArgGroup::new("raw").args(["encode", "categorical", "drop"]).multiple(true))
)]
pub(crate) struct EncodeArguments {
    /// Take words (one-hot) and gaps (median and indicator)
    ///
    /// Columns of CSV with words become a feature for each level, columns of true and false one
    /// feature; gaps, which are empty cells and the usual words for missing values, become the
    /// median, with a feature that tells where they are. This is learned from the training rows, in
    /// cv anew in every fold, and kept in the model, so that predict takes raw rows.
    #[arg(long)]
    encode: bool,
    /// Column of codes, whose cells keep their texts; may be repeated; it stands for --encode as well
    #[arg(long, value_name = "COLUMN", hide_short_help = true)]
    categorical: Vec<String>,
    /// Column to leave out, '' for one without a name; may be repeated; it stands for --encode as well
    #[arg(long, value_name = "COLUMN", hide_short_help = true)]
    drop: Vec<String>,
    /// What becomes of gaps [default: median]
    #[arg(long, value_name = "RULE", requires = "raw", hide_short_help = true)]
    missing: Option<MissingName>,
    /// Words for gaps, with commas [default: ?,na,n/a,nan,null,none,missing]
    ///
    /// They are compared in any case. An empty cell always is a gap.
    #[arg(
        long,
        value_name = "WORDS",
        value_delimiter = ',',
        requires = "raw",
        hide_short_help = true
    )]
    missing_words: Option<Vec<String>>,
    /// What becomes of levels that the training rows lack [default: refuse]
    #[arg(long, value_name = "RULE", requires = "raw", hide_short_help = true)]
    unknown: Option<UnknownName>,
}

/// What becomes of gaps.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum MissingName {
    /// The median of the column, with an indicator
    Median,
    /// An error
    Refuse,
}

/// What becomes of unknown levels.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum UnknownName {
    /// An error
    Refuse,
    /// Every indicator is 0
    None,
}

impl EncodeArguments {
    /// Returns the option by which words and gaps are taken, if they are.
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

    /// Returns what was asked for, if words and gaps are taken.
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
