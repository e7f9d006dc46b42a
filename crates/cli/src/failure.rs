//! The errors that end a command.

use std::fmt::Display;

use margins::Error;
use margins::boost::Error as Boost;
use margins::data::Error as Data;
use margins::estimators::settings::ESTIMATORS;
use margins::kernel_functions::Error as Kernel;
use margins::kernels::Error as Kernels;
use margins::losses::did_you_mean;
use margins::massart::Error as Massart;
use margins::optim::Error as Optim;
use margins::robust::Error as Robust;

use crate::program;

/// The reason why the command ends without a result, which says with which exit status.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Status 2: the arguments make no sense.
    Usage(String),
    /// Status 1: the job failed.
    Job(String),
}

impl Failure {
    pub(crate) fn usage(error: impl Display) -> Self {
        Failure::Usage(error.to_string())
    }

    pub(crate) fn job(error: impl Display) -> Self {
        Failure::Job(error.to_string())
    }
}

/// Takes what the method asked for cannot use as a matter of usage, and all else as one of the job.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if let Error::Contradiction { one, other, reason } = error {
            let (one, other) = (option_of(one), option_of(other));
            return Failure::usage(Error::Contradiction { one, other, reason });
        }
        let is_usage = match &error {
            Error::Optim(inner) => of_solver(inner),
            Error::Robust(inner) => of_learner(inner),
            Error::Kernels(inner) => of_kernel(inner),
            Error::Boost(inner) => of_game(inner),
            Error::Massart(Massart::Parameter { .. }) => true,
            Error::Setting { .. }
            | Error::Losses(_)
            | Error::Data(Data::Parameter { .. })
            | Error::ApproximatePrecomputed
            | Error::StandardizePrecomputed
            | Error::LeaveOneOut
            | Error::LinearLearner(_)
            | Error::ShiftedScores { .. }
            | Error::Fourier(_) => true,
            _ => false,
        };
        if is_usage { Failure::usage(error) } else { Failure::job(error) }
    }
}

/// Returns the option of the command for the name of a setting, and other words as they are.
fn option_of(setting: String) -> String {
    let mut rows = ESTIMATORS.iter().flat_map(|estimator| estimator.settings);
    match rows.find(|row| row.name == setting).and_then(|row| row.option) {
        Some(option) => format!("--{option}"),
        None => setting,
    }
}

/// An unknown format is an error of usage, any other error one of the job.
impl From<Data> for Failure {
    fn from(error: Data) -> Self {
        match error {
            Data::UnknownFormat { .. } => Failure::Usage(format!("{error} with --data-format")),
            Data::ThirdClassInFile { .. } => {
                Failure::job(format!("{error}. Check --label, or add --multi-class ovr"))
            }
            _ => Failure::Job(format!("{error}{}{}", column_meant(&error), in_parts(&error))),
        }
    }
}

/// Returns the advice for a table that does not fit in memory.
fn in_parts(error: &Data) -> String {
    match error {
        Data::InFile { error, .. } => in_parts(error),
        Data::Memory { .. } => format!(
            "; {name} stream reads rows in parts, and so do fit, path and cv with a block file, which {name} \
             blocks writes",
            name = program::name()
        ),
        _ => String::new(),
    }
}

/// Returns the question for the column meant, where an option names one that is not there.
fn column_meant(error: &Data) -> String {
    match error {
        Data::InFile { error, .. } => column_meant(error),
        // A single column is named in the message already; mostly it is a header without commas.
        Data::UnknownColumn { name, columns, .. } if columns.len() > 1 => {
            let mut parts = name.split(',');
            if name.contains(',') && parts.all(|part| columns.iter().any(|column| column == part)) {
                return "; each column needs an option of its own".to_owned();
            }
            did_you_mean(name, columns.iter().map(String::as_str))
        }
        _ => String::new(),
    }
}

fn of_solver(error: &Optim) -> bool {
    matches!(
        error,
        Optim::Unsuitable { .. }
            | Optim::TooLargeForMm { .. }
            | Optim::SolverSpace { .. }
            | Optim::Parameter(_)
    )
}

fn of_learner(error: &Robust) -> bool {
    match error {
        Robust::FreeIntercept | Robust::Blocks { .. } | Robust::Parameter(_) => true,
        Robust::Optim(inner) => of_solver(inner),
        _ => false,
    }
}

fn of_game(error: &Boost) -> bool {
    match error {
        Boost::Parameter(_) | Boost::Memory { .. } => true,
        Boost::Learner(inner) => of_solver(inner),
        _ => false,
    }
}

fn of_kernel(error: &Kernels) -> bool {
    match error {
        Kernels::Optim(inner) => of_solver(inner),
        Kernels::MaybeIndefinite(_)
        | Kernels::Kernel(
            Kernel::Parameter { .. }
            | Kernel::UnknownKernel { .. }
            | Kernel::UnknownParameter { .. }
            | Kernel::MissingParameter { .. }
            | Kernel::Syntax { .. },
        ) => true,
        _ => false,
    }
}
