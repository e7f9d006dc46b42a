//! Raw tables: named columns of numbers or words, with missing values.

use std::borrow::Cow;

use super::MissingWords;
use super::level_name::{MOST_EXACT, name_of_written, names_itself};
use super::numbers::Numbers;
use super::words::Words;
use crate::error::{check_count, quoted};
use crate::{Error, Memory, Shortage, decimal};

/// A raw table: named columns of numbers, or of words, with missing values.
///
/// The cells of a column are numbers until the first word; from there on all of them are words. Those
/// of a column of codes are texts.
#[derive(Debug, Clone, PartialEq)]
pub struct RawTable {
    rows: usize,
    columns: Vec<RawColumn>,
}

/// A column of a [`RawTable`].
#[derive(Debug, Clone, PartialEq)]
pub struct RawColumn {
    name: String,
    cells: Cells,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cells {
    Numbers(Numbers),
    /// Words, and numbers by their names.
    Words(Words),
    /// Texts as they were written.
    Codes(Words),
}

impl RawColumn {
    /// Makes a column of numbers, in which NaN is a missing value.
    ///
    /// # Errors
    /// An infinite number.
    pub fn numbers(name: impl Into<String>, numbers: &[f64]) -> Result<Self, Error> {
        let name = name.into();
        if let Some(row) = numbers.iter().position(|number| number.is_infinite()) {
            let reason = format!("{} is not finite", numbers[row]);
            return Err(Error::Cell { row, column: name, reason });
        }
        Ok(RawColumn { name, cells: Cells::Numbers(Numbers::new(numbers.to_vec())) })
    }

    /// Makes a column of words; `None` is a missing value.
    pub fn words<S: AsRef<str>>(
        name: impl Into<String>,
        words: impl IntoIterator<Item = Option<S>>,
    ) -> Self {
        let mut all = Words::default();
        words.into_iter().for_each(|word| all.push(word.as_ref().map(AsRef::as_ref)));
        RawColumn { name: name.into(), cells: Cells::Words(all) }
    }

    /// Makes a column of cells as people write them: numbers until the first word, from there on
    /// words; `None` is a missing value, as the words for missing values are.
    ///
    /// ```
    /// use margins_data::encode::{MissingWords, RawColumn};
    ///
    /// let cells = [Some(" 31"), None, Some("NA"), Some("4.5")];
    /// let ages = RawColumn::cells("age", cells, &MissingWords::default())?;
    /// assert_eq!(ages, RawColumn::numbers("age", &[31.0, f64::NAN, f64::NAN, 4.5])?);
    /// # Ok::<(), margins_data::Error>(())
    /// ```
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn cells<S: AsRef<str>>(
        name: impl Into<String>,
        cells: impl IntoIterator<Item = Option<S>>,
        missing: &MissingWords,
    ) -> Result<Self, Error> {
        let mut column = RawColumn { name: name.into(), cells: Cells::Numbers(Numbers::default()) };
        for (row, cell) in cells.into_iter().enumerate() {
            let cell = cell.as_ref().map_or("", |cell| cell.as_ref().trim());
            column.push((!missing.contains(cell)).then_some(cell)).map_err(|reason| {
                let column = column.name.clone();
                Error::Cell { row, column, reason }
            })?;
        }
        Ok(column)
    }

