//! The columns of K that steps read.

use nalgebra::DMatrix;

/// The columns of K restricted to the active samples: those of K itself where they lie if all
/// samples are active, and else a cache of copies, padded with zeros and made when first used. The
/// inner loops then run over contiguous memory however small the active set, and K is only read.
///
/// There are as many slots as the budget allows, but at least two and no more than active samples.
pub(super) struct Columns<'k> {
    /// The most numbers in `entries`.
    budget: usize,
    height: usize,
    all: Option<InPlace<'k>>,
    /// The slot of the column of an active sample.
    slots: Vec<Option<usize>>,
    /// The sample of every slot in use, and when it was last used.
    users: Vec<(usize, u64)>,
    /// The entries, one column after the other.
    entries: Vec<f64>,
    uses: u64,
}

/// The columns of a matrix where they are, each followed by a part of the next one.
struct InPlace<'k> {
    matrix: &'k DMatrix<f64>,
    /// The last column, which zeros follow.
    last: Vec<f64>,
}

impl<'k> Columns<'k> {
    pub(super) fn new(bytes: usize) -> Self {
        Columns {
            budget: bytes / size_of::<f64>(),
            height: 0,
            all: None,
            slots: Vec::new(),
            users: Vec::new(),
            entries: Vec::new(),
            uses: 0,
        }
    }

    /// Returns true if so many active samples of n are few enough for copies: they take time, and
    /// make the steps shorter.
    pub(super) fn are_worth_copies(active: usize, n: usize) -> bool {
        4 * active <= 3 * n
    }

    /// Forgets all columns, for other active samples.
    pub(super) fn reset(&mut self, count: usize, height: usize) {
        self.height = height;
        self.all = None;
        self.slots.clear();
        self.slots.resize(count, None);
        self.users.clear();
        self.entries.clear();
    }

    /// Makes all columns of a matrix present, for all samples being active: what a column has below
    /// the last sample means nothing. The height is at most twice the number of samples.
    pub(super) fn reset_to_all(&mut self, matrix: &'k DMatrix<f64>, height: usize) {
        self.reset(0, height);
        let n = matrix.nrows();
        let mut last = matrix.as_slice()[n * (n - 1)..].to_vec();
        last.resize(height, 0.0);
        self.all = Some(InPlace { matrix, last });
    }

    /// Makes the column of active sample k present and returns its slot. It stays at least until
    /// two other columns have been loaded.
    pub(super) fn load(&mut self, k: usize, members: &[usize], column: &[f64]) -> usize {
        if self.all.is_some() {
            return k;
        }
        self.uses += 1;
        if let Some(slot) = self.slots[k] {
            self.users[slot].1 = self.uses;
            return slot;
        }
        let values = members.iter().map(|&i| column[i]);
        let slot = if self.users.len() < 2 || self.entries.len() + self.height <= self.budget {
            self.users.push((k, self.uses));
            self.entries.extend(values);
            self.entries.resize(self.users.len() * self.height, 0.0);
            self.users.len() - 1
        } else {
            let slot = self.oldest();
            let (evicted, _) = std::mem::replace(&mut self.users[slot], (k, self.uses));
            self.slots[evicted] = None;
            let place = &mut self.entries[slot * self.height..][..members.len()];
            place.iter_mut().zip(values).for_each(|(entry, value)| *entry = value);
            slot
        };
        self.slots[k] = Some(slot);
        slot
    }

    /// Returns the slot that has not been used for the longest time.
    fn oldest(&self) -> usize {
        let age = |slot: &usize| self.users[*slot].1;
        (0..self.users.len()).min_by_key(age).unwrap_or_default()
    }

    pub(super) fn at(&self, slot: usize) -> &[f64] {
        match &self.all {
            Some(InPlace { matrix, last }) => {
                let rest = &matrix.as_slice()[slot * matrix.nrows()..];
                rest.get(..self.height).unwrap_or(last)
            }
            None => &self.entries[slot * self.height..][..self.height],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_unused_for_the_longest_time_makes_room() {
        let column = |k: usize| [k as f64, k as f64 + 0.25, k as f64 + 0.5];
        let members = [0, 2];
        // Room for three columns of height 8.
        let mut columns = Columns::new(3 * 8 * 8 + 7);
        columns.reset(6, 8);
        let slots = [0, 1, 2].map(|k| columns.load(k, &members, &column(k)));
        assert_eq!(slots, [0, 1, 2]);
        assert_eq!(columns.load(0, &members, &column(0)), 0);
        // 1 is the oldest now, then 2.
        assert_eq!(columns.load(3, &members, &column(3)), 1);
        assert_eq!(columns.load(4, &members, &column(4)), 2);
        assert_eq!(columns.load(1, &members, &column(1)), 0);
        assert_eq!(columns.at(0), [1.0, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(columns.at(1)[..2], [3.0, 3.5]);
        assert_eq!(columns.entries.len(), 3 * 8);
        // Without a budget there is still room for a pair.
        let mut columns = Columns::new(0);
        columns.reset(6, 8);
        assert_eq!([5, 3, 5, 2, 4].map(|k| columns.load(k, &members, &column(k))), [0, 1, 0, 1, 0]);
        assert_eq!(columns.entries.len(), 2 * 8);
    }

    #[test]
    fn columns_in_place_are_those_of_the_matrix() {
        let matrix = DMatrix::from_fn(9, 9, |i, j| (10 * i + j) as f64);
        let mut columns = Columns::new(0);
        columns.reset_to_all(&matrix, 16);
        for k in 0..9 {
            let slot = columns.load(k, &[], &[]);
            assert_eq!(columns.at(slot)[..9], *matrix.column(k).as_slice());
            assert_eq!(columns.at(slot).len(), 16);
        }
        columns.reset(2, 8);
        let slot = columns.load(1, &[3, 4], matrix.column(4).as_slice());
        assert_eq!(columns.at(slot), [34.0, 44.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
}
