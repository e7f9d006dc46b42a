//! How far coefficients are from the conditions of optimality.

/// The gradients that decide about optimality: the largest of a coefficient that can rise, the
/// smallest of one that can fall.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extremes {
    pub(super) rising: f64,
    pub(super) falling: f64,
}

impl Extremes {
    pub(super) const NONE: Extremes =
        Extremes { rising: f64::NEG_INFINITY, falling: f64::INFINITY };

    /// Takes the gradient of a coefficient into account.
    pub(super) fn include(&mut self, (lower, upper): (f64, f64), coef: f64, gradient: f64) {
        if coef < upper {
            self.rising = self.rising.max(gradient);
        }
        if coef > lower {
            self.falling = self.falling.min(gradient);
        }
    }

    /// Returns the middle between the two, or 0 if one is missing.
    pub(super) fn middle(self) -> f64 {
        let middle = 0.5 * self.rising + 0.5 * self.falling;
        if middle.is_finite() { middle } else { 0.0 }
    }

    pub(super) fn violation(self, intercept: bool) -> f64 {
        let violation =
            if intercept { self.rising - self.falling } else { self.rising.max(-self.falling) };
        violation.max(0.0)
    }

    /// Returns the numbers between which a gradient may yet matter: a coefficient at its upper
    /// bound with a gradient above the second one, or at its lower bound with one below the first,
    /// stays there.
    pub(super) fn window(self, intercept: bool) -> (f64, f64) {
        if intercept {
            (self.falling, self.rising)
        } else {
            let violation = self.violation(false);
            (-violation, violation)
        }
    }
}
