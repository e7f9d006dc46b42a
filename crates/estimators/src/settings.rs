//! The settings of every estimator as rows: names, types, ranges, defaults and texts.
//!
//! The help of the command, the signatures, documentation and type stubs of the Python package, and
//! the page of the book on settings come from these rows. The values are fields of the settings of
//! each estimator, such as [`ClassifierSettings`](crate::regularised::ClassifierSettings).

mod focused;
mod massart;
mod regularised;
mod setting;
mod shared;
mod stream;

pub use setting::{Kind, Setting};

/// The settings of an estimator of the packages of other languages.
#[derive(Debug, Clone, Copy)]
pub struct EstimatorSettings {
    /// The name of the class in Python.
    pub name: &'static str,
    /// The commands whose options are settings of this estimator.
    pub commands: &'static [&'static str],
    /// The number of settings, the first ones, that may be passed without a keyword.
    pub positional: usize,
    /// The settings in the order of the signature.
    pub settings: &'static [Setting],
}

/// All estimators.
pub const ESTIMATORS: &[EstimatorSettings] = &[
    EstimatorSettings {
        name: "MarginClassifier",
        commands: &["fit"],
        positional: 3,
        settings: regularised::CLASSIFIER,
    },
    EstimatorSettings {
        name: "MarginClassifierCV",
        commands: &["cv"],
        positional: 4,
        settings: regularised::CROSS_VALIDATED,
    },
    EstimatorSettings {
        name: "MarginPath",
        commands: &["path"],
        positional: 4,
        settings: regularised::PATH,
    },
    EstimatorSettings {
        name: "RobustClassifier",
        commands: &["fit", "path"],
        positional: 4,
        settings: regularised::ROBUST,
    },
    EstimatorSettings {
        name: "StreamClassifier",
        commands: &["stream"],
        positional: 2,
        settings: stream::SETTINGS,
    },
    EstimatorSettings {
        name: "MassartClassifier",
        commands: &["massart"],
        positional: 3,
        settings: massart::SETTINGS,
    },
    EstimatorSettings {
        name: "FocusedClassifier",
        commands: &["focus"],
        positional: 2,
        settings: focused::CLASSIFIER,
    },
    EstimatorSettings {
        name: "FocusedRegressor",
        commands: &["regress"],
        positional: 2,
        settings: focused::REGRESSOR,
    },
];

/// Returns the row of an option of a command, with the rows beside it: a row of an estimator of the
/// command, or the first one with that option.
pub fn of_option<'a>(
    estimators: &'a [EstimatorSettings],
    command: &str,
    option: &str,
) -> Option<(&'a Setting, &'a [Setting])> {
    let of_command = |own| {
        estimators.iter().filter(move |estimator| estimator.commands.contains(&command) == own)
    };
    of_command(true).chain(of_command(false)).find_map(|estimator| {
        let row = estimator.settings.iter().find(|row| row.option == Some(option))?;
        Some((row, estimator.settings))
    })
}

/// Returns the names of a choice with what each of them is, from all rows of that name: a name that
/// several estimators have comes several times.
pub fn choices(setting: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = ESTIMATORS.iter().flat_map(|estimator| estimator.settings);
    let names = rows.filter(move |row| row.name == setting).filter_map(|row| match row.kind {
        Kind::Choice(names) => Some(names),
        _ => None,
    });
    names.flatten().copied()
}
