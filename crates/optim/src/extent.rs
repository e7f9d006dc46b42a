use margins_data::Design;

use crate::point::{Point, dot};
use crate::summation::UNIT;

/// How large samples and features are, which the rounding of products with them depends on.
#[derive(Debug)]
pub(crate) struct Extent {
    /// Largest norm of a sample, R.
    pub(crate) radius: f64,
    /// Largest size `m_j` of a value of feature j.
    columns: Vec<f64>,
    /// Number of samples.
    samples: usize,
    /// Most stored features of a sample.
    longest: usize,
}

impl Extent {
    pub(crate) fn of(design: &Design) -> Self {
        let mut columns = vec![0.0f64; design.columns()];
        let (mut square, mut longest) = (0.0f64, 0);
        for sample in design.samples() {
            let mut stored = 0;
            sample.for_each(|column, x| {
                columns[column] = columns[column].max(x.abs());
                stored += 1;
            });
            longest = longest.max(stored);
            square = square.max(sample.squared_norm());
        }
        Extent { radius: square.sqrt(), columns, samples: design.rows(), longest }
    }

    /// Returns the ratio between the largest and the least size of a feature that is not zero throughout.
    pub(crate) fn range(&self) -> f64 {
        let sizes = || self.columns.iter().copied().filter(|&m| m > 0.0);
        sizes().fold(0.0, f64::max) / sizes().fold(f64::INFINITY, f64::min)
    }

    /// Returns how far the scores of a point can be off: `u (k + 8) A` with the unit roundoff `u`, the k additions
    /// that a product of a sample with the coefficients takes, and a bound on the sum of the sizes of its terms,
    /// `A = min(sum_j m_j |w_j|, R ||w||)`; and some units more of the size of the scores for the steps by which they
    /// were updated.
    pub(crate) fn score_error(&self, point: &Point, margins: &[f64]) -> f64 {
        const UPDATES: f64 = 64.0;
        let absolute: f64 = self.columns.iter().zip(&point.coef).map(|(m, w)| m * w.abs()).sum();
        let terms = absolute.min(self.radius * dot(&point.coef, &point.coef).sqrt());
        // Sparse products run in four lanes, dense ones in eight.
        let additions = self.longest as f64 / 4.0 + 8.0;
        let size = margins.iter().fold(0.0f64, |size, u| size.max(u.abs()));
        UNIT * (additions * terms + UPDATES * size)
    }

    /// Returns how far `(1/n) sum c_i s_i y_i x_i` can be off in norm, if the sizes `c_i |s_i| / n` sum to `total`.
    ///
    /// Rounding errors of sums of n terms grow like the root of n, but for a few odd cases: `4 sqrt(n) u` times the sum
    /// of the sizes holds with a probability next to one (Higham and Mary, *A new approach to probabilistic rounding
    /// error analysis*, SIAM J. Sci. Comput. 41, 2019).
    pub(crate) fn pull_error(&self, total: f64) -> f64 {
        const FACTOR: f64 = 4.0;
        FACTOR * (self.samples as f64).sqrt() * UNIT * self.radius * total
    }

    /// Returns how far the same sum can be off in norm if it is computed in twice the working precision.
    pub(crate) fn accurate_pull_error(&self, total: f64) -> f64 {
        2.0 * (self.samples as f64 * UNIT).powi(2) * self.radius * total
    }
}
