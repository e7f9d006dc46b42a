//! Converts arrays to designs with one copy.

use margins::data::encode::EncodeOptions;
use margins::data::{ClassLabels, Classes, Dataset, Design};
use numpy::ndarray::ArrayView2;
use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::copies::copied;
use crate::doorway::run_sized;
use crate::encode::{self, Column, Encode};
use crate::errors::of_data;

/// Samples in the memory of the library.
#[pyclass(frozen, module = "margins_learn._native")]
pub(crate) struct Samples(pub(crate) Design);

#[pymethods]
impl Samples {
    /// The numbers of rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.0.rows(), self.0.columns())
    }
}

/// Dense samples that come in blocks of rows.
#[pyclass(module = "margins_learn._native")]
pub(crate) struct DenseRows(Option<margins::data::DenseRows>);

#[pymethods]
impl DenseRows {
    /// Makes room for all rows.
    #[new]
    fn new(rows: usize, columns: usize) -> PyResult<Self> {
        margins::data::DenseRows::new(rows, columns).map(Some).map(DenseRows).map_err(of_data)
    }

    /// Copies a block of rows of float64 or float32, in any order and stride.
    fn append(&mut self, py: Python<'_>, block: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(block) = block.extract::<PyReadonlyArray2<'_, f64>>() {
            self.take(py, block.as_array(), |x| x)
        } else if let Ok(block) = block.extract::<PyReadonlyArray2<'_, f32>>() {
            self.take(py, block.as_array(), f64::from)
        } else {
            Err(PyTypeError::new_err("a block of rows must be a 2-d array of float64 or float32"))
        }
    }

    /// Returns the samples; the rows appended are moved out.
    fn finish(&mut self) -> PyResult<Samples> {
        let rows = self.0.take().ok_or_else(gone)?;
        rows.finish().map(Samples).map_err(of_data)
    }
}

impl DenseRows {
    fn take<T: Element + Copy + Send + Sync>(
        &mut self,
        py: Python<'_>,
        block: ArrayView2<'_, T>,
        wide: impl Fn(T) -> f64 + Send + Sync,
    ) -> PyResult<()> {
        /// The number of values that are copied and checked at once.
        const MANY: usize = 1024;
        let rows = self.0.as_mut().ok_or_else(gone)?;
        if block.ncols() != rows.columns() {
            let (found, expected) = (block.ncols(), rows.columns());
            let message = format!("a block has {found} columns, but must have {expected}");
            return Err(PyValueError::new_err(message));
        }
        py.detach(|| match block.as_slice() {
            Some(values) => {
                values.chunks(MANY).try_for_each(|some| rows.append(some.iter().map(|&x| wide(x))))
            }
            None => block
                .rows()
                .into_iter()
                .try_for_each(|row| rows.append(row.iter().map(|&x| wide(x)))),
        })
        .map_err(of_data)
    }
}

fn gone() -> PyErr {
    PyValueError::new_err("the rows were finished before")
}

/// Sparse samples whose entries come in any order.
#[pyclass(module = "margins_learn._native")]
pub(crate) struct SparseRows {
    rows: Option<margins::data::SparseRows>,
    /// The number of rows and entries.
    size: usize,
}

#[pymethods]
impl SparseRows {
    /// Makes room for rows of these numbers of entries.
    #[new]
    fn new(py: Python<'_>, counts: PyReadonlyArray1<'_, i64>, columns: usize) -> PyResult<Self> {
        let counts: Vec<usize> = counts.as_array().iter().map(|&k| k as usize).collect();
        // The system hands out memory as it is written to, which takes long where there are many entries.
        let size = counts.iter().fold(counts.len(), |size, &count| size.saturating_add(count));
        let made = move || Ok(margins::data::SparseRows::new(counts, columns)?);
        run_sized(py, None, size, made).map(|rows| SparseRows { rows: Some(rows), size })
    }

