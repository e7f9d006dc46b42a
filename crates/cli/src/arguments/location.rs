//! Options of `margins location`.

use std::path::PathBuf;

use clap::Args;

use super::regularised::FormatArguments;
use super::values::{number, tolerance, whole};

#[derive(Debug, Args)]
pub(crate) struct LocationArguments {
    /// File with one number per line; - reads standard input
    #[arg(long, value_name = "FILE", default_value = "-", help_heading = "Data")]
    pub(crate) data: PathBuf,
    /// Scale s of the estimate: near the median for a small s, near the mean for a large one
    ///
    /// Numbers that are farther than sqrt(2) s from the estimate count by their side only. By default s
    /// is sqrt(n V/(2 log(2/delta))) for n numbers and the variance V.
    #[arg(long, value_name = "S", value_parser = number, help_heading = "Estimate")]
    pub(crate) scale: Option<f64>,
    /// Upper bound V on the variance of the distribution, without which there is no interval
    ///
    /// By default the scale follows from an estimate: twice the median, over blocks, of the mean of
    /// (x - y)^2/2 over pairs of numbers.
    #[arg(long, value_name = "V", value_parser = number, help_heading = "Estimate")]
    pub(crate) variance: Option<f64>,
    /// Probability with which each interval may fail
    #[arg(
        long,
        value_name = "DELTA",
        default_value = "0.05",
        value_parser = tolerance,
        help_heading = "Estimate"
    )]
    pub(crate) delta: f64,
    /// Number of values that may be replaced by any others
    #[arg(
        long,
        value_name = "K",
        default_value = "1",
        value_parser = whole::<usize>,
        help_heading = "Estimate"
    )]
    pub(crate) changes: usize,
    /// Seed of the random blocks of the median of means and of the estimated variance
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        value_parser = whole::<u64>,
        help_heading = "Estimate"
    )]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: FormatArguments,
}
