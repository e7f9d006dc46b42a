use std::sync::Arc;

use super::{EncodeOptions, Encoding, RawTable, Unknown};
use crate::{Design, Error};

/// A raw table with the encoding that was learned from all of its rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Encoded {
    table: Arc<RawTable>,
    encoding: Encoding,
}

impl Encoded {
    /// Learns the encoding of a table.
    pub(crate) fn new(table: RawTable, options: EncodeOptions) -> Result<Self, Error> {
        let encoding = Encoding::learn(&table, None, options)?;
        Ok(Encoded { table: Arc::new(table), encoding })
    }

    pub(crate) fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    pub(crate) fn table(&self) -> &RawTable {
        &self.table
    }

    /// Returns the features of all rows as an encoding makes them that was learned from some.
    pub(crate) fn learned_on(&self, rows: &[usize]) -> Result<(Vec<String>, Design), Error> {
        let options = self.encoding.options().clone();
        let encoding = Encoding::learn(&self.table, Some(rows), options)?;
        let encoding = encoding.with_unknown(Unknown::None);
        Ok((encoding.feature_names(), encoding.encode(&self.table)?))
    }

    /// Returns some of the rows, with the encoding of all.
    pub(crate) fn select(&self, indices: &[usize]) -> Self {
        let table = Arc::new(self.table.select(indices));
        Encoded { table, encoding: self.encoding.clone() }
    }
}
