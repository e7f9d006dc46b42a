//! What a method needs of a problem: each method declares it once, in
//! [`Solver::requirements`](crate::Solver::requirements).

use std::fmt;

use crate::problem::Need;

/// What a method needs of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirements {
    /// The properties of the loss.
    pub loss: &'static [Need],
    /// The spaces that the method works in.
    pub spaces: &'static [SpaceKind],
}

/// What a space offers to a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpaceKind {
    /// Features in memory, all with a penalty.
    Features,
    /// Features in memory, some of them without a penalty.
    FreeFeatures,
    /// The inner products of the samples, such as a kernel matrix.
    InnerProducts,
    /// Sums over samples that are in the blocks of a file or on workers.
    Parts,
    /// Several classes in one problem.
    Joint,
    /// Features in memory, none with a penalty: two classes at [`Lambda::NONE`](crate::Lambda::NONE).
    Unpenalised,
}

impl fmt::Display for SpaceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SpaceKind::Features => "features in memory",
            SpaceKind::FreeFeatures => "features with a penalty factor of 0",
            SpaceKind::InnerProducts => "a kernel",
            SpaceKind::Parts => "samples that are not in memory",
            SpaceKind::Joint => "several classes in one problem",
            SpaceKind::Unpenalised => "a problem without a penalty",
        })
    }
}
