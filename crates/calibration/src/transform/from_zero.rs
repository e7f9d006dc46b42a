//! Psi of a loss that is known by its values and slopes alone, and for which 0 is the best score of the
//! wrong sign: `H-(eta) = L(0)`.
//!
//! `-H` is convex in `a = 2 eta - 1`, and so `psi~(a) = L(0) - H((1+a)/2)` is Psi itself.

use margins_losses::MarginLoss;

use crate::search;

/// The units of rounding by which the slopes and the values of a loss may be wrong.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Returns true if no score of the wrong sign has a smaller conditional risk than 0, at any class
/// probability: with `C_eta(-v) = (L(v) + L(-v))/2 + a (L(-v) - L(v))/2`, if the first part is smallest at
/// 0 and the second is not negative, by a scan on a logarithmic grid. Where the values of the first part
/// differ by no more than rounding, its slope decides.
pub(super) fn wrong_scores_are_no_better(loss: &dyn MarginLoss) -> bool {
    const STEPS: i32 = 600;
    /// The powers of ten where the grid begins and ends.
    const POWERS: (f64, f64) = (-9.0, 6.0);
    let at_zero = loss.value(0.0);
    let is_no_better = |k: i32| {
        let share = f64::from(k) / f64::from(STEPS);
        let v = 10f64.powf(POWERS.0 + share * (POWERS.1 - POWERS.0));
        let (right, wrong) = (loss.value(v), loss.value(-v));
        let rise = 0.5 * (right + wrong) - at_zero;
        let error = ROUNDING * (right.abs() + wrong.abs() + at_zero.abs());
        let (ahead, behind) = (loss.derivative(v), loss.derivative(-v));
        let rises = rise > error
            || rise >= -error && ahead - behind >= -ROUNDING * (ahead.abs() + behind.abs());
        rises && wrong >= right
    };
    (0..=STEPS).all(is_no_better)
}

/// Returns a lower bound of `Psi(a) = L(0) - H((1+a)/2)`, within rounding of Psi at `a` less some
/// 1e-15: the larger of the falls of the conditional risk from 0 to where it first ceases to fall, and to
/// the minimiser that a loss without convexity has.
pub(super) fn transform(loss: &dyn MarginLoss, a: f64) -> f64 {
    /// The score beyond which an infimum counts as not attained.
    const FAR: f64 = f64::MAX;
    if a == 1.0 && (loss.is_convex() || loss.lower_bound().is_some()) {
        let at_zero = loss.value(0.0);
        return loss.lower_bound().map_or(f64::INFINITY, |least| (at_zero - least).max(0.0));
    }
    // Slopes that overflow have no difference and end the fall too.
    let falls = |u: f64| descent(loss, a, u) > 0.0;
    let first = fall(loss, a, search::first(FAR, |u| !falls(u)));
    if loss.is_convex() {
        return first;
    }
    let minimizer = loss.population_minimizer(0.5 * (1.0 + a));
    let is_score = minimizer > 0.0 && minimizer.is_finite();
    if is_score { first.max(fall(loss, a, minimizer)) } else { first }
}

/// Returns a lower bound of the fall `L(0) - C(u)` of the conditional risk, which is itself a lower bound
/// of `Psi(a)`. Where it is large beside `L(0)` it is the difference of the values. Elsewhere that would
/// cancel, and it is the integral of `-C'` from 0 to u.
fn fall(loss: &dyn MarginLoss, a: f64, u: f64) -> f64 {
    /// The relative error that a difference of values may have.
    const PRECISION: f64 = 1e-10;
    let at_zero = loss.value(0.0);
    let part = |share: f64, u: f64| if share == 0.0 { 0.0 } else { share * loss.value(u) };
    let (likely, unlikely) = (part(0.5 * (1.0 + a), u), part(0.5 * (1.0 - a), -u));
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
    /// The largest number of halvings of an interval, for kinks and jumps of the slope.
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
