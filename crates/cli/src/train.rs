//! The commands that fit: `fit`, `path` and `cv`.

use std::io::Write;
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use margins::calibration::probability::PlattScaling;
use margins::data::Dataset;
use margins::losses::MarginLoss;
use margins::optim::robust::Learner;
use margins::optim::{
    self, ClassWeights, ErrorCurve, Fit, Lambda, Observed, Observer, Options, Training,
};
use margins::{Approximation, Model, Prepared, Registry, kernels};

use crate::args::{
    ClassWeight, CvArguments, FOL, FitArguments, OutputFormat, PathArguments, Probability,
    SolverChoice, TrainArguments,
};
use crate::document::{
    CvDocument, DataDocument, FitDocument, KernelDocument, PathDocument, TrainDocument, VERSION,
};
use crate::focused;
use crate::massart;
use crate::model::save;
use crate::multiclass;
use crate::probability::{PlattDocument, scaled};
use crate::stochastic::{self, margin_pursuit};
use crate::table::{Table, facts, gap, number, percent};
use crate::{Failure, emit, keep_input};

impl TrainArguments {
    fn training<'a>(
        &self,
        loss: &'a dyn MarginLoss,
        observer: &'a Observer<'a>,
    ) -> Result<Training<'a, dyn MarginLoss + 'a>, Failure> {
        if self.kernel.is_some() && !self.solver.name().takes_kernels() {
            return Err(Failure::usage(optim::Error::LinearOnly));
        }
        Ok(Training {
            intercept: !self.no_intercept,
            standardize: self.standardize,
            class_weights: match self.class_weight {
                ClassWeight::None => ClassWeights::AsGiven,
                ClassWeight::Balanced => ClassWeights::Balanced,
            },
            options: Options {
                solver: self.solver.name().of_paths().unwrap_or_default(),
                tolerance: self.tol,
                max_iterations: self.max_iterations,
                seed: self.seed,
                ..Options::default()
            },
            observer,
            ..Training::new(loss)
        })
    }

    /// Refuses solvers of single fits for what needs many.
    fn check_path(&self) -> Result<(), Failure> {
        match self.solver {
            SolverChoice::Massart(learner) => return Err(single_fits_only(learner)),
            SolverChoice::Focused => return Err(single_fits_only(FOL)),
            SolverChoice::Named(_) | SolverChoice::Robust(_) => (),
        }
        match self.solver.name().of_paths() {
            Some(_) => Ok(()),
            None => Err(Failure::usage("the stochastic solvers are for fit, not for path or cv")),
        }
    }

    /// The data made ready for the kind of classifier asked for.
    fn prepare<'d>(&self, registry: &Registry, data: &'d Dataset) -> Result<Prepared<'d>, Failure> {
        match &self.kernel {
            None => Ok(Prepared::linear(data)),
            Some(kernel) => self.prepare_kernel(kernel, registry, data),
        }
    }

    fn prepare_kernel<'d>(
        &self,
        kernel: &str,
        registry: &Registry,
        data: &'d Dataset,
    ) -> Result<Prepared<'d>, Failure> {
        let (kernels, seed) = (&registry.kernels, self.seed);
        Prepared::for_kernel(kernel, self.approx, kernels, data, self.standardize, seed)
            .map_err(refusal)
    }

    /// The fits at every lambda by the solver or the learner asked for.
    fn fits(
        &self,
        prepared: &Prepared<'_>,
        training: &Training<'_, dyn MarginLoss + '_>,
        lambdas: &[Lambda],
    ) -> Result<Vec<Fit>, Failure> {
        let shifted = matches!(self.solver, SolverChoice::Robust(Learner::MarginDistribution(_)));
        if shifted && training.loss.probability(0.0).is_some() {
            return Err(Failure::usage(format!(
                "margin-distribution shifts the scores, so that no probabilities follow from them as from \
                 those of {}: take a loss without probabilities, such as hinge",
                training.loss.specification()
            )));
        }
        match &self.solver {
            SolverChoice::Named(_) => prepared.path(training, lambdas),
            SolverChoice::Robust(learner) => prepared.robust_path(training, learner, lambdas),
            SolverChoice::Massart(learner) => return Err(single_fits_only(learner)),
            SolverChoice::Focused => return Err(single_fits_only(FOL)),
        }
        .map_err(refusal)
    }

    /// Says what the fits leave open.
    fn warn(&self, fits: &[Fit]) {
        match &self.solver {
            SolverChoice::Robust(learner) if !learner.is_certified() => {
                eprintln!(
                    "note: the objective of {learner} is not convex, so that nothing certifies a fit"
                );
            }
            _ => warn_if_uncertified(fits.iter().map(|fit| fit.report.converged())),
        }
    }

    pub(crate) fn loss(&self, registry: &Registry) -> Result<Box<dyn MarginLoss>, Failure> {
        registry.losses.parse(&self.loss).map_err(Failure::usage)
    }

    /// Runs a job on a pool of the number of threads asked for.
    pub(crate) fn on_threads<T: Send>(
        &self,
        job: impl FnOnce() -> Result<T, Failure> + Send,
    ) -> Result<T, Failure> {
        margins::on_threads(self.threads.map(usize::from), job)
    }
}

