//! Data and their classes.

use margins::data::Counted;
use margins::estimators::regularised::DataSummary;
use serde::Serialize;

use super::Lines;
use super::table::{MOST_LISTED, name_cell};

/// Data of two classes.
#[derive(Serialize)]
pub(crate) struct DataDocument {
    name: String,
    rows: usize,
    columns: usize,
    sparse: bool,
    positive_class: String,
    negative_class: String,
    positives: usize,
}

impl DataDocument {
    pub(crate) fn new(name: &str, data: &DataSummary) -> Self {
        let [negative, positive] = two(&data.classes);
        DataDocument {
            name: name.to_owned(),
            rows: data.rows(),
            columns: data.features,
            sparse: data.sparse,
            positive_class: positive.to_owned(),
            negative_class: negative.to_owned(),
            positives: data.class_rows[1],
        }
    }
}

/// Returns the names of two classes, of which the first is the negative one.
fn two(classes: &[String]) -> [&str; 2] {
    [0, 1].map(|k| classes.get(k).map_or("", String::as_str))
}

/// A class with the number of its rows.
#[derive(Serialize)]
pub(crate) struct ClassDocument<'a> {
    pub(crate) name: &'a str,
    pub(crate) rows: usize,
}

impl<'a> ClassDocument<'a> {
    /// Returns the classes in order.
    pub(crate) fn all(names: &'a [String], rows: &[usize]) -> Vec<Self> {
        let pairs = names.iter().zip(rows);
        pairs.map(|(name, &rows)| ClassDocument { name, rows }).collect()
    }

    /// Returns the classes on a line, with the number of rows of each; of many the first ones.
    pub(crate) fn line(classes: &[Self]) -> String {
        Self::listed(classes, |class| format!("'{}' ({})", name_cell(class.name), class.rows))
    }

    /// Returns the classes on a line, as they are named; of many the first ones.
    pub(crate) fn listed(classes: &[Self], named: impl Fn(&Self) -> String) -> String {
        let mut listed: Vec<String> = classes.iter().take(MOST_LISTED).map(named).collect();
        if classes.len() > MOST_LISTED {
            listed.push(format!("and {} more", classes.len() - MOST_LISTED));
        }
        listed.join(", ")
    }
}

/// Returns the lines on data of two classes.
pub(crate) fn describe(name: &str, data: &DataSummary) -> Lines {
    let [negative, positive] = two(&data.classes).map(name_cell);
    let (negatives, positives) = (data.class_rows[0], data.class_rows[1]);
    let classes =
        format!("'{positive}' positive ({positives}), '{negative}' negative ({negatives})");
    vec![size(name, data.rows(), data.features), ("classes", classes)]
}

/// Returns the line on the size of data.
pub(crate) fn size(name: &str, rows: usize, columns: usize) -> (&'static str, String) {
    ("data", format!("{name}: {}, {}", Counted(rows, "row"), Counted(columns, "column")))
}
