//! Duals that are probabilities of the classes, for losses whose conjugate lives on the simplex.

use margins_data::parallel;
use nalgebra::DMatrix;

use crate::problem::summation::sum;
use crate::problem::{ROWS, Rivals, Weights, laplacian, weighted};
use crate::products::sum_of_outer_products;

/// Samples whose duals are numbers `p` of the k classes, at least 0 and with the sum 1: the dual of a rival c
/// is `s_c = p_c`, and `p_y` is what is left to the class of the sample.
///
/// Second derivatives are given by numbers q of the classes: the edge between a and b has the weight
/// `c_i q_a q_b`.
pub(super) struct Simplex<'r> {
    pub(super) weights: &'r Weights,
    pub(super) rivals: &'r Rivals<'r>,
}

impl Simplex<'_> {
    /// Calls a function with the number of every sample, its class and its numbers of the classes.
    fn for_each(&self, numbers: &[f64], mut visit: impl FnMut(usize, usize, &[f64])) {
        let of_samples = numbers.chunks_exact(self.rivals.count());
        let samples = self.rivals.classes().zip(of_samples).enumerate();
        samples.for_each(|(i, (class, p))| visit(i, class, p));
    }

    /// Makes probabilities those proportional to themselves times the exponentials of changes of the scores.
    pub(super) fn tilt(&self, probabilities: &mut [f64], changes: &[f64]) {
        let k = self.rivals.count();
        parallel::for_each_chunk(probabilities, ROWS * k, |part, probabilities| {
            let changes = changes[part * ROWS * k..].chunks_exact(k);
            for (p, changes) in probabilities.chunks_exact_mut(k).zip(changes) {
                let counted = p.iter().zip(changes).filter(|(p, _)| **p > 0.0);
                let largest = counted.map(|(_, d)| *d).fold(f64::NEG_INFINITY, f64::max);
                p.iter_mut().zip(changes).for_each(|(p, d)| {
                    *p *= if *p > 0.0 { (d - largest).exp() } else { 0.0 };
                });
                let total: f64 = p.iter().sum();
                p.iter_mut().for_each(|p| *p /= total);
            }
        });
    }

    /// Writes the derivatives in the scores, `c_i (p_c - 1)` for the class of a sample and `c_i p_c` for
    /// others, times a sign.
    pub(super) fn write_pulls(&self, probabilities: &[f64], sign: f64, out: &mut [f64]) {
        let k = self.rivals.count();
        parallel::for_each_chunk(out, ROWS * k, |part, out| {
            for (i, out) in (part * ROWS..).zip(out.chunks_exact_mut(k)) {
                self.write_pulls_of(i, &probabilities[i * k..(i + 1) * k], out);
                out.iter_mut().for_each(|pull| *pull *= -sign);
            }
        });
    }

    /// Writes what [`write_pulls`](Self::write_pulls) writes of one sample, with the sign of the duals.
    pub(super) fn write_pulls_of(&self, i: usize, p: &[f64], out: &mut [f64]) {
        let class = self.rivals.class(i);
        let mut others = 0.0;
        for c in self.rivals.of(class) {
            others += p[c];
            out[c] = -weighted(self.weights.get(i), p[c]);
        }
        out[class] = weighted(self.weights.get(i), others);
    }

    /// Replaces changes of the scores by the changes of the derivatives, before weights.
    pub(super) fn bend_one(q: &[f64], changes: &mut [f64]) {
        let total: f64 = q.iter().sum();
        let of_changes: f64 = q.iter().zip(&*changes).map(|(q, d)| q * d).sum();
        changes.iter_mut().zip(q).for_each(|(d, q)| *d = q * (total * *d - of_changes));
    }

    /// Replaces changes of the scores by the changes of the derivatives.
    pub(super) fn bend(&self, curvatures: &[f64], changes: &mut [f64]) {
        let k = self.rivals.count();
        parallel::for_each_chunk(changes, ROWS * k, |part, changes| {
            for (i, changes) in (part * ROWS..).zip(changes.chunks_exact_mut(k)) {
                Self::bend_one(&curvatures[i * k..(i + 1) * k], changes);
                let c = self.weights.get(i);
                changes.iter_mut().for_each(|d| *d = weighted(c, *d));
            }
        });
    }

    /// Writes the weight of the edge between two classes, one number a sample.
    pub(super) fn edge(&self, curvatures: &[f64], a: usize, b: usize, out: &mut [f64]) {
        self.for_each(curvatures, |i, _, q| out[i] = weighted(self.weights.get(i), q[a] * q[b]));
    }

    /// Writes the diagonals of the second derivatives.
    pub(super) fn diagonal(&self, curvatures: &[f64], out: &mut [f64]) {
        let k = self.rivals.count();
        self.for_each(curvatures, |i, _, q| {
            let (c, total) = (self.weights.get(i), q.iter().sum::<f64>());
            let out = &mut out[i * k..(i + 1) * k];
            out.iter_mut().zip(q).for_each(|(d, q)| *d = weighted(c, q * (total - q)));
        });
    }

    /// Returns the sum of the second derivatives, each times a number of the sample.
    pub(super) fn laplacian(&self, curvatures: &[f64], of_samples: &[f64]) -> DMatrix<f64> {
        let k = self.rivals.count();
        let parts = parallel::map(0..self.rivals.samples().div_ceil(ROWS), |part| {
            let rows = part * ROWS..((part + 1) * ROWS).min(self.rivals.samples());
            let (mut scaled, mut plain) = (Vec::new(), Vec::new());
            for i in rows.filter(|&i| self.weights.get(i) > 0.0) {
                let (q, half) = (&curvatures[i * k..(i + 1) * k], 0.5 * self.weights.get(i));
                scaled.extend(q.iter().map(|q| half * of_samples[i] * q));
                plain.extend_from_slice(q);
            }
            sum_of_outer_products(&scaled, &plain, k)
        });
        laplacian(&parts.into_iter().fold(DMatrix::zeros(k, k), |sum, part| sum + part))
    }

    /// Returns the sum of the duals of the rivals.
    pub(super) fn total_dual(&self, probabilities: &[f64]) -> f64 {
        let k = self.rivals.count();
        let [total] = sum(self.rivals.samples(), &|i| {
            let others = self.rivals.of(self.rivals.class(i)).map(|c| probabilities[i * k + c]);
            [weighted(self.weights.get(i), others.sum())]
        });
        total
    }
}

