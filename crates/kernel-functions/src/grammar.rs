//! The text of sums and products of kernels: `+`, `*`, which binds tighter, and parentheses.

use crate::Kernel;

/// The most sums, products and parentheses in one text.
const MOST_PARTS: usize = 100;

/// A part is what the text of a kernel is made of.
#[derive(Debug, PartialEq)]
pub(crate) enum Part<'a> {
    Sum(Vec<&'a str>),
    Product(Vec<&'a str>),
    /// The text between parentheses.
    Inner(&'a str),
    /// The text of one kernel.
    Atom(&'a str),
}

/// Checks what holds of the whole text, so that [`part`] may take it apart again and again.
pub(crate) fn check(text: &str) -> Result<(), String> {
    if text.matches(['+', '*', '(']).count() > MOST_PARTS {
        return Err(format!("it has more than {MOST_PARTS} parts"));
    }
    let mut open = 0usize;
    for bracket in text.matches(['(', ')']) {
        if bracket == "(" {
            open += 1;
        } else if open == 0 {
            return Err("it closes a parenthesis that it has not opened".to_owned());
        } else {
            open -= 1;
        }
    }
    if open > 0 { Err("it does not close a parenthesis that it opens".to_owned()) } else { Ok(()) }
}

/// Returns the outermost sum, product or parenthesis.
pub(crate) fn part(text: &str) -> Result<Part<'_>, String> {
    let text = text.trim();
    for (separator, join) in [('+', Part::Sum as fn(_) -> _), ('*', Part::Product)] {
        let operands = split(text, separator);
        if operands.len() > 1 {
            return Ok(join(operands));
        }
    }
    if !text.contains(['(', ')']) {
        return Ok(Part::Atom(text));
    }
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    match inner.filter(|inner| check(inner).is_ok()) {
        Some(inner) => Ok(Part::Inner(inner)),
        None => Err(format!("'{text}' lacks a + or a * beside a parenthesis")),
    }
}

/// Returns the text of a kernel as part of another one: in parentheses where it is itself made with
/// one of the separators.
pub(crate) fn operand(kernel: &dyn Kernel, separators: &[char]) -> String {
    let text = kernel.specification();
    let joined = separators.iter().any(|&separator| split(&text, separator).len() > 1);
    if joined { format!("({text})") } else { text }
}

/// Splits the text at separators outside of parentheses, but not at the `+` of a number such as
/// `1e+3`.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0usize);
    for (at, symbol) in text.char_indices() {
        match symbol {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if symbol == separator && depth == 0 && !is_exponent(&text[start..at]) => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Returns true if the text ends in the value of a parameter of which the exponent is still to
/// come.
fn is_exponent(text: &str) -> bool {
    let Some((_, value)) = text.rsplit_once('=') else { return false };
    let mantissa = value.strip_suffix(['e', 'E']);
    mantissa.is_some_and(|mantissa| mantissa.trim_start().parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_and_exponents_hide_separators() {
        assert_eq!(part("a*(b+c)+d"), Ok(Part::Sum(vec!["a*(b+c)", "d"])));
        assert_eq!(part(" a*(b+c) "), Ok(Part::Product(vec!["a", "(b+c)"])));
        assert_eq!(part("( b+c )"), Ok(Part::Inner(" b+c ")));
        assert_eq!(part("a:s=1e+3"), Ok(Part::Atom("a:s=1e+3")));
        assert_eq!(part("a:s= 2.E+3*b"), Ok(Part::Product(vec!["a:s= 2.E+3", "b"])));
        // A name may end like a number.
        assert_eq!(part("kernel2e+b"), Ok(Part::Sum(vec!["kernel2e", "b"])));
        assert!(part("(a)(b)").is_err() && part("a(b)").is_err());
        assert!(check("(a").is_err() && check("a)(").is_err() && check("(a)").is_ok());
        assert!(check(&"(".repeat(101)).is_err_and(|reason| reason.contains("100 parts")));
    }
}
