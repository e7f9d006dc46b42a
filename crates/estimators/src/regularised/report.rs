//! The report on a fit, as text and as numbers.

use std::fmt;

use margins_data::Listed;
use margins_data::digits::{self, number, with_error};
use margins_model::{Member, Model, Scheme, TrainingSummary};
use margins_optim::{ErrorCurve, Report};

use super::platt::of_constant_probabilities;
use super::prepared::of_absent_classes;
use super::scale_rule::ScaleReport;

/// The report on a fit: what was fitted, and how far from the optimum it can be.
///
/// Displayed it is a page of text: what was fitted, objective and duality gap of every member (of
/// the first 20, where there are more), and of a cross-validation the lambdas around the one that
/// was chosen; [`curve`](Self::curve) has all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingReport {
    /// The specification of the loss.
    pub loss: String,
    /// The specification of the kernel, if there is one.
    pub kernel: Option<String>,
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The scheme by which the members decide between the classes.
    pub scheme: Scheme,
    /// The binary classifiers; of a [joint](Scheme::is_joint) scheme the one problem of all classes.
    pub members: Vec<MemberReport>,
    /// The cross-validated error, if lambda was chosen by it; a classifier from a file has none.
    pub curve: Option<ErrorCurve>,
    /// The losses that were chosen from, if there were several, in the order given, each with its best
    /// kernel. Those for which the time limit left no certified lambda are missing.
    pub losses: Vec<CandidateReport>,
    /// The kernels that were chosen from, if there were several, in the order given: that of the
    /// lowest error was taken, of several the first. Those for which the time limit left no
    /// certified lambda are missing.
    pub kernels: Vec<CandidateReport>,
    /// The scale of margin pursuit, if it comes from the training data.
    pub scale: Option<ScaleReport>,
    /// Sentences on what the fit did otherwise than asked.
    pub notes: Vec<String>,
    /// Sentences on what is wrong with the probabilities, and on classes that are never predicted.
    pub warnings: Vec<String>,
}

/// A loss or kernel that could have been chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct CandidateReport {
    /// The specification, complete.
    pub specification: String,
    /// The cross-validated error with it.
    pub curve: ErrorCurve,
}

/// The report on one problem: a binary classifier, or all classes at once.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberReport {
    /// The classes that it distinguishes, in words, the positive one first.
    pub name: String,
    /// The regularisation; `None` of a fit whose objective has no penalty.
    pub lambda: Option<f64>,
    /// The certificate that a file keeps.
    pub summary: TrainingSummary,
    /// The report of the solver; a classifier from a file has forgotten it.
    pub report: Option<Report>,
}

impl TrainingReport {
    /// Returns the report on a model from a file, which has forgotten all but the certificates.
    pub fn of_model(model: &Model) -> Self {
        let kernel = model.basis().map(|basis| basis.kernel().to_owned());
        Self::new(model, kernel, Vec::new(), None)
    }

    /// Returns the report on a model with the reports of its members, if they are known.
    pub(super) fn new(
        model: &Model,
        kernel: Option<String>,
        reports: Vec<Report>,
        curve: Option<ErrorCurve>,
    ) -> Self {
        let classes = model.classes();
        let names = model.scheme().problem_names(classes);
        let members = names.into_iter().zip(model.members());
        let of_ends = of_separation(model, reports.iter());
        let notes = curve.as_ref().and_then(of_time).into_iter().chain(of_ends).collect();
        let mut reports = reports.into_iter();
        TrainingReport {
            loss: model.loss().to_owned(),
            kernel,
            classes: classes.to_vec(),
            scheme: model.scheme(),
            members: members
                .map(|(name, member)| MemberReport {
                    name,
                    lambda: member.lambda,
                    summary: member.training.clone(),
                    report: reports.next(),
                })
                .collect(),
            curve,
            losses: Vec::new(),
            kernels: Vec::new(),
            scale: None,
            notes,
            warnings: of_constant_probabilities(model)
                .into_iter()
                .chain(of_absent_classes(model))
                .collect(),
        }
    }

    /// Returns true if the duality gap of every member is at most the tolerance.
    pub fn is_certified(&self) -> bool {
        self.members.iter().all(|member| member.summary.converged)
    }
}

