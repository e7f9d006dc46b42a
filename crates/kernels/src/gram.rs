//! The kernel matrix of samples, stored or recomputed.

mod dense;
mod entries;
mod feature_products;
mod matrix_free;

use std::sync::{Arc, OnceLock};

use margins_data::{Design, Memory, parallel};
use margins_kernel_functions::{Block, Kernel, Points};
use margins_optim::space::Eigenspace;
use nalgebra::DMatrix;

pub(crate) use self::dense::product;
use self::dense::{check_semidefinite, mirror, room_for};
pub(crate) use self::entries::Entries;
pub(crate) use self::feature_products::FeatureProducts;
pub(crate) use self::matrix_free::MatrixFree;
use crate::room::matrices;
use crate::{Error, PivotedCholesky};

/// The rounding of a matrix in double precision, relative to its entries and to its trace.
const ROUNDING: f64 = 1e-10;

/// The symmetric, positive semidefinite n x n matrix of kernel values between samples, held in
/// memory or recomputed where it is needed.
///
/// A matrix that is held keeps its decompositions, which are computed when a solver first asks for
/// them: paths for several losses, weights or classes share it.
///
/// ```
/// use margins_data::Design;
/// use margins_kernels::{Gaussian, Gram};
///
/// let design = Design::from_rows(&[[0.0, 1.0], [1.0, 1.0], [0.0, 1.0]])?;
/// let gram = Gram::new(&Gaussian::new(0.5)?, &design)?;
/// let matrix = gram.matrix().expect("held in memory");
/// assert_eq!(matrix[(0, 2)], 1.0);
/// assert!((matrix[(0, 1)] - (-0.5f64).exp()).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Gram {
    entries: Entries,
    /// A factor of low rank, if there is one worth having.
    factor: OnceLock<Option<PivotedCholesky>>,
    /// The numerically nonzero eigenspace; `None` if it cannot be computed.
    eigenspace: OnceLock<Option<Eigenspace>>,
    /// The bytes that paths take beside the entries, if they were counted before the entries were there.
    planned: Option<usize>,
}

impl PartialEq for Gram {
    /// Returns true if both matrices are held and equal.
    fn eq(&self, other: &Self) -> bool {
        self.matrix().is_some() && self.matrix() == other.matrix()
    }
}

impl Gram {
    /// Computes the matrix in blocks, [in parallel](margins_data::parallel), each pair once; sparse
    /// designs stay sparse.
    ///
    /// # Errors
    /// A kernel value that is not finite; more samples than there is memory for; a kernel that is
    /// not known to be positive semidefinite and turns out not to be.
    pub fn new(kernel: &dyn Kernel, design: &Design) -> Result<Self, Error> {
        const SIDE: usize = Block::SIDE;
        let points = Points::new(design);
        let n = points.len();
        let mut matrix = DMatrix::from_vec(n, n, room_for(n)?);
        // Each task owns the columns of one block and fills their part from the diagonal down.
        parallel::try_for_each_chunk(matrix.as_mut_slice(), n * SIDE, |k, columns| {
            let first_column = k * SIDE;
            let column_count = columns.len() / n;
            let mut values = vec![0.0; SIDE * column_count];
            for first_row in (first_column..n).step_by(SIDE) {
                let row_count = SIDE.min(n - first_row);
                let block = Block::new(
                    &points,
                    first_row..first_row + row_count,
                    first_column..first_column + column_count,
                );
                let values = &mut values[..block.len()];
                block.evaluate(kernel, values)?;
                let parts = columns.chunks_exact_mut(n).zip(values.chunks_exact(row_count));
                parts.for_each(|(out, part)| out[first_row..][..row_count].copy_from_slice(part));
            }
            Ok::<(), Error>(())
        })?;
        mirror(matrix.as_mut_slice(), n);
        if !kernel.is_positive_semidefinite() {
            check_semidefinite(&matrix, ROUNDING)?;
        }
        Ok(Gram::held(matrix))
    }

    /// Returns a matrix that is never stored: solvers recompute its entries in blocks for every
    /// product, which takes `n^2` kernel values. What solvers keep beside vectors of n numbers should
    /// take no more than `memory`.
    ///
    /// # Errors
    /// [`Error::NotHeld`]: a kernel that is not known to be positive semidefinite, which takes a factor to
    /// know. A value of a sample with itself that is not finite. Other values are checked when they are
    /// computed: [`path`](crate::path) returns an error if one is not finite.
    pub fn matrix_free(
        kernel: Arc<dyn Kernel>,
        design: Design,
        memory: Memory,
    ) -> Result<Self, Error> {
        Ok(Gram::of(Entries::Computed(MatrixFree::new(kernel, design, memory)?)))
    }

