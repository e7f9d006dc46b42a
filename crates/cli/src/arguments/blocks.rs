//! Options of `margins blocks`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use margins::data::blocks::{BlockSettings, Precision};

use super::data::{DataArguments, Source};
use super::encode::EncodeArguments;
use super::global::ThreadsArguments;
use super::values::whole;

#[derive(Debug, Args)]
pub(crate) struct BlocksArguments {
    #[command(flatten)]
    pub(crate) threads: ThreadsArguments,
    #[command(flatten)]
    data: DataArguments,
    #[command(flatten)]
    encode: EncodeArguments,
    /// Block file to write
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) out: PathBuf,
    /// Precision of the stored values; single halves the file and keeps 7 digits
    #[arg(long, value_name = "PRECISION", default_value = "double", help_heading = "Output")]
    precision: PrecisionName,
    /// Rows per block [default: as many as fit in 4 MiB]
    #[arg(long, value_parser = whole::<usize>, value_name = "N", help_heading = "Output")]
    rows: Option<usize>,
}

/// The precisions of stored values.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum PrecisionName {
    /// 64 bits
    Double,
    /// 32 bits
    Single,
}

impl BlocksArguments {
    pub(crate) fn source(&self) -> Source<'_> {
        Source { encode: Some(&self.encode), ..self.data.source() }
    }

    pub(crate) fn settings(&self) -> BlockSettings {
        let precision = match self.precision {
            PrecisionName::Double => Precision::Double,
            PrecisionName::Single => Precision::Single,
        };
        BlockSettings { precision, rows: self.rows, ..BlockSettings::default() }
    }
}
