//! A learner without a step length to choose, for features in any units.

mod coin;
mod coordinate;
mod mixture;

use margins_data::Sample;
use margins_losses::MarginLoss;

use super::{Example, LinearClassifier, OnlineLearner, Scorer};
use crate::{Error, Lambda};
use coordinate::{COIN, Coordinate, EXPERTS, LENGTHS, Lesson, Shrinkage};
use mixture::{Mean, Mixture, mix};

pub use mixture::Experts;

/// Online learning by adaptive, normalised and importance-aware steps, and by coin betting: the
/// score is the mean of those of [`Experts`], weighted by what each has lost so far.
///
/// An expert of adaptive steps moves the coefficient of a feature by its value over its largest
/// value and over the root of the sum of its squared slopes (Duchi, Hazan and Singer 2011; Ross,
/// Mineiro and Langford 2013), as far along the loss as [`MarginLoss::flow`] says (Karampatziakis
/// and Langford 2011): no step passes the minimiser of the loss of its sample, however large its
/// weight. The coin bettor has no step length (Orabona and Tommasi 2017). When a
/// feature is multiplied by a number, the scores do not change but for rounding, if there is no
/// penalty.
///
/// A penalty `lambda ||w||^2` acts on the coefficients in the units given, by implicit steps in the
/// metric of the adaptive steps. A step costs O(nonzeros), with or without penalty and mean, a
/// snapshot O(p).
///
/// ```
/// use margins_data::Sample;
/// use margins_losses::Logistic;
/// use margins_optim::online::{Adaptive, Experts, OnlineLearner, Scorer};
///
/// let mut learner = Adaptive::new(Logistic, 2, Experts::All);
/// for _ in 0..20 {
///     learner.step(&Sample::Dense(&[1e5, 0.5]), 1.0)?;
///     learner.step(&Sample::Sparse { columns: &[1], values: &[-1.0], features: 2 }, -1.0)?;
/// }
/// assert!(learner.score(&Sample::Dense(&[0.0, 1.0])) > 0.0);
/// # Ok::<(), margins_optim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Adaptive<L> {
    loss: L,
    experts: Experts,
    /// The factor `2 lambda`.
    penalty: f64,
    has_intercept: bool,
    average_after: Option<u64>,
    steps: u64,
    /// The sum of the weights of the samples, and of their squared norms in units of the scales.
    seen: (f64, f64),
    /// The steepest slope of the loss of a sample under the coin bettor, times its weight.
    steepest: f64,
    mixture: Mixture,
    mean: Option<Mean>,
    /// The features, and after them the intercept, a feature of value 1: never empty.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "with_intercept"))]
    coordinates: Vec<Coordinate>,
    /// The present sample.
    #[cfg_attr(feature = "serde", serde(skip))]
    stored: Vec<Stored>,
}

/// Reads coordinates, of which the last is the intercept.
#[cfg(feature = "serde")]
fn with_intercept<'de, D>(text: D) -> Result<Vec<Coordinate>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    let coordinates: Vec<Coordinate> = serde::Deserialize::deserialize(text)?;
    match coordinates.is_empty() {
        true => {
            let expected = &"the coordinates of features and an intercept";
            Err(serde::de::Error::invalid_length(0, expected))
        }
        false => Ok(coordinates),
    }
}

/// A value of the present sample.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stored {
    column: usize,
    value: f64,
    /// What steps of length 1 move the weights of the adaptive steps by.
    pulls: [f64; LENGTHS.len()],
}

impl<L> Adaptive<L> {
    /// Returns a learner at the origin, with an intercept, without penalty and mean.
    pub fn new(loss: L, features: usize, experts: Experts) -> Self {
        Adaptive {
            loss,
            experts,
            penalty: 0.0,
            has_intercept: true,
            average_after: None,
            steps: 0,
            seen: (0.0, 0.0),
            steepest: 0.0,
            mixture: Mixture::default(),
            mean: None,
            coordinates: vec![Coordinate::default(); features + 1],
            stored: Vec::new(),
        }
    }

    /// Returns the learner with its loss in another form, such as `()` for a file, which cannot
    /// hold a function.
    pub fn map_loss<M>(self, form: impl FnOnce(L) -> M) -> Adaptive<M> {
        Adaptive {
            loss: form(self.loss),
            experts: self.experts,
            penalty: self.penalty,
            has_intercept: self.has_intercept,
            average_after: self.average_after,
            steps: self.steps,
            seen: self.seen,
            steepest: self.steepest,
            mixture: self.mixture,
            mean: self.mean,
            coordinates: self.coordinates,
            stored: self.stored,
        }
    }

    /// Adds the penalty `lambda ||w||^2` to the loss of every sample.
    #[must_use]
    pub fn penalized(self, lambda: Lambda) -> Self {
        Adaptive { penalty: 2.0 * lambda.get(), ..self }
    }

