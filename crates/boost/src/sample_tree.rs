use std::collections::BTreeMap;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::power_of_two::{Scaled, power_of_two};

/// Children of a node: sixteen numbers are two cache lines next to each other.
const CHILDREN: usize = 16;

/// Weights in the tree are 0 or from `2^-MOST_EXPONENT` to below `2^(MOST_EXPONENT + 1)`.
const MOST_EXPONENT: i64 = 800;

/// A tree whose weights all became smaller than this is scaled up.
const LEAST_TOTAL_EXPONENT: i64 = -400;

#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(128))]
struct Node([f64; CHILDREN]);

impl Node {
    const EMPTY: Node = Node([0.0; CHILDREN]);

    /// The sum by halves: short chains of additions, small rounding errors.
    #[inline(always)]
    fn total(&self) -> f64 {
        let mut sums = self.0;
        let mut half = CHILDREN / 2;
        while half > 0 {
            for k in 0..half {
                sums[k] += sums[k + half];
            }
            half /= 2;
        }
        sums[0]
    }

    /// The child that a point of [0, total) falls on, and where on it. Rounding can put a point beyond all
    /// children; it then falls on the last one, be its weight 0.
    #[inline(always)]
    fn child_at(&self, mut point: f64) -> (usize, f64) {
        let mut child = 0;
        while child < CHILDREN - 1 && point >= self.0[child] {
            point -= self.0[child];
            child += 1;
        }
        (child, point)
    }
}

/// Nonnegative weights, not all 0, to draw from in proportion and to multiply one at a time, both in
/// `O(log m)`.
///
/// Weights may grow or shrink without end. They are multiples of one common power of two; when a
/// weight leaves the range of floating point relative to it, the common power is chosen anew and all
/// weights are scaled, which changes none of their bits. A weight too small for the new power is
/// kept aside, exactly, until it is large enough: the probability that it would have is below
/// `2^-400`. Scaling is a pass over the weights, and one pass is at least 400 doublings of the
/// largest weight after the last.
///
/// Every node is the sum of its sixteen children, computed anew when one of them changes and never
/// adjusted by a difference, so that sums carry the rounding of one summation however many updates there
/// were. At a million weights a draw reads five nodes.
///
/// Source: the tree of section 2.3 of Shalev-Shwartz and Wexler (2016), whose updates drift and whose
/// weights overflow.
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
    /// From the leaves to the root, which is one node.
    levels: Vec<Vec<Node>>,
    total: f64,
    /// A leaf `w` stands for the weight `w 2^exponent`.
    exponent: i64,
    /// Positive weights that are 0 in the tree because they are too small for its exponent.
    aside: BTreeMap<usize, Scaled>,
}

impl SampleTree {
    /// With the weights given.
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

