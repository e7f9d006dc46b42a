//! Nystrom features from landmarks.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt_pivoting;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Mat, MatMut, MatRef, Par};
use margins_data::Design;
use margins_kernel_functions::{Error as KernelError, Kernel, diagonal, fill_strips};
use margins_optim::products::weighted_gram;
use nalgebra::DMatrix;
use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use crate::room::matrices;
use crate::{Error, Gram};

/// The distribution from which the landmarks of Nystrom features are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LandmarkSampling {
    /// One probability for every sample.
    Uniform,
    /// Probabilities in proportion to the ridge leverage scores at a ridge of `n lambda`, estimated
    /// from a uniform draw of as many landmarks: samples that others do not explain are preferred.
    ///
    /// Source: Alaoui and Mahoney, *Fast randomized kernel ridge regression with statistical
    /// guarantees* (2015), definition 1 and its approximation by a column sample.
    Leverage {
        /// The regularisation that the features are meant for.
        lambda: f64,
    },
}

/// Nystrom features: `phi(x) = L^(-1) k_m(x)` for the Cholesky factor `K_mm = L L'` of the kernel
/// matrix of m landmarks, so that `phi(x)'phi(z)` is the kernel projected on the landmarks, and
/// exact between these. Landmarks whose kernel sections are combinations of those of others, up to
/// rounding, are left out.
///
/// Source: Williams and Seeger, *Using the Nystrom method to speed up kernel machines* (2001);
/// landmarks are ordered by Cholesky with the largest remaining diagonal entry as pivot.
#[derive(Debug, Clone, PartialEq)]
pub struct NystromMap {
    landmarks: Design,
    /// The factor `L`, of the order of the landmarks.
    factor: Mat<f64>,
}

/// Returns m different rows of n, all of them if m is no less.
fn draw(random: &mut ChaCha8Rng, n: usize, m: usize) -> Vec<usize> {
    index::sample(random, n, m.min(n)).into_vec()
}

impl NystromMap {
    /// Makes the map of m landmarks among the samples, drawn without replacement from the seed; all
    /// samples if m is no less than their number.
    ///
    /// # Errors
    /// No landmarks; kernel values that are not finite.
    pub fn new(
        kernel: &dyn Kernel,
        design: &Design,
        m: usize,
        landmarks: LandmarkSampling,
        seed: u64,
    ) -> Result<Self, Error> {
        if m == 0 {
            return Err(KernelError::TooFewFeatures { least: 1, found: 0 }.into());
        }
        let n = design.rows();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let uniform = draw(&mut random, n, m);
        let map = Self::on(kernel, &design.select(&uniform))?;
        match landmarks {
            LandmarkSampling::Leverage { lambda } if m < n => {
                let scores = map.leverage_scores(kernel, design, lambda)?;
                let chosen = index::sample_weighted(&mut random, n, |i| scores[i], m)
                    .map_or(uniform, index::IndexVec::into_vec);
                Self::on(kernel, &design.select(&chosen))
            }
            _ => Ok(map),
        }
    }

    /// Returns the rows, of n, that [`new`](Self::new) draws uniformly for m landmarks, for samples
    /// that are not all in memory.
    pub fn rows(n: usize, m: usize, seed: u64) -> Vec<usize> {
        draw(&mut ChaCha8Rng::seed_from_u64(seed), n, m)
    }

    /// Makes the map of given landmarks.
    ///
    /// # Errors
    /// Kernel values that are not finite; a kernel matrix with a negative diagonal entry; more
    /// landmarks than there is memory for.
    pub fn on(kernel: &dyn Kernel, landmarks: &Design) -> Result<Self, Error> {
        // The matrix, its factor while rows are exchanged, and the rows that are kept.
        const MATRICES: usize = 3;
        let what = "the map of landmarks";
        let m = landmarks.rows();
        Error::check_room(matrices(MATRICES, m), m, what, "take fewer landmarks")?;
        let gram = Gram::new(kernel, landmarks)?;
        let (m, matrix) = (gram.len(), gram.held_for("a map of landmarks")?);
        let mut factor = MatRef::from_column_major_slice(matrix.as_slice(), m, m).to_owned();
        if matrix.diagonal().amax() == 0.0 {
            // The kernel is zero at all of them; one landmark keeps the map whole, and maps to 0.
            let (landmarks, factor) = (landmarks.select(&[0]), Mat::identity(1, 1));
            return Ok(NystromMap { landmarks, factor });
        }
        let (mut order, mut inverse) = (vec![0usize; m], vec![0usize; m]);
        let scratch = llt_pivoting::factor::cholesky_in_place_scratch::<usize, f64>;
        let mut memory = MemBuffer::new(scratch(m, Par::Seq, Default::default()));
        let rank = llt_pivoting::factor::cholesky_in_place(
            factor.as_mut(),
            &mut order,
            &mut inverse,
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        )
        .map_err(|_| Error::Indefinite)?
        .0
        .rank;
        let landmarks = landmarks.select(&order[..rank]);
        let factor = factor.as_ref().submatrix(0, 0, rank, rank).to_owned();
        Ok(NystromMap { landmarks, factor })
    }

