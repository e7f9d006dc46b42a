//! What LIBSVM, LIBLINEAR, kernlab and scikit-learn document of their classifiers, for every convex
//! loss: rows count by their weights, and what changes nothing but names or units changes nothing.
//!
//! Two fits of the same minimum agree within the sum of their gaps, which is the tolerance of all
//! comparisons here.

use std::sync::Arc;

use margins_data::{Dataset, Design, Labels};
use margins_estimators::regularised::{ClassifierSettings, KernelChoice, Regularisation};
use margins_test_support::{CONVEX_LOSSES, lambda, loss};

const ROWS: usize = 24;

/// Rows of two classes that overlap, with weights.
#[derive(Clone)]
struct Table {
    rows: Vec<Vec<f64>>,
    signs: Vec<f64>,
    weights: Vec<f64>,
}

/// The minimum of an objective: a value at most `gap` above it.
#[derive(Debug, Clone, Copy)]
struct Minimum {
    value: f64,
    gap: f64,
}

impl Minimum {
    /// Returns the minimum of the objective times a factor.
    fn times(self, factor: f64) -> Self {
        Minimum { value: factor * self.value, gap: factor * self.gap }
    }
}

fn table() -> Table {
    let rows = (0..ROWS).map(|i| {
        let (t, side) = (i as f64, if i % 2 == 0 { 0.7 } else { -0.7 });
        vec![side + (1.7 * t).sin(), (2.3 * t).cos(), 0.4 * side + (0.9 * t).sin()]
    });
    let signs = (0..ROWS).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 });
    Table { rows: rows.collect(), signs: signs.collect(), weights: vec![1.0; ROWS] }
}

impl Table {
    /// Returns the table with its rows changed.
    fn with_rows(&self, change: impl Fn(&[f64]) -> Vec<f64>) -> Self {
        Table { rows: self.rows.iter().map(|row| change(row)).collect(), ..self.clone() }
    }

    /// Returns some of the rows, in this order.
    fn select(&self, order: &[usize]) -> Self {
        let numbers = |of: &[f64]| order.iter().map(|&i| of[i]).collect();
        Table {
            rows: order.iter().map(|&i| self.rows[i].clone()).collect(),
            signs: numbers(&self.signs),
            weights: numbers(&self.weights),
        }
    }

    fn with_weights(&self, weight: impl Fn(usize) -> f64) -> Self {
        Table { weights: (0..self.rows.len()).map(weight).collect(), ..self.clone() }
    }

    fn data(&self) -> Dataset {
        let labels = Labels::from_signs(self.signs.clone()).expect("two classes");
        let design = Design::from_rows(&self.rows).expect("finite rows");
        let data = Dataset::new(design, labels).expect("as many labels");
        data.with_weights(self.weights.clone()).expect("weights")
    }
}

/// A problem whose minimum is computed: a loss, linear or with a kernel.
#[derive(Clone, Copy)]
struct Problem {
    loss: &'static str,
    /// The width of a Gaussian kernel; none for linear functions.
    sigma: Option<f64>,
    standardize: bool,
}

impl Problem {
    /// Returns the problems of all convex losses.
    fn all() -> impl Iterator<Item = Problem> {
        let widths = [None, Some(0.3)];
        let problems = CONVEX_LOSSES.into_iter().flat_map(move |name| {
            widths.map(|sigma| Problem { loss: name, sigma, standardize: false })
        });
        // Kernels take the hinge and losses without a kink.
        problems.filter(|problem| {
            let is_taken = problem.loss == "hinge" || loss(problem.loss).is_differentiable();
            problem.sigma.is_none() || is_taken
        })
    }

    fn linear() -> impl Iterator<Item = Problem> {
        Problem::all().filter(|problem| problem.sigma.is_none())
    }

    fn minimum(self, table: &Table, at: f64) -> Minimum {
        let specifications = self.sigma.map(|sigma| format!("gaussian:sigma={sigma:?}"));
        let kernels = KernelChoice {
            specifications: specifications.into_iter().collect(),
            ..KernelChoice::default()
        };
        let regularisation = Regularisation::Single(lambda(at));
        let loss = Arc::from(loss(self.loss));
        let mut settings =
            ClassifierSettings { loss, kernels, regularisation, ..ClassifierSettings::default() };
        settings.options.tolerance = 1e-9;
        settings.standardize = self.standardize;
        let fitted = settings.fit(&table.data()).unwrap_or_else(|error| {
            panic!("{} with sigma {:?}: {error}", self.loss, self.sigma);
        });
        let report = &fitted.fits[0].report;
        assert!(report.converged(), "{} with sigma {:?}: {report:?}", self.loss, self.sigma);
        // Rounding of sums may add to either side what the report says.
        Minimum { value: report.objective, gap: report.duality_gap + 2.0 * report.rounding }
    }

