//! The dual variables of a fit, with its constrained form.

use std::path::Path;

use margins::data::digits::gap;
use margins::estimators::regularised::{self, ClassifierSettings, FittedClassifier};
use margins::optim::certificate::DualSolution;
use serde::Serialize;

use super::files::emit;
use super::table::{csv_cell, number};
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

/// The dual variables of one of several problems, with the cells that name it in a file.
pub(crate) type OfProblem = (Vec<String>, DualSolution);

/// Writes the dual variables of a fit, by class if there are several, and returns them.
pub(crate) fn written_duals(
    path: &Path,
    fitted: &FittedClassifier,
    settings: &ClassifierSettings,
) -> Result<Vec<OfProblem>, Failure> {
    let solutions = in_memory(fitted.dual_solutions(settings)?)?;
    let problems = named(fitted.model.classes(), solutions);
    let names: &[&str] = if problems.len() > 1 { &["class"] } else { &[] };
    write_duals(path, names, &problems.iter().collect::<Vec<_>>())?;
    Ok(problems)
}

/// Writes the dual variables at every lambda of a path, by class if there are several, and returns them.
pub(crate) fn written_duals_of_path(
    file: &Path,
    path: &regularised::Path,
    settings: &ClassifierSettings,
    classes: &[String],
) -> Result<Vec<Vec<OfProblem>>, Failure> {
    let at = |at: usize| {
        let solutions = in_memory(path.dual_solutions(settings, at)?)?;
        let lambda = path.fits[at][0].lambda.get().to_string();
        let mut problems = named(classes, solutions);
        problems.iter_mut().for_each(|(names, _)| names.insert(0, lambda.clone()));
        Ok(problems)
    };
    let problems = (0..path.fits.len()).map(at).collect::<Result<Vec<_>, Failure>>()?;
    let is_one = problems.iter().all(|problems| problems.len() == 1);
    let names: &[&str] = if is_one { &["lambda"] } else { &["lambda", "class"] };
    write_duals(file, names, &problems.iter().flatten().collect::<Vec<_>>())?;
    Ok(problems)
}

/// Returns the dual variables of each class against the rest with its name, and those of two classes
/// without.
fn named(classes: &[String], solutions: Vec<DualSolution>) -> Vec<OfProblem> {
    let is_one = solutions.len() == 1;
    let name = |class: &String| if is_one { Vec::new() } else { vec![class.clone()] };
    classes.iter().map(name).zip(solutions).collect()
}

/// Refuses dual variables of rows that are not in memory.
fn in_memory(solutions: Option<Vec<DualSolution>>) -> Result<Vec<DualSolution>, Failure> {
    let reason = "--duals is for rows in memory. Use a smaller block file, or a larger --memory";
    solutions.ok_or_else(|| Failure::usage(reason))
}

/// Writes a CSV file with the dual variables of every row of every problem, behind the cells that name
/// it.
fn write_duals(path: &Path, names: &[&str], problems: &[&OfProblem]) -> Result<(), Failure> {
    let forms = || problems.iter().filter_map(|(_, solution)| solution.constrained.as_ref());
    let (has_forms, has_slacks) =
        (forms().next().is_some(), forms().any(|form| form.slacks.is_some()));
    emit(Some(path), |out| {
        let header = names.iter().copied().chain(["sign", "weight", "margin", "dual"]);
        let header = header.chain(has_forms.then_some("multiplier"));
        let of_slacks: &[&str] = if has_slacks { &["distance", "slack"] } else { &[] };
        writeln!(out, "{}", header.chain(of_slacks.iter().copied()).collect::<Vec<_>>().join(","))?;
        for (names_of, solution) in problems {
            let form = solution.constrained.as_ref();
            let slacks = form.and_then(|form| form.slacks.as_ref());
            let before: String =
                names_of.iter().map(|name| format!("{},", csv_cell(name))).collect();
            for (i, row) in solution.samples.iter().enumerate() {
                write!(out, "{before}{},{},{},{}", row.sign, row.weight, row.margin, row.dual)?;
                match form {
                    Some(form) => write!(out, ",{}", form.multipliers[i])?,
                    None if has_forms => write!(out, ",")?,
                    None => {}
                }
                match slacks {
                    Some(slacks) => write!(out, ",{},{}", slacks[i].0, slacks[i].1)?,
                    None if has_slacks => write!(out, ",,")?,
                    None => {}
                }
                writeln!(out)?;
            }
        }
        Ok(())
    })
}
