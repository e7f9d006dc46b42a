//! Descriptions of data.

use std::io::Write;

use margins::data::Listed;
use margins::data::digits::{percent, with_error};
use margins::data::encode::MOST_LEVELS;
use serde::Serialize;

use super::Lines;
use super::data::ClassDocument;
use super::table::{MOST_LISTED, Table, facts, name_cell, number};

/// A description of data.
#[derive(Serialize)]
pub(crate) struct InspectionDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) name: String,
    pub(crate) rows: usize,
    /// The number of rows without a label, which nothing else here counts.
    pub(crate) unlabelled_rows: usize,
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
    /// The first of two equal columns, and the later one.
    pub(crate) duplicate_columns: Vec<[usize; 2]>,
    /// Columns each of which alone determines the class of every row.
    pub(crate) determining_columns: Vec<String>,
    /// Null without `--encode`.
    pub(crate) raw_columns: Option<Vec<RawColumnDocument>>,
    /// Null for data from a file.
    pub(crate) bayes_error: Option<BayesError>,
    /// Null but for data from a mixture.
    pub(crate) least_risk: Option<LeastRiskDocument>,
    pub(crate) features: Vec<Feature>,
}

/// A column of a raw table.
#[derive(Serialize)]
pub(crate) struct RawColumnDocument {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    /// Null but for categorical columns.
    pub(crate) levels: Option<Vec<String>>,
    /// The number of categories, if there are more than an encoding takes; else null.
    pub(crate) too_many_levels: Option<usize>,
    pub(crate) missing: usize,
}

/// The Bayes error of simulated data, and the error of that number.
#[derive(Serialize)]
pub(crate) struct BayesError {
    pub(crate) rate: f64,
    pub(crate) error: f64,
}

/// The lowest risk of a loss over all functions, and the error of that number.
#[derive(Serialize)]
pub(crate) struct LeastRiskDocument {
    pub(crate) loss: String,
    pub(crate) risk: f64,
    pub(crate) error: f64,
    pub(crate) noiseless: Vec<NoiselessShare>,
}

/// The share of samples whose class probability is within `delta/2` of 0 or 1.
#[derive(Serialize)]
pub(crate) struct NoiselessShare {
    pub(crate) delta: f64,
    pub(crate) share: f64,
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

impl RawColumnDocument {
    fn levels_in_words(&self) -> String {
        match (&self.levels, self.too_many_levels) {
            (_, Some(count)) => {
                format!("{count}, more than {MOST_LEVELS}: --drop it, or merge its rare categories")
            }
            (Some(levels), None) => Listed(levels).to_string(),
            (None, None) => String::new(),
        }
    }

