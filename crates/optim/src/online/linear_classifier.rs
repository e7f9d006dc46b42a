//! A linear classifier, the snapshot of linear learners.

use margins_data::Sample;

use super::Scorer;

/// A linear classifier with the score `f(x) = b + <w, x>`.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct LinearClassifier {
    /// The intercept `b`, 0 for a classifier without one.
    pub intercept: f64,
    /// The coefficients `w`, one per feature.
    pub coef: Vec<f64>,
}

impl LinearClassifier {
    /// Returns the classifier that gives every sample the score 0.
    pub fn zero(features: usize) -> Self {
        LinearClassifier { intercept: 0.0, coef: vec![0.0; features] }
    }

    /// Returns the classifier whose score is the mean of the scores of the classifiers given, or
    /// `None` if none are given.
    ///
    /// # Panics
    /// The function panics if the classifiers have different numbers of features.
    pub fn mean<'a>(classifiers: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut classifiers = classifiers.into_iter();
        let mut sum = classifiers.next()?.clone();
        let mut count = 1.0;
        for classifier in classifiers {
            assert_eq!(classifier.coef.len(), sum.coef.len(), "classifiers of the same features");
            sum.intercept += classifier.intercept;
            sum.coef.iter_mut().zip(&classifier.coef).for_each(|(s, w)| *s += w);
            count += 1.0;
        }
        sum.intercept /= count;
        sum.coef.iter_mut().for_each(|w| *w /= count);
        Some(sum)
    }
}

impl Scorer for LinearClassifier {
    fn score(&self, x: &Sample<'_>) -> f64 {
        self.intercept + x.dot(&self.coef)
    }

    fn columns(&self) -> Option<usize> {
        Some(self.coef.len())
    }
}
