use crate::class_name::{ranks, sorted_order};
use crate::encode::Words;
use crate::error::quoted;
use crate::{Error, Place};

/// The folds of a file: a column whose values, of any kind, name them.
pub(super) struct FileFolds {
    column: String,
    values: Words,
}

impl FileFolds {
    pub(super) fn new(column: &str) -> Self {
        FileFolds { column: column.to_owned(), values: Words::default() }
    }

    /// Takes the values of further rows.
    pub(super) fn append(&mut self, values: &Words) {
        values.iter().for_each(|fold| self.values.push(Some(fold)));
    }

    /// Returns the codes of the folds of the rows so far, and forgets the rows but for their folds.
    pub(super) fn take_codes(&mut self) -> Vec<u32> {
        self.values.take_codes()
    }

    /// Takes further rows of the same column, and returns the codes of their folds.
    pub(super) fn code(&mut self, more: &FileFolds) -> Vec<u32> {
        self.append(&more.values);
        self.take_codes()
    }

    /// Returns the number of every fold by its code, in the order of their values.
    pub(super) fn ranks(&self, file: &str) -> Result<Vec<u32>, Error> {
        if let [only] = self.values.names() {
            let (column, only) = (&self.column, quoted(only));
            let reason = format!("column '{column}' puts every row in fold {only}; two are needed");
            let place = Place::of_file(file);
            return Err(Error::Malformed { place, reason });
        }
        Ok(ranks(&sorted_order(self.values.names())))
    }

    /// Returns the number of the fold of every row.
    pub(super) fn numbers(mut self, file: &str) -> Result<Vec<usize>, Error> {
        let ranks = self.ranks(file)?;
        let codes = self.values.take_codes();
        Ok(codes.into_iter().map(|code| ranks[code as usize] as usize).collect())
    }
}
