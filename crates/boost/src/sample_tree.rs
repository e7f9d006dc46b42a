//! A tree of sample weights: drawing and updating take logarithmic time, with exact sums.

mod page;
mod unit;
mod weights;

use std::collections::BTreeMap;

use rand::Rng;
use serde::{Deserialize, Serialize};

use self::page::{CHILDREN, Node, PAGE, Page, units};
use self::unit::{LEAST_EXPONENT, TOTAL_EXPONENTS};
use self::weights::Weights;
use crate::Error;
use crate::power_of_two::{Scaled, power_of_two};

/// The number of pages from which on a tree does not fit into the caches, so that draws look ahead:
/// half a million leaves.
const PAGES_TO_LOOK_AHEAD: usize = 1 << 13;

/// A tree of nonnegative weights, not all 0, to draw from in proportion and to multiply one at a
/// time, both in `O(log m)`.
///
/// Weights may grow or shrink without end. Leaves are weights relative to one common power of two,
/// the unit, of which all together are from `2^58` to below `2^62`. When they leave that range, the
/// unit is chosen again and all leaves are scaled, which changes none of their bits: a pass over the
/// weights, one pass being at least two doublings or one halving of the sum after the last. A
/// weight below `2^-900` units is kept aside, exactly, until it is large enough.
///
/// Nodes count units, each leaf rounded to a whole number of them. Such sums are exact: adding
/// the difference of a changed leaf to every ancestor gives the same numbers as recomputing them
/// from their children, after any number of updates. Rounding changes no probability by more than `m
/// 2^-58`, and on average far less.
///
/// Source: the tree of section 2.3 of Shalev-Shwartz and Wexler (2016), whose updates drift and
/// whose weights overflow.
///
/// ```
/// use margins_boost::SampleTree;
/// use rand::SeedableRng;
///
/// let mut tree = SampleTree::new(&[1.0, 0.0, 2.0])?;
/// tree.multiply(2, 1.5)?;
/// assert_eq!(tree.probability(2), 0.75);
/// let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
/// assert_ne!(tree.draw(&mut random), 1);
/// # Ok::<(), margins_boost::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Weights", into = "Weights")]
pub struct SampleTree {
    len: usize,
    pages: Vec<Page>,
    /// The levels from the parents of pages to the root; none above a single page.
    levels: Vec<Vec<Node>>,
    /// The units of all leaves.
    total: u64,
    /// A leaf `w` stands for the weight `w 2^exponent`.
    exponent: i64,
    /// The positive weights that are 0 in the tree because they are too small for its exponent.
    aside: BTreeMap<usize, Scaled>,
    /// The random number of the next draw, of a tree that looks ahead.
    upcoming: Option<u64>,
}

