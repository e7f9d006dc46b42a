//! The limit of a path of separable classes.

use margins::data::{Dataset, DenseRows, Labels};
use margins::estimators::regularised::ClassifierSettings;
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::copies::copied;
use crate::doorway::run_sized;
use crate::errors::of_data;
use crate::settings::loss_of;

/// Returns the limit of the path of a loss with the penalty `lambda ||w||_q^q`, without intercept.
#[pyfunction]
pub(crate) fn separable_limit<'py>(
    py: Python<'py>,
    samples: PyReadonlyArray2<'py, f64>,
    signs: PyReadonlyArray1<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    loss: &str,
    q: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let view = samples.as_array();
    let size = view.len().saturating_mul(view.ncols()).saturating_mul(100);
    let mut rows = DenseRows::new(view.nrows(), view.ncols()).map_err(of_data)?;
    rows.append(view.iter().copied()).map_err(of_data)?;
    let design = rows.finish().map_err(of_data)?;
    let labels = Labels::from_signs(copied(py, &signs, |y| y)?).map_err(of_data)?;
    let mut data = Dataset::new(design, labels).map_err(of_data)?;
    if let Some(weights) = weights {
        data = data.with_weights(copied(py, &weights, |c| c)?).map_err(of_data)?;
    }
    let loss = loss_of(loss)?;
    let settings = ClassifierSettings { loss, intercept: false, ..ClassifierSettings::default() };
    let found = run_sized(py, None, size, move || settings.separable_limit(&data, q))?;
    let result = PyDict::new(py);
    result.set_item("least_margin", found.least_margin)?;
    result.set_item("criterion", found.criterion)?;
    result.set_item("first_lambda", found.first_lambda)?;
    result.set_item("first_size", found.first_size())?;
    result.set_item("power", found.power())?;
    result.set_item("relative_gap", found.relative_gap)?;
    result.set_item("coef", found.coef.into_pyarray(py))?;
    Ok(result)
}
