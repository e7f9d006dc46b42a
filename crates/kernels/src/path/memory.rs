//! The memory that paths take beside a kernel matrix, estimated before they take it.

use std::sync::Arc;
use std::time::Instant;

use margins_data::split::Splits;
use margins_data::{Design, Memory, parallel};
use margins_optim::method::Route;

use crate::gram::{Entries, MatrixFree};
use crate::newton::low_rank::LowRank;
use crate::newton::preconditioner::LARGEST_FACTOR;
use crate::room::matrices;
use crate::svm::Decomposition;
use crate::{Error, Gram, Kernel, Watched};

/// The default memory of solvers on a matrix that is not stored.
const WORKING: Memory = Memory::from_bytes(1 << 30);

/// The remedy of paths that do not fit.
const REMEDY: &str = "fewer threads or lambdas at the same time take less, and so does a smaller --memory, \
                      or Nystrom or random Fourier features";

pub(crate) fn bytes_of_eigenspace(n: usize) -> usize {
    /// The coordinates, their map to coefficients and a copy that is shifted; the decomposition of
    /// the majoriser.
    const MATRICES: usize = 9;
    matrices(MATRICES, n)
}

/// The paths that are to run on a kernel matrix, by which their memory is estimated: first those on parts
/// of the samples, then those on all of them.
#[derive(Debug, Clone, Copy)]
pub struct PlannedPaths {
    /// The method of all paths.
    pub route: Route,
    /// The number of lambdas of a path.
    pub lambdas: usize,
    /// The number of paths on all samples that run at the same time.
    pub whole: usize,
    /// The number of paths on parts of the samples that run at the same time.
    pub parts: usize,
    /// The number of samples of the largest part.
    pub samples: usize,
    /// The number of copies of the matrix of a part that are in memory at the same time.
    pub copies: usize,
    /// The bytes of everything else.
    pub beside: usize,
}

impl Default for PlannedPaths {
    /// Returns the plan of one path at one lambda, by Newton's method.
    fn default() -> Self {
        PlannedPaths::one(Route::SampleSpace, 1)
    }
}

impl PlannedPaths {
    /// Returns the plan of one path on all samples.
    pub fn one(route: Route, lambdas: usize) -> Self {
        PlannedPaths { route, lambdas, whole: 1, parts: 0, samples: 0, copies: 0, beside: 0 }
    }

    /// Returns the plan of a cross-validation of n samples: paths of several folds at the same time, each
    /// with a copy of its part of the matrix except for support vector machines, which share the matrix,
    /// and the path on all samples that may follow.
    #[must_use]
    pub fn with_folds(self, splits: Splits<'_>, n: usize) -> Self {
        let count = splits.count().max(1);
        let samples = match splits {
            Splits::Folds(_) => n - n / count,
            Splits::Each(each) => each.iter().map(|split| split.train.len()).max().unwrap_or(n),
        };
        let parts = count.min(parallel::threads());
        let copies = if self.route == Route::SupportVectors { 0 } else { parts };
        PlannedPaths { samples, parts, copies, ..self }
    }

    /// Returns the bytes of a matrix of n samples in memory, with all that is taken beside it;
    /// `is_checked` if a factor shows first whether it is positive semidefinite.
    pub(crate) fn bytes_with_matrix(&self, n: usize, is_checked: bool) -> usize {
        let factor = if is_checked { matrices(2, n) } else { 0 };
        matrices(1, n).saturating_add(self.bytes(Storage::Stored, n).max(factor))
    }

    /// Returns the bytes that the paths take beside the entries of a matrix.
    fn bytes(&self, storage: Storage, n: usize) -> usize {
        let (m, part) = (self.samples, storage.of_part());
        let copy = match storage {
            // The part of a fold, and the values between its samples and those held out.
            Storage::Stored => m.saturating_mul(n).saturating_mul(size_of::<f64>()),
            Storage::Features => 0,
            Storage::Computed { samples, .. } => samples,
        };
        let parts = self.parts.saturating_mul(self.bytes_of_path(part, m));
        let parts = parts.saturating_add(self.copies.saturating_mul(copy));
        let whole = self.whole.saturating_mul(self.bytes_of_path(storage, n));
        // The allocator does not give all back that the parts have had.
        parts.max(whole.saturating_add(parts / 4)).saturating_add(self.beside)
    }

