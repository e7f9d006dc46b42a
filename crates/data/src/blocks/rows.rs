//! Writes rows whose classes and folds are coded already: the part that the writers of block files
//! share.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::content::Content;
use super::index::{BlockEntry, Index};
use super::layout::{BLOCK_HEAD, BlockHead, HEAD, Layout, Precision};
use super::open::foot;
use super::{BlockSettings, TARGET};
use crate::encode::Encoding;
use crate::error::{check_count, check_entries};
use crate::{AtomicFile, Design, Error, Sample};

/// Rows to write, with codes of their classes and folds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CodedRows<'r> {
    pub(crate) design: &'r Design,
    pub(crate) labels: &'r [u32],
    pub(crate) weights: Option<&'r [f64]>,
    pub(crate) folds: Option<&'r [u32]>,
}

/// The totals of all rows written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ending {
    /// The names of the classes by their codes, and their ranks in order.
    pub(crate) classes: Vec<String>,
    pub(crate) class_ranks: Vec<u32>,
    pub(crate) folds: Vec<String>,
    /// The number of features; by default the largest that was seen.
    pub(crate) features: Option<usize>,
    pub(crate) feature_names: Option<Vec<String>>,
    pub(crate) encoding: Option<Encoding>,
}

/// A writer of rows with codes, which holds one block of them at a time.
pub(crate) struct RowWriter {
    out: AtomicFile,
    path: PathBuf,
    settings: BlockSettings,
    /// The parts of the rows, once there are some.
    layout: Option<Layout>,
    /// The number of rows of a block, once it is known.
    block_rows: Option<usize>,
    pending: Content,
    bytes: Vec<u8>,
    at: u64,
    places: Vec<BlockEntry>,
    rows: u64,
    stored: u64,
    features: usize,
}

impl RowWriter {
    /// Begins a file, which has its name when it is complete.
    pub(crate) fn create(path: &Path, settings: BlockSettings) -> Result<Self, Error> {
        if settings.rows == Some(0) || settings.rows.is_some_and(|rows| rows > u32::MAX as usize) {
            let (rows, requirement) = (settings.rows.unwrap_or(0), "from 1 to 4294967295");
            return Err(Error::parameter("the number of rows of a block", rows, requirement));
        }
        Ok(RowWriter {
            out: AtomicFile::create(path).map_err(|source| not_written(path, source))?,
            path: path.to_path_buf(),
            settings,
            layout: None,
            block_rows: settings.rows,
            pending: Content::default(),
            bytes: Vec::new(),
            at: 0,
            places: Vec::new(),
            rows: 0,
            stored: 0,
            features: 0,
        })
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows as usize + self.pending.rows()
    }

    pub(crate) fn stored(&self) -> usize {
        self.stored as usize + self.pending.values.len()
    }

    /// Writes more rows, with weights and folds if the first had some.
    pub(crate) fn push(&mut self, rows: CodedRows<'_>) -> Result<(), Error> {
        let CodedRows { design, labels, weights, folds } = rows;
        check_count("labels", labels.len(), "rows", design.rows())?;
        let layout = self.layout_of(rows)?;
        let of_weights = weights.map_or(0, <[f64]>::len);
        let of_folds = folds.map_or(0, <[u32]>::len);
        let expected = |there: bool| if there { design.rows() } else { 0 };
        check_count("weights", of_weights, "rows", expected(layout.weights))?;
        check_count("folds", of_folds, "rows", expected(layout.folds))?;
        crate::error::check_weights(weights.unwrap_or_default())?;
        if layout.sparse {
            self.features = self.features.max(design.columns());
        } else {
            check_count("features", design.columns(), "columns", self.features)?;
        }
        if self.features > u32::MAX as usize {
            let requirement = "at most 4294967295";
            return Err(Error::parameter("the number of features", self.features, requirement));
        }
        for (row, sample) in design.samples().enumerate() {
            let before = self.pending.values.len();
            if layout.sparse {
                self.push_sparse(&sample);
            } else {
                self.pending.values.resize(before + design.columns(), 0.0);
                let values = &mut self.pending.values[before..];
                sample.for_each(|column, value| values[column] = value);
            }
            if layout.precision == Precision::Single {
                let single = |value: f64| (value as f32).is_finite();
                let requirement = "of a size that 32 bits can hold";
                check_entries("value", &self.pending.values[before..], requirement, single)
                    .map_err(|error| at_row(error, self.rows()))?;
            }
            self.pending.labels.push(labels[row]);
            self.pending.weights.extend(weights.map(|weights| weights[row]));
            self.pending.folds.extend(folds.map(|folds| folds[row]));
            self.end_row(layout)?;
        }
        Ok(())
    }

