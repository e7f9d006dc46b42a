use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt::Debug;

use crate::labels::number;
use crate::{ClassIndex, Error, Labels};

/// What a data set says of its samples: [`Labels`] of two classes, or [`Classes`] of two or more.
///
/// Nothing else can implement it.
pub trait Target: Debug + Clone + PartialEq + Send + Sync + sealed::Sealed {
    /// The names of the classes in order; with two classes the first is the negative one.
    fn names(&self) -> &[String];

    /// The class of a row, as an index into the names.
    ///
    /// # Panics
    /// If there is no such row.
    fn index(&self, row: usize) -> usize;

    /// Number of rows.
    fn len(&self) -> usize;

    /// Whether there are none (only after selecting none).
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows with the given indices, in their order; an index may repeat. The names stay, even if not all of
    /// the classes do.
    ///
    /// # Panics
    /// If an index is not below the number of rows.
    #[must_use]
    fn select(&self, indices: &[usize]) -> Self;

    /// The name of the class of a row.
    ///
    /// # Panics
    /// If there is no such row.
    fn class_of(&self, row: usize) -> &str {
        &self.names()[self.index(row)]
    }
}

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// Labels of two or more classes as indices, with the class names that they stand for.
///
/// ```
/// use margins_data::{Classes, Target};
///
/// let classes = Classes::new(&["10", "9", "8", "9.0"])?;
/// assert_eq!(classes.names(), ["8", "9", "10"]);
/// assert_eq!(classes.indices(), [2, 1, 0, 1]);
/// assert_eq!(classes.against_rest(1).signs(), [-1.0, 1.0, -1.0, 1.0]);
/// # Ok::<(), margins_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// In order, all different.
    names: Vec<String>,
    /// Below the number of names.
    indices: Vec<usize>,
}

impl Classes {
    /// Takes names of classes, of which at least two differ. Classes are in numeric order if all of them are numbers, else
    /// in alphabetical order; spellings of the same number are one class, as in [`Labels::new`].
    ///
    /// # Errors
    /// No value, a missing one such as NaN, or one class only.
    pub fn new<S: AsRef<str>>(values: &[S]) -> Result<Self, Error> {
        ClassCollector::default().take_all(values)?.take_classes()
    }

    /// Takes labels as data have them, which may turn out to be measurements: as [`Classes::new`] does, but labels that
    /// are all numbers must all be whole. The readers of files take labels so, and scikit-learn does (its `type_of_target` calls
    /// other numbers `continuous`).
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
    /// Those of [`Classes::new`]; [`Error::ContinuousLabel`].
    pub fn of_labels<S: AsRef<str>>(values: &[S]) -> Result<Self, Error> {
        ClassCollector::of_labels().take_all(values)?.take_classes()
    }

    /// From one index a row into the names of the classes, not all of which need to occur.
    ///
    /// # Errors
    /// Less than two names, two names of one class, or an index without a name.
    pub fn from_indices(indices: Vec<usize>, names: Vec<String>) -> Result<Self, Error> {
        if names.len() < 2 {
            let requirement = "at least 2";
            return Err(Error::parameter("the number of classes", names.len(), requirement));
        }
        ClassIndex::new(&names)?;
        if let Some(row) = indices.iter().position(|&class| class >= names.len()) {
            let (class, count) = (indices[row], names.len());
            return Err(Error::ClassIndex { row, class, count });
        }
        Ok(Classes { names, indices })
    }

    /// The class of every row.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// The rows of a class, ascending; [`rows_by_class`](Self::rows_by_class) has those of all classes in one pass.
    pub fn rows_of(&self, class: usize) -> Vec<usize> {
        (0..self.indices.len()).filter(|&row| self.indices[row] == class).collect()
    }

