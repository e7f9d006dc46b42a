//! The command that writes a model in the other format.

use margins::{Model, Registry};

use crate::arguments::convert::ConvertArguments;
use crate::failure::Failure;
use crate::output::files::{input, keep_apart, output};
use crate::output::model::save;

pub(crate) fn convert(registry: &Registry, arguments: &ConvertArguments) -> Result<(), Failure> {
    keep_apart([Some(input("--model", &arguments.model)), output("--out", Some(&arguments.out))])?;
    let model = Model::load(&arguments.model, registry).map_err(Failure::job)?;
    save(&model, &arguments.out)
}
