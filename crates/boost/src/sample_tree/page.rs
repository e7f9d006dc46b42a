//! The layout of a sample tree in memory.

use prefetch_index::prefetch_index;

/// The number of children of a node: eight numbers are a cache line.
pub(super) const CHILDREN: usize = 8;

/// The number of leaves of a page.
pub(super) const PAGE: usize = CHILDREN * CHILDREN;

/// Returns a leaf as a whole number of units.
#[inline(always)]
pub(super) fn units(leaf: f64) -> u64 {
    (leaf + 0.5) as i64 as u64
}

/// A node of the tree: the units of its children.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub(super) struct Node(pub(super) [u64; CHILDREN]);

/// A page of the lowest two levels: a node, and the leaves of its children, next to each other in
/// memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Page {
    pub(super) node: Node,
    pub(super) leaves: [[f64; CHILDREN]; CHILDREN],
}

impl Node {
    pub(super) const EMPTY: Node = Node([0; CHILDREN]);

    pub(super) fn of_leaves(leaves: &[f64; CHILDREN]) -> Self {
        Node(leaves.map(units))
    }

    pub(super) fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the child that a point below the total falls on, and the place on it. There are no
    /// branches, which could not be predicted.
    #[inline(always)]
    pub(super) fn child_at(&self, point: u64) -> (usize, u64) {
        let (mut child, mut before, mut sum) = (0, 0, 0);
        for units in &self.0[..CHILDREN - 1] {
            sum += units;
            child += usize::from(sum <= point);
            before = if sum <= point { sum } else { before };
        }
        (child, point - before)
    }
}

impl Page {
    pub(super) const EMPTY: Page = Page { node: Node::EMPTY, leaves: [[0.0; CHILDREN]; CHILDREN] };

    /// Asks the memory for the node and all leaves at once, before it is known which ones are
    /// needed: one wait instead of two, one after the other.
    #[inline(always)]
    pub(super) fn prefetch(&self) {
        prefetch_index(self.node.0.as_slice(), 0);
        self.leaves.iter().for_each(|leaves| prefetch_index(leaves, 0));
    }
}
