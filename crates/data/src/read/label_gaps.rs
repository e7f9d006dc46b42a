//! Missing labels: which cells they are, and how their rows are treated.

use super::ReadOptions;
use super::table::Purpose;
use crate::encode::MissingWords;
use crate::error::quoted;
use crate::missing::is_missing_label;

/// Which cells of the label column are missing labels, and whether their rows are left out.
pub(super) struct LabelGaps {
    /// The words for missing values among features, where they are not the usual ones.
    words: Option<MissingWords>,
    purpose: Purpose,
    drop: bool,
}

impl LabelGaps {
    pub(super) fn new(options: &ReadOptions, purpose: Purpose) -> Self {
        let given = options.features.missing_words();
        let words = given.filter(|words| **words != MissingWords::default()).cloned();
        LabelGaps { words, purpose, drop: options.drop_unlabelled }
    }

    /// Returns true if rows without a label are left out.
    pub(super) fn may_drop(&self) -> bool {
        self.drop
    }

    /// Returns true if a cell, without blanks around it, is no label.
    pub(super) fn contain(&self, cell: &str) -> bool {
        let is_among = |words: &MissingWords| words.contains(cell);
        cell.is_empty() || is_missing_label(cell) || self.words.as_ref().is_some_and(is_among)
    }

    /// Returns the reason why the row of a cell is refused. Predictions need no labels.
    pub(super) fn refusal(&self, cell: &str) -> Option<String> {
        if self.purpose == Purpose::Predict || !self.contain(cell) {
            return None;
        }
        let what = match cell {
            "" => "the cell is empty, but every row needs a label".to_owned(),
            word => format!("label {} is a missing value", quoted(word)),
        };
        Some(format!("{what}. Add --drop-unlabelled to drop rows without a label"))
    }
}

/// Returns what is wrong with a file of which every row was left out.
pub(super) fn no_label(rows: usize) -> String {
    format!("none of its rows has a label ({rows} are left out)")
}
