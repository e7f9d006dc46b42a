//! The JSON documents; `docs/json.md` describes them. Fields are added, never renamed or removed,
//! without a new version.

use margins::Prepared;
use margins::data::{ClassLabels, Classes, Dataset};
use margins::optim::{ErrorCurve, Fit, Status};
use serde::Serialize;

use crate::args::TrainArguments;
use crate::choices::name_of;
use crate::probability::PlattDocument;
use crate::table::MOST_LISTED;

/// Version of all documents.
pub(crate) const VERSION: u32 = 1;

#[derive(Serialize)]
pub(crate) struct DataDocument {
    name: String,
    rows: usize,
    columns: usize,
    sparse: bool,
    positive_class: String,
    negative_class: String,
    positives: usize,
}

impl DataDocument {
    pub(crate) fn new(name: &str, data: &Dataset) -> Self {
        let labels = data.labels();
        DataDocument {
            name: name.to_owned(),
            rows: data.rows(),
            columns: data.columns(),
            sparse: data.design().is_sparse(),
            positive_class: labels.positive_class().to_owned(),
            negative_class: labels.negative_class().to_owned(),
            positives: labels.count_positive(),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct ClassDocument<'a> {
    pub(crate) name: &'a str,
    pub(crate) rows: usize,
}

impl<'a> ClassDocument<'a> {
    /// The classes in order.
    pub(crate) fn all(data: &'a Dataset<Classes>) -> Vec<Self> {
        let labels = data.labels();
        let mut rows = vec![0; labels.names().len()];
        labels.indices().iter().for_each(|&class| rows[class] += 1);
        let pairs = labels.names().iter().zip(rows);
        pairs.map(|(name, rows)| ClassDocument { name, rows }).collect()
    }

    /// The classes on a line, with the number of rows of each; of many the first ones.
    pub(crate) fn line(classes: &[Self]) -> String {
        let named = |class: &Self| format!("'{}' ({})", class.name, class.rows);
        let mut listed: Vec<String> = classes.iter().take(MOST_LISTED).map(named).collect();
        if classes.len() > MOST_LISTED {
            listed.push(format!("and {} more", classes.len() - MOST_LISTED));
        }
        listed.join(", ")
    }
}

#[derive(Serialize)]
pub(crate) struct TrainDocument {
    loss: String,
    /// Null for linear classifiers.
    kernel: Option<String>,
    /// Null without a kernel.
    approximation: Option<String>,
    solver: String,
    tolerance: f64,
    intercept: bool,
    standardize: bool,
    class_weight: String,
    /// Of landmarks, frequencies, sigma from the data, and folds unless the data say them.
    seed: u64,
}

impl TrainDocument {
    pub(crate) fn new(arguments: &TrainArguments, loss: String, kernel: Option<String>) -> Self {
        TrainDocument {
            loss,
            approximation: kernel.as_ref().map(|_| arguments.approx.to_string()),
            kernel,
            solver: arguments.solver.to_string(),
            tolerance: arguments.tol,
            intercept: !arguments.no_intercept,
            standardize: arguments.standardize,
            class_weight: arguments.class_weight.to_string(),
            seed: arguments.seed,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct FitDocument<'a> {
    lambda: f64,
    objective: f64,
    dual_objective: f64,
    relative_gap: f64,
    rounding: f64,
    gradient_norm: f64,
    iterations: usize,
    passes: usize,
    converged: bool,
    status: &'static str,
    intercept: f64,
    coef: &'a [f64],
}

impl<'a> From<&'a Fit> for FitDocument<'a> {
    fn from(fit: &'a Fit) -> Self {
        let report = &fit.report;
        FitDocument {
            lambda: fit.lambda.get(),
            objective: report.objective,
            dual_objective: report.dual_objective,
            relative_gap: report.relative_gap,
            rounding: report.rounding,
            gradient_norm: report.gradient_norm,
            iterations: report.iterations,
            passes: report.passes,
            converged: report.converged(),
            status: status_name(report.status),
            intercept: fit.intercept,
            coef: &fit.coef,
        }
    }
}

pub(crate) fn status_name(status: Status) -> &'static str {
    match status {
        Status::Converged => "converged",
        Status::IterationLimit => "iteration-limit",
        Status::TimeLimit => "time-limit",
        Status::Interrupted => "interrupted",
        Status::Stalled => "stalled",
        Status::RoundingLimit => "rounding-limit",
        Status::Unbounded => "unbounded",
        Status::Truncated => "truncated",
        Status::Contradicted => "contradicted",
        Status::NumericalTrouble => "numerical-trouble",
        Status::RuleMet => "rule-met",
        _ => "stopped",
    }
}

#[derive(Serialize)]
pub(crate) struct StreamDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) file: &'a str,
    pub(crate) rows: u64,
    pub(crate) columns: usize,
    pub(crate) negative_class: &'a str,
    pub(crate) positive_class: &'a str,
    pub(crate) training: TrainDocument,
    pub(crate) lambda: f64,
    pub(crate) steps: u64,
    /// Share of the rows that the classifier before their buffer got wrong, by weight.
    pub(crate) progressive_error: f64,
    pub(crate) intercept: f64,
    pub(crate) coef: &'a [f64],
}

