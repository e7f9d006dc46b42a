/// Numbers with gaps, in the order of the rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers {
    /// The numbers, all finite, and NaN for gaps.
    cells: Vec<f64>,
}

impl Numbers {
    /// Takes numbers of which none is infinite, and NaN is a gap.
    pub(super) fn new(cells: Vec<f64>) -> Self {
        Numbers { cells }
    }

    /// Takes in the finite number of the next row; `None` for a gap.
    #[inline]
    pub(super) fn push(&mut self, number: Option<f64>) {
        self.cells.push(number.unwrap_or(f64::NAN));
    }

    /// Takes memory for the numbers of so many further rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.cells.reserve(rows);
    }

    /// Returns the number of further rows that there is memory for.
    pub(super) fn spare(&self) -> usize {
        self.cells.capacity() - self.cells.len()
    }

    /// Takes in the numbers of further rows.
    pub(super) fn append(&mut self, more: &Numbers) {
        self.cells.extend_from_slice(&more.cells);
    }

    /// Returns the numbers of some rows.
    pub(super) fn select(&self, indices: &[usize]) -> Self {
        Numbers { cells: indices.iter().map(|&row| self.cells[row]).collect() }
    }

    /// Returns the number of a row; `None` for a gap.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<f64> {
        let number = self.cells[row];
        (!number.is_nan()).then_some(number)
    }

    /// Returns the number of every row; `None` for a gap.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<f64>> {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }
}

impl PartialEq for Numbers {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}