    /// Makes the map of landmarks of their [factor](Self::factor).
    ///
    /// # Errors
    /// [`Error::Shape`]: the factor has not as many entries as pairs of landmarks.
    /// [`Error::Indefinite`]: it is not lower triangular with a positive diagonal and finite entries.
    pub fn from_factor(landmarks: Design, factor: &[f64]) -> Result<Self, Error> {
        let (m, found) = (landmarks.rows(), factor.len());
        if m.checked_mul(m) != Some(found) {
            let expected = m.saturating_mul(m);
            return Err(Error::Shape { what: "factor of landmarks", expected, found });
        }
        let factor = MatRef::from_column_major_slice(factor, m, m).to_owned();
        let lower = |j: usize| {
            let column = factor.col(j);
            (0..m).all(|i| column[i].is_finite() && (i >= j || column[i] == 0.0)) && column[j] > 0.0
        };
        if !(0..m).all(lower) {
            return Err(Error::Indefinite);
        }
        Ok(NystromMap { landmarks, factor })
    }

    /// Returns the Cholesky factor of the kernel matrix of the landmarks, lower triangular, column after
    /// column.
    pub fn factor(&self) -> Vec<f64> {
        let m = self.features();
        let entry = |at: usize| {
            let (i, j) = (at % m, at / m);
            if i >= j { self.factor[(i, j)] } else { 0.0 }
        };
        (0..m * m).map(entry).collect()
    }

    /// Returns the number of features, that of the landmarks.
    pub fn features(&self) -> usize {
        self.factor.nrows()
    }

    /// Returns the landmarks, none of them a combination of the others.
    pub fn landmarks(&self) -> &Design {
        &self.landmarks
    }

    /// Returns the coefficients `a = L'^(-1) w` of kernel sections at the landmarks, `f(x) = b +
    /// sum_j a_j k(z_j, x)`, of a linear classifier on the features.
    ///
    /// # Panics
    /// If there is not one coefficient per feature.
    pub fn kernel_coefficients(&self, coef: &[f64]) -> Vec<f64> {
        assert_eq!(coef.len(), self.features(), "one coefficient per feature");
        let mut out = coef.to_vec();
        let right = MatMut::from_column_major_slice_mut(&mut out, coef.len(), 1);
        solve_upper_triangular_in_place(self.factor.transpose(), right, Par::Seq);
        out
    }

    /// Returns the features of all samples, in blocks, [in parallel](margins_data::parallel).
    ///
    /// # Errors
    /// Another number of features than the landmarks have; kernel values that are not finite.
    pub fn transform(&self, kernel: &dyn Kernel, design: &Design) -> Result<Design, Error> {
        let m = self.features();
        Design::check_room(design.rows(), m)?;
        let mut samples = DMatrix::zeros(m, design.rows());
        let out = samples.as_mut_slice();
        fill_strips(kernel, &self.landmarks, design, out, |values| {
            let count = values.len() / m;
            let strip = MatMut::from_column_major_slice_mut(values, m, count);
            solve_lower_triangular_in_place(self.factor.as_ref(), strip, Par::Seq);
        })?;
        Ok(Design::from_samples(samples)?)
    }

    /// Returns `phi_i'(Phi'Phi + n lambda I)^(-1) phi_i + (k_ii - phi_i'phi_i)/(n lambda)`: what
    /// the landmarks do not explain of a sample counts as if no other sample explained it either.
    fn leverage_scores(
        &self,
        kernel: &dyn Kernel,
        design: &Design,
        lambda: f64,
    ) -> Result<Vec<f64>, Error> {
        let features = self.transform(kernel, design)?;
        let (n, width) = (features.rows(), features.columns());
        // The inner products, their ridge and its factor; the features again, solved.
        features.check_fits(1, 1, 3)?;
        let mut gram = DMatrix::zeros(width + 1, width + 1);
        weighted_gram(&features, &vec![1.0; n], &mut gram);
        let mut ridge = gram.view((1, 1), (width, width)).clone_owned();
        ridge.fill_upper_triangle_with_lower_triangle();
        for k in 0..width {
            ridge[(k, k)] += n as f64 * lambda;
        }
        let Some(factor) = ridge.cholesky() else { return Ok(vec![1.0; n]) };
        let samples = features.dense_samples().unwrap_or_default();
        let mut columns = DMatrix::from_column_slice(width, n, samples);
        factor.l_dirty().solve_lower_triangular_mut(&mut columns);
        let explained = features.samples().map(|phi| phi.squared_norm());
        let diagonal = diagonal(kernel, design)?;
        Ok((columns.column_iter().zip(explained).zip(diagonal))
            .map(|((x, explained), k)| {
                x.norm_squared() + (k - explained).max(0.0) / (n as f64 * lambda)
            })
            .collect())
    }
}