fn single_fits_only(learner: impl std::fmt::Display) -> Failure {
    Failure::usage(format!("{learner} is for fit, not for path or cv"))
}

/// A bar on standard error, if that is a terminal.
pub(crate) fn progress(fits: usize) -> ProgressBar {
    let bar = ProgressBar::new(fits as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} fits, {eta} left") {
        bar.set_style(style);
    }
    bar
}

pub(crate) fn fit(registry: &Registry, arguments: &FitArguments) -> Result<(), Failure> {
    let train = &arguments.train;
    if arguments.project.is_some() && !matches!(train.solver, SolverChoice::Massart(_)) {
        return Err(Failure::usage("--project is for --solver massart-cuts"));
    }
    if let Some(scheme) = train.multi_class {
        arguments.focused.refuse()?;
        return multiclass::fit(registry, arguments, scheme);
    }
    arguments.gradient.check(train.solver)?;
    train.check_probability(arguments.gradient.stream)?;
    match train.solver {
        SolverChoice::Focused => return focused::fit(registry, arguments),
        _ => arguments.focused.refuse()?,
    }
    if let SolverChoice::Massart(learner) = train.solver {
        return massart::fit(arguments, learner);
    }
    if let (SolverChoice::Robust(learner), Some(_)) = (&train.solver, &arguments.history) {
        return Err(Failure::usage(format!("{learner} keeps no --history")));
    }
    if arguments.gradient.stream {
        return stochastic::fit_stream(registry, arguments);
    }
    let mut loss = train.loss(registry)?;
    for output in [&arguments.out, &arguments.history] {
        keep_input(output.as_deref(), Path::new(&arguments.data.data))?;
    }
    let data = arguments.data.dataset()?;
    let settings = arguments.gradient.settings(arguments, &*loss)?;
    let (prepared, fits, rescaled, platt) = train.on_threads(|| {
        let mut training = train.training(&*loss, &|_| {})?;
        training.options.history = arguments.history.is_some();
        training.options.step = arguments.gradient.step_rule();
        let prepared = train.prepare(registry, &data)?;
        let (fits, rescaled) = match (settings, arguments.gradient.rescale_at) {
            (None, _) => (train.fits(&prepared, &training, &[arguments.lambda])?, None),
            (Some(settings), None) => {
                let fit = training.stochastic(&data, arguments.lambda, &settings);
                (vec![fit.map_err(|error| refusal(error.into()))?], None)
            }
            (Some(settings), Some(at)) => {
                let Some((gamma, scale)) = margin_pursuit(&*loss) else {
                    return Err(Failure::usage("--rescale-at is for the loss margin-pursuit"));
                };
                let rule = margins::data_driven_scale(gamma, scale, arguments.lambda);
                let fit =
                    training.stochastic_rescaled(&data, arguments.lambda, &settings, at, rule);
                let (fit, rescaled) = fit.map_err(|error| refusal(error.into()))?;
                (vec![fit], Some(rescaled))
            }
        };
        let platt = train.platt(&prepared, &training, (&data, None), &[arguments.lambda])?;
        Ok((prepared, fits, rescaled, platt))
    })?;
    if let Some(rescaled) = rescaled {
        loss = rescaled;
    }
    if let Some(path) = &arguments.history {
        stochastic::write_history(path, &fits[0], data.rows())?;
    }
    if settings.is_none() {
        train.warn(&fits);
    }
    if let Some(path) = &arguments.out {
        let model = Model::new(&*loss, &data, &prepared, train.standardize, &fits[0]);
        save(model.map(|model| scaled(model, platt)), path)?;
    }
    let job = Job { name: &arguments.data.data, train, loss: &*loss, data: &data, prepared };
    match train.format {
        OutputFormat::Json => job.write_path("margins-fit", &fits, platt.as_ref()),
        OutputFormat::Table => {
            let lines = [job.describe(), job.describe_fit(&fits[0])?].concat();
            emit(None, |out| facts(out, &lines))
        }
    }
}

