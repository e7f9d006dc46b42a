//! The entries of a kernel matrix as solvers access them, stored or recomputed.

use margins_optim::problem::summation::dot;
use std::sync::OnceLock;

use margins_data::Memory;
use nalgebra::DMatrix;

use super::dense::symmetric_product;
use super::feature_products::FeatureProducts;
use super::matrix_free::MatrixFree;
use crate::room::is_free;
use crate::symmetric::{self, SingleColumns, SingleHalf};

/// The entries of a kernel matrix as solvers see them.
#[derive(Debug, Clone)]
pub(crate) enum Entries {
    /// All of them in memory, and half or all of them in single precision once a solver asks for
    /// that.
    Stored {
        matrix: DMatrix<f64>,
        half: OnceLock<SingleHalf>,
        columns: OnceLock<Option<SingleColumns>>,
    },
    /// The entries of a matrix of inner products are held, all of them in single precision.
    Features(FeatureProducts),
    /// No entry is held: each use computes those that it needs.
    Computed(MatrixFree),
}

impl Entries {
    /// Takes a matrix that is in memory.
    pub(crate) fn of(matrix: DMatrix<f64>) -> Self {
        Entries::Stored { matrix, half: OnceLock::new(), columns: OnceLock::new() }
    }

    /// Returns the matrix, if it is in memory.
    pub(crate) fn held(&self) -> Option<&DMatrix<f64>> {
        match self {
            Entries::Stored { matrix, .. } => Some(matrix),
            Entries::Features(_) | Entries::Computed(_) => None,
        }
    }

    /// Returns all columns in single precision, if these or the matrix are in memory, and memory has
    /// room for them.
    pub(crate) fn single_columns(&self) -> Option<&SingleColumns> {
        match self {
            Entries::Stored { matrix, columns, .. } => {
                let new =
                    || is_free(size_of::<f32>() * matrix.len()).then(|| SingleColumns::new(matrix));
                columns.get_or_init(new).as_ref()
            }
            Entries::Features(products) => Some(products.columns()),
            Entries::Computed(_) => None,
        }
    }

    /// Returns true if the matrix is in memory.
    pub(crate) fn is_held(&self) -> bool {
        self.held().is_some()
    }

    /// Returns the memory that solvers may take for parts of the matrix, beside vectors; `None` for
    /// a matrix that is held, which bounds it.
    pub(crate) fn memory(&self) -> Option<Memory> {
        match self {
            Entries::Stored { .. } | Entries::Features(_) => None,
            Entries::Computed(matrix) => Some(matrix.memory()),
        }
    }

    pub(crate) fn order(&self) -> usize {
        match self {
            Entries::Stored { matrix, .. } => matrix.nrows(),
            Entries::Features(products) => products.diagonal().len(),
            Entries::Computed(matrix) => matrix.diagonal().len(),
        }
    }

    pub(crate) fn diagonal(&self) -> Vec<f64> {
        match self {
            Entries::Stored { matrix, .. } => matrix.diagonal().as_slice().to_vec(),
            Entries::Features(products) => products.diagonal().to_vec(),
            Entries::Computed(matrix) => matrix.diagonal().to_vec(),
        }
    }

    /// Returns how many times that of sums of n terms the rounding of a product is: products with
    /// features are sums of sums.
    pub(crate) fn rounding_factor(&self) -> f64 {
        match self {
            Entries::Stored { .. } | Entries::Computed(_) => 1.0,
            Entries::Features(products) => {
                1.0 + (products.width() as f64 / self.order().max(1) as f64).sqrt()
            }
        }
    }

    /// Returns the values of some samples, one per row, with others, one per column.
    ///
    /// # Panics
    /// If an index is not below n.
    pub(crate) fn block(&self, rows: &[usize], columns: &[usize]) -> DMatrix<f64> {
        match self {
            Entries::Stored { matrix, .. } => {
                let n = matrix.nrows();
                let mut out = Vec::with_capacity(rows.len() * columns.len());
                for &j in columns {
                    let column = &matrix.as_slice()[j * n..(j + 1) * n];
                    out.extend(rows.iter().map(|&i| column[i]));
                }
                DMatrix::from_vec(rows.len(), columns.len(), out)
            }
            Entries::Features(products) => products.block(rows, columns),
            Entries::Computed(matrix) => matrix.block(rows, columns),
        }
    }

    /// Returns the entries of some of the samples, in the order given.
    ///
    /// # Panics
    /// If an index is not below n.
    pub(crate) fn select(&self, samples: &[usize]) -> Entries {
        match self {
            Entries::Stored { .. } => Entries::of(self.block(samples, samples)),
            Entries::Features(products) => Entries::Features(products.select(samples)),
            Entries::Computed(matrix) => Entries::Computed(matrix.select(samples)),
        }
    }

    /// Computes `out = K x`.
    pub(crate) fn multiply(&self, x: &[f64], out: &mut [f64]) {
        match self {
            Entries::Stored { matrix, .. } => symmetric::multiply(matrix, x, out),
            Entries::Features(products) => products.multiply(x, out),
            Entries::Computed(_) => out.copy_from_slice(self.multiply_one(x).as_slice()),
        }
    }

    /// Computes `out = K x`, cheaper where few entries of x are not 0.
    pub(crate) fn multiply_sparse(&self, x: &[f64], out: &mut [f64]) {
        match self {
            Entries::Stored { matrix, .. } => symmetric::multiply_sparse(matrix, x, out),
            Entries::Features(products) => products.multiply(x, out),
            Entries::Computed(_) => out.copy_from_slice(self.multiply_one(x).as_slice()),
        }
    }

    /// Computes `out = K x` to about six digits of its largest entry, faster than
    /// [`multiply_sparse`](Self::multiply_sparse) if the matrix is held.
    pub(crate) fn multiply_roughly(&self, x: &[f64], out: &mut [f64]) {
        match self {
            Entries::Stored { matrix, half, .. } => {
                half.get_or_init(|| SingleHalf::new(matrix)).multiply(x, out);
            }
            Entries::Features(_) | Entries::Computed(_) => self.multiply_sparse(x, out),
        }
    }

    fn multiply_one(&self, x: &[f64]) -> DMatrix<f64> {
        self.multiply_all(&DMatrix::from_column_slice(x.len(), 1, x))
    }

    /// Returns `x'Kx`, as if computed in twice the working precision if the matrix is held.
    pub(crate) fn quadratic_form(&self, x: &[f64]) -> f64 {
        match self {
            Entries::Stored { matrix, .. } => symmetric::quadratic_form(matrix, x),
            Entries::Features(products) => products.quadratic_form(x),
            Entries::Computed(_) => dot(x, self.multiply_one(x).as_slice()),
        }
    }

    /// Returns `K X`.
    pub(crate) fn multiply_all(&self, x: &DMatrix<f64>) -> DMatrix<f64> {
        match self {
            Entries::Stored { matrix, .. } => symmetric_product(matrix, x),
            Entries::Features(products) => products.multiply_all(x),
            Entries::Computed(matrix) => matrix.multiply(x),
        }
    }
}
