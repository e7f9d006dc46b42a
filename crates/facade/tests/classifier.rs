//! Classifiers by the builder: the same as the pieces that they are made of, on two classes and on several.

use std::fmt::{Debug, Display};
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use margins::data::split::fold_indices;
use margins::data::{Classes, Dataset, Design, Target};
use margins::losses::{Hinge, LeakyHockeyStick, Logistic, MarginLoss, SquaredHinge};
use margins::optim::{Lambda, Solver, Status, Training, lambda_grid};
use margins::{
    Classifier, ClassifierBuilder, CrossValidation, Error, Estimator, Prepared, Probabilities,
    Progress, Scheme, Selection, folds_of,
};
use nalgebra::DMatrix;
use proptest::prelude::*;

/// `per_class` points around each of `k` corners, the same on every call.
fn corners(k: usize, per_class: usize) -> Dataset<Classes> {
    let n = k * per_class;
    let (mut rows, mut names) = (Vec::new(), Vec::new());
    for i in 0..n {
        let (class, t) = (i % k, i as f64);
        let angle = class as f64 * std::f64::consts::TAU / k as f64;
        let noise = [(t * 1.7).sin(), (t * 2.3).cos(), (t * 0.9).sin()];
        rows.push([
            angle.cos() + 0.8 * noise[0],
            angle.sin() + 0.8 * noise[1],
            0.3 * class as f64 + noise[2],
        ]);
        names.push(format!("class {class}"));
    }
    Dataset::new(Design::from_rows(&rows).unwrap(), Classes::new(&names).unwrap()).unwrap()
}

fn two() -> Dataset {
    let data = corners(2, 30);
    data.relabelled(data.labels().against_rest(1)).unwrap()
}

fn two_of_classes() -> Dataset<Classes> {
    let data = two();
    data.relabelled(Classes::from(data.labels())).unwrap()
}

/// Of both formats.
#[cfg(feature = "serde")]
const FILES: [&str; 2] = ["model.json", "model.margins"];

/// A kernel and its approximation, or linear classifiers.
type Space = Option<(&'static str, &'static str)>;

const SPACES: &[Space] = if cfg!(feature = "kernels") {
    &[
        None,
        Some(("gaussian:sigma=0.5", "none")),
        Some(("gaussian", "none")),
        Some(("laplacian:sigma=1", "none")),
        Some(("gaussian:sigma=0.5", "cholesky:tol=1e-12")),
        Some(("gaussian:sigma=0.5", "nystrom:m=20")),
    ]
} else {
    &[None]
};

#[cfg(feature = "kernels")]
fn within(builder: ClassifierBuilder, space: Space) -> ClassifierBuilder {
    match space {
        Some((kernel, how)) => builder.kernel(kernel).approximation(how.parse().unwrap()),
        None => builder,
    }
}

#[cfg(not(feature = "kernels"))]
fn within(builder: ClassifierBuilder, space: Space) -> ClassifierBuilder {
    assert_eq!(space, None);
    builder
}

#[cfg(feature = "kernels")]
fn prepared(data: &Dataset, space: Space, seed: u64) -> Prepared<'_> {
    let Some((kernel, how)) = space else { return Prepared::linear(data) };
    let kernels = margins::kernels::KernelRegistry::standard();
    Prepared::for_kernel(kernel, how.parse().unwrap(), &kernels, data, false, seed).unwrap()
}

#[cfg(not(feature = "kernels"))]
fn prepared(data: &Dataset, space: Space, _: u64) -> Prepared<'_> {
    assert_eq!(space, None);
    Prepared::linear(data)
}

fn build(builder: ClassifierBuilder) -> Estimator {
    builder.build().unwrap()
}

fn all_coefs(classifier: &Classifier) -> Vec<Vec<f64>> {
    let members = classifier.model().members().iter();
    members.map(|m| [&m.coef[..], &[m.intercept]].concat()).collect()
}

