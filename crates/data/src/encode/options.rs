//! The options of an encoding.

use crate::missing::{USUAL_WORDS, is_gap};

/// The settings of an [`Encoding`](super::Encoding).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct EncodeOptions {
    /// The columns whose numbers are codes. Files are read so that their cells keep their texts.
    pub categorical: Vec<String>,
    /// The columns to leave out.
    pub drop: Vec<String>,
    /// How missing values are encoded.
    pub missing: Missing,
    /// How categories that were not seen in the training rows are encoded.
    pub unknown: Unknown,
    /// The words that stand for a missing value.
    pub missing_words: MissingWords,
}

impl EncodeOptions {
    /// Returns true if the column is left out.
    pub fn drops(&self, column: &str) -> bool {
        self.drop.iter().any(|name| name == column)
    }
}

/// How missing values are encoded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Missing {
    /// The median of the column replaces missing values, and an indicator column marks them.
    #[default]
    Median,
    /// A missing value is an error.
    Refuse,
}

/// How a category that was not seen in the training rows is encoded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Unknown {
    /// An unknown category is an error, except in the folds of a cross-validation, whose training rows
    /// may lack a category that other rows have.
    #[default]
    Refuse,
    /// The features of all categories are 0 for an unknown one.
    None,
}

/// The words that stand for a missing value, in any case; an empty cell always is one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct MissingWords(Vec<String>);

impl MissingWords {
    /// Takes these words instead of the usual ones.
    pub fn new<S: AsRef<str>>(words: &[S]) -> Self {
        MissingWords(words.iter().map(|word| word.as_ref().trim().to_ascii_lowercase()).collect())
    }

    /// Returns the words, in lower case.
    pub fn words(&self) -> &[String] {
        &self.0
    }

    /// Returns true if a cell, without blanks around it, is a missing value.
    pub fn contains(&self, cell: &str) -> bool {
        is_gap(cell, &self.0)
    }
}

/// Words for missing values, prepared for many cells.
pub(crate) struct Gaps {
    words: MissingWords,
    /// True for the bytes that a word may begin with.
    begins: [bool; 256],
    /// True if a number in digits may be a missing value.
    have_numbers: bool,
}

impl Gaps {
    pub(crate) fn new(words: MissingWords) -> Self {
        let mut begins = [false; 256];
        for first in words.words().iter().filter_map(|word| word.bytes().next()) {
            begins[usize::from(first.to_ascii_lowercase())] = true;
            begins[usize::from(first.to_ascii_uppercase())] = true;
        }
        let have_numbers = b"-.0123456789".iter().any(|&first| begins[usize::from(first)]);
        Gaps { words, begins, have_numbers }
    }

    /// Returns true if a cell, without blanks around it, is a missing value.
    #[inline]
    pub(crate) fn contains(&self, cell: &str) -> bool {
        cell.bytes()
            .next()
            .is_none_or(|first| self.begins[usize::from(first)] && self.words.contains(cell))
    }

    /// Returns true if a number in digits may be a missing value.
    pub(crate) fn have_numbers(&self) -> bool {
        self.have_numbers
    }
}

/// The usual words: `?`, `na`, `n/a`, `nan`, `null`, `none` and `missing`.
impl Default for MissingWords {
    fn default() -> Self {
        MissingWords::new(&USUAL_WORDS)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn prepared_words_are_those_told(cell in "[?nNaAuU/01. -]{0,4}", words in proptest::collection::vec("[nN0-2ü?.-]{0,3}", 0..4)) {
            for words in [MissingWords::default(), MissingWords::new(&words)] {
                let gaps = Gaps::new(words.clone());
                prop_assert_eq!(gaps.contains(&cell), words.contains(&cell));
                let is_number = cell.bytes().next().is_some_and(|byte| b"-.0123456789".contains(&byte));
                prop_assert!(!(is_number && words.contains(&cell)) || gaps.have_numbers());
            }
        }
    }
}
