//! Products of a design with vectors.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::{Design, Storage};
use crate::{Sample, inner_loops};

/// The largest number of entries of a vector that are computed at once.
const STRIP: usize = 256;

/// The number of stored values, 256 kB of them, that stay in the cache.
const CACHED: usize = 1 << 15;

impl Design {
    /// Returns `<x_i, w>`.
    ///
    /// # Panics
    /// If `i >= n` or `w` is not of length p.
    pub fn dot(&self, i: usize, w: &[f64]) -> f64 {
        assert_eq!(w.len(), self.columns(), "the vector is not of length p");
        self.sample(i).dot(w)
    }

    /// Computes `out = X w`, with `w` of length p and `out` of length n.
    ///
    /// # Panics
    /// If the lengths differ from these.
    pub fn multiply(&self, w: &[f64], out: &mut [f64]) {
        assert_eq!((w.len(), out.len()), (self.columns(), self.rows()), "shapes of X w");
        self.for_each_part(1, out, |rows, out| self.multiply_strip(rows, w, out));
    }

    /// Computes `high + low = X w` in twice the working precision: `high` is what
    /// [`multiply`](Self::multiply) would return without rounding on the way, and `low` what rounding has
    /// taken from it. The sum is right to `2 p^2 u^2` times the sum of the sizes of its terms, with the
    /// unit roundoff u.
    ///
    /// # Panics
    /// If the lengths differ from n and p.
    pub fn multiply_accurately(&self, w: &[f64], high: &mut [f64], low: &mut [f64]) {
        let (n, p) = (self.rows(), self.columns());
        assert_eq!((w.len(), high.len(), low.len()), (p, n, n), "shapes of X w");
        for (i, (high, low)) in high.iter_mut().zip(low).enumerate() {
            (*high, *low) = match self.sample(i) {
                Sample::Dense(x) => inner_loops::dot_accurately(x, w),
                Sample::Sparse { columns, values, .. } => {
                    inner_loops::dot_sparse_accurately(columns, values, w)
                }
            };
        }
    }

    /// Computes `out = X'z`, with `z` of length n and `out` of length p.
    ///
    /// # Panics
    /// If the lengths differ from these.
    pub fn multiply_transposed(&self, z: &[f64], out: &mut [f64]) {
        assert_eq!(z.len(), self.rows(), "shapes of X'z");
        self.multiply_transposed_by(|i| z[i], out);
    }

    /// Computes `out = X'z`, with `z` as a function of the row that is called once for each, so that
    /// `z` is never stored.
    ///
    /// # Panics
    /// If the length of `out` differs from p.
    pub fn multiply_transposed_by(&self, z: impl Fn(usize) -> f64 + Sync, out: &mut [f64]) {
        assert_eq!(out.len(), self.columns(), "shapes of X'z");
        self.sum_of_parts(out, |rows, out| {
            let factors = &mut [0.0; STRIP];
            for first in rows.clone().step_by(STRIP) {
                let strip = first..(first + STRIP).min(rows.end);
                let factors = &mut factors[..strip.len()];
                factors.iter_mut().zip(strip.clone()).for_each(|(factor, i)| *factor = z(i));
                self.add_strip(strip, factors, out);
            }
            0.0
        });
    }

    /// Returns `X w`, computes `out = X'z`, and reads every sample once: `factors` writes the entries of
    /// `z` for some rows, given their entries of `X w`. The sum of the entries of `z` comes second.
    ///
    /// # Panics
    /// If the lengths of `w` and `out` differ from p.
    pub fn multiply_both(
        &self,
        w: &[f64],
        factors: impl Fn(Range<usize>, &[f64], &mut [f64]) + Sync,
        out: &mut [f64],
    ) -> (Vec<f64>, f64) {
        let p = self.columns();
        assert_eq!((w.len(), out.len()), (p, p), "shapes of X w and X'z");
        let all = Mutex::new(vec![0.0; self.rows()]);
        let sum = self.sum_of_parts(out, |rows, out| {
            let (mut products, mut z) = (vec![0.0; rows.len()], [0.0; STRIP]);
            let (first, mut sum) = (rows.start, 0.0);
            // The samples of a strip stay in the cache from one product to the other.
            let length = (CACHED / (self.stored() / self.rows()).max(1)).clamp(1, STRIP);
            for start in rows.clone().step_by(length) {
                let strip = start..(start + length).min(rows.end);
                let products = &mut products[strip.start - first..strip.end - first];
                self.multiply_strip(strip.clone(), w, products);
                let z = &mut z[..strip.len()];
                factors(strip.clone(), products, z);
                sum += z.iter().sum::<f64>();
                self.add_strip(strip, z, out);
            }
            let all = &mut *all.lock().unwrap_or_else(PoisonError::into_inner);
            all[rows].copy_from_slice(&products);
            sum
        });
        (all.into_inner().unwrap_or_else(PoisonError::into_inner), sum)
    }

