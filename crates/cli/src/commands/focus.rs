//! The command that makes the largest loss small, by focused online learning.

mod classes;

use margins::boost::PlayerKind;
use margins::data::{ClassLabels, Dataset};
use margins::estimators::focused::{
    Checkpointing, EnsembleSettings, FittedEnsemble, FocusedLearner, Output,
};
use margins::estimators::regularised::DataSummary;
use margins::{Registry, Scheme};
use margins_report::Game;

use super::page::{Invocation, Page, title};
use crate::arguments::check;
use crate::arguments::focus::FocusArguments;
use crate::arguments::values::{GamesOfClasses, OutputFormat, name_of};
use crate::failure::Failure;
use crate::messages::step;
use crate::output::classes::ClassesDocument;
use crate::output::data::DataDocument;
use crate::output::files::{check_files, input, inputs, output, report};
use crate::output::focus::{FocusedDocument, GameData, TheoremDocument, ValidationDocument};
use crate::output::model::save;
use crate::output::table::facts;
use crate::output::warnings::{Warnings, no_better};
use crate::output::{VERSION, write_json};

/// The error about a model of a game that has taken no classifier yet.
const NO_MODEL: &str = "there is no model to save: the game ended before its first classifier";

pub(super) fn focus(
    registry: &Registry,
    arguments: &FocusArguments,
    invocation: &Invocation,
) -> Result<(), Failure> {
    let to = &arguments.output;
    check_files(inputs("--data", arguments.data.file.files()).chain([
        output("--out", to.out()),
        output("--checkpoint", arguments.checkpoint()),
        output("--report", arguments.page.path()),
        arguments.test.path().map(|file| input("--test", file)),
    ]))?;
    let test = arguments.test.file(&arguments.data.file)?;
    let settings = settings(registry, arguments)?;
    check::focus(arguments, &settings.learner)?;
    let page = Page::new(&arguments.page, registry, invocation, settings.seed)
        .with_test(test.as_ref().map(|file| arguments.data.of(file)));
    match arguments.learner.multi_class {
        Some(GamesOfClasses::Ovr) => classes::focus(arguments, &settings, page),
        Some(GamesOfClasses::Joint) => {
            let data = arguments.source().classes()?;
            let fitted = step("fitting", || settings.fit_joint(&data))?;
            let summary = DataSummary::of(&data);
            let about = ClassesDocument::new(arguments.data.name(), &summary);
            let kind =
                format!("focused online learning of {} classes", data.labels().names().len());
            report_game(arguments, &settings, page, &data, (&kind, about.into()), &fitted)
        }
        None => {
            let data = arguments.source().dataset()?;
            let fitted = step("fitting", || settings.fit(&data))?;
            let about = DataDocument::new(&arguments.data.name(), &DataSummary::of(&data));
            let kind = "focused online learning";
            report_game(arguments, &settings, page, &data, (kind, about.into()), &fitted)
        }
    }
}

