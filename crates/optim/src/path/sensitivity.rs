//! Bounds how far scores can move with the gap of a fit, and without one of its samples.

use margins_losses::MarginLoss;

use crate::problem::EmpiricalRisk;
use crate::{Fit, Lambda};

/// How far scores of samples can move with the function that gives them:
/// `|f(x) - g(x)| <= ||f - g|| ||x||`, in the norm that the penalty is the square of.
///
/// The norm of a sample is that of its features for linear functions, scaled if those of the fit are,
/// and `sqrt(K(x, x))` for a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// The norm of every sample held out.
    pub held_out: Vec<f64>,
    /// The largest norm of a sample of the fit.
    pub training: f64,
}

impl Sensitivity {
    /// Takes the squares of the norms of all samples, those of the fit, and those held out.
    pub fn of_squares(squares: &[f64], rows: &[usize], held_out: &[usize]) -> Self {
        let norm = |&i: &usize| squares[i].max(0.0).sqrt();
        Sensitivity {
            held_out: held_out.iter().map(norm).collect(),
            training: rows.iter().map(norm).fold(0.0, f64::max),
        }
    }

    /// Returns true for every sample held out whose class an exact minimiser might decide otherwise,
    /// given the scores of a fit.
    ///
    /// The class is certain if the size of the score is above the distance to that of the minimiser.
    pub(super) fn unproven(&self, fit: &Fit, has_intercept: bool, scores: &[f64]) -> Vec<bool> {
        let distances = self.distances(fit.report.duality_gap, fit.lambda, has_intercept);
        let is_open = |(score, distance): (&f64, f64)| distance > 0.0 && score.abs() <= distance;
        scores.iter().zip(distances).map(is_open).collect()
    }

    /// Returns true if a score is so small that it may well have another sign at the minimum: at
    /// most a tenth of the distance that the gap allows it to have from there, for real distances are
    /// far smaller than these bounds.
    pub fn may_turn(&self, gap: f64, lambda: Lambda, has_intercept: bool, scores: &[f64]) -> bool {
        const SHARE: f64 = 0.1;
        let distances = self.distances(gap, lambda, has_intercept);
        scores.iter().zip(distances).any(|(score, distance)| score.abs() < SHARE * distance)
    }

    /// Returns how far the score of every sample held out can be from that of the minimiser.
    ///
    /// With duality gap g the function of a fit lies within `sqrt(g/lambda)` of that of the minimiser,
    /// for `lambda ||f||^2` makes the objective strongly convex. Scores of the fit that move by at
    /// most r move the intercept that is best for them by at most r. So the distance is
    /// `sqrt(g/lambda)` times the sum of the norm of the sample and, if there is an intercept, the
    /// largest norm of a sample of the fit.
    fn distances(
        &self,
        gap: f64,
        lambda: Lambda,
        has_intercept: bool,
    ) -> impl Iterator<Item = f64> {
        let distance = (gap.max(0.0) / lambda.get()).sqrt();
        let of_intercept = if has_intercept { self.training } else { 0.0 };
        self.held_out.iter().map(move |norm| distance * (norm + of_intercept))
    }
}

/// Bounds on the share of samples that a classifier gets wrong if it is fitted without them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeaveOneOutBounds {
    /// The share of samples that are certainly wrong.
    pub lower: f64,
    /// The share of samples that may be wrong.
    pub upper: f64,
}

/// Returns bounds on the leave-one-out error of a fit without an intercept, by the counts of the
/// risk; without a refit. A sample left out has weight 0, and n and lambda stay what they are. `gap`
/// is the duality gap of the fit, `margins` has its margins `u_i`, and `squares` the squared norms
/// `K_ii` of the samples. `None` for an intercept, a lambda of 0, or a loss that is not convex.
///
/// Let f be the minimiser, h the minimiser without sample k, and `s = -L'(u_k)`. The conditions of
/// optimality of both, less each other, times `f - h`, and the convexity of the losses give
/// `2 lambda ||f - h||^2 <= (c_k/n) s (u_k - u_k(h))`. So leaving out k moves the margin of k against
/// the loss, by at most `(c_k/n) |s| K_kk/(2 lambda)`, which is `|a_k| K_kk` for the coefficients of
/// a kernel fit. The margins of the minimiser are within `sqrt(gap K_kk/lambda)` of those of the fit.
///
/// Source: the stability of Kwon and Zou, *Leaky hockey stick loss*, JMLR 24 (2023), A.13 and theorem
/// 7, for each sample instead of the supremum over all.
///
/// # Panics
/// If there is not one margin and one square per sample.
///
/// ```
/// use margins_data::Labels;
/// use margins_losses::LeakyHockeyStick;
/// use margins_optim::problem::EmpiricalRisk;
/// use margins_optim::{Lambda, leave_one_out_bounds};
///
/// let labels = Labels::from_signs(vec![1.0, -1.0])?;
/// let risk = EmpiricalRisk::new(&LeakyHockeyStick, &labels)?.without_intercept();
/// let lambda = Lambda::new(1.0)?;
/// let bounds = |u: f64| leave_one_out_bounds(&risk, lambda, 0.0, &[u; 2], &[1.0; 2]).unwrap();
/// // f(x) = x/2 minimises the mean loss plus the penalty on the samples 1 and -1. Without one of them
/// // its margin 1/2 falls by at most 1/4.
/// assert_eq!(bounds(0.5).upper, 0.0);
/// // f = 0 minimises it on 1 and 1, of which either is wrong by the other.
/// assert_eq!((bounds(0.0).lower, bounds(0.0).upper), (0.0, 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn leave_one_out_bounds<L: MarginLoss + ?Sized>(
    risk: &EmpiricalRisk<'_, L>,
    lambda: Lambda,
    gap: f64,
    margins: &[f64],
    squares: &[f64],
) -> Option<LeaveOneOutBounds> {
    let (weights, counts, loss) = (risk.weights(), risk.counts(), risk.loss());
    assert!(margins.len() == weights.len() && squares.len() == weights.len(), "one per sample");
    if risk.has_intercept() || lambda == Lambda::NONE || !loss.is_convex() || gap.is_nan() {
        return None;
    }
    let distance = (gap.max(0.0) / lambda.get()).sqrt();
    let (mut lower, mut upper, mut total) = (0.0, 0.0, 0.0);
    for (i, &u) in margins.iter().enumerate() {
        let (square, count) = (squares[i].max(0.0), counts[i]);
        let step = weights[i] * square / (2.0 * lambda.get());
        // The margin of the minimiser, and beyond, so that a kink at an end has all of its slopes.
        let blur = distance * square.sqrt();
        let (least, most) = ((u - blur).next_down(), (u + blur).next_up());
        let lowest = least - step * (-loss.derivative(least)).max(0.0);
        let highest = most + step * loss.derivative(most).max(0.0);
        total += count;
        lower += if highest < 0.0 { count } else { 0.0 };
        upper += if lowest > 0.0 { 0.0 } else { count };
    }
    Some(LeaveOneOutBounds { lower: lower / total, upper: upper / total })
}
