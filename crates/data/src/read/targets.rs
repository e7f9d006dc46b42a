//! Samples whose labels are numbers, for regression.

use std::io::Read;
use std::path::Path;

use super::by_format::table;
use super::columns::FeatureTable;
use super::labels::in_file;
use super::table::Purpose;
use super::{FeatureColumns, Format, ReadOptions, estimate, from_blocks, open};
use crate::encode::Encoding;
use crate::{Design, Error, Place};

/// Samples with a number each, read by [`targets`].
#[derive(Debug, Clone, PartialEq)]
pub struct Targets {
    /// The samples.
    pub design: Design,
    /// The targets y_i, one per sample, all finite.
    pub values: Vec<f64>,
    /// The names of the columns, from CSV.
    pub feature_names: Option<Vec<String>>,
    /// The encoding of the features, learned or known, if the options ask for one.
    pub encoding: Option<Encoding>,
    /// The number of rows that were left out because they have no label.
    pub dropped: usize,
}

/// Reads samples whose labels are finite numbers, the targets of a regression. Weights and folds are
/// not taken.
///
/// # Errors
/// The file cannot be read, its format is not known, its content is malformed, or a label is not a
/// finite number. Block files, which store classes, are refused.
pub fn targets(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Targets, Error> {
    let path = path.as_ref();
    if let Some(blocks) = from_blocks::open(path, options)? {
        return Err(
            blocks.wrong("a block file stores classes: pass the file it was made of".to_owned())
        );
    }
    let (file, name, format) = open(path, options)?;
    estimate::check_room(path, format, options)?;
    targets_from(file, &name, format, options)
}

/// Reads what [`targets`] does, from any reader; `name` stands for the file in messages, and `format`
/// prevails over that of the options.
///
/// ```
/// use margins_data::read::{self, Format, ReadOptions};
///
/// let options = ReadOptions { label: Some("price".to_owned()), ..ReadOptions::default() };
/// let text = "rooms,price\n3,210.5\n4,280\n";
/// let read = read::targets_from(text.as_bytes(), "homes.csv", Format::Csv, &options)?;
/// assert_eq!(read.values, [210.5, 280.0]);
///
/// let text = "rooms,price\n3,210.5\n4,high\n";
/// let refused = read::targets_from(text.as_bytes(), "homes.csv", Format::Csv, &options).unwrap_err();
/// assert!(refused.to_string().contains("line 3") && refused.to_string().contains("'high'"));
/// # Ok::<(), margins_data::Error>(())
/// ```
///
/// # Errors
/// The errors of [`targets`].
pub fn targets_from(
    reader: impl Read,
    name: &str,
    format: Format,
    options: &ReadOptions,
) -> Result<Targets, Error> {
    let mut values = Vec::new();
    let mut sink = |value: &str, place: &dyn Fn() -> Place| {
        values.push(number(value).ok_or_else(|| not_a_number(value, place()))?);
        Ok(())
    };
    let table = table(reader, name, format, options, Purpose::Fit, &mut sink)?;
    let dropped = table.dropped.len();
    let of_file = |error| in_file(name, error);
    let columns = learned(&table.features, &options.features).map_err(of_file)?;
    let (design, feature_names) = table.features.encoded(&columns).map_err(of_file)?;
    let encoding = match columns {
        FeatureColumns::Known(encoding) => Some(*encoding),
        _ => None,
    };
    Ok(Targets { design, values, feature_names, encoding, dropped })
}

/// Returns how the columns are read, with an encoding learned from them where one is to be learned.
fn learned(features: &FeatureTable, columns: &FeatureColumns) -> Result<FeatureColumns, Error> {
    match (features, columns) {
        (FeatureTable::Raw(raw, places), FeatureColumns::Learn(options)) => {
            let learned = Encoding::learn(raw, None, options.clone());
            let encoding = learned.map_err(|error| places.locate(error))?;
            Ok(FeatureColumns::Known(Box::new(encoding)))
        }
        _ => Ok(columns.clone()),
    }
}

/// Returns the number of a label, if it is finite.
fn number(label: &str) -> Option<f64> {
    label.trim().parse().ok().filter(|value: &f64| value.is_finite())
}

fn not_a_number(label: &str, place: Place) -> Error {
    let shown = crate::error::quoted(label);
    let reason =
        format!("the label {shown} is not a finite number, as the target of a regression must be");
    Error::Malformed { place, reason }
}
