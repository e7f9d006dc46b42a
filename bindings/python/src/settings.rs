//! The settings of the estimators, as dictionaries of Python give them.

use std::str::FromStr;
use std::time::Duration;

use margins::data::Memory;
use margins::data::split::Split;
use margins::estimators::regularised::KernelChoice;
use margins::optim::{ClassWeights, Lambda, lambda_grid};
use margins::{Approximation, ClassCosts, Probabilities, Registry, Scheme, Sigmas};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyString};

use crate::dictionary::{self, check_names};
use crate::encode::Encode;
use crate::errors::{refuse, to_python};

/// Settings that a dictionary holds.
pub(crate) trait Given: Sized {
    /// Returns the names of the settings.
    fn names() -> Vec<&'static str>;

    /// Takes the settings out of a dictionary, which may hold others.
    fn take(given: &Bound<'_, PyDict>) -> PyResult<Self>;

    /// Takes the settings out of a dictionary, and refuses others.
    fn read(given: &Bound<'_, PyDict>) -> PyResult<Self> {
        check_names(given, &Self::names())?;
        Self::take(given)
    }
}

/// Defines settings: a struct, perhaps with a part that others share.
macro_rules! settings {
    ($(#[$doc:meta])* $name:ident $(with $part:ident: $shared:ident)? { $($field:ident: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[allow(non_snake_case, reason = "C is the name that users know")]
        pub(crate) struct $name { $(pub(crate) $part: $shared,)? $(pub(crate) $field: $type),* }

        impl Given for $name {
            fn names() -> Vec<&'static str> {
                [&[$(stringify!($field)),*][..], $(&$shared::names())?].concat()
            }

            fn take(given: &Bound<'_, PyDict>) -> PyResult<Self> {
                Ok($name {
                    $($part: $shared::take(given)?,)?
                    $($field: dictionary::read(given, stringify!($field))?),*
                })
            }
        }
    };
}

settings! {
    /// The settings of all fits of a regularised risk that go to the library as they are.
    Regularised {
        loss: String, fit_intercept: bool, standardize: bool, class_weight: Weights, multi_class: String, tol: f64,
        max_iter: Option<usize>, time_limit: Option<f64>, random_state: u64,
    }
}

settings! {
    /// The settings of `MarginClassifier`.
    Classifier with shared: Regularised {
        C: f64, kernel: Option<String>, approximation: Option<String>, memory: Option<MemoryLimit>,
        certify_exact: bool, encode: Encode, probability: String, solver: String, n_jobs: usize,
    }
}

settings! {
    /// The settings of `MarginClassifierCV`.
    CrossValidated with shared: Regularised {
        Cs: Option<Vec<f64>>, lambdas: Option<Vec<f64>>, kernels: Option<Vec<String>>, sigmas: Option<SigmaChoice>,
        approximation: Option<String>, memory: Option<MemoryLimit>, certify_exact: bool, cv: Cv, scoring: String,
        selection: String, abandon_hopeless: bool, encode: Encode, probability: String, solver: String,
        stop: String, n_jobs: usize,
    }
}

settings! {
    /// The settings of `MarginPath`.
    Path with shared: Regularised {
        Cs: Option<Vec<f64>>, lambdas: Option<Vec<f64>>, kernel: Option<String>, approximation: Option<String>,
        memory: Option<MemoryLimit>, certify_exact: bool, encode: Encode, solver: String, stop: String,
        n_jobs: usize,
    }
}

settings! {
    /// The settings of `RobustClassifier`.
    Robust with shared: Regularised {
        objective: String, C: f64, kernel: Option<String>, approximation: Option<String>, encode: Encode,
        n_jobs: usize,
    }
}

settings! {
    /// The settings of `StreamClassifier`.
    Stream {
        loss: String, lam: f64, method: String, schedule: String, first_step: Option<f64>, fit_intercept: bool,
        epochs: Option<usize>, replacement: bool, batch: usize, average: String, radius: Option<f64>,
        start_norm: Option<f64>, hold_out: Option<f64>, patience: usize, rescale_at: Option<u64>, standardize: bool,
        class_weight: Weights, tol: Option<f64>, time_limit: Option<f64>, random_state: u64,
    }
}

settings! {
    /// The settings of `MassartClassifier`.
    Massart {
        learner: String, eta: Option<f64>, gamma: Option<f64>, epsilon: f64, delta: f64, project: Option<usize>,
        fit_intercept: bool, standardize: bool, scale_rows: String, time_limit: Option<f64>, random_state: u64, n_jobs: usize,
    }
}

settings! {
    /// The settings of `FocusedClassifier`.
    Focused {
        learner: String, kernel: Option<String>, loss: String, epsilon: f64, standardize: bool, fit_intercept: bool,
        max_steps: Option<u64>, outputs: Option<usize>, combine: String, slack: Option<String>, subsample: Option<String>,
        checkpoint: Option<std::path::PathBuf>, pause_at: Option<u64>, time_limit: Option<f64>,
        random_state: u64, n_jobs: usize,
    }
}

/// Returns the names of the settings of each estimator.
pub(crate) fn all(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let names = PyDict::new(py);
    for (estimator, settings) in [
        ("MarginClassifier", Classifier::names()),
        ("MarginClassifierCV", CrossValidated::names()),
        ("MarginPath", Path::names()),
        ("RobustClassifier", Robust::names()),
        ("StreamClassifier", Stream::names()),
        ("MassartClassifier", Massart::names()),
        ("FocusedClassifier", Focused::names()),
    ] {
        names.set_item(estimator, settings)?;
    }
    Ok(names)
}

/// The weights of classes.
#[derive(Default)]
pub(crate) enum Weights {
    /// Every class has those of its samples.
    #[default]
    AsGiven,
    /// Both sides of every binary problem have the same total weight.
    Balanced,
    /// The costs of classes, by name.
    Costs(Vec<(String, f64)>),
}

impl<'py> FromPyObject<'_, 'py> for Weights {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if value.is_none() {
            return Ok(Weights::AsGiven);
        }
        match value.cast::<PyString>() {
            Ok(text) if text.to_string_lossy() == "balanced" => Ok(Weights::Balanced),
            Ok(_) => Err(PyValueError::new_err("it must be None, 'balanced' or a dict of costs")),
            Err(_) => value.extract().map(Weights::Costs),
        }
    }
}

