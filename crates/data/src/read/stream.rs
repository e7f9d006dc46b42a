//! Labelled files in chunks of bounded size.

use std::io::Read;
use std::path::Path;

use super::by_format::Rows;
use super::labels::{FileLabels, in_file};
use super::table::{Buffer, Purpose, Source, check_columns};
use super::{FeatureColumns, Format, ReadOptions, from_blocks, open};
use crate::blocks::BlockFile;
use crate::class_collector::ClassCollector;
use crate::class_name::same_class;
use crate::encode::Encoding;
use crate::{ClassLabels, Dataset, Design, Error, Labels, Listed, Place};

/// A labelled file, read in chunks of bounded size: at most 4096 rows, and no further row after a
/// million stored values; a block file block after block. Parquet is decoded in such chunks out of one
/// row group after the other, with a page of every column beside them; from a reader that is no file
/// its compressed content is held.
///
/// The number of columns of an svmlight file must be given. The classes are given, or are those of
/// the first chunk, which must have both; the error for a label of another class names its line. There are two, unless
/// chunks are read by [`next_chunk_of`](Stream::next_chunk_of) several.
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
    content: Content<'a>,
    columns: usize,
    read: u64,
}

enum Content<'a> {
    Table(Box<Table<'a>>),
    Blocks { file: BlockFile, next: usize },
}

struct Table<'a> {
    rows: Rows<'a>,
    name: String,
    labels: FileLabels,
    positive: Option<String>,
    buffer: Buffer,
}

/// Consecutive rows of a [`Stream`].
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk<Y = Labels> {
    /// The samples.
    pub design: Design,
    /// The labels of the rows, perhaps all of one class.
    pub labels: Y,
    /// The weights of the rows, from CSV, Parquet or a block file.
    pub weights: Option<Vec<f64>>,
    /// The number of rows before the chunk.
    pub before: u64,
}

const BUFFER: Buffer = Buffer { rows: 1 << 12, values: 1 << 20 };

