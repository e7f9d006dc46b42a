//! Warnings of a run, for standard error and for its page.

use margins::TrainingReport;
use margins::data::Counted;
use margins::optim::{Status, StepRule};

use crate::failure::Failure;
use crate::messages::{note, warn};
use crate::output::table::percent;

/// The warnings of a run: the sentences printed to standard error, kept for the page.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    sentences: Vec<String>,
    /// True if one of them says that the classifier errs no less often than the larger class alone.
    is_useless: bool,
}

impl Warnings {
    /// Tells a sentence, if there is one, and keeps it.
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

    /// Prints what the report on a fit says of it beside its numbers, and keeps it.
    pub(crate) fn add_report(&mut self, report: &TrainingReport) {
        for sentence in &report.notes {
            note(as_message(sentence));
            self.sentences.push(sentence.clone());
        }
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

/// Refuses the result of fits to a loss that contradicts itself, which says nothing.
pub(crate) fn refuse_contradiction(loss: &str, ends: &[Status]) -> Result<(), Failure> {
    if !ends.contains(&Status::Contradicted) {
        return Ok(());
    }
    Err(Failure::Job(format!(
        "loss '{loss}' contradicts itself at the margins of a fit: its derivative is not the slope of its \
         value, or it says that it is convex and is not. Run margins_losses::testkit::check on it, which \
         names the mistake"
    )))
}

/// Returns the sentence on fits without a certificate: at each lambda, and on the one at the lambda
/// chosen. What may help depends on how the fits ended that are known so far.
pub(crate) fn of_gaps(
    lambdas: impl Iterator<Item = bool>,
    chosen: Option<bool>,
    ends: &[Status],
) -> Option<String> {
    let converged: Vec<bool> = lambdas.collect();
    let missed = converged.iter().filter(|&&converged| !converged).count();
    let at = format!("At {missed} of {} lambdas a fit", converged.len());
    let chosen = chosen == Some(false);
    let who = match (missed > 0, chosen) {
        (false, false) => return None,
        (true, false) => at,
        (true, true) => format!("{at}, and so the final one,"),
        (false, true) => "The final fit".to_owned(),
    };
    Some(missed_tolerance(&who, ends))
}

/// Returns the sentence on cells with a level that the encoding of a model does not know.
pub(crate) fn of_unknown_levels(file: &str, cells: usize) -> Option<String> {
    let cells = (cells > 0).then_some(Counted(cells, "cell"))?;
    Some(format!("The model does not know the level in {cells} of {file}, and takes it as none."))
}

/// Returns the sentence on a column of weights that a file of labelled rows does not have.
pub(crate) fn of_no_weights(file: &str, column: Option<&str>) -> Option<String> {
    let column = column?;
    Some(format!("There is no column '{column}' of weights in {file}: every row counts once."))
}

/// Returns the sentence on steps of a length that was chosen, where they missed the minimum.
pub(crate) fn of_step(rule: Option<StepRule>, converged: bool) -> Option<String> {
    let Some(StepRule::Fixed(step)) = rule.filter(|_| !converged) else { return None };
    let search = "without --step, a search finds their length";
    Some(format!("Steps of length {step} may be too long: {search}."))
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
        "{who} errs on {error} % of {rows}, no less often than always predicting the larger class ({baseline} %). \
         {advice}."
    ))
}

/// Returns the sentence on members of a classifier without a certificate.
pub(crate) fn of_members(ends: &[Status]) -> Option<String> {
    let missed = ends.iter().filter(|&&end| end != Status::Converged).count();
    let who = format!("The final fit of {missed} of {} members", ends.len());
    (missed > 0).then(|| missed_tolerance(&who, ends))
}

fn missed_tolerance(who: &str, ends: &[Status]) -> String {
    const SLOW: &str = "--standardize, another --solver, more --max-iterations, a longer --time-limit or a smaller \
         tolerance of an approximation may help";
    const UNBOUNDED: &str = "--class-weight balanced, --no-intercept or a loss that is bounded below gives it a minimum";
    const ROUNDING: &str = "rounding alone leaves room for a gap above it: a larger --lambda, --standardize or a larger \
         --tol may help";
    let mut parts = Vec::new();
    if ends.contains(&Status::Unbounded) {
        parts.extend([Status::Unbounded.explanation(), UNBOUNDED]);
    }
    if ends.contains(&Status::RoundingLimit) {
        parts.push(ROUNDING);
    }
    let explained = [Status::Converged, Status::Unbounded, Status::RoundingLimit];
    if parts.is_empty() || ends.iter().any(|end| !explained.contains(end)) {
        parts.push(SLOW);
    }
    format!("{who} missed the tolerance of its duality gap; {}.", parts.join("; "))
}
