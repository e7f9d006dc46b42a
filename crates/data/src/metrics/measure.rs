//! The measures of held-out predictions by which a cross-validation chooses.

use std::fmt;
use std::str::FromStr;

use super::{MistakeTally, auc};
use crate::Error;

/// A measure of how well a classifier predicts held-out samples, by which a cross-validation chooses.
///
/// ```
/// use margins_data::metrics::Measure;
///
/// let measure: Measure = "balanced-error".parse()?;
/// assert_eq!(measure, Measure::BalancedError);
/// assert!(Measure::Auc.larger_is_better() && Measure::LogLoss.needs_probabilities());
/// # Ok::<(), margins_data::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// The share of misclassified samples, by weight.
    #[default]
    Error,
    /// The mean over the classes of the error rate within each.
    BalancedError,
    /// The mean of -log of the probability of the true class.
    LogLoss,
    /// The Brier score: of two classes the mean of `(q_i - 1[y_i = +1])^2`, of more the mean of
    /// `sum_k (q_ik - 1[y_i = k])^2`.
    Brier,
    /// The area under the ROC curve, of two classes.
    Auc,
}

impl Measure {
    /// All measures.
    pub const ALL: [Measure; 5] =
        [Measure::Error, Measure::BalancedError, Measure::LogLoss, Measure::Brier, Measure::Auc];

    /// Returns the name of the measure.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Error => "error",
            Measure::BalancedError => "balanced-error",
            Measure::LogLoss => "log-loss",
            Measure::Brier => "brier",
            Measure::Auc => "auc",
        }
    }

    /// Returns true if the best classifier has the largest value; false if it has the smallest.
    pub fn larger_is_better(self) -> bool {
        self == Measure::Auc
    }

    /// Returns true if the measure is one of probabilities of classes.
    pub fn needs_probabilities(self) -> bool {
        matches!(self, Measure::LogLoss | Measure::Brier)
    }

    /// Returns the log-loss or the Brier score of one sample, given its class and the probability of
    /// every class; `None` for other measures.
    ///
    /// ```
    /// use margins_data::metrics::Measure;
    ///
    /// assert_eq!(Measure::Brier.of_sample(1, &[0.25, 0.75]), Some(0.0625));
    /// assert_eq!(Measure::Auc.of_sample(1, &[0.25, 0.75]), None);
    /// ```
    ///
    /// # Panics
    /// If there is no probability of the class.
    pub fn of_sample(self, class: usize, probabilities: &[f64]) -> Option<f64> {
        match self {
            Measure::LogLoss => {
                Some(-probabilities[class].clamp(f64::EPSILON, 1.0 - f64::EPSILON).ln())
            }
            Measure::Brier => {
                // Of two classes the square of one of them is that of the other.
                let counted = if probabilities.len() == 2 { 1 } else { probabilities.len() };
                let square =
                    |k: usize| (probabilities[k] - f64::from(u8::from(k == class))).powi(2);
                Some((0..counted).map(square).sum())
            }
            Measure::Error | Measure::BalancedError | Measure::Auc => None,
        }
    }

    /// Returns true if the value is a share, which reads well in per cent.
    pub fn is_share(self) -> bool {
        matches!(self, Measure::Error | Measure::BalancedError)
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Measure {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let names = Measure::ALL.map(Measure::name);
        let found = Measure::ALL.into_iter().find(|measure| measure.name() == name);
        let expected = || format!("one of {}", names.join(", "));
        found.ok_or_else(|| Error::parameter("the measure", format!("'{name}'"), expected()))
    }
}

/// Samples of which a classifier has said the class, with what it has said.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// The number of classes.
    pub count: usize,
    /// The true class of every sample.
    pub classes: &'a [usize],
    /// True for every sample that is misclassified.
    pub wrong: &'a [bool],
    /// The score of every sample, of two classes.
    pub scores: Option<&'a [f64]>,
    /// The probability of every class, `count` for every sample.
    pub probabilities: Option<&'a [f64]>,
    /// The weight of every sample; 1 by default.
    pub weights: Option<&'a [f64]>,
}

