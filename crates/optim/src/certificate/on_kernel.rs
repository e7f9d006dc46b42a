//! Certificates of several classes in one problem over the functions of the space of a kernel.

use crate::problem::summation::UNIT;
use crate::space::joint::JointSamples;
use crate::space::{Duals, Scores};
use crate::{Certificate, Lambda};

/// Functions `f_c = sum_i a_ic k(x_i, .)` whose margins are set, with duals.
pub(crate) struct OnKernel<'a> {
    pub(crate) lambda: Lambda,
    /// The roots of the diagonal of the kernel matrix.
    pub(crate) norms: &'a [f64],
    /// The coefficients of the samples, a list a class.
    pub(crate) coefs: &'a [&'a [f64]],
    pub(crate) intercepts: &'a [f64],
    /// The risk and the penalty.
    pub(crate) objective: f64,
    /// Feasible duals but for rounding, with the sums of their pulls, one a class; none without intercepts.
    pub(crate) duals: &'a Vec<f64>,
    pub(crate) totals: &'a [f64],
    /// The square of the norm of f less the functions of the duals, the sum over the classes.
    pub(crate) apart: f64,
}

impl OnKernel<'_> {
    /// Returns the certificate: the gap is the Fenchel-Young sum of the duals and `lambda apart`.
    ///
    /// With S the norm of a function if nothing cancels, rounding moves its value at sample i by at most
    /// `e S sqrt(K_ii)` (Higham and Mary 2019).
    pub(crate) fn certificate(&self, samples: &mut JointSamples<'_>) -> Certificate {
        let sums = samples.sums();
        let lambda = self.lambda.get();
        let unit = 4.0 * UNIT * (self.norms.len() as f64).sqrt();
        let size_of = |coefs: &&[f64]| -> f64 {
            coefs.iter().zip(self.norms).map(|(a, norm)| a.abs() * norm).sum()
        };
        let sizes: Vec<f64> = self.coefs.iter().map(size_of).collect();
        let of_penalty = lambda * unit * sizes.iter().map(|s| s * s).sum::<f64>();
        let of_scores = 2.0 * unit * largest(&sizes) * largest(self.norms);
        let rounding = sums.rounding(self.objective, of_scores) + of_penalty;
        let size = self.intercepts.iter().map(|b| b.abs()).fold(1.0, f64::max).max(sums.largest);
        let imbalance: f64 = self.totals.iter().map(|total| total.abs()).sum();
        let rest = lambda * self.apart + imbalance * size + of_penalty;
        samples.fenchel_young(self.duals).certificate(self.objective, rounding, rest)
    }
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(0.0, f64::max)
}
