//! Options of `margins path`.

use clap::Args;

use super::fit::ObjectiveArguments;
use super::regularised::{
    FormatArguments, LambdasArguments, PointsArguments, RegularisedArguments, StopArguments,
};
use super::report::PageArguments;

#[derive(Debug, Args)]
pub(crate) struct PathArguments {
    #[command(flatten)]
    pub(crate) common: RegularisedArguments,
    #[command(flatten)]
    pub(crate) objective: ObjectiveArguments,
    #[command(flatten)]
    pub(crate) lambdas: LambdasArguments,
    #[command(flatten)]
    pub(crate) stop: StopArguments,
    #[command(flatten)]
    pub(crate) output: FormatArguments,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) points: PointsArguments,
}
