//! The trait that labels of two classes and of several classes share.

use std::fmt::Debug;
use std::sync::Arc;

/// The class labels of a data set, one per row: [`Labels`](crate::Labels) of two classes, or
/// [`Classes`](crate::Classes) of two or more.
///
/// The trait is sealed.
pub trait ClassLabels: Debug + Clone + PartialEq + Send + Sync + sealed::Sealed {
    /// Returns the names of the classes in order; with two classes the first is the negative one.
    fn names(&self) -> &[String];

    /// Returns the class of a row, as an index into the names.
    ///
    /// # Panics
    /// If there is no such row.
    fn index(&self, row: usize) -> usize;

    /// Returns the number of rows.
    fn len(&self) -> usize;

    /// Returns true if there are no rows, as after selecting none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the labels of the rows with the given indices, in their order; an index may repeat.
    /// The names stay, even if not all of the classes do.
    ///
    /// # Panics
    /// If an index is not below the number of rows.
    #[must_use]
    fn select(&self, indices: &[usize]) -> Self;

    /// Returns the class of every row, as [`index`](Self::index) does; shared with the labels if they
    /// hold it so.
    fn shared_indices(&self) -> Arc<Vec<u32>>;

    /// Returns the name of the class of a row.
    ///
    /// # Panics
    /// If there is no such row.
    fn class_of(&self, row: usize) -> &str {
        &self.names()[self.index(row)]
    }
}

pub(crate) mod sealed {
    /// Builds labels from parts that are known to be valid.
    pub trait Sealed: Sized {
        /// True if there may be no third class.
        const ONLY_TWO: bool;

        /// Makes labels of indices below the number of names, of which there are two if there may
        /// be no third.
        fn of_indices(indices: Vec<u32>, names: &[String]) -> Self;
    }
}