/// Returns a sentence on the direction in the features without a penalty along which the objective of the
/// first member without a minimum has none, if there is one.
pub(super) fn of_separation<'r>(
    model: &Model,
    reports: impl Iterator<Item = &'r Report>,
) -> Option<String> {
    let mut ends = model.members().iter().zip(reports);
    ends.find_map(|(member, report)| of_member(model, member, report))
}

fn of_member(model: &Model, member: &Member, report: &Report) -> Option<String> {
    /// The number of features that are named.
    const MOST: usize = 6;
    /// The share of the largest coefficient below which another is rounding.
    const ROUNDING: f64 = 1e-9;
    if !report.status.has_no_minimum() || !member.lambda.is_some_and(|lambda| lambda > 0.0) {
        return None;
    }
    let feature = |k: usize| model.basis().map_or(k, |basis| basis.linear()[k]);
    let name = |k: usize| match model.feature_names() {
        Some(names) => names[feature(k)].clone(),
        None => format!("feature {}", feature(k) + 1),
    };
    let largest = member.coef.iter().fold(member.intercept.abs(), |most, w| most.max(w.abs()));
    let least = ROUNDING * largest;
    let mut terms: Vec<usize> =
        (0..member.coef.len()).filter(|&k| member.coef[k].abs() > least).collect();
    if terms.is_empty() {
        return None;
    }
    terms.sort_by(|&i, &j| member.coef[j].abs().total_cmp(&member.coef[i].abs()));
    let more = if terms.len() > MOST { " + ..." } else { "" };
    let term = |&k: &usize| (member.coef[k], format!(" {}", name(k)));
    let intercept = (member.intercept, String::new());
    let terms = terms.iter().take(MOST).map(term).chain([intercept]);
    let mut sum = String::new();
    for (value, name) in terms.filter(|(value, _)| value.abs() > least) {
        let sign = match (sum.is_empty(), value < 0.0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        sum += &format!("{sign}{}{name}", number(value.abs(), 3));
    }
    Some(format!(
        "The features without a penalty let the objective decrease without bound along {sum}{more}: give one of \
         them a small penalty factor, such as 0.001."
    ))
}

/// Returns a sentence on the lambdas for which time was too short, if there are some.
fn of_time(curve: &ErrorCurve) -> Option<String> {
    let left_out = curve.reached.iter().filter(|&&reached| !reached).count();
    (left_out > 0).then(|| {
        format!(
            "The time limit left {left_out} of {} lambdas out of the cross-validation: give more time, or \
             fewer lambdas.",
            curve.lambdas.len()
        )
    })
}

/// Returns a sentence on the lambdas that paths have ended before, if there are some.
pub(super) fn of_ended_paths(curve: &ErrorCurve) -> Option<String> {
    let (all, reached) = (curve.lambdas.len(), curve.reached.iter().filter(|&&is| is).count());
    (reached < all).then(|| {
        format!(
            "The published stopping rule ends paths by their iterations: {reached} of {all} lambdas have a fit \
             in every fold and on all rows, and lambda is selected among them."
        )
    })
}

/// The most members that a displayed report goes through.
const MOST_MEMBERS: usize = 20;

impl fmt::Display for TrainingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "loss            {}", self.loss)?;
        if let Some(ScaleReport { scale, k, variance_bound, fits, .. }) = self.scale {
            let [scale, k, v] = [scale, k, variance_bound].map(|x| number(x, 6));
            writeln!(
                f,
                "scale           {scale} from the data: k {k}, variance at most {v}, {fits} fits"
            )?;
        }
        if let Some(kernel) = &self.kernel {
            writeln!(f, "kernel          {}", digits::specification(kernel))?;
        }
        let (count, names) = (self.classes.len(), Listed(&self.classes));
        writeln!(f, "classes         {count}: {names}, {}", self.scheme)?;
        if let Some(first) = self.members.first() {
            writeln!(f, "rows            {}", first.summary.rows)?;
            if let Some(lambda) = first.lambda {
                writeln!(f, "lambda          {}", number(lambda, 6))?;
            }
        }
        for member in self.members.iter().take(MOST_MEMBERS) {
            writeln!(f, "{}", member.name)?;
            write!(f, "{member}")?;
        }
        if self.members.len() > MOST_MEMBERS {
            let certified = self.members.iter().filter(|member| member.summary.converged).count();
            let (more, all) = (self.members.len() - MOST_MEMBERS, self.members.len());
            writeln!(f, "... and {more} more; {certified} of all {all} are certified")?;
        }
        write_tried(f, "loss", &self.losses, Some(&self.loss))?;
        write_tried(f, "kernel", &self.kernels, self.kernel.as_deref())?;
        if let Some(curve) = &self.curve {
            let chosen = self.members.first().and_then(|member| member.lambda);
            write_curve(f, curve, chosen)?;
        }
        let mut sentences = self.notes.iter().chain(&self.warnings);
        sentences.try_for_each(|sentence| writeln!(f, "{sentence}"))
    }
}

