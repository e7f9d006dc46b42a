//! Specifications on the command line: `name:key=value,key=value`.

use std::fmt::Display;
use std::str::FromStr;

use crate::Failure;

/// The value of an option as a name and parameters, of which each is taken once.
pub(crate) struct Specification<'t> {
    option: &'static str,
    text: &'t str,
    name: &'t str,
    parameters: Vec<(&'t str, &'t str)>,
}

impl<'t> Specification<'t> {
    /// `name` or `name:key=value,...`.
    pub(crate) fn new(option: &'static str, text: &'t str) -> Result<Self, Failure> {
        let (name, list) = text.split_once(':').unwrap_or((text, ""));
        Self::of_parts(option, text, name.trim(), list)
    }

    /// `key=value,...`, without a name.
    pub(crate) fn nameless(option: &'static str, text: &'t str) -> Result<Self, Failure> {
        Self::of_parts(option, text, "", text)
    }

    /// The value of `loss` is a specification itself, and hence the rest of the text.
    fn of_parts(
        option: &'static str,
        text: &'t str,
        name: &'t str,
        mut list: &'t str,
    ) -> Result<Self, Failure> {
        let mut specification = Specification { option, text, name, parameters: Vec::new() };
        while !list.is_empty() {
            let inner = list.trim_start().starts_with("loss=");
            let (cell, rest) =
                if inner { (list, "") } else { list.split_once(',').unwrap_or((list, "")) };
            list = rest;
            if cell.trim().is_empty() {
                continue;
            }
            let pair = cell.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
            let pair = pair.ok_or_else(|| specification.refuse("expected parameter=value"))?;
            if specification.parameters.iter().any(|(key, _)| *key == pair.0) {
                return Err(specification.refuse("a parameter is given twice"));
            }
            specification.parameters.push(pair);
        }
        Ok(specification)
    }

    pub(crate) fn name(&self) -> &'t str {
        self.name
    }

    /// Takes a parameter as it was written.
    pub(crate) fn take_text(&mut self, key: &str) -> Option<&'t str> {
        let place = self.parameters.iter().position(|(known, _)| *known == key)?;
        Some(self.parameters.remove(place).1)
    }

    /// Takes a number.
    pub(crate) fn take<T: FromStr>(&mut self, key: &str) -> Result<Option<T>, Failure> {
        self.take_text(key).map(|value| self.number(key, value)).transpose()
    }

    pub(crate) fn number<T: FromStr>(&self, key: &str, value: &str) -> Result<T, Failure> {
        value.parse().map_err(|_| self.refuse(format!("'{value}' is no number for {key}")))
    }

    /// Refuses parameters that nobody took, where these are all that there are.
    pub(crate) fn finish(&self, known: &str) -> Result<(), Failure> {
        match self.parameters.first() {
            None => Ok(()),
            Some(_) if known.is_empty() => {
                Err(self.refuse(format!("{} has no parameters", self.name)))
            }
            Some(_) => Err(self.refuse(format!("the parameters are {known}"))),
        }
    }

    pub(crate) fn refuse(&self, reason: impl Display) -> Failure {
        Failure::usage(format!("{} '{}': {reason}", self.option, self.text))
    }
}