pub(crate) fn path(registry: &Registry, arguments: &PathArguments) -> Result<(), Failure> {
    let train = &arguments.train;
    train.check_path()?;
    if train.multi_class.is_some() {
        return Err(Failure::usage("--multi-class is for fit and cv, not for path"));
    }
    if train.probability == Probability::Platt {
        return Err(Failure::usage("--probability platt is for fit and cv, not for path"));
    }
    let loss = train.loss(registry)?;
    let data = arguments.data.dataset()?;
    let lambdas = &arguments.grid.lambdas.0;
    let bar = progress(lambdas.len());
    let observer = |_: &Observed<'_>| bar.inc(1);
    let training = train.training(&*loss, &observer)?;
    let solved = train.on_threads(|| {
        let prepared = train.prepare(registry, &data)?;
        let fits = train.fits(&prepared, &training, lambdas)?;
        Ok((prepared, fits))
    });
    bar.finish_and_clear();
    let (prepared, fits) = solved?;
    train.warn(&fits);
    let job = Job { name: &arguments.data.data, train, loss: &*loss, data: &data, prepared };
    match train.format {
        OutputFormat::Json => job.write_path("margins-path", &fits, None),
        OutputFormat::Table => {
            let table = job.path_table(&fits)?;
            emit(None, |out| {
                facts(out, &job.describe())?;
                writeln!(out)?;
                table.write(out)
            })
        }
    }
}

pub(crate) fn cv(registry: &Registry, arguments: &CvArguments) -> Result<(), Failure> {
    let train = &arguments.train;
    train.check_path()?;
    if let Some(scheme) = train.multi_class {
        return multiclass::cv(registry, arguments, scheme);
    }
    let loss = train.loss(registry)?;
    train.check_probability(false)?;
    if let SolverChoice::Robust(learner) = &train.solver {
        return Err(Failure::usage(format!("cv selects among fits of F, and not of {learner}")));
    }
    keep_input(arguments.out.as_deref(), Path::new(&arguments.data.data))?;
    let data = arguments.data.dataset()?;
    let (folds, drawn) = match arguments.leave_one_out {
        Some(_) => ((0..data.rows()).collect(), false),
        None => margins::folds_of(&data, arguments.folds, train.seed).map_err(Failure::usage)?,
    };
    let seed = drawn.then_some(train.seed);
    let count = folds.iter().max().map_or(0, |last| last + 1);
    let lambdas = &arguments.grid.lambdas.0;
    let paths = match (arguments.leave_one_out, &train.kernel) {
        (Some(_), _) => 1,
        (None, Some(_)) => count,
        (None, None) => count + 1,
    };
    let bar = progress(lambdas.len() * paths * (1 + arguments.or_kernel.len()));
    let observer = |_: &Observed<'_>| bar.inc(1);
    let training = Training {
        abandon_hopeless: arguments.abandon_hopeless,
        ..train.training(&*loss, &observer)?
    };
    let select = |curve: &ErrorCurve| margins::Selection::from(arguments.select).of(curve);
    let solved = train.on_threads(|| {
        let solve = |prepared: &Prepared<'_>| {
            let solved = match arguments.leave_one_out {
                Some(how) => prepared.leave_one_out(&training, lambdas, how.into(), select),
                None => prepared.cross_validate(&training, &folds, lambdas, select),
            };
            solved.map_err(refusal)
        };
        let mut chosen = Vec::new();
        let mut best: Option<(Prepared<'_>, ErrorCurve, Fit)> = None;
        let kernels =
            arguments.or_kernel.iter().map(|kernel| train.prepare_kernel(kernel, registry, &data));
        for prepared in std::iter::once(train.prepare(registry, &data)).chain(kernels) {
            let prepared = prepared?;
            let (curve, fit) = solve(&prepared)?;
            chosen.extend(KernelDocument::new(&prepared, &curve));
            let least = |curve: &ErrorCurve| curve.mean_error[curve.best];
            if best.as_ref().is_none_or(|(_, other, _)| least(&curve) < least(other)) {
                best = Some((prepared, curve, fit));
            }
        }
        let (prepared, curve, fit) =
            best.ok_or_else(|| Failure::usage("no kernel to choose from"))?;
        let way: Vec<Lambda> = lambdas.iter().copied().filter(|l| *l >= fit.lambda).collect();
        let platt = train.platt(&prepared, &training, (&data, arguments.folds), &way)?;
        Ok((prepared, curve, fit, chosen, platt))
    });
    bar.finish_and_clear();
    let (prepared, curve, fit, kernels, platt) = solved?;
    let certified = curve.certified.iter().copied();
    warn_if_uncertified(certified.chain([fit.report.converged()]));
    if let Some(path) = &arguments.out {
        let model = Model::new(&*loss, &data, &prepared, train.standardize, &fit);
        save(model.map(|model| scaled(model, platt)), path)?;
    }
    let job = Job { name: &arguments.data.data, train, loss: &*loss, data: &data, prepared };
    match train.format {
        OutputFormat::Json => {
            let document = CvDocument::new(
                DataDocument::new(job.name, &data),
                job.training_document(),
                (count, seed),
                (&curve, &kernels),
                &arguments.select,
                &fit,
            );
            let document =
                CvDocument { platt: platt.as_ref().map(PlattDocument::from), ..document };
            emit(None, |out| write_json(out, &document))
        }
        OutputFormat::Table => {
            let lines = [describe_cv(&curve, count), job.describe_fit(&fit)?].concat();
            emit(None, |out| {
                facts(out, &job.describe())?;
                writeln!(out)?;
                if kernels.len() > 1 {
                    kernel_table(&kernels).write(out)?;
                    writeln!(out)?;
                }
                cv_table(&curve).write(out)?;
                writeln!(out)?;
                facts(out, &lines)
            })
        }
    }
}

