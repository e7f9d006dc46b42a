//! Examines if a loss is what certificates take it for: they trust `is_convex` and `derivative`,
//! which users write.

use margins_losses::MarginLoss;

use crate::problem::{CONJUGATE_ERROR, EmpiricalRisk};

/// The largest number of margins that are examined beside the extremes, spread over the samples.
const MOST_MARGINS: usize = 128;

/// The number of pairs of points examined beside the margins, over three times their range.
const PROBES: usize = 32;

impl<L: MarginLoss + ?Sized> EmpiricalRisk<'_, L> {
    /// Returns true if the loss says that it is convex, and contradicts that at the margins of
    /// scores: at some of them, spread over the samples of positive weight, and at the extremes.
    pub(crate) fn is_contradicted(&self, scores: &[f64], intercept: f64) -> bool {
        let stride = scores.len().div_ceil(MOST_MARGINS).max(1);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut some = Vec::with_capacity(MOST_MARGINS + 2);
        let counted = (0..scores.len()).filter(|&i| self.weights.get(i) > 0.0);
        for (k, i) in counted.enumerate() {
            let margin = self.signs.get(i) * (scores[i] + intercept);
            (low, high) = (low.min(margin), high.max(margin));
            if k % stride == 0 {
                some.push(margin);
            }
        }
        some.extend([low, high]);
        contradicts_itself(self.loss, &some)
    }
}

/// Returns true if the loss says that it is convex, but no convex function has its values and
/// derivatives at margins of samples.
///
/// ```
/// use margins_losses::{Logistic, MarginLoss};
/// use margins_optim::certificate::contradicts_itself;
///
/// #[derive(Debug)]
/// struct Mistaken;
///
/// impl MarginLoss for Mistaken {
///     fn value(&self, u: f64) -> f64 {
///         Logistic.value(u)
///     }
///     fn derivative(&self, u: f64) -> f64 {
///         1.1 * Logistic.derivative(u)
///     }
/// }
///
/// assert!(contradicts_itself(&Mistaken, &[0.3, -0.2]));
/// assert!(!contradicts_itself(&Logistic, &[0.3, -0.2]));
/// ```
///
/// Numbers `(L_k, d_k)` at `u_1 < u_2 < ...` are values and subgradients of some convex function
/// exactly if `d_k (u_{k+1} - u_k) <= L_{k+1} - L_k <= d_{k+1} (u_{k+1} - u_k)` for all k: the
/// chord between two neighbours lies between their tangents. (If so, the largest of the tangents is
/// such a function.) The margins are examined, pairs of points close to each other below, among and
/// above them, and -1, 0 and 1, up to a share of 1e-6 of the derivatives and to the rounding of the
/// values. Points at which the loss overflows say nothing, nor does a loss that is at odds with
/// convexity between the points alone.
///
/// At the same points the conjugate is held to the Fenchel-Young inequality,
/// `L(u) + L*(-s) + s u >= 0` for `s = -L'(u)`: one that is too small certifies anything.
pub fn contradicts_itself<L: MarginLoss + ?Sized>(loss: &L, margins: &[f64]) -> bool {
    const SLOPES: f64 = 1e-6;
    const VALUES: f64 = 1e-12;
    if !loss.is_convex() {
        return false;
    }
    let (u, size) = points(loss, margins);
    let (mut values, mut slopes) = (vec![0.0; u.len()], vec![0.0; u.len()]);
    loss.values(&u, &mut values);
    loss.derivatives(&u, &mut slopes);
    let refutes = |k: usize| {
        let (conjugate, product) = (loss.conjugate(-slopes[k]), -slopes[k] * u[k]);
        let terms = values[k].abs() + conjugate.abs() + product.abs();
        let slack = CONJUGATE_ERROR * (size + terms);
        slack.is_finite() && values[k] + conjugate + product < -slack
    };
    if (0..u.len()).any(refutes) {
        return true;
    }
    (1..u.len()).any(|k| {
        let (before, step) = (k - 1, u[k] - u[k - 1]);
        let rise = values[k] - values[before];
        let (low, high) = (slopes[before] * step, slopes[k] * step);
        let slack = SLOPES * (low.abs() + high.abs())
            + VALUES * (size + values[before].abs() + values[k].abs());
        // Comparisons with NaN do not hold.
        slack.is_finite() && (low - rise > slack || rise - high > slack)
    })
}

