//! Fits by focused online learning: the maximal loss made small.

mod checkpoint_file;
mod learner;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use margins::Registry;
use margins::boost::{
    Checkpoint, Combination, Ensemble, Evaluation, FocusedPlayer, Fol, Game, GameOutcome, Horizon,
    KernelPerceptron, MultilayerPerceptron, Slack, SlackKind, Stop, StumpWinnow, Subsample,
};
use margins::data::{Dataset, Sample};
use margins::estimators::linear_model;
use margins::losses::{MarginLoss, ZeroOne};
use margins::model::TrainingSummary;
use margins::optim::online::{
    AveragedPerceptron, LinearClassifier, OnlineGradient, OnlineLearner, PassiveAggressive,
    Perceptron,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use checkpoint_file::CheckpointFile;
use learner::Learner;

use crate::Failure;
use crate::args::FitArguments;
use crate::choices::OutputFormat;
use crate::document::{DataDocument, VERSION};
use crate::files::{is_standard, report};
use crate::job::write_json;
use crate::model::save;
use crate::specification::Specification;
use crate::table::{facts, number, percent};

/// How focused online learning runs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Focused online learning (--solver fol)")]
pub(crate) struct FocusedArguments {
    /// Online learner: perceptron, averaged-perceptron, passive-aggressive (capped=C for PA-I, damped=C for PA-II),
    /// online-gradient:inverse-sqrt=1,radius=5,lambda=1e-3,loss=hinge (or constant=STEP, inverse-time=STEP; the loss comes
    /// last), stump:thresholds=20,eta=0.1, kernel-perceptron:budget=1000 (needs --kernel),
    /// mlp:hidden=32x16,step=0.05,loss=logistic [default: perceptron]
    #[arg(long, value_name = "LEARNER")]
    learner: Option<String>,
    /// Most steps; it ends before as soon as the ensemble is right on every sample [default: those that theorem 1 asks
    /// for with a learner that makes as many mistakes as there are samples]
    #[arg(long, value_name = "N")]
    max_steps: Option<u64>,
    /// Classifiers in the ensemble, taken before random steps [default: those that theorem 1 asks for]
    #[arg(long, value_name = "K")]
    outputs: Option<usize>,
    /// How they make one [default: average for linear classifiers, which is one, else majority]
    #[arg(long, value_name = "HOW")]
    combine: Option<CombinationName>,
    /// Slack for outliers: additive-sum:budget=5, additive-euclidean:budget=5, multiplicative:budget=5
    #[arg(long, value_name = "SLACK", conflicts_with = "subsample")]
    slack: Option<String>,
    /// Learn from a random part of the samples that outliers=K of them are likely not in, and of rare=M2 ones enough
    #[arg(long, value_name = "COUNTS")]
    subsample: Option<String>,
    /// Write the state to this file now and then and at the end; where it is there already, go on from it
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// End after this step, to go on later with the same --checkpoint
    #[arg(long, value_name = "STEP", requires = "checkpoint", conflicts_with = "out")]
    pause_at: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CombinationName {
    /// The sign that most classifiers vote for
    Majority,
    /// The mean of their scores
    Average,
}

impl From<CombinationName> for Combination {
    fn from(name: CombinationName) -> Self {
        match name {
            CombinationName::Majority => Combination::Majority,
            CombinationName::Average => Combination::Average,
        }
    }
}

impl FocusedArguments {
    /// The file of the state.
    pub(crate) fn checkpoint(&self) -> Option<&Path> {
        self.checkpoint.as_deref()
    }
}

/// What `--slack` says.
fn parse_slack(text: &str) -> Result<(SlackKind, f64), Failure> {
    let mut given = Specification::new("--slack", text)?;
    let kind = match given.name() {
        "additive-sum" => SlackKind::AdditiveSum,
        "additive-euclidean" => SlackKind::AdditiveEuclidean,
        "multiplicative" => SlackKind::Multiplicative,
        _ => {
            return Err(
                given.refuse("known are additive-sum, additive-euclidean and multiplicative")
            );
        }
    };
    let budget = given.take("budget")?;
    given.finish("budget")?;
    Ok((kind, budget.ok_or_else(|| given.refuse("its budget is missing, as in budget=5"))?))
}

/// The rows that `--subsample` draws.
fn draw_rows(text: &str, rows: usize, seed: u64) -> Result<Vec<usize>, Failure> {
    let mut given = Specification::nameless("--subsample", text)?;
    let (outliers, rare) = (given.take("outliers")?, given.take("rare")?);
    given.finish("outliers and rare")?;
    let (Some(outliers), Some(rare)) = (outliers, rare) else {
        return Err(given.refuse("both counts are needed, as in outliers=5,rare=200"));
    };
    Ok(Subsample::new(rows, outliers, rare).map_err(Failure::usage)?.draw(seed))
}

/// A game without what its learner is made of.
struct Setting<'a> {
    /// What is learnt from.
    data: &'a Dataset,
    /// All there is.
    all: &'a Dataset,
    loss: &'a dyn MarginLoss,
    horizon: Horizon,
    combination: Combination,
    slack: Option<(SlackKind, f64)>,
    seed: u64,
    file: Option<CheckpointFile<'a>>,
    pause_at: u64,
}

/// What a game left behind.
struct Outcome {
    ending: GameOutcome,
    evaluation: Evaluation,
    members: usize,
    /// The average, of linear classifiers.
    classifier: Option<LinearClassifier>,
    /// The flagged rows, from 0.
    outliers: Option<Vec<usize>>,
    /// Specification of the learner's kernel.
    kernel: Option<String>,
}

/// A checkpoint of a game with the learner `L`.
type Live<L> = Checkpoint<FocusedPlayer, L, <L as OnlineLearner>::Snapshot>;

/// How long the work of a game may be lost.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(60);

/// Steps between looks at the clock.
const STEPS_A_LOOK: u64 = 10_000;

impl Setting<'_> {
    /// Plays a game; `hold` takes the functions out of the learner for a file, `back` puts them in again.
    fn play<L, M, R>(
        &self,
        learner: L,
        hold: impl Fn(Live<L>) -> Checkpoint<FocusedPlayer, M, R>,
        back: impl Fn(Checkpoint<FocusedPlayer, M, R>) -> Live<L>,
        collapse: impl Fn(&Ensemble<L::Snapshot>) -> Option<LinearClassifier>,
    ) -> Result<Outcome, Failure>
    where
        L: OnlineLearner + Clone,
        M: Serialize + DeserializeOwned,
        R: Serialize + DeserializeOwned,
    {
        let mut game = match self.file.as_ref().map(CheckpointFile::read).transpose()?.flatten() {
            Some(state) => {
                let (design, labels) = (self.data.design(), self.data.labels());
                Game::resume(back(state), design, labels, self.loss).map_err(Failure::job)?
            }
            None => self.start(learner)?,
        };
        let write = |game: &Fol<'_, L>| match &self.file {
            Some(file) => file.write(&hold(game.checkpoint().clone())),
            None => Ok(()),
        };
        let mut written = Instant::now();
        let ending = loop {
            let next = self.pause_at.min(game.round().saturating_add(STEPS_A_LOOK));
            let ending = game.run_until(next, Stop::Consistent).map_err(Failure::job)?;
            if ending.consistent_at.is_some()
                || ending.rounds >= self.pause_at.min(self.horizon.rounds())
            {
                break ending;
            }
            if written.elapsed() >= BETWEEN_CHECKPOINTS {
                write(&game)?;
                written = Instant::now();
            }
        };
        write(&game)?;
        let (design, labels) = (self.all.design(), self.all.labels());
        let evaluation = Evaluation::new(game.ensemble(), design, labels, self.loss);
        Ok(Outcome {
            ending,
            evaluation: evaluation.map_err(Failure::job)?,
            members: game.ensemble().members().len(),
            classifier: match self.combination {
                Combination::Average => collapse(game.ensemble()),
                Combination::Majority => None,
            },
            outliers: game.slack().map(Slack::outliers),
            kernel: None,
        })
    }

    fn start<L: OnlineLearner>(&self, learner: L) -> Result<Fol<'_, L>, Failure> {
        let (design, labels) = (self.data.design(), self.data.labels());
        let player = FocusedPlayer::new(design.rows()).map_err(Failure::job)?;
        let game = Fol::new(player, learner, design, labels, self.horizon, self.seed);
        let game = game.map_err(Failure::job)?;
        let game = game.with_loss(self.loss).with_combination(self.combination);
        let Some((kind, budget)) = self.slack else { return Ok(game) };
        let slack = Slack::new(kind, design.rows(), budget, self.horizon.rounds());
        game.with_slack(slack.map_err(Failure::usage)?).map_err(Failure::job)
    }

    /// [`play`](Self::play) of a learner that holds no function.
    fn play_linear<L>(&self, learner: L) -> Result<Outcome, Failure>
    where
        L: OnlineLearner<Snapshot = LinearClassifier> + Clone + Serialize + DeserializeOwned,
    {
        self.play(learner, |state| state, |state| state, Ensemble::mean_classifier)
    }

    fn play_with(
        &self,
        learner: Learner,
        kernel: Option<&str>,
        has_intercept: bool,
        registry: &Registry,
    ) -> Result<Outcome, Failure> {
        let (design, p) = (self.data.design(), self.data.columns());
        match learner {
            Learner::Perceptron => self.play_linear(match has_intercept {
                true => Perceptron::new(p),
                false => Perceptron::new(p).without_intercept(),
            }),
            Learner::AveragedPerceptron => self.play_linear(match has_intercept {
                true => AveragedPerceptron::new(p),
                false => AveragedPerceptron::new(p).without_intercept(),
            }),
            Learner::PassiveAggressive(how) => {
                let learner = PassiveAggressive::new(p, how).map_err(Failure::usage)?;
                self.play_linear(if has_intercept { learner } else { learner.without_intercept() })
            }
            Learner::OnlineGradient { schedule, radius, lambda, loss } => {
                let loss = &*loss;
                let mut learner = OnlineGradient::new(loss, p, schedule).map_err(Failure::usage)?;
                if let Some(radius) = radius {
                    learner = learner.projected(radius).map_err(Failure::usage)?;
                }
                if let Some(lambda) = lambda {
                    learner = learner.penalized(lambda);
                }
                if !has_intercept {
                    learner = learner.without_intercept();
                }
                self.play(
                    learner,
                    |state| state.map(|learner| learner.map_loss(drop), |classifier| classifier),
                    |state| {
                        state.map(|learner| learner.map_loss(|()| loss), |classifier| classifier)
                    },
                    Ensemble::mean_classifier,
                )
            }
            Learner::Stump { thresholds, eta } => {
                let learner = StumpWinnow::new(design, thresholds, eta).map_err(Failure::usage)?;
                self.play(learner, |state| state, |state| state, |_| None)
            }
            Learner::KernelPerceptron { budget } => {
                let specification = kernel.unwrap_or_default();
                let kernel = registry.kernels.parse_for(specification, design, self.seed);
                let kernel = kernel.map_err(Failure::usage)?;
                let kernel = &*kernel;
                let value = |x: &Sample<'_>, z: &Sample<'_>| kernel.value(x, z);
                let learner = KernelPerceptron::new(value, budget, self.seed);
                let outcome = self.play(
                    learner.map_err(Failure::usage)?,
                    |state| state.map(|l| l.map_kernel(drop), |c| c.map_kernel(drop)),
                    |state| state.map(|l| l.map_kernel(|()| value), |c| c.map_kernel(|()| value)),
                    |_| None,
                )?;
                Ok(Outcome { kernel: Some(kernel.specification()), ..outcome })
            }
            Learner::MultilayerPerceptron { hidden, step, loss } => {
                let loss = &*loss;
                let learner = MultilayerPerceptron::new(p, &hidden, loss, step, self.seed);
                self.play(
                    learner.map_err(Failure::usage)?,
                    |state| state.map(|learner| learner.map_loss(drop), |network| network),
                    |state| state.map(|learner| learner.map_loss(|()| loss), |network| network),
                    |_| None,
                )
            }
        }
    }
}

