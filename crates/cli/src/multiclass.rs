//! `fit` and `cv` with `--multi-class`: data of two classes or more.

use std::path::Path;

use margins::data::{ClassLabels, Classes, Dataset};
use margins::optim::{ErrorCurve, Status, StepRule};
use margins::{
    Approximation, Classifier, ClassifierBuilder, CrossValidation, MemberReport, Registry, Scheme,
    folds_of,
};
use serde::Serialize;

use crate::Failure;
use crate::args::{CvArguments, FitArguments, TrainArguments};
use crate::choices::{ClassWeight, MultiClass, OutputFormat, Selection, name_of};
use crate::cv::{cv_table, describe_cv, write_kernels};
use crate::document::{
    ClassDocument, CvLambdaDocument, KernelDocument, TrainDocument, VERSION, status_name,
};
use crate::files::report;
use crate::job::{state, warn_of_gaps, warn_of_members, write_json};
use crate::model::save;
use crate::probability::PlattDocument;
use crate::table::{MOST_LISTED, Table, facts, gap, number, percent};
use crate::train::{progress, refusal};

impl From<MultiClass> for Scheme {
    fn from(how: MultiClass) -> Self {
        match how {
            MultiClass::Ovr => Scheme::OneVersusRest,
            MultiClass::Ovo => Scheme::OneVersusOne,
        }
    }
}

impl From<Selection> for margins::Selection {
    fn from(selection: Selection) -> Self {
        match selection {
            Selection::Best => margins::Selection::Best,
            Selection::OneSe => margins::Selection::OneStandardError,
        }
    }
}

#[derive(Serialize)]
struct MulticlassDocument<'a> {
    format: &'static str,
    version: u32,
    data: ClassesDocument<'a>,
    training: TrainDocument,
    scheme: String,
    lambda: f64,
    /// Share of training samples that the members together misclassify, by weight.
    training_error: f64,
    all_certified: bool,
    members: Vec<MemberDocument<'a>>,
    /// Null without cross-validation.
    cv: Option<CurveDocument>,
}

#[derive(Serialize)]
struct ClassesDocument<'a> {
    name: &'a str,
    rows: usize,
    columns: usize,
    sparse: bool,
    classes: Vec<ClassDocument<'a>>,
}

#[derive(Serialize)]
struct MemberDocument<'a> {
    name: &'a str,
    objective: Option<f64>,
    dual_objective: Option<f64>,
    relative_gap: Option<f64>,
    rounding: Option<f64>,
    converged: bool,
    status: &'static str,
    intercept: f64,
    coef: &'a [f64],
    #[serde(skip_serializing_if = "Option::is_none")]
    platt: Option<PlattDocument>,
}

#[derive(Serialize)]
struct CurveDocument {
    folds: usize,
    /// The seed of the fold assignment; null if the data say the folds.
    seed: Option<u64>,
    /// The kernels that there were to choose from; empty for fewer than two.
    kernels: Vec<KernelDocument>,
    lambdas: Vec<CvLambdaDocument>,
    best_lambda: f64,
    one_standard_error_lambda: f64,
    selection: String,
}

impl TrainArguments {
    /// The same settings as those of a builder.
    fn builder(
        &self,
        registry: &Registry,
        scheme: MultiClass,
        folds: Option<usize>,
    ) -> ClassifierBuilder {
        let mut builder = Classifier::builder()
            .loss_named(&self.loss)
            .registry(registry.clone())
            .approximation(self.approx)
            .standardize(self.standardize)
            .intercept(!self.no_intercept)
            .tolerance(self.tol)
            .solver(self.solver.name().with_settings(self.seed, StepRule::default()))
            .seed(self.seed)
            .probabilities(self.probabilities(folds))
            .scheme(scheme.into());
        if let Some(kernel) = &self.kernel {
            builder = builder.kernel(kernel);
        }
        builder = match &self.class_weight {
            ClassWeight::None => builder,
            ClassWeight::Balanced => builder.balanced_classes(),
            ClassWeight::Costs(costs) => costs
                .iter()
                .fold(builder, |builder, (class, cost)| builder.class_cost(class, *cost)),
        };
        if let Some(limit) = self.time_limit {
            builder = builder.time_limit(limit);
        }
        if let Some(most) = self.max_iterations {
            builder = builder.max_iterations(most);
        }
        builder
    }
}

