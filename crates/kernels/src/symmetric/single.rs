//! Products with the lower half of a symmetric matrix in single precision, at half the time of
//! reading it in double precision, for steps that need not be exact.

use std::ops::Range;

use margins_data::parallel;
use nalgebra::DMatrix;
use pulp::{Arch, Simd, WithSimd};

use super::{COLUMNS, PARALLEL, PARTS, part_end};

const LANES: usize = 16;
/// The share of the largest entry below which an entry counts as zero: products with it could be
/// subnormal numbers, which are slow.
const LEAST: f64 = 1e-18;

/// The lower half of a symmetric matrix in single precision, divided by its largest entry.
#[derive(Debug, Clone)]
pub(crate) struct SingleHalf {
    order: usize,
    scale: f64,
    /// The columns from the diagonal down; those that go together start at the same row.
    entries: Vec<f32>,
}

impl SingleHalf {
    pub(crate) fn new(matrix: &DMatrix<f64>) -> Self {
        let n = matrix.nrows();
        let largest = matrix.diagonal().iter().copied().fold(0.0, f64::max);
        let scale = if largest > 0.0 { largest } else { 1.0 };
        let mut entries = Vec::with_capacity(start_of(n, n));
        for (j, column) in matrix.as_slice().chunks_exact(n.max(1)).enumerate() {
            let part = &column[j / COLUMNS * COLUMNS..];
            entries.extend(part.iter().map(|&entry| single(entry / scale)));
        }
        SingleHalf { order: n, scale, entries }
    }

    /// Computes `out = K x`, each number with an error of about `1e-7` of `max |K| ||x||`.
    pub(crate) fn multiply(&self, x: &[f64], out: &mut [f64]) {
        let n = self.order;
        let largest = x.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
        if !(largest > 0.0 && largest.is_finite()) {
            return out.fill(if largest > 0.0 { f64::NAN } else { 0.0 });
        }
        let x: Vec<f32> = x.iter().map(|x| single(x / largest)).collect();
        let back = self.scale * largest;
        let part = |columns: Range<usize>| {
            let mut sum = vec![0.0f32; n];
            Arch::new().dispatch(HalfProduct { half: self, x: &x, out: &mut sum, columns });
            sum
        };
        if n < PARALLEL {
            let sum = part(0..n);
            return out.iter_mut().zip(sum).for_each(|(out, s)| *out = back * f64::from(s));
        }
        let sums = parallel::map(0..PARTS, |k| part(part_end(n, k)..part_end(n, k + 1)));
        for (i, out) in out.iter_mut().enumerate() {
            *out = back * sums.iter().map(|part| f64::from(part[i])).sum::<f64>();
        }
    }
}

/// Returns a number of size at most 1 in single precision, or zero if it is tiny.
fn single(x: f64) -> f32 {
    if x.abs() < LEAST { 0.0 } else { x as f32 }
}

/// Returns where column `j` of n begins among the entries.
fn start_of(n: usize, j: usize) -> usize {
    let (block, within) = (j / COLUMNS, j % COLUMNS);
    let before = COLUMNS * (block * n - COLUMNS * (block * block.saturating_sub(1)) / 2);
    before + within * (n - block * COLUMNS)
}

struct HalfProduct<'a> {
    half: &'a SingleHalf,
    x: &'a [f32],
    out: &'a mut [f32],
    /// The columns to take part, from a multiple of their number that go together.
    columns: Range<usize>,
}

impl WithSimd for HalfProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let n = self.half.order;
        for first in self.columns.step_by(COLUMNS) {
            let width = COLUMNS.min(n - first);
            let rest = first + width;
            let column = |k: usize| &self.half.entries[start_of(n, first + k)..][..n - first];
            // The block on the diagonal.
            for k in 0..width {
                for l in 0..width {
                    self.out[first + k] += column(k.min(l))[k.max(l)] * self.x[first + l];
                }
            }
            if width == COLUMNS {
                let below = |k: usize| &column(k)[COLUMNS..];
                let columns = [below(0), below(1), below(2), below(3)];
                let factors = [0, 1, 2, 3].map(|k| self.x[first + k]);
                let sums =
                    half_block(simd, columns, factors, &self.x[rest..], &mut self.out[rest..]);
                for (out, sum) in self.out[first..rest].iter_mut().zip(sums) {
                    *out += sum;
                }
            }
        }
    }
}

