//! The command that evaluates Psi-transforms.

use margins::Registry;
use margins::calibration::PsiTransform;

use crate::arguments::check;
use crate::arguments::psi::PsiArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::output::files::emit;
use crate::output::psi::{PsiDocument, Value};
use crate::output::{VERSION, write_json};

pub(crate) fn psi(registry: &Registry, arguments: &PsiArguments) -> Result<(), Failure> {
    let loss = registry.losses.parse(&arguments.loss).map_err(Failure::usage)?;
    let transform = PsiTransform::of(&*loss).map_err(|reason| {
        Failure::job(format!("loss '{}' is not calibrated: {reason}", loss.specification()))
    })?;
    check::psi(arguments)?;
    let evaluate =
        |at: f64| if arguments.inverse { transform.inverse(at) } else { transform.value(at) };
    let document = PsiDocument {
        format: "margins-psi",
        version: VERSION,
        loss: loss.specification(),
        inverse: arguments.inverse,
        values: arguments.at.iter().map(|&at| Value { at, value: evaluate(at) }).collect(),
    };
    emit(None, |out| match arguments.output.format {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => document.table().write(out),
    })
}
