//! Platt scaling of scores to probabilities, by Newton's method.

use margins_losses::OutOfRange;

use super::check_scores;
use crate::Error;

/// Platt scaling: `P(y = +1 | f) = 1/(1 + exp(a f + b))` for a score f.
///
/// a and b minimise the cross-entropy with the targets `(N+ + 1)/(N+ + 2)` for the N+ positives and
/// `1/(N- + 2)` for the N- negatives, which keep the minimiser finite on separable scores. a is at
/// most 0, so that probabilities never fall as scores rise. Where the minimum is at a = 0, as for
/// equal scores or scores that speak for the wrong class, the probability is the mean target at every
/// score. With weights, N+ and N- are
/// the sums of the weights, and a sample of weight k counts as k samples of weight 1.
///
/// Source: Platt 1999; Lin, Lin and Weng, *A note on Platt's probabilistic outputs for support
/// vector machines* (2007): Newton's method with backtracking, on scores that are standardised
/// first.
///
/// It is written as its five numbers, `1/(1 + exp(slope (f - center)/spread + intercept))` and the
/// number of Newton steps; numbers that are no scaling are refused when they are read.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Numbers"))]
pub struct PlattScaling {
    center: f64,
    // The spread is 0 only if the slope is 0.
    spread: f64,
    // The slope in the standardised score.
    slope: f64,
    intercept: f64,
    iterations: usize,
}

/// The numbers of a scaling as they are read from a file.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    center: f64,
    spread: f64,
    slope: f64,
    intercept: f64,
    iterations: usize,
}

#[cfg(feature = "serde")]
impl TryFrom<Numbers> for PlattScaling {
    type Error = Error;

    fn try_from(numbers: Numbers) -> Result<Self, Error> {
        let Numbers { center, spread, slope, intercept, iterations } = numbers;
        let finite = |name, value| OutOfRange::check(name, value, "finite", |_| true);
        finite("the center of a Platt scaling", center)?;
        finite("the slope of a Platt scaling", slope)?;
        finite("the intercept of a Platt scaling", intercept)?;
        let range = "finite and greater than 0, or 0 with a slope of 0";
        let in_range = |spread| spread > 0.0 || (spread == 0.0 && slope == 0.0);
        OutOfRange::check("the spread of a Platt scaling", spread, range, in_range)?;
        Ok(PlattScaling { center, spread, slope, intercept, iterations })
    }
}

const MAX_ITERATIONS: usize = 100;
/// The tolerance on the squared Newton decrement, which is the squared distance from the minimiser
/// in standard errors of the parameters.
const TOLERANCE: f64 = 1e-20;

impl PlattScaling {
    /// Fits held-out scores and their signs, +1 or -1.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Empty`]: the slices are of different or zero length.
    /// [`Error::NotFinite`]: a score is not finite. [`Error::Entry`]: a sign is not +1 or -1.
    /// [`Error::OneClass`]: all signs are of one class. [`Error::NotConverged`]: 100 Newton steps
    /// do not reach the minimiser of this convex function to within 1e-10 standard errors.
    pub fn fit(scores: &[f64], signs: &[f64]) -> Result<Self, Error> {
        Self::fit_weighted(scores, signs, &vec![1.0; scores.len()])
    }