#[test]
fn two_classes_are_the_fit_of_the_pieces() {
    let data = two();
    let lambda = Lambda::new(0.02).unwrap();
    let classifier =
        build(Classifier::builder().lambda(0.02).standardize(true)).fit(&data).unwrap();
    let training = Training { standardize: true, ..Training::new(&LeakyHockeyStick) };
    let fit = training.path(&data, &[lambda]).unwrap().swap_remove(0);
    assert_eq!(all_coefs(&classifier), [[&fit.coef[..], &[fit.intercept]].concat()]);
    let scores = classifier.decision_function(&data).unwrap();
    assert_eq!(scores.as_slice(), fit.decision_function(data.design()));
    let report = classifier.report();
    assert!(report.is_certified());
    assert_eq!(report.members[0].report.as_ref(), Some(&fit.report));
    let signs = data.labels().signs().iter();
    let right = signs.zip(scores.iter()).filter(|(y, f)| (**y > 0.0) == (**f > 0.0)).count();
    assert_eq!(classifier.score(&data).unwrap(), right as f64 / 60.0);
}

#[test]
fn cross_validation_is_that_of_the_pieces() {
    let data = two();
    let lambdas = lambda_grid(1.0, 1e-3, 8).unwrap();
    for selection in [Selection::Best, Selection::OneStandardError] {
        let how = CrossValidation { lambdas: lambdas.clone(), selection, ..Default::default() };
        for &space in SPACES {
            let builder =
                Classifier::builder().loss(Logistic).cross_validation(how.clone()).seed(7);
            let classifier = build(within(builder, space)).fit(&data).unwrap();
            let (folds, _) = folds_of(&data, None, 7).unwrap();
            let prepared = prepared(&data, space, 7);
            let training = Training::new(&Logistic);
            let (curve, fit) = prepared
                .cross_validate(&training, &folds, &lambdas, |curve| selection.of(curve))
                .unwrap();
            assert_eq!(classifier.report().curve.as_ref(), Some(&curve));
            assert_eq!(classifier.model().members()[0].lambda, fit.lambda.get());
            let scores = classifier.decision_function(&data).unwrap();
            for (one, other) in scores.iter().zip(prepared.scores(&fit).unwrap()) {
                assert!((one - other).abs() < 1e-9);
            }
        }
    }
}

