//! Block files.

use std::path::PathBuf;

use margins::data::blocks::{self, BlockFile, BlockSettings, LabelledRows, Precision};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::Samples;
use crate::doorway::{Stop, run};
use crate::errors::of_data;

/// A block file that is being written.
#[pyclass(module = "margins_learn._native")]
pub(crate) struct BlockWriter(Option<blocks::BlockWriter>);

#[pymethods]
impl BlockWriter {
    /// Starts a file with this many rows per block, and values of 32 or 64 bits.
    #[new]
    fn new(
        path: PathBuf,
        rows: Option<usize>,
        single: bool,
        names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let precision = if single { Precision::Single } else { Precision::Double };
        let settings = BlockSettings { precision, rows, ..BlockSettings::default() };
        let mut writer = blocks::BlockWriter::create(path, settings).map_err(of_data)?;
        if let Some(names) = names {
            writer = writer.with_feature_names(names);
        }
        Ok(BlockWriter(Some(writer)))
    }

    /// Writes rows with the names of their classes, and with weights and folds or without. The file
    /// is given up where that fails or is interrupted.
    fn append(
        &mut self,
        py: Python<'_>,
        samples: &Samples,
        labels: Vec<String>,
        weights: Option<Vec<f64>>,
        folds: Option<Vec<String>>,
    ) -> PyResult<()> {
        let mut writer = self.0.take().ok_or_else(finished)?;
        let design = samples.0.clone();
        let write = move || {
            let (design, labels, folds) = (&design, &labels[..], folds.as_deref());
            writer.push(&LabelledRows { design, labels, weights: weights.as_deref(), folds })?;
            Ok(writer)
        };
        self.0 = Some(run(py, 1, &Stop::default(), write)?);
        Ok(())
    }

    /// Completes the file.
    fn finish(&mut self, py: Python<'_>) -> PyResult<()> {
        let writer = self.0.take().ok_or_else(finished)?;
        run(py, 1, &Stop::default(), move || Ok(writer.finish(None)?))
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the file is already closed")
}

/// Returns what the index of a block file says.
#[pyfunction]
pub(crate) fn block_file<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyDict>> {
    let file = BlockFile::open(path).map_err(of_data)?;
    let result = PyDict::new(py);
    result.set_item("classes", file.classes())?;
    result.set_item("rows", (0..file.partitions()).map(|k| file.rows_of(k)).collect::<Vec<_>>())?;
    result
        .set_item("bytes", (0..file.partitions()).map(|k| file.bytes_of(k)).collect::<Vec<_>>())?;
    result.set_item("features", file.features())?;
    result.set_item("sparse", file.is_sparse())?;
    result.set_item("folds", file.folds())?;
    result.set_item("names", file.feature_names().map(<[String]>::to_vec))?;
    Ok(result)
}
