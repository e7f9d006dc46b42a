//! Free columns of dense samples, made orthogonal.

use std::borrow::Cow;

use margins_data::Design;
use margins_losses::MarginLoss;
use nalgebra::{DMatrix, DVector};

use crate::Error;
use crate::problem::summation::sum_of_blocks;
use crate::problem::{FreeColumns, Objective};

/// An objective over samples in memory whose free columns are orthogonal to each other and to the
/// intercept's, and of mean square 1, whatever they were before: `z_k = sum_(j <= k) R_jk q_j` for the
/// new columns q.
pub(crate) struct Orthogonal<'a, L: MarginLoss + ?Sized> {
    pub(crate) objective: Objective<'a, L>,
    /// The matrix R of the columns that the ones before do not make up, the intercept's first; others
    /// are 0 in the objective.
    upper: DMatrix<f64>,
    has_intercept: bool,
}

impl<'a, L: MarginLoss + ?Sized> Orthogonal<'a, L> {
    /// Returns the objective with new free columns, in a copy of its dense samples.
    ///
    /// Columns are made orthogonal twice, which leaves them so to rounding (Giraud, Langou and
    /// Rozloznik, *The loss of orthogonality in the Gram-Schmidt orthogonalization process*, 2005).
    ///
    /// # Errors
    /// [`Error::Overflow`]: a sum of squares overflows.
    pub(crate) fn of(objective: &Objective<'a, L>) -> Result<Self, Error> {
        /// The share of its size that a column must have left beside the ones before it.
        const LEFT: f64 = 1e-12;
        let Objective { risk, design, free } = objective;
        let n = design.rows();
        let total: f64 = risk.weights().iter().sum();
        let product = |a: &[f64], b: &[f64]| {
            let [sum] = sum_of_blocks(n, |rows| {
                [rows.map(|i| risk.weights.get(i) * a[i] * b[i]).sum::<f64>()]
            });
            sum / total
        };
        let mut samples = design.to_dense().transpose();
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let mut factors: Vec<Vec<f64>> = Vec::new();
        if risk.intercept {
            basis.push(vec![1.0; n]);
            factors.push(vec![1.0]);
        }
        let mut kept = Vec::new();
        for &column in free.get() {
            let mut values: Vec<f64> = samples.row(column).iter().copied().collect();
            let size = product(&values, &values).sqrt();
            if !size.is_finite() {
                return Err(Error::Overflow);
            }
            let mut factor = vec![0.0; basis.len()];
            for _ in 0..2 {
                for (q, r) in basis.iter().zip(&mut factor) {
                    let along = product(q, &values);
                    values.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
                    *r += along;
                }
            }
            let left = product(&values, &values).sqrt();
            if left > LEFT * size {
                values.iter_mut().for_each(|x| *x /= left);
                samples.row_mut(column).iter_mut().zip(&values).for_each(|(x, q)| *x = *q);
                factor.push(left);
                factors.push(factor);
                basis.push(values);
                kept.push(column);
            } else {
                samples.row_mut(column).fill(0.0);
            }
        }
        let order = factors.len();
        let upper =
            DMatrix::from_fn(order, order, |j, k| factors[k].get(j).copied().unwrap_or(0.0));
        let design = Design::from_samples(samples)?;
        let objective = Objective::made_of(risk.clone(), Cow::Owned(design));
        let objective = objective.with_free(FreeColumns::of(kept))?;
        Ok(Orthogonal { objective, upper, has_intercept: risk.intercept })
    }

    /// Returns intercept and coefficients for the columns as they were before.
    pub(crate) fn restored(&self, intercept: f64, mut coef: Vec<f64>) -> (f64, Vec<f64>) {
        let columns = self.objective.free.get();
        let first = self.has_intercept.then_some(intercept);
        let mut of_free: DVector<f64> = DVector::from_iterator(
            self.upper.nrows(),
            first.into_iter().chain(columns.iter().map(|&j| coef[j])),
        );
        self.upper.solve_upper_triangular_mut(&mut of_free);
        let of_columns = of_free.iter().skip(usize::from(self.has_intercept));
        columns.iter().zip(of_columns).for_each(|(&j, w)| coef[j] = *w);
        (if self.has_intercept { of_free[0] } else { intercept }, coef)
    }
}