    /// Fits held-out scores and their signs, +1 or -1, with weights. A sample of weight k counts as
    /// k samples, one of weight 0 as none.
    ///
    /// ```
    /// use margins_calibration::probability::PlattScaling;
    ///
    /// let repeated = PlattScaling::fit(&[-1.0, 0.5, 0.5, 2.0], &[-1.0, -1.0, -1.0, 1.0])?;
    /// let weighted = PlattScaling::fit_weighted(&[-1.0, 0.5, 2.0], &[-1.0, -1.0, 1.0], &[1.0, 2.0, 1.0])?;
    /// assert!((repeated.probability(1.0) - weighted.probability(1.0)).abs() < 1e-9);
    /// # Ok::<(), margins_calibration::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`fit`](Self::fit), where a class without weight is missing. [`Error::Entry`]:
    /// a weight is negative or not finite. [`Error::Parameter`]: the sum of the weights overflows.
    pub fn fit_weighted(scores: &[f64], signs: &[f64], weights: &[f64]) -> Result<Self, Error> {
        check_scores(scores, signs)?;
        Error::check_length("weights, one a score", scores.len(), weights.len())?;
        Error::check_entries("weight", weights, "finite and at least 0", |w| {
            w.is_finite() && w >= 0.0
        })?;
        let samples: Vec<Sample> = scores
            .iter()
            .zip(signs)
            .zip(weights)
            .filter(|&(_, &weight)| weight > 0.0)
            .map(|((&score, &sign), &weight)| Sample { score, sign, weight })
            .collect();
        Self::of(samples)
    }

    /// Returns the scaling of checked samples that all weigh something.
    fn of(mut samples: Vec<Sample>) -> Result<Self, Error> {
        let sum = |wanted: f64| -> f64 {
            samples.iter().filter(|s| s.sign == wanted).map(|s| s.weight).sum()
        };
        let (positives, negatives) = (sum(1.0), sum(-1.0));
        if positives == 0.0 || negatives == 0.0 {
            return Err(Error::OneClass(samples.len()));
        }
        let total = positives + negatives;
        OutOfRange::check("the sum of the weights", total, "finite", |_| true)?;
        // The minimiser does not depend on the unit of the weights, but the tolerance is for a mean
        // of 1.
        let mean = total / samples.len() as f64;
        samples.iter_mut().for_each(|sample| sample.weight /= mean);
        let (center, spread) = center_and_spread(&samples);
        let high = (positives + 1.0) / (positives + 2.0);
        let low = 1.0 / (negatives + 2.0);
        let constant = |iterations| {
            let (yes, no) = (
                positives * high + negatives * low,
                positives * (1.0 - high) + negatives * (1.0 - low),
            );
            let intercept = (no / yes).ln();
            PlattScaling { center, spread, slope: 0.0, intercept, iterations }
        };
        if spread == 0.0 {
            return Ok(constant(0));
        }
        let entropy = CrossEntropy {
            samples: samples
                .iter()
                .map(|&Sample { score, sign, weight }| {
                    let target = if sign > 0.0 { high } else { low };
                    (standardize(score, center, spread), target, weight)
                })
                .collect(),
        };
        let start = [0.0, ((negatives + 1.0) / (positives + 1.0)).ln()];
        let ([slope, intercept], iterations) = entropy.minimize(start)?;
        // The function is convex: a minimum at a > 0 leaves a = 0 as the best of the others.
        if slope >= 0.0 {
            return Ok(constant(iterations));
        }
        Ok(PlattScaling { center, spread, slope, intercept, iterations })
    }

    /// Returns P(y = +1) at a score; NaN at NaN, unless the slope is 0.
    pub fn probability(&self, score: f64) -> f64 {
        // If the score overflows in units of the spread, its product with a slope of 0 is NaN.
        let z = if self.slope == 0.0 {
            self.intercept
        } else {
            self.slope * standardize(score, self.center, self.spread) + self.intercept
        };
        logistic(z)
    }

    /// Returns a, negative if larger scores speak for +1, else 0.
    pub fn slope(&self) -> f64 {
        if self.spread == 0.0 { 0.0 } else { self.slope / self.spread }
    }

    /// Returns b.
    pub fn intercept(&self) -> f64 {
        self.intercept - self.slope() * self.center
    }

    /// Returns the number of Newton steps taken.
    pub fn iterations(&self) -> usize {
        self.iterations
    }
}

fn standardize(score: f64, center: f64, spread: f64) -> f64 {
    let difference = score - center;
    // The difference may overflow where the quotients do not.
    if difference.is_finite() { difference / spread } else { score / spread - center / spread }
}

