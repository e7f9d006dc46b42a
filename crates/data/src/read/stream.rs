use std::io::Read;
use std::path::Path;

use super::lines::Lines;
use super::{
    Buffer, FeatureColumns, FileLabels, Format, Purpose, ReadOptions, check_columns, csv, open,
    svmlight,
};
use crate::class_collector::ClassCollector;
use crate::{Design, Error, Labels, Place};

/// A labelled file, read in chunks of bounded size: at most 4096 rows, and no further row after a
/// million stored values.
///
/// The columns of an svmlight file must be told. The classes are those of the first chunk, which
/// needs both, or are told; a label of a third class is refused where it stands.
///
/// ```
/// use margins_data::read::{Format, ReadOptions, Stream};
///
/// let text = "+1 1:0.5 3:1\n-1 2:2\n+1 3:0.25\n";
/// let options = ReadOptions { columns: Some(3), ..ReadOptions::default() };
/// let mut stream = Stream::from_reader(text.as_bytes(), "x.svm", Format::Svmlight, &options, None)?;
/// while let Some(chunk) = stream.next_chunk()? {
///     assert_eq!(chunk.labels.signs(), [1.0, -1.0, 1.0]);
/// }
/// assert_eq!(stream.rows(), 3);
/// # Ok::<(), margins_data::Error>(())
/// ```
pub struct Stream<'a> {
    rows: Rows<'a>,
    name: String,
    labels: FileLabels,
    positive: Option<String>,
    columns: usize,
    read: u64,
    buffer: Buffer,
}

enum Rows<'a> {
    Csv(csv::Rows<'a>),
    Svmlight(svmlight::Rows<'a>),
}

/// Consecutive rows of a [`Stream`].
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// The samples.
    pub design: Design,
    /// The labels of the rows, perhaps all of one class.
    pub labels: Labels,
    /// The weights of the rows, from CSV.
    pub weights: Option<Vec<f64>>,
    /// The number of rows before the chunk.
    pub before: u64,
}

const BUFFER: Buffer = Buffer { rows: 1 << 12, values: 1 << 20 };

impl Stream<'static> {
    /// Opens a file; `classes` are the negative and the positive one.
    ///
    /// # Errors
    /// The file cannot be read, its format is not known, its header is malformed; an svmlight file
    /// whose number of columns is not told; a fold column; two names of one class.
    pub fn open(
        path: impl AsRef<Path>,
        options: &ReadOptions,
        classes: Option<[&str; 2]>,
    ) -> Result<Self, Error> {
        let (file, name, format) = open(path.as_ref(), options)?;
        Stream::from_reader(file, &name, format, options, classes)
    }
}

impl<'a> Stream<'a> {
    /// Begins as [`open`](Self::open) does, from any reader; `name` stands for the file in
    /// messages, and `format` prevails over that of the options.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn from_reader(
        reader: impl Read + 'a,
        name: &str,
        format: Format,
        options: &ReadOptions,
        classes: Option<[&str; 2]>,
    ) -> Result<Self, Error> {
        if let Some(column) = &options.fold_column {
            let requirement = "left out of a stream, which is not cross-validated";
            return Err(Error::parameter("the fold column", format!("'{column}'"), requirement));
        }
        check_columns(options)?;
        if options.features != FeatureColumns::Numbers {
            let requirement = "numbers in a stream: an encoding is learned from all rows at once";
            return Err(Error::parameter("the feature columns", "encoded", requirement));
        }
        let lines = Lines::new(reader, name)?.followed_by(&options.further_files);
        let (rows, columns) = match format {
            Format::Csv => {
                let rows = csv::Rows::open(lines, options, Purpose::Fit)?;
                let columns = rows.feature_names().len();
                (Rows::Csv(rows), columns)
            }
            Format::Parquet => {
                let requirement = "CSV or svmlight: Parquet is read into memory as a whole";
                return Err(Error::parameter("the format of a stream", "Parquet", requirement));
            }
            Format::Svmlight => {
                let Some(columns) = options.columns else {
                    let requirement = "told for a stream of svmlight: its largest index stands \
                                       anywhere in the file";
                    return Err(Error::parameter("the number of columns", "unknown", requirement));
                };
                (Rows::Svmlight(svmlight::Rows::open(lines, options)?), columns)
            }
        };
        let labels = classes
            .map_or_else(|| Ok(ClassCollector::of_two_labels()), ClassCollector::of_known)?;
        // The classes are told with their signs.
        let positive = match classes {
            Some([_, positive]) => Some(positive.to_owned()),
            None => options.positive.clone(),
        };
        Ok(Stream {
            rows,
            name: name.to_owned(),
            labels: FileLabels::new(labels),
            positive,
            columns,
            read: 0,
            buffer: BUFFER,
        })
    }

    /// Changes the size of the buffer, for tests that cross its borders.
    #[must_use]
    pub fn with_buffer_rows(mut self, rows: usize) -> Self {
        self.buffer.rows = rows.max(1);
        self
    }

    /// Returns the number of features.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Names of the features, from CSV.
    pub fn feature_names(&self) -> Option<&[String]> {
        match &self.rows {
            Rows::Csv(rows) => Some(rows.feature_names()),
            Rows::Svmlight(_) => None,
        }
    }

    /// Returns the number of rows so far.
    pub fn rows(&self) -> u64 {
        self.read
    }

    /// Reads the next rows; `None` at the end of the file.
    ///
    /// # Errors
    /// Malformed content, with its place; a label of a third class; where the classes were not
    /// told, labels of one class in the whole of the first chunk, and labels that are measurements.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>, Error> {
        let labels = &mut self.labels;
        let mut sink = |value: &str, place: &dyn Fn() -> Place| labels.push(value, place);
        let table = match &mut self.rows {
            Rows::Csv(rows) => rows.next(self.buffer, &mut sink)?,
            Rows::Svmlight(rows) => rows.next(self.buffer, &mut sink)?,
        };
        let Some(table) = table else { return Ok(None) };
        let found = Labels::collected(&mut self.labels.classes, self.positive.as_deref());
        let labels = found.map_err(|error| self.labels.in_file(&self.name, error))?;
        let before = self.read;
        let (design, _) = table.features.encoded(&FeatureColumns::Numbers)?;
        self.read += design.rows() as u64;
        Ok(Some(Chunk { design, labels, weights: table.weights, before }))
    }
}
