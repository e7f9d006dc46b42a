//! Learns an encoding from a table in parts, in bounded memory.

use std::collections::HashMap;

use super::column::{Kind, MOST_LEVELS, refused_gap, truth};
use super::level_name::name_of;
use super::median::Median;
use super::table::Cells;
use super::{ColumnEncoding, EncodeOptions, Encoding, Missing, RawColumn, RawTable, check_columns};
use crate::Error;

/// A learner of an [`Encoding`] from a table that comes in parts, several times if need be, in
/// memory that does not grow with the rows. The encoding is that of the whole table.
pub(crate) struct EncodingLearner {
    options: EncodeOptions,
    columns: Vec<Column>,
    rows: u64,
    /// True from the second pass on, in which only medians are computed.
    again: bool,
}

/// The properties of a column so far.
struct Column {
    name: String,
    /// True if its numbers are codes.
    codes: bool,
    /// True if it has a word that is no number.
    words: bool,
    /// True if its cells keep their texts.
    texts: bool,
    gaps: u64,
    /// The numbers that are not zero.
    nonzero: u64,
    levels: Levels,
    median: Median,
}

/// The categories in the order of first sight, with their counts; no more than may be and one.
#[derive(Default)]
struct Levels {
    names: Vec<String>,
    counts: Vec<u64>,
    index: HashMap<String, usize>,
    /// The categories that are numbers, by their bits.
    numbers: HashMap<u64, usize>,
}

impl Levels {
    /// Takes in the name of a category, and returns its place unless there are too many.
    fn take(&mut self, name: &str) -> Option<usize> {
        if let Some(&level) = self.index.get(name) {
            self.counts[level] += 1;
            return Some(level);
        }
        (!self.is_full()).then(|| {
            let level = self.names.len();
            self.index.insert(name.to_owned(), level);
            self.names.push(name.to_owned());
            self.counts.push(1);
            level
        })
    }

    fn take_number(&mut self, number: f64) {
        if let Some(&level) = self.numbers.get(&number.to_bits()) {
            self.counts[level] += 1;
        } else if !self.is_full()
            && let Some(level) = self.take(&name_of(number))
        {
            self.numbers.insert(number.to_bits(), level);
        }
    }

    /// Returns true if there are more than may be.
    fn is_full(&self) -> bool {
        self.names.len() > MOST_LEVELS
    }
}

impl EncodingLearner {
    pub(crate) fn new(options: EncodeOptions) -> Self {
        EncodingLearner { options, columns: Vec::new(), rows: 0, again: false }
    }

    pub(crate) fn take(&mut self, table: &RawTable) -> Result<(), Error> {
        if self.columns.is_empty() {
            check_columns(&self.options, table)?;
            let kept = table.columns().iter().filter(|column| !self.options.drops(column.name()));
            self.columns = kept.map(|column| Column::new(column.name(), &self.options)).collect();
        }
        let refuse = self.options.missing == Missing::Refuse;
        let kept = table.columns().iter().filter(|column| !self.options.drops(column.name()));
        for (column, raw) in self.columns.iter_mut().zip(kept) {
            if self.again {
                column.seek(raw);
            } else {
                column.take(raw, refuse)?;
            }
        }
        if !self.again {
            self.rows += table.rows() as u64;
        }
        Ok(())
    }

    /// Ends a pass over the whole table; true if all is known.
    pub(crate) fn ends_pass(&mut self) -> bool {
        self.again = true;
        let mut known = true;
        for column in self.columns.iter_mut().filter(|column| column.has_median()) {
            known &= column.median.ends_pass();
        }
        known
    }

    /// Returns true if at most a quarter of the features of all rows is not zero.
    pub(crate) fn is_sparse(&self) -> bool {
        let stored: u64 = self.columns.iter().map(|column| column.stored(self.rows)).sum();
        let width: u64 = self.columns.iter().map(Column::width).sum();
        4 * stored <= self.rows * width
    }

    pub(crate) fn finish(self) -> Result<Encoding, Error> {
        let columns = self.columns.into_iter().map(Column::finish).collect::<Result<_, _>>()?;
        Encoding::from_columns(self.options, columns)
    }
}

impl Column {
    fn new(name: &str, options: &EncodeOptions) -> Self {
        Column {
            name: name.to_owned(),
            codes: options.categorical.iter().any(|column| column == name),
            words: false,
            texts: false,
            gaps: 0,
            nonzero: 0,
            levels: Levels::default(),
            median: Median::default(),
        }
    }

    fn take(&mut self, column: &RawColumn, refuse: bool) -> Result<(), Error> {
        if let Some(row) = column.first_gap().filter(|_| refuse) {
            return Err(refused_gap(row, &self.name));
        }
        self.gaps += column.missing() as u64;
        match column.content() {
            Cells::Words(words) | Cells::Codes(words) => {
                self.words = true;
                self.texts |= matches!(column.content(), Cells::Codes(_));
                for word in words.iter() {
                    self.levels.take(word);
                }
            }
            Cells::Numbers(cells) => {
                for (number, digits) in cells.with_digits() {
                    let Some(number) = number else { continue };
                    // Numbers may turn out to be categories.
                    match digits {
                        Some(digits) => _ = self.levels.take(digits),
                        None => self.levels.take_number(number),
                    }
                    self.nonzero += u64::from(number != 0.0);
                    self.median.take(number);
                }
            }
        }
        Ok(())
    }

    /// Takes in rows once more, for the median.
    fn seek(&mut self, column: &RawColumn) {
        if self.has_median()
            && let Cells::Numbers(cells) = column.content()
        {
            cells.iter().flatten().for_each(|number| self.median.take(number));
        }
    }

    fn is_boolean(&self) -> bool {
        let levels = &self.levels.names;
        !self.codes
            && !self.texts
            && self.words
            && levels.iter().all(|level| truth(level).is_some())
    }

    /// Returns true if the numbers of the rows have to be put in order.
    fn has_median(&self) -> bool {
        !self.codes && !self.words
    }

    fn trues(&self) -> u64 {
        let Levels { names, counts, .. } = &self.levels;
        let of = |(name, &count): (&String, &u64)| (truth(name) == Some(1.0)).then_some(count);
        names.iter().zip(counts).filter_map(of).sum()
    }

    fn boolean_median(&self) -> f64 {
        let (trues, all) = (self.trues(), self.levels.counts.iter().sum::<u64>());
        match (2 * trues).cmp(&all) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal if all == 0 => 0.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Greater => 1.0,
        }
    }

    /// Returns the number of nonzero values in this many rows, including those of an indicator.
    fn stored(&self, rows: u64) -> u64 {
        let (values, filled) = if self.has_median() {
            (self.nonzero, self.median.value() != 0.0)
        } else if self.is_boolean() {
            (self.trues(), self.boolean_median() != 0.0)
        } else {
            (rows - self.gaps, false)
        };
        values + self.gaps * (1 + u64::from(filled))
    }

    fn width(&self) -> u64 {
        let single = self.has_median() || self.is_boolean();
        let own = if single { 1 } else { self.levels.names.len() as u64 };
        own + u64::from(self.gaps > 0)
    }

    fn finish(self) -> Result<ColumnEncoding, Error> {
        let kind = if self.has_median() {
            Kind::Number(self.median.value())
        } else if self.is_boolean() {
            Kind::Boolean(self.boolean_median())
        } else if self.texts {
            Kind::Codes(self.levels.names)
        } else {
            Kind::Categorical(self.levels.names)
        };
        ColumnEncoding::new(self.name, kind, self.gaps > 0)
    }
}
