//! Labels of two classes as signs.

use std::sync::{Arc, OnceLock};

use crate::class_collector::ClassCollector;
use crate::class_labels::sealed;
use crate::class_name::{check_distinct, same_class};
use crate::error::check_signs;
use crate::{ClassLabels, Error};

/// Labels of two classes as signs, +1 and -1, with the class names that they stand for. Clones share
/// the signs.
#[derive(Debug, Clone)]
pub struct Labels {
    positive: Arc<Vec<bool>>,
    /// The labels as signs, made where somebody asks for them: signs take eight times the memory.
    signs: Arc<OnceLock<Vec<f64>>>,
    /// The names of the negative and of the positive class.
    names: [String; 2],
}

impl PartialEq for Labels {
    fn eq(&self, other: &Self) -> bool {
        self.positive == other.positive && self.names == other.names
    }
}

impl Labels {
    /// Makes labels of values of which exactly two differ. Positive is the later of the two: in
    /// numeric order if both are numbers, so that -1 < +1 and 0 < 1, else in alphabetical order.
    ///
    /// Spellings of the same number, such as `1`, `+1` and `1.0`, are one class; it goes by the
    /// spelling that comes first.
    ///
    /// # Errors
    /// No value, one class only, or a third class.
    pub fn new<S: AsRef<str>>(values: &[S]) -> Result<Self, Error> {
        Self::collected(&mut ClassCollector::of_two().take_all(values)?, None)
    }

    /// Makes labels as [`Labels::new`] does, with the positive class named.
    ///
    /// # Errors
    /// The errors of [`Labels::new`], or `positive` is neither class.
    pub fn with_positive<S: AsRef<str>>(values: &[S], positive: &str) -> Result<Self, Error> {
        Self::collected(&mut ClassCollector::of_two().take_all(values)?, Some(positive))
    }

    /// Makes labels of values of two classes that are known beforehand, such as those of a trained
    /// model. Both need not occur.
    ///
    /// # Errors
    /// No value, a value of neither class, or two names of one class.
    pub fn with_classes<S: AsRef<str>>(
        values: &[S],
        negative: &str,
        positive: &str,
    ) -> Result<Self, Error> {
        check_distinct(negative, positive)?;
        if values.is_empty() {
            return Err(Error::Empty("labels"));
        }
        let is_positive = |(row, value): (usize, &S)| {
            let value = value.as_ref();
            if same_class(value, positive) {
                Ok(true)
            } else if same_class(value, negative) {
                Ok(false)
            } else {
                let classes = [negative.to_owned(), positive.to_owned()];
                Err(Error::ThirdClass { row, value: value.to_owned(), classes })
            }
        };
        let is_positive = values.iter().enumerate().map(is_positive).collect::<Result<_, _>>()?;
        Ok(Self::from_parts(is_positive, negative.to_owned(), positive.to_owned()))
    }

    /// Makes labels of signs, each 1 or -1 and both present; the classes are named "1" and "-1".
    ///
    /// # Errors
    /// No sign, another value, or one class only.
    pub fn from_signs(signs: Vec<f64>) -> Result<Self, Error> {
        check_signs(&signs)?;
        let Some(&first) = signs.first() else { return Err(Error::Empty("labels")) };
        if signs.iter().all(|&s| s == first) {
            return Err(Error::OneClass { class: first.to_string(), rows: signs.len() });
        }
        let positive = signs.iter().map(|&sign| sign > 0.0).collect();
        let labels = Self::from_parts(positive, "-1".to_owned(), "1".to_owned());
        Ok(Labels { signs: Arc::new(OnceLock::from(signs)), ..labels })
    }

    /// Takes the labels that a collector has seen, and leaves it their classes.
    ///
    /// # Errors
    /// The errors of [`Labels::with_positive`]; labels that are measurements.
    pub(crate) fn collected(
        collector: &mut ClassCollector,
        positive: Option<&str>,
    ) -> Result<Self, Error> {
        let (is_positive, [negative, positive]) = collector.take_positive(positive)?;
        Ok(Self::from_parts(is_positive, negative, positive))
    }

    /// Makes labels of two different classes, given which samples are of the positive one.
    pub(crate) fn from_parts(is_positive: Vec<bool>, negative: String, positive: String) -> Self {
        let names = [negative, positive];
        Labels { positive: Arc::new(is_positive), signs: Arc::default(), names }
    }

    /// Returns +1.0 or -1.0 for every sample. The first call makes them, for all clones;
    /// [`positive`](Self::positive) has them with a byte per sample.
    pub fn signs(&self) -> &[f64] {
        let sign = |&positive: &bool| if positive { 1.0 } else { -1.0 };
        self.signs.get_or_init(|| self.positive.iter().map(sign).collect())
    }

