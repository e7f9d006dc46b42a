//! Specifications on the command line: `name:key=value,key=value`.

use std::fmt::Display;
use std::str::FromStr;

use margins::losses;

use crate::failure::Failure;

/// The value of an option as a name and parameters, of which each is taken once.
pub(crate) struct Specification<'t> {
    option: &'static str,
    text: &'t str,
    parts: losses::Specification<'t>,
}

impl<'t> Specification<'t> {
    /// Reads `name` or `name:key=value,...`. The value of `loss` is a specification itself, and
    /// hence the rest of the text.
    pub(crate) fn new(option: &'static str, text: &'t str) -> Result<Self, Failure> {
        let plain = || Self::of_parts(option, text, losses::Specification::parse(text));
        let Some((name, list)) = text.split_once(':') else { return plain() };
        let starts = |&(at, _): &(usize, &str)| {
            let before = list[..at].trim_end();
            before.is_empty() || before.ends_with(',')
        };
        let Some((at, key)) = list.match_indices("loss=").find(starts) else { return plain() };
        let outer = match list[..at].trim_end().strip_suffix(',') {
            Some(before) => &text[..name.len() + 1 + before.len()],
            None => name,
        };
        let loss = list[at + key.len()..].trim();
        let parts = losses::Specification::parse(outer);
        Self::of_parts(
            option,
            text,
            parts.and_then(|mut parts| parts.push("loss", loss).map(|()| parts)),
        )
    }

    /// Reads `key=value,...`, without a name.
    pub(crate) fn nameless(option: &'static str, text: &'t str) -> Result<Self, Failure> {
        Self::of_parts(option, text, losses::Specification::parse_list(text))
    }

    fn of_parts(
        option: &'static str,
        text: &'t str,
        parts: Result<losses::Specification<'t>, String>,
    ) -> Result<Self, Failure> {
        let parts = parts.map_err(|reason| refusal(option, text, reason))?;
        Ok(Specification { option, text, parts })
    }

    pub(crate) fn name(&self) -> &'t str {
        self.parts.name()
    }

    /// Takes a parameter as it was written.
    pub(crate) fn take_text(&mut self, key: &str) -> Option<&'t str> {
        self.parts.take_text(key)
    }

    /// Takes a number.
    pub(crate) fn take<T: Number>(&mut self, key: &str) -> Result<Option<T>, Failure> {
        self.take_text(key).map(|value| self.number(key, value)).transpose()
    }

    pub(crate) fn number<T: Number>(&self, key: &str, value: &str) -> Result<T, Failure> {
        losses::Specification::read(key, value, T::KIND).map_err(|reason| self.refuse(reason))
    }

    /// Refuses parameters that nobody took, where these are all that there are.
    pub(crate) fn finish(&self, known: &str) -> Result<(), Failure> {
        self.parts.finish(known).map_err(|reason| self.refuse(reason))
    }

    pub(crate) fn refuse(&self, reason: impl Display) -> Failure {
        refusal(self.option, self.text, reason)
    }
}

fn refusal(option: &str, text: &str, reason: impl Display) -> Failure {
    Failure::usage(format!("{option} '{text}': {reason}"))
}

/// The kinds of values of a parameter.
pub(crate) trait Number: FromStr {
    /// The kind in words.
    const KIND: &'static str;
}

impl Number for f64 {
    const KIND: &'static str = "a number";
}

impl Number for usize {
    const KIND: &'static str = "a whole number";
}

impl Number for u64 {
    const KIND: &'static str = "a whole number";
}
