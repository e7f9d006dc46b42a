//! Tables by the format of their file.

use std::io::Read;

use super::labels::PlacedLabels;
use super::lines::Lines;
#[cfg(feature = "parquet")]
use super::parquet;
use super::table::{Buffer, LabelSink, Purpose, Source, Table, check_columns};
use super::{Format, ReadOptions, csv, svmlight};
use crate::Error;

/// Parquet in a build that does not read it.
#[cfg(not(feature = "parquet"))]
mod parquet {
    use crate::Error;
    use crate::read::ReadOptions;
    use crate::read::labels::{PlacedLabels, in_file};
    use crate::read::table::{Buffer, LabelSink, Purpose, Source, Table};

    fn refused<T>(name: &str) -> Result<T, Error> {
        let requirement = "one that this build reads: Parquet needs the feature parquet";
        Err(in_file(name, Error::parameter("the format", "Parquet", requirement)))
    }

    pub(super) fn read(
        _: Source<'_>,
        name: &str,
        _: &ReadOptions,
        _: Purpose,
        _: &mut LabelSink<'_>,
    ) -> Result<Table, Error> {
        refused(name)
    }

    pub(super) fn each_table<T, E: From<Error>>(
        _: Source<'_>,
        name: &str,
        _: &ReadOptions,
        _: Purpose,
        _: impl Fn(Table, PlacedLabels) -> T,
        _: impl FnMut(T) -> Result<(), E>,
    ) -> Result<usize, E> {
        Ok(refused(name)?)
    }

    /// No rows.
    pub(in crate::read) enum Rows {}

    impl Rows {
        pub(super) fn open(
            _: Source<'_>,
            name: &str,
            _: &ReadOptions,
            _: Purpose,
        ) -> Result<Self, Error> {
            refused(name)
        }

        pub(super) fn next(
            &mut self,
            _: Buffer,
            _: &mut LabelSink<'_>,
        ) -> Result<Option<Table>, Error> {
            match *self {}
        }

        pub(super) fn dropped(&self) -> usize {
            match *self {}
        }

        pub(super) fn feature_names(&self) -> &[String] {
            match *self {}
        }
    }
}

pub(super) fn table(
    reader: impl Read,
    name: &str,
    format: Format,
    options: &ReadOptions,
    purpose: Purpose,
    labels: &mut LabelSink<'_>,
) -> Result<Table, Error> {
    check_columns(options)?;
    match format {
        Format::Csv => csv::read(lines(reader, name, options)?, options, purpose, labels),
        Format::Svmlight => svmlight::read(lines(reader, name, options)?, options, labels),
        Format::Parquet => parquet::read(Source::of(reader), name, options, purpose, labels),
    }
}

/// Calls `turn` for the rows of every block, several at the same time, and `take` for the results in
/// the order of the rows; of Parquet, for one row group after the other. Returns the number of
/// rows left out. If the number of columns of an svmlight file is not given, each table has its own.
pub(super) fn each_table<T: Send, E: From<Error>>(
    source: Source<'_>,
    name: &str,
    format: Format,
    options: &ReadOptions,
    purpose: Purpose,
    turn: impl Fn(Table, PlacedLabels) -> T + Sync,
    take: impl FnMut(T) -> Result<(), E>,
) -> Result<usize, E> {
    match format {
        Format::Csv => {
            csv::Rows::open(lines(source, name, options)?, options, purpose)?.each_block(turn, take)
        }
        Format::Svmlight => {
            let rows = svmlight::Rows::open(lines(source, name, options)?, options)?;
            rows.each_block(turn, take).map(|()| 0)
        }
        Format::Parquet => parquet::each_table(source, name, options, purpose, turn, take),
    }
}

/// The rows of a file and of those that follow it, some at a time.
pub(super) enum Rows<'a> {
    Csv(Box<csv::Rows<'a>>),
    Svmlight(svmlight::Rows<'a>),
    Parquet(parquet::Rows),
}

impl<'a> Rows<'a> {
    pub(super) fn open(
        source: Source<'a>,
        name: &str,
        format: Format,
        options: &ReadOptions,
        purpose: Purpose,
    ) -> Result<Self, Error> {
        match format {
            Format::Csv => {
                let rows = csv::Rows::open(lines(source, name, options)?, options, purpose)?;
                Ok(Rows::Csv(Box::new(rows)))
            }
            Format::Svmlight => {
                svmlight::Rows::open(lines(source, name, options)?, options).map(Rows::Svmlight)
            }
            Format::Parquet => {
                parquet::Rows::open(source, name, options, purpose).map(Rows::Parquet)
            }
        }
    }

    /// Reads the next rows, as many as the buffer takes; `None` after the last.
    pub(super) fn next(
        &mut self,
        buffer: Buffer,
        labels: &mut LabelSink<'_>,
    ) -> Result<Option<Table>, Error> {
        match self {
            Rows::Csv(rows) => rows.next(buffer, labels),
            Rows::Svmlight(rows) => rows.next(buffer, labels),
            Rows::Parquet(rows) => rows.next(buffer, labels),
        }
    }

    pub(super) fn dropped(&self) -> usize {
        match self {
            Rows::Csv(rows) => rows.dropped(),
            Rows::Svmlight(_) => 0,
            Rows::Parquet(rows) => rows.dropped(),
        }
    }

    /// Returns the names of the features; `None` where columns have no names.
    pub(super) fn feature_names(&self) -> Option<&[String]> {
        match self {
            Rows::Csv(rows) => Some(rows.feature_names()),
            Rows::Svmlight(_) => None,
            Rows::Parquet(rows) => Some(rows.feature_names()),
        }
    }
}

fn lines<'a>(
    reader: impl Read + 'a,
    name: &str,
    options: &ReadOptions,
) -> Result<Lines<'a>, Error> {
    Ok(Lines::new(reader, name)?.followed_by(&options.further_files))
}
