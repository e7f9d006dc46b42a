//! The encoding of a data set, with the raw table if it is kept so that folds can learn their own.

use std::sync::Arc;

use super::{EncodeOptions, Encoding, RawTable, Unknown};
use crate::{Design, Error};

/// An encoding that features were made by, with the raw table that it was learned from, unless the
/// table is dropped.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Encoded {
    table: Option<Arc<RawTable>>,
    encoding: Encoding,
}

impl Encoded {
    /// Learns the encoding of a table, and returns the features with it.
    pub(crate) fn new(table: RawTable, options: EncodeOptions) -> Result<(Self, Design), Error> {
        let encoding = Encoding::learn(&table, None, options)?;
        let design = encoding.encode(&table)?;
        Ok((Encoded { table: Some(Arc::new(table)), encoding }, design))
    }

    pub(crate) fn without_table(encoding: Encoding) -> Self {
        Encoded { table: None, encoding }
    }

    pub(crate) fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    pub(crate) fn table(&self) -> Option<&RawTable> {
        self.table.as_deref()
    }

    /// Returns the features of all rows as an encoding makes them that was learned from some; `None`
    /// if the table was dropped.
    pub(crate) fn learned_on(
        &self,
        rows: &[usize],
    ) -> Result<Option<(Vec<String>, Design)>, Error> {
        let Some(table) = self.table() else { return Ok(None) };
        let options = self.encoding.options().clone();
        let encoding = Encoding::learn(table, Some(rows), options)?;
        let encoding = encoding.with_unknown(Unknown::None);
        Ok(Some((encoding.feature_names(), encoding.encode(table)?)))
    }

    /// Returns some of the rows, with the encoding of all.
    pub(crate) fn select(&self, indices: &[usize]) -> Self {
        let table = self.table().map(|table| Arc::new(table.select(indices)));
        Encoded { table, encoding: self.encoding.clone() }
    }
}
