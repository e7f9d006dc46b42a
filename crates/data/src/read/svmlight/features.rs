//! The features of a line, `index:value` each.

use crate::decimal;
use crate::error::quoted;
use crate::read::lines::not_a_number;

/// The largest feature index. A vector of coefficients of that length takes 256 MiB, and a path
/// holds many of them, so that a larger index is rather a slip than a feature.
pub(super) const LARGEST_INDEX: u64 = 1 << 25;

/// Returns the words of a line with the bytes where they start.
pub(super) fn tokens(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = line.as_bytes();
    let mut end = 0;
    std::iter::from_fn(move || {
        let start = end + bytes[end..].iter().position(|byte| !byte.is_ascii_whitespace())?;
        let length = bytes[start..].iter().position(u8::is_ascii_whitespace);
        end = length.map_or(bytes.len(), |length| start + length);
        Some((start, &line[start..end]))
    })
}

/// A feature `index:value` at byte `at` of its line.
pub(super) struct Feature {
    pub(super) index: usize,
    pub(super) value: f64,
    pub(super) at: usize,
}

/// Parses `index:value`, which stands at byte `at`; refuses with the byte and the reason.
#[inline]
pub(super) fn feature(
    token: &str,
    at: usize,
    expected: Option<usize>,
) -> Result<(usize, f64), (usize, String)> {
    let Some(colon) = token.bytes().position(|byte| byte == b':') else {
        return Err((at, format!("{} is not of the form index:value", quoted(token))));
    };
    let (index, value) = (&token[..colon], &token[colon + 1..]);
    let digits = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    if !digits {
        let reason = format!("feature index {} is not a whole number from 1", quoted(index));
        return Err((at, reason));
    }
    // Digits fail to parse only by overflow.
    let index = match index.parse::<u64>() {
        Ok(0) => {
            let reason =
                "feature index 0, but indices start at 1; add 1 to each if they start at 0";
            return Err((at, reason.to_owned()));
        }
        Ok(number) if number <= LARGEST_INDEX => number as usize,
        _ => {
            let reason = format!(
                "feature index {} is larger than {LARGEST_INDEX}, the largest that is allowed",
                quoted(index)
            );
            return Err((at, reason));
        }
    };
    if let Some(p) = expected
        && index > p
    {
        let reason = format!(
            "feature index {index}, but only {p} features are expected: pass --columns {index} or more \
             at the fit"
        );
        return Err((at, reason));
    }
    match value.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((index, value)),
        _ => {
            let reason = match not_a_number(value) {
                Some(reason) => reason,
                None if value.is_empty() => "there is no value after the colon".to_owned(),
                None => format!("{} is not a finite number", quoted(value)),
            };
            // The value stands after index and colon, at the token's end.
            Err((at + token.len() - value.len(), format!("feature {index}: {reason}")))
        }
    }
}

/// Returns the number that a byte of text stands for, if it is a digit.
#[inline]
fn digit(byte: &u8) -> Option<usize> {
    byte.is_ascii_digit().then(|| usize::from(byte - b'0'))
}

/// Takes in features with ascending indices and finite values, and returns the last index, or 0
/// for no features. Returns `None` for any other text and for invalid features, some of which may
/// have been taken in.
#[inline]
pub(super) fn push_ascending(
    text: &[u8],
    expected: Option<usize>,
    columns: &mut Vec<usize>,
    values: &mut Vec<f64>,
) -> Option<usize> {
    /// An index of more digits is too large.
    const DIGITS: usize = 8;
    let most = expected.unwrap_or(LARGEST_INDEX as usize).min(LARGEST_INDEX as usize);
    let (mut at, mut last) = (0, 0);
    loop {
        while text.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        if at == text.len() {
            return Some(last);
        }
        let (start, mut index) = (at, 0);
        while let Some(digit) = text.get(at).and_then(digit) {
            index = 10 * index + digit;
            at += 1;
            if at - start > DIGITS {
                return None;
            }
        }
        // An index of 0 does not ascend.
        if text.get(at) != Some(&b':') || index <= last || index > most {
            return None;
        }
        at += 1;
        // No feature begins with another byte that is less than a blank.
        let (value, length) = decimal::leading_before(&text[at..], |byte| byte <= b' ')?;
        at += length;
        last = index;
        if value != 0.0 {
            columns.push(index - 1);
            values.push(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns what the features of a line are one by one, unless one is refused.
    fn one_by_one(text: &str, expected: Option<usize>) -> Option<(usize, Vec<(usize, u64)>)> {
        let features = tokens(text).map(|(at, token)| feature(token, at, expected).ok());
        let features = features.collect::<Option<Vec<_>>>()?;
        let ascend = features.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let last = features.last().map_or(0, |feature| feature.0);
        let stored = features.into_iter().filter(|(_, value)| *value != 0.0);
        ascend.then(|| (last, stored.map(|(index, value)| (index - 1, value.to_bits())).collect()))
    }

    proptest! {
        #[test]
        fn ascending_features_are_what_they_are_one_by_one(
            text in "( {0,2}[1-9][0-9]{0,2}:-?[0-9]{0,6}[.]?[0-9]{0,19}(e-?[0-9]{1,2})?[\t ]){0,6}",
            expected in proptest::option::of(1usize..999)
        ) {
            let (mut columns, mut values) = (Vec::new(), Vec::new());
            let last = push_ascending(text.as_bytes(), expected, &mut columns, &mut values);
            let found = last.map(|last| {
                let bits = values.iter().map(|value| value.to_bits());
                (last, columns.iter().copied().zip(bits).collect::<Vec<_>>())
            });
            prop_assert_eq!(found, one_by_one(&text, expected));
        }

        #[test]
        fn any_text_that_is_taken_in_is_what_it_is_one_by_one(text in "[-+.:0-9 eqid]{0,12}") {
            let (mut columns, mut values) = (Vec::new(), Vec::new());
            if let Some(last) = push_ascending(text.as_bytes(), None, &mut columns, &mut values) {
                let bits = values.iter().map(|value| value.to_bits());
                let found = (last, columns.iter().copied().zip(bits).collect::<Vec<_>>());
                prop_assert_eq!(Some(found), one_by_one(&text, None));
            }
        }
    }

    #[test]
    fn ascending_features_end_with_the_text() {
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        let last = push_ascending(b"  3:0.25 7:-2  9:0\t12:1e3", None, &mut columns, &mut values);
        assert_eq!((last, columns, values), (Some(12), vec![2, 6, 11], vec![0.25, -2.0, 1000.0]));
        for text in [
            "3:1 3:1",
            "2:1 1:1",
            "0:1",
            "1",
            "1:",
            "1:1e999",
            "1:nan",
            "1:1e",
            "1:x",
            "99999999:1",
            "qid:1 1:1",
        ] {
            let (mut columns, mut values) = (Vec::new(), Vec::new());
            assert_eq!(
                push_ascending(text.as_bytes(), None, &mut columns, &mut values),
                None,
                "{text}"
            );
        }
    }
}
