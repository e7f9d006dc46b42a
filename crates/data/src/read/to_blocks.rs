//! Text to block files, in a stream.

use std::io::Read;
use std::path::Path;

use super::by_format::each_table;
use super::columns::FeatureTable;
use super::folds::FileFolds;
use super::labels::{FileLabels, PlacedLabels, in_file};
use super::svmlight::NO_FEATURE;
use super::table::{Purpose, Source, Table, check_columns};
use super::{FeatureColumns, Format, ReadOptions, open};
use crate::blocks::{BlockSettings, CodedRows, Ending, RowWriter};
use crate::class_collector::ClassCollector;
use crate::encode::{EncodeOptions, Encoding, EncodingLearner};
use crate::{Design, Error, Place};

/// Writes a labelled file, with those that follow it in the options, as a block file of any number of
/// classes, in memory that does not grow with the rows. [`Classes::of_labels`](crate::Classes::of_labels)
/// says which labels are taken for measurements; a positive class is for two classes. Returns the
/// number of rows that were left out because they have no label.
///
/// A table with words and missing values is read several times: to learn its encoding from all rows, and to
/// write them.
///
/// # Errors
/// The errors of [`classes`](super::classes); a value that 32 bits cannot hold where they are asked
/// for; the file cannot be written; an encoding to be learned from what is no regular file.
pub fn to_blocks(
    path: impl AsRef<Path>,
    options: &ReadOptions,
    settings: BlockSettings,
    out: impl AsRef<Path>,
) -> Result<usize, Error> {
    let path = path.as_ref();
    let (file, name, format) = open(path, options)?;
    let FeatureColumns::Learn(learn) = &options.features else {
        return write(Source::File(file), &name, format, options, settings, out.as_ref());
    };
    let pipe = |path: &&Path| !path.is_file();
    let mut files = options.further_files.iter().map(AsRef::as_ref).chain([path]);
    if let Some(pipe) = files.find(pipe) {
        return Err(read_twice(&pipe.display()));
    }
    let encoding = learned(path, options, learn)?;
    let features = FeatureColumns::Known(Box::new(encoding.encoding.clone()));
    let options = ReadOptions { features, ..options.clone() };
    let sparse = settings.sparse.or(Some(encoding.is_sparse));
    let settings = BlockSettings { sparse, ..settings };
    write(Source::File(file), &name, format, &options, settings, out.as_ref())
}

/// Writes what [`to_blocks`] does, from any reader; `name` stands for the file in messages, and
/// `format` prevails over that of the options.
///
/// ```
/// use margins_data::Dataset;
/// use margins_data::blocks::{BlockFile, BlockSettings};
/// use margins_data::read::{self, Format, ReadOptions};
///
/// let folder = tempfile::tempdir().expect("a folder");
/// let path = folder.path().join("three.blocks");
/// let text = "spam 1:0.5 3:1\nham 2:2\nspam 3:0.25\n";
/// let (options, settings) = (ReadOptions::default(), BlockSettings::default());
/// read::to_blocks_from(text.as_bytes(), "x.svm", Format::Svmlight, &options, settings, &path)?;
/// let data: Dataset = BlockFile::open(&path)?.read(0)?;
/// assert_eq!((data.rows(), data.columns()), (3, 3));
/// # Ok::<(), margins_data::Error>(())
/// ```
///
/// # Errors
/// The errors of [`to_blocks`]; an encoding that is to be learned, for which the rows would have to
/// be read again.
pub fn to_blocks_from(
    reader: impl Read,
    name: &str,
    format: Format,
    options: &ReadOptions,
    settings: BlockSettings,
    out: impl AsRef<Path>,
) -> Result<usize, Error> {
    write(Source::of(reader), name, format, options, settings, out.as_ref())
}

