//! Reads block files through the same functions as text.

use std::path::Path;

use super::{FeatureColumns, ReadOptions, Unlabelled};
use crate::blocks::BlockFile;
use crate::{ClassLabels, Classes, Dataset, Error, parallel};

/// The blocks that are read at the same time.
const BATCH: usize = 8;

/// Opens a block file by the options that it can take; `None` of any other file.
///
/// # Errors
/// An option that says how to read text. A file that is cut off or damaged, or that does not have the
/// features or the class that the options name.
pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Option<BlockFile>, Error> {
    let path = path.as_ref();
    if !BlockFile::is_one(path) {
        return Ok(None);
    }
    refuse_text_options(options)?;
    let mut file = BlockFile::open(path)?;
    if let Some(columns) = options.columns {
        file = file.with_features(columns)?;
    }
    if let FeatureColumns::Known(encoding) = &options.features
        && file.feature_names() != Some(&encoding.feature_names()[..])
    {
        return Err(file.wrong("its features are not those that the encoding makes".to_owned()));
    }
    match &options.positive {
        Some(positive) => file.with_positive(positive).map(Some),
        None => Ok(Some(file)),
    }
}

fn refuse_text_options(options: &ReadOptions) -> Result<(), Error> {
    let learn =
        matches!(options.features, FeatureColumns::Learn(_) | FeatureColumns::LearnUncrowded(_));
    let named = [
        ("the label column", options.label.clone()),
        ("the weights column", options.weights_column.clone()),
        ("the fold column", options.fold_column.clone()),
        ("the format", options.format.map(|format| format!("{format:?}").to_lowercase())),
        ("a further file", options.further_files.first().map(|file| file.display().to_string())),
        ("the encoding", learn.then(|| "to be learned".to_owned())),
        (
            "the option for rows without a label",
            options.drop_unlabelled.then(|| "to drop them".to_owned()),
        ),
    ];
    match named.into_iter().find_map(|(parameter, value)| Some((parameter, value?))) {
        Some((parameter, value)) => {
            let requirement = "left out for a block file, which stores it";
            Err(Error::parameter(parameter, format!("'{value}'"), requirement))
        }
        None => Ok(()),
    }
}

/// Returns rows as samples to predict, with their labels.
pub(super) fn unlabelled(data: &Dataset<Classes>) -> Unlabelled {
    let labels = data.labels();
    Unlabelled {
        labels: Some((0..data.rows()).map(|row| labels.class_of(row)).collect()),
        feature_names: data.feature_names().map(<[String]>::to_vec),
        weights: data.weights().map(<[f64]>::to_vec),
        design: data.design().clone(),
        dropped: Vec::new(),
        unknown_levels: 0,
    }
}

/// Calls `turn` for every block, several at the same time, and `take` for the results in order.
pub(super) fn each_block<T: Send, E: From<Error>>(
    file: &BlockFile,
    turn: impl Fn(Unlabelled) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    for first in (0..file.partitions()).step_by(BATCH) {
        let batch = first..file.partitions().min(first + BATCH);
        let turns = parallel::map(batch, |partition| Ok(turn(unlabelled(&file.read(partition)?))));
        turns.into_iter().try_for_each(|result: Result<T, Error>| take(result?))?;
    }
    Ok(())
}
