//! Simulated data whose distribution is known.

use margins::data::generate::GaussianMixture;
use numpy::{IntoPyArray, PyArrayMethods, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::doorway::{Stop, run};

/// Returns draws from a mixture with their log odds, and its Bayes error.
#[pyfunction]
pub(crate) fn mixture_simulation(
    py: Python<'_>,
    centres: usize,
    features: usize,
    sigma: f64,
    samples: usize,
    seed: u64,
) -> PyResult<Bound<'_, PyDict>> {
    let (data, log_odds, bayes) = run(py, 1, &Stop::default(), move || {
        let mixture = GaussianMixture::new(centres, features, sigma, seed)?;
        let data = mixture.sample(samples, seed)?;
        let values = data.design().dense_samples().map(<[f64]>::to_vec).unwrap_or_default();
        let log_odds: Vec<f64> =
            values.chunks_exact(features).map(|x| mixture.log_density_ratio(x)).collect();
        let bayes = mixture.bayes_error(seed)?;
        Ok((data, log_odds, bayes))
    })?;
    let values = data.design().dense_samples().map(<[f64]>::to_vec).unwrap_or_default();
    let result = PyDict::new(py);
    result.set_item("X", values.into_pyarray(py).reshape([data.rows(), data.columns()])?)?;
    result.set_item("y", data.labels().signs().to_pyarray(py))?;
    result.set_item("log_odds", log_odds.into_pyarray(py))?;
    result.set_item("bayes_error", bayes.0)?;
    result.set_item("bayes_error_error", bayes.1)?;
    Ok(result)
}