/// Adds the columns times their factors to `out` and returns the inner products of the columns with
/// `x`.
#[inline(always)]
fn half_block<'a, S: Simd>(
    simd: S,
    columns: [&'a [f32]; COLUMNS],
    factors: [f32; COLUMNS],
    x: &'a [f32],
    out: &mut [f32],
) -> [f32; COLUMNS] {
    let even = x.len() / LANES * LANES;
    let vectors = |column: &'a [f32]| S::as_simd_f32s(&column[..even]).0;
    let [a, b, c, d] = columns.map(vectors);
    let xs = vectors(x);
    let (outs, _) = S::as_mut_simd_f32s(&mut out[..even]);
    let [p, q, r, s] = factors.map(|factor| simd.splat_f32s(factor));
    let mut lanes = [[0.0f32; LANES]; COLUMNS];
    // The machine may have vectors of fewer lanes.
    let parts = LANES / S::F32_LANES;
    for part in 0..parts {
        let mut sums = [simd.splat_f32s(0.0); COLUMNS];
        for i in (part..xs.len()).step_by(parts) {
            let (a, b, c, d, x) = (a[i], b[i], c[i], d[i], xs[i]);
            let low = simd.add_f32s(simd.mul_f32s(p, a), simd.mul_f32s(q, b));
            let high = simd.add_f32s(simd.mul_f32s(r, c), simd.mul_f32s(s, d));
            outs[i] = simd.add_f32s(outs[i], simd.add_f32s(low, high));
            sums[0] = simd.add_f32s(sums[0], simd.mul_f32s(a, x));
            sums[1] = simd.add_f32s(sums[1], simd.mul_f32s(b, x));
            sums[2] = simd.add_f32s(sums[2], simd.mul_f32s(c, x));
            sums[3] = simd.add_f32s(sums[3], simd.mul_f32s(d, x));
        }
        for (lanes, sum) in lanes.iter_mut().zip(sums) {
            S::as_mut_simd_f32s(lanes).0[part] = sum;
        }
    }
    let mut sums = lanes.map(|lanes| {
        let halves: [f32; 8] = std::array::from_fn(|i| lanes[i] + lanes[i + 8]);
        let [a, b, c, d, e, f, g, h] = halves;
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    });
    for i in even..x.len() {
        for (k, column) in columns.iter().enumerate() {
            out[i] += factors[k] * column[i];
            sums[k] += column[i] * x[i];
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(n: usize) -> DMatrix<f64> {
        DMatrix::from_fn(n, n, |i, j| 3.0 * (-1e-3 * (i as f64 - j as f64).powi(2)).exp())
    }

    /// Sums of n terms in single precision, in lanes of at most n/4 terms each.
    #[test]
    fn products_are_right_to_single_precision() {
        for n in [1usize, 3, 4, 5, 19, 20, 67, 403, 2003] {
            let matrix = matrix(n);
            let x: Vec<f64> = (0..n).map(|i| 1e3 * (i as f64).cos()).collect();
            let (mut want, mut out) = (vec![0.0; n], vec![f64::NAN; n]);
            super::super::multiply(&matrix, &x, &mut want);
            SingleHalf::new(&matrix).multiply(&x, &mut out);
            let size: f64 = x.iter().map(|x| 3.0 * x.abs()).sum();
            for (a, b) in out.iter().zip(&want) {
                assert!((a - b).abs() <= 1e-6 * size, "n = {n}: {a} not {b}");
            }
        }
    }

    #[test]
    fn zeros_and_what_is_not_finite_stay_so() {
        let half = SingleHalf::new(&matrix(5));
        let mut out = [1.0; 5];
        half.multiply(&[0.0; 5], &mut out);
        assert_eq!(out, [0.0; 5]);
        half.multiply(&[0.0, f64::INFINITY, 0.0, 0.0, 0.0], &mut out);
        assert!(out.iter().all(|x| x.is_nan()));
    }

    #[test]
    fn products_do_not_depend_on_the_instruction_set() {
        let half = SingleHalf::new(&matrix(203));
        let x: Vec<f32> = (0..203).map(|i| (i as f32).cos()).collect();
        let (mut best, mut portable) = (vec![0.0; 203], vec![0.0; 203]);
        Arch::new().dispatch(HalfProduct { half: &half, x: &x, out: &mut best, columns: 0..203 });
        HalfProduct { half: &half, x: &x, out: &mut portable, columns: 0..203 }
            .with_simd(pulp::Scalar);
        assert_eq!(best, portable);
    }
}
