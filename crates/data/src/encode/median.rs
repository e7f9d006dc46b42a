//! Medians of streaming numbers in bounded memory.

use std::collections::BTreeMap;

/// The most groups of numbers that are counted in a pass.
const MOST_GROUPS: usize = 1 << 12;

/// The median of streaming numbers, read once or several times, in bounded memory: numbers are
/// counted in groups of equal leading bits, as fine as the bound allows. The groups in the middle are
/// refined in the next pass, until they are single numbers.
#[derive(Debug, Default)]
pub(super) struct Median {
    /// The middle of all numbers: one, or two if their count is even. None before the first pass ends.
    middles: Option<[Middle; 2]>,
    groups: Groups,
}

/// One of the numbers in the middle.
#[derive(Debug, Clone, Copy)]
struct Middle {
    group: Group,
    /// The number of those in the group that come before.
    rank: u64,
}

/// The keys that have the same bits before the last `free`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Group {
    first: u64,
    free: u32,
}

impl Group {
    fn contains(self, key: u64) -> bool {
        shifted(key ^ self.first, self.free) == 0
    }
}

#[derive(Debug, Default)]
struct Groups {
    counts: BTreeMap<u64, u64>,
    free: u32,
}

impl Groups {
    fn take(&mut self, key: u64) {
        *self.counts.entry(shifted(key, self.free)).or_default() += 1;
        while self.counts.len() > MOST_GROUPS {
            self.free += 2;
            let finer = std::mem::take(&mut self.counts);
            for (group, count) in finer {
                *self.counts.entry(shifted(group, 2)).or_default() += count;
            }
        }
    }

    /// Returns the place of the key in `range` before which `rank` keys of it come, from the counts
    /// that lie in `range`.
    fn find(&self, range: Group, mut rank: u64) -> Middle {
        for (&group, &count) in &self.counts {
            let first = if self.free == 64 { 0 } else { group << self.free };
            if range.contains(first) {
                if rank < count {
                    return Middle { group: Group { first, free: self.free }, rank };
                }
                rank -= count;
            }
        }
        // The numbers are no longer those of the pass before: there is an end all the same.
        Middle { group: Group { free: 0, ..range }, rank: 0 }
    }

    fn total(&self) -> u64 {
        self.counts.values().sum()
    }
}

impl Median {
    pub(super) fn take(&mut self, number: f64) {
        let key = key(number);
        match self.middles {
            Some(middles) if !middles.iter().any(|middle| middle.group.contains(key)) => {}
            _ => self.groups.take(key),
        }
    }

    /// Ends a pass over all numbers; true if the median is known.
    pub(super) fn ends_pass(&mut self) -> bool {
        let groups = std::mem::take(&mut self.groups);
        if groups.counts.is_empty() {
            return true;
        }
        let all = Group { first: 0, free: 64 };
        let middles = self.middles.unwrap_or_else(|| {
            let count = groups.total();
            [(count - 1) / 2, count / 2].map(|rank| Middle { group: all, rank })
        });
        let next = middles.map(|middle| match middle.group.free {
            0 => middle,
            _ => groups.find(middle.group, middle.rank),
        });
        self.middles = Some(next);
        next.iter().all(|middle| middle.group.free == 0)
    }

    /// Returns the median of the numbers whose passes have ended; 0 of none.
    pub(super) fn value(&self) -> f64 {
        match self.middles {
            Some([low, high]) if low.group.free == 0 => {
                let [low, high] = [low, high].map(|middle| number(middle.group.first));
                if low.to_bits() == high.to_bits() { low } else { low.midpoint(high) }
            }
            _ => 0.0,
        }
    }
}

fn shifted(key: u64, by: u32) -> u64 {
    key.checked_shr(by).unwrap_or(0)
}

/// Returns the bits of a number so that they have its order.
fn key(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn number(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the median of numbers that are read as often as needed, and the number of passes.
    fn median(numbers: &[f64]) -> (f64, usize) {
        let mut median = Median::default();
        for pass in 1.. {
            numbers.iter().for_each(|&number| median.take(number));
            if median.ends_pass() {
                return (median.value(), pass);
            }
        }
        unreachable!("every pass narrows the groups")
    }

    fn sorted_median(numbers: &[f64]) -> f64 {
        let mut sorted = numbers.to_vec();
        sorted.sort_by(f64::total_cmp);
        let half = sorted.len() / 2;
        if sorted.len() % 2 == 1 { sorted[half] } else { sorted[half - 1].midpoint(sorted[half]) }
    }

    proptest! {
        #[test]
        fn it_is_that_of_the_sorted_numbers(
            numbers in proptest::collection::vec(any::<f64>().prop_filter("finite", |x| x.is_finite()), 1..40)
        ) {
            prop_assert_eq!(median(&numbers).0.to_bits(), sorted_median(&numbers).to_bits());
        }
    }

    #[test]
    fn many_numbers_take_few_passes_and_few_groups() {
        for count in [100_000, 100_001] {
            let number = |i: u64| (i * 7_919 % 100_003) as f64 / 977.0 - 40.0;
            let numbers: Vec<f64> = (0..count).map(number).collect();
            let (value, passes) = median(&numbers);
            assert_eq!(value.to_bits(), sorted_median(&numbers).to_bits());
            assert_eq!(passes, 2);
        }
        let mut median = Median::default();
        for i in 0..100_000 {
            median.take(f64::from(i) / 977.0);
            assert!(median.groups.counts.len() <= MOST_GROUPS);
        }
    }

    #[test]
    fn none_have_zero_and_lost_ones_an_end() {
        assert_eq!(median(&[]), (0.0, 1));
        let mut lost = Median::default();
        (0..100_000).for_each(|i| lost.take(f64::from(i)));
        assert!(!lost.ends_pass() && lost.ends_pass());
    }
}