/// Returns the points to examine, ascending, and the size of the loss where it is neither far off
/// nor tiny.
fn points<L: MarginLoss + ?Sized>(loss: &L, margins: &[f64]) -> (Vec<f64>, f64) {
    /// The distance of the two points of a pair, as a share of the range.
    const APART: f64 = 1e-4;
    let stride = margins.len().div_ceil(MOST_MARGINS + 2).max(1);
    let finite = || margins.iter().copied().filter(|u| u.is_finite());
    let low = finite().fold(f64::INFINITY, f64::min);
    let high = finite().fold(f64::NEG_INFINITY, f64::max);
    let mut u: Vec<f64> = finite().step_by(stride).chain([-1.0, 0.0, 1.0]).collect();
    if low <= high {
        u.extend([low, high]);
    }
    let size = u.iter().map(|&u| loss.value(u).abs()).filter(|l| l.is_finite()).fold(0.0, f64::max);
    let range = if high > low { high - low } else { 1.0 };
    if low <= high && range.is_finite() {
        for k in 0..PROBES {
            let at = low - range + 3.0 * range * (k as f64 + 0.5) / PROBES as f64;
            u.extend([at, at + APART * range]);
        }
    }
    u.sort_unstable_by(f64::total_cmp);
    u.dedup();
    (u, size)
}

#[cfg(test)]
mod tests {
    use margins_losses::LossRegistry;
    use proptest::prelude::*;

    use super::*;

    /// A loss of any value and derivative that says it is convex.
    struct Claimed<V, D>(V, D);

    impl<V, D> std::fmt::Debug for Claimed<V, D> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Claimed")
        }
    }

    impl<V, D> MarginLoss for Claimed<V, D>
    where
        V: Fn(f64) -> f64 + Send + Sync,
        D: Fn(f64) -> f64 + Send + Sync,
    {
        fn value(&self, u: f64) -> f64 {
            (self.0)(u)
        }
        fn derivative(&self, u: f64) -> f64 {
            (self.1)(u)
        }
    }

    fn softplus(u: f64) -> f64 {
        (-u).max(0.0) + (-u.abs()).exp().ln_1p()
    }

    fn slope(u: f64) -> f64 {
        -1.0 / (1.0 + u.exp())
    }

    #[test]
    fn mistakes_are_seen_even_at_few_margins() {
        for margins in [&[0.3][..], &[-0.4, 2.0], &[5.0, 5.1, 6.0], &[1e6, -1e6, 3.0]] {
            let is_refused = |loss: &dyn MarginLoss| contradicts_itself(loss, margins);
            assert!(!is_refused(&Claimed(softplus, slope)));
            // The sign, a factor, the chain rule, a convex part missing, another loss.
            assert!(is_refused(&Claimed(softplus, |u| -slope(u))));
            assert!(is_refused(&Claimed(softplus, |u| 0.99 * slope(u))));
            assert!(is_refused(&Claimed(|u: f64| softplus(2.0 * u), |u: f64| slope(2.0 * u))));
            assert!(is_refused(&Claimed(softplus, |u: f64| -(-u).exp())));
        }
        // Derivatives that are right of functions that are not convex.
        let sigmoid = |u: f64| 1.0 / (1.0 + u.exp());
        let falling = move |u: f64| sigmoid(u) * (sigmoid(u) - 1.0);
        for margins in [&[0.1, 0.9][..], &[-3.0, -2.0], &[3.0]] {
            assert!(contradicts_itself(&Claimed(sigmoid, falling), margins));
            assert!(contradicts_itself(&Claimed(|u: f64| -u * u, |u: f64| -2.0 * u), margins));
        }
    }

    /// A formula that loses digits or overflows is not a contradiction.
    #[test]
    fn naive_formulas_pass() {
        let naive = Claimed(|u: f64| (1.0 + (-u).exp()).ln(), |u: f64| -1.0 / (1.0 + u.exp()));
        let forward = |u: f64| (softplus(u + 1e-8) - softplus(u)) / 1e-8;
        for margins in [&[0.0, 1.0][..], &[35.0, 36.0, 37.5], &[-800.0, 800.0], &[-1e-9, 1e-9]] {
            assert!(!contradicts_itself(&naive, margins), "{margins:?}");
        }
        // Differences of numbers of 1e-16 over 1e-8.
        for margins in [&[0.0, 1.0][..], &[-5.0, 5.0], &[-1e-9, 1e-9]] {
            assert!(!contradicts_itself(&Claimed(softplus, forward), margins), "{margins:?}");
        }
        assert!(!contradicts_itself(&naive, &[]));
        assert!(!contradicts_itself(&naive, &[f64::NAN, f64::INFINITY, 1.0]));
        assert!(!contradicts_itself(&Claimed(|_| f64::NAN, |_| f64::NAN), &[1.0, 2.0]));
    }

    proptest! {
        /// No convex loss of this project is ever accused, near or far.
        #[test]
        fn our_losses_pass(
            seed in proptest::collection::vec(-1.0f64..1.0, 1..700),
            scale in -6.0f64..6.0,
            shift in -3.0f64..3.0,
        ) {
            let registry = LossRegistry::standard();
            let scale = 10f64.powf(scale);
            let margins: Vec<f64> = seed.iter().map(|u| scale * (u + shift)).collect();
            for name in registry.names() {
                let loss = registry.parse(name).expect("defaults");
                prop_assert!(!contradicts_itself(&*loss, &margins), "{} {}", name, scale);
            }
        }
    }
}