pub(crate) fn fit(
    registry: &Registry,
    arguments: &FitArguments,
    scheme: MultiClass,
) -> Result<(), Failure> {
    let train = &arguments.train;
    let lambda = arguments.lambda()?.get();
    let step = arguments.gradient.step_rule();
    let solver = train.solver.name().with_settings(train.seed, step);
    let builder = train.builder(registry, scheme, None).lambda(lambda).solver(solver);
    let data = arguments.data.classes()?;
    let job = Job { name: &arguments.data.data, train, data: &data, out: arguments.out.as_deref() };
    job.run(builder, None)
}

pub(crate) fn cv(
    registry: &Registry,
    arguments: &CvArguments,
    scheme: MultiClass,
) -> Result<(), Failure> {
    let train = &arguments.train;
    let mut builder = train.builder(registry, scheme, arguments.folds);
    if let Some(kernel) = train.kernel.as_ref().filter(|_| !arguments.or_kernel.is_empty()) {
        builder = builder.kernels(std::iter::once(kernel).chain(&arguments.or_kernel));
    }
    let data = arguments.data.classes()?;
    let (folds, drawn) = folds_of(&data, arguments.folds, train.seed).map_err(Failure::usage)?;
    let how = CrossValidation {
        lambdas: arguments.grid.lambdas.0.clone(),
        folds: arguments.folds,
        selection: arguments.select.into(),
        abandon_hopeless: arguments.abandon_hopeless,
        leave_one_out: None,
    };
    let count = folds.iter().max().map_or(0, |last| last + 1);
    let cv = Cv { folds: count, seed: drawn.then_some(train.seed), selection: arguments.select };
    let job = Job { name: &arguments.data.data, train, data: &data, out: arguments.out.as_deref() };
    let bar = progress(0);
    let of_builder = bar.clone();
    let builder = builder.cross_validation(how).progress(move |progress| {
        of_builder.set_length(progress.total as u64);
        of_builder.set_position(progress.done as u64);
    });
    let done = job.run(builder, Some(&cv));
    bar.finish_and_clear();
    done
}

/// How a cross-validation was asked for.
struct Cv {
    folds: usize,
    seed: Option<u64>,
    selection: Selection,
}

struct Job<'a> {
    name: &'a str,
    train: &'a TrainArguments,
    data: &'a Dataset<Classes>,
    out: Option<&'a Path>,
}

