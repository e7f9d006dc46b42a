//! The unit that all leaves of a tree are relative to: a power of two, chosen again when their sum
//! leaves its range.

use super::SampleTree;
use super::page::{PAGE, Page};
use crate::Error;
use crate::power_of_two::{Scaled, power_of_two};

/// The smallest exponent of a leaf that is not 0: leaves are below `2^TOTAL_EXPONENTS.end`.
pub(super) const LEAST_EXPONENT: i64 = -900;

/// The total is at least 2 to the first and below 2 to the last of these.
pub(super) const TOTAL_EXPONENTS: std::ops::Range<i64> = 58..62;

/// The total is at least 2 to this, and below twice that, after scaling.
const SCALED_TOTAL_EXPONENT: i64 = 59;

impl SampleTree {
    /// Replaces all weights and the unit; `false`, and nothing changes, of none.
    pub(super) fn fill(&mut self, weights: Vec<(usize, Scaled)>) -> bool {
        let Some(largest) = weights.iter().map(|(_, weight)| weight.exponent()).max() else {
            return false;
        };
        let sum: f64 = weights.iter().map(|(_, weight)| weight.shifted(-largest).value()).sum();
        let sum_exponent = largest + sum.log2().floor() as i64;
        self.exponent = sum_exponent - SCALED_TOTAL_EXPONENT;
        self.aside.clear();
        self.pages.fill(Page::EMPTY);
        for (at, weight) in weights {
            *self.leaf_mut(at) = self.relative(at, Some(weight));
        }
        self.sum_all();
        true
    }

    /// Multiplies as [`multiply`](Self::multiply) does where the weight is or becomes 0, too small
    /// or too large.
    #[cold]
    pub(super) fn multiply_at_limits(&mut self, at: usize, factor: f64) -> Result<(), Error> {
        let before = self.scaled(at);
        let after = before.and_then(|weight| weight.times(factor));
        let too_large = |weight: Scaled| weight.exponent() - self.exponent >= TOTAL_EXPONENTS.end;
        if let Some(weight) = after.filter(|&weight| too_large(weight)) {
            let mut weights = self.all_scaled();
            weights.retain(|&(other, _)| other != at);
            weights.push((at, weight));
            self.fill(weights);
            return Ok(());
        }
        let leaf = self.relative(at, after);
        self.write(at, leaf);
        if !self.total_is_in_range() && !self.rescale() {
            let leaf = self.relative(at, before);
            self.write(at, leaf);
            return Err(Error::NoPositiveWeight);
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn total_is_in_range(&self) -> bool {
        (1 << TOTAL_EXPONENTS.start..1 << TOTAL_EXPONENTS.end).contains(&self.total)
    }

    /// Chooses a new unit; returns `false`, and changes nothing, if all weights are 0.
    #[cold]
    pub(super) fn rescale(&mut self) -> bool {
        // Rounding hides no more than half a unit a leaf, far less than this.
        const RELIABLE: u64 = 1 << 40;
        let shift = SCALED_TOTAL_EXPONENT - i64::from(self.total.max(1).ilog2());
        // What is aside may have to come back where leaves are scaled up.
        if self.total < RELIABLE || (shift > 0 && !self.aside.is_empty()) {
            let weights = self.all_scaled();
            return self.fill(weights);
        }
        self.exponent -= shift;
        let factor = power_of_two(shift);
        for (page, at) in self.pages.iter_mut().zip((0..).step_by(PAGE)) {
            for (leaf, at) in page.leaves.as_flattened_mut().iter_mut().zip(at..) {
                let scaled = *leaf * factor;
                if scaled < power_of_two(LEAST_EXPONENT)
                    && let Some(weight) = Scaled::new(*leaf)
                {
                    self.aside.insert(at, weight.shifted(self.exponent + shift));
                    *leaf = 0.0;
                } else {
                    *leaf = scaled;
                }
            }
        }
        self.sum_all();
        true
    }

    fn all_scaled(&self) -> Vec<(usize, Scaled)> {
        (0..self.len).filter_map(|at| Some((at, self.scaled(at)?))).collect()
    }

    /// Returns the weight apart from the common exponent; `None` for 0.
    pub(super) fn scaled(&self, at: usize) -> Option<Scaled> {
        match Scaled::new(self.leaf(at)) {
            Some(leaf) => Some(leaf.shifted(self.exponent)),
            None => self.aside.get(&at).copied(),
        }
    }

    /// Returns a weight relative to the common exponent: 0 of one that is too small, which is then
    /// kept aside.
    fn relative(&mut self, at: usize, weight: Option<Scaled>) -> f64 {
        self.aside.remove(&at);
        let Some(weight) = weight else { return 0.0 };
        let leaf = weight.shifted(-self.exponent);
        if leaf.exponent() < LEAST_EXPONENT {
            self.aside.insert(at, weight);
            0.0
        } else {
            leaf.value()
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reading back recomputes the sums of all nodes.
    pub(in crate::sample_tree) fn sums_are_those_of_the_children(tree: &SampleTree) -> bool {
        let mut other = tree.clone();
        other.sum_all();
        other == *tree
    }

    proptest! {
        #[test]
        fn a_weight_that_became_0_stays_so(
            weights in prop::collection::vec(0.5..2.0f64, 2..40), at in 0usize..40, exponent in -700i32..700,
        ) {
            let at = at % weights.len();
            let mut tree = SampleTree::new(&weights).unwrap();
            tree.multiply(at, 2f64.powi(exponent)).unwrap();
            tree.multiply(at, 0.0).unwrap();
            tree.multiply(at, 5.0).unwrap();
            let rest: f64 = weights.iter().sum::<f64>() - weights[at];
            for (other, weight) in weights.iter().enumerate() {
                let expected = if other == at { 0.0 } else { weight / rest };
                prop_assert!((tree.probability(other) - expected).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn what_fell_behind_by_thousands_of_doublings_comes_back() {
        // Three pages.
        let mut tree = SampleTree::uniform(150).unwrap();
        (0..1000).for_each(|_| tree.multiply(70, 8.0).unwrap());
        assert_eq!((tree.probability(70), tree.probability(3)), (1.0, 0.0));
        assert_eq!(tree.aside.len(), 149);
        (0..3).for_each(|_| tree.multiply(70, 2f64.powi(-1000)).unwrap());
        assert!(tree.aside.is_empty() && sums_are_those_of_the_children(&tree));
        assert!((0..150).all(|at| (tree.probability(at) - 1.0 / 150.0).abs() < 1e-17));
    }
}
