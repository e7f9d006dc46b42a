//! The location of a column of numbers.

use std::io::{Result, Write};

use margins::calibration::location::{Location, LocationSettings, LocationSummary, Stability};
use serde::Serialize;

use super::VERSION;
use super::table::{facts, number};

/// The estimate with its guarantees.
#[derive(Serialize)]
pub(crate) struct LocationDocument {
    format: &'static str,
    version: u32,
    file: String,
    values: usize,
    estimate: f64,
    roots: [f64; 2],
    scale: f64,
    delta: f64,
    interval: Option<(f64, f64)>,
    half_width: Option<f64>,
    published_half_width: Option<f64>,
    variance_bound: Option<f64>,
    variance_estimated: bool,
    mean: f64,
    median: f64,
    distance_from_mean: f64,
    changes: usize,
    after_changes: Option<[f64; 2]>,
    near: usize,
    stability_bound: Option<f64>,
    median_of_means: MedianOfMeansDocument,
}

/// The median of means.
#[derive(Serialize)]
struct MedianOfMeansDocument {
    estimate: f64,
    blocks: usize,
    half_width: Option<f64>,
    exceedance: f64,
}

impl LocationDocument {
    pub(crate) fn new(
        file: &str,
        values: usize,
        settings: &LocationSettings,
        found: &LocationSummary,
    ) -> Self {
        let ends = |location: Location| [location.lower, location.upper];
        let (near, stability_bound) = match found.stability {
            Stability::Bounded { bound, near } => (near, Some(bound)),
            Stability::TooFewNear { near, .. } => (near, None),
        };
        let blocks = found.median_of_means;
        LocationDocument {
            format: "margins-location",
            version: VERSION,
            file: file.to_owned(),
            values,
            estimate: found.location.estimate(),
            roots: ends(found.location),
            scale: found.scale,
            delta: settings.delta,
            interval: found.interval(),
            half_width: found.half_width,
            published_half_width: found.published_half_width,
            variance_bound: found.variance_bound,
            variance_estimated: settings.variance_bound.is_none(),
            mean: found.mean,
            median: found.median,
            distance_from_mean: found.distance_from_mean,
            changes: settings.changes,
            after_changes: found.after_changes.map(ends),
            near,
            stability_bound,
            median_of_means: MedianOfMeansDocument {
                estimate: blocks.estimate,
                blocks: blocks.blocks,
                half_width: found.median_of_means_half_width,
                exceedance: blocks.exceedance(),
            },
        }
    }

    pub(crate) fn write(&self, out: &mut dyn Write) -> Result<()> {
        let between = |lower: f64, upper: f64| format!("{} to {}", number(lower), number(upper));
        let confidence = format!("{} % interval", number(100.0 * (1.0 - self.delta)));
        let interval = match self.interval {
            Some((lower, upper)) => between(lower, upper),
            None if self.variance_estimated => {
                "none: pass --variance, an upper bound on the variance".to_owned()
            }
            None => "none: too few values, or too small a scale".to_owned(),
        };
        let changed = match self.changes {
            1 => "1 value changed".to_owned(),
            k => format!("{k} values changed"),
        };
        let after = match self.after_changes {
            Some([lower, upper]) => between(lower, upper),
            None => "anywhere: half of the values or more".to_owned(),
        };
        let variance = match self.variance_bound {
            Some(v) if self.variance_estimated => format!("{} (estimated)", number(v)),
            Some(v) => format!("at most {}", number(v)),
            None => "cannot be estimated".to_owned(),
        };
        let blocks = &self.median_of_means;
        let within = match blocks.half_width {
            Some(h) => format!(", interval {}", between(blocks.estimate - h, blocks.estimate + h)),
            None => String::new(),
        };
        facts(
            out,
            &[
                ("values", self.values.to_string()),
                ("estimate", number(self.estimate)),
                (confidence.as_str(), interval),
                ("scale", number(self.scale)),
                ("variance", variance),
                ("mean", number(self.mean)),
                ("median", number(self.median)),
                ("from the mean", format!("at most {}", number(self.distance_from_mean))),
                (changed.as_str(), after),
                (
                    "median of means",
                    format!("{} in {} blocks{within}", number(blocks.estimate), blocks.blocks),
                ),
            ],
        )
    }
}
