//! Inner loops over contiguous samples, compiled for every instruction set and dispatched at run
//! time. What is always inlined takes on the instruction set of a dispatched caller, such as an
//! epoch of a stochastic solver. Sums run in a fixed number of lanes, so that results do not depend
//! on the instruction set.

use std::hint::black_box;

use pulp::{Arch, Simd, WithSimd};

const LANES: usize = 8;

#[inline(always)]
fn dot_lanes(x: &[f64], w: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (xs, x_rest) = x.as_chunks::<LANES>();
    let (ws, w_rest) = w.as_chunks::<LANES>();
    for (x, w) in xs.iter().zip(ws) {
        for lane in 0..LANES {
            lanes[lane] += x[lane] * w[lane];
        }
    }
    let rest: f64 = x_rest.iter().zip(w_rest).map(|(x, w)| x * w).sum();
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h)) + rest
}

/// Returns `<x, w>`.
#[inline(always)]
pub(crate) fn dot(x: &[f64], w: &[f64]) -> f64 {
    dot_lanes(x, w)
}

/// Returns `<x, w>` for the stored entries of a sparse `x`.
#[inline(always)]
pub(crate) fn dot_sparse(columns: &[usize], values: &[f64], w: &[f64]) -> f64 {
    // Few, as sparse samples may be short; enough for additions not to wait for each other.
    const LANES: usize = 4;
    let mut lanes = [0.0; LANES];
    let (columns, columns_rest) = columns.as_chunks::<LANES>();
    let (values, values_rest) = values.as_chunks::<LANES>();
    for (columns, values) in columns.iter().zip(values) {
        for lane in 0..LANES {
            lanes[lane] += w[columns[lane]] * values[lane];
        }
    }
    let rest = columns_rest.iter().zip(values_rest);
    let rest: f64 = rest.map(|(&column, value)| w[column] * value).sum();
    (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]) + rest
}

/// Computes `out += factor x`.
#[inline(always)]
pub(crate) fn axpy(factor: f64, x: &[f64], out: &mut [f64]) {
    for (o, x) in out.iter_mut().zip(x) {
        *o += factor * x;
    }
}

/// Clears the upper halves of the vector registers, as a function does that was compiled for them when it
/// returns.
pub(crate) fn leave_wide_registers() {
    Arch::new().dispatch(|| {
        let mut numbers = black_box([0.0f64; 4]);
        numbers.iter_mut().for_each(|x| *x += 1.0);
        black_box(numbers);
    });
}

/// Computes `out[i] = <samples_i, w>` for samples one after the other.
pub(crate) fn multiply(samples: &[f64], w: &[f64], out: &mut [f64]) {
    if w.is_empty() {
        return out.fill(0.0);
    }
    Arch::new().dispatch(Multiply { samples, w, out });
}

/// Computes `out += sum_i z_i samples_i`.
pub(crate) fn multiply_transposed(samples: &[f64], z: &[f64], out: &mut [f64]) {
    if out.is_empty() {
        return;
    }
    Arch::new().dispatch(MultiplyTransposed { samples, z, out });
}

/// Computes `out + low += sum_i z_i samples_i` in twice the working precision: `low` holds what
/// rounding took from `out`.
pub(crate) fn multiply_transposed_accurately(
    samples: &[f64],
    z: &[f64],
    out: &mut [f64],
    low: &mut [f64],
) {
    if !out.is_empty() {
        Arch::new().dispatch(AccurateMultiplyTransposed { samples, z, out, low });
    }
}

/// Computes `out + low += z x` for the stored entries of a sparse `x`, in twice the working
/// precision.
pub(crate) fn add_sparse_accurately(
    columns: &[usize],
    values: &[f64],
    z: f64,
    out: &mut [f64],
    low: &mut [f64],
) {
    Arch::new().dispatch(AccurateSparseSum { columns, values, z, out, low });
}

/// Returns `<x, w>` in twice the working precision, as the number next to it and what that lacks.
pub(crate) fn dot_accurately(x: &[f64], w: &[f64]) -> (f64, f64) {
    let (mut sum, mut low) = (0.0, 0.0);
    x.iter().zip(w).for_each(|(&x, &w)| add_product(w, x, &mut sum, &mut low));
    next_to(sum, low)
}

