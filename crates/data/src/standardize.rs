//! Scaling of features to unit standard deviation.

mod weighted_rows;

use std::convert::Infallible;

use nalgebra::DMatrix;

use crate::error::check_len;
use crate::{Design, Error, Sample};
use weighted_rows::{Moments, WeightedRows};

pub use weighted_rows::SeeRows;

/// A transformation that brings features to unit standard deviation, sparse data without filling in
/// zeros.
///
/// Column j has mean m_j = sum_i c_i x_ij / C and deviation
/// s_j = sqrt(sum_i c_i (x_ij - m_j)^2 / C) with sample weights c_i and C = sum_i c_i; without
/// weights that is divisor n. Constant columns are left unscaled.
///
/// With an intercept that is not penalised, [`scale`](Standardizer::scale) and
/// [`center_and_scale`](Standardizer::center_and_scale) lead to the same fit, because the intercept
/// takes up any shift of the features; scaling keeps sparse data sparse.
///
/// ```
/// use margins_data::{Design, Standardizer};
///
/// let design = Design::from_rows(&[[1.0, 5.0], [3.0, 5.0]])?;
/// let standardizer = Standardizer::fit(&design, None);
/// assert_eq!(standardizer.means(), [2.0, 5.0]);
/// assert_eq!(standardizer.deviations(), [1.0, 0.0]);
/// assert_eq!(standardizer.constant_columns(), [1]);
/// # Ok::<(), margins_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Standardizer {
    means: Vec<f64>,
    /// The deviations, zero for a constant column.
    deviations: Vec<f64>,
}

