//! The empirical risk as a function of scores, and its smoothed form.

use std::borrow::Cow;

use margins_data::Labels;
use margins_losses::MarginLoss;

use crate::Error;
use crate::problem::{MarginSummary, Signs, Weights};

/// The first part of every objective, `(1/n) sum_i c_i L(y_i (b + f_i))`, as a function of the
/// intercept `b` and of scores `f` from anywhere.
///
/// n counts all samples, those of weight 0 included: a held-out sample is a sample of weight zero.
#[derive(Debug)]
pub struct EmpiricalRisk<'a, L: MarginLoss + ?Sized> {
    pub(crate) loss: &'a L,
    pub(crate) signs: Signs<'a>,
    pub(crate) weights: Weights,
    counts: Counts<'a>,
    pub(crate) intercept: bool,
    smoothing: Option<Smoothing>,
}

/// The weights by which summaries count the samples.
#[derive(Debug, Clone)]
enum Counts<'a> {
    OfRisk,
    /// One per sample.
    Ones,
    Given(Cow<'a, [f64]>),
}

/// The point that smoothing holds the dual to, and how firmly.
#[derive(Debug, Clone)]
struct Smoothing {
    /// The centres `a_i`.
    centres: Vec<f64>,
    /// The strength `sigma`.
    strength: f64,
}

impl<L: MarginLoss + ?Sized> Clone for EmpiricalRisk<'_, L> {
    fn clone(&self) -> Self {
        EmpiricalRisk { smoothing: self.smoothing.clone(), ..self.with_loss(self.loss) }
    }
}

impl<'a, L: MarginLoss + ?Sized> EmpiricalRisk<'a, L> {
    /// Returns the risk of a part of samples, with their weights `c_i / n` in the whole. The part may
    /// have one class, or no samples.
    pub(crate) fn of_part(loss: &'a L, signs: &'a [f64], weights: Vec<f64>) -> Self {
        EmpiricalRisk {
            loss,
            signs: Signs::Given(Cow::Borrowed(signs)),
            weights: Weights::Each(weights),
            counts: Counts::OfRisk,
            intercept: true,
            smoothing: None,
        }
    }

    /// Returns the risk of margins, with their weights over n and no intercept.
    pub(crate) fn of_margins(loss: &'a L, weights: Weights) -> Self {
        let signs = Signs::Given(Cow::Owned(vec![1.0; weights.len()]));
        let (counts, intercept, smoothing) = (Counts::OfRisk, false, None);
        EmpiricalRisk { loss, signs, weights, counts, intercept, smoothing }
    }

    /// Returns the risk of samples of weight 1, with an intercept.
    ///
    /// # Errors
    /// [`Error::OneClass`]: the labels are of one class only.
    pub fn new(loss: &'a L, labels: &'a Labels) -> Result<Self, Error> {
        for (side, class) in [(true, labels.positive_class()), (false, labels.negative_class())] {
            if !labels.positive().contains(&side) {
                return Err(Error::OneClass(class.to_owned()));
            }
        }
        Ok(EmpiricalRisk {
            loss,
            signs: Signs::of_labels(labels),
            weights: Weights::equal(1.0 / labels.len() as f64, labels.len()),
            counts: Counts::OfRisk,
            intercept: true,
            smoothing: None,
        })
    }

    /// Multiplies the loss of sample i by `weights[i]`.
    ///
    /// # Errors
    /// [`Error::Shape`]: the weights are not as many as the samples. [`Error::Weight`]: a weight is
    /// negative or not finite. [`Error::OneClass`]: no sample of a class has a positive weight.
    pub fn with_weights(mut self, weights: &[f64]) -> Result<Self, Error> {
        if weights.len() != self.weights.len() {
            return Err(Error::Shape {
                what: "weights, one per row",
                expected: self.weights.len(),
                found: weights.len(),
            });
        }
        if let Some(row) = weights.iter().position(|c| !(c.is_finite() && *c >= 0.0)) {
            return Err(Error::Weight { row, value: weights[row] });
        }
        self.weights = self.weights.times(weights);
        for sign in [1.0, -1.0] {
            let present = |i: usize| self.signs.get(i) == sign && self.weights.get(i) > 0.0;
            if !(0..weights.len()).any(present) {
                return Err(Error::OneClass(format!("{sign:+}")));
            }
        }
        Ok(self)
    }