    /// `m` weights of 1.
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
        let mut levels = Vec::new();
        let mut nodes = len;
        while nodes > 1 || levels.is_empty() {
            nodes = nodes.div_ceil(CHILDREN);
            levels.push(vec![Node::EMPTY; nodes]);
        }
        SampleTree { len, levels, total: 0.0, exponent: 0, aside: BTreeMap::new() }
    }

    /// Replaces all weights, with the exponent of the largest as the common one; `false` of none.
    fn fill(&mut self, weights: Vec<(usize, Scaled)>) -> bool {
        let Some(largest) = weights.iter().map(|(_, weight)| weight.exponent()).max() else {
            return false;
        };
        self.exponent = largest;
        self.aside.clear();
        self.levels[0].fill(Node::EMPTY);
        for (at, weight) in weights {
            *self.leaf_mut(at) = self.relative(at, Some(weight));
        }
        self.sum_all();
        true
    }

    /// Number of weights m.
    #[allow(clippy::len_without_is_empty, reason = "there is no tree without weights")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Share of a weight in the sum of all, up to rounding.
    ///
    /// # Panics
    /// If `at >= m`.
    pub fn probability(&self, at: usize) -> f64 {
        assert!(at < self.len, "weight {at} of {}", self.len);
        self.leaf(at) / self.total
    }

    /// A weight's number, with its [`probability`](Self::probability).
    #[inline]
    pub fn draw<R: Rng + ?Sized>(&self, random: &mut R) -> usize {
        loop {
            if let Some(at) = self.leaf_at(random.random::<f64>() * self.total) {
                return at;
            }
        }
    }

    /// The weight that a point of [0, total) falls on; none if rounding put it beyond the last.
    #[inline]
    fn leaf_at(&self, mut point: f64) -> Option<usize> {
        let mut at = 0;
        for level in self.levels.iter().rev() {
            let (child, rest) = level.get(at)?.child_at(point);
            at = at * CHILDREN + child;
            point = rest;
        }
        (at < self.len && self.leaf(at) > 0.0).then_some(at)
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
        if !(power_of_two(-MOST_EXPONENT)..power_of_two(MOST_EXPONENT)).contains(&product) {
            return self.multiply_at_limits(at, factor);
        }
        if self.write(at, product) < power_of_two(LEAST_TOTAL_EXPONENT) {
            self.rescale();
        }
        Ok(())
    }

    /// [`multiply`](Self::multiply) where the weight is or becomes 0, too small or too large.
    #[cold]
    fn multiply_at_limits(&mut self, at: usize, factor: f64) -> Result<(), Error> {
        let before = self.scaled(at);
        let after = before.and_then(|weight| weight.times(factor));
        let too_large = |weight: Scaled| weight.exponent() - self.exponent > MOST_EXPONENT;
        if let Some(weight) = after.filter(|&weight| too_large(weight)) {
            let mut weights = self.all_scaled();
            weights.retain(|&(other, _)| other != at);
            weights.push((at, weight));
            self.fill(weights);
            return Ok(());
        }
        let leaf = self.relative(at, after);
        if self.write(at, leaf) < power_of_two(LEAST_TOTAL_EXPONENT) && !self.rescale() {
            let leaf = self.relative(at, before);
            self.write(at, leaf);
            return Err(Error::NoPositiveWeight);
        }
        Ok(())
    }

    /// Chooses the common exponent anew; `false` if all weights are 0.
    fn rescale(&mut self) -> bool {
        let weights = self.all_scaled();
        self.fill(weights)
    }

    fn all_scaled(&self) -> Vec<(usize, Scaled)> {
        (0..self.len).filter_map(|at| Some((at, self.scaled(at)?))).collect()
    }

    /// The weight apart from the common exponent; `None` for 0.
    fn scaled(&self, at: usize) -> Option<Scaled> {
        match Scaled::new(self.leaf(at)) {
            Some(leaf) => Some(leaf.shifted(self.exponent)),
            None => self.aside.get(&at).copied(),
        }
    }

    /// A weight relative to the common exponent: 0 of one that is too small, which is then kept aside.
    fn relative(&mut self, at: usize, weight: Option<Scaled>) -> f64 {
        self.aside.remove(&at);
        let Some(weight) = weight else { return 0.0 };
        let leaf = weight.shifted(-self.exponent);
        if leaf.exponent() < -MOST_EXPONENT {
            self.aside.insert(at, weight);
            0.0
        } else {
            leaf.value()
        }
    }

    fn leaf(&self, at: usize) -> f64 {
        self.levels[0][at / CHILDREN].0[at % CHILDREN]
    }

    fn leaf_mut(&mut self, at: usize) -> &mut f64 {
        &mut self.levels[0][at / CHILDREN].0[at % CHILDREN]
    }

    /// Writes a leaf and sums up its ancestors; the new total.
    #[inline]
    fn write(&mut self, mut at: usize, mut value: f64) -> f64 {
        for level in &mut self.levels {
            let node = &mut level[at / CHILDREN];
            node.0[at % CHILDREN] = value;
            value = node.total();
            at /= CHILDREN;
        }
        self.total = value;
        value
    }

    fn sum_all(&mut self) {
        for level in 1..self.levels.len() {
            let (below, above) = self.levels.split_at_mut(level);
            for (node, child) in below[level - 1].iter().enumerate() {
                above[0][node / CHILDREN].0[node % CHILDREN] = child.total();
            }
        }
        self.total = self.levels[self.levels.len() - 1][0].total();
    }
}

