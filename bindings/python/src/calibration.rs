//! Guarantees of calibration over arrays.

use margins::calibration::location::{self, Location};
use margins::calibration::probability::{Binning, Reliability};
use margins::calibration::risk_bound::MarginPursuitBound;
use margins::calibration::{MarginPursuitPsi, PsiTransform};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::copies::copied;
use crate::doorway::run_sized;
use crate::errors::refuse;
use crate::settings::loss_of;

/// The multiplications of a Psi-transform, of which some are integrals or found by bisection.
const TRANSFORM: usize = 10_000;

/// Returns the Psi-transform of a loss at excess misclassification risks.
#[pyfunction]
pub(crate) fn psi<'py>(
    py: Python<'py>,
    loss: &str,
    at: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    transformed(py, loss, at, false)
}

/// Returns the inverse of the Psi-transform of a loss at excess surrogate risks.
#[pyfunction]
pub(crate) fn psi_inverse<'py>(
    py: Python<'py>,
    loss: &str,
    at: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    transformed(py, loss, at, true)
}

fn transformed<'py>(
    py: Python<'py>,
    specification: &str,
    at: PyReadonlyArray1<'py, f64>,
    inverse: bool,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let loss = loss_of(specification)?;
    let at = copied(py, &at, |x| x)?;
    let size = TRANSFORM.saturating_mul(at.len());
    let values = move || -> Result<Result<Vec<f64>, String>, margins::Error> {
        let transform = match PsiTransform::of(&*loss) {
            Ok(transform) => transform,
            Err(reason) => {
                let loss = loss.specification();
                return Ok(Err(format!("loss '{loss}' is not calibrated: {reason}")));
            }
        };
        let of = |x: f64| if inverse { transform.inverse(x) } else { transform.value(x) };
        Ok(Ok(at.into_iter().map(of).collect()))
    };
    let values = run_sized(py, None, size, values)?.map_err(PyValueError::new_err)?;
    Ok(values.into_pyarray(py))
}

/// Returns the reason why a loss is not calibrated, or nothing if it is.
#[pyfunction]
pub(crate) fn not_calibrated(py: Python<'_>, loss: &str) -> PyResult<Option<String>> {
    let loss = loss_of(loss)?;
    let reason = move || Ok(PsiTransform::of(&*loss).err().map(|reason| reason.to_string()));
    run_sized(py, None, TRANSFORM, reason)
}

/// Returns the estimate of location, its roots, and an interval if a bound on the variance is
/// known.
#[pyfunction]
pub(crate) fn catoni_location<'py>(
    py: Python<'py>,
    sample: PyReadonlyArray1<'py, f64>,
    scale: Option<f64>,
    variance_bound: Option<f64>,
    delta: f64,
) -> PyResult<Bound<'py, PyDict>> {
    /// The steps to a root.
    const STEPS: usize = 1000;
    let sample = copied(py, &sample, |x| x)?;
    let size = STEPS.saturating_mul(sample.len());
    let result = PyDict::new(py);
    let location: Location = match (scale, variance_bound) {
        (Some(scale), None) => {
            let location = move || Ok(location::catoni_location(&sample, scale)?);
            run_sized(py, None, size, location)?
        }
        (None, Some(variance)) => {
            let interval = move || Ok(location::confidence_interval(&sample, variance, delta)?);
            let interval = run_sized(py, None, size, interval)?;
            result.set_item("scale", interval.scale)?;
            result.set_item("interval", interval.bounds())?;
            result.set_item("published_half_width", interval.published_half_width)?;
            interval.location
        }
        _ => {
            let message = "give either the scale or variance_bound, from which the scale and an interval follow";
            return Err(PyValueError::new_err(message));
        }
    };
    result.set_item("estimate", location.estimate())?;
    result.set_item("roots", (location.lower, location.upper))?;
    Ok(result)
}

/// The numbers that the bound on the risk of margin pursuit is a function of.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Bounded {
    strong_convexity: f64,
    input_second_moment: f64,
    step: f64,
    iterations: usize,
    initial_distance: f64,
    diameter: f64,
    samples: usize,
    dimension: usize,
    scale: f64,
    delta: f64,
    gradient_constant: f64,
    operator_norm_moment: f64,
    approximation_error: f64,
}

