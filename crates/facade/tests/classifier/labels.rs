//! Labels of every type, and values that are not labels.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use margins::data::{Classes, Dataset, Design};
use margins::{Classifier, Error};
use nalgebra::DMatrix;

use crate::{all_coefs, build};

#[test]
fn labels_and_samples_may_be_anything() {
    let rows = vec![vec![0.0, 1.0], vec![0.5, 1.5], vec![2.0, 0.0], vec![3.0, 0.5]];
    let estimator = build(Classifier::builder().lambda(0.1));
    let by_bool = estimator.fit_samples(&rows, [true, true, false, false]).unwrap();
    assert_eq!(by_bool.classes(), ["false", "true"]);
    let by_number = estimator.fit_samples(&rows, [10, 10, 9, 9].iter()).unwrap();
    assert_eq!(by_number.classes(), ["9", "10"]);
    let matrix = DMatrix::from_fn(4, 2, |i, j| rows[i][j]);
    let by_text = estimator.fit_samples(&matrix, ["b", "b", "a", "a"]).unwrap();
    let sparse = nalgebra_sparse::CsrMatrix::from(&matrix);
    for classifier in [&by_bool, &by_number, &by_text] {
        assert_eq!(all_coefs(classifier), all_coefs(&by_bool));
        assert_eq!(classifier.predict_index(&rows).unwrap(), [1, 1, 0, 0]);
        assert_eq!(classifier.predict_index(&sparse).unwrap(), [1, 1, 0, 0]);
    }
}

/// What was given comes back in its own type; whole numbers are labels in any type.
#[test]
fn labels_come_back_in_their_type() {
    fn comes_back<T>(labels: &[T; 4]) -> Classifier
    where
        T: Clone + Debug + PartialEq + Display + FromStr,
    {
        let rows = [[0.0, 1.0], [0.5, 1.5], [2.0, 0.0], [3.0, 0.5]];
        let estimator = build(Classifier::builder().lambda(0.01));
        let classifier = estimator.fit_samples(&rows, labels.iter()).unwrap();
        assert_eq!(classifier.predict_labels::<T>(&rows).unwrap(), *labels);
        classifier
    }
    comes_back(&[true, true, false, false]);
    comes_back(&['b', 'b', 'a', 'a']);
    comes_back(&[7u8, 7, 200, 200]);
    comes_back(&[1.0, 1.0, -1.0, -1.0]);
    comes_back(&[-0.0, 0.0, 1e300, 1e300]);
    let spelled = comes_back(&["1.0".to_owned(), "1.0".into(), "+2".into(), "+2".into()]);
    let row = [[0.0, 1.0]];
    assert_eq!(spelled.predict_labels::<u64>(&row).unwrap(), [1]);
    let error = spelled.predict_labels::<bool>(&row).unwrap_err();
    assert_eq!(error.to_string(), "the class '1.0' is not a value of type bool");
}

/// Measurements are no classes; what is a class by name stays one, and names of samples are doubted.
#[test]
fn measurements_are_no_classes() {
    let estimator = build(Classifier::builder().lambda(0.1));
    let rows: Vec<[f64; 1]> = (0..6).map(|i| [f64::from(i)]).collect();
    let message = |error: Error| error.to_string();
    let measured = [1.0, 0.37, 1.92, 0.37, 1.0, 2.0];
    assert_eq!(
        message(estimator.fit_samples(&rows, measured).unwrap_err()),
        "row 1: the label '0.37' is not a whole number, and all labels are numbers, so they look like \
         measurements instead of classes. Name classes with letters, such as v1.2"
    );
    assert!(estimator.fit_samples(&rows, measured.map(|y| y as f32)).is_err());
    let names = ["a", "b", "c", "d", "e", "f"];
    let counts = [3u64, 1, 4, 15, 9, 2];
    for fitted in [estimator.fit_samples(&rows, names), estimator.fit_samples(&rows, counts)] {
        assert_eq!(
            fitted.unwrap().report().warnings,
            ["The 6 rows have 6 classes: are the labels measurements, or names of the rows?"]
        );
    }
    let versions = Classes::new(&["1.1", "1.2", "1.3", "1.1", "1.2", "1.3"]).unwrap();
    let data = Dataset::new(Design::from_rows(&rows).unwrap(), versions).unwrap();
    assert_eq!(estimator.fit(&data).unwrap().classes(), ["1.1", "1.2", "1.3"]);
    let mixed = ["0.5", "high", "0.5", "high", "0.5", "low"];
    assert_eq!(estimator.fit_samples(&rows, mixed).unwrap().classes().len(), 3);
    let two = estimator.fit_samples(&rows[..2], [1, 2]).unwrap();
    assert_eq!(two.report().warnings, Vec::<String>::new());
}
