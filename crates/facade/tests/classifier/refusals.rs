//! Settings that contradict each other, and data that do not fit.

use margins::data::Dataset;
use margins::data::encode::{EncodeOptions, RawColumn, RawTable};
use margins::losses::{Hinge, Logistic};
use margins::optim::{Solver, lambda_grid};
use margins::{Classifier, CrossValidation, Probabilities, Scheme};

use crate::{build, corners, two};

#[test]
fn refusals() {
    let data = corners(3, 4);
    let binary = two();
    let b = Classifier::builder;
    let lambdas = || lambda_grid(1.0, 0.1, 3).unwrap();
    let unbuilt = [
        b().lambda(0.0),
        b().lambda(f64::NAN),
        b().lambda(0.1).cross_validation(CrossValidation::default()),
        b().lambda(0.1).path(lambdas(), 0),
        b().path(lambdas(), 3),
        b().path(Vec::new(), 0),
        b().cross_validation(CrossValidation { folds: Some(1), ..Default::default() }),
        b().cross_validation(CrossValidation { lambdas: Vec::new(), ..Default::default() }),
        b().loss(Logistic).loss_named("hinge"),
        b().loss_named("no-such"),
        b().kernel("gausian"),
        b().kernel("gaussian:sigma=-1").registry(margins::Registry::standard()),
        b().kernel("gaussian:width=1"),
        b().kernel("laplacian"),
        b().kernels(["linear", "poly:degree=0.5"]),
        b().kernels(Vec::<String>::new()),
        b().kernels(["linear", "gaussian"]).lambda(0.1),
        b().kernels(["linear", "gaussian"]).path(lambdas(), 0),
        b().approximation(margins::Approximation::Fourier { features: 10 }),
        b().balanced_classes().class_cost("a", 2.0),
        b().class_cost("a", -1.0),
        b().class_cost("a", 1.0).class_cost("a", 2.0),
        b().threads(0),
        b().tolerance(0.0),
        b().probabilities(Probabilities::Platt { folds: Some(0) }),
    ];
    let mut messages: Vec<String> =
        unbuilt.into_iter().map(|builder| builder.build().unwrap_err().to_string()).collect();
    let few = || b().lambda(0.1);
    let weighted = binary.clone().with_weights(vec![1.0; 60]).unwrap();
    let folded = binary.clone().with_folds((0..60).map(|i| i % 3).collect()).unwrap();
    let many = CrossValidation { folds: Some(13), ..Default::default() };
    for (builder, data) in [
        (few().scheme(Scheme::Binary), &data),
        (few().class_cost("class 9", 2.0), &data),
        (few().kernel("gaussian").solver(Solver::GRADIENT_DESCENT), &data),
        (few().kernel("gaussian").loss(Hinge).solver(Solver::Newton), &data),
        (few().kernel("precomputed").standardize(true), &data),
        (few().sample_weights(vec![1.0]), &data),
        (b().cross_validation(many.clone()), &data),
    ] {
        messages.push(build(builder).fit(data).unwrap_err().to_string());
    }
    let column = RawColumn::words("town", ["Bern", "Basel"].map(Some));
    let table = RawTable::from_columns(vec![column]).unwrap();
    let refused = [
        build(few().sample_weights(vec![1.0; 60])).fit(&weighted),
        build(b().cross_validation(many)).fit(&folded),
        build(few().kernel("precomputed")).fit_table(table, ["a", "b"]),
        build(few().encode(EncodeOptions::default())).fit(&binary),
        build(few()).fit_samples(&[[1.0], [2.0]], ["a"]),
        build(few()).fit_samples(&[[1.0], [2.0]], ["a", "a"]),
        build(few()).fit_samples(&[[1.0], [2.0]], ["a", "b", "a"]),
        build(few()).fit_samples(&[[1.0], [f64::NAN]], ["a", "b"]),
        build(few()).fit_samples(&[[1.0], [2.0]], [1.0, f64::NAN]),
        build(few()).fit_samples(&Vec::<[f64; 2]>::new(), Vec::<String>::new()),
        build(few()).fit_samples(&[vec![1.0], vec![2.0, 3.0]], ["a", "b"]),
    ];
    messages.extend(refused.into_iter().map(|fit| fit.unwrap_err().to_string()));
    let classifier = build(few()).fit(&data).unwrap();
    let others = margins::data::Labels::new(&["class 1", "class 7"]).unwrap();
    let others = Dataset::new(data.design().select(&[0, 1]), others).unwrap();
    messages.push(classifier.score(&others).unwrap_err().to_string());
    messages.push(classifier.predict(&[[1.0]]).unwrap_err().to_string());
    insta::assert_snapshot!(messages.join("\n"));
}
