//! A design with labels, and optionally weights, names and folds.

mod dropped;
mod folds;

use std::borrow::Cow;
use std::collections::HashMap;

use crate::encode::{EncodeOptions, Encoded, Encoding, RawTable};
use crate::error::{check_count, check_len, check_weights};
use crate::{ClassLabels, Design, Error, Labels};
pub(crate) use dropped::row_among;
pub(crate) use folds::Folds;

/// A design with its labels, by default of two classes, and optionally sample weights,
/// feature names and cross-validation folds.
///
/// ```
/// use margins_data::{Dataset, Design, Labels};
///
/// let design = Design::from_rows(&[[0.0], [1.0], [2.0]])?;
/// let labels = Labels::from_signs(vec![-1.0, 1.0, 1.0])?;
/// let data = Dataset::new(design, labels)?.with_weights(vec![2.0, 1.0, 1.0])?;
/// assert_eq!(data.select(&[2, 0]).weights(), Some(&[1.0, 2.0][..]));
/// # Ok::<(), margins_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset<Y: ClassLabels = Labels> {
    design: Design,
    labels: Y,
    weights: Option<Vec<f64>>,
    /// The weights without costs, where there are costs.
    own_weights: Option<Vec<f64>>,
    feature_names: Option<Vec<String>>,
    folds: Option<Folds>,
    /// The table that the features were made of.
    encoded: Option<Encoded>,
    /// The rows of the file that were left out, counted from 0, in ascending order.
    dropped: Vec<usize>,
}

impl<Y: ClassLabels> Dataset<Y> {
    /// Makes a data set of n samples and their n labels.
    ///
    /// # Errors
    /// The numbers differ.
    pub fn new(design: Design, labels: Y) -> Result<Self, Error> {
        check_count("labels", labels.len(), "rows", design.rows())?;
        Ok(Dataset {
            design,
            labels,
            weights: None,
            own_weights: None,
            feature_names: None,
            folds: None,
            encoded: None,
            dropped: Vec::new(),
        })
    }

    /// Makes a data set of n rows of a raw table and their n labels: the encoding of its columns is
    /// learned from all rows, and [`learned_on`](Self::learned_on) learns it from some.
    ///
    /// # Errors
    /// The numbers differ. [`Encoding::learn`] and [`Encoding::encode`] say which others.
    pub fn encoded(table: RawTable, labels: Y, options: EncodeOptions) -> Result<Self, Error> {
        let (encoded, design) = Encoded::new(table, options)?;
        let names = encoded.encoding().feature_names();
        let mut data = Dataset::new(design, labels)?.with_feature_names(names)?;
        data.encoded = Some(encoded);
        Ok(data)
    }

