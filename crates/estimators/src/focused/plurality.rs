//! What the classifiers of one game of several classes decide together.

use margins_boost::{Combination, Ensemble, Evaluation, LinearClasses};
use margins_data::Sample;
use margins_model::Scheme;
use margins_optim::method::Limits;
use margins_optim::online::LinearClassifier;

use crate::Error;

/// Returns the 0-1 losses of what the classifiers decide together for samples and their classes.
///
/// # Errors
/// A score that is not finite; [`margins_boost::Error::Interrupted`].
pub(super) fn evaluation<'d>(
    ensemble: &Ensemble<LinearClasses>,
    samples: impl Iterator<Item = (Sample<'d>, Option<usize>)>,
    limits: &Limits<'_>,
) -> Result<Evaluation, Error> {
    const SAMPLES_A_LOOK: usize = 16;
    let (mut losses, mut wrong) = (Vec::new(), Vec::new());
    for (row, (x, class)) in samples.enumerate() {
        if row.is_multiple_of(SAMPLES_A_LOOK) && limits.is_interrupted() {
            return Err(margins_boost::Error::Interrupted.into());
        }
        let scores = ensemble.class_scores(&x);
        margins_optim::Error::check_scores(&scores, std::iter::repeat(row))?;
        let decided = Scheme::Plurality.decide(scores.len(), &scores);
        let is_wrong = class != Some(decided);
        losses.push(f64::from(u8::from(is_wrong)));
        wrong.extend(is_wrong.then_some(row));
    }
    Ok(Evaluation { losses, wrong })
}

/// Returns the functions of the classes of every classifier of a model of an ensemble, in their order,
/// with their scheme; `None` before the first classifier was taken.
pub(super) fn functions(
    ensemble: &Ensemble<LinearClasses>,
) -> Option<(Scheme, Vec<LinearClassifier>)> {
    match ensemble.combination() {
        Combination::Majority if ensemble.members().is_empty() => None,
        Combination::Majority => {
            let voters = ensemble.members().iter();
            let functions = voters.flat_map(|voter| voter.functions().iter().cloned());
            Some((Scheme::Plurality, functions.collect()))
        }
        Combination::Average => {
            let mean = ensemble.mean_classes()?;
            Some((Scheme::OneVersusRest, mean.functions().to_vec()))
        }
    }
}
