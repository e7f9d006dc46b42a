use std::collections::HashMap;

use crate::class_name::sorted_order;
use crate::error::quoted;
use crate::{Error, Place};

/// A collector that numbers the values of a fold column as they come.
#[derive(Default)]
pub(super) struct FoldCollector {
    numbers: HashMap<String, usize>,
    folds: Vec<usize>,
}

impl FoldCollector {
    /// Takes in the value of the next row.
    pub(super) fn push(&mut self, value: &str) {
        let fold = match self.numbers.get(value) {
            Some(&fold) => fold,
            None => {
                let fold = self.numbers.len();
                self.numbers.insert(value.to_owned(), fold);
                fold
            }
        };
        self.folds.push(fold);
    }

    /// Returns the folds, renumbered in the order of their values.
    pub(super) fn finish(self, file: &str, column: &str) -> Result<Vec<usize>, Error> {
        let (values, folds): (Vec<String>, Vec<usize>) = self.numbers.into_iter().unzip();
        if let [only] = &values[..] {
            let only = quoted(only);
            let reason = format!("column '{column}' puts every row in fold {only}; two are needed");
            let place = Place { file: file.to_owned(), line: None, column: None };
            return Err(Error::Malformed { place, reason });
        }
        let mut position = vec![0; values.len()];
        for (rank, value) in sorted_order(&values).into_iter().enumerate() {
            position[folds[value]] = rank;
        }
        Ok(self.folds.into_iter().map(|fold| position[fold]).collect())
    }
}
