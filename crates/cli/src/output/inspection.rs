//! Descriptions of data.

use std::io::Write;

use serde::Serialize;

use super::Lines;
use super::data::ClassDocument;
use super::table::{MOST_LISTED, Table, facts, number};

/// A description of data.
#[derive(Serialize)]
pub(crate) struct InspectionDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) name: &'a str,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) sparse: bool,
    pub(crate) stored_share: f64,
    /// Null for more than two classes.
    pub(crate) positive_class: Option<&'a str>,
    /// Null for more than two classes.
    pub(crate) negative_class: Option<&'a str>,
    /// Null for more than two classes.
    pub(crate) positives: Option<usize>,
    pub(crate) classes: Vec<ClassDocument<'a>>,
    pub(crate) constant_columns: Vec<usize>,
    /// Null for data from a file.
    pub(crate) bayes_error: Option<BayesError>,
    pub(crate) features: Vec<Feature>,
}

/// The least error possible on simulated data, and how far from it that number may be.
#[derive(Serialize)]
pub(crate) struct BayesError {
    pub(crate) rate: f64,
    pub(crate) error: f64,
}

/// The values of a feature.
#[derive(Serialize)]
pub(crate) struct Feature {
    pub(crate) name: Option<String>,
    pub(crate) mean: f64,
    pub(crate) standard_deviation: f64,
    pub(crate) minimum: f64,
    pub(crate) maximum: f64,
}

impl InspectionDocument<'_> {
    pub(crate) fn write_table(&self, out: &mut dyn Write) -> std::io::Result<()> {
        facts(out, &self.lines())?;
        writeln!(out)?;
        let mut table = Table::new(&["column", "name", "mean", "sd", "minimum", "maximum"]);
        for (k, feature) in self.features.iter().take(MOST_LISTED).enumerate() {
            table.row(vec![
                (k + 1).to_string(),
                feature.name.clone().unwrap_or_default(),
                number(feature.mean),
                number(feature.standard_deviation),
                number(feature.minimum),
                number(feature.maximum),
            ]);
        }
        table.write(out)?;
        if self.columns > MOST_LISTED {
            writeln!(out, "... and {} more columns", self.columns - MOST_LISTED)?;
        }
        Ok(())
    }

    fn lines(&self) -> Lines {
        let share = format!("{:.2} %", 100.0 * self.stored_share);
        let storage =
            if self.sparse { format!("sparse, {share} stored") } else { "dense".to_owned() };
        let mut lines = vec![
            ("data", self.name.to_owned()),
            ("rows", self.rows.to_string()),
            ("columns", self.columns.to_string()),
            ("storage", storage),
            ("classes", self.class_line()),
            ("constant columns", self.constant_columns.len().to_string()),
        ];
        lines.extend(self.bayes_error.as_ref().map(|bayes| {
            let (rate, error) = (100.0 * bayes.rate, 100.0 * bayes.error);
            ("Bayes error", format!("{rate:.3} % +- {error:.3}"))
        }));
        lines
    }

    fn class_line(&self) -> String {
        if let (Some(positive), Some(negative), Some(positives)) =
            (self.positive_class, self.negative_class, self.positives)
        {
            let negatives = self.rows - positives;
            return format!(
                "'{positive}' positive ({positives}), '{negative}' negative ({negatives})"
            );
        }
        ClassDocument::line(&self.classes)
    }
}
