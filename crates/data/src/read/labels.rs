//! The labels of a file as they are read, before they become classes.

use crate::class_collector::ClassCollector;
use crate::encode::Words;
use crate::{Error, Place};

/// The labels of some rows as they stand in a file, in the memory of a number for each.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowLabels(Words);

impl RowLabels {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.0.cells().len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the labels that occur, in the order of first sight.
    pub fn names(&self) -> &[String] {
        self.0.names()
    }

    /// Returns the label of every row, by its index among the names.
    pub fn indices(&self) -> impl Iterator<Item = usize> {
        self.0.cells().iter().flatten().map(|&name| name as usize)
    }

    /// Returns the label of every row.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter()
    }

    /// Takes in the labels of further rows.
    pub fn append(&mut self, more: &RowLabels) {
        self.0.append(&more.0);
    }
}

impl<S: AsRef<str>> FromIterator<S> for RowLabels {
    fn from_iter<I: IntoIterator<Item = S>>(labels: I) -> Self {
        let mut words = Words::default();
        labels.into_iter().for_each(|label| words.push(Some(label.as_ref())));
        RowLabels(words)
    }
}

/// The labels of some rows, with their places.
#[derive(Default)]
pub(super) struct PlacedLabels {
    pub(super) values: Words,
    /// The place where each value comes first.
    places: Vec<Place>,
}

impl PlacedLabels {
    /// Takes the labels of rows, whose places a function returns.
    pub(super) fn new(values: Words, place: impl Fn(usize) -> Place) -> Self {
        let mut places = Vec::with_capacity(values.names().len());
        for (row, cell) in values.cells().iter().enumerate() {
            if places.len() == values.names().len() {
                break;
            }
            if *cell == Some(places.len() as u32) {
                places.push(place(row));
            }
        }
        PlacedLabels { values, places }
    }

    /// Returns the labels without their places, if there are any.
    pub(super) fn of_rows(self) -> Option<RowLabels> {
        let labels = RowLabels(self.values);
        (!labels.is_empty()).then_some(labels)
    }

    pub(super) fn push(&mut self, value: &str, place: &dyn Fn() -> Place) {
        self.values.push(Some(value));
        if self.values.names().len() > self.places.len() {
            self.places.push(place());
        }
    }
}

pub(super) struct FileLabels {
    pub(super) classes: ClassCollector,
    /// The place of the first label that is a number and not whole.
    fraction: Option<Place>,
}

impl FileLabels {
    pub(super) fn new(classes: ClassCollector) -> Self {
        FileLabels { classes, fraction: None }
    }

    pub(super) fn push(&mut self, value: &str, place: &dyn Fn() -> Place) -> Result<(), Error> {
        let pushed = self.classes.push(value);
        if self.fraction.is_none() && self.classes.has_fraction() {
            self.fraction = Some(place());
        }
        pushed.map_err(|error| match error {
            Error::ThirdClass { value, classes, .. } => {
                let reason = crate::error::third_class(&value, &classes);
                Error::ThirdClassInFile { place: place(), reason }
            }
            Error::LateClass { value, count, .. } => {
                let reason = crate::error::late_class(&value, count);
                Error::Malformed { place: place(), reason }
            }
            Error::MissingLabel { value, .. } => {
                Error::Malformed { place: place(), reason: crate::error::missing_label(&value) }
            }
            other => self.in_place(other),
        })
    }

    /// Takes the labels of further rows, after the codes of those before were taken, and returns the
    /// codes of their classes.
    pub(super) fn code(&mut self, more: &PlacedLabels) -> Result<Vec<u32>, Error> {
        for (name, place) in more.values.names().iter().zip(&more.places) {
            self.push(name, &|| place.clone())?;
        }
        let codes = self.classes.take_codes();
        Ok(more.values.cells().iter().flatten().map(|&value| codes[value as usize]).collect())
    }

    /// Gives an error of the data as a whole its place: that of a label, or the file.
    pub(super) fn in_file(&self, file: &str, error: Error) -> Error {
        in_file(file, self.in_place(error))
    }

    fn in_place(&self, error: Error) -> Error {
        match (error, &self.fraction) {
            (Error::ContinuousLabel { value, .. }, Some(place)) => {
                let reason = crate::error::measurement(&value);
                Error::Malformed { place: place.clone(), reason }
            }
            (other, _) => other,
        }
    }
}

/// Names the file of an error that has no place in it.
pub(super) fn in_file(file: &str, error: Error) -> Error {
    match error {
        placed @ (Error::Malformed { .. }
        | Error::ThirdClassInFile { .. }
        | Error::InFile { .. }) => placed,
        other => Error::InFile { file: file.to_owned(), error: Box::new(other) },
    }
}
