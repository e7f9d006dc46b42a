//! Block files open for reading.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::content::Content;
use super::index::{BlockEntry, Index};
use super::layout::{BLOCK_HEAD, BlockHead, Layout, MAGIC, check};
use super::open::{Fault, damage, read_index, wrong};
use crate::class_name::{ranks, sorted_order};
use crate::dataset::Folds;
use crate::encode::Encoding;
use crate::{ClassLabels, Counted, Dataset, Error, Memory};

/// A block file that is open for reading. Clones are cheap, and threads may read different blocks at
/// the same time: each read has a handle of its own.
#[derive(Debug, Clone)]
pub struct BlockFile {
    path: PathBuf,
    layout: Layout,
    index: Arc<Index>,
    /// The names of the classes in order; with two classes the first is the negative one.
    classes: Arc<Vec<String>>,
    class_of: Arc<Vec<u32>>,
    /// The names of the folds in order.
    folds: Arc<[String]>,
    fold_of: Arc<Vec<u32>>,
    /// The number of features, which may be larger than that of the file if it is sparse.
    features: usize,
}

impl BlockFile {
    /// Returns true if a file starts as block files do; false of one that cannot be read.
    pub fn is_one(path: impl AsRef<Path>) -> bool {
        let mut start = [0; MAGIC.len()];
        let path = path.as_ref();
        // A pipe would lose what is read of it.
        path.is_file()
            && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
            && start == MAGIC
    }