#[derive(Serialize)]
pub(crate) struct PathDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) data: DataDocument,
    pub(crate) training: TrainDocument,
    pub(crate) fits: Vec<FitDocument<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) platt: Option<PlattDocument>,
}

#[derive(Serialize)]
pub(crate) struct CvDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) data: DataDocument,
    pub(crate) training: TrainDocument,
    pub(crate) folds: usize,
    /// The seed of the fold assignment; null if the data say the folds.
    pub(crate) seed: Option<u64>,
    pub(crate) all_certified: bool,
    /// The kernels that there were to choose from; empty for linear classifiers.
    pub(crate) kernels: &'a [KernelDocument],
    /// Of the kernel chosen.
    pub(crate) lambdas: Vec<CvLambdaDocument>,
    pub(crate) best_lambda: f64,
    pub(crate) one_standard_error_lambda: f64,
    pub(crate) selection: String,
    pub(crate) fit: FitDocument<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) platt: Option<PlattDocument>,
}

#[derive(Serialize)]
pub(crate) struct CvLambdaDocument {
    lambda: f64,
    mean_error: f64,
    standard_error: f64,
    worst_relative_gap: f64,
    certified: bool,
    /// Whether it was given up after the earlier half of the folds.
    abandoned: bool,
}

impl CvLambdaDocument {
    pub(crate) fn all(curve: &ErrorCurve) -> Vec<Self> {
        (0..curve.lambdas.len())
            .map(|k| CvLambdaDocument {
                lambda: curve.lambdas[k].get(),
                mean_error: curve.mean_error[k],
                standard_error: curve.standard_error[k],
                worst_relative_gap: curve.worst_relative_gap[k],
                certified: curve.certified[k],
                abandoned: curve.abandoned[k],
            })
            .collect()
    }
}

/// What cross-validation found out about a kernel.
#[derive(Serialize)]
pub(crate) struct KernelDocument {
    pub(crate) kernel: String,
    pub(crate) best_lambda: f64,
    pub(crate) least_error: f64,
    pub(crate) standard_error: f64,
    pub(crate) all_certified: bool,
}

impl KernelDocument {
    /// `None` for linear classifiers.
    pub(crate) fn new(prepared: &Prepared<'_>, curve: &ErrorCurve) -> Option<Self> {
        Some(Self::of_curve(prepared.kernel_specification()?, curve))
    }

    pub(crate) fn of_curve(kernel: String, curve: &ErrorCurve) -> Self {
        KernelDocument {
            kernel,
            best_lambda: curve.lambdas[curve.best].get(),
            least_error: curve.mean_error[curve.best],
            standard_error: curve.standard_error[curve.best],
            all_certified: curve.certified.iter().all(|&certified| certified),
        }
    }
}

impl<'a> CvDocument<'a> {
    pub(crate) fn new(
        data: DataDocument,
        training: TrainDocument,
        (folds, seed): (usize, Option<u64>),
        (curve, kernels): (&ErrorCurve, &'a [KernelDocument]),
        selection: &impl clap::ValueEnum,
        fit: &'a Fit,
    ) -> Self {
        CvDocument {
            format: "margins-cv",
            version: VERSION,
            data,
            training,
            folds,
            seed,
            kernels,
            all_certified: curve.certified.iter().all(|&certified| certified),
            lambdas: CvLambdaDocument::all(curve),
            best_lambda: curve.lambdas[curve.best].get(),
            one_standard_error_lambda: curve.lambdas[curve.one_standard_error].get(),
            selection: name_of(selection),
            fit: FitDocument::from(fit),
            platt: None,
        }
    }
}