impl fmt::Display for MemberReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown =
            |x: Option<f64>, text: fn(f64) -> String| x.map_or_else(|| "unknown".to_owned(), text);
        writeln!(f, "  objective     {}", shown(self.summary.objective, |x| number(x, 6)))?;
        let gap = shown(self.summary.relative_gap, digits::gap);
        let state = match (&self.report, self.summary.converged) {
            (_, true) => "certified".to_owned(),
            (Some(Report { status, .. }), false) => {
                format!("NOT CERTIFIED ({status}): {}", status.explanation())
            }
            (None, false) => "NOT CERTIFIED".to_owned(),
        };
        writeln!(f, "  relative gap  {gap}, {state}")?;
        match &self.report {
            Some(report) if report.rounds > 0 => writeln!(f, "  rounds        {}", report.rounds),
            _ => Ok(()),
        }
    }
}

/// Writes the losses or kernels that there were to choose from, if there were several.
fn write_tried(
    f: &mut fmt::Formatter<'_>,
    what: &str,
    tried: &[CandidateReport],
    chosen: Option<&str>,
) -> fmt::Result {
    if !tried.is_empty() {
        writeln!(f, "lowest cross-validated error of each {what}")?;
    }
    for CandidateReport { specification, curve } in tried {
        let (lambda, error) = (curve.lambdas[curve.best].get(), curve.mean_error[curve.best]);
        let error = with_error(100.0 * error, 100.0 * curve.standard_error[curve.best], " %");
        let note = if Some(&**specification) == chosen { ", chosen" } else { "" };
        let name = digits::specification(specification);
        writeln!(f, "  {:<12}  {error}  {name}{note}", number(lambda, 6))?;
    }
    Ok(())
}

/// Writes how many lambdas are certified, and the lambdas around the one that was chosen.
fn write_curve(f: &mut fmt::Formatter<'_>, curve: &ErrorCurve, chosen: Option<f64>) -> fmt::Result {
    const MOST: usize = 7;
    let count = curve.lambdas.len();
    let certified = curve.certified.iter().filter(|&&certified| certified).count();
    let gap = curve.worst_relative_gap.iter().copied().fold(0.0, f64::max);
    let at = chosen.and_then(|chosen| curve.lambdas.iter().position(|l| l.get() == chosen));
    let at = at.unwrap_or(curve.best);
    writeln!(
        f,
        "cross-validated {count} lambdas from {} to {}, {certified} of them certified in all folds",
        number(curve.lambdas[0].get(), 2),
        number(curve.lambdas[count - 1].get(), 2)
    )?;
    writeln!(f, "  largest gap   {}", digits::gap(gap))?;
    let first = at.saturating_sub(MOST / 2).min(count.saturating_sub(MOST));
    let mut shown: Vec<usize> = (first..count.min(first + MOST)).collect();
    shown.extend([curve.best, curve.one_standard_error]);
    shown.sort_unstable();
    shown.dedup();
    let decimals = digits::decimals(100.0 * curve.standard_error[curve.best]);
    let mut next = 0;
    for k in shown {
        if k > next {
            writeln!(f, "  ...")?;
        }
        next = k + 1;
        write!(f, "  {:<12}  ", number(curve.lambdas[k].get(), 6))?;
        if !curve.reached[k] {
            writeln!(f, "not reached")?;
            continue;
        }
        let (error, se) = (100.0 * curve.mean_error[k], 100.0 * curve.standard_error[k]);
        write!(f, "{error:.decimals$} % +- {se:.decimals$}")?;
        for (holds, note) in [
            (k == at, "chosen"),
            (k == curve.best, "best"),
            (k == curve.one_standard_error, "one standard error"),
            (!curve.certified[k], "not certified"),
            (curve.abandoned[k], "abandoned"),
        ] {
            if holds {
                write!(f, ", {note}")?;
            }
        }
        writeln!(f)?;
    }
    if next < count {
        writeln!(f, "  ...")?;
    }
    Ok(())
}