/// Returns the mean and standard deviation of the scores, without overflow; the deviation is 0 only
/// if all scores are equal. The mean of the weights is 1.
fn center_and_spread(samples: &[Sample]) -> (f64, f64) {
    let largest = samples.iter().fold(0.0f64, |largest, s| largest.max(s.score.abs()));
    if samples.iter().all(|s| s.score == samples[0].score) {
        return (samples[0].score, 0.0);
    }
    let n = samples.len() as f64;
    let average = |of: &dyn Fn(f64) -> f64| {
        samples.iter().map(|s| s.weight * of(s.score / largest)).sum::<f64>() / n
    };
    let mean = average(&|f| f);
    let variance = average(&|f| (f - mean).powi(2));
    (mean * largest, variance.sqrt() * largest)
}

/// Returns 1/(1 + e^z), accurate to relative rounding for either sign.
fn logistic(z: f64) -> f64 {
    if z > 0.0 {
        let e = (-z).exp();
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + z.exp())
    }
}

/// A score with its sign and weight.
struct Sample {
    score: f64,
    sign: f64,
    weight: f64,
}

/// The function `-sum w (t log p + (1 - t) log(1 - p))` of samples (f, t, w), with
/// `p = logistic(a f + b)`.
struct CrossEntropy {
    samples: Vec<(f64, f64, f64)>,
}

impl CrossEntropy {
    fn value(&self, [a, b]: [f64; 2]) -> f64 {
        let term = |&(f, t, w): &(f64, f64, f64)| {
            let z = a * f + b;
            // log(1 + e^z) - (1 - t) z
            w * (z.max(0.0) + (-z.abs()).exp().ln_1p() - (1.0 - t) * z)
        };
        self.samples.iter().map(term).sum()
    }

    /// Returns the Newton step, and the squared decrement.
    fn newton_step(&self, [a, b]: [f64; 2]) -> ([f64; 2], f64) {
        let (mut g1, mut g2) = (0.0, 0.0);
        // The ridge keeps the Hessian definite when all probabilities are 0 or 1.
        const RIDGE: f64 = 1e-12;
        let (mut h11, mut h12, mut h22) = (RIDGE, 0.0, RIDGE);
        for &(f, t, w) in &self.samples {
            let z = a * f + b;
            let p = logistic(z);
            let (pull, curvature) = (w * (t - p), w * p * logistic(-z));
            g1 += f * pull;
            g2 += pull;
            h11 += f * f * curvature;
            h12 += f * curvature;
            h22 += curvature;
        }
        let determinant = h11 * h22 - h12 * h12;
        let step = [(h12 * g2 - h22 * g1) / determinant, (h12 * g1 - h11 * g2) / determinant];
        (step, -(g1 * step[0] + g2 * step[1]))
    }

    fn minimize(&self, start: [f64; 2]) -> Result<([f64; 2], usize), Error> {
        let mut point = start;
        let mut value = self.value(point);
        for iteration in 0..=MAX_ITERATIONS {
            let (step, decrement) = self.newton_step(point);
            if decrement.abs() <= TOLERANCE {
                return Ok((point, iteration));
            }
            let mut length = 1.0;
            loop {
                let next = [point[0] + length * step[0], point[1] + length * step[1]];
                let next_value = self.value(next);
                // The last term allows for rounding: near the minimiser no decrease is visible.
                if next_value <= value - 1e-4 * length * decrement + 1e-14 * value.abs() {
                    (point, value) = (next, next_value);
                    break;
                }
                length *= 0.5;
                if length < 1e-10 {
                    return Err(not_converged(iteration));
                }
            }
        }
        Err(not_converged(MAX_ITERATIONS))
    }
}

fn not_converged(iterations: usize) -> Error {
    Error::NotConverged { what: "Platt scaling", iterations }
}
