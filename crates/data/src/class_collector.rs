//! Turns label values into classes while they are read, and recognises measurements.

use crate::class_name::{check_distinct, ranks, sorted_order};
use crate::codes::Codes;
use crate::exact_decimal::ExactDecimal;
use crate::missing::is_missing_label;
use crate::{ClassIndex, Error};

/// A collector that turns label values into classes as they come, keeping each spelling once.
#[derive(Debug, Default)]
pub(crate) struct ClassCollector {
    labels: Codes,
    /// True if a third class is refused.
    only_two: bool,
    /// True if every new class is refused.
    is_closed: bool,
    /// The marks that distinguish labels from measurements; `None` where names of classes are given.
    numbers: Option<Numbers>,
}

/// The properties of the labels so far that distinguish whole numbers from measurements.
#[derive(Debug, Default)]
struct Numbers {
    /// True if a label is no number, so that all of them are names.
    is_text: bool,
    /// The first label that is a number and not whole, with its row.
    fraction: Option<(usize, String)>,
}

impl Numbers {
    /// Takes a label that is not missing.
    fn look_at(&mut self, row: usize, value: &str) {
        match ExactDecimal::parse(value) {
            Some(number) if self.fraction.is_none() && !number.is_whole() => {
                self.fraction = Some((row, value.to_owned()));
            }
            Some(_) => {}
            None => self.is_text |= value.trim().parse::<f64>().is_err(),
        }
    }

    /// Returns the error for the first label that shows all of them to be measurements: they are
    /// numbers, and this one is not whole.
    fn measurement(&self) -> Option<Error> {
        let (row, value) = self.fraction.as_ref().filter(|_| !self.is_text)?;
        Some(Error::ContinuousLabel { row: *row, value: value.clone() })
    }
}

impl ClassCollector {
    /// Returns a collector of names that refuses a third class.
    pub(crate) fn of_two() -> Self {
        ClassCollector { only_two: true, ..Self::default() }
    }

    /// Returns a collector of labels that refuses measurements.
    pub(crate) fn of_labels() -> Self {
        ClassCollector { numbers: Some(Numbers::default()), ..Self::default() }
    }

    /// Returns a collector of labels that refuses measurements and a third class.
    pub(crate) fn of_two_labels() -> Self {
        ClassCollector { only_two: true, ..Self::of_labels() }
    }

    /// Returns a collector of labels of classes that are known beforehand; of two the negative one is
    /// the first.
    ///
    /// # Errors
    /// Fewer than two names, or two names of one class.
    pub(crate) fn of_known<S: AsRef<str>>(names: &[S]) -> Result<Self, Error> {
        match names {
            [] | [_] => {
                let requirement = "at least 2";
                return Err(Error::parameter("the number of classes", names.len(), requirement));
            }
            [negative, positive] => check_distinct(negative.as_ref(), positive.as_ref())?,
            _ => (),
        }
        let index = ClassIndex::new(names)?;
        let names = names.iter().map(|name| name.as_ref().to_owned()).collect();
        let labels = Codes::of_known(names, index);
        Ok(ClassCollector { labels, is_closed: true, ..Self::of_two() })
    }

    /// Takes labels of more than two classes from now on, unless other classes are known.
    pub(crate) fn take_several(&mut self) {
        self.only_two = false;
    }

    pub(crate) fn take_all<S: AsRef<str>>(mut self, values: &[S]) -> Result<Self, Error> {
        values.iter().try_for_each(|value| self.push(value.as_ref()))?;
        Ok(self)
    }

    pub(crate) fn push(&mut self, value: &str) -> Result<(), Error> {
        let code = match self.labels.spelled(value) {
            Some(code) => code,
            None => {
                self.check_spelling(value)?;
                self.labels.code_of(value)
            }
        };
        self.labels.push_code(code);
        Ok(())
    }

