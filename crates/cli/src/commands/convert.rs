//! The command that writes a model in the other format.

use margins::Registry;

use crate::arguments::convert::ConvertArguments;
use crate::failure::Failure;
use crate::output::files::{check_files, input, output};
use crate::output::model::save_path;
use crate::source::read_models;

pub(crate) fn convert(registry: &Registry, arguments: &ConvertArguments) -> Result<(), Failure> {
    check_files([Some(input("--model", &arguments.model)), output("--out", Some(&arguments.out))])?;
    let (_, models) = read_models(&arguments.model, registry)?;
    save_path(&models, &arguments.out)
}