/// Of several kernels each has the curve that it has alone, on the same folds, and the classifier is that of the least
/// error alone.
#[cfg(feature = "kernels")]
#[test]
fn kernels_are_chosen_by_their_least_error() {
    use margins::Approximation;

    let how = CrossValidation { lambdas: lambda_grid(1.0, 1e-3, 5).unwrap(), ..Default::default() };
    let builder = Classifier::builder().loss(Logistic).cross_validation(how).seed(5);
    let names = ["linear", "gaussian:sigma=300.0", "gaussian", "gaussian:sigma=0.5"];
    for approximation in [Approximation::None, Approximation::Cholesky { tolerance: 1e-10 }] {
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
                assert_eq!(Some(&tried.kernel), alone.report().kernel.as_ref());
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

/// Every member is the classifier of two classes that its name says, by whatever route.
#[test]
fn members_are_binary_classifiers() {
    let data = corners(4, 15);
    let lambda = 0.01;
    for &space in SPACES {
        let builder = || {
            let builder = Classifier::builder().loss(Logistic).lambda(lambda).tolerance(1e-9);
            within(builder, space)
        };
        let fitted = |scheme| build(builder().scheme(scheme)).fit(&data).unwrap();
        let rest = fitted(Scheme::OneVersusRest);
        let scores = rest.decision_function(&data).unwrap();
        for class in 0..4 {
            let own = data.relabelled(data.labels().against_rest(class)).unwrap();
            let alone = build(builder()).fit(&own).unwrap().decision_function(&data).unwrap();
            assert!((scores.column(class) - alone.column(0)).amax() < 1e-9);
        }
        if matches!(space, Some(("gaussian", _) | (_, "nystrom:m=20"))) {
            // Sigma and landmarks are drawn from all rows, not from those of a pair.
            continue;
        }
        let pairs = fitted(Scheme::OneVersusOne);
        let scores = pairs.decision_function(&data).unwrap();
        for (member, (i, j)) in Scheme::pairs(4).enumerate() {
            let own = data.relabelled(data.labels().between(i, j)).unwrap();
            let rows: Vec<usize> =
                (0..60).filter(|&row| [i, j].contains(&data.labels().index(row))).collect();
            let alone = build(builder()).fit(&own.select(&rows)).unwrap();
            let alone = alone.decision_function(&data).unwrap();
            // Objectives within 1e-9 of each other, of a penalty of 0.01 ||f||^2.
            assert!((scores.column(member) - alone.column(0)).amax() < 2e-3, "{space:?} {i} {j}");
        }
    }
}

/// The curve of several classes, by hand.
#[test]
fn errors_of_several_classes_are_held_out_errors() {
    let data = corners(3, 20);
    let lambdas = lambda_grid(0.1, 0.001, 3).unwrap();
    for scheme in [Scheme::OneVersusRest, Scheme::OneVersusOne] {
        let builder = Classifier::builder().loss(Logistic).scheme(scheme).seed(3);
        let how =
            CrossValidation { lambdas: lambdas.clone(), folds: Some(4), ..Default::default() };
        let classifier = build(builder.clone().cross_validation(how)).fit(&data).unwrap();
        let curve = classifier.report().curve.clone().unwrap();
        let (folds, _) = folds_of(&data, Some(4), 3).unwrap();
        for (k, lambda) in lambdas.iter().enumerate() {
            let mut wrong = 0.0;
            for fold in 0..4 {
                let (train, test) = fold_indices(&folds, fold);
                let alone = build(builder.clone().lambda(lambda.get()));
                let alone = alone.fit(&data.select(&train)).unwrap();
                let test = data.select(&test);
                wrong += (1.0 - alone.score(&test).unwrap()) * test.rows() as f64;
            }
            assert!((curve.mean_error[k] - wrong / 60.0).abs() < 1e-12);
        }
        assert!(curve.certified.iter().all(|&certified| certified));
        assert_eq!(classifier.model().members()[0].lambda, lambdas[curve.best].get());
    }
}

#[cfg(feature = "rayon")]
#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let data = corners(3, 20);
    let how = CrossValidation { lambdas: lambda_grid(1.0, 1e-3, 5).unwrap(), ..Default::default() };
    for &space in SPACES {
        for scheme in [Scheme::OneVersusRest, Scheme::OneVersusOne] {
            let fit = |threads| {
                let builder = Classifier::builder().cross_validation(how.clone()).scheme(scheme);
                let builder =
                    builder.threads(threads).probabilities(Probabilities::Platt { folds: None });
                let classifier = build(within(builder, space)).fit(&data).unwrap();
                (all_coefs(&classifier), classifier.predict_proba(&data).unwrap())
            };
            assert_eq!(fit(1), fit(3));
        }
    }
}

#[test]
fn probabilities_follow_their_rules() {
    let data = corners(3, 25);
    let binary = two();
    let logistic = || Classifier::builder().loss(Logistic).lambda(0.01);
    let classifier = build(logistic()).fit(&binary).unwrap();
    let scores = classifier.decision_function(&binary).unwrap();
    let p = classifier.predict_proba(&binary).unwrap();
    for row in 0..binary.rows() {
        assert!((p[(row, 1)] - 1.0 / (1.0 + (-scores[row]).exp())).abs() < 1e-12);
        assert!((p[(row, 0)] + p[(row, 1)] - 1.0).abs() < 1e-15);
    }
    for scheme in [Scheme::OneVersusRest, Scheme::OneVersusOne] {
        for platt in [false, true] {
            let mut builder = logistic().scheme(scheme);
            if platt {
                builder =
                    builder.loss(Hinge).probabilities(Probabilities::Platt { folds: Some(5) });
            }
            let classifier = build(builder).fit(&data).unwrap();
            let p = classifier.predict_proba(&data).unwrap();
            assert_eq!(p.shape(), (75, 3));
            assert!(p.iter().all(|p| (0.0..=1.0).contains(p)));
            assert!(p.row_iter().all(|row| (row.sum() - 1.0).abs() < 1e-12));
            // The most probable class is right about as often as the one decided.
            let own = data.labels().indices();
            let right = (0..75).filter(|&row| p.row(row).transpose().imax() == own[row]).count();
            let score = 75.0 * classifier.score(&data).unwrap();
            assert!((right as f64 - score).abs() <= 3.0 * 75f64.sqrt() / 2.0);
        }
    }
    let hinge = build(Classifier::builder().loss(Hinge).lambda(0.1)).fit(&data).unwrap();
    assert!(matches!(hinge.predict_proba(&data), Err(Error::NoProbabilities(_))));
}

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

#[cfg(feature = "kernels")]
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
        assert_eq!(classifier.predict_labels::<T, _>(&rows).unwrap(), *labels);
        classifier
    }
    comes_back(&[true, true, false, false]);
    comes_back(&['b', 'b', 'a', 'a']);
    comes_back(&[7u8, 7, 200, 200]);
    comes_back(&[1.0, 1.0, -1.0, -1.0]);
    comes_back(&[-0.0, 0.0, 1e300, 1e300]);
    let spelled = comes_back(&["1.0".to_owned(), "1.0".into(), "+2".into(), "+2".into()]);
    let row = [[0.0, 1.0]];
    assert_eq!(spelled.predict_labels::<u64, _>(&row).unwrap(), [1]);
    let error = spelled.predict_labels::<bool, _>(&row).unwrap_err();
    assert_eq!(error.to_string(), "the class '1.0' is no value of type bool");
}