    /// Computes `out = X w` on some rows.
    fn multiply_strip(&self, rows: Range<usize>, w: &[f64], out: &mut [f64]) {
        match &self.storage {
            Storage::Dense(samples) => {
                inner_loops::multiply(&samples.as_slice()[rows.start * w.len()..], w, out);
            }
            Storage::Sparse(_) => {
                rows.zip(out).for_each(|(i, o)| *o = self.sample(i).dot(w));
            }
        }
    }

    /// Computes `out += X'z` on some rows.
    fn add_strip(&self, rows: Range<usize>, z: &[f64], out: &mut [f64]) {
        match &self.storage {
            Storage::Dense(samples) => {
                let samples = &samples.as_slice()[rows.start * out.len()..];
                inner_loops::multiply_transposed(samples, z, out);
            }
            Storage::Sparse(_) => {
                let factors = rows.zip(z).filter(|(_, z)| **z != 0.0);
                factors.for_each(|(i, z)| self.sample(i).add_to(*z, out));
            }
        }
    }

    /// Computes `out = X'z` in twice the working precision, rounded at the end: every entry is
    /// right to a unit of roundoff `u` relative to itself and `2 n^2 u^2` relative to the sum of
    /// the sizes of its terms.
    ///
    /// # Panics
    /// If the lengths differ from n and p.
    pub fn multiply_transposed_accurately(&self, z: &[f64], out: &mut [f64]) {
        assert_eq!((z.len(), out.len()), (self.rows(), self.columns()), "shapes of X'z");
        out.fill(0.0);
        let mut low = vec![0.0; out.len()];
        match &self.storage {
            Storage::Dense(samples) => {
                let samples = samples.as_slice();
                inner_loops::multiply_transposed_accurately(samples, z, out, &mut low);
            }
            Storage::Sparse(_) => {
                for (i, &z) in z.iter().enumerate().filter(|(_, z)| **z != 0.0) {
                    if let Sample::Sparse { columns, values, .. } = self.sample(i) {
                        inner_loops::add_sparse_accurately(columns, values, z, out, &mut low);
                    }
                }
            }
        }
        out.iter_mut().zip(&low).for_each(|(o, l)| *o += l);
    }

