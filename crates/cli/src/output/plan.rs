//! The numbers of the theorems on the maximal loss.

use margins::data::Counted;
use serde::Serialize;

use super::Lines;
use super::table::number;

/// The theorems whose numbers were given.
#[derive(Serialize)]
pub(crate) struct PlanDocument {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    /// The failure probability of theorems 1 and 2.
    pub(crate) delta: f64,
    pub(crate) theorem_1: Option<GamePlan>,
    pub(crate) theorem_2: Option<MixturePlan>,
    pub(crate) theorem_3: Option<SubsamplePlan>,
}

/// Steps and classifiers of a game.
#[derive(Serialize)]
pub(crate) struct GamePlan {
    pub(crate) rows: usize,
    pub(crate) mistakes: f64,
    /// The budget K of Euclidean slack.
    pub(crate) slack: f64,
    pub(crate) epsilon: f64,
    pub(crate) steps: u64,
    pub(crate) outputs: usize,
    /// Other steps and classifiers, if they were given.
    #[serde(skip)]
    pub(crate) limits: (u64, usize),
    /// The failure probability with these; null if none were given.
    pub(crate) failure: Option<f64>,
}

/// Samples of two kinds.
#[derive(Serialize)]
pub(crate) struct MixturePlan {
    pub(crate) dimension: usize,
    pub(crate) reduced_dimension: usize,
    pub(crate) epsilon: f64,
    pub(crate) gap: f64,
    pub(crate) rare_share: f64,
    pub(crate) samples: u64,
    pub(crate) naive_samples: u64,
}

/// A subsample.
#[derive(Serialize)]
pub(crate) struct SubsamplePlan {
    pub(crate) rows: usize,
    pub(crate) outliers: usize,
    pub(crate) rare: usize,
    pub(crate) size: usize,
    pub(crate) failure: f64,
    pub(crate) bound: f64,
    pub(crate) published_bound: f64,
}

impl PlanDocument {
    pub(crate) fn lines(&self) -> Lines {
        let mut lines = Lines::new();
        let delta = number(self.delta);
        if let Some(game) = &self.theorem_1 {
            let GamePlan { steps, outputs, .. } = game;
            let (mistakes, epsilon) = (number(game.mistakes), number(game.epsilon));
            let (losses, mistakes) = match game.slack {
                0.0 => ("losses", mistakes),
                slack => ("losses left", format!("{mistakes} + 1.07 sqrt({} T)", number(slack))),
            };
            let rows = Counted(game.rows, "row");
            lines.extend([
                ("theorem 1", format!("{steps} steps, {outputs} classifiers")),
                ("", format!("mean loss of each of {rows} at most {epsilon}, if the learner's")),
                ("", format!("{losses} sum to at most {mistakes}; failure probability {delta}")),
            ]);
            let (steps, outputs) = game.limits;
            lines.extend(game.failure.map(|failure| {
                let failure = number(failure);
                ("failure", format!("{failure} with {steps} steps and {outputs} classifiers"))
            }));
        }
        if let Some(mixture) = &self.theorem_2 {
            let (epsilon, gap) = (number(mixture.epsilon), number(mixture.gap));
            let share = number(mixture.rare_share);
            let (d, d_1) = (mixture.dimension, mixture.reduced_dimension);
            lines.extend([
                ("theorem 2", format!("{} samples", mixture.samples)),
                ("", format!("error at most {epsilon} on typical and on rare samples, a share of")),
                (
                    "",
                    format!(
                        "{share}; dimensions {d} and {d_1}, gap {gap}; failure probability {delta}"
                    ),
                ),
                ("naive", format!("{} samples without a reduced class", mixture.naive_samples)),
            ]);
        }
        if let Some(subsample) = &self.theorem_3 {
            let SubsamplePlan { rows, outliers, rare, size, .. } = subsample;
            let (failure, bound) = (number(subsample.failure), number(subsample.bound));
            let published = number(subsample.published_bound);
            lines.extend([
                ("theorem 3", format!("{size} of {rows} rows")),
                (
                    "",
                    format!(
                        "none of {outliers} outliers and half of the expected rare rows of {rare}"
                    ),
                ),
                ("failure", format!("{failure}, bound {bound}, as published {published}")),
            ]);
        }
        lines
    }
}
