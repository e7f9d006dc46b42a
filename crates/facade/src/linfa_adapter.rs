//! linfa's `Fit` and `Predict`.

use std::fmt::Display;

use linfa::dataset::{AsSingleTargets, DatasetBase, Label};
use linfa::traits::{Fit, PredictInplace};
use ndarray::{Array1, ArrayBase, Data, Ix2};

use crate::estimator::dataset;
use crate::{Classifier, Error, Estimator};

/// A refusal of [`LinfaEstimator`]: linfa's trait asks that its own errors fit in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinfaError {
    /// The estimator refused something.
    #[error(transparent)]
    Margins(#[from] Error),
    /// The crate linfa refused something.
    #[error(transparent)]
    Linfa(#[from] linfa::Error),
}

/// An [`Estimator`] with linfa's [`Fit`], for its datasets with targets of one column: booleans,
/// numbers, text.
///
/// ```
/// use linfa::prelude::*;
/// use margins::{Classifier, LinfaEstimator};
/// use ndarray::array;
///
/// let x = array![[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 1.0]];
/// let train = Dataset::new(x, array![false, false, true, true]);
/// let model = LinfaEstimator(Classifier::builder().lambda(0.01).build()?).fit(&train)?;
/// let predicted = model.predict(&train);
/// assert_eq!(predicted.confusion_matrix(&train)?.accuracy(), 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct LinfaEstimator(pub Estimator);

/// A [`Classifier`] with linfa's [`Predict`](linfa::traits::Predict), which gives labels of the
/// type that it was fitted to.
#[derive(Debug, Clone)]
pub struct LinfaClassifier<L> {
    classifier: Classifier,
    /// The label of each class.
    labels: Vec<L>,
}

impl<L> LinfaClassifier<L> {
    /// Returns the classifier, for scores, probabilities, its report and files.
    pub fn classifier(&self) -> &Classifier {
        &self.classifier
    }
}

impl<D, T, L> Fit<ArrayBase<D, Ix2>, T, LinfaError> for LinfaEstimator
where
    D: Data<Elem = f64>,
    T: AsSingleTargets<Elem = L>,
    L: Label + Display,
{
    type Object = LinfaClassifier<L>;

    /// Fits as [`Estimator::fit_samples`] does, with the weights of the dataset, if it has any.
    fn fit(&self, data: &DatasetBase<ArrayBase<D, Ix2>, T>) -> Result<Self::Object, LinfaError> {
        let targets = data.as_single_targets();
        let mut own = dataset(data.records(), targets)?;
        if let Some(weights) = data.weights() {
            let weights = weights.iter().map(|&c| f64::from(c)).collect();
            own = own.with_weights(weights).map_err(Error::from)?;
        }
        let classifier = self.0.fit(&own)?;
        // Every class has a row.
        let of_class = own.labels().rows_by_class().into_iter();
        let labels = of_class.filter_map(|rows| Some(targets[*rows.first()?].clone())).collect();
        Ok(LinfaClassifier { classifier, labels })
    }
}

impl<D: Data<Elem = f64>, L: Label> PredictInplace<ArrayBase<D, Ix2>, Array1<L>>
    for LinfaClassifier<L>
{
    /// # Panics
    /// If there is not one target a sample, or [`Classifier::predict`] refuses the samples: linfa's
    /// trait has no errors.
    fn predict_inplace(&self, x: &ArrayBase<D, Ix2>, y: &mut Array1<L>) {
        assert_eq!(x.nrows(), y.len(), "one target a sample");
        match self.classifier.predict_index(x) {
            Ok(classes) => {
                y.iter_mut().zip(classes).for_each(|(y, class)| *y = self.labels[class].clone());
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn default_target(&self, x: &ArrayBase<D, Ix2>) -> Array1<L> {
        Array1::from_elem(x.nrows(), self.labels[0].clone())
    }
}
