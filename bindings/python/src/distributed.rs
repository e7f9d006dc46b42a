//! Distributed samples: the shards on the workers, and the connection to them on the driver.

use std::path::PathBuf;

use margins::data::blocks::BlockFile;
use margins::data::split::named_folds;
use margins::data::{ClassLabels, Classes, Design};
use margins::estimators::regularised::{
    ClassifierSettings, DataSummary, FittedClassifier, LandmarkBlocks, Path,
};
use margins::losses::MarginLoss;
use margins::optim::shards;
use margins::optim::shards::{
    Block, Blocks, Failure, FoldDraw, Message, Reply, Request, Resident, Workers,
};
use margins::{Approximation, DEFAULT_FOLDS, Registry};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::data::{Data, Samples};
use crate::doorway::Stop;
use crate::encode::Encode;
use crate::errors::{of_data, refuse};
use crate::settings::loss_of;

/// The fold of every row of a partition.
type Folds<'py> = Bound<'py, PyArray1<u32>>;

/// Partitions on a worker, which answer messages about their samples. The features that a kernel makes
/// of them are kept as well.
#[pyclass(module = "margins_learn._native")]
pub(crate) struct Shard(shards::Shard<LandmarkBlocks<Resident>, dyn MarginLoss>);

#[pymethods]
impl Shard {
    /// Makes a shard without partitions.
    #[new]
    fn new(loss: &str) -> PyResult<Self> {
        let registry = Registry::standard().kernels;
        let blocks = LandmarkBlocks::new(Resident::default(), registry).kept();
        Ok(Shard(shards::Shard::new(loss_of(loss)?, blocks)))
    }

    /// Takes a partition: samples, the indices of their classes, weights and folds.
    #[pyo3(signature = (partition, samples, targets, weights=None, folds=None))]
    fn insert(
        &mut self,
        partition: usize,
        samples: &Samples,
        targets: PyReadonlyArray1<'_, u32>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        folds: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<()> {
        let wrong = |error: margins::optim::Error| {
            PyValueError::new_err(format!("partition {partition}: {error}"))
        };
        let classes = targets.as_array().to_vec();
        let mut block = Block::new(samples.0.clone(), classes).map_err(wrong)?;
        if let Some(weights) = weights {
            block = block.with_weights(weights.as_array().to_vec()).map_err(wrong)?;
        }
        if let Some(folds) = folds {
            block = block.with_folds(folds.as_array().to_vec()).map_err(wrong)?;
        }
        self.0.blocks().blocks().insert(partition, block);
        Ok(())
    }

    /// Takes a partition without rows.
    fn insert_empty(&mut self, partition: usize, features: usize) -> PyResult<()> {
        let one = Design::from_sparse_rows(&[Vec::new()], features).map_err(of_data)?;
        let block = Block::new(one.select(&[]), Vec::new());
        let block = block.map_err(|error| PyValueError::new_err(error.to_string()))?;
        self.0.blocks().blocks().insert(partition, block);
        Ok(())
    }

    /// Takes a partition of a block file, and returns the number of its rows of every class.
    fn insert_block(
        &mut self,
        py: Python<'_>,
        path: PathBuf,
        partition: usize,
    ) -> PyResult<Vec<usize>> {
        let read = || {
            let file = BlockFile::open(path)?;
            let mut counts = vec![0; file.classes().len()];
            let block = Block::of(file.read::<Classes>(partition)?);
            block.rows().count_classes(&mut counts);
            Ok((block, counts))
        };
        let (block, counts) = py.detach(read).map_err(of_data)?;
        self.0.blocks().blocks().insert(partition, block);
        Ok(counts)
    }