    /// Refuses a label in a new spelling that is missing, or of a third class where two are allowed.
    fn check_spelling(&mut self, value: &str) -> Result<(), Error> {
        let row = self.labels.rows();
        if is_missing_label(value) {
            return Err(Error::MissingLabel { row, value: value.to_owned() });
        }
        if let Some(numbers) = &mut self.numbers {
            numbers.look_at(row, value);
        }
        match self.labels.names() {
            [first, second] if self.only_two && self.labels.code(value).is_none() => {
                self.check_whole()?;
                let classes = [first.clone(), second.clone()];
                Err(Error::ThirdClass { row, value: value.to_owned(), classes })
            }
            names if self.is_closed && self.labels.code(value).is_none() => {
                Err(Error::LateClass { row, value: value.to_owned(), count: names.len() })
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

    /// Returns which labels so far are of the positive class, with the names of the negative and of
    /// the positive class. The labels are forgotten but for their classes, so that even one class will do where
    /// two have been seen before.
    ///
    /// # Errors
    /// No label; other than two classes; a positive class that is neither; labels that are
    /// measurements.
    pub(crate) fn take_positive(
        &mut self,
        positive: Option<&str>,
    ) -> Result<(Vec<bool>, [String; 2]), Error> {
        self.check_whole()?;
        let codes = self.labels.take_rows();
        let names = self.labels.names();
        Self::check_count(names, codes.len())?;
        let positive_class = match positive {
            None => sorted_order(names)[1],
            Some(positive) => self.labels.code(positive).ok_or_else(|| {
                let classes = [names[0].clone(), names[1].clone()];
                Error::UnknownClass { class: positive.to_owned(), classes }
            })?,
        };
        let is_positive = codes.iter().map(|&class| class as usize == positive_class).collect();
        Ok((is_positive, [1 - positive_class, positive_class].map(|class| names[class].clone())))
    }

    /// Returns the labels so far as indices into the names of the classes, in order; of two the
    /// positive one, if it is named, is the second. The labels are forgotten but for their classes,
    /// which are all that there are from then on.
    ///
    /// # Errors
    /// The errors of [`take_classes`](Self::take_classes).
    pub(crate) fn take_chunk(
        &mut self,
        positive: Option<&str>,
    ) -> Result<(Vec<u32>, Vec<String>), Error> {
        self.check_whole()?;
        let mut codes = self.labels.take_rows();
        if !self.is_closed {
            let (only_two, numbers) = (self.only_two, self.numbers.take());
            let (names, ranks) = self.take_classes(positive, codes.len())?;
            codes.iter_mut().for_each(|code| *code = ranks[*code as usize]);
            let mut in_order = vec![""; names.len()];
            names.iter().zip(ranks).for_each(|(name, rank)| in_order[rank as usize] = name);
            *self = ClassCollector { only_two, numbers, ..Self::of_known(&in_order)? };
        }
        Ok((codes, self.labels.names().to_vec()))
    }

    /// Returns the labels so far as codes of their classes, in the order of first sight, and forgets
    /// the labels but for their classes.
    pub(crate) fn take_codes(&mut self) -> Vec<u32> {
        self.labels.take_rows()
    }

    /// Returns the names of all classes of this many rows by their codes, and the rank of each in order.
    /// Of two classes the positive one, if it is named, is the second.
    ///
    /// # Errors
    /// There is no label, or only one class; the labels are measurements; the positive class is not
    /// one of the two.
    pub(crate) fn take_classes(
        &mut self,
        positive: Option<&str>,
        rows: usize,
    ) -> Result<(Vec<String>, Vec<u32>), Error> {
        self.check_whole()?;
        let names = std::mem::take(self).labels.into_names();
        Self::check_count(&names, rows)?;
        let mut order = sorted_order(&names);
        if let Some(positive) = positive {
            let [first, second] = &names[..] else {
                let requirement = "left out where there are several classes";
                let value = format!("'{positive}'");
                return Err(Error::parameter("the positive class", value, requirement));
            };
            let named = |name: &String| crate::same_class(name, positive);
            let Some(class) = [first, second].into_iter().position(named) else {
                let classes = [first.clone(), second.clone()];
                return Err(Error::UnknownClass { class: positive.to_owned(), classes });
            };
            order = vec![1 - class, class];
        }
        let ranks = ranks(&order);
        Ok((names, ranks))
    }

    /// Returns the labels so far as indices into the names of the classes, which come first and in
    /// order. The labels are forgotten, and their classes with them.
    ///
    /// # Errors
    /// No label; one class only; labels that are measurements.
    pub(crate) fn take_indices(&mut self) -> Result<(Vec<String>, Vec<u32>), Error> {
        self.check_whole()?;
        let mut labels = std::mem::take(self).labels;
        let codes = labels.take_rows();
        let names = labels.into_names();
        Self::check_count(&names, codes.len())?;
        let order = sorted_order(&names);
        let rank = ranks(&order);
        let indices = codes.into_iter().map(|class| rank[class as usize]).collect();
        Ok((order.into_iter().map(|class| names[class].clone()).collect(), indices))
    }

    /// Refuses less than two classes.
    fn check_count(names: &[String], rows: usize) -> Result<(), Error> {
        match names {
            [] => Err(Error::Empty("labels")),
            [only] => Err(Error::OneClass { class: only.clone(), rows }),
            _ => Ok(()),
        }
    }
}
