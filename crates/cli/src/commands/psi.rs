//! The command that evaluates Psi-transforms and the conditional risks behind them.

use margins::Registry;
use margins::calibration::cubic::getroot;
use margins::calibration::least_risk::tail_rate;
use margins::calibration::{PsiTransform, least_conditional_risk};
use margins::data::digits;
use margins::losses::MarginLoss;

use crate::arguments::check;
use crate::arguments::psi::{PsiArguments, Quantity};
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::output::files::emit;
use crate::output::psi::{PsiDocument, RootsDocument, Value};
use crate::output::{VERSION, write_json};

pub(crate) fn psi(registry: &Registry, arguments: &PsiArguments) -> Result<(), Failure> {
    if let Some(cubic) = arguments.cubic {
        return roots(cubic, arguments.output.format);
    }
    let loss = registry.losses.parse(arguments.loss()).map_err(Failure::usage)?;
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
        finite_if: finite_if(&*loss, quantity),
    };
    emit(None, |out| match arguments.output.format {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => document.write_table(out),
    })
}

/// Prints the real roots of a cubic.
fn roots(cubic: [f64; 4], format: OutputFormat) -> Result<(), Failure> {
    let [a, b, c, d] = cubic;
    let roots = getroot(a, b, c, d).map_err(Failure::usage)?;
    let roots = roots.as_slice().to_vec();
    let document = RootsDocument { format: "margins-roots", version: VERSION, cubic, roots };
    emit(None, |out| match format {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => document.table().write(out),
    })
}

/// Returns the condition under which excess surrogate risks are finite; `None` for a loss with a lower
/// bound, and for quantities that are no excesses.
fn finite_if(loss: &dyn MarginLoss, quantity: Quantity) -> Option<String> {
    let is_excess = matches!(quantity, Quantity::Psi | Quantity::Inverse);
    let rate = tail_rate(loss).filter(|_| is_excess)?;
    Some(if rate == 0.0 {
        "the mean of |log odds| is finite".to_owned()
    } else {
        format!("the mean of exp({} |log odds|) is finite", digits::number(rate, 6))
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
        Quantity::Minimizer => each(&|eta| Ok(loss.population_minimizer(eta))),
    }
}