    /// Returns the number of every partition with the folds of its rows: its own, or those drawn, of
    /// so many folds with a seed.
    fn folds<'py>(
        &mut self,
        py: Python<'py>,
        draw: Option<(u32, u64)>,
    ) -> Vec<(usize, Folds<'py>)> {
        let blocks = self.0.blocks().blocks();
        let of = |(k, &partition): (usize, &usize)| {
            let rows = blocks.rows(k);
            let folds = match draw {
                Some((count, seed)) => rows.draw(partition, FoldDraw { count, seed }),
                None => rows.folds().unwrap_or_default().to_vec(),
            };
            (partition, folds.into_pyarray(py))
        };
        blocks.partitions().iter().enumerate().map(of).collect()
    }

    /// Returns the answers of all partitions to a message.
    fn answer<'py>(&mut self, py: Python<'py>, message: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let shard = &mut self.0;
        let bytes = py.detach(|| {
            let replies = shard.answer(&Request::from_bytes(message)?)?;
            Reply::all_to_bytes(&replies)
        });
        let wrong = |error: Failure| PyValueError::new_err(error.to_string());
        Ok(PyBytes::new(py, &bytes.map_err(wrong)?))
    }
}

/// Returns the number of landmarks that an approximation has, 0 if it has none.
#[pyfunction]
pub(crate) fn landmarks(approximation: &str) -> PyResult<usize> {
    match approximation.parse() {
        Ok(Approximation::Nystrom { landmarks, .. }) => Ok(landmarks),
        Ok(_) => Ok(0),
        Err(reason) => Err(PyValueError::new_err(format!("approximation: {reason}"))),
    }
}

/// Returns the names of folds in order, and the number of each of these spellings of them.
#[pyfunction]
pub(crate) fn folds_named(spellings: Vec<String>) -> PyResult<(Vec<String>, Vec<usize>)> {
    let (numbers, names) = named_folds(&spellings).map_err(of_data)?;
    Ok((names, numbers))
}

/// The training data of a fit of the regularised risk.
pub(crate) enum TrainingData {
    /// Samples in memory.
    InMemory(Data),
    /// The connection to samples that workers hold.
    Distributed(Remote),
}

/// The connection to shards, by a function of Python.
pub(crate) struct Remote {
    /// A function of a message and of the names of the workers to send it to, None for all. It
    /// returns the answers, and the names of restarted workers, which need all slots.
    ask: Py<PyAny>,
    /// The number of trial steps to send at once.
    trials: usize,
    /// The file that keeps the points reached.
    checkpoint: Option<PathBuf>,
    summary: DataSummary,
}

/// The fields of distributed samples, as Python passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Given {
    workers: Py<PyAny>,
    trials: usize,
    classes: Vec<String>,
    class_rows: Vec<usize>,
    features: usize,
    sparse: bool,
    partitions: Vec<usize>,
    folds: Vec<String>,
    names: Option<Vec<String>>,
    checkpoint: Option<PathBuf>,
}

