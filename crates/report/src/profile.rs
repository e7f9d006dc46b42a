//! The coefficients of features along a path.

use serde::Serialize;

/// The most features whose coefficients are followed along a path.
const MOST: usize = 8;

/// The coefficient of a feature along a path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Profile {
    /// The name of the feature, or its number from 1.
    pub name: String,
    /// The coefficient at every lambda of the path.
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
}
