//! Fits of the regularised risk.

use std::ops::ControlFlow;
use std::sync::Arc;

use margins::calibration::location::MarginLocation;
use margins::data::ClassLabels;
use margins::estimators::regularised::{
    ClassifierSettings, FixedParameter, IterationObserver, KernelChoice, Observer, Regularisation,
};
use margins::losses::LeakyHockeyStick;
use margins::optim::certificate::DualSolution;
use margins::optim::{Lambda, Options, Solver};
use margins::robust::RobustLearner;
use margins::{CrossValidation, Registry, Selection};
use numpy::{IntoPyArray, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::calibration;
use crate::data::Data;
use crate::dictionary::Given;
use crate::distributed::TrainingData;
use crate::doorway::{Stop, run};
use crate::errors::{of_data, refuse, to_python};
use crate::model::ModelPath;
use crate::report;
use crate::settings::{
    Cv, Factors, Weights, grid, kernels_of, lambda_of, limit_of, probabilities_of, scheme_of,
    with_losses,
};

/// The functions of the user that are called during a fit.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Watchers {
    /// A function of every iteration, as a dictionary.
    pub(crate) callback: Option<Py<PyAny>>,
    /// A function of the numbers of fits made and of all fits.
    progress: Option<Py<PyAny>>,
}

/// Returns the settings of the library, with those that the estimator has. Each is named here, so
/// that a new one is not forgotten.
fn settings_of(
    given: &mut Given<'_>,
    regularisation: Regularisation,
) -> PyResult<ClassifierSettings> {
    let (class_weights, class_costs) = given.take::<Weights>("class_weight")?.parts()?;
    let seed = given.take("random_state")?;
    let settings = ClassifierSettings {
        // These three follow from the specifications.
        loss: Arc::new(LeakyHockeyStick),
        or_losses: Vec::new(),
        auto_scale: None,
        learner: None,
        kernels: kernels_of(given)?,
        certify_exact: given.take_or("certify_exact", false)?,
        regularisation,
        fixed_parameter: FixedParameter::C,
        scheme: Some(scheme_of(&given.take::<String>("multi_class")?)?),
        intercept: given.take("fit_intercept")?,
        standardize: given.take("standardize")?,
        penalty_factors: given
            .take_or::<Option<Factors>>("penalty_factors", None)?
            .map(|factors| factors.0),
        start: given.take_or("start", None)?,
        class_weights,
        class_costs,
        sample_weights: None,
        probabilities: probabilities_of(&given.take_or("probability", "loss".to_owned())?, None)?,
        options: options(given, seed)?,
        seed,
        threads: None,
        time_limit: limit_of(given.take("time_limit")?)?,
        checkpoint: None,
        progress: Observer::default(),
        iterations: IterationObserver::default(),
    };
    with_losses(given, settings)
}

/// Returns the classifier at one C.
#[pyfunction]
pub(crate) fn fit_classifier<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyDict>,
    settings: &Bound<'py, PyDict>,
    watchers: Watchers,
) -> PyResult<Bound<'py, PyDict>> {
    let mut given = Given::new(settings)?;
    let data = TrainingData::take(data, given.take("encode")?)?;
    let lambda = lambda_of(given.take("C")?, data.rows())?;
    let settings = settings_of(&mut given, Regularisation::Single(lambda))?;
    fit(py, data, settings, given, watchers)
}

/// Returns the classifier at the C that cross-validation selects.
#[pyfunction]
pub(crate) fn fit_cross_validated<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyDict>,
    settings: &Bound<'py, PyDict>,
    watchers: Watchers,
) -> PyResult<Bound<'py, PyDict>> {
    let mut given = Given::new(settings)?;
    let mut data = TrainingData::take(data, given.take("encode")?)?;
    let (lambdas, fixed_parameter) = grid(&mut given, data.rows())?;
    let mut how = CrossValidation {
        lambdas,
        selection: selection_of(&given.take::<String>("selection")?)?,
        measure: given.take::<String>("scoring")?.parse().map_err(of_data)?,
        abandon_hopeless: given.take("abandon_hopeless")?,
        ..CrossValidation::default()
    };
    match given.take("cv")? {
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
    let settings = settings_of(&mut given, Regularisation::CrossValidated(how))?;
    let settings = ClassifierSettings { fixed_parameter, ..settings };
    fit(py, data, settings, given, watchers)
}

