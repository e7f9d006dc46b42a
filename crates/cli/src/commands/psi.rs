//! The command that evaluates Psi-transforms and the conditional risks behind them.

use margins::Registry;
use margins::calibration::{PsiTransform, conditional_risk_minimizer, least_conditional_risk};
use margins::losses::MarginLoss;

use crate::arguments::check;
use crate::arguments::psi::{PsiArguments, Quantity};
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::output::files::emit;
use crate::output::psi::{PsiDocument, Value};
use crate::output::{VERSION, write_json};

pub(crate) fn psi(registry: &Registry, arguments: &PsiArguments) -> Result<(), Failure> {
    let loss = registry.losses.parse(&arguments.loss).map_err(Failure::usage)?;
    check::psi(arguments)?;
    let quantity = arguments.quantity();
    let values = values(&*loss, quantity, &arguments.at)?;
    let document = PsiDocument {
        format: "margins-psi",
        version: VERSION,
        loss: loss.specification(),
        quantity,
        inverse: quantity == Quantity::Inverse,
        values: arguments.at.iter().zip(values).map(|(&at, value)| Value { at, value }).collect(),
    };
    emit(None, |out| match arguments.output.format {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => document.table().write(out),
    })
}

/// Returns the quantity at each number. Psi needs a calibrated loss, a conditional risk does not.
fn values(loss: &dyn MarginLoss, quantity: Quantity, at: &[f64]) -> Result<Vec<f64>, Failure> {
    let transform = || {
        PsiTransform::of(loss).map_err(|reason| {
            Failure::job(format!("loss '{}' is not calibrated: {reason}", loss.specification()))
        })
    };
    let each = |of: &dyn Fn(f64) -> Result<f64, margins::calibration::Error>| {
        at.iter().map(|&at| of(at).map_err(Failure::usage)).collect()
    };
    match quantity {
        Quantity::Psi => {
            let transform = transform()?;
            each(&|at| Ok(transform.value(at)))
        }
        Quantity::Inverse => {
            let transform = transform()?;
            each(&|at| Ok(transform.inverse(at)))
        }
        Quantity::Risk => each(&|eta| least_conditional_risk(loss, eta)),
        Quantity::Minimizer => each(&|eta| conditional_risk_minimizer(loss, eta)),
    }
}
