//! The probabilities of every class for every sample.

use std::fmt;
use std::ops::Deref;

use nalgebra::DMatrix;

/// The probability of every class, one per column, for every sample, one per row.
///
/// It is used like the matrix of the probabilities, and printed as a table under the names of the
/// classes, with four digits unless a precision is given:
///
/// ```
/// use margins_model::ProbabilityTable;
/// use nalgebra::dmatrix;
///
/// let classes = vec!["ham".to_owned(), "spam".to_owned()];
/// let table = ProbabilityTable::new(classes, dmatrix![0.119203, 0.880797; 1.0, 0.0]);
/// assert_eq!(table[(0, 1)], 0.880797);
/// assert_eq!(table.to_string(), "   ham    spam\n0.1192  0.8808\n1.0000  0.0000\n");
/// assert_eq!(format!("{table:.1}"), "ham  spam\n0.1   0.9\n1.0   0.0\n");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ProbabilityTable {
    classes: Vec<String>,
    values: DMatrix<f64>,
}

impl ProbabilityTable {
    /// Returns the table of a matrix with one column per class.
    ///
    /// # Panics
    /// If there is not one class a column.
    pub fn new(classes: Vec<String>, values: DMatrix<f64>) -> Self {
        assert_eq!(classes.len(), values.ncols(), "one class a column");
        ProbabilityTable { classes, values }
    }

    /// Returns the names of the classes, in the order of the columns.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Returns the matrix.
    pub fn into_matrix(self) -> DMatrix<f64> {
        self.values
    }
}

impl Deref for ProbabilityTable {
    type Target = DMatrix<f64>;

    fn deref(&self) -> &DMatrix<f64> {
        &self.values
    }
}

impl fmt::Display for ProbabilityTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: usize = 4;
        let digits = f.precision().unwrap_or(DIGITS);
        let width = |class: &String| class.chars().count().max(digits + 2);
        let widths: Vec<usize> = self.classes.iter().map(width).collect();
        let names = self.classes.iter().zip(&widths);
        let names: Vec<String> = names.map(|(class, &width)| format!("{class:>width$}")).collect();
        writeln!(f, "{}", names.join("  "))?;
        for row in self.values.row_iter() {
            let cells = row.iter().zip(&widths);
            let cells: Vec<String> =
                cells.map(|(p, &width)| format!("{p:>width$.digits$}")).collect();
            writeln!(f, "{}", cells.join("  "))?;
        }
        Ok(())
    }
}