/// Returns [`dot_accurately`] for the stored entries of a sparse `x`.
pub(crate) fn dot_sparse_accurately(columns: &[usize], values: &[f64], w: &[f64]) -> (f64, f64) {
    let (mut sum, mut low) = (0.0, 0.0);
    let entries = columns.iter().zip(values);
    entries.for_each(|(&column, &x)| add_product(w[column], x, &mut sum, &mut low));
    next_to(sum, low)
}

/// Returns the number next to a sum of a number and a far smaller one, and what it lacks (Dekker 1971).
fn next_to(sum: f64, low: f64) -> (f64, f64) {
    let high = sum + low;
    (high, low - (high - sum))
}

/// Adds `z x` to an unevaluated sum of two numbers: the product and the sum are exact but for what
/// is lost of the second number (Dekker 1971; Knuth 1969; Ogita, Rump and Oishi, SIAM J. Sci.
/// Comput. 26, 2005, algorithm 5.3).
#[inline(always)]
fn add_product(z: f64, x: f64, out: &mut f64, low: &mut f64) {
    let product = z * x;
    let rest = z.mul_add(x, -product);
    let sum = *out + product;
    let taken = sum - *out;
    let lost = (*out - (sum - taken)) + (product - taken);
    *out = sum;
    *low += lost + rest;
}

/// Computes `out += sum_i d_i (<samples_i, w> + shift) samples_i`, reading every sample once, and
/// returns the sum of the factors.
pub(crate) fn multiply_normal(
    samples: &[f64],
    d: &[f64],
    shift: f64,
    w: &[f64],
    out: &mut [f64],
) -> f64 {
    if w.is_empty() {
        return shift * d.iter().sum::<f64>();
    }
    Arch::new().dispatch(MultiplyNormal { samples, d, shift, w, out })
}

/// The loop of [`multiply`]. Not a closure, because the way to call one is a function that is not
/// inlined into the code for an instruction set if the body is long.
struct Multiply<'a> {
    samples: &'a [f64],
    w: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (o, sample) in self.out.iter_mut().zip(self.samples.chunks_exact(self.w.len())) {
            *o = dot_lanes(sample, self.w);
        }
    }
}

/// The loop of [`multiply_transposed`].
struct MultiplyTransposed<'a> {
    samples: &'a [f64],
    z: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for MultiplyTransposed<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (&z, sample) in self.z.iter().zip(self.samples.chunks_exact(self.out.len())) {
            for (o, x) in self.out.iter_mut().zip(sample) {
                *o += z * x;
            }
        }
    }
}

/// The loop of [`multiply_transposed_accurately`].
struct AccurateMultiplyTransposed<'a> {
    samples: &'a [f64],
    z: &'a [f64],
    out: &'a mut [f64],
    low: &'a mut [f64],
}

impl WithSimd for AccurateMultiplyTransposed<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (&z, sample) in self.z.iter().zip(self.samples.chunks_exact(self.out.len())) {
            for ((o, l), &x) in self.out.iter_mut().zip(self.low.iter_mut()).zip(sample) {
                add_product(z, x, o, l);
            }
        }
    }
}

/// The loop of [`add_sparse_accurately`].
struct AccurateSparseSum<'a> {
    columns: &'a [usize],
    values: &'a [f64],
    z: f64,
    out: &'a mut [f64],
    low: &'a mut [f64],
}

impl WithSimd for AccurateSparseSum<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (&column, &x) in self.columns.iter().zip(self.values) {
            add_product(self.z, x, &mut self.out[column], &mut self.low[column]);
        }
    }
}

/// The loop of [`multiply_normal`].
struct MultiplyNormal<'a> {
    samples: &'a [f64],
    d: &'a [f64],
    shift: f64,
    w: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for MultiplyNormal<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let mut sum = 0.0;
        for (&d, sample) in self.d.iter().zip(self.samples.chunks_exact(self.w.len())) {
            if d != 0.0 {
                let factor = d * (dot_lanes(sample, self.w) + self.shift);
                sum += factor;
                axpy(factor, sample, self.out);
            }
        }
        sum
    }
}
