//! Norms in the function space of a kernel: of the samples, and of functions
//! `sum_i a_i k(x_i, .)`.

use margins_losses::MarginLoss;
use margins_optim::Lambda;
use margins_optim::problem::Margins;
use margins_optim::problem::summation::dot;

/// The norms `sqrt(K_ii)` of the samples.
#[derive(Debug, Clone)]
pub(crate) struct SampleNorms {
    norms: Vec<f64>,
    largest: f64,
}

impl SampleNorms {
    pub(crate) fn new(diagonal: impl IntoIterator<Item = f64>) -> Self {
        SampleNorms::of_norms(diagonal.into_iter().map(|k| k.max(0.0).sqrt()).collect())
    }

    fn of_norms(norms: Vec<f64>) -> Self {
        let largest = norms.iter().copied().fold(0.0, f64::max);
        SampleNorms { norms, largest }
    }

    pub(crate) fn select(&self, samples: &[usize]) -> Self {
        SampleNorms::of_norms(samples.iter().map(|&i| self.norms[i]).collect())
    }

    pub(crate) fn largest(&self) -> f64 {
        self.largest
    }

    /// Returns `sum_i |a_i| sqrt(K_ii)`, the norm that a function would have at most, if nothing
    /// cancelled.
    pub(crate) fn sum_of_sizes(&self, a: &[f64]) -> f64 {
        a.iter().zip(&self.norms).map(|(a, norm)| a.abs() * norm).sum()
    }

    /// Returns the root of `r'Kr`, given `Kr`, or more by what rounding may have taken from it;
    /// infinite where the square has underflowed.
    pub(crate) fn norm_of(&self, r: &[f64], image: &[f64]) -> f64 {
        match self.largest_square(r) {
            Some(largest) => (dot(r, image).max(0.0) + f64::EPSILON * largest).sqrt(),
            None => f64::INFINITY,
        }
    }

    /// Returns the most that `r'Kr` can be; `None` where it underflows.
    pub(crate) fn largest_square(&self, r: &[f64]) -> Option<f64> {
        let is_zero = self.largest == 0.0 || r.iter().all(|&r| r == 0.0);
        let largest = self.sum_of_sizes(r).powi(2);
        let underflows = !is_zero && largest < f64::MIN_POSITIVE / f64::EPSILON;
        (!underflows).then_some(largest)
    }

    /// Returns e such that the rounding of the products `f = K a` is at most `e sqrt(K_ii)`.
    ///
    /// With `S = sum_j |a_j| sqrt(K_jj)`, the sizes of the terms of `f_i` sum to at most
    /// `sqrt(K_ii) S`. The rounding error of a sum of n terms stays below `4 sqrt(n) u` times that
    /// with a probability next to one (Higham and Mary, *A new approach to probabilistic rounding
    /// error analysis*, SIAM J. Sci. Comput. 41, 2019).
    pub(crate) fn product_error(&self, coef: &[f64]) -> f64 {
        const FACTOR: f64 = 4.0;
        let unit = 0.5 * f64::EPSILON * FACTOR * (coef.len() as f64).sqrt();
        unit * self.sum_of_sizes(coef)
    }

    /// Returns how far the rounding of the products `f = K a`, to which the margins are set, can
    /// have moved F: the risk, and the penalty `lambda a'f`.
    pub(crate) fn product_rounding<L: MarginLoss + ?Sized>(
        &self,
        margins: &mut Margins<'_, L>,
        lambda: Lambda,
        coef: &[f64],
    ) -> f64 {
        let error = self.product_error(coef);
        let risk = margins.change_within(|i| error * self.norms[i]);
        risk + lambda.get() * self.sum_of_sizes(coef) * error
    }

    pub(crate) fn norm(&self, i: usize) -> f64 {
        self.norms[i]
    }
}