/// The dual variables along a path.
struct Duals {
    /// Those of every member with its constrained form, if they are kept.
    solutions: Option<Vec<Vec<DualSolution>>>,
    /// Those of two classes that the coefficients of a kernel give.
    of_kernels: Option<Vec<Vec<f64>>>,
}

impl Duals {
    /// Adds them to the result of a path.
    fn add_to(self, result: &Bound<'_, PyDict>) -> PyResult<()> {
        let py = result.py();
        let Some(solutions) = self.solutions else {
            let duals = self.of_kernels.map(|duals| PyArray2::from_vec2(py, &duals)).transpose();
            let duals = duals.map_err(|error| PyValueError::new_err(error.to_string()))?;
            return result.set_item("duals", duals);
        };
        let of_lambdas = solutions.iter().map(|solutions| {
            let found = PyDict::new(py);
            report::add_duals(&found, solutions)?;
            Ok(found)
        });
        result.set_item("solutions", of_lambdas.collect::<PyResult<Vec<_>>>()?)
    }
}

/// Returns the fits at every C of a path.
#[pyfunction]
pub(crate) fn fit_path<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyDict>,
    settings: &Bound<'py, PyDict>,
    watchers: Watchers,
) -> PyResult<Bound<'py, PyDict>> {
    let mut given = Given::new(settings)?;
    let data = TrainingData::take(data, given.take("encode")?)?;
    let rows = data.rows();
    let (lambdas, fixed_parameter) = grid(&mut given, rows)?;
    let regularisation = Regularisation::path(lambdas).map_err(to_python)?;
    let settings = settings_of(&mut given, regularisation)?;
    let settings = ClassifierSettings { fixed_parameter, ..settings };
    let job = move |settings: &ClassifierSettings, stop: &Stop| {
        let (path, names) = data.path(settings, stop)?;
        let at = 0..path.fits.len();
        let solutions = match settings.options.keep_duals {
            true => {
                at.clone().map(|at| path.dual_solutions(settings, at)).collect::<Result<_, _>>()?
            }
            false => None,
        };
        let duals = if settings.options.keep_duals { None } else { path.duals(settings)? };
        let duals = Duals { solutions, of_kernels: duals };
        let locations = at.map(|at| path.margin_locations(settings, at));
        let locations = locations.collect::<Result<Vec<_>, _>>()?;
        // Coefficients that overflowed at one lambda make no model, but leave the others as they are.
        let models = path.models(settings).ok();
        let separation = path.separation(settings).unwrap_or_default();
        Ok((path, models, names, duals, locations, separation))
    };
    let (path, models, names, duals, locations, separation) =
        solve(py, settings, given, watchers, job)?;
    let result = report::of_path(py, &path)?;
    duals.add_to(&result)?;
    let of = |found: MarginLocation| calibration::of_margins(py, found);
    let locations =
        locations.into_iter().map(|of_members| of_members.into_iter().map(of).collect());
    result.set_item("margin_locations", locations.collect::<PyResult<Vec<Vec<_>>>>()?)?;
    result.set_item("models", models.map(ModelPath::new))?;
    result.set_item("warnings", separation.into_iter().collect::<Vec<_>>())?;
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
    let mut given = Given::new(settings)?;
    let data = Data::take(data, given.take("encode")?)?;
    let learner: RobustLearner = given
        .take::<String>("objective")?
        .parse()
        .map_err(|error| PyValueError::new_err(format!("objective: {error}")))?;
    let c: f64 = given.take("C")?;
    let lambda = match learner.lambda() {
        // The default of C says nothing.
        Some(own) if c == 1.0 => own,
        Some(_) => {
            return Err(refuse(
                "C",
                c,
                "1.0, its default, for an objective with lambda3, where C = lambda3/n",
            ));
        }
        None => lambda_of(c, data.classes().len())?,
    };
    let settings = settings_of(&mut given, Regularisation::Single(lambda))?;
    let settings = ClassifierSettings { learner: Some(learner), ..settings };
    let job = move |settings: &ClassifierSettings, _: &Stop| settings.fit(&data.dataset()?);
    let fitted = solve(py, settings, given, watchers, job)?;
    let bounds = fitted.fits.iter().map(|fit| fit.report.fixed_moments_leave_one_out_bound);
    let bounds: Option<Vec<f64>> = bounds.collect();
    let result = report::of_fit(py, fitted)?;
    result.set_item("fixed_moments_leave_one_out_bound", bounds)?;
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
            if is_enough { ControlFlow::Break(()) } else { stop.check() }
        })
    }
}