    /// Returns true for every sample of the positive class, and false for all others.
    pub fn positive(&self) -> &[bool] {
        &self.positive
    }

    /// Returns the number of labels.
    pub fn len(&self) -> usize {
        self.positive.len()
    }

    /// Returns true if there are no labels, as after selecting none.
    pub fn is_empty(&self) -> bool {
        self.positive.is_empty()
    }

    /// Returns the name of the class with sign +1.
    pub fn positive_class(&self) -> &str {
        &self.names[1]
    }

    /// Returns the name of the class with sign -1.
    pub fn negative_class(&self) -> &str {
        &self.names[0]
    }

    /// Returns the name of the class that a score or a sign stands for: positive where it is > 0.
    pub fn class_name(&self, sign: f64) -> &str {
        &self.names[usize::from(sign > 0.0)]
    }

    /// Returns the number of labels of the positive class.
    pub fn count_positive(&self) -> usize {
        self.positive.iter().filter(|&&positive| positive).count()
    }

    /// Returns the labels with the given indices, in their order; an index may repeat. The class
    /// names stay, even if only one of the classes does.
    ///
    /// # Panics
    /// If an index is not below the number of labels.
    pub fn select(&self, indices: &[usize]) -> Labels {
        let [negative, positive] = self.names.clone();
        Self::from_parts(indices.iter().map(|&i| self.positive[i]).collect(), negative, positive)
    }
}

impl sealed::Sealed for Labels {
    const ONLY_TWO: bool = true;

    fn of_indices(indices: Vec<u32>, names: &[String]) -> Self {
        let positive = indices.iter().map(|&class| class == 1).collect();
        Self::from_parts(positive, names[0].clone(), names[1].clone())
    }
}

impl ClassLabels for Labels {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn index(&self, row: usize) -> usize {
        usize::from(self.positive[row])
    }

    fn len(&self) -> usize {
        self.positive.len()
    }

    fn select(&self, indices: &[usize]) -> Self {
        self.select(indices)
    }

    fn shared_indices(&self) -> Arc<Vec<u32>> {
        Arc::new(self.positive.iter().map(|&positive| u32::from(positive)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_value_is_positive() {
        for (values, negative, positive) in [
            (["-1", "+1"], "-1", "+1"),
            (["1", "0"], "0", "1"),
            (["10", "9"], "9", "10"),
            (["yes", "no"], "no", "yes"),
            (["10", "9a"], "10", "9a"),
        ] {
            let labels = Labels::new(&values).unwrap();
            assert_eq!((labels.negative_class(), labels.positive_class()), (negative, positive));
            for (value, &sign) in values.iter().zip(labels.signs()) {
                assert_eq!(labels.class_name(sign), *value);
            }
        }
    }

    #[test]
    fn spellings_of_a_number_are_one_class() {
        let labels = Labels::new(&["+1", "-1", "1", "1.0", "-1e0"]).unwrap();
        assert_eq!(labels.signs(), [1.0, -1.0, 1.0, 1.0, -1.0]);
        assert_eq!(labels.positive_class(), "+1");
        assert_eq!(labels.count_positive(), 3);
        let flipped = Labels::with_positive(&["1", "0"], "0.0").unwrap();
        assert_eq!(flipped.signs(), [-1.0, 1.0]);
    }

    #[test]
    fn selection_keeps_the_names() {
        let labels = Labels::new(&["a", "b", "a"]).unwrap().select(&[2, 0]);
        assert_eq!(labels.signs(), [-1.0, -1.0]);
        assert_eq!((labels.len(), labels.positive_class()), (2, "b"));
    }

    #[test]
    fn known_classes_need_not_both_occur() {
        let labels = Labels::with_classes(&["1", "+1"], "0", "1").unwrap();
        assert_eq!(labels.signs(), [1.0, 1.0]);
        assert_eq!(labels.negative_class(), "0");
    }

    #[test]
    fn refusals() {
        let none: [&str; 0] = [];
        let message = |result: Result<Labels, Error>| result.unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                message(Labels::new(&none)),
                message(Labels::new(&["x", "x", "x"])),
                message(Labels::new(&["0", "1", "0", "2"])),
                message(Labels::with_positive(&["0", "1"], "2")),
                message(Labels::with_classes(&["yes", "maybe"], "no", "yes")),
                message(Labels::with_classes(&["1"], "1", "+1")),
                message(Labels::from_signs(vec![1.0, 0.0, -1.0])),
                message(Labels::from_signs(vec![1.0, f64::NAN])),
                message(Labels::from_signs(vec![-1.0, -1.0])),
                message(Labels::from_signs(vec![])),
            ]
            .join("\n")
        );
    }
}
