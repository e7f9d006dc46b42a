//! Whether samples have the features of a model.

use std::collections::HashSet;

use crate::Error;

/// Refuses samples with other features than a model, each given by their number and their names;
/// features without names count as those of the other side.
///
/// ```
/// use margins_model::accept_features;
///
/// let names = ["age", "income"].map(str::to_owned);
/// assert!(accept_features((2, Some(&names)), (2, None)).is_ok());
/// let refused = accept_features((2, None), (3, None)).unwrap_err();
/// assert_eq!(refused.to_string(), "the model has 2 features, the data 3");
/// ```
///
/// # Errors
/// Another number of features; another name in some place.
pub fn accept_features(
    (expected, ours): (usize, Option<&[String]>),
    (found, theirs): (usize, Option<&[String]>),
) -> Result<(), Error> {
    if found != expected {
        let known: HashSet<&String> = ours.iter().copied().flatten().collect();
        let unknown = |name: &&String| !known.is_empty() && !known.contains(*name);
        let extra = theirs.unwrap_or_default().iter().filter(unknown).cloned().collect();
        return Err(Error::Columns { expected, found, extra });
    }
    let mut pairs = ours.unwrap_or_default().iter().zip(theirs.unwrap_or_default());
    match pairs.position(|(ours, theirs)| ours != theirs) {
        None => Ok(()),
        Some(k) => Err(Error::FeatureName {
            position: k + 1,
            expected: ours.unwrap_or_default()[k].clone(),
            found: theirs.unwrap_or_default()[k].clone(),
        }),
    }
}
