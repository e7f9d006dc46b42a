//! Regularised fits: what each setting does, alone and beside others.

use std::sync::Arc;

use margins_data::{ClassLabels, Classes, Dataset, Design};
use margins_estimators::regularised::{
    Approximation, ClassCosts, ClassifierSettings, CrossValidation, FittedClassifier,
    FixedParameter, KernelChoice, LeaveOneOut, Probabilities, Regularisation, Sigmas,
};
use margins_estimators::{Error, Evidence};
use margins_kernels::{Gaussian, SigmaRange, combine};
use margins_losses::{GargRoth, Hinge, LeakyHockeyStick, Logistic, MarginLoss, PowerHockeyStick};
use margins_model::{Registry, Scheme};
use margins_optim::problem::PenaltyFactors;
use margins_optim::{ClassWeights, Lambda, Options, Training, lambda_grid};
use margins_robust::RobustLearner;
use margins_test_support::plane;

fn lambdas(count: usize) -> Vec<Lambda> {
    lambda_grid(1.0, 1e-3, count).unwrap()
}

fn two() -> Dataset {
    plane(60)
}

/// Points around the corners of a triangle.
fn three() -> Dataset<Classes> {
    let rows: Vec<[f64; 2]> = (0..60)
        .map(|i| {
            let angle = f64::from(i % 3) * std::f64::consts::TAU / 3.0;
            let t = f64::from(i);
            [angle.cos() + 0.6 * (1.7 * t).sin(), angle.sin() + 0.6 * (2.3 * t).cos()]
        })
        .collect();
    let names: Vec<&str> = (0..60).map(|i| ["a", "b", "c"][i % 3]).collect();
    Dataset::new(Design::from_rows(&rows).unwrap(), Classes::new(&names).unwrap()).unwrap()
}

fn at(lambda: f64) -> ClassifierSettings {
    let regularisation = Regularisation::Single(Lambda::new(lambda).unwrap());
    ClassifierSettings { regularisation, ..ClassifierSettings::default() }
}

fn validated(how: CrossValidation) -> ClassifierSettings {
    ClassifierSettings {
        regularisation: Regularisation::CrossValidated(how),
        ..ClassifierSettings::default()
    }
}

fn kernels(specifications: &[&str]) -> KernelChoice {
    let specifications = specifications.iter().map(|&kernel| kernel.to_owned()).collect();
    KernelChoice { specifications, ..KernelChoice::default() }
}

fn learner(specification: &str) -> Option<RobustLearner> {
    Some(specification.parse().unwrap())
}

/// Returns the share of samples whose class the model does not predict.
fn error_of<Y: ClassLabels>(fitted: &FittedClassifier, data: &Dataset<Y>) -> f64 {
    let predicted = fitted.model.predict(data.design(), &Registry::standard()).unwrap();
    let wrong = (0..data.rows()).filter(|&row| predicted[row] != data.labels().index(row));
    wrong.count() as f64 / data.rows() as f64
}

#[test]
fn a_path_is_that_of_the_solver_and_ends_at_the_fit() {
    let data = two();
    let regularisation = Regularisation::path(lambdas(8)).unwrap();
    let settings = ClassifierSettings { regularisation, ..ClassifierSettings::default() };
    let path = settings.path(&data).unwrap();
    let expected = Training::new(&*settings.loss).path(&data, &lambdas(8)).unwrap();
    assert!(path.fits.iter().map(|fits| &fits[0]).eq(&expected));
    let last = expected.last().unwrap();
    let norm = last.coef.iter().map(|w| w * w).sum::<f64>().sqrt();
    assert_eq!(path.norms(&settings).unwrap()[7], [norm]);
    let fitted = settings.fit(&data).unwrap();
    assert_eq!(fitted.fits, path.fits[7]);
    assert_eq!(fitted.training_error().unwrap(), path.training_error(7).unwrap());
    assert_eq!(fitted.training_error().unwrap(), error_of(&fitted, &data));
    assert_eq!((path.dimension(), path.kernel_specification()), (2, None));
    assert!(matches!(at(0.1).path(&data), Err(Error::Contradiction { .. })));
}

