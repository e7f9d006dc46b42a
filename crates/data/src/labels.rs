use std::cmp::Ordering;

use crate::Error;
use crate::error::check_signs;

/// Labels of two classes as signs, +1 and -1, with the class names that they stand for.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    /// Each exactly 1.0 or -1.0.
    signs: Vec<f64>,
    negative: String,
    positive: String,
}

impl Labels {
    /// From values of which exactly two differ. Positive is the later of the two: in numeric order
    /// if both are numbers, so that -1 < +1 and 0 < 1, else in alphabetical order.
    ///
    /// Spellings of the same number, such as `1`, `+1` and `1.0`, are one class; it goes by the
    /// spelling that comes first.
    ///
    /// # Errors
    /// No value, one class only, or a third class.
    pub fn new<S: AsRef<str>>(values: &[S]) -> Result<Self, Error> {
        LabelCollector::over(values)?.finish(None)
    }

    /// As [`Labels::new`], with the positive class named.
    ///
    /// # Errors
    /// Those of [`Labels::new`], or `positive` is neither class.
    pub fn with_positive<S: AsRef<str>>(values: &[S], positive: &str) -> Result<Self, Error> {
        LabelCollector::over(values)?.finish(Some(positive))
    }

    /// From values of two classes that are known beforehand, such as those of a trained model. Both
    /// need not occur.
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
        let sign = |(row, value): (usize, &S)| {
            let value = value.as_ref();
            if same_class(value, positive) {
                Ok(1.0)
            } else if same_class(value, negative) {
                Ok(-1.0)
            } else {
                let classes = [negative.to_owned(), positive.to_owned()];
                Err(Error::ThirdClass { row, value: value.to_owned(), classes })
            }
        };
        let signs = values.iter().enumerate().map(sign).collect::<Result<_, _>>()?;
        Ok(Labels { signs, negative: negative.to_owned(), positive: positive.to_owned() })
    }

    /// From signs, each 1 or -1 and both present; the classes are named "1" and "-1".
    ///
    /// # Errors
    /// No sign, another value, or one class only.
    pub fn from_signs(signs: Vec<f64>) -> Result<Self, Error> {
        check_signs(&signs)?;
        let Some(&first) = signs.first() else { return Err(Error::Empty("labels")) };
        if signs.iter().all(|&s| s == first) {
            return Err(Error::OneClass { class: first.to_string(), rows: signs.len() });
        }
        Ok(Labels { signs, negative: "-1".to_owned(), positive: "1".to_owned() })
    }

    /// +1.0 or -1.0 for every sample.
    pub fn signs(&self) -> &[f64] {
        &self.signs
    }

    /// Number of labels.
    pub fn len(&self) -> usize {
        self.signs.len()
    }

    /// Whether there are none (only after selecting none).
    pub fn is_empty(&self) -> bool {
        self.signs.is_empty()
    }

    /// Name of the class with sign +1.
    pub fn positive_class(&self) -> &str {
        &self.positive
    }

    /// Name of the class with sign -1.
    pub fn negative_class(&self) -> &str {
        &self.negative
    }

    /// Name of the class that a score or a sign stands for: positive where it is > 0.
    pub fn class_name(&self, sign: f64) -> &str {
        if sign > 0.0 { &self.positive } else { &self.negative }
    }

    /// Number of labels of the positive class.
    pub fn count_positive(&self) -> usize {
        self.signs.iter().filter(|&&s| s > 0.0).count()
    }

    /// The labels with the given indices, in their order; an index may repeat. The class names
    /// stay, even if only one of the classes does.
    ///
    /// # Panics
    /// If an index is not below the number of labels.
    pub fn select(&self, indices: &[usize]) -> Labels {
        Labels {
            signs: indices.iter().map(|&i| self.signs[i]).collect(),
            negative: self.negative.clone(),
            positive: self.positive.clone(),
        }
    }
}

