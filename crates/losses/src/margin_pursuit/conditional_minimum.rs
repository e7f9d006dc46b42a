//! Where the conditional risk of margin pursuit has its minimum.
//!
//! By symmetry take the class probability `eta >= 1/2`, `a = 2 eta - 1` in [0, 1], and let
//! `g = gamma/s`. The minimiser `u = s v` has v in [0, g] with
//! `psi(g - v)/psi(g + v) = (1 - a)/(1 + a)`.
//!
//! * Both arguments on the cubic part of psi (`g < sqrt 2` and `v <= delta = sqrt 2 - g`), the
//!   double-cube condition: `v^3 - 3 a g v^2 - (6 - 3 g^2) v + a (6 g - g^3) = 0`.
//! * `g + v` saturated: with `w = sqrt 2 - (g - v)` the single-cube condition
//!   `psi(sqrt 2 - w) = B (1 - a)/(1 + a)`, `B = 2 sqrt 2/3`, which is
//!   `w^2 (sqrt(2)/2 - w/6) = 2 a B/(1 + a)`.
//!
//! The second applies if `g >= sqrt 2`, or if the `w` that belongs to `v = delta`, `2 delta`, is
//! below the solution. For `g <= sqrt(2)/2` it never does, as `v <= g <= delta`. Newton's method on
//! either condition does not overshoot, and loses no digits where the roots of the cubics would.
//!
//! Source: Holland 2019, lemma 8 and appendix 6.2.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use crate::catoni::SATURATION;

/// The difference between `sqrt 2` and its nearest double.
const SQRT_2_REST: f64 = -9.667_293_313_452_913e-17;

/// The most Newton steps.
const MOST_STEPS: usize = 60;

/// A minimum of the conditional risk of margin pursuit at one `a`, in an unknown that is accurate
/// relative to its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ConditionalMinimum {
    /// `a = 0`: u is 0.
    Even,
    /// Neither argument of psi is saturated.
    DoubleCube {
        /// The minimiser is this multiple of `a gamma`, at least 1.
        multiple: f64,
    },
    /// `(gamma + u)/s` is saturated.
    SingleCube {
        /// The minimiser is s times the difference of this distance w and `delta`.
        distance: f64,
    },
}

impl ConditionalMinimum {
    /// Returns `delta = sqrt 2 - gamma/s`, which decides near `sqrt 2`, before the quotient is rounded.
    pub fn delta(gamma: f64, scale: f64) -> f64 {
        let level = gamma / scale;
        let rest = (-level).mul_add(scale, gamma) / scale;
        ((SQRT_2 - level) + SQRT_2_REST) - rest
    }

    /// Returns the minimum for `level = gamma/s` and [`delta`](Self::delta), at `a` in [0, 1].
    ///
    /// ```
    /// use margins_losses::ConditionalMinimum;
    ///
    /// // For a = 1 the minimiser is gamma.
    /// let delta = ConditionalMinimum::delta(0.5, 1.0);
    /// let found = ConditionalMinimum::new(0.5, delta, 1.0);
    /// assert_eq!(found, ConditionalMinimum::DoubleCube { multiple: 1.0 });
    /// ```
    pub fn new(level: f64, delta: f64, a: f64) -> Self {
        if a == 0.0 {
            return ConditionalMinimum::Even;
        }
        // psi(sqrt 2 - w) falls short of B by what has to be w^2 (sqrt(2)/2 - w/6).
        let shortfall = 2.0 * a * SATURATION / (1.0 + a);
        let at_switch = 2.0 * delta;
        let saturated = delta <= 0.0
            || (delta < level
                && shortfall > at_switch * at_switch * (FRAC_1_SQRT_2 - at_switch / 6.0));
        if saturated {
            ConditionalMinimum::SingleCube { distance: single_cube(shortfall) }
        } else {
            ConditionalMinimum::DoubleCube { multiple: double_cube(level, delta, a) }
        }
    }

    /// Returns the minimiser, in [0, gamma].
    pub fn minimizer(self, gamma: f64, scale: f64, delta: f64, a: f64) -> f64 {
        match self {
            ConditionalMinimum::Even => 0.0,
            ConditionalMinimum::DoubleCube { multiple } => (multiple * (a * gamma)).min(gamma),
            ConditionalMinimum::SingleCube { distance } => scale * (distance - delta),
        }
    }
}

/// Returns the multiple m of `a g` where both arguments are on the cubic part: the cubic is
/// `linear m + (a g)^2 m^2 (3 - m) = 6 - g^2`, increasing and concave from m = 1, where it is below, to
/// the root.
fn double_cube(level: f64, delta: f64, a: f64) -> f64 {
    let square = (a * level) * (a * level);
    // Six times 1 - g^2/2, without cancellation near sqrt 2.
    let linear = 6.0 * (0.5 * delta * (SQRT_2 + level));
    let constant = 6.0 - level * level;
    newton(1.0, |m| {
        (constant + square * m * m * (3.0 - 2.0 * m)) / (linear + square * m * (6.0 - 3.0 * m))
    })
}

/// Returns the w whose `w^2 (sqrt(2)/2 - w/6)`, convex on [0, sqrt 2], is the shortfall; without its
/// second term the root is smaller.
fn single_cube(shortfall: f64) -> f64 {
    newton((SQRT_2 * shortfall).sqrt(), |w| {
        let value = w * w * (FRAC_1_SQRT_2 - w / 6.0) - shortfall;
        (w - value / (w * (SQRT_2 - 0.5 * w))).min(SQRT_2)
    })
}

/// Repeats a step until it moves by a rounding at most.
fn newton(mut at: f64, step: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..MOST_STEPS {
        let next = step(at);
        let settled = (next - at).abs() <= f64::EPSILON * at;
        at = next;
        if settled {
            break;
        }
    }
    at
}
