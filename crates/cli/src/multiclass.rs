//! `fit` and `cv` with `--multi-class`: data of two classes or more.

use std::path::Path;

use margins::data::{Classes, Dataset, Target};
use margins::optim::ErrorCurve;
use margins::{
    Approximation, Classifier, ClassifierBuilder, CrossValidation, MemberReport, Registry, Scheme,
    folds_of,
};
use serde::Serialize;

use crate::args::{
    ClassWeight, CvArguments, FitArguments, MultiClass, OutputFormat, Selection, TrainArguments,
};
use crate::document::{CvLambdaDocument, TrainDocument, VERSION, clap_name, status_name};
use crate::probability::PlattDocument;
use crate::table::{Table, facts, gap, number, percent};
use crate::train::{cv_table, describe_cv, progress, refusal, warn_if_uncertified, write_json};
use crate::{Failure, emit, keep_input};

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
struct ClassDocument<'a> {
    name: &'a str,
    rows: usize,
}

#[derive(Serialize)]
struct MemberDocument<'a> {
    name: &'a str,
    objective: Option<f64>,
    dual_objective: Option<f64>,
    relative_gap: Option<f64>,
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
    ) -> Result<ClassifierBuilder, Failure> {
        let name = self.solver.name();
        let Some(solver) = name.of_paths().filter(|_| self.solver.is_named()) else {
            return Err(Failure::usage(
                "--multi-class is for the solvers of one objective: auto, newton, mm, mm-accelerated, \
                 mm-batched, sdca, bundle, gd",
            ));
        };
        let mut builder = Classifier::builder()
            .loss_named(&self.loss)
            .registry(registry.clone())
            .approximation(self.approx)
            .standardize(self.standardize)
            .intercept(!self.no_intercept)
            .tolerance(self.tol)
            .solver(solver)
            .seed(self.seed)
            .probabilities(self.probabilities(folds))
            .scheme(scheme.into());
        if let Some(kernel) = &self.kernel {
            builder = builder.kernel(kernel);
        }
        if self.class_weight == ClassWeight::Balanced {
            builder = builder.balanced_classes();
        }
        if let Some(most) = self.max_iterations {
            builder = builder.max_iterations(most);
        }
        Ok(builder)
    }
}

pub(crate) fn fit(
    registry: &Registry,
    arguments: &FitArguments,
    scheme: MultiClass,
) -> Result<(), Failure> {
    let train = &arguments.train;
    arguments.gradient.check(train.solver)?;
    let builder = train.builder(registry, scheme, None)?.lambda(arguments.lambda.get());
    keep_input(arguments.out.as_deref(), Path::new(&arguments.data.data))?;
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
    let builder = train.builder(registry, scheme, arguments.folds)?;
    keep_input(arguments.out.as_deref(), Path::new(&arguments.data.data))?;
    let data = arguments.data.classes()?;
    let (folds, drawn) = folds_of(&data, arguments.folds, train.seed).map_err(Failure::usage)?;
    let how = CrossValidation {
        lambdas: arguments.grid.lambdas.0.clone(),
        folds: arguments.folds,
        selection: arguments.select.into(),
        abandon_hopeless: arguments.abandon_hopeless,
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
        let (classifier, score) = self.train.on_threads(|| {
            let classifier = estimator.fit(self.data).map_err(refusal)?;
            let score = classifier.score(self.data).map_err(refusal)?;
            Ok((classifier, score))
        })?;
        let report = classifier.report();
        let curve = report.curve.as_ref();
        let of_curve = curve.iter().flat_map(|curve| curve.certified.iter().copied());
        let of_members = report.members.iter().map(|member| member.summary.converged);
        warn_if_uncertified(of_curve.chain(of_members));
        if let Some(path) = self.out {
            classifier.save(path).map_err(Failure::job)?;
        }
        match self.train.format {
            OutputFormat::Json => {
                let document = self.document(&classifier, 1.0 - score, cv);
                emit(None, |out| write_json(out, &document))
            }
            OutputFormat::Table => emit(None, |out| {
                facts(out, &self.describe(&classifier))?;
                if let (Some(curve), Some(cv)) = (curve, cv) {
                    writeln!(out)?;
                    cv_table(curve).write(out)?;
                    writeln!(out)?;
                    facts(out, &describe_cv(curve, cv.folds))?;
                }
                writeln!(out)?;
                member_table(&report.members).write(out)?;
                writeln!(out)?;
                let lambda = report.members.first().map_or(f64::NAN, |member| member.lambda);
                let error = format!("{} %", percent(1.0 - score));
                facts(out, &[("lambda", number(lambda)), ("training error", error)])
            }),
        }
    }

    fn describe(&self, classifier: &Classifier) -> Vec<(&'static str, String)> {
        let report = classifier.report();
        let data = self.data;
        let counts = class_counts(data);
        let classes: Vec<String> =
            counts.iter().map(|(name, rows)| format!("'{name}' ({rows})")).collect();
        let mut lines = vec![
            ("data", format!("{}: {} rows, {} columns", self.name, data.rows(), data.columns())),
            ("classes", classes.join(", ")),
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
        let classes = class_counts(data).into_iter();
        let members = report.members.iter().zip(classifier.model().members());
        MulticlassDocument {
            format: "margins-multiclass",
            version: VERSION,
            data: ClassesDocument {
                name: self.name,
                rows: data.rows(),
                columns: data.columns(),
                sparse: data.design().is_sparse(),
                classes: classes.map(|(name, rows)| ClassDocument { name, rows }).collect(),
            },
            training: TrainDocument::new(self.train, report.loss.clone(), report.kernel.clone()),
            scheme: report.scheme.to_string(),
            lambda: report.members.first().map_or(f64::NAN, |member| member.lambda),
            training_error,
            all_certified: report.is_certified(),
            members: members
                .map(|(member, fitted)| MemberDocument {
                    name: &member.name,
                    objective: member.summary.objective,
                    dual_objective: member.summary.dual_objective,
                    relative_gap: member.summary.relative_gap,
                    converged: member.summary.converged,
                    status: member.report.as_ref().map_or("", |report| status_name(report.status)),
                    intercept: fitted.intercept,
                    coef: &fitted.coef,
                    platt: fitted.platt.as_ref().map(PlattDocument::from),
                })
                .collect(),
            cv: report.curve.as_ref().zip(cv).map(|(curve, cv)| curve_document(curve, cv)),
        }
    }
}

fn curve_document(curve: &ErrorCurve, cv: &Cv) -> CurveDocument {
    CurveDocument {
        folds: cv.folds,
        seed: cv.seed,
        lambdas: CvLambdaDocument::all(curve),
        best_lambda: curve.lambdas[curve.best].get(),
        one_standard_error_lambda: curve.lambdas[curve.one_standard_error].get(),
        selection: clap_name(&cv.selection),
    }
}

fn class_counts(data: &Dataset<Classes>) -> Vec<(&str, usize)> {
    let labels = data.labels();
    let names = labels.names().iter().enumerate();
    names.map(|(class, name)| (name.as_str(), labels.rows_of(class).len())).collect()
}

fn member_table(members: &[MemberReport]) -> Table {
    let mut table = Table::new(&["member", "objective", "relative gap", ""]);
    for member in members {
        table.row(vec![
            member.name.clone(),
            member.summary.objective.map(number).unwrap_or_default(),
            member.summary.relative_gap.map(gap).unwrap_or_default(),
            if member.summary.converged { String::new() } else { "not certified".to_owned() },
        ]);
    }
    table
}
