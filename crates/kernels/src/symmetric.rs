//! Products with a symmetric matrix that read each entry once, dispatched at run time to the widest
//! vector instructions. Sums run in fixed lanes: results do not depend on the instruction set.

pub(crate) mod number;

mod single;

use std::ops::Range;

use margins_data::parallel;
use nalgebra::DMatrix;
use pulp::{Arch, Simd, WithSimd};

pub(crate) use self::single::{SingleColumns, SingleHalf, single};
use crate::symmetric::number::{MOST_LANES, Number};

/// The number of columns that go through memory together.
const COLUMNS: usize = 4;
/// The order from which on a product is shared among threads.
const PARALLEL: usize = 2000;
const PARTS: usize = 4;

/// Computes `out = K x`, from the lower half of K alone: a product costs the time to read it from
/// memory.
pub(crate) fn multiply(matrix: &DMatrix<f64>, x: &[f64], out: &mut [f64]) {
    let n = matrix.nrows();
    debug_assert!(matrix.is_square() && x.len() == n && out.len() == n);
    let entries = matrix.as_slice();
    half_product(|j| &entries[j * n + block_of(j)..(j + 1) * n], x, out);
}

/// Computes `out = K x`, given the columns of K, each from the first row of its block on the
/// diagonal down.
fn half_product<'k, T: Number>(
    column: impl Fn(usize) -> &'k [T] + Copy + Sync,
    x: &[T],
    out: &mut [T],
) {
    let n = x.len();
    out.fill(T::default());
    let add = |out: &mut [T], columns| {
        Arch::new().dispatch(HalfProduct { column, x, out, columns });
    };
    if n < PARALLEL {
        return add(out, 0..n);
    }
    let sums = parallel::map(0..PARTS, |part| {
        let mut out = vec![T::default(); n];
        add(&mut out, part_end(n, part)..part_end(n, part + 1));
        out
    });
    for (i, out) in out.iter_mut().enumerate() {
        sums.iter().for_each(|part| *out += part[i]);
    }
}

/// Returns the first row of the block on the diagonal that a column goes through.
fn block_of(column: usize) -> usize {
    column / COLUMNS * COLUMNS
}

/// Returns where a part of n columns begins, and where the one before it ends: parts of about equal
/// area, always the same ones, for the sum must not depend on the threads.
fn part_end(n: usize, part: usize) -> usize {
    let share = 1.0 - (1.0 - part as f64 / PARTS as f64).sqrt();
    if part == PARTS { n } else { (share * n as f64) as usize / COLUMNS * COLUMNS }
}

/// Computes `out += sum_j x_j K_j` over the columns with `x_j != 0`: cheaper than the half where
/// these are few.
pub(crate) fn multiply_sparse(matrix: &DMatrix<f64>, x: &[f64], out: &mut [f64]) {
    let n = matrix.nrows();
    out.fill(0.0);
    let columns: Vec<usize> = (0..n).filter(|&j| x[j] != 0.0).collect();
    if 2 * columns.len() > n {
        return multiply(matrix, x, out);
    }
    Arch::new().dispatch(ColumnSum { entries: matrix.as_slice(), columns: &columns, x, out });
}

/// Computes `out += K x` over some columns of the lower half of K.
struct HalfProduct<'a, T, C> {
    /// Returns a column from the first row of its block on the diagonal down.
    column: C,
    x: &'a [T],
    out: &'a mut [T],
    /// The columns of the half to take part, from a multiple of their number that go together.
    columns: Range<usize>,
}