impl SampleTree {
    /// Makes a tree of the weights given.
    ///
    /// # Errors
    /// No weight, a negative, infinite or NaN weight, or weights that are all 0.
    pub fn new(weights: &[f64]) -> Result<Self, Error> {
        if weights.is_empty() {
            return Err(Error::NoWeights);
        }
        if let Some(at) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(Error::Weight { at, value: weights[at] });
        }
        let scaled = weights.iter().enumerate().filter_map(|(at, &w)| Some((at, Scaled::new(w)?)));
        Self::from_scaled(weights.len(), scaled.collect())
    }

    /// Makes a tree of `m` weights of 1.
    ///
    /// # Errors
    /// `m = 0`.
    pub fn uniform(m: usize) -> Result<Self, Error> {
        Self::new(&vec![1.0; m])
    }

    fn from_scaled(len: usize, weights: Vec<(usize, Scaled)>) -> Result<Self, Error> {
        let mut tree = Self::empty(len);
        tree.fill(weights).then_some(tree).ok_or(Error::NoPositiveWeight)
    }

    fn empty(len: usize) -> Self {
        let pages = vec![Page::EMPTY; len.div_ceil(PAGE)];
        let mut levels = Vec::new();
        let mut nodes = pages.len();
        while nodes > 1 {
            nodes = nodes.div_ceil(CHILDREN);
            levels.push(vec![Node::EMPTY; nodes]);
        }
        SampleTree {
            len,
            pages,
            levels,
            total: 0,
            exponent: 0,
            aside: BTreeMap::new(),
            upcoming: None,
        }
    }

    /// Returns the number of weights m.
    #[allow(clippy::len_without_is_empty, reason = "there is no tree without weights")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the share of a weight in the sum of all, up to rounding.
    ///
    /// # Panics
    /// If `at >= m`.
    pub fn probability(&self, at: usize) -> f64 {
        assert!(at < self.len, "weight {at} of {}", self.len);
        self.leaf(at) / self.total as f64
    }

    /// Returns the natural logarithm of a weight, `-inf` of 0: no weight is too large or too small.
    ///
    /// # Panics
    /// If `at >= m`.
    pub fn log_weight(&self, at: usize) -> f64 {
        assert!(at < self.len, "weight {at} of {}", self.len);
        self.scaled(at).map_or(f64::NEG_INFINITY, Scaled::ln)
    }

    /// Draws a weight's number, with its [`probability`](Self::probability), by one random number of 64
    /// bits. How many numbers a draw takes must not depend on the weights: otherwise their last bits
    /// would decide all later draws.
    ///
    /// A large tree takes its random numbers one draw ahead. Where the next draw will fall is then
    /// known but for the updates until then, and the memory is asked for it while other work goes
    /// on.
    #[inline]
    pub fn draw<R: Rng + ?Sized>(&mut self, random: &mut R) -> usize {
        if self.pages.len() < PAGES_TO_LOOK_AHEAD {
            return self.leaf_at(self.point(random.next_u64()));
        }
        let next = random.next_u64();
        let (page, _) = self.page_at(self.point(next));
        self.pages[page].prefetch();
        let number = self.upcoming.replace(next).unwrap_or_else(|| random.next_u64());
        self.leaf_at(self.point(number))
    }

    /// Returns the unit of all at a fraction `number 2^-64`; no probability differs by more than
    /// `2^-64`.
    #[inline(always)]
    fn point(&self, number: u64) -> u64 {
        ((u128::from(number) * u128::from(self.total)) >> 64) as u64
    }

    /// Returns the page that a unit of all falls on, and the place on it.
    #[inline(always)]
    fn page_at(&self, mut point: u64) -> (usize, u64) {
        let mut at = 0;
        for level in self.levels.iter().rev() {
            let (child, rest) = level[at].child_at(point);
            (at, point) = (at * CHILDREN + child, rest);
        }
        (at, point)
    }

    /// Returns the weight that a unit of all falls on.
    #[inline]
    fn leaf_at(&self, point: u64) -> usize {
        let (at, point) = self.page_at(point);
        let page = &self.pages[at];
        page.prefetch();
        let (child, point) = page.node.child_at(point);
        let (leaf, _) = Node::of_leaves(&page.leaves[child]).child_at(point);
        at * PAGE + child * CHILDREN + leaf
    }

    /// Multiplies a weight with a factor.
    ///
    /// # Errors
    /// A factor that is negative, infinite or NaN, or one of 0 for the last positive weight; the
    /// tree is then as it was before.
    ///
    /// # Panics
    /// If `at >= m`.
    #[inline]
    pub fn multiply(&mut self, at: usize, factor: f64) -> Result<(), Error> {
        assert!(at < self.len, "weight {at} of {}", self.len);
        if !(factor.is_finite() && factor >= 0.0) {
            return Err(Error::Factor { at, factor });
        }
        let product = self.leaf(at) * factor;
        let range = power_of_two(LEAST_EXPONENT)..power_of_two(TOTAL_EXPONENTS.end);
        if !range.contains(&product) {
            return self.multiply_at_limits(at, factor);
        }
        self.write(at, product);
        if !self.total_is_in_range() {
            self.rescale();
        }
        Ok(())
    }

    #[inline(always)]
    fn leaf(&self, at: usize) -> f64 {
        self.pages[at / PAGE].leaves[at / CHILDREN % CHILDREN][at % CHILDREN]
    }

    fn leaf_mut(&mut self, at: usize) -> &mut f64 {
        &mut self.pages[at / PAGE].leaves[at / CHILDREN % CHILDREN][at % CHILDREN]
    }

    /// Writes a leaf and adds what it changes by to its ancestors.
    #[inline]
    fn write(&mut self, at: usize, leaf: f64) {
        let page = &mut self.pages[at / PAGE];
        let child = at / CHILDREN % CHILDREN;
        let before = std::mem::replace(&mut page.leaves[child][at % CHILDREN], leaf);
        let change = units(leaf).wrapping_sub(units(before));
        let add = |sum: &mut u64| *sum = sum.wrapping_add(change);
        add(&mut page.node.0[child]);
        let mut at = at / PAGE;
        for level in &mut self.levels {
            add(&mut level[at / CHILDREN].0[at % CHILDREN]);
            at /= CHILDREN;
        }
        add(&mut self.total);
    }

    fn sum_all(&mut self) {
        let mut totals: Vec<u64> = Vec::with_capacity(self.pages.len());
        for page in &mut self.pages {
            page.node = Node(page.leaves.map(|leaves| Node::of_leaves(&leaves).total()));
            totals.push(page.node.total());
        }
        for level in &mut self.levels {
            for (node, children) in level.iter_mut().zip(totals.chunks(CHILDREN)) {
                node.0[..children.len()].copy_from_slice(children);
            }
            totals = level.iter().map(Node::total).collect();
        }
        self.total = totals[0];
    }
}