    /// Makes a column of codes, which keep their texts: `7`, `007` and `7.0` differ. `None` is a missing value, as
    /// the words for missing values are.
    pub fn codes<S: AsRef<str>>(
        name: impl Into<String>,
        cells: impl IntoIterator<Item = Option<S>>,
        missing: &MissingWords,
    ) -> Self {
        let mut all = Words::default();
        for cell in cells {
            let cell = cell.as_ref().map_or("", |cell| cell.as_ref().trim());
            all.push((!missing.contains(cell)).then_some(cell));
        }
        RawColumn { name: name.into(), cells: Cells::Codes(all) }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of missing values.
    pub fn missing(&self) -> usize {
        match &self.cells {
            Cells::Numbers(cells) => cells.iter().filter(Option::is_none).count(),
            Cells::Words(words) | Cells::Codes(words) => {
                words.cells().iter().filter(|cell| cell.is_none()).count()
            }
        }
    }

    /// Returns the number of different cells, without missing values.
    pub fn distinct(&self) -> usize {
        match &self.cells {
            Cells::Words(words) | Cells::Codes(words) => words.names().len(),
            Cells::Numbers(cells) => Words::of_numbers(cells).names().len(),
        }
    }

    pub(super) fn first_gap(&self) -> Option<usize> {
        match &self.cells {
            Cells::Numbers(cells) => cells.iter().position(|cell| cell.is_none()),
            Cells::Words(words) | Cells::Codes(words) => {
                words.cells().iter().position(Option::is_none)
            }
        }
    }

    pub(super) fn content(&self) -> &Cells {
        &self.cells
    }

    fn len(&self) -> usize {
        match &self.cells {
            Cells::Numbers(cells) => cells.len(),
            Cells::Words(words) | Cells::Codes(words) => words.cells().len(),
        }
    }

    /// Returns the cells as words, numbers by their names.
    pub(super) fn as_words(&self) -> Cow<'_, Words> {
        match &self.cells {
            Cells::Words(words) | Cells::Codes(words) => Cow::Borrowed(words),
            Cells::Numbers(cells) => Cow::Owned(Words::of_numbers(cells)),
        }
    }

    /// Takes in a cell, without blanks around it; `None` is a missing value.
    fn push(&mut self, cell: Option<&str>) -> Result<(), String> {
        let Some(cell) = cell else {
            match &mut self.cells {
                Cells::Numbers(cells) => cells.push(None),
                Cells::Words(words) | Cells::Codes(words) => words.push(None),
            }
            return Ok(());
        };
        if let Cells::Codes(words) = &mut self.cells {
            words.push(Some(cell));
            return Ok(());
        }
        let number = decimal::number(cell);
        if number.is_some_and(|number| !number.is_finite()) {
            return Err(format!("{} is not a finite number", quoted(cell)));
        }
        match (&mut self.cells, number) {
            (Cells::Numbers(cells), Some(number)) => cells.push_written(number, cell),
            (Cells::Words(words) | Cells::Codes(words), Some(number)) => match names_itself(cell) {
                true => words.push(Some(cell)),
                false => words.push(Some(&name_of_written(number, cell))),
            },
            (Cells::Words(words) | Cells::Codes(words), None) => words.push(Some(cell)),
            (Cells::Numbers(cells), None) => {
                let spare = cells.spare();
                let mut words = self.as_words().into_owned();
                words.reserve(spare);
                words.push(Some(cell));
                self.cells = Cells::Words(words);
            }
        }
        Ok(())
    }

    fn append(&mut self, more: Self) {
        match (&mut self.cells, more.cells) {
            (Cells::Numbers(cells), Cells::Numbers(more)) => cells.append(&more),
            (Cells::Words(words) | Cells::Codes(words), more) => words.append(&more.into_words()),
            (numbers, Cells::Words(more) | Cells::Codes(more)) => {
                let mut words =
                    std::mem::replace(numbers, Cells::Numbers(Numbers::default())).into_words();
                words.append(&more);
                *numbers = Cells::Words(words);
            }
        }
    }
}

impl Cells {
    /// Returns the cells as words, numbers by their names.
    fn into_words(self) -> Words {
        match self {
            Cells::Words(words) | Cells::Codes(words) => words,
            Cells::Numbers(cells) => Words::of_numbers(&cells),
        }
    }
}

impl RawTable {
    /// Makes a table without rows.
    pub fn new(names: Vec<String>) -> Self {
        let column = |name| RawColumn { name, cells: Cells::Numbers(Numbers::default()) };
        RawTable { rows: 0, columns: names.into_iter().map(column).collect() }
    }

