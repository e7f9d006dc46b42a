//! Raw tables: their columns, and the setting that asks to encode them.

use margins::data::Error;
use margins::data::encode::{
    ColumnEncoding, EncodeOptions, Encoding, Missing, MissingWords, RawColumn, RawTable, Unknown,
};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::dictionary::{check_names, read};
use crate::errors::refuse;

/// What an encoding may be told.
const NAMES: &[&str] = &["categorical", "drop", "missing", "missing_words", "unknown"];

/// The setting `encode`: false, true, or a dictionary of what the encoding is told.
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

/// Returns what is told of a name, if anything is.
fn given<'py, T: FromPyObjectOwned<'py>>(
    told: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<Option<T>> {
    if told.contains(name)? { read(told, name).map(Some) } else { Ok(None) }
}

/// Returns what an encoding was told and the columns that it has learned, for a constructor.
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

/// A column of a raw table.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Column<'py> {
    name: String,
    cells: Cells<'py>,
}

#[derive(FromPyObject)]
enum Cells<'py> {
    /// Numbers, in which NaN is a gap.
    #[pyo3(transparent)]
    Numbers(PyReadonlyArray1<'py, f64>),
    /// Cells as people write them, or gaps.
    #[pyo3(transparent)]
    Written(Vec<Option<String>>),
}

/// Returns the table of columns, in which these words are gaps too.
pub(crate) fn table(columns: Vec<Column<'_>>, missing: &MissingWords) -> Result<RawTable, Error> {
    let read = |column: Column<'_>| match column.cells {
        Cells::Numbers(cells) => match cells.as_slice() {
            Ok(cells) => RawColumn::numbers(column.name, cells),
            Err(_) => RawColumn::numbers(column.name, &cells.as_array().to_vec()),
        },
        Cells::Written(cells) => RawColumn::cells(column.name, cells, missing),
    };
    RawTable::from_columns(columns.into_iter().map(read).collect::<Result<_, _>>()?)
}
