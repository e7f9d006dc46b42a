//! Values of rows, such as labels or folds, as codes in the order of their first occurrence.

use crate::ClassIndex;
use crate::encode::Words;

/// The values of rows by their codes. Spellings of one number, such as `1` and `1.0`, share a code,
/// by [`same_class`](crate::same_class).
#[derive(Debug, Default)]
pub(crate) struct Codes {
    /// The value of every code, in the spelling that came first.
    names: Vec<String>,
    index: ClassIndex,
    /// The spellings so far, and the code of each.
    spellings: Words,
    of_spellings: Vec<u32>,
    rows: Vec<u32>,
}

impl Codes {
    /// Returns no rows, of values that are known beforehand and differ.
    pub(crate) fn of_known(names: Vec<String>, index: ClassIndex) -> Self {
        Codes { names, index, ..Self::default() }
    }

    /// Returns the code of a value that occurred in this spelling.
    pub(crate) fn spelled(&self, value: &str) -> Option<u32> {
        self.spellings.find(value).map(|spelling| self.of_spellings[spelling as usize])
    }

    pub(crate) fn push(&mut self, value: &str) {
        let code = self.code_of(value);
        self.push_code(code);
    }

    pub(crate) fn push_code(&mut self, code: u32) {
        self.rows.push(code);
    }

    /// Takes the values of further rows, each of which has one.
    pub(crate) fn append(&mut self, more: &Words) {
        let codes: Vec<u32> = more.names().iter().map(|name| self.code_of(name)).collect();
        self.rows.extend(more.cells().iter().flatten().map(|&cell| codes[cell as usize]));
    }

    /// Returns the code of a value, which is the next one if the value is new.
    pub(crate) fn code_of(&mut self, value: &str) -> u32 {
        self.spelled(value).unwrap_or_else(|| {
            let code = self.index.add(value);
            if code == self.names.len() {
                self.names.push(value.to_owned());
            }
            self.spellings.number_of(value);
            self.of_spellings.push(code as u32);
            code as u32
        })
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the value of every code, and forgets the rows.
    pub(crate) fn into_names(self) -> Vec<String> {
        self.names
    }

    /// Returns the code of a value that occurred, in any spelling.
    pub(crate) fn code(&self, value: &str) -> Option<usize> {
        self.index.get(value)
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Returns the codes of the rows so far, and forgets the rows but not the codes of their values.
    pub(crate) fn take_rows(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.rows)
    }
}