impl Standardizer {
    /// Computes the means and deviations of the columns. Weights that are all zero count as all
    /// equal.
    ///
    /// # Panics
    /// If there is not one finite weight, none negative, a row.
    pub fn fit(design: &Design, weights: Option<&[f64]>) -> Self {
        let each = |see: &mut SeeRows<'_>| {
            see(design, weights);
            Ok::<(), Infallible>(())
        };
        let Ok(fitted) = Self::fit_parts(design.columns(), each);
        fitted
    }

    /// Computes what [`fit`](Self::fit) does, to the last bit, of rows that come in parts: `each`
    /// shows all parts in order, every time that it is called, with their weights if they have any.
    ///
    /// # Errors
    /// The errors of `each`.
    ///
    /// # Panics
    /// The function panics if there is not one finite weight, none negative, a row.
    pub fn fit_parts<E>(
        columns: usize,
        each: impl FnMut(&mut SeeRows<'_>) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut rows = WeightedRows::new(columns, each)?;
        let ranges = rows.ranges()?;
        // Relative to its magnitude a column neither overflows nor underflows when squared. A power
        // of two, so that the division is exact.
        let magnitude = |&(low, high): &(f64, f64)| match high.max(-low) {
            0.0 => 1.0,
            largest => largest.log2().floor().exp2(),
        };
        let magnitudes: Vec<f64> = ranges.iter().map(magnitude).collect();
        let (moments, total) = (rows.moments(&magnitudes)?, rows.total);
        let columns = ranges.iter().zip(&magnitudes).zip(moments);
        let (means, deviations) = columns
            .map(|((&(low, high), magnitude), Moments { mean, stored, squares, residual })| {
                let zeros = (total - stored).max(0.0);
                // What rounding left in the mean is taken out of the squares, and of the mean.
                let residual = residual - zeros * mean;
                let squares = squares + zeros * mean * mean - residual * residual / total;
                let deviation = magnitude * (squares.max(0.0) / total).sqrt();
                if low < high {
                    // One cannot divide by a deviation whose reciprocal overflows.
                    let deviation = if deviation.recip().is_finite() { deviation } else { 0.0 };
                    ((mean + residual / total) * magnitude, deviation)
                } else {
                    (low, 0.0)
                }
            })
            .unzip();
        Ok(Standardizer { means, deviations })
    }

    /// Returns the scaling by these means and deviations, one each a column; a deviation of 0 is
    /// that of a constant column.
    ///
    /// # Panics
    /// If there are not as many means as deviations.
    pub fn of(means: Vec<f64>, deviations: Vec<f64>) -> Self {
        assert_eq!(means.len(), deviations.len(), "one mean and one deviation a column");
        Standardizer { means, deviations }
    }

    /// Returns the factors 1 / s_j, 1 for constant columns.
    pub fn factors(&self) -> Vec<f64> {
        (0..self.deviations.len()).map(|column| self.divisor(column).recip()).collect()
    }

    /// Returns the column means m_j.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// Returns the column standard deviations s_j: 0 for constant columns.
    pub fn deviations(&self) -> &[f64] {
        &self.deviations
    }

    /// Returns the columns that are constant, and therefore left unscaled.
    pub fn constant_columns(&self) -> Vec<usize> {
        (0..self.deviations.len()).filter(|&column| self.deviations[column] == 0.0).collect()
    }

    /// Returns the number that column `column` is divided by.
    fn divisor(&self, column: usize) -> f64 {
        if self.deviations[column] == 0.0 { 1.0 } else { self.deviations[column] }
    }

    /// Returns x_ij / s_j: unit deviation, means not removed, sparse data still sparse.
    ///
    /// # Errors
    /// The number of columns is another, or a value overflows.
    pub fn scale(&self, mut design: Design) -> Result<Design, Error> {
        check_len("columns to scale", self.deviations.len(), design.columns())?;
        design.scale_columns(&self.factors());
        for (row, sample) in design.samples().enumerate() {
            let mut overflow = None;
            sample.for_each(|column, value| {
                if !value.is_finite() {
                    overflow = Some(Error::NotFinite { row, column, value });
                }
            });
            if let Some(error) = overflow {
                return Err(error);
            }
        }
        Ok(design)
    }

    /// Returns (x_ij - m_j) / s_j, for dense data.
    ///
    /// # Errors
    /// The data is sparse, the number of columns is another, or a value overflows.
    pub fn center_and_scale(&self, design: &Design) -> Result<Design, Error> {
        let p = self.deviations.len();
        check_len("columns to scale", p, design.columns())?;
        let mut values = Vec::with_capacity(design.rows() * p);
        for sample in design.samples() {
            let Sample::Dense(x) = sample else {
                return Err(Error::NeedsDense { operation: "centring" });
            };
            values.extend(
                (0..p).map(|column| (x[column] - self.means[column]) / self.divisor(column)),
            );
        }
        Design::from_samples(DMatrix::from_vec(p, design.rows(), values))
    }

    /// Returns the coefficients w_j / s_j for features as they were, from w_j for scaled ones.
    ///
    /// # Panics
    /// If there is not one coefficient per column.
    pub fn unscale_coefficients(&self, coef: &[f64]) -> Vec<f64> {
        assert_eq!(coef.len(), self.deviations.len(), "one coefficient per column");
        coef.iter().enumerate().map(|(column, w)| w / self.divisor(column)).collect()
    }

    /// Returns the intercept b - sum_j w_j m_j / s_j for features as they were, from b and w_j for
    /// features that were centred and scaled.
    ///
    /// # Panics
    /// If there is not one coefficient per column.
    pub fn uncenter_intercept(&self, intercept: f64, coef: &[f64]) -> f64 {
        let coef = self.unscale_coefficients(coef);
        intercept - coef.iter().zip(&self.means).map(|(w, mean)| w * mean).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra_sparse::CsrMatrix;
    use proptest::prelude::*;

    fn close(a: &[f64], b: &[f64]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + a.abs()))
    }

    proptest! {
        #[test]
        fn sparse_is_dense_is_the_definition(
            (n, p, cells, weights) in (1usize..9, 1usize..6).prop_flat_map(|(n, p)| {
                let cell = prop_oneof![Just(0.0), Just(2.5), -3.0..3.0f64];
                let weight = prop_oneof![Just(0.0), 0.1..3.0f64];
                let cells = proptest::collection::vec(cell, n * p);
                let weights = proptest::option::of(proptest::collection::vec(weight, n));
                (Just(n), Just(p), cells, weights)
            })
        ) {
            let matrix = DMatrix::from_row_slice(n, p, &cells);
            let dense = Design::dense(&matrix).unwrap();
            let sparse = Design::sparse(CsrMatrix::from(&matrix)).unwrap();
            let fit = Standardizer::fit(&dense, weights.as_deref());
            let sparse_fit = Standardizer::fit(&sparse, weights.as_deref());
            prop_assert!(close(fit.means(), sparse_fit.means()));
            prop_assert!(close(fit.deviations(), sparse_fit.deviations()));

            let ones = vec![1.0; n];
            let c = weights.filter(|c| c.iter().any(|&c| c > 0.0)).unwrap_or(ones);
            let total: f64 = c.iter().sum();
            let average = |f: &dyn Fn(usize) -> f64| {
                (0..n).map(|i| c[i] * f(i)).sum::<f64>() / total
            };
            for j in 0..p {
                let mean = average(&|i| matrix[(i, j)]);
                let deviation = average(&|i| (matrix[(i, j)] - mean).powi(2)).sqrt();
                prop_assert!((mean - fit.means()[j]).abs() < 1e-12);
                prop_assert!((deviation - fit.deviations()[j]).abs() < 1e-7);
                let factor = if fit.deviations()[j] == 0.0 { 1.0 } else { fit.deviations()[j] };
                let scaled = fit.scale(dense.clone()).unwrap().to_dense();
                for i in 0..n {
                    prop_assert!((scaled[(i, j)] - matrix[(i, j)] / factor).abs() < 1e-9);
                }
            }
            let scaled = sparse_fit.scale(sparse).unwrap();
            prop_assert!(scaled.is_sparse());
        }
    }

    #[test]
    fn constant_columns_are_left_alone_exactly() {
        let rows = vec![[0.1, 1e-310, 0.0, 1e300]; 7];
        let design = Design::from_rows(&rows).unwrap();
        let weights = [0.3, 0.7, 0.11, 1e300, 0.9, 0.0, 0.2];
        for weights in [None, Some(&weights[..])] {
            let fit = Standardizer::fit(&design, weights);
            assert_eq!(fit.constant_columns(), [0, 1, 2, 3]);
            assert_eq!(fit.scale(design.clone()).unwrap(), design);
        }
    }

    #[test]
    fn rows_in_parts_have_the_means_and_deviations_of_all() {
        let row = |i: usize| [(i as f64).sin(), if i.is_multiple_of(3) { 0.0 } else { i as f64 }];
        let design = Design::from_rows(&(0..50).map(row).collect::<Vec<_>>()).unwrap();
        let weights: Vec<f64> = (0..50).map(|i| (i % 4) as f64 / 3.0).collect();
        for weights in [None, Some(&weights[..])] {
            let each = |see: &mut SeeRows<'_>| {
                for (first, end) in [(0, 1), (1, 30), (30, 30), (30, 50)] {
                    let part = design.select(&(first..end).collect::<Vec<_>>());
                    see(&part, weights.map(|weights| &weights[first..end]));
                }
                Ok::<(), Infallible>(())
            };
            let Ok(fitted) = Standardizer::fit_parts(2, each);
            assert_eq!(fitted, Standardizer::fit(&design, weights));
        }
    }

    #[test]
    fn nothing_selected_is_constant() {
        let fit = Standardizer::fit(&Design::from_rows(&[[1.0]]).unwrap().select(&[]), None);
        assert_eq!((fit.means(), fit.deviations()), (&[0.0][..], &[0.0][..]));
    }

    #[test]
    fn extreme_values_do_not_overflow() {
        let design =
            Design::from_rows(&[[1e300, 1e-200, 1e9], [-1e300, -1e-200, 1e9 + 1.0]]).unwrap();
        let fit = Standardizer::fit(&design, None);
        assert!(close(&[fit.deviations()[0] / 1e300, fit.deviations()[1] / 1e-200], &[1.0, 1.0]));
        assert!((fit.deviations()[2] - 0.5).abs() < 1e-9);
        let other = Design::from_rows(&[[0.0, 1e200, 0.0]]).unwrap();
        assert!(matches!(fit.scale(other), Err(Error::NotFinite { row: 0, column: 1, .. })));
    }

    #[test]
    fn predictions_survive_the_way_back() {
        let design = Design::from_rows(&[[1.0, 4.0], [2.0, 9.0], [4.0, 5.0]]).unwrap();
        let fit = Standardizer::fit(&design, None);
        let (intercept, coef) = (0.3, [1.5, -2.0]);
        let centred = fit.center_and_scale(&design).unwrap();
        let (original, shifted) =
            (fit.unscale_coefficients(&coef), fit.uncenter_intercept(intercept, &coef));
        for row in 0..3 {
            let score = intercept + centred.dot(row, &coef);
            assert!((score - shifted - design.dot(row, &original)).abs() < 1e-12);
        }
    }

    #[test]
    fn refusals() {
        let design = Design::from_rows(&[[1.0, 2.0], [3.0, 5.0]]).unwrap();
        let fit = Standardizer::fit(&design, None);
        let sparse = Design::sparse(CsrMatrix::from(&design.to_dense())).unwrap();
        let narrow = Design::from_rows(&[[1.0]]).unwrap();
        insta::assert_snapshot!(
            [
                fit.center_and_scale(&sparse).unwrap_err().to_string(),
                fit.scale(narrow).unwrap_err().to_string(),
            ]
            .join("\n")
        );
    }
}
