//! Builds a sparse design from entries in any order, in memory that is reserved once.

use super::Design;
use crate::{Error, Memory};

/// Sparse samples whose entries come in any order, into memory that is reserved once. Entries of the
/// same place are added up.
///
/// ```
/// use margins_data::{Design, SparseRows};
///
/// let mut rows = SparseRows::new([1, 2], 3)?;
/// for (row, column, value) in [(1, 2, 1.0), (0, 1, 2.0), (1, 0, 3.0)] {
///     rows.place(row, column, value)?;
/// }
/// let expected = Design::from_sparse_rows(&[vec![(1, 2.0)], vec![(0, 3.0), (2, 1.0)]], 3)?;
/// assert_eq!(rows.finish()?, expected);
/// # Ok::<(), margins_data::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SparseRows {
    columns: usize,
    /// The place where the entries of each sample begin, and the number of all.
    offsets: Vec<usize>,
    /// The place of the next entry of each sample.
    next: Vec<usize>,
    indices: Vec<usize>,
    values: Vec<f64>,
    /// True as long as the columns of every sample ascend.
    is_ordered: bool,
}

impl SparseRows {
    /// Makes room for samples of these numbers of entries.
    ///
    /// # Errors
    /// [`Error::Memory`]: they do not fit into memory.
    pub fn new(counts: impl IntoIterator<Item = usize>, columns: usize) -> Result<Self, Error> {
        let mut offsets = vec![0_usize];
        for count in counts {
            let rows = offsets.len();
            let end = offsets[rows - 1].checked_add(count);
            offsets.push(end.ok_or_else(|| Design::no_room(rows, columns, usize::MAX))?);
        }
        let rows = offsets.len() - 1;
        let stored = offsets[rows];
        let bytes = stored.saturating_mul(size_of::<usize>() + size_of::<f64>());
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        Memory::from_bytes(bytes).check_free().map_err(|shortage| Error::Memory {
            rows,
            columns: Some(columns),
            shortage,
        })?;
        let room = indices.try_reserve_exact(stored).and(values.try_reserve_exact(stored));
        room.map_err(|_| Design::no_room(rows, columns, bytes))?;
        indices.resize(stored, 0);
        values.resize(stored, 0.0);
        let next = offsets[..rows].to_vec();
        Ok(SparseRows { columns, offsets, next, indices, values, is_ordered: true })
    }

    /// Takes the value of a sample in a column.
    ///
    /// # Errors
    /// The sample or the column does not exist, or the sample has its number of entries already.
    #[inline]
    pub fn place(&mut self, row: usize, column: usize, value: f64) -> Result<(), Error> {
        self.place_row(row, [column], &[value])
    }

    /// Takes some values of a sample, in as many columns.
    ///
    /// # Errors
    /// The sample or a column does not exist, or the sample would have more entries than its number.
    ///
    /// # Panics
    /// The method panics if there are not as many columns as values.
    #[inline]
    pub fn place_row(
        &mut self,
        row: usize,
        columns: impl IntoIterator<Item = usize, IntoIter: ExactSizeIterator>,
        values: &[f64],
    ) -> Result<(), Error> {
        let columns = columns.into_iter();
        assert_eq!(columns.len(), values.len(), "a column for each value");
        let Some(next) = self.next.get_mut(row) else {
            let (what, expected) = ("rows of sparse entries", self.offsets.len() - 1);
            return Err(Error::Shape { what, expected, found: row.saturating_add(1) });
        };
        let entries = *next..*next + values.len();
        if entries.end > self.offsets[row + 1] {
            return Err(self.other_count(row, values.len()));
        }
        *next = entries.end;
        let first = (entries.start > self.offsets[row]).then(|| self.indices[entries.start - 1]);
        // The smallest column that may come next.
        let mut least = first.map_or(0, |column| column + 1);
        let (mut is_ordered, mut is_wrong) = (self.is_ordered, false);
        for (index, column) in self.indices[entries.clone()].iter_mut().zip(columns) {
            is_ordered &= column >= least;
            is_wrong |= column >= self.columns;
            least = column.wrapping_add(1);
            *index = column;
        }
        self.is_ordered = is_ordered;
        self.values[entries.clone()].copy_from_slice(values);
        if is_wrong {
            let columns = self.columns;
            let wrong = self.indices[entries].iter().find(|&&column| column >= columns);
            let &column = wrong.expect("one is wrong");
            return Err(Error::SparseColumn { row, column, columns });
        }
        Ok(())
    }

    /// Returns the samples.
    ///
    /// # Errors
    /// The errors of [`Design::sparse`]; a sample that lacks entries.
    pub fn finish(mut self) -> Result<Design, Error> {
        let rows = self.next.len();
        if let Some(row) = (0..rows).find(|&row| self.next[row] != self.offsets[row + 1]) {
            return Err(self.other_count(row, 0));
        }
        if !self.is_ordered {
            self.put_in_order();
        }
        let SparseRows { columns, offsets, indices, values, .. } = self;
        Design::of_ascending(columns, offsets, indices, values)
    }

