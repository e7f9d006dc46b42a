//! The error type of the crate.

use std::fmt::Display;
use std::path::PathBuf;

/// The version of the layout of a model alone.
#[cfg(feature = "serde")]
pub(crate) const VERSION: u32 = 1;

/// The version of the layout of a path: that of a model, with the members at each lambda.
#[cfg(feature = "serde")]
pub(crate) const VERSION_OF_PATHS: u32 = 2;

/// The version of the layout of a model whose scheme readers of version 1 do not know: one from a
/// majority of each class against the rest on.
#[cfg(feature = "serde")]
pub(crate) const VERSION_OF_SCHEMES: u32 = 3;

/// The version of the layout of the models of a path with such a scheme.
#[cfg(feature = "serde")]
pub(crate) const VERSION_OF_PATHS_OF_SCHEMES: u32 = 4;

/// A fault of a model, of its file, or of the data that it is applied to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or written as a model.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: Box<Error>,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The bytes are no model file, or a damaged one.
    #[error("not a model file: {0}")]
    NotAModel(String),
    /// The bytes are not those that were written.
    #[error(
        "a damaged model file: its checksum is {computed:08x}, but {stored:08x} is written in it"
    )]
    Checksum {
        /// The checksum in the file.
        stored: u32,
        /// The checksum of the file as it is.
        computed: u32,
    },
    /// Bytes with a checksum that do not hold a value of the expected kind.
    #[error("not the bytes of {kind}: {reason}")]
    Bytes {
        /// The kind, as in "an ensemble".
        kind: String,
        /// The reason, in words.
        reason: String,
    },
    /// The file has another version of the layout.
    #[cfg(feature = "serde")]
    #[error(
        "it has model version {found}, but this program reads versions {VERSION} to {VERSION_OF_PATHS_OF_SCHEMES}: \
         install the release that wrote it"
    )]
    Version {
        /// The version found.
        found: u64,
    },
    /// The parts contradict each other, or no program could apply the numbers.
    #[error("not a usable model: {0}")]
    Invalid(String),
    /// A path of several lambdas, where one model is needed.
    #[error(
        "it has the models of a path, at {count} lambdas from {largest:?} to {smallest:?}: choose one, by --lambda of \
         predict and report, by C in Python, or by ModelPath::at in Rust"
    )]
    SeveralLambdas {
        /// The number of lambdas.
        count: usize,
        /// The largest lambda.
        largest: f64,
        /// The smallest lambda.
        smallest: f64,
    },
    /// The path was not fitted at this lambda.
    #[error(
        "it has no model at lambda {lambda:?}: {}. Interpolated coefficients would have no certificate",
        nearest_lambdas(.nearest)
    )]
    NotFitted {
        /// The lambda.
        lambda: f64,
        /// The next larger and the next smaller lambda of the path, as far as there are any.
        nearest: Vec<f64>,
    },
    /// The loss cannot be had from the registry.
    #[error("{}", of_loss(.0))]
    Loss(#[source] margins_losses::Error),
    /// The kernel cannot be had from the registry.
    #[error("{}", of_kernel(.0))]
    Kernel(#[source] margins_kernel_functions::Error),
    /// A kernel cannot be evaluated.
    #[error(transparent)]
    Kernels(#[from] margins_kernel_functions::Error),
    /// Features overflow when they are scaled.
    #[error(transparent)]
    Data(#[from] margins_data::Error),
    /// Probabilities of members cannot be coupled.
    #[error(transparent)]
    Calibration(#[from] margins_calibration::Error),
    /// The score of a sample is NaN or infinite, so that it decides for no class.
    #[error(
        "row {}: the score is {score}, which decides for no class, because a product of features and coefficients \
         overflowed: scale the features",
        row + 1
    )]
    Score {
        /// Zero-based row; the message counts from 1.
        row: usize,
        /// The score.
        score: f64,
    },
    /// Neither the loss nor a scaling gives probabilities.
    #[error(
        "the loss '{0}' has no probabilities; Probabilities::Platt in the builder fits them on held-out scores"
    )]
    NoProbabilities(String),
    /// A class has a name that is no value of the type that was asked for.
    #[error("the class '{class}' is not a value of type {wanted}")]
    LabelType {
        /// The name of the class.
        class: String,
        /// The type.
        wanted: &'static str,
    },
    /// The caller asked a model with several scores per sample for the only one.
    #[error(
        "the model has {members} scores per sample for {classes} classes, but this needs one score for two classes"
    )]
    NotBinary {
        /// Number of classes.
        classes: usize,
        /// Number of members.
        members: usize,
    },
    /// The data have another number of features than the model.
    #[error("the model has {expected} features, the data {found}{}", unknown(extra))]
    Columns {
        /// Features of the model.
        expected: usize,
        /// Features of the data.
        found: usize,
        /// Names in the data that the model does not know.
        extra: Vec<String>,
    },
    /// The data have another feature in this place than the model.
    #[error("feature {position} is '{found}' in the data, but '{expected}' in the model")]
    FeatureName {
        /// One-based position.
        position: usize,
        /// Name in the model.
        expected: String,
        /// Name in the data.
        found: String,
    },
}

fn of_loss(error: &margins_losses::Error) -> String {
    match error {
        margins_losses::Error::UnknownLoss { name, .. } => missing("loss", name, error),
        _ => error.to_string(),
    }
}

fn of_kernel(error: &margins_kernel_functions::Error) -> String {
    match error {
        margins_kernel_functions::Error::UnknownKernel { name, .. } => {
            missing("kernel", name, error)
        }
        _ => error.to_string(),
    }
}

/// Returns the message for a name that the registry does not know, with what to do about it.
fn missing(what: &str, name: &str, error: &dyn Display) -> String {
    format!(
        "its {what} has to be registered first, by Registry::with_{what}(\"{name}\", ...): {error}"
    )
}

/// Returns the nearest fitted lambdas in words.
fn nearest_lambdas(nearest: &[f64]) -> String {
    match nearest {
        [] => "it was fitted without a penalty".to_owned(),
        [only] => format!("the nearest fitted lambda is {only:?}"),
        several => {
            let texts: Vec<String> = several.iter().map(|lambda| format!("{lambda:?}")).collect();
            format!("the nearest fitted lambdas are {}", texts.join(" and "))
        }
    }
}

/// Returns the first few names that a model does not know, in words.
fn unknown(extra: &[String]) -> String {
    const MOST: usize = 5;
    if extra.is_empty() {
        return String::new();
    }
    let names: Vec<String> = extra.iter().take(MOST).map(|name| format!("'{name}'")).collect();
    let more = if extra.len() > MOST { ", ..." } else { "" };
    format!("; it does not know {}{more}", names.join(", "))
}