    /// Returns the rows of every class, ascending, in the order of the names.
    pub fn rows_by_class(&self) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new(); self.names.len()];
        self.indices.iter().enumerate().for_each(|(row, &class)| rows[class].push(row));
        rows
    }

    /// One class as the positive one against all others, or against the other.
    ///
    /// # Panics
    /// If there is no such class.
    pub fn against_rest(&self, class: usize) -> Labels {
        let positive = self.names[class].clone();
        let negative = match &self.names[..] {
            [first, second] => if class == 0 { second } else { first }.clone(),
            _ => format!("not {positive}"),
        };
        Labels::from_parts(self.signs_of(class), negative, positive)
    }

    /// Two classes, of which the second is positive; rows of neither count as negative, and must be left out or
    /// weigh nothing.
    ///
    /// # Panics
    /// If there is no such class.
    pub fn between(&self, negative: usize, positive: usize) -> Labels {
        let name = |class: usize| self.names[class].clone();
        Labels::from_parts(self.signs_of(positive), name(negative), name(positive))
    }

    fn signs_of(&self, positive: usize) -> Vec<f64> {
        self.indices.iter().map(|&class| if class == positive { 1.0 } else { -1.0 }).collect()
    }
}

impl<Y: Target> From<&Y> for Classes {
    fn from(target: &Y) -> Self {
        Classes {
            names: target.names().to_vec(),
            indices: (0..target.len()).map(|row| target.index(row)).collect(),
        }
    }
}

impl sealed::Sealed for Classes {}

impl Target for Classes {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn index(&self, row: usize) -> usize {
        self.indices[row]
    }

    fn len(&self) -> usize {
        self.indices.len()
    }

    fn select(&self, indices: &[usize]) -> Self {
        let indices = indices.iter().map(|&i| self.indices[i]).collect();
        Classes { names: self.names.clone(), indices }
    }
}

/// Turns label values into classes as they come, keeping each spelling once.
#[derive(Debug, Default)]
pub(crate) struct ClassCollector {
    /// In order of appearance.
    names: Vec<String>,
    index: ClassIndex,
    /// The class of every spelling so far.
    spellings: HashMap<String, usize>,
    indices: Vec<usize>,
    /// Whether a third class is refused.
    only_two: bool,
    /// What is looked at to tell labels from measurements; `None` where names of classes are given.
    numbers: Option<Numbers>,
}

/// What the labels so far are as numbers.
#[derive(Debug, Default)]
struct Numbers {
    /// Whether a label is no number, so that all of them are names.
    is_text: bool,
    /// The first label that is a number and not whole, with its row.
    fraction: Option<(usize, String)>,
}

impl Numbers {
    /// Looks at a label that is not missing.
    fn look_at(&mut self, row: usize, value: &str) {
        match value.trim().parse::<f64>() {
            Err(_) => self.is_text = true,
            Ok(x) if self.fraction.is_none() && x.is_finite() && x.fract() != 0.0 => {
                self.fraction = Some((row, value.to_owned()));
            }
            Ok(_) => {}
        }
    }

    /// The first label that shows all of them to be measurements: they are numbers, and this one is not whole.
    fn measurement(&self) -> Option<Error> {
        let (row, value) = self.fraction.as_ref().filter(|_| !self.is_text)?;
        Some(Error::ContinuousLabel { row: *row, value: value.clone() })
    }
}

impl ClassCollector {
    /// A collector of names that refuses a third class.
    pub(crate) fn of_two() -> Self {
        ClassCollector { only_two: true, ..Self::default() }
    }

    /// A collector of labels, which refuses measurements.
    pub(crate) fn of_labels() -> Self {
        ClassCollector { numbers: Some(Numbers::default()), ..Self::default() }
    }

    /// A collector of labels that refuses measurements and a third class.
    pub(crate) fn of_two_labels() -> Self {
        ClassCollector { only_two: true, ..Self::of_labels() }
    }

    /// A collector of two classes that are known beforehand, the negative one first.
    ///
    /// # Errors
    /// Two names of one class.
    pub(crate) fn of_known([negative, positive]: [&str; 2]) -> Result<Self, Error> {
        crate::labels::check_distinct(negative, positive)?;
        let names = vec![negative.to_owned(), positive.to_owned()];
        Ok(ClassCollector { index: ClassIndex::new(&names)?, names, ..Self::of_two() })
    }

    /// Takes the labels of all rows.
    pub(crate) fn take_all<S: AsRef<str>>(mut self, values: &[S]) -> Result<Self, Error> {
        values.iter().try_for_each(|value| self.push(value.as_ref()))?;
        Ok(self)
    }

