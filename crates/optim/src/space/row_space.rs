//! Row-space coordinates for more features than samples, and eigenspaces of matrices.

use faer::{MatRef, Side};
use margins_data::Design;
use nalgebra::DMatrix;

use crate::problem::FreeColumns;
use crate::products::sample_gram;
use crate::space::Extent;
use crate::space::reflections::{Reflections, triangularize};
use crate::{Error, Lambda};

/// The numerically nonzero eigenspace of a positive semidefinite n x n matrix `K = U S U'`.
///
/// Over `Z = U S^(1/2)`, one row per sample, the minimisers `w` of a linear objective are those of
/// the kernel objective over K: `f = b + Z beta = b + K a` with `a = U S^(-1/2) beta` and
/// `||beta||^2 = a'Ka` (representer theorem), for every loss, lambda and solver.
#[derive(Debug, Clone)]
pub struct Eigenspace {
    /// The coordinates `Z`.
    pub coordinates: Design,
    /// The map `U S^(-1/2)`, n x r.
    lift: DMatrix<f64>,
}

impl Eigenspace {
    /// Returns the eigenspace of a matrix of which the lower half is read. Eigenvalues within
    /// rounding of zero carry noise, not data, and are left out.
    ///
    /// # Errors
    /// [`Error::Overflow`]: an entry is not finite. [`Error::Eigendecomposition`]: the
    /// eigendecomposition does not converge.
    pub fn of(matrix: &DMatrix<f64>) -> Result<Self, Error> {
        let n = matrix.nrows();
        if matrix.iter().any(|x| !x.is_finite()) {
            return Err(Error::Overflow);
        }
        let eigen = MatRef::from_column_major_slice(matrix.as_slice(), n, n)
            .self_adjoint_eigen(Side::Lower)
            .map_err(|_| Error::Eigendecomposition(n))?;
        let values = eigen.S().column_vector();
        let vectors = eigen.U();
        // Eigenvalues ascend.
        let floor = n as f64 * f64::EPSILON * values[n - 1].max(0.0);
        let first = (0..n).find(|&k| values[k] > floor).unwrap_or(n - 1);
        let rank = n - first;
        let root = |k: usize| values[first + k].max(f64::MIN_POSITIVE).sqrt();
        let coordinates = DMatrix::from_fn(rank, n, |k, i| vectors[(i, first + k)] * root(k));
        let lift = DMatrix::from_fn(n, rank, |i, k| vectors[(i, first + k)] / root(k));
        Ok(Eigenspace { coordinates: Design::from_samples(coordinates)?, lift })
    }

    /// Returns `a = U S^(-1/2) beta`.
    pub fn lift(&self, beta: &[f64]) -> Vec<f64> {
        (&self.lift * DMatrix::from_column_slice(beta.len(), 1, beta)).as_slice().to_vec()
    }
}

/// Coordinates in which more features than samples become at most n: `X = Z B'` with an orthonormal
/// basis B of the row space, so that `w = B beta` has the norm of `beta` and the scores of
/// `Z beta`. This is the n x n side of the choice between n x n and p x p systems.
///
/// Features without a penalty are left as they are, in columns behind those of the others.
#[derive(Debug)]
pub struct RowSpace {
    /// The coordinates `Z`.
    pub coordinates: Design,
    basis: Basis,
    free: FreeColumns,
}

#[derive(Debug)]
enum Basis {
    /// The map `w = X'a` with `a = U S^(-1/2) beta` from the eigenspace of `X X'`.
    Eigenspace(DMatrix<f64>),
    /// The map `w = Q beta` from the reflections that reduce `X'` to a triangle.
    Reflections(Reflections),
}

impl RowSpace {
    /// The largest number of entries of sparse samples that are made dense to be reflected.
    const MOST_ENTRIES: usize = 1 << 26;

    /// Returns the row space of a design whose samples and features have this extent, for problems
    /// at this lambda or larger ones.
    ///
    /// # Errors
    /// [`Error::Overflow`]: products of the features overflow. [`Error::Eigendecomposition`]: the
    /// eigendecomposition does not converge.
    pub fn of(design: &Design, extent: &Extent, lambda: Lambda) -> Result<Self, Error> {
        let free = FreeColumns::default();
        let entries = design.rows().saturating_mul(design.columns());
        if extent.is_wide(lambda) && entries <= Self::MOST_ENTRIES {
            let (coordinates, reflections) = triangularize(design)?;
            return Ok(RowSpace { coordinates, basis: Basis::Reflections(reflections), free });
        }
        let Eigenspace { coordinates, lift } = Eigenspace::of(&sample_gram(design))?;
        Ok(RowSpace { coordinates, basis: Basis::Eigenspace(lift), free })
    }

    /// Returns the row space of the features with a penalty, of which there is at least one, and behind
    /// it those without.
    ///
    /// # Errors
    /// Those of [`of`](Self::of).
    pub(crate) fn beside(
        free: &FreeColumns,
        design: &Design,
        lambda: Lambda,
    ) -> Result<Self, Error> {
        let penalised = design.select_columns(&free.others(design.columns()))?;
        let of_penalised = Self::of(&penalised, &Extent::of(&penalised), lambda)?;
        let coordinates = of_penalised.coordinates.beside(&design.select_columns(free.get())?)?;
        Ok(RowSpace { coordinates, free: free.clone(), ..of_penalised })
    }

    /// Returns true if the coordinates may have lost features that are small beside others.
    pub fn is_lossy(&self) -> bool {
        matches!(self.basis, Basis::Eigenspace(_))
    }

    /// Returns the `beta` of coefficients in the row space that have these products `X w`; `None` where
    /// the basis is made of reflections.
    pub(crate) fn coordinates_of(&self, products: &[f64]) -> Option<Vec<f64>> {
        match &self.basis {
            // B'w = S^(-1/2) U'X w
            Basis::Eigenspace(lift) => {
                let products = DMatrix::from_column_slice(products.len(), 1, products);
                Some(lift.tr_mul(&products).as_slice().to_vec())
            }
            Basis::Reflections(_) => None,
        }
    }

    /// Returns `w = B beta`.
    pub fn coefficients(&self, original: &Design, beta: &[f64]) -> Vec<f64> {
        let free = self.free.get();
        let (beta, of_free) = beta.split_at(beta.len() - free.len());
        let mut w = vec![0.0; original.columns()];
        match &self.basis {
            Basis::Eigenspace(lift) => {
                let sections = lift * DMatrix::from_column_slice(beta.len(), 1, beta);
                original.multiply_transposed(sections.as_slice(), &mut w);
            }
            Basis::Reflections(reflections) => {
                let others = self.free.others(w.len());
                let mut of_others = vec![0.0; others.len()];
                reflections.apply(beta, &mut of_others);
                others.iter().zip(of_others).for_each(|(&j, x)| w[j] = x);
            }
        }
        free.iter().zip(of_free).for_each(|(&j, &x)| w[j] = x);
        w
    }
}
