//! Finds columns that repeat another column, or that determine the label.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use margins::data::encode::{Kind, RawColumn};
use margins::data::{ClassLabels, Classes, Dataset};

use crate::output::inspection::RawColumnDocument;

/// Returns the kinds of the raw columns but those that were to be left out, with their categories and missing values;
/// `None` for data that were not encoded.
pub(super) fn raw_columns(
    data: &Dataset<Classes>,
    dropped: &[String],
) -> Option<Vec<RawColumnDocument>> {
    let (encoding, table) = (data.encoding()?, data.raw_table()?);
    let kinds: HashMap<&str, &Kind> =
        encoding.columns().iter().map(|column| (column.name(), column.kind())).collect();
    let document = |column: &RawColumn| {
        let kind = kinds.get(column.name()).copied();
        // Columns that were to be left out are not described, those of too many categories are.
        let is_crowded = kind.is_none() && !dropped.iter().any(|name| name == column.name());
        (kind.is_some() || is_crowded).then(|| RawColumnDocument {
            name: column.name().to_owned(),
            kind: match kind {
                Some(Kind::Number(_)) => "number",
                Some(Kind::Boolean(_)) => "boolean",
                Some(Kind::Categorical(_) | Kind::Codes(_)) | None => "categorical",
            },
            levels: kind.and_then(Kind::levels).map(<[String]>::to_vec),
            too_many_levels: is_crowded.then(|| column.distinct()),
            missing: column.missing(),
        })
    };
    Some(table.columns().iter().filter_map(document).collect())
}

/// Returns the pairs of columns with the same values, counted from 1, the first such column and a
/// later one, without constant columns, which are given in ascending order.
pub(super) fn duplicates(data: &Dataset<Classes>, constant: &[usize]) -> Vec<[usize; 2]> {
    let mut hashers = vec![DefaultHasher::new(); data.columns()];
    for (row, sample) in data.design().samples().enumerate() {
        sample.for_each(|column, x| {
            if x != 0.0 {
                (row, x.to_bits()).hash(&mut hashers[column]);
            }
        });
    }
    let mut first = HashMap::new();
    let mut pairs = Vec::new();
    let varies = |column: &usize| constant.binary_search(column).is_err();
    for (column, hasher) in hashers.iter().enumerate().filter(|(column, _)| varies(column)) {
        let of = *first.entry(hasher.finish()).or_insert(column);
        if of != column {
            pairs.push([of + 1, column + 1]);
        }
    }
    pairs
}

/// The values of a feature in the rows of a class.
#[derive(Clone, Copy)]
struct Range {
    low: f64,
    high: f64,
    stored: usize,
}

/// Returns the columns, by their names or numbers from 1, each of which alone determines the class
/// of every row: a number whose ranges in the classes do not touch, or whose missing values are all rows of one
/// of two classes, or a categorical column all of whose categories, at most half as many as rows, have one class
/// each.
pub(super) fn determining(data: &Dataset<Classes>) -> Vec<String> {
    let ranges = ranges(data);
    let name = |k: usize| match data.feature_names() {
        Some(names) => names[k].clone(),
        None => (k + 1).to_string(),
    };
    let Some(encoding) = data.encoding() else {
        return (0..data.columns()).filter(|&k| separates(&ranges[k])).map(name).collect();
    };
    let mut from = 0;
    let mut found = Vec::new();
    for column in encoding.columns() {
        let (width, tells) = match column.kind() {
            Kind::Number(_) | Kind::Boolean(_) => {
                let width = 1 + usize::from(column.has_indicator());
                (1, ranges[from..from + width].iter().any(|ranges| separates(ranges)))
            }
            Kind::Categorical(levels) | Kind::Codes(levels) => {
                let width = levels.len() + usize::from(column.has_indicator());
                let pure = |ranges: &Vec<Range>| {
                    ranges.iter().filter(|range| range.high > 0.0).count() == 1
                };
                (
                    levels.len(),
                    2 * width <= data.rows() && ranges[from..from + width].iter().all(pure),
                )
            }
        };
        if tells {
            found.push(column.name().to_owned());
        }
        from += width + usize::from(column.has_indicator());
    }
    found
}

/// Returns the ranges of every feature in every class.
fn ranges(data: &Dataset<Classes>) -> Vec<Vec<Range>> {
    let labels = data.labels();
    let none = Range { low: f64::INFINITY, high: f64::NEG_INFINITY, stored: 0 };
    let mut ranges = vec![vec![none; labels.names().len()]; data.columns()];
    for (row, sample) in data.design().samples().enumerate() {
        let class = labels.index(row);
        sample.for_each(|column, x| {
            let range = &mut ranges[column][class];
            range.low = range.low.min(x);
            range.high = range.high.max(x);
            range.stored += 1;
        });
    }
    for (class, rows) in labels.rows_by_class().iter().enumerate() {
        // A column that is not stored in every row has a zero somewhere.
        for range in ranges.iter_mut().map(|of_classes| &mut of_classes[class]) {
            if range.stored < rows.len() {
                range.low = range.low.min(0.0);
                range.high = range.high.max(0.0);
            }
        }
    }
    ranges
}

/// Returns true if no two of the ranges touch.
fn separates(ranges: &[Range]) -> bool {
    let mut sorted = ranges.to_vec();
    sorted.sort_by(|a, b| a.low.total_cmp(&b.low));
    sorted.windows(2).all(|pair| pair[0].high < pair[1].low)
}
