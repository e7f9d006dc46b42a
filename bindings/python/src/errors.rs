//! Exceptions for the errors of the library: `ValueError` for what it refuses, `OSError` and its
//! kinds for files, with the message of the error, which names the value and the place.

use margins::Error;
use margins::data::Error as Data;
use margins::model::Error as Model;
use pyo3::PyErr;
use pyo3::exceptions::{PyRuntimeError, PyTimeoutError, PyValueError};

/// Returns the exception for an error.
pub(crate) fn to_python(error: Error) -> PyErr {
    let message = in_python(error.to_string());
    match error {
        Error::Model(error) => of_model(error),
        Error::Data(error) => of_data(error),
        Error::TimeLimit(_) => PyTimeoutError::new_err(message),
        Error::Threads { .. } => PyRuntimeError::new_err(message),
        Error::Checkpoint { kind: Some(kind), .. } => {
            PyErr::from(std::io::Error::new(kind, message))
        }
        _ => PyValueError::new_err(message),
    }
}

/// Returns the exception for an error of a model or its file.
fn of_model(error: Model) -> PyErr {
    let message = error.to_string();
    match error {
        Model::File { source, .. } if matches!(*source, Model::Io(_)) => in_words(*source, message),
        Model::NoProbabilities(loss) => PyValueError::new_err(format!(
            "the loss '{loss}' has no probabilities: fit with probability=\"platt\""
        )),
        Model::Io(_) => in_words(error, message),
        _ => PyValueError::new_err(message),
    }
}

/// Returns the exception of the kind of a failure of the system, with a message of ours.
fn in_words(error: Model, message: String) -> PyErr {
    match error {
        Model::Io(source) => PyErr::from(std::io::Error::new(source.kind(), message)),
        _ => PyValueError::new_err(message),
    }
}

/// The advice of the library that names options of the command or schemes, and that for Python.
const ADVICE: [(&str, &str); 6] = [
    ("; a column of labels has to be named (--label)", "; leave it out"),
    ("(--unknown none)", "(encode={'unknown': 'none'})"),
    ("(--drop ", "(with encode={'drop': [...]}: "),
    (
        "take joint, one-versus-one or one-versus-rest",
        "take multi_class=\"joint\", \"ovo\" or \"ovr\"",
    ),
    ("take one-versus-one or one-versus-rest", "take multi_class=\"ovo\" or \"ovr\""),
    ("take one-versus-rest", "take multi_class=\"ovr\""),
];

/// Returns a message whose advice names settings of Python.
fn in_python(message: String) -> String {
    let replace =
        |message: String, (option, setting): &(&str, &str)| message.replace(option, setting);
    ADVICE.iter().fold(message, replace)
}

/// Returns the exception for an error of data.
pub(crate) fn of_data(error: Data) -> PyErr {
    let message = in_python(error.to_string());
    match error {
        Data::Io { source, .. } | Data::Create { source, .. } | Data::Write(source) => {
            PyErr::from(std::io::Error::new(source.kind(), message))
        }
        _ => PyValueError::new_err(message),
    }
}

/// Returns the refusal of a setting.
pub(crate) fn refuse(setting: &str, value: impl std::fmt::Display, requirement: &str) -> PyErr {
    PyValueError::new_err(format!("{setting} is {value}, but must be {requirement}"))
}
