//! Raw tables: their columns, and the setting that asks to encode them.

use margins::data::Error;
use margins::data::encode::{
    ColumnEncoding, EncodeOptions, Encoding, Missing, MissingWords, RawColumn, RawTable, Unknown,
};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::copies::copied;
use crate::dictionary::{check_names, read};
use crate::errors::refuse;

/// The options of an encoding.
const NAMES: &[&str] = &["categorical", "drop", "missing", "missing_words", "unknown"];

/// The setting `encode`: false, true, or a dictionary of options.
pub(crate) struct Encode(pub(crate) Option<EncodeOptions>);

impl<'py> FromPyObject<'_, 'py> for Encode {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(asked) = value.cast::<PyBool>() {
            return Ok(Encode(asked.is_true().then(EncodeOptions::default)));
        }
        match value.cast::<PyDict>() {
            Ok(told) => options_of(&told).map(Some).map(Encode),
            Err(_) => Err(PyTypeError::new_err("it must be True, False or a dict")),
        }
    }
}

fn options_of(told: &Bound<'_, PyDict>) -> PyResult<EncodeOptions> {
    check_names(told, NAMES)?;
    let words = |name| given::<Vec<String>>(told, name);
    let rule = |name| given::<String>(told, name);
    Ok(EncodeOptions {
        categorical: words("categorical")?.unwrap_or_default(),
        drop: words("drop")?.unwrap_or_default(),
        missing: match rule("missing")?.as_deref() {
            None | Some("median") => Missing::Median,
            Some("refuse") => Missing::Refuse,
            Some(other) => {
                return Err(refuse("missing", format!("'{other}'"), "'median' or 'refuse'"));
            }
        },
        unknown: match rule("unknown")?.as_deref() {
            None | Some("refuse") => Unknown::Refuse,
            Some("none") => Unknown::None,
            Some(other) => {
                return Err(refuse("unknown", format!("'{other}'"), "'refuse' or 'none'"));
            }
        },
        missing_words: words("missing_words")?
            .map_or_else(MissingWords::default, |words| MissingWords::new(&words)),
    })
}

/// Returns the value of an option, if it is given.
fn given<'py, T: FromPyObjectOwned<'py>>(
    options: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<Option<T>> {
    if options.contains(name)? { read(options, name).map(Some) } else { Ok(None) }
}

/// Returns the options of an encoding and the columns that it has learned, for a constructor.
pub(crate) fn describe<'py>(py: Python<'py>, encoding: &Encoding) -> PyResult<Bound<'py, PyDict>> {
    let options = encoding.options();
    let told = PyDict::new(py);
    told.set_item("categorical", &options.categorical)?;
    told.set_item("drop", &options.drop)?;
    let missing = if options.missing == Missing::Median { "median" } else { "refuse" };
    told.set_item("missing", missing)?;
    told.set_item("missing_words", options.missing_words.words())?;
    let unknown = if options.unknown == Unknown::None { "none" } else { "refuse" };
    told.set_item("unknown", unknown)?;
    let result = PyDict::new(py);
    let names: Vec<&str> = encoding.columns().iter().map(ColumnEncoding::name).collect();
    result.set_item("options", told)?;
    result.set_item("columns", names)?;
    Ok(result)
}

/// A column of a raw table, in memory of its own.
pub(crate) struct Column {
    name: String,
    cells: Cells,
}

enum Cells {
    /// Numbers, in which NaN is a missing value.
    Numbers(Vec<f64>),
    /// Cells as people write them, or missing values.
    Written(Vec<Option<String>>),
}

/// Returns the columns of a list of dictionaries, each with a name and with cells.
pub(crate) fn columns(given: &Bound<'_, PyAny>) -> PyResult<Vec<Column>> {
    given.try_iter()?.map(|column| column_of(&column?)).collect()
}

fn column_of(given: &Bound<'_, PyAny>) -> PyResult<Column> {
    let (name, cells) = (given.get_item("name")?.extract()?, given.get_item("cells")?);
    let cells = match cells.extract::<PyReadonlyArray1<'_, f64>>() {
        Ok(numbers) => Cells::Numbers(copied(given.py(), &numbers, |x| x)?),
        Err(_) => Cells::Written(written(&cells)?),
    };
    Ok(Column { name, cells })
}

/// Returns texts and missing values, and looks for signals on the way.
fn written(given: &Bound<'_, PyAny>) -> PyResult<Vec<Option<String>>> {
    /// The number of texts between two looks.
    const MANY: usize = 1 << 16;
    let mut cells = Vec::with_capacity(given.len()?);
    for cell in given.try_iter()? {
        cells.push(cell?.extract()?);
        if cells.len() % MANY == 0 {
            given.py().check_signals()?;
        }
    }
    Ok(cells)
}

/// Returns the table of columns, in which these words are missing values too; the cells of columns of codes keep
/// their texts.
pub(crate) fn table(
    columns: Vec<Column>,
    missing: &MissingWords,
    codes: &[String],
) -> Result<RawTable, Error> {
    let read = |column: Column| match column.cells {
        Cells::Numbers(cells) => RawColumn::numbers(column.name, &cells),
        Cells::Written(cells) if codes.contains(&column.name) => {
            Ok(RawColumn::codes(column.name, cells, missing))
        }
        Cells::Written(cells) => RawColumn::cells(column.name, cells, missing),
    };
    RawTable::from_columns(columns.into_iter().map(read).collect::<Result<_, _>>()?)
}
