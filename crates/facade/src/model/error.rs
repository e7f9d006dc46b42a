use std::fmt::Display;
use std::path::PathBuf;

use super::VERSION;

/// What can be wrong with a model, its file, or the data that it is applied to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something is wrong with a file.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
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
        /// The one in the file.
        stored: u32,
        /// That of the file as it is.
        computed: u32,
    },
    /// The layout is newer than this program.
    #[error("it has model version {found}; this program reads versions up to {VERSION}")]
    Version {
        /// The version found.
        found: u64,
    },
    /// Parts that contradict each other, or numbers that no program could apply.
    #[error("not a usable model: {0}")]
    Invalid(String),
    /// The loss cannot be had from the registry.
    #[error("{}", of_loss(.0))]
    Loss(#[source] margins_losses::Error),
    /// The kernel cannot be had from the registry.
    #[cfg(feature = "kernels")]
    #[error("{}", of_kernel(.0))]
    Kernel(#[source] margins_kernels::Error),
    /// A kernel, and a crate that was built without any.
    #[error(
        "the model is of the kernel '{0}', but the crate margins was built without its feature `kernels`"
    )]
    WithoutKernels(String),
    /// A kernel cannot be evaluated.
    #[cfg(feature = "kernels")]
    #[error(transparent)]
    Kernels(#[from] margins_kernels::Error),
    /// Features overflow when they are scaled.
    #[error(transparent)]
    Data(#[from] margins_data::Error),
    /// A score is NaN or infinite: no class and no probability follows from it.
    #[error(transparent)]
    Score(#[from] margins_optim::Error),
    /// One score a sample was asked of a model with several.
    #[error(
        "the model has {members} scores a sample, for {classes} classes, where one for two is needed"
    )]
    NotBinary {
        /// Number of classes.
        classes: usize,
        /// Number of members.
        members: usize,
    },
    /// Another number of features than the model has.
    #[error("the model has {expected} features, the data {found}{}", unknown(extra))]
    Columns {
        /// Features of the model.
        expected: usize,
        /// Features of the data.
        found: usize,
        /// Names in the data that the model does not know.
        extra: Vec<String>,
    },
    /// Another feature than the model has in this place.
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

#[cfg(feature = "kernels")]
fn of_kernel(error: &margins_kernels::Error) -> String {
    match error {
        margins_kernels::Error::UnknownKernel { name, .. } => missing("kernel", name, error),
        _ => error.to_string(),
    }
}

/// What to do about a name that the registry does not know.
fn missing(what: &str, name: &str, error: &dyn Display) -> String {
    format!(
        "its {what} has to be registered first, by Registry::with_{what}(\"{name}\", ...): {error}"
    )
}

/// The first few names that a model does not know, in words.
fn unknown(extra: &[String]) -> String {
    const MOST: usize = 5;
    if extra.is_empty() {
        return String::new();
    }
    let names: Vec<String> = extra.iter().take(MOST).map(|name| format!("'{name}'")).collect();
    let more = if extra.len() > MOST { ", ..." } else { "" };
    format!("; it does not know {}{more}", names.join(", "))
}
