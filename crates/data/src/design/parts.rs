//! Parts of a product, which threads share where it is large.

use std::ops::Range;

use super::Design;
use crate::parallel;

/// The number of parts of a product that threads share.
const PARTS: usize = 8;

impl Design {
    /// Returns true if a product with the matrix is worth sharing among threads, where every part
    /// has `width` numbers of its own to sum up.
    pub(super) fn is_shared(&self, width: usize) -> bool {
        const WORTH: usize = 1 << 20;
        const NUMBERS_A_SUM: usize = 16;
        self.stored() >= WORTH.max(NUMBERS_A_SUM * PARTS * width)
    }

    /// Calls `fill` with parts of the rows, which are always the same, and of `out`, which has
    /// `width` numbers per row, [in parallel](crate::parallel) where the design is large.
    pub fn for_each_part(
        &self,
        width: usize,
        out: &mut [f64],
        fill: impl Fn(Range<usize>, &mut [f64]) + Sync,
    ) {
        let n = self.rows();
        if !self.is_shared(0) || width == 0 {
            return fill(0..n, out);
        }
        let part = n.div_ceil(PARTS);
        parallel::for_each_chunk(out, part * width, |k, out| {
            fill(k * part..k * part + out.len() / width, out);
        });
    }

    /// Computes `out` and the result as sums of the results of `add` on parts of the rows, which are
    /// always the same: the result must not depend on the number of threads.
    pub(super) fn sum_of_parts(
        &self,
        out: &mut [f64],
        add: impl Fn(Range<usize>, &mut [f64]) -> f64 + Sync,
    ) -> f64 {
        out.fill(0.0);
        let n = self.rows();
        if !self.is_shared(out.len()) {
            return add(0..n, out);
        }
        let sums = parallel::map(0..PARTS, |k| {
            let mut sums = vec![0.0; out.len()];
            let sum = add(k * n / PARTS..(k + 1) * n / PARTS, &mut sums);
            (sum, sums)
        });
        for (_, sums) in &sums {
            out.iter_mut().zip(sums).for_each(|(o, sum)| *o += sum);
        }
        sums.iter().map(|(sum, _)| sum).sum()
    }
}
