//! How rules decide the samples of a partition.

use margins_data::metrics::Measure;
use margins_losses::MarginLoss;

use super::Question;
use crate::Error;
use crate::problem::JointForm;
use crate::shards::{Failure, Partial, Rule};

impl<L: MarginLoss + ?Sized> Question<'_, L> {
    pub(super) fn errors(
        &mut self,
        (fold, form): (Option<u32>, Option<JointForm>),
        rules: &[Rule],
        list: bool,
    ) -> Result<Partial, Failure> {
        let design = self.design()?;
        let (rows, loss) = (self.part.rows, self.risk.loss());
        let chosen: Vec<(usize, usize, f64)> = (0..rows.len())
            .filter(|&i| fold.is_none() || self.part.is_in(i, fold))
            .map(|i| (i, rows.class(i), rows.given(i, &self.weighting.costs)))
            .collect();
        let classes = rules.iter().map(Rule::classes).min().unwrap_or(0);
        if let Some((i, class, _)) = chosen.iter().find(|(_, class, _)| *class >= classes) {
            return Err(format!("row {i} is of class {class}, beyond {classes} classes").into());
        }
        if list && rules.iter().any(|Rule(functions)| functions.len() != 1) {
            return Err("samples are ranked by the scores of two classes alone".into());
        }
        let stride = rules.len() + 1;
        let mut listed = vec![0.0; if list { stride * chosen.len() } else { 0 }];
        for (of_row, &(_, class, weight)) in listed.chunks_mut(stride).zip(&chosen) {
            of_row[0] = if class == 1 { weight } else { -weight };
        }
        let mut added = Vec::new();
        for (k, rule) in rules.iter().enumerate() {
            let scores = rule.scores(&design)?;
            for of_member in &scores {
                let of_chosen: Vec<f64> = chosen.iter().map(|&(i, ..)| of_member[i]).collect();
                Error::check_scores(&of_chosen, chosen.iter().map(|&(i, ..)| i))
                    .map_err(|error| format!("partition {}, {error}", self.part.number))?;
            }
            let mut of_classes = vec![0.0; 2 * rule.classes()];
            let mut probabilities = vec![0.0; rule.classes()];
            let (mut log_loss, mut brier) = (0.0, 0.0);
            for &(i, class, weight) in &chosen {
                of_classes[2 * class] += weight;
                if Rule::decide(&scores, i) != class {
                    of_classes[2 * class + 1] += weight;
                }
                let known = Rule::probabilities(loss, form, &scores, i, &mut probabilities);
                let of_sample = |measure: Measure| measure.of_sample(class, &probabilities);
                let cost = |measure| known.and_then(|()| of_sample(measure)).unwrap_or(f64::NAN);
                log_loss += weight * cost(Measure::LogLoss);
                brier += weight * cost(Measure::Brier);
            }
            added.extend(of_classes);
            added.extend([log_loss, brier]);
            for (of_row, &(i, ..)) in listed.chunks_mut(stride).zip(&chosen) {
                of_row[k + 1] = scores[0][i];
            }
        }
        Ok(Partial { added, listed, ..Partial::default() })
    }
}
