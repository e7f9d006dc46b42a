//! Inner loops over contiguous samples, compiled for every instruction set and dispatched at run
//! time. Sums run in a fixed number of lanes, so that results do not depend on the instruction set.

use pulp::Arch;

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

/// `<x, w>`.
pub(crate) fn dot(x: &[f64], w: &[f64]) -> f64 {
    dot_lanes(x, w)
}

/// `<x, w>` for the stored entries of a sparse `x`.
pub(crate) fn dot_sparse(columns: &[usize], values: &[f64], w: &[f64]) -> f64 {
    columns.iter().zip(values).map(|(&column, value)| w[column] * value).sum()
}

/// `out += factor x`.
pub(crate) fn axpy(factor: f64, x: &[f64], out: &mut [f64]) {
    for (o, x) in out.iter_mut().zip(x) {
        *o += factor * x;
    }
}

/// `out[i] = <samples_i, w>` for samples one after the other.
pub(crate) fn multiply(samples: &[f64], w: &[f64], out: &mut [f64]) {
    if w.is_empty() {
        return out.fill(0.0);
    }
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for (o, sample) in out.iter_mut().zip(samples.chunks_exact(w.len())) {
                *o = dot_lanes(sample, w);
            }
        },
    );
}

/// `out += sum_i z_i samples_i`.
pub(crate) fn multiply_transposed(samples: &[f64], z: &[f64], out: &mut [f64]) {
    if out.is_empty() {
        return;
    }
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for (&z, sample) in z.iter().zip(samples.chunks_exact(out.len())) {
                for (o, x) in out.iter_mut().zip(sample) {
                    *o += z * x;
                }
            }
        },
    );
}
