//! The settings of the estimators, as dictionaries of Python give them.

use std::time::Duration;

use margins::data::Memory;
use margins::data::split::Split;
use margins::estimators::regularised::{ClassifierSettings, FixedParameter, KernelChoice};
use margins::estimators::settings::ESTIMATORS;
use margins::optim::problem::PenaltyFactors;
use margins::optim::{ClassWeights, Lambda, lambda_grid};
use margins::{Approximation, ClassCosts, Probabilities, Registry, Scheme, Sigmas};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyString};

use crate::dictionary::Given;
use crate::errors::{refuse, to_python};

/// Returns the names of the settings of each estimator that go to the library, from their rows.
pub(crate) fn names(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let names = PyDict::new(py);
    for estimator in ESTIMATORS {
        let rows = estimator.settings.iter().filter(|row| row.is_for_the_library());
        names.set_item(estimator.name, rows.map(|row| row.name).collect::<Vec<_>>())?;
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

/// The penalty factors of features.
pub(crate) struct Factors(pub(crate) PenaltyFactors);

impl<'py> FromPyObject<'_, 'py> for Factors {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match value.extract::<Vec<f64>>() {
            Ok(factors) => PenaltyFactors::of_columns(factors),
            Err(_) => PenaltyFactors::of_names(value.extract()?),
        }
        .map(Factors)
        .map_err(|error| PyValueError::new_err(error.to_string()))
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
pub(crate) struct MemoryLimit(pub(crate) Memory);

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
                    "memory is {given}, but must be a number of bytes or a string such as '2GB'"
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
    /// This number of stratified folds.
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
/// C, and which of the two all fits have in common.
pub(crate) fn grid(given: &mut Given<'_>, rows: usize) -> PyResult<(Vec<Lambda>, FixedParameter)> {
    let refused = |error: margins::optim::Error| PyValueError::new_err(error.to_string());
    let finite = |c: f64| {
        if c.is_finite() { Ok(c) } else { Err(refuse("C", c, "a finite number greater than 0")) }
    };
    let (cs, lambdas): (Option<Vec<f64>>, Option<Vec<f64>>) =
        (given.take("Cs")?, given.take("lambdas")?);
    let (lambdas, fixed) = match (cs, lambdas) {
        (Some(_), Some(_)) => {
            return Err(PyValueError::new_err(
                "Cs and lambdas are both given: leave one of them out",
            ));
        }
        (Some(cs), None) => {
            let lambda = |c| finite(c).and_then(|c| lambda_of(c, rows));
            (cs.into_iter().map(lambda).collect::<PyResult<_>>()?, FixedParameter::C)
        }
        (None, Some(lambdas)) => {
            let read = lambdas.into_iter().map(|lambda| Lambda::new(lambda).map_err(refused));
            (read.collect::<PyResult<_>>()?, FixedParameter::Lambda)
        }
        (None, None) => {
            let (from, to, count) = DEFAULT_GRID;
            let (first, last) = (lambda_of(from, rows)?, lambda_of(to, rows)?);
            (lambda_grid(first.get(), last.get(), count).map_err(refused)?, FixedParameter::C)
        }
    };
    Ok((lambdas, fixed))
}

/// Returns the settings with the losses to choose from, of one specification or several.
pub(crate) fn with_losses(
    given: &mut Given<'_>,
    settings: ClassifierSettings,
) -> PyResult<ClassifierSettings> {
    let specifications = match given.take::<OneOrSeveral>("loss")? {
        OneOrSeveral::One(loss) => vec![loss],
        OneOrSeveral::Several(losses) => losses,
    };
    let [first, others @ ..] = &specifications[..] else {
        return Err(refuse("loss", "[]", "at least one loss"));
    };
    let scales: Option<Vec<f64>> = given.take_or("scales", None)?;
    let registry = Registry::standard().losses;
    let settings = settings.with_losses(first, others, &scales.unwrap_or_default(), &registry);
    settings.map_err(to_python)
}

/// One text or several.
#[derive(FromPyObject)]
enum OneOrSeveral {
    One(String),
    Several(Vec<String>),
}

/// Returns the loss of a specification.
pub(crate) fn loss_of(
    specification: &str,
) -> PyResult<std::sync::Arc<dyn margins::losses::MarginLoss>> {
    let loss = Registry::standard().losses.parse(specification);
    loss.map(std::sync::Arc::from).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns the choice among kernels, of an estimator with one kernel or with several; without any
/// the classifier is linear.
pub(crate) fn kernels_of(given: &mut Given<'_>) -> PyResult<KernelChoice> {
    let one: Option<String> = given.take_or("kernel", None)?;
    let several: Option<Vec<String>> = given.take_or("kernels", None)?;
    if several.as_ref().is_some_and(Vec::is_empty) {
        return Err(refuse("kernels", "[]", "None or at least one kernel"));
    }
    let sigmas: Option<SigmaChoice> = given.take_or("sigmas", None)?;
    let approximation = match given.take::<Option<String>>("approximation")? {
        Some(text) => text
            .parse()
            .map_err(|reason| PyValueError::new_err(format!("approximation: {reason}")))?,
        None => Approximation::None,
    };
    let memory: Option<MemoryLimit> = given.take_or("memory", None)?;
    Ok(KernelChoice {
        specifications: one.into_iter().chain(several.unwrap_or_default()).collect(),
        sigmas: sigmas.map(|sigmas| sigmas.0),
        approximation,
        memory: memory.map(|limit| limit.0),
        registry: Registry::standard().kernels,
    })
}

/// Returns the scheme of a name.
pub(crate) fn scheme_of(name: &str) -> PyResult<Scheme> {
    match name {
        "ovr" => Ok(Scheme::OneVersusRest),
        "ovo" => Ok(Scheme::OneVersusOne),
        "joint" => Ok(Scheme::Joint),
        "multinomial" => Ok(Scheme::Multinomial),
        "crammer-singer" => Ok(Scheme::CrammerSinger),
        _ => Err(refuse(
            "multi_class",
            format!("'{name}'"),
            "'ovr', 'ovo', 'joint', 'multinomial' or 'crammer-singer'",
        )),
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
