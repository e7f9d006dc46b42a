//! Warnings on standard error.

use margins::optim::Status;
use margins::status_in_words;

use crate::messages::warn;

/// Warns of fits without a certificate: at each lambda, and of the one at the lambda chosen. What
/// may help depends on how the fits ended that are known so far.
pub(crate) fn warn_of_gaps(
    lambdas: impl Iterator<Item = bool>,
    chosen: Option<bool>,
    ends: &[Status],
) {
    let converged: Vec<bool> = lambdas.collect();
    let missed = converged.iter().filter(|&&converged| !converged).count();
    let at = format!("at {missed} of {} lambdas a fit", converged.len());
    let chosen = chosen == Some(false);
    let who = match (missed > 0, chosen) {
        (false, false) => return,
        (true, false) => at,
        (true, true) => format!("{at}, and so the final one,"),
        (false, true) => "the final fit".to_owned(),
    };
    warn_that_missed(&who, ends);
}

/// Warns of members of a classifier without a certificate.
pub(crate) fn warn_of_members(ends: &[Status]) {
    let missed = ends.iter().filter(|&&end| end != Status::Converged).count();
    if missed > 0 {
        warn_that_missed(&format!("the final fit of {missed} of {} members", ends.len()), ends);
    }
}

fn warn_that_missed(who: &str, ends: &[Status]) {
    const SLOW: &str = "--standardize, another --solver, more --max-iterations, a longer --time-limit or a smaller \
         tolerance of an approximation may help";
    const UNBOUNDED: &str = "--class-weight balanced, --no-intercept or a loss that is bounded below gives it a minimum";
    let unbounded = ends.contains(&Status::Unbounded);
    let only_unbounded =
        ends.iter().all(|end| [Status::Converged, Status::Unbounded].contains(end));
    let mut parts = Vec::new();
    if unbounded {
        parts.extend([status_in_words(Status::Unbounded), UNBOUNDED]);
    }
    if !(unbounded && only_unbounded) {
        parts.push(SLOW);
    }
    warn(format!("{who} missed the tolerance of its duality gap; {}", parts.join("; ")));
}
