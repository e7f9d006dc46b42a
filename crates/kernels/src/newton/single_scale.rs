//! Kernel matrices in single precision, for preconditioners.

/// The scale at which a kernel matrix goes to single precision.
///
/// At the scale 1 products of small entries, as `exp(-40) exp(-60)` of narrow kernels, are
/// subnormal, and arithmetic with subnormal numbers takes some thirty times as long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SingleScale(f64);

impl SingleScale {
    /// Returns the scale at which the largest entry of K is `2^96`: products stay normal down to a
    /// share of `1e-66`, and there is room for a `W^(-1)` up to `1e8` times as large as K.
    /// The largest entry of K is on its diagonal.
    pub(crate) fn of(diagonal: &[f64]) -> Self {
        let largest = diagonal.iter().copied().fold(0.0, f64::max);
        SingleScale(if largest > 0.0 { 2f64.powi(96) / largest } else { 1.0 })
    }

    pub(crate) fn get(self) -> f64 {
        self.0
    }

    /// Returns an entry at the scale. One below a share of `1e-20`, far below the rounding of single
    /// precision, becomes zero, and with it most products that would be subnormal.
    pub(crate) fn apply(self, entry: f64) -> f32 {
        const LEAST: f32 = 8e8;
        let scaled = (self.0 * entry) as f32;
        if scaled.abs() < LEAST { 0.0 } else { scaled }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;

    /// A factor has entries of the size of the root of the scale.
    #[test]
    fn products_of_small_entries_are_zero_or_normal() {
        let matrix = DMatrix::from_fn(50, 50, |i, j| (-(i as f64 - j as f64).powi(2)).exp());
        let scale = SingleScale::of(matrix.diagonal().as_slice());
        for &entry in matrix.iter() {
            let product = (scale.apply(entry) / 2f32.powi(48)).powi(2);
            assert!(product == 0.0 || product.is_normal(), "{entry}: {product}");
        }
    }
}
