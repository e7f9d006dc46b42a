//! The settings of a preparation, and what they allow.

use std::time::Instant;

use margins_data::{Design, Memory};
use margins_kernels::PlannedPaths;
use margins_optim::Solver;
use margins_optim::problem::PenaltyFactors;

use super::feature_space::is_shared;
use crate::Error;
use crate::regularised::Approximation;

/// The settings that a kernel and data are made ready with.
#[derive(Debug, Clone, Default)]
pub struct Preparation {
    /// The approximation of the kernel.
    pub approximation: Approximation,
    /// The memory for the kernel matrix, which is computed where it is needed if it takes more; half
    /// of what is free by default.
    pub memory: Option<Memory>,
    /// True to scale features to unit standard deviation once, over all rows.
    pub standardize: bool,
    /// The seed of landmarks, frequencies and pairs for sigma.
    pub seed: u64,
    /// The time at which the preparation is given up.
    pub deadline: Option<Instant>,
    /// The paths that are to follow, whose memory is counted before it is taken.
    pub planned: PlannedPaths,
    /// The solver of these paths.
    pub solver: Solver,
    /// The penalty factors: features with the factor 0 stand beside the kernel.
    pub penalty_factors: Option<PenaltyFactors>,
}

impl Preparation {
    /// Refuses features of so many columns if they do not fit in memory with all that is made for them
    /// and the planned paths. The map of landmarks takes matrices of their number.
    pub(super) fn check_features(
        &self,
        design: &Design,
        columns: usize,
        has_landmarks: bool,
    ) -> Result<(), Error> {
        /// The matrix of the landmarks, its factor while rows are exchanged, and the rows that are kept for
        /// the features.
        const MATRICES: usize = 3;
        let n = design.rows();
        let m = if has_landmarks { columns.min(n) } else { columns };
        let table = |rows: usize| rows.saturating_mul(m).saturating_mul(size_of::<f64>());
        let PlannedPaths { whole, parts, samples, copies, beside, .. } = self.planned;
        // Every path shifts a copy of its rows, which the parts copy before if they are small.
        let copies = if is_shared(n, m) { 0 } else { copies };
        let of_parts = table(samples).saturating_mul(parts.saturating_add(copies));
        let squares = self.solver.squares(n, m);
        let of_fits = Design::bytes_of_fits(n, m, whole.max(parts), squares);
        let paths = table(n).saturating_mul(whole).max(of_parts).saturating_add(of_fits);
        let map = if has_landmarks { table(m) } else { 0 };
        let fitted = map.saturating_add(table(n)).saturating_add(paths);
        let bytes = map.saturating_mul(MATRICES).max(fitted).saturating_add(beside);
        let refused =
            |shortage| margins_data::Error::Memory { rows: n, columns: Some(m), shortage };
        Ok(Memory::from_bytes(bytes).check_free().map_err(refused)?)
    }
}
