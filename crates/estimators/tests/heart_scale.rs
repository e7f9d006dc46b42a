//! The minima that LIBSVM and LIBLINEAR report for the data set that they are delivered with.
//!
//! Both minimise `1/2 ||w||^2 + C sum L(y f(x))`, which is our objective times `n C` at
//! `lambda = 1/(2 n C)`. The figures are what svm-train 3.24 with `-e 1e-9` and liblinear-train 2.3.0
//! with `-e 1e-10` print, to six digits behind the point; the first is also the one that the
//! documentation of LIBSVM shows.
#![cfg(feature = "kernels")]

use std::sync::Arc;

use margins_data::Dataset;
use margins_data::read::{self, Format, ReadOptions};
use margins_estimators::regularised::{KernelChoice, Regularisation, Settings};
use margins_test_support::{lambda, loss};

/// A minimum that another program found.
struct Known {
    /// The options of that program.
    options: &'static str,
    loss: &'static str,
    kernel: Option<&'static str>,
    intercept: bool,
    c: f64,
    /// The weight of the rows with label +1.
    positive: f64,
    objective: f64,
}

const fn svm(
    options: &'static str,
    kernel: Option<&'static str>,
    c: f64,
    positive: f64,
    objective: f64,
) -> Known {
    Known { options, loss: "hinge", kernel, intercept: true, c, positive, objective }
}

const fn linear(options: &'static str, loss: &'static str, c: f64, objective: f64) -> Known {
    Known { options, loss, kernel: None, intercept: false, c, positive: 1.0, objective }
}

const KNOWN: [Known; 13] = [
    svm("svm-train", Some("gaussian:sigma=0.07692307692307693"), 1.0, 1.0, 100.877_292),
    svm("svm-train -c 100 -g 0.5", Some("gaussian:sigma=0.5"), 100.0, 1.0, 221.778_853),
    svm("svm-train -w1 2", Some("gaussian:sigma=0.07692307692307693"), 1.0, 2.0, 139.494_208),
    svm(
        "svm-train -c 4 -w1 2.5",
        Some("gaussian:sigma=0.07692307692307693"),
        4.0,
        2.5,
        473.435_569,
    ),
    svm(
        "svm-train -t 1",
        Some("poly:degree=3,scale=0.07692307692307693,offset=0"),
        1.0,
        1.0,
        131.800_253,
    ),
    svm(
        "svm-train -t 1 -d 2 -g 0.25 -r 1 -c 2",
        Some("poly:degree=2,scale=0.25,offset=1"),
        2.0,
        1.0,
        130.022_685,
    ),
    svm("svm-train -t 0", None, 1.0, 1.0, 92.473_359),
    linear("liblinear-train -s 1", "squared-hinge", 1.0, 121.134_724),
    linear("liblinear-train -s 1 -c 0.01", "squared-hinge", 0.01, 1.437_143),
    linear("liblinear-train -s 3", "hinge", 1.0, 96.498_056),
    linear("liblinear-train -s 3 -c 0.01", "hinge", 0.01, 1.452_085),
    linear("liblinear-train -s 7", "logistic", 1.0, 98.226_800),
    linear("liblinear-train -s 7 -c 0.01", "logistic", 0.01, 1.506_225),
];

fn heart() -> Dataset {
    let text = include_bytes!("fixtures/heart_scale.svm");
    let options = ReadOptions { positive: Some("+1".to_owned()), ..ReadOptions::default() };
    read::dataset_from(&text[..], "heart_scale.svm", Format::Svmlight, &options).expect("a table")
}

impl Known {
    /// Compares the minimum with ours.
    fn check(&self, data: Dataset) {
        let n = data.rows() as f64;
        let weight = |&sign: &f64| if sign > 0.0 { self.positive } else { 1.0 };
        let weights = data.labels().signs().iter().map(weight).collect();
        let data = data.with_weights(weights).expect("weights");
        let kernels = KernelChoice {
            specifications: self.kernel.into_iter().map(str::to_owned).collect(),
            ..KernelChoice::default()
        };
        let regularisation = Regularisation::Single(lambda(0.5 / (n * self.c)));
        let (loss, intercept) = (Arc::from(loss(self.loss)), self.intercept);
        let mut settings =
            Settings { loss, kernels, regularisation, intercept, ..Settings::default() };
        settings.options.tolerance = 1e-9;
        let fitted =
            settings.fit(&data).unwrap_or_else(|error| panic!("{}: {error}", self.options));
        let report = &fitted.fits[0].report;
        assert!(report.converged(), "{}: {report:?}", self.options);
        let scale = n * self.c;
        let apart = (scale * report.objective - self.objective).abs();
        // The figure is rounded to six digits; both programs stop a little above the minimum.
        let close = scale * (report.duality_gap + report.rounding) + 2e-6;
        assert!(apart <= close, "{}: {apart:.1e} from {}", self.options, self.objective);
    }
}

#[test]
fn heart_scale_has_the_minima_of_libsvm_and_liblinear() {
    let data = heart();
    let classes = [data.labels().negative_class(), data.labels().positive_class()];
    assert_eq!((data.rows(), data.columns(), classes), (270, 13, ["-1", "+1"]));
    for known in &KNOWN {
        known.check(data.clone());
    }
}