impl Weights {
    /// Returns the two settings of the library.
    pub(crate) fn parts(self) -> PyResult<(ClassWeights, ClassCosts)> {
        Ok(match self {
            Weights::AsGiven => (ClassWeights::AsGiven, ClassCosts::default()),
            Weights::Balanced => (ClassWeights::Balanced, ClassCosts::default()),
            Weights::Costs(costs) => {
                (ClassWeights::AsGiven, ClassCosts::new(costs).map_err(to_python)?)
            }
        })
    }
}

/// The values of sigma to choose from.
pub(crate) struct SigmaChoice(pub(crate) Sigmas);

impl<'py> FromPyObject<'_, 'py> for SigmaChoice {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match value.cast::<PyString>() {
            Ok(text) => text.to_string_lossy().parse().map_err(PyValueError::new_err),
            Err(_) => value.extract().map(Sigmas::Given),
        }
        .map(SigmaChoice)
    }
}

/// The most memory of a kernel matrix, from a number of bytes or a text.
pub(crate) struct MemoryLimit(Memory);

impl<'py> FromPyObject<'_, 'py> for MemoryLimit {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let text = match value.cast::<PyString>() {
            Ok(text) => text.to_string(),
            Err(_) if value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() => {
                format!("{}B", value.str()?)
            }
            Err(_) => {
                let given = value.repr()?;
                let message = format!(
                    "memory is {given}, but must be a number of bytes or a text such as '2GB'"
                );
                return Err(PyTypeError::new_err(message));
            }
        };
        text.parse().map(MemoryLimit).map_err(PyValueError::new_err)
    }
}

/// The folds of a cross-validation.
pub(crate) enum Cv {
    /// The default number of the library.
    Default,
    /// So many stratified folds.
    Count(usize),
    /// The name of the fold of every row.
    OfRows(Vec<String>),
    /// The name of the group of every row, and the number of folds over which groups are distributed.
    Groups(Vec<String>, usize),
    /// The rows to train on and to test on, of each split.
    Splits(Vec<Split>),
    /// Every sample is a fold.
    LeaveOneOut(margins::LeaveOneOut),
}

impl<'py> FromPyObject<'_, 'py> for Cv {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if value.is_none() {
            return Ok(Cv::Default);
        }
        if let Ok(text) = value.cast::<PyString>() {
            return match text.to_string_lossy().as_ref() {
                "leave-one-out" => Ok(Cv::LeaveOneOut(margins::LeaveOneOut::Exact)),
                "one-step" => Ok(Cv::LeaveOneOut(margins::LeaveOneOut::OneStep)),
                _ => Err(PyValueError::new_err(
                    "it must be a number of folds, a splitter, the fold of every row, 'leave-one-out' or 'one-step'",
                )),
            };
        }
        match value.extract() {
            Ok(count) => Ok(Cv::Count(count)),
            Err(_) => (value.extract().map(Cv::OfRows))
                .or_else(|_| value.extract().map(|(names, count)| Cv::Groups(names, count)))
                .or_else(|_| splits_of(value)),
        }
    }
}

