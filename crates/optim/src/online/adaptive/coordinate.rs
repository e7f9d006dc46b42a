//! The state of all experts for one feature.

use super::coin::Coin;

/// The lengths of the adaptive steps: that of Vowpal Wabbit, 4 and 16 times it.
pub(super) const LENGTHS: [f64; 3] = [0.5, 2.0, 8.0];
/// The number of experts: one for each length, and the coin bettor, which is the last.
pub(super) const EXPERTS: usize = LENGTHS.len() + 1;
/// The place of the coin bettor.
pub(super) const COIN: usize = EXPERTS - 1;

/// The state of the experts for a feature. All numbers but the unit are those of the feature divided
/// by its largest value, so that its units are in `unit` alone.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(super) struct Coordinate {
    /// One over the largest absolute value so far, 0 before the first.
    unit: f64,
    pub(super) weights: [f64; EXPERTS],
    /// The roots of the sums of squared slopes, one for each length.
    roots: [f64; LENGTHS.len()],
    coin: Coin,
    /// The number of steps whose penalty is in the weights.
    settled: u64,
    /// The part of the sum of the iterates that does not follow from the weights.
    pub(super) rest: f64,
}

/// The penalty of a step on a weight.
#[derive(Clone, Copy)]
pub(super) struct Shrinkage {
    /// The factor `2 lambda`.
    pub(super) penalty: f64,
    /// The steepest slope of a sample so far.
    pub(super) steepest: f64,
    pub(super) lengths: [f64; LENGTHS.len()],
}

/// The information in one sample that updates the experts.
#[derive(Clone, Copy)]
pub(super) struct Lesson {
    /// The weighted slope `h L'(u) y` at the score of the coin bettor.
    pub(super) slope: f64,
    /// The factors by which the steps of each length move the weights.
    pub(super) moves: [f64; LENGTHS.len()],
    pub(super) steepest: f64,
    /// The wealth that a coin bettor begins with.
    pub(super) wealth: f64,
}

impl Coordinate {
    #[inline(always)]
    pub(super) fn coefficients(&self) -> [f64; EXPERTS] {
        self.weights.map(|weight| weight * self.unit)
    }

    /// Returns a value in units of the largest, or 0 before the first value: its products with the
    /// weights are then those of the value with the coefficients.
    #[inline(always)]
    pub(super) fn in_units(&self, value: f64) -> f64 {
        value * self.unit
    }

    /// Makes the unit that of a value larger than all before, which then is 1; the weights
    /// stay as they are, so that no old weight multiplies a value larger than those it was made of
    /// (Ross, Mineiro and Langford 2013, algorithm 2, whose coefficients shrink).
    #[inline(always)]
    pub(super) fn grow(&mut self, value: f64) {
        let size = value.abs();
        if size * self.unit > 1.0 || self.unit == 0.0 {
            // The unit of a value below the normal numbers would be infinite.
            let unit = size.recip().min(f64::MAX);
            let ratio = if self.unit > 0.0 { unit / self.unit } else { 0.0 };
            self.roots = self.roots.map(|root| root * ratio);
            self.unit = unit;
        }
    }

    /// Applies the penalty of the steps since the last time at once.
    #[inline(always)]
    pub(super) fn settle(&mut self, shrinkage: &Shrinkage, steps: u64) {
        let missed = (steps - self.settled) as f64;
        self.settled = steps;
        let pull = shrinkage.penalty * missed * self.unit * self.unit;
        if pull == 0.0 {
            return;
        }
        for k in 0..LENGTHS.len() {
            // An implicit step on the penalty, as long as all those that were missed.
            self.weights[k] *= self.roots[k] / (self.roots[k] + shrinkage.lengths[k] * pull);
        }
        self.coin.resist(self.weights[COIN], pull, shrinkage.steepest);
    }

    /// Adds the squares of the slopes by the steps to their sums, and returns the value over the
    /// root of each sum: what a step of length 1 moves the weights by.
    #[inline(always)]
    pub(super) fn measure(
        &mut self,
        value: f64,
        roots_of_squares: &[f64; EXPERTS],
    ) -> [f64; LENGTHS.len()] {
        let mut pulls = [0.0; LENGTHS.len()];
        for k in 0..LENGTHS.len() {
            let slope = roots_of_squares[k] * value;
            let root = (self.roots[k] * self.roots[k] + slope * slope).sqrt();
            self.roots[k] = root;
            pulls[k] = if root > 0.0 { value / root } else { 0.0 };
        }
        pulls
    }

    #[inline(always)]
    pub(super) fn step(&mut self, pulls: &[f64; LENGTHS.len()], lesson: &Lesson) {
        for ((weight, length), pull) in self.weights.iter_mut().zip(lesson.moves).zip(pulls) {
            *weight += length * pull;
        }
    }

    /// Settles the bet of the coin bettor and places the next.
    #[inline(always)]
    pub(super) fn bet(&mut self, value: f64, lesson: &Lesson) {
        let slope = -lesson.slope * value;
        self.weights[COIN] =
            self.coin.toss(self.weights[COIN], slope, lesson.steepest, lesson.wealth);
    }
}
