//! Matrices of ndarray as samples and as results.

use std::borrow::Cow;

use margins_data::{Design, Error};
use nalgebra::DMatrix;
use ndarray::{Array2, ArrayBase, Data, Ix2};

use crate::Features;

/// A matrix has one row per sample.
impl<S: Data<Elem = f64>> Features for ArrayBase<S, Ix2> {
    fn design(&self) -> Result<Cow<'_, Design>, Error> {
        // Row by row, which is sample by sample.
        let (n, p) = self.dim();
        let samples = DMatrix::from_iterator(p, n, self.iter().copied());
        Design::from_samples(samples).map(Cow::Owned)
    }
}

/// Returns a matrix such as that of [`Classifier::predict_proba`](crate::Classifier::predict_proba)
/// as one of ndarray.
///
/// ```
/// use margins::{Classifier, to_array2};
/// use margins::losses::Logistic;
/// use ndarray::{Array1, array};
///
/// let x = array![[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 1.0]];
/// let y = array![0, 0, 1, 1];
/// let estimator = Classifier::builder().loss(Logistic).lambda(0.01).build()?;
/// let classifier = estimator.fit_samples(&x, &y)?;
/// let predicted = Array1::from(classifier.predict_index(&x)?);
/// assert_eq!(predicted, y);
/// let probabilities = classifier.predict_proba(&x)?;
/// let p = to_array2(&probabilities);
/// assert!(p[[3, 1]] > 0.5);
/// # Ok::<(), margins::Error>(())
/// ```
pub fn to_array2(matrix: &DMatrix<f64>) -> Array2<f64> {
    Array2::from_shape_fn(matrix.shape(), |at| matrix[at])
}