#[test]
fn a_path_of_several_classes_has_a_fit_a_member() {
    let data = three();
    let regularisation = Regularisation::Path { lambdas: lambdas(5), index: 3 };
    let kernels = kernels(&["gaussian:sigma=1"]);
    let settings = ClassifierSettings { regularisation, kernels, ..ClassifierSettings::default() };
    let path = settings.path(&data).unwrap();
    assert!(path.fits.len() == 4 && path.fits.iter().all(|fits| fits.len() == 3));
    let fitted = settings.fit(&data).unwrap();
    assert_eq!(fitted.fits, path.fits[3]);
    assert_eq!(path.training_error(3).unwrap(), error_of(&fitted, &data));
    assert_eq!(
        (path.dimension(), path.kernel_specification()),
        (60, Some("gaussian:sigma=1".into()))
    );
}

/// The machine has a gap on features and on a kernel matrix; the linear kernel is the same machine
/// twice.
#[test]
fn robust_learners_take_several_classes() {
    let data = three();
    let hinge = ClassifierSettings { loss: Arc::new(Hinge), intercept: false, ..at(0.01) };
    for scheme in [Scheme::OneVersusRest, Scheme::OneVersusOne] {
        let learner = learner("margin-distribution:mean=1,variance=1");
        let settings = ClassifierSettings { learner, scheme: Some(scheme), ..hinge.clone() };
        let linear = settings.fit(&data).unwrap();
        assert_eq!(linear.fits.len(), 3);
        assert!(matches!(linear.evidence, Evidence::Gap { certified: true, .. }), "{linear:?}");
        let kernel =
            ClassifierSettings { kernels: kernels(&["linear"]), ..settings }.fit(&data).unwrap();
        for (a, b) in linear.report.members.iter().zip(&kernel.report.members) {
            let (a, b) = (a.summary.objective.unwrap(), b.summary.objective.unwrap());
            assert!((a - b).abs() <= 1e-5 * a.abs(), "{a} {b}");
        }
        assert_eq!(linear.training_error().unwrap(), kernel.training_error().unwrap());
    }
}

#[test]
fn a_learner_without_certificate_leaves_no_evidence() {
    let loss = Arc::new(GargRoth::new(1.0, 1.0).unwrap());
    let settings =
        ClassifierSettings { loss, learner: learner("garg-roth:restarts=2"), ..at(0.01) };
    let fitted = settings.fit(&two()).unwrap();
    assert_eq!(fitted.evidence, Evidence::None);
    assert_eq!(fitted.model.members()[0].training.relative_gap, None);
    let settings = ClassifierSettings { kernels: kernels(&["gaussian:sigma=1"]), ..settings };
    assert!(matches!(settings.fit(&two()), Err(Error::LinearLearner(_))));
}

