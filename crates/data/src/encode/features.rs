//! Applies an encoding: the features of each cell, without copying the cells.

use std::borrow::Cow;

use nalgebra::DMatrix;
use nalgebra_sparse::CsrMatrix;

use super::numbers::Numbers;
use super::words::Words;
use crate::{Design, Error, parallel};

/// The rows that are worked on together.
const ROWS: usize = 512;

/// The features of a cell.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Entries(pub(super) [Option<(usize, f64)>; 2]);

impl Entries {
    /// Returns the features that are not zero, in order, with their values.
    #[inline]
    pub(super) fn values(self) -> impl Iterator<Item = (usize, f64)> {
        self.0.into_iter().flatten()
    }

    #[inline]
    pub(super) fn of_number(number: f64) -> Self {
        Entries([(number != 0.0).then_some((0, number)), None])
    }
}

pub(super) struct ColumnFeatures<'c> {
    pub(super) cells: Source<'c>,
    pub(super) gap: Entries,
}

/// The cells of a column, and their features where these are not the cells.
pub(super) enum Source<'c> {
    Numbers(&'c Numbers),
    Words(Cow<'c, Words>, Vec<Entries>),
}

impl ColumnFeatures<'_> {
    #[inline]
    fn of(&self, row: usize) -> Entries {
        let found = match &self.cells {
            Source::Numbers(cells) => cells.get(row).map(Entries::of_number),
            Source::Words(words, entries) => words.cells()[row].map(|word| entries[word as usize]),
        };
        found.unwrap_or(self.gap)
    }
}

/// The columns of a table with the number of features before each.
pub(super) struct AllFeatures<'c> {
    pub(super) rows: usize,
    pub(super) width: usize,
    pub(super) columns: Vec<(usize, ColumnFeatures<'c>)>,
}

impl AllFeatures<'_> {
    /// Returns the features of all rows, sparse where at most a quarter of them are not zero.
    pub(super) fn design(&self) -> Result<Design, Error> {
        let counts = self.counts();
        let stored: usize = counts.iter().sum();
        if 4 * stored <= self.rows * self.width { self.sparse(&counts) } else { self.dense() }
    }

    /// Returns the number of features of each row that are not zero.
    fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.rows];
        parallel::for_each_chunk(&mut counts, ROWS, |block, counts| {
            for (_, column) in &self.columns {
                for (row, count) in (block * ROWS..).zip(counts.iter_mut()) {
                    *count += column.of(row).values().count();
                }
            }
        });
        counts
    }

    fn dense(&self) -> Result<Design, Error> {
        Design::check_room(self.rows, self.width)?;
        // Memory that is zero as the system gives it is not written to twice.
        let zeros = vec![0.0; self.width * self.rows];
        let mut samples = DMatrix::from_vec(self.width, self.rows, zeros);
        let size = ROWS * self.width;
        parallel::for_each_chunk(samples.as_mut_slice(), size, |block, samples| {
            for (from, column) in &self.columns {
                for (row, sample) in (block * ROWS..).zip(samples.chunks_exact_mut(self.width)) {
                    column.of(row).values().for_each(|(at, value)| sample[from + at] = value);
                }
            }
        });
        Design::from_samples(samples)
    }

    fn sparse(&self, counts: &[usize]) -> Result<Design, Error> {
        let mut offsets = Vec::with_capacity(self.rows + 1);
        offsets.push(0);
        offsets.extend(counts.iter().scan(0, |end, count| {
            *end += count;
            Some(*end)
        }));
        let stored = offsets[self.rows];
        let (mut indices, mut values) = (vec![0; stored], vec![0.0; stored]);
        let mut blocks = Vec::with_capacity(self.rows.div_ceil(ROWS));
        let (mut rest, mut rest_of_values) = (&mut indices[..], &mut values[..]);
        for counts in counts.chunks(ROWS) {
            let length = counts.iter().sum();
            blocks.push((take(&mut rest, length), take(&mut rest_of_values, length)));
        }
        parallel::for_each_chunk(&mut blocks, 1, |block, parts| {
            let rows = block * ROWS..self.rows.min((block + 1) * ROWS);
            for (indices, values) in parts {
                let mut places = indices.iter_mut().zip(values.iter_mut());
                for row in rows.clone() {
                    for (from, column) in &self.columns {
                        for ((at, value), place) in column.of(row).values().zip(&mut places) {
                            (*place.0, *place.1) = (from + at, value);
                        }
                    }
                }
            }
        });
        let matrix = CsrMatrix::try_from_csr_data(self.rows, self.width, offsets, indices, values);
        Design::sparse(matrix.expect("the features of a row ascend"))
    }
}

fn take<'s, T>(slice: &mut &'s mut [T], count: usize) -> &'s mut [T] {
    let (taken, rest) = std::mem::take(slice).split_at_mut(count);
    *slice = rest;
    taken
}
