//! Small tables whose columns and weights have any size, for property tests.

use std::ops::Range;

use proptest::prelude::*;

/// Rows with their signs and weights.
#[derive(Debug, Clone)]
pub struct Table {
    /// The features of each row.
    pub rows: Vec<Vec<f64>>,
    /// The labels, alternating between -1 and 1.
    pub signs: Vec<f64>,
    /// The weights, most of them 1, the others from 1e-2 to 1e12.
    pub weights: Vec<f64>,
}

/// The unit of a column, and its offset in spreads.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// The size of the values.
    pub unit: f64,
    /// What is added to all of them, in that unit.
    pub offset: f64,
}

/// Returns tables of 4 to 14 rows, separable or not, whose numbers of columns lie in a range and
/// whose columns are drawn for that number.
pub fn tables<C: Strategy<Value = Vec<Column>>>(
    counts: Range<usize>,
    columns: impl Fn(usize) -> C,
) -> impl Strategy<Value = Table> {
    (2usize..8, counts, any::<bool>()).prop_flat_map(move |(half, p, separable)| {
        let n = 2 * half;
        let values = proptest::collection::vec(-1.0..1.0f64, n * p);
        let weight = prop_oneof![4 => Just(1.0), 1 => (-2.0..12.0f64).prop_map(|e| 10f64.powf(e))];
        let weights = proptest::collection::vec(weight, n);
        (values, columns(p), weights).prop_map(move |(values, columns, weights)| {
            let signs: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
            let entry = |i: usize, j: usize| {
                let side = if separable && j == 0 { 2.0 * signs[i] } else { 0.0 };
                columns[j].unit * (columns[j].offset + side + values[i * p + j])
            };
            let rows = (0..n).map(|i| (0..p).map(|j| entry(i, j)).collect()).collect();
            Table { rows, signs, weights }
        })
    })
}