impl Judged<'_> {
    /// Returns the value of a measure; `None` where it is not defined: without weight, of
    /// probabilities or scores that are missing, and of the area under the curve of one class.
    ///
    /// ```
    /// use margins_data::metrics::{Judged, Measure};
    ///
    /// let judged = Judged {
    ///     count: 2,
    ///     classes: &[0, 0, 0, 1],
    ///     wrong: &[false, false, true, false],
    ///     scores: Some(&[-1.0, -2.0, 1.0, 3.0]),
    ///     probabilities: None,
    ///     weights: None,
    /// };
    /// assert_eq!(judged.measure(Measure::Error), Some(0.25));
    /// assert_eq!(judged.measure(Measure::BalancedError), Some(1.0 / 6.0));
    /// assert_eq!(judged.measure(Measure::Auc), Some(1.0));
    /// assert_eq!(judged.measure(Measure::LogLoss), None);
    /// ```
    ///
    /// # Panics
    /// If slices of samples have different lengths, or a class is not below `count`.
    pub fn measure(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::Error => self.mean(|i| f64::from(u8::from(self.wrong[i]))),
            Measure::BalancedError => self.balanced_error(),
            Measure::LogLoss | Measure::Brier => {
                let probabilities = self.probabilities?;
                let of_row = |i: usize| &probabilities[i * self.count..][..self.count];
                self.mean(|i| measure.of_sample(self.classes[i], of_row(i)).unwrap_or(f64::NAN))
            }
            Measure::Auc => {
                let scores = self.scores.filter(|_| self.count == 2)?;
                let sign = |&class: &usize| if class == 1 { 1.0 } else { -1.0 };
                auc(scores, &self.classes.iter().map(sign).collect::<Vec<_>>(), self.weights).ok()
            }
        }
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }

    /// Returns the mean by weight; `None` without weight.
    fn mean(&self, of: impl Fn(usize) -> f64) -> Option<f64> {
        let counted = || (0..self.classes.len()).filter(|&i| self.weight(i) > 0.0);
        let total: f64 = counted().map(|i| self.weight(i)).sum();
        (total > 0.0).then(|| counted().map(|i| self.weight(i) * of(i)).sum::<f64>() / total)
    }

    fn balanced_error(&self) -> Option<f64> {
        let mut tallies = vec![MistakeTally::default(); self.count];
        for (i, (&class, &wrong)) in self.classes.iter().zip(self.wrong).enumerate() {
            tallies[class].add(wrong, self.weight(i));
        }
        let rates: Vec<f64> = tallies.iter().filter_map(MistakeTally::rate).collect();
        (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics;

    /// The measures of two classes are the functions of the module.
    #[test]
    fn measures_of_two_classes_are_those_of_the_module() {
        let scores = [1.0, -0.5, 0.25, -2.0, 0.75];
        let classes = [1, 1, 0, 0, 1];
        let signs = classes.map(|class| if class == 1 { 1.0 } else { -1.0 });
        let positive = scores.map(|score: f64| 1.0 / (1.0 + (-score).exp()));
        let probabilities: Vec<f64> = positive.iter().flat_map(|p| [1.0 - p, *p]).collect();
        let wrong: Vec<bool> =
            scores.iter().zip(&signs).map(|(&f, &y)| metrics::is_mistake(f, y)).collect();
        for weights in [None, Some(&[1.0, 2.0, 0.5, 0.0, 3.0][..])] {
            let judged = Judged {
                count: 2,
                classes: &classes,
                wrong: &wrong,
                scores: Some(&scores),
                probabilities: Some(&probabilities),
                weights,
            };
            for (measure, expected) in [
                (Measure::Error, metrics::error_rate(&scores, &signs, weights).unwrap().rate),
                (
                    Measure::BalancedError,
                    metrics::balanced_error(&scores, &signs, weights).unwrap(),
                ),
                (Measure::LogLoss, metrics::log_loss(&positive, &signs, weights).unwrap()),
                (Measure::Brier, metrics::brier(&positive, &signs, weights).unwrap()),
                (Measure::Auc, metrics::auc(&scores, &signs, weights).unwrap()),
            ] {
                let found = judged.measure(measure).unwrap();
                assert!((found - expected).abs() < 1e-15, "{measure}: {found} {expected}");
            }
        }
    }

    #[test]
    fn names_are_read_back() {
        for measure in Measure::ALL {
            assert_eq!(measure.name().parse::<Measure>().unwrap(), measure);
        }
        let error = "f1".parse::<Measure>().unwrap_err().to_string();
        assert!(error.contains("'f1'") && error.contains("balanced-error"), "{error}");
    }
}
