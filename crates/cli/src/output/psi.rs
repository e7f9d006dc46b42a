//! Values of Psi-transforms and conditional risks, and roots of cubics.

use std::io::Write;

use serde::Serialize;

use super::table::{Table, number};
use crate::arguments::psi::Quantity;

/// The values of a Psi-transform, of its inverse, or of the conditional risk.
#[derive(Serialize)]
pub(crate) struct PsiDocument {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) loss: String,
    pub(crate) quantity: Quantity,
    pub(crate) inverse: bool,
    pub(crate) values: Vec<Value>,
    /// The condition under which excess surrogate risks are finite; null if they always are.
    pub(crate) finite_if: Option<String>,
}

/// The value at a point; null stands for infinity.
#[derive(Serialize)]
pub(crate) struct Value {
    pub(crate) at: f64,
    pub(crate) value: f64,
}

impl PsiDocument {
    pub(crate) fn write_table(&self, out: &mut dyn Write) -> std::io::Result<()> {
        self.table().write(out)?;
        match &self.finite_if {
            Some(condition) => writeln!(
                out,
                "\nThe lowest surrogate risk is finite if and only if {condition};\notherwise every \
                 excess is infinite and bounds nothing."
            ),
            None => Ok(()),
        }
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&match self.quantity {
            Quantity::Psi => ["excess misclassification risk", "excess surrogate risk"],
            Quantity::Inverse => ["excess surrogate risk", "excess misclassification risk"],
            Quantity::Risk => ["class probability", "lowest conditional risk"],
            Quantity::Minimizer => ["class probability", "score of the lowest risk"],
        });
        for value in &self.values {
            table.row(vec![number(value.at), number(value.value)]);
        }
        table
    }
}

/// The real roots of a cubic.
#[derive(Serialize)]
pub(crate) struct RootsDocument {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    /// The coefficients, that of `u^3` first.
    pub(crate) cubic: [f64; 4],
    /// Ascending, multiple ones once.
    pub(crate) roots: Vec<f64>,
}

impl RootsDocument {
    pub(crate) fn table(&self) -> Table {
        let mut table = Table::new(&["real root"]);
        self.roots.iter().for_each(|root| table.row(vec![number(*root)]));
        table
    }
}