/// What is said about a fit.
#[derive(Serialize)]
struct FocusedDocument<'a> {
    format: &'static str,
    version: u32,
    data: DataDocument,
    loss: String,
    learner: &'a str,
    /// Null unless the learner has one.
    kernel: Option<&'a str>,
    combination: Combination,
    /// Classifiers in the ensemble.
    members: usize,
    /// Samples learnt from.
    samples: usize,
    seed: u64,
    steps: u64,
    max_steps: u64,
    /// Whether it ended by consistency or by the most steps, and not by a pause.
    finished: bool,
    /// Whether the ensemble is right on every row.
    consistent: bool,
    /// The step by which it was known to be right on every sample learnt from; null if it never was.
    steps_to_consistency: Option<u64>,
    max_loss: f64,
    mean_loss: f64,
    mistakes: usize,
    /// One a row.
    losses: &'a [f64],
    /// Rows from 1, the largest slack first; null without slack.
    outliers: Option<Vec<usize>>,
    /// Null unless the ensemble is one linear classifier; and so the coefficients.
    intercept: Option<f64>,
    coef: Option<&'a [f64]>,
}

impl FocusedDocument<'_> {
    fn lines(&self, name: &str, data: &Dataset) -> Vec<(&'static str, String)> {
        let consistent = match (self.consistent, self.steps_to_consistency) {
            (true, Some(steps)) => format!("yes, after {steps} steps"),
            (true, None) => "yes".to_owned(),
            (false, _) => "no".to_owned(),
        };
        let combination = match self.combination {
            Combination::Majority => "majority",
            Combination::Average => "average",
        };
        let mut lines = vec![
            ("data", format!("{name}: {} rows, {} columns", data.rows(), data.columns())),
            ("loss", format!("{}, clipped to [0, 1]", self.loss)),
            ("learner", self.learner.to_owned()),
        ];
        lines.extend(self.kernel.map(|kernel| ("kernel", kernel.to_owned())));
        if self.samples != data.rows() {
            lines.push(("learnt from", format!("{} samples", self.samples)));
        }
        let pause = if self.finished { "" } else { ", paused" };
        lines.extend([
            ("steps", format!("{} of at most {}{pause}", self.steps, self.max_steps)),
            ("ensemble", format!("{combination} of {}", self.members)),
            ("consistent", consistent),
            ("maximal loss", number(self.max_loss)),
            ("mean loss", number(self.mean_loss)),
            ("training error", {
                let error = percent(self.mistakes as f64 / data.rows() as f64);
                format!("{error} %, {} of {}", self.mistakes, data.rows())
            }),
        ]);
        if let Some(outliers) = &self.outliers {
            const MOST: usize = 10;
            let first: Vec<String> = outliers.iter().take(MOST).map(usize::to_string).collect();
            let more = if outliers.len() > MOST { ", ..." } else { "" };
            let rows = format!("{} flagged: {}{more}", outliers.len(), first.join(", "));
            let rows = if outliers.is_empty() { "none flagged".to_owned() } else { rows };
            lines.push(("outliers", rows));
        }
        if let (Some(intercept), Some(coef)) = (self.intercept, self.coef) {
            lines.push(("intercept", number(intercept)));
            lines.push(("coefficients", coef.len().to_string()));
        }
        lines
    }
}

