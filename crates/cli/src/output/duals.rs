//! The dual variables of a fit, with its constrained form.

use std::io::Write;
use std::path::Path;

use margins::data::digits::gap;
use margins::estimators::regularised::{self, ClassifierSettings, FittedClassifier};
use margins::losses::{MarginLoss, SpecialCase};
use margins::optim::Lambda;
use margins::optim::certificate::DualSolution;
use serde::Serialize;

use super::files::emit;
use super::table::{csv_cell, number};
use crate::failure::Failure;

/// The constrained form of a fit.
#[derive(Clone, Serialize)]
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

#[derive(Clone, Serialize)]
struct ViolationsDocument {
    balance: f64,
    direction: f64,
    slackness: f64,
}

#[derive(Clone, Serialize)]
struct HullsDocument {
    total: f64,
    distance: f64,
    geometric_mean: f64,
}

impl ConstrainedDocument {
    /// Returns the document on the constrained form, which coefficients of 0 do not have.
    fn new(solution: &DualSolution) -> Option<Self> {
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

/// Returns the line on the constrained form, which coefficients of 0 do not have.
pub(crate) fn constrained_line(form: Option<&ConstrainedDocument>) -> (&'static str, String) {
    let text = match form {
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

/// The constrained forms of a fit, one a class against the rest or that of two classes.
pub(crate) type Forms = Vec<Option<ConstrainedDocument>>;

/// Writes the dual variables of a fit, by class if there are several, and returns its constrained forms.
pub(crate) fn write_duals(
    path: &Path,
    fitted: &FittedClassifier,
    settings: &ClassifierSettings,
) -> Result<Forms, Failure> {
    let solutions = in_memory(fitted.dual_solutions(settings)?)?;
    let classes = names_of(fitted.model.classes());
    let mut forms = Vec::new();
    let columns = Columns { lambda: false, classes, slacks: has_slacks(&*fitted.loss) };
    emit(Some(path), |out| {
        columns.write_header(out)?;
        forms = columns.write(out, None, &solutions)?;
        Ok(())
    })?;
    Ok(forms)
}

/// Writes the dual variables at every lambda of a path, by class if there are several, and returns its
/// constrained forms. There are the dual variables of one lambda in memory at a time.
pub(crate) fn write_duals_of_path(
    file: &Path,
    path: &regularised::Path,
    settings: &ClassifierSettings,
    classes: &[String],
) -> Result<Vec<Forms>, Failure> {
    let columns =
        Columns { lambda: true, classes: names_of(classes), slacks: has_slacks(&*settings.loss) };
    let (mut forms, mut failure) = (Vec::new(), None);
    let written = emit(Some(file), |out| {
        columns.write_header(out)?;
        for (at, fits) in path.fits.iter().enumerate() {
            let solutions = path.dual_solutions(settings, at).map_err(Failure::from);
            match solutions.and_then(in_memory) {
                Ok(solutions) => {
                    forms.push(columns.write(out, Some(fits[0].lambda), &solutions)?);
                }
                Err(reason) => {
                    failure = Some(reason);
                    return Err(std::io::ErrorKind::Other.into());
                }
            }
        }
        Ok(())
    });
    match failure {
        Some(failure) => Err(failure),
        None => written.map(|()| forms),
    }
}

/// Returns the names of the classes by which problems differ, none for two.
fn names_of(classes: &[String]) -> &[String] {
    if classes.len() > 2 { classes } else { &[] }
}

/// Returns true for the loss whose constrained form has slacks.
fn has_slacks(loss: &dyn MarginLoss) -> bool {
    loss.special_case() == Some(SpecialCase::LeakyHockeyStick)
}

/// Refuses dual variables of rows that are not in memory.
fn in_memory(solutions: Option<Vec<DualSolution>>) -> Result<Vec<DualSolution>, Failure> {
    let reason = "--duals is for rows in memory. Use a smaller block file, or a larger --memory";
    solutions.ok_or_else(|| Failure::usage(reason))
}

/// The columns of a CSV file of dual variables.
struct Columns<'a> {
    /// True for those of a path.
    lambda: bool,
    /// The classes against the rest, if there are several.
    classes: &'a [String],
    /// True if the constrained form has slacks.
    slacks: bool,
}

impl Columns<'_> {
    fn write_header(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let lambda = if self.lambda { "lambda," } else { "" };
        let class = if self.classes.is_empty() { "" } else { "class," };
        let slacks = if self.slacks { ",distance,slack" } else { "" };
        writeln!(out, "{lambda}{class}sign,weight,margin,dual,multiplier{slacks}")
    }

    /// Writes the dual variables of every problem, and returns the constrained forms.
    fn write(
        &self,
        out: &mut dyn Write,
        lambda: Option<Lambda>,
        solutions: &[DualSolution],
    ) -> std::io::Result<Forms> {
        let lambda = lambda.map(|lambda| format!("{},", lambda.get())).unwrap_or_default();
        for (k, solution) in solutions.iter().enumerate() {
            let class = self.classes.get(k).map(|name| format!("{},", csv_cell(name)));
            let before = lambda.clone() + &class.unwrap_or_default();
            let form = solution.constrained.as_ref();
            let slacks = form.and_then(|form| form.slacks.as_ref());
            for (i, row) in solution.samples.iter().enumerate() {
                write!(out, "{before}{},{},{},{},", row.sign, row.weight, row.margin, row.dual)?;
                if let Some(form) = form {
                    write!(out, "{}", form.multipliers[i])?;
                }
                match slacks {
                    Some(slacks) => write!(out, ",{},{}", slacks[i].0, slacks[i].1)?,
                    None if self.slacks => write!(out, ",,")?,
                    None => {}
                }
                writeln!(out)?;
            }
        }
        Ok(solutions.iter().map(ConstrainedDocument::new).collect())
    }
}
