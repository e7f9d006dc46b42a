//! Classifiers of several classes.

use margins::MemberReport;
use margins::calibration::location::MarginLocation;
use margins::data::digits::gap;
use margins::estimators::regularised::{DataSummary, FittedClassifier};
use margins::model::Member;
use margins::optim::{Certificate, Fit, Report, Status};
use margins_report::LambdaError;
use serde::Serialize;

use super::cross_validation::{CandidateDocument, kernel_documents, loss_documents};
use super::data::ClassDocument;
use super::duals::{ConstrainedDocument, Forms};
use super::fits::{ExactDocument, state};
use super::table::{MOST_LISTED, Table, name_cell, number};
use super::training::{PlattDocument, TrainingDocument};

/// A classifier of several classes with the certificates of its members.
#[derive(Serialize)]
pub(crate) struct MulticlassDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) data: ClassesDocument<'a>,
    pub(crate) training: TrainingDocument,
    pub(crate) scheme: String,
    #[serde(flatten)]
    pub(crate) fit: ClassesFitDocument<'a>,
    /// Null without cross-validation.
    pub(crate) cv: Option<CurveDocument>,
}

/// The classifiers of several classes along a path.
#[derive(Serialize)]
pub(crate) struct ClassesPathDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) data: ClassesDocument<'a>,
    pub(crate) training: TrainingDocument,
    pub(crate) scheme: String,
    /// Largest lambda first.
    pub(crate) fits: Vec<ClassesFitDocument<'a>>,
}

/// A classifier of several classes at one lambda.
#[derive(Serialize)]
pub(crate) struct ClassesFitDocument<'a> {
    pub(crate) lambda: f64,
    /// The share of training samples that the members together misclassify, by weight; null if the time
    /// limit came first.
    pub(crate) training_error: Option<f64>,
    pub(crate) all_certified: bool,
    /// The certificate of one problem for all classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) certificate: Option<CertificateDocument>,
    pub(crate) members: Vec<MemberDocument<'a>>,
}

impl<'a> ClassesFitDocument<'a> {
    /// Returns the document on the members of a path at one lambda, with these names.
    pub(crate) fn of_fits(
        names: &'a [String],
        fits: &'a [Fit],
        exact: Option<&[Certificate]>,
        is_joint: bool,
        training_error: f64,
    ) -> Self {
        let certificate = |at: usize| {
            CertificateDocument::of(&fits[at].report)
                .with_exact(exact.and_then(|exact| exact.get(at)))
        };
        let member = |(at, (name, fit)): (usize, (&'a String, &'a Fit))| MemberDocument {
            name,
            certificate: (!is_joint).then(|| certificate(at)),
            intercept: fit.intercept,
            coef: &fit.coef,
            platt: None,
            constrained: None,
            margin_location: None,
        };
        ClassesFitDocument {
            lambda: fits[0].lambda.get(),
            training_error: Some(training_error),
            all_certified: fits.iter().all(|fit| fit.report.converged()),
            certificate: is_joint.then(|| certificate(0)),
            members: names.iter().zip(fits).enumerate().map(member).collect(),
        }
    }

    /// Adds the locations of the training margins, one per member, if there are any.
    pub(crate) fn add_locations(&mut self, locations: &[MarginLocation]) {
        for (member, location) in self.members.iter_mut().zip(locations) {
            member.margin_location = Some(*location);
        }
    }

    /// Adds the constrained forms of dual variables, one per member, if there are any.
    pub(crate) fn add_forms(&mut self, forms: &Forms) {
        for (member, form) in self.members.iter_mut().zip(forms) {
            member.constrained.clone_from(form);
        }
    }
}

/// Data of any number of classes.
#[derive(Serialize)]
pub(crate) struct ClassesDocument<'a> {
    pub(crate) name: String,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) sparse: bool,
    pub(crate) classes: Vec<ClassDocument<'a>>,
}

/// A certificate.
#[derive(Serialize)]
pub(crate) struct CertificateDocument {
    objective: Option<f64>,
    dual_objective: Option<f64>,
    relative_gap: Option<f64>,
    rounding: Option<f64>,
    relative_rounding: Option<f64>,
    gradient_norm: Option<f64>,
    converged: bool,
    status: &'static str,
    /// The certificate for the kernel that features approximate, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<ExactDocument>,
}

impl CertificateDocument {
    fn of(report: &Report) -> Self {
        CertificateDocument {
            objective: Some(report.objective),
            dual_objective: Some(report.dual_objective),
            relative_gap: Some(report.relative_gap),
            rounding: Some(report.rounding),
            relative_rounding: Some(report.relative_rounding()),
            gradient_norm: Some(report.gradient_norm),
            converged: report.converged(),
            status: report.status.name(),
            exact: None,
        }
    }

    /// Returns the certificate of a problem by its report.
    pub(crate) fn of_problem(problem: &MemberReport) -> Self {
        CertificateDocument {
            objective: problem.summary.objective,
            dual_objective: problem.summary.dual_objective,
            relative_gap: problem.summary.relative_gap,
            rounding: problem.report.as_ref().map(|report| report.rounding),
            relative_rounding: rounding_of(problem),
            gradient_norm: problem.report.as_ref().map(|report| report.gradient_norm),
            converged: problem.summary.converged,
            status: status_of(problem).map_or("", Status::name),
            exact: None,
        }
    }

