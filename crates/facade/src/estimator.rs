//! Checked settings that fit classifiers.

use std::fmt::Display;

use margins_data::encode::{EncodeOptions, RawTable};
use margins_data::{ClassLabels, Classes, Dataset};
use margins_estimators::regularised::{ClassifierSettings, DataSummary};

use crate::{Classifier, Error, Features, Registry};

/// Checked settings, from [`Classifier::builder`], which fit a [`Classifier`] to any number of data
/// sets.
///
/// Results do not depend on the number of threads.
#[derive(Debug, Clone)]
pub struct Estimator {
    pub(crate) settings: ClassifierSettings,
    pub(crate) registry: Registry,
    /// The rules for raw tables, if there are some.
    pub(crate) encode: Option<EncodeOptions>,
}

impl Estimator {
    /// Returns the settings.
    pub fn settings(&self) -> &ClassifierSettings {
        &self.settings
    }

    /// Fits a classifier to data of two classes or more.
    ///
    /// # Errors
    /// [`Error::Contradiction`]: weights or folds both of the data and of the settings, or rules
    /// for raw tables. A cost of a class that the data do not have; more than two classes for
    /// [`Scheme::Binary`](crate::Scheme::Binary); data that the loss, the kernel, the solver or the
    /// folds cannot take.
    pub fn fit<Y: ClassLabels>(&self, data: &Dataset<Y>) -> Result<Classifier, Error> {
        if self.encode.is_some() {
            return Err(Error::Contradiction {
                one: "encode".to_owned(),
                other: "data whose features are made already".to_owned(),
                reason: "fit_table takes raw tables",
            });
        }
        self.fit_features(data)
    }

    fn fit_features<Y: ClassLabels>(&self, data: &Dataset<Y>) -> Result<Classifier, Error> {
        let mut fitted = self.settings.fit(data)?;
        fitted.report.warnings.extend(DataSummary::of(data).doubt());
        Classifier::new(fitted, &self.registry)
    }

    /// Fits a classifier to samples in any form and their labels, which may be anything that can be
    /// displayed: strings, whole numbers, booleans. Classes are in numeric order if all of them are
    /// numbers, else in alphabetical order; [`Classifier::predict_labels`] gives values of the type
    /// back.
    ///
    /// If all labels are numbers and one of them is not whole, they are refused, as in
    /// [`Classes::of_labels`], because they are probably measurements. Pass classes with such names,
    /// for example versions, to [`fit`](Self::fit) by [`Classes::new`].
    ///
    /// ```
    /// use margins::Classifier;
    ///
    /// let rows = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 1.0]];
    /// let classifier = Classifier::builder().lambda(0.01).build()?.fit_samples(&rows, [false, false, true, true])?;
    /// assert_eq!(classifier.predict(&rows)?, ["false", "false", "true", "true"]);
    /// # Ok::<(), margins::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`fit`](Self::fit) and [`Features::design`] say which; labels that are measurements, another
    /// number of labels than of samples, one class only.
    pub fn fit_samples<X: Features + ?Sized, T: Display>(
        &self,
        samples: &X,
        labels: impl IntoIterator<Item = T>,
    ) -> Result<Classifier, Error> {
        self.fit(&dataset(samples, labels)?)
    }

    /// Fits a classifier to the rows of a raw table, with words and missing values, and their labels, as
    /// [`fit_samples`](Self::fit_samples) takes them. The encoding of the columns is learned from
    /// the rows, in a cross-validation separately in every fold, and is part of the model:
    /// [`Classifier::encode`] returns the features of raw rows. The rules are those of
    /// [`encode`](crate::ClassifierBuilder::encode) of the builder, or the default ones.
    ///
    /// ```
    /// use margins::Classifier;
    /// use margins::data::encode::{RawColumn, RawTable};
    ///
    /// let ages = RawColumn::numbers("age", &[31.0, f64::NAN, 45.0, 28.0])?;
    /// let towns = RawColumn::words("town", ["Bern", "Basel", "Bern", "Basel"].map(Some));
    /// let table = RawTable::from_columns(vec![ages, towns])?;
    /// let estimator = Classifier::builder().lambda(0.01).build()?;
    /// let labels = ["yes", "no", "yes", "no"];
    /// let classifier = estimator.fit_table(table.clone(), labels)?;
    /// assert_eq!(classifier.predict(&classifier.encode(&table)?)?, labels);
    /// # Ok::<(), margins::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`fit_samples`](Self::fit_samples) and
    /// [`Encoding::learn`](margins_data::encode::Encoding::learn) say which.
    pub fn fit_table<T: Display>(
        &self,
        table: RawTable,
        labels: impl IntoIterator<Item = T>,
    ) -> Result<Classifier, Error> {
        let labels: Vec<String> = labels.into_iter().map(|label| label.to_string()).collect();
        let options = self.encode.clone().unwrap_or_default();
        self.fit_features(&Dataset::encoded(table, Classes::of_labels(&labels)?, options)?)
    }
}

/// Returns the data set of samples with labels of any type.
pub(crate) fn dataset<X: Features + ?Sized, T: Display>(
    samples: &X,
    labels: impl IntoIterator<Item = T>,
) -> Result<Dataset<Classes>, Error> {
    let labels: Vec<String> = labels.into_iter().map(|label| label.to_string()).collect();
    let design = samples.design()?.into_owned();
    let (found, expected) = (labels.len(), design.rows());
    if found != expected {
        let (what, places) = ("labels", "rows");
        return Err(margins_data::Error::Count { what, found, places, expected }.into());
    }
    let data = Dataset::new(design, Classes::of_labels(&labels)?)?;
    Ok(match samples.feature_names() {
        Some(names) => data.with_feature_names(names.to_vec())?,
        None => data,
    })
}
