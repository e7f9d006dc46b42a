//! The metric of the large-margin distribution machine, and its inverse.

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Side};
use margins_data::Design;
use margins_losses::MarginLoss;
use margins_optim::problem::Point;
use margins_optim::products::weighted_gram;
use margins_optim::{Lambda, Objective};
use nalgebra::DMatrix;

use super::LARGEST_ORDER;
use crate::Error;

/// The metric Q over `(b, w)`, or over w without intercept, ready to be inverted.
pub(super) struct Metric {
    factor: Llt<f64>,
    inverse: Inverse,
    /// The index of the first coefficient: 1 with an intercept, else 0.
    pub(super) first: usize,
}

/// The solutions or the inverse that give `Q^-1 (1, x_i)`.
enum Inverse {
    /// The solutions, one column per sample.
    Samples(Mat<f64>),
    /// The inverse `Q^-1`, whose columns sparse samples combine, where there is no room for the solutions.
    Whole(Mat<f64>),
}

impl Inverse {
    fn of_samples(factor: &Llt<f64>, design: &Design, first: usize) -> Self {
        let mut solved = Mat::zeros(design.columns() + first, design.rows());
        for (i, sample) in design.samples().enumerate() {
            let column = solved.col_as_slice_mut(i);
            column[..first].fill(1.0);
            sample.for_each(|j, x| column[first + j] = x);
        }
        factor.solve_in_place(&mut solved);
        Inverse::Samples(solved)
    }

    fn whole(factor: &Llt<f64>) -> Self {
        let order = factor.L().nrows();
        let mut inverse = Mat::identity(order, order);
        factor.solve_in_place(&mut inverse);
        Inverse::Whole(inverse)
    }
}

impl Metric {
    pub(super) fn new<L: MarginLoss + ?Sized>(
        variance: f64,
        objective: &Objective<'_, L>,
        lambda: Lambda,
    ) -> Result<Self, Error> {
        let (risk, design) = (objective.risk(), objective.design());
        let (p, n) = (design.columns(), design.rows());
        let first = usize::from(risk.has_intercept());
        let weights = risk.weights();
        let total: f64 = weights.iter().sum();
        let mut moments = DMatrix::zeros(p + 1, p + 1);
        weighted_gram(design, weights, &mut moments);
        let signed: Vec<f64> = risk.signs().iter().zip(weights).map(|(y, d)| y * d).collect();
        let mut mean = vec![signed.iter().sum(); p + 1];
        design.multiply_transposed(&signed, &mut mean[1..]);
        // Row and column 0 belong to the intercept.
        let skip = 1 - first;
        let order = p + first;
        let matrix = Mat::from_fn(order, order, |i, j| {
            let (i, j) = (i.max(j) + skip, i.min(j) + skip);
            let ridge = if i == j && i > 0 { lambda.get() } else { 0.0 };
            variance * (moments[(i, j)] - mean[i] * mean[j] / total) + ridge
        });
        if (0..order).any(|j| !matrix[(j, j)].is_finite()) {
            return Err(margins_optim::Error::Overflow.into());
        }
        let factor = matrix.llt(Side::Lower).map_err(|_| Error::Singular(order))?;
        let has_room = !design.is_sparse() || n.saturating_mul(order) <= LARGEST_ORDER.pow(2);
        let inverse = match has_room {
            true => Inverse::of_samples(&factor, design, first),
            false => Inverse::whole(&factor),
        };
        Ok(Metric { factor, inverse, first })
    }

    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut solution = Mat::from_fn(right.len(), 1, |j, _| right[j]);
        self.factor.solve_in_place(&mut solution);
        solution.col_as_slice(0).to_vec()
    }

    pub(super) fn point(&self, design: &Design, beta: &[f64]) -> Point {
        let intercept = if self.first == 1 { beta[0] } else { 0.0 };
        Point::at(design, intercept, beta[self.first..].to_vec())
    }

    /// Returns `b + <w, x_i>`.
    pub(super) fn score(&self, design: &Design, i: usize, beta: &[f64]) -> f64 {
        let intercept = if self.first == 1 { beta[0] } else { 0.0 };
        intercept + design.sample(i).dot(&beta[self.first..])
    }

    /// Sets `beta += factor Q^-1 (1, x_i)`.
    pub(super) fn add(&self, design: &Design, i: usize, factor: f64, beta: &mut [f64]) {
        let mut add = |column: &[f64], factor: f64| {
            beta.iter_mut().zip(column).for_each(|(b, q)| *b += factor * q);
        };
        match &self.inverse {
            Inverse::Samples(solved) => add(solved.col_as_slice(i), factor),
            Inverse::Whole(inverse) => {
                if self.first == 1 {
                    add(inverse.col_as_slice(0), factor);
                }
                design.sample(i).for_each(|column, x| {
                    add(inverse.col_as_slice(column + self.first), factor * x);
                });
            }
        }
    }

    /// Returns `(1, x_i)'Q^-1 (1, x_i)`.
    pub(super) fn diagonal(&self, design: &Design, i: usize) -> f64 {
        let mut column = vec![0.0; design.columns() + self.first];
        self.add(design, i, 1.0, &mut column);
        self.score(design, i, &column)
    }
}

#[cfg(test)]
mod tests {
    use margins_data::Labels;
    use margins_losses::Hinge;

    use super::*;

    /// Steps along sparse samples are the same from solutions and from the inverse.
    #[test]
    fn solutions_and_inverse_agree() {
        let entry = |i: usize, k: usize| (3 * k + i % 3, (1 + i * (k + 1)) as f64 / 7.0);
        let rows: Vec<Vec<_>> = (0..9).map(|i| vec![entry(i, 0), entry(i, 1)]).collect();
        let design = Design::from_sparse_rows(&rows, 6).unwrap();
        let signs = (0..9).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let labels = Labels::from_signs(signs).unwrap();
        let objective = Objective::new(&Hinge, &design, &labels).unwrap();
        let mut metric = Metric::new(1.0, &objective, Lambda::new(0.1).unwrap()).unwrap();
        assert!(matches!(metric.inverse, Inverse::Samples(_)));
        let by_solutions: Vec<f64> = (0..9).map(|i| metric.diagonal(&design, i)).collect();
        metric.inverse = Inverse::whole(&metric.factor);
        for (i, expected) in by_solutions.into_iter().enumerate() {
            assert!((metric.diagonal(&design, i) / expected - 1.0).abs() < 1e-13, "{i}");
        }
    }
}
