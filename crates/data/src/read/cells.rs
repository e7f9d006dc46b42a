use nalgebra::DMatrix;

use super::columns::{Features, RowPlaces};
use super::lines::{Lines, not_a_number};
use crate::encode::{MissingWords, RawTable};
use crate::error::quoted;
use crate::{Column, Design, Error};

/// The features of rows, as they come.
pub(super) enum Cells<'m> {
    Numbers(Vec<f64>),
    Raw { table: RawTable, places: RowPlaces, missing: &'m MissingWords },
}

impl<'m> Cells<'m> {
    /// Returns no rows; with the words that stand for gaps, words and gaps are taken.
    pub(super) fn new(names: &[String], missing: Option<&'m MissingWords>) -> Self {
        match missing {
            None => Cells::Numbers(Vec::new()),
            Some(missing) => {
                let (table, places) = (RawTable::new(names.to_vec()), RowPlaces::default());
                Cells::Raw { table, places, missing }
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Cells::Numbers(values) => values.len(),
            Cells::Raw { table, .. } => table.rows() * table.columns().len(),
        }
    }

    /// Takes in a cell of a feature, counted from 0, whose column has this name.
    pub(super) fn push(
        &mut self,
        lines: &Lines<'_>,
        feature: usize,
        name: &str,
        cell: &str,
    ) -> Result<(), Error> {
        match self {
            Cells::Numbers(values) => {
                values.push(number(lines, name, cell)?);
                Ok(())
            }
            Cells::Raw { table, missing, .. } => table
                .push_cell(feature, cell, missing)
                .map_err(|reason| lines.malformed(Column::Name(name.to_owned()), reason)),
        }
    }

    /// Ends the row that stands at the current line.
    pub(super) fn end_row(&mut self, lines: &Lines<'_>) {
        if let Cells::Raw { table, places, .. } = self {
            table.end_row();
            places.push(lines);
        }
    }

    pub(super) fn finish(self, names: &[String], rows: usize) -> Result<Features, Error> {
        Ok(match self {
            Cells::Raw { table, places, .. } => Features::Raw(table, places),
            Cells::Numbers(values) => {
                let samples = DMatrix::from_vec(names.len(), rows, values);
                let design = Design::from_samples(samples)?;
                Features::Design { design, names: Some(names.to_vec()) }
            }
        })
    }
}

fn number(lines: &Lines<'_>, column: &str, cell: &str) -> Result<f64, Error> {
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        parsed => Err(match not_a_number(cell) {
            None => missing(lines, column, cell),
            Some(reason) if parsed.is_err() => {
                let advice = match cell.replacen(',', ".", 1).parse::<f64>() {
                    Ok(_) => "decimals are written with a point",
                    Err(_) => "columns of words have to be encoded (--encode)",
                };
                lines.malformed(Column::Name(column.to_owned()), format!("{reason}; {advice}"))
            }
            Some(reason) => lines.malformed(Column::Name(column.to_owned()), reason),
        }),
    }
}

fn missing(lines: &Lines<'_>, column: &str, cell: &str) -> Error {
    let what = match cell {
        "" => "the cell is empty".to_owned(),
        _ => format!("{} is a missing value", quoted(cell)),
    };
    let reason = format!("{what}; tables with gaps have to be encoded (--encode)");
    lines.malformed(Column::Name(column.to_owned()), reason)
}
