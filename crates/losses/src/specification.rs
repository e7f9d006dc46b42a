//! Parses specifications such as `name:key=value`, for losses, kernels and learners alike.

use std::str::FromStr;

use crate::did_you_mean;

/// A text `name` or `name:key=value,key=value` in its parts: how losses, kernels, learners and
/// approximations are named.
///
/// Every parameter is taken once, and parameters not taken are refused. Spaces around names and values
/// are ignored. Reasons of refusal are in words, for an error that names the text.
///
/// ```
/// use margins_losses::Specification;
///
/// let mut given = Specification::parse("nystrom: m = 100, leverage=1e-4")?;
/// assert_eq!(given.name(), "nystrom");
/// assert_eq!(given.take::<f64>("leverage", "a number")?, Some(1e-4));
/// assert_eq!(given.finish("m and leverage").unwrap_err(), "nystrom has no parameter 'm': it takes m and leverage");
/// assert_eq!(given.take::<usize>("m", "a whole number")?, Some(100));
/// assert_eq!(given.finish("m and leverage"), Ok(()));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Specification<'t> {
    name: &'t str,
    /// The parameters not taken yet, in order, no two of one name.
    parameters: Vec<(&'t str, &'t str)>,
}

impl<'t> Specification<'t> {
    /// Reads a text `name` or `name:key=value,...`; the name may be empty, the list after a colon
    /// may not.
    ///
    /// # Errors
    /// A part that is no `key=value`; a key that comes twice.
    pub fn parse(text: &'t str) -> Result<Self, String> {
        match text.split_once(':') {
            Some((name, list)) => {
                Ok(Specification { name: name.trim(), ..Self::parse_list(list)? })
            }
            None => Ok(Specification { name: text.trim(), parameters: Vec::new() }),
        }
    }

    /// Reads a list `key=value,...`, without a name.
    ///
    /// # Errors
    /// The errors of [`parse`](Self::parse).
    pub fn parse_list(list: &'t str) -> Result<Self, String> {
        let mut given = Specification { name: "", parameters: Vec::new() };
        for assignment in list.split(',') {
            let (key, value) = assignment.split_once('=').ok_or_else(|| {
                format!("'{}' is not of the form parameter=value", assignment.trim())
            })?;
            given.push(key.trim(), value.trim())?;
        }
        Ok(given)
    }

    /// Adds a parameter.
    ///
    /// # Errors
    /// A parameter of this name is there.
    pub fn push(&mut self, key: &'t str, value: &'t str) -> Result<(), String> {
        if self.parameters.iter().any(|(known, _)| *known == key) {
            return Err(format!("the parameter '{key}' is given twice"));
        }
        self.parameters.push((key, value));
        Ok(())
    }

    /// Returns the text before the colon.
    pub fn name(&self) -> &'t str {
        self.name
    }

    /// Returns the parameters that have not been taken, as they were written.
    pub fn parameters(&self) -> &[(&'t str, &'t str)] {
        &self.parameters
    }

    /// Takes a parameter as it was written.
    pub fn take_text(&mut self, key: &str) -> Option<&'t str> {
        let place = self.parameters.iter().position(|(known, _)| *known == key)?;
        Some(self.parameters.remove(place).1)
    }

    /// Takes a value of a kind, "a number" say.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read).
    pub fn take<T: FromStr>(&mut self, key: &str, kind: &str) -> Result<Option<T>, String> {
        self.take_text(key).map(|value| Self::read(key, value, kind)).transpose()
    }

    /// Returns a value of a kind from its text.
    ///
    /// # Errors
    /// A text of no such value.
    pub fn read<T: FromStr>(key: &str, value: &str, kind: &str) -> Result<T, String> {
        value.parse().map_err(|_| format!("the value '{value}' of '{key}' is not {kind}"))
    }

    /// Refuses parameters that were not taken; `known` lists all that exist, and is empty for none.
    ///
    /// # Errors
    /// The first of those left.
    pub fn finish(&self, known: &str) -> Result<(), String> {
        let Some((key, _)) = self.parameters.first() else { return Ok(()) };
        let meant = did_you_mean(key, known.split(", ").flat_map(|some| some.split(" and ")));
        let known = if known.is_empty() { "none" } else { known };
        Err(match self.name {
            "" => format!("there is no parameter '{key}': known are {known}{meant}"),
            name => format!("{name} has no parameter '{key}': it takes {known}{meant}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals() {
        let refused = |text: &str| Specification::parse(text).unwrap_err();
        for (text, part) in [("a:", ""), ("a:x", "x"), ("a:x=1,", ""), ("a:x=1, y ,z=2", "y")] {
            assert_eq!(refused(text), format!("'{part}' is not of the form parameter=value"));
        }
        assert_eq!(refused("a:x=1,y=2, x =3"), "the parameter 'x' is given twice");
        let mut given = Specification::parse_list("x=1.5,y=").unwrap();
        assert_eq!(given.finish("z").unwrap_err(), "there is no parameter 'x': known are z");
        let message = given.take::<u64>("x", "a whole number").unwrap_err();
        assert_eq!(message, "the value '1.5' of 'x' is not a whole number");
        let message = given.take::<f64>("y", "a number").unwrap_err();
        assert_eq!(message, "the value '' of 'y' is not a number");
        assert_eq!(given.finish(""), Ok(()));
    }
}
