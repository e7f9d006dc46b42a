//! What rows show without a fit: a lower bound on the noise rate, and how long a step takes.

use std::time::{Duration, Instant};

use margins_data::Dataset;
use margins_massart::{MarginBound, Problem, Sgd, audit, separate};
use margins_optim::Status;

use super::features::positive_rows;
use super::{HalfspaceSettings, sample_of};
use crate::Error;

/// How long steps and calls are measured at least.
const AT_LEAST: Duration = Duration::from_millis(100);

/// A lower bound on the noise rate, and the rows that speak for it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NoiseAudit {
    /// With probability at least `1 - delta` the noise rate is at least this, if some halfspace has
    /// the margin.
    pub eta_bound: f64,
    /// The share of the labels that is certainly flipped if one has it, by weight.
    pub flipped: f64,
    /// The rows on the wrong side of the halfspace of the audit, counted from 0, with the term of
    /// each in the bound, the largest first.
    pub suspects: Vec<(usize, f64)>,
    /// The number that all samples were divided by; `None` if each was divided by its norm.
    pub divisor: Option<f64>,
    /// [`Status::RuleMet`], or the reason why the minimisation ended before its gap was small.
    pub status: Status,
}

impl HalfspaceSettings {
    /// Returns a lower bound on the noise rate by [`margins_massart::audit`], for features and rows
    /// that are scaled as for a fit. The method and the seed have no effect.
    ///
    /// # Errors
    /// [`Error::Massart`]: a row that cannot be scaled, delta out of range. [`Error::Data`]: a
    /// feature that overflows when it is scaled, or copies that do not fit in memory.
    pub fn audit(
        &self,
        data: &Dataset,
        margin: MarginBound,
        delta: f64,
    ) -> Result<NoiseAudit, Error> {
        let rows = positive_rows(data.weights().unwrap_or_default());
        let chosen = self.weighted_rows(data)?;
        let data = chosen.as_ref().unwrap_or(data);
        let (_, design, divisor) = self.prepared(data)?;
        let signs = data.labels().signs();
        let sample = sample_of(&design, data.labels().signs(), data.weights(), divisor)?;
        let found = audit(margin, delta, &sample, &self.iterations.limits(self.time_limit))?;
        let scores = sample.points().scores(&found.halfspace);
        let wrong = (0..signs.len()).filter(|&i| signs[i] * scores[i] < 0.0);
        let row = |i: usize| rows.as_ref().map_or(i, |rows| rows[i]);
        let mut suspects: Vec<(usize, f64)> = wrong.map(|i| (row(i), found.terms[i])).collect();
        suspects.sort_by(|one, other| other.1.total_cmp(&one.1));
        Ok(NoiseAudit {
            eta_bound: found.eta_bound,
            flipped: found.flipped,
            suspects,
            divisor,
            status: found.stopped.unwrap_or(Status::RuleMet),
        })
    }

    /// Returns the seconds that a step of algorithm 1 takes on this machine: the mean of steps on rows
    /// of positive weight in a scattered order, for a tenth of a second.
    ///
    /// # Errors
    /// [`Error::Massart`]: a row that cannot be scaled. [`Error::Data`]: a feature that overflows when
    /// it is scaled, or copies that do not fit in memory.
    pub fn seconds_per_step(&self, data: &Dataset, problem: &Problem) -> Result<f64, Error> {
        const STEPS: usize = 1000;
        // Prime, and so far apart that rows are seldom in the cache.
        const STRIDE: usize = 1_000_003;
        let chosen = self.weighted_rows(data)?;
        let data = chosen.as_ref().unwrap_or(data);
        let (_, design, divisor) = self.prepared(data)?;
        let sample = sample_of(&design, data.labels().signs(), data.weights(), divisor)?;
        let step = problem.margin.get().powi(2) * problem.target.epsilon();
        let mut sgd = Sgd::new(*problem, sample.columns(), step)?;
        let (started, mut steps) = (Instant::now(), 0);
        while started.elapsed() < AT_LEAST {
            let row = |k: usize| k.wrapping_mul(STRIDE) % sample.rows();
            let draws = (steps..steps + STEPS).map(|k| (row(k), sample.signs()[row(k)]));
            sgd.run(sample.points(), draws)?;
            steps += STEPS;
        }
        Ok(started.elapsed().as_secs_f64() / steps as f64)
    }

    /// Returns the seconds that a call of the separation oracle takes on this machine, for each of its rows:
    /// the mean of calls on the rows of positive weight, for a tenth of a second.
    ///
    /// # Errors
    /// The errors of [`seconds_per_step`](Self::seconds_per_step).
    pub fn seconds_per_row_of_a_call(
        &self,
        data: &Dataset,
        problem: &Problem,
    ) -> Result<f64, Error> {
        let chosen = self.weighted_rows(data)?;
        let data = chosen.as_ref().unwrap_or(data);
        let (_, design, divisor) = self.prepared(data)?;
        let sample = sample_of(&design, data.labels().signs(), data.weights(), divisor)?;
        // A halfspace or its opposite errs on half of the rows, too many to be accepted.
        let halfspace = |size: f64| vec![size / (sample.columns() as f64).sqrt(); sample.columns()];
        let of_noise = Problem::new(0.0, problem.margin.get())?.with_target(problem.target);
        let errs = |w: &Vec<f64>| separate(&of_noise, &sample, w).cut.is_some();
        let w = [1.0, -1.0].map(halfspace).into_iter().find(errs).unwrap_or_else(|| halfspace(1.0));
        let (started, mut calls) = (Instant::now(), 0);
        while started.elapsed() < AT_LEAST {
            std::hint::black_box(separate(&of_noise, &sample, &w));
            calls += 1;
        }
        Ok(started.elapsed().as_secs_f64() / (calls * sample.rows()) as f64)
    }
}