impl Job<'_> {
    fn run(&self, builder: ClassifierBuilder, cv: Option<&Cv>) -> Result<(), Failure> {
        let estimator = builder.build().map_err(refusal)?;
        warn_of_many(self.data);
        let (classifier, error) = self.train.on_threads(|| {
            let classifier = estimator.fit(self.data).map_err(refusal)?;
            let error = classifier.error_rate(self.data).map_err(refusal)?.rate;
            Ok((classifier, error))
        })?;
        let summary = classifier.report();
        let curve = summary.curve.as_ref();
        let ends: Vec<Status> = summary.members.iter().filter_map(status_of).collect();
        warn_of_gaps(curve.iter().flat_map(|curve| curve.certified.iter().copied()), None, &ends);
        warn_of_members(&ends);
        if let Some(path) = self.out {
            save(Ok::<_, margins::Error>(classifier.model().clone()), path)?;
        }
        match self.train.format {
            OutputFormat::Json => {
                let document = self.document(&classifier, error, cv);
                report([self.out], |out| write_json(out, &document))
            }
            OutputFormat::Table => report([self.out], |out| {
                facts(out, &self.describe(&classifier))?;
                if let (Some(curve), Some(cv)) = (curve, cv) {
                    writeln!(out)?;
                    write_kernels(out, &kernels(&classifier))?;
                    cv_table(curve).write(out)?;
                    writeln!(out)?;
                    facts(out, &describe_cv(curve, cv.folds))?;
                }
                writeln!(out)?;
                member_table(&summary.members).write(out)?;
                if summary.members.len() > MOST_LISTED {
                    writeln!(out, "... and {} more members", summary.members.len() - MOST_LISTED)?;
                }
                writeln!(out)?;
                let lambda = lambda_of(&classifier);
                let error = format!("{} %", percent(error));
                facts(out, &[("lambda", number(lambda)), ("training error", error)])
            }),
        }
    }

    fn describe(&self, classifier: &Classifier) -> Vec<(&'static str, String)> {
        let report = classifier.report();
        let data = self.data;
        let mut lines = vec![
            ("data", format!("{}: {} rows, {} columns", self.name, data.rows(), data.columns())),
            ("classes", ClassDocument::line(&ClassDocument::all(data))),
            ("scheme", report.scheme.to_string()),
            ("loss", report.loss.clone()),
        ];
        if let Some(kernel) = &report.kernel {
            lines.push(("kernel", kernel.clone()));
        }
        if self.train.approx != Approximation::None {
            lines.push(("approximation", self.train.approx.to_string()));
        }
        lines
    }

    fn document<'c>(
        &'c self,
        classifier: &'c Classifier,
        training_error: f64,
        cv: Option<&Cv>,
    ) -> MulticlassDocument<'c> {
        let report = classifier.report();
        let data = self.data;
        let members = report.members.iter().zip(classifier.model().members());
        MulticlassDocument {
            format: "margins-multiclass",
            version: VERSION,
            data: ClassesDocument {
                name: self.name,
                rows: data.rows(),
                columns: data.columns(),
                sparse: data.design().is_sparse(),
                classes: ClassDocument::all(data),
            },
            training: TrainDocument::new(self.train, report.loss.clone(), report.kernel.clone()),
            scheme: report.scheme.to_string(),
            lambda: lambda_of(classifier),
            training_error,
            all_certified: report.is_certified(),
            members: members
                .map(|(member, fitted)| MemberDocument {
                    name: &member.name,
                    objective: member.summary.objective,
                    dual_objective: member.summary.dual_objective,
                    relative_gap: member.summary.relative_gap,
                    rounding: member.report.as_ref().map(|report| report.rounding),
                    converged: member.summary.converged,
                    status: status_of(member).map_or("", status_name),
                    intercept: fitted.intercept,
                    coef: &fitted.coef,
                    platt: fitted.platt.as_ref().map(PlattDocument::from),
                })
                .collect(),
            cv: report
                .curve
                .as_ref()
                .zip(cv)
                .map(|(curve, cv)| curve_document(classifier, curve, cv)),
        }
    }
}

/// The lambda that all members have in common.
fn lambda_of(classifier: &Classifier) -> f64 {
    classifier.report().members.first().and_then(|member| member.lambda).unwrap_or(f64::NAN)
}

/// What was found out about the kernels that there were to choose from; empty for fewer than two.
fn kernels(classifier: &Classifier) -> Vec<KernelDocument> {
    let tried = classifier.report().kernels.iter();
    tried.map(|tried| KernelDocument::of_curve(tried.kernel.clone(), &tried.curve)).collect()
}

fn curve_document(classifier: &Classifier, curve: &ErrorCurve, cv: &Cv) -> CurveDocument {
    CurveDocument {
        kernels: kernels(classifier),
        folds: cv.folds,
        seed: cv.seed,
        lambdas: CvLambdaDocument::all(curve),
        best_lambda: curve.lambdas[curve.best].get(),
        one_standard_error_lambda: curve.lambdas[curve.one_standard_error].get(),
        selection: name_of(&cv.selection),
    }
}

/// Asks about labels of which most occur once, as scikit-learn does.
fn warn_of_many(data: &Dataset<Classes>) {
    const FEW_ROWS: usize = 20;
    let (rows, classes) = (data.rows(), data.labels().names().len());
    if rows > FEW_ROWS && classes > rows / 2 {
        eprintln!(
            "warning: the {rows} rows have {classes} classes: are the labels measurements, or names of the rows?"
        );
    }
}

/// How the fit of a member ended.
fn status_of(member: &MemberReport) -> Option<Status> {
    member.report.as_ref().map(|report| report.status)
}

fn member_table(members: &[MemberReport]) -> Table {
    let mut table = Table::new(&["member", "objective", "relative gap", ""]);
    for member in members.iter().take(MOST_LISTED) {
        table.row(vec![
            member.name.clone(),
            member.summary.objective.map(number).unwrap_or_default(),
            member.summary.relative_gap.map(gap).unwrap_or_default(),
            status_of(member).map(state).unwrap_or_default(),
        ]);
    }
    table
}
