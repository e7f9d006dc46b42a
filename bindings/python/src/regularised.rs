//! Fits of the regularised risk.

use std::ops::ControlFlow;

use margins::data::ClassLabels;
use margins::estimators::regularised::{
    FixedParameter, IterationObserver, KernelChoice, Observer, Regularisation, Settings,
};
use margins::optim::{Lambda, Options, Solver};
use margins::robust::RobustLearner;
use margins::{CrossValidation, Probabilities, Registry, Selection};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::data::Data;
use crate::distributed::TrainingData;
use crate::doorway::{Stop, run};
use crate::errors::{of_data, refuse, to_python};
use crate::report;
use crate::settings::{
    Classifier, CrossValidated, Cv, Given, MemoryLimit, Path, Regularised, Robust, SigmaChoice,
    kernels_of, lambda_of, lambdas_of, limit_of, loss_of, probabilities_of, scheme_of,
};

/// The functions of the user that see a fit on its way.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Watchers {
    /// A function of every iteration, as a dictionary.
    pub(crate) callback: Option<Py<PyAny>>,
    /// A function of the numbers of fits made and of all fits.
    progress: Option<Py<PyAny>>,
}

/// Returns the settings of the library that all of these estimators have. Each of its settings is
/// named here, so that a new one is not forgotten.
fn settings_of(given: Regularised, solver: &str, stop: &str) -> PyResult<Settings> {
    let (class_weights, class_costs) = given.class_weight.parts()?;
    Ok(Settings {
        loss: loss_of(&given.loss)?,
        learner: None,
        kernels: KernelChoice::default(),
        certify_exact: false,
        regularisation: Regularisation::default(),
        fixed_parameter: FixedParameter::C,
        scheme: Some(scheme_of(&given.multi_class)?),
        intercept: given.fit_intercept,
        standardize: given.standardize,
        class_weights,
        class_costs,
        sample_weights: None,
        probabilities: Probabilities::OfTheLoss,
        options: options(solver, stop, given.tol, given.max_iter, given.random_state)?,
        seed: given.random_state,
        threads: None,
        time_limit: limit_of(given.time_limit)?,
        checkpoint: None,
        progress: Observer::default(),
        iterations: IterationObserver::default(),
    })
}

/// Returns the classifier at one C.
#[pyfunction]
pub(crate) fn fit_classifier<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyDict>,
    settings: &Bound<'py, PyDict>,
    watchers: Watchers,
) -> PyResult<Bound<'py, PyDict>> {
    let given = Classifier::read(settings)?;
    let data = TrainingData::take(data, given.encode)?;
    let lambda = lambda_of(given.C, data.rows())?;
    let settings = Settings {
        kernels: one_kernel(given.kernel, given.approximation, given.memory)?,
        certify_exact: given.certify_exact,
        regularisation: Regularisation::Single(lambda),
        probabilities: probabilities_of(&given.probability, None)?,
        ..settings_of(given.shared, &given.solver, "gap")?
    };
    let result = fit(py, data, settings, given.n_jobs, watchers)?;
    result.set_item("certifiable", lambda != Lambda::NONE)?;
    Ok(result)
}

