//! The words that stand for a missing value, among features and among labels.

/// The default words for a missing feature, in lower case; an empty cell is missing too.
pub(crate) const USUAL_WORDS: [&str; 7] = ["?", "na", "n/a", "nan", "null", "none", "missing"];

/// Returns true if a cell, without blanks around it, is a missing value by these words, which are compared in any
/// case.
pub(crate) fn is_gap<S: AsRef<str>>(cell: &str, words: &[S]) -> bool {
    cell.is_empty() || words.iter().any(|word| word.as_ref().eq_ignore_ascii_case(cell))
}

/// Returns true if a label is missing for any list of words: NaN, `NA`, `N/A` and `?`. The other
/// default words may well be classes.
pub(crate) fn is_missing_label(label: &str) -> bool {
    label.parse().is_ok_and(f64::is_nan) || matches!(label, "NA" | "N/A" | "?")
}
