//! Which columns of a file are features, and where each row comes from.

use super::lines::Lines;
use crate::encode::{EncodeOptions, Encoding, MissingWords, RawTable, Unknown};
use crate::{Column, Design, Error, Place, RowNumber};

/// How the features of CSV are read.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum FeatureColumns {
    /// Columns of finite numbers, as they are.
    #[default]
    Numbers,
    /// Columns with words and missing values, by an encoding that is learned from the rows read.
    Learn(EncodeOptions),
    /// Columns with words and missing values by an encoding to be learned, which leaves out those of more categories than
    /// it takes, to describe a table.
    LearnUncrowded(EncodeOptions),
    /// Columns with words and missing values, by an encoding learned before.
    Known(Box<Encoding>),
}

impl FeatureColumns {
    /// Returns the options of an encoding, if there is one.
    pub(super) fn options(&self) -> Option<&EncodeOptions> {
        match self {
            FeatureColumns::Known(encoding) => Some(encoding.options()),
            _ => self.to_learn(),
        }
    }

    /// Returns the options of an encoding that is still to be learned.
    pub(super) fn to_learn(&self) -> Option<&EncodeOptions> {
        match self {
            FeatureColumns::Learn(options) | FeatureColumns::LearnUncrowded(options) => {
                Some(options)
            }
            FeatureColumns::Numbers | FeatureColumns::Known(_) => None,
        }
    }

    /// Returns the names of the columns whose cells keep their texts.
    pub(super) fn codes(&self) -> Vec<String> {
        match self {
            FeatureColumns::Known(encoding) => encoding.codes(),
            _ => self.to_learn().map(|options| options.categorical.clone()).unwrap_or_default(),
        }
    }

    /// Returns true if a column without a name is left out.
    pub(super) fn drop_unnamed(&self) -> bool {
        self.options().is_some_and(|options| options.drops(""))
    }

    /// Returns the words that stand for missing values, where there may be any.
    pub(super) fn missing_words(&self) -> Option<&MissingWords> {
        self.options().map(|options| &options.missing_words)
    }
}

pub(super) enum FeatureTable {
    Design { design: Design, names: Option<Vec<String>> },
    Raw(RawTable, RowPlaces),
}

/// The file of every row, and its line or, where there are no lines, its number.
#[derive(Default)]
pub(super) struct RowPlaces {
    files: Vec<String>,
    runs: Vec<Run>,
    rows: usize,
    /// True if rows have numbers, and no lines.
    numbered: bool,
}

/// Rows that follow each other in a file.
#[derive(Clone, Copy)]
struct Run {
    first: usize,
    file: usize,
    /// The line or the number of the first row in it.
    number: u64,
}

impl RowPlaces {
    /// Returns the places of no rows, in files that have no lines.
    #[cfg(feature = "parquet")]
    pub(super) fn numbered() -> Self {
        RowPlaces { numbered: true, ..RowPlaces::default() }
    }

    pub(super) fn push(&mut self, lines: &Lines<'_>) {
        self.push_all(lines.name(), [lines.number()]);
    }

    /// Takes in lines or numbers of a file as the places of the next rows.
    pub(super) fn push_all(&mut self, file: &str, rows: impl IntoIterator<Item = u64>) {
        if self.files.last().is_none_or(|last| last != file) {
            self.files.push(file.to_owned());
        }
        let file = self.files.len() - 1;
        for number in rows {
            self.begin(Run { first: self.rows, file, number });
            self.rows += 1;
        }
    }

    /// Begins a run of rows, unless it continues the last one.
    fn begin(&mut self, run: Run) {
        let goes_on = |last: &Run| {
            last.file == run.file && last.number + (run.first - last.first) as u64 == run.number
        };
        if !self.runs.last().is_some_and(goes_on) {
            self.runs.push(run);
        }
    }

    #[cfg(feature = "parquet")]
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    pub(super) fn append(&mut self, more: Self) {
        let is_same = self.files.last().is_some_and(|last| more.files.first() == Some(last));
        let shift = self.files.len() - usize::from(is_same);
        self.files.extend(more.files.into_iter().skip(usize::from(is_same)));
        for run in more.runs {
            self.begin(Run { first: self.rows + run.first, file: run.file + shift, ..run });
        }
        self.rows += more.rows;
    }

    pub(super) fn place(&self, row: usize, column: Column) -> Place {
        let run = self.runs[self.runs.partition_point(|run| run.first <= row) - 1];
        let number = run.number + (row - run.first) as u64;
        let number = if self.numbered { RowNumber::Row(number) } else { RowNumber::Line(number) };
        Place { row: Some(number), column: Some(column), ..Place::of_file(&self.files[run.file]) }
    }

    pub(super) fn locate(&self, error: Error) -> Error {
        match error {
            Error::Cell { row, column, reason } => {
                Error::Malformed { place: self.place(row, Column::Name(column)), reason }
            }
            other => other,
        }
    }
}

impl FeatureTable {
    /// Returns the number of cells with a category that an encoding does not know and takes as none.
    pub(super) fn unknown_levels(&self, columns: &FeatureColumns) -> Result<usize, Error> {
        match (self, columns) {
            (FeatureTable::Raw(raw, _), FeatureColumns::Known(encoding))
                if encoding.options().unknown == Unknown::None =>
            {
                encoding.unknown_levels(raw)
            }
            _ => Ok(0),
        }
    }

    /// Returns the features, and their names if they have any, by an encoding that is known.
    pub(super) fn encoded(
        self,
        columns: &FeatureColumns,
    ) -> Result<(Design, Option<Vec<String>>), Error> {
        match (self, columns) {
            (FeatureTable::Design { design, names }, _) => Ok((design, names)),
            (FeatureTable::Raw(raw, places), FeatureColumns::Known(encoding)) => {
                let design = encoding.encode(&raw).map_err(|error| places.locate(error))?;
                Ok((design, Some(encoding.feature_names())))
            }
            (FeatureTable::Raw(..), _) => {
                let requirement = "one that was learned from labelled rows";
                Err(Error::parameter("the encoding", "to be learned", requirement))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn places_are_those_that_were_pushed(
            rows in proptest::collection::vec((0_usize..3, 1_u64..4), 1..40), cut in 0_usize..40
        ) {
            let mut number = 0;
            let placed: Vec<(String, u64)> = rows
                .iter()
                .map(|(file, step)| {
                    number += step;
                    (file.to_string(), number)
                })
                .collect();
            let (first, rest) = placed.split_at(cut.min(placed.len()));
            let [mut places, more] = [first, rest].map(|part| {
                let mut places = RowPlaces::default();
                part.iter().for_each(|(file, number)| places.push_all(file, [*number]));
                places
            });
            places.append(more);
            prop_assert_eq!(places.rows, placed.len());
            for (row, (file, number)) in placed.iter().enumerate() {
                let place = places.place(row, Column::Character(1));
                let expected = Place {
                    row: Some(RowNumber::Line(*number)),
                    column: Some(Column::Character(1)),
                    ..Place::of_file(file)
                };
                prop_assert_eq!(place.to_string(), expected.to_string());
            }
        }
    }
}
