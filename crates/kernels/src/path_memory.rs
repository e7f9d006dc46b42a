//! The memory that paths take beside a kernel matrix, estimated before they take it.

use margins_data::split::Splits;
use margins_data::{Memory, parallel};

use crate::gram::Entries;
use crate::low_rank::LowRank;
use crate::preconditioner::LARGEST_FACTOR;
use crate::svm::Decomposition;
use crate::{Error, Gram};

/// The remedy of paths that do not fit.
const REMEDY: &str = "fewer threads or lambdas at the same time take less, and so does a smaller --memory, \
                      or Nystrom or random Fourier features";

impl Gram {
    /// Returns an error if what a path on the whole matrix needs beside it does not fit in memory.
    pub(crate) fn check_path(&self, is_hinge: bool, lambdas: usize) -> Result<(), Error> {
        let (n, entries) = (self.len(), self.entries());
        let bytes = path_bytes(entries, entries.memory(), n, is_hinge, lambdas);
        Error::check_room(bytes, n, "what a fit takes beside the kernel matrix", REMEDY)
    }

    /// Returns an error if a cross-validation does not fit in memory beside the matrix: the paths of
    /// the folds that run at the same time, and the path on all rows that may follow. Each fold copies
    /// its part of a matrix in memory, except for a support vector machine.
    pub(crate) fn check_folds(
        &self,
        is_hinge: bool,
        splits: Splits<'_>,
        lambdas: usize,
    ) -> Result<(), Error> {
        let (n, entries) = (self.len(), self.entries());
        let count = splits.count().max(1);
        let m = match splits {
            Splits::Folds(_) => n - n / count,
            Splits::Each(each) => each.iter().map(|split| split.train.len()).max().unwrap_or(n),
        };
        let (copy, memory) = match entries {
            Entries::Held { .. } if !is_hinge => (m * n * size_of::<f64>(), None),
            Entries::Computed(matrix) => (matrix.design_bytes(), Some(matrix.memory_of_part())),
            _ => (0, None),
        };
        let of_fold = copy.saturating_add(path_bytes(entries, memory, m, is_hinge, lambdas));
        let of_folds = of_fold.saturating_mul(count.min(parallel::threads()));
        let whole = path_bytes(entries, entries.memory(), n, is_hinge, lambdas);
        // The allocator does not give all back that the folds have had.
        let bytes = of_folds.max(whole.saturating_add(of_folds / 4));
        Error::check_room(bytes, n, "what the folds take beside the kernel matrix", REMEDY)
    }
}

/// Returns the bytes that a path takes at so many lambdas, for n samples beside the entries, which are
/// held, or computed by solvers with this memory.
fn path_bytes(
    entries: &Entries,
    memory: Option<Memory>,
    n: usize,
    is_hinge: bool,
    lambdas: usize,
) -> usize {
    /// The vectors of a solver, and those of every lambda: coefficients, products and their certificates.
    const VECTORS: usize = 32;
    const VECTORS_OF_FIT: usize = 6;
    let vectors = lambdas.saturating_mul(VECTORS_OF_FIT).saturating_add(VECTORS);
    let is_held = entries.is_held();
    let solver = match entries {
        Entries::Computed(matrix) if is_hinge => {
            memory.map_or(0, Decomposition::bytes) + matrix.product_bytes()
        }
        // Steps do without copies that do not fit.
        _ if is_hinge => 0,
        // The lower half in single precision, and a factor with what is added to it.
        Entries::Held { .. } if n <= LARGEST_FACTOR => 7 * n * n,
        Entries::Held { .. } => 2 * n * n + LowRank::bytes(is_held, memory, n),
        Entries::Features(_) => LowRank::bytes(is_held, memory, n),
        Entries::Computed(matrix) => LowRank::bytes(is_held, memory, n) + matrix.product_bytes(),
    };
    vectors.saturating_mul(n * size_of::<f64>()).saturating_add(solver)
}

#[cfg(test)]
mod tests {
    use margins_data::Design;

    use super::*;
    use crate::Gaussian;

    #[test]
    fn what_paths_take_beside_the_matrix_is_refused_beforehand() {
        let rows: Vec<[f64; 1]> = (0..40).map(|i| [f64::from(i)]).collect();
        let design = Design::from_rows(&rows).unwrap();
        let gram = Gram::new(&Gaussian::new(0.1).unwrap(), &design).unwrap();
        let folds: Vec<usize> = (0..40).map(|i| i % 4).collect();
        for is_hinge in [true, false] {
            assert!(gram.check_path(is_hinge, 100).is_ok());
            assert!(gram.check_folds(is_hinge, (&folds).into(), 100).is_ok());
            let refused = gram.check_path(is_hinge, usize::MAX).unwrap_err().to_string();
            let said =
                "what a fit takes beside the kernel matrix of 40 rows does not fit into memory";
            assert!(refused.starts_with(said), "{refused}");
            assert!(gram.check_folds(is_hinge, (&folds).into(), usize::MAX).is_err());
        }
    }
}
