//! The command that evaluates Psi-transforms.

use margins::Registry;
use margins::calibration::PsiTransform;
use serde::Serialize;

use crate::Failure;
use crate::args::PsiArguments;
use crate::choices::OutputFormat;
use crate::files::emit;
use crate::job::write_json;
use crate::table::{Table, number};

#[derive(Serialize)]
struct PsiDocument {
    format: &'static str,
    version: u32,
    loss: String,
    inverse: bool,
    values: Vec<Value>,
}

/// Null stands for infinity.
#[derive(Serialize)]
struct Value {
    at: f64,
    value: f64,
}

pub(crate) fn psi(registry: &Registry, arguments: &PsiArguments) -> Result<(), Failure> {
    let loss = registry.losses.parse(&arguments.loss).map_err(Failure::usage)?;
    let transform = PsiTransform::of(&*loss).map_err(|reason| {
        Failure::job(format!("loss '{}' is not calibrated: {reason}", loss.specification()))
    })?;
    for &at in &arguments.at {
        let (valid, range) = if arguments.inverse {
            (at >= 0.0, "an excess surrogate risk is at least 0")
        } else {
            ((0.0..=1.0).contains(&at), "an excess misclassification risk is in [0, 1]")
        };
        if !valid {
            return Err(Failure::Usage(format!("--at {at}: {range}")));
        }
    }
    let evaluate =
        |at: f64| if arguments.inverse { transform.inverse(at) } else { transform.value(at) };
    let values = arguments.at.iter().map(|&at| Value { at, value: evaluate(at) }).collect();
    let document = PsiDocument {
        format: "margins-psi",
        version: crate::document::VERSION,
        loss: loss.specification(),
        inverse: arguments.inverse,
        values,
    };
    match arguments.format {
        OutputFormat::Json => emit(None, |out| write_json(out, &document)),
        OutputFormat::Table => {
            let header: [&'static str; 2] = if arguments.inverse {
                ["excess surrogate risk", "excess misclassification risk"]
            } else {
                ["excess misclassification risk", "excess surrogate risk"]
            };
            let mut table = Table::new(&header);
            for value in &document.values {
                table.row(vec![number(value.at), number(value.value)]);
            }
            emit(None, |out| table.write(out))
        }
    }
}
