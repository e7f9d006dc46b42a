//! Halfspaces under Massart noise.

use margins::data::generate::MassartDistribution;
use margins::data::{ClassLabels, Design};
use margins::estimators::Evidence;
use margins::estimators::massart::{
    FittedHalfspace, FittedHalfspaces, HalfspaceMethod, HalfspaceSettings, RowScaling,
};
use margins::massart::baselines::Baseline;
use margins::massart::{MarginBound, Plan, Problem, Target};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::Data;
use crate::dictionary::Given;
use crate::doorway::{Stop, run};
use crate::encode::Encode;
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
    let settings = settings_of(&mut given, &stop, watchers.callback)?;
    let rows = match &settings.method {
        HalfspaceMethod::Gradient { plan, .. } => Some(plan.rows()),
        _ => None,
    };
    let threads = given.take("n_jobs")?;
    given.finish()?;
    let data = Data::take(data, Encode(None))?;
    let result = PyDict::new(py);
    result.set_item("rows", rows)?;
    if data.classes().names().len() > 2 {
        let fitted = run(py, threads, &stop, move || settings.fit_classes(&data.dataset()?))?;
        add_classes(&result, &fitted)?;
        result.set_item("model", Model::new(fitted.model))?;
        return Ok(result);
    }
    let fitted = run(py, threads, &stop, move || settings.fit(&data.dataset_of_two()?))?;
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

/// Adds what is known of the halfspaces of several classes: for each class a list, in their order.
fn add_classes(result: &Bound<'_, PyDict>, fitted: &FittedHalfspaces) -> PyResult<()> {
    if let Evidence::ErrorBound { bound, delta } = fitted.evidence {
        result.set_item("error_bound", bound)?;
        result.set_item("delta", delta)?;
    }
    result.set_item("training_error", fitted.training_error)?;
    result.set_item("held_out_error", fitted.held_out_error)?;
    result.set_item("held_out", fitted.held_out)?;
    result.set_item("baseline", fitted.baseline)?;
    result.set_item("status", fitted.status.name())?;
    let classes = &fitted.classes;
    result.set_item("divisor", classes.first().and_then(|class| class.divisor))?;
    result.set_item("steps", classes.iter().map(|class| class.steps).max())?;
    let of = |number: fn(&FittedHalfspace) -> f64| classes.iter().map(number).collect::<Vec<_>>();
    result.set_item("noise", of(|class| class.problem.noise.get()))?;
    result.set_item("margin", of(|class| class.problem.margin.get()))?;
    let distances: Option<Vec<f64>> = classes.iter().map(|class| class.distance).collect();
    result.set_item("distance", distances)?;
    let dimensions: Option<Vec<usize>> = classes.iter().map(|class| class.dimensions).collect();
    result.set_item("dimensions", dimensions)
}

/// Returns the settings of a fit or an audit.
fn settings_of(
    given: &mut Given<'_>,
    stop: &Stop,
    callback: Option<Py<PyAny>>,
) -> PyResult<HalfspaceSettings> {
    Ok(HalfspaceSettings {
        method: method_of(given)?,
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
        iterations: stop.observer(callback),
        threads: None,
    })
}

/// Returns a lower bound on the noise rate of samples, and the samples that speak for it.
#[pyfunction]
pub(crate) fn audit_massart<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyDict>,
    settings: &Bound<'py, PyDict>,
    gamma: f64,
    delta: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let margin = MarginBound::new(gamma).map_err(refused)?;
    let mut given = Given::new(settings)?;
    let stop = Stop::default();
    let settings = settings_of(&mut given, &stop, None)?;
    let threads = given.take("n_jobs")?;
    given.finish()?;
    let data = Data::take_of_two(data)?;
    let found =
        run(py, threads, &stop, move || settings.audit(&data.dataset_of_two()?, margin, delta))?;
    let (rows, terms): (Vec<usize>, Vec<f64>) = found.suspects.into_iter().unzip();
    let result = PyDict::new(py);
    result.set_item("eta_bound", found.eta_bound)?;
    result.set_item("flipped", found.flipped)?;
    result.set_item("suspects", rows.into_pyarray(py))?;
    result.set_item("terms", terms.into_pyarray(py))?;
    Ok(result)
}

