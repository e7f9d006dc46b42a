//! Sums over the columns of weighted rows that come in parts.

use crate::{Design, Sample};

/// A function of the rows of a part with their weights, if they have any.
pub type SeeRows<'s> = dyn FnMut(&Design, Option<&[f64]>) + 's;

/// Rows with their weights, relative to the largest so that sums cannot overflow.
pub(super) struct WeightedRows<F> {
    columns: usize,
    each: F,
    /// The largest weight; 0 if all are 0, which then count as all equal.
    largest: f64,
    /// The number of rows of positive weight.
    count: usize,
    pub(super) total: f64,
}

/// The sums over a column that its mean and its deviation come from, in units of its magnitude.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    pub(super) mean: f64,
    /// The weight of the rows that store a value.
    pub(super) stored: f64,
    /// The squares of the stored values less the mean, summed up.
    pub(super) squares: f64,
    /// The stored values less the mean, summed up.
    pub(super) residual: f64,
}

impl<E, F: FnMut(&mut SeeRows<'_>) -> Result<(), E>> WeightedRows<F> {
    pub(super) fn new(columns: usize, mut each: F) -> Result<Self, E> {
        let mut largest: f64 = 0.0;
        each(&mut |design, weights| {
            if let Some(weights) = weights {
                assert_eq!(weights.len(), design.rows(), "one weight per row");
                assert!(weights.iter().all(|c| c.is_finite() && *c >= 0.0), "invalid weight");
            }
            let of_row = |row: usize| weights.map_or(1.0, |weights| weights[row]);
            largest = (0..design.rows()).map(of_row).fold(largest, f64::max);
        })?;
        let mut rows = WeightedRows { columns, each, largest, count: 0, total: 0.0 };
        let (mut count, mut total) = (0, 0.0);
        rows.for_each(|weight, _| {
            total += weight;
            count += usize::from(weight > 0.0);
        })?;
        Ok(WeightedRows { count, total, ..rows })
    }

    /// Calls `visit(weight, sample)` for all rows.
    fn for_each(&mut self, mut visit: impl FnMut(f64, Sample<'_>)) -> Result<(), E> {
        let largest = self.largest;
        (self.each)(&mut |design, weights| {
            for (row, sample) in design.samples().enumerate() {
                let weight = match weights {
                    Some(weights) if largest > 0.0 => weights[row] / largest,
                    _ => 1.0,
                };
                visit(weight, sample);
            }
        })
    }

    /// Calls `visit(weight, column, value)` for the stored values of all rows of positive weight.
    fn for_each_value(&mut self, mut visit: impl FnMut(f64, usize, f64)) -> Result<(), E> {
        self.for_each(|weight, sample| {
            if weight > 0.0 {
                sample.for_each(|column, x| visit(weight, column, x));
            }
        })
    }

    /// Returns the smallest and the largest value of every column, zeros that are not stored included.
    pub(super) fn ranges(&mut self) -> Result<Vec<(f64, f64)>, E> {
        let p = self.columns;
        let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); p];
        let mut stored_rows = vec![0; p];
        self.for_each_value(|_, column, x| {
            let (low, high) = ranges[column];
            ranges[column] = (low.min(x), high.max(x));
            stored_rows[column] += 1;
        })?;
        for (range, stored) in ranges.iter_mut().zip(stored_rows) {
            if stored < self.count || self.count == 0 {
                *range = (range.0.min(0.0), range.1.max(0.0));
            }
        }
        Ok(ranges)
    }

    /// Returns the moments of every column relative to its magnitude.
    pub(super) fn moments(&mut self, magnitudes: &[f64]) -> Result<Vec<Moments>, E> {
        let mut moments = vec![Moments::default(); magnitudes.len()];
        self.for_each_value(|c, column, x| {
            moments[column].mean += c * (x / magnitudes[column]);
            moments[column].stored += c;
        })?;
        moments.iter_mut().for_each(|column| column.mean /= self.total);
        self.for_each_value(|c, column, x| {
            let d = x / magnitudes[column] - moments[column].mean;
            moments[column].squares += c * d * d;
            moments[column].residual += c * d;
        })?;
        Ok(moments)
    }
}
