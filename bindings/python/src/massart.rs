//! Halfspaces under Massart noise.

use margins::estimators::Evidence;
use margins::estimators::massart::{Method, RowScaling, Settings};
use margins::massart::{Problem, Target};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::Data;
use crate::doorway::{Stop, run};
use crate::errors::refuse;
use crate::model::Model;
use crate::regularised::Watchers;
use crate::settings::{Given, Massart, limit_of};

/// Returns the halfspace that a learner finds.
#[pyfunction]
pub(crate) fn fit_massart<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyDict>,
    settings: &Bound<'py, PyDict>,
    watchers: Watchers,
) -> PyResult<Bound<'py, PyDict>> {
    let given = Massart::read(settings)?;
    let stop = Stop::default();
    let settings = Settings {
        method: method_of(&given)?,
        intercept: given.fit_intercept,
        standardize: given.standardize,
        scaling: Some(match given.scale_rows.as_str() {
            "largest" => RowScaling::Largest,
            "each" => RowScaling::Each,
            other => {
                return Err(refuse("scale_rows", format!("'{other}'"), "'largest' or 'each'"));
            }
        }),
        seed: given.random_state,
        time_limit: limit_of(given.time_limit)?,
        iterations: stop.observer(watchers.callback),
        threads: None,
    };
    let data = Data::take_of_two(data)?;
    let fitted = run(py, given.n_jobs, &stop, move || settings.fit(&data.dataset_of_two()?))?;
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

fn method_of(given: &Massart) -> PyResult<Method> {
    let refused = |error: margins::massart::Error| PyValueError::new_err(error.to_string());
    let target = Target::new(given.epsilon, given.delta).map_err(refused)?;
    let problem = || match (given.eta, given.gamma) {
        (Some(eta), Some(gamma)) => {
            Ok(Problem::new(eta, gamma).map_err(refused)?.with_target(target))
        }
        _ => Err(PyValueError::new_err(format!(
            "learner is '{}', which needs eta and gamma: 'auto' does without",
            given.learner
        ))),
    };
    let unused = match given.learner.as_str() {
        "auto" => [
            ("eta", given.eta.is_some()),
            ("gamma", given.gamma.is_some()),
            ("project", given.project.is_some()),
        ],
        "sgd" => [("project", given.project.is_some()), ("", false), ("", false)],
        _ => [("", false); 3],
    };
    if let Some((name, _)) = unused.into_iter().find(|(_, given)| *given) {
        let learner = &given.learner;
        return Err(PyValueError::new_err(format!(
            "learner is '{learner}', which takes no {name}: leave it out, or take another learner"
        )));
    }
    match given.learner.as_str() {
        "auto" => Ok(Method::Adaptive { target }),
        "sgd" => Ok(Method::Gradient { problem: problem()? }),
        "cuts" => Ok(Method::Cuts { problem: problem()?, dimensions: given.project }),
        other => Err(refuse("learner", format!("'{other}'"), "'auto', 'sgd' or 'cuts'")),
    }
}
