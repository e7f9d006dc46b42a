//! Guarantees of calibration over arrays.

use margins::calibration::least_risk::{LeastRisk, share_without_noise as share_of};
use margins::calibration::location::{
    Location, LocationSettings, MarginLocation, Stability, summarize,
};
use margins::calibration::probability::{Binning, Reliability};
use margins::calibration::projection_bound::projection_bound as garg_roth;
use margins::calibration::risk_bound::MarginPursuitBound;
use margins::calibration::{self, MarginPursuitPsi, PsiTransform, cubic};
use margins::estimators::risk_bound::{RiskBoundSettings, RiskBoundTerms};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::copies::copied;
use crate::data::Data;
use crate::doorway::{Stop, run, run_sized};
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

/// Returns the conditional risk at class probabilities: of scores if they are given, else the lowest.
#[pyfunction]
pub(crate) fn conditional_risk<'py>(
    py: Python<'py>,
    loss: &str,
    eta: PyReadonlyArray1<'py, f64>,
    score: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let loss = loss_of(loss)?;
    let eta = copied(py, &eta, |x| x)?;
    let score = score.map(|score| copied(py, &score, |x| x)).transpose()?;
    let size = TRANSFORM.saturating_mul(eta.len());
    let values = move || -> Result<Vec<f64>, margins::Error> {
        let of = |(k, &eta): (usize, &f64)| match &score {
            Some(score) => calibration::conditional_risk(&*loss, eta, score[k]),
            None => calibration::least_conditional_risk(&*loss, eta),
        };
        Ok(eta.iter().enumerate().map(of).collect::<Result<_, _>>()?)
    };
    Ok(run_sized(py, None, size, values)?.into_pyarray(py))
}

/// Returns the lowest risk of a loss over all functions and its standard error, from log odds.
#[pyfunction]
pub(crate) fn least_risk(
    py: Python<'_>,
    loss: &str,
    log_odds: PyReadonlyArray1<'_, f64>,
) -> PyResult<(f64, f64)> {
    let loss = loss_of(loss)?;
    let log_odds = copied(py, &log_odds, |l| l)?;
    let size = TRANSFORM.saturating_mul(log_odds.len());
    let found = run_sized(py, None, size, move || Ok(LeastRisk::of(&*loss, &log_odds)?))?;
    Ok((found.risk, found.standard_error))
}

/// Returns the share of samples with hardly any label noise, from log odds.
#[pyfunction]
pub(crate) fn share_without_noise(
    py: Python<'_>,
    log_odds: PyReadonlyArray1<'_, f64>,
    delta: f64,
) -> PyResult<f64> {
    let log_odds = copied(py, &log_odds, |l| l)?;
    let size = log_odds.len();
    run_sized(py, None, size, move || Ok(share_of(&log_odds, delta)?))
}

/// Returns the real roots of a cubic, ascending.
#[pyfunction]
pub(crate) fn getroot(
    py: Python<'_>,
    a: f64,
    b: f64,
    c: f64,
    d: f64,
) -> PyResult<Bound<'_, PyArray1<f64>>> {
    let roots = run_sized(py, None, 1, move || Ok(cubic::getroot(a, b, c, d)?))?;
    Ok(roots.as_slice().to_vec().into_pyarray(py))
}

/// Returns the reason why a loss is not calibrated, or nothing if it is.
#[pyfunction]
pub(crate) fn not_calibrated(py: Python<'_>, loss: &str) -> PyResult<Option<String>> {
    let loss = loss_of(loss)?;
    let reason = move || Ok(PsiTransform::of(&*loss).err().map(|reason| reason.to_string()));
    run_sized(py, None, TRANSFORM, reason)
}

/// Returns the estimate of location with its guarantees.
#[pyfunction]
pub(crate) fn location<'py>(
    py: Python<'py>,
    sample: PyReadonlyArray1<'py, f64>,
    scale: Option<f64>,
    variance_bound: Option<f64>,
    delta: f64,
    changes: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    /// The steps to the roots of the estimate and of the ends of its range.
    const STEPS: usize = 1000;
    let sample = copied(py, &sample, |x| x)?;
    let size = STEPS.saturating_mul(sample.len());
    let settings = LocationSettings { scale, variance_bound, delta, changes, seed };
    let found = run_sized(py, None, size, move || Ok(summarize(&sample, &settings)?))?;
    let ends = |location: Location| (location.lower, location.upper);
    let result = PyDict::new(py);
    result.set_item("estimate", found.location.estimate())?;
    result.set_item("roots", ends(found.location))?;
    result.set_item("scale", found.scale)?;
    result.set_item("interval", found.interval())?;
    result.set_item("published_half_width", found.published_half_width)?;
    result.set_item("variance_bound", found.variance_bound)?;
    result.set_item("mean", found.mean)?;
    result.set_item("median", found.median)?;
    result.set_item("distance_from_mean", found.distance_from_mean)?;
    result.set_item("after_changes", found.after_changes.map(ends))?;
    let bound = match found.stability {
        Stability::Bounded { bound, .. } => Some(bound),
        Stability::TooFewNear { .. } => None,
    };
    result.set_item("stability_bound", bound)?;
    result.set_item("median_of_means", found.median_of_means.estimate)?;
    result.set_item("median_of_means_half_width", found.median_of_means_half_width)?;
    Ok(result)
}

