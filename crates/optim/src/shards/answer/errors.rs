//! How rules decide the samples of a partition.

use margins_calibration::probability::Scheme;
use margins_data::Design;
use margins_data::metrics::Measure;
use margins_losses::MarginLoss;

use super::Question;
use crate::Error;
use crate::shards::part::check_coefficients;
use crate::shards::{Failure, Partial, Rule};

/// Rules, and what is asked about them.
pub(super) struct Rules<'q> {
    pub(super) scheme: Scheme,
    pub(super) classes: usize,
    pub(super) rules: &'q [Rule],
    /// True if the log-loss and the Brier score are asked for.
    pub(super) probabilities: bool,
    /// True if the scores are listed.
    pub(super) list: bool,
}

/// A sample: its row, its class and its weight.
type Chosen = (usize, usize, f64);

impl<L: MarginLoss + ?Sized> Question<'_, L> {
    /// Returns the answer for the samples of a fold, or for all, a thousand rows at a time.
    pub(super) fn errors(
        &mut self,
        fold: Option<u32>,
        rules: &Rules<'_>,
    ) -> Result<Partial, Failure> {
        let design = self.design()?;
        let (rows, loss) = (self.part.rows, self.risk.loss());
        let chosen: Vec<Chosen> = (0..rows.len())
            .filter(|&i| fold.is_none() || self.part.is_in(i, fold))
            .map(|i| (i, rows.class(i), rows.given(i, &self.weighting.costs)))
            .collect();
        rules.check(&chosen, &design)?;
        let number = self.part.number;
        let size = rules.rows_at_once();
        Partial::of_parts(chosen.len().div_ceil(size).max(1), |k| {
            let part = &chosen[k * size..chosen.len().min((k + 1) * size)];
            let indices: Vec<usize> = part.iter().map(|(i, ..)| *i).collect();
            let sums = rules.sums(loss, &design.select(&indices), part);
            sums.map_err(|error| format!("partition {number}, {error}").into())
        })
    }
}

impl Rules<'_> {
    /// Returns the number of rows whose features are copied, and whose scores are computed, at a time.
    fn rows_at_once(&self) -> usize {
        const ROWS: usize = 1024;
        const SCORES: usize = 1 << 18;
        (SCORES / self.scheme.scores(self.classes).unwrap_or(1).max(1)).clamp(1, ROWS)
    }

    /// Refuses rules that are none of the scheme, and classes and lists that they do not know.
    fn check(&self, chosen: &[Chosen], design: &Design) -> Result<(), Failure> {
        let Rules { scheme, classes, .. } = *self;
        if let Some((i, class, _)) = chosen.iter().find(|(_, class, _)| *class >= classes) {
            return Err(format!("row {i} is of class {class}, beyond {classes} classes").into());
        }
        if self.list && scheme != Scheme::Binary {
            return Err("samples are ranked by the scores of two classes alone".into());
        }
        for Rule(members) in self.rules {
            if scheme.scores(classes) != Some(members.len()) {
                let found = members.len();
                return Err(
                    format!("{found} functions are no {scheme} rule of {classes} classes").into()
                );
            }
            members.iter().try_for_each(|(_, coef)| check_coefficients(coef, design))?;
        }
        Ok(())
    }

    /// Returns the answer for samples with these features.
    ///
    /// # Errors
    /// [`Error::Score`]: a score is not finite.
    fn sums<L: MarginLoss + ?Sized>(
        &self,
        loss: &L,
        design: &Design,
        chosen: &[Chosen],
    ) -> Result<Partial, Error> {
        let Rules { scheme, classes, rules, .. } = *self;
        let stride = rules.len() + 1;
        let mut listed = vec![0.0; if self.list { stride * chosen.len() } else { 0 }];
        for (of_row, &(_, class, weight)) in listed.chunks_mut(stride).zip(chosen) {
            of_row[0] = if class == 1 { weight } else { -weight };
        }
        let mut added = Vec::new();
        let mut of_member = vec![0.0; chosen.len()];
        let mut probabilities = vec![0.0; classes];
        for (k, Rule(members)) in rules.iter().enumerate() {
            // A row for each sample.
            let mut scores = vec![0.0; chosen.len() * members.len()];
            for (m, (intercept, coef)) in members.iter().enumerate() {
                design.multiply(coef, &mut of_member);
                of_member.iter_mut().for_each(|score| *score += intercept);
                Error::check_scores(&of_member, chosen.iter().map(|&(i, ..)| i))?;
                for (of_row, score) in scores.chunks_mut(members.len()).zip(&of_member) {
                    of_row[m] = *score;
                }
            }
            let mut of_classes = vec![0.0; 2 * classes];
            let (mut log_loss, mut brier) = (0.0, 0.0);
            for (&(_, class, weight), scores) in chosen.iter().zip(scores.chunks(members.len())) {
                of_classes[2 * class] += weight;
                if scheme.decide(classes, scores) != class {
                    of_classes[2 * class + 1] += weight;
                }
                if !self.probabilities {
                    continue;
                }
                let known = scheme.class_probabilities(scores, loss, &mut probabilities);
                let of_sample = |measure: Measure| measure.of_sample(class, &probabilities);
                let cost = |measure| known.and_then(|()| of_sample(measure)).unwrap_or(f64::NAN);
                log_loss += weight * cost(Measure::LogLoss);
                brier += weight * cost(Measure::Brier);
            }
            added.extend(of_classes);
            if self.probabilities {
                added.extend([log_loss, brier]);
            }
            for (of_row, scores) in listed.chunks_mut(stride).zip(scores.chunks(members.len())) {
                of_row[k + 1] = scores[0];
            }
        }
        Ok(Partial { added, listed, ..Partial::default() })
    }
}