    /// Sets the weights by which summaries of margins count the samples of positive weight in the
    /// risk; by default each counts once. The costs of classes matter for the fit alone.
    pub(crate) fn counted_by(mut self, counts: Option<Cow<'a, [f64]>>) -> Self {
        self.counts = counts.map_or(Counts::Ones, Counts::Given);
        self
    }

    /// Returns the weights by which summaries of margins count the samples.
    pub fn counts(&self) -> Cow<'_, [f64]> {
        match &self.counts {
            Counts::OfRisk => Cow::Borrowed(self.weights()),
            Counts::Ones => Cow::Owned(vec![1.0; self.weights.len()]),
            Counts::Given(counts) => Cow::Borrowed(counts),
        }
    }

    /// Returns the mean over some of the samples; `None` if a class has no weight among them or the
    /// loss is smoothed.
    pub(crate) fn select(&self, rows: &[usize]) -> Option<Self> {
        let share = rows.len() as f64 / self.weights.len() as f64;
        let signs: Vec<f64> = rows.iter().map(|&i| self.signs.get(i)).collect();
        let weights: Vec<f64> = rows.iter().map(|&i| self.weights.get(i) / share).collect();
        let weight_of = |sign: f64| {
            signs.iter().zip(&weights).filter(|(y, _)| **y == sign).map(|(_, c)| c).sum::<f64>()
        };
        let usable = self.smoothing.is_none() && weight_of(1.0) > 0.0 && weight_of(-1.0) > 0.0;
        usable.then_some(EmpiricalRisk {
            loss: self.loss,
            signs: Signs::Given(Cow::Owned(signs)),
            weights: Weights::Each(weights),
            counts: match &self.counts {
                Counts::Given(all) => Counts::Given(rows.iter().map(|&i| all[i]).collect()),
                counts => counts.clone(),
            },
            intercept: self.intercept,
            smoothing: None,
        })
    }

    /// Returns the risk of other samples, not smoothed, with their weights over n.
    pub(crate) fn of_samples(&self, signs: Vec<f64>, weights: Vec<f64>) -> Self {
        let signs = Signs::Given(Cow::Owned(signs));
        EmpiricalRisk { signs, weights: Weights::Each(weights), smoothing: None, ..self.clone() }
    }

    /// Returns the risk with another loss, not smoothed.
    pub(crate) fn with_loss<'b, M: MarginLoss + ?Sized>(&self, loss: &'b M) -> EmpiricalRisk<'b, M>
    where
        'a: 'b,
    {
        EmpiricalRisk {
            loss,
            signs: self.signs.clone(),
            weights: self.weights.clone(),
            counts: self.counts.clone(),
            intercept: self.intercept,
            smoothing: None,
        }
    }

    /// Fixes the intercept at 0.
    #[must_use]
    pub fn without_intercept(mut self) -> Self {
        self.intercept = false;
        self
    }

    /// Replaces the loss of sample i by the smoothed one of a proximal step in the dual:
    ///
    /// `e_i(u) = max_s -L*(-s) - s u - (sigma/2) (s - a_i)^2`.
    ///
    /// The smoothed loss is differentiable whether `L` is or not, with `e_i'(u) = -s_i`, the
    /// maximiser, which [`MarginLoss::dual_step`] gives: it is the Moreau envelope of `L` about
    /// `u - sigma a_i`, up to a constant. At the minimiser of F with these losses the `s_i` are the
    /// proximal point of `a` in the dual of F (Rockafellar, *Augmented Lagrangians and applications
    /// of the proximal point algorithm in convex programming*, Math. Oper. Res. 1, 1976).
    pub(crate) fn smoothed(mut self, centres: Vec<f64>, strength: f64) -> Self {
        debug_assert_eq!(centres.len(), self.weights.len());
        self.smoothing = Some(Smoothing { centres, strength });
        self
    }

    /// Writes `L(u_i)`, one per sample, of the samples from a row on.
    pub(crate) fn values(&self, from: usize, margins: &[f64], out: &mut [f64]) {
        match &self.smoothing {
            None => self.loss.values(margins, out),
            Some(smoothing) => smoothing.each(self.loss, from, margins, out, |a, s, v| {
                self.loss.value(v) + 0.5 * smoothing.strength * (s - a) * (s + a)
            }),
        }
    }

    /// Writes `L'(u_i)`, one per sample, of the samples from a row on.
    pub(crate) fn derivatives(&self, from: usize, margins: &[f64], out: &mut [f64]) {
        match &self.smoothing {
            None => self.loss.derivatives(margins, out),
            Some(smoothing) => smoothing.each(self.loss, from, margins, out, |_, s, _| -s),
        }
    }

    /// Writes `L''(u_i)`, one per sample, of the samples from a row on.
    pub(crate) fn second_derivatives(&self, from: usize, margins: &[f64], out: &mut [f64]) {
        // The smallest relative difference of slopes that is no rounding.
        const APART: f64 = 1e-9;
        let has_kinks = !self.loss.is_differentiable();
        match &self.smoothing {
            None => self.loss.second_derivatives(margins, out),
            Some(smoothing) => smoothing.each(self.loss, from, margins, out, |_, s, v| {
                let at_kink =
                    has_kinks && (s + self.loss.derivative(v)).abs() > APART * (1.0 + s.abs());
                if at_kink {
                    1.0 / smoothing.strength
                } else {
                    let curvature = self.loss.second_derivative(v);
                    curvature / (1.0 + smoothing.strength * curvature)
                }
            }),
        }
    }

    /// Returns `L*(-s)` for sample i, with the term that smoothing adds to it.
    pub(crate) fn conjugate(&self, i: usize, s: f64) -> f64 {
        let conjugate = self.loss.conjugate(s);
        match &self.smoothing {
            None => conjugate,
            Some(Smoothing { centres, strength }) => {
                conjugate + 0.5 * strength * (s - centres[i]).powi(2)
            }
        }
    }

    /// Returns true if there is an intercept.
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    /// Returns the loss.
    pub fn loss(&self) -> &'a L {
        self.loss
    }

    /// Returns the number of samples.
    pub fn sample_count(&self) -> usize {
        self.weights.len()
    }

    /// Returns the signs `y_i`; the first call makes them.
    pub fn signs(&self) -> &[f64] {
        self.signs.all()
    }

    /// Returns the weights `c_i / n`; the first call makes them.
    pub fn weights(&self) -> &[f64] {
        self.weights.all()
    }

    /// Returns a summary of the margins of scores, of the samples of positive weight.
    pub fn margin_summary(&self, scores: &[f64], intercept: f64) -> MarginSummary {
        self.summary_of(&self.margins_of(scores, intercept))
    }

    pub(crate) fn margins_of(&self, scores: &[f64], intercept: f64) -> Vec<f64> {
        let margin = |(i, f): (usize, &f64)| self.signs.get(i) * (f + intercept);
        scores.iter().enumerate().map(margin).collect()
    }

    pub(crate) fn summary_of(&self, margins: &[f64]) -> MarginSummary {
        let count = |i: usize| match &self.counts {
            _ if self.weights.get(i) <= 0.0 => 0.0,
            Counts::OfRisk => self.weights.get(i),
            Counts::Ones => 1.0,
            Counts::Given(counts) => counts[i],
        };
        let samples = margins.iter().enumerate();
        MarginSummary::of(samples.map(|(i, &u)| (u, self.signs.get(i), count(i))))
    }

    /// Returns true if every margin, of the samples of positive weight, is at least `from`.
    pub fn all_beyond(&self, scores: &[f64], intercept: f64, from: f64) -> bool {
        let is_beyond = |(i, f): (usize, &f64)| {
            self.weights.get(i) == 0.0 || self.signs.get(i) * (f + intercept) >= from
        };
        scores.iter().enumerate().all(is_beyond)
    }
}

impl Smoothing {
    /// Writes a function of `a_i`, the maximiser `s_i` and the proximal point
    /// `v_i = u_i + sigma (s_i - a_i)` to every entry of `out`, for the samples from a row on.
    fn each<L: MarginLoss + ?Sized>(
        &self,
        loss: &L,
        from: usize,
        margins: &[f64],
        out: &mut [f64],
        value: impl Fn(f64, f64, f64) -> f64,
    ) {
        for ((o, &u), &a) in out.iter_mut().zip(margins).zip(&self.centres[from..]) {
            let s = loss.dual_step(a, u, self.strength);
            *o = value(a, s, u + self.strength * (s - a));
        }
    }
}