fn write(
    source: Source<'_>,
    name: &str,
    format: Format,
    options: &ReadOptions,
    settings: BlockSettings,
    out: &Path,
) -> Result<usize, Error> {
    check_columns(options)?;
    let encoding = match &options.features {
        FeatureColumns::Numbers => None,
        FeatureColumns::Known(encoding) => Some(encoding.as_ref().clone()),
        FeatureColumns::Learn(_) | FeatureColumns::LearnUncrowded(_) => {
            return Err(read_twice(&name));
        }
    };
    let mut blocks = Blocks {
        rows: RowWriter::create(out, settings)?,
        labels: FileLabels::new(ClassCollector::of_labels()),
        folds: None,
        names: None,
    };
    let features = &options.features;
    let dropped = each_table(
        source,
        name,
        format,
        options,
        Purpose::Fit,
        |table, labels| Part::new(table, labels, features),
        |part: Result<Part, Error>| {
            blocks.take(part.map_err(|error| in_file(name, error))?).map_err(|error| match error {
                Error::Create { .. } => error,
                other => in_file(name, other),
            })
        },
    )?;
    blocks.finish(name, options, encoding)?;
    Ok(dropped)
}

/// Refuses to learn from what can be read once.
fn read_twice(name: &dyn std::fmt::Display) -> Error {
    let requirement = format!("numbers in {name}: an encoding is learned by reading a file twice");
    Error::parameter("the kind of feature columns", "encoded", requirement)
}

/// The encoding of a file.
struct Learned {
    encoding: Encoding,
    /// True if at most a quarter of the features is not zero.
    is_sparse: bool,
}

/// Learns the encoding of a file, which is read until it is known.
fn learned(path: &Path, options: &ReadOptions, learn: &EncodeOptions) -> Result<Learned, Error> {
    let mut learner = EncodingLearner::new(learn.clone());
    loop {
        let (file, name, format) = open(path, options)?;
        let take = |features| match features {
            FeatureTable::Raw(table, places) => {
                learner.take(&table).map_err(|error| in_file(&name, places.locate(error)))
            }
            FeatureTable::Design { .. } => Ok(()),
        };
        let source = Source::File(file);
        each_table(source, &name, format, options, Purpose::Fit, |table, _| table.features, take)?;
        if learner.ends_pass() {
            let located = |error| in_file(&name, error);
            let is_sparse = learner.is_sparse();
            return Ok(Learned { encoding: learner.finish().map_err(located)?, is_sparse });
        }
    }
}

/// Rows that were read together.
struct Part {
    design: Design,
    names: Option<Vec<String>>,
    labels: PlacedLabels,
    weights: Option<Vec<f64>>,
    folds: Option<FileFolds>,
}

impl Part {
    fn new(table: Table, labels: PlacedLabels, columns: &FeatureColumns) -> Result<Self, Error> {
        let (design, names) = table.features.encoded(columns)?;
        Ok(Part { design, names, labels, weights: table.weights, folds: table.folds })
    }
}

/// A block file of text, so far.
struct Blocks {
    rows: RowWriter,
    labels: FileLabels,
    folds: Option<FileFolds>,
    names: Option<Vec<String>>,
}

impl Blocks {
    fn take(&mut self, part: Part) -> Result<(), Error> {
        let Part { design, names, labels, weights, folds } = part;
        let labels = self.labels.code(&labels)?;
        let folds = match (&mut self.folds, folds) {
            (Some(all), Some(more)) => Some(all.code(more)),
            (_, None) => None,
            (all @ None, Some(mut first)) => {
                let codes = first.take_codes();
                *all = Some(first);
                Some(codes)
            }
        };
        self.names = self.names.take().or(names);
        self.rows.push(CodedRows {
            design: &design,
            labels: &labels,
            weights: weights.as_deref(),
            folds: folds.as_deref(),
        })
    }

    fn finish(
        mut self,
        name: &str,
        options: &ReadOptions,
        encoding: Option<Encoding>,
    ) -> Result<(), Error> {
        // Only svmlight has neither names nor, before its end, a number of columns.
        if self.names.is_none() && options.columns.is_none() && self.rows.stored() == 0 {
            let reason = NO_FEATURE.to_owned();
            let place = Place::of_file(name);
            return Err(Error::Malformed { place, reason });
        }
        let (positive, rows) = (options.positive.as_deref(), self.rows.rows());
        let classes = self.labels.classes.take_classes(positive, rows);
        let (classes, class_ranks) = classes.map_err(|error| self.labels.in_file(name, error))?;
        let ending = Ending {
            classes,
            class_ranks,
            folds: self.folds.map_or_else(|| Ok(Vec::new()), |folds| folds.names(name))?,
            features: options.columns,
            feature_names: self.names,
            encoding,
        };
        self.rows.finish(ending)
    }
}
