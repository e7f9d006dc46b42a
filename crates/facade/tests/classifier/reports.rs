//! What is said of a fit, while it is made and after.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use margins::losses::{Logistic, MarginLoss};
use margins::optim::{Solver, Status, lambda_grid};
use margins::{Classifier, CrossValidation, Progress};

use crate::{SPACES, build, corners, two_of_classes, within};

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
    for solver in [Solver::Newton, Solver::SDCA] {
        let late = builder.clone().time_limit(Duration::ZERO).solver(solver);
        let error = build(late).fit(&data).unwrap_err().to_string();
        assert!(error.starts_with("the time limit of 0ns came before the fits at any lambda"));
        let late = Classifier::builder().lambda(0.1).time_limit(Duration::ZERO).solver(solver);
        let classifier = build(late).fit(&data).unwrap();
        let report = classifier.report();
        assert!(!report.is_certified());
        let statuses = report.members.iter().filter_map(|member| member.report.as_ref());
        assert!(statuses.map(|report| report.status).all(|status| status == Status::TimeLimit));
        assert!(
            report
                .to_string()
                .contains("NOT CERTIFIED (time-limit): the time limit was reached first")
        );
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
    for (data, kernels, form, all_rows) in [linear, of_kernels].concat() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        let mut builder =
            Classifier::builder().cross_validation(how.clone()).progress(move |progress| {
                let &Progress { kernel, member, fold, lambda, best_error, .. } = progress;
                // The first kernel has nobody before it.
                assert_eq!(best_error.is_some(), kernel == Some("linear"));
                let place = (kernel.map(str::to_owned), member.to_owned(), fold, lambda.to_bits());
                sink.lock().unwrap().push((place, progress.total));
            });
        if !kernels.is_empty() {
            builder = builder.kernels(kernels.clone()).approximation(form.parse().unwrap());
        }
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

/// If the time suffices for only a part of the path, the classifier has a certified lambda, or the fit
/// is an error.
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
                let at = curve.lambdas.iter().position(|at| Some(at.get()) == lambda).unwrap();
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

/// With any solver, in any space, a loss that contradicts itself gets no certificate, and its correct
/// form does.
#[test]
fn a_mistaken_loss_is_not_certified() {
    let two = two_of_classes();
    let linear = [
        Solver::Newton,
        Solver::MM,
        Solver::SDCA,
        Solver::Bundle,
        Solver::Lbfgs,
        Solver::GRADIENT_DESCENT,
    ];
    let kernel = [
        (Solver::Auto, "none"),
        (Solver::Newton, "none"),
        (Solver::MM_ACCELERATED, "none"),
        (Solver::Auto, "cholesky:tol=1e-8"),
        (Solver::Auto, "nystrom:m=20"),
    ];
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
            assert!(report.to_string().contains("NOT CERTIFIED (contradicted): the values and"));
        }
        let right = build(builder.clone().loss(Mistaken::Factor(1.0))).fit(&two).unwrap();
        assert!(right.report().is_certified(), "{builder:?}");
    }
    let how = CrossValidation { lambdas: lambda_grid(1.0, 0.01, 3).unwrap(), ..Default::default() };
    let builder = Classifier::builder().loss(Mistaken::Factor(0.9)).cross_validation(how);
    for solver in [Solver::Newton, Solver::MM_ACCELERATED] {
        let builder = within(builder.clone(), SPACES[SPACES.len().min(2) - 1]).solver(solver);
        let classifier = build(builder).fit(&two).unwrap();
        let curve = classifier.report().curve.as_ref().unwrap();
        assert!(curve.certified.iter().all(|certified| !certified));
    }
}

#[test]
fn a_report_is_a_page_of_text() {
    let data = corners(3, 20);
    let how = CrossValidation { lambdas: lambda_grid(1.0, 0.01, 3).unwrap(), ..Default::default() };
    let builder = Classifier::builder().loss(margins::losses::SquaredHinge).cross_validation(how);
    let classifier = build(builder).fit(&data).unwrap();
    let text = classifier.report().to_string();
    // The gaps depend on rounding.
    let without_gaps = |text: &str| -> String {
        let lines: Vec<&str> = text.lines().filter(|line| !line.contains("gap")).collect();
        lines.join("\n")
    };
    insta::assert_snapshot!(without_gaps(&text));
    let how =
        CrossValidation { selection: margins::Selection::OneStandardError, ..Default::default() };
    let builder = Classifier::builder().loss(margins::losses::SquaredHinge).cross_validation(how);
    let builder = builder.kernels(["linear", "gaussian:sigma=0.5"]);
    let classifier = build(builder).fit(&crate::two()).unwrap();
    let text = classifier.report().to_string();
    assert!(text.lines().count() <= 25, "{text}");
    insta::assert_snapshot!(without_gaps(&text));
}

/// Two classes whose weights differ by more than the slopes of a loss have no minimum, and the page
/// says why.
#[test]
fn an_objective_without_a_minimum_says_so() {
    let rows: Vec<[f64; 1]> = (0..40).map(|i| [(1.3 * f64::from(i)).sin()]).collect();
    let labels: Vec<bool> = (0..40).map(|i| i == 7 || i == 23).collect();
    let builder = Classifier::builder().loss_named("leaky-relu:lambda=0.1").lambda(0.1);
    let classifier = build(builder.clone()).fit_samples(&rows, &labels).unwrap();
    let report = classifier.report();
    assert!(!report.is_certified());
    assert_eq!(report.members[0].report.as_ref().unwrap().status, Status::Unbounded);
    let page = report.to_string();
    assert!(
        page.contains(
            "NOT CERTIFIED (unbounded): the objective falls without bound along the intercept"
        ),
        "{page}"
    );
    let balanced = build(builder.balanced_classes()).fit_samples(&rows, &labels).unwrap();
    assert!(balanced.report().is_certified(), "{}", balanced.report());
}
