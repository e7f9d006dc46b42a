//! Classifiers in files.

use std::path::Path;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Classifier;
use crate::{Error, Model, Registry};

/// With the feature `serde`.
impl Classifier {
    /// Writes the classifier to a file: JSON if its name ends in `.json`, else binary.
    ///
    /// # Errors
    /// A file that the system does not let write.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        Ok(self.model().save(path)?)
    }

    /// Reads a classifier from a file.
    ///
    /// # Errors
    /// [`Model::load`] says which; a loss or a kernel that is not in the registry.
    pub fn load(path: impl AsRef<Path>, registry: &Registry) -> Result<Self, Error> {
        Self::from_model(Model::load(path, registry)?, registry)
    }
}

/// A classifier is written as its [`model`](Classifier::model), and keeps as much of the report as
/// a file does.
///
/// ```
/// use margins::Classifier;
///
/// let rows = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 1.0]];
/// let classifier = Classifier::builder().lambda(0.01).build()?.fit_samples(&rows, [0, 0, 1, 1])?;
/// let text = serde_json::to_string(&classifier)?;
/// let read: Classifier = serde_json::from_str(&text)?;
/// assert_eq!(read.decision_function(&rows)?, classifier.decision_function(&rows)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Serialize for Classifier {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.model().serialize(serializer)
    }
}

/// A classifier is read as a [`Model`] of losses and kernels of this project; for others, read the
/// model by their [`Registry`] and take [`from_model`](Classifier::from_model).
impl<'de> Deserialize<'de> for Classifier {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let model = Model::deserialize(deserializer)?;
        Classifier::from_model(model, &Registry::standard()).map_err(D::Error::custom)
    }
}
