//! The encoding of one raw column.

use std::collections::{HashMap, HashSet};

use super::features::{ColumnFeatures, Entries, Source};
use super::table::Cells;
use super::words::Words;
use super::{EncodeOptions, Missing, RawColumn, Unknown};
use crate::Error;
use crate::error::quoted;

/// The most categories that a categorical column may have.
pub const MOST_LEVELS: usize = 1000;

/// The encoding of a column as features.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ColumnEncoding {
    name: String,
    kind: Kind,
    /// True if there were missing values in the rows learned from.
    gaps: bool,
}

/// The kind of a column.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Kind {
    /// Numbers, with their median; 0 if there were none.
    Number(f64),
    /// True and false, as 1 and 0, with their median.
    Boolean(f64),
    /// Categories by their names, in the order of first sight; numbers are compared as numbers.
    Categorical(Vec<String>),
    /// Categories by the texts of their cells, in the order of first sight.
    Codes(Vec<String>),
}

impl Kind {
    /// Returns the categories, in the order of first sight; `None` of other columns.
    pub fn levels(&self) -> Option<&[String]> {
        match self {
            Kind::Number(_) | Kind::Boolean(_) => None,
            Kind::Categorical(levels) | Kind::Codes(levels) => Some(levels),
        }
    }
}

impl ColumnEncoding {
    pub(super) fn learn(
        column: &RawColumn,
        rows: &[usize],
        options: &EncodeOptions,
    ) -> Result<Self, Error> {
        let name = column.name().to_owned();
        let codes = options.categorical.contains(&name);
        let (kind, gap) = match column.content() {
            Cells::Numbers(cells) if !codes => {
                let median = median(rows.iter().filter_map(|&row| cells.get(row)));
                let gap = rows.iter().copied().find(|&row| cells.get(row).is_none());
                (Kind::Number(median), gap)
            }
            Cells::Words(words)
                if !codes && words.names().iter().all(|word| truth(word).is_some()) =>
            {
                let truths: Vec<Option<f64>> =
                    words.names().iter().map(|word| truth(word)).collect();
                let value = |&row: &usize| truths[words.cells()[row]? as usize];
                (Kind::Boolean(median(rows.iter().filter_map(value))), gap(words.cells(), rows))
            }
            Cells::Words(words) => {
                (Kind::Categorical(levels(&name, words, rows)?), gap(words.cells(), rows))
            }
            Cells::Codes(words) => {
                (Kind::Codes(levels(&name, words, rows)?), gap(words.cells(), rows))
            }
            Cells::Numbers(_) => {
                let words = column.as_words();
                (Kind::Categorical(levels(&name, &words, rows)?), gap(words.cells(), rows))
            }
        };
        match gap {
            Some(row) if options.missing == Missing::Refuse => Err(refused_gap(row, &name)),
            gap => Ok(ColumnEncoding { name, kind, gaps: gap.is_some() }),
        }
    }

    /// Returns true if all rows of a column have more categories than it may have.
    pub(super) fn is_crowded(column: &RawColumn, options: &EncodeOptions) -> bool {
        let is_category = match column.content() {
            Cells::Numbers(_) => options.categorical.iter().any(|name| name == column.name()),
            Cells::Words(_) | Cells::Codes(_) => true,
        };
        is_category && column.distinct() > MOST_LEVELS
    }

    /// Makes the encoding of a column as it was learned.
    pub(crate) fn new(name: String, kind: Kind, gaps: bool) -> Result<Self, Error> {
        let column = ColumnEncoding { name, kind, gaps };
        column.check()?;
        Ok(column)
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let fault = match &self.kind {
            Kind::Number(median) | Kind::Boolean(median) if !median.is_finite() => {
                format!("has the median {median}")
            }
            kind if kind.levels().is_some_and(|levels| levels.len() > MOST_LEVELS) => {
                too_many(&self.name)
            }
            _ => return Ok(()),
        };
        Err(Error::EncodedColumn { column: self.name.clone(), reason: fault })
    }

    /// Returns the name of the column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the kind of the column.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Returns true if a feature marks the missing values of the column.
    pub fn has_indicator(&self) -> bool {
        self.gaps
    }

    /// Returns the few words because of which a column is categorical whose other categories are numbers, ten a
    /// word or more: they may be a spelling of missing values.
    pub fn words_among_numbers(&self) -> Vec<&str> {
        let Kind::Categorical(levels) = &self.kind else { return Vec::new() };
        let is_word = |level: &&str| level.parse::<f64>().is_err();
        let words: Vec<&str> = levels.iter().map(String::as_str).filter(is_word).collect();
        if 11 * words.len() <= levels.len() { words } else { Vec::new() }
    }

    pub(super) fn width(&self) -> usize {
        self.own_width() + usize::from(self.gaps)
    }

    /// Returns the number of features without the indicator.
    fn own_width(&self) -> usize {
        self.kind.levels().map_or(1, <[String]>::len)
    }

    pub(super) fn feature_names(&self) -> Vec<String> {
        let name = &self.name;
        let mut names = match self.kind.levels() {
            None => vec![name.clone()],
            Some(levels) => levels.iter().map(|level| format!("{name}={level}")).collect(),
        };
        if self.gaps {
            names.push(format!("{name} (missing)"));
        }
        names
    }

