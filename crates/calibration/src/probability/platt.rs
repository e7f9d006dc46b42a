#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::check_scores;
use crate::Error;

/// Platt scaling: `P(y = +1 | f) = 1/(1 + exp(a f + b))` for a score f.
///
/// a and b minimise the cross-entropy with the targets `(N+ + 1)/(N+ + 2)` for the N+ positives and
/// `1/(N- + 2)` for the N- negatives, which keep the minimiser finite on separable scores. If all
/// scores are equal, then a = 0 and the probability is the mean target.
///
/// Source: Platt 1999; Lin, Lin and Weng, *A note on Platt's probabilistic outputs for support
/// vector machines* (2007): Newton's method with backtracking, on scores that are standardised
/// first.
///
/// Written as its five numbers, `1/(1 + exp(slope (f - center)/spread + intercept))` and the Newton steps; numbers that
/// are no scaling are refused when they are read.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(try_from = "Numbers"))]
pub struct PlattScaling {
    center: f64,
    // 0 only with a slope of 0.
    spread: f64,
    // In the standardised score.
    slope: f64,
    intercept: f64,
    iterations: usize,
}

/// What is read, of which nothing is known.
#[cfg(feature = "serde")]
#[derive(Deserialize)]
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
        let finite = |name, value| Error::check(name, value, "finite", |_| true);
        finite("the center of a Platt scaling", center)?;
        finite("the slope of a Platt scaling", slope)?;
        finite("the intercept of a Platt scaling", intercept)?;
        let range = "finite and greater than 0, or 0 with a slope of 0";
        let in_range = |spread| spread > 0.0 || (spread == 0.0 && slope == 0.0);
        Error::check("the spread of a Platt scaling", spread, range, in_range)?;
        Ok(PlattScaling { center, spread, slope, intercept, iterations })
    }
}

const MAX_ITERATIONS: usize = 100;
/// On the squared Newton decrement, which is the squared distance from the minimiser in standard
/// errors of the parameters.
const TOLERANCE: f64 = 1e-20;

impl PlattScaling {
    /// Fits held-out scores and their signs, +1 or -1.
    ///
    /// # Errors
    /// Slices of different or zero length, a score that is not finite, another sign, one class
    /// only; [`Error::NotConverged`] if 100 Newton steps do not reach the minimiser of this convex
    /// function to within 1e-10 standard errors.
    pub fn fit(scores: &[f64], signs: &[f64]) -> Result<Self, Error> {
        let positives = check_scores(scores, signs)?;
        let negatives = signs.len() - positives;
        if positives == 0 || negatives == 0 {
            return Err(Error::OneClass(signs.len()));
        }
        let (positives, negatives) = (positives as f64, negatives as f64);
        let (center, spread) = center_and_spread(scores);
        let high = (positives + 1.0) / (positives + 2.0);
        let low = 1.0 / (negatives + 2.0);
        if spread == 0.0 {
            let (yes, no) = (
                positives * high + negatives * low,
                positives * (1.0 - high) + negatives * (1.0 - low),
            );
            let intercept = (no / yes).ln();
            return Ok(PlattScaling { center, spread, slope: 0.0, intercept, iterations: 0 });
        }
        let entropy = CrossEntropy {
            samples: scores
                .iter()
                .zip(signs)
                .map(|(f, &y)| (standardize(*f, center, spread), if y > 0.0 { high } else { low }))
                .collect(),
        };
        let start = [0.0, ((negatives + 1.0) / (positives + 1.0)).ln()];
        let ([slope, intercept], iterations) = entropy.minimize(start)?;
        Ok(PlattScaling { center, spread, slope, intercept, iterations })
    }

    /// P(y = +1) at a score; NaN at NaN, but where the slope is 0.
    pub fn probability(&self, score: f64) -> f64 {
        // Of a slope of 0 alone the product with a score that overflows in units of the spread would be NaN.
        let z = if self.slope == 0.0 {
            self.intercept
        } else {
            self.slope * standardize(score, self.center, self.spread) + self.intercept
        };
        logistic(z)
    }

    /// a, negative if larger scores speak for +1.
    pub fn slope(&self) -> f64 {
        if self.spread == 0.0 { 0.0 } else { self.slope / self.spread }
    }

    /// b.
    pub fn intercept(&self) -> f64 {
        self.intercept - self.slope() * self.center
    }

    /// Newton steps taken.
    pub fn iterations(&self) -> usize {
        self.iterations
    }
}

fn standardize(score: f64, center: f64, spread: f64) -> f64 {
    let difference = score - center;
    // The difference alone may overflow.
    if difference.is_finite() { difference / spread } else { score / spread - center / spread }
}

/// Mean and standard deviation, which is 0 only if all scores are equal; no overflow.
fn center_and_spread(scores: &[f64]) -> (f64, f64) {
    let largest = scores.iter().fold(0.0f64, |largest, f| largest.max(f.abs()));
    if scores.iter().all(|f| f == &scores[0]) {
        return (scores[0], 0.0);
    }
    let n = scores.len() as f64;
    let mean = scores.iter().map(|f| f / largest).sum::<f64>() / n;
    let variance = scores.iter().map(|f| (f / largest - mean).powi(2)).sum::<f64>() / n;
    (mean * largest, variance.sqrt() * largest)
}

/// 1/(1 + e^z), accurate to relative rounding for either sign.
fn logistic(z: f64) -> f64 {
    if z > 0.0 {
        let e = (-z).exp();
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + z.exp())
    }
}

/// `-sum t log p + (1 - t) log(1 - p)` of samples (f, t), with `p = logistic(a f + b)`.
struct CrossEntropy {
    samples: Vec<(f64, f64)>,
}

impl CrossEntropy {
    fn value(&self, [a, b]: [f64; 2]) -> f64 {
        let term = |&(f, t): &(f64, f64)| {
            let z = a * f + b;
            // log(1 + e^z) - (1 - t) z
            z.max(0.0) + (-z.abs()).exp().ln_1p() - (1.0 - t) * z
        };
        self.samples.iter().map(term).sum()
    }

    /// The Newton step, and the squared decrement.
    fn newton_step(&self, [a, b]: [f64; 2]) -> ([f64; 2], f64) {
        let (mut g1, mut g2) = (0.0, 0.0);
        // Keeps the Hessian definite when all probabilities are 0 or 1.
        const RIDGE: f64 = 1e-12;
        let (mut h11, mut h12, mut h22) = (RIDGE, 0.0, RIDGE);
        for &(f, t) in &self.samples {
            let z = a * f + b;
            let p = logistic(z);
            let curvature = p * logistic(-z);
            g1 += f * (t - p);
            g2 += t - p;
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
                // To rounding: near the minimiser no decrease is to be seen.
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
