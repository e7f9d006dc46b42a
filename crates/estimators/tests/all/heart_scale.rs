//! The minima that LIBSVM and LIBLINEAR report for the data set that they are delivered with.
//!
//! Both minimise `1/2 ||w||^2 + C sum L(y f(x))`, which is our objective times `n C` at
//! `lambda = 1/(2 n C)`. The figures are what svm-train 3.24 with `-e 1e-9` and liblinear-train 2.3.0
//! with `-e 1e-10` print, to six digits behind the point; the first is also the one that the
//! documentation of LIBSVM shows. On the same table every solver that takes all convex losses has what
//! scikit-learn documents of weights, of rows that come twice, of their order and of units.

use std::sync::Arc;

use margins_data::read::{self, Format, ReadOptions};
use margins_data::{Dataset, Design, Sample};
use margins_estimators::regularised::{ClassifierSettings, KernelChoice, Regularisation};
use margins_optim::{Report, Solver};
use margins_test_support::{SOLVERS, lambda, loss, losses_of};

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

const KNOWN: [Known; 12] = [
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
    linear("liblinear-train -s 3 -c 0.01", "hinge", 0.01, 1.452_085),
    linear("liblinear-train -s 7", "logistic", 1.0, 98.226_800),
    linear("liblinear-train -s 7 -c 0.01", "logistic", 0.01, 1.506_225),
];

fn heart() -> Dataset {
    let text = include_bytes!("../fixtures/heart_scale.svm");
    let options = ReadOptions { positive: Some("+1".to_owned()), ..ReadOptions::default() };
    read::dataset_from(&text[..], "heart_scale.svm", Format::Svmlight, &options).expect("a table")
}

/// What is minimised, and by which solver.
struct Problem {
    loss: &'static str,
    kernel: Option<&'static str>,
    intercept: bool,
    solver: Solver,
    tolerance: f64,
}

impl Problem {
    /// Returns the evidence of the fit at a lambda.
    fn fit(&self, data: &Dataset, at: f64) -> Report {
        let kernels = KernelChoice {
            specifications: self.kernel.into_iter().map(str::to_owned).collect(),
            ..KernelChoice::default()
        };
        let regularisation = Regularisation::Single(lambda(at));
        let (loss, intercept) = (Arc::from(loss(self.loss)), self.intercept);
        let mut settings = ClassifierSettings {
            loss,
            kernels,
            regularisation,
            intercept,
            ..ClassifierSettings::default()
        };
        settings.options.tolerance = self.tolerance;
        settings.options.solver = self.solver;
        let what = format!("{} by {:?}", self.loss, self.solver);
        let fitted = settings.fit(data).unwrap_or_else(|error| panic!("{what}: {error}"));
        let report = fitted.fits[0].report.clone();
        assert!(report.converged(), "{what}: {report:?}");
        report
    }
}

impl Known {
    /// Returns what rounding to single precision, in which svm-train alone keeps the values of the
    /// kernel, makes of its minimum: `1/2 sum a_i a_j K_ij`, with errors of either sign, is off by
    /// about `1/2 u max |K| sum a_i^2`, where `a_i` is at most C times the weight, `sum a_i` at
    /// most twice the minimum, and K at most 19 for features from -1 to 1.
    fn single_precision(&self) -> f64 {
        let unit = f64::from(f32::EPSILON) / 2.0;
        if self.intercept { 19.0 * unit * self.c * self.positive * self.objective } else { 0.0 }
    }

    /// Compares the minimum with ours.
    fn check(&self, data: Dataset) {
        let n = data.rows() as f64;
        let weight = |&sign: &f64| if sign > 0.0 { self.positive } else { 1.0 };
        let weights = data.labels().signs().iter().map(weight).collect();
        let data = data.with_weights(weights).expect("weights");
        let Known { loss, kernel, intercept, .. } = *self;
        let problem = Problem { loss, kernel, intercept, solver: Solver::Auto, tolerance: 1e-9 };
        let report = problem.fit(&data, 0.5 / (n * self.c));
        let scale = n * self.c;
        let apart = (scale * report.objective - self.objective).abs();
        // A dual variable, from 0 to C times its weight, that violates optimality by 1e-9 can gain that
        // times its range; and the figure is rounded.
        let theirs = 1e-9 * scale * self.positive + 0.5e-6 + self.single_precision();
        let close = scale * (report.duality_gap + report.rounding) + theirs;
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

/// A table that has the same minimum as another one at a related lambda.
struct Relative {
    what: &'static str,
    data: Dataset,
    /// What lambda is multiplied by for the same minimum.
    lambda: f64,
    /// What the minimum is multiplied by to be that of the first table.
    factor: f64,
}

/// Returns the relatives of a table, with the table itself for each.
fn relatives(data: &Dataset) -> [(Dataset, Relative); 5] {
    let n = data.rows();
    let of = |what, data, lambda, factor| Relative { what, data, lambda, factor };
    let order: Vec<usize> = (0..n).map(|i| (7 * i + 3) % n).collect();
    let twice: Vec<usize> = (0..2 * n).map(|i| i / 2).collect();
    let repeated: Vec<usize> = (0..n).flat_map(|i| vec![i; i % 3]).collect();
    let share = repeated.len() as f64 / n as f64;
    let weights = (0..n).map(|i| (i % 3) as f64).collect();
    let weighted = data.clone().with_weights(weights).expect("weights");
    // The feature of a column goes to the place told, times a factor.
    let moved = |place: fn(usize, usize) -> usize, factor: f64| {
        let p = data.columns();
        let row = |sample: Sample<'_>| {
            let mut row = vec![0.0; p];
            sample.for_each(|column, x| row[place(column, p)] = factor * x);
            row
        };
        let rows: Vec<Vec<f64>> = data.design().samples().map(row).collect();
        let design = Design::from_rows(&rows).expect("finite rows");
        Dataset::new(design, data.labels().clone()).expect("as many labels")
    };
    let (longer, turned) = (moved(|column, _| column, 8.0), moved(|column, p| p - 1 - column, 1.0));
    [
        (data.clone(), of("another order", data.select(&order), 1.0, 1.0)),
        (data.clone(), of("every row twice", data.select(&twice), 1.0, 1.0)),
        // The objective divides by the number of rows, not by the sum of weights.
        (weighted, of("weights as repetitions", data.select(&repeated), 1.0 / share, share)),
        (data.clone(), of("features times 8", longer, 64.0, 1.0)),
        (data.clone(), of("features in another order", turned, 1.0, 1.0)),
    ]
}

/// Two fits of one minimum agree within the sum of their gaps.
#[test]
fn every_solver_of_all_losses_has_what_other_programs_document() {
    const AT: f64 = 0.01;
    let relatives = relatives(&heart());
    for solver in SOLVERS.into_iter().chain([Solver::Auto]) {
        for loss in losses_of(solver) {
            let problem = Problem { loss, kernel: None, intercept: true, solver, tolerance: 1e-6 };
            for (data, Relative { what, data: other, lambda, factor }) in &relatives {
                let (one, other) = (problem.fit(data, AT), problem.fit(other, lambda * AT));
                let apart = (one.objective - factor * other.objective).abs();
                let gap = |report: &Report| report.duality_gap.max(0.0) + 2.0 * report.rounding;
                let close =
                    gap(&one) + factor * gap(&other) + 16.0 * f64::EPSILON * one.objective.abs();
                assert!(apart <= close, "{what}, {loss} by {solver:?}: {one:?} and {other:?}");
            }
        }
    }
}
