use crate::class_collector::ClassCollector;
use crate::encode::Words;
use crate::{Error, Place};

/// The labels of some rows, as they stand there.
#[derive(Default)]
pub(super) struct PlacedLabels {
    pub(super) values: Words,
    /// The place where each value comes first.
    places: Vec<Place>,
}

impl PlacedLabels {
    /// Takes the label of the next row.
    pub(super) fn push(&mut self, value: &str, place: &dyn Fn() -> Place) {
        self.values.push(Some(value));
        if self.values.names().len() > self.places.len() {
            self.places.push(place());
        }
    }
}

/// The labels of a file.
pub(super) struct FileLabels {
    pub(super) classes: ClassCollector,
    /// The place of the first label that is a number and not whole.
    fraction: Option<Place>,
}

impl FileLabels {
    pub(super) fn new(classes: ClassCollector) -> Self {
        FileLabels { classes, fraction: None }
    }

    /// Takes the label of the next row.
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
