//! The commands `fit` and `path`, and what all that fit have in common.

use indicatif::{ProgressBar, ProgressStyle};
use margins::data::Dataset;
use margins::losses::MarginLoss;
use margins::optim::{
    self, ClassWeights, Fit, Lambda, Observed, Observer, Options, Status, StepRule, Training,
};
use margins::robust::Learner;
use margins::{ClassCosts, Prepared, Registry, TimeLimit, kernels};

use crate::Failure;
use crate::args::{FitArguments, PathArguments, TrainArguments};
use crate::choices::{ClassWeight, FOL, OutputFormat, Probability, SolverChoice};
use crate::files::{emit, input, keep_apart, output, report};
use crate::focused;
use crate::job::{Job, warn_of_gaps};
use crate::massart;
use crate::model::save;
use crate::multiclass;
use crate::probability::scaled;
use crate::stochastic::{self, margin_pursuit};
use crate::table::facts;

impl TrainArguments {
    /// The settings of the fits, that end by the time limit.
    pub(crate) fn training<'a>(
        &self,
        loss: &'a dyn MarginLoss,
        observer: &'a Observer<'a>,
        limit: Option<TimeLimit>,
    ) -> Training<'a, dyn MarginLoss + 'a> {
        Training {
            intercept: !self.no_intercept,
            standardize: self.standardize,
            class_weights: match self.class_weight {
                ClassWeight::None | ClassWeight::Costs(_) => ClassWeights::AsGiven,
                ClassWeight::Balanced => ClassWeights::Balanced,
            },
            options: Options {
                solver: self.solver.name().with_settings(self.seed, StepRule::default()),
                tolerance: self.tol,
                max_iterations: self.max_iterations,
                deadline: limit.and_then(|limit| limit.of_fit()),
                ..Options::default()
            },
            observer,
            ..Training::new(loss)
        }
    }

    /// The limit on the time of a search that begins now.
    pub(crate) fn limit(&self) -> Option<TimeLimit> {
        self.time_limit.map(TimeLimit::new)
    }

    /// The data with the costs of their classes.
    pub(crate) fn weigh(&self, data: Dataset) -> Result<Dataset, Failure> {
        match &self.class_weight {
            ClassWeight::Costs(costs) => Ok(ClassCosts::new(costs.clone())?.weigh(data)?),
            ClassWeight::None | ClassWeight::Balanced => Ok(data),
        }
    }

    /// Refuses solvers of single fits for what needs many.
    pub(crate) fn check_path(&self) -> Result<(), Failure> {
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
    pub(crate) fn prepare<'d>(
        &self,
        registry: &Registry,
        data: &'d Dataset,
    ) -> Result<Prepared<'d>, Failure> {
        match &self.kernel {
            None => Ok(Prepared::linear(data)),
            Some(kernel) => self.prepare_kernel(kernel, registry, data),
        }
    }

    pub(crate) fn prepare_kernel<'d>(
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
            _ => {
                let ends: Vec<Status> = fits.iter().map(|fit| fit.report.status).collect();
                warn_of_gaps(fits.iter().map(|fit| fit.report.converged()), None, &ends);
            }
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
    let (train, gradient) = (&arguments.train, &arguments.gradient);
    keep_apart([
        Some(input("--data", &arguments.data.data)),
        output("--out", arguments.out.as_deref()),
        output("--history", arguments.history.as_deref()),
        output("--checkpoint", arguments.focused.checkpoint()),
    ])?;
    train.check_probability()?;
    match (train.multi_class, train.solver) {
        (Some(scheme), _) => multiclass::fit(registry, arguments, scheme),
        (None, SolverChoice::Focused) => focused::fit(registry, arguments),
        (None, SolverChoice::Massart(learner)) => massart::fit(arguments, learner),
        (None, _) if gradient.stream => stochastic::fit_stream(registry, arguments),
        (None, _) => fit_data(registry, arguments),
    }
}

