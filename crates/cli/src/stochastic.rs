//! Options of the gradient methods, and fits to streams.

use std::path::Path;

use clap::{Args, ValueEnum};
use margins::Registry;
use margins::data::metrics::{MistakeTally, is_mistake};
use margins::data::read::Stream;
use margins::estimators::linear_model;
use margins::losses::MarginLoss;
use margins::model::TrainingSummary;
use margins::optim::online::stochastic::{
    self, Averaging, EarlyStopping, Sampling, Schedule, Start, StochasticGradient,
};
use margins::optim::online::{OnlineLearner, Scorer};
use margins::optim::{self, Fit, Lambda, StepRule};

use crate::Failure;
use crate::args::{DataArguments, FitArguments};
use crate::choices::{OutputFormat, SolverName};
use crate::document::{StreamDocument, TrainDocument, VERSION};
use crate::files::{emit, report};
use crate::job::write_json;
use crate::model::save;
use crate::source::{self, STDIN};
use crate::table::{facts, number, percent};
use crate::train::refusal;

/// How the gradient methods run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Gradient methods (--solver gd, sgd, pegasos)")]
pub(crate) struct GradientArguments {
    /// gd: search, smooth for 2/(2 lambda + v), or a step length [default: search]. sgd: the first step length
    /// [default: 1, or that of the schedule]
    #[arg(long, value_name = "STEP", value_parser = step)]
    pub(crate) step: Option<Step>,
    /// sgd: how steps get shorter [default: bottou]
    #[arg(long, value_name = "HOW")]
    pub(crate) schedule: Option<ScheduleName>,
    /// sgd, pegasos: passes over the data [default: 10]
    #[arg(long, value_name = "N", conflicts_with = "stream")]
    pub(crate) epochs: Option<usize>,
    /// sgd, pegasos: none for the last iterate, polyak for the mean of all, suffix:SHARE for that of the last ones
    /// [default: none]
    #[arg(long, value_name = "WHICH", value_parser = averaging)]
    pub(crate) average: Option<Averaging>,
    /// sgd, pegasos: samples a step [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) batch: Option<usize>,
    /// sgd, pegasos: radius of the ball that coefficients are projected on, or none [default: none for sgd,
    /// 1/sqrt(2 lambda) for pegasos]
    #[arg(long, value_name = "RADIUS", value_parser = projection, allow_hyphen_values = true)]
    pub(crate) projection: Option<Projection>,
    /// sgd, pegasos: draw samples independently instead of in shuffled epochs
    #[arg(long, conflicts_with = "stream")]
    pub(crate) with_replacement: bool,
    /// sgd, pegasos: begin at random coefficients of this norm
    #[arg(long, value_name = "NORM", allow_hyphen_values = true)]
    pub(crate) random_start: Option<f64>,
    /// sgd on margin-pursuit: set its scale from the data, once, after this number of steps, and divide the steps by the
    /// factor that it grows by
    #[arg(long, value_name = "STEP", conflicts_with = "stream")]
    pub(crate) rescale_at: Option<u64>,
    /// sgd, pegasos: stop when this share of the samples, not trained on, has not improved for --patience epochs
    #[arg(long, value_name = "SHARE", conflicts_with = "stream")]
    pub(crate) hold_out: Option<f64>,
    /// Epochs without improvement before the end [default: 5]
    #[arg(long, value_name = "N", requires = "hold_out")]
    pub(crate) patience: Option<usize>,
    /// sgd, pegasos, massart-sgd: one pass over a file of any size in bounded memory; svmlight needs --columns
    #[arg(
        long,
        conflicts_with_all = ["standardize", "kernel", "history", "fold_column", "multi_class", "tol", "class_weight"]
    )]
    pub(crate) stream: bool,
    /// Labels of the negative and the positive class of a stream [default: the two of its first rows, in order]
    #[arg(
        long,
        value_name = "NEGATIVE,POSITIVE",
        requires = "stream",
        conflicts_with = "positive",
        allow_hyphen_values = true
    )]
    pub(crate) classes: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step {
    Search,
    Smooth,
    Length(f64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Projection {
    None,
    Radius(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScheduleName {
    /// STEP
    Constant,
    /// STEP / sqrt(t)
    InverseSqrt,
    /// STEP / t
    InverseTime,
    /// STEP / (1 + 2 lambda STEP t)
    Bottou,
    /// 1 / (scale sqrt(lambda) t), of the margin-pursuit loss
    MarginPursuit,
}

fn length(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("'{text}' is not a number"))
}

fn step(text: &str) -> Result<Step, String> {
    match text {
        "search" => Ok(Step::Search),
        "smooth" => Ok(Step::Smooth),
        _ => length(text).map(Step::Length),
    }
}

fn projection(text: &str) -> Result<Projection, String> {
    if text == "none" { Ok(Projection::None) } else { length(text).map(Projection::Radius) }
}

fn averaging(text: &str) -> Result<Averaging, String> {
    match text.split_once(':') {
        None if text == "none" => Ok(Averaging::None),
        None if text == "polyak" => Ok(Averaging::Polyak),
        Some(("suffix", share)) => length(share).map(Averaging::Suffix),
        _ => Err("expected none, polyak or suffix:SHARE".to_owned()),
    }
}

impl GradientArguments {
    /// The step of gradient descent.
    pub(crate) fn step_rule(&self) -> StepRule {
        match self.step {
            None | Some(Step::Search) => StepRule::LineSearch,
            Some(Step::Smooth) => StepRule::Smooth,
            Some(Step::Length(length)) => StepRule::Fixed(length),
        }
    }

    /// How a stochastic solver runs.
    pub(crate) fn settings(
        &self,
        arguments: &FitArguments,
        loss: &dyn MarginLoss,
        lambda: Lambda,
    ) -> Result<StochasticGradient, Failure> {
        let train = &arguments.train;
        let settings = match train.solver.name() {
            SolverName::Pegasos if loss.name() != "hinge" => {
                let found = loss.name();
                let reason = format!(
                    "pegasos is stochastic gradient on the hinge loss: say --loss hinge, or --solver \
                     sgd for '{found}'"
                );
                return Err(Failure::usage(reason));
            }
            SolverName::Pegasos => StochasticGradient::pegasos(lambda),
            _ => StochasticGradient::new(self.schedule(loss, lambda)?),
        };
        if self.stream && matches!(self.average, Some(Averaging::Suffix(_))) {
            let reason =
                "the mean of the last steps needs their number, which a stream does not tell";
            return Err(Failure::usage(reason));
        }
        let settings = StochasticGradient {
            epochs: self.epochs.unwrap_or(settings.epochs),
            averaging: self.average.unwrap_or_default(),
            batch: self.batch.unwrap_or(1),
            projection: match self.projection {
                None => settings.projection,
                Some(Projection::None) => None,
                Some(Projection::Radius(radius)) => Some(radius),
            },
            sampling: if self.with_replacement {
                Sampling::WithReplacement
            } else {
                Sampling::Shuffled
            },
            start: self.random_start.map_or(Start::Origin, Start::Random),
            early_stopping: self
                .hold_out
                .map(|hold_out| EarlyStopping { hold_out, patience: self.patience.unwrap_or(5) }),
            seed: train.seed,
            tolerance: train.tol,
            history: arguments.history.is_some(),
            ..settings
        };
        settings.check().map_err(Failure::usage)?;
        Ok(settings)
    }

    fn schedule(&self, loss: &dyn MarginLoss, lambda: Lambda) -> Result<Schedule, Failure> {
        let first = match self.step {
            Some(Step::Length(length)) => Some(length),
            None => None,
            Some(Step::Search | Step::Smooth) => {
                return Err(Failure::usage("--solver sgd needs a number for its --step"));
            }
        };
        let length = first.unwrap_or(1.0);
        Ok(match self.schedule.unwrap_or(ScheduleName::Bottou) {
            ScheduleName::Constant => Schedule::Constant(length),
            ScheduleName::InverseSqrt => Schedule::InverseSqrt(length),
            ScheduleName::InverseTime => Schedule::InverseTime(length),
            ScheduleName::Bottou => match first {
                Some(first) => Schedule::Bottou { first, lambda },
                None => Schedule::bottou(loss, lambda),
            },
            ScheduleName::MarginPursuit => match (margin_pursuit(loss), first) {
                (Some((_, scale)), None) => Schedule::margin_pursuit(scale, lambda),
                (Some(_), Some(_)) => {
                    return Err(Failure::usage("--schedule margin-pursuit sets its own --step"));
                }
                (None, _) => {
                    return Err(Failure::usage("--schedule margin-pursuit is for that --loss"));
                }
            },
        })
    }
}

/// Level and scale of a margin-pursuit loss.
pub(crate) fn margin_pursuit(loss: &dyn MarginLoss) -> Option<(f64, f64)> {
    let parameters = loss.parameters();
    let get = |key| parameters.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
    if loss.name() == "margin-pursuit" { get("gamma").zip(get("scale")) } else { None }
}

/// One row an iteration.
pub(crate) fn write_history(path: &Path, fit: &Fit, rows: usize) -> Result<(), Failure> {
    emit(Some(path), |out| {
        writeln!(
            out,
            "iteration,gradients,passes,objective,relative_gap,training_error,margin_mean,\
             margin_variance,margin_skewness"
        )?;
        for entry in &fit.report.history {
            let gradients = entry.passes.div_ceil(2) * rows;
            let (i, passes, margins) = (entry.iteration, entry.passes, entry.margins);
            writeln!(
                out,
                "{i},{gradients},{passes},{},{},{},{},{},{}",
                entry.objective,
                entry.relative_gap,
                margins.error,
                margins.mean,
                margins.variance,
                margins.skewness
            )?;
        }
        Ok(())
    })
}

/// One pass over a file.
pub(crate) fn fit_stream(registry: &Registry, arguments: &FitArguments) -> Result<(), Failure> {
    let (train, gradient) = (&arguments.train, &arguments.gradient);
    let lambda = arguments.lambda()?;
    let loss = train.loss(registry)?;
    let settings = gradient.settings(arguments, &*loss, lambda)?;
    let mut stream = arguments.stream()?;
    let wrong = |error| refusal(margins::Error::Optim(error));
    let intercept = !train.no_intercept;
    // Nothing of the settings for streams depends on the number of steps.
    let learner = settings.learner(&*loss, stream.columns(), lambda, intercept, 0);
    let mut learner = learner.map_err(wrong)?;
    let in_file = |error| Failure::job(format!("{}: {error}", arguments.data.data));
    let mut seen: Option<(String, String)> = None;
    let mut tally = MistakeTally::default();
    while let Some(chunk) = stream.next_chunk().map_err(Failure::job)? {
        let signs = chunk.labels.signs();
        let scores: Vec<f64> = chunk.design.samples().map(|x| learner.score(&x)).collect();
        let rows = (chunk.before as usize..).take(scores.len());
        optim::Error::check_scores(&scores, rows).map_err(in_file)?;
        let weights = chunk.weights.as_deref();
        for (i, (&score, &y)) in scores.iter().zip(signs).enumerate() {
            let weight = weights.map_or(1.0, |weights| weights[i]);
            tally.add(is_mistake(score, y), weight);
        }
        stochastic::pass(&mut learner, &chunk.design, signs, weights, settings.batch, chunk.before)
            .map_err(in_file)?;
        let names =
            || (chunk.labels.negative_class().to_owned(), chunk.labels.positive_class().to_owned());
        seen.get_or_insert_with(names);
    }
    let Some((negative, positive)) = seen else {
        return Err(Failure::job(format!("{}: there are no samples", arguments.data.data)));
    };
    let classifier = learner.snapshot();
    let Some(progressive_error) = tally.rate() else {
        return Err(Failure::job(format!("{}: all weights are 0", arguments.data.data)));
    };
    if let Some(path) = &arguments.out {
        let names = stream.feature_names().map(<[String]>::to_vec);
        let rows = stream.rows() as usize;
        let classes = (&*negative, &*positive);
        save(
            linear_model(
                &*loss,
                Some(lambda),
                classes,
                names,
                TrainingSummary::uncertified(rows),
                &classifier,
            ),
            path,
        )?;
    }
    let document = StreamDocument {
        format: "margins-stream",
        version: VERSION,
        file: &arguments.data.data,
        rows: stream.rows(),
        columns: stream.columns(),
        negative_class: &negative,
        positive_class: &positive,
        training: TrainDocument::new(train, loss.specification(), None),
        lambda: lambda.get(),
        steps: learner.steps(),
        progressive_error,
        intercept: classifier.intercept,
        coef: &classifier.coef,
    };
    match train.format {
        OutputFormat::Json => report([arguments.out.as_deref()], |out| write_json(out, &document)),
        OutputFormat::Table => {
            let (rows, columns) = (document.rows, document.columns);
            let lines = [
                ("data", format!("{}: {rows} rows, {columns} columns", document.file)),
                ("classes", format!("'{positive}' positive, '{negative}' negative")),
                ("loss", loss.specification()),
                ("lambda", number(document.lambda)),
                ("steps", document.steps.to_string()),
                ("progressive error", format!("{} %", percent(progressive_error))),
                ("intercept", number(classifier.intercept)),
                ("coefficients", classifier.coef.len().to_string()),
            ];
            report([arguments.out.as_deref()], |out| facts(out, &lines))
        }
    }
}

impl FitArguments {
    /// The data as a stream, with the classes if they are told.
    pub(crate) fn stream(&self) -> Result<Stream<'static>, Failure> {
        let classes = match &self.gradient.classes {
            None => None,
            Some(pair) => match pair.split_once(',') {
                Some((negative, positive)) => Some([negative, positive]),
                None => return Err(Failure::usage("--classes needs two labels and a comma")),
            },
        };
        self.data.stream(classes)
    }
}

impl DataArguments {
    fn stream(&self, classes: Option<[&str; 2]>) -> Result<Stream<'static>, Failure> {
        let options = self.read_options();
        match self.standard_input(&options)? {
            Some(format) => Stream::from_reader(std::io::stdin(), STDIN, format, &options, classes),
            None => Stream::open(&self.data, &options, classes),
        }
        .map_err(source::refusal)
    }
}
