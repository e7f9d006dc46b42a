//! How rules decide the samples of a partition.

use margins_calibration::probability::Scheme;
use margins_data::metrics::Measure;
use margins_losses::MarginLoss;

use super::Question;
use crate::Error;
use crate::shards::part::check_coefficients;
use crate::shards::{Failure, Partial, Rule};

impl<L: MarginLoss + ?Sized> Question<'_, L> {
    pub(super) fn errors(
        &mut self,
        fold: Option<u32>,
        (scheme, classes): (Scheme, usize),
        rules: &[Rule],
        list: bool,
    ) -> Result<Partial, Failure> {
        let design = self.design()?;
        let (rows, loss) = (self.part.rows, self.risk.loss());
        let chosen: Vec<(usize, usize, f64)> = (0..rows.len())
            .filter(|&i| fold.is_none() || self.part.is_in(i, fold))
            .map(|i| (i, rows.class(i), rows.given(i, &self.weighting.costs)))
            .collect();
        if let Some((i, class, _)) = chosen.iter().find(|(_, class, _)| *class >= classes) {
            return Err(format!("row {i} is of class {class}, beyond {classes} classes").into());
        }
        if list && scheme != Scheme::Binary {
            return Err("samples are ranked by the scores of two classes alone".into());
        }
        let stride = rules.len() + 1;
        let mut listed = vec![0.0; if list { stride * chosen.len() } else { 0 }];
        for (of_row, &(_, class, weight)) in listed.chunks_mut(stride).zip(&chosen) {
            of_row[0] = if class == 1 { weight } else { -weight };
        }
        let mut added = Vec::new();
        for (k, Rule(members)) in rules.iter().enumerate() {
            if scheme.scores(classes) != Some(members.len()) {
                let found = members.len();
                return Err(
                    format!("{found} functions are no {scheme} rule of {classes} classes").into()
                );
            }
            // A row for each sample.
            let mut scores = vec![0.0; chosen.len() * members.len()];
            let mut of_all = vec![0.0; rows.len()];
            for (m, (intercept, coef)) in members.iter().enumerate() {
                check_coefficients(coef, &design)?;
                design.multiply(coef, &mut of_all);
                let of_member: Vec<f64> =
                    chosen.iter().map(|&(i, ..)| of_all[i] + intercept).collect();
                for (of_row, score) in scores.chunks_mut(members.len()).zip(&of_member) {
                    of_row[m] = *score;
                }
                Error::check_scores(&of_member, chosen.iter().map(|&(i, ..)| i))
                    .map_err(|error| format!("partition {}, {error}", self.part.number))?;
            }
            let mut of_classes = vec![0.0; 2 * classes];
            let mut probabilities = vec![0.0; classes];
            let (mut log_loss, mut brier) = (0.0, 0.0);
            for (&(_, class, weight), scores) in chosen.iter().zip(scores.chunks(members.len())) {
                of_classes[2 * class] += weight;
                if scheme.decide(classes, scores) != class {
                    of_classes[2 * class + 1] += weight;
                }
                let known = scheme.class_probabilities(scores, loss, &mut probabilities);
                let of_sample = |measure: Measure| measure.of_sample(class, &probabilities);
                let cost = |measure| known.and_then(|()| of_sample(measure)).unwrap_or(f64::NAN);
                log_loss += weight * cost(Measure::LogLoss);
                brier += weight * cost(Measure::Brier);
            }
            added.extend(of_classes);
            added.extend([log_loss, brier]);
            for (of_row, scores) in listed.chunks_mut(stride).zip(scores.chunks(members.len())) {
                of_row[k + 1] = scores[0];
            }
        }
        Ok(Partial { added, listed, ..Partial::default() })
    }
}
