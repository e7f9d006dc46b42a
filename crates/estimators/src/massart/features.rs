//! Features as the learners see them: standardised, with a constant one for the intercept, in the
//! unit ball; and their halfspace as a classifier of the features as given.

use std::borrow::Cow;

use margins_data::{Design, Sample};
use margins_optim::online::{LinearClassifier, Scorer};
use nalgebra::DMatrix;

use crate::standardization::Standardization;

/// The features that a learner sees, made of those given.
#[derive(Debug, Clone)]
pub(super) struct FeatureScaling {
    pub(super) standardization: Option<Standardization>,
    /// True for one more feature, which is 1 for every sample.
    pub(super) intercept: bool,
}

impl FeatureScaling {
    /// Returns the features of samples.
    pub(super) fn of<'d>(
        &self,
        design: &'d Design,
    ) -> Result<Cow<'d, Design>, margins_data::Error> {
        let scaled = match &self.standardization {
            Some(standardization) => Cow::Owned(standardization.apply(design)?),
            None => Cow::Borrowed(design),
        };
        if self.intercept { Ok(Cow::Owned(with_constant(&scaled)?)) } else { Ok(scaled) }
    }

    /// Returns the classifier of the features as given that decides like a halfspace.
    pub(super) fn classifier(&self, halfspace: &[f64]) -> LinearClassifier {
        let mut coef = halfspace.to_vec();
        let intercept = if self.intercept { coef.pop().unwrap_or_default() } else { 0.0 };
        let classifier = LinearClassifier { intercept, coef };
        match &self.standardization {
            Some(standardization) => standardization.unscale(&classifier),
            None => classifier,
        }
    }
}

/// Returns the distance from the boundary of a classifier, in the units of the features as given, at
/// which a sample has the margin gamma under the halfspace that it was made of, if all samples were
/// divided by the same number. It is not finite for a classifier that is constant.
pub(super) fn distance(
    gamma: f64,
    divisor: f64,
    halfspace: &[f64],
    classifier: &LinearClassifier,
) -> f64 {
    let norm = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>().sqrt();
    gamma * divisor * norm(halfspace) / norm(&classifier.coef)
}

/// Returns the weight of the samples that a classifier gets wrong.
pub(super) fn wrong_weight(
    classifier: &LinearClassifier,
    design: &Design,
    signs: &[f64],
    weights: Option<&[f64]>,
) -> f64 {
    wrong_weight_of(design.samples().map(|x| classifier.score(&x)), signs, weights)
}

/// Returns the weight of the samples whose scores have the wrong sign.
pub(super) fn wrong_weight_of(
    scores: impl Iterator<Item = f64>,
    signs: &[f64],
    weights: Option<&[f64]>,
) -> f64 {
    let of_row = |(row, (score, &sign)): (usize, (f64, &f64))| {
        let weight = weights.map_or(1.0, |weights| weights[row]);
        if (score > 0.0) == (sign > 0.0) { 0.0 } else { weight }
    };
    scores.zip(signs).enumerate().map(of_row).sum()
}

/// Returns the rows of positive weight; `None` if all are.
pub(super) fn positive_rows(weights: &[f64]) -> Option<Vec<usize>> {
    let all = weights.iter().all(|&weight| weight > 0.0);
    (!all).then(|| (0..weights.len()).filter(|&row| weights[row] > 0.0).collect())
}

/// Returns the share of the weight of the smaller class.
pub(crate) fn baseline(signs: &[f64], weights: Option<&[f64]>) -> f64 {
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let of_sign = |positive: bool| -> f64 {
        (0..signs.len()).filter(|&row| (signs[row] > 0.0) == positive).map(weight).sum()
    };
    let (positive, negative) = (of_sign(true), of_sign(false));
    positive.min(negative) / (positive + negative)
}

/// Returns samples with one more feature, which is 1 for all of them.
fn with_constant(design: &Design) -> Result<Design, margins_data::Error> {
    let (rows, columns) = (design.rows(), design.columns());
    if design.is_sparse() {
        let row = |sample: Sample<'_>| {
            let mut row = Vec::new();
            sample.for_each(|column, x| row.push((column, x)));
            row.push((columns, 1.0));
            row
        };
        let rows: Vec<Vec<(usize, f64)>> = design.samples().map(row).collect();
        return Design::from_sparse_rows(&rows, columns + 1);
    }
    let mut values = vec![1.0; rows * (columns + 1)];
    for (out, sample) in values.chunks_exact_mut(columns + 1).zip(design.samples()) {
        sample.for_each(|column, x| out[column] = x);
    }
    Design::from_samples(DMatrix::from_vec(columns + 1, rows, values))
}
