//! Raw columns of words: each word is stored once, and cells hold its number.

use std::collections::HashMap;

use super::level_name::name_of;
use super::numbers::Numbers;

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
    pub(super) fn of_numbers(numbers: &Numbers) -> Self {
        let mut words = Words::default();
        let mut known = HashMap::new();
        for (number, digits) in numbers.with_digits() {
            let cell = number.map(|x| match digits {
                Some(digits) => words.number_of(digits),
                None => *known.entry(x.to_bits()).or_insert_with(|| words.number_of(&name_of(x))),
            });
            words.cells.push(cell);
        }
        words
    }

    /// Takes in the word of the next row; `None` for a missing value.
    pub(crate) fn push(&mut self, word: Option<&str>) {
        let cell = word.map(|word| self.number_of(word));
        self.cells.push(cell);
    }

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

    pub(crate) fn append(&mut self, more: &Words) {
        let numbers: Vec<u32> = more.names.iter().map(|word| self.number_of(word)).collect();
        self.cells.extend(more.cells.iter().map(|cell| cell.map(|cell| numbers[cell as usize])));
    }

    pub(super) fn select(&self, indices: &[usize]) -> Self {
        let cells = indices.iter().map(|&row| self.cells[row]).collect();
        Words { names: self.names.clone(), index: self.index.clone(), cells }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().flatten().map(|&number| self.names[number as usize].as_str())
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the word of every row, by its number; `None` for a missing value.
    pub(crate) fn cells(&self) -> &[Option<u32>] {
        &self.cells
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
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
    fn digits_are_kept_where_64_bits_lose_them() {
        let written =
            ["9007199254740992", "9007199254740993", "-1e3", "9007199254740993.0", "1e300"];
        let mut numbers = Numbers::default();
        written.iter().for_each(|cell| numbers.push_written(cell.parse().unwrap(), cell));
        let mut twice = numbers.clone();
        twice.append(&numbers.select(&[3, 0, 2]));
        let words = Words::of_numbers(&twice);
        assert_eq!(words.names()[..3], ["9007199254740992", "9007199254740993", "-1000"]);
        assert_eq!(words.names()[3], format!("1{}", "0".repeat(300)));
        let cells = [0, 1, 2, 1, 3, 1, 0, 2].map(Some);
        assert_eq!(words.cells(), cells);
    }
}
