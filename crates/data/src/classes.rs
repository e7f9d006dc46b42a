//! Labels of two or more classes.

use std::sync::Arc;

use crate::class_collector::ClassCollector;
use crate::class_labels::sealed;
use crate::{ClassIndex, ClassLabels, Error, Labels};

/// Labels of two or more classes as indices, with the class names that they stand for. Clones share
/// the indices.
///
/// ```
/// use margins_data::{ClassLabels, Classes};
///
/// let classes = Classes::new(&["10", "9", "8", "9.0"])?;
/// assert_eq!(classes.names(), ["8", "9", "10"]);
/// assert_eq!(classes.indices(), [2, 1, 0, 1]);
/// assert_eq!(classes.against_rest(1).signs(), [-1.0, 1.0, -1.0, 1.0]);
/// # Ok::<(), margins_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// The names of the classes, in order, all different.
    names: Vec<String>,
    /// The class of every row, below the number of names.
    indices: Arc<Vec<u32>>,
}

impl Classes {
    /// Takes names of classes, of which at least two differ. Classes are in numeric order if all of
    /// them are numbers, else in alphabetical order; spellings of the same number are one class, as
    /// in [`Labels::new`].
    ///
    /// # Errors
    /// No value, a missing one such as NaN, or one class only.
    pub fn new<S: AsRef<str>>(values: &[S]) -> Result<Self, Error> {
        Self::collected(&mut ClassCollector::default().take_all(values)?)
    }

    /// Takes labels as data have them, which may turn out to be measurements: as [`Classes::new`]
    /// does, but labels that are all numbers must all be whole. The readers of files take labels
    /// so, and scikit-learn does (its `type_of_target` calls other numbers `continuous`).
    ///
    /// ```
    /// use margins_data::{Classes, Error};
    ///
    /// assert!(Classes::of_labels(&["1", "2.0", "1"]).is_ok());
    /// assert!(Classes::of_labels(&["0.5", "high", "0.5"]).is_ok());
    /// let refused = Classes::of_labels(&["1", "0.37", "1"]).unwrap_err();
    /// assert!(matches!(refused, Error::ContinuousLabel { row: 1, .. }));
    /// assert!(Classes::new(&["1", "0.37", "1"]).is_ok());
    /// ```
    ///
    /// # Errors
    /// The errors of [`Classes::new`]; [`Error::ContinuousLabel`].
    pub fn of_labels<S: AsRef<str>>(values: &[S]) -> Result<Self, Error> {
        Self::collected(&mut ClassCollector::of_labels().take_all(values)?)
    }

    /// Takes the labels that a collector has seen, and their classes with them.
    ///
    /// # Errors
    /// The errors of [`Classes::of_labels`].
    pub(crate) fn collected(collector: &mut ClassCollector) -> Result<Self, Error> {
        let (names, indices) = collector.take_indices()?;
        Ok(Self::from_parts(indices, names))
    }

    fn from_parts(indices: Vec<u32>, names: Vec<String>) -> Self {
        Classes { names, indices: Arc::new(indices) }
    }

    /// Makes labels from one index a row into the names of the classes, not all of which need to
    /// occur.
    ///
    /// # Errors
    /// Less than two names, two names of one class, or an index without a name.
    pub fn from_indices(indices: Vec<u32>, names: Vec<String>) -> Result<Self, Error> {
        if names.len() < 2 {
            let requirement = "at least 2";
            return Err(Error::parameter("the number of classes", names.len(), requirement));
        }
        ClassIndex::new(&names)?;
        if let Some(row) = indices.iter().position(|&class| class as usize >= names.len()) {
            let (class, count) = (indices[row] as usize, names.len());
            return Err(Error::ClassIndex { row, class, count });
        }
        Ok(Self::from_parts(indices, names))
    }

    /// Returns the class of every row.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Returns the rows of a class, ascending; [`rows_by_class`](Self::rows_by_class) has those of
    /// all classes in one pass.
    pub fn rows_of(&self, class: usize) -> Vec<usize> {
        (0..self.indices.len()).filter(|&row| self.index(row) == class).collect()
    }