fn refused(error: margins::massart::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Returns the plan of this name for a problem.
fn plan_of(name: &str, problem: &Problem) -> PyResult<Plan> {
    match name {
        "practical" => Ok(Plan::practical(problem)),
        "proven" => Ok(Plan::proven(problem)),
        other => Err(refuse("plan", format!("'{other}'"), "'practical' or 'proven'")),
    }
}

/// Returns the numbers of a plan, and the epsilon that a given number of rows proves.
#[pyfunction]
pub(crate) fn massart_plan<'py>(
    py: Python<'py>,
    problem: [f64; 4],
    plan: &str,
    rows: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let [eta, gamma, epsilon, delta] = problem;
    let target = Target::new(epsilon, delta).map_err(refused)?;
    let problem = Problem::new(eta, gamma).map_err(refused)?.with_target(target);
    let plan = plan_of(plan, &problem)?;
    let result = PyDict::new(py);
    result.set_item("step", plan.step)?;
    result.set_item("steps", plan.steps)?;
    result.set_item("candidates", plan.most_candidates())?;
    result.set_item("held_out", plan.selection)?;
    result.set_item("rows", plan.rows())?;
    if let Some(rows) = rows {
        result.set_item("proven_epsilon", Plan::proven_epsilon(&problem, rows))?;
    }
    Ok(result)
}

/// Returns the reweighted loss (3) of samples, from their scores under the halfspace, their scores under
/// the one that gives the weights, and their signs.
#[pyfunction]
pub(crate) fn massart_reweighted_loss<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray1<'py, f64>,
    references: PyReadonlyArray1<'py, f64>,
    signs: PyReadonlyArray1<'py, f64>,
    eta: f64,
    gamma: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let problem = Problem::new(eta, gamma).map_err(refused)?;
    let (scores, references, signs) = (scores.as_array(), references.as_array(), signs.as_array());
    let rows = scores.iter().zip(&references).zip(&signs);
    let losses: Vec<f64> = rows.map(|((&s, &r), &y)| problem.reweighted_loss(s, r, y)).collect();
    Ok(losses.into_pyarray(py))
}

/// Returns a distribution with Massart noise, w* and draws from it.
#[pyfunction]
pub(crate) fn massart_simulation<'py>(
    py: Python<'py>,
    features: usize,
    noise: [f64; 2],
    adversary: String,
    points: usize,
    samples: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let [gamma, eta] = noise;
    let (halfspace, noisy, data) = run(py, 1, &Stop::default(), move || {
        let (halfspace, noisy) =
            MassartDistribution::simulated(features, gamma, eta, &adversary, points, seed)?;
        let data = noisy.sample(samples, seed)?;
        Ok((halfspace, noisy, data))
    })?;
    let rows = |design: &Design| {
        let values = design.dense_samples().map(<[f64]>::to_vec).unwrap_or_default();
        values.into_pyarray(py).reshape([design.rows(), design.columns()])
    };
    let result = PyDict::new(py);
    result.set_item("X", rows(data.design())?)?;
    result.set_item("y", data.labels().signs().to_pyarray(py))?;
    result.set_item("points", rows(noisy.design())?)?;
    result.set_item("clean", noisy.clean().to_pyarray(py))?;
    result.set_item("rates", noisy.rates().to_pyarray(py))?;
    result.set_item("normal", halfspace.normal().to_pyarray(py))?;
    result.set_item("opt", noisy.opt())?;
    Ok(result)
}

fn method_of(given: &mut Given<'_>) -> PyResult<HalfspaceMethod> {
    let learner: String = given.take("learner")?;
    let (eta, gamma): (Option<f64>, Option<f64>) = (given.take("eta")?, given.take("gamma")?);
    let plan: String = given.take("plan")?;
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
    let planned = ("plan", plan != "practical");
    let unused: &[(&str, bool)] = match learner.as_str() {
        "auto" => &[("eta", eta.is_some()), ("gamma", gamma.is_some()), projects, planned],
        "sgd" => &[projects],
        "cuts" => &[planned],
        _ => &[projects, planned],
    };
    if let Some((name, _)) = unused.iter().find(|(_, given)| *given) {
        return Err(PyValueError::new_err(format!(
            "learner is '{learner}', which does not use {name}: leave it out, or choose another learner"
        )));
    }
    let baseline = |baseline| Ok(HalfspaceMethod::Baseline { problem: problem()?, baseline });
    match learner.as_str() {
        "auto" => Ok(HalfspaceMethod::Adaptive { target }),
        "sgd" => {
            let problem = problem()?;
            Ok(HalfspaceMethod::Gradient { problem, plan: plan_of(&plan, &problem)? })
        }
        "perceptron" => baseline(Baseline::Perceptron),
        "leaky-relu" => baseline(Baseline::LeakyRelu),
        "proper" => baseline(Baseline::Proper),
        "cuts" => Ok(HalfspaceMethod::Cuts { problem: problem()?, dimensions }),
        other => {
            let names = "'auto', 'sgd', 'cuts', 'perceptron', 'leaky-relu' or 'proper'";
            Err(refuse("learner", format!("'{other}'"), names))
        }
    }
}
