//! Some rows of a Parquet file: their cells and their places.

use super::column::Cells;
use crate::read::columns::RowPlaces;

pub(super) struct Part {
    /// The cells of every column; `None` of a column that is not read.
    pub(super) columns: Vec<Option<Cells>>,
    pub(super) places: RowPlaces,
    /// The rows that were left out, by their numbers among all.
    pub(super) dropped: Vec<usize>,
}

impl Part {
    /// Returns no rows of columns that have no cells yet.
    pub(super) fn new(columns: Vec<Option<Cells>>) -> Self {
        Part { columns, places: RowPlaces::numbered(), dropped: Vec::new() }
    }

    pub(super) fn rows(&self) -> usize {
        self.places.len()
    }
}
