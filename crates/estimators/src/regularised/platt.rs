//! Platt scaling: the folds that hold scores out, the fit, and what the report says of it.

use margins_calibration::probability::PlattScaling;
use margins_data::{ClassLabels, Classes, Counted, Dataset};
use margins_model::Model;

use super::cross_validation::{DEFAULT_FOLDS, folds_of};
use crate::Error;

/// The folds of a Platt scaling.
pub(super) struct PlattFolds {
    pub(super) of_rows: Vec<usize>,
    /// A sentence on folds that are fewer than asked for, if they are.
    pub(super) note: Option<String>,
}

impl PlattFolds {
    /// Returns folds of the number asked for, or as many as the smallest class has rows if these are
    /// fewer; folds of the data keep their number.
    pub(super) fn new(
        data: &Dataset<Classes>,
        count: Option<usize>,
        seed: u64,
    ) -> Result<Self, Error> {
        let asked = count.unwrap_or(DEFAULT_FOLDS);
        let rows = data.labels().rows_by_class();
        let smallest = rows.iter().map(Vec::len).enumerate().min_by_key(|&(_, rows)| rows);
        match smallest {
            Some((class, rows @ ..2)) if data.folds().is_none() => {
                let requirement =
                    "at least 2, so that every fold of the Platt scaling has one to learn from";
                let size = format!("{rows} ('{}')", data.labels().names()[class]);
                Err(Error::setting("the size of the smallest class", &size, requirement))
            }
            Some((class, rows)) if rows < asked && data.folds().is_none() => {
                let name = &data.labels().names()[class];
                let note = format!(
                    "The Platt scaling takes {rows} folds instead of {asked}: class '{name}' has {}.",
                    Counted(rows, "row")
                );
                let (of_rows, _) = folds_of(data, Some(rows), seed)?;
                Ok(PlattFolds { of_rows, note: Some(note) })
            }
            _ => Ok(PlattFolds { of_rows: folds_of(data, count, seed)?.0, note: None }),
        }
    }
}

/// Returns the Platt scaling of the scores of one member; samples without weights have weight 1.
pub(super) fn platt_scaling(
    scores: &[f64],
    signs: &[f64],
    weights: Option<&[f64]>,
) -> Result<PlattScaling, Error> {
    Ok(match weights {
        Some(weights) => PlattScaling::fit_weighted(scores, signs, weights)?,
        None => PlattScaling::fit(scores, signs)?,
    })
}

/// Returns a sentence on the members whose probabilities do not rise with their scores, if there are
/// some.
pub(super) fn of_constant_probabilities(model: &Model) -> Option<String> {
    let names = model.scheme().member_names(model.classes());
    let is_constant = |scaling: &PlattScaling| scaling.slope() == 0.0;
    let constant = names.into_iter().zip(model.members());
    let constant = constant.filter(|(_, member)| member.platt.as_ref().is_some_and(is_constant));
    let constant: Vec<String> = constant.map(|(name, _)| name).collect();
    let who = match &constant[..] {
        [] => return None,
        [only] => only.clone(),
        [first, ..] => {
            format!("{} of {} members, {first} among them,", constant.len(), model.members().len())
        }
    };
    Some(format!(
        "The Platt scaling of {who} gives every sample the same probability: on held-out rows, higher scores did not mean \
         more rows of the positive class."
    ))
}