    /// Opens a file: reads its index and compares that with the length of the file. The content of a
    /// block is checked when the block is read.
    ///
    /// # Errors
    /// The file cannot be read, is no block file, is cut off, or has a damaged head, index or foot.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let io = |source| Error::Io { file: name.clone(), source };
        let mut file = File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let (layout, index) = match read_index(&mut file, length) {
            Ok(read) => read,
            Err(Fault::Io(source)) => return Err(io(source)),
            Err(Fault::Damage(reason)) => return Err(damage(&mut file, name, length, reason)),
        };
        let mut classes = vec![String::new(); index.classes.len()];
        for (class, &rank) in index.classes.iter().zip(&index.class_ranks) {
            classes[rank as usize].clone_from(class);
        }
        let folds = sorted_order(&index.folds);
        Ok(BlockFile {
            path: path.to_path_buf(),
            fold_of: Arc::new(ranks(&folds)),
            folds: folds.into_iter().map(|code| index.folds[code].clone()).collect(),
            layout,
            class_of: Arc::new(index.class_ranks.clone()),
            classes: Arc::new(classes),
            features: index.features as usize,
            index: Arc::new(index),
        })
    }

    /// Returns the file with another class of two as the positive one.
    ///
    /// # Errors
    /// The class is not one of the two, or there are more than two classes.
    pub fn with_positive(mut self, positive: &str) -> Result<Self, Error> {
        let [first, second] = &self.classes[..] else {
            let requirement = "left out where there may be several classes";
            return Err(Error::parameter(
                "the positive class",
                format!("'{positive}'"),
                requirement,
            ));
        };
        if crate::same_class(positive, second) {
            return Ok(self);
        }
        if !crate::same_class(positive, first) {
            let classes = [first.clone(), second.clone()];
            let unknown = Error::UnknownClass { class: positive.to_owned(), classes };
            return Err(Error::InFile { file: self.name(), error: Box::new(unknown) });
        }
        self.classes = Arc::new(vec![second.clone(), first.clone()]);
        self.class_of = Arc::new(self.class_of.iter().map(|class| 1 - class).collect());
        Ok(self)
    }

    /// Returns the file with this many features, such as those of a model: a sparse file may have
    /// fewer, because its last ones may be zero everywhere, and a dense one must have as many.
    ///
    /// # Errors
    /// Another number of features.
    pub fn with_features(mut self, features: usize) -> Result<Self, Error> {
        let own = self.index.features as usize;
        if own == features || (self.layout.sparse && own < features) {
            self.features = features;
            return Ok(self);
        }
        Err(self.wrong(format!(
            "the file has {}, but {features} are expected",
            Counted(own, "feature")
        )))
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of rows of all partitions.
    pub fn rows(&self) -> usize {
        self.index.rows as usize
    }

    /// Returns the number of features.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Returns the number of values that are stored.
    pub fn stored(&self) -> usize {
        self.index.stored as usize
    }

    /// Returns true if only nonzero features are stored.
    pub fn is_sparse(&self) -> bool {
        self.layout.sparse
    }

    /// Returns true if the rows have weights.
    pub fn has_weights(&self) -> bool {
        self.layout.weights
    }

    /// Returns the names of the folds in order; none if the rows have no folds.
    pub fn folds(&self) -> &[String] {
        &self.folds
    }

    /// Returns the number of partitions.
    pub fn partitions(&self) -> usize {
        self.index.blocks.len()
    }

    /// Returns the number of rows of a partition.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn rows_of(&self, partition: usize) -> usize {
        self.index.blocks[partition].head.rows as usize
    }

    /// Returns the number of values that a partition stores.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn stored_of(&self, partition: usize) -> usize {
        self.index.blocks[partition].head.stored as usize
    }

    /// Returns the bytes that the features of a partition take in memory.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn bytes_of(&self, partition: usize) -> usize {
        let (rows, stored) = (self.rows_of(partition), self.stored_of(partition));
        let value = size_of::<f64>();
        if self.is_sparse() {
            // Every value has its column, and every row its place.
            let place = size_of::<usize>();
            stored * (value + place) + (rows + 1) * place
        } else {
            stored * value
        }
    }

    /// Returns the names of the classes in order; with two classes the first is the negative one.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Returns the names of the features, if they have any.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.index.feature_names.as_deref()
    }

    /// Returns the encoding that the features were made by, if they were made of a raw table.
    pub fn encoding(&self) -> Option<&Encoding> {
        self.index.encoding.as_ref()
    }

    /// Reads the rows of a partition, as labels of two classes or as classes. Only one of the classes
    /// may occur in it, with any weights; folds are those of the whole file, not all of which need
    /// to occur.
    ///
    /// # Errors
    /// The file cannot be read, the block is damaged, or labels of two classes are asked for where
    /// there are more.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn read<Y: ClassLabels>(&self, partition: usize) -> Result<Dataset<Y>, Error> {
        self.check_classes::<Y>()?;
        let mut content = Content::default();
        self.append(partition, &mut content)?;
        self.part(content).map_err(|error| self.block(partition, &error.to_string()))
    }

    /// Reads the rows of all partitions.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read); all weights are zero.
    pub fn dataset<Y: ClassLabels>(&self) -> Result<Dataset<Y>, Error> {
        self.check_classes::<Y>()?;
        self.check_room()?;
        let mut content = Content::with_room(self.layout, self.rows(), self.stored());
        (0..self.partitions()).try_for_each(|k| self.append(k, &mut content))?;
        let whole = self.part(content).and_then(|mut data| {
            if let Some(weights) = data.weights().map(<[f64]>::to_vec) {
                data = data.with_weights(weights)?;
            }
            Ok(data)
        });
        whole.map_err(|error| Error::InFile { file: self.name(), error: Box::new(error) })
    }

    /// Returns an error if all rows together do not fit in memory.
    fn check_room(&self) -> Result<(), Error> {
        let bytes = (0..self.partitions()).map(|partition| self.bytes_of(partition)).sum();
        Memory::from_bytes(bytes).check_free().map_err(|shortage| {
            let columns = Some(self.features);
            let error = Error::Memory { rows: self.rows(), columns, shortage };
            Error::InFile { file: self.name(), error: Box::new(error) }
        })
    }

    fn part<Y: ClassLabels>(&self, content: Content) -> Result<Dataset<Y>, Error> {
        let rows = content.rows();
        let Content { labels, weights, folds, lengths, columns, values } = content;
        let shape = (rows, self.features);
        let design = Content::design(&lengths, columns, values, self.layout, shape)?;
        let class = |(row, &code): (usize, &u32)| {
            let (class, count) = (code as usize, self.class_of.len());
            self.class_of.get(class).copied().ok_or(Error::ClassIndex { row, class, count })
        };
        let indices = labels.iter().enumerate().map(class).collect::<Result<_, _>>()?;
        let fold = |(row, &code): (usize, &u32)| {
            let (code, what, requirement) = (code as usize, "code of the fold", "in the index");
            let number = self.fold_of.get(code).map(|&fold| fold as usize);
            number.ok_or(Error::Entry { what, row, value: code as f64, requirement })
        };
        let of_rows = folds.iter().enumerate().map(fold).collect::<Result<Vec<_>, _>>()?;
        let folds = Folds { of_rows, names: Arc::clone(&self.folds) };
        let mut data = Dataset::new(design, Y::of_indices(indices, &self.classes))?;
        if let Some(names) = self.feature_names() {
            data = data.with_feature_names(names.to_vec())?;
        }
        if let Some(encoding) = self.encoding() {
            data = data.made_by(encoding.clone());
        }
        data.with_parts_of(
            self.layout.weights.then_some(weights),
            self.layout.folds.then_some(folds),
        )
    }

    fn append(&self, partition: usize, content: &mut Content) -> Result<(), Error> {
        let BlockEntry { offset, head } = self.index.blocks[partition];
        let bytes = self.layout.block_bytes(head.rows, head.stored).unwrap_or(0) as usize;
        let io = |source: io::Error| self.block(partition, &format!("cannot be read: {source}"));
        let mut file = File::open(&self.path).map_err(io)?;
        file.seek(SeekFrom::Start(offset)).map_err(io)?;
        // The length of the file was at least this when it was opened.
        let mut block = vec![0; bytes];
        file.read_exact(&mut block).map_err(io)?;
        let (start, rows) = block.split_at(BLOCK_HEAD);
        if BlockHead::of_bytes(start) != Some(head) {
            return Err(self.block(partition, "its head is damaged: it is not that of the index"));
        }
        check(head.checksum, head.expected_checksum(rows))
            .and_then(|()| content.take(self.layout, head.rows, head.stored, rows))
            .map_err(|reason| self.block(partition, &reason))
    }

    /// Refuses labels of two classes where there are more.
    ///
    /// # Errors
    /// More than two classes, of labels that are of two only.
    pub fn check_classes<Y: ClassLabels>(&self) -> Result<(), Error> {
        match &self.classes[..] {
            [first, second, third, ..] if Y::ONLY_TWO => {
                let classes = [first.clone(), second.clone()];
                let reason = crate::error::third_class(third, &classes);
                let place = crate::Place::of_file(self.name());
                Err(Error::ThirdClassInFile { place, reason })
            }
            _ => Ok(()),
        }
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn block(&self, block: usize, reason: &str) -> Error {
        Error::Block { file: self.name(), block, reason: reason.to_owned() }
    }

    pub(crate) fn wrong(&self, reason: String) -> Error {
        wrong(self.name(), reason)
    }
}