    /// Returns the matrix `Z Z'` of inner products of features, one sample per row of Z, for support
    /// vector machines: all columns in single precision, in `4 n^2` bytes, and products in double
    /// precision through the features. `is_over` is asked before every 256 columns, by the thread that
    /// computes them.
    ///
    /// ```
    /// use margins_data::Design;
    /// use margins_kernels::Gram;
    ///
    /// let features = Design::from_rows(&[[1.0, 2.0], [3.0, -1.0]])?;
    /// let gram = Gram::of_features(features, || false)?;
    /// assert_eq!(gram.cross_of(&[0], &[0, 1]).as_slice(), [5.0, 1.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`]: there are more samples than there is memory for. An error that
    /// [is interrupted](Error::is_interrupted): `is_over` has returned true.
    pub fn of_features(features: Design, is_over: impl Fn() -> bool + Sync) -> Result<Self, Error> {
        Ok(Gram::of(Entries::Features(FeatureProducts::new(features, is_over)?)))
    }

    /// Takes a matrix computed elsewhere.
    ///
    /// # Errors
    /// A matrix that is not square, not symmetric to ten digits, not positive semidefinite to ten
    /// digits of its trace, or has an entry that is not finite. Six digits are enough where single
    /// precision holds every entry, as it does for a matrix that was computed in it.
    pub fn precomputed(mut matrix: DMatrix<f64>) -> Result<Self, Error> {
        let is_single = matrix.iter().all(|&k| f64::from(k as f32) == k);
        let rounding = if is_single { 1e-6 } else { ROUNDING };
        let (n, columns) = matrix.shape();
        if n != columns {
            let what = "columns of a precomputed kernel matrix";
            return Err(Error::Shape { what, expected: n, found: columns });
        }
        for column in 0..n {
            for row in column..n {
                let (one, other) = (matrix[(row, column)], matrix[(column, row)]);
                for (row, column, value) in [(row, column, one), (column, row, other)] {
                    if !value.is_finite() {
                        return Err(Error::GramEntry { row, column, value });
                    }
                }
                if (one - other).abs() > rounding * one.abs().max(other.abs()) {
                    return Err(Error::NotSymmetric { row, column, one, other });
                }
                matrix[(column, row)] = one;
            }
        }
        check_semidefinite(&matrix, rounding)?;
        Ok(Gram::held(matrix))
    }

    fn of(entries: Entries) -> Self {
        let (factor, eigenspace) = (OnceLock::new(), OnceLock::new());
        Gram { entries, factor, eigenspace, planned: None }
    }

    pub(crate) fn held(matrix: DMatrix<f64>) -> Self {
        Gram::of(Entries::of(matrix))
    }

    /// Returns the matrix; `None` if it is computed where it is needed, or that of features.
    pub fn matrix(&self) -> Option<&DMatrix<f64>> {
        self.entries.held()
    }

    /// Returns true if columns of the matrix are in memory, in double or in single precision.
    pub(crate) fn has_columns(&self) -> bool {
        !matches!(self.entries, Entries::Computed(_))
    }

    /// Returns the matrix for a purpose that needs all of it.
    pub(crate) fn held_for(&self, purpose: &'static str) -> Result<&DMatrix<f64>, Error> {
        let n = self.len();
        self.matrix().ok_or_else(|| Error::NotHeld { purpose: purpose.to_owned(), n })
    }

    /// Returns the same matrix, for which so many bytes of paths were counted before.
    pub(crate) fn with_planned(self, bytes: usize) -> Self {
        Gram { planned: Some(bytes), ..self }
    }

    /// Returns the bytes that paths take beside the entries, if they were counted before the entries were
    /// there.
    pub(crate) fn planned(&self) -> Option<usize> {
        self.planned
    }

    pub(crate) fn entries(&self) -> &Entries {
        &self.entries
    }

