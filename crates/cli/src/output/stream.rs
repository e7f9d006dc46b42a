//! Fits to streams.

use margins::Model;
use margins::data::Listed;
use margins::data::digits::percent;
use serde::Serialize;

use super::Lines;
use super::data::size;
use super::table::{number, two_classes};
use super::training::TrainingDocument;

/// A fit to a stream.
#[derive(Serialize)]
pub(crate) struct StreamDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) file: String,
    pub(crate) rows: u64,
    pub(crate) columns: usize,
    #[serde(flatten)]
    pub(crate) classes: ClassNames<'a>,
    pub(crate) training: TrainingDocument,
    pub(crate) lambda: f64,
    pub(crate) steps: u64,
    /// Share of the rows that the classifier before their buffer got wrong, by weight.
    pub(crate) progressive_error: f64,
    #[serde(flatten)]
    pub(crate) function: Function<'a>,
}

/// The names of the classes.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum ClassNames<'a> {
    Two { negative_class: &'a str, positive_class: &'a str },
    Several { scheme: String, classes: &'a [String] },
}

/// The functions whose scores decide.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Function<'a> {
    One {
        intercept: f64,
        coef: &'a [f64],
    },
    /// A function for each class, in their order.
    Several {
        members: Vec<StreamMember<'a>>,
    },
}

/// One of several functions.
#[derive(Serialize)]
pub(crate) struct StreamMember<'a> {
    name: String,
    intercept: f64,
    coef: &'a [f64],
}

impl<'a> ClassNames<'a> {
    /// Returns the names of the classes of a fit to two, or to `several` as was asked for.
    pub(crate) fn of(model: &'a Model, several: bool) -> Self {
        match model.classes() {
            [negative, positive] if !several => {
                ClassNames::Two { negative_class: negative, positive_class: positive }
            }
            classes => ClassNames::Several { scheme: model.scheme().to_string(), classes },
        }
    }
}

impl<'a> Function<'a> {
    /// Returns the function of a fit to two classes, or those of a fit to `several` as was asked for.
    pub(crate) fn of(model: &'a Model, several: bool) -> Self {
        match model.members() {
            [member] if !several => {
                Function::One { intercept: member.intercept, coef: &member.coef }
            }
            members => {
                let names = model.scheme().member_names(model.classes());
                let members = names.into_iter().zip(members).map(|(name, member)| StreamMember {
                    name,
                    intercept: member.intercept,
                    coef: &member.coef,
                });
                Function::Several { members: members.collect() }
            }
        }
    }
}

impl StreamDocument<'_> {
    pub(crate) fn lines(&self) -> Lines {
        let classes = match &self.classes {
            ClassNames::Two { negative_class, positive_class } => {
                two_classes(positive_class, negative_class)
            }
            ClassNames::Several { classes, .. } => Listed(classes).to_string(),
        };
        let mut lines = vec![
            size(&self.file, self.rows as usize, self.columns),
            ("classes", classes),
            ("loss", self.training.loss.clone()),
            ("lambda", number(self.lambda)),
            ("steps", self.steps.to_string()),
            ("progressive error", format!("{} %", percent(self.progressive_error))),
        ];
        if let ClassNames::Several { scheme, .. } = &self.classes {
            lines.insert(2, ("scheme", scheme.clone()));
        }
        if let Function::One { intercept, .. } = &self.function {
            lines.push(("intercept", number(*intercept)));
        }
        let coefficients = match &self.function {
            Function::One { coef, .. } => coef.len().to_string(),
            Function::Several { members } => format!("{} x {}", members.len(), self.columns),
        };
        lines.push(("coefficients", coefficients));
        lines
    }
}