    /// Returns the error of a sample with so many entries more than it has room for.
    fn other_count(&self, row: usize, more: usize) -> Error {
        let (begin, end) = (self.offsets[row], self.offsets[row + 1]);
        let found = self.next[row] - begin + more;
        Error::Shape { what: "entries of a sparse row", expected: end - begin, found }
    }

    /// Makes the columns of every sample ascend, in place.
    fn put_in_order(&mut self) {
        let (mut kept, mut begin) = (0, 0);
        let mut sorted = Vec::new();
        for row in 0..self.next.len() {
            let entries = begin..self.offsets[row + 1];
            begin = entries.end;
            if self.indices[entries.clone()].is_sorted_by(|one, other| one < other) {
                if kept < entries.start {
                    self.indices.copy_within(entries.clone(), kept);
                    self.values.copy_within(entries.clone(), kept);
                }
                kept += entries.len();
            } else {
                let columns = self.indices[entries.clone()].iter().copied();
                sorted.clear();
                sorted.extend(columns.zip(self.values[entries].iter().copied()));
                sorted.sort_by_key(|&(column, _)| column);
                kept = self.keep_sums(kept, &sorted);
            }
            self.offsets[row + 1] = kept;
        }
        self.indices.truncate(kept);
        self.values.truncate(kept);
    }

    /// Writes the sums of the values of each column from a place on, and returns the place after them.
    fn keep_sums(&mut self, from: usize, sorted: &[(usize, f64)]) -> usize {
        let mut kept = from;
        for &(column, value) in sorted {
            if kept > from && self.indices[kept - 1] == column {
                self.values[kept - 1] += value;
            } else {
                (self.indices[kept], self.values[kept]) = (column, value);
                kept += 1;
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn made(entries: &[(usize, usize, f64)], rows: usize, columns: usize) -> Result<Design, Error> {
        let count = |row: usize| entries.iter().filter(|entry| entry.0 == row).count();
        let mut made = SparseRows::new((0..rows).map(count), columns)?;
        entries.iter().try_for_each(|&(row, column, value)| made.place(row, column, value))?;
        made.finish()
    }

    proptest! {
        /// Whole numbers have the same sum in any order.
        #[test]
        fn entries_in_any_order_add_up(
            entries in prop::collection::vec((0..5_usize, 0..7_usize, -9..9_i32), 0..60),
        ) {
            let mut expected = nalgebra::DMatrix::zeros(5, 7);
            let entries: Vec<_> =
                entries.into_iter().map(|(row, column, x)| (row, column, f64::from(x))).collect();
            entries.iter().for_each(|&(row, column, x)| expected[(row, column)] += x);
            prop_assert_eq!(made(&entries, 5, 7).unwrap().to_dense(), expected.clone());
            // The same row by row.
            let of_row = |row: usize| entries.iter().filter(move |entry| entry.0 == row);
            let mut rows = SparseRows::new((0..5).map(|row| of_row(row).count()), 7).unwrap();
            for row in 0..5 {
                let columns: Vec<_> = of_row(row).map(|entry| entry.1).collect();
                let values: Vec<_> = of_row(row).map(|entry| entry.2).collect();
                rows.place_row(row, columns, &values).unwrap();
            }
            prop_assert_eq!(rows.finish().unwrap().to_dense(), expected);
        }
    }

    #[test]
    fn what_is_no_matrix_is_refused() {
        assert!(matches!(made(&[], 0, 1), Err(Error::Empty("rows"))));
        let refused = made(&[(0, 3, 1.0)], 1, 3);
        assert!(matches!(refused, Err(Error::SparseColumn { row: 0, column: 3, columns: 3 })));
        let refused = made(&[(0, 1, f64::NAN)], 1, 3);
        assert!(matches!(refused, Err(Error::NotFinite { row: 0, column: 1, .. })));
        let mut rows = SparseRows::new([2, 1], 1).unwrap();
        assert!(matches!(rows.place(2, 0, 1.0), Err(Error::Shape { expected: 2, found: 3, .. })));
        rows.place(1, 0, 1.0).unwrap();
        assert!(matches!(rows.place(1, 0, 1.0), Err(Error::Shape { expected: 1, found: 2, .. })));
        assert!(matches!(rows.finish(), Err(Error::Shape { expected: 2, found: 0, .. })));
        let huge = SparseRows::new([usize::MAX, 1], 1);
        assert!(matches!(huge, Err(Error::Memory { .. })));
        assert!(matches!(SparseRows::new([1 << 58], 1), Err(Error::Memory { .. })));
    }
}
