//! The coefficients of features and the duals of samples along a path.

use serde::Serialize;

/// The most features or samples that are followed along a path.
const MOST: usize = 8;

/// The coefficient of a feature, or the dual of a sample, along a path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Profile {
    /// The name of the feature, or its number from 1; the row of the sample, from 1.
    pub name: String,
    /// The coefficient, or the dual, at every lambda of the path.
    pub coef: Vec<f64>,
}

impl Profile {
    /// Returns the profiles of the features whose coefficients are largest anywhere on a path, at most 8,
    /// the largest first. The path has the coefficients of all features, lambda after lambda.
    pub fn largest(names: Option<&[String]>, path: &[&[f64]]) -> Vec<Self> {
        let size = |k: usize| path.iter().map(|coef| coef[k].abs()).fold(0.0, f64::max);
        let features = path.first().map_or(0, |coef| coef.len());
        let mut order: Vec<(usize, f64)> = (0..features).map(|k| (k, size(k))).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        let profile = |&(k, _): &(usize, f64)| Profile {
            name: names.map_or_else(|| format!("feature {}", k + 1), |names| names[k].clone()),
            coef: path.iter().map(|coef| coef[k]).collect(),
        };
        order.iter().take(MOST).map(profile).collect()
    }

    /// Returns the profiles of samples whose duals end at the largest and the smallest value, and at most
    /// six between them at even ranks, the largest first. The path has the duals of all samples, lambda
    /// after lambda.
    ///
    /// The largest coefficients of a kernel classifier would be those of samples whose margin stays
    /// below 1, whose duals are all the same.
    pub fn spread(path: &[Vec<f64>]) -> Vec<Self> {
        let Some(last) = path.last().filter(|last| !last.is_empty()) else { return Vec::new() };
        let mut order: Vec<usize> = (0..last.len()).collect();
        order.sort_by(|&i, &j| last[j].total_cmp(&last[i]));
        let count = MOST.min(order.len());
        let rank = |k: usize| k * (order.len() - 1) / (count - 1).max(1);
        let profile = |k: usize| Profile {
            name: format!("row {}", order[rank(k)] + 1),
            coef: path.iter().map(|duals| duals[order[rank(k)]]).collect(),
        };
        (0..count).map(profile).collect()
    }
}