    /// Refuses what was computed with the matrix if some value of it was not finite.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match &self.entries {
            Entries::Stored { .. } | Entries::Features(_) => Ok(()),
            Entries::Computed(matrix) => matrix.check(),
        }
    }

    /// Returns the kernel value of every sample with itself.
    pub fn diagonal(&self) -> Vec<f64> {
        self.entries.diagonal()
    }

    /// Returns the number of samples n.
    pub fn len(&self) -> usize {
        self.entries.order()
    }

    /// Returns true if there are no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the matrix of some of the samples, in the order given.
    ///
    /// # Panics
    /// If an index is not below n.
    pub fn select(&self, samples: &[usize]) -> Gram {
        Gram { planned: self.planned, ..Gram::of(self.entries.select(samples)) }
    }

    /// Returns the values of some samples, one per row, with others, one per column.
    ///
    /// # Panics
    /// If an index is not below n.
    pub fn cross_of(&self, rows: &[usize], columns: &[usize]) -> DMatrix<f64> {
        self.entries.block(rows, columns)
    }

    /// Returns the scores of the samples `rows`, without intercept, by functions of the kernel
    /// sections of the samples `columns`: the coefficients of a function are a row of `coefs`, its
    /// scores a row of the result.
    ///
    /// # Panics
    /// If an index is not below n, or if `coefs` does not have one column per sample of `columns`.
    pub fn combine(&self, rows: &[usize], columns: &[usize], coefs: &DMatrix<f64>) -> DMatrix<f64> {
        /// The entries of a matrix in memory that are copied at a time.
        const ENTRIES: usize = 1 << 16;
        assert_eq!(coefs.ncols(), columns.len(), "one coefficient per column");
        match &self.entries {
            Entries::Stored { .. } => {
                let parts = rows.chunks((ENTRIES / columns.len().max(1)).max(1));
                let scores = parts.map(|rows| product(coefs, &self.entries.block(columns, rows)));
                let scores: Vec<f64> = scores.flat_map(|part| part.as_slice().to_vec()).collect();
                DMatrix::from_vec(coefs.nrows(), rows.len(), scores)
            }
            Entries::Features(products) => products.combine(rows, columns, coefs),
            Entries::Computed(matrix) => matrix.combine(rows, columns, coefs),
        }
    }

    /// Returns `K X` for the n x k matrix X: the scores, without intercept, of k classifiers.
    ///
    /// # Panics
    /// If X does not have n rows.
    pub fn multiply(&self, x: &DMatrix<f64>) -> DMatrix<f64> {
        assert_eq!(x.nrows(), self.len(), "one row per sample");
        self.entries.multiply_all(x)
    }

    /// Returns `K = Z Z'` to ten digits of the trace, if so many pivots are enough and memory has room
    /// for the factor.
    pub(crate) fn low_rank_factor(&self, most_pivots: usize) -> Option<&PivotedCholesky> {
        // Otherwise room for the factor of a path in sample space.
        let reserve = self.planned.unwrap_or_else(|| matrices(1, self.len()));
        let factorize = || PivotedCholesky::of_low_rank(self.matrix()?, most_pivots, reserve);
        self.factor.get_or_init(factorize).as_ref()
    }

    /// Returns `x'Kx`; as if computed in twice the working precision, for vectors whose image is
    /// small because large terms cancel, if the matrix is held.
    ///
    /// # Panics
    /// If x does not have one number per sample.
    pub fn quadratic_form(&self, x: &[f64]) -> f64 {
        assert_eq!(x.len(), self.len(), "one number per sample");
        self.entries.quadratic_form(x)
    }

    /// Returns the numerically nonzero eigenspace, which is computed once.
    ///
    /// # Errors
    /// An eigendecomposition that does not converge; [`Error::NotHeld`]: a matrix that is not held.
    pub fn eigenspace(&self) -> Result<&Eigenspace, Error> {
        // A copy of the matrix, the vectors, and what the decomposition works in.
        const MATRICES: usize = 4;
        let matrix = self.held_for("its eigenspace")?;
        if self.eigenspace.get().is_none() && self.planned.is_none() {
            let what = "the eigenspace of the kernel matrix";
            let remedy = "another --solver needs none";
            let n = self.len();
            Error::check_room(matrices(MATRICES, n), n, what, remedy)?;
        }
        let eigenspace = self.eigenspace.get_or_init(|| Eigenspace::of(matrix).ok());
        // Entries are finite: there is no other way to fail.
        let failed = || margins_optim::Error::Eigendecomposition(self.len());
        Ok(eigenspace.as_ref().ok_or_else(failed)?)
    }
}