/// Theorem 1 may fail with this probability.
const DELTA: f64 = 0.01;

/// Refuses what has no meaning for this method, or for this learner.
fn check(
    arguments: &FitArguments,
    learner: &Learner,
    combination: Combination,
) -> Result<(), Failure> {
    let train = &arguments.train;
    let of_kernels = matches!(learner, Learner::KernelPerceptron { .. });
    if arguments.focused.checkpoint().is_some_and(is_standard) {
        return Err(Failure::usage("--checkpoint needs a file that can be read again, not -"));
    }
    if of_kernels != train.kernel.is_some() {
        return Err(Failure::usage("--learner kernel-perceptron, and no other, needs a --kernel"));
    }
    if train.no_intercept && !learner.is_linear() {
        return Err(Failure::usage("--no-intercept is for linear learners"));
    }
    if arguments.out.is_none() {
        return Ok(());
    }
    match (learner.is_linear(), combination) {
        (true, Combination::Average) => Ok(()),
        (true, Combination::Majority) => Err(Failure::usage(
            "a majority of linear classifiers is none: --out needs --combine average",
        )),
        (false, _) => Err(Failure::usage(
            "--out is for linear learners: no model file holds an ensemble of others",
        )),
    }
}

pub(crate) fn fit(registry: &Registry, arguments: &FitArguments) -> Result<(), Failure> {
    let (train, focused) = (&arguments.train, &arguments.focused);
    let text = focused.learner.as_deref().unwrap_or("perceptron");
    let learner = Learner::parse(text, registry)?;
    let default = if learner.is_linear() { Combination::Average } else { Combination::Majority };
    let combination = focused.combine.map_or(default, Combination::from);
    check(arguments, &learner, combination)?;
    // The ramp is the hinge loss clipped to [0, 1], as every loss of a game is.
    let ramp = if train.loss.trim() == "ramp" { "hinge" } else { &train.loss };
    let loss = registry.losses.parse(ramp).map_err(Failure::usage)?;
    let slack = focused.slack.as_deref().map(parse_slack).transpose()?;
    let all = arguments.data.dataset()?;
    let rows = focused.subsample.as_deref().map(|text| draw_rows(text, all.rows(), train.seed));
    let part = rows.transpose()?.map(|rows| all.select(&rows));
    let data = part.as_ref().unwrap_or(&all);
    let theory = Horizon::classification(data.rows(), DELTA, data.rows() as f64);
    let theory = theory.map_err(Failure::job)?;
    let horizon = Horizon::new(
        focused.max_steps.unwrap_or(theory.rounds()),
        focused.outputs.unwrap_or(theory.outputs()),
    )
    .map_err(Failure::usage)?;
    let settings = [
        ("--learner", text.to_owned()),
        ("--kernel", train.kernel.clone().unwrap_or_default()),
        ("--no-intercept", train.no_intercept.to_string()),
        ("--combine", format!("{combination:?}").to_lowercase()),
        ("--slack", focused.slack.clone().unwrap_or_default()),
        ("--subsample", focused.subsample.clone().unwrap_or_default()),
        ("--max-steps", horizon.rounds().to_string()),
        ("--outputs", horizon.outputs().to_string()),
        ("--seed", train.seed.to_string()),
    ];
    let file = focused.checkpoint.as_deref().map(|path| CheckpointFile {
        path,
        settings: settings.map(|(option, value)| (option.to_owned(), value)).into(),
    });
    let setting = Setting {
        data,
        all: &all,
        loss: &*loss,
        horizon,
        combination,
        slack,
        seed: train.seed,
        file,
        pause_at: focused.pause_at.unwrap_or(u64::MAX),
    };
    let kernel = train.kernel.as_deref();
    let outcome = setting.play_with(learner, kernel, !train.no_intercept, registry)?;
    let (ending, evaluation) = (outcome.ending, &outcome.evaluation);
    let finished = ending.consistent_at.is_some() || ending.rounds == horizon.rounds();
    if let Some(path) = &arguments.out {
        let Some(classifier) = &outcome.classifier else {
            return Err(Failure::job("no classifier was taken before the end"));
        };
        let labels = all.labels();
        let classes = (labels.negative_class(), labels.positive_class());
        let names = all.feature_names().map(<[String]>::to_vec);
        // No probabilities follow from a game, whatever its loss is.
        let rows = data.rows();
        save(
            linear_model(
                &ZeroOne,
                None,
                classes,
                names,
                TrainingSummary::uncertified(rows),
                classifier,
            ),
            path,
        )?;
    }
    let document = FocusedDocument {
        format: "margins-fol",
        version: VERSION,
        data: DataDocument::new(&arguments.data.data, &all),
        loss: loss.specification(),
        learner: text,
        kernel: outcome.kernel.as_deref(),
        combination,
        members: outcome.members,
        samples: data.rows(),
        seed: train.seed,
        steps: ending.rounds,
        max_steps: horizon.rounds(),
        finished,
        consistent: evaluation.consistent(),
        steps_to_consistency: ending.consistent_at,
        max_loss: evaluation.max_loss(),
        mean_loss: evaluation.mean_loss(),
        mistakes: evaluation.mistakes,
        losses: &evaluation.losses,
        outliers: outcome.outliers.map(|rows| rows.iter().map(|row| row + 1).collect()),
        intercept: outcome.classifier.as_ref().map(|classifier| classifier.intercept),
        coef: outcome.classifier.as_ref().map(|classifier| classifier.coef.as_slice()),
    };
    match train.format {
        OutputFormat::Json => report([arguments.out.as_deref()], |out| write_json(out, &document)),
        OutputFormat::Table => report([arguments.out.as_deref()], |out| {
            facts(out, &document.lines(&arguments.data.data, &all))
        }),
    }
}