    /// Returns the number of categories, if the column has any.
    fn level_count(&self) -> Option<usize> {
        self.too_many_levels.or(self.levels.as_ref().map(Vec::len))
    }
}

impl InspectionDocument<'_> {
    pub(crate) fn write_table(&self, out: &mut dyn Write) -> std::io::Result<()> {
        facts(out, &self.lines())?;
        writeln!(out)?;
        self.write_raw_columns(out)?;
        let mut table = Table::new(&["column", "name", "mean", "sd", "minimum", "maximum"]);
        for (k, feature) in self.features.iter().take(MOST_LISTED).enumerate() {
            table.row(vec![
                (k + 1).to_string(),
                feature.name.as_deref().map(name_cell).unwrap_or_default(),
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

    fn write_raw_columns(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let Some(columns) = &self.raw_columns else { return Ok(()) };
        let mut table = Table::new(&["raw column", "kind", "missing", "categories"]);
        for column in columns.iter().take(MOST_LISTED) {
            table.row(vec![
                name_cell(&column.name),
                column.kind.to_owned(),
                column.missing.to_string(),
                column.levels_in_words(),
            ]);
        }
        table.write(out)?;
        if columns.len() > MOST_LISTED {
            writeln!(out, "... and {} more raw columns", columns.len() - MOST_LISTED)?;
        }
        writeln!(out)
    }

    fn lines(&self) -> Lines {
        let share = format!("{} %", percent(self.stored_share));
        let storage =
            if self.sparse { format!("sparse, {share} stored") } else { "dense".to_owned() };
        let rows = match self.unlabelled_rows {
            0 => self.rows.to_string(),
            others => format!(
                "{}, and {others} without a label; a fit needs --drop-unlabelled",
                self.rows
            ),
        };
        let mut lines = vec![
            ("data", self.name.clone()),
            ("rows", rows),
            ("columns", self.columns.to_string()),
            ("storage", storage),
            ("classes", self.class_line()),
            ("constant columns", self.constant()),
            ("duplicate columns", self.duplicate()),
        ];
        if !self.determining_columns.is_empty() {
            let columns = Listed(&self.determining_columns);
            let each = if self.determining_columns.len() > 1 {
                "each of these columns"
            } else {
                "this column"
            };
            let warning = format!(
                "{columns}: {each} alone predicts every label, and may leak it: consider --drop"
            );
            lines.push(("warning", warning));
        }
        let naming = self.naming_columns();
        if !naming.is_empty() {
            let warning =
                "every row has its own category, which identifies the row: consider --drop";
            lines.push(("warning", format!("{}: {warning}", Listed(&naming))));
        }
        lines.extend(self.bayes_error.as_ref().map(|bayes| {
            ("Bayes error", with_error(100.0 * bayes.rate, 100.0 * bayes.error, " %"))
        }));
        if let Some(least) = &self.least_risk {
            /// The largest relative error of an estimate that is worth printing.
            const MOST: f64 = 0.1;
            let risk = match least.risk.is_finite() {
                true if least.error > MOST * least.risk.abs() && least.error > MOST => {
                    "finite, but few rows have nearly all of it: no estimate".to_owned()
                }
                true => with_error(least.risk, least.error, ""),
                false => "minus infinity".to_owned(),
            };
            lines.push(("lowest risk", format!("{risk}, loss {}", least.loss)));
            let share = |part: &NoiselessShare| {
                format!("{} % at delta {}", percent(part.share), part.delta)
            };
            let shares: Vec<String> = least.noiseless.iter().map(share).collect();
            lines.push(("without noise", shares.join(", ")));
        }
        lines
    }

    /// Returns the raw columns of words in which no word occurs twice.
    fn naming_columns(&self) -> Vec<&str> {
        let names = |column: &&RawColumnDocument| column.level_count() == Some(self.rows);
        self.raw_columns.iter().flatten().filter(names).map(|column| column.name.as_str()).collect()
    }

    /// Counts the constant columns, and names them.
    fn constant(&self) -> String {
        let names: Vec<String> = self.constant_columns.iter().map(|&k| self.name_of(k)).collect();
        counted(&names)
    }

    /// Counts the columns that repeat another one, and names both.
    fn duplicate(&self) -> String {
        let pair = |&[first, again]: &[usize; 2]| {
            format!("{} repeats {}", self.name_of(again), self.name_of(first))
        };
        counted(&self.duplicate_columns.iter().map(pair).collect::<Vec<String>>())
    }

    /// Returns the name of a column counted from 1, or that number.
    fn name_of(&self, column: usize) -> String {
        match &self.features[column - 1].name {
            Some(name) => format!("'{}'", name_cell(name)),
            None => column.to_string(),
        }
    }

    fn class_line(&self) -> String {
        if let (Some(positive), Some(negative), Some(positives)) =
            (self.positive_class, self.negative_class, self.positives)
        {
            let negatives = self.rows - positives;
            let (positive, negative) = (name_cell(positive), name_cell(negative));
            return format!(
                "'{positive}' positive ({positives}, {}), '{negative}' negative ({negatives}, {})",
                self.share(positives),
                self.share(negatives)
            );
        }
        ClassDocument::listed(&self.classes, |class| {
            format!("'{}' ({}, {})", name_cell(class.name), class.rows, self.share(class.rows))
        })
    }

    /// Returns the share of a number of rows.
    fn share(&self, rows: usize) -> String {
        format!("{} %", percent(rows as f64 / self.rows as f64))
    }
}

/// Returns the number of names, and the first of them.
fn counted(names: &[String]) -> String {
    const MOST: usize = 10;
    if names.is_empty() {
        return "0".to_owned();
    }
    let more = if names.len() > MOST { ", ..." } else { "" };
    let first = &names[..names.len().min(MOST)];
    format!("{}: {}{more}", names.len(), first.join(", "))
}