    fn push_sparse(&mut self, sample: &Sample<'_>) {
        let Content { lengths, columns, values, .. } = &mut self.pending;
        let before = columns.len();
        let all = matches!(sample, Sample::Sparse { .. });
        sample.for_each(|column, value| {
            if all || value != 0.0 {
                columns.push(column as u32);
                values.push(value);
            }
        });
        lengths.push((columns.len() - before) as u32);
    }

    /// Returns what rows consist of, and writes the head of the file before the first.
    fn layout_of(&mut self, rows: CodedRows<'_>) -> Result<Layout, Error> {
        if let Some(layout) = self.layout {
            return Ok(layout);
        }
        let sparse = self.settings.sparse.unwrap_or(rows.design.is_sparse());
        let layout = Layout {
            sparse,
            precision: self.settings.precision,
            weights: rows.weights.is_some(),
            folds: rows.folds.is_some(),
        };
        if !sparse {
            self.features = rows.design.columns();
        }
        let written = self.out.write_all(&layout.head());
        written.map_err(|source| not_written(&self.path, source))?;
        self.at = HEAD as u64;
        self.layout = Some(layout);
        Ok(layout)
    }

    /// Ends a row, and the block if that is full.
    fn end_row(&mut self, layout: Layout) -> Result<(), Error> {
        let rows = self.pending.rows();
        let full = match self.block_rows {
            Some(most) => rows >= most,
            None => {
                let stored = self.pending.values.len() as u64 * layout.stored_bytes();
                rows as u64 * layout.row_bytes() + stored >= TARGET
            }
        };
        if full {
            self.block_rows = Some(rows);
            self.end_block(layout)?;
        }
        Ok(())
    }

    fn end_block(&mut self, layout: Layout) -> Result<(), Error> {
        if self.pending.rows() == 0 {
            return Ok(());
        }
        let (rows, stored) = (self.pending.rows() as u32, self.pending.values.len() as u64);
        self.bytes.clear();
        self.bytes.resize(BLOCK_HEAD, 0);
        self.pending.put(layout, &mut self.bytes);
        let head = BlockHead::of(rows, stored, &self.bytes[BLOCK_HEAD..]);
        self.bytes[..BLOCK_HEAD].copy_from_slice(&head.bytes());
        self.out.write_all(&self.bytes).map_err(|source| not_written(&self.path, source))?;
        self.places.push(BlockEntry { offset: self.at, head });
        self.at += self.bytes.len() as u64;
        self.rows += u64::from(rows);
        self.stored += stored;
        self.pending.clear();
        Ok(())
    }

    /// Writes the rows that are left, index and foot, and gives the file its name.
    pub(crate) fn finish(mut self, ending: Ending) -> Result<(), Error> {
        let layout = self.layout.ok_or(Error::Empty("rows"))?;
        self.end_block(layout)?;
        let features = ending.features.unwrap_or(self.features);
        if features < self.features {
            let expected = features;
            return Err(Error::Shape { what: "features", expected, found: self.features });
        }
        if features == 0 {
            return Err(Error::Empty("columns"));
        }
        if let Some(names) = &ending.feature_names {
            check_count("feature names", names.len(), "columns", features)?;
        }
        let index = Index {
            blocks: self.places,
            rows: self.rows,
            features: features as u64,
            stored: self.stored,
            classes: ending.classes,
            class_ranks: ending.class_ranks,
            folds: ending.folds,
            feature_names: ending.feature_names,
            encoding: ending.encoding,
        };
        let bytes = index.bytes();
        let mut out = self.out;
        let written = out.write_all(&bytes).and_then(|()| out.write_all(&foot(self.at, &bytes)));
        written.and_then(|()| out.commit()).map_err(|source| not_written(&self.path, source))
    }
}

fn not_written(path: &Path, source: io::Error) -> Error {
    Error::Create { file: path.display().to_string(), source }
}

/// Moves an error of a value in a row of its own to the row of the data.
fn at_row(error: Error, row: usize) -> Error {
    match error {
        Error::Entry { what, value, requirement, .. } => {
            Error::Entry { what, row, value, requirement }
        }
        other => other,
    }
}
