//! The feature cells of rows while they are read: numbers, or raw columns to be encoded.

use nalgebra::DMatrix;

use super::columns::{FeatureColumns, FeatureTable, RowPlaces};
use super::lines::{Lines, not_a_number};
use crate::encode::{Gaps, RawTable};
use crate::error::quoted;
use crate::room::make_room;
use crate::{Column, Design, Error, Shortage, decimal};

/// The features of rows, as they come.
pub(super) enum Cells<'m> {
    Numbers(Vec<f64>),
    Raw { table: RawTable, gaps: &'m Gaps },
}

/// The beginning of raw tables.
pub(super) struct RawStart {
    /// The columns without rows.
    empty: RawTable,
    gaps: Gaps,
}

impl RawStart {
    /// Returns what features of these names begin with, if words and missing values are taken.
    pub(super) fn new(names: &[String], columns: &FeatureColumns) -> Option<Self> {
        let gaps = Gaps::new(columns.missing_words()?.clone());
        let empty = RawTable::new(names.to_vec()).with_codes(&columns.codes());
        Some(RawStart { empty, gaps })
    }
}

impl<'m> Cells<'m> {
    /// Returns no rows; of a raw table words and missing values are taken.
    pub(super) fn new(start: Option<&'m RawStart>) -> Self {
        match start {
            None => Cells::Numbers(Vec::new()),
            Some(RawStart { empty, gaps }) => Cells::Raw { table: empty.clone(), gaps },
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Cells::Numbers(values) => values.len(),
            Cells::Raw { table, .. } => table.rows() * table.columns().len(),
        }
    }

    pub(super) fn reserve(&mut self, rows: usize, features: usize) {
        match self {
            Cells::Numbers(values) => values.reserve(rows.saturating_mul(features)),
            Cells::Raw { table, .. } => table.reserve(rows),
        }
    }

    /// Takes in a cell of a feature, counted from 0, whose column has this name.
    #[inline]
    pub(super) fn push(
        &mut self,
        lines: &Lines<'_>,
        feature: usize,
        name: &str,
        cell: &str,
    ) -> Result<(), Error> {
        let pushed = match self {
            Cells::Numbers(values) => number(cell).map(|value| values.push(value)),
            Cells::Raw { table, gaps } => {
                table.push_cell(feature, (!gaps.contains(cell)).then_some(cell))
            }
        };
        pushed.map_err(|reason| lines.malformed(Column::Name(name.to_owned()), reason))
    }

    /// Takes in a number before the next comma as that of a feature, counted from 0, and returns its length;
    /// `None` for any cell that has to be examined.
    #[inline]
    pub(super) fn push_leading(&mut self, feature: usize, text: &[u8]) -> Option<usize> {
        match self {
            Cells::Numbers(values) => {
                let (value, length) = decimal::leading(text)?;
                values.push(value);
                Some(length)
            }
            Cells::Raw { gaps, .. } if gaps.have_numbers() => None,
            Cells::Raw { table, .. } => table.push_leading(feature, text),
        }
    }

    pub(super) fn end_row(&mut self) {
        if let Cells::Raw { table, .. } = self {
            table.end_row();
        }
    }

    /// Appends rows of the same columns, if there is the memory.
    pub(super) fn append(&mut self, more: Self) -> Result<(), Shortage> {
        match (self, more) {
            (Cells::Numbers(values), Cells::Numbers(mut more)) => {
                make_room(values, more.len())?;
                values.append(&mut more);
            }
            (Cells::Raw { table, .. }, Cells::Raw { table: more, .. }) => {
                table.check_growth(more.rows())?;
                table.append(more);
            }
            (Cells::Numbers(_), Cells::Raw { .. }) | (Cells::Raw { .. }, Cells::Numbers(_)) => {}
        }
        Ok(())
    }

    pub(super) fn finish(
        self,
        names: &[String],
        rows: usize,
        places: RowPlaces,
    ) -> Result<FeatureTable, Error> {
        Ok(match self {
            Cells::Raw { table, .. } => FeatureTable::Raw(table, places),
            Cells::Numbers(values) => {
                let samples = DMatrix::from_vec(names.len(), rows, values);
                let design = Design::from_samples(samples)?;
                FeatureTable::Design { design, names: Some(names.to_vec()) }
            }
        })
    }
}

/// Returns the number in a cell, or why it is not a number.
#[inline]
pub(super) fn number(cell: &str) -> Result<f64, String> {
    match decimal::parse(cell) {
        Ok(value) if value.is_finite() => Ok(value),
        parsed => Err(match not_a_number(cell) {
            None => missing(cell),
            Some(reason) if parsed.is_err() => {
                let advice = match cell.replacen(',', ".", 1).parse::<f64>() {
                    Ok(_) => "decimals are written with a point",
                    Err(_) => "add --encode to treat the column as categories",
                };
                format!("{reason}; {advice}")
            }
            Some(reason) => reason,
        }),
    }
}

fn missing(cell: &str) -> String {
    let what = match cell {
        "" => "the cell is empty".to_owned(),
        _ => format!("{} is a missing value", quoted(cell)),
    };
    format!("{what}. Add --encode to fill missing values")
}

/// Returns the weight of a sample, or why it is not a weight.
pub(super) fn weight(cell: &str) -> Result<f64, String> {
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err(format!("weight {} is not a number that is 0 or more", quoted(cell))),
    }
}
