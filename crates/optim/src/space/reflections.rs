//! The triangular form of a wide table by Householder reflections, accurate for every feature
//! relative to its own size.
//!
//! With features sorted by size and samples as pivots the rounding errors of every feature are
//! small beside that feature's values, however small these are beside others (Powell and Reid, *On
//! applying Householder transformations to linear least squares problems*, IFIP 1968; Cox and
//! Higham, *Stability of Householder QR factorization for weighted least squares problems*, 1998).
//! A Gram matrix, whose entries are sums over all features, keeps only the large ones.

use margins_data::{Design, parallel};
use nalgebra::DMatrix;

use crate::Error;
use crate::problem::summation::{UNIT, dot};

/// The matrix `Q = H_0 H_1 ... H_(k-1)`, `H_j = I - 2 v_j v_j' / ||v_j||^2`, for features in
/// descending order of size.
#[derive(Debug)]
pub(crate) struct Reflections {
    /// The order of the features: feature j here is feature `order[j]` of the design.
    order: Vec<usize>,
    /// The vectors `v_j`, each from its entry j on.
    vectors: Vec<Vec<f64>>,
}

impl Reflections {
    /// Sets `out = Q beta`, for features in the order of the design.
    pub(crate) fn apply(&self, beta: &[f64], out: &mut [f64]) {
        let mut w = vec![0.0; out.len()];
        w[..beta.len()].copy_from_slice(beta);
        for (j, vector) in self.vectors.iter().enumerate().rev() {
            reflect(vector, 2.0 / dot(vector, vector), &mut w[j..]);
        }
        for (&feature, w) in self.order.iter().zip(w) {
            out[feature] = w;
        }
    }
}

/// Sets `x -= factor <v, x> v`.
fn reflect(vector: &[f64], factor: f64, x: &mut [f64]) {
    let step = factor * dot(vector, x);
    x.iter_mut().zip(vector).for_each(|(x, v)| *x -= step * v);
}

/// Returns coordinates `Z = R'` of the samples, one row per sample, and the reflections of
/// `X' = Q R`, R of full rank to the rounding of every feature.
///
/// # Errors
/// [`Error::Overflow`]: a sum of squares overflows.
pub(crate) fn triangularize(design: &Design) -> Result<(Design, Reflections), Error> {
    let (n, p) = (design.rows(), design.columns());
    let (order, sizes) = by_size(design);
    let mut columns = sorted_samples(design, &order);
    let mut samples: Vec<usize> = (0..n).collect();
    let mut vectors = Vec::new();
    for j in 0..n.min(p) {
        let squares = squared_norms(&columns[j * p..], p, j);
        let Some(k) = (0..n - j).max_by(|&a, &b| squares[a].total_cmp(&squares[b])) else { break };
        if !squares[k].is_finite() {
            return Err(Error::Overflow);
        }
        swap_columns(&mut columns, p, j, j + k);
        samples.swap(j, j + k);
        let (head, rest) = columns.split_at_mut((j + 1) * p);
        let pivot = &mut head[j * p + j..];
        let noise = 8.0 * n as f64 * UNIT;
        if pivot.iter().zip(&sizes[j..]).all(|(x, size)| x.abs() <= noise * size) {
            break;
        }
        let mut vector = pivot.to_vec();
        let norm = squares[k].sqrt().copysign(pivot[0]);
        vector[0] += norm;
        pivot.fill(0.0);
        pivot[0] = -norm;
        let factor = 2.0 / dot(&vector, &vector);
        if !rest.is_empty() {
            parallel::for_each_chunk(rest, p, |_, column| {
                reflect(&vector, factor, &mut column[j..]);
            });
        }
        vectors.push(vector);
    }
    let rank = vectors.len().max(1);
    let mut coordinates = DMatrix::zeros(rank, n);
    for (column, &i) in columns.chunks_exact(p).zip(&samples) {
        coordinates.column_mut(i).copy_from_slice(&column[..rank]);
    }
    Ok((Design::from_samples(coordinates)?, Reflections { order, vectors }))
}

/// Returns the features in descending order of their largest size, and these sizes.
fn by_size(design: &Design) -> (Vec<usize>, Vec<f64>) {
    let mut sizes = vec![0.0f64; design.columns()];
    for sample in design.samples() {
        sample.for_each(|column, x| sizes[column] = sizes[column].max(x.abs()));
    }
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]));
    let sizes = order.iter().map(|&feature| sizes[feature]).collect();
    (order, sizes)
}

/// Returns the samples one after the other, with their features in a given order.
fn sorted_samples(design: &Design, order: &[usize]) -> Vec<f64> {
    let p = order.len();
    let mut place = vec![0; p];
    order.iter().enumerate().for_each(|(at, &feature)| place[feature] = at);
    let mut columns = vec![0.0; design.rows() * p];
    for (column, sample) in columns.chunks_exact_mut(p).zip(design.samples()) {
        sample.for_each(|feature, x| column[place[feature]] = x);
    }
    columns
}

/// Returns the squared norms of columns of length p from their entry `from` on.
fn squared_norms(columns: &[f64], p: usize, from: usize) -> Vec<f64> {
    parallel::map(0..columns.len() / p, |k| {
        let column = &columns[k * p + from..(k + 1) * p];
        dot(column, column)
    })
}

fn swap_columns(columns: &mut [f64], p: usize, a: usize, b: usize) {
    if a < b {
        let (low, high) = columns.split_at_mut(b * p);
        low[a * p..(a + 1) * p].swap_with_slice(&mut high[..p]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every feature is recovered to the precision of its own values, over twenty orders of size.
    #[test]
    fn features_of_all_sizes_keep_their_digits() {
        let (n, p) = (12, 30);
        let size = |j: usize| 10f64.powi(10 - ((7 * j) % 21) as i32);
        let noise = |i: usize, j: usize| ((i * 7919 + j * j * 104_729 + i * i * j) % 1009) as f64;
        let x = |i: usize, j: usize| size(j) * (1.0 + noise(i, j) / 1009.0);
        let rows: Vec<Vec<f64>> = (0..n).map(|i| (0..p).map(|j| x(i, j)).collect()).collect();
        let design = Design::from_rows(&rows).expect("finite");
        let (coordinates, reflections) = triangularize(&design).expect("no overflow");
        assert_eq!((coordinates.rows(), coordinates.columns()), (n, n));
        for (i, row) in rows.iter().enumerate() {
            let mut beta = vec![0.0; n];
            coordinates.sample(i).for_each(|k, z| beta[k] = z);
            let mut back = vec![0.0; p];
            reflections.apply(&beta, &mut back);
            for j in 0..p {
                let off = (back[j] - row[j]).abs();
                assert!(off <= 1e3 * UNIT * size(j), "row {i}, feature {j}: {off} of {}", size(j));
            }
        }
    }

    /// Samples that depend on each other have fewer coordinates.
    #[test]
    fn rank_is_that_of_the_samples() {
        let row = |a: f64| vec![a * 1e9, a, 1.0 + a, a * 1e-9, 2.0];
        let rows: Vec<Vec<f64>> = [1.0, 2.0, 5.0, -3.0].map(row).to_vec();
        let design = Design::from_rows(&rows).expect("finite");
        let (coordinates, _) = triangularize(&design).expect("no overflow");
        assert_eq!(coordinates.columns(), 2);
    }
}