#[test]
fn sigmas_are_kernels_to_choose_from() {
    let data = two();
    let how = CrossValidation { lambdas: lambdas(4), ..CrossValidation::default() };
    let fit = |kernel: &[&str], sigmas: &str| {
        let choice = KernelChoice { sigmas: Some(sigmas.parse().unwrap()), ..kernels(kernel) };
        ClassifierSettings { kernels: choice, ..validated(how.clone()) }.fit(&data)
    };
    let tried = |fitted: &FittedClassifier| -> Vec<String> {
        fitted.report.kernels.iter().map(|report| report.specification.clone()).collect()
    };
    let given = fit(&["gaussian", "linear", "laplacian"], "4:1:2").unwrap();
    let all = ["gaussian:sigma=4", "gaussian:sigma=1", "linear", "laplacian:sigma=4"];
    assert_eq!(tried(&given)[..4], all);
    assert_eq!(tried(&given).len(), 5);
    let named =
        ClassifierSettings { kernels: kernels(&all), ..validated(how.clone()) }.fit(&data).unwrap();
    let curves = |fitted: &FittedClassifier| -> Vec<Vec<f64>> {
        fitted.report.kernels[..4].iter().map(|report| report.curve.mean_error.clone()).collect()
    };
    assert_eq!(curves(&given), curves(&named));

    // From the data: the whole range of sensible widths and a factor of ten beyond it.
    let range = SigmaRange::of(data.design(), None, 1).unwrap();
    let auto = fit(&["gaussian"], "auto:3").unwrap();
    let names = tried(&auto);
    let sigma = |name: &str| name.trim_start_matches("gaussian:sigma=").parse::<f64>().unwrap();
    let found: Vec<f64> = names.iter().map(|name| sigma(name)).collect();
    let (first, last) = (10.0 * range.high, range.low / 10.0);
    for (sigma, expected) in found.iter().zip([first, (first * last).sqrt(), last]) {
        // Half a unit of the sixth digit.
        assert!((sigma / expected - 1.0).abs() <= 5e-6, "{sigma} {expected}");
    }
    let one = fit(&["gaussian"], "auto:1").unwrap();
    let middle = ClassifierSettings { kernels: kernels(&["gaussian"]), ..validated(how.clone()) };
    assert_eq!(one.report.kernel, middle.fit(&data).unwrap().report.kernel);

    // What cannot be used is refused.
    for (kernel, sigmas, says) in [
        ("gaussian:sigma=1", "1,2", "leave their sigma out"),
        ("laplacian", "auto:3", "needs its sigma"),
        ("linear", "auto:3", "leave their sigma out"),
    ] {
        let error = fit(&[kernel], sigmas).unwrap_err().to_string();
        assert!(error.contains(says), "{kernel} {sigmas}: {error}");
    }
    for sigmas in [
        Sigmas::Auto { count: 0 },
        Sigmas::Auto { count: usize::MAX },
        Sigmas::Given(Vec::new()),
        Sigmas::Given(vec![1.0, f64::NAN]),
    ] {
        let choice = KernelChoice { sigmas: Some(sigmas), ..kernels(&["gaussian"]) };
        let refused = ClassifierSettings { kernels: choice, ..validated(how.clone()) }.check();
        assert!(matches!(refused, Err(Error::Setting { .. })), "{refused:?}");
    }
    for text in ["auto:0", "auto", "1:2:1", "0", "1:inf:3", "", "1:2:3:4", "auto:1001"] {
        assert!(text.parse::<Sigmas>().is_err(), "{text}");
    }
}

#[test]
fn leave_one_out_chooses_lambda_and_kernel() {
    let data = two();
    let how = |lambdas| CrossValidation {
        lambdas,
        leave_one_out: Some(LeaveOneOut::Exact),
        ..CrossValidation::default()
    };
    let specifications = ["gaussian:sigma=0.1", "linear"];
    let settings = |kernels| ClassifierSettings { kernels, ..validated(how(lambdas(3))) };
    let fitted = settings(kernels(&specifications)).fit(&data).unwrap();
    let folds = fitted.folds.as_ref().unwrap();
    assert_eq!((folds.count, folds.seed), (60, None));
    let curves = fitted.report.kernels.iter().map(|tried| tried.curve.mean_error[tried.curve.best]);
    let errors: Vec<f64> = curves.collect();
    let best = if errors[1] < errors[0] { 1 } else { 0 };
    assert_eq!(fitted.report.kernel.as_deref(), Some(specifications[best]));
    // The error is the share of samples that the fits to the others get wrong.
    let single = settings(kernels(&specifications[best..=best])).fit(&data).unwrap();
    let curve = single.report.curve.as_ref().unwrap();
    let lambda = curve.lambdas[curve.best].get();
    let wrong = (0..60).filter(|&row| {
        let others: Vec<usize> = (0..60).filter(|&other| other != row).collect();
        let kernels = kernels(&specifications[best..=best]);
        let without =
            ClassifierSettings { kernels, ..at(lambda) }.fit(&data.select(&others)).unwrap();
        let design = data.design().select(&[row]);
        let class = without.model.predict(&design, &Registry::standard()).unwrap()[0];
        class != data.labels().index(row)
    });
    assert_eq!(curve.mean_error[curve.best], wrong.count() as f64 / 60.0);

    let linear = validated(how(lambdas(3))).fit(&data);
    assert!(matches!(linear, Err(Error::LeaveOneOut)));
    let several = settings(kernels(&["linear"])).fit(&three());
    assert!(matches!(several, Err(Error::LeaveOneOut)));
    let mut folded = how(lambdas(3));
    folded.folds = Some(5);
    assert!(matches!(validated(folded).check(), Err(Error::Contradiction { .. })));
}

