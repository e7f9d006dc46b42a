//! Parquet: flat columns of numbers, booleans and words. A cell is taken as that of a CSV file which
//! says the same, and a null as an empty cell.

mod column;

use std::io::Read;

use nalgebra::DMatrix;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::ReadOptions;
use super::cells::weight;
use super::columns::{Features, RowPlaces};
use super::folds::FileFolds;
use super::header::{Role, check_feature_count, check_names, roles};
use super::labels::{PlacedLabels, in_file};
use super::table::{LabelSink, Purpose, Source, Table, collect_labels};
use crate::encode::{EncodeOptions, RawColumn, RawTable, Words};
use crate::error::columns_in_words;
use crate::{Column, Design, Error, Place};
use column::{Cells, Kind};

/// What the files say of their columns.
struct Layout<'o> {
    header: Vec<String>,
    roles: Vec<Role>,
    options: &'o ReadOptions,
}

pub(super) fn read(
    source: Source<'_>,
    name: &str,
    options: &ReadOptions,
    purpose: Purpose,
    labels: &mut LabelSink<'_>,
) -> Result<Table, Error> {
    let (layout, first) = Layout::open(source, name, options, purpose)?;
    let mut gathered = layout.empty();
    layout.each_group(first, |file, group| layout.take(file, group, &mut gathered))?;
    layout.table(&gathered, name, 0, labels).map_err(|error| in_file(name, error))
}

/// Calls `turn` for the rows of one row group after the other, and `take` for the results.
pub(super) fn each_table<T, E: From<Error>>(
    source: Source<'_>,
    name: &str,
    options: &ReadOptions,
    purpose: Purpose,
    turn: impl Fn(Table, PlacedLabels) -> T,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let (layout, first) = Layout::open(source, name, options, purpose)?;
    let mut before = 0;
    layout.each_group(first, |file, group| {
        let mut cells = layout.empty();
        layout.take(file, group, &mut cells)?;
        let rows = rows(&cells);
        if rows == 0 {
            return Ok(());
        }
        let read = |labels: &mut LabelSink<'_>| layout.table(&cells, &file.name, before, labels);
        let placed = |error| in_file(&file.name, RowPlaces::after(before).locate(error));
        let (table, labels) = collect_labels(read).map_err(placed)?;
        before += rows;
        take(turn(table, labels))
    })?;
    if before == 0 { Err(no_row(name).into()) } else { Ok(()) }
}

/// A file whose pages are not yet decoded.
struct ParquetFile {
    name: String,
    reader: Box<dyn FileReader>,
}

impl ParquetFile {
    /// Opens a file, which is read where it lies, or else in memory.
    fn open(source: Source<'_>, name: &str) -> Result<Self, Error> {
        let io = |source| Error::Io { file: name.to_owned(), source };
        let reader: Result<Box<dyn FileReader>, ParquetError> = match source {
            Source::File(file) if file.metadata().map_err(io)?.is_file() => {
                SerializedFileReader::new(file).map(|reader| Box::new(reader) as _)
            }
            mut source => {
                let mut content = Vec::new();
                source.read_to_end(&mut content).map_err(io)?;
                let content = bytes::Bytes::from(content);
                SerializedFileReader::new(content).map(|reader| Box::new(reader) as _)
            }
        };
        match reader {
            Ok(reader) => Ok(ParquetFile { name: name.to_owned(), reader }),
            Err(error) => Err(malformed(name, None, error.to_string())),
        }
    }

    /// Returns the names of the columns; a column of several parts has them joined by points.
    fn header(&self) -> Vec<String> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        schema.columns().iter().map(|column| column.path().string()).collect()
    }

    fn wrong(&self, reason: String) -> Error {
        malformed(&self.name, None, reason)
    }
}

fn no_row(file: &str) -> Error {
    malformed(file, None, "there are columns, but no row".to_owned())
}

/// Returns the number of rows of columns.
fn rows(columns: &[Option<Cells>]) -> usize {
    columns.iter().flatten().map(Cells::len).next().unwrap_or_default()
}

fn malformed(file: &str, column: Option<&str>, reason: String) -> Error {
    let column = column.map(|name| Column::Name(name.to_owned()));
    Error::Malformed { place: Place { file: file.to_owned(), line: None, column }, reason }
}

impl<'o> Layout<'o> {
    /// Opens the first file.
    fn open(
        source: Source<'_>,
        name: &str,
        options: &'o ReadOptions,
        purpose: Purpose,
    ) -> Result<(Self, ParquetFile), Error> {
        let first = ParquetFile::open(source, name)?;
        let header = first.header();
        let wrong = |reason| first.wrong(reason);
        check_names(&header, &wrong)?;
        let roles = roles(name, &header, options, purpose, &wrong)?;
        let features = roles.iter().filter(|&&role| role == Role::Feature).count();
        check_feature_count(features, options, &wrong)?;
        Ok((Layout { header, roles, options }, first))
    }

