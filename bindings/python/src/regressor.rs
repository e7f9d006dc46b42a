//! Regression by focused online learning.

use margins::data::Sample;
use margins::estimators::focused::RegressorSettings;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::Samples;
use crate::doorway::{Stop, run};
use crate::settings::limit_of;

/// Returns the functions of a game: epsilon, delta and the norm are the `numbers`, the most steps and
/// the outputs the `limits`.
#[pyfunction]
pub(crate) fn fit_focused_regressor<'py>(
    py: Python<'py>,
    samples: &Samples,
    targets: PyReadonlyArray1<'py, f64>,
    numbers: [f64; 3],
    limits: [Option<u64>; 2],
    seed: u64,
    time_limit: Option<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let ([epsilon, delta, norm], [max_steps, outputs]) = (numbers, limits);
    let stop = Stop::default();
    let settings = RegressorSettings {
        delta,
        max_steps,
        outputs: outputs.map(|count| count as usize),
        seed,
        time_limit: limit_of(time_limit)?,
        iterations: stop.observer(None),
        ..RegressorSettings::new(epsilon, norm)
    };
    let design = samples.0.clone();
    let targets: Vec<f64> = targets.as_array().to_vec();
    let fitted = run(py, 1, &stop, move || settings.fit(&design, &targets))?;
    let members = fitted.predictor.members();
    let (count, columns) = (members.len(), members[0].len());
    let result = PyDict::new(py);
    let members: Bound<'py, PyArray2<f64>> =
        members.concat().into_pyarray(py).reshape([count, columns])?;
    result.set_item("members", members)?;
    result.set_item("max_error", fitted.errors.iter().copied().fold(0.0, f64::max))?;
    result.set_item("rounds", fitted.ending.rounds)?;
    result.set_item("steps", fitted.theory.map(|theory| theory.rounds()))?;
    result.set_item("outputs", fitted.theory.map(|theory| theory.outputs()))?;
    result.set_item("failure", fitted.failure)?;
    result.set_item("status", fitted.status.name())?;
    Ok(result)
}

/// Returns the mean of linear functions with intercepts, each clipped to [0, 1], for every sample.
#[pyfunction]
pub(crate) fn clipped_mean<'py>(
    py: Python<'py>,
    samples: &Samples,
    members: PyReadonlyArray2<'py, f64>,
    intercepts: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let design = samples.0.clone();
    let members: Vec<Vec<f64>> =
        members.as_array().rows().into_iter().map(|row| row.to_vec()).collect();
    let intercepts: Vec<f64> = intercepts.as_array().to_vec();
    let means = run(py, 1, &Stop::default(), move || {
        let mean = |x: Sample<'_>| {
            let values =
                members.iter().zip(&intercepts).map(|(w, b)| (x.dot(w) + b).clamp(0.0, 1.0));
            values.sum::<f64>() / members.len() as f64
        };
        Ok(design.samples().map(mean).collect::<Vec<f64>>())
    })?;
    Ok(means.into_pyarray(py))
}