/// Returns every term of the bound on the risk of margin pursuit.
#[pyfunction]
pub(crate) fn misclassification_bound(
    py: Python<'_>,
    given: Bounded,
    gamma: f64,
) -> PyResult<Bound<'_, PyDict>> {
    let bound = MarginPursuitBound {
        strong_convexity: given.strong_convexity,
        input_second_moment: given.input_second_moment,
        step: given.step,
        iterations: given.iterations,
        initial_distance: given.initial_distance,
        diameter: given.diameter,
        samples: given.samples,
        dimension: given.dimension,
        scale: given.scale,
        delta: given.delta,
        gradient_constant: given.gradient_constant,
        operator_norm_moment: given.operator_norm_moment,
    };
    let missing = given.approximation_error;
    let numbers = move || {
        let psi = MarginPursuitPsi::new(gamma, bound.scale)?;
        Ok(terms_of(&bound, missing, psi)?)
    };
    let result = PyDict::new(py);
    for (name, value) in run_sized(py, None, TRANSFORM, numbers)? {
        result.set_item(name, value)?;
    }
    Ok(result)
}

/// Returns every term of a bound by name.
fn terms_of(
    bound: &MarginPursuitBound,
    approximation_error: f64,
    psi: MarginPursuitPsi,
) -> Result<[(&'static str, f64); 11], margins::calibration::Error> {
    let terms = bound.evaluate()?;
    Ok([
        ("beta", terms.beta),
        ("contraction", terms.contraction),
        ("optimization_error", terms.optimization_error),
        ("epsilon_star", terms.epsilon_star),
        ("statistical_error", terms.statistical_error),
        ("excess_over_linear", terms.excess_over_linear),
        ("sound_epsilon_star", terms.sound_epsilon_star),
        ("sound_excess_over_linear", terms.sound_excess_over_linear),
        ("confidence", terms.confidence),
        (
            "misclassification_bound",
            terms.misclassification_bound(approximation_error, |risk| psi.inverse(risk))?,
        ),
        (
            "sound_misclassification_bound",
            terms.sound_misclassification_bound(approximation_error, |risk| psi.inverse(risk))?,
        ),
    ])
}

/// Returns the bins of probabilities beside frequencies, and their summaries.
#[pyfunction]
pub(crate) fn reliability<'py>(
    py: Python<'py>,
    probabilities: PyReadonlyArray1<'py, f64>,
    signs: PyReadonlyArray1<'py, f64>,
    bins: usize,
    strategy: &str,
) -> PyResult<Bound<'py, PyDict>> {
    /// The multiplications of a probability and of a bin.
    const EACH: usize = 100;
    let binning = match strategy {
        "uniform" => Binning::EqualWidth(bins),
        "quantile" => Binning::EqualCount(bins),
        _ => return Err(refuse("strategy", format!("'{strategy}'"), "'uniform' or 'quantile'")),
    };
    let (probabilities, signs) = (copied(py, &probabilities, |p| p)?, copied(py, &signs, |y| y)?);
    let size = probabilities.len().saturating_add(bins).saturating_mul(EACH);
    let made = move || Ok(Reliability::new(&probabilities, &signs, None, binning)?);
    let made = run_sized(py, None, size, made)?;
    let result = PyDict::new(py);
    let bins = made.bins();
    result.set_item(
        "count",
        bins.iter().map(|bin| bin.count as i64).collect::<Vec<_>>().into_pyarray(py),
    )?;
    let means: Vec<f64> = bins.iter().map(|bin| bin.mean_probability).collect();
    let seen: Vec<f64> = bins.iter().map(|bin| bin.observed_frequency).collect();
    result.set_item("mean_probability", means.into_pyarray(py))?;
    result.set_item("observed_frequency", seen.into_pyarray(py))?;
    let error = made.expected_calibration_error();
    result.set_item("calibration_error", error.value)?;
    result.set_item("expected_if_calibrated", error.expected_if_calibrated)?;
    result.set_item("brier", made.brier().score)?;
    Ok(result)
}
