//! ndarray and linfa on the outside, the same classifiers inside.
#![cfg(feature = "linfa")]

use linfa::prelude::*;
use margins::losses::Logistic;
use margins::{Classifier, Error, Features, LinfaError, LinfaEstimator, to_array2};
use ndarray::{Array1, Array2, Axis};

fn samples() -> Array2<f64> {
    Array2::from_shape_fn((30, 4), |(i, j)| ((i * (j + 2)) as f64 * 0.7).sin() + (i % 3 * j) as f64)
}

#[test]
fn matrices_in_any_layout_are_the_same_samples() {
    let x = samples();
    let columns_first = x.clone().reversed_axes().as_standard_layout().into_owned();
    let (_, part) = x.view().split_at(Axis(1), 1);
    let design = x.design().unwrap().into_owned();
    assert_eq!(columns_first.t().design().unwrap().as_ref(), &design);
    assert_eq!(part.design().unwrap().sample(5).dot(&[1.0, 0.0, 0.0]), x[[5, 1]]);
    assert!(Array2::<f64>::zeros((0, 3)).design().is_err());
    let matrix = design.to_dense();
    assert_eq!(to_array2(&matrix), x);
}

#[test]
fn linfa_fits_and_predicts() {
    let x = samples();
    let numbers = Array1::from_shape_fn(30, |i| [7usize, 10, 9][i % 3]);
    let estimator = Classifier::builder().loss(Logistic).lambda(1e-3).build().unwrap();
    let own = estimator.fit_samples(&x, &numbers).unwrap();
    let data = Dataset::new(x.clone(), numbers.clone());
    let model = LinfaEstimator(estimator.clone()).fit(&data).unwrap();
    assert_eq!(model.classifier().model(), own.model());
    let predicted: Array1<usize> = model.predict(&x);
    let expected = own.predict(&x).unwrap();
    assert!(predicted.iter().zip(expected).all(|(label, name)| label.to_string() == name));
    // A view of a dataset, of text.
    let text = numbers.mapv(|number| format!("class {number}"));
    let data = DatasetBase::new(x.view(), text.view());
    let model = LinfaEstimator(estimator.clone()).fit(&data).unwrap();
    let predicted: Array1<String> = model.predict(&x.view());
    assert_eq!(predicted.len(), 30);
    // Weights are those of the data set.
    let two = x.select(Axis(0), &[0, 1, 3, 4, 6, 7]);
    let flags = Array1::from(vec![false, true, false, true, false, true]);
    let weights = Array1::from(vec![1.0f32, 2.0, 1.0, 0.5, 1.0, 4.0]);
    let data = Dataset::new(two.clone(), flags.clone()).with_weights(weights.clone());
    let model = LinfaEstimator(estimator).fit(&data).unwrap();
    let weights = weights.iter().map(|&c| f64::from(c)).collect();
    let builder = Classifier::builder().loss(Logistic).lambda(1e-3).sample_weights(weights);
    let own = builder.build().unwrap().fit_samples(&two, &flags).unwrap();
    assert_eq!(model.classifier().model(), own.model());
}

#[test]
fn linfa_gets_errors() {
    let estimator = Classifier::builder().lambda(1e-3).build().unwrap();
    let same = Dataset::new(samples(), Array1::from_elem(30, true));
    let error = LinfaEstimator(estimator).fit(&same).unwrap_err();
    assert!(matches!(error, LinfaError::Margins(Error::Data(_))), "{error:?}");
}
