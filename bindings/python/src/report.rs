//! The results of fits as dictionaries.

use margins::estimators::regularised::{FittedClassifier, Path};
use margins::optim::certificate::DualSolution;
use margins::optim::method::Iteration;
use margins::optim::{Certificate, ErrorCurve, Fit, Report, Status};
use numpy::ndarray::{Array2, Array3};
use numpy::{IntoPyArray, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::model::Model;

/// Returns the model of a fit with its evidence.
pub(crate) fn of_fit(py: Python<'_>, fitted: FittedClassifier) -> PyResult<Bound<'_, PyDict>> {
    let problems = fitted.report.members.iter();
    let result = of_reports(py, problems.filter_map(|problem| problem.report.as_ref()))?;
    let members = fitted.model.members();
    result.set_item("lambdas", members.iter().map(|member| member.lambda).collect::<Vec<_>>())?;
    result.set_item("loss", fitted.report.loss.clone())?;
    result.set_item("kernel", fitted.report.kernel.clone())?;
    if let Some(found) = fitted.report.scale {
        let scale = PyDict::new(py);
        scale.set_item("scale", found.scale)?;
        scale.set_item("k", found.k)?;
        scale.set_item("variance_bound", found.variance_bound)?;
        scale.set_item("required", found.required)?;
        scale.set_item("fits", found.fits)?;
        scale.set_item("settled", found.settled)?;
        result.set_item("scale", scale)?;
    }
    result.set_item("warnings", [fitted.report.notes, fitted.report.warnings].concat())?;
    result.set_item("names", fitted.model.feature_names().map(<[String]>::to_vec))?;
    if let Some(exact) = fitted.exact {
        result.set_item("exact", of_exact(py, &[exact])?)?;
    }
    if let Some(curve) = &fitted.report.curve {
        result.set_item("curve", of_curve(py, curve)?)?;
        let losses = fitted.report.losses.iter();
        let losses =
            losses.map(|tried| Ok((tried.specification.as_str(), of_curve(py, &tried.curve)?)));
        result.set_item("losses", losses.collect::<PyResult<Vec<_>>>()?)?;
        let kernels = fitted.report.kernels.iter();
        let kernels =
            kernels.map(|tried| Ok((tried.specification.as_str(), of_curve(py, &tried.curve)?)));
        result.set_item("curves", kernels.collect::<PyResult<Vec<_>>>()?)?;
    }
    if let Some(folds) = &fitted.folds {
        let of_rows: Vec<i64> = folds.of_rows.iter().map(|&fold| fold as i64).collect();
        result.set_item("folds", of_rows.into_pyarray(py))?;
        result.set_item("fold_draw", folds.seed.map(|seed| (folds.count, seed)))?;
    }
    result.set_item("model", Model::new(fitted.model))?;
    Ok(result)
}

/// Adds the dual variables of every member, and its constrained form, to the result of a fit.
pub(crate) fn add_duals(result: &Bound<'_, PyDict>, solutions: &[DualSolution]) -> PyResult<()> {
    let py = result.py();
    let shape = (solutions.len(), solutions[0].samples.len());
    let duals = Array2::from_shape_fn(shape, |(m, i)| solutions[m].samples[i].dual);
    result.set_item("duals", duals.into_pyarray(py))?;
    let forms = solutions.iter().map(|solution| of_form(py, solution));
    result.set_item("constrained", forms.collect::<PyResult<Vec<_>>>()?)
}

/// Returns the constrained form of a fit, if it has one.
fn of_form<'py>(py: Python<'py>, solution: &DualSolution) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(form) = &solution.constrained else { return Ok(None) };
    let result = PyDict::new(py);
    result.set_item("norm", form.norm)?;
    result.set_item("intercept", form.intercept)?;
    result.set_item("multipliers", form.multipliers.to_pyarray(py))?;
    if let Some(slacks) = &form.slacks {
        let (distances, slacks): (Vec<f64>, Vec<f64>) = slacks.iter().copied().unzip();
        result.set_item("distances", distances.into_pyarray(py))?;
        result.set_item("slacks", slacks.into_pyarray(py))?;
    }
    result.set_item("primal", form.primal)?;
    result.set_item("dual", form.dual)?;
    result.set_item("gap", form.gap)?;
    result.set_item("norm_by_duals", solution.norm)?;
    result.set_item("intercept_by_duals", solution.intercept)?;
    result.set_item("balance", form.violations.balance)?;
    result.set_item("direction", form.violations.direction)?;
    result.set_item("slackness", form.violations.slackness)?;
    if let Some(hulls) = form.hulls {
        result.set_item("hull_total", hulls.total)?;
        result.set_item("hull_distance", hulls.distance)?;
        result.set_item("geometric_mean", hulls.geometric_mean)?;
    }
    Ok(Some(result))
}

