//! The names of columns, and what they are for.

use std::collections::HashMap;

use super::labels::in_file;
use super::table::Purpose;
use super::{FeatureColumns, ReadOptions};
use crate::error::{LABEL_ADVICE, quoted};
use crate::{Counted, Error};

const DEFAULT_LABEL: &str = "label";

/// A refusal of what is wrong with a header, by its reason.
pub(super) type Wrong<'w> = dyn Fn(String) -> Error + 'w;

/// The content of a column.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role {
    Feature,
    Label,
    Weight,
    Fold,
    Dropped,
}

impl Role {
    /// Returns what a column has that rows are not decided by.
    fn content_beside_features(self) -> Option<&'static str> {
        match self {
            Role::Feature | Role::Dropped => None,
            Role::Label => Some("the labels (--label)"),
            Role::Weight => Some("the weights (--weights-column)"),
            Role::Fold => Some("the folds (--fold-column)"),
        }
    }
}

/// Refuses a name that occurs twice, and an empty name unless the column without one is left out.
pub(super) fn check_names(
    names: &[String],
    drops_unnamed: bool,
    wrong: &Wrong<'_>,
) -> Result<(), Error> {
    let mut seen = HashMap::with_capacity(names.len());
    for (name, column) in names.iter().zip(1..) {
        if name.is_empty() && drops_unnamed {
            continue;
        }
        if name.is_empty() {
            let reason = format!(
                "column {column} of the header has no name: name it, or leave it out by --drop '' at \
                 the fit"
            );
            return Err(wrong(reason));
        }
        if let Some(first) = seen.insert(name.as_str(), column) {
            let name = quoted(name);
            let reason =
                format!("columns {first} and {column} of the header are both named {name}");
            return Err(wrong(reason));
        }
    }
    Ok(())
}

/// Returns what the columns of a file are for, by the options.
pub(super) fn roles(
    file: &str,
    header: &[String],
    options: &ReadOptions,
    purpose: Purpose,
    wrong: &Wrong<'_>,
) -> Result<Vec<Role>, Error> {
    let mut roles = vec![Role::Feature; header.len()];
    let fit = purpose == Purpose::Fit;
    let label = options.label.as_deref().unwrap_or(DEFAULT_LABEL);
    let for_label = match options.label {
        Some(_) => "for the label",
        None => "for the label (name it by --label)",
    };
    // Without labels there is nothing to weigh.
    let weighed = fit || header.iter().any(|column| column == label);
    let weight = if weighed { Role::Weight } else { Role::Dropped };
    let fold = if fit { Role::Fold } else { Role::Dropped };
    let wanted = [
        (for_label, Some(label), Role::Label),
        ("for the weights", options.weights_column.as_deref(), weight),
        ("for the folds", options.fold_column.as_deref(), fold),
    ];
    for (purpose, name, role) in wanted {
        let Some(name) = name else { continue };
        let is_named = role != Role::Label || options.label.is_some();
        let is_near = || header.iter().any(|column| is_same_but_for_case(column, name));
        match header.iter().position(|column| column == name) {
            Some(column) if roles[column] == Role::Feature => roles[column] = role,
            Some(_) => {
                let reason = format!(
                    "column '{name}' cannot be taken {purpose}: it has another use already"
                );
                return Err(wrong(reason));
            }
            None if fit || is_named && is_near() => {
                let (name, columns) = (name.to_owned(), header.to_vec());
                let unknown = Error::UnknownColumn { name, purpose, columns };
                return Err(in_file(file, unknown));
            }
            None => {}
        }
    }
    check_no_other_use(header, &roles, &options.features, wrong)?;
    Ok(roles)
}

/// Returns true if a name differs from another by capital letters alone.
fn is_same_but_for_case(name: &str, other: &str) -> bool {
    name.to_lowercase() == other.to_lowercase()
}

/// Refuses columns with a use of their own among those of an encoding to be learned.
fn check_no_other_use(
    header: &[String],
    roles: &[Role],
    features: &FeatureColumns,
    wrong: &Wrong<'_>,
) -> Result<(), Error> {
    let Some(asked) = features.to_learn() else { return Ok(()) };
    for (names, what) in [(&asked.drop, "be left out"), (&asked.categorical, "hold codes")] {
        for (name, role) in header.iter().zip(roles).filter(|(name, _)| names.contains(name)) {
            if let Some(content) = role.content_beside_features() {
                let name = quoted(name);
                return Err(wrong(format!("column {name} cannot {what}: it has {content}")));
            }
        }
    }
    Ok(())
}

/// Refuses a header without features, and another number of them than is expected.
pub(super) fn check_feature_count(
    p: usize,
    options: &ReadOptions,
    wrong: &Wrong<'_>,
) -> Result<(), Error> {
    match options.columns {
        _ if p == 0 => Err(wrong("there is no feature column".to_owned())),
        Some(expected) if expected != p => {
            let advice = if p == expected + 1 { LABEL_ADVICE } else { "" };
            let reason = format!(
                "the header names {}, but {expected} are expected{advice}",
                Counted(p, "feature")
            );
            Err(wrong(reason))
        }
        _ => Ok(()),
    }
}