impl<'k, T: Number, C: Fn(usize) -> &'k [T]> WithSimd for HalfProduct<'_, T, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let n = self.x.len();
        let (x, out) = (self.x, self.out);
        for first in self.columns.step_by(COLUMNS) {
            let width = COLUMNS.min(n - first);
            let rest = first + width;
            // The block on the diagonal.
            for (k, out) in out[first..rest].iter_mut().enumerate() {
                for (l, &x) in x[first..rest].iter().enumerate() {
                    *out += (self.column)(first + k.min(l))[k.max(l)] * x;
                }
            }
            if width == COLUMNS {
                let below = |k: usize| &(self.column)(first + k)[COLUMNS..];
                let columns = [below(0), below(1), below(2), below(3)];
                let factors = [x[first], x[first + 1], x[first + 2], x[first + 3]];
                let sums = half_block(simd, columns, factors, &x[rest..], &mut out[rest..]);
                for (k, sum) in sums.into_iter().enumerate() {
                    out[first + k] += sum;
                }
            }
        }
    }
}

/// Adds the columns times their factors to `out` and returns the inner products of the columns with
/// `x`. The vectors are explicit: left to itself, the compiler has made single numbers of them.
#[inline(always)]
fn half_block<T: Number, S: Simd>(
    simd: S,
    columns: [&[T]; COLUMNS],
    factors: [T; COLUMNS],
    x: &[T],
    out: &mut [T],
) -> [T; COLUMNS] {
    let even = x.len() / T::LANES * T::LANES;
    let [a, b, c, d] = columns;
    let (a, b) = (T::vectors::<S>(&a[..even]), T::vectors::<S>(&b[..even]));
    let (c, d) = (T::vectors::<S>(&c[..even]), T::vectors::<S>(&d[..even]));
    let (xs, outs) = (T::vectors::<S>(&x[..even]), T::vectors_mut::<S>(&mut out[..even]));
    let [p, q, r, s] = factors;
    let (p, q) = (T::splat(simd, p), T::splat(simd, q));
    let (r, s) = (T::splat(simd, r), T::splat(simd, s));
    let mut lanes = [[T::default(); MOST_LANES]; COLUMNS];
    // The machine may have vectors of fewer lanes.
    let parts = T::LANES * size_of::<T>() / size_of::<T::Vector<S>>();
    for part in 0..parts {
        let mut sums = [T::splat(simd, T::default()); COLUMNS];
        for i in (part..xs.len()).step_by(parts) {
            let (a, b, c, d, x) = (a[i], b[i], c[i], d[i], xs[i]);
            let low = T::plus(simd, T::times(simd, p, a), T::times(simd, q, b));
            let high = T::plus(simd, T::times(simd, r, c), T::times(simd, s, d));
            outs[i] = T::plus(simd, outs[i], T::plus(simd, low, high));
            sums[0] = T::plus(simd, sums[0], T::times(simd, a, x));
            sums[1] = T::plus(simd, sums[1], T::times(simd, b, x));
            sums[2] = T::plus(simd, sums[2], T::times(simd, c, x));
            sums[3] = T::plus(simd, sums[3], T::times(simd, d, x));
        }
        for (lanes, sum) in lanes.iter_mut().zip(sums) {
            T::vectors_mut::<S>(&mut lanes[..T::LANES])[part] = sum;
        }
    }
    let mut sums = lanes.map(sum_of_lanes);
    for i in even..x.len() {
        for (k, column) in columns.iter().enumerate() {
            out[i] += factors[k] * column[i];
            sums[k] += column[i] * x[i];
        }
    }
    sums
}

/// Returns the sum of the lanes, each with that half of them away.
#[inline(always)]
fn sum_of_lanes<T: Number>(mut lanes: [T; MOST_LANES]) -> T {
    let mut half = T::LANES / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] += lanes[i + half];
        }
        half /= 2;
    }
    lanes[0]
}

struct ColumnSum<'a> {
    entries: &'a [f64],
    columns: &'a [usize],
    x: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for ColumnSum<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let n = self.out.len();
        let column = |j: usize| &self.entries[j * n..(j + 1) * n];
        let (blocks, rest) = self.columns.as_chunks::<COLUMNS>();
        for &[j, k, l, m] in blocks {
            let factors = [self.x[j], self.x[k], self.x[l], self.x[m]];
            let columns = column(j).iter().zip(column(k)).zip(column(l)).zip(column(m));
            for (out, (((a, b), c), d)) in self.out.iter_mut().zip(columns) {
                *out += (factors[0] * a + factors[1] * b) + (factors[2] * c + factors[3] * d);
            }
        }
        for &j in rest {
            for (out, a) in self.out.iter_mut().zip(column(j)) {
                *out += self.x[j] * a;
            }
        }
    }
}