/// Returns what the reports of several fits say, one entry per fit.
pub(crate) fn of_reports<'py, 'r>(
    py: Python<'py>,
    reports: impl Iterator<Item = &'r Report> + Clone,
) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    let numbers = |of: fn(&Report) -> f64| -> Vec<f64> { reports.clone().map(of).collect() };
    result.set_item("objective", numbers(|report| report.objective).into_pyarray(py))?;
    result.set_item("lower_bound", numbers(|report| report.dual_objective).into_pyarray(py))?;
    result.set_item("dual_gap", numbers(|report| report.duality_gap).into_pyarray(py))?;
    result.set_item("relative_gap", numbers(|report| report.relative_gap).into_pyarray(py))?;
    result.set_item("relative_rounding", numbers(Report::relative_rounding).into_pyarray(py))?;
    result.set_item("gradient_norm", numbers(|report| report.gradient_norm).into_pyarray(py))?;
    result.set_item(
        "iterations",
        reports.clone().map(|report| report.iterations).collect::<Vec<_>>(),
    )?;
    let rounds = reports.clone().map(|report| report.rounds).collect::<Vec<_>>();
    result.set_item("rounds", rounds)?;
    let ends = |name: fn(Status) -> &'static str| -> Vec<_> {
        reports.clone().map(|report| name(report.status)).collect()
    };
    result.set_item("status", ends(Status::name))?;
    result.set_item("reason", ends(Status::explanation))?;
    let method = |report: &Report| report.choice.map(|choice| choice.to_string());
    result.set_item("method", reports.map(method).collect::<Vec<_>>())?;
    Ok(result)
}

fn of_curve<'py>(py: Python<'py>, curve: &ErrorCurve) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    let lambdas: Vec<f64> = curve.lambdas.iter().map(|lambda| lambda.get()).collect();
    result.set_item("lambdas", lambdas.into_pyarray(py))?;
    result.set_item("mean_error", curve.mean_error.to_pyarray(py))?;
    result.set_item("standard_error", curve.standard_error.to_pyarray(py))?;
    result.set_item("measure", curve.measure.name())?;
    result.set_item("mean_measure", curve.mean_measure.to_pyarray(py))?;
    result.set_item("measure_standard_error", curve.measure_standard_error.to_pyarray(py))?;
    let log_loss: Vec<f64> = curve.mean_log_loss.iter().map(|l| l.unwrap_or(f64::NAN)).collect();
    result.set_item("mean_log_loss", log_loss.into_pyarray(py))?;
    result.set_item("worst_relative_gap", curve.worst_relative_gap.to_pyarray(py))?;
    let unproven: Vec<f64> = curve.unproven.iter().map(|u| u.unwrap_or(f64::NAN)).collect();
    result.set_item("unproven", unproven.into_pyarray(py))?;
    result.set_item("certified", curve.certified.to_pyarray(py))?;
    result.set_item("abandoned", curve.abandoned.to_pyarray(py))?;
    result.set_item("reached", curve.reached.to_pyarray(py))?;
    result.set_item("best", curve.best)?;
    result.set_item("one_se", curve.one_standard_error)?;
    Ok(result)
}

