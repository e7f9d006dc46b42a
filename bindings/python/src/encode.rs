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
use crate::dictionary::Given;
use crate::errors::refuse;

/// The setting `encode`: false, true, or a dictionary of options.
pub(crate) struct Encode(pub(crate) Option<EncodeOptions>);

impl<'py> FromPyObject<'_, 'py> for Encode {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(asked) = value.cast::<PyBool>() {
            return Ok(Encode(asked.is_true().then(EncodeOptions::default)));
        }
        match value.cast::<PyDict>() {
            Ok(options) => options_of(&options).map(Some).map(Encode),
            Err(_) => Err(PyTypeError::new_err("it must be True, False or a dict")),
        }
    }
}

fn options_of(options: &Bound<'_, PyDict>) -> PyResult<EncodeOptions> {
    let mut given = Given::new(options)?;
    let encode = EncodeOptions {
        categorical: given.take_or("categorical", Vec::new())?,
        drop: given.take_or("drop", Vec::new())?,
        missing: match given.take_or("missing", "median".to_owned())?.as_str() {
            "median" => Missing::Median,
            "refuse" => Missing::Refuse,
            other => {
                return Err(refuse("missing", format!("'{other}'"), "'median' or 'refuse'"));
            }
        },
        unknown: match given.take_or("unknown", "refuse".to_owned())?.as_str() {
            "refuse" => Unknown::Refuse,
            "none" => Unknown::None,
            other => {
                return Err(refuse("unknown", format!("'{other}'"), "'refuse' or 'none'"));
            }
        },
        missing_words: given
            .take_or::<Option<Vec<String>>>("missing_words", None)?
            .map_or_else(MissingWords::default, |words| MissingWords::new(&words)),
    };
    given.finish()?;
    Ok(encode)
}

/// Returns the options of an encoding and the columns that it has learned, for a constructor.
pub(crate) fn describe<'py>(py: Python<'py>, encoding: &Encoding) -> PyResult<Bound<'py, PyDict>> {
    let options = encoding.options();
    let described = PyDict::new(py);
    described.set_item("categorical", &options.categorical)?;
    described.set_item("drop", &options.drop)?;
    let missing = if options.missing == Missing::Median { "median" } else { "refuse" };
    described.set_item("missing", missing)?;
    described.set_item("missing_words", options.missing_words.words())?;
    let unknown = if options.unknown == Unknown::None { "none" } else { "refuse" };
    described.set_item("unknown", unknown)?;
    let result = PyDict::new(py);
    let names: Vec<&str> = encoding.columns().iter().map(ColumnEncoding::name).collect();
    result.set_item("options", described)?;
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
