//! The response of scores to a force on them, on which leave-one-out and the refits of folds rest.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, Par, Side};
use margins_data::parallel;
use margins_losses::MarginLoss;
use margins_optim::Lambda;
use margins_optim::problem::Point;
use margins_optim::problem::summation::dot;
use nalgebra::DMatrix;

use crate::rkhs_norm::SampleNorms;
use crate::{Error, KernelObjective, symmetric};

/// The number of columns of V that are computed together. It is fixed, so that results do not
/// depend on the number of threads.
const COLUMNS: usize = 64;

/// The response of the scores of a fit to a force on them: the minimum of the quadratic model of F
/// moves by `df = -V r` when r is added to its derivative in the scores. With `C = K_AA + 2 lambda
/// D_A^(-1)` over the samples with curvature, `V = V_0 + q q'/s`, `V_0 = (K - K_A C^(-1) K_A')/(2
/// lambda)`; the second part, `q = 1 - V_0 D 1`, `s = 1'D 1 - 1'D V_0 D 1`, is that of the
/// intercept, which itself moves by `-q'r/s`.
pub(crate) struct Response {
    /// The curvatures `D`.
    pub(crate) curvatures: Vec<f64>,
    /// The gradient `c_i y_i L'(u_i)/n`.
    pub(crate) gradient: Vec<f64>,
    /// The ridge `2 lambda`.
    pub(crate) ridge: f64,
    pub(crate) norms: SampleNorms,
    /// The matrix `L^(-1) K_A'`, `L L' = C`, one column per sample.
    halves: Mat<f64>,
    /// The vector `q`.
    steady: Vec<f64>,
    /// The vector `q/s`; zero without an intercept, or where rounding has left nothing of s.
    pub(crate) intercept_weights: Vec<f64>,
}

impl Response {
    pub(crate) fn new<L: MarginLoss + ?Sized>(
        objective: &KernelObjective<'_, L>,
        lambda: Lambda,
        point: &Point,
    ) -> Result<Self, Error> {
        let matrix = objective.gram.held_for("leave-one-out")?;
        let (n, ridge) = (matrix.nrows(), 2.0 * lambda.get());
        let mut margins = objective.risk.margins();
        margins.set(&point.products, point.intercept);
        let mut gradient = vec![0.0; n];
        margins.gradient(&mut gradient);
        let curvatures = margins.curvatures();
        let active: Vec<usize> = (0..n).filter(|&i| curvatures[i] > 0.0).collect();
        let halves = half_solves(matrix, &active, |i| ridge / curvatures[i])?;
        // V_0 D = (K D - (L^(-1) K_A')' (L^(-1) K_A' D)) / (2 lambda).
        let mut whole = vec![0.0; active.len()];
        for (i, &d) in curvatures.iter().enumerate().filter(|(_, d)| **d > 0.0) {
            whole.iter_mut().zip(halves.col_as_slice(i)).for_each(|(w, h)| *w += d * h);
        }
        let mut steady = vec![0.0; n];
        symmetric::multiply(matrix, &curvatures, &mut steady);
        for (i, q) in steady.iter_mut().enumerate() {
            *q = 1.0 - (*q - dot(halves.col_as_slice(i), &whole)) / ridge;
        }
        let spread = dot(&curvatures, &steady);
        let has_intercept = objective.risk.has_intercept() && spread > 0.0;
        let intercept_weights =
            steady.iter().map(|q| if has_intercept { q / spread } else { 0.0 }).collect();
        let norms = SampleNorms::new(matrix.diagonal().iter().copied());
        Ok(Response { curvatures, gradient, ridge, norms, halves, steady, intercept_weights })
    }

    /// Returns `V_ii` of every sample.
    pub(crate) fn diagonal(&self, matrix: &DMatrix<f64>) -> Vec<f64> {
        (0..self.curvatures.len())
            .map(|i| {
                let half = self.halves.col_as_slice(i);
                let fixed = (matrix[(i, i)] - dot(half, half)).max(0.0) / self.ridge;
                fixed + self.steady[i] * self.intercept_weights[i]
            })
            .collect()
    }

    /// Returns `V`.
    pub(crate) fn matrix(&self, matrix: &DMatrix<f64>) -> DMatrix<f64> {
        let n = matrix.nrows();
        let mut variances = matrix / self.ridge;
        let halves = self.halves.as_ref();
        parallel::for_each_chunk(variances.as_mut_slice(), n * COLUMNS, |run, columns| {
            let (first, count) = (run * COLUMNS, columns.len() / n);
            for (column, weight) in
                columns.chunks_exact_mut(n).zip(&self.intercept_weights[first..])
            {
                column.iter_mut().zip(&self.steady).for_each(|(v, q)| *v += q * weight);
            }
            let columns = MatMut::from_column_major_slice_mut(columns, n, count);
            let some = halves.subcols(first, count);
            matmul(columns, Accum::Add, halves.transpose(), some, -1.0 / self.ridge, Par::Seq);
        });
        variances
    }
}

/// Returns `L^(-1) K_A'`, one column per sample, for `L L' = K_AA + diag(extra)`.
fn half_solves(
    matrix: &DMatrix<f64>,
    active: &[usize],
    extra: impl Fn(usize) -> f64,
) -> Result<Mat<f64>, Error> {
    let (m, n) = (active.len(), matrix.nrows());
    let entry = |i: usize, j: usize| {
        let k = matrix[(active[i], active[j])];
        if i == j { k + extra(active[i]) } else { k }
    };
    let small = Mat::from_fn(m, m, entry);
    let mut halves = Mat::from_fn(m, n, |k, i| matrix[(active[k], i)]);
    if m > 0 {
        let factor = small.llt(Side::Lower).map_err(|_| Error::Indefinite)?;
        solve_lower_triangular_in_place(factor.L(), halves.as_mut(), Par::Seq);
    }
    Ok(halves)
}
