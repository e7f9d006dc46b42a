//! Psi of a convex loss that is known by its values and slopes alone.

use margins_losses::MarginLoss;

use crate::search;

/// The units of rounding by which the slopes of a loss may be wrong; its values likewise.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Returns a lower bound of `Psi(a) = L(0) - H((1+a)/2)`, within rounding of Psi at `a` less some
/// 1e-15.
///
/// `Psi(a)` is the largest fall `L(0) - C(u)` of the conditional risk, hence any fall is a lower
/// bound. Where it is large beside `L(0)` it is the difference of the values. Elsewhere that would
/// cancel, and it is the integral of `-C'` from 0 to its zero.
pub(super) fn transform(loss: &dyn MarginLoss, a: f64) -> f64 {
    /// The score beyond which an infimum counts as not attained.
    const FAR: f64 = f64::MAX;
    /// The relative error that a difference of values may have.
    const PRECISION: f64 = 1e-10;
    let at_zero = loss.value(0.0);
    if a == 1.0 {
        return loss.lower_bound().map_or(f64::INFINITY, |least| (at_zero - least).max(0.0));
    }
    // Slopes that overflow, of which the difference is no number, end the fall too.
    let falls = |u: f64| descent(loss, a, u) > 0.0;
    let u = search::first(FAR, |u| !falls(u));
    let (likely, unlikely) = (0.5 * (1.0 + a) * loss.value(u), 0.5 * (1.0 - a) * loss.value(-u));
    let fall = at_zero - (likely + unlikely);
    let error = ROUNDING * (at_zero.abs() + likely.abs() + unlikely.abs());
    if error <= PRECISION * fall {
        return fall - error;
    }
    let noise = f64::EPSILON * loss.derivative(0.0).abs() * u;
    integral(&|v| descent(loss, a, v), u, noise).max(0.0)
}

/// Returns `-C'(u)` less what rounding may have added.
fn descent(loss: &dyn MarginLoss, a: f64, u: f64) -> f64 {
    let (right, left) = (loss.derivative(u), loss.derivative(-u));
    let twice = if a < 0.5 {
        (left - right) - a * (left + right)
    } else {
        (1.0 - a) * left - (1.0 + a) * right
    };
    0.5 * twice - ROUNDING * (left.abs() + right.abs())
}

/// Returns the integral of `f` from 0 to `end` less the estimated error, by Lobatto's rule on
/// intervals that are halved until both halves agree with the whole to 1e-11, or to `noise`.
fn integral(f: &dyn Fn(f64) -> f64, end: f64, noise: f64) -> f64 {
    const PRECISION: f64 = 1e-11;
    /// The shortest interval as a power of 1/2: for kinks and jumps of the slope.
    const MOST_HALVINGS: u32 = 40;
    let whole = lobatto(f, 0.0, end);
    let tolerance = PRECISION * whole.abs() + noise;
    let mut pieces = vec![(0.0, end, whole, 0)];
    let (mut sum, mut error) = (0.0, 0.0);
    while let Some((low, high, whole, depth)) = pieces.pop() {
        let middle = f64::midpoint(low, high);
        let (left, right) = (lobatto(f, low, middle), lobatto(f, middle, high));
        let change = (left + right - whole).abs();
        if change <= tolerance || depth == MOST_HALVINGS {
            sum += left + right;
            error += change;
        } else {
            pieces.push((middle, high, right, depth + 1));
            pieces.push((low, middle, left, depth + 1));
        }
    }
    sum - error
}

/// Returns the integral by Lobatto's rule with eight points, the ends among them, so that a fall at
/// an end is not overlooked.
fn lobatto(f: &dyn Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    const RULE: [(f64, f64); 4] = [
        (0.209_299_217_902_478_87, 0.412_458_794_658_703_9),
        (0.591_700_181_433_142_3, 0.341_122_692_483_504_36),
        (0.871_740_148_509_606_6, 0.210_704_227_143_506_04),
        (1.0, 1.0 / 28.0),
    ];
    let (middle, half) = (f64::midpoint(low, high), 0.5 * (high - low));
    let pair = |&(x, weight): &(f64, f64)| weight * (f(middle - half * x) + f(middle + half * x));
    half * RULE.iter().map(pair).sum::<f64>()
}