/// Returns the settings with the functions of the user, any of which may end the fit.
fn watched(settings: ClassifierSettings, watchers: Watchers, stop: &Stop) -> ClassifierSettings {
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
    let kernel_stop = stop.clone();
    let registry = settings.kernels.registry.watched(move || kernel_stop.check());
    let kernels = KernelChoice { registry, ..settings.kernels };
    ClassifierSettings { iterations, progress, kernels, ..settings }
}

/// Fits with these settings, and returns the model with its evidence.
fn fit<'py>(
    py: Python<'py>,
    data: TrainingData,
    settings: ClassifierSettings,
    given: Given<'py>,
    watchers: Watchers,
) -> PyResult<Bound<'py, PyDict>> {
    let rows = data.rows();
    let has_penalty = settings.regularisation != Regularisation::Single(Lambda::NONE);
    let job = move |settings: &ClassifierSettings, stop: &Stop| {
        let fitted = data.fit(settings, stop)?;
        let bounds = fitted.leave_one_out_bounds(settings)?;
        let keeps_duals = settings.options.keep_duals;
        let duals = if keeps_duals { fitted.dual_solutions(settings)? } else { None };
        let best_intercepts = fitted.best_intercepts(settings)?;
        let locations = fitted.margin_locations()?;
        Ok((fitted, bounds, duals, best_intercepts, locations))
    };
    let (fitted, bounds, duals, best_intercepts, locations) =
        solve(py, settings, given, watchers, job)?;
    let certifiable = has_penalty || fitted.report.scheme.is_joint();
    let result = report::of_fit(py, fitted)?;
    result.set_item("certifiable", certifiable)?;
    result.set_item("leave_one_out_bounds", bounds.map(|bounds| (bounds.lower, bounds.upper)))?;
    result.set_item("rows", rows)?;
    let locations = locations.into_iter().map(|found| calibration::of_margins(py, found));
    result.set_item("margin_locations", locations.collect::<PyResult<Vec<_>>>()?)?;
    let ends = best_intercepts.map(|best| vec![best.lower, best.upper].into_pyarray(py));
    result.set_item("best_intercepts", ends)?;
    if let Some(solutions) = duals {
        report::add_duals(&result, &solutions)?;
    }
    Ok(result)
}

/// Runs a job with these settings in the doorway, where the functions of the user see it, on as many
/// threads as the last of the given settings says.
fn solve<T: Send + 'static>(
    py: Python<'_>,
    settings: ClassifierSettings,
    mut given: Given<'_>,
    watchers: Watchers,
    job: impl FnOnce(&ClassifierSettings, &Stop) -> Result<T, margins::Error> + Send + 'static,
) -> PyResult<T> {
    let threads = given.take("n_jobs")?;
    given.finish()?;
    let stop = Stop::default();
    let settings = watched(settings, watchers, &stop);
    let job_stop = stop.clone();
    run(py, threads, &stop, move || job(&settings, &job_stop))
}

/// Returns the options of the solver.
fn options(given: &mut Given<'_>, seed: u64) -> PyResult<Options<'static>> {
    let solver = given.take_or("solver", "auto".to_owned())?;
    let Some(found) = Solver::named(&solver) else {
        let known = Solver::NAMED.map(|(name, _)| format!("'{name}'")).join(", ");
        return Err(refuse("solver", format!("'{solver}'"), &format!("one of {known}")));
    };
    let solver = match given.take_or("stop", "gap".to_owned())?.as_str() {
        "gap" => found.seeded(seed),
        "published" => found.with_published_rule().ok_or_else(|| {
            refuse("solver", format!("'{solver}'"), "'mm' or 'auto' for stop='published'")
        })?,
        stop => return Err(refuse("stop", format!("'{stop}'"), "'gap' or 'published'")),
    };
    let (tolerance, max_iterations) = (given.take("tol")?, given.take("max_iter")?);
    let keep_duals = given.take_or("keep_duals", false)?;
    Ok(Options { solver, tolerance, max_iterations, keep_duals, ..Options::default() })
}

fn selection_of(name: &str) -> PyResult<Selection> {
    match name {
        "best" => Ok(Selection::Best),
        "one-se" => Ok(Selection::OneStandardError),
        _ => Err(refuse("selection", format!("'{name}'"), "'best' or 'one-se'")),
    }
}
