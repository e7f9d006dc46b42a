//! Small tables of the UCI repository on which the papers measure their classifiers: on each of them
//! no solver contradicts another one, for every convex loss, linear and with a kernel of the width
//! that kernlab's rule gives.

use std::sync::Arc;

use margins_data::read::{self, Format, ReadOptions};
use margins_data::{Dataset, Standardizer};
use margins_estimators::regularised::{ClassifierSettings, KernelChoice, Regularisation};
use margins_kernels::SigmaRange;
use margins_optim::method::SpaceKind;
use margins_optim::{Report, Solver};
use margins_test_support::{CONVEX_LOSSES, SOLVERS, lambda, loss, losses_of};

/// A table with its numbers of rows and features, and of the rows with label 1.
struct Table {
    name: &'static str,
    bytes: &'static [u8],
    shape: [usize; 3],
}

const TABLES: [Table; 5] = [
    Table { name: "spect", bytes: include_bytes!("../fixtures/spect.csv.gz"), shape: [80, 22, 40] },
    Table {
        name: "hepatitis",
        bytes: include_bytes!("../fixtures/hepatitis.csv.gz"),
        shape: [80, 19, 13],
    },
    Table { name: "bupa", bytes: include_bytes!("../fixtures/bupa.csv.gz"), shape: [345, 6, 200] },
    Table {
        name: "heart_cleveland",
        bytes: include_bytes!("../fixtures/heart_cleveland.csv.gz"),
        shape: [297, 13, 137],
    },
    Table {
        name: "heart_hungarian",
        bytes: include_bytes!("../fixtures/heart_hungarian.csv.gz"),
        shape: [261, 10, 98],
    },
];

impl Table {
    /// Returns the table with features of mean 0 and deviation 1.
    fn data(&self) -> Dataset {
        let data = read::dataset_from(self.bytes, self.name, Format::Csv, &ReadOptions::default());
        let data = data.unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let positive = data.labels().signs().iter().filter(|&&sign| sign > 0.0).count();
        assert_eq!([data.rows(), data.columns(), positive], self.shape, "{}", self.name);
        let standardizer = Standardizer::fit(data.design(), None);
        let design = standardizer.center_and_scale(data.design()).expect("dense rows");
        Dataset::new(design, data.labels().clone()).expect("as many labels")
    }
}

/// Returns the evidence of a fit that may end early, and must not for the solver that is chosen
/// where none is named.
fn fit(data: &Dataset, name: &str, kernel: Option<&str>, solver: Solver, at: f64) -> Report {
    let kernels = KernelChoice {
        specifications: kernel.into_iter().map(str::to_owned).collect(),
        ..KernelChoice::default()
    };
    let regularisation = Regularisation::Single(lambda(at));
    let loss = Arc::from(loss(name));
    let mut settings =
        ClassifierSettings { loss, kernels, regularisation, ..ClassifierSettings::default() };
    settings.options.solver = solver;
    settings.options.max_iterations = (solver != Solver::Auto).then_some(50);
    let fitted = settings.fit(data).unwrap_or_else(|error| panic!("{name} by {solver:?}: {error}"));
    let report = fitted.fits[0].report.clone();
    assert!(report.converged() || solver != Solver::Auto, "{name}: {report:?}");
    report
}

/// No solver has an objective below the lower bound of any other.
fn assert_no_contradiction(what: &str, reports: &[(Solver, Report)]) {
    for (one, lower) in reports {
        for (other, upper) in reports {
            let rounding = 2.0 * (lower.rounding + upper.rounding);
            assert!(
                lower.dual_objective <= upper.objective + rounding,
                "{what}: {one:?} and {other:?} contradict each other: {lower:?} and {upper:?}"
            );
        }
    }
}

const LAMBDAS: [f64; 2] = [0.1, 1e-4];

#[test]
fn solvers_agree_on_linear_classifiers() {
    for table in &TABLES {
        let data = table.data();
        for name in CONVEX_LOSSES {
            let solvers = SOLVERS.into_iter().filter(|&solver| losses_of(solver).contains(&name));
            let solvers: Vec<Solver> = solvers.chain([Solver::Auto]).collect();
            for at in LAMBDAS {
                let of = |&solver: &Solver| (solver, fit(&data, name, None, solver, at));
                let reports: Vec<_> = solvers.iter().map(of).collect();
                let what = format!("{}, {name} at {at}", table.name);
                assert_no_contradiction(&what, &reports);
            }
        }
    }
}

#[test]
fn solvers_agree_on_kernels_of_the_width_of_kernlab() {
    // A fit takes the cube of the rows.
    for table in TABLES.iter().filter(|table| table.shape[0] < 100) {
        let data = table.data();
        let sigma = SigmaRange::of(data.design(), None, 1).expect("rows that differ").middle();
        let kernel = format!("gaussian:sigma={sigma:?}");
        // Kernels take the hinge and losses without a kink.
        let is_taken = |name: &&str| *name == "hinge" || loss(name).is_differentiable();
        for name in CONVEX_LOSSES.into_iter().filter(is_taken) {
            let takes = |solver: &Solver| {
                solver.takes(SpaceKind::InnerProducts) && losses_of(*solver).contains(&name)
            };
            let solvers: Vec<Solver> =
                SOLVERS.into_iter().filter(takes).chain([Solver::Auto]).collect();
            for at in LAMBDAS {
                let of = |&solver: &Solver| (solver, fit(&data, name, Some(&kernel), solver, at));
                let reports: Vec<_> = solvers.iter().map(of).collect();
                let what = format!("{}, {name} with {kernel} at {at}", table.name);
                assert_no_contradiction(&what, &reports);
            }
        }
    }
}