/// Returns the location of margins at a scale, beside the level gamma.
#[pyfunction]
pub(crate) fn margin_location<'py>(
    py: Python<'py>,
    margins: PyReadonlyArray1<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    gamma: f64,
    scale: f64,
) -> PyResult<Bound<'py, PyDict>> {
    /// The steps to the root.
    const STEPS: usize = 100;
    let margins = copied(py, &margins, |x| x)?;
    let weights = weights.map(|weights| copied(py, &weights, |x| x)).transpose()?;
    let size = STEPS.saturating_mul(margins.len());
    let job = move || Ok(MarginLocation::new(&margins, weights.as_deref(), gamma, scale)?);
    of_margins(py, run_sized(py, None, size, job)?)
}

/// Returns the location of margins as a dictionary.
pub(crate) fn of_margins(py: Python<'_>, found: MarginLocation) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("gamma", found.gamma)?;
    result.set_item("scale", found.scale)?;
    result.set_item("estimate", found.estimate)?;
    result.set_item("attained", found.attained)?;
    result.set_item("variance_bound", found.variance_bound)?;
    result.set_item("interval", found.interval.map(|[lower, upper]| (lower, upper)))?;
    result.set_item("mean", found.mean)?;
    result.set_item("variance", found.variance)?;
    result.set_item("skewness", found.skewness)?;
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

/// Returns the bound of Garg and Roth for normalised margins, term by term.
#[pyfunction]
pub(crate) fn projection_bound<'py>(
    py: Python<'py>,
    margins: PyReadonlyArray1<'py, f64>,
    delta: f64,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    /// The dimensions that are tried.
    const DIMENSIONS: usize = 500;
    let margins = copied(py, &margins, |x| x)?;
    let size = DIMENSIONS.saturating_mul(margins.len());
    let bound = move || Ok(garg_roth(&margins, delta, seed)?);
    let found = run_sized(py, None, size, bound)?;
    let result = PyDict::new(py);
    result.set_item("bound", found.bound())?;
    result.set_item("dimension", found.dimension)?;
    result.set_item("error", found.error)?;
    result.set_item("projection", found.projection)?;
    result.set_item("complexity", found.complexity)?;
    result.set_item("confidence", found.confidence)?;
    result.set_item("is_vacuous", found.is_vacuous())?;
    Ok(result)
}

/// Returns the quantities of the bound on the risk of margin pursuit as samples estimate them, with its
/// terms, which are `None` if there is no bound.
#[pyfunction]
pub(crate) fn estimated_bound<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyDict>,
    gamma: f64,
    scale: f64,
    radius: Option<f64>,
    delta: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let data = Data::take_of_two(data)?;
    let settings = RiskBoundSettings { gamma, scale, radius, delta };
    let estimate = move || settings.estimate(&data.dataset_of_two()?);
    let found = run(py, 1, &Stop::default(), estimate)?;
    let result = PyDict::new(py);
    result.set_item("samples", found.samples)?;
    result.set_item("dimension", found.dimension)?;
    result.set_item("is_stationary", found.is_stationary)?;
    result.set_item("is_vacuous", found.is_vacuous())?;
    for (name, number) in [
        ("input_second_moment", found.input_second_moment),
        ("smallest_eigenvalue", found.smallest_eigenvalue),
        ("operator_norm", found.operator_norm),
        ("radius", found.radius),
        ("minimizer_norm", found.minimizer_norm),
        ("strong_convexity", found.strong_convexity),
        ("curvature_at_minimizer", found.curvature_at_minimizer),
        ("gradient_constant", found.gradient_constant),
        ("approximation_error", found.approximation_error),
    ] {
        result.set_item(name, number)?;
    }
    result.set_item("iterations", found.bound.as_ref().map(|terms| terms.quantities.iterations))?;
    let of = |term: fn(&RiskBoundTerms) -> f64| found.bound.as_ref().map(term);
    for (name, term) in [
        ("step", of(|terms| terms.quantities.step)),
        ("optimization_error", of(|terms| terms.published.optimization_error)),
        ("epsilon_star", of(|terms| terms.published.epsilon_star)),
        ("statistical_error", of(|terms| terms.published.statistical_error)),
        ("excess_over_linear", of(|terms| terms.published.excess_over_linear)),
        ("misclassification_bound", of(|terms| terms.misclassification)),
        ("sound_epsilon_star", of(|terms| terms.sound.sound_epsilon_star)),
        ("sound_excess_over_linear", of(|terms| terms.sound.sound_excess_over_linear)),
        ("sound_misclassification_bound", of(|terms| terms.sound_misclassification)),
    ] {
        result.set_item(name, term)?;
    }
    Ok(result)
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
