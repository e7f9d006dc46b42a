use crate::data::DataSummary;
use crate::evaluation::Evaluation;
use crate::report::Report;
use crate::selection::Selection;

/// The standard deviations beyond which chance is no explanation.
const FAR: f64 = 3.0;
/// A class with fewer samples says little.
const FEW: usize = 10;

impl Report {
    /// Adds warnings about what the numbers show.
    #[must_use]
    pub fn with_warnings(mut self) -> Self {
        let mut found = Vec::new();
        let uncertified = self.members.iter().filter(|m| m.relative_gap.is_some() && !m.converged);
        found.extend(uncertified.map(|member| {
            format!(
                "The fit of {} is not certified: its duality gap is above the tolerance.",
                member.name
            )
        }));
        let open = self.path.iter().filter(|point| !point.converged).count();
        if open > 0 {
            let all = self.path.len();
            found.push(format!("{open} of the {all} fits of the path are not certified."));
        }
        found.extend(self.selection.iter().flat_map(of_selection));
        found.extend(self.data.iter().flat_map(of_data));
        found.extend(self.evaluations.iter().flat_map(of_evaluation));
        if let [training, .., test] = &self.evaluations[..] {
            let (one, other) = (training.error, test.error);
            let deviation = one.standard_error.hypot(other.standard_error);
            if other.value - one.value > FAR * deviation {
                found.push(format!(
                    "The error on {} is more than {FAR} standard errors above that on {}: the model is \
                     too rich for its data, or the two are not alike.",
                    test.data, training.data
                ));
            }
        }
        self.warnings.extend(found);
        self
    }
}

fn of_selection(selection: &Selection) -> Vec<String> {
    let mut found = Vec::new();
    let (last, best) = (selection.lambdas.len() - 1, selection.best);
    if last > 0 && (best == 0 || best == last) {
        let end = if best == 0 { "largest" } else { "smallest" };
        found.push(format!(
            "The least error is at the {end} lambda tried: a wider grid may find a better one."
        ));
    }
    let open = selection.lambdas.iter().filter(|at| !at.certified).count();
    if open > 0 {
        let all = last + 1;
        found.push(format!("{open} of the {all} lambdas are not certified in all folds."));
    }
    found
}

fn of_data(data: &DataSummary) -> Vec<String> {
    let few = data.classes.iter().filter(|class| class.rows < FEW);
    few.map(|class| format!("Class '{}' has {} samples in {}.", class.name, class.rows, data.name))
        .collect()
}

fn of_evaluation(evaluation: &Evaluation) -> Vec<String> {
    let mut found = Vec::new();
    let data = &evaluation.data;
    for class in &evaluation.classes {
        let Some(reliability) = &class.reliability else { continue };
        let chance = reliability.if_calibrated;
        if reliability.calibration_error > chance.value + FAR * chance.standard_error {
            found.push(format!(
                "The probabilities of '{}' on {data} are off by {:.3} on average, where chance alone would \
                 make {:.3}.",
                class.class, reliability.calibration_error, chance.value
            ));
        }
    }
    let totals: Vec<f64> =
        evaluation.confusion.weights.iter().map(|row| row.iter().sum()).collect();
    let all: f64 = totals.iter().sum();
    let trivial = 1.0 - totals.iter().copied().fold(0.0, f64::max) / all;
    if evaluation.error.value >= trivial && trivial > 0.0 {
        found.push(format!(
            "The error on {data} is no less than that of always deciding for the most frequent class."
        ));
    }
    found
}
