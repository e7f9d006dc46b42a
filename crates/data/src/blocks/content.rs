//! The rows of blocks as bytes and in memory.

use nalgebra::DMatrix;

use super::bytes::Bytes;
use super::layout::{Layout, Precision};
use crate::{Design, Error};

/// Rows of one block or of several, with codes for classes and folds.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) labels: Vec<u32>,
    pub(super) weights: Vec<f64>,
    pub(super) folds: Vec<u32>,
    /// The number of stored values of every row, of sparse rows.
    pub(super) lengths: Vec<u32>,
    /// The column of every stored value, of sparse rows.
    pub(super) columns: Vec<u32>,
    pub(super) values: Vec<f64>,
}

impl Content {
    pub(super) fn with_room(layout: Layout, rows: usize, stored: usize) -> Self {
        let some = |there: bool, count: usize| if there { count } else { 0 };
        Content {
            labels: Vec::with_capacity(rows),
            weights: Vec::with_capacity(some(layout.weights, rows)),
            folds: Vec::with_capacity(some(layout.folds, rows)),
            lengths: Vec::with_capacity(some(layout.sparse, rows)),
            columns: Vec::with_capacity(some(layout.sparse, stored)),
            values: Vec::with_capacity(stored),
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.labels.len()
    }

    pub(super) fn clear(&mut self) {
        let Content { labels, weights, folds, lengths, columns, values } = self;
        [labels, folds, lengths, columns].into_iter().for_each(Vec::clear);
        [weights, values].into_iter().for_each(Vec::clear);
    }

    pub(super) fn put(&self, layout: Layout, out: &mut Vec<u8>) {
        put(out, &self.labels, u32::to_le_bytes);
        put(out, &self.folds, u32::to_le_bytes);
        put(out, &self.weights, f64::to_le_bytes);
        put(out, &self.lengths, u32::to_le_bytes);
        put(out, &self.columns, u32::to_le_bytes);
        match layout.precision {
            Precision::Single => put(out, &self.values, |value| (value as f32).to_le_bytes()),
            Precision::Double => put(out, &self.values, f64::to_le_bytes),
        }
    }

    /// Appends the rows of a block, whose size is right.
    pub(super) fn take(
        &mut self,
        layout: Layout,
        rows: u32,
        stored: u64,
        content: &[u8],
    ) -> Result<(), String> {
        let (rows, stored) = (rows as usize, stored as usize);
        let some = |there: bool, count: usize| if there { count } else { 0 };
        let mut rest = Bytes::new(content);
        take(&mut rest, rows, u32::from_le_bytes, &mut self.labels)?;
        take(&mut rest, some(layout.folds, rows), u32::from_le_bytes, &mut self.folds)?;
        take(&mut rest, some(layout.weights, rows), f64::from_le_bytes, &mut self.weights)?;
        take(&mut rest, some(layout.sparse, rows), u32::from_le_bytes, &mut self.lengths)?;
        take(&mut rest, some(layout.sparse, stored), u32::from_le_bytes, &mut self.columns)?;
        let single = |bytes| f64::from(f32::from_le_bytes(bytes));
        match layout.precision {
            Precision::Single => take(&mut rest, stored, single, &mut self.values)?,
            Precision::Double => take(&mut rest, stored, f64::from_le_bytes, &mut self.values)?,
        }
        rest.finish()
    }

    pub(super) fn design(
        lengths: &[u32],
        columns: Vec<u32>,
        values: Vec<f64>,
        layout: Layout,
        shape: (usize, usize),
    ) -> Result<Design, Error> {
        let (rows, features) = shape;
        if !layout.sparse {
            // Both numbers have been compared with that of the values.
            return Design::from_samples(DMatrix::from_vec(features, rows, values));
        }
        Design::from_stored(lengths, columns, values, features)
    }
}

fn put<T: Copy, const N: usize>(out: &mut Vec<u8>, items: &[T], bytes: impl Fn(T) -> [u8; N]) {
    out.reserve(items.len() * N);
    items.iter().for_each(|&item| out.extend(bytes(item)));
}

fn take<T, const N: usize>(
    rest: &mut Bytes<'_>,
    count: usize,
    item: impl Fn([u8; N]) -> T,
    items: &mut Vec<T>,
) -> Result<(), String> {
    let bytes = count.checked_mul(N).ok_or_else(|| format!("{count} items are too many"))?;
    let (chunks, _) = rest.take(bytes)?.as_chunks::<N>();
    items.extend(chunks.iter().map(|&chunk| item(chunk)));
    Ok(())
}
