//! Cross-validation folds, one per row. A fold has a name, and a number by the order of the names.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Dataset;
use crate::class_name::{ranks, sorted_order};
use crate::codes::Codes;
use crate::error::check_count;
use crate::{ClassLabels, Error};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Folds {
    pub(crate) of_rows: Vec<usize>,
    /// The names of the folds, in the order of their numbers.
    pub(crate) names: Arc<[String]>,
}

impl Folds {
    /// Takes the number of the fold of every row; only their order counts.
    pub(crate) fn of_numbers(mut numbers: Vec<usize>) -> Result<Self, Error> {
        // Few folds of many rows are looked up faster than they are sorted.
        let mut ranks = BTreeMap::new();
        numbers.iter().for_each(|&fold| _ = ranks.entry(fold).or_insert(0));
        ranks.values_mut().zip(0..).for_each(|(rank, position)| *rank = position);
        let names: Arc<[String]> = ranks.keys().map(ToString::to_string).collect();
        Self::check_two(&names)?;
        numbers.iter_mut().for_each(|fold| *fold = ranks[fold]);
        Ok(Folds { of_rows: numbers, names })
    }

    pub(crate) fn of_names<S: AsRef<str>>(values: &[S]) -> Result<Self, Error> {
        let mut codes = Codes::default();
        values.iter().for_each(|value| codes.push(value.as_ref()));
        Self::of_codes(codes)
    }

    pub(crate) fn of_codes(mut codes: Codes) -> Result<Self, Error> {
        Self::check_two(codes.names())?;
        let order = sorted_order(codes.names());
        let ranks = ranks(&order);
        let rank = |code: u32| ranks[code as usize] as usize;
        let of_rows = codes.take_rows().into_iter().map(rank).collect();
        let names = order.into_iter().map(|code| codes.names()[code].clone()).collect();
        Ok(Folds { of_rows, names })
    }

    /// Returns the folds of some rows, numbered again; `None` if fewer than two are left.
    pub(super) fn select(&self, indices: &[usize]) -> Option<Self> {
        let left = Self::of_numbers(indices.iter().map(|&row| self.of_rows[row]).collect()).ok()?;
        let mut is_left = vec![false; self.names.len()];
        indices.iter().for_each(|&row| is_left[self.of_rows[row]] = true);
        let names = self.names.iter().zip(is_left).filter_map(|(name, left)| left.then_some(name));
        Some(Folds { names: names.cloned().collect(), ..left })
    }

    /// Refuses fewer than two folds.
    pub(crate) fn check_two(names: &[String]) -> Result<(), Error> {
        match names {
            [] => Err(Error::Empty("rows")),
            [only] => Err(Error::OneFold { fold: only.clone() }),
            _ => Ok(()),
        }
    }

    /// Refuses another number of folds than of rows.
    pub(super) fn check_rows(&self, rows: usize) -> Result<(), Error> {
        check_count("folds", self.of_rows.len(), "rows", rows)
    }
}

impl<Y: ClassLabels> Dataset<Y> {
    /// Gives every row the number of its cross-validation fold. Any numbers will do: they name the
    /// folds in messages, and [`folds`](Self::folds) counts the folds from 0 in their order.
    ///
    /// ```
    /// use margins_data::{Dataset, Design, Labels};
    ///
    /// let design = Design::from_rows(&[[0.0], [1.0], [2.0]])?;
    /// let labels = Labels::from_signs(vec![-1.0, 1.0, 1.0])?;
    /// let data = Dataset::new(design, labels)?.with_folds(vec![30, 10, 30])?;
    /// assert_eq!(data.folds(), Some(&[1, 0, 1][..]));
    /// assert_eq!(data.fold_names().unwrap(), ["10", "30"]);
    /// # Ok::<(), margins_data::Error>(())
    /// ```
    ///
    /// # Errors
    /// Not one fold per row, or fewer than two folds.
    pub fn with_folds(self, folds: Vec<usize>) -> Result<Self, Error> {
        check_count("folds", folds.len(), "rows", self.rows())?;
        Ok(self.in_folds(Folds::of_numbers(folds)?))
    }

    /// Gives every row the name of its cross-validation fold. Spellings of one number, such as `1`
    /// and `1.0`, are one fold, as they are one class in [`Labels::new`](crate::Labels::new). Folds are counted from 0 in
    /// numeric order if all names are numbers, else in alphabetical order.
    ///
    /// # Errors
    /// Not one fold per row, or fewer than two folds.
    pub fn with_fold_names<S: AsRef<str>>(self, names: &[S]) -> Result<Self, Error> {
        check_count("folds", names.len(), "rows", self.rows())?;
        Ok(self.in_folds(Folds::of_names(names)?))
    }

    pub(crate) fn in_folds(mut self, folds: Folds) -> Self {
        self.folds = Some(folds);
        self
    }

    /// Returns the names of the folds in the order of their numbers, if there are folds.
    pub fn fold_names(&self) -> Option<&[String]> {
        self.folds.as_ref().map(|folds| &*folds.names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Design, Labels};

    fn four_rows() -> Dataset {
        let design = Design::from_rows(&[[0.0], [1.0], [2.0], [3.0]]).unwrap();
        Dataset::new(design, Labels::new(&["a", "b", "a", "b"]).unwrap()).unwrap()
    }

    #[test]
    fn numbers_and_names_of_folds_follow_one_rule() {
        let beyond = 1_usize << 32;
        let numbered = four_rows().with_folds(vec![beyond, 0, 0, beyond + 1]).unwrap();
        assert_eq!(numbered.folds(), Some(&[1, 0, 0, 2][..]));
        assert_eq!(numbered.fold_names().unwrap(), ["0", "4294967296", "4294967297"]);
        let named = four_rows().with_fold_names(&["10", "9", "9.0", "1e1"]).unwrap();
        assert_eq!(named.folds(), Some(&[1, 0, 0, 1][..]));
        assert_eq!(named.fold_names().unwrap(), ["9", "10"]);
        let part = numbered.select(&[3, 0]);
        assert_eq!(part.folds(), Some(&[1, 0][..]));
        assert_eq!(part.fold_names().unwrap(), ["4294967296", "4294967297"]);
        for values in [vec!["1", "1.0", "+1", "1"], vec!["7", "7", "7", "7"]] {
            let refused = four_rows().with_fold_names(&values);
            assert!(matches!(refused, Err(Error::OneFold { fold }) if fold == values[0]));
        }
    }
}
