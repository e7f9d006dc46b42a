//! Functions of losses over arrays.

use margins::Registry;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::copies::copied;
use crate::doorway::run_sized;
use crate::settings::loss_of;

/// Returns the names of the losses.
#[pyfunction]
pub(crate) fn loss_names() -> Vec<String> {
    Registry::standard().losses.names().map(str::to_owned).collect()
}

/// Returns the complete specification of a loss.
#[pyfunction]
pub(crate) fn loss_specification(loss: &str) -> PyResult<String> {
    Ok(loss_of(loss)?.specification())
}

/// The multiplications of a value that no formula gives.
const EACH: usize = 1000;

/// Defines functions of a loss and an array of numbers.
macro_rules! over_arrays {
    ($($(#[$doc:meta])* $name:ident: $of:expr;)*) => {$(
        $(#[$doc])*
        #[pyfunction]
        pub(crate) fn $name<'py>(
            py: Python<'py>,
            loss: &str,
            at: PyReadonlyArray1<'py, f64>,
        ) -> PyResult<Bound<'py, PyArray1<f64>>> {
            let loss = loss_of(loss)?;
            let at = copied(py, &at, |x| x)?;
            let size = EACH.saturating_mul(at.len());
            let values = move || Ok(at.into_iter().map(|x| ($of)(&*loss, x)).collect::<Vec<f64>>());
            Ok(run_sized(py, None, size, values)?.into_pyarray(py))
        }
    )*};
}

type Loss = dyn margins::losses::MarginLoss;

over_arrays! {
    /// Returns `L(u)`.
    value: |loss: &Loss, u| loss.value(u);
    /// Returns `L'(u)`.
    derivative: |loss: &Loss, u| loss.derivative(u);
    /// Returns `L''(u)`.
    second_derivative: |loss: &Loss, u| loss.second_derivative(u);
    /// Returns the conjugate at -t, `sup_u (-t u - L(u))`, infinite outside its domain.
    conjugate: |loss: &Loss, t| loss.conjugate(t);
    /// Returns the score of lowest expected loss where the positive class has the probability eta.
    population_minimizer: |loss: &Loss, eta| loss.population_minimizer(eta);
    /// Returns the probability of the positive class at a score, NaN where the loss has none.
    probability: |loss: &Loss, score| loss.probability(score).unwrap_or(f64::NAN);
}

/// Returns the minimisers over v of `L(v) + (v - point)^2/(2 step)`.
#[pyfunction]
pub(crate) fn proximal<'py>(
    py: Python<'py>,
    loss: &str,
    at: PyReadonlyArray1<'py, f64>,
    step: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let loss = loss_of(loss)?;
    let at = copied(py, &at, |x| x)?;
    let size = EACH.saturating_mul(at.len());
    let values = move || Ok(at.into_iter().map(|x| loss.proximal(x, step)).collect::<Vec<f64>>());
    Ok(run_sized(py, None, size, values)?.into_pyarray(py))
}

/// Returns `sup L''`, unless it is infinite or unknown.
#[pyfunction]
pub(crate) fn curvature(loss: &str) -> PyResult<Option<f64>> {
    Ok(loss_of(loss)?.curvature())
}

/// Returns `sup |L'|`, unless it is infinite or unknown.
#[pyfunction]
pub(crate) fn lipschitz(loss: &str) -> PyResult<Option<f64>> {
    Ok(loss_of(loss)?.lipschitz())
}

/// Returns the ends of the interval of scores that stand for even odds, where the loss has them.
#[pyfunction]
pub(crate) fn undecided_scores(loss: &str) -> PyResult<Option<(f64, f64)>> {
    Ok(loss_of(loss)?.undecided_scores().map(|scores| (scores.lower, scores.upper)))
}
