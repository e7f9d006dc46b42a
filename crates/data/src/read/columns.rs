use super::lines::Lines;
use crate::encode::{EncodeOptions, Encoding, MissingWords, RawTable};
use crate::{Column, Design, Error, Place};

/// What the features of CSV are made of.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum FeatureColumns {
    /// Columns of finite numbers, as they are.
    #[default]
    Numbers,
    /// Columns with words and gaps, by an encoding that is learned from the rows read.
    Learn(EncodeOptions),
    /// Columns with words and gaps, by an encoding learned before.
    Known(Box<Encoding>),
}

impl FeatureColumns {
    /// Returns the options of an encoding, if there is one.
    pub(super) fn options(&self) -> Option<&EncodeOptions> {
        match self {
            FeatureColumns::Numbers => None,
            FeatureColumns::Learn(options) => Some(options),
            FeatureColumns::Known(encoding) => Some(encoding.options()),
        }
    }

    /// Returns the words that stand for gaps, where there may be any.
    pub(super) fn missing_words(&self) -> Option<&MissingWords> {
        self.options().map(|options| &options.missing_words)
    }
}

/// The features of a file.
pub(super) enum Features {
    Design { design: Design, names: Option<Vec<String>> },
    Raw(RawTable, RowPlaces),
}

/// The file and the line of every row, where rows have lines.
#[derive(Default)]
pub(super) struct RowPlaces {
    files: Vec<String>,
    /// The index of the file, and the line.
    rows: Vec<(usize, u64)>,
    /// The number of rows before, where rows have no lines.
    before: usize,
}

impl RowPlaces {
    /// Returns the places of rows without lines, after so many others.
    #[cfg(feature = "parquet")]
    pub(super) fn after(before: usize) -> Self {
        RowPlaces { before, ..RowPlaces::default() }
    }

    /// Takes in the current line as the place of the next row.
    pub(super) fn push(&mut self, lines: &Lines<'_>) {
        if self.files.last().is_none_or(|file| file != lines.name()) {
            self.files.push(lines.name().to_owned());
        }
        self.rows.push((self.files.len() - 1, lines.number()));
    }

    /// Appends the places of further rows.
    pub(super) fn append(&mut self, more: Self) {
        let is_same = self.files.last().is_some_and(|last| more.files.first() == Some(last));
        let shift = self.files.len() - usize::from(is_same);
        self.files.extend(more.files.into_iter().skip(usize::from(is_same)));
        self.rows.extend(more.rows.into_iter().map(|(file, line)| (file + shift, line)));
    }

    /// Returns the place of a column of a row.
    pub(super) fn place(&self, row: usize, column: Column) -> Place {
        let (file, line) = self.rows[row];
        Place { file: self.files[file].clone(), line: Some(line), column: Some(column) }
    }

    /// Gives an error at a cell the place of its row.
    pub(super) fn locate(&self, error: Error) -> Error {
        match error {
            Error::Cell { row, column, reason } if self.rows.is_empty() => {
                Error::Cell { row: row + self.before, column, reason }
            }
            Error::Cell { row, column, reason } => {
                Error::Malformed { place: self.place(row, Column::Name(column)), reason }
            }
            other => other,
        }
    }
}

impl Features {
    /// Returns the features, and their names if they have any, by an encoding that is known.
    pub(super) fn encoded(
        self,
        columns: &FeatureColumns,
    ) -> Result<(Design, Option<Vec<String>>), Error> {
        match (self, columns) {
            (Features::Design { design, names }, _) => Ok((design, names)),
            (Features::Raw(raw, places), FeatureColumns::Known(encoding)) => {
                let design = encoding.encode(&raw).map_err(|error| places.locate(error))?;
                Ok((design, Some(encoding.feature_names())))
            }
            (Features::Raw(..), _) => {
                let requirement = "one that was learned from labelled rows";
                Err(Error::parameter("the encoding", "to be learned", requirement))
            }
        }
    }
}