/// Turns label values into signs as they come, without keeping their text.
#[derive(Debug, Default)]
pub(crate) struct LabelCollector {
    /// At most two, in order of appearance.
    classes: Vec<String>,
    /// -1 for the first class, 1 for the second.
    signs: Vec<f64>,
}

impl LabelCollector {
    fn over<S: AsRef<str>>(values: &[S]) -> Result<Self, Error> {
        let mut collector = LabelCollector::default();
        values.iter().try_for_each(|value| collector.push(value.as_ref()))?;
        Ok(collector)
    }

    /// Of two classes that are known beforehand, the negative one first.
    ///
    /// # Errors
    /// Two names of one class.
    pub(crate) fn of_classes([negative, positive]: [&str; 2]) -> Result<Self, Error> {
        check_distinct(negative, positive)?;
        let classes = vec![negative.to_owned(), positive.to_owned()];
        Ok(LabelCollector { classes, signs: Vec::new() })
    }

    /// The labels so far, which are forgotten but for their classes. Even one class will do where two
    /// have been seen before.
    ///
    /// # Errors
    /// As [`Labels::with_positive`].
    pub(crate) fn drain(&mut self, positive: Option<&str>) -> Result<Labels, Error> {
        let signs = std::mem::take(&mut self.signs);
        LabelCollector { classes: self.classes.clone(), signs }.finish(positive)
    }

    /// Takes the label of the next row.
    pub(crate) fn push(&mut self, value: &str) -> Result<(), Error> {
        let missing = value.parse().is_ok_and(f64::is_nan) || matches!(value, "NA" | "N/A" | "?");
        if missing {
            return Err(Error::MissingLabel { row: self.signs.len(), value: value.to_owned() });
        }
        let known = self.classes.iter().position(|class| same_class(class, value));
        let class = match (known, &self.classes[..]) {
            (Some(class), _) => class,
            (None, [first, second]) => {
                return Err(Error::ThirdClass {
                    row: self.signs.len(),
                    value: value.to_owned(),
                    classes: [first.clone(), second.clone()],
                });
            }
            (None, _) => {
                self.classes.push(value.to_owned());
                self.classes.len() - 1
            }
        };
        self.signs.push(if class == 0 { -1.0 } else { 1.0 });
        Ok(())
    }

    pub(crate) fn finish(mut self, positive: Option<&str>) -> Result<Labels, Error> {
        let Some(second) = self.classes.pop() else { return Err(Error::Empty("labels")) };
        let Some(first) = self.classes.pop() else {
            return Err(Error::OneClass { class: second, rows: self.signs.len() });
        };
        let second_is_positive = match positive {
            None => class_order(&first, &second) == Ordering::Less,
            Some(name) if same_class(name, &second) => true,
            Some(name) if same_class(name, &first) => false,
            Some(name) => {
                let classes = [first, second];
                return Err(Error::UnknownClass { class: name.to_owned(), classes });
            }
        };
        if second_is_positive {
            Ok(Labels { signs: self.signs, negative: first, positive: second })
        } else {
            self.signs.iter_mut().for_each(|s| *s = -*s);
            Ok(Labels { signs: self.signs, negative: second, positive: first })
        }
    }
}

fn number(value: &str) -> Option<f64> {
    value.trim().parse().ok().filter(|x: &f64| x.is_finite())
}

/// Whether two names of classes are the same text or the same number.
pub fn same_class(a: &str, b: &str) -> bool {
    a == b || matches!((number(a), number(b)), (Some(a), Some(b)) if a == b)
}

fn check_distinct(negative: &str, positive: &str) -> Result<(), Error> {
    if same_class(negative, positive) {
        let requirement = format!("another than the positive class '{positive}'");
        return Err(Error::parameter("the negative class", format!("'{negative}'"), requirement));
    }
    Ok(())
}

/// Numeric if both are numbers, else alphabetical.
pub(crate) fn class_order(a: &str, b: &str) -> Ordering {
    match (number(a), number(b)) {
        (Some(x), Some(y)) => x.total_cmp(&y),
        _ => a.cmp(b),
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
