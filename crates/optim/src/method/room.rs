//! The memory that solvers take beside the samples.

use super::{LARGEST_DENSE_ORDER, Solver};

impl Solver {
    /// Returns the number of square matrices that a path holds at most, of an order that is the number of
    /// features or of samples, whichever is smaller.
    pub fn squares(self, rows: usize, columns: usize) -> usize {
        /// An eigendecomposition: the matrix, its vectors, what they are computed in, and two copies.
        const EIGENSPACE: usize = 6;
        let (n, p) = (rows, columns);
        match self {
            Solver::Mm { .. } | Solver::MmPublished { .. } => EIGENSPACE,
            Solver::Bundle | Solver::Lbfgs | Solver::GradientDescent { .. } => 0,
            Solver::Auto | Solver::Newton | Solver::ProximalNewton | Solver::Sdca { .. } => {
                if n.min(p) > LARGEST_DENSE_ORDER {
                    0
                } else if n < p {
                    // Coordinates in the space of the samples.
                    EIGENSPACE
                } else {
                    // A system with its factor, and a strip of samples.
                    2
                }
            }
        }
    }
}
