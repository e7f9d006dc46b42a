//! Arrays as designs, with one copy.

use margins::data::{ClassLabels, Classes, Dataset, Design};
use nalgebra_sparse::CsrMatrix;
use numpy::ndarray::ArrayView2;
use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

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

    /// Returns the samples; the rows appended are gone from here.
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

/// Returns samples of compressed sparse rows with ascending columns.
#[pyfunction]
pub(crate) fn sparse_rows(
    py: Python<'_>,
    offsets: PyReadonlyArray1<'_, i64>,
    indices: &Bound<'_, PyAny>,
    values: PyReadonlyArray1<'_, f64>,
    columns: usize,
) -> PyResult<Samples> {
    let narrow = indices.extract::<PyReadonlyArray1<'_, i32>>();
    let wide = indices.extract::<PyReadonlyArray1<'_, i64>>();
    let indices: Vec<usize> = match (&narrow, &wide) {
        (Ok(indices), _) => indices.as_array().iter().map(|&j| j as usize).collect(),
        (_, Ok(indices)) => indices.as_array().iter().map(|&j| j as usize).collect(),
        _ => return Err(PyTypeError::new_err("indices must be an array of int32 or int64")),
    };
    let offsets: Vec<usize> = offsets.as_array().iter().map(|&at| at as usize).collect();
    let values = values.as_array().to_vec();
    let rows = offsets.len().saturating_sub(1);
    py.detach(|| {
        let matrix = CsrMatrix::try_from_csr_data(rows, columns, offsets, indices, values)
            .map_err(|error| {
                PyValueError::new_err(format!("the sparse matrix is malformed: {error}"))
            })?;
        Design::sparse(matrix).map(Samples).map_err(of_data)
    })
}

/// What a fit learns from: samples, or the columns of a raw table.
#[derive(FromPyObject)]
enum Features<'py> {
    #[pyo3(transparent)]
    Samples(Py<Samples>),
    #[pyo3(transparent)]
    Columns(Vec<Column<'py>>),
}

/// The samples with their classes, given by index and name, as every fit takes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Data<'py> {
    samples: Features<'py>,
    targets: PyReadonlyArray1<'py, u32>,
    classes: Vec<String>,
    names: Option<Vec<String>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
}

impl<'py> Data<'py> {
    /// Takes the data over: the dictionary is empty afterwards, and nobody holds what the library
    /// has copied.
    pub(crate) fn take(given: &Bound<'py, PyDict>) -> PyResult<Self> {
        let data = given.extract()?;
        given.clear();
        Ok(data)
    }

    /// Returns the data set of the library; a raw table is encoded as it was asked for.
    pub(crate) fn dataset(self, encode: Encode) -> PyResult<Dataset<Classes>> {
        let targets = self.targets.as_array().to_vec();
        let classes = Classes::from_indices(targets, self.classes).map_err(of_data)?;
        let data = match (self.samples, encode.0) {
            (Features::Samples(samples), None) => Dataset::new(samples.get().0.clone(), classes),
            (Features::Columns(columns), Some(options)) => {
                encode::table(columns, &options.missing_words)
                    .and_then(|table| Dataset::encoded(table, classes, options))
            }
            _ => return Err(PyTypeError::new_err("columns are encoded, and nothing else is")),
        };
        let mut data = data.map_err(of_data)?;
        if let Some(names) = self.names {
            data = data.with_feature_names(names).map_err(of_data)?;
        }
        if let Some(weights) = self.weights {
            data = data.with_weights(weights.as_array().to_vec()).map_err(of_data)?;
        }
        Ok(data)
    }

    /// Returns the data set of two classes, the second of which is positive.
    pub(crate) fn of_two(self) -> PyResult<Dataset> {
        let data = self.dataset(Encode(None))?;
        let count = data.labels().names().len();
        if count != 2 {
            let message = format!("there are {count} classes, but must be 2");
            return Err(PyValueError::new_err(message));
        }
        data.relabelled(data.labels().between(0, 1)).map_err(of_data)
    }
}
