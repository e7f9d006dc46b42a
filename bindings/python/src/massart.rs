//! Halfspaces under Massart noise.

use std::path::PathBuf;

use margins::data::blocks::BlockFile;
use margins::data::generate::MassartDistribution;
use margins::data::{ClassLabels, Design, Memory};
use margins::estimators::massart::{
    self, CutSearch, FittedHalfspace, FittedHalfspaces, HalfspaceMethod, HalfspaceSettings,
    RowScaling,
};
use margins::estimators::{COPIES, Evidence, memory_below};
use margins::massart::baselines::Baseline;
use margins::massart::cutting_planes::Method;
use margins::massart::{CandidateRule, CutPlan, MarginBound, Plan, Problem, Target};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::data::Data;
use crate::dictionary::Given;
use crate::doorway::{Stop, run};
use crate::encode::Encode;
use crate::errors::refuse;
use crate::model::Model;
use crate::regularised::Watchers;
use crate::settings::{MemoryLimit, limit_of};

/// The halfspaces that a fit has found.
enum Fitted {
    One(Box<FittedHalfspace>),
    Several(Box<FittedHalfspaces>),
}

/// Returns the halfspace that a learner finds in samples, or in the block file at a path.
#[pyfunction]
pub(crate) fn fit_massart<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyDict>,
    settings: &Bound<'py, PyDict>,
    watchers: Watchers,
) -> PyResult<Bound<'py, PyDict>> {
    let stop = Stop::default();
    let Settings { halfspace, memory, threads } =
        Settings::take(settings, &stop, watchers.callback)?;
    let numbers = halfspace.clone();
    let fitted = if let Some(path) = data.get_item("path")? {
        let path: PathBuf = path.extract()?;
        run(py, threads, &stop, move || fit_file(&halfspace, &BlockFile::open(path)?, memory))?
    } else {
        let data = Data::take(data, Encode(None))?;
        let several = data.classes().names().len() > 2;
        run(py, threads, &stop, move || match several {
            true => halfspace.fit_classes(&data.dataset()?).map(|f| Fitted::Several(Box::new(f))),
            false => halfspace.fit(&data.dataset_of_two()?).map(|f| Fitted::One(Box::new(f))),
        })?
    };
    let result = PyDict::new(py);
    let needed = |model: &margins::Model, steps, status| {
        result.set_item("needed_rows", numbers.proven_rows(model.columns(), steps, status))
    };
    match fitted {
        Fitted::One(fitted) => {
            needed(&fitted.model, fitted.steps, fitted.status)?;
            add_halfspace(&result, *fitted)?;
        }
        Fitted::Several(fitted) => {
            let most = fitted.classes.iter().map(|class| class.steps).max().unwrap_or(0);
            needed(&fitted.model, most, fitted.status)?;
            add_classes(&result, *fitted)?;
        }
    }
    Ok(result)
}

/// Returns the halfspaces of the rows of a file, which are loaded if they fit.
fn fit_file(
    settings: &HalfspaceSettings,
    file: &BlockFile,
    memory: Option<Memory>,
) -> Result<Fitted, margins::Error> {
    let several = file.classes().len() > 2;
    Ok(match memory_below(file, memory, COPIES, None) {
        Some(memory) => Fitted::One(Box::new(settings.fit_file(file, memory)?)),
        None if several => Fitted::Several(Box::new(settings.fit_classes(&file.dataset()?)?)),
        None => Fitted::One(Box::new(settings.fit(&file.dataset()?)?)),
    })
}

/// The state of a learner of a stream between two chunks.
#[pyclass(frozen, module = "margins_learn._native")]
pub(crate) struct HalfspaceState(massart::HalfspaceState);