fn splits_of(value: Borrowed<'_, '_, PyAny>) -> PyResult<Cv> {
    type Rows<'py> = PyReadonlyArray1<'py, i64>;
    let splits: Vec<(Rows<'_>, Rows<'_>)> = value.extract()?;
    let rows_of = |rows: Rows<'_>| rows.as_array().iter().map(|&row| row as usize).collect();
    let split = |(train, test)| Split { train: rows_of(train), test: rows_of(test) };
    Ok(Cv::Splits(splits.into_iter().map(split).collect()))
}

/// Returns lambda for `C = 1/(2 n lambda)`, none for an infinite C.
pub(crate) fn lambda_of(c: f64, rows: usize) -> PyResult<Lambda> {
    if c == f64::INFINITY {
        return Ok(Lambda::NONE);
    }
    if !(c.is_finite() && c > 0.0) {
        return Err(refuse("C", c, "a finite number greater than 0"));
    }
    let lambda = 1.0 / (2.0 * rows as f64 * c);
    Lambda::new(lambda)
        .map_err(|_| refuse("C", c, "a number for which 1/(2 n C) is finite and greater than 0"))
}

/// The default grid of C: the first value, the last value and their number.
const DEFAULT_GRID: (f64, f64, usize) = (1e-4, 1e4, 33);

/// Returns the lambdas that were given as such or as values of C, or those of the default grid of
/// C.
pub(crate) fn lambdas_of(
    cs: Option<Vec<f64>>,
    lambdas: Option<Vec<f64>>,
    rows: usize,
) -> PyResult<Vec<Lambda>> {
    let refused = |error: margins::optim::Error| PyValueError::new_err(error.to_string());
    let finite = |c: f64| {
        if c.is_finite() { Ok(c) } else { Err(refuse("C", c, "a finite number greater than 0")) }
    };
    match (cs, lambdas) {
        (Some(_), Some(_)) => {
            Err(PyValueError::new_err("Cs and lambdas are both given: leave one of them out"))
        }
        (Some(cs), None) => {
            cs.into_iter().map(|c| finite(c).and_then(|c| lambda_of(c, rows))).collect()
        }
        (None, Some(lambdas)) => {
            lambdas.into_iter().map(|lambda| Lambda::new(lambda).map_err(refused)).collect()
        }
        (None, None) => {
            let (from, to, count) = DEFAULT_GRID;
            let (first, last) = (lambda_of(from, rows)?, lambda_of(to, rows)?);
            lambda_grid(first.get(), last.get(), count).map_err(refused)
        }
    }
}

/// Returns the loss of a specification.
pub(crate) fn loss_of(
    specification: &str,
) -> PyResult<std::sync::Arc<dyn margins::losses::MarginLoss>> {
    let loss = Registry::standard().losses.parse(specification);
    loss.map(std::sync::Arc::from).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns the choice among kernels; an empty list stands for a linear classifier.
pub(crate) fn kernels_of(
    specifications: Vec<String>,
    sigmas: Option<SigmaChoice>,
    approximation: Option<String>,
    memory: Option<MemoryLimit>,
) -> PyResult<KernelChoice> {
    let approximation = parsed("approximation", approximation)?.unwrap_or(Approximation::None);
    let memory = memory.map(|limit| limit.0);
    let registry = Registry::standard().kernels;
    let sigmas = sigmas.map(|sigmas| sigmas.0);
    Ok(KernelChoice { specifications, sigmas, approximation, memory, registry })
}

/// Returns what the text of a setting says, if there is one.
fn parsed<T: FromStr<Err = String>>(name: &str, text: Option<String>) -> PyResult<Option<T>> {
    let read = |text: String| {
        text.parse().map_err(|reason| PyValueError::new_err(format!("{name}: {reason}")))
    };
    text.map(read).transpose()
}

/// Returns the scheme of a name.
pub(crate) fn scheme_of(name: &str) -> PyResult<Scheme> {
    match name {
        "ovr" => Ok(Scheme::OneVersusRest),
        "ovo" => Ok(Scheme::OneVersusOne),
        _ => Err(refuse("multi_class", format!("'{name}'"), "'ovr' or 'ovo'")),
    }
}

/// Returns the source of probabilities of a name, with the folds that scores are held out in.
pub(crate) fn probabilities_of(name: &str, folds: Option<usize>) -> PyResult<Probabilities> {
    match name {
        "loss" => Ok(Probabilities::OfTheLoss),
        "platt" => Ok(Probabilities::Platt { folds }),
        _ => Err(refuse("probability", format!("'{name}'"), "'loss' or 'platt'")),
    }
}

/// Returns the limit of a number of seconds.
pub(crate) fn limit_of(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let read = |seconds| {
        Duration::try_from_secs_f64(seconds)
            .map_err(|_| refuse("time_limit", seconds, "a number of seconds of at least 0"))
    };
    seconds.map(read).transpose()
}
