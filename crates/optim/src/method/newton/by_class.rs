//! A preconditioner for several classes in one problem: of H, the block of every class.

use nalgebra::DMatrix;

use crate::method::factor::{cholesky, solve_factored};

/// The inverse of the blocks of `H` that belong to one class each, among directions that add up to 0 over
/// the classes, and the exact inverse of H, one over the ridge, along coefficients that all classes
/// share.
///
/// The second derivatives in the scores of a sample are a Laplacian matrix over the classes: H has no
/// curvature along what all classes share, which the blocks alone do not know. With directions kept apart
/// from it, conjugate gradients need a fifth of the steps that they take with the diagonal, for the blocks
/// alone half of them.
pub(super) struct ClassInverse {
    /// The Cholesky factors of the blocks, each with the intercept first.
    factors: Vec<DMatrix<f64>>,
    ridge: f64,
    has_intercepts: bool,
}

impl ClassInverse {
    /// Returns the inverse for the lower triangles of `Z' D_c Z`, `Z = [1 X]`, of k classes one after another,
    /// column after column; `None` if a block is not numerically definite.
    pub(super) fn new(
        grams: &[f64],
        (classes, features): (usize, usize),
        has_intercepts: bool,
        ridge: f64,
    ) -> Option<Self> {
        /// The share of a diagonal entry that is added to it, for blocks that few samples make up.
        const SHARE: f64 = 1e-10;
        /// The share of the mean curvature that the intercept of a class has at least.
        const LEAST: f64 = 1e-6;
        let q = features + 1;
        let each = q * (q + 1) / 2;
        let mean = grams.iter().step_by(each).sum::<f64>() / classes as f64;
        let mut factors = Vec::with_capacity(classes);
        for of_class in grams.chunks_exact(each) {
            let mut block = DMatrix::zeros(q, q);
            let mut entries = of_class.iter();
            for (j, mut column) in block.column_iter_mut().enumerate() {
                column.iter_mut().skip(j).zip(&mut entries).for_each(|(entry, x)| *entry = *x);
                column[j] += SHARE * column[j] + if j > 0 { ridge } else { LEAST * mean };
            }
            if !has_intercepts {
                block.column_mut(0).fill(0.0);
                block[(0, 0)] = 1.0;
            }
            if !cholesky(&mut block) {
                return None;
            }
            factors.push(block);
        }
        Some(ClassInverse { factors, ridge, has_intercepts })
    }

    /// Returns the inverse times a right side: an entry that does not count, the coefficients of one class after
    /// another, and the intercepts of all but the last, whose own is 0.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let k = self.factors.len();
        let q = self.factors.first().map_or(1, DMatrix::nrows);
        let (coef, intercepts) = right[1..].split_at(k * (q - 1));
        let mut sides = vec![0.0; k * q];
        for (side, w) in sides.chunks_exact_mut(q).zip(coef.chunks_exact(q - 1)) {
            side[1..].copy_from_slice(w);
        }
        if self.has_intercepts {
            // Derivatives in all intercepts add up to 0.
            let last = -intercepts.iter().sum::<f64>();
            let of_classes = intercepts.iter().copied().chain([last]);
            sides.chunks_exact_mut(q).zip(of_classes).for_each(|(side, b)| side[0] = b);
        }
        let shared = take_mean(&mut sides, q);
        for (factor, side) in self.factors.iter().zip(sides.chunks_exact_mut(q)) {
            solve_factored(factor, side);
        }
        take_mean(&mut sides, q);
        let last = sides[(k - 1) * q];
        let mut out = Vec::with_capacity(right.len());
        out.push(0.0);
        for side in sides.chunks_exact(q) {
            out.extend(side[1..].iter().zip(&shared[1..]).map(|(x, mean)| x + mean / self.ridge));
        }
        if self.has_intercepts {
            out.extend(sides.chunks_exact(q).take(k - 1).map(|side| side[0] - last));
        }
        out
    }
}

/// Subtracts from vectors of length q, one after another, their mean, and returns it.
fn take_mean(vectors: &mut [f64], q: usize) -> Vec<f64> {
    let count = (vectors.len() / q) as f64;
    let mut mean = vec![0.0; q];
    for vector in vectors.chunks_exact(q) {
        mean.iter_mut().zip(vector).for_each(|(mean, x)| *mean += x / count);
    }
    for vector in vectors.chunks_exact_mut(q) {
        vector.iter_mut().zip(&mean).for_each(|(x, mean)| *x -= mean);
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::summation::dot;

    /// The preconditioner is symmetric and positive, and inverts H where the classes do not interact but for
    /// what they share: `H = (I - 11'/k) x G + ridge` with free intercepts.
    #[test]
    fn it_inverts_classes_with_one_gram_matrix() {
        let (k, p, ridge) = (4, 3, 0.1);
        let z = |i: usize, j: usize| if j == 0 { 1.0 } else { ((i * 7 + j * 5) as f64).sin() };
        let gram = DMatrix::from_fn(p + 1, p + 1, |i, j| {
            (0..9).map(|row| z(row, i) * z(row, j)).sum::<f64>()
        });
        let triangle: Vec<f64> =
            (0..=p).flat_map(|j| (j..=p).map(move |i| (i, j))).map(|at| gram[at]).collect();
        let inverse =
            ClassInverse::new(&triangle.repeat(k), (k, p), true, ridge).expect("definite");
        let size = 1 + k * p + k - 1;
        let side = |at: usize| -> Vec<f64> {
            (0..size).map(|i| if i == 0 { 0.0 } else { ((i * at) as f64).cos() }).collect()
        };
        let (a, b) = (side(1), side(2));
        let (of_a, of_b) = (inverse.solve(&a), inverse.solve(&b));
        assert!((dot(&a, &of_b) - dot(&b, &of_a)).abs() <= 1e-9);
        assert!(dot(&a, &of_a) > 0.0);
        // H x for the solution x, from the definition.
        let entry = |x: &[f64], class: usize, j: usize| match j {
            0 if class == k - 1 => 0.0,
            0 => x[1 + k * p + class],
            j => x[1 + class * p + j - 1],
        };
        let product = |x: &[f64], class: usize, i: usize| -> f64 {
            let of = |c: usize| (0..=p).map(|j| gram[(i, j)] * entry(x, c, j)).sum::<f64>();
            let mean = (0..k).map(of).sum::<f64>() / k as f64;
            of(class) - mean + if i == 0 { 0.0 } else { ridge * entry(x, class, i) }
        };
        for class in 0..k {
            for j in 0..=p {
                if j == 0 && class == k - 1 {
                    continue;
                }
                let (found, wanted) = (product(&of_a, class, j), entry(&a, class, j));
                assert!((found - wanted).abs() <= 1e-4 * (1.0 + wanted.abs()), "{class} {j}");
            }
        }
    }
}