/// What a tree is rebuilt from, to the last bit.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Weights {
    len: usize,
    exponent: i64,
    leaves: Vec<f64>,
    aside: Vec<(usize, Scaled)>,
}

impl From<SampleTree> for Weights {
    fn from(tree: SampleTree) -> Self {
        let leaves = (0..tree.len).map(|at| tree.leaf(at)).collect();
        let aside = tree.aside.into_iter().collect();
        Weights { len: tree.len, exponent: tree.exponent, leaves, aside }
    }
}

impl TryFrom<Weights> for SampleTree {
    type Error = Error;

    fn try_from(Weights { len, exponent, leaves, aside }: Weights) -> Result<Self, Error> {
        if leaves.len() != len {
            return Err(Error::Shape { what: "weights", expected: len, found: leaves.len() });
        }
        let in_range = power_of_two(-MOST_EXPONENT)..power_of_two(MOST_EXPONENT + 1);
        let mut tree = SampleTree::empty(len);
        tree.exponent = exponent;
        for (at, &leaf) in leaves.iter().enumerate() {
            if leaf != 0.0 && !in_range.contains(&leaf) {
                return Err(Error::Weight { at, value: leaf });
            }
            *tree.leaf_mut(at) = leaf;
        }
        for (at, weight) in aside {
            if leaves.get(at) != Some(&0.0) || !weight.is_normalised() {
                return Err(Error::Weight { at, value: weight.value() });
            }
            tree.aside.insert(at, weight);
        }
        tree.sum_all();
        if tree.total < power_of_two(LEAST_TOTAL_EXPONENT) {
            return Err(Error::NoPositiveWeight);
        }
        Ok(tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Probabilities by definition, from logarithms to the base 2.
    fn softmax(logarithms: &[f64]) -> Vec<f64> {
        let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logarithms.iter().map(|l| (l - largest).exp2()).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|w| w / total).collect()
    }

    /// Reading back sums all nodes anew.
    fn sums_are_those_of_the_children(tree: &SampleTree) -> bool {
        let mut other = tree.clone();
        other.sum_all();
        other == *tree
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
            // Integers have exact sums, and so has a point halfway between two of them.
            let unit = tree.total / f64::from(total);
            let mut found = vec![0; weights.len()];
            (0..total).for_each(|k| found[tree.leaf_at((f64::from(k) + 0.5) * unit).unwrap()] += 1);
            prop_assert_eq!(&found, &weights);
            // Points that rounding put at or beyond the end fall on no weight of 0.
            for point in [tree.total, 2.0 * tree.total] {
                prop_assert!(tree.leaf_at(point).is_none_or(|at| weights[at] > 0));
            }
        }

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
    fn draws_have_the_probabilities() {
        // A chi-square statistic of 99 degrees of freedom has mean 99 and standard deviation 14.
        let weights: Vec<f64> = (0..100).map(|k| f64::from(k % 7) + 0.25).collect();
        let tree = SampleTree::new(&weights).unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let draws = 200_000;
        let mut counts = vec![0.0; 100];
        (0..draws).for_each(|_| counts[tree.draw(&mut random)] += 1.0);
        let statistic: f64 = (0..100)
            .map(|at| {
                let expected = tree.probability(at) * f64::from(draws);
                (counts[at] - expected).powi(2) / expected
            })
            .sum();
        assert!((statistic - 99.0).abs() < 4.0 * 14.1, "{statistic}");
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