/// Returns the classifier at the C that cross-validation selects.
#[pyfunction]
pub(crate) fn fit_cross_validated<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyDict>,
    settings: &Bound<'py, PyDict>,
    watchers: Watchers,
) -> PyResult<Bound<'py, PyDict>> {
    let given = CrossValidated::read(settings)?;
    let mut data = TrainingData::take(data, given.encode)?;
    let mut how = CrossValidation {
        selection: selection_of(&given.selection)?,
        measure: given.scoring.parse().map_err(of_data)?,
        abandon_hopeless: given.abandon_hopeless,
        ..CrossValidation::default()
    };
    let fixed_parameter =
        if given.lambdas.is_some() { FixedParameter::Lambda } else { FixedParameter::C };
    how.lambdas = lambdas_of(given.Cs, given.lambdas, data.rows())?;
    match given.cv {
        Cv::Default => how.folds = data.default_folds(),
        Cv::Count(count) => how.folds = Some(count),
        Cv::OfRows(names) => data = data.with_folds(names)?,
        Cv::Groups(names, count) => {
            data = data.with_folds(names)?;
            how.folds = Some(count);
        }
        Cv::Splits(splits) => how.splits = Some(splits),
        Cv::LeaveOneOut(method) => how.leave_one_out = Some(method),
    }
    let settings = Settings {
        kernels: some_kernels(given.kernels, given.sigmas, given.approximation, given.memory)?,
        certify_exact: given.certify_exact,
        regularisation: Regularisation::CrossValidated(how),
        fixed_parameter,
        probabilities: probabilities_of(&given.probability, None)?,
        ..settings_of(given.shared, &given.solver, &given.stop)?
    };
    fit(py, data, settings, given.n_jobs, watchers)
}

/// Returns the fits at every C of a path.
#[pyfunction]
pub(crate) fn fit_path<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyDict>,
    settings: &Bound<'py, PyDict>,
    watchers: Watchers,
) -> PyResult<Bound<'py, PyDict>> {
    let given = Path::read(settings)?;
    let data = TrainingData::take(data, given.encode)?;
    let fixed_parameter =
        if given.lambdas.is_some() { FixedParameter::Lambda } else { FixedParameter::C };
    let lambdas = lambdas_of(given.Cs, given.lambdas, data.rows())?;
    let settings = Settings {
        kernels: one_kernel(given.kernel, given.approximation, given.memory)?,
        certify_exact: given.certify_exact,
        regularisation: Regularisation::path(lambdas).map_err(to_python)?,
        fixed_parameter,
        ..settings_of(given.shared, &given.solver, &given.stop)?
    };
    let rows = data.rows();
    let (path, names) = solve(py, settings, given.n_jobs, watchers, move |settings, stop| {
        data.path(settings, stop)
    })?;
    let result = report::of_path(py, &path)?;
    result.set_item("rows", rows)?;
    result.set_item("names", names)?;
    Ok(result)
}

/// Returns the classifier of a robust objective.
#[pyfunction]
pub(crate) fn fit_robust<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyDict>,
    settings: &Bound<'py, PyDict>,
    watchers: Watchers,
) -> PyResult<Bound<'py, PyDict>> {
    let given = Robust::read(settings)?;
    let data = Data::take(data, given.encode)?;
    let rows = data.classes().len();
    let learner: RobustLearner = given
        .objective
        .parse()
        .map_err(|error| PyValueError::new_err(format!("objective: {error}")))?;
    let settings = Settings {
        learner: Some(learner),
        kernels: one_kernel(given.kernel, given.approximation, None)?,
        regularisation: Regularisation::Single(lambda_of(given.C, rows)?),
        ..settings_of(given.shared, "auto", "gap")?
    };
    let fitted = solve(py, settings, given.n_jobs, watchers, move |settings, _| {
        settings.fit(&data.dataset()?)
    })?;
    let result = report::of_fit(py, fitted)?;
    result.set_item("certifiable", learner.is_certified())?;
    Ok(result)
}

/// Returns the names of the kernels.
#[pyfunction]
pub(crate) fn kernel_names() -> Vec<String> {
    Registry::standard().kernels.names().map(str::to_owned).collect()
}

impl Watchers {
    /// Returns the observer that calls the function of the user and ends the fit with the job, or
    /// where that function returns `True`.
    pub(crate) fn of_iterations(&self, stop: &Stop) -> IterationObserver {
        let (callback, stop) =
            (Python::attach(|py| self.callback.as_ref().map(|f| f.clone_ref(py))), stop.clone());
        IterationObserver::new(move |iteration| {
            let mut is_enough = false;
            if let Some(callback) = &callback {
                stop.call(|py| {
                    let said = callback.call1(py, (report::of_iteration(py, iteration)?,))?;
                    is_enough = said.bind(py).is(&*PyBool::new(py, true));
                    Ok(())
                });
            }
            if is_enough { ControlFlow::Break(()) } else { stop.look() }
        })
    }
}

