//! An index that finds classes by their names in constant time; spellings of one number are one
//! class.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::Error;
use crate::exact_decimal::ExactDecimal;

/// The key of a class: the number that a name spells, else its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ClassKey<'a> {
    Number(ExactDecimal),
    Text(Cow<'a, str>),
}

impl<'a> ClassKey<'a> {
    fn of(name: &'a str) -> Self {
        match ExactDecimal::parse(name) {
            Some(number) => ClassKey::Number(number),
            None => ClassKey::Text(Cow::Borrowed(name)),
        }
    }

    fn into_owned(self) -> ClassKey<'static> {
        match self {
            ClassKey::Number(number) => ClassKey::Number(number),
            ClassKey::Text(text) => ClassKey::Text(Cow::Owned(text.into_owned())),
        }
    }
}

/// An index that finds classes by their names, each in constant time; spellings of the same number
/// are one class, by [`same_class`](crate::same_class).
///
/// ```
/// use margins_data::ClassIndex;
///
/// let classes = ClassIndex::new(&["no", "1", "2"])?;
/// assert_eq!([classes.get("2"), classes.get("1.0"), classes.get("maybe")], [Some(2), Some(1), None]);
/// assert!(ClassIndex::new(&["1", "2", "+1"]).is_err());
/// # Ok::<(), margins_data::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassIndex {
    of: HashMap<ClassKey<'static>, usize>,
}

impl ClassIndex {
    /// Takes the names of classes in their order.
    ///
    /// # Errors
    /// [`Error::DuplicateClass`]: two names of one class.
    pub fn new<S: AsRef<str>>(names: &[S]) -> Result<Self, Error> {
        let mut index = ClassIndex { of: HashMap::with_capacity(names.len()) };
        for (second, name) in names.iter().enumerate() {
            let name = name.as_ref();
            let first = index.add(name);
            if first != second {
                let (same, name) = (names[first].as_ref().to_owned(), name.to_owned());
                return Err(Error::DuplicateClass { same, name, first, second });
            }
        }
        Ok(index)
    }

    /// Returns the class of a name, counted from 0; `None` if there is no such class.
    pub fn get(&self, name: &str) -> Option<usize> {
        self.of.get(&ClassKey::of(name)).copied()
    }

    /// Returns the number of classes.
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// Returns true if there is no class.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Adds the class of a name if it is new, after all others, and returns it.
    pub(crate) fn add(&mut self, name: &str) -> usize {
        let next = self.of.len();
        *self.of.entry(ClassKey::of(name).into_owned()).or_insert(next)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::same_class;

    proptest! {
        /// The index finds what a search by pairs finds.
        #[test]
        fn the_index_agrees_with_the_comparison(
            names in proptest::collection::vec("[-+ ]?[01]{1,2}(\\.0)?|900719925474099[23]|nan|inf|[ab]", 1..9),
            name in "[-+ ]?[01]{1,2}(\\.0)?|900719925474099[23]|nan|inf|[ab]",
        ) {
            let searched = names.iter().position(|other| same_class(other, &name));
            match ClassIndex::new(&names) {
                Ok(index) => prop_assert_eq!(index.get(&name), searched),
                Err(Error::DuplicateClass { first, second, .. }) => {
                    prop_assert!(first < second && same_class(&names[first], &names[second]));
                }
                Err(other) => prop_assert!(false, "{}", other),
            }
        }
    }
}
