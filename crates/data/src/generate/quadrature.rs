//! The Bayes error of a mixture in the plane: the integral of min(p(x|+1), p(x|-1)) / 2.
//!
//! The integrand has a kink along the decision boundary, where a rule of any order gains little, so
//! that squares are halved where their error is largest.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::GaussianMixture;

/// An integral with an estimate of its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quadrature {
    /// The integral.
    pub rate: f64,
    /// The sum of the changes that the last refinement made, without regard to their signs: as a
    /// rule well above the true error.
    pub error: f64,
}

/// The number of sigma from all centres of a class beyond which squares are left out. The class has
/// a probability of at most exp(-9^2/2) = 3e-18 there, and the minimum is no more.
const REACH: f64 = 9.0;

/// The most squares to work on: some seconds for twenty centres.
const MOST_SQUARES: usize = 1 << 19;

/// A square by its centre, with its integral by one rule and by the rule on its four quarters.
struct Square {
    x: f64,
    y: f64,
    half: f64,
    quarters: [f64; 4],
    error: f64,
}

impl Square {
    fn integral(&self) -> f64 {
        self.quarters.iter().sum()
    }
}

// Ordered by error, then by place, so that the heap's order is the same in every run.
impl Ord for Square {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |square: &Square| [square.error, square.x, square.y];
        let order = key(self).into_iter().zip(key(other)).map(|(a, b)| a.total_cmp(&b));
        order.fold(Ordering::Equal, Ordering::then)
    }
}

impl PartialOrd for Square {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Square {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Square {}

/// Returns the Bayes error of a mixture with p = 2.
pub(super) fn bayes_error(mixture: &GaussianMixture, tolerance: f64) -> Quadrature {
    let mut squares = BinaryHeap::new();
    for (x, y, half) in cover(mixture) {
        squares.push(refine(mixture, x, y, half, rule(mixture, x, y, half)));
    }
    let mut error: f64 = squares.iter().map(|square| square.error).sum();
    while error > tolerance && squares.len() < MOST_SQUARES {
        let Some(worst) = squares.pop() else { break };
        error -= worst.error;
        for ((x, y, half), coarse) in quarters(worst.x, worst.y, worst.half).zip(worst.quarters) {
            let square = refine(mixture, x, y, half, coarse);
            error += square.error;
            squares.push(square);
        }
    }
    // Summed again, in a fixed order and without the rounding of the running sum.
    let squares = squares.into_sorted_vec();
    Quadrature {
        rate: squares.iter().map(Square::integral).sum(),
        error: squares.iter().map(|square| square.error).sum(),
    }
}

fn refine(mixture: &GaussianMixture, x: f64, y: f64, half: f64, coarse: f64) -> Square {
    let mut fine = [0.0; 4];
    for ((x, y, half), integral) in quarters(x, y, half).zip(&mut fine) {
        *integral = rule(mixture, x, y, half);
    }
    Square { x, y, half, quarters: fine, error: (fine.iter().sum::<f64>() - coarse).abs() }
}

fn quarters(x: f64, y: f64, half: f64) -> impl Iterator<Item = (f64, f64, f64)> {
    let h = half / 2.0;
    [(-h, -h), (-h, h), (h, -h), (h, h)].into_iter().map(move |(dx, dy)| (x + dx, y + dy, h))
}

/// Returns the integral over a square by the Gauss-Legendre rule with 3 x 3 points.
fn rule(mixture: &GaussianMixture, x: f64, y: f64, half: f64) -> f64 {
    let node = 0.6f64.sqrt();
    let points = [(-node, 5.0 / 9.0), (0.0, 8.0 / 9.0), (node, 5.0 / 9.0)];
    let mut sum = 0.0;
    for (s, weight_x) in points {
        for (t, weight_y) in points {
            sum += weight_x * weight_y * smaller_density(mixture, [x + half * s, y + half * t]);
        }
    }
    sum * half * half / 2.0
}

/// Returns min(p(x|+1), p(x|-1)).
fn smaller_density(mixture: &GaussianMixture, x: [f64; 2]) -> f64 {
    let variance = mixture.deviation() * mixture.deviation();
    let density = |sign: f64| {
        let centres = mixture.centres(sign);
        let sum: f64 = centres
            .iter()
            .map(|c| {
                let (dx, dy) =
                    ((x[0] - c[0]) / mixture.deviation(), (x[1] - c[1]) / mixture.deviation());
                (-(dx * dx + dy * dy) / 2.0).exp()
            })
            .sum();
        sum / centres.len() as f64
    };
    density(1.0).min(density(-1.0)) / (std::f64::consts::TAU * variance)
}

/// Returns squares no wider than sigma that cover all of the plane within reach of both classes.
fn cover(mixture: &GaussianMixture) -> Vec<(f64, f64, f64)> {
    let reach = REACH * mixture.deviation();
    let within_reach = |x: f64, y: f64, half: f64| {
        [1.0, -1.0].iter().all(|&sign| {
            mixture.centres(sign).iter().any(|c| {
                let gap = |from: f64, to: f64| ((to - from).abs() - half).max(0.0);
                gap(x, c[0]).hypot(gap(y, c[1])) <= reach
            })
        })
    };
    let all = || mixture.centres(1.0).iter().chain(mixture.centres(-1.0));
    let extent = |column: usize| {
        let low = all().map(|c| c[column]).fold(f64::INFINITY, f64::min) - reach;
        let high = all().map(|c| c[column]).fold(f64::NEG_INFINITY, f64::max) + reach;
        (low / 2.0 + high / 2.0, high / 2.0 - low / 2.0)
    };
    let ((x, half_x), (y, half_y)) = (extent(0), extent(1));
    let mut large = vec![(x, y, half_x.max(half_y))];
    let mut covering = Vec::new();
    while let Some((x, y, half)) = large.pop() {
        // A square that rounding cannot halve is narrow enough.
        let narrow =
            2.0 * half <= mixture.deviation() || x + half / 2.0 == x || y + half / 2.0 == y;
        match within_reach(x, y, half) {
            true if narrow => covering.push((x, y, half)),
            true => large.extend(quarters(x, y, half)),
            false => {}
        }
    }
    covering
}

#[cfg(test)]
mod tests {
    use crate::generate::{Example, GaussianMixture};

