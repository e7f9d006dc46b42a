//! Options of raw tables.

use clap::{Args, ValueEnum};
use margins::data::encode::{EncodeOptions, Missing, MissingWords, Unknown};

/// The options for columns with words and gaps.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct EncodeArguments {
    /// Take words (one-hot) and gaps (median and indicator)
    ///
    /// Columns of CSV with words become a feature for each level, columns of true and false one
    /// feature; gaps, which are empty cells and the usual words for missing values, become the
    /// median, with a feature that tells where they are. This is learned from the training rows, in
    /// cv for linear classifiers anew in every fold, and kept in the model, so that predict takes
    /// raw rows.
    #[arg(long)]
    encode: bool,
    /// Column whose numbers are codes; may be repeated
    #[arg(long, value_name = "COLUMN", requires = "encode", hide_short_help = true)]
    categorical: Vec<String>,
    /// Column to leave out; may be repeated
    #[arg(long, value_name = "COLUMN", requires = "encode", hide_short_help = true)]
    drop: Vec<String>,
    /// What becomes of gaps [default: median]
    #[arg(long, value_name = "RULE", requires = "encode", hide_short_help = true)]
    missing: Option<MissingName>,
    /// Words for gaps, with commas [default: ?,na,n/a,nan,null,none,missing]
    ///
    /// They are compared in any case. An empty cell always is a gap.
    #[arg(
        long,
        value_name = "WORDS",
        value_delimiter = ',',
        requires = "encode",
        hide_short_help = true,
        allow_hyphen_values = true
    )]
    missing_words: Option<Vec<String>>,
    /// What becomes of levels that the training rows lack [default: refuse]
    #[arg(long, value_name = "RULE", requires = "encode", hide_short_help = true)]
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
    /// None of the levels
    None,
}

impl EncodeArguments {
    /// Returns true if words and gaps are taken.
    pub(crate) fn is_asked(&self) -> bool {
        self.encode
    }

    /// Returns what was asked for, if words and gaps are taken.
    pub(crate) fn options(&self) -> Option<EncodeOptions> {
        self.encode.then(|| EncodeOptions {
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
