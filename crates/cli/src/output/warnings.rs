//! Warnings of a run, for standard error and for its page.

use margins::data::Counted;
use margins::data::digits::{gap, percent};
use margins::optim::{ErrorCurve, Status, StepRule};
use margins::{Approximation, TrainingReport};

use crate::arguments::regularised::RegularisedArguments;
use crate::arguments::values::SolverName;
use crate::failure::Failure;
use crate::messages::{note, warn};

/// The warnings of a run: the sentences printed to standard error, kept for the page.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    sentences: Vec<String>,
    /// True if one of them says that the classifier errs no less often than the larger class alone.
    is_useless: bool,
}

impl Warnings {
    /// Prints a sentence, if there is one, and keeps it.
    pub(crate) fn add(&mut self, sentence: impl Into<Option<String>>) {
        self.sentences.extend(sentence.into().inspect(|sentence| tell(sentence)));
    }

    /// Prints the sentence on a classifier that errs no less often than the larger class alone, if there
    /// is one, and keeps it.
    pub(crate) fn add_useless(&mut self, sentence: Option<String>) {
        self.is_useless |= sentence.is_some();
        self.add(sentence);
    }

    /// Returns true if a sentence says that the classifier errs no less often than the larger class
    /// alone.
    pub(crate) fn is_useless(&self) -> bool {
        self.is_useless
    }

    /// Prints a sentence as a note, if there is one, and keeps it.
    pub(crate) fn add_note(&mut self, sentence: Option<String>) {
        self.sentences.extend(sentence.inspect(|sentence| note(as_message(sentence))));
    }

    /// Prints what the report on a fit says of it beside its numbers, and keeps it.
    pub(crate) fn add_report(&mut self, report: &TrainingReport) {
        report.notes.iter().for_each(|sentence| self.add_note(Some(sentence.clone())));
        report.warnings.iter().for_each(|sentence| self.add(sentence.clone()));
    }

    /// Returns the sentences that were printed.
    pub(crate) fn into_sentences(self) -> Vec<String> {
        self.sentences
    }
}

/// Prints a sentence as a warning on standard error.
pub(crate) fn tell(sentence: &str) {
    warn(as_message(sentence));
}

/// Returns a sentence as messages on standard error are: without its capital and its point.
fn as_message(sentence: &str) -> String {
    let mut letters = sentence.strip_suffix('.').unwrap_or(sentence).chars();
    let first = letters.next().map(char::to_lowercase).into_iter().flatten();
    first.chain(letters).collect()
}

/// Returns an error for fits to a loss that contradicts itself, whose result means nothing.
pub(crate) fn refuse_contradiction(loss: &str, ends: &[Status]) -> Result<(), Failure> {
    if !ends.contains(&Status::Contradicted) {
        return Ok(());
    }
    Err(Failure::Job(format!(
        "loss '{loss}' contradicts itself at the margins of a fit: `derivative` is not the derivative of \
         `value`, or `is_convex` returns true for a loss that is not convex. Run \
         margins_losses::testkit::check on it to find the mistake"
    )))
}

/// Returns for each lambda that was reached in time whether all fits converged, and the largest of their
/// gaps.
pub(crate) fn ends_of(curve: &ErrorCurve) -> impl Iterator<Item = (bool, f64)> {
    let reached = (0..curve.lambdas.len()).filter(|&k| curve.reached[k]);
    reached.map(|k| (curve.certified[k], curve.worst_relative_gap[k]))
}

/// Returns the sentence on fits without a certificate: at each lambda, by whether all converged and by
/// their largest gap, and on the one at the lambda chosen. The advice depends on the solver and on the
/// known statuses.
pub(crate) fn of_gaps(
    lambdas: impl Iterator<Item = (bool, f64)>,
    chosen: Option<bool>,
    ends: &[Status],
    arguments: &RegularisedArguments,
) -> Option<String> {
    let lambdas: Vec<(bool, f64)> = lambdas.collect();
    let gaps: Vec<f64> =
        lambdas.iter().filter(|(converged, _)| !converged).map(|&(_, gap)| gap).collect();
    let missed = gaps.len();
    let at = match lambdas.len() {
        1 if chosen.is_none() => "The fit".to_owned(),
        all => format!("At {missed} of {all} lambdas a fit"),
    };
    let chosen = chosen == Some(false);
    let who = match (missed > 0, chosen) {
        (false, false) => return None,
        (true, false) => at,
        (true, true) => format!("{at}, and so the final one,"),
        (false, true) => "The final fit".to_owned(),
    };
    let worst = gaps.into_iter().reduce(f64::max);
    Some(missed_tolerance(&who, ends, worst, arguments))
}

/// Returns the sentence on a path that has ended before the last lambdas, if it has.
pub(crate) fn of_end(fits: usize, lambdas: usize, last: f64) -> Option<String> {
    (fits < lambdas).then(|| {
        format!(
            "The path ends at lambda {last:e}, by the iteration limit of --stop published: {fits} of {lambdas} \
             lambdas have a fit."
        )
    })
}

