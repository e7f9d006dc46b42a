//! Fits whose scale of margin pursuit follows from the margins of the training samples.

use std::borrow::Cow;
use std::sync::Arc;

use margins_calibration::location::variance_bound;
use margins_calibration::scale::bias_bounded;
use margins_losses::{MarginLoss, MarginPursuit, SpecialCase};
use margins_optim::ClassWeights;
use margins_optim::method::is_over;

use super::class_costs::ClassCosts;
use super::contests::Contests;
use super::scale_rule::{AutoScale, ScaleReport};
use super::search::Selected;
use super::settings::{ClassifierSettings, Regularisation};
use super::time_limit::TimeLimit;
use crate::Error;

/// The distance of scales, as a share, that counts as none.
const CHANGE: f64 = 0.01;

impl AutoScale {
    /// Refuses several classes, whose members would each have a scale, and weights.
    pub(super) fn check_data(contests: &Contests) -> Result<(), Error> {
        let classes = contests.classes();
        let refused = if contests.len() > 1 {
            Some(("several classes", "a model has one loss: give a scale"))
        } else if classes.weights().is_some() {
            Some(("weights of samples", UNWEIGHTED))
        } else {
            None
        };
        refused.map_or(Ok(()), |(other, reason)| Err(refusal(other.to_owned(), reason)))
    }

    /// Fits again at the scale of the rule until it has settled, and leaves the last fit with its loss in
    /// `selected`.
    pub(super) fn settle(
        self,
        contests: &Contests,
        selected: &mut Selected<'_, '_>,
        limit: Option<TimeLimit>,
    ) -> Result<ScaleReport, Error> {
        const MOST: usize = 40;
        /// The confidence of the bound on the variance is 1 - DELTA.
        const DELTA: f64 = 0.05;
        let Selected { settings, prepared, approach, path, .. } = selected;
        // The largest scale known to be too small, and the smallest one known to satisfy the rule.
        let (mut lower, mut upper) = (0.0, f64::INFINITY);
        let mut fits = 1;
        loop {
            let (gamma, scale) = level_and_scale(&*settings.loss)?;
            let margins = contests.margins(prepared, &path[0])?.unwrap_or_default();
            let variance_bound =
                variance_bound(&margins, DELTA, settings.seed).map_err(of_margins)?;
            let required = bias_bounded(variance_bound, gamma, self.k)?;
            *(if required > scale { &mut lower } else { &mut upper }) = scale;
            let is_near = (required - scale).abs() <= CHANGE * scale;
            let settled = is_near || (required <= scale && is_tight(lower, upper));
            if settled || fits == MOST || is_over(limit.and_then(|limit| limit.of_fit())) {
                return Ok(ScaleReport {
                    scale,
                    k: self.k,
                    variance_bound,
                    required,
                    fits,
                    settled,
                });
            }
            let next = next_scale(required, lower, upper, fits);
            let loss = Arc::new(MarginPursuit::new(gamma, next)?);
            let scaled = ClassifierSettings { loss, auto_scale: None, ..settings.as_ref().clone() };
            *path = vec![scaled.last_fits(contests, prepared, limit, approach)?];
            *settings = Cow::Owned(scaled);
            fits += 1;
        }
    }
}

/// Returns true if the scales differ by at most 1 %.
fn is_tight(lower: f64, upper: f64) -> bool {
    upper <= (1.0 + CHANGE) * lower
}

/// Returns the next scale between one that is too small and one that is not: that of the rule, or the middle
/// where the rule leaves them or has not settled in some fits, as it may go around in circles.
fn next_scale(required: f64, lower: f64, upper: f64, fits: usize) -> f64 {
    const BY_RULE: usize = 8;
    if is_tight(lower, upper) {
        return upper;
    }
    let has_middle = lower > 0.0 && upper < f64::INFINITY;
    let is_inside = lower < required && required < upper;
    if has_middle && (!is_inside || fits > BY_RULE) { (lower * upper).sqrt() } else { required }
}

const UNWEIGHTED: &str = "the variance is estimated from margins that count alike: give a scale";

/// Names what to do where the margins have no variance.
fn of_margins(error: margins_calibration::Error) -> margins_calibration::Error {
    match error {
        margins_calibration::Error::Parameter(reason) => {
            margins_calibration::Error::NoVariance(reason)
        }
        error => error,
    }
}

fn refusal(other: String, reason: &'static str) -> Error {
    Error::contradiction("scale=auto".to_owned(), other, reason)
}

/// Returns gamma and the scale of margin pursuit; refuses another loss.
fn level_and_scale(loss: &dyn MarginLoss) -> Result<(f64, f64), Error> {
    match loss.special_case() {
        Some(SpecialCase::MarginPursuit { gamma, scale }) => Ok((gamma, scale)),
        _ => {
            let loss = format!("loss {}", loss.specification());
            Err(refusal(loss, "the rule is for the loss margin-pursuit"))
        }
    }
}

impl ClassifierSettings {
    /// Refuses a scale from the data where there is no single fit of margin pursuit with unweighted
    /// margins.
    pub(super) fn check_auto_scale(&self) -> Result<(), Error> {
        let Some(AutoScale { k }) = self.auto_scale else { return Ok(()) };
        if !(k.is_finite() && k > 0.0) {
            return Err(Error::setting("k of scale=auto", &k, "a finite number greater than 0"));
        }
        let objective = self.learner.map(|learner| format!("objective {learner}"));
        let choice = self.regularisation.describe();
        let refused = [
            (
                matches!(self.regularisation, Regularisation::CrossValidated(_)),
                choice.clone(),
                "every fold would have a scale of its own: cross-validate several scales, or fit at one lambda",
            ),
            (
                matches!(self.regularisation, Regularisation::Path { .. }),
                choice,
                "every lambda would have a scale of its own: give a scale, or fit at one lambda",
            ),
            (
                objective.is_some(),
                objective.unwrap_or_default(),
                "the rule is for the mean of the losses: give a scale",
            ),
            (
                self.class_weights == ClassWeights::Balanced,
                "balanced classes".to_owned(),
                UNWEIGHTED,
            ),
            (self.class_costs != ClassCosts::default(), "costs of classes".to_owned(), UNWEIGHTED),
            (self.sample_weights.is_some(), "sample_weights".to_owned(), UNWEIGHTED),
        ];
        match refused.into_iter().find(|(given, ..)| *given) {
            Some((_, other, reason)) => Err(refusal(other, reason)),
            None => level_and_scale(&*self.loss).map(drop),
        }
    }
}
