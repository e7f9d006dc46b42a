use nalgebra_sparse::CsrMatrix;

use super::blocks::in_blocks;
use super::columns::Features;
use super::labels::PlacedLabels;
use super::lines::{Block, Lines, not_a_number};
use super::table::{Buffer, LabelSink, Table, collect_labels, without_room};
use super::{FeatureColumns, ReadOptions};
use crate::error::quoted;
use crate::room::make_room;
use crate::{Column, Design, Error, decimal};

/// The largest feature index. A vector of coefficients of that length takes 256 MiB, and a path
/// holds many of them, so that a larger index is rather a slip than a feature.
const LARGEST_INDEX: u64 = 1 << 25;

pub(super) fn read(
    lines: Lines<'_>,
    options: &ReadOptions,
    labels: &mut LabelSink<'_>,
) -> Result<Table, Error> {
    let mut rows = Rows::open(lines, options)?;
    let table = rows.next(Buffer::UNLIMITED, labels)?;
    table.ok_or_else(|| rows.none())
}

/// What is wrong with a file whose lines tell no number of columns.
pub(super) const NO_FEATURE: &str = "no line has a feature (index:value) that is not 0";

/// The rows of a file, some at a time.
pub(super) struct Rows<'a> {
    lines: Lines<'a>,
    columns: Option<usize>,
    /// The least number of columns if it was not told: rows of a part may have no feature.
    least: usize,
}

impl<'a> Rows<'a> {
    pub(super) fn open(lines: Lines<'a>, options: &ReadOptions) -> Result<Self, Error> {
        refuse_column_names(options)?;
        if options.drop_unlabelled {
            let requirement = "left out for svmlight files, whose lines begin with a label";
            let parameter = "the option for rows without a label";
            return Err(Error::parameter(parameter, "to drop them", requirement));
        }
        if options.features != FeatureColumns::Numbers {
            let requirement = "numbers in an svmlight file, which has no words and no gaps";
            return Err(Error::parameter("the feature columns", "encoded", requirement));
        }
        if let Some(p) = options.columns.filter(|&p| p as u64 > LARGEST_INDEX) {
            let requirement = format!("at most {LARGEST_INDEX} in an svmlight file");
            return Err(Error::parameter("the number of columns", p, requirement));
        }
        Ok(Rows { lines, columns: options.columns, least: 0 })
    }

    /// Reads the next rows, as many as the buffer takes; `None` after the last.
    pub(super) fn next(
        &mut self,
        buffer: Buffer,
        labels: &mut LabelSink<'_>,
    ) -> Result<Option<Table>, Error> {
        let Rows { lines, columns: expected, least } = self;
        let mut offsets = vec![0];
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        let mut p = expected.unwrap_or(*least);
        let mut features = Vec::new();
        while buffer.has_room(offsets.len() - 1, values.len()) && next_line(lines)? {
            let lines = &*lines;
            let line = lines.text()?;
            let line = line.split_once('#').map_or(line, |(content, _comment)| content);
            let mut tokens = tokens(line);
            let Some((at, label)) = tokens.next() else { continue };
            check_label(lines, column(line, at), label)?;
            labels(label, &|| lines.place(column(line, at)))?;

            let rest = &line.as_bytes()[at + label.len()..];
            // A feature takes three bytes at least: an index, a colon and a value.
            let most = rest.len() / 3;
            let room = make_room(&mut columns, most).and_then(|()| make_room(&mut values, most));
            room.map_err(|shortage| {
                let error = Error::Memory { rows: offsets.len(), columns: *expected, shortage };
                without_room(lines.name(), error)
            })?;
            let before = columns.len();
            if let Some(last) = push_plain(rest, *expected, &mut columns, &mut values) {
                p = p.max(last);
                offsets.push(columns.len());
                continue;
            }
            columns.truncate(before);
            values.truncate(before);
            features.clear();
            for (position, (at, token)) in tokens.enumerate() {
                if position == 0 && token.starts_with("qid:") {
                    continue;
                }
                match feature(token, at, *expected) {
                    Ok((index, value)) => features.push(Feature { index, value, at }),
                    Err((at, reason)) => return Err(lines.malformed(column(line, at), reason)),
                }
            }
            if !features.is_sorted_by_key(|feature| feature.index) {
                features.sort_by_key(|feature| feature.index);
            }
            if let Some(pair) = features.windows(2).find(|pair| pair[0].index == pair[1].index) {
                // The sort is stable: the second of a pair stands later in the line.
                let Feature { index, at, .. } = pair[1];
                let reason = format!("feature {index} is here for the second time in the line");
                return Err(lines.malformed(column(line, at), reason));
            }
            if let Some(last) = features.last() {
                p = p.max(last.index);
            }
            for feature in features.iter().filter(|feature| feature.value != 0.0) {
                columns.push(feature.index - 1);
                values.push(feature.value);
            }
            offsets.push(columns.len());
        }
        let rows = offsets.len() - 1;
        if rows == 0 {
            return Ok(None);
        }
        if p == 0 || (expected.is_none() && *least == 0 && values.is_empty()) {
            return Err(lines.wrong(NO_FEATURE.to_owned()));
        }
        let matrix = CsrMatrix::try_from_csr_data(rows, p, offsets, columns, values);
        let matrix = matrix.expect("columns are below p, and strictly increasing in each row");
        let design = Design::sparse(matrix)?;
        let features = Features::Design { design, names: None };
        Ok(Some(Table { features, weights: None, folds: None, dropped: Vec::new() }))
    }

