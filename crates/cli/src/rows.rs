//! Rows to fit to: in memory, or in a block file that is larger than memory.

use margins::data::blocks::BlockFile;
use margins::data::{ClassLabels, Dataset, Memory};
use margins::estimators::regularised::{
    ClassifierSettings, DataSummary, FileRows, FittedClassifier, Path,
};

use crate::failure::Failure;
use crate::messages::step;
use crate::output::Lines;
use crate::output::data::describe;

/// The rows of a data set.
#[derive(Debug)]
pub(crate) enum Rows<Y: ClassLabels> {
    /// All rows are in memory.
    InMemory(Dataset<Y>),
    /// Some blocks of a file are in memory.
    OnDisk(FileRows),
}

impl<Y: ClassLabels> Rows<Y> {
    /// Reads the rows of a file, of which memory holds what it can.
    pub(crate) fn on_disk(file: &BlockFile, memory: Memory) -> Result<Self, Failure> {
        file.check_classes::<Y>()?;
        let name = file.path().display().to_string();
        let open = || FileRows::open(file, memory);
        Ok(Rows::OnDisk(step(format!("reading {name}"), open)?))
    }

    /// Returns what settings fit to the rows.
    pub(crate) fn fit(
        &mut self,
        settings: &ClassifierSettings,
    ) -> Result<FittedClassifier, Failure> {
        Ok(match self {
            Rows::InMemory(data) => settings.fit(data),
            Rows::OnDisk(rows) => settings.fit_file(rows),
        }?)
    }

    /// Returns the fits of a path to the rows.
    pub(crate) fn path(&mut self, settings: &ClassifierSettings) -> Result<Path, Failure> {
        Ok(match self {
            Rows::InMemory(data) => settings.path(data),
            Rows::OnDisk(rows) => settings.path_file(rows),
        }?)
    }

    /// Returns the rows if all are in memory.
    pub(crate) fn in_memory(&self) -> Option<&Dataset<Y>> {
        match self {
            Rows::InMemory(data) => Some(data),
            Rows::OnDisk(_) => None,
        }
    }

    /// Returns the lines on rows of two classes.
    pub(crate) fn describe(&self, name: &str) -> Lines {
        let mut lines = describe(name, &self.summary());
        lines.extend(self.memory());
        lines
    }

    /// Returns the line on rows that are not all in memory.
    pub(crate) fn memory(&self) -> Option<(&'static str, String)> {
        let Rows::OnDisk(rows) = self else { return None };
        let (kept, all) = (rows.kept(), rows.table().partitions.len());
        let text = if kept == all {
            format!("all {all} blocks")
        } else {
            format!("{kept} of {all} blocks, the others are read in each pass")
        };
        Some(("memory", text))
    }

    /// Returns what is known of the rows.
    pub(crate) fn summary(&self) -> DataSummary {
        match self {
            Rows::InMemory(data) => DataSummary::of(data),
            Rows::OnDisk(rows) => rows.table().clone(),
        }
    }
}