impl Stream<'static> {
    /// Opens a file of these classes; of two the negative one is the first.
    ///
    /// # Errors
    /// The file cannot be read, its format is not known, its header is malformed; an svmlight file
    /// whose number of columns is not specified; a fold column; fewer than two classes, or two names of
    /// one; other classes than those of a block file.
    pub fn open(
        path: impl AsRef<Path>,
        options: &ReadOptions,
        classes: Option<&[&str]>,
    ) -> Result<Self, Error> {
        if let Some(file) = from_blocks::open(path.as_ref(), options)? {
            return Stream::of_blocks(file, classes);
        }
        let (file, name, format) = open(path.as_ref(), options)?;
        Stream::of_source(Source::File(file), &name, format, options, classes)
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
        classes: Option<&[&str]>,
    ) -> Result<Self, Error> {
        Stream::of_source(Source::of(reader), name, format, options, classes)
    }

    fn of_source(
        source: Source<'a>,
        name: &str,
        format: Format,
        options: &ReadOptions,
        classes: Option<&[&str]>,
    ) -> Result<Self, Error> {
        if let Some(column) = &options.fold_column {
            let requirement = "left out of a stream, which is not cross-validated";
            return Err(Error::parameter("the fold column", format!("'{column}'"), requirement));
        }
        check_columns(options)?;
        if options.features != FeatureColumns::Numbers {
            let requirement = "numbers in a stream: an encoding is learned from all rows at once";
            return Err(Error::parameter("the kind of feature columns", "encoded", requirement));
        }
        if format == Format::Svmlight && options.columns.is_none() {
            let requirement =
                "given for a stream of svmlight, whose largest index may be anywhere in the file";
            return Err(Error::parameter("the number of columns", "unknown", requirement));
        }
        let rows = Rows::open(source, name, format, options, Purpose::Fit)?;
        let columns = rows.feature_names().map(<[String]>::len).or(options.columns);
        let labels = classes
            .map_or_else(|| Ok(ClassCollector::of_two_labels()), ClassCollector::of_known)?;
        // The classes are given with their signs.
        let positive = match classes {
            Some([_, positive]) => Some((*positive).to_owned()),
            Some(_) => None,
            None => options.positive.clone(),
        };
        let (name, labels) = (name.to_owned(), FileLabels::new(labels));
        let table = Table { rows, name, labels, positive, buffer: BUFFER };
        let content = Content::Table(Box::new(table));
        Ok(Stream { content, columns: columns.unwrap_or_default(), read: 0 })
    }

    /// Starts at the first block of a file; the classes may be given, as for text.
    fn of_blocks(file: BlockFile, classes: Option<&[&str]>) -> Result<Self, Error> {
        let file = match (classes, file.classes().len()) {
            (None, _) => file,
            (Some(&[negative, positive]), 2) => {
                let file = file.with_positive(positive)?;
                let [first, second] = [0, 1].map(|class| file.classes()[class].clone());
                if !same_class(&first, negative) {
                    let class = negative.to_owned();
                    return Err(Error::UnknownClass { class, classes: [first, second] });
                }
                file
            }
            (Some(names), _) => {
                let own = file.classes();
                let is_own = |(name, own): (&&str, &String)| same_class(name, own);
                if names.len() != own.len() || !names.iter().zip(own).all(is_own) {
                    let requirement = format!("those of the block file, {}", Listed(own));
                    return Err(Error::parameter("the classes", names.join(", "), requirement));
                }
                file
            }
        };
        let columns = file.features();
        Ok(Stream { content: Content::Blocks { file, next: 0 }, columns, read: 0 })
    }

    /// Changes the size of the buffer, for tests that cross its borders.
    #[must_use]
    pub fn with_buffer_rows(mut self, rows: usize) -> Self {
        if let Content::Table(table) = &mut self.content {
            table.buffer.rows = rows.max(1);
        }
        self
    }

    /// Returns the number of features.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the names of the features, from CSV, Parquet or a block file that has them.
    pub fn feature_names(&self) -> Option<&[String]> {
        match &self.content {
            Content::Table(table) => table.rows.feature_names(),
            Content::Blocks { file, .. } => file.feature_names(),
        }
    }

    /// Returns the encoding that the features were made by, from a block file of a raw table.
    pub fn encoding(&self) -> Option<&Encoding> {
        match &self.content {
            Content::Table(_) => None,
            Content::Blocks { file, .. } => file.encoding(),
        }
    }

    /// Returns the number of rows so far, without those that were left out.
    pub fn rows(&self) -> u64 {
        self.read
    }

    /// Returns the number of rows that were left out so far because they have no label.
    pub fn dropped_rows(&self) -> usize {
        match &self.content {
            Content::Table(table) => table.rows.dropped(),
            Content::Blocks { .. } => 0,
        }
    }

    /// Reads the next rows; `None` at the end of the file.
    ///
    /// # Errors
    /// Malformed content, with its place; a label of a third class; where the classes were not
    /// given, labels of one class in the whole of the first chunk, and labels that are measurements.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>, Error> {
        self.next_chunk_of()
    }

    /// Reads the next rows as [`next_chunk`](Self::next_chunk) does, of two classes or of several.
    ///
    /// ```
    /// use margins_data::read::{Format, ReadOptions, Stream};
    /// use margins_data::{ClassLabels, Classes};
    ///
    /// let text = "x,label\n1,b\n2,c\n3,a\n";
    /// let options = ReadOptions::default();
    /// let mut stream = Stream::from_reader(text.as_bytes(), "x.csv", Format::Csv, &options, None)?;
    /// let chunk = stream.next_chunk_of::<Classes>()?.expect("three rows");
    /// assert_eq!((chunk.labels.names().len(), chunk.labels.indices()), (3, &[1, 2, 0][..]));
    /// # Ok::<(), margins_data::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`next_chunk`](Self::next_chunk).
    pub fn next_chunk_of<Y: ClassLabels>(&mut self) -> Result<Option<Chunk<Y>>, Error> {
        let before = self.read;
        let chunk = match &mut self.content {
            Content::Table(table) => table.next_chunk(before)?,
            Content::Blocks { file, next } if *next < file.partitions() => {
                let data: Dataset<Y> = file.read(*next)?;
                *next += 1;
                let (design, labels) = (data.design().clone(), data.labels().clone());
                let weights = data.weights().map(<[f64]>::to_vec);
                Some(Chunk { design, labels, weights, before })
            }
            Content::Blocks { .. } => None,
        };
        self.read += chunk.as_ref().map_or(0, |chunk| chunk.design.rows() as u64);
        Ok(chunk)
    }
}

impl Table<'_> {
    fn next_chunk<Y: ClassLabels>(&mut self, before: u64) -> Result<Option<Chunk<Y>>, Error> {
        let labels = &mut self.labels;
        if !Y::ONLY_TWO {
            labels.classes.take_several();
        }
        let mut sink = |value: &str, place: &dyn Fn() -> Place| labels.push(value, place);
        let table = self.rows.next(self.buffer, &mut sink);
        let Some(table) = table.map_err(|error| in_file(&self.name, error))? else {
            return Ok(None);
        };
        let found = self.labels.classes.take_chunk(self.positive.as_deref());
        let (indices, names) = found.map_err(|error| self.labels.in_file(&self.name, error))?;
        let labels = Y::of_indices(indices, &names);
        let (design, _) = table.features.encoded(&FeatureColumns::Numbers)?;
        Ok(Some(Chunk { design, labels, weights: table.weights, before }))
    }
}