#[test]
fn scores_of_every_way_to_lambda_can_be_scaled() {
    let data = two();
    let ways = [
        Regularisation::Single(Lambda::new(0.01).unwrap()),
        Regularisation::path(lambdas(4)).unwrap(),
        Regularisation::CrossValidated(CrossValidation {
            lambdas: lambdas(4),
            folds: Some(3),
            ..CrossValidation::default()
        }),
    ];
    for regularisation in ways {
        let probabilities = Probabilities::Platt { folds: Some(3) };
        let loss = Arc::new(Hinge);
        let settings = ClassifierSettings {
            loss,
            regularisation,
            probabilities,
            ..ClassifierSettings::default()
        };
        let fitted = settings.fit(&data).unwrap();
        assert!(fitted.model.members()[0].platt.is_some());
        let scores = fitted.model.decision_functions(data.design(), &Registry::standard()).unwrap();
        let p = fitted.model.class_probabilities(&scores, &Hinge).unwrap();
        assert!(p.row_iter().all(|p| (p.sum() - 1.0).abs() < 1e-12));
    }
}

#[test]
fn what_no_fit_can_use_is_refused() {
    let machine = learner("margin-distribution:mean=1,variance=1");
    let hinge = || ClassifierSettings { loss: Arc::new(Hinge), learner: machine, ..at(0.1) };
    let approximation = Approximation::Fourier { features: 10 };
    let bounded = |names: &[&str]| KernelChoice {
        memory: Some(margins_data::Memory::from_bytes(2_000_000_000)),
        ..kernels(names)
    };
    let refused = [
        (
            ClassifierSettings {
                kernels: KernelChoice { approximation, ..kernels(&[]) },
                ..at(0.1)
            },
            "approximation rff:m=10 cannot be combined with a linear classifier",
        ),
        (ClassifierSettings { kernels: kernels(&["linear", "gaussian"]), ..at(0.1) }, "2 kernels"),
        (
            ClassifierSettings { learner: machine, ..validated(CrossValidation::default()) },
            "cross-validation",
        ),
        (
            ClassifierSettings { probabilities: Probabilities::Platt { folds: None }, ..hinge() },
            "Platt scaling",
        ),
        (ClassifierSettings { loss: Arc::new(Logistic), ..hinge() }, "shifts the scores"),
        (
            ClassifierSettings { kernels: bounded(&[]), ..at(0.1) },
            "memory 2 GB cannot be combined with a linear classifier",
        ),
        (
            ClassifierSettings { kernels: bounded(&["precomputed"]), ..at(0.1) },
            "cannot be combined with kernel precomputed",
        ),
        (
            ClassifierSettings {
                kernels: KernelChoice { approximation, ..bounded(&["gaussian"]) },
                ..at(0.1)
            },
            "for features the memory limits their inner products",
        ),
    ];
    for (settings, words) in refused {
        let message = settings.check().unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
        assert_eq!(settings.fit(&two()).unwrap_err().to_string(), message);
    }
    hinge().check().unwrap();
    let kernels = KernelChoice { approximation, ..bounded(&["gaussian"]) };
    ClassifierSettings { loss: Arc::new(Hinge), kernels, ..at(0.1) }.check().unwrap();
}

/// Robust learners end by the clock as all solvers do.
#[test]
fn a_time_limit_ends_robust_learners() {
    for specification in
        ["catoni:alpha=1,restarts=3", "median-of-means:blocks=3", "margin-distribution:mean=1"]
    {
        let settings = ClassifierSettings {
            loss: Arc::new(Hinge),
            learner: learner(specification),
            time_limit: Some(std::time::Duration::ZERO),
            ..at(0.1)
        };
        let fitted = settings.fit(&two()).unwrap();
        let status = fitted.fits[0].report.status;
        assert_eq!(status, margins_optim::Status::TimeLimit, "{specification}");
    }
}

