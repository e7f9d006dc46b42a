//! The command that fits along a path.

use margins::Registry;
use margins::estimators::regularised::Regularisation;

use super::regularised::{Task, progress};
use crate::arguments::check;
use crate::arguments::path::PathArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::output::data::{DataDocument, describe};
use crate::output::files::emit;
use crate::output::fits::{FitDocument, PathDocument, path_table};
use crate::output::table::facts;
use crate::output::{VERSION, write_json};

pub(super) fn path(registry: &Registry, arguments: &PathArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    check::path(arguments)?;
    let task = Task { arguments: common, objective: arguments.objective.objective };
    let regularisation = Regularisation::path(arguments.lambdas.lambdas.0.clone())?;
    let mut settings = task.settings(registry, regularisation)?;
    let data = common.source().dataset()?;
    let (bar, observer) = progress();
    settings.progress = observer;
    let path = settings.path(&data);
    bar.finish_and_clear();
    let path = path?;
    task.warn(path.fits.iter().flatten());
    let (loss, kernel) = (settings.loss.specification(), path.kernel_specification());
    match arguments.output.format {
        OutputFormat::Json => {
            let document = PathDocument {
                format: "margins-path",
                version: VERSION,
                data: DataDocument::new(&common.data.name(), &data),
                training: task.document(loss, kernel),
                fits: path.fits.iter().flatten().map(FitDocument::from).collect(),
                platt: None,
            };
            emit(None, |out| write_json(out, &document))
        }
        OutputFormat::Table => {
            let table = path_table(&path)?;
            let functions = task.describe(loss, kernel, Some(path.dimension()));
            emit(None, |out| {
                facts(out, &[describe(&common.data.name(), &data), functions].concat())?;
                writeln!(out)?;
                table.write(out)
            })
        }
    }
}
