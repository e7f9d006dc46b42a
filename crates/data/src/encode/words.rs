use std::collections::HashMap;

use super::numbers::Numbers;
use crate::decimal;

/// The most names that are compared one by one, which takes less time than a hash.
const FEW: usize = 8;

/// Words by their number in the order of first sight.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Words {
    names: Vec<String>,
    index: HashMap<String, u32>,
    cells: Vec<Option<u32>>,
}

impl Words {
    /// Returns numbers by their names.
    pub(super) fn of_numbers(numbers: &Numbers) -> Self {
        let mut words = Words::default();
        let mut known = HashMap::new();
        for cell in numbers.iter() {
            let number =
                |x: f64| *known.entry(x.to_bits()).or_insert_with(|| words.number_of(&name_of(x)));
            let cell = cell.map(number);
            words.cells.push(cell);
        }
        words
    }

    /// Takes in the word of the next row; `None` for a gap.
    pub(crate) fn push(&mut self, word: Option<&str>) {
        let cell = word.map(|word| self.number_of(word));
        self.cells.push(cell);
    }

    /// Takes memory for the words of so many further rows.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.cells.reserve(rows);
    }

    /// Returns the number of a word, if it is known.
    pub(crate) fn find(&self, word: &str) -> Option<u32> {
        match self.names.len() > FEW {
            true => self.index.get(word).copied(),
            false => self.names.iter().position(|name| name == word).map(|at| at as u32),
        }
    }

    /// Returns the number of a word, which is the next one if it is not known yet.
    pub(crate) fn number_of(&mut self, word: &str) -> u32 {
        self.find(word).unwrap_or_else(|| {
            let number = self.names.len() as u32;
            self.names.push(word.to_owned());
            self.index.insert(word.to_owned(), number);
            number
        })
    }

    /// Takes in the words of further rows.
    pub(crate) fn append(&mut self, more: &Words) {
        let numbers: Vec<u32> = more.names.iter().map(|word| self.number_of(word)).collect();
        self.cells.extend(more.cells.iter().map(|cell| cell.map(|cell| numbers[cell as usize])));
    }

    /// Returns the words of some rows.
    pub(super) fn select(&self, indices: &[usize]) -> Self {
        let cells = indices.iter().map(|&row| self.cells[row]).collect();
        Words { names: self.names.clone(), index: self.index.clone(), cells }
    }

    /// Returns the words of the rows that have one.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().flatten().map(|&number| self.names[number as usize].as_str())
    }

    /// Returns the word of every row, each of which has one, by its number, and forgets the rows but
    /// for their words.
    pub(crate) fn take_codes(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.cells).into_iter().flatten().collect()
    }

    /// Returns the words that occur.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the word of every row, by its number; `None` for a gap.
    pub(crate) fn cells(&self) -> &[Option<u32>] {
        &self.cells
    }
}

/// Returns a number as the name of a level.
pub(super) fn name_of(number: f64) -> String {
    // Minus zero is zero.
    (number + 0.0).to_string()
}

/// Returns true if a decimal number surely is its own name: few digits, none of them a zero that could be
/// left out. Other numbers may be their own names too.
pub(super) fn names_itself(cell: &str) -> bool {
    let digits = cell.strip_prefix('-').unwrap_or(cell);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "1"));
    let are_digits =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    digits.len() <= decimal::DIGITS
        && are_digits(whole)
        && are_digits(fraction)
        && (whole == "0" || !whole.starts_with('0'))
        && !fraction.ends_with('0')
        && cell != "-0"
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_number_that_names_itself_has_this_name(cell in "-?[01]?[0-9]{0,3}[.]?[0-9]{0,14}") {
            let number: Option<f64> = cell.parse().ok();
            let name = number.map(name_of);
            prop_assert!(!names_itself(&cell) || name.as_deref() == Some(&cell), "{cell}: {name:?}");
        }

        #[test]
        fn words_are_the_same_however_many_there_are(cells in proptest::collection::vec(0_u32..30, 0..60)) {
            let mut words = Words::default();
            cells.iter().for_each(|cell| words.push(Some(&cell.to_string())));
            let expected: Vec<String> = cells.iter().map(ToString::to_string).collect();
            prop_assert_eq!(words.iter().collect::<Vec<_>>(), expected);

            let numbers = Numbers::new(cells.iter().map(|&cell| f64::from(cell)).collect());
            prop_assert_eq!(Words::of_numbers(&numbers), words);
        }
    }

    #[test]
    fn short_decimals_name_themselves() {
        for cell in ["0", "7", "-7", "10", "39.1", "-0.5", "123456789012.5"] {
            assert!(names_itself(cell) && name_of(cell.parse().unwrap()) == cell, "{cell}");
        }
        for cell in ["", "-", "-0", "007", "7.0", "7.", ".5", "1e3", "+1", "1234567890123456", "x"]
        {
            assert!(!names_itself(cell), "{cell}");
        }
    }
}