/// Members that cannot all be fitted in the time are refused before any of them takes memory.
#[test]
fn more_members_than_the_time_allows_are_refused() {
    let names: Vec<String> = (0..400).map(|i| i.to_string()).collect();
    let rows: Vec<[f64; 1]> = (0..400).map(|i| [f64::from(i)]).collect();
    let design = Design::from_rows(&rows).unwrap();
    let data = Dataset::new(design, Classes::new(&names).unwrap()).unwrap();
    let settings = ClassifierSettings {
        scheme: Some(Scheme::OneVersusOne),
        time_limit: Some(std::time::Duration::from_secs(1)),
        threads: Some(1),
        ..at(0.1)
    };
    let refused = settings.fit(&data).unwrap_err().to_string();
    let words = "one-versus-one of 400 classes needs 79800 classifiers, which take at least 4 s";
    assert!(refused.starts_with(words), "{refused}");
}

/// The time limit covers the kernel matrix, and members that the time leaves without a fit cost nothing.
#[test]
fn a_time_limit_covers_what_comes_before_the_first_step() {
    let time_limit = Some(std::time::Duration::ZERO);
    for approximation in [Approximation::None, "nystrom:m=10".parse().unwrap()] {
        let kernels = KernelChoice { approximation, ..kernels(&["gaussian:sigma=1"]) };
        let error = ClassifierSettings { kernels, time_limit, ..at(0.1) }.fit(&two()).unwrap_err();
        assert!(matches!(error, Error::Unprepared(_)), "{error}");
    }
    let fitted = ClassifierSettings { time_limit, ..at(0.1) }.fit(&three()).unwrap();
    for fit in &fitted.fits {
        assert_eq!(fit.report.status, margins_optim::Status::TimeLimit);
    }
    assert_eq!(fitted.fits[2].coef, vec![0.0; three().columns()]);
    let value = fitted.fits[2].report.objective;
    assert!((value - LeakyHockeyStick.value(0.0)).abs() < 1e-12, "{value}");
}

/// Costs of classes decide what is fitted; a training error counts samples, each by its own weight.
#[test]
fn costs_of_classes_do_not_count_in_training_errors() {
    let data = three();
    let mut largest = 0.0f64;
    for cost in [1.0, 20.0, 1e3] {
        let class_costs = ClassCosts::new(vec![("b".to_owned(), cost)]).unwrap();
        let fitted = ClassifierSettings { class_costs, ..at(1.0) }.fit(&data).unwrap();
        let error = fitted.training_error().unwrap();
        assert!((error - error_of(&fitted, &data)).abs() < 1e-12, "{cost}: {error}");
        largest = largest.max(error);
    }
    assert!(largest > 0.1, "{largest}");
}

