//! The error type of the crate.

/// The reason why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data cannot be measured.
    #[error(transparent)]
    Data(#[from] margins_data::Error),
    /// The model cannot be applied.
    #[error(transparent)]
    Model(#[from] margins_model::Error),
    /// The probabilities cannot be compared with what was seen.
    #[error(transparent)]
    Calibration(#[from] margins_calibration::Error),
    /// The registry does not know the loss of the model.
    #[error("the loss of the model: {0}")]
    Loss(String),
    /// A label is no class of the model.
    #[error("the label '{label}' of {data} is not a class of the model ({classes})")]
    UnknownClass {
        /// The name of the data.
        data: String,
        /// The label.
        label: String,
        /// The classes of the model.
        classes: String,
    },
}
