//! Data and their classes.

use margins::data::{ClassLabels, Classes, Dataset};
use serde::Serialize;

use super::Lines;
use super::table::MOST_LISTED;

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
    pub(crate) fn new(name: &str, data: &Dataset) -> Self {
        let labels = data.labels();
        DataDocument {
            name: name.to_owned(),
            rows: data.rows(),
            columns: data.columns(),
            sparse: data.design().is_sparse(),
            positive_class: labels.positive_class().to_owned(),
            negative_class: labels.negative_class().to_owned(),
            positives: labels.count_positive(),
        }
    }
}

/// A class with the number of its rows.
#[derive(Serialize)]
pub(crate) struct ClassDocument<'a> {
    pub(crate) name: &'a str,
    pub(crate) rows: usize,
}

impl<'a> ClassDocument<'a> {
    /// Returns the classes in order.
    pub(crate) fn all(data: &'a Dataset<Classes>) -> Vec<Self> {
        let labels = data.labels();
        let mut rows = vec![0; labels.names().len()];
        labels.indices().iter().for_each(|&class| rows[class as usize] += 1);
        let pairs = labels.names().iter().zip(rows);
        pairs.map(|(name, rows)| ClassDocument { name, rows }).collect()
    }

    /// Returns the classes on a line, with the number of rows of each; of many the first ones.
    pub(crate) fn line(classes: &[Self]) -> String {
        Self::listed(classes, |class| format!("'{}' ({})", class.name, class.rows))
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
pub(crate) fn describe(name: &str, data: &Dataset) -> Lines {
    let labels = data.labels();
    let (positives, count) = (labels.count_positive(), labels.len());
    let classes = format!(
        "'{}' positive ({positives}), '{}' negative ({})",
        labels.positive_class(),
        labels.negative_class(),
        count - positives
    );
    vec![size(name, data.rows(), data.columns()), ("classes", classes)]
}

/// Returns the line on the size of data.
pub(crate) fn size(name: &str, rows: usize, columns: usize) -> (&'static str, String) {
    ("data", format!("{name}: {rows} rows, {columns} columns"))
}