/// With C held, a row of weight k is k rows in every fold and in every pair of classes; with lambda
/// held it is not, for the parts have other shares of the rows than of the weights.
#[test]
fn with_c_held_weights_are_repetitions_in_parts_too() {
    let data = three();
    // The first class has a larger share of the weights than of the rows.
    let times: Vec<usize> = (0..60).map(|i| if i % 3 == 0 { 3 } else { i % 2 }).collect();
    let weights: Vec<f64> = times.iter().map(|&k| k as f64).collect();
    let repeated: Vec<usize> = (0..60).flat_map(|i| vec![i; times[i]]).collect();
    let folds: Vec<usize> = (0..60).map(|i| usize::from(i % 7 < 2)).collect();
    let of = |fixed_parameter, data: &Dataset<Classes>, folds: Vec<usize>| {
        let c = |c: f64| Lambda::new(0.5 / (data.rows() as f64 * c)).unwrap();
        let how = CrossValidation { lambdas: vec![c(0.1), c(1.0)], ..CrossValidation::default() };
        let settings = ClassifierSettings {
            fixed_parameter,
            scheme: Some(Scheme::OneVersusOne),
            ..validated(how)
        };
        let settings = ClassifierSettings { loss: Arc::new(Logistic), ..settings };
        settings.fit(&data.clone().with_folds(folds).unwrap()).unwrap()
    };
    let weighed = data.clone().with_weights(weights).unwrap();
    let again = data.select(&repeated);
    let distance = |parameter| {
        let one = of(parameter, &weighed, folds.clone());
        let other = of(parameter, &again, repeated.iter().map(|&i| folds[i]).collect());
        let pairs = one.fits.iter().zip(&other.fits);
        pairs.map(|(a, b)| (a.coef[0] - b.coef[0]).abs()).fold(0.0, f64::max)
    };
    assert!(distance(FixedParameter::C) < 1e-6, "{}", distance(FixedParameter::C));
    assert!(distance(FixedParameter::Lambda) > 1e-3, "{}", distance(FixedParameter::Lambda));
}

/// The classifiers of all pairs would end the machine, and are refused before any is made.
#[test]
#[cfg(target_os = "linux")]
fn more_members_than_fit_in_memory_are_refused() {
    let rows = 300_001;
    let names: Vec<String> = (0..rows).map(|i| (i / 2 * 2).to_string()).collect();
    let classes = rows / 2 + 1;
    let design = Design::from_rows(&vec![[1.0]; rows]).unwrap();
    let data = Dataset::new(design, Classes::new(&names).unwrap()).unwrap();
    let settings = ClassifierSettings { scheme: Some(Scheme::OneVersusOne), ..at(0.1) };
    let error = settings.fit(&data).unwrap_err();
    let members = classes * (classes - 1) / 2;
    let words = error.to_string();
    assert!(matches!(error, Error::Members { .. }), "{words}");
    assert!(words.starts_with(&format!(
        "one-versus-one of {classes} classes needs {members} classifiers: about "
    )));
    assert!(words.ends_with(" Merge classes, or take one-versus-rest."), "{words}");

    // So would the fits of a fold at all lambdas.
    let lambdas = lambda_grid(1.0, 1e-7, 100_000).unwrap();
    let how = CrossValidation { lambdas, ..CrossValidation::default() };
    let regularisation = Regularisation::CrossValidated(how);
    let scheme = Some(Scheme::OneVersusRest);
    let error = ClassifierSettings { scheme, regularisation, ..ClassifierSettings::default() }
        .fit(&data)
        .unwrap_err();
    assert!(matches!(error, Error::Members { .. }), "{error}");
}

/// `L_r` with r near 1 has a best constant score that exceeds all that features add: the fit says so,
/// where it overflows as well.
#[test]
fn a_huge_best_constant_score_is_warned_of() {
    let rows: Vec<[f64; 1]> =
        (0..60).map(|i| [f64::from(i).sin() + if i % 3 == 0 { 0.7 } else { 0.0 }]).collect();
    let names: Vec<&str> = (0..60).map(|i| if i % 3 == 0 { "rare" } else { "usual" }).collect();
    let design = Design::from_rows(&rows).unwrap();
    let data = Dataset::new(design, Classes::new(&names).unwrap()).unwrap();
    let settings = |r: f64| ClassifierSettings {
        loss: Arc::new(PowerHockeyStick::new(r).unwrap()),
        ..at(0.1)
    };
    let warnings = |settings: &ClassifierSettings| settings.fit(&data).unwrap().report.warnings;
    // Twice as many rows of one class: 2^101.
    let [warning] = &warnings(&settings(1.01))[..] else { panic!("one warning") };
    assert!(warning.starts_with("Every training row is decided as class 'usual'."), "{warning}");
    assert!(warning.contains("loss l-r:r=1.01 the best constant score is 2.54e30"), "{warning}");
    assert!(warning.contains("differ by the factor 2,"), "{warning}");
    // 2^1112 is beyond the largest number, 2^477 is not.
    for (r, is_number) in [(1.0009, false), (1.0021, true)] {
        let fitted = settings(r).fit(&data).unwrap();
        assert_eq!(
            fitted.fits[0].report.converged(),
            is_number,
            "{r}: {:?}",
            fitted.fits[0].report
        );
        let warning = &fitted.report.warnings[0];
        assert_eq!(warning.contains("beyond the largest number"), !is_number, "{warning}");
    }
    let balanced = ClassifierSettings { class_weights: ClassWeights::Balanced, ..settings(1.01) };
    let through_0 = ClassifierSettings { intercept: false, ..settings(1.01) };
    for quiet in [balanced, through_0, settings(2.0), at(0.1)] {
        assert!(warnings(&quiet).is_empty(), "{quiet:?}");
    }
    let kernel = ClassifierSettings { kernels: kernels(&["gaussian:sigma=1"]), ..settings(1.01) };
    assert_eq!(warnings(&kernel).len(), 1);
}