    /// Returns the rows of every class, ascending, in the order of the names.
    pub fn rows_by_class(&self) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new(); self.names.len()];
        self.indices.iter().enumerate().for_each(|(row, &class)| rows[class as usize].push(row));
        rows
    }

    /// Returns the labels of one class as the positive one against all others, or against the
    /// other.
    ///
    /// # Panics
    /// If there is no such class.
    pub fn against_rest(&self, class: usize) -> Labels {
        let positive = self.names[class].clone();
        let negative = match &self.names[..] {
            [first, second] => if class == 0 { second } else { first }.clone(),
            _ => format!("not {positive}"),
        };
        Labels::from_parts(self.are_of(class), negative, positive)
    }

    /// Returns the labels of two classes, of which the second is positive; rows of neither count as
    /// negative, and must be left out or weigh nothing.
    ///
    /// # Panics
    /// If there is no such class.
    pub fn between(&self, negative: usize, positive: usize) -> Labels {
        let name = |class: usize| self.names[class].clone();
        Labels::from_parts(self.are_of(positive), name(negative), name(positive))
    }

    /// Returns the labels of some rows, which are of two classes, of which the second is positive.
    ///
    /// # Panics
    /// If there is no such class or row.
    pub fn pair(&self, negative: usize, positive: usize, rows: &[usize]) -> Labels {
        let name = |class: usize| self.names[class].clone();
        let is_positive = rows.iter().map(|&row| self.index(row) == positive).collect();
        Labels::from_parts(is_positive, name(negative), name(positive))
    }

    fn are_of(&self, class: usize) -> Vec<bool> {
        (0..self.len()).map(|row| self.index(row) == class).collect()
    }
}

impl<Y: ClassLabels> From<&Y> for Classes {
    fn from(labels: &Y) -> Self {
        Classes { names: labels.names().to_vec(), indices: labels.shared_indices() }
    }
}

impl sealed::Sealed for Classes {
    const ONLY_TWO: bool = false;

    fn of_indices(indices: Vec<u32>, names: &[String]) -> Self {
        Self::from_parts(indices, names.to_vec())
    }
}

impl ClassLabels for Classes {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn index(&self, row: usize) -> usize {
        self.indices[row] as usize
    }

    fn len(&self) -> usize {
        self.indices.len()
    }

    fn select(&self, indices: &[usize]) -> Self {
        let indices = indices.iter().map(|&i| self.indices[i]).collect();
        Self::from_parts(indices, self.names.clone())
    }

    fn shared_indices(&self) -> Arc<Vec<u32>> {
        Arc::clone(&self.indices)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::same_class;

    #[test]
    fn order_of_the_classes() {
        for (values, names) in [
            (["10", "9", "1e1", "-3"], vec!["-3", "9", "10"]),
            (["10", "2", "1a", "2"], vec!["10", "1a", "2"]),
            (["true", "false", "true", "false"], vec!["false", "true"]),
        ] {
            let classes = Classes::new(&values).unwrap();
            assert_eq!(classes.names(), names);
            for (row, value) in values.iter().enumerate() {
                assert!(same_class(classes.class_of(row), value));
            }
        }
    }

    #[test]
    fn pairs_and_rests() {
        let classes = Classes::new(&["b", "c", "a", "b"]).unwrap();
        let rest = classes.against_rest(1);
        assert_eq!((rest.negative_class(), rest.positive_class()), ("not b", "b"));
        let pair = classes.between(0, 2);
        assert_eq!((pair.negative_class(), pair.positive_class()), ("a", "c"));
        assert_eq!(pair.signs(), [-1.0, 1.0, -1.0, -1.0]);
        assert_eq!(classes.rows_of(1), [0, 3]);
        assert_eq!(classes.pair(0, 2, &[2, 1]), pair.select(&[2, 1]));
        let two = Classes::new(&["x", "y"]).unwrap();
        assert_eq!(two.against_rest(1), Labels::new(&["x", "y"]).unwrap());
        assert_eq!(two.against_rest(0).negative_class(), "y");
    }

    #[test]
    fn refusals() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let message = |result: Result<Classes, Error>| result.unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                message(Classes::new::<&str>(&[])),
                message(Classes::new(&["a", "a"])),
                message(Classes::new(&["a", "b", "nan"])),
                message(Classes::from_indices(vec![0], names(&["a"]))),
                message(Classes::from_indices(vec![0], names(&["1", "b", "1.0"]))),
                message(Classes::from_indices(vec![0, 2], names(&["a", "b"]))),
            ]
            .join("\n")
        );
    }

    proptest! {
        /// Two classes are the same as labels and as classes, whatever their names.
        #[test]
        fn two_classes_are_labels(values in proptest::collection::vec("[0-9a]{1,2}", 1..20)) {
            match (Classes::new(&values), Labels::new(&values)) {
                (Ok(classes), Ok(labels)) => {
                    prop_assert_eq!(&classes.against_rest(1), &labels);
                    prop_assert_eq!(classes, Classes::from(&labels));
                }
                (Ok(classes), Err(error)) => {
                    prop_assert!(classes.names().len() > 2);
                    let third = matches!(error, Error::ThirdClass { .. });
                    prop_assert!(third);
                }
                (Err(one), Err(other)) => prop_assert_eq!(one.to_string(), other.to_string()),
                (Err(error), Ok(_)) => prop_assert!(false, "{}", error),
            }
        }
    }
}