    /// Calls a function for the row groups of all files, one after the other.
    fn each_group<E: From<Error>>(
        &self,
        first: ParquetFile,
        mut take: impl FnMut(&ParquetFile, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut take_all =
            |file: ParquetFile| (0..file.reader.num_row_groups()).try_for_each(|k| take(&file, k));
        take_all(first)?;
        for path in &self.options.further_files {
            let name = path.display().to_string();
            let file = std::fs::File::open(path);
            let file = file.map_err(|source| Error::Io { file: name.clone(), source })?;
            let file = ParquetFile::open(Source::File(file), &name)?;
            let found = file.header();
            if found != self.header {
                let found = columns_in_words(&found);
                let reason = format!("the header is not that of the first file: {found}");
                return Err(file.wrong(reason).into());
            }
            take_all(file)?;
        }
        Ok(())
    }

    /// Returns the columns without rows; `None` of a column that is not read.
    fn empty(&self) -> Vec<Option<Cells>> {
        (0..self.header.len()).map(|at| self.is_read(at).then(Cells::default)).collect()
    }

    /// Returns true if the cells of a column matter.
    fn is_read(&self, at: usize) -> bool {
        match self.roles[at] {
            Role::Dropped => false,
            Role::Feature => !self.encode().is_some_and(|options| options.drops(&self.header[at])),
            _ => true,
        }
    }

    fn encode(&self) -> Option<&EncodeOptions> {
        self.options.features.options()
    }

    /// Appends the rows of a group.
    fn take(
        &self,
        file: &ParquetFile,
        group: usize,
        all: &mut [Option<Cells>],
    ) -> Result<(), Error> {
        let schema = file.reader.metadata().file_metadata().schema_descr();
        let group = file.reader.get_row_group(group);
        let group = group.map_err(|error| file.wrong(error.to_string()))?;
        for (at, cells) in all.iter_mut().enumerate() {
            let Some(cells) = cells else { continue };
            let name = self.header[at].as_str();
            let refuse = |reason| malformed(&file.name, Some(name), reason);
            let kind = Kind::of(&schema.column(at)).map_err(refuse)?;
            cells.expect(kind).map_err(refuse)?;
            let taken = usize::try_from(group.metadata().num_rows())
                .map_err(ParquetError::from)
                .and_then(|rows| cells.take(group.get_column_reader(at)?, rows));
            taken.map_err(|error| refuse(error.to_string()))?;
        }
        Ok(())
    }

    /// Returns the table of rows, before which there are others.
    fn table(
        &self,
        all: &[Option<Cells>],
        file: &str,
        before: usize,
        labels: &mut LabelSink<'_>,
    ) -> Result<Table, Error> {
        let rows = rows(all);
        if rows == 0 {
            return Err(no_row(file));
        }
        if let Some((name, cells)) = self.of(Role::Label, all) {
            let place = || Place {
                file: file.to_owned(),
                line: None,
                column: Some(Column::Name(name.to_owned())),
            };
            for label in cells.required(name)? {
                labels(&label, &place)?;
            }
        }
        let weights = self
            .of(Role::Weight, all)
            .map(|(name, cells)| cells.each(name, weight).collect::<Result<Vec<f64>, Error>>());
        let folds = self.of(Role::Fold, all).map(|(name, cells)| {
            let mut values = Words::default();
            cells.required(name)?.iter().for_each(|fold| values.push(Some(fold)));
            let mut folds = FileFolds::new(name);
            folds.append(&values);
            Ok::<_, Error>(folds)
        });
        Ok(Table {
            features: self.features(all, rows, before)?,
            weights: weights.transpose()?,
            folds: folds.transpose()?,
        })
    }

    /// Returns the column of a role, if there is one.
    fn of<'c>(&self, role: Role, all: &'c [Option<Cells>]) -> Option<(&str, &'c Cells)> {
        let at = self.roles.iter().position(|&other| other == role)?;
        Some((&self.header[at], all[at].as_ref()?))
    }

    fn features(
        &self,
        all: &[Option<Cells>],
        rows: usize,
        before: usize,
    ) -> Result<Features, Error> {
        let features = self.header.iter().zip(&self.roles).zip(all);
        let features = features.filter(|((_, role), _)| **role == Role::Feature);
        let features = features.map(|((name, _), cells)| (name.as_str(), cells.as_ref()));
        if let Some(options) = self.encode() {
            let raw = |(name, cells): (&str, Option<&Cells>)| match cells {
                Some(cells) => cells.raw(name, &options.missing_words),
                None => Ok(RawColumn::words(name, vec![None::<&str>; rows])),
            };
            let table = RawTable::from_columns(features.map(raw).collect::<Result<_, _>>()?)?;
            return Ok(Features::Raw(table, RowPlaces::after(before)));
        }
        let features: Vec<(&str, &Cells)> =
            features.filter_map(|(name, cells)| Some((name, cells?))).collect();
        let mut samples = DMatrix::zeros(features.len(), rows);
        for (feature, (name, cells)) in features.iter().enumerate() {
            cells.numbers(name, |row, value| samples[(feature, row)] = value)?;
        }
        let names = features.iter().map(|(name, _)| (*name).to_owned()).collect();
        Ok(Features::Design { design: Design::from_samples(samples)?, names: Some(names) })
    }
}
