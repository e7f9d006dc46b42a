//! The rows of Parquet files, some at a time: from one row group after the other.

use std::collections::VecDeque;
use std::path::PathBuf;

use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;

use super::column::{Cells, Kind};
use super::file::{ParquetFile, malformed};
use super::layout::Layout;
use super::part::Part;
use crate::error::columns_in_words;
use crate::read::ReadOptions;
use crate::read::table::{Buffer, LabelSink, Purpose, Source, Table};
use crate::{Design, Error};

/// The rows of a file and of those that follow it.
pub(in crate::read) struct Rows {
    layout: Layout,
    file: ParquetFile,
    further: VecDeque<PathBuf>,
    /// The kind of every column of the file; `None` of a column that is not read.
    kinds: Vec<Option<Kind>>,
    /// The number of row groups of the file that were begun.
    begun: usize,
    group: Option<Group>,
    /// The number of rows of the file that were read.
    read: u64,
    /// The number of rows of all files that were left out.
    dropped: usize,
}

/// A row group that is being read.
struct Group {
    number: usize,
    /// The cells that follow, of every column; `None` of a column that is not read.
    cells: Vec<Option<ColumnReader>>,
    /// The number of rows that follow.
    left: usize,
}

impl Rows {
    pub(in crate::read) fn open(
        source: Source<'_>,
        name: &str,
        options: &ReadOptions,
        purpose: Purpose,
    ) -> Result<Self, Error> {
        let file = ParquetFile::open(source, name)?;
        let wrong = |reason| file.wrong(reason);
        let layout = Layout::new(name, file.header(), options, purpose, &wrong)?;
        let kinds = layout.kinds(&file)?;
        let further = options.further_files.iter().cloned().collect();
        Ok(Rows { layout, file, further, kinds, begun: 0, group: None, read: 0, dropped: 0 })
    }

    /// Returns the names of the features, where no column is left out.
    pub(in crate::read) fn feature_names(&self) -> &[String] {
        self.layout.feature_names()
    }

    /// Returns an error if the cells of the first file and their table do not fit in memory.
    pub(super) fn check_room(&self) -> Result<(), Error> {
        let rows = (0..self.file.groups())
            .map(|group| self.file.rows_of(group))
            .sum::<Result<usize, _>>()?;
        let columns = self.kinds.iter().flatten().count();
        Design::check_room(rows, columns.saturating_mul(2))
    }

    /// Reads the next rows, as many as the buffer takes; `None` after the last.
    pub(in crate::read) fn next(
        &mut self,
        buffer: Buffer,
        labels: &mut LabelSink<'_>,
    ) -> Result<Option<Table>, Error> {
        let most = buffer.rows_of(self.feature_names().len());
        let mut part = self.none();
        while part.rows() < most && self.begin_group()? {
            self.take(&mut part, most)?;
        }
        self.layout.table(part, labels)
    }

    /// Reads the rest of a row group that has rows; `None` after the last.
    pub(super) fn next_group(
        &mut self,
        labels: &mut LabelSink<'_>,
    ) -> Result<Option<Table>, Error> {
        let mut part = self.none();
        while part.rows() == 0 && self.begin_group()? {
            self.take(&mut part, usize::MAX)?;
        }
        self.layout.table(part, labels)
    }

    pub(in crate::read) fn dropped(&self) -> usize {
        self.dropped
    }

    pub(super) fn name(&self) -> &str {
        &self.file.name
    }

    fn none(&self) -> Part {
        Part::new(self.kinds.iter().map(|kind| kind.map(Cells::of)).collect())
    }

    /// Begins the next row group where the last one is read; false after the last of all files.
    fn begin_group(&mut self) -> Result<bool, Error> {
        while self.group.as_ref().is_none_or(|group| group.left == 0) {
            if self.begun == self.file.groups() {
                let Some(path) = self.further.pop_front() else { return Ok(false) };
                self.begin_file(ParquetFile::open_path(&path)?)?;
                continue;
            }
            let number = self.begun;
            let cell_readers = (0..self.kinds.len()).map(|at| {
                self.kinds[at]
                    .map(|_| self.file.cells_of(number, at))
                    .transpose()
                    .map_err(|error| self.damaged(number, at, &error))
            });
            let cells = cell_readers.collect::<Result<_, _>>()?;
            // No rows are returned if no column is read.
            let is_read = self.kinds.iter().any(Option::is_some);
            let left = if is_read { self.file.rows_of(number)? } else { 0 };
            self.group = Some(Group { number, cells, left });
            self.begun += 1;
        }
        Ok(true)
    }

    /// Advances to the next file, which must have the same columns.
    fn begin_file(&mut self, file: ParquetFile) -> Result<(), Error> {
        let found = file.header();
        if found != self.layout.header() {
            let found = columns_in_words(&found);
            return Err(file.wrong(format!("the header is not that of the first file: {found}")));
        }
        let kinds = self.layout.kinds(&file)?;
        for (at, pair) in self.kinds.iter().zip(&kinds).enumerate() {
            if let (Some(first), Some(found)) = pair
                && first.is_word() != found.is_word()
            {
                let name = if found.is_word() { "words" } else { "numbers" };
                let reason = format!("the column holds {name} here, but not in the first file");
                return Err(malformed(&file.name, Some(&self.layout.header()[at]), reason));
            }
        }
        (self.kinds, self.file, self.begun, self.group, self.read) = (kinds, file, 0, None, 0);
        Ok(())
    }

    /// Appends rows of the group, until there are so many. Those without a label may be left out, and
    /// their other cells are then not read.
    fn take(&mut self, part: &mut Part, most: usize) -> Result<(), Error> {
        let Some(mut group) = self.group.take() else { return Ok(()) };
        let rows = group.left.min(most - part.rows());
        // The labels say which rows stay, and therefore come first.
        let label = self.layout.label();
        let others = (0..self.kinds.len()).filter(|&at| Some(at) != label);
        let mut keep = None;
        for at in label.into_iter().chain(others) {
            let (Some(cells), Some(reader), Some(kind)) =
                (&mut part.columns[at], &mut group.cells[at], self.kinds[at])
            else {
                continue;
            };
            let before = cells.len();
            let taken = cells.take(reader, rows, kind);
            taken.map_err(|error| self.damaged(group.number, at, &error))?;
            if Some(at) == label {
                keep = self.layout.kept(cells, before);
            }
            if let Some(keep) = &keep {
                cells.retain(before, keep);
            }
        }
        self.place(part, rows as u64, keep.as_deref());
        group.left -= rows;
        self.group = Some(group);
        Ok(())
    }

    /// Gives a part the places of rows of the file, and which of them were left out.
    fn place(&mut self, part: &mut Part, rows: u64, keep: Option<&[bool]>) {
        let (name, numbers) = (&self.file.name, self.read..self.read + rows);
        self.read += rows;
        let Some(keep) = keep else { return part.places.push_all(name, numbers) };
        let before = part.rows() + part.dropped.len();
        let kept = numbers.zip(keep).filter_map(|(row, keep)| keep.then_some(row));
        part.places.push_all(name, kept);
        let known = part.dropped.len();
        part.dropped.extend((before..).zip(keep).filter_map(|(row, keep)| (!keep).then_some(row)));
        self.dropped += part.dropped.len() - known;
    }

    fn damaged(&self, group: usize, at: usize, error: &ParquetError) -> Error {
        let reason = format!("row group {group}: {error}");
        malformed(&self.file.name, Some(&self.layout.header()[at]), reason)
    }
}
