//! The dual variables of a fit, with its constrained form.

use std::path::Path;

use margins::data::digits::gap;
use margins::estimators::regularised::{ClassifierSettings, FittedClassifier};
use margins::optim::certificate::DualSolution;
use serde::Serialize;

use super::files::emit;
use super::table::number;
use crate::failure::Failure;

/// The constrained form of a fit.
#[derive(Serialize)]
pub(crate) struct ConstrainedDocument {
    norm: f64,
    intercept: f64,
    primal: f64,
    dual: f64,
    gap: f64,
    norm_by_duals: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    intercept_by_duals: Option<f64>,
    violations: ViolationsDocument,
    #[serde(skip_serializing_if = "Option::is_none")]
    hulls: Option<HullsDocument>,
}

#[derive(Serialize)]
struct ViolationsDocument {
    balance: f64,
    direction: f64,
    slackness: f64,
}

#[derive(Serialize)]
struct HullsDocument {
    total: f64,
    distance: f64,
    geometric_mean: f64,
}

impl ConstrainedDocument {
    /// Returns the document on the constrained form, which coefficients of 0 do not have.
    pub(crate) fn new(solution: &DualSolution) -> Option<Self> {
        let form = solution.constrained.as_ref()?;
        let violations = form.violations;
        Some(ConstrainedDocument {
            norm: form.norm,
            intercept: form.intercept,
            primal: form.primal,
            dual: form.dual,
            gap: form.gap,
            norm_by_duals: solution.norm,
            intercept_by_duals: solution.intercept,
            violations: ViolationsDocument {
                balance: violations.balance,
                direction: violations.direction,
                slackness: violations.slackness,
            },
            hulls: form.hulls.map(|hulls| HullsDocument {
                total: hulls.total,
                distance: hulls.distance,
                geometric_mean: hulls.geometric_mean,
            }),
        })
    }
}

/// Returns the line on the constrained form.
pub(crate) fn constrained_line(solution: &DualSolution) -> (&'static str, String) {
    let text = match &solution.constrained {
        None => "none, because all coefficients are 0".to_owned(),
        Some(form) => format!(
            "C {}, primal {}, dual {}, gap {}",
            number(form.norm),
            number(form.primal),
            number(form.dual),
            gap(form.gap)
        ),
    };
    ("constrained", text)
}

/// Writes a CSV file with the dual variables of every row, and returns them.
pub(crate) fn write_duals(
    path: &Path,
    fitted: &FittedClassifier,
    settings: &ClassifierSettings,
) -> Result<DualSolution, Failure> {
    let solutions = fitted.dual_solutions(settings)?;
    let Some(solution) = solutions.and_then(|solutions| solutions.into_iter().next()) else {
        let reason =
            "--duals is for rows in memory. Use a smaller block file, or a larger --memory";
        return Err(Failure::usage(reason));
    };
    let form = solution.constrained.as_ref();
    let slacks = form.and_then(|form| form.slacks.as_ref());
    emit(Some(path), |out| {
        let of_slacks = if slacks.is_some() { ",distance,slack" } else { "" };
        let of_form = if form.is_some() { ",multiplier" } else { "" };
        writeln!(out, "sign,weight,margin,dual{of_form}{of_slacks}")?;
        for (i, row) in solution.samples.iter().enumerate() {
            write!(out, "{},{},{},{}", row.sign, row.weight, row.margin, row.dual)?;
            if let Some(form) = form {
                write!(out, ",{}", form.multipliers[i])?;
            }
            if let Some(slacks) = slacks {
                write!(out, ",{},{}", slacks[i].0, slacks[i].1)?;
            }
            writeln!(out)?;
        }
        Ok(())
    })?;
    Ok(solution)
}