    /// Adds the certificate for the kernel that features approximate, if it was asked for.
    pub(crate) fn with_exact(self, exact: Option<&Certificate>) -> Self {
        CertificateDocument { exact: exact.map(ExactDocument::from), ..self }
    }
}

/// A member, with its certificate unless one problem gives all members.
#[derive(Serialize)]
pub(crate) struct MemberDocument<'a> {
    pub(crate) name: &'a str,
    #[serde(flatten)]
    pub(crate) certificate: Option<CertificateDocument>,
    pub(crate) intercept: f64,
    pub(crate) coef: &'a [f64],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) platt: Option<PlattDocument>,
    /// The constrained form, where the dual variables are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    constrained: Option<ConstrainedDocument>,
    /// The location of the training margins, for a loss that aims at a level.
    #[serde(skip_serializing_if = "Option::is_none")]
    margin_location: Option<MarginLocation>,
}

impl<'a> MemberDocument<'a> {
    /// Returns the document on a member of this name.
    pub(crate) fn new(
        name: &'a str,
        certificate: Option<CertificateDocument>,
        member: &'a Member,
    ) -> Self {
        MemberDocument {
            name,
            certificate,
            intercept: member.intercept,
            coef: &member.coef,
            platt: member.platt.as_ref().map(PlattDocument::from),
            constrained: None,
            margin_location: None,
        }
    }
}

impl<'a> ClassesDocument<'a> {
    /// Returns the document on data of this name.
    pub(crate) fn new(name: String, table: &'a DataSummary) -> Self {
        ClassesDocument {
            name,
            rows: table.rows(),
            columns: table.features,
            sparse: table.sparse,
            classes: ClassDocument::all(&table.classes, &table.class_rows),
        }
    }
}

/// The cross-validated error along the lambdas.
#[derive(Serialize)]
pub(crate) struct CurveDocument {
    pub(crate) folds: usize,
    /// The seed of the fold assignment; null if the data say the folds.
    pub(crate) seed: Option<u64>,
    /// The measure by which lambda and the kernel are chosen.
    pub(crate) measure: &'static str,
    /// The losses that there were to choose from; empty for fewer than two.
    pub(crate) losses: Vec<CandidateDocument>,
    /// The kernels that there were to choose from; empty for fewer than two.
    pub(crate) kernels: Vec<CandidateDocument>,
    pub(crate) lambdas: Vec<LambdaError>,
    pub(crate) best_lambda: f64,
    pub(crate) one_standard_error_lambda: f64,
    pub(crate) selection: String,
}

impl CurveDocument {
    /// Returns the document on a cross-validation, if the classifier comes from one.
    pub(crate) fn new(fitted: &FittedClassifier, selection: String) -> Option<Self> {
        let (curve, folds) = (fitted.report.curve.as_ref()?, fitted.folds.as_ref()?);
        Some(CurveDocument {
            folds: folds.count,
            seed: folds.seed,
            measure: curve.measure.name(),
            losses: loss_documents(&fitted.report),
            kernels: kernel_documents(&fitted.report),
            lambdas: LambdaError::all(curve),
            best_lambda: curve.lambdas[curve.best].get(),
            one_standard_error_lambda: curve.lambdas[curve.one_standard_error].get(),
            selection,
        })
    }
}

/// Returns the end of the fit of a member.
pub(crate) fn status_of(member: &MemberReport) -> Option<Status> {
    member.report.as_ref().map(|report| report.status)
}

/// Returns the allowance for rounding of the fit of a member, relative to its objective.
fn rounding_of(member: &MemberReport) -> Option<f64> {
    member.report.as_ref().map(Report::relative_rounding)
}

/// Returns the table of the first members.
pub(crate) fn member_table(members: &[MemberReport], locations: &[MarginLocation]) -> Table {
    // Without a penalty there is no gap.
    let has_penalty = members.iter().all(|member| member.lambda != Some(0.0));
    let mut header = match has_penalty {
        true => vec!["member", "objective", "relative gap", "rounding", ""],
        false => vec!["member", "objective", "gradient norm", ""],
    };
    if !locations.is_empty() {
        header.insert(header.len() - 1, "margin location");
    }
    let mut table = Table::new(&header);
    for (at, member) in members.iter().enumerate().take(MOST_LISTED) {
        let objective = member.summary.objective.map(number).unwrap_or_default();
        let gradient = member.report.as_ref().map(|report| number(report.gradient_norm));
        let evidence = match has_penalty {
            true => [member.summary.relative_gap.map(gap), rounding_of(member).map(gap)].to_vec(),
            false => vec![gradient],
        };
        let is_stationary = !has_penalty && status_of(member) == Some(Status::RuleMet);
        let end = status_of(member).filter(|_| !is_stationary).map(state).unwrap_or_default();
        let mut row = vec![name_cell(&member.name), objective];
        row.extend(evidence.into_iter().map(Option::unwrap_or_default));
        row.push(end);
        if let Some(location) = locations.get(at) {
            row.insert(row.len() - 1, number(location.estimate));
        }
        table.row(row);
    }
    table
}
