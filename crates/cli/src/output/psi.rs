//! Values of Psi-transforms.

use serde::Serialize;

use super::table::{Table, number};

/// The values of a Psi-transform or of its inverse.
#[derive(Serialize)]
pub(crate) struct PsiDocument {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) loss: String,
    pub(crate) inverse: bool,
    pub(crate) values: Vec<Value>,
}

/// The value at a point; null stands for infinity.
#[derive(Serialize)]
pub(crate) struct Value {
    pub(crate) at: f64,
    pub(crate) value: f64,
}

impl PsiDocument {
    pub(crate) fn table(&self) -> Table {
        let mut header = ["excess misclassification risk", "excess surrogate risk"];
        if self.inverse {
            header.reverse();
        }
        let mut table = Table::new(&header);
        for value in &self.values {
            table.row(vec![number(value.at), number(value.value)]);
        }
        table
    }
}
