//! Rows that were parsed together.

use super::Layout;
use crate::encode::Words;
use crate::read::cells::Cells;
use crate::read::columns::RowPlaces;
use crate::read::folds::FileFolds;
use crate::read::header::Role;
use crate::read::labels::PlacedLabels;
use crate::read::table::{LabelSink, Table};
use crate::{Column, Error, Place};

/// Some rows below a header, up to a fault if there is one.
pub(super) struct Part<'m> {
    pub(super) cells: Cells<'m>,
    pub(super) weights: Vec<f64>,
    pub(super) labels: Words,
    pub(super) folds: Words,
    pub(super) places: RowPlaces,
    pub(super) rows: usize,
    /// The rows that were left out, by their numbers among all.
    pub(super) dropped: Vec<usize>,
    pub(super) fault: Option<Error>,
}

impl<'m> Part<'m> {
    pub(super) fn new(layout: &'m Layout) -> Self {
        Part {
            cells: Cells::new(layout.raw.as_ref()),
            weights: Vec::new(),
            labels: Words::default(),
            folds: Words::default(),
            places: RowPlaces::default(),
            rows: 0,
            dropped: Vec::new(),
            fault: None,
        }
    }

    pub(super) fn reserve(&mut self, rows: usize, features: usize) {
        self.cells.reserve(rows, features);
        self.labels.reserve(rows);
    }

    pub(super) fn drop_row(&mut self) {
        self.dropped.push(self.rows + self.dropped.len());
    }

    /// Hands the labels over, and then the fault.
    fn deliver(&mut self, layout: &Layout, labels: &mut LabelSink<'_>) -> Result<(), Error> {
        for (row, label) in self.labels.iter().enumerate() {
            labels(label, &|| self.label_place(layout, row))?;
        }
        self.fault.take().map_or(Ok(()), Err)
    }

    /// Takes the labels of all rows, unless there is a fault.
    pub(super) fn take_labels(&mut self, layout: &Layout) -> Result<PlacedLabels, Error> {
        self.fault.take().map_or(Ok(()), Err)?;
        let labels = std::mem::take(&mut self.labels);
        Ok(PlacedLabels::new(labels, |row| self.label_place(layout, row)))
    }

    fn label_place(&self, layout: &Layout, row: usize) -> Place {
        let column = layout.name_of(Role::Label).unwrap_or_default().to_owned();
        self.places.place(row, Column::Name(column))
    }

    /// Returns the rows as a table of their own; `None` of no rows.
    pub(super) fn table(
        self,
        layout: &Layout,
        labels: &mut LabelSink<'_>,
    ) -> Result<Option<Table>, Error> {
        let mut all = Gathered::new(layout);
        all.take(self, labels)?;
        all.finish()
    }
}

/// The parts of a file, one after the other.
pub(super) struct Gathered<'m> {
    layout: &'m Layout,
    cells: Cells<'m>,
    weights: Vec<f64>,
    folds: Option<FileFolds>,
    places: RowPlaces,
    rows: usize,
    pub(super) dropped: Vec<usize>,
}

impl<'m> Gathered<'m> {
    pub(super) fn new(layout: &'m Layout) -> Self {
        let Part { cells, weights, places, rows, dropped, .. } = Part::new(layout);
        let folds = layout.name_of(Role::Fold).map(FileFolds::new);
        Gathered { layout, cells, weights, folds, places, rows, dropped }
    }

    /// Takes the next rows, and their labels first of all.
    pub(super) fn take(
        &mut self,
        mut part: Part<'m>,
        labels: &mut LabelSink<'_>,
    ) -> Result<(), Error> {
        part.deliver(self.layout, labels)?;
        let before = self.rows + self.dropped.len();
        self.dropped.extend(part.dropped.iter().map(|row| before + row));
        if self.rows == 0 {
            (self.cells, self.places) = (part.cells, part.places);
        } else {
            let rows = self.rows + part.rows;
            let columns = Some(self.layout.feature_names.len());
            let refused = |shortage| Error::Memory { rows, columns, shortage };
            self.cells.append(part.cells).map_err(refused)?;
            if self.layout.raw.is_some() {
                self.places.append(part.places);
            }
        }
        self.weights.append(&mut part.weights);
        self.folds.iter_mut().for_each(|folds| folds.append(&part.folds));
        self.rows += part.rows;
        Ok(())
    }

    /// Returns the table of all rows; `None` of no rows.
    pub(super) fn finish(self) -> Result<Option<Table>, Error> {
        if self.rows == 0 {
            return Ok(None);
        }
        let weighed = self.layout.name_of(Role::Weight).is_some();
        Ok(Some(Table {
            features: self.cells.finish(&self.layout.feature_names, self.rows, self.places)?,
            weights: weighed.then_some(self.weights),
            folds: self.folds,
            dropped: self.dropped,
        }))
    }
}
