//! Regression by focused online learning.

use margins::estimators::focused::{Regressor, RegressorSettings};
use margins::optim::online::LinearClassifier;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::Samples;
use crate::dictionary::Given;
use crate::doorway::{Stop, run};
use crate::regularised::Watchers;
use crate::settings::limit_of;

/// Returns the functions of a game.
#[pyfunction]
pub(crate) fn fit_focused_regressor<'py>(
    py: Python<'py>,
    samples: &Samples,
    targets: PyReadonlyArray1<'py, f64>,
    settings: &Bound<'py, PyDict>,
    watchers: Watchers,
) -> PyResult<Bound<'py, PyDict>> {
    let mut given = Given::new(settings)?;
    let stop = Stop::default();
    let settings = RegressorSettings {
        epsilon: given.take("epsilon")?,
        norm: given.take("norm")?,
        standardize: given.take("standardize")?,
        intercept: given.take("fit_intercept")?,
        delta: given.take("delta")?,
        max_steps: given.take("max_steps")?,
        outputs: given.take("outputs")?,
        seed: given.take("random_state")?,
        time_limit: limit_of(given.take("time_limit")?)?,
        iterations: stop.observer(watchers.callback),
    };
    given.finish()?;
    let design = samples.0.clone();
    let targets: Vec<f64> = targets.as_array().to_vec();
    let fitted = run(py, 1, &stop, move || settings.fit(&design, &targets))?;
    let result = PyDict::new(py);
    result.set_item("max_error", fitted.max_error())?;
    let Regressor { functions, range } = fitted.regressor;
    let columns = functions[0].coef.len();
    let (intercepts, coefs): (Vec<f64>, Vec<Vec<f64>>) =
        functions.into_iter().map(|function| (function.intercept, function.coef)).unzip();
    let members: Bound<'py, PyArray2<f64>> =
        coefs.concat().into_pyarray(py).reshape([intercepts.len(), columns])?;
    result.set_item("members", members)?;
    result.set_item("intercepts", intercepts.into_pyarray(py))?;
    result.set_item("target_range", (range[0], range[1]))?;
    result.set_item("norm", fitted.norm)?;
    result.set_item("rounds", fitted.ending.rounds)?;
    result.set_item("steps", fitted.theory.map(|theory| theory.rounds()))?;
    result.set_item("outputs", fitted.theory.map(|theory| theory.outputs()))?;
    result.set_item("failure", fitted.failure)?;
    result.set_item("status", fitted.status.name())?;
    Ok(result)
}

/// Returns the predictions of the clipped mean of linear functions for every sample.
#[pyfunction]
pub(crate) fn clipped_mean<'py>(
    py: Python<'py>,
    samples: &Samples,
    members: PyReadonlyArray2<'py, f64>,
    intercepts: PyReadonlyArray1<'py, f64>,
    range: [f64; 2],
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let design = samples.0.clone();
    let (members, intercepts) = (members.as_array(), intercepts.as_array());
    let functions = members
        .rows()
        .into_iter()
        .zip(intercepts)
        .map(|(coef, &intercept)| LinearClassifier { intercept, coef: coef.to_vec() })
        .collect();
    let regressor = Regressor { functions, range };
    let predictions = run(py, 1, &Stop::default(), move || {
        Ok(design.samples().map(|x| regressor.predict(&x)).collect::<Vec<f64>>())
    })?;
    Ok(predictions.into_pyarray(py))
}