#[pymethods]
impl HalfspaceState {
    /// Returns the state of bytes that `to_bytes` has made.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let bytes = bytes.to_vec();
        let read = move || massart::HalfspaceState::from_bytes(&bytes);
        run(py, 1, &Stop::default(), read).map(HalfspaceState)
    }

    /// Returns the bytes of the state, with a checksum.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.0.clone();
        let bytes = run(py, 1, &Stop::default(), move || state.to_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let read = py.get_type::<HalfspaceState>().getattr("from_bytes")?;
        Ok((read, (self.to_bytes(py)?,)))
    }

    /// The number of rows taken.
    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }
}

/// Takes a chunk of a stream from a state on, at the start without one. Returns the state after it and,
/// once a row is held out, the halfspace. A chunk that is refused leaves the state as it was.
#[pyfunction]
pub(crate) fn partial_fit_massart<'py>(
    py: Python<'py>,
    state: Option<PyRef<'py, HalfspaceState>>,
    data: &Bound<'py, PyDict>,
    settings: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let stop = Stop::default();
    let Settings { halfspace, threads, .. } = Settings::take(settings, &stop, None)?;
    let state = state.map(|state| state.0.clone());
    let data = Data::take_of_two(data)?;
    let (state, fitted) = run(py, threads, &stop, move || {
        let data = data.dataset_of_two()?;
        let columns = data.columns();
        let mut learner = match state {
            Some(state) => halfspace.resumed(columns, state)?,
            None => halfspace.learner(columns)?,
        };
        learner.take(data.design(), data.labels().signs())?;
        let names = data.feature_names().map(<[String]>::to_vec);
        let classes = (data.labels().negative_class(), data.labels().positive_class());
        let fitted =
            (learner.held_out() > 0).then(|| learner.fitted(classes, names)).transpose()?;
        Ok((learner.state(), fitted))
    })?;
    let result = PyDict::new(py);
    result.set_item("state", Bound::new(py, HalfspaceState(state))?)?;
    if let Some(fitted) = fitted {
        add_halfspace(&result, fitted)?;
    }
    Ok(result)
}

/// Adds a halfspace with what is known of it.
fn add_halfspace(result: &Bound<'_, PyDict>, fitted: FittedHalfspace) -> PyResult<()> {
    if let Evidence::ErrorBound { bound, delta } = fitted.evidence {
        result.set_item("error_bound", bound)?;
        result.set_item("delta", delta)?;
    }
    result.set_item("rows", fitted.rows)?;
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
    result.set_item("model", Model::new(fitted.model))
}

/// Adds the halfspaces of several classes with what is known of them: for each class a list, in their
/// order.
fn add_classes(result: &Bound<'_, PyDict>, fitted: FittedHalfspaces) -> PyResult<()> {
    if let Evidence::ErrorBound { bound, delta } = fitted.evidence {
        result.set_item("error_bound", bound)?;
        result.set_item("delta", delta)?;
    }
    result.set_item("rows", fitted.rows)?;
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
    result.set_item("dimensions", dimensions)?;
    result.set_item("model", Model::new(fitted.model))
}

/// The settings of a fit or an audit.
struct Settings {
    halfspace: HalfspaceSettings,
    /// The memory for a block file.
    memory: Option<Memory>,
    threads: usize,
}

impl Settings {
    fn take(
        settings: &Bound<'_, PyDict>,
        stop: &Stop,
        callback: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let mut given = Given::new(settings)?;
        let halfspace = halfspace_of(&mut given, stop, callback)?;
        let memory: Option<MemoryLimit> = given.take("memory")?;
        let threads = given.take("n_jobs")?;
        given.finish()?;
        Ok(Settings { halfspace, memory: memory.map(|limit| limit.0), threads })
    }
}

