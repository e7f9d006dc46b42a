//! The rows of a file that were left out of a data set.

use super::Dataset;
use crate::ClassLabels;

impl<Y: ClassLabels> Dataset<Y> {
    /// Takes the rows of the file that were left out, counted from 0, in ascending order.
    pub(crate) fn without(mut self, dropped: Vec<usize>) -> Self {
        self.dropped = dropped;
        self
    }

    /// Returns the number of rows of the file that were left out because they have no label, see
    /// [`ReadOptions::drop_unlabelled`](crate::read::ReadOptions::drop_unlabelled); 0 of data that come
    /// from elsewhere, parts of others among them.
    pub fn dropped_rows(&self) -> usize {
        self.dropped.len()
    }

    /// Returns the number of a sample among all rows of the file, including the rows left out; both
    /// are counted from 0.
    pub fn row_of(&self, sample: usize) -> usize {
        row_among(&self.dropped, sample)
    }
}

/// Returns the number of a sample among all rows, of which some were left out, in ascending order.
pub(crate) fn row_among(dropped: &[usize], sample: usize) -> usize {
    // The gaps at or before the row: the k-th one has `gap - k` samples before it.
    let (mut low, mut high) = (0, dropped.len());
    while low < high {
        let k = low.midpoint(high);
        if dropped[k] - k <= sample { low = k + 1 } else { high = k }
    }
    sample + low
}