/// Neither measurements nor names of samples are classes; what is a class by name stays one.
#[test]
fn measurements_are_no_classes() {
    let estimator = build(Classifier::builder().lambda(0.1));
    let rows: Vec<[f64; 1]> = (0..6).map(|i| [f64::from(i)]).collect();
    let message = |error: Error| error.to_string();
    let measured = [1.0, 0.37, 1.92, 0.37, 1.0, 2.0];
    assert_eq!(
        message(estimator.fit_samples(&rows, measured).unwrap_err()),
        "row 1: the label is 0.37, no whole number: this looks like a measurement, and a measurement is no class; \
         classes that do have such names go into a Dataset of Classes"
    );
    assert!(estimator.fit_samples(&rows, measured.map(|y| y as f32)).is_err());
    let names = ["a", "b", "c", "d", "e", "f"];
    let counts = [3u64, 1, 4, 15, 9, 2];
    let refused = [estimator.fit_samples(&rows, names), estimator.fit_samples(&rows, counts)];
    for error in refused {
        assert_eq!(
            message(error.unwrap_err()),
            "the 6 samples have 6 classes, no two of them the same: are the labels measurements or names of samples?"
        );
    }
    let versions = Classes::new(&["1.1", "1.2", "1.3", "1.1", "1.2", "1.3"]).unwrap();
    let data = Dataset::new(Design::from_rows(&rows).unwrap(), versions).unwrap();
    assert_eq!(estimator.fit(&data).unwrap().classes(), ["1.1", "1.2", "1.3"]);
    let mixed = ["0.5", "high", "0.5", "high", "0.5", "low"];
    assert_eq!(estimator.fit_samples(&rows, mixed).unwrap().classes().len(), 3);
    assert!(estimator.fit_samples(&rows[..2], [1, 2]).is_ok());
}

#[cfg(feature = "serde")]
#[test]
fn saved_classifiers_decide_alike() {
    let directory = tempfile::tempdir().unwrap();
    let data = corners(3, 20);
    for &space in SPACES {
        let builder = Classifier::builder().loss(Logistic).lambda(0.01);
        let classifier = build(within(builder, space)).fit(&data).unwrap();
        let by_file = FILES.map(|name| {
            let path = directory.path().join(name);
            classifier.save(&path).unwrap();
            Classifier::load(&path, &margins::Registry::standard()).unwrap()
        });
        let text = serde_json::to_string(&classifier).unwrap();
        let by_serde: Classifier = serde_json::from_str(&text).unwrap();
        for read in by_file.into_iter().chain([by_serde]) {
            assert_eq!(
                read.predict_proba(&data).unwrap(),
                classifier.predict_proba(&data).unwrap()
            );
            assert_eq!(read.predict(&data).unwrap(), classifier.predict(&data).unwrap());
            assert!(read.report().is_certified());
        }
    }
}

