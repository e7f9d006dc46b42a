//! The commands, one module each.

mod blocks;
mod bound;
mod completions;
mod convert;
mod cv;
mod examples;
mod fit;
mod focus;
mod inspect;
mod location;
mod man;
mod massart;
mod page;
mod path;
mod plan;
mod predict;
mod psi;
mod regress;
mod regularised;
mod report;
mod several_classes;
mod stream;

use margins::{Registry, on_threads};

use crate::arguments::Command;
use crate::failure::Failure;

pub(crate) use page::Invocation;

/// Does what the command line says, on as many threads as it or the environment says.
pub(crate) fn perform(
    registry: &Registry,
    command: &Command,
    invocation: &Invocation,
) -> Result<(), Failure> {
    on_threads(command.threads()?, || perform_here(registry, command, invocation))
}

fn perform_here(
    registry: &Registry,
    command: &Command,
    invocation: &Invocation,
) -> Result<(), Failure> {
    match command {
        Command::Fit(arguments) => fit::fit(registry, arguments, invocation),
        Command::Path(arguments) => path::path(registry, arguments, invocation),
        Command::Cv(arguments) => cv::cv(registry, arguments, invocation),
        Command::Stream(arguments) => stream::stream(registry, arguments),
        Command::Massart(arguments) => massart::massart(registry, arguments, invocation),
        Command::Focus(arguments) => focus::focus(registry, arguments, invocation),
        Command::Regress(arguments) => regress::regress(arguments),
        Command::Predict(arguments) => predict::predict(registry, arguments),
        Command::Report(arguments) => report::report(registry, arguments, invocation),
        Command::Inspect(arguments) => inspect::inspect(registry, arguments),
        Command::Blocks(arguments) => blocks::blocks(arguments),
        Command::Convert(arguments) => convert::convert(registry, arguments),
        Command::Psi(arguments) => psi::psi(registry, arguments),
        Command::Bound(arguments) => bound::bound(registry, arguments),
        Command::Plan(arguments) => plan::plan(arguments),
        Command::Location(arguments) => location::location(arguments),
        Command::Examples => examples::examples(),
        Command::Completions(arguments) => completions::completions(arguments),
        Command::Man(arguments) => man::man(arguments),
    }
}