    fn bytes_of_path(&self, storage: Storage, n: usize) -> usize {
        /// The vectors of a solver, and those of every lambda: coefficients, products and their certificates.
        const VECTORS: usize = 32;
        const VECTORS_OF_FIT: usize = 6;
        /// The response of all scores, and its factor.
        const RESPONSE: usize = 3;
        let vectors = self.lambdas.saturating_mul(VECTORS_OF_FIT).saturating_add(VECTORS);
        let solver = match (self.route, storage) {
            (Route::SupportVectors, Storage::Computed { memory, product, .. }) => {
                Decomposition::bytes(memory) + product
            }
            // Steps do without copies that do not fit.
            (Route::SupportVectors, _) => 0,
            (Route::Eigenspace, _) => bytes_of_eigenspace(n),
            // The lower half in single precision, and a factor with what is added to it.
            (_, Storage::Stored) if n <= LARGEST_FACTOR => 7 * n * n,
            (_, Storage::Stored) => 2 * n * n + LowRank::bytes(true, None, n),
            (_, Storage::Features) => LowRank::bytes(false, None, n),
            (_, Storage::Computed { memory, product, .. }) => {
                LowRank::bytes(false, Some(memory), n) + product
            }
        };
        let response = if self.route == Route::LeaveOneOut { matrices(RESPONSE, n) } else { 0 };
        vectors.saturating_mul(n * size_of::<f64>()).saturating_add(solver).saturating_add(response)
    }
}

#[derive(Clone, Copy)]
enum Storage {
    /// All entries are in memory.
    Stored,
    /// All are, in single precision.
    Features,
    /// Entries are computed by solvers with this memory, from samples and for products of these bytes.
    Computed { memory: Memory, samples: usize, product: usize },
}

impl Storage {
    fn of(entries: &Entries) -> Self {
        match entries {
            Entries::Stored { .. } => Storage::Stored,
            Entries::Features(_) => Storage::Features,
            Entries::Computed(matrix) => Storage::Computed {
                memory: matrix.memory(),
                samples: matrix.design_bytes(),
                product: matrix.product_bytes(),
            },
        }
    }

    fn of_part(self) -> Self {
        match self {
            Storage::Computed { memory, samples, product } => {
                Storage::Computed { memory: MatrixFree::share(memory), samples, product }
            }
            whole => whole,
        }
    }
}

impl Gram {
    /// Holds the matrix if it takes no more than this memory, or as much as there is by default, and if
    /// the planned paths fit in memory beside it. Otherwise computes its entries where they are needed.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new) and [`matrix_free`](Self::matrix_free). [`Error::Memory`]: the
    /// paths do not fit in memory without the matrix either, or cannot do without it.
    /// An error that [is interrupted](Error::is_interrupted): the deadline came before the matrix was there.
    pub fn within(
        kernel: &Arc<dyn Kernel>,
        design: &Design,
        memory: Option<Memory>,
        planned: &PlannedPaths,
        deadline: Option<Instant>,
    ) -> Result<Self, Error> {
        let n = design.rows();
        let with_plan = |gram: Gram| {
            let bytes = gram.bytes_of_paths(planned);
            gram.with_planned(bytes)
        };
        let is_checked = !kernel.is_positive_semidefinite();
        let what = "the kernel matrix, with what is taken beside it,";
        let remedy =
            "fewer rows or threads take less, and so do Nystrom or random Fourier features";
        let room = Error::check_room(planned.bytes_with_matrix(n, is_checked), n, what, remedy);
        let has_room = room.is_ok();
        if is_checked || matches!(planned.route, Route::LeaveOneOut | Route::Eigenspace) {
            room?;
        }
        if has_room && memory.is_none_or(|memory| matrices(1, n) <= memory.bytes()) {
            match Self::new(&*Watched::until(kernel, deadline), design) {
                Err(Error::TooLarge { .. }) => {}
                held => return held.map(with_plan),
            }
        }
        let gram = Self::matrix_free(kernel.clone(), design.clone(), memory.unwrap_or(WORKING))?;
        gram.check_paths(planned)?;
        Ok(with_plan(gram))
    }

    pub(crate) fn bytes_of_paths(&self, planned: &PlannedPaths) -> usize {
        planned.bytes(Storage::of(self.entries()), self.len())
    }

    /// Returns an error if what the planned paths take beside the entries does not fit in memory, unless
    /// that was counted before. Then less is free, since memory that was given back still counts as taken.
    pub(crate) fn check_paths(&self, planned: &PlannedPaths) -> Result<(), Error> {
        if self.planned().is_some() {
            return Ok(());
        }
        let what = "what the fits take beside the kernel matrix";
        Error::check_room(self.bytes_of_paths(planned), self.len(), what, REMEDY)
    }
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
        for route in [Route::SupportVectors, Route::SampleSpace] {
            let one = |lambdas| PlannedPaths::one(route, lambdas);
            assert!(gram.check_paths(&one(100)).is_ok());
            assert!(gram.check_paths(&one(100).with_folds((&folds).into(), 40)).is_ok());
            let refused = gram.check_paths(&one(usize::MAX)).unwrap_err().to_string();
            let said =
                "what the fits take beside the kernel matrix of 40 rows does not fit into memory";
            assert!(refused.starts_with(said), "{refused}");
            let folds = one(usize::MAX).with_folds((&folds).into(), 40);
            assert!(gram.check_paths(&folds).is_err());
        }
    }
}