    /// Copies some entries: their rows, their columns and their values.
    fn place(
        &mut self,
        py: Python<'_>,
        rows: PyReadonlyArray1<'_, i64>,
        columns: PyReadonlyArray1<'_, i64>,
        values: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<()> {
        let made = self.rows.as_mut().ok_or_else(gone)?;
        let (rows, columns, values) = (rows.as_array(), columns.as_array(), values.as_array());
        of_one_length(rows.len(), columns.len(), values.len())?;
        let mut entries = rows.iter().zip(columns).zip(values);
        let mut all =
            move || entries.try_for_each(|((&i, &j), &x)| made.place(i as usize, j as usize, x));
        py.detach(&mut all).map_err(of_data)
    }

    /// Copies some entries that lie row by row: the numbers of those of the rows from `first` on, their
    /// columns and their values.
    fn place_rows(
        &mut self,
        py: Python<'_>,
        first: usize,
        counts: PyReadonlyArray1<'_, i64>,
        columns: Integers<'_, i32, i64>,
        values: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<()> {
        let (counts, values) = (counts.as_slice()?, values.as_slice()?);
        match &columns {
            Integers::Narrow(columns) => {
                self.place_all(py, first, counts, columns.as_slice()?, |j| j as usize, values)
            }
            Integers::Wide(columns) => {
                self.place_all(py, first, counts, columns.as_slice()?, |j| j as usize, values)
            }
        }
    }

    /// Returns the samples; the entries placed are moved out.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Samples> {
        let rows = self.rows.take().ok_or_else(gone)?;
        run_sized(py, None, self.size, move || Ok(rows.finish()?)).map(Samples)
    }
}

impl SparseRows {
    /// Copies the entries of the rows from `first` on, with a conversion of their columns; a negative
    /// number is beyond the last row or column.
    fn place_all<T: Copy + Sync>(
        &mut self,
        py: Python<'_>,
        first: usize,
        counts: &[i64],
        columns: &[T],
        column: impl Fn(T) -> usize + Send + Sync,
        values: &[f64],
    ) -> PyResult<()> {
        let made = self.rows.as_mut().ok_or_else(gone)?;
        let total = counts.iter().fold(0_usize, |sum, &count| sum.saturating_add(count as usize));
        of_one_length(total, columns.len(), values.len())?;
        let all = || {
            let (mut columns, mut values) = (columns, values);
            (first..).zip(counts).try_for_each(|(row, &count)| {
                let (these, left) = columns.split_at(count as usize);
                let (values_of_row, values_left) = values.split_at(count as usize);
                (columns, values) = (left, values_left);
                made.place_row(row, these.iter().map(|&j| column(j)), values_of_row)
            })
        };
        py.detach(all).map_err(of_data)
    }
}

/// Refuses entries whose rows, columns and values are not of one number.
fn of_one_length(rows: usize, columns: usize, values: usize) -> PyResult<()> {
    if rows == values && columns == values {
        return Ok(());
    }
    let message = format!("there are {rows} rows and {columns} columns for {values} values");
    Err(PyValueError::new_err(message))
}

/// An array of whole numbers of one of two widths.
enum Integers<'py, A: Element, B: Element> {
    Narrow(PyReadonlyArray1<'py, A>),
    Wide(PyReadonlyArray1<'py, B>),
}

impl<'py, A: Element + 'py, B: Element + 'py> FromPyObject<'_, 'py> for Integers<'py, A, B> {
    type Error = PyErr;

    // A derived extraction would print why the first type does not fit, which runs code of Python:
    // a signal that arrives there is lost.
    fn extract(array: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match array.extract() {
            Ok(narrow) => Ok(Integers::Narrow(narrow)),
            Err(_) => array.extract().map(Integers::Wide),
        }
    }
}

/// The samples with their classes, given by index and name, as every fit gives them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Given<'py> {
    samples: Bound<'py, PyAny>,
    /// The class of every sample, in a byte where there are few classes.
    targets: Integers<'py, u8, u32>,
    classes: Vec<String>,
    names: Option<Vec<String>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
}

/// The parts of a data set, in memory of its own; the job of a fit builds the data set.
pub(crate) struct Data {
    features: TrainingSamples,
    classes: Classes,
    names: Option<Vec<String>>,
    weights: Option<Vec<f64>>,
    folds: Option<Vec<String>>,
    encode: Option<EncodeOptions>,
}

/// The input of a fit: samples, or the columns of a raw table.
enum TrainingSamples {
    Samples(Design),
    Columns(Vec<Column>),
}

impl Data {
    /// Takes the data over: the dictionary is empty afterwards, so that nothing else holds what the library
    /// has copied. A raw table is to be encoded as it was asked for.
    pub(crate) fn take(given: &Bound<'_, PyDict>, encode: Encode) -> PyResult<Self> {
        let py = given.py();
        let Given { samples, targets, classes, names, weights } = given.extract()?;
        given.clear();
        let features = match (samples.cast::<Samples>(), &encode.0) {
            (Ok(samples), None) => TrainingSamples::Samples(samples.get().0.clone()),
            (Err(_), Some(_)) => TrainingSamples::Columns(encode::columns(&samples)?),
            _ => return Err(PyTypeError::new_err("only columns of a table can be encoded")),
        };
        drop(samples);
        let targets = match targets {
            Integers::Narrow(targets) => copied(py, &targets, u32::from)?,
            Integers::Wide(targets) => copied(py, &targets, |class| class)?,
        };
        Ok(Data {
            features,
            classes: Classes::from_indices(targets, classes).map_err(of_data)?,
            names,
            weights: weights.map(|weights| copied(py, &weights, |c| c)).transpose()?,
            folds: None,
            encode: encode.0,
        })
    }

    /// Takes the data of two classes over, the second of which is positive.
    pub(crate) fn take_of_two(given: &Bound<'_, PyDict>) -> PyResult<Self> {
        let data = Self::take(given, Encode(None))?;
        match data.classes.names().len() {
            2 => Ok(data),
            count => {
                Err(PyValueError::new_err(format!("there are {count} classes, but must be 2")))
            }
        }
    }

    /// Returns the classes of the rows.
    pub(crate) fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Returns the data with the name of the fold of every row.
    pub(crate) fn with_folds(self, folds: Vec<String>) -> Self {
        Data { folds: Some(folds), ..self }
    }

    /// Returns the data set of the library, which may take long.
    pub(crate) fn dataset(self) -> Result<Dataset<Classes>, margins::Error> {
        let mut data = match self.features {
            TrainingSamples::Samples(design) => Dataset::new(design, self.classes)?,
            TrainingSamples::Columns(columns) => {
                let options = self.encode.unwrap_or_default();
                let table = encode::table(columns, &options.missing_words, &options.categorical)?;
                Dataset::encoded(table, self.classes, options)?
            }
        };
        if let Some(names) = self.names {
            data = data.with_feature_names(names)?;
        }
        if let Some(weights) = self.weights {
            data = data.with_weights(weights)?;
        }
        if let Some(folds) = self.folds {
            data = data.with_fold_names(&folds)?;
        }
        Ok(data)
    }

    /// Returns the data set of two classes, the second of which is positive.
    pub(crate) fn dataset_of_two(self) -> Result<Dataset, margins::Error> {
        let data = self.dataset()?;
        Ok(data.relabelled(data.labels().between(0, 1))?)
    }
}
