//! Rows that may be outliers.

use margins_data::{ClassLabels, Dataset, Standardizer};
use serde::Serialize;

/// The most rows that are described.
const MOST_ROWS: usize = 50;
/// The columns that are named of each.
const MOST_COLUMNS: usize = 3;

/// A row that may be an outlier, with what is unusual about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suspect {
    /// The row of the data, from 1.
    pub row: usize,
    /// The class that the data say.
    pub label: String,
    /// The columns in which the row is farthest from the mean, the farthest first, at most 3.
    pub columns: Vec<Deviation>,
}

/// A value of a row beside those of all rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Deviation {
    /// The name of the column, or its number from 1.
    pub column: String,
    /// The distance from the mean in standard deviations.
    pub deviations: f64,
}

impl Suspect {
    /// Returns the first rows of those named, counted from 0, at most 50.
    pub(crate) fn first<Y: ClassLabels>(data: &Dataset<Y>, rows: &[usize]) -> Vec<Self> {
        let standardizer = Standardizer::fit(data.design(), None);
        let name = |k: usize| match data.feature_names() {
            Some(names) => names[k].clone(),
            None => format!("column {}", k + 1),
        };
        let suspect = |&row: &usize| {
            let mut values = vec![0.0; data.columns()];
            data.design().sample(row).for_each(|k, x| values[k] = x);
            let spread = standardizer.means().iter().zip(standardizer.deviations());
            let scores =
                values.iter().zip(spread).map(|(x, (mean, deviation))| (x - mean) / deviation);
            let mut far: Vec<(usize, f64)> =
                scores.enumerate().filter(|(_, score)| score.is_finite()).collect();
            far.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
            let labels = data.labels();
            Suspect {
                row: data.row_of(row) + 1,
                label: labels.names()[labels.index(row)].clone(),
                columns: far
                    .into_iter()
                    .take(MOST_COLUMNS)
                    .map(|(k, deviations)| Deviation { column: name(k), deviations })
                    .collect(),
            }
        };
        rows.iter().take(MOST_ROWS).map(suspect).collect()
    }
}