    /// Calls `turn` for the table of every block of rows with its labels, several at the same time,
    /// and `take` for the results in order. Unless the number of columns was told, each table has
    /// its own.
    pub(super) fn each_block<T: Send, E: From<Error>>(
        mut self,
        turn: impl Fn(Table, PlacedLabels) -> T + Sync,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let Rows { lines, columns, .. } = &mut self;
        let columns = *columns;
        let mut is_empty = true;
        in_blocks(
            || next_block(lines),
            |block| {
                let mut rows = Rows { lines: Lines::of(block), columns, least: 1 };
                let read = collect_labels(|labels| rows.next(Buffer::UNLIMITED, labels));
                let (table, labels) = read?;
                Ok(table.map(|table| turn(table, labels)))
            },
            |result: Result<Option<T>, Error>| {
                let Some(result) = result? else { return Ok(()) };
                is_empty = false;
                take(result)
            },
        )?;
        if is_empty { Err(self.none().into()) } else { Ok(()) }
    }

    fn none(&self) -> Error {
        self.lines.wrong("there are no samples".to_owned())
    }
}

/// Returns the next lines together, of the next file if this one has ended.
fn next_block(lines: &mut Lines<'_>) -> Result<Option<Block>, Error> {
    loop {
        match lines.next_block(false)? {
            None if lines.next_file()? => {}
            block => return Ok(block),
        }
    }
}

