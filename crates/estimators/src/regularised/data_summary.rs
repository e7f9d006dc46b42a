use margins_data::encode::Encoding;
use margins_data::{ClassLabels, Dataset};

/// What is known of samples beside their features, weights and folds.
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

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.class_rows.iter().sum()
    }
}
