use faer::{MatRef, Side};
use margins_data::Design;
use nalgebra::DMatrix;

use crate::Error;

/// Coordinates in which more features than samples become at most n.
///
/// With `X X' = U S U'` over the numerically nonzero eigenvalues, the samples in the orthonormal
/// basis `V = X'U S^(-1/2)` of the row space have the coordinates `Z = U S^(1/2)`, and every
/// minimiser of F is `w = V beta` with `||w|| = ||beta||` (representer theorem). So F over `w` in p
/// dimensions and F over `beta` in r = rank dimensions are the same problem, for every loss, lambda
/// and solver; this is the n x n side of the choice between n x n and p x p systems.
pub(crate) struct RowSpace {
    /// `U S^(-1/2)`, n x r: `w = X' (this beta)`.
    lift: DMatrix<f64>,
    /// The samples in the new coordinates.
    pub(crate) design: Design,
}

impl RowSpace {
    pub(crate) fn of(design: &Design) -> Result<Self, Error> {
        let n = design.rows();
        let gram = design.sample_gram();
        if gram.iter().any(|x| !x.is_finite()) {
            return Err(Error::Overflow);
        }
        let eigen = MatRef::from_column_major_slice(gram.as_slice(), n, n)
            .self_adjoint_eigen(Side::Lower)
            .map_err(|_| Error::Eigendecomposition(n))?;
        let values = eigen.S().column_vector();
        let vectors = eigen.U();
        // Eigenvalues ascend. Those within rounding of zero carry noise, not data.
        let floor = n as f64 * f64::EPSILON * values[n - 1].max(0.0);
        let first = (0..n).find(|&k| values[k] > floor).unwrap_or(n - 1);
        let rank = n - first;
        let root = |k: usize| values[first + k].max(f64::MIN_POSITIVE).sqrt();
        let coordinates = DMatrix::from_fn(rank, n, |k, i| vectors[(i, first + k)] * root(k));
        let lift = DMatrix::from_fn(n, rank, |i, k| vectors[(i, first + k)] / root(k));
        Ok(RowSpace { lift, design: Design::from_samples(coordinates)? })
    }

    /// `w = V beta` in the original features.
    pub(crate) fn coefficients(&self, original: &Design, beta: &[f64]) -> Vec<f64> {
        let dual = &self.lift * DMatrix::from_column_slice(beta.len(), 1, beta);
        let mut w = vec![0.0; original.columns()];
        original.multiply_transposed(dual.as_slice(), &mut w);
        w
    }
}
