//! Results as tables for reading and as JSON documents; `docs/json.md` describes those. Fields are
//! added, never renamed or removed, without a new version.

pub(crate) mod bound;
pub(crate) mod chart;
pub(crate) mod classes;
pub(crate) mod cross_validation;
pub(crate) mod data;
pub(crate) mod duals;
pub(crate) mod files;
pub(crate) mod fits;
pub(crate) mod focus;
pub(crate) mod inspection;
pub(crate) mod iterations;
pub(crate) mod limit;
pub(crate) mod location;
pub(crate) mod massart;
pub(crate) mod model;
pub(crate) mod plan;
pub(crate) mod predictions;
pub(crate) mod psi;
pub(crate) mod regression;
pub(crate) mod stream;
pub(crate) mod table;
pub(crate) mod training;
pub(crate) mod warnings;

use std::io::{Result, Write};

/// The version of all documents.
pub(crate) const VERSION: u32 = 1;

/// Names with values, a line each.
pub(crate) type Lines = Vec<(&'static str, String)>;

/// Writes a document on one line.
pub(crate) fn write_json(out: &mut dyn Write, document: &impl serde::Serialize) -> Result<()> {
    serde_json::to_writer(&mut *out, document)?;
    writeln!(out)
}
