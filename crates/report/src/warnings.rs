//! Warnings that follow from the numbers of a report.

use margins_data::{Counted, Listed};

use crate::class_evaluation::{ClassEvaluation, ReliabilityDiagram};
use crate::data::{ClassShare, DataSummary};
use crate::evaluation::Evaluation;
use crate::members::CertificateSummary;
use crate::report::Report;
use crate::selection::Selection;

/// The standard deviations beyond which chance is no explanation.
const FAR: f64 = 3.0;
/// A class with fewer samples says little.
const FEW: usize = 10;

impl Report {
    /// Returns a sentence on every problem whose duality gap or rounding is above the tolerance. A run of fits says
    /// more of its own, with what may help.
    pub fn uncertified(&self) -> Vec<String> {
        let mut problems = self.certificates();
        problems.retain(|problem| problem.relative_gap.is_some() && !problem.converged);
        let sentence = |problem: &CertificateSummary| {
            format!(
                "The fit of {} is not certified: its duality gap, or the allowance for rounding in it, is \
                 above the tolerance.",
                problem.name
            )
        };
        problems.iter().map(sentence).collect()
    }

    /// Returns sentences on what the numbers show that the reader should know first. The error on the
    /// data named `compared` is left out: it has been compared with the larger class already.
    pub fn found_warnings(&self, compared: Option<&str>) -> Vec<String> {
        let mut found = Vec::new();
        found.extend(self.selection.iter().filter_map(of_selection));
        found.extend(self.data.iter().flat_map(of_data));
        // The scores of classes in one problem are not scaled.
        let is_scaled = self.members.iter().any(|member| member.scaled_probabilities);
        let can_be_scaled = !is_scaled && self.certificate.is_none();
        for evaluation in &self.evaluations {
            found.extend(of_probabilities(evaluation, can_be_scaled));
            found.extend(of_error(evaluation).filter(|_| compared != Some(&*evaluation.data)));
        }
        if let [training, .., test] = &self.evaluations[..] {
            let (one, other) = (training.error, test.error);
            let deviation = one.standard_error.hypot(other.standard_error);
            if other.value - one.value > FAR * deviation {
                found.push(format!(
                    "The error on {} is more than {FAR} standard errors above that on {}: the model \
                     overfits, or the two data sets differ.",
                    test.data, training.data
                ));
            }
        }
        found
    }
}

fn of_selection(selection: &Selection) -> Option<String> {
    let (last, best) = (selection.lambdas.len() - 1, selection.best);
    let is_at_an_end = last > 0 && (best == 0 || best == last);
    (is_at_an_end && selection.lambdas[best].mean_error > Some(0.0)).then(|| {
        let end = if best == 0 { "largest" } else { "smallest" };
        format!(
            "The lowest error is at the {end} lambda tried: a wider grid may find a better one."
        )
    })
}

fn of_data(data: &DataSummary) -> Option<String> {
    let mut few: Vec<&ClassShare> = data.classes.iter().filter(|class| class.rows < FEW).collect();
    few.sort_by_key(|class| class.rows);
    let name = &data.name;
    match few[..] {
        [] => None,
        [class] => {
            Some(format!("Class '{}' has {} in {name}.", class.name, Counted(class.rows, "sample")))
        }
        [least, ..] => Some(format!(
            "{} of {} classes have fewer than {FEW} samples in {name}, down to {} of '{}': {}.",
            few.len(),
            data.classes.len(),
            least.rows,
            least.name,
            Listed(&few.iter().map(|class| class.name.clone()).collect::<Vec<String>>())
        )),
    }
}

/// Returns a sentence on the classes whose probabilities are off, with what may help if they can be scaled.
fn of_probabilities(evaluation: &Evaluation, can_be_scaled: bool) -> Option<String> {
    let mut off: Vec<(&ClassEvaluation, &ReliabilityDiagram)> = evaluation
        .classes
        .iter()
        .filter_map(|class| Some((class, class.reliability.as_ref()?)))
        .filter(|(_, found)| {
            let chance = found.if_calibrated;
            found.calibration_error > chance.value + FAR * chance.standard_error
        })
        .collect();
    off.sort_by(|a, b| b.1.calibration_error.total_cmp(&a.1.calibration_error));
    let (worst, diagram) = off.first()?;
    let data = &evaluation.data;
    let (class, all) = (&worst.class, evaluation.classes.len());
    let help = if can_be_scaled { " Consider --probability platt." } else { "" };
    let sizes = format!(
        "a calibration error of {:.3}; about {:.3} is expected by chance",
        diagram.calibration_error, diagram.if_calibrated.value
    );
    Some(match off.len() {
        1 => format!("The probabilities of '{class}' on {data} have {sizes}.{help}"),
        some => format!(
            "The probabilities of {some} of {all} classes on {data} are off, those of '{class}' the most, with {sizes}: {}.{help}",
            Listed(&off.iter().map(|(class, _)| class.class.clone()).collect::<Vec<String>>())
        ),
    })
}

fn of_error(evaluation: &Evaluation) -> Option<String> {
    let totals: Vec<f64> =
        evaluation.confusion.weights.iter().map(|row| row.iter().sum()).collect();
    let all: f64 = totals.iter().sum();
    let trivial = 1.0 - totals.iter().copied().fold(0.0, f64::max) / all;
    let says_nothing = evaluation.error.value >= trivial && trivial > 0.0;
    says_nothing.then(|| {
        format!(
            "The error on {} is not below the error of always predicting the most frequent class.",
            evaluation.data
        )
    })
}