/// Bounds on the leave-one-out error hold the error of refits, of linear classifiers with scaled
/// features too, and are there only where they are proven.
#[test]
fn leave_one_out_bounds_are_of_fits_without_an_intercept() {
    let data = two();
    let n = data.rows();
    let base = ClassifierSettings { intercept: false, standardize: true, ..at(0.05) };
    let bounds = |settings: &ClassifierSettings| {
        settings.fit(&data).unwrap().leave_one_out_bounds(settings).unwrap()
    };
    let found = bounds(&base).unwrap();
    let wrong: f64 = (0..n)
        .map(|k| {
            let weights = (0..n).map(|i| if i == k { 0.0 } else { 1.0 }).collect();
            let without = ClassifierSettings {
                sample_weights: Some(weights),
                standardize: false,
                ..base.clone()
            };
            let fitted = without.fit(&data).unwrap();
            let row = data.design().select(&[k]);
            let score = fitted.model.decision_function(&row, &Registry::standard()).unwrap()[0];
            f64::from(u8::from(score * data.labels().signs()[k] <= 0.0))
        })
        .sum();
    let unscaled = ClassifierSettings { standardize: false, ..base.clone() };
    let of_unscaled = bounds(&unscaled).unwrap();
    let error = wrong / n as f64;
    assert!(of_unscaled.lower <= error && error <= of_unscaled.upper, "{of_unscaled:?} {error}");
    assert!(found.lower <= found.upper && found.upper < 1.0, "{found:?}");
    let free = PenaltyFactors::of_columns(vec![0.0, 1.0]).unwrap();
    let free = ClassifierSettings { penalty_factors: Some(free), ..base.clone() };
    for none in [ClassifierSettings { intercept: true, ..base.clone() }, free] {
        assert_eq!(bounds(&none), None);
    }
}

/// The duals of a kernel path are the negative slopes of the loss at the margins of each fit.
#[test]
fn duals_along_a_path_are_slopes_of_the_loss() {
    let data = two();
    let regularisation = Regularisation::path(lambdas(4)).unwrap();
    let settings = ClassifierSettings {
        regularisation,
        kernels: kernels(&["gaussian:sigma=2"]),
        class_weights: ClassWeights::Balanced,
        options: Options { tolerance: 1e-11, ..Options::default() },
        ..ClassifierSettings::default()
    };
    let path = settings.path(&data).unwrap();
    let duals = path.duals(&settings).unwrap().unwrap();
    let prepared = Gaussian::new(2.0).unwrap();
    for (fits, duals) in path.fits.iter().zip(&duals) {
        let scores = combine(&prepared, data.design(), data.design(), &fits[0].coef).unwrap();
        for ((score, dual), y) in scores.iter().zip(duals).zip(data.labels().signs()) {
            let slope = -LeakyHockeyStick.derivative(y * (score + fits[0].intercept));
            assert!((slope - dual).abs() < 1e-3, "{slope} {dual}");
        }
    }
    let linear = ClassifierSettings { kernels: KernelChoice::default(), ..settings };
    assert_eq!(linear.path(&data).unwrap().duals(&linear).unwrap(), None);
}