impl TrainingData {
    /// Takes samples, or the way to them; a raw table is encoded as it was asked for.
    pub(crate) fn take(given: &Bound<'_, PyDict>, encode: Encode) -> PyResult<Self> {
        if !given.contains("workers")? {
            return Data::take(given, encode).map(TrainingData::InMemory);
        }
        let given: Given = given.extract()?;
        let summary = DataSummary {
            classes: given.classes,
            class_rows: given.class_rows,
            features: given.features,
            sparse: given.sparse,
            partitions: given.partitions,
            folds: given.folds,
            feature_names: given.names,
            encoding: None,
        };
        let Given { workers: ask, trials, checkpoint, .. } = given;
        Ok(TrainingData::Distributed(Remote { ask, trials, checkpoint, summary }))
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> usize {
        match self {
            TrainingData::InMemory(data) => data.classes().len(),
            TrainingData::Distributed(remote) => remote.summary.rows(),
        }
    }

    /// Returns the number of folds by default: as many as the smallest class has samples, if these are
    /// fewer than [`DEFAULT_FOLDS`]; classes of one sample do not count. `None` where the samples have
    /// folds.
    pub(crate) fn default_folds(&self) -> Option<usize> {
        let sizes: Vec<usize> = match self {
            TrainingData::InMemory(data) => {
                data.classes().rows_by_class().iter().map(Vec::len).collect()
            }
            TrainingData::Distributed(remote) if !remote.summary.folds.is_empty() => return None,
            TrainingData::Distributed(remote) => remote.summary.class_rows.clone(),
        };
        let smallest = sizes.into_iter().filter(|&rows| rows > 1).min();
        Some(smallest.unwrap_or(0).clamp(2, DEFAULT_FOLDS))
    }

    /// Returns the samples with the name of the fold of every row.
    pub(crate) fn with_folds(self, folds: Vec<String>) -> PyResult<Self> {
        match self {
            TrainingData::InMemory(data) => Ok(TrainingData::InMemory(data.with_folds(folds))),
            TrainingData::Distributed(_) => Err(refuse(
                "cv",
                format!("the folds of {} rows", folds.len()),
                "None or a number of folds: give the folds of distributed samples together with the samples",
            )),
        }
    }

    /// Returns the classifier that settings fit.
    pub(crate) fn fit(
        self,
        settings: &ClassifierSettings,
        stop: &Stop,
    ) -> Result<FittedClassifier, margins::Error> {
        match self {
            TrainingData::InMemory(data) => settings.fit(&data.dataset()?),
            TrainingData::Distributed(remote) => {
                let settings = remote.settings(settings);
                settings.fit_distributed(&mut Asked { remote: &remote, stop }, &remote.summary)
            }
        }
    }

    /// Returns the fits along a path, and the names of the features if they have any.
    pub(crate) fn path(
        self,
        settings: &ClassifierSettings,
        stop: &Stop,
    ) -> Result<(Path, Option<Vec<String>>), margins::Error> {
        match self {
            TrainingData::InMemory(data) => {
                let data = data.dataset()?;
                Ok((settings.path(&data)?, data.feature_names().map(<[String]>::to_vec)))
            }
            TrainingData::Distributed(remote) => {
                let settings = remote.settings(settings);
                let mut asked = Asked { remote: &remote, stop };
                let path = settings.path_distributed(&mut asked, &remote.summary)?;
                Ok((path, remote.summary.feature_names))
            }
        }
    }
}

impl Remote {
    /// Returns the settings with the file that keeps the points reached.
    fn settings(&self, settings: &ClassifierSettings) -> ClassifierSettings {
        ClassifierSettings { checkpoint: self.checkpoint.clone(), ..settings.clone() }
    }
}

/// Shards that a job asks.
struct Asked<'r> {
    remote: &'r Remote,
    stop: &'r Stop,
}

impl Asked<'_> {
    /// Sends a message to workers; adds their answers to `replies`, and returns the names of restarted
    /// workers.
    fn send(
        &self,
        message: &Request,
        to: Option<Vec<String>>,
        replies: &mut Vec<Reply>,
    ) -> Result<Vec<String>, Failure> {
        let bytes = message.to_bytes()?;
        let mut answer: Option<(Vec<Vec<u8>>, Vec<String>)> = None;
        self.stop.call(|py| {
            let asked = self.remote.ask.call1(py, (PyBytes::new(py, &bytes), to))?;
            answer = Some(asked.extract(py)?);
            Ok(())
        });
        let Some((answers, restarted)) = answer else {
            return Err("the fit was interrupted".into());
        };
        for answer in answers {
            replies.extend(Reply::all_from_bytes(&answer)?);
        }
        Ok(restarted)
    }
}

impl Workers for Asked<'_> {
    fn round(&mut self, message: &Message<'_>) -> Result<Vec<Reply>, Failure> {
        /// The number of times that workers may be lost before they have answered one message.
        const PATIENCE: usize = 20;
        let mut replies = Vec::new();
        let mut restarted = self.send(message.request(), None, &mut replies)?;
        for _ in 0..PATIENCE {
            if restarted.is_empty() {
                return Ok(replies);
            }
            restarted = self.send(&message.for_new_shard(), Some(restarted), &mut replies)?;
        }
        let names = restarted.join(", ");
        Err(format!(
            "workers were lost {PATIENCE} times before they answered, {names} the last: do their \
             partitions fit into memory?"
        )
        .into())
    }

    fn trials(&self) -> usize {
        self.remote.trials
    }
}
