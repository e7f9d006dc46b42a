//! The column of cross-validation folds of a file.

use crate::codes::Codes;
use crate::dataset::Folds;
use crate::encode::Words;
use crate::{Column, Error, Place};

/// The folds of a file: a column whose values, of any kind, name them.
pub(super) struct FileFolds {
    column: String,
    values: Codes,
}

impl FileFolds {
    pub(super) fn new(column: &str) -> Self {
        FileFolds { column: column.to_owned(), values: Codes::default() }
    }

    pub(super) fn append(&mut self, values: &Words) {
        self.values.append(values);
    }

    /// Returns the codes of the folds of the rows so far, and forgets the rows but not their folds.
    pub(super) fn take_codes(&mut self) -> Vec<u32> {
        self.values.take_rows()
    }

    /// Takes further rows of the same column, and returns the codes of their folds.
    pub(super) fn code(&mut self, mut more: FileFolds) -> Vec<u32> {
        let codes: Vec<u32> =
            more.values.names().iter().map(|name| self.values.code_of(name)).collect();
        more.take_codes().into_iter().map(|code| codes[code as usize]).collect()
    }

    pub(super) fn folds(self, file: &str) -> Result<Folds, Error> {
        let FileFolds { column, values } = self;
        Folds::of_codes(values).map_err(|error| placed(file, column, &error))
    }

    pub(super) fn names(self, file: &str) -> Result<Vec<String>, Error> {
        let FileFolds { column, values } = self;
        let names = values.into_names();
        Folds::check_two(&names).map_err(|error| placed(file, column, &error))?;
        Ok(names)
    }
}

fn placed(file: &str, column: String, error: &Error) -> Error {
    let place = Place { column: Some(Column::Name(column)), ..Place::of_file(file) };
    Error::Malformed { place, reason: error.to_string() }
}
