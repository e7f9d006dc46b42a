//! Random projections to fewer dimensions that keep margins.

use margins_data::Design;
use nalgebra::DMatrix;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::Error;
use crate::{MarginBound, Problem, SphereSample};

/// A random linear map `x -> A x` to fewer dimensions that keeps margins, the entries of A
/// independent `N(0, 1/m)`. A halfspace `v` learned there is the halfspace `A'v` here, because
/// `<v, A x> = <A'v, x>`.
///
/// A is not stored: every column has a stream of random numbers of its own.
///
/// Source: Johnson and Lindenstrauss (1984); remark B.2 of the [paper](super).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Projection {
    columns: usize,
    dimension: usize,
    seed: u64,
}

impl Projection {
    /// Returns a projection from `columns` features to `dimension` ones.
    ///
    /// # Errors
    /// [`Error::TooFew`]: a number is 0.
    pub fn new(columns: usize, dimension: usize, seed: u64) -> Result<Self, Error> {
        for (what, found) in [("features", columns), ("dimensions of a projection", dimension)] {
            if found == 0 {
                return Err(Error::TooFew { what, needed: 1, found });
            }
        }
        Ok(Projection { columns, dimension, seed })
    }

    /// Returns column `k` of A.
    fn axis(&self, k: usize) -> impl Iterator<Item = f64> + use<> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(k as u64);
        let deviation = (self.dimension as f64).sqrt().recip();
        StandardNormal.sample_iter(random).take(self.dimension).map(move |z: f64| deviation * z)
    }

    /// Returns a dimension that keeps a margin of `gamma/2` on all of n samples with probability
    /// `1 - delta`.
    ///
    /// With `t = gamma/3` an inner product of unit vectors moves by more than t with probability at
    /// most `4 exp(-m (t^2/4 - t^3/6))`, and norms by less than a factor of `1 + t`. The dimension
    /// is `O(log(n/delta)/gamma^2)`, but with a constant near 36: it pays for d in the tens of
    /// thousands, and far fewer dimensions often do.
    pub fn dimension(margin: MarginBound, samples: usize, delta: f64) -> usize {
        let t = margin.get() / 3.0;
        ((4.0 * samples as f64 / delta).ln() / (t * t / 4.0 - t.powi(3) / 6.0)).ceil() as usize
    }

    /// Returns the [`dimension`](Self::dimension) for a problem on a sample, if that makes the
    /// sample smaller, which for a sparse one it seldom does.
    pub fn worthwhile(problem: &Problem, sample: &SphereSample<'_>) -> Option<usize> {
        Self::worthwhile_for(problem, sample.rows(), sample.points().design().stored())
    }

    /// Returns the [`dimension`](Self::dimension) for a problem on samples that store so many values, if
    /// that makes them smaller.
    pub fn worthwhile_for(problem: &Problem, rows: usize, stored: usize) -> Option<usize> {
        let dimension = Self::dimension(problem.margin, rows, problem.target.delta());
        (dimension.saturating_mul(rows) < stored).then_some(dimension)
    }

    /// Returns the number of features projected to.
    pub fn dimensions(&self) -> usize {
        self.dimension
    }

    /// Returns `A x` for every row.
    ///
    /// # Errors
    /// `Shape`: the columns are of another number. `Data`: a product overflows.
    pub fn project(&self, design: &Design) -> Result<Design, Error> {
        /// The number of columns of A in memory at a time.
        const AXES: usize = 256;
        let (m, expected, found) = (self.dimension, self.columns, design.columns());
        if found != expected {
            return Err(Error::Shape { what: "features to project", expected, found });
        }
        let mut projected = vec![0.0; m * design.rows()];
        for first in (0..expected).step_by(AXES) {
            let block = first..expected.min(first + AXES);
            let axes: Vec<f64> = block.clone().flat_map(|k| self.axis(k)).collect();
            for (out, sample) in projected.chunks_exact_mut(m).zip(design.samples()) {
                sample.for_each(|column, x| {
                    if block.contains(&column) {
                        let axis = &axes[(column - first) * m..][..m];
                        out.iter_mut().zip(axis).for_each(|(o, a)| *o += x * a);
                    }
                });
            }
        }
        Ok(Design::from_samples(DMatrix::from_vec(m, design.rows(), projected))?)
    }

    /// Returns `A'v`.
    ///
    /// # Panics
    /// The method panics if `v` is not of the dimension projected to.
    pub fn pull_back(&self, v: &[f64]) -> Vec<f64> {
        assert_eq!(v.len(), self.dimension, "coefficients of a projected halfspace");
        let product = |k| self.axis(k).zip(v).map(|(a, v)| a * v).sum();
        (0..self.columns).map(product).collect()
    }
}
