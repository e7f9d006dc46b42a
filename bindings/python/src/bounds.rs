//! The theorems on the maximal loss as calculators.

use margins::boost::bounds::{self, TypicalAndRare};
use margins::boost::{Error, Horizon, Slack};
use margins::data::Dataset;
use margins::data::generate::RareSamples;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, ToPyArray};
use pyo3::prelude::*;

use crate::doorway::{Stop, run};
use crate::errors::to_python;

fn refused(error: Error) -> PyErr {
    to_python(error.into())
}

/// Returns the steps and classifiers of theorem 1.
#[pyfunction]
pub(crate) fn focused_horizon(
    rows: usize,
    mistakes: f64,
    epsilon: f64,
    delta: f64,
    slack: f64,
) -> PyResult<(u64, usize)> {
    let regret = Slack::regret(slack).map_err(refused)?;
    let horizon = Horizon::with_regret(rows, epsilon, delta, mistakes, regret).map_err(refused)?;
    Ok((horizon.rounds(), horizon.outputs()))
}

/// Returns the probability that theorem 1 fails with so many steps and classifiers.
#[pyfunction]
pub(crate) fn focused_failure(
    rows: usize,
    mistakes: f64,
    epsilon: f64,
    steps: u64,
    outputs: usize,
    slack: f64,
) -> PyResult<f64> {
    let horizon = Horizon::new(steps, outputs).map_err(refused)?;
    let losses = mistakes + Slack::regret(slack).map_err(refused)? * (steps as f64).sqrt();
    horizon.failure(rows, epsilon, losses).map_err(refused)
}

/// Returns the number of samples of theorem 2, and the naive one.
#[pyfunction]
pub(crate) fn typical_and_rare_samples(
    dimension: usize,
    reduced_dimension: usize,
    epsilon: f64,
    gap: f64,
    rare: f64,
    delta: f64,
) -> PyResult<(u64, u64)> {
    let plan = TypicalAndRare { dimension, reduced_dimension, epsilon, gap, rare, delta };
    Ok((plan.samples().map_err(refused)?, plan.naive_samples().map_err(refused)?))
}

/// Returns the probability of theorem 3, its bound and the published bound.
#[pyfunction]
pub(crate) fn subsample_failure(
    rows: usize,
    outliers: usize,
    rare: usize,
    size: usize,
) -> PyResult<(f64, f64, f64)> {
    let failure = bounds::subsample_failure(rows, outliers, rare, size).map_err(refused)?;
    Ok((failure.exact, failure.bound, failure.published))
}

/// Returns the bound of section 3 on the risk.
#[pyfunction]
pub(crate) fn risk_bound(
    rows: usize,
    dimension: usize,
    mean_loss: f64,
    delta: f64,
) -> PyResult<f64> {
    bounds::risk_bound(rows, dimension, mean_loss, delta).map_err(refused)
}

/// The features and signs of simulated samples.
type Simulated<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// Returns samples of section 3.1.
#[pyfunction]
pub(crate) fn gap_samples(
    py: Python<'_>,
    rows: usize,
    alpha: f64,
    epsilon: f64,
    seed: u64,
) -> PyResult<Simulated<'_>> {
    let draw = move || Ok(RareSamples::new(seed, 1).gap(rows, alpha, epsilon)?);
    arrays(py, &run(py, 1, &Stop::default(), draw)?)
}

/// Returns typical samples and then rare ones of section 3.2.
#[pyfunction]
pub(crate) fn rare_samples(
    py: Python<'_>,
    typical: usize,
    rare: usize,
    seed: u64,
) -> PyResult<Simulated<'_>> {
    let draw = move || Ok(RareSamples::new(seed, 1).typical_and_rare(typical, rare)?);
    arrays(py, &run(py, 1, &Stop::default(), draw)?)
}

fn arrays<'py>(py: Python<'py>, data: &Dataset) -> PyResult<Simulated<'py>> {
    let values = data.design().dense_samples().map(<[f64]>::to_vec).unwrap_or_default();
    let features = values.into_pyarray(py).reshape([data.rows(), data.columns()])?;
    Ok((features, data.labels().signs().to_pyarray(py)))
}