#[cfg(test)]
mod tests {
    use super::unit::tests::sums_are_those_of_the_children;
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Returns the probabilities by definition, from logarithms to the base 2.
    fn softmax(logarithms: &[f64]) -> Vec<f64> {
        let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logarithms.iter().map(|l| (l - largest).exp2()).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|w| w / total).collect()
    }

    proptest! {
        #[test]
        fn probabilities_are_exact_for_powers_of_two_of_any_size(
            m in 1usize..80, updates in prop::collection::vec((0usize..80, -900i32..1000), 0..300),
        ) {
            let mut tree = SampleTree::uniform(m).unwrap();
            let mut logarithms = vec![0i64; m];
            for (at, exponent) in updates {
                let at = at % m;
                tree.multiply(at, 2f64.powi(exponent)).unwrap();
                logarithms[at] += i64::from(exponent);
            }
            prop_assert!(sums_are_those_of_the_children(&tree));
            for (at, &logarithm) in logarithms.iter().enumerate() {
                let weight = tree.scaled(at).unwrap();
                prop_assert_eq!((weight.exponent(), weight.is_power_of_two()), (logarithm, true));
            }
            let expected = softmax(&logarithms.iter().map(|&l| l as f64).collect::<Vec<_>>());
            for (at, expected) in expected.into_iter().enumerate() {
                prop_assert!((tree.probability(at) - expected).abs() <= 1e-15);
            }
            // What is written and read back is the same tree.
            let text = serde_json::to_string(&tree).unwrap();
            prop_assert_eq!(serde_json::from_str::<SampleTree>(&text).unwrap(), tree);
        }

        #[test]
        fn every_weight_is_found_in_as_many_points_as_it_has(
            weights in prop::collection::vec(prop_oneof![Just(0u32), 1u32..8], 1..300),
        ) {
            let total: u32 = weights.iter().sum();
            prop_assume!(total > 0);
            let of = |weights: &[u32]| weights.iter().map(|&w| f64::from(w)).collect::<Vec<_>>();
            let tree = SampleTree::new(&of(&weights)).unwrap();
            let unit = tree.total / u64::from(total);
            prop_assert_eq!(unit * u64::from(total), tree.total);
            let mut found = vec![[0; 2]; weights.len()];
            for k in 0..u64::from(total) {
                // The first and the last point of what is equally likely.
                found[tree.leaf_at(k * unit)][0] += 1;
                found[tree.leaf_at(k * unit + unit - 1)][1] += 1;
            }
            prop_assert_eq!(found, weights.iter().map(|&w| [w, w]).collect::<Vec<_>>());
        }
    }

    /// A hundred positive weights, the others 0, drawn and tested by a chi-square statistic, of 99
    /// degrees of freedom, mean 99 and standard deviation 14.
    fn draws_have_the_probabilities(m: usize) {
        let mut weights = vec![0.0; m];
        let step = m / 100;
        (0..100).for_each(|k| weights[k * step] = (k % 7) as f64 + 0.25);
        let mut tree = SampleTree::new(&weights).unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let draws = 200_000;
        let mut counts = vec![0.0; 100];
        for _ in 0..draws {
            let at = tree.draw(&mut random);
            assert_eq!(at % step, 0);
            counts[at / step] += 1.0;
        }
        let statistic: f64 = (0..100)
            .map(|k| {
                let expected = tree.probability(k * step) * f64::from(draws);
                (counts[k] - expected).powi(2) / expected
            })
            .sum();
        assert!((statistic - 99.0).abs() < 4.0 * 14.1, "{statistic}");
    }

    #[test]
    fn draws_of_a_small_tree_have_the_probabilities() {
        draws_have_the_probabilities(100);
    }

    #[test]
    fn draws_that_look_ahead_have_the_probabilities() {
        draws_have_the_probabilities(PAGES_TO_LOOK_AHEAD * PAGE);
    }

    #[test]
    fn a_tree_that_looks_ahead_draws_by_the_weights_at_the_draw() {
        let mut weights = vec![0.0; PAGES_TO_LOOK_AHEAD * PAGE];
        (weights[3], weights[400_000]) = (1.0, 1.0);
        let mut tree = SampleTree::new(&weights).unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let first = tree.draw(&mut random);
        let (dead, alive) = if first == 3 { (3, 400_000) } else { (400_000, 3) };
        tree.multiply(dead, 0.0).unwrap();
        // The number of the next draw is already known, also to what is written and read back.
        let text = serde_json::to_string(&tree).unwrap();
        assert_eq!(serde_json::from_str::<SampleTree>(&text).unwrap(), tree);
        assert!(tree.upcoming.is_some());
        assert!((0..50).all(|_| tree.draw(&mut random) == alive));
    }

    #[test]
    fn rounding_of_the_weights_changes_no_draw() {
        let mut trees = [SampleTree::uniform(60).unwrap(), SampleTree::uniform(60).unwrap()];
        let mut random = [ChaCha8Rng::seed_from_u64(5), ChaCha8Rng::seed_from_u64(5)];
        for _ in 0..500 {
            let [one, other] = [0, 1].map(|k| trees[k].draw(&mut random[k]));
            assert_eq!(one, other);
            trees[0].multiply(one, 1.1).unwrap();
            trees[1].multiply(one, 1.1 + 1e-14).unwrap();
        }
    }

    #[test]
    fn one_weight_is_always_drawn() {
        let mut tree = SampleTree::uniform(1).unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..3000 {
            tree.multiply(0, 3.0).unwrap();
            assert_eq!((tree.draw(&mut random), tree.probability(0)), (0, 1.0));
        }
    }

    #[test]
    fn refusals_leave_the_tree_as_it_was() {
        let mut tree = SampleTree::new(&[0.0, 3.0]).unwrap();
        let before = tree.clone();
        let message = |result: Result<(), Error>| result.unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                message(SampleTree::new(&[]).map(drop)),
                message(SampleTree::uniform(0).map(drop)),
                message(SampleTree::new(&[1.0, -1.0]).map(drop)),
                message(SampleTree::new(&[0.0, 0.0]).map(drop)),
                message(tree.multiply(0, f64::NAN)),
                message(tree.multiply(1, f64::INFINITY)),
                message(tree.multiply(1, -1.0)),
                message(tree.multiply(1, 0.0)),
            ]
            .join("\n")
        );
        assert_eq!(tree, before);
    }
}
