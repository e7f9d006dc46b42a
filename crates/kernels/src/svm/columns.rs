//! The columns of K that steps read.

use crate::symmetric::number::Number;

/// The columns of K restricted to the active samples: those of K itself where they lie if all
/// samples are active, and else a cache of copies, padded with zeros and made when first used. The
/// inner loops then run over contiguous memory however small the active set, and K is only read.
///
/// There are as many slots as the budget allows, but at least two and no more than active samples.
pub(super) struct Columns<'k, P> {
    /// The matrix, column by column.
    matrix: &'k [P],
    order: usize,
    /// The most numbers in `entries`.
    budget: usize,
    height: usize,
    /// The last column of the matrix, which zeros follow, if all samples are active: the columns are
    /// then read where they are, each with a part of the next one.
    last: Option<Vec<P>>,
    /// The slot of the column of an active sample.
    slots: Vec<Option<usize>>,
    /// The sample of every slot in use, and when it was last used.
    users: Vec<(usize, u64)>,
    /// The entries, one column after the other.
    entries: Vec<P>,
    uses: u64,
}

impl<'k, P: Number> Columns<'k, P> {
    /// Takes a matrix of this order and the memory for copies.
    pub(super) fn new(matrix: &'k [P], order: usize, bytes: usize) -> Self {
        Columns {
            matrix,
            order,
            budget: bytes / size_of::<P>(),
            height: 0,
            last: None,
            slots: Vec::new(),
            users: Vec::new(),
            entries: Vec::new(),
            uses: 0,
        }
    }

    /// Returns true if so many active samples of n are few enough for copies: they take time, and
    /// make the steps shorter.
    pub(super) fn are_worth_copies(active: usize, n: usize) -> bool {
        2 * active <= n
    }

    /// Forgets all columns, for other active samples.
    pub(super) fn reset(&mut self, count: usize, height: usize) {
        self.height = height;
        self.last = None;
        self.slots.clear();
        self.slots.resize(count, None);
        self.users.clear();
        self.entries.clear();
    }

    /// Makes all columns present, for all samples being active: what a column has below the last
    /// sample means nothing. The height is at most twice the number of samples.
    pub(super) fn reset_to_all(&mut self, height: usize) {
        self.reset(0, height);
        let mut last = self.column(self.order - 1).to_vec();
        last.resize(height, P::of(0.0));
        self.last = Some(last);
    }

    fn column(&self, sample: usize) -> &'k [P] {
        &self.matrix[sample * self.order..][..self.order]
    }

    /// Makes the column of active sample k present and returns its slot. It stays at least until
    /// two other columns have been loaded.
    pub(super) fn load(&mut self, k: usize, members: &[usize]) -> usize {
        if self.last.is_some() {
            return k;
        }
        self.uses += 1;
        if let Some(slot) = self.slots[k] {
            self.users[slot].1 = self.uses;
            return slot;
        }
        let column = self.column(members[k]);
        let values = members.iter().map(|&i| column[i]);
        let slot = if self.users.len() < 2 || self.entries.len() + self.height <= self.budget {
            self.users.push((k, self.uses));
            self.entries.extend(values);
            self.entries.resize(self.users.len() * self.height, P::of(0.0));
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

    pub(super) fn at(&self, slot: usize) -> &[P] {
        match &self.last {
            Some(last) => {
                let rest = &self.matrix[slot * self.order..];
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
        let matrix: Vec<f64> =
            (0..36).map(|at| (at / 6) as f64 + 0.125 * (at % 6) as f64).collect();
        let members = [0, 1, 2, 3, 4, 5];
        // Room for three columns of height 8.
        let mut columns = Columns::new(&matrix, 6, 3 * 8 * 8 + 7);
        columns.reset(6, 8);
        assert_eq!([0, 1, 2].map(|k| columns.load(k, &members)), [0, 1, 2]);
        assert_eq!(columns.load(0, &members), 0);
        // 1 is the oldest now, then 2.
        assert_eq!(columns.load(3, &members), 1);
        assert_eq!(columns.load(4, &members), 2);
        assert_eq!(columns.load(1, &members), 0);
        assert_eq!(columns.at(0), [1.0, 1.125, 1.25, 1.375, 1.5, 1.625, 0.0, 0.0]);
        assert_eq!(columns.at(1)[..2], [3.0, 3.125]);
        assert_eq!(columns.entries.len(), 3 * 8);
        // Without a budget there is still room for a pair.
        let mut columns = Columns::new(&matrix, 6, 0);
        columns.reset(6, 8);
        assert_eq!([5, 3, 5, 2, 4].map(|k| columns.load(k, &members)), [0, 1, 0, 1, 0]);
        assert_eq!(columns.entries.len(), 2 * 8);
    }

    #[test]
    fn columns_in_place_are_those_of_the_matrix() {
        let matrix: Vec<f32> = (0..81).map(|at| (10 * (at % 9) + at / 9) as f32).collect();
        let mut columns = Columns::new(&matrix, 9, 0);
        columns.reset_to_all(16);
        for k in 0..9 {
            let slot = columns.load(k, &[]);
            assert_eq!(columns.at(slot)[..9], matrix[9 * k..][..9]);
            assert_eq!(columns.at(slot).len(), 16);
        }
        columns.reset(2, 8);
        let slot = columns.load(1, &[3, 4]);
        assert_eq!(columns.at(slot), [34.0, 44.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
}