    /// Fixes the intercept at 0.
    #[must_use]
    pub fn without_intercept(self) -> Self {
        Adaptive { has_intercept: false, ..self }
    }

    /// Makes the classifier the mean of the iterates after this number of steps, once there is one.
    #[must_use]
    pub fn averaged_after(mut self, steps: u64) -> Self {
        self.average_after = Some(steps);
        self.average_if_due();
        self
    }

    /// Returns the number of steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns true if both have the same experts, penalty, intercept and mean.
    pub(crate) fn has_settings_of<M>(&self, other: &Adaptive<M>) -> bool {
        self.experts == other.experts
            && self.penalty == other.penalty
            && self.has_intercept == other.has_intercept
            && self.average_after == other.average_after
    }

    fn features(&self) -> usize {
        self.coordinates.len() - 1
    }

    fn average_if_due(&mut self) {
        if self.average_after == Some(self.steps) {
            self.mean = Some(Mean::default());
            self.coordinates.iter_mut().for_each(|coordinate| coordinate.rest = 0.0);
        }
    }

    /// Returns the root of the mean squared norm of a sample in units of the scales, over the norm
    /// of a sample with one feature: longer samples get shorter steps.
    fn activity(&self) -> f64 {
        let (weight, squares) = self.seen;
        if squares > 0.0 { (weight / squares).sqrt() } else { 1.0 }
    }

    fn shrinkage(&self) -> Shrinkage {
        let activity = self.activity();
        Shrinkage {
            penalty: self.penalty,
            steepest: self.steepest,
            lengths: LENGTHS.map(|length| length * activity),
        }
    }

    /// Returns the coefficient of a coordinate under the classifier: that of the mean of the
    /// iterates, or of the last iterate where there is no mean.
    fn coefficient(&self, coordinate: &Coordinate, shares: &[f64; EXPERTS]) -> f64 {
        match &self.mean {
            Some(mean) if mean.count > 0.0 => {
                (mix(&mean.factors, &coordinate.coefficients()) + coordinate.rest) / mean.count
            }
            _ => mix(shares, &coordinate.coefficients()),
        }
    }
}

impl<L: MarginLoss> Adaptive<L> {
    /// Takes a step on one example and returns the score of the sample before it.
    ///
    /// # Errors
    /// A number is not finite; the learner is then as it was before.
    #[inline(always)]
    pub(crate) fn learn(&mut self, example: &Example<'_>) -> Result<f64, Error> {
        let mut stored = std::mem::take(&mut self.stored);
        stored.clear();
        example.x.for_each(|column, value| {
            if value != 0.0 {
                stored.push(Stored { column, value, pulls: [0.0; LENGTHS.len()] });
            }
        });
        if self.has_intercept {
            let column = self.features();
            stored.push(Stored { column, value: 1.0, pulls: [0.0; LENGTHS.len()] });
        }
        let learned = self.learn_stored(&mut stored, example.y, example.weight);
        self.stored = stored;
        let (score, of_mixture) = learned?;
        self.steps += 1;
        if let Some(mean) = &mut self.mean {
            mean.count(self.mixture.shares(self.experts));
        }
        self.average_if_due();
        Ok(if self.mean.is_some() { score } else { of_mixture })
    }

    /// Takes a step on the columns and values of a sample; returns its score by the classifier and
    /// by the mixture before it.
    #[inline(always)]
    fn learn_stored(
        &mut self,
        stored: &mut [Stored],
        y: f64,
        weight: f64,
    ) -> Result<(f64, f64), Error> {
        let scores = self.scores(stored);
        let shares = self.mixture.shares(self.experts);
        let score = mix(&shares, &scores);
        if !scores.iter().all(|score| score.is_finite()) {
            return Err(Error::Diverged(y * score));
        }
        let by_mean = self.by_mean(stored);
        let shown = by_mean.unwrap_or(score);
        let counted = self.mean.map(|mean| mean.factors);
        if let Some(factors) = &counted {
            for x in &*stored {
                let coordinate = &mut self.coordinates[x.column];
                coordinate.rest += mix(factors, &coordinate.coefficients());
            }
        }
        self.teach(stored, y, weight, scores);
        if let Some(factors) = &counted {
            for x in &*stored {
                let coordinate = &mut self.coordinates[x.column];
                coordinate.rest -= mix(factors, &coordinate.coefficients());
            }
        }
        Ok((shown, score))
    }

    #[inline(always)]
    fn scores(&self, stored: &[Stored]) -> [f64; EXPERTS] {
        let mut scores = [0.0; EXPERTS];
        for x in stored {
            let coordinate = &self.coordinates[x.column];
            // A value that is not finite is no number times the unit 0 before the first.
            let value = coordinate.in_units(x.value);
            for (score, weight) in scores.iter_mut().zip(coordinate.weights) {
                *score += weight * value;
            }
        }
        scores
    }

