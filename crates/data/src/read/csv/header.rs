//! The header of a file, and what it says of the columns.

use std::collections::HashMap;

use super::split_quoted;
use crate::Error;
use crate::error::quoted;
use crate::read::lines::Lines;
use crate::read::{Purpose, ReadOptions, in_file};

const DEFAULT_LABEL: &str = "label";

/// The content of a column.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role {
    Feature,
    Label,
    Weight,
    Fold,
    Dropped,
}

/// Returns the column names: not empty, and distinct.
pub(super) fn header(lines: &Lines<'_>) -> Result<Vec<String>, Error> {
    let line = lines.text()?;
    let names: Vec<String> =
        split_quoted(lines, line)?.iter().map(|name| name.trim().to_owned()).collect();
    let mut seen = HashMap::with_capacity(names.len());
    for (name, column) in names.iter().zip(1..) {
        if name.is_empty() {
            let reason = format!("column {column} of the header has no name");
            return Err(lines.malformed_line(reason));
        }
        if let Some(first) = seen.insert(name.as_str(), column) {
            let name = quoted(name);
            let reason =
                format!("columns {first} and {column} of the header are both named {name}");
            return Err(lines.malformed_line(reason));
        }
    }
    // Column numbers are names too, but fractions and signs are data.
    let is_data = |name: &String| name.parse::<f64>().is_ok();
    let is_column_number = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    if names.iter().all(is_data) && !names.iter().all(is_column_number) {
        let reason = "the first line holds numbers, but must name the columns";
        return Err(lines.malformed_line(reason.to_owned()));
    }
    Ok(names)
}

/// Returns what the columns are for, by the options.
pub(super) fn roles(
    lines: &Lines<'_>,
    header: &[String],
    options: &ReadOptions,
    purpose: Purpose,
) -> Result<Vec<Role>, Error> {
    let mut roles = vec![Role::Feature; header.len()];
    let fit = purpose == Purpose::Fit;
    let label = options.label.as_deref().unwrap_or(DEFAULT_LABEL);
    // Without labels there is nothing to weigh.
    let weighed = fit || header.iter().any(|column| column == label);
    let weight = if weighed { Role::Weight } else { Role::Dropped };
    let fold = if fit { Role::Fold } else { Role::Dropped };
    let wanted = [
        ("for the label", Some(label), Role::Label),
        ("for the weights", options.weights_column.as_deref(), weight),
        ("for the folds", options.fold_column.as_deref(), fold),
    ];
    for (purpose, name, role) in wanted {
        let Some(name) = name else { continue };
        match header.iter().position(|column| column == name) {
            Some(column) if roles[column] == Role::Feature => roles[column] = role,
            Some(_) => {
                let reason = format!(
                    "column '{name}' cannot be taken {purpose}: it has another use already"
                );
                return Err(lines.malformed_line(reason));
            }
            None if fit => {
                let (name, columns) = (name.to_owned(), header.to_vec());
                let unknown = Error::UnknownColumn { name, purpose, columns };
                return Err(in_file(lines.name(), unknown));
            }
            None => {}
        }
    }
    Ok(roles)
}

/// Refuses a header without features, and another number of them than is expected.
pub(super) fn check_feature_count(
    lines: &Lines<'_>,
    p: usize,
    options: &ReadOptions,
) -> Result<(), Error> {
    match options.columns {
        _ if p == 0 => Err(lines.malformed_line("there is no feature column".to_owned())),
        Some(expected) if expected != p => {
            let reason = format!("the header names {p} features, but {expected} are expected");
            Err(lines.malformed_line(reason))
        }
        _ => Ok(()),
    }
}
