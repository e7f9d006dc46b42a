//! Cholesky factors of small positive semidefinite matrices.

use nalgebra::{DMatrix, DVector};

/// A Cholesky factor of a positive semidefinite matrix, scaled to a unit diagonal, with the largest
/// pivots first; those that rounding alone leaves take no part.
pub(super) struct Pivoted {
    order: Vec<usize>,
    units: Vec<f64>,
    /// The factor of the leading pivots.
    lower: DMatrix<f64>,
}

impl Pivoted {
    /// Returns the factor; `None` if the matrix is not finite.
    pub(super) fn of(matrix: &DMatrix<f64>) -> Option<Self> {
        let q = matrix.nrows();
        if matrix.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let unit = |d: f64| if d > 0.0 { d.sqrt().recip() } else { 0.0 };
        let units: Vec<f64> = (0..q).map(|j| unit(matrix[(j, j)])).collect();
        let scaled = DMatrix::from_fn(q, q, |i, j| matrix[(i, j)] * units[i] * units[j]);
        let least = 16.0 * q as f64 * f64::EPSILON;
        let mut left: Vec<f64> = (0..q).map(|j| scaled[(j, j)]).collect();
        let mut rest: Vec<usize> = (0..q).collect();
        let mut order: Vec<usize> = Vec::new();
        let mut lower = DMatrix::<f64>::zeros(q, q);
        while let Some(at) =
            (0..rest.len()).max_by(|&a, &b| left[rest[a]].total_cmp(&left[rest[b]]))
        {
            let pivot = rest[at];
            if left[pivot] <= least {
                break;
            }
            rest.swap_remove(at);
            let k = order.len();
            order.push(pivot);
            let root = left[pivot].sqrt();
            lower[(pivot, k)] = root;
            for &i in &rest {
                let known: f64 = (0..k).map(|m| lower[(i, m)] * lower[(pivot, m)]).sum();
                lower[(i, k)] = (scaled[(i, pivot)] - known) / root;
                left[i] -= lower[(i, k)] * lower[(i, k)];
            }
        }
        let lower = DMatrix::from_fn(order.len(), order.len(), |i, j| lower[(order[i], j)]);
        Some(Pivoted { order, units, lower })
    }

    /// Returns a solution of the equation with this right side, 0 at the pivots left out.
    pub(super) fn solve(&self, right: &DVector<f64>) -> DVector<f64> {
        let k = self.order.len();
        let mut x = DVector::from_fn(k, |i, _| right[self.order[i]] * self.units[self.order[i]]);
        self.lower.solve_lower_triangular_mut(&mut x);
        self.lower.tr_solve_lower_triangular_mut(&mut x);
        let mut solution = DVector::zeros(right.len());
        for (i, &j) in self.order.iter().enumerate() {
            solution[j] = x[i] * self.units[j];
        }
        solution
    }
}