/// What the method asked for cannot take is a matter of usage, all else one of the job.
pub(crate) fn refusal(error: margins::Error) -> Failure {
    use kernels::Error as Kernels;
    use optim::Error as Optim;
    match &error {
        margins::Error::Optim(inner) | margins::Error::Kernels(Kernels::Optim(inner)) => {
            match inner {
                Optim::Unsuitable { .. }
                | Optim::TooLargeForMm { .. }
                | Optim::LinearOnly
                | Optim::FreeIntercept
                | Optim::Blocks { .. }
                | Optim::Parameter { .. } => Failure::usage(error),
                _ => Failure::job(error),
            }
        }
        margins::Error::Contradiction { .. }
        | margins::Error::Setting { .. }
        | margins::Error::Losses(_)
        | margins::Error::ApproximatePrecomputed
        | margins::Error::StandardizePrecomputed
        | margins::Error::LeaveOneOut
        | margins::Error::LinearLearner(_)
        | margins::Error::Fourier(_)
        | margins::Error::Kernels(
            Kernels::Parameter { .. }
            | Kernels::UnknownKernel { .. }
            | Kernels::UnknownParameter { .. }
            | Kernels::MissingParameter { .. }
            | Kernels::MaybeIndefinite(_)
            | Kernels::Syntax { .. },
        ) => Failure::usage(error),
        _ => Failure::job(error),
    }
}

impl From<margins::Error> for Failure {
    fn from(error: margins::Error) -> Self {
        refusal(error)
    }
}

pub(crate) fn warn_if_uncertified(converged: impl Iterator<Item = bool>) {
    let converged: Vec<bool> = converged.collect();
    let all = converged.len();
    let missed = converged.iter().filter(|&&converged| !converged).count();
    if missed > 0 {
        eprintln!(
            "warning: at {missed} of {all} lambdas a fit missed the tolerance of its duality gap; \
             --standardize, another --solver, more --max-iterations or a smaller tolerance of an \
             approximation may help"
        );
    }
}

pub(crate) fn write_json(
    out: &mut dyn Write,
    document: &impl serde::Serialize,
) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, document)?;
    writeln!(out)
}

/// What was asked for, for the reports on it.
struct Job<'a> {
    name: &'a str,
    train: &'a TrainArguments,
    loss: &'a dyn MarginLoss,
    data: &'a Dataset,
    prepared: Prepared<'a>,
}