    /// Returns the data with an encoding that is learned from these rows alone, in which unknown
    /// categories have no feature; the number of features may change. Returns the data unchanged if
    /// they were not encoded, or if the raw table was dropped. Cross-validations do this in every fold.
    ///
    /// # Errors
    /// No rows.
    ///
    /// # Panics
    /// If an index is not below n.
    pub fn learned_on(&self, rows: &[usize]) -> Result<Cow<'_, Self>, Error> {
        let learned = self.encoded.as_ref().map(|encoded| encoded.learned_on(rows)).transpose()?;
        match learned.flatten() {
            None => Ok(Cow::Borrowed(self)),
            Some((names, design)) => Ok(Cow::Owned(self.over(design)?.with_feature_names(names)?)),
        }
    }

    /// Sets the encoding of the features, for a table that was not kept.
    pub(crate) fn made_by(mut self, encoding: Encoding) -> Self {
        self.encoded = Some(Encoded::without_table(encoding));
        self
    }

    /// Gives rows that are a part of others their weights and folds there, where every class has a
    /// positive weight and no fold is empty.
    pub(crate) fn with_parts_of(
        mut self,
        weights: Option<Vec<f64>>,
        folds: Option<Folds>,
    ) -> Result<Self, Error> {
        let count = |weights: &Vec<f64>| check_count("weights", weights.len(), "rows", self.rows());
        weights.as_ref().map_or(Ok(()), count)?;
        weights.as_deref().map_or(Ok(()), check_weights)?;
        folds.as_ref().map_or(Ok(()), |folds| folds.check_rows(self.rows()))?;
        (self.weights, self.own_weights, self.folds) = (weights, None, folds);
        Ok(self)
    }

    /// Sets the weights c_i of the samples. Fits keep a class without any weight, and never predict it.
    ///
    /// # Errors
    /// Not one weight per row, a weight that is negative or not finite, or no weight above zero.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self, Error> {
        check_count("weights", weights.len(), "rows", self.rows())?;
        check_weights(&weights)?;
        if !weights.iter().any(|&weight| weight > 0.0) {
            return Err(Error::NoWeight);
        }
        (self.weights, self.own_weights) = (Some(weights), None);
        Ok(self)
    }

    /// Multiplies the weight of every sample, 1 by default, by a cost. Costs count in fits, but not in
    /// errors, such as the training error.
    ///
    /// # Errors
    /// Not one cost per row, products that are not weights, or no product above zero.
    pub fn with_costs(self, costs: &[f64]) -> Result<Self, Error> {
        check_count("costs", costs.len(), "rows", self.rows())?;
        let own = self.own_weights().map_or_else(|| vec![1.0; costs.len()], <[f64]>::to_vec);
        let weight = |i: usize| self.weights.as_ref().map_or(1.0, |weights| weights[i]);
        let weights = costs.iter().enumerate().map(|(i, cost)| cost * weight(i)).collect();
        let mut data = self.with_weights(weights)?;
        data.own_weights = Some(own);
        Ok(data)
    }

    /// Sets the names of the features.
    ///
    /// # Errors
    /// Not one name per column, or a name that occurs twice.
    pub fn with_feature_names(mut self, names: Vec<String>) -> Result<Self, Error> {
        check_count("feature names", names.len(), "columns", self.columns())?;
        let mut seen = HashMap::with_capacity(names.len());
        for (second, name) in names.iter().enumerate() {
            if let Some(first) = seen.insert(name.as_str(), second) {
                return Err(Error::DuplicateName { name: name.clone(), first, second });
            }
        }
        self.feature_names = Some(names);
        Ok(self)
    }

    /// Returns the samples with other labels, such as those of one class against all others.
    ///
    /// # Errors
    /// Not one label per row.
    pub fn relabelled<Z: ClassLabels>(&self, labels: Z) -> Result<Dataset<Z>, Error> {
        let mut data = Dataset::new(self.design.clone(), labels)?;
        if let Some(weights) = &self.weights {
            data = data.with_weights(weights.clone())?;
        }
        data.own_weights.clone_from(&self.own_weights);
        data.feature_names.clone_from(&self.feature_names);
        data.folds.clone_from(&self.folds);
        data.encoded.clone_from(&self.encoded);
        Ok(data)
    }

    /// Replaces the design by another one of the same shape, such as a scaled one, which counts as
    /// not encoded.
    ///
    /// # Errors
    /// The shape is another.
    pub fn with_design(mut self, design: Design) -> Result<Self, Error> {
        check_len("rows of a replacing design", self.rows(), design.rows())?;
        check_len("columns of a replacing design", self.columns(), design.columns())?;
        self.design = design;
        self.encoded = None;
        Ok(self)
    }

    /// Returns the samples with other features, of which there may be any number, without names.
    ///
    /// # Errors
    /// The design does not have one row per sample.
    pub fn over(&self, design: Design) -> Result<Self, Error> {
        check_len("rows of a replacing design", self.rows(), design.rows())?;
        Ok(Dataset {
            design,
            labels: self.labels.clone(),
            weights: self.weights.clone(),
            own_weights: self.own_weights.clone(),
            feature_names: None,
            folds: self.folds.clone(),
            encoded: None,
            dropped: Vec::new(),
        })
    }

    /// Returns the n x p matrix of features.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Returns the n x p matrix of features, and drops all else.
    pub fn into_design(self) -> Design {
        self.design
    }

    /// Returns the n labels.
    pub fn labels(&self) -> &Y {
        &self.labels
    }

    /// Returns the n sample weights, if any: finite and not negative, with the costs.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Returns the n sample weights without the costs, if any, by which errors count samples.
    pub fn own_weights(&self) -> Option<&[f64]> {
        self.own_weights.as_deref().or(self.weights())
    }

    /// Returns the p feature names, if any: all distinct.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// Returns the fold of every row, if any: 0 to k-1 with k at least 2, none empty. Of a part that
    /// was read from a [block file](crate::blocks) they are the folds of the file, some of which may
    /// be empty there.
    pub fn folds(&self) -> Option<&[usize]> {
        self.folds.as_ref().map(|folds| &folds.of_rows[..])
    }

    /// Returns the encoding of the raw table that the features were computed from, if there is one.
    pub fn encoding(&self) -> Option<&Encoding> {
        self.encoded.as_ref().map(Encoded::encoding)
    }

    /// Returns the raw table that the features were encoded from, if there is one in memory.
    pub fn raw_table(&self) -> Option<&RawTable> {
        self.encoded.as_ref().and_then(Encoded::table)
    }

    /// Returns the number of samples n.
    pub fn rows(&self) -> usize {
        self.design.rows()
    }

    /// Returns the number of features p.
    pub fn columns(&self) -> usize {
        self.design.columns()
    }

    /// Returns the rows with the given indices, in their order; an index may repeat. Only one class
    /// may be left. Folds that are left are renumbered from 0, and dropped if fewer than two are.
    ///
    /// # Panics
    /// If an index is not below n.
    pub fn select(&self, indices: &[usize]) -> Self {
        let design = self.design.select(indices);
        let names = self.feature_names.clone();
        let encoded = self.encoded.as_ref().map(|encoded| encoded.select(indices));
        Dataset { feature_names: names, encoded, ..self.chosen(indices, design) }
    }

    /// Returns the rows with the given indices, which [`select`](Self::select) explains, with a
    /// design in place of theirs and without names of features.
    ///
    /// # Errors
    /// The design does not have one row per index.
    ///
    /// # Panics
    /// If an index is not below n.
    pub fn select_as(&self, indices: &[usize], design: Design) -> Result<Self, Error> {
        check_count("indices", indices.len(), "rows", design.rows())?;
        Ok(self.chosen(indices, design))
    }

    fn chosen(&self, indices: &[usize], design: Design) -> Self {
        let weights = |weights: &Vec<f64>| indices.iter().map(|&i| weights[i]).collect();
        Dataset {
            design,
            labels: self.labels.select(indices),
            weights: self.weights.as_ref().map(weights),
            own_weights: self.own_weights.as_ref().map(weights),
            feature_names: None,
            folds: self.folds.as_ref().and_then(|folds| folds.select(indices)),
            encoded: None,
            dropped: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn four_rows() -> Dataset {
        let design = Design::from_rows(&[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]).unwrap();
        let labels = Labels::from_signs(vec![-1.0, 1.0, -1.0, 1.0]).unwrap();
        Dataset::new(design, labels).unwrap()
    }

    #[test]
    fn costs_are_in_the_weights_and_not_in_the_count() {
        let plain = four_rows().with_costs(&[5.0, 1.0, 5.0, 1.0]).unwrap();
        assert_eq!(plain.weights(), Some(&[5.0, 1.0, 5.0, 1.0][..]));
        assert_eq!(plain.own_weights(), Some(&[1.0; 4][..]));
        let weighed = four_rows().with_weights(vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let costly = weighed.clone().with_costs(&[5.0, 1.0, 5.0, 1.0]).unwrap();
        assert_eq!(costly.weights(), Some(&[5.0, 2.0, 15.0, 4.0][..]));
        let labels = costly.labels().clone();
        for data in [costly.relabelled(labels).unwrap(), costly.select(&[0, 1, 2, 3])] {
            assert_eq!(data.own_weights(), weighed.weights());
            assert_eq!(data.weights(), costly.weights());
        }
        assert!(weighed.with_costs(&[1.0]).is_err());
    }

    #[test]
    fn selection_takes_everything_along() {
        let names = vec!["a".to_owned(), "b".to_owned()];
        let data = four_rows()
            .with_weights(vec![1.0, 2.0, 3.0, 4.0])
            .and_then(|data| data.with_feature_names(names))
            .and_then(|data| data.with_folds(vec![0, 1, 2, 2]))
            .unwrap();
        let some = data.select(&[3, 1]);
        assert_eq!(some.design(), &Design::from_rows(&[[6.0, 7.0], [2.0, 3.0]]).unwrap());
        assert_eq!(some.labels().signs(), [1.0, 1.0]);
        assert_eq!(some.weights(), Some(&[4.0, 2.0][..]));
        assert_eq!(some.folds(), Some(&[1, 0][..]));
        assert_eq!(some.feature_names(), data.feature_names());
        assert_eq!(data.select(&[2, 3]).folds(), None);
    }

    #[test]
    fn refusals() {
        let names = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
        let short = Labels::from_signs(vec![1.0, -1.0]).unwrap();
        let message = |result: Result<Dataset, Error>| result.unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                message(Dataset::new(four_rows().design().clone(), short)),
                message(four_rows().with_weights(vec![1.0])),
                message(four_rows().with_weights(vec![1.0, 1.0, -0.5, 1.0])),
                message(four_rows().with_weights(vec![1.0, f64::INFINITY, 1.0, 1.0])),
                message(four_rows().with_weights(vec![0.0; 4])),
                message(four_rows().with_feature_names(vec![])),
                message(four_rows().with_feature_names(names("age", "age"))),
                message(four_rows().with_folds(vec![0, 0, 0, 0])),
                message(four_rows().with_folds(vec![0, 1])),
                message(four_rows().with_design(Design::from_rows(&[[1.0, 2.0]]).unwrap())),
            ]
            .join("\n")
        );
    }
}
