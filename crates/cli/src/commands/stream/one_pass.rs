//! Stochastic gradient in one pass over a file of any size, in bounded memory.

use margins::Error;
use margins::data::Counted;
use margins::estimators::stream::StreamSettings;

use super::document;
use crate::arguments::stream::StreamArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::messages::{step, warn};
use crate::output::files::report;
use crate::output::model::save;
use crate::output::stream::{ClassNames, Function, StreamDocument};
use crate::output::table::facts;
use crate::output::warnings::{of_stochastic_step, refuse_contradiction, tell};
use crate::output::{VERSION, write_json};

pub(super) fn fit(arguments: &StreamArguments, settings: &StreamSettings) -> Result<(), Failure> {
    let (name, to) = (arguments.data.name(), &arguments.output);
    let source = arguments.source();
    let several = arguments.multi_class.is_some();
    let mut stream = source.stream(arguments.classes.classes.as_deref(), several)?;
    let fit = |stream: &mut _| match several {
        true => settings.fit_stream_of_classes(stream),
        false => settings.fit_stream(stream),
    };
    let streamed = step("fitting", || fit(&mut stream)).map_err(|error| match error {
        Error::Optim(_) | Error::EmptyStream | Error::ZeroWeights => {
            Failure::job(format!("{name}: {error}"))
        }
        error => Failure::from(error),
    })?;
    refuse_contradiction(&settings.loss.specification(), &[streamed.status])?;
    source.note_of_dropped(stream.dropped_rows());
    of_stochastic_step(streamed.too_long_step).iter().for_each(|sentence| tell(sentence));
    let order = &streamed.class_order;
    if order.is_sorted() {
        warn(format_args!(
            "the rows of {name} come sorted by class: neighbouring rows differ in class {}, but \
             about {:.0} times in random order. The fit follows the last rows; shuffle them, or pass \
             --epochs",
            Counted(order.changes() as usize, "time"),
            order.expected_changes()
        ));
    }
    if let Some(path) = to.out() {
        save(&streamed.model, path)?;
    }
    let document = StreamDocument {
        format: "margins-stream",
        version: VERSION,
        file: name,
        rows: streamed.rows,
        columns: stream.columns(),
        classes: ClassNames::of(&streamed.model, several),
        training: document(arguments, settings.loss.specification()),
        lambda: arguments.lambda.get(),
        steps: streamed.steps,
        progressive_error: streamed.progressive_error,
        function: Function::of(&streamed.model, several),
    };
    report([to.out()], |out| match to.format() {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => facts(out, &document.lines()),
    })
}
