//! Cross-validations that are interrupted, and go on from the folds that they had finished.
#![cfg(feature = "serde")]

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use margins_data::metrics::Measure;
use margins_data::{Classes, Dataset};
use margins_estimators::regularised::{
    ClassifierSettings, CrossValidation, FittedClassifier, IterationObserver, KernelChoice,
    LeaveOneOut, Observer, Regularisation, Sigmas,
};
use margins_losses::Hinge;
use margins_optim::lambda_grid;
use margins_test_support::plane;

fn data() -> Dataset {
    plane(80)
}

/// Returns the samples in three classes.
fn three() -> Dataset<Classes> {
    let data = data();
    let signs = data.labels().signs();
    let class = |(row, sign): (usize, &f64)| if row % 3 == 0 { "a" } else { name_of(*sign) };
    let names: Vec<&str> = signs.iter().enumerate().map(class).collect();
    data.relabelled(Classes::new(&names).unwrap()).unwrap()
}

fn name_of(sign: f64) -> &'static str {
    if sign > 0.0 { "b" } else { "c" }
}

fn grid() -> CrossValidation {
    CrossValidation {
        lambdas: lambda_grid(1.0, 1e-3, 6).unwrap(),
        folds: Some(4),
        ..CrossValidation::default()
    }
}

fn settings(how: CrossValidation) -> ClassifierSettings {
    ClassifierSettings {
        regularisation: Regularisation::CrossValidated(how),
        ..ClassifierSettings::default()
    }
}

fn kept(how: CrossValidation, path: &Path) -> ClassifierSettings {
    ClassifierSettings { checkpoint: Some(path.to_owned()), ..settings(how) }
}

fn gaussians() -> KernelChoice {
    KernelChoice {
        specifications: vec!["gaussian".to_owned()],
        sigmas: Some(Sigmas::Given(vec![0.1, 1.0, 3.0])),
        ..KernelChoice::default()
    }
}

/// Returns a fit, and the number of fits in folds that it took.
fn counted(
    settings: &ClassifierSettings,
    fit: impl Fn(&ClassifierSettings) -> FittedClassifier,
) -> (FittedClassifier, usize) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let progress = Observer::new(move |made| {
        counter.fetch_add(usize::from(made.fold.is_some()), Ordering::Relaxed);
    });
    let fitted = fit(&ClassifierSettings { progress, ..settings.clone() });
    (fitted, count.load(Ordering::Relaxed))
}

