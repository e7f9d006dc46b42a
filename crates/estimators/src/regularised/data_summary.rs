//! What a fit to distributed samples must know before the first message: classes, rows, features
//! and folds.

use margins_data::encode::Encoding;
use margins_data::{ClassLabels, Dataset};

/// The properties of samples beside their features, weights and folds.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSummary {
    /// The names of the classes in order; with two classes the first is the negative one.
    pub classes: Vec<String>,
    /// The number of rows of every class.
    pub class_rows: Vec<usize>,
    /// The number of features.
    pub features: usize,
    /// True if only nonzero features are stored.
    pub sparse: bool,
    /// The number of rows of every partition.
    pub partitions: Vec<usize>,
    /// The names of the folds that the samples have, in order; none if they have no folds.
    pub folds: Vec<String>,
    /// The names of the features, if they have any.
    pub feature_names: Option<Vec<String>>,
    /// The encoding that the features were made by, if they were made of a raw table.
    pub encoding: Option<Encoding>,
}

impl DataSummary {
    /// Returns what is known of a data set, which is one partition.
    pub fn of<Y: ClassLabels>(data: &Dataset<Y>) -> Self {
        let labels = data.labels();
        let mut class_rows = vec![0; labels.names().len()];
        (0..data.rows()).for_each(|row| class_rows[labels.index(row)] += 1);
        DataSummary {
            classes: labels.names().to_vec(),
            class_rows,
            features: data.columns(),
            sparse: data.design().is_sparse(),
            partitions: vec![data.rows()],
            folds: data.fold_names().unwrap_or_default().to_vec(),
            feature_names: data.feature_names().map(<[String]>::to_vec),
            encoding: data.encoding().cloned(),
        }
    }

    /// Returns a sentence that doubts labels of which most occur once: more than half of the rows of a
    /// table of more than 20 have classes of their own, or every row of more than two has one. Or a
    /// sentence that warns of fits that take hours, for many classes of many rows.
    ///
    /// ```
    /// use margins_data::{Classes, Dataset, Design};
    /// use margins_estimators::regularised::DataSummary;
    ///
    /// let design = Design::from_rows(&[[1.0], [2.0], [3.0]])?;
    /// let doubt = |labels: [&str; 3]| {
    ///     let data = Dataset::new(design.clone(), Classes::new(&labels)?)?;
    ///     Ok::<_, margins_data::Error>(DataSummary::of(&data).doubt())
    /// };
    /// assert_eq!(doubt(["a", "b", "a"])?, None);
    /// let sentence = doubt(["a", "b", "c"])?.expect("a doubt");
    /// assert!(sentence.starts_with("The 3 rows have 3 classes"));
    /// # Ok::<(), margins_data::Error>(())
    /// ```
    pub fn doubt(&self) -> Option<String> {
        const FEW_ROWS: usize = 20;
        /// The scores of members for rows that they are fitted to beyond which a pass takes minutes.
        const MANY_SCORES: f64 = 1e10;
        let (rows, classes) = (self.rows(), self.classes.len());
        let scores = rows as f64 * classes as f64;
        if classes > 2 && scores > MANY_SCORES {
            return Some(format!(
                "The {rows} rows have {classes} classes: one pass over the rows of every member takes \
                 {scores:.1e} scores, and a fit takes many passes; merge classes, or set a time limit."
            ));
        }
        let all_differ = classes == rows && rows > 2;
        (all_differ || rows > FEW_ROWS && classes > rows / 2).then(|| {
            format!(
                "The {rows} rows have {classes} classes: are the labels measurements, or names of the rows?"
            )
        })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.class_rows.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_classes_that_fits_take_hours_are_doubted() {
        let of = |classes: usize, rows_of_each: usize| DataSummary {
            classes: vec![String::new(); classes],
            class_rows: vec![rows_of_each; classes],
            features: 1,
            sparse: false,
            partitions: Vec::new(),
            folds: Vec::new(),
            feature_names: None,
            encoding: None,
        };
        assert_eq!(of(100, 1_000_000).doubt(), None);
        let sentence = of(100_000, 2).doubt().unwrap();
        assert!(sentence.contains("2.0e10 scores"), "{sentence}");
    }
}