impl Job<'_> {
    fn training_document(&self) -> TrainDocument {
        let kernel = self.prepared.kernel_specification();
        TrainDocument::new(self.train, self.loss.specification(), kernel)
    }

    fn write_path(
        &self,
        format: &'static str,
        fits: &[Fit],
        platt: Option<&PlattScaling>,
    ) -> Result<(), Failure> {
        let document = PathDocument {
            format,
            version: VERSION,
            data: DataDocument::new(self.name, self.data),
            training: self.training_document(),
            fits: fits.iter().map(FitDocument::from).collect(),
            platt: platt.map(PlattDocument::from),
        };
        emit(None, |out| write_json(out, &document))
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let (data, labels) = (self.data, self.data.labels());
        let mut lines = vec![
            ("data", format!("{}: {} rows, {} columns", self.name, data.rows(), data.columns())),
            (
                "classes",
                format!(
                    "'{}' positive ({}), '{}' negative ({})",
                    labels.positive_class(),
                    labels.count_positive(),
                    labels.negative_class(),
                    labels.len() - labels.count_positive()
                ),
            ),
            ("loss", self.loss.specification()),
        ];
        if let SolverChoice::Robust(learner) = &self.train.solver {
            lines.push(("learner", learner.to_string()));
        }
        if let Some(kernel) = self.prepared.kernel_specification() {
            lines.push(("kernel", kernel));
        }
        if self.train.approx != Approximation::None {
            let dimension = self.prepared.dimension();
            lines.push(("approximation", format!("{}, rank {dimension}", self.train.approx)));
        }
        lines
    }

    /// Share of training samples on the wrong side.
    fn training_error(&self, fit: &Fit) -> Result<f64, Failure> {
        let scores = self.prepared.scores(fit).map_err(refusal)?;
        let signs = self.data.labels().signs();
        let wrong = scores.iter().zip(signs).filter(|&(&f, &y)| (f > 0.0) != (y > 0.0)).count();
        Ok(wrong as f64 / signs.len() as f64)
    }

    fn describe_fit(&self, fit: &Fit) -> Result<Vec<(&'static str, String)>, Failure> {
        let report = &fit.report;
        let zeros = fit.coef.iter().filter(|&&w| w == 0.0).count();
        let state = if report.converged() { "" } else { ", NOT CERTIFIED" };
        Ok(vec![
            ("lambda", number(fit.lambda.get())),
            ("objective", number(report.objective)),
            ("relative gap", format!("{}{state}", gap(report.relative_gap))),
            ("iterations", report.iterations.to_string()),
            ("training error", format!("{} %", percent(self.training_error(fit)?))),
            ("intercept", number(fit.intercept)),
            ("coefficients", format!("{}, {zeros} of them zero", fit.coef.len())),
        ])
    }

    fn path_table(&self, fits: &[Fit]) -> Result<Table, Failure> {
        let mut table = Table::new(&[
            "lambda",
            "objective",
            "relative gap",
            "iterations",
            "norm of w",
            "error %",
            "",
        ]);
        for fit in fits {
            table.row(vec![
                number(fit.lambda.get()),
                number(fit.report.objective),
                gap(fit.report.relative_gap),
                fit.report.iterations.to_string(),
                number(self.prepared.norm(fit).map_err(refusal)?),
                percent(self.training_error(fit)?),
                if fit.report.converged() { String::new() } else { "not certified".to_owned() },
            ]);
        }
        Ok(table)
    }
}

pub(crate) fn describe_cv(curve: &ErrorCurve, folds: usize) -> Vec<(&'static str, String)> {
    let at = |k: usize| {
        format!(
            "{}, error {} % +- {}",
            number(curve.lambdas[k].get()),
            percent(curve.mean_error[k]),
            percent(curve.standard_error[k])
        )
    };
    let certified = curve.certified.iter().filter(|&&certified| certified).count();
    vec![
        ("folds", folds.to_string()),
        ("certified", format!("{certified} of {} lambdas", curve.lambdas.len())),
        ("best lambda", at(curve.best)),
        ("one-SE lambda", at(curve.one_standard_error)),
    ]
}

fn kernel_table(kernels: &[KernelDocument]) -> Table {
    let mut table = Table::new(&["kernel", "best lambda", "error %", "se", ""]);
    for kernel in kernels {
        table.row(vec![
            kernel.kernel.clone(),
            number(kernel.best_lambda),
            percent(kernel.least_error),
            percent(kernel.standard_error),
            if kernel.all_certified { String::new() } else { "not certified".to_owned() },
        ]);
    }
    table
}

pub(crate) fn cv_table(curve: &ErrorCurve) -> Table {
    let mut table = Table::new(&["lambda", "error %", "se", "worst gap", ""]);
    for k in 0..curve.lambdas.len() {
        let mut notes = Vec::new();
        if k == curve.one_standard_error {
            notes.push("one-SE");
        }
        if k == curve.best {
            notes.push("best");
        }
        if !curve.certified[k] {
            notes.push("not certified");
        }
        if curve.abandoned[k] {
            notes.push("abandoned");
        }
        table.row(vec![
            number(curve.lambdas[k].get()),
            percent(curve.mean_error[k]),
            percent(curve.standard_error[k]),
            gap(curve.worst_relative_gap[k]),
            notes.join(", "),
        ]);
    }
    table
}