    /// Returns the score of the mean of the iterates, if there is one.
    #[inline(always)]
    fn by_mean(&self, stored: &[Stored]) -> Option<f64> {
        self.mean.filter(|mean| mean.count > 0.0)?;
        let coefficient = |j: usize| self.coefficient(&self.coordinates[j], &[0.0; EXPERTS]);
        Some(stored.iter().map(|x| coefficient(x.column) * x.value).sum())
    }

    #[inline(always)]
    fn teach(&mut self, stored: &mut [Stored], y: f64, weight: f64, scores: [f64; EXPERTS]) {
        if weight == 0.0 {
            return;
        }
        // Squares of slopes and what is gained by them stay finite.
        const STEEPEST: f64 = 1e100;
        let loss = &self.loss;
        self.mixture.add(scores.map(|score| weight * loss.value(y * score)));
        let slopes = scores.map(|score| loss.derivative(y * score).clamp(-STEEPEST, STEEPEST));
        let shrinkage = self.shrinkage();
        let mut square = 0.0;
        let roots_of_squares = slopes.map(|slope| weight.sqrt() * slope);
        let intercept = self.features();
        let mut moved = [0.0; LENGTHS.len()];
        for x in &mut *stored {
            let coordinate = &mut self.coordinates[x.column];
            if x.column < intercept {
                coordinate.settle(&shrinkage, self.steps);
            }
            coordinate.grow(x.value);
            x.value = coordinate.in_units(x.value);
            square += x.value * x.value;
            if self.experts == Experts::All {
                x.pulls = coordinate.measure(x.value, &roots_of_squares);
                for (moved, pull) in moved.iter_mut().zip(x.pulls) {
                    *moved += x.value * pull;
                }
            }
        }
        // A slope steeper than all before counts as the steepest of those, for which the bets were
        // made (Cutkosky 2019, section 3).
        let slope = weight * y * slopes[COIN];
        let limit = if self.steepest > 0.0 { self.steepest } else { slope.abs() };
        self.steepest = self.steepest.max(slope.abs());
        self.seen.0 += weight;
        self.seen.1 += weight * square;
        let moves = self.moves(y, weight, &scores, &slopes, &moved);
        let (steepest, wealth) = (self.steepest, self.activity());
        let lesson = Lesson { slope: slope.clamp(-limit, limit), moves, steepest, wealth };
        for x in stored {
            let coordinate = &mut self.coordinates[x.column];
            coordinate.step(&x.pulls, &lesson);
            coordinate.bet(x.value, &lesson);
        }
    }

    /// Returns the factors by which the steps move the weights along their pulls, given what steps
    /// of length 1 move the scores by.
    #[inline(always)]
    fn moves(
        &self,
        y: f64,
        weight: f64,
        scores: &[f64; EXPERTS],
        slopes: &[f64; EXPERTS],
        moved: &[f64; LENGTHS.len()],
    ) -> [f64; LENGTHS.len()] {
        let activity = self.activity();
        let mut moves = [0.0; LENGTHS.len()];
        for k in 0..LENGTHS.len() {
            if moved[k] > 0.0 && slopes[k] != 0.0 {
                let margin = y * scores[k];
                let time = weight * LENGTHS[k] * activity * moved[k];
                moves[k] = y * (self.loss.flow(margin, time) - margin) / moved[k];
            }
        }
        moves
    }
}

impl<L: MarginLoss> Scorer for Adaptive<L> {
    fn score(&self, x: &Sample<'_>) -> f64 {
        let shares = self.mixture.shares(self.experts);
        let coefficient = |j: usize| self.coefficient(&self.coordinates[j], &shares);
        let mut score = coefficient(self.features());
        x.for_each(|column, value| score += coefficient(column) * value);
        score
    }

    fn columns(&self) -> Option<usize> {
        Some(self.features())
    }
}

impl<L: MarginLoss> OnlineLearner for Adaptive<L> {
    type Snapshot = LinearClassifier;

    fn step(&mut self, x: &Sample<'_>, y: f64) -> Result<(), Error> {
        self.learn(&Example { x: *x, y, weight: 1.0 }).map(drop)
    }

    fn snapshot(&self) -> LinearClassifier {
        let shares = self.mixture.shares(self.experts);
        let shrinkage = self.shrinkage();
        let (intercept, features) =
            self.coordinates.split_last().expect("the intercept, even of a state that was read");
        let coef = features.iter().map(|coordinate| {
            let mut settled = *coordinate;
            if self.mean.is_none() {
                settled.settle(&shrinkage, self.steps);
            }
            self.coefficient(&settled, &shares)
        });
        LinearClassifier { intercept: self.coefficient(intercept, &shares), coef: coef.collect() }
    }
}