fn halfspace_of(
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
    let stop = Stop::default();
    let Settings { halfspace, threads, .. } = Settings::take(settings, &stop, None)?;
    let data = Data::take_of_two(data)?;
    let found =
        run(py, threads, &stop, move || halfspace.audit(&data.dataset_of_two()?, margin, delta))?;
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

/// Returns the seconds of a step of algorithm 1 on these samples, or of a call of the separation oracle
/// for each of its samples.
#[pyfunction]
pub(crate) fn massart_seconds(
    py: Python<'_>,
    data: &Bound<'_, PyDict>,
    settings: &Bound<'_, PyDict>,
    problem: [f64; 4],
    of_calls: bool,
) -> PyResult<f64> {
    let [eta, gamma, epsilon, delta] = problem;
    let target = Target::new(epsilon, delta).map_err(refused)?;
    let problem = Problem::new(eta, gamma).map_err(refused)?.with_target(target);
    let stop = Stop::default();
    let Settings { halfspace, threads, .. } = Settings::take(settings, &stop, None)?;
    let data = Data::take_of_two(data)?;
    let timed = move || {
        let data = data.dataset_of_two()?;
        match of_calls {
            true => halfspace.seconds_per_row_of_a_call(&data, &problem),
            false => halfspace.seconds_per_step(&data, &problem),
        }
    };
    run(py, threads, &stop, timed)
}

/// Returns the localisation method of this name.
fn localization_of(name: &str) -> PyResult<Method> {
    match name {
        "analytic-centre" => Ok(Method::AnalyticCentre),
        "ellipsoid" => Ok(Method::Ellipsoid),
        other => {
            Err(refuse("localization", format!("'{other}'"), "'analytic-centre' or 'ellipsoid'"))
        }
    }
}

/// Returns the numbers of cutting planes with fresh rows in each call.
#[pyfunction]
pub(crate) fn massart_cut_plan<'py>(
    py: Python<'py>,
    problem: [f64; 4],
    features: usize,
    localization: &str,
    max_calls: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let [eta, gamma, epsilon, delta] = problem;
    let target = Target::new(epsilon, delta).map_err(refused)?;
    let problem = Problem::new(eta, gamma).map_err(refused)?.with_target(target);
    let plan = CutPlan::new(&problem, features, localization_of(localization)?, max_calls);
    let result = PyDict::new(py);
    result.set_item("calls", plan.calls)?;
    result.set_item("rows_per_call", plan.rows_per_call)?;
    result.set_item("held_out", plan.selection)?;
    result.set_item("rows", plan.rows())?;
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

/// The iterates to select from: all, or a number of random ones.
struct Iterates(CandidateRule);

impl<'py> FromPyObject<'_, 'py> for Iterates {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let refused = || PyValueError::new_err("it must be None, 'all' or a number of at least 1");
        match value.cast::<PyString>() {
            Ok(text) if text.to_string_lossy() == "all" => Ok(Iterates(CandidateRule::All)),
            Ok(_) => Err(refused()),
            Err(_) => match value.extract::<usize>()? {
                0 => Err(refused()),
                count => Ok(Iterates(CandidateRule::Random(count))),
            },
        }
    }
}

/// The numbers of algorithm 1 that replace those of a plan.
struct Numbers {
    steps: Option<usize>,
    step: Option<f64>,
    held_out: Option<usize>,
    candidates: Option<Iterates>,
}

impl Numbers {
    fn take(given: &mut Given<'_>) -> PyResult<Self> {
        Ok(Numbers {
            steps: at_least(1, "steps", given.take("steps")?)?,
            step: given.take("step")?,
            held_out: at_least(1, "held_out", given.take("held_out")?)?,
            candidates: given.take("candidates")?,
        })
    }

    /// Returns a plan with these numbers.
    fn of(&self, plan: Plan) -> Plan {
        Plan {
            step: self.step.unwrap_or(plan.step),
            steps: self.steps.unwrap_or(plan.steps),
            candidates: self.candidates.as_ref().map_or(plan.candidates, |iterates| iterates.0),
            selection: self.held_out.unwrap_or(plan.selection),
        }
    }

    /// Returns the name of the first number, if there is one.
    fn first(&self) -> Option<&'static str> {
        let given = [
            ("steps", self.steps.is_some()),
            ("step", self.step.is_some()),
            ("held_out", self.held_out.is_some()),
            ("candidates", self.candidates.is_some()),
        ];
        given.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }
}

