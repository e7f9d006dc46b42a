//! The part of a gap that comes from the loss: the Fenchel-Young sum.

use std::cell::Cell;

use margins_losses::MarginLoss;

use crate::problem::EmpiricalRisk;
use crate::problem::summation::{SUM_ERROR, UNIT, sum};

/// The error that a conjugate may have which is found by a numerical search from derivatives that
/// are themselves differences, relative to the largest size of the terms of a Fenchel-Young sum.
pub(crate) const CONJUGATE_ERROR: f64 = 1e-6;

/// The units of roundoff of a loss, its conjugate and a product.
const TERM_ERROR: f64 = 8.0;

/// The part of a gap that belongs to the loss.
#[derive(Debug, Clone, Copy)]
pub struct FenchelYoung {
    /// The sum itself.
    pub sum: f64,
    /// The bound on how far rounding can have moved the sum.
    pub rounding: f64,
    /// True if a term is negative beyond rounding.
    pub contradicted: bool,
}

impl<L: MarginLoss + ?Sized> EmpiricalRisk<'_, L> {
    /// Returns `-(1/n) sum c_i L*(-s_i)`.
    pub(crate) fn dual_value(&self, duals: &[f64]) -> f64 {
        let samples = duals.iter().enumerate().map(|(i, s)| (self.weights.get(i), *s));
        let counted = samples.filter(|(c, _)| *c > 0.0);
        -counted.map(|(c, s)| c * self.loss.conjugate(s)).sum::<f64>()
    }

    /// Returns `(1/n) sum c_i (L(u_i) + L*(-s_i) + s_i u_i)`.
    ///
    /// By the Fenchel-Young inequality no term is negative. A term that is negative beyond rounding
    /// and the error of a search for the conjugate is evidence against the loss; any other negative
    /// term counts as zero.
    pub fn fenchel_young(&self, margins: &[f64], duals: &[f64]) -> FenchelYoung {
        let mut values = vec![0.0; margins.len()];
        self.values(0, margins, &mut values);
        let (least, largest) = (Cell::new(0.0f64), Cell::new(0.0f64));
        let [sum, size] = sum(margins.len(), &|i| {
            let (c, s, value) = (self.weights.get(i), duals[i], values[i]);
            if c <= 0.0 {
                return [0.0; 2];
            }
            let (conjugate, product) = (self.conjugate(i, s), s * margins[i]);
            let size = value.abs() + conjugate.abs() + product.abs();
            let term = value + conjugate + product;
            least.set(least.get().min(term));
            largest.set(largest.get().max(size));
            // NaN must not be lost.
            [c * if term < 0.0 { 0.0 } else { term }, c * size]
        });
        let (least, largest) = (least.get(), largest.get());
        let rounding = (SUM_ERROR + TERM_ERROR) * UNIT * size;
        let contradicted = largest.is_finite() && least < -CONJUGATE_ERROR * largest;
        FenchelYoung { sum, rounding, contradicted }
    }
}
