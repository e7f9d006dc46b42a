//! A Parquet file whose pages are not yet decoded.

use std::io::Read;
use std::path::Path;

use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use crate::read::table::Source;
use crate::{Column, Error, Place};

pub(super) struct ParquetFile {
    pub(super) name: String,
    reader: Box<dyn FileReader>,
}

impl ParquetFile {
    /// Opens a file, which is read where it lies, or else in memory.
    pub(super) fn open(source: Source<'_>, name: &str) -> Result<Self, Error> {
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

    pub(super) fn open_path(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        match std::fs::File::open(path) {
            Ok(file) => Self::open(Source::File(file), &name),
            Err(source) => Err(Error::Io { file: name, source }),
        }
    }

    fn columns(&self) -> &[parquet::schema::types::ColumnDescPtr] {
        self.reader.metadata().file_metadata().schema_descr().columns()
    }

    /// Returns the names of the columns; a column of several parts has them joined by points.
    pub(super) fn header(&self) -> Vec<String> {
        self.columns().iter().map(|column| column.path().string()).collect()
    }

    pub(super) fn column(&self, at: usize) -> &ColumnDescriptor {
        &self.columns()[at]
    }

    pub(super) fn groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    pub(super) fn rows_of(&self, group: usize) -> Result<usize, Error> {
        let rows = self.reader.metadata().row_group(group).num_rows();
        let none = |_| self.wrong(format!("row group {group} has {rows} rows"));
        usize::try_from(rows).map_err(none)
    }

    pub(super) fn cells_of(&self, group: usize, at: usize) -> Result<ColumnReader, ParquetError> {
        self.reader.get_row_group(group)?.get_column_reader(at)
    }

    pub(super) fn wrong(&self, reason: String) -> Error {
        malformed(&self.name, None, reason)
    }
}

/// Returns an error of a file, or of a column in it.
pub(super) fn malformed(file: &str, column: Option<&str>, reason: String) -> Error {
    let column = column.map(|name| Column::Name(name.to_owned()));
    Error::Malformed { place: Place { column, ..Place::of_file(file) }, reason }
}