/// A fit of an objective to data in memory.
fn fit_data(registry: &Registry, arguments: &FitArguments) -> Result<(), Failure> {
    let (train, lambda) = (&arguments.train, arguments.lambda()?);
    let loss = train.loss(registry)?;
    let data = arguments.data.dataset()?;
    let sample_weights = data.weights().map(<[f64]>::to_vec);
    let data = train.weigh(data)?;
    let limit = train.limit();
    let (prepared, fit, rescaled, platt) = train.on_threads(|| {
        let mut training = train.training(&*loss, &|_| {}, limit);
        training.options.history = arguments.history.is_some();
        training.options.solver =
            train.solver.name().with_settings(train.seed, arguments.gradient.step_rule());
        let prepared = train.prepare(registry, &data)?;
        let (fit, rescaled) = match train.solver.name().of_paths() {
            Some(_) => (one(train.fits(&prepared, &training, &[lambda])?), None),
            None => stochastic_fit(arguments, &training, &data, lambda)?,
        };
        let source = (&data, None);
        let platt =
            train.platt(&prepared, &training, source, &[lambda], sample_weights.as_deref())?;
        Ok((prepared, fit, rescaled, platt))
    })?;
    let loss = rescaled.unwrap_or(loss);
    if let Some(path) = &arguments.history {
        stochastic::write_history(path, &fit, data.rows())?;
    }
    let fits = [fit];
    if train.solver.name().of_paths().is_some() {
        train.warn(&fits);
    }
    if let Some(path) = &arguments.out {
        let model = prepared.model(&*loss, train.standardize, &fits[0]);
        save(model.map(|model| scaled(model, platt)), path)?;
    }
    let job = Job { name: &arguments.data.data, train, loss: &*loss, data: &data, prepared };
    let outputs = [arguments.out.as_deref(), arguments.history.as_deref()];
    match train.format {
        OutputFormat::Json => job.write_path("margins-fit", &fits, platt.as_ref(), &outputs),
        OutputFormat::Table => {
            let lines = [job.describe(), job.describe_fit(&fits[0])?].concat();
            report(outputs, |out| facts(out, &lines))
        }
    }
}

/// The fit at the only lambda.
fn one(mut fits: Vec<Fit>) -> Fit {
    fits.swap_remove(0)
}

/// A fit by stochastic gradient, with its loss if that was re-scaled on the way.
fn stochastic_fit(
    arguments: &FitArguments,
    training: &Training<'_, dyn MarginLoss + '_>,
    data: &Dataset,
    lambda: Lambda,
) -> Result<(Fit, Option<Box<dyn MarginLoss>>), Failure> {
    let wrong = |error: optim::Error| refusal(error.into());
    let settings = arguments.gradient.settings(arguments, training.loss, lambda)?;
    let Some(at) = arguments.gradient.rescale_at else {
        return Ok((training.stochastic(data, lambda, &settings).map_err(wrong)?, None));
    };
    let Some((gamma, scale)) = margin_pursuit(training.loss) else {
        return Err(Failure::usage("--rescale-at is for the loss margin-pursuit"));
    };
    let rule = margins::data_driven_scale(gamma, scale, lambda);
    let fit = training.stochastic_rescaled(data, lambda, &settings, at, rule);
    let (fit, rescaled) = fit.map_err(wrong)?;
    Ok((fit, Some(rescaled)))
}

pub(crate) fn path(registry: &Registry, arguments: &PathArguments) -> Result<(), Failure> {
    let train = &arguments.train;
    if train.multi_class.is_some() {
        return Err(Failure::usage("--multi-class is for fit and cv, not for path"));
    }
    if train.probability == Probability::Platt {
        return Err(Failure::usage("--probability platt is for fit and cv, not for path"));
    }
    let loss = train.loss(registry)?;
    let data = train.weigh(arguments.data.dataset()?)?;
    let lambdas = &arguments.grid.lambdas.0;
    let bar = progress(lambdas.len());
    let observer = |_: &Observed<'_>| bar.inc(1);
    let training = train.training(&*loss, &observer, train.limit());
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
        OutputFormat::Json => job.write_path("margins-path", &fits, None, &[]),
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

/// What the method asked for cannot take is a matter of usage, all else one of the job.
pub(crate) fn refusal(error: margins::Error) -> Failure {
    use kernels::Error as Kernels;
    use margins::robust::Error as Robust;
    use optim::Error as Optim;
    let of_solver = |inner: &Optim| {
        matches!(
            inner,
            Optim::Unsuitable { .. }
                | Optim::TooLargeForMm { .. }
                | Optim::LinearOnly
                | Optim::Parameter { .. }
        )
    };
    let of_learner = |inner: &Robust| match inner {
        Robust::FreeIntercept | Robust::Blocks { .. } | Robust::Parameter { .. } => true,
        Robust::Optim(inner) => of_solver(inner),
        _ => false,
    };
    match &error {
        margins::Error::Optim(inner) | margins::Error::Kernels(Kernels::Optim(inner))
            if of_solver(inner) =>
        {
            Failure::usage(error)
        }
        margins::Error::Robust(inner) if of_learner(inner) => Failure::usage(error),
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
