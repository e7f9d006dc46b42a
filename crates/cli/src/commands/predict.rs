//! The command that applies a model.

mod csv_rows;
mod decision;
mod scored;

use std::io::{self, Write};
use std::path::Path;

use margins::Registry;
use margins::data::read::Unlabelled;

use crate::arguments::check;
use crate::arguments::predict::PredictArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::messages::step;
use crate::output::files::{check_files, emit, input, inputs, is_standard, output};
use crate::output::predictions::{
    ClassPredictionDocument, PredictionDocument, describe, describe_classes,
};
use crate::output::table::facts;
use crate::output::warnings::{of_no_weights, of_unknown_levels, tell};
use crate::output::{VERSION, write_json};
use crate::source::read_model_at;
use csv_rows::CsvRows;
use decision::Decision;
use scored::{Scored, Scorer};

/// The end of a table before its last row.
enum Stop {
    /// The rows could not be written.
    Write(io::Error),
    Failure(Failure),
}

impl From<margins::data::Error> for Stop {
    fn from(error: margins::data::Error) -> Self {
        Stop::Failure(error.into())
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Stop::Failure(failure)
    }
}

/// Returns the file of the predictions; `None` for standard output, which they have to themselves.
fn file(arguments: &PredictArguments) -> Option<&Path> {
    arguments.out().filter(|path| !is_standard(path))
}

pub(super) fn predict(registry: &Registry, arguments: &PredictArguments) -> Result<(), Failure> {
    check_files(
        inputs("--data", arguments.file.files())
            .chain([Some(input("--model", &arguments.model)), output("--out", arguments.out())]),
    )?;
    check::decision(&arguments.decision)?;
    let (_, model) = read_model_at(&arguments.model, arguments.lambda, registry)?;
    let loss = registry.losses.parse(model.loss()).map_err(Failure::job)?;
    let decision = Decision::new(&arguments.decision, &model, &*loss)?;
    let scorer = Scorer { model: &model, loss: &*loss, registry, decision };
    step(format!("predicting {}", arguments.file.name()), || match arguments.output.format {
        OutputFormat::Json => json(arguments, &scorer),
        OutputFormat::Table => table(arguments, &scorer),
    })
}

/// Writes one document, for which all predictions are held in memory.
fn json(arguments: &PredictArguments, scorer: &Scorer<'_>) -> Result<(), Failure> {
    let mut all = Scored::default();
    each_block(arguments, scorer, |scored| {
        all.append(scored);
        Ok::<(), Failure>(())
    })?;
    let Scorer { model, .. } = *scorer;
    let (model_file, data) = (arguments.model.display().to_string(), arguments.file.name());
    if model.scores_per_sample() == 1 {
        let by_loss = model.probability(scorer.loss, 0.0).is_some()
            && model.members().iter().all(|member| member.platt.is_none());
        let of_loss = by_loss.then(|| scorer.loss.undecided_scores()).flatten();
        let document = PredictionDocument {
            format: "margins-predictions",
            version: VERSION,
            model: model_file,
            data,
            rows: all.rows(),
            undecided_scores: of_loss.map(|scores| [scores.lower, scores.upper]),
            metrics: all.measure(model),
            predictions: all.predictions(model),
        };
        return emit(arguments.out(), |out| write_json(out, &document));
    }
    let document = ClassPredictionDocument {
        format: "margins-multiclass-predictions",
        version: VERSION,
        model: model_file,
        data,
        rows: all.rows(),
        scheme: model.scheme().to_string(),
        classes: model.classes(),
        metrics: all.measure_classes(model),
        predictions: all.class_predictions(model),
    };
    emit(arguments.out(), |out| write_json(out, &document))
}

/// Writes a row per sample as the samples are read. What measures are made of is kept where they are
/// shown, and nothing else is.
fn table(arguments: &PredictArguments, scorer: &Scorer<'_>) -> Result<(), Failure> {
    let model = scorer.model;
    let (mut all, mut rows) = (Scored::default(), 0);
    let measured = file(arguments).is_some();
    let mut failure = None;
    let written = emit(arguments.out(), |out| {
        let written = write_rows(arguments, scorer, out, |scored| {
            rows += scored.rows();
            match measured && scored.has_labels() {
                true if model.scores_per_sample() == 1 => all.append(scored),
                true => all.append_classes(scored),
                false => {}
            }
        });
        match written {
            Ok(()) => Ok(()),
            Err(Stop::Write(error)) => Err(error),
            Err(Stop::Failure(reason)) => {
                failure = Some(reason);
                Err(io::Error::other("the predictions end too early"))
            }
        }
    });
    failure.map_or(written, Err)?;
    let Some(path) = file(arguments) else { return Ok(()) };
    let lines = match model.scores_per_sample() {
        1 => describe(path, rows, all.measure(model).as_ref()),
        _ => describe_classes(path, rows, all.measure_classes(model).as_ref()),
    };
    emit(None, |out| facts(out, &lines))
}

/// Writes the predictions in the order of the rows, and hands them to `keep`.
fn write_rows(
    arguments: &PredictArguments,
    scorer: &Scorer<'_>,
    out: &mut dyn Write,
    mut keep: impl FnMut(Scored),
) -> Result<(), Stop> {
    let csv = CsvRows::new(scorer.model);
    let mut is_first = true;
    let rows = |scored: Scored| (csv.of(&scored), scored);
    each_block_with(arguments, scorer, rows, |(text, scored)| {
        if std::mem::take(&mut is_first) {
            let header = csv.header(scored.probabilities.is_some());
            out.write_all(&header).map_err(Stop::Write)?;
        }
        out.write_all(&text).map_err(Stop::Write)?;
        keep(scored);
        Ok(())
    })
}

/// Scores the rows, and calls `take` for each block in their order.
fn each_block<E: From<margins::data::Error> + From<Failure>>(
    arguments: &PredictArguments,
    scorer: &Scorer<'_>,
    take: impl FnMut(Scored) -> Result<(), E>,
) -> Result<(), E> {
    each_block_with(arguments, scorer, |scored| scored, take)
}

/// Scores the rows, and calls `turn` for several blocks at the same time and `take` for the results in
/// order.
fn each_block_with<T: Send, E: From<margins::data::Error> + From<Failure>>(
    arguments: &PredictArguments,
    scorer: &Scorer<'_>,
    turn: impl Fn(Scored) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let name = arguments.file.name();
    let (mut before, mut unknown_levels, mut unweighted) = (0, 0, false);
    let turn = |data: Unlabelled| {
        let rows = data.design.rows() + data.dropped.len();
        let seen = (rows, data.unknown_levels, data.labels.is_some() && data.weights.is_none());
        scorer.score(data).map(|scored| (seen, turn(scored)))
    };
    let take = |result: Result<((usize, usize, bool), T), margins::model::Error>| {
        let shifted = |error| Failure::job(format!("{name}: {}", scored::shifted(error, before)));
        let ((rows, unknown, without_weights), result) = result.map_err(shifted)?;
        before += rows;
        unknown_levels += unknown;
        unweighted |= without_weights;
        take(result)
    };
    let source = arguments.source();
    source.each_block(scorer.model, turn, take)?;
    let weights = source.weights_column.filter(|_| unweighted);
    let sentences = [of_unknown_levels(&name, unknown_levels), of_no_weights(&name, weights)];
    sentences.iter().flatten().for_each(|sentence| tell(sentence));
    Ok(())
}