/// Returns `x'Kx` as if computed in twice the working precision (Ogita, Rump and Oishi, *Accurate
/// sum and dot product*, 2005): for vectors whose image is small because large terms cancel.
pub(crate) fn quadratic_form(matrix: &DMatrix<f64>, x: &[f64]) -> f64 {
    Arch::new().dispatch(QuadraticForm { entries: matrix.as_slice(), x })
}

struct QuadraticForm<'a> {
    entries: &'a [f64],
    x: &'a [f64],
}

impl WithSimd for QuadraticForm<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let mut total = Compensated::default();
        for (column, &x) in self.entries.chunks_exact(self.x.len().max(1)).zip(self.x) {
            let mut sum = Compensated::default();
            column.iter().zip(self.x).for_each(|(&k, &x)| sum.add_product(k, x));
            total.add_product(sum.value, x);
            total.error += sum.error * x;
        }
        total.value + total.error
    }
}

/// A sum with what rounding has taken from it.
#[derive(Default)]
struct Compensated {
    value: f64,
    error: f64,
}

impl Compensated {
    #[inline(always)]
    fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        let sum = self.value + product;
        let part = sum - self.value;
        self.error += (self.value - (sum - part)) + (product - part) + a.mul_add(b, -product);
        self.value = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_nalgebra() {
        for n in [1usize, 2, 3, 4, 5, 11, 12, 13, 40, 67, 2003] {
            let half = DMatrix::from_fn(n, n, |i, j| ((i * n + j) as f64 * 0.7).sin());
            let matrix = &half + half.transpose();
            for share in [1, 3, 7] {
                let x: Vec<f64> =
                    (0..n).map(|i| if i % share == 0 { (i as f64).cos() } else { 0.0 }).collect();
                let want = &matrix * DMatrix::from_column_slice(n, 1, &x);
                for product in [multiply, multiply_sparse] {
                    let mut out = vec![f64::NAN; n];
                    product(&matrix, &x, &mut out);
                    for (a, b) in out.iter().zip(want.iter()) {
                        assert!((a - b).abs() < 1e-14 * n as f64, "n = {n}: {a} not {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn products_do_not_depend_on_the_instruction_set() {
        let n = 203;
        let matrix = DMatrix::from_fn(n, n, |i, j| ((i + j) as f64 * 0.7).sin());
        let x: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
        let (mut best, mut portable) = (vec![0.0; n], vec![0.0; n]);
        multiply(&matrix, &x, &mut best);
        let column = |j: usize| &matrix.as_slice()[j * n + block_of(j)..(j + 1) * n];
        HalfProduct { column, x: &x, out: &mut portable, columns: 0..n }.with_simd(pulp::Scalar);
        assert_eq!(best, portable);
    }

    /// `1e12 11'` vanishes on vectors orthogonal to the ones; what is left is a quarter of `x_1^2`.
    #[test]
    fn a_form_survives_cancellation() {
        let n = 50;
        let mut matrix = DMatrix::from_element(n, n, 1e12);
        matrix[(0, 0)] += 0.25;
        let x: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 3.0 } else { -3.0 }).collect();
        assert_eq!(quadratic_form(&matrix, &x), 9.0 * 0.25);
        // Terms of 1e12 x^2 that are no whole numbers.
        let x: Vec<f64> =
            x.iter().enumerate().map(|(i, x)| x * (1.0 + (i / 2) as f64 / 3.0)).collect();
        assert!((quadratic_form(&matrix, &x) - 9.0 * 0.25).abs() < 1e-12);
    }
}
