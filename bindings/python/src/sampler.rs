//! The focused draws of samples for learners of Python.

use std::path::PathBuf;

use margins::boost::FocusedSampler;
use margins::estimators::focused::{
    load_sampler, sampler_from_bytes, sampler_to_bytes, save_sampler,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::copies::copied;
use crate::doorway::run_sized;
use crate::errors::to_python;

/// The draws of focused online learning, for a learner of the caller.
#[pyclass(module = "margins_learn._native")]
pub(crate) struct Sampler(FocusedSampler);

/// The multiplications of a draw, or of a loss.
const EACH: usize = 1000;

fn refused(error: margins::boost::Error) -> PyErr {
    to_python(error.into())
}

#[pymethods]
impl Sampler {
    #[new]
    fn new(py: Python<'_>, rows: usize, seed: u64) -> PyResult<Self> {
        run_sized(py, None, rows, move || Ok(Sampler(FocusedSampler::new(rows, seed)?)))
    }

    /// Returns the sampler of bytes that `to_bytes` has made.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let bytes = bytes.to_vec();
        run_sized(py, None, EACH * bytes.len(), move || Ok(Sampler(sampler_from_bytes(&bytes)?)))
    }

    /// Returns the bytes of the sampler, with a checksum.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let sampler = self.0.clone();
        let size = EACH * sampler.rows();
        let bytes = run_sized(py, None, size, move || sampler_to_bytes(&sampler))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Returns the sampler of a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        run_sized(py, None, usize::MAX, move || Ok(Sampler(load_sampler(path)?)))
    }

    /// Writes the sampler to a file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let sampler = self.0.clone();
        run_sized(py, None, usize::MAX, move || save_sampler(&sampler, path))
    }

    /// Draws a batch of samples.
    fn draw<'py>(&mut self, py: Python<'py>, batch: usize) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let drawn = py.detach(|| {
            self.0.draw(batch).map(|rows| rows.iter().map(|&row| row as i64).collect::<Vec<_>>())
        });
        Ok(drawn.map_err(refused)?.into_pyarray(py))
    }

    /// Takes the losses of the samples drawn last.
    fn observe(&mut self, py: Python<'_>, losses: PyReadonlyArray1<'_, f64>) -> PyResult<()> {
        let losses = copied(py, &losses, |loss| loss)?;
        py.detach(|| self.0.observe(&losses)).map_err(refused)
    }

    /// Returns the probabilities of the samples.
    fn probabilities<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        py.detach(|| self.0.probabilities()).into_pyarray(py)
    }

    /// Returns upper bounds on the mean losses of the samples.
    fn loss_bounds<'py>(&self, py: Python<'py>, delta: f64) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let bound = |row| self.0.loss_bound(row, delta);
        let bounds = py.detach(|| (0..self.0.rows()).map(bound).collect::<Result<Vec<f64>, _>>());
        Ok(bounds.map_err(refused)?.into_pyarray(py))
    }

    /// The number of samples.
    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }

    /// The number of draws whose losses were observed.
    #[getter]
    fn draws(&self) -> u64 {
        self.0.draws()
    }
}