    /// Computes `out = X' diag(d) (X w + shift 1)`, with `d` of length n, `w` and `out` of length
    /// p; every sample is read once, those with `d_i = 0` not at all. Returns `1' diag(d) (X w +
    /// shift 1)`.
    ///
    /// # Panics
    /// If the lengths differ from these.
    pub fn multiply_normal(&self, d: &[f64], shift: f64, w: &[f64], out: &mut [f64]) -> f64 {
        let shapes = (d.len(), w.len(), out.len());
        assert_eq!(
            shapes,
            (self.rows(), self.columns(), self.columns()),
            "shapes of X' diag(d) X w"
        );
        self.sum_of_parts(out, |rows, out| match &self.storage {
            Storage::Dense(samples) => {
                let samples = &samples.as_slice()[rows.start * out.len()..];
                inner_loops::multiply_normal(samples, &d[rows], shift, w, out)
            }
            Storage::Sparse(_) => rows
                .filter(|&i| d[i] != 0.0)
                .map(|i| {
                    let sample = self.sample(i);
                    let factor = d[i] * (sample.dot(w) + shift);
                    sample.add_to(factor, out);
                    factor
                })
                .sum(),
        })
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;
    use nalgebra_sparse::CsrMatrix;
    use proptest::prelude::*;

    use super::*;
    use crate::design::tests::both;

    proptest! {
        #[test]
        fn products_agree_with_nalgebra((dense, sparse) in both()) {
            let x = dense.to_dense();
            prop_assert_eq!(&x, &sparse.to_dense());
            let (n, p) = x.shape();
            let w: Vec<f64> = (0..p).map(|j| j as f64 - 1.5).collect();
            let z: Vec<f64> = (0..n).map(|i| 2.0 - i as f64).collect();
            for design in [&dense, &sparse] {
                let mut xw = vec![f64::NAN; n];
                design.multiply(&w, &mut xw);
                let mut xz = vec![f64::NAN; p];
                design.multiply_transposed(&z, &mut xz);
                let want_xw = &x * DMatrix::from_vec(p, 1, w.clone());
                let want_xz = x.transpose() * DMatrix::from_vec(n, 1, z.clone());
                let (rows, mut both) = (Mutex::new(vec![0; n]), vec![f64::NAN; p]);
                let of_rows = |strip: Range<usize>, products: &[f64], out: &mut [f64]| {
                    assert_eq!(products, &xw[strip.clone()]);
                    out.copy_from_slice(&z[strip.clone()]);
                    rows.lock().unwrap()[strip].iter_mut().for_each(|count| *count += 1);
                };
                let (products, sum) = design.multiply_both(&w, of_rows, &mut both);
                prop_assert_eq!((&products, &both), (&xw, &xz));
                prop_assert_eq!(rows.into_inner().unwrap(), vec![1; n]);
                prop_assert!((sum - z.iter().sum::<f64>()).abs() <= 1e-12 * n as f64);
                for (a, b) in xw.iter().zip(&want_xw).chain(xz.iter().zip(&want_xz)) {
                    prop_assert!((a - b).abs() < 1e-12);
                }
            }
        }
    }

    /// Large enough for products to be shared among threads.
    #[test]
    fn large_products_are_those_of_the_definition_on_any_number_of_threads() {
        let (n, p) = (7001, 150);
        let matrix = DMatrix::from_fn(n, p, |i, j| ((i * 31 + j * 17) as f64 * 0.01).sin());
        let w: Vec<f64> = (0..p).map(|j| (j as f64 * 0.3).cos()).collect();
        let z: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
        let d: Vec<f64> = (0..n).map(|i| (i % 5) as f64).collect();
        let (w_column, z_column) =
            (DMatrix::from_column_slice(p, 1, &w), DMatrix::from_column_slice(n, 1, &z));
        let scores = &matrix * &w_column;
        let weighted = DMatrix::from_fn(n, 1, |i, _| d[i] * (scores[i] + 0.5));
        let normal = matrix.tr_mul(&weighted);
        let transposed = matrix.tr_mul(&z_column);
        let close = |ours: &[f64], theirs: &[f64]| {
            let size = theirs.iter().fold(1.0f64, |size, x| size.max(x.abs()));
            ours.iter().zip(theirs).all(|(a, b)| (a - b).abs() <= 1e-11 * size)
        };
        let dense = Design::dense(&matrix).expect("finite");
        let sparse = Design::sparse(CsrMatrix::from(&matrix)).expect("finite");
        for design in [&dense, &sparse] {
            let run = || {
                let (mut a, mut b, mut c) = (vec![0.0; n], vec![0.0; p], vec![0.0; p]);
                design.multiply(&w, &mut a);
                design.multiply_transposed(&z, &mut b);
                let sum = design.multiply_normal(&d, 0.5, &w, &mut c);
                (a, b, c, sum)
            };
            let on = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                pool.expect("a pool").install(run)
            };
            let (a, b, c, sum) = on(1);
            assert!((a.clone(), b.clone(), c.clone(), sum) == on(3));
            assert!(close(&a, scores.as_slice()) && close(&b, transposed.as_slice()));
            assert!(close(&c, normal.as_slice()) && close(&[sum], &[weighted.sum()]));
        }
    }
}
