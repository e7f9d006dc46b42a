//! Predictions of the processor seconds of the operations that solvers consist of, by measurements on
//! one core of a machine with AVX-512. Each runs on one thread.

#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) n: f64,
    pub(crate) p: f64,
    pub(crate) stored: f64,
    pub(crate) is_sparse: bool,
}

/// A multiplication with an addition inside of a product of matrices.
const MULTIPLIED: f64 = 0.03e-9;

impl Shape {
    /// Returns the seconds of a product of the table or its transpose with a vector.
    pub(crate) fn product(self) -> f64 {
        const SPARSE: f64 = 1.2e-9;
        const DENSE: f64 = 0.4e-9;
        self.stored * if self.is_sparse { SPARSE } else { DENSE }
    }

    pub(crate) fn feature_gram(self) -> f64 {
        /// A pair of stored values of a sample, and an entry of the matrix.
        const PAIR: f64 = 1.5e-9;
        const ENTRY: f64 = 1e-9;
        if self.is_sparse {
            0.5 * self.stored * self.stored / self.n * PAIR + self.p * self.p * ENTRY
        } else {
            0.5 * self.n * self.p * self.p * MULTIPLIED
        }
    }

    pub(crate) fn sample_gram(self) -> f64 {
        /// A pair of samples, for each value of one of them.
        const GATHERED: f64 = 1e-9;
        if self.is_sparse {
            0.5 * self.n * self.stored * GATHERED
        } else {
            0.5 * self.n * self.n * self.p * MULTIPLIED
        }
    }

    /// Returns the seconds of a step of every dual, for each of the two products that it goes with.
    pub(crate) fn dual_steps(self) -> f64 {
        75e-9 * self.n
    }

    /// Returns the seconds of the derivatives of the loss at all samples in a step.
    pub(crate) fn derivatives(self) -> f64 {
        60e-9 * self.n
    }
}

pub(crate) fn cholesky(order: f64) -> f64 {
    0.012e-9 * order.powi(3)
}

/// Returns the seconds of the triangular form of samples by reflections.
pub(crate) fn reflections(n: f64, p: f64) -> f64 {
    1.2e-9 * n * n.min(p) * p
}

pub(crate) fn eigendecomposition(order: f64) -> f64 {
    50e-9 * order.powi(2) + 0.1e-9 * order.powi(3)
}
