//! The classes of a model as values.

use std::str::FromStr;

use super::Model;
use crate::Error;

impl Model {
    /// Returns the class of a label, counted from 0, compared as numbers where both are numbers;
    /// `None` for no class of the model.
    pub fn class_of(&self, label: &str) -> Option<usize> {
        self.index.get(label)
    }

    /// Returns the classes as values of the type that labels were given in, or of any other that
    /// can be read from their names: numbers, booleans, types that display and parse alike. A whole
    /// number may be spelled 1.0 in a name.
    ///
    /// # Errors
    /// [`Error::LabelType`]: the name of a class is no value of the type.
    pub fn class_values<T: FromStr>(&self) -> Result<Vec<T>, Error> {
        let read = |class: &String| {
            let plain = || T::from_str(&class.trim().parse::<f64>().ok()?.to_string()).ok();
            T::from_str(class).ok().or_else(plain).ok_or_else(|| Error::LabelType {
                class: class.clone(),
                wanted: std::any::type_name::<T>(),
            })
        };
        self.classes.iter().map(read).collect()
    }
}