    pub(super) fn features<'c>(
        &self,
        column: &'c RawColumn,
        options: &EncodeOptions,
    ) -> Result<ColumnFeatures<'c>, Error> {
        let refuses = options.missing == Missing::Refuse;
        let gap = self.of_gap();
        if let (Kind::Number(_), Cells::Numbers(cells)) = (&self.kind, column.content()) {
            return match column.first_gap() {
                Some(row) if refuses => Err(refused_gap(row, &self.name)),
                _ => Ok(ColumnFeatures { cells: Source::Numbers(cells), gap }),
            };
        }
        let words = column.as_words();
        let of_words = self.of_words(words.names(), options.unknown);
        let fault = |(row, cell): (usize, &Option<u32>)| match cell {
            None => refuses.then(|| refused_gap(row, &self.name)),
            Some(word) => of_words[*word as usize].as_ref().err().map(|reason| Error::Cell {
                row,
                column: self.name.clone(),
                reason: reason.clone(),
            }),
        };
        match words.cells().iter().enumerate().find_map(fault) {
            Some(error) => Err(error),
            None => {
                // Words that no row has may be wrong.
                let entries = of_words.into_iter().map(Result::unwrap_or_default).collect();
                Ok(ColumnFeatures { cells: Source::Words(words, entries), gap })
            }
        }
    }

    /// Returns the number of cells with a category that was not learned.
    pub(super) fn unknown_levels(&self, column: &RawColumn) -> usize {
        let Some(levels) = self.kind.levels() else { return 0 };
        let known: HashSet<&str> = levels.iter().map(String::as_str).collect();
        let words = column.as_words();
        let is_known: Vec<bool> =
            words.names().iter().map(|word| known.contains(word.as_str())).collect();
        words.cells().iter().flatten().filter(|&&word| !is_known[word as usize]).count()
    }

    /// Returns the features of words, or why they have none.
    fn of_words(&self, words: &[String], unknown: Unknown) -> Vec<Result<Entries, String>> {
        match &self.kind {
            Kind::Number(_) => words
                .iter()
                .map(|word| word.parse().map(Entries::of_number).map_err(|_| not(word, "a number")))
                .collect(),
            Kind::Boolean(_) => words
                .iter()
                .map(|word| {
                    truth(word).map(Entries::of_number).ok_or_else(|| not(word, "true or false"))
                })
                .collect(),
            Kind::Categorical(levels) | Kind::Codes(levels) => {
                let index: HashMap<&str, usize> =
                    levels.iter().map(String::as_str).zip(0..).collect();
                let level = |word: &String| match (index.get(word.as_str()), unknown) {
                    (Some(&level), _) => Ok(Entries([Some((level, 1.0)), None])),
                    (None, Unknown::None) => Ok(Entries::default()),
                    (None, Unknown::Refuse) => Err(not(word, LEVEL)),
                };
                words.iter().map(level).collect()
            }
        }
    }

    fn of_gap(&self) -> Entries {
        let indicator = self.gaps.then(|| (self.own_width(), 1.0));
        match self.kind {
            Kind::Number(median) | Kind::Boolean(median) => {
                Entries([(median != 0.0).then_some((0, median)), indicator])
            }
            Kind::Categorical(_) | Kind::Codes(_) => Entries([indicator, None]),
        }
    }
}

/// The end of the message about an unknown word.
const LEVEL: &str = "a category of the fit: fit with --unknown none to allow unknown categories";

fn not(word: &str, what: &str) -> String {
    format!("{} is not {what}", quoted(word))
}

pub(super) fn refused_gap(row: usize, name: &str) -> Error {
    let reason = "the cell is empty or stands for a missing value".to_owned();
    Error::Cell { row, column: name.to_owned(), reason }
}

/// Returns the first of the rows that has a missing value.
fn gap(cells: &[Option<u32>], rows: &[usize]) -> Option<usize> {
    rows.iter().copied().find(|&row| cells[row].is_none())
}

/// Returns 1 for true and 0 for false, which numbers may stand for.
pub(super) fn truth(word: &str) -> Option<f64> {
    match word.to_ascii_lowercase().as_str() {
        "true" | "1" => Some(1.0),
        "false" | "0" => Some(0.0),
        _ => None,
    }
}

/// Returns the median, the mean of both if two are in the middle; 0 if there are no values.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    let half = values.len() / 2;
    if values.is_empty() {
        return 0.0;
    }
    let is_even = values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    match below.iter().copied().max_by(f64::total_cmp).filter(|_| is_even) {
        Some(lower) => lower.midpoint(upper),
        None => upper,
    }
}

/// Returns why so many categories are refused, and what to do.
fn too_many(name: &str) -> String {
    format!(
        "has more than {MOST_LEVELS} categories: leave it out if it identifies the rows (--drop \
         {name}), else merge its rare categories"
    )
}

/// Returns the categories that occur in the rows, in the order of first sight there.
fn levels(name: &str, words: &Words, rows: &[usize]) -> Result<Vec<String>, Error> {
    let mut seen = vec![false; words.names().len()];
    let mut levels = Vec::new();
    for code in rows.iter().filter_map(|&row| words.cells()[row]) {
        if !std::mem::replace(&mut seen[code as usize], true) {
            levels.push(words.names()[code as usize].clone());
        }
    }
    if levels.len() > MOST_LEVELS {
        return Err(Error::EncodedColumn { column: name.to_owned(), reason: too_many(name) });
    }
    Ok(levels)
}
