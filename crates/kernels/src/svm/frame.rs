//! The units of steps.

use crate::symmetric::number::Number;

/// Where the numbers of steps are measured from and in which units.
///
/// A gradient is `center + unit * number` and a value of K is `scale * number`. Around the threshold
/// of the gradients, in units of the violation, single precision has seven digits of what steps look
/// at, however small that is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) center: f64,
    pub(super) unit: f64,
    pub(super) scale: f64,
}

impl Frame {
    /// The numbers as they are.
    pub(super) const PLAIN: Frame = Frame { center: 0.0, unit: 1.0, scale: 1.0 };

    pub(super) fn number<P: Number>(&self, gradient: f64) -> P {
        P::of((gradient - self.center) / self.unit)
    }

    pub(super) fn gradient<P: Number>(&self, number: P) -> f64 {
        self.center + self.slope(number)
    }

    /// Returns a difference of gradients, or one from the center.
    pub(super) fn slope<P: Number>(&self, number: P) -> f64 {
        self.unit * number.double()
    }
}
