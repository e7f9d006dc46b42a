//! The forms of samples that classifiers take.

use std::borrow::Cow;

use margins_data::{ClassLabels, Dataset, Design, Error};
use nalgebra::DMatrix;
use nalgebra_sparse::CsrMatrix;

/// Samples in any form that a [`Classifier`](crate::Classifier) takes: a [`Design`] or a
/// [`Dataset`] as they are, a dense matrix or compressed sparse rows with one row per sample, slices,
/// arrays and vectors of rows (collect those of an iterator first); with the feature `ndarray` its
/// matrices.
pub trait Features {
    /// Returns the samples as a design.
    ///
    /// # Errors
    /// No samples, no features, rows of different lengths, or a value that is not finite.
    fn design(&self) -> Result<Cow<'_, Design>, Error>;

    /// Returns the names of the features, where they have any.
    fn feature_names(&self) -> Option<&[String]> {
        None
    }
}

impl Features for Design {
    fn design(&self) -> Result<Cow<'_, Design>, Error> {
        Ok(Cow::Borrowed(self))
    }
}

impl<Y: ClassLabels> Features for Dataset<Y> {
    fn design(&self) -> Result<Cow<'_, Design>, Error> {
        Ok(Cow::Borrowed(self.design()))
    }

    fn feature_names(&self) -> Option<&[String]> {
        self.feature_names()
    }
}

impl Features for DMatrix<f64> {
    fn design(&self) -> Result<Cow<'_, Design>, Error> {
        Design::dense(self).map(Cow::Owned)
    }
}

impl Features for CsrMatrix<f64> {
    fn design(&self) -> Result<Cow<'_, Design>, Error> {
        Design::sparse(self.clone()).map(Cow::Owned)
    }
}

impl<R: AsRef<[f64]>> Features for [R] {
    fn design(&self) -> Result<Cow<'_, Design>, Error> {
        Design::from_rows(self).map(Cow::Owned)
    }
}

impl<R: AsRef<[f64]>> Features for Vec<R> {
    fn design(&self) -> Result<Cow<'_, Design>, Error> {
        self[..].design()
    }
}

impl<R: AsRef<[f64]>, const N: usize> Features for [R; N] {
    fn design(&self) -> Result<Cow<'_, Design>, Error> {
        self[..].design()
    }
}
