//! Checks of the splits of a cross-validation.

use std::mem;

use margins_data::split::{Split, Splits};
use margins_data::{ClassLabels, Dataset};

use crate::Error;

/// Refuses splits that do not fit the data, or test on a class without training on it.
pub(super) fn check_training(data: &Dataset, splits: Splits<'_>) -> Result<(), Error> {
    let untrained = untrained_classes(data, splits)?;
    untrained.into_iter().next().map_or(Ok(()), |(_, error)| Err(error))
}

/// Returns the class and [`Error::Fold`] for each split that tests on rows of a class without training
/// on any of it, for the last of several such classes. Rows without weight do not count.
///
/// # Errors
/// The splits do not fit the rows of the data.
pub fn untrained_classes<Y: ClassLabels>(
    data: &Dataset<Y>,
    splits: Splits<'_>,
) -> Result<Vec<(usize, Error)>, Error> {
    let count = check_splits(data, splits)?;
    let labels = data.labels();
    let is_own = matches!(splits, Splits::Folds(folds) if data.folds() == Some(folds));
    let names = data.fold_names().filter(|_| is_own);
    let classes = |rows: Vec<usize>| {
        let weighs = |i: &usize| data.weights().is_none_or(|weights| weights[*i] > 0.0);
        rows.into_iter().filter(weighs).map(|i| labels.index(i))
    };
    let untrained = |index: usize| {
        let Split { train, test } = splits.get(index);
        let mut trained = vec![false; labels.names().len()];
        classes(train).for_each(|class| trained[class] = true);
        let missing = classes(test).filter(|&class| !trained[class]).max()?;
        let fold = names.map_or_else(|| index.to_string(), |names| names[index].clone());
        Some((missing, Error::Fold { fold, class: labels.names()[missing].clone() }))
    };
    Ok((0..count).filter_map(untrained).collect())
}

/// Returns the number of splits of the rows of the data.
pub(super) fn check_splits<Y: ClassLabels>(
    data: &Dataset<Y>,
    splits: Splits<'_>,
) -> Result<usize, Error> {
    let expected = data.rows();
    let each = match splits {
        Splits::Folds(folds) if folds.len() != expected => {
            let (what, found) = ("folds, one per row", folds.len());
            return Err(Error::Shape { what, expected, found });
        }
        Splits::Folds(folds) => return count_folds(folds),
        Splits::Each(each) => each,
    };
    for (index, split) in each.iter().enumerate() {
        for (which, rows) in [("train", &split.train), ("test", &split.test)] {
            if rows.is_empty() {
                return Err(Error::EmptySplit { index, which });
            }
            let mut seen = vec![false; expected];
            // A row to train on may repeat, as in bootstrap samples: it counts as often.
            let mut is_right = |&row: &usize| {
                seen.get_mut(row).is_some_and(|seen| !mem::replace(seen, true) || which == "train")
            };
            if let Some(row) = rows.iter().copied().find(|row| !is_right(row)) {
                return Err(Error::Split { index, which, row, rows: expected });
            }
        }
    }
    if each.is_empty() { Err(Error::NoSplits) } else { Ok(each.len()) }
}

/// Returns the number of folds, each of which has rows.
fn count_folds(folds: &[usize]) -> Result<usize, Error> {
    let last = folds.iter().copied().max().unwrap_or(0);
    let mut seen = vec![false; folds.len()];
    // A number beyond the rows leaves a gap among the smaller ones.
    for &fold in folds.iter().filter(|&&fold| fold < folds.len()) {
        seen[fold] = true;
    }
    if let Some(empty) = seen.iter().take(last).position(|seen| !seen) {
        return Err(Error::EmptyFold(empty.to_string()));
    }
    if last == 0 { Err(Error::TooFewFolds(1)) } else { Ok(last + 1) }
}
