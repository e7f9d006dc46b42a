//! Reads and writes sample trees.

use margins_losses::OutOfRange;
use serde::{Deserialize, Serialize};

use super::SampleTree;
use super::unit::{LEAST_EXPONENT, TOTAL_EXPONENTS};
use crate::Error;
use crate::power_of_two::{Scaled, power_of_two};

/// The content of a tree, from which it is rebuilt to the last bit.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Weights {
    len: usize,
    exponent: i64,
    leaves: Vec<f64>,
    aside: Vec<(usize, Scaled)>,
    #[serde(default)]
    upcoming: Option<u64>,
}

impl From<SampleTree> for Weights {
    fn from(tree: SampleTree) -> Self {
        let leaves = (0..tree.len).map(|at| tree.leaf(at)).collect();
        let aside = tree.aside.into_iter().collect();
        Weights { len: tree.len, exponent: tree.exponent, leaves, aside, upcoming: tree.upcoming }
    }
}

impl TryFrom<Weights> for SampleTree {
    type Error = Error;

    fn try_from(weights: Weights) -> Result<Self, Error> {
        let Weights { len, exponent, leaves, aside, upcoming } = weights;
        if leaves.len() != len {
            return Err(Error::Shape { what: "weights", expected: len, found: leaves.len() });
        }
        let total: f64 = leaves.iter().sum();
        OutOfRange::check("the sum of the weights", total, "from 2^58 to 2^62", |total| {
            (power_of_two(TOTAL_EXPONENTS.start)..=power_of_two(TOTAL_EXPONENTS.end))
                .contains(&total)
        })?;
        /// The largest exponent, far beyond every weight and far from overflow.
        const MOST_EXPONENT: i64 = 1 << 60;
        if !(-MOST_EXPONENT..=MOST_EXPONENT).contains(&exponent) {
            return Err(OutOfRange {
                parameter: "the exponent of the weights",
                value: exponent as f64,
                requirement: "within 2^60",
            }
            .into());
        }
        let in_range = power_of_two(LEAST_EXPONENT)..=power_of_two(TOTAL_EXPONENTS.end);
        let mut tree = SampleTree::empty(len);
        tree.exponent = exponent;
        tree.upcoming = upcoming;
        for (at, &leaf) in leaves.iter().enumerate() {
            if leaf != 0.0 && !in_range.contains(&leaf) {
                return Err(Error::Weight { at, value: leaf });
            }
            *tree.leaf_mut(at) = leaf;
        }
        for (at, weight) in aside {
            let far = weight.exponent().saturating_abs() > MOST_EXPONENT;
            if leaves.get(at) != Some(&0.0) || !weight.is_normalised() || far {
                return Err(Error::Weight { at, value: weight.value() });
            }
            tree.aside.insert(at, weight);
        }
        tree.sum_all();
        Ok(tree)
    }
}