    /// Returns the same without rows, with columns of these names for codes, which keep their texts.
    #[must_use]
    pub fn with_codes(mut self, names: &[String]) -> Self {
        self.rows = 0;
        for column in &mut self.columns {
            column.cells = match names.contains(&column.name) {
                true => Cells::Codes(Words::default()),
                false => Cells::Numbers(Numbers::default()),
            };
        }
        self
    }

    /// Makes a table of columns.
    ///
    /// # Errors
    /// Columns of different lengths; no columns.
    pub fn from_columns(columns: Vec<RawColumn>) -> Result<Self, Error> {
        let rows = columns.first().ok_or(Error::Empty("columns"))?.len();
        for column in &columns {
            check_count("cells of a column", column.len(), "rows", rows)?;
        }
        Ok(RawTable { rows, columns })
    }

    /// Takes in a row of cells.
    ///
    /// # Errors
    /// Not one cell a column; a number that is not finite.
    pub fn push<S: AsRef<str>>(&mut self, row: &[S], missing: &MissingWords) -> Result<(), Error> {
        check_count("cells", row.len(), "columns", self.columns.len())?;
        let number = self.rows;
        for (column, cell) in row.iter().enumerate() {
            let cell = cell.as_ref().trim();
            self.push_cell(column, (!missing.contains(cell)).then_some(cell)).map_err(
                |reason| {
                    let column = self.columns[column].name.clone();
                    Error::Cell { row: number, column, reason }
                },
            )?;
        }
        self.end_row();
        Ok(())
    }

    /// Takes in a cell of the next row, without blanks around it; `None` is a missing value.
    #[inline]
    pub(crate) fn push_cell(&mut self, column: usize, cell: Option<&str>) -> Result<(), String> {
        self.columns[column].push(cell)
    }

    /// Takes in a number before the next comma as a cell of the next row, and returns its length; `None` of
    /// any other cell, and in a column that does not hold numbers.
    #[inline]
    pub(crate) fn push_leading(&mut self, column: usize, text: &[u8]) -> Option<usize> {
        let Cells::Numbers(cells) = &mut self.columns[column].cells else { return None };
        // The digits of a larger number count.
        let (number, length) = decimal::leading(text).filter(|(x, _)| x.abs() < MOST_EXACT)?;
        cells.push(Some(number));
        Some(length)
    }

    pub(crate) fn end_row(&mut self) {
        self.rows += 1;
    }

    pub(crate) fn reserve(&mut self, rows: usize) {
        for column in &mut self.columns {
            match &mut column.cells {
                Cells::Numbers(cells) => cells.reserve(rows),
                Cells::Words(words) | Cells::Codes(words) => words.reserve(rows),
            }
        }
    }

    /// Looks for the memory of further rows each time that the lists of cells become twice as long.
    pub(crate) fn check_growth(&self, more: usize) -> Result<(), Shortage> {
        let (before, after) = (self.rows.next_power_of_two(), self.rows.saturating_add(more));
        if after <= before {
            return Ok(());
        }
        let cells = after.saturating_mul(self.columns.len());
        Memory::from_bytes(cells.saturating_mul(size_of::<f64>())).check_free()
    }

    pub(crate) fn append(&mut self, more: Self) {
        for (column, more) in self.columns.iter_mut().zip(more.columns) {
            column.append(more);
        }
        self.rows += more.rows;
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the columns.
    pub fn columns(&self) -> &[RawColumn] {
        &self.columns
    }

    /// Returns the rows with the given indices, in their order.
    ///
    /// # Panics
    /// If an index is not below the number of rows.
    #[must_use]
    pub fn select(&self, indices: &[usize]) -> Self {
        let columns = self.columns.iter().map(|column| {
            let cells = match &column.cells {
                Cells::Numbers(cells) => Cells::Numbers(cells.select(indices)),
                Cells::Words(words) => Cells::Words(words.select(indices)),
                Cells::Codes(words) => Cells::Codes(words.select(indices)),
            };
            RawColumn { name: column.name.clone(), cells }
        });
        RawTable { rows: indices.len(), columns: columns.collect() }
    }
}