/// Returns the sentence on cells with a category that the encoding of a model does not know.
pub(crate) fn of_unknown_levels(file: &str, cells: usize) -> Option<String> {
    let cells = (cells > 0).then_some(Counted(cells, "cell"))?;
    Some(format!(
        "{file}: {cells} with a category that the training data do not have, encoded as no category."
    ))
}

/// Returns the sentence on a column of weights that a file of labelled rows does not have.
pub(crate) fn of_no_weights(file: &str, column: Option<&str>) -> Option<String> {
    let column = column?;
    Some(format!("{file} has no weight column '{column}': every row has weight 1."))
}

/// Returns the sentence on steps of a length that was chosen, where they missed the minimum.
pub(crate) fn of_step(rule: Option<StepRule>, converged: bool) -> Option<String> {
    let Some(StepRule::Fixed(step)) = rule.filter(|_| !converged) else { return None };
    Some(format!("--step {step} may be too long. Leave out --step to use a line search."))
}

/// Returns the sentence on stochastic steps of a length that was given, if it may be too long.
pub(crate) fn of_stochastic_step(step: Option<f64>) -> Option<String> {
    let step = step?;
    Some(format!(
        "--step {step} may be too long: the loss has grown above its value at w = 0. Lower --step, or use --method \
         adaptive, which needs none."
    ))
}

/// Returns the sentence on a classifier that errs no less often than the decision for the larger class
/// alone, if it does not.
pub(crate) fn no_better(
    who: &str,
    error: f64,
    rows: &str,
    baseline: f64,
    standardized: bool,
) -> Option<String> {
    let advice = match standardized {
        false => "Add --standardize, which brings the features to the same scale",
        true => "The features may not separate the classes, or not by a halfspace",
    };
    let (error, baseline) = ((error >= baseline).then_some(percent(error))?, percent(baseline));
    Some(format!(
        "{who} is wrong on {error} % of {rows}, and always predicting the larger class on {baseline} %. {advice}."
    ))
}

/// Returns the sentence on members of a classifier without a certificate.
pub(crate) fn of_members(ends: &[Status], arguments: &RegularisedArguments) -> Option<String> {
    let missed = ends.iter().filter(|&&end| end != Status::Converged).count();
    let who = match ends.len() {
        1 => "The final fit".to_owned(),
        all => format!("The final fit of {missed} of {all} members"),
    };
    (missed > 0).then(|| missed_tolerance(&who, ends, None, arguments))
}

/// Returns the sentences on a missed tolerance: its value, the reason or else the largest gap, and one
/// thing to do.
fn missed_tolerance(
    who: &str,
    ends: &[Status],
    worst: Option<f64>,
    arguments: &RegularisedArguments,
) -> String {
    let solver = &arguments.solver;
    let no_solver_helps = [Status::Unbounded, Status::RoundingLimit];
    let hopeless = no_solver_helps.into_iter().find(|end| ends.contains(end));
    let end = hopeless.or_else(|| ends.iter().copied().find(|&end| end != Status::Converged));
    let todo = match end {
        Some(Status::Unbounded | Status::NoMinimum) if arguments.factors.in_words().is_some() => {
            "Raise the --penalty-factor of a feature above 0"
        }
        Some(Status::Unbounded) if arguments.loss.loss.starts_with("l-r") => {
            "Raise r of --loss l-r, or add --class-weight balanced or --no-intercept"
        }
        Some(Status::Unbounded) => "Add --class-weight balanced or --no-intercept",
        Some(Status::NoMinimum) => "Raise --lambda above 0",
        Some(Status::RoundingLimit) => "Raise --tol or --lambda",
        Some(Status::RuleMet) => "Use --stop gap for certified fits",
        _ if solver.solver() != SolverName::Auto => "Use --solver auto",
        Some(Status::TimeLimit) => "Raise --time-limit",
        Some(Status::Truncated) => "Use a more accurate --approx",
        Some(Status::IterationLimit) => "Raise --max-iterations",
        _ if solver.time_limit.is_some() => "Raise --time-limit",
        _ if solver.max_iterations.is_some() => "Raise --max-iterations",
        _ if arguments.kernel.approx != Approximation::None => "Use a more accurate --approx",
        _ if !arguments.penalty.standardize => "Add --standardize",
        _ => "Raise --tol or --lambda",
    };
    let reason = end.map(|end| end.explanation().to_owned());
    let largest = || match worst? {
        worst if worst.is_finite() => Some(format!("the largest gap is {}", gap(worst))),
        _ => Some("a fit has no bound on its gap".to_owned()),
    };
    let reason = reason.or_else(largest);
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let tolerance = solver.tolerance();
    format!(
        "{who} missed the tolerance of {tolerance:e} for the relative duality gap{reason}. {todo}."
    )
}
