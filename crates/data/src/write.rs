//! Data sets to CSV and svmlight text, with the shortest decimals that read back to the same
//! numbers.
//!
//! ```
//! use margins_data::read::{self, Format, ReadOptions};
//! use margins_data::{Dataset, Design, Labels, write};
//!
//! let design = Design::from_rows(&[[0.1, 0.0], [2.0, 3e-9]])?;
//! let data = Dataset::new(design, Labels::new(&["no", "yes"])?)?;
//! let mut text = Vec::new();
//! write::svmlight(&data, &mut text)?;
//! assert_eq!(text, b"no 1:0.1\nyes 1:2 2:3e-9\n");
//! let again = read::dataset_from(&text[..], "memory", Format::Svmlight, &ReadOptions::default())?;
//! assert_eq!(again.labels(), data.labels());
//! # Ok::<(), margins_data::Error>(())
//! ```

use std::io::Write;

use crate::{Dataset, Error};

/// Where a file begins with this, readers skip it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Writes CSV: the features under their names, or x1, x2, ... without names, then weights as column
/// `weight` and the names of folds as column `fold` if there are any, then the class names as column `label`.
///
/// A positive class that is not the later one in order must be named when the file is read.
///
/// # Errors
/// A feature has the name of one of these columns, a name, fold or class is empty, starts or ends with a
/// space or starts with a byte order mark, or the text cannot be written.
pub fn csv(data: &Dataset, writer: impl Write) -> Result<(), Error> {
    let mut names: Vec<String> = match data.feature_names() {
        Some(names) => names.to_vec(),
        None => (1..=data.columns()).map(|number| format!("x{number}")).collect(),
    };
    names.extend(data.weights().map(|_| "weight".to_owned()));
    names.extend(data.folds().map(|_| "fold".to_owned()));
    names.push("label".to_owned());
    for (second, name) in names.iter().enumerate().skip(data.columns()) {
        if let Some(first) = names[..second].iter().position(|feature| feature == name) {
            return Err(Error::DuplicateName { name: name.clone(), first, second });
        }
    }
    let classes = [data.labels().negative_class(), data.labels().positive_class()];
    let folds = data.folds().zip(data.fold_names());
    let fold_names = folds.iter().flat_map(|(_, names)| *names);
    for text in names.iter().chain(fold_names).map(String::as_str).chain(classes) {
        if text.is_empty() || text.trim() != text || text.starts_with(BYTE_ORDER_MARK) {
            let requirement = "some text without spaces at its ends or a byte order mark at its \
                               start, to be written as CSV";
            return Err(Error::parameter("a name", format!("'{text}'"), requirement));
        }
    }

    let mut writer = csv::Writer::from_writer(writer);
    writer.write_record(&names).map_err(csv_error)?;
    let mut cells = vec![String::new(); names.len()];
    for (row, sample) in data.design().samples().enumerate() {
        let (features, others) = cells.split_at_mut(data.columns());
        features.iter_mut().for_each(|cell| "0".clone_into(cell));
        sample.for_each(|column, value| features[column] = shortest(value));
        let weight = data.weights().map(|weights| shortest(weights[row]));
        let fold = folds.map(|(folds, names)| names[folds[row]].clone());
        let label = data.labels().class_name(data.labels().signs()[row]).to_owned();
        for (cell, value) in others.iter_mut().zip(weight.into_iter().chain(fold).chain([label])) {
            *cell = value;
        }
        writer.write_record(&cells).map_err(csv_error)?;
    }
    writer.flush().map_err(Error::Write)
}

/// Writes svmlight text: class names, then the features that are not zero. Feature names, weights
/// and folds have no place in it and are left out.
///
/// A positive class that is not the later one in order must be named when the file is read, and the
/// number of features expected if the last ones may be zero everywhere.
///
/// # Errors
/// A class name that the format cannot hold, or the text cannot be written.
pub fn svmlight(data: &Dataset, mut writer: impl Write) -> Result<(), Error> {
    for class in [data.labels().negative_class(), data.labels().positive_class()] {
        let reserved = |c: char| c.is_ascii_whitespace() || [':', ',', '#'].contains(&c);
        if class.is_empty() || class.contains(reserved) || class.starts_with(BYTE_ORDER_MARK) {
            let requirement = "some text without space, colon, comma and #, or a byte order mark \
                               at its start, to be written as svmlight";
            return Err(Error::parameter("a class name", format!("'{class}'"), requirement));
        }
    }
    let mut line = String::new();
    for (sample, &sign) in data.design().samples().zip(data.labels().signs()) {
        line.clear();
        line.push_str(data.labels().class_name(sign));
        sample.for_each(|column, value| {
            if value != 0.0 {
                line.push_str(&format!(" {}:{}", column + 1, shortest(value)));
            }
        });
        line.push('\n');
        writer.write_all(line.as_bytes()).map_err(Error::Write)?;
    }
    writer.flush().map_err(Error::Write)
}

/// Returns the shortest decimal that reads back to the same number.
fn shortest(value: f64) -> String {
    let mut text = format!("{value:?}");
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
    text
}

fn csv_error(error: csv::Error) -> Error {
    Error::Write(error.into())
}