    #[test]
    fn two_normals_have_the_error_of_the_textbook() {
        // Centres 2 sigma apart: the error is the normal distribution function at -1.
        for deviation in [1.0, 1e-3, 1e50] {
            let centre = |x: f64| vec![vec![x * deviation, 0.0]];
            let mixture =
                GaussianMixture::with_centres(centre(1.0), centre(-1.0), deviation).unwrap();
            let bayes = mixture.bayes_error_quadrature(1e-6).unwrap();
            assert!(bayes.error <= 1e-6);
            assert!((bayes.rate - 0.158_655_253_931_457).abs() <= bayes.error, "{bayes:?}");
        }
    }

    #[test]
    fn quadrature_agrees_with_monte_carlo() {
        for (example, seed) in [(Example::One, 1), (Example::One, 2), (Example::Two, 3)] {
            let mixture = GaussianMixture::example(example, seed).unwrap();
            let exact = mixture.bayes_error_quadrature(1e-4).unwrap();
            let estimate = mixture.bayes_error_estimate(50_000, seed).unwrap();
            let distance = (exact.rate - estimate.rate).abs();
            assert!(distance < 4.0 * estimate.standard_error + exact.error, "{exact:?}");
        }
    }

    #[test]
    fn identical_classes_cannot_be_told_apart() {
        let centres = vec![vec![0.5, -0.5], vec![2.0, 1.0]];
        let mixture = GaussianMixture::with_centres(centres.clone(), centres, 0.1).unwrap();
        let bayes = mixture.bayes_error_quadrature(1e-9).unwrap();
        assert!((bayes.rate - 0.5).abs() < 1e-9, "{bayes:?}");
    }

    #[test]
    fn classes_far_apart_have_no_error() {
        let (positive, negative) = (vec![vec![0.0, 0.0]], vec![vec![1e6, 1e6]]);
        let mixture = GaussianMixture::with_centres(positive, negative, 1e-3).unwrap();
        let bayes = mixture.bayes_error_quadrature(1e-9).unwrap();
        assert_eq!((bayes.rate, bayes.error), (0.0, 0.0));
    }
}
