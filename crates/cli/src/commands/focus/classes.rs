//! Games of several classes, each against the rest.

use margins::data::ClassLabels;
use margins::estimators::focused::{EnsembleSettings, FittedEnsembles};
use margins::estimators::regularised::DataSummary;
use margins_report::DataSummary as ReportedData;

use super::super::page::{Page, title};
use super::NO_MODEL;
use crate::arguments::focus::FocusArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::messages::step;
use crate::output::classes::ClassesDocument;
use crate::output::files::report;
use crate::output::focus::{GameDocument, GamesDocument, TheoremDocument, ValidationDocument};
use crate::output::model::save;
use crate::output::table::facts;
use crate::output::warnings::{Warnings, no_better};
use crate::output::{VERSION, write_json};

/// Plays the games and reports on them.
pub(super) fn focus(
    arguments: &FocusArguments,
    settings: &EnsembleSettings,
    page: Page<'_>,
) -> Result<(), Failure> {
    let to = &arguments.output;
    let data = arguments.source().classes()?;
    let fitted = step("fitting", || settings.fit_classes(&data))?;
    if let Some(path) = to.out() {
        save(fitted.model.as_ref().ok_or_else(|| Failure::job(NO_MODEL))?, path)?;
    }
    let mut warnings = Warnings::default();
    let useless = no_better(
        "The decision",
        fitted.training_error,
        "the rows",
        fitted.baseline,
        settings.standardize,
    );
    warnings.add_useless(useless.filter(|_| fitted.is_finished()));
    let summary = DataSummary::of(&data);
    let table = ClassesDocument::new(arguments.data.name(), &summary);
    let document = document(settings, table, &fitted);
    let kind = format!("focused online learning of {} classes", data.labels().names().len());
    page.write(
        &title(&arguments.data.name(), &kind),
        || Ok([document.describe(), document.outcome()].concat()),
        warnings,
        |report| match &fitted.model {
            Some(model) => page.describe(report, model, Some(&data)),
            None => {
                report.data.push(ReportedData::of("training rows", &data));
                Ok(())
            }
        },
    )?;
    report([to.out(), page.path], |out| match to.format() {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => {
            facts(out, &document.describe())?;
            writeln!(out)?;
            document.table().write(out)?;
            writeln!(out)?;
            facts(out, &document.outcome())
        }
    })
}

fn document<'a>(
    settings: &EnsembleSettings,
    data: ClassesDocument<'a>,
    fitted: &'a FittedEnsembles,
) -> GamesDocument<'a> {
    let names = data.classes.iter().map(|class| class.name);
    let games: Vec<GameDocument<'a>> = names
        .zip(&fitted.classes)
        .map(|(name, class)| GameDocument {
            name,
            learner: &class.learner,
            members: class.ensemble.len(),
            samples: class.samples,
            steps: class.ending.rounds,
            max_steps: class.max_steps,
            status: class.status.name(),
            steps_to_consistency: class.ending.consistent_at,
            max_loss: class.evaluation.max_loss(),
            mean_loss: class.evaluation.mean_loss(),
            mistakes: class.evaluation.mistakes(),
            seen_loss: class.seen.mean,
            loss_bound: class.seen.bound,
            theorem: TheoremDocument::new(&class.guarantee),
            validation: class.validation.map(ValidationDocument::new),
            slack: class.slack.map(|slack| slack.to_string()),
            outliers: class.outliers.as_ref().map(|rows| rows.iter().map(|row| row + 1).collect()),
        })
        .collect();
    GamesDocument {
        format: "margins-focus-classes",
        version: VERSION,
        data,
        scheme: fitted.model.as_ref().map(|model| model.scheme().to_string()),
        loss: settings.loss.specification(),
        kernel: fitted.classes.first().and_then(|class| class.kernel.as_deref()),
        epsilon: settings.epsilon,
        delta: settings.delta,
        standardize: settings.standardize,
        combination: settings.output.name(),
        player: settings.player.name(),
        seed: settings.seed,
        finished: fitted.is_finished(),
        status: fitted.status.name(),
        consistent: fitted.wrong.is_empty(),
        steps_to_consistency: fitted.consistent_at(),
        mistakes: fitted.wrong.iter().map(|row| row + 1).collect(),
        training_error: fitted.training_error,
        baseline_error: fitted.baseline,
        games,
    }
}