/// Refuses a count that is too small.
fn at_least(least: usize, name: &str, count: Option<usize>) -> PyResult<Option<usize>> {
    match count {
        Some(count) if count < least => Err(refuse(name, count, &format!("at least {least}"))),
        count => Ok(count),
    }
}

/// A setting with whether it is given.
type IsGiven = (&'static str, bool);

/// Returns the first given setting that a learner does not use.
fn unused(
    learner: &str,
    known: [IsGiven; 2],
    of_cuts: [IsGiven; 3],
    [planned, numbered]: [IsGiven; 2],
) -> Option<&'static str> {
    let all = match learner {
        "auto" => [&known[..], &of_cuts[..], &[planned, numbered]].concat(),
        "sgd" => of_cuts.to_vec(),
        "cuts" => vec![numbered],
        _ => [&of_cuts[..], &[planned, numbered]].concat(),
    };
    all.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
}

fn method_of(given: &mut Given<'_>) -> PyResult<HalfspaceMethod> {
    let learner: String = given.take("learner")?;
    let (eta, gamma): (Option<f64>, Option<f64>) = (given.take("eta")?, given.take("gamma")?);
    let plan: String = given.take("plan")?;
    let numbers = Numbers::take(given)?;
    let dimensions: Option<usize> = given.take("project")?;
    let localization: Option<String> = given.take("localization")?;
    let search = CutSearch {
        method: localization.as_deref().map(localization_of).transpose()?,
        most_calls: at_least(2, "max_calls", given.take("max_calls")?)?,
        fresh_rows: plan == "proven",
    };
    let target = Target::new(given.take("epsilon")?, given.take("delta")?).map_err(refused)?;
    let problem = || match (eta, gamma) {
        (Some(eta), Some(gamma)) => {
            Ok(Problem::new(eta, gamma).map_err(refused)?.with_target(target))
        }
        _ => Err(PyValueError::new_err(format!(
            "learner is '{learner}', which needs eta and gamma: pass both, or use learner='auto'"
        ))),
    };
    let known = [("eta", eta.is_some()), ("gamma", gamma.is_some())];
    let of_cuts = [
        ("project", dimensions.is_some()),
        ("localization", search.method.is_some()),
        ("max_calls", search.most_calls.is_some()),
    ];
    let planned = ("plan", plan != "practical");
    let numbered = (numbers.first().unwrap_or_default(), numbers.first().is_some());
    if let Some(name) = unused(&learner, known, of_cuts, [planned, numbered]) {
        return Err(PyValueError::new_err(format!(
            "learner is '{learner}', which does not use {name}: leave it out, or choose another learner"
        )));
    }
    if plan == "proven"
        && let Some(name) = numbers.first()
    {
        return Err(PyValueError::new_err(format!(
            "plan is 'proven', which has the numbers of the proof: leave out {name}, or plan"
        )));
    }
    let baseline = |baseline| Ok(HalfspaceMethod::Baseline { problem: problem()?, baseline });
    match learner.as_str() {
        "auto" => Ok(HalfspaceMethod::Adaptive { target }),
        "sgd" => {
            let problem = problem()?;
            let plan = numbers.of(plan_of(&plan, &problem)?);
            Ok(HalfspaceMethod::Gradient { problem, plan })
        }
        "perceptron" => baseline(Baseline::Perceptron),
        "leaky-relu" => baseline(Baseline::LeakyRelu),
        "proper" => baseline(Baseline::Proper),
        "plane" => baseline(Baseline::Plane),
        "partition" => Ok(HalfspaceMethod::Partition { problem: problem()? }),
        "cuts" => {
            plan_of(&plan, &problem()?)?;
            Ok(HalfspaceMethod::Cuts { problem: problem()?, dimensions, search })
        }
        other => {
            let names = "'auto', 'sgd', 'cuts', 'perceptron', 'leaky-relu', 'proper', 'plane' or \
                         'partition'";
            Err(refuse("learner", format!("'{other}'"), names))
        }
    }
}
