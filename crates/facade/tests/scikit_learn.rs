//! Probabilities of scikit-learn at the same objective; how the fixture was made stands in it.

use margins::losses::Logistic;
use margins::{Classifier, Scheme};
use nalgebra::DMatrix;
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    rows: Vec<Vec<f64>>,
    labels: Vec<usize>,
    problems: Vec<Problem>,
}

#[derive(Deserialize)]
struct Problem {
    lambda: f64,
    two_classes: Vec<Vec<f64>>,
    one_versus_rest: Vec<Vec<f64>>,
}

fn furthest(p: &DMatrix<f64>, reference: &[Vec<f64>]) -> f64 {
    assert_eq!(p.shape(), (reference.len(), reference[0].len()));
    let at = |i: usize, j: usize| (p[(i, j)] - reference[i][j]).abs();
    let columns = p.ncols();
    (0..p.nrows())
        .flat_map(|i| (0..columns).map(move |j| (i, j)))
        .map(|(i, j)| at(i, j))
        .fold(0.0, f64::max)
}

#[test]
fn probabilities_of_logistic_regression() {
    let text = include_str!("references/logistic_probabilities.json");
    let fixture: Fixture = serde_json::from_str(text).unwrap();
    let last: Vec<usize> = (0..150).filter(|&i| fixture.labels[i] > 0).collect();
    let two: Vec<&Vec<f64>> = last.iter().map(|&i| &fixture.rows[i]).collect();
    for problem in &fixture.problems {
        let builder = Classifier::builder().loss(Logistic).lambda(problem.lambda);
        let estimator = builder.scheme(Scheme::OneVersusRest).tolerance(1e-13).build().unwrap();
        let labels = last.iter().map(|&i| fixture.labels[i]);
        let classifier = estimator.fit_samples(&two, labels).unwrap();
        let p = classifier.predict_proba(&two).unwrap();
        assert!(furthest(&p, &problem.two_classes) < 1e-6);
        let classifier = estimator.fit_samples(&fixture.rows, &fixture.labels).unwrap();
        let p = classifier.predict_proba(&fixture.rows).unwrap();
        assert!(furthest(&p, &problem.one_versus_rest) < 1e-6);
    }
}