/// Returns the settings with the functions of the user, any of which may end the fit.
fn watched(settings: Settings, watchers: Watchers, stop: &Stop) -> Settings {
    let iterations = watchers.of_iterations(stop);
    let progress = match watchers.progress {
        Some(progress) => {
            let stop = stop.clone();
            Observer::new(move |made| {
                let (done, total) = (made.done, made.total);
                stop.call(|py| progress.call1(py, (done, total)).map(drop));
            })
        }
        None => Observer::default(),
    };
    let told = stop.clone();
    let registry = settings.kernels.registry.watched(move || told.look());
    let kernels = KernelChoice { registry, ..settings.kernels };
    Settings { iterations, progress, kernels, ..settings }
}

/// Fits with these settings, and returns the model with its evidence.
fn fit(
    py: Python<'_>,
    data: TrainingData,
    settings: Settings,
    threads: usize,
    watchers: Watchers,
) -> PyResult<Bound<'_, PyDict>> {
    let rows = data.rows();
    let fitted =
        solve(py, settings, threads, watchers, move |settings, stop| data.fit(settings, stop))?;
    let result = report::of_fit(py, fitted)?;
    result.set_item("rows", rows)?;
    Ok(result)
}

/// Runs a job with these settings in the doorway, where the functions of the user see it.
fn solve<T: Send + 'static>(
    py: Python<'_>,
    settings: Settings,
    threads: usize,
    watchers: Watchers,
    job: impl FnOnce(&Settings, &Stop) -> Result<T, margins::Error> + Send + 'static,
) -> PyResult<T> {
    let stop = Stop::default();
    let settings = watched(settings, watchers, &stop);
    let told = stop.clone();
    run(py, threads, &stop, move || job(&settings, &told))
}

fn options(
    solver: &str,
    stop: &str,
    tolerance: f64,
    max_iterations: Option<usize>,
    seed: u64,
) -> PyResult<Options<'static>> {
    let Some(found) = Solver::named(solver) else {
        let known = Solver::NAMED.map(|(name, _)| format!("'{name}'")).join(", ");
        return Err(refuse("solver", format!("'{solver}'"), &format!("one of {known}")));
    };
    let solver = match stop {
        "gap" => found.seeded(seed),
        "published" => found.with_published_rule().ok_or_else(|| {
            refuse("solver", format!("'{solver}'"), "'mm' or 'auto' for stop='published'")
        })?,
        _ => return Err(refuse("stop", format!("'{stop}'"), "'gap' or 'published'")),
    };
    Ok(Options { solver, tolerance, max_iterations, ..Options::default() })
}

fn selection_of(name: &str) -> PyResult<Selection> {
    match name {
        "best" => Ok(Selection::Best),
        "one-se" => Ok(Selection::OneStandardError),
        _ => Err(refuse("selection", format!("'{name}'"), "'best' or 'one-se'")),
    }
}

/// Returns the choice of one kernel, or of none.
fn one_kernel(
    kernel: Option<String>,
    approximation: Option<String>,
    memory: Option<MemoryLimit>,
) -> PyResult<KernelChoice> {
    kernels_of(kernel.into_iter().collect(), None, approximation, memory)
}

/// Returns the choice among kernels, of which there is one at least if any list is given.
fn some_kernels(
    kernels: Option<Vec<String>>,
    sigmas: Option<SigmaChoice>,
    approximation: Option<String>,
    memory: Option<MemoryLimit>,
) -> PyResult<KernelChoice> {
    match kernels {
        Some(kernels) if kernels.is_empty() => {
            Err(refuse("kernels", "[]", "None or at least one kernel"))
        }
        kernels => kernels_of(kernels.unwrap_or_default(), sigmas, approximation, memory),
    }
}