/// Those of each member, to the bit, in either format.
#[cfg(feature = "serde")]
#[test]
fn saved_classifiers_keep_their_scalings() {
    let directory = tempfile::tempdir().unwrap();
    let registry = margins::Registry::standard();
    let builder = Classifier::builder().loss(Hinge).lambda(0.01);
    let builder = builder.probabilities(Probabilities::Platt { folds: Some(3) });
    let binary = build(builder.clone()).fit(&two()).unwrap();
    let of = |scheme| build(builder.clone().scheme(scheme)).fit(&corners(3, 20)).unwrap();
    let several = [of(Scheme::OneVersusRest), of(Scheme::OneVersusOne)];
    for (classifier, members) in std::iter::once(&binary).chain(&several).zip([1, 3, 3]) {
        let samples = Design::from_rows(&[[0.1, 0.7, -2.0], [1e6, 0.0, 1.0], [0.0; 3]]).unwrap();
        let probabilities = classifier.predict_proba(&samples).unwrap();
        let scalings = |classifier: &Classifier| -> Vec<_> {
            classifier.model().members().iter().map(|member| member.platt.unwrap()).collect()
        };
        assert_eq!(scalings(classifier).len(), members);
        for name in FILES {
            let path = directory.path().join(name);
            classifier.save(&path).unwrap();
            let read = Classifier::load(&path, &registry).unwrap();
            let from_model = Classifier::from_model(classifier.model().clone(), &registry).unwrap();
            for other in [read, from_model] {
                assert_eq!(other.model(), classifier.model());
                assert_eq!(scalings(&other), scalings(classifier));
                assert_eq!(other.predict_proba(&samples).unwrap(), probabilities);
            }
        }
    }
}

#[test]
fn weights_and_costs_are_weights() {
    let data = two();
    let fit = |builder: ClassifierBuilder, data: &Dataset| {
        all_coefs(&build(builder.loss(SquaredHinge).lambda(0.1)).fit(data).unwrap())
    };
    let weights: Vec<f64> =
        data.labels().signs().iter().map(|y| if *y > 0.0 { 3.0 } else { 0.5 }).collect();
    let weighted = data.clone().with_weights(weights.clone()).unwrap();
    let expected = fit(Classifier::builder(), &weighted);
    assert_eq!(fit(Classifier::builder().sample_weights(weights), &data), expected);
    let costs = Classifier::builder().class_cost("class 1", 3.0).class_cost("class 0", 0.5);
    assert_eq!(fit(costs, &data), expected);
    assert_ne!(fit(Classifier::builder(), &data), expected);
}

#[test]
fn progress_is_seen_and_time_is_kept() {
    let data = corners(3, 20);
    let seen = Arc::new(Mutex::new((0, 0)));
    let sink = Arc::clone(&seen);
    let how = CrossValidation { lambdas: lambda_grid(1.0, 0.01, 4).unwrap(), ..Default::default() };
    let builder = Classifier::builder().cross_validation(how).progress(move |progress| {
        let mut seen = sink.lock().unwrap();
        seen.0 = seen.0.max(progress.done);
        seen.1 = progress.total;
    });
    build(builder.clone()).fit(&data).unwrap();
    assert_eq!(*seen.lock().unwrap(), (4 * 5 * 3, 4 * 5 * 3));
    for solver in [Solver::Newton, Solver::Sdca] {
        let late = builder.clone().time_limit(Duration::ZERO).solver(solver);
        let error = build(late).fit(&data).unwrap_err().to_string();
        assert!(error.starts_with("the time limit of 0ns came before the fits at any lambda"));
        let late = Classifier::builder().lambda(0.1).time_limit(Duration::ZERO).solver(solver);
        let classifier = build(late).fit(&data).unwrap();
        let report = classifier.report();
        assert!(!report.is_certified());
        let statuses = report.members.iter().filter_map(|member| member.report.as_ref());
        assert!(statuses.map(|report| report.status).all(|status| status == Status::TimeLimit));
        assert!(report.to_string().contains("NOT CERTIFIED: the time limit came first"));
    }
}

