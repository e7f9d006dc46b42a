//! Options of `margins path`.

use clap::Args;

use super::fit::ObjectiveArguments;
use super::regularised::{FormatArguments, LambdasArguments, RegularisedArguments};

#[derive(Debug, Args)]
pub(crate) struct PathArguments {
    #[command(flatten)]
    pub(crate) common: RegularisedArguments,
    #[command(flatten)]
    pub(crate) objective: ObjectiveArguments,
    #[command(flatten)]
    pub(crate) lambdas: LambdasArguments,
    #[command(flatten)]
    pub(crate) output: FormatArguments,
}