    /// Takes the label of the next row.
    pub(crate) fn push(&mut self, value: &str) -> Result<(), Error> {
        if let Some(&class) = self.spellings.get(value) {
            self.indices.push(class);
            return Ok(());
        }
        let row = self.indices.len();
        let missing = value.parse().is_ok_and(f64::is_nan) || matches!(value, "NA" | "N/A" | "?");
        if missing {
            return Err(Error::MissingLabel { row, value: value.to_owned() });
        }
        if let Some(numbers) = &mut self.numbers {
            numbers.look_at(row, value);
        }
        let class = match self.index.get(value) {
            Some(class) => class,
            None => {
                self.check_third(row, value)?;
                self.names.push(value.to_owned());
                self.index.add(value)
            }
        };
        self.spellings.insert(value.to_owned(), class);
        self.indices.push(class);
        Ok(())
    }

    /// Refuses a new class beside two, if there may be no more.
    fn check_third(&self, row: usize, value: &str) -> Result<(), Error> {
        match &self.names[..] {
            [first, second] if self.only_two => {
                self.check_whole()?;
                let classes = [first.clone(), second.clone()];
                Err(Error::ThirdClass { row, value: value.to_owned(), classes })
            }
            _ => Ok(()),
        }
    }

    /// Refuses labels that are measurements.
    fn check_whole(&self) -> Result<(), Error> {
        match self.numbers.as_ref().and_then(Numbers::measurement) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Returns true if some label so far is a number that is not whole.
    pub(crate) fn has_fraction(&self) -> bool {
        self.numbers.as_ref().is_some_and(|numbers| numbers.fraction.is_some())
    }

    /// The labels so far as those of two classes. They are forgotten but for their classes, so that even one class will do
    /// where two have been seen before.
    ///
    /// # Errors
    /// As [`Labels::with_positive`]; labels that are measurements.
    pub(crate) fn take_labels(&mut self, positive: Option<&str>) -> Result<Labels, Error> {
        self.check_whole()?;
        let indices = std::mem::take(&mut self.indices);
        self.two(&indices, positive)
    }

    /// The labels so far, of all classes. They are forgotten, and their classes with them.
    ///
    /// # Errors
    /// As [`Classes::of_labels`].
    pub(crate) fn take_classes(&mut self) -> Result<Classes, Error> {
        self.check_whole()?;
        let ClassCollector { names, indices, .. } = std::mem::take(self);
        Self::check_count(&names, indices.len())?;
        let order = sorted_order(&names);
        let mut rank = vec![0; names.len()];
        order.iter().enumerate().for_each(|(k, &class)| rank[class] = k);
        Ok(Classes {
            indices: indices.into_iter().map(|class| rank[class]).collect(),
            names: order.into_iter().map(|class| names[class].clone()).collect(),
        })
    }

    fn check_count(names: &[String], rows: usize) -> Result<(), Error> {
        match names {
            [] => Err(Error::Empty("labels")),
            [only] => Err(Error::OneClass { class: only.clone(), rows }),
            _ => Ok(()),
        }
    }

    fn two(&self, indices: &[usize], positive: Option<&str>) -> Result<Labels, Error> {
        let names = &self.names;
        Self::check_count(names, indices.len())?;
        let positive_class = match positive {
            None => sorted_order(names)[1],
            Some(positive) => match self.index.get(positive) {
                Some(class) => class,
                None => {
                    let classes = [names[0].clone(), names[1].clone()];
                    return Err(Error::UnknownClass { class: positive.to_owned(), classes });
                }
            },
        };
        let signs = indices.iter().map(|&c| if c == positive_class { 1.0 } else { -1.0 }).collect();
        let [negative, positive] = [1 - positive_class, positive_class].map(|c| names[c].clone());
        Ok(Labels::from_parts(signs, negative, positive))
    }
}

/// The order of values, as indices: numeric if all of them are numbers, else alphabetical. (By pairs the two
/// orders together are none: 2 < 10, "10" < "1a" and "1a" < "2".)
pub(crate) fn sorted_order<S: AsRef<str>>(values: &[S]) -> Vec<usize> {
    let numbers: Option<Vec<f64>> = values.iter().map(|value| number(value.as_ref())).collect();
    let compare = |&i: &usize, &j: &usize| -> Ordering {
        let by_text = || values[i].as_ref().cmp(values[j].as_ref());
        match &numbers {
            Some(numbers) => numbers[i].total_cmp(&numbers[j]).then_with(by_text),
            None => by_text(),
        }
    };
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(compare);
    order
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