    fn assert_same(self, one: Minimum, other: Minimum, what: &str) {
        let apart = (one.value - other.value).abs();
        // The factors of lambda and of the weights round too.
        let rounding = 16.0 * f64::EPSILON * one.value.abs();
        assert!(
            apart <= one.gap.max(0.0) + other.gap.max(0.0) + rounding,
            "{what}, {} with sigma {:?}: {one:?} and {other:?}",
            self.loss,
            self.sigma,
        );
    }
}

const LAMBDAS: [f64; 2] = [0.1, 1e-3];

/// Compares the minima for two tables at related lambdas.
fn compare(
    problems: impl Iterator<Item = Problem>,
    what: &str,
    one: &Table,
    other: &Table,
    lambda: impl Fn(f64) -> f64,
    factor: f64,
) {
    for problem in problems {
        for at in LAMBDAS {
            let expected = problem.minimum(one, at);
            problem.assert_same(expected, problem.minimum(other, lambda(at)).times(factor), what);
        }
    }
}

#[test]
fn the_order_and_the_signs_of_features_do_not_matter() {
    let table = table();
    let other = table.with_rows(|row| vec![row[2], -row[0], row[1]]);
    compare(Problem::all(), "features in another order", &table, &other, |at| at, 1.0);
}

#[test]
fn rotations_do_not_matter() {
    let (sine, cosine) = 0.7_f64.sin_cos();
    let table = table();
    let turn = |row: &[f64]| {
        vec![cosine * row[0] - sine * row[1], sine * row[0] + cosine * row[1], row[2]]
    };
    compare(Problem::all(), "rotated rows", &table, &table.with_rows(turn), |at| at, 1.0);
}

#[test]
fn the_origin_does_not_matter_beside_an_intercept() {
    let table = table();
    let other = table.with_rows(|row| vec![row[0] + 2.0, row[1] - 1.0, row[2] + 0.5]);
    compare(Problem::all(), "shifted rows", &table, &other, |at| at, 1.0);
}

#[test]
fn features_in_other_units_need_another_lambda() {
    let table = table();
    let other = table.with_rows(|row| row.iter().map(|x| 8.0 * x).collect());
    compare(Problem::linear(), "rows times 8", &table, &other, |at| 64.0 * at, 1.0);
    for problem in Problem::all().filter(|problem| problem.sigma.is_some()) {
        let narrow = Problem { sigma: problem.sigma.map(|sigma| sigma / 64.0), ..problem };
        for at in LAMBDAS {
            let (one, same) = (problem.minimum(&table, at), narrow.minimum(&other, at));
            problem.assert_same(one, same, "rows times 8 and a kernel 8 times as wide");
        }
    }
}

#[test]
fn a_feature_twice_is_one_of_greater_length() {
    let table = table();
    let twice = table.with_rows(|row| vec![row[0], row[0], row[1], row[2]]);
    let longer = table.with_rows(|row| vec![2.0_f64.sqrt() * row[0], row[1], row[2]]);
    compare(Problem::all(), "a feature twice", &twice, &longer, |at| at, 1.0);
}

#[test]
fn a_feature_without_values_does_not_matter() {
    let table = table();
    let other = table.with_rows(|row| vec![row[0], 0.0, row[1], row[2]]);
    compare(Problem::all(), "a feature of zeros", &table, &other, |at| at, 1.0);
}

/// The objective divides by the number of rows, not by the sum of weights.
#[test]
fn whole_weights_are_repetitions() {
    let weight = |i: usize| i % 3;
    let weighted = table().with_weights(|i| weight(i) as f64);
    let order: Vec<usize> = (0..ROWS).flat_map(|i| vec![i; weight(i)]).collect();
    let repeated = table().select(&order);
    let share = order.len() as f64 / ROWS as f64;
    for standardize in [false, true] {
        let problems = Problem::all().map(|problem| Problem { standardize, ..problem });
        compare(problems, "weights", &weighted, &repeated, |at| at / share, share);
    }
}

/// The six points of the documentation of scikit-learn: with C = 1 the middle points of both classes
/// bear the margin, and `w = (1/2, 1/2)`, `b = 0`.
#[test]
fn six_points_have_the_documented_machine() {
    let rows = [[-2.0, -1.0], [-1.0, -1.0], [-1.0, -2.0], [1.0, 1.0], [1.0, 2.0], [2.0, 1.0]];
    let table = Table {
        rows: rows.iter().map(|row| row.to_vec()).collect(),
        signs: vec![-1.0, -1.0, -1.0, 1.0, 1.0, 1.0],
        weights: vec![1.0; rows.len()],
    };
    // C = 1/(2 n lambda).
    let at = 1.0 / (2.0 * rows.len() as f64);
    let problem = Problem { loss: "hinge", sigma: None, standardize: false };
    let documented = Minimum { value: at * 0.5, gap: 0.0 };
    problem.assert_same(problem.minimum(&table, at), documented, "six points");
}
