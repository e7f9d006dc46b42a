//! The command that makes the largest loss small, by focused online learning.

mod checkpoint_file;
mod game;
mod learner;

use std::collections::BTreeMap;
use std::path::Path;

use margins::Registry;
use margins::boost::{Combination, Horizon, SlackKind, Subsample};
use margins::data::Dataset;
use margins::estimators::linear_model;
use margins::losses::ZeroOne;
use margins::optim::online::LinearClassifier;

use checkpoint_file::CheckpointFile;
use game::{Outcome, Setting};
use learner::Learner;

use crate::arguments::check;
use crate::arguments::focus::{FocusArguments, GameArguments};
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::output::data::DataDocument;
use crate::output::files::{input, keep_apart, output, report};
use crate::output::focus::FocusedDocument;
use crate::output::model::save_fit;
use crate::output::table::facts;
use crate::output::{VERSION, write_json};
use crate::specification::Specification;

/// Reads `--slack`.
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

/// Returns the rows that `--subsample` draws.
fn draw_rows(text: &str, rows: usize, seed: u64) -> Result<Vec<usize>, Failure> {
    let mut given = Specification::nameless("--subsample", text)?;
    let (outliers, rare) = (given.take("outliers")?, given.take("rare")?);
    given.finish("outliers and rare")?;
    let (Some(outliers), Some(rare)) = (outliers, rare) else {
        return Err(given.refuse("both counts are needed, as in outliers=5,rare=200"));
    };
    Ok(Subsample::new(rows, outliers, rare).map_err(Failure::usage)?.draw(seed))
}

/// The probability with which theorem 1 may fail.
const DELTA: f64 = 0.01;

pub(super) fn focus(registry: &Registry, arguments: &FocusArguments) -> Result<(), Failure> {
    let (game, to) = (&arguments.game, &arguments.output);
    keep_apart([
        Some(input("--data", &arguments.file.data)),
        output("--out", to.out()),
        output("--checkpoint", arguments.checkpoint()),
    ])?;
    let learner = Learner::parse(&arguments.learner.learner, registry)?;
    let default = if learner.is_linear() { Combination::Average } else { Combination::Majority };
    let combination = game.combine.map_or(default, Combination::from);
    check::focus(arguments, learner.is_linear(), learner.takes_kernel(), combination)?;
    // The ramp is the hinge loss clipped to [0, 1], as every loss of a game is.
    let ramp = if game.loss.trim() == "ramp" { "hinge" } else { &game.loss };
    let loss = registry.losses.parse(ramp).map_err(Failure::usage)?;
    let slack = game.slack.as_deref().map(parse_slack).transpose()?;
    let all = arguments.source().dataset()?;
    let rows = game.subsample.as_deref().map(|text| draw_rows(text, all.rows(), game.seed));
    let part = rows.transpose()?.map(|rows| all.select(&rows));
    let data = part.as_ref().unwrap_or(&all);
    let horizon = horizon(game, data)?;
    let setting = Setting {
        data,
        all: &all,
        loss: &*loss,
        horizon,
        combination,
        slack,
        seed: game.seed,
        file: arguments.checkpoint().map(|path| CheckpointFile {
            path,
            settings: repeated(arguments, combination, horizon),
        }),
        pause_at: arguments.pause_at(),
    };
    let kernel = arguments.learner.kernel.as_deref();
    let outcome = setting.play_with(learner, kernel, !arguments.learner.no_intercept, registry)?;
    if let Some(path) = to.out() {
        save(path, &all, data.rows(), outcome.classifier.as_ref())?;
    }
    let document = document(arguments, &setting, &outcome);
    report([to.out()], |out| match to.format() {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => facts(out, &document.lines(&arguments.file.data, &all)),
    })
}

/// Returns the number of steps and of classifiers taken, by theorem 1 unless told.
fn horizon(game: &GameArguments, data: &Dataset) -> Result<Horizon, Failure> {
    let theory = Horizon::classification(data.rows(), DELTA, data.rows() as f64);
    let theory = theory.map_err(Failure::job)?;
    let (steps, outputs) = (game.max_steps, game.outputs);
    Horizon::new(steps.unwrap_or(theory.rounds()), outputs.unwrap_or(theory.outputs()))
        .map_err(Failure::usage)
}

/// Returns the settings that a game must be resumed with.
fn repeated(
    arguments: &FocusArguments,
    combination: Combination,
    horizon: Horizon,
) -> BTreeMap<String, String> {
    let (game, learner) = (&arguments.game, &arguments.learner);
    let settings = [
        ("--learner", learner.learner.clone()),
        ("--kernel", learner.kernel.clone().unwrap_or_default()),
        ("--no-intercept", learner.no_intercept.to_string()),
        ("--combine", format!("{combination:?}").to_lowercase()),
        ("--slack", game.slack.clone().unwrap_or_default()),
        ("--subsample", game.subsample.clone().unwrap_or_default()),
        ("--max-steps", horizon.rounds().to_string()),
        ("--outputs", horizon.outputs().to_string()),
        ("--seed", game.seed.to_string()),
    ];
    settings.map(|(option, value)| (option.to_owned(), value)).into()
}

/// Writes the model of a game that ended with a linear classifier, learnt from that many rows.
fn save(
    path: &Path,
    data: &Dataset,
    rows: usize,
    classifier: Option<&LinearClassifier>,
) -> Result<(), Failure> {
    let Some(classifier) = classifier else {
        return Err(Failure::job("no classifier was taken before the end"));
    };
    let labels = data.labels();
    let classes = (labels.negative_class(), labels.positive_class());
    let names = data.feature_names().map(<[String]>::to_vec);
    // No probabilities follow from a game, whatever its loss is.
    save_fit(linear_model(&ZeroOne, None, classes, names, rows, classifier), path)
}

fn document<'a>(
    arguments: &'a FocusArguments,
    setting: &Setting<'_>,
    outcome: &'a Outcome,
) -> FocusedDocument<'a> {
    let (ending, evaluation) = (&outcome.ending, &outcome.evaluation);
    FocusedDocument {
        format: "margins-fol",
        version: VERSION,
        data: DataDocument::new(&arguments.file.data, setting.all),
        loss: setting.loss.specification(),
        learner: &arguments.learner.learner,
        kernel: outcome.kernel.as_deref(),
        combination: setting.combination,
        members: outcome.members,
        samples: setting.data.rows(),
        seed: setting.seed,
        steps: ending.rounds,
        max_steps: setting.horizon.rounds(),
        finished: ending.consistent_at.is_some() || ending.rounds == setting.horizon.rounds(),
        consistent: evaluation.consistent(),
        steps_to_consistency: ending.consistent_at,
        max_loss: evaluation.max_loss(),
        mean_loss: evaluation.mean_loss(),
        mistakes: evaluation.mistakes,
        losses: &evaluation.losses,
        outliers: outcome.outliers.as_ref().map(|rows| rows.iter().map(|row| row + 1).collect()),
        intercept: outcome.classifier.as_ref().map(|classifier| classifier.intercept),
        coef: outcome.classifier.as_ref().map(|classifier| classifier.coef.as_slice()),
    }
}
