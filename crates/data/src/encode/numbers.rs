//! Raw columns of numbers with missing values.

use super::level_name::{MOST_EXACT, name_of, name_of_written};

/// Numbers with missing values, in the order of the rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers {
    /// The numbers, all finite, and NaN for missing values.
    cells: Vec<f64>,
    /// The rows, ascending, whose numbers have other digits in the file than in 64 bits, with these
    /// digits: the cells may turn out to be categories.
    digits: Vec<(usize, Box<str>)>,
}

impl Numbers {
    /// Takes numbers of which none is infinite, and NaN is a missing value.
    pub(super) fn new(cells: Vec<f64>) -> Self {
        Numbers { cells, digits: Vec::new() }
    }

    /// Takes in the finite number of the next row; `None` for a missing value.
    #[inline]
    pub(super) fn push(&mut self, number: Option<f64>) {
        self.cells.push(number.unwrap_or(f64::NAN));
    }

    /// Takes in the finite number of the next row, which is written like this.
    #[inline]
    pub(super) fn push_written(&mut self, number: f64, written: &str) {
        if number.abs() >= MOST_EXACT {
            self.keep_digits(number, written);
        }
        self.cells.push(number);
    }

    /// Keeps the digits of the number of the next row if 64 bits do not hold them.
    fn keep_digits(&mut self, number: f64, written: &str) {
        let name = name_of_written(number, written);
        if name != name_of(number) {
            self.digits.push((self.cells.len(), name.into()));
        }
    }

    pub(super) fn reserve(&mut self, rows: usize) {
        self.cells.reserve(rows);
    }

    /// Returns the number of further rows that there is memory for.
    pub(super) fn spare(&self) -> usize {
        self.cells.capacity() - self.cells.len()
    }

    pub(super) fn append(&mut self, more: &Numbers) {
        let before = self.cells.len();
        self.cells.extend_from_slice(&more.cells);
        let digits = more.digits.iter().map(|(row, digits)| (before + row, digits.clone()));
        self.digits.extend(digits);
    }

    pub(super) fn select(&self, indices: &[usize]) -> Self {
        let digits = indices.iter().enumerate().filter_map(|(row, from)| {
            let at = self.digits.binary_search_by_key(from, |&(row, _)| row).ok()?;
            Some((row, self.digits[at].1.clone()))
        });
        Numbers {
            digits: digits.collect(),
            cells: indices.iter().map(|&row| self.cells[row]).collect(),
        }
    }

    /// Returns the number of a row; `None` for a missing value.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<f64> {
        let number = self.cells[row];
        (!number.is_nan()).then_some(number)
    }

    /// Returns the number of every row; `None` for a missing value.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<f64>> {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Returns the number of every row, `None` for a missing value, with its digits where 64 bits do not hold
    /// them.
    pub(super) fn with_digits(&self) -> impl Iterator<Item = (Option<f64>, Option<&str>)> {
        let mut digits = self.digits.iter().peekable();
        self.iter().enumerate().map(move |(row, number)| {
            let own = digits.next_if(|(at, _)| *at == row);
            (number, own.map(|(_, digits)| &**digits))
        })
    }

    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }
}

impl PartialEq for Numbers {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.with_digits().eq(other.with_digits())
    }
}
