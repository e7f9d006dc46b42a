//! Judges held-out samples of several classes by the scores of all members.

use margins_data::metrics::{Judged, Measure};
use margins_data::{ClassLabels, Classes, Dataset};
use margins_losses::MarginLoss;
use margins_model::Scheme;
use margins_optim::{FoldOutcome, Measured, Report, Training};

/// Samples of any number of classes that are held out at one lambda, judged one at a time.
pub(super) struct Judge<'a, L: MarginLoss + ?Sized> {
    loss: &'a L,
    measure: Measure,
    scheme: Scheme,
    data: &'a Dataset<Classes>,
    wrong: Vec<bool>,
    scores: Vec<f64>,
    /// The sums that need probabilities; `None` if the loss has none.
    sums: Option<Sums>,
}

/// Sums over samples, by weight.
#[derive(Default)]
struct Sums {
    weight: f64,
    log_loss: f64,
    brier: f64,
    probabilities: Vec<f64>,
}

impl<'a, L: MarginLoss + ?Sized> Judge<'a, L> {
    pub(super) fn new(
        training: &Training<'a, L>,
        scheme: Scheme,
        data: &'a Dataset<Classes>,
    ) -> Self {
        let Training { loss, measure, .. } = *training;
        let probabilities = vec![0.0; data.labels().names().len()];
        let sums = Some(Sums { probabilities, ..Sums::default() });
        Judge { loss, measure, scheme, data, wrong: Vec::new(), scores: Vec::new(), sums }
    }

    /// Judges a row by its scores.
    pub(super) fn add(&mut self, row: usize, scores: &[f64]) {
        let labels = self.data.labels();
        let class = labels.index(row);
        self.wrong.push(self.scheme.decide(labels.names().len(), scores) != class);
        if self.scheme == Scheme::Binary {
            self.scores.push(scores[0]);
        }
        let Some(mut sums) = self.sums.take() else { return };
        let of_classes = &mut sums.probabilities;
        if self.scheme.class_probabilities(scores, self.loss, of_classes).is_none() {
            return;
        }
        let weight = self.data.weights().map_or(1.0, |weights| weights[row]);
        let of = |measure: Measure| measure.of_sample(class, &sums.probabilities).unwrap_or(0.0);
        if weight > 0.0 {
            sums.weight += weight;
            sums.log_loss += weight * of(Measure::LogLoss);
            sums.brier += weight * of(Measure::Brier);
        }
        self.sums = Some(sums);
    }

    /// Returns the outcome of the rows that have been added, which fits with these reports judge.
    pub(super) fn held_out(self, rows: &[usize], reports: &[&Report]) -> FoldOutcome {
        let labels = self.data.labels();
        let classes: Vec<usize> = rows.iter().map(|&row| labels.index(row)).collect();
        let weights = self.data.weights();
        let weights: Option<Vec<f64>> =
            weights.map(|weights| rows.iter().map(|&row| weights[row]).collect());
        let sums = self.sums.filter(|sums| sums.weight > 0.0);
        let mean = |of: fn(&Sums) -> f64| sums.as_ref().map(|sums| of(sums) / sums.weight);
        let judged = Judged {
            count: labels.names().len(),
            classes: &classes,
            wrong: &self.wrong,
            scores: (self.scheme == Scheme::Binary).then_some(&self.scores),
            probabilities: None,
            weights: weights.as_deref(),
        };
        let log_loss = mean(|sums| sums.log_loss);
        let value = match self.measure {
            Measure::Error => None,
            Measure::LogLoss => log_loss,
            Measure::Brier => mean(|sums| sums.brier),
            Measure::BalancedError | Measure::Auc => judged.measure(self.measure),
        };
        FoldOutcome::new(self.wrong.clone(), None, Measured { log_loss, value }, reports)
    }
}

#[cfg(test)]
mod tests {
    use margins_data::Design;
    use margins_losses::Logistic;

    use super::*;

    /// Rows that are judged one at a time have the measures of all rows at once.
    #[test]
    fn measures_are_those_of_all_rows() {
        let names: Vec<String> = (0..30).map(|i| format!("class {}", i * i % 7 % 3)).collect();
        let classes = Classes::new(&names).expect("three");
        let design = Design::from_rows(&[[0.0]; 30]).expect("finite");
        let weights: Vec<f64> = (0..30).map(|i| f64::from(i % 4)).collect();
        let data = Dataset::new(design, classes).expect("fits");
        let data = data.with_weights(weights.clone()).expect("fits");
        let score = |row: usize, member: usize| ((3 * row + member) as f64).sin();
        let of_row = |row: usize| -> Vec<f64> { (0..3).map(|member| score(row, member)).collect() };
        let rows: Vec<usize> = (0..30).rev().collect();
        for scheme in [Scheme::OneVersusRest, Scheme::OneVersusOne, Scheme::Joint] {
            let wrong: Vec<bool> = (rows.iter())
                .map(|&row| scheme.decide(3, &of_row(row)) != data.labels().index(row))
                .collect();
            let mut probabilities = vec![0.0; 90];
            for (&row, out) in rows.iter().zip(probabilities.chunks_mut(3)) {
                scheme.class_probabilities(&of_row(row), &Logistic, out).expect("logistic");
            }
            let classes: Vec<usize> = rows.iter().map(|&row| data.labels().index(row)).collect();
            let weights: Vec<f64> = rows.iter().map(|&row| weights[row]).collect();
            let judged = Judged {
                count: 3,
                classes: &classes,
                wrong: &wrong,
                scores: None,
                probabilities: Some(&probabilities),
                weights: Some(&weights),
            };
            for measure in [Measure::LogLoss, Measure::Brier, Measure::BalancedError] {
                let training = Training { measure, ..Training::new(&Logistic) };
                let mut judge = Judge::new(&training, scheme, &data);
                rows.iter().for_each(|&row| judge.add(row, &of_row(row)));
                let FoldOutcome { wrong: found, measured, .. } = judge.held_out(&rows, &[]);
                assert_eq!(found, wrong);
                let near = |a: Option<f64>, b: Option<f64>| {
                    (a.expect("one") - b.expect("one")).abs() < 1e-14
                };
                assert!(near(measured.value, judged.measure(measure)), "{measure}");
                assert!(near(measured.log_loss, judged.measure(Measure::LogLoss)));
            }
        }
    }
}