/// Takes numbers to the nearest ones that are at least 0 and have the sum 1 (Michelot, *A finite algorithm
/// for finding the projection of a point onto the canonical simplex*, J. Optim. Theory Appl. 50, 1986).
pub(super) fn project(numbers: &mut [f64]) {
    // Differences to the largest number keep their digits where all are large.
    let largest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    numbers.iter_mut().for_each(|x| *x -= largest);
    let (mut threshold, mut counted) = (f64::NEG_INFINITY, numbers.len() + 1);
    loop {
        let above = || numbers.iter().filter(|x| **x > threshold);
        let count = above().count();
        if count >= counted || count == 0 {
            break;
        }
        let total: f64 = above().sum();
        (threshold, counted) = ((total - 1.0) / count as f64, count);
    }
    numbers.iter_mut().for_each(|x| *x = (*x - threshold).max(0.0));
}

#[cfg(test)]
mod tests {
    use super::project;
    use proptest::prelude::*;

    proptest! {
        /// The projection is in the simplex, and no other point of it makes an acute angle with the way there.
        #[test]
        fn projections_are_nearest(
            given in proptest::collection::vec(-3.0..3.0f64, 2..8),
            other in proptest::collection::vec(0.0..1.0f64, 8),
            scale in prop_oneof![Just(1e-3), Just(1.0), Just(1e8)],
        ) {
            let given: Vec<f64> = given.iter().map(|x| scale * x).collect();
            let mut nearest = given.clone();
            project(&mut nearest);
            prop_assert!(nearest.iter().all(|p| *p >= 0.0));
            prop_assert!((nearest.iter().sum::<f64>() - 1.0).abs() <= 1e-14 * nearest.len() as f64);
            let other = &other[..given.len()];
            let total: f64 = other.iter().sum::<f64>().max(1e-300);
            let product: f64 = (0..given.len())
                .map(|c| (given[c] - nearest[c]) * (other[c] / total - nearest[c]))
                .sum();
            prop_assert!(product <= 1e-12 * (1.0 + scale), "{product}");
        }
    }
}
