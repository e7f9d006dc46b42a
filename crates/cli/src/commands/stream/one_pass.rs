//! Stochastic gradient in one pass over a file of any size, in bounded memory.

use margins::data::metrics::{MistakeTally, is_mistake};
use margins::data::read::{Chunk, Stream};
use margins::estimators::linear_model;
use margins::losses::MarginLoss;
use margins::optim;
use margins::optim::online::stochastic::{StochasticGradient, pass};
use margins::optim::online::{OnlineLearner, Scorer};

use super::document;
use crate::arguments::stream::StreamArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::output::files::report;
use crate::output::model::save_fit;
use crate::output::stream::StreamDocument;
use crate::output::table::facts;
use crate::output::{VERSION, write_json};

pub(super) fn fit(
    arguments: &StreamArguments,
    loss: &dyn MarginLoss,
    method: &StochasticGradient,
) -> Result<(), Failure> {
    let (name, lambda) = (arguments.data.name(), arguments.lambda);
    let in_file = |error: optim::Error| Failure::job(format!("{name}: {error}"));
    let mut stream = arguments.data.source().stream(arguments.classes.classes.as_deref())?;
    let intercept = !arguments.penalty.no_intercept;
    // Nothing of the settings for streams depends on the number of steps.
    let learner = method.learner(loss, stream.columns(), lambda, intercept, 0);
    let mut learner = learner.map_err(margins::Error::Optim)?;
    let mut classes: Option<(String, String)> = None;
    let mut tally = MistakeTally::default();
    while let Some(chunk) = stream.next_chunk().map_err(Failure::job)? {
        count_mistakes(&learner, &chunk, &mut tally).map_err(in_file)?;
        let (signs, weights) = (chunk.labels.signs(), chunk.weights.as_deref());
        pass(&mut learner, &chunk.design, signs, weights, method.batch, chunk.before)
            .map_err(in_file)?;
        let labels = &chunk.labels;
        let names = || (labels.negative_class().to_owned(), labels.positive_class().to_owned());
        classes.get_or_insert_with(names);
    }
    let Some((negative, positive)) = classes else {
        return Err(Failure::job(format!("{name}: there are no samples")));
    };
    let Some(progressive_error) = tally.rate() else {
        return Err(Failure::job(format!("{name}: all weights are 0")));
    };
    let classifier = learner.snapshot();
    let to = &arguments.output;
    if let Some(path) = to.out() {
        let (names, rows) = (feature_names(&stream), stream.rows() as usize);
        let classes = (&*negative, &*positive);
        save_fit(linear_model(loss, Some(lambda), classes, names, rows, &classifier), path)?;
    }
    let document = StreamDocument {
        format: "margins-stream",
        version: VERSION,
        file: name,
        rows: stream.rows(),
        columns: stream.columns(),
        negative_class: &negative,
        positive_class: &positive,
        training: document(arguments, loss),
        lambda: lambda.get(),
        steps: learner.steps(),
        progressive_error,
        intercept: classifier.intercept,
        coef: &classifier.coef,
    };
    report([to.out()], |out| match to.format() {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => facts(out, &document.lines()),
    })
}

/// Counts the mistakes of a classifier on rows that it has not learnt from.
fn count_mistakes(
    classifier: &impl Scorer,
    chunk: &Chunk,
    tally: &mut MistakeTally,
) -> Result<(), optim::Error> {
    let scores: Vec<f64> = chunk.design.samples().map(|x| classifier.score(&x)).collect();
    optim::Error::check_scores(&scores, (chunk.before as usize..).take(scores.len()))?;
    for (i, (&score, &y)) in scores.iter().zip(chunk.labels.signs()).enumerate() {
        let weight = chunk.weights.as_ref().map_or(1.0, |weights| weights[i]);
        tally.add(is_mistake(score, y), weight);
    }
    Ok(())
}

fn feature_names(stream: &Stream<'_>) -> Option<Vec<String>> {
    stream.feature_names().map(<[String]>::to_vec)
}
