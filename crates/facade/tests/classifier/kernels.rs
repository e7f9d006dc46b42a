//! Kernel classifiers.

use std::time::Duration;

use margins::kernels::{Gram, Kernel, KernelObjective, KernelRegistry, fit};
use margins::losses::Logistic;
use margins::optim::{Lambda, Options, lambda_grid};
use margins::{Classifier, CrossValidation, Error};
use nalgebra::DMatrix;

use crate::{all_coefs, build, corners, two, two_of_classes};

/// Each of several kernels has the curve that it has alone, on the same folds, and the classifier
/// has the lowest error alone.
#[test]
fn kernels_are_chosen_by_their_least_error() {
    use margins::Approximation;

    let how = CrossValidation { lambdas: lambda_grid(1.0, 1e-3, 5).unwrap(), ..Default::default() };
    let builder = Classifier::builder().loss(Logistic).cross_validation(how).seed(5);
    let names = ["linear", "gaussian:sigma=300.0", "gaussian", "gaussian:sigma=0.5"];
    for approximation in
        [Approximation::None, Approximation::Cholesky { tolerance: 1e-10, gigabytes: 1.0 }]
    {
        for data in [two_of_classes(), corners(3, 20)] {
            let builder = builder.clone().approximation(approximation);
            let classifier = build(builder.clone().kernels(names)).fit(&data).unwrap();
            let report = classifier.report();
            let alone = names.map(|name| build(builder.clone().kernel(name)).fit(&data).unwrap());
            let of = |alone: &Classifier| alone.report().curve.clone().unwrap();
            let least = |alone: &Classifier| of(alone).mean_error[of(alone).best];
            let best = alone.iter().reduce(|a, b| if least(b) < least(a) { b } else { a }).unwrap();
            assert!(least(best) < least(&alone[1]), "there is something to choose");
            assert_eq!(report.kernels.len(), names.len());
            for (tried, alone) in report.kernels.iter().zip(&alone) {
                assert_eq!(Some(&tried.specification), alone.report().kernel.as_ref());
                assert_eq!(tried.curve, of(alone));
            }
            assert_eq!((&report.kernel, &report.curve), (&best.report().kernel, &Some(of(best))));
            assert_eq!(all_coefs(&classifier), all_coefs(best));
            assert!(report.to_string().contains(", chosen"));
            assert!(best.report().kernels.is_empty());
        }
    }
    let late = builder.kernels(names).time_limit(Duration::ZERO);
    assert!(matches!(build(late).fit(&two()), Err(Error::TimeLimit(_))));
}

/// A kernel without a width adapts to its data as the builder's does, in a fit by the crates alone.
#[test]
fn a_width_from_data_is_that_of_the_builder() {
    let data = two();
    let weights: Vec<f64> = (0..data.rows()).map(|i| 1.0 + (i % 3) as f64).collect();
    let data = data.with_weights(weights.clone()).unwrap();
    let builder = Classifier::builder().loss(Logistic).kernel("gaussian").lambda(1e-3).seed(5);
    let classifier = build(builder.standardize(false)).fit(&data).unwrap();

    let mut kernel = KernelRegistry::standard().parse("gaussian").unwrap();
    kernel.adapt_to(data.design(), Some(&weights), 5).unwrap();
    let gram = Gram::new(&*kernel, data.design()).unwrap();
    let objective = KernelObjective::new(&Logistic, &gram, data.labels()).unwrap();
    let objective = objective.with_weights(&weights).unwrap();
    let fit = fit(&objective, Lambda::new(1e-3).unwrap(), &Options::default()).unwrap();

    assert_eq!(classifier.report().kernel, Some(kernel.specification()));
    assert_eq!(all_coefs(&classifier), [[&fit.coef[..], &[fit.intercept]].concat()]);
}

#[test]
fn a_kernel_matrix_may_stand_for_samples() {
    let matrix = DMatrix::from_row_slice(4, 2, &[0.0, 1.0, 0.5, 1.5, 2.0, 0.0, 3.0, 0.5]);
    let linear = build(Classifier::builder().lambda(0.1)).fit_samples(&matrix, [1, 1, 0, 0]);
    let gram = &matrix * matrix.transpose();
    let precomputed = build(Classifier::builder().lambda(0.1).kernel(margins::PRECOMPUTED));
    let classifier = precomputed.fit_samples(&gram, [1, 1, 0, 0]).unwrap();
    let scores = classifier.decision_function(&gram).unwrap();
    let linear = linear.unwrap().decision_function(&matrix).unwrap();
    assert!((scores - linear).amax() < 1e-2);
}