/// Interrupts a cross-validation after more and more iterations, and lets it go on.
fn goes_on(
    name: &str,
    whole: &ClassifierSettings,
    fit: impl Fn(&ClassifierSettings) -> FittedClassifier,
) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grid.json");
    let kept = ClassifierSettings { checkpoint: Some(path.clone()), ..whole.clone() };
    let (expected, all) = counted(whole, &fit);
    let mut last = 0;
    let mut fits = all;
    for most in (0..6).map(|k| 10_usize.pow(k) / 2) {
        let seen = AtomicUsize::new(0);
        let iterations = IterationObserver::new(move |_| {
            if seen.fetch_add(1, Ordering::Relaxed) < most {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        // What is interrupted goes on, so that it is the file that shows what was finished.
        fit(&ClassifierSettings { iterations, ..kept.clone() });
        let size = std::fs::metadata(&path).unwrap().len();
        assert!(size >= last, "{name}: a finished fold was lost");
        last = size;
        let copy = std::fs::read(&path).unwrap();
        let (resumed, left) = counted(&kept, &fit);
        assert_eq!(resumed.fits, expected.fits, "{name}, after {most} iterations");
        assert_eq!(resumed.report.curve, expected.report.curve, "{name}");
        assert_eq!(resumed.report.kernels, expected.report.kernels, "{name}");
        assert_eq!(resumed.model, expected.model, "{name}");
        assert!(left <= fits, "{name}: {left} fits are left of {fits}");
        fits = left;
        std::fs::write(&path, copy).unwrap();
    }
    assert_eq!(fits, 0, "{name}: of {all} fits");
    assert!(all > 0);
}

#[test]
fn a_cross_validation_goes_on_to_the_same_bits() {
    let (two, three) = (data(), three());
    let fit_two = |settings: &ClassifierSettings| settings.fit(&two).unwrap();
    let fit_three = |settings: &ClassifierSettings| settings.fit(&three).unwrap();
    goes_on("linear", &settings(grid()), fit_two);
    let standardize = ClassifierSettings { standardize: true, ..settings(grid()) };
    goes_on("standardised", &standardize, fit_two);
    let kernels = ClassifierSettings { kernels: gaussians(), ..settings(grid()) };
    goes_on("several kernels", &kernels, fit_two);
    goes_on("hinge", &ClassifierSettings { loss: Arc::new(Hinge), ..kernels.clone() }, fit_two);
    for approximation in ["cholesky:tol=1e-3", "nystrom:m=20"] {
        let approximation = approximation.parse().unwrap();
        let kernels = KernelChoice { approximation, ..gaussians() };
        goes_on("approximated", &ClassifierSettings { kernels, ..settings(grid()) }, fit_two);
    }
    let abandoning = CrossValidation { abandon_hopeless: true, ..grid() };
    goes_on("hopeless abandoned", &settings(abandoning), fit_two);
    goes_on("several classes", &settings(grid()), fit_three);
    for measure in [Measure::LogLoss, Measure::BalancedError, Measure::Brier] {
        let measured = settings(CrossValidation { measure, ..grid() });
        goes_on("a measure", &measured, fit_two);
        goes_on("a measure of several classes", &measured, fit_three);
    }
    goes_on("classes with kernels", &kernels, fit_three);
}

#[test]
fn kernels_may_be_added_to_a_finished_grid() {
    let (data, folder) = (data(), tempfile::tempdir().unwrap());
    let path = folder.path().join("grid.json");
    let some = ClassifierSettings { kernels: gaussians(), ..kept(grid(), &path) };
    some.fit(&data).unwrap();
    let mut more = some.clone();
    more.kernels.sigmas = Some(Sigmas::Given(vec![0.1, 1.0, 3.0, 9.0]));
    let (fitted, left) = counted(&more, |settings| settings.fit(&data).unwrap());
    assert_eq!((fitted.report.kernels.len(), left), (4, 24));
}

#[test]
fn files_of_other_jobs_are_refused() {
    let (data, folder) = (data(), tempfile::tempdir().unwrap());
    let path = folder.path().join("grid.json");
    let made = kept(grid(), &path);
    made.fit(&data).unwrap();
    let whole = std::fs::read_to_string(&path).unwrap();
    let refusal = |settings: &ClassifierSettings, data: &Dataset| {
        let refused = settings.fit(data).unwrap_err().to_string();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
        refused.replace(&path.display().to_string(), "FILE")
    };
    let other = ClassifierSettings { seed: 2, ..made.clone() };
    assert!(
        refusal(&other, &data).starts_with("FILE: it is of a cross-validation with other folds; ")
    );
    let other = ClassifierSettings { intercept: false, ..made.clone() };
    assert_eq!(
        refusal(&other, &data),
        "FILE: it is of a cross-validation with intercept 'true', not 'false'; use another file name to start from scratch"
    );
    let lambdas = lambda_grid(1.0, 1e-2, 6).unwrap();
    let other = kept(CrossValidation { lambdas, ..grid() }, &path);
    assert!(refusal(&other, &data).contains("with other lambdas; "));
    let other = kept(CrossValidation { measure: Measure::Auc, ..grid() }, &path);
    assert!(refusal(&other, &data).contains("with measure 'error', not 'auc'"));
    let rows: Vec<usize> = (1..80).chain([0]).collect();
    assert!(refusal(&made, &data.select(&rows)).contains("with other data; "));
    let weighted = data.clone().with_weights(vec![2.0; 80]).unwrap();
    assert!(refusal(&made, &weighted).contains("with other data; "));

    let damage = |text: String| {
        std::fs::write(&path, text).unwrap();
        made.fit(&data).unwrap_err().to_string().replace(&path.display().to_string(), "FILE")
    };
    assert_eq!(
        damage(whole.replacen("\"converged\":true", "\"converged\":false", 1)),
        "FILE: it is damaged; use another file name to start from scratch"
    );
    assert_eq!(
        damage(whole[..whole.len() - 9].to_owned()),
        "FILE: it is damaged; use another file name to start from scratch"
    );
    let words = "FILE: it is no checkpoint of cross-validation";
    assert_eq!(damage("height,width\n".to_owned()), words);
    assert_eq!(damage(whole.replacen("cv", "fol", 1)), words);
}

#[test]
fn settings_that_change_a_resumed_search_are_refused() {
    let path = Path::new("grid.json");
    let kept = self::kept(grid(), path);
    let refusal = |settings: ClassifierSettings| settings.check().unwrap_err().to_string();
    let late = ClassifierSettings { time_limit: Some(Duration::from_secs(1)), ..kept.clone() };
    assert_eq!(
        refusal(late),
        "checkpoint grid.json cannot be combined with a time limit of 1s: a resumed search would \
         reach other lambdas"
    );
    let one = CrossValidation { leave_one_out: Some(LeaveOneOut::Exact), folds: None, ..grid() };
    assert!(refusal(self::kept(one, path)).contains("leave_one_out"));
    let nowhere = self::kept(grid(), Path::new("no/such/folder/grid.json"));
    assert!(
        nowhere.fit(&data()).unwrap_err().to_string().starts_with("no/such/folder/grid.json: ")
    );
}

/// A pipe would wait for its other end for ever.
#[cfg(unix)]
#[test]
fn only_regular_files_are_checkpoints() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [&pipe, Path::new("/dev/null"), folder.path()] {
        let refused = kept(grid(), path).fit(&data()).unwrap_err().to_string();
        assert_eq!(
            refused,
            format!(
                "{}: a checkpoint must be a regular file, which can be read again",
                path.display()
            )
        );
    }
}
