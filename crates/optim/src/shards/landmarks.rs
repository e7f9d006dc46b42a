//! A kernel with landmarks, from which shards compute the features of samples.

use crate::shards::StoredRows;

/// A kernel with landmarks, whose [features](crate::shards::Blocks::map) `L^(-1) k_m(x)` take the place of
/// those of the samples x.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Landmarks {
    /// The specification of the kernel.
    pub kernel: String,
    /// The number of features that the kernel sees: all that samples have but those beside it.
    pub features: usize,
    /// The features that stand beside the kernel, ascending; they come before those of the landmarks.
    pub beside: Vec<usize>,
    /// The factors that features are multiplied with before the kernel sees them, if there are any.
    pub scales: Option<Vec<f64>>,
    /// True if the landmarks are stored sparsely.
    pub sparse: bool,
    /// The landmarks, as the kernel sees them.
    pub samples: StoredRows,
    /// The factor L of the kernel matrix of the landmarks, column after column.
    pub factor: Vec<f64>,
}
