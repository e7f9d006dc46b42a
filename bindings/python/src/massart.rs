//! Halfspaces under Massart noise.

use margins::estimators::Evidence;
use margins::estimators::massart::{HalfspaceMethod, HalfspaceSettings, RowScaling};
use margins::massart::{Problem, Target};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::Data;
use crate::dictionary::Given;
use crate::doorway::{Stop, run};
use crate::errors::refuse;
use crate::model::Model;
use crate::regularised::Watchers;
use crate::settings::limit_of;

/// Returns the halfspace that a learner finds.
#[pyfunction]
pub(crate) fn fit_massart<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyDict>,
    settings: &Bound<'py, PyDict>,
    watchers: Watchers,
) -> PyResult<Bound<'py, PyDict>> {
    let mut given = Given::new(settings)?;
    let stop = Stop::default();
    let settings = HalfspaceSettings {
        method: method_of(&mut given)?,
        intercept: given.take("fit_intercept")?,
        standardize: given.take("standardize")?,
        scaling: Some(match given.take::<String>("scale_rows")?.as_str() {
            "largest" => RowScaling::Largest,
            "each" => RowScaling::Each,
            other => {
                return Err(refuse("scale_rows", format!("'{other}'"), "'largest' or 'each'"));
            }
        }),
        seed: given.take("random_state")?,
        time_limit: limit_of(given.take("time_limit")?)?,
        iterations: stop.observer(watchers.callback),
        threads: None,
    };
    let threads = given.take("n_jobs")?;
    given.finish()?;
    let data = Data::take_of_two(data)?;
    let fitted = run(py, threads, &stop, move || settings.fit(&data.dataset_of_two()?))?;
    let result = PyDict::new(py);
    if let Evidence::ErrorBound { bound, delta } = fitted.evidence {
        result.set_item("error_bound", bound)?;
        result.set_item("delta", delta)?;
    }
    result.set_item("training_error", fitted.training_error)?;
    result.set_item("held_out_error", fitted.selection.error)?;
    result.set_item("held_out", fitted.selection.held_out)?;
    result.set_item("baseline", fitted.baseline)?;
    result.set_item("divisor", fitted.divisor)?;
    result.set_item("distance", fitted.distance)?;
    result.set_item("steps", fitted.steps)?;
    result.set_item("dimensions", fitted.dimensions)?;
    result.set_item("noise", fitted.problem.noise.get())?;
    result.set_item("margin", fitted.problem.margin.get())?;
    result.set_item("status", fitted.status.name())?;
    result.set_item("model", Model::new(fitted.model))?;
    Ok(result)
}

fn method_of(given: &mut Given<'_>) -> PyResult<HalfspaceMethod> {
    let refused = |error: margins::massart::Error| PyValueError::new_err(error.to_string());
    let learner: String = given.take("learner")?;
    let (eta, gamma): (Option<f64>, Option<f64>) = (given.take("eta")?, given.take("gamma")?);
    let dimensions: Option<usize> = given.take("project")?;
    let target = Target::new(given.take("epsilon")?, given.take("delta")?).map_err(refused)?;
    let problem = || match (eta, gamma) {
        (Some(eta), Some(gamma)) => {
            Ok(Problem::new(eta, gamma).map_err(refused)?.with_target(target))
        }
        _ => Err(PyValueError::new_err(format!(
            "learner is '{learner}', which needs eta and gamma: pass both, or use learner='auto'"
        ))),
    };
    let projects = ("project", dimensions.is_some());
    let unused = match learner.as_str() {
        "auto" => [("eta", eta.is_some()), ("gamma", gamma.is_some()), projects],
        "sgd" => [projects, ("", false), ("", false)],
        _ => [("", false); 3],
    };
    if let Some((name, _)) = unused.into_iter().find(|(_, given)| *given) {
        return Err(PyValueError::new_err(format!(
            "learner is '{learner}', which does not use {name}: leave it out, or choose another learner"
        )));
    }
    match learner.as_str() {
        "auto" => Ok(HalfspaceMethod::Adaptive { target }),
        "sgd" => Ok(HalfspaceMethod::Gradient { problem: problem()? }),
        "cuts" => Ok(HalfspaceMethod::Cuts { problem: problem()?, dimensions }),
        other => Err(refuse("learner", format!("'{other}'"), "'auto', 'sgd' or 'cuts'")),
    }
}