/// Goes on to the next line, in the next file if this one has ended.
fn next_line(lines: &mut Lines<'_>) -> Result<bool, Error> {
    while !lines.advance()? {
        if !lines.next_file()? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Takes in features with ascending indices and plain decimal values, and returns the last index, 0 if
/// there is none; `None` of any other text, and of features that are refused, of which some may have
/// been taken in.
#[inline]
fn push_plain(
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
        at += text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if at == text.len() {
            return Some(last);
        }
        let digits = text[at..].iter().take(DIGITS).take_while(|byte| byte.is_ascii_digit());
        let (length, index) =
            digits.fold((0, 0), |(n, index), &byte| (n + 1, 10 * index + usize::from(byte - b'0')));
        // An index of 0 does not ascend.
        if text.get(at + length) != Some(&b':') || index <= last || index > most {
            return None;
        }
        at += length + 1;
        let (value, length) =
            decimal::leading_before(&text[at..], |byte| byte.is_ascii_whitespace())?;
        at += length;
        last = index;
        if value != 0.0 {
            columns.push(index - 1);
            values.push(value);
        }
    }
}

/// A feature `index:value` at byte `at` of its line.
struct Feature {
    index: usize,
    value: f64,
    at: usize,
}

/// Parses `index:value`, which stands at byte `at`; refuses with the byte and the reason.
#[inline]
fn feature(
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
        return Err((at, format!("feature index {index}, but only {p} features are expected")));
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

fn check_label(lines: &Lines<'_>, place: Column, label: &str) -> Result<(), Error> {
    let reason = if label.contains(':') {
        format!("the line starts with {}, but must start with a label", quoted(label))
    } else if label.contains(',') {
        format!("label {} has a comma in it: is this a CSV file?", quoted(label))
    } else {
        return Ok(());
    };
    Err(lines.malformed(place, reason))
}

fn refuse_column_names(options: &ReadOptions) -> Result<(), Error> {
    let named = [
        ("the label column", &options.label),
        ("the weights column", &options.weights_column),
        ("the fold column", &options.fold_column),
    ];
    for (parameter, name) in named {
        if let Some(name) = name {
            let requirement = "left out for svmlight files, whose columns have no names";
            return Err(Error::parameter(parameter, format!("'{name}'"), requirement));
        }
    }
    Ok(())
}

/// Returns the words of a line with the bytes where they start.
fn tokens(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = line.as_bytes();
    let mut end = 0;
    std::iter::from_fn(move || {
        let start = end + bytes[end..].iter().position(|byte| !byte.is_ascii_whitespace())?;
        let length = bytes[start..].iter().position(u8::is_ascii_whitespace);
        end = length.map_or(bytes.len(), |length| start + length);
        Some((start, &line[start..end]))
    })
}

/// Returns the column of byte `at` of a line.
fn column(line: &str, at: usize) -> Column {
    Column::Character(line[..at].chars().count() + 1)
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
        fn plain_features_are_what_they_are_one_by_one(
            text in "( {0,2}[1-9][0-9]{0,2}:-?[0-9]{0,6}[.]?[0-9]{0,11}[\t ]){0,6}",
            expected in proptest::option::of(1usize..999)
        ) {
            let (mut columns, mut values) = (Vec::new(), Vec::new());
            let last = push_plain(text.as_bytes(), expected, &mut columns, &mut values);
            let found = last.map(|last| {
                let bits = values.iter().map(|value| value.to_bits());
                (last, columns.iter().copied().zip(bits).collect::<Vec<_>>())
            });
            // More digits than are plain are left to the other way.
            if found.is_some() {
                prop_assert_eq!(found, one_by_one(&text, expected));
            }
        }

        #[test]
        fn what_is_not_plain_is_left_alone(text in "[-+.:0-9 eqid]{0,12}") {
            let (mut columns, mut values) = (Vec::new(), Vec::new());
            if let Some(last) = push_plain(text.as_bytes(), None, &mut columns, &mut values) {
                let bits = values.iter().map(|value| value.to_bits());
                let found = (last, columns.iter().copied().zip(bits).collect::<Vec<_>>());
                prop_assert_eq!(Some(found), one_by_one(&text, None));
            }
        }
    }

    #[test]
    fn plain_features_end_with_the_text() {
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        let last = push_plain(b"  3:0.25 7:-2  9:0\t12:1.", None, &mut columns, &mut values);
        assert_eq!((last, columns, values), (Some(12), vec![2, 6, 11], vec![0.25, -2.0, 1.0]));
        for text in
            ["3:1 3:1", "2:1 1:1", "0:1", "1", "1:", "1:1e3", "1:x", "99999999:1", "qid:1 1:1"]
        {
            let (mut columns, mut values) = (Vec::new(), Vec::new());
            assert_eq!(
                push_plain(text.as_bytes(), None, &mut columns, &mut values),
                None,
                "{text}"
            );
        }
    }
}