/// Returns the fits of a path: arrays along the lambdas and the members, evidence along the lambdas and
/// the problems.
pub(crate) fn of_path<'py>(py: Python<'py>, path: &Path) -> PyResult<Bound<'py, PyDict>> {
    let problems: Vec<&[Fit]> = path.problems().collect();
    let (count, members, width) = (path.fits.len(), path.fits[0].len(), problems[0].len());
    let numbers = |of: fn(&Fit) -> f64| {
        Array2::from_shape_fn((count, width), |(k, m)| of(&problems[k][m])).into_pyarray(py)
    };
    let result = PyDict::new(py);
    let lambdas: Vec<f64> = path.fits.iter().map(|fits| fits[0].lambda.get()).collect();
    result.set_item("lambdas", lambdas.into_pyarray(py))?;
    let length = path.fits[0][0].coef.len();
    let coefs =
        Array3::from_shape_fn((count, members, length), |(k, m, j)| path.fits[k][m].coef[j]);
    result.set_item("coef", coefs.into_pyarray(py))?;
    let intercepts = Array2::from_shape_fn((count, members), |(k, m)| path.fits[k][m].intercept);
    result.set_item("intercept", intercepts.into_pyarray(py))?;
    result.set_item("objective", numbers(|fit| fit.report.objective))?;
    result.set_item("lower_bound", numbers(|fit| fit.report.dual_objective))?;
    result.set_item("dual_gap", numbers(|fit| fit.report.duality_gap))?;
    result.set_item("relative_gap", numbers(|fit| fit.report.relative_gap))?;
    result.set_item("relative_rounding", numbers(|fit| fit.report.relative_rounding()))?;
    result.set_item("iterations", numbers(|fit| fit.report.iterations as f64))?;
    result.set_item("rounds", numbers(|fit| fit.report.rounds as f64))?;
    let statuses = |name: fn(Status) -> &'static str| -> Vec<Vec<&'static str>> {
        let of_fits = |fits: &&[Fit]| fits.iter().map(|fit| name(fit.report.status)).collect();
        problems.iter().map(of_fits).collect()
    };
    result.set_item("status", statuses(Status::name))?;
    result.set_item("reason", statuses(Status::explanation))?;
    result.set_item("kernel", path.kernel_specification())?;
    if let Some(exact) = &path.exact {
        result.set_item("exact", of_exact(py, exact)?)?;
    }
    Ok(result)
}

/// Returns the certificates for the kernel itself: arrays along the lambdas and the members.
fn of_exact<'py>(py: Python<'py>, exact: &[Vec<Certificate>]) -> PyResult<Bound<'py, PyDict>> {
    let shape = (exact.len(), exact[0].len());
    let numbers = |of: fn(&Certificate) -> f64| {
        Array2::from_shape_fn(shape, |(k, m)| of(&exact[k][m])).into_pyarray(py)
    };
    let result = PyDict::new(py);
    result.set_item("objective", numbers(|exact| exact.objective))?;
    result.set_item("lower_bound", numbers(Certificate::dual_objective))?;
    result.set_item("dual_gap", numbers(|exact| exact.duality_gap))?;
    result.set_item("relative_gap", numbers(Certificate::relative_gap))?;
    result.set_item("relative_rounding", numbers(Certificate::relative_rounding))?;
    Ok(result)
}

/// Returns an iteration for a callback.
pub(crate) fn of_iteration<'py>(
    py: Python<'py>,
    iteration: &Iteration,
) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("lambda", iteration.lambda.get())?;
    result.set_item("iteration", iteration.iteration)?;
    result.set_item("passes", iteration.passes)?;
    result.set_item("objective", iteration.objective)?;
    result.set_item("relative_gap", iteration.relative_gap)?;
    result.set_item("step", iteration.step)?;
    result.set_item("elapsed", iteration.elapsed.as_secs_f64())?;
    Ok(result)
}