/// Every fit is announced once, with its place.
#[test]
fn progress_says_where_it_is() {
    let how = CrossValidation { lambdas: lambda_grid(1.0, 0.01, 3).unwrap(), ..Default::default() };
    let linear =
        vec![(corners(3, 20), vec![], "none", false), (two_of_classes(), vec![], "none", true)];
    let of_kernels = vec![
        (corners(3, 20), vec!["gaussian:sigma=1", "linear"], "none", false),
        (two_of_classes(), vec!["gaussian:sigma=1"], "none", false),
        (two_of_classes(), vec!["gaussian:sigma=1"], "cholesky:tol=1e-8", false),
    ];
    let cases = if cfg!(feature = "kernels") { [linear, of_kernels].concat() } else { linear };
    for (data, kernels, form, all_rows) in cases {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        #[cfg_attr(not(feature = "kernels"), expect(unused_mut))]
        let mut builder =
            Classifier::builder().cross_validation(how.clone()).progress(move |progress| {
                let &Progress { kernel, member, fold, lambda, .. } = progress;
                let place = (kernel.map(str::to_owned), member.to_owned(), fold, lambda.to_bits());
                sink.lock().unwrap().push((place, progress.total));
            });
        #[cfg(feature = "kernels")]
        if !kernels.is_empty() {
            builder = builder.kernels(kernels.clone()).approximation(form.parse().unwrap());
        }
        #[cfg(not(feature = "kernels"))]
        assert_eq!((kernels.len(), form), (0, "none"));
        let classifier = build(builder).fit(&data).unwrap();
        let seen = std::mem::take(&mut *seen.lock().unwrap());
        assert!(seen.iter().all(|(_, total)| *total == seen.len()));
        let mut expected = Vec::new();
        let mut spaces: Vec<Option<String>> =
            kernels.iter().map(|kernel| Some((*kernel).to_owned())).collect();
        if spaces.is_empty() {
            spaces.push(None);
        }
        for kernel in spaces {
            for member in &classifier.report().members {
                for fold in (0..5).map(Some).chain(all_rows.then_some(None)) {
                    for lambda in &how.lambdas {
                        let lambda = lambda.get().to_bits();
                        expected.push((kernel.clone(), member.name.clone(), fold, lambda));
                    }
                }
            }
        }
        let mut places: Vec<_> = seen.into_iter().map(|(place, _)| place).collect();
        places.sort();
        expected.sort();
        assert_eq!(places, expected);
    }
}

/// However little of the path there is time for, the classifier is that of a certified lambda, or there is none.
#[test]
fn a_cross_validation_that_is_cut_short_chooses_among_what_is_certified() {
    let data = corners(3, 60);
    let how =
        CrossValidation { lambdas: lambda_grid(1.0, 1e-6, 60).unwrap(), ..Default::default() };
    let builder = Classifier::builder().cross_validation(how);
    let builder = within(builder, SPACES[SPACES.len().min(2) - 1]);
    for milliseconds in [0, 1, 3, 10, 30, 100] {
        let limit = Duration::from_millis(milliseconds);
        match build(builder.clone().time_limit(limit)).fit(&data) {
            Ok(classifier) => {
                let report = classifier.report();
                let curve = report.curve.as_ref().unwrap();
                let lambda = classifier.model().members()[0].lambda;
                let at = curve.lambdas.iter().position(|at| at.get() == lambda).unwrap();
                assert!(curve.certified[at]);
            }
            Err(error) => assert!(matches!(error, margins::Error::TimeLimit(_)), "{error}"),
        }
    }
}

/// `log(1 + exp(-u))` with its derivative times a factor, or a sigmoid that claims to be convex.
#[derive(Debug, Clone, Copy)]
enum Mistaken {
    Factor(f64),
    Sigmoid,
}

impl MarginLoss for Mistaken {
    fn value(&self, u: f64) -> f64 {
        match self {
            Mistaken::Factor(_) => Logistic.value(u),
            Mistaken::Sigmoid => -Logistic.derivative(u),
        }
    }

    fn derivative(&self, u: f64) -> f64 {
        match self {
            Mistaken::Factor(factor) => factor * Logistic.derivative(u),
            Mistaken::Sigmoid => -Logistic.second_derivative(u),
        }
    }

    fn curvature(&self) -> Option<f64> {
        Some(0.25)
    }
}

