//! What stands for a missing value: the words for gaps in features, and those in the place of labels.

/// The words for a gap among features unless others are told, in lower case; an empty cell is one too.
pub(crate) const USUAL_WORDS: [&str; 7] = ["?", "na", "n/a", "nan", "null", "none", "missing"];

/// Returns true if a cell, without blanks around it, is a gap by these words, which are compared in any
/// case.
pub(crate) fn is_gap<S: AsRef<str>>(cell: &str, words: &[S]) -> bool {
    cell.is_empty() || words.iter().any(|word| word.as_ref().eq_ignore_ascii_case(cell))
}

/// Returns true if a label is no class whatever words are told: a number that is none, `NA`, `N/A` and
/// `?`. The other usual words may well be classes.
pub(crate) fn is_missing_label(label: &str) -> bool {
    label.parse().is_ok_and(f64::is_nan) || matches!(label, "NA" | "N/A" | "?")
}