/// Saves the model of a game, and reports on it: of what kind it is, and on what data.
fn report_game<Y: ClassLabels>(
    arguments: &FocusArguments,
    settings: &EnsembleSettings,
    page: Page<'_>,
    data: &Dataset<Y>,
    (kind, about): (&str, GameData<'_>),
    fitted: &FittedEnsemble,
) -> Result<(), Failure> {
    let to = &arguments.output;
    if let Some(path) = to.out() {
        save(fitted.model.as_ref().ok_or_else(|| Failure::job(NO_MODEL))?, path)?;
    }
    let mut warnings = Warnings::default();
    warnings.add_useless(worthless(fitted, settings.standardize));
    let document = document(settings, about, fitted);
    let lines = || Ok(document.lines(&arguments.data.name(), data));
    page.write(&title(&arguments.data.name(), kind), lines, warnings, |report| {
        fitted.outliers.iter().for_each(|rows| report.suspect(data, rows));
        report.game = Some(game(fitted)?);
        match &fitted.model {
            Some(model) => page.describe(report, model, Some(data)),
            None => {
                report.data.push(margins_report::DataSummary::of("training rows", data));
                Ok(())
            }
        }
    })?;
    report([to.out(), page.path], |out| match to.format() {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => facts(out, &document.lines(&arguments.data.name(), data)),
    })
}

/// Returns the sentence on an ensemble that errs no less often than the larger class alone, at the end of
/// a game that was not cut short.
fn worthless(fitted: &FittedEnsemble, standardized: bool) -> Option<String> {
    let error = fitted.training_error;
    let sentence = no_better("The ensemble", error, "the rows", fitted.baseline, standardized);
    sentence.filter(|_| fitted.is_finished())
}

/// Returns the end of the game for the page.
fn game(fitted: &FittedEnsemble) -> Result<Game, Failure> {
    let (ending, evaluation) = (&fitted.ending, &fitted.evaluation);
    let (rounds, most) = (ending.rounds, fitted.max_steps);
    let (losses, mistakes) = (&evaluation.losses, evaluation.mistakes());
    Game::new(rounds, most, ending.consistent_at, losses, mistakes).map_err(Failure::job)
}

fn settings(registry: &Registry, arguments: &FocusArguments) -> Result<EnsembleSettings, Failure> {
    let (game, learner) = (&arguments.game, &arguments.learner);
    // The ramp is the hinge loss clipped to [0, 1], as every loss of a game is.
    let loss = if game.loss.trim() == "ramp" { "hinge" } else { &game.loss };
    Ok(EnsembleSettings {
        learner: option("--learner", &learner.learner, |text| {
            FocusedLearner::parse(text, learner.kernel.as_deref(), registry)
        })?,
        loss: registry.losses.parse(loss).map_err(Failure::usage)?.into(),
        intercept: !learner.no_intercept,
        max_steps: game.max_steps,
        outputs: game.outputs,
        epsilon: game.epsilon,
        standardize: learner.standardize,
        output: Output::named(&name_of(&game.combine)).unwrap_or_default(),
        delta: game.delta,
        mistakes: game.mistakes(),
        player: PlayerKind::named(&name_of(&game.player)).unwrap_or_default(),
        slack: option("--slack", &game.slack, str::parse)?,
        class_weights: game.class_weight.rule(),
        class_costs: game.class_weight.costs()?,
        subsample: game
            .subsample
            .as_deref()
            .map(|text| option("--subsample", text, str::parse))
            .transpose()?,
        seed: game.seed,
        time_limit: game.time_limit,
        checkpoint: arguments
            .checkpoint()
            .map(|path| Checkpointing { path: path.to_owned(), pause_at: arguments.pause_at() }),
        ..EnsembleSettings::default()
    })
}

/// Returns what an option says, or the refusal of its text.
fn option<T>(
    name: &str,
    text: &str,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, Failure> {
    read(text).map_err(|reason| Failure::usage(format!("{name} '{text}': {reason}")))
}

fn document<'a>(
    settings: &EnsembleSettings,
    data: GameData<'a>,
    fitted: &'a FittedEnsemble,
) -> FocusedDocument<'a> {
    let (ending, evaluation) = (&fitted.ending, &fitted.evaluation);
    let single = fitted.model.as_ref().filter(|model| model.scheme() == Scheme::Binary);
    let member = single.filter(|model| model.basis().is_none()).map(|model| &model.members()[0]);
    FocusedDocument {
        format: "margins-focus",
        version: VERSION,
        data,
        loss: settings.loss.specification(),
        learner: &fitted.learner,
        kernel: fitted.kernel.as_deref(),
        epsilon: settings.epsilon,
        standardize: settings.standardize,
        combination: fitted.output.name(),
        player: settings.player.name(),
        validation: fitted.validation.map(ValidationDocument::new),
        theorem: TheoremDocument::new(&fitted.guarantee),
        seen_loss: fitted.seen.mean,
        loss_bound: fitted.seen.bound,
        members: fitted.ensemble.len(),
        samples: fitted.samples,
        seed: settings.seed,
        steps: ending.rounds,
        max_steps: fitted.max_steps,
        finished: fitted.is_finished(),
        status: fitted.status.name(),
        consistent: evaluation.consistent(),
        steps_to_consistency: ending.consistent_at,
        max_loss: evaluation.max_loss(),
        mean_loss: evaluation.mean_loss(),
        mistakes: evaluation.mistakes(),
        training_error: fitted.training_error,
        baseline_error: fitted.baseline,
        losses: &evaluation.losses,
        slack: fitted.slack.map(|slack| slack.to_string()),
        outliers: fitted.outliers.as_ref().map(|rows| rows.iter().map(|row| row + 1).collect()),
        intercept: member.map(|member| member.intercept),
        coef: member.map(|member| member.coef.as_slice()),
    }
}