/// Whoever solves it, in whatever space, a loss that contradicts itself gets no certificate; its correct form does.
#[test]
fn a_mistaken_loss_is_not_certified() {
    let two = two_of_classes();
    let linear = [
        Solver::Newton,
        Solver::Mm,
        Solver::MmBatched,
        Solver::Sdca,
        Solver::Bundle,
        Solver::GradientDescent,
    ];
    let kernel = [
        (Solver::Auto, "none"),
        (Solver::Newton, "none"),
        (Solver::MmAccelerated, "none"),
        (Solver::Auto, "cholesky:tol=1e-8"),
        (Solver::Auto, "nystrom:m=20"),
    ];
    let kernel = &kernel[..if cfg!(feature = "kernels") { kernel.len() } else { 0 }];
    let builders = linear.map(|solver| Classifier::builder().solver(solver)).into_iter();
    let builders = builders.chain(kernel.iter().map(|&(solver, approximation)| {
        within(Classifier::builder().solver(solver), Some(("gaussian:sigma=0.5", approximation)))
    }));
    for builder in builders {
        let builder = builder.lambda(0.01).max_iterations(20_000);
        for mistaken in [Mistaken::Factor(0.9), Mistaken::Factor(1.1), Mistaken::Sigmoid] {
            let classifier = build(builder.clone().loss(mistaken)).fit(&two).unwrap();
            let report = classifier.report();
            assert!(!report.is_certified(), "{mistaken:?} by {builder:?}");
            let status = report.members[0].report.as_ref().unwrap().status;
            assert_eq!(status, Status::Contradicted, "{mistaken:?} by {builder:?}");
            assert_eq!(report.members[0].summary.relative_gap, None);
            assert!(report.to_string().contains("NOT CERTIFIED: the loss contradicts itself"));
        }
        let right = build(builder.clone().loss(Mistaken::Factor(1.0))).fit(&two).unwrap();
        assert!(right.report().is_certified(), "{builder:?}");
    }
    let how = CrossValidation { lambdas: lambda_grid(1.0, 0.01, 3).unwrap(), ..Default::default() };
    let builder = Classifier::builder().loss(Mistaken::Factor(0.9)).cross_validation(how);
    for solver in [Solver::Newton, Solver::MmBatched] {
        let builder = within(builder.clone(), SPACES[SPACES.len().min(2) - 1]).solver(solver);
        let classifier = build(builder).fit(&two).unwrap();
        let curve = classifier.report().curve.as_ref().unwrap();
        assert!(curve.certified.iter().all(|certified| !certified));
    }
}

#[cfg(feature = "kernels")]
#[test]
fn a_report_is_a_page_of_text() {
    let data = corners(3, 20);
    let how = CrossValidation { lambdas: lambda_grid(1.0, 0.01, 3).unwrap(), ..Default::default() };
    let builder = Classifier::builder().loss(SquaredHinge).cross_validation(how);
    let classifier = build(builder).fit(&data).unwrap();
    let text = classifier.report().to_string();
    // The gaps are what rounding makes of them.
    let without_gaps = |text: &str| -> String {
        let lines: Vec<&str> = text.lines().filter(|line| !line.contains("gap")).collect();
        lines.join("\n")
    };
    insta::assert_snapshot!(without_gaps(&text));
    let how = CrossValidation { selection: Selection::OneStandardError, ..Default::default() };
    let builder = Classifier::builder().loss(SquaredHinge).cross_validation(how);
    let builder = builder.kernels(["linear", "gaussian:sigma=0.5"]);
    let classifier = build(builder).fit(&two()).unwrap();
    let text = classifier.report().to_string();
    assert!(text.lines().count() <= 25, "{text}");
    insta::assert_snapshot!(without_gaps(&text));
}

#[cfg(all(feature = "kernels", feature = "rayon"))]
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
    let five = CrossValidation { folds: Some(5), ..Default::default() };
    for (builder, data) in [
        (few().scheme(Scheme::Binary), &data),
        (few().class_cost("class 9", 2.0), &data),
        (few().kernel("gaussian").solver(Solver::GradientDescent), &data),
        (few().kernel("gaussian").loss(Hinge).solver(Solver::Newton), &data),
        (few().kernel("precomputed").standardize(true), &data),
        (few().sample_weights(vec![1.0]), &data),
        (b().cross_validation(five.clone()), &data),
    ] {
        messages.push(build(builder).fit(data).unwrap_err().to_string());
    }
    let refused = [
        build(few().sample_weights(vec![1.0; 60])).fit(&weighted),
        build(b().cross_validation(five)).fit(&folded),
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// The names of classes decide their order and nothing else.
    #[test]
    fn names_do_not_matter(shift in 1usize..4, ovo: bool) {
        let data = corners(4, 8);
        let scheme = if ovo { Scheme::OneVersusOne } else { Scheme::OneVersusRest };
        let fit = |shift: usize| {
            let labels = data.labels().indices().iter().map(|class| (class + shift) % 4);
            let estimator = build(Classifier::builder().loss(Logistic).lambda(0.01).scheme(scheme));
            let classifier = estimator.fit_samples(&data, labels).unwrap();
            classifier.predict_index(&data).unwrap()
        };
        let back: Vec<usize> = fit(shift).iter().map(|class| (class + 4 - shift) % 4).collect();
        prop_assert_eq!(back, fit(0));
    }
}
