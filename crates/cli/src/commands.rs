//! The commands, one module each.

mod convert;
mod cv;
mod fit;
mod focus;
mod inspect;
mod massart;
mod path;
mod predict;
mod psi;
mod regularised;
mod several_classes;
mod stream;

use margins::Registry;

use crate::arguments::Command;
use crate::failure::Failure;

/// Does what the command line says.
pub(crate) fn perform(registry: &Registry, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Fit(arguments) => fit::fit(registry, arguments),
        Command::Path(arguments) => path::path(registry, arguments),
        Command::Cv(arguments) => cv::cv(registry, arguments),
        Command::Stream(arguments) => stream::stream(registry, arguments),
        Command::Massart(arguments) => massart::massart(arguments),
        Command::Focus(arguments) => focus::focus(registry, arguments),
        Command::Predict(arguments) => predict::predict(registry, arguments),
        Command::Inspect(arguments) => inspect::inspect(registry, arguments),
        Command::Convert(arguments) => convert::convert(registry, arguments),
        Command::Psi(arguments) => psi::psi(registry, arguments),
    }
}
