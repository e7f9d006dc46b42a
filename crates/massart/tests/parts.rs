//! Samples that are read in parts: the learners find what they find in memory.

use std::sync::Arc;

use margins_data::Design;
use margins_data::generate::{Adversary, MarginHalfspace, MassartDistribution};
use margins_massart::cutting_planes::Method;
use margins_massart::{
    CutOptions, CutPlan, Error, Learned, Plan, Problem, Projection, SamplesInParts, SeePart,
    SphereSample, Target, learn, learn_adaptively, learn_adaptively_from_parts, learn_by_cuts,
    learn_by_cuts_from_parts, learn_by_fresh_cuts, learn_by_fresh_cuts_from_parts,
    learn_by_projected_cuts, learn_by_tested_cuts, learn_by_tested_cuts_from_parts,
    learn_from_parts,
};
use margins_optim::method::Limits;

const ROWS: usize = 900;
const COLUMNS: usize = 6;

/// Samples in parts of unlike sizes, of which at most this many rows may be in memory.
struct Parts {
    design: Design,
    signs: Arc<[f64]>,
    weights: Arc<[f64]>,
    most_rows: usize,
    divisor: Option<f64>,
    /// The number of times that features were read.
    reads: usize,
}

impl SamplesInParts for Parts {
    fn columns(&self) -> usize {
        self.design.columns()
    }

    fn signs(&self) -> Arc<[f64]> {
        Arc::clone(&self.signs)
    }

    fn weights(&self) -> Arc<[f64]> {
        Arc::clone(&self.weights)
    }

    fn most_rows(&self) -> usize {
        self.most_rows
    }

    fn divisor(&self) -> Option<f64> {
        self.divisor
    }

    fn select(&mut self, rows: &[usize]) -> Result<Design, Error> {
        assert!(rows.len() <= self.most_rows && rows.is_sorted());
        self.reads += 1;
        Ok(self.design.select(rows))
    }

    fn each(&mut self, see: &mut SeePart<'_>) -> Result<(), Error> {
        let bounds = [0, 1, 250, 251, 700, ROWS];
        self.reads += 1;
        bounds.windows(2).try_for_each(|ends| {
            see(ends[0], &self.design.select(&(ends[0]..ends[1]).collect::<Vec<_>>()))
        })
    }
}

/// Returns draws of a halfspace with noise, of unlike weights if asked for.
fn parts(weighted: bool, most_rows: usize) -> Parts {
    let halfspace = MarginHalfspace::new(COLUMNS, 0.2, 1).expect("a halfspace");
    let points = halfspace.points(600, 1).expect("points");
    let noisy =
        MassartDistribution::of_halfspace(&halfspace, points, &Adversary::NearBoundary, 0.2);
    let noisy = noisy.expect("noise");
    let draws = noisy.draw(ROWS, 3);
    let weight = |i: usize| if weighted { (i % 4) as f64 } else { 1.0 };
    Parts {
        design: noisy.design().select(&draws.rows),
        signs: draws.signs.into(),
        weights: (0..ROWS).map(weight).collect(),
        most_rows,
        divisor: None,
        reads: 0,
    }
}

impl Parts {
    fn in_memory(&self) -> SphereSample<'_> {
        let sample = SphereSample::scaled(&self.design, &self.signs, self.divisor).expect("signs");
        sample.with_weights(self.weights.to_vec()).expect("weights")
    }
}

/// Two selections of the same candidates may multiply different numbers of rows of weight zero.
fn assert_same(found: Learned, expected: &Learned) {
    let products = expected.selected.products;
    let selected = margins_massart::Selected { products, ..found.selected };
    assert_eq!(Learned { selected, ..found }, *expected);
}

#[test]
fn steps_are_those_in_memory_however_few_rows_it_holds() {
    let problem = Problem::new(0.2, 0.2).expect("a problem");
    // Several passes over the rows, and less than one.
    for steps in [3000, 400] {
        let plan = Plan { steps, selection: 100, ..Plan::practical(&problem) };
        for weighted in [false, true] {
            let whole = parts(weighted, ROWS);
            let limits = Limits::default();
            let expected = learn(&problem, &plan, &whole.in_memory(), 7, &limits).expect("a fit");
            for most in [ROWS, 333, 100] {
                let mut few = parts(weighted, most);
                let found = learn_from_parts(&problem, &plan, &mut few, 7, &limits);
                assert_same(found.expect("a fit"), &expected);
                assert_eq!(few.reads, steps.div_ceil(most) + 1);
            }
        }
    }
}

#[test]
fn all_noise_rates_and_margins_are_tried_as_in_memory() {
    let target = Target::new(0.2, 0.1).expect("a target");
    let limits = Limits::default();
    for weighted in [false, true] {
        let whole = parts(weighted, ROWS);
        let expected = learn_adaptively(target, &whole.in_memory(), 2, &limits).expect("a fit");
        let mut few = parts(weighted, 200);
        let found = learn_adaptively_from_parts(target, &mut few, 2, &limits).expect("a fit");
        assert_eq!((found.noise, found.margin), (expected.noise, expected.margin));
        assert_same(found.learned, &expected.learned);
        // Fewer rows in memory than a fifth: fewer are held out.
        let mut fewer = parts(weighted, 50);
        let found = learn_adaptively_from_parts(target, &mut fewer, 2, &limits).expect("a fit");
        assert_eq!(found.learned.held_out.rows, 50);
    }
}

#[test]
fn cutting_planes_are_those_in_memory() {
    let problem = Problem::new(0.1, 0.1).expect("a problem");
    let options = CutOptions::default();
    let mut few = parts(true, 10);
    let expected = learn_by_cuts(&problem, &options, &few.in_memory());
    let found = learn_by_cuts_from_parts(&problem, &options, &mut few, None).expect("a fit");
    assert_eq!((found.end, found.calls, few.reads), (expected.end, expected.calls, found.calls));
    assert!((found.error - expected.error).abs() <= 1e-12, "{found:?} {expected:?}");
    let near =
        |one: &[f64], other: &[f64]| one.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(near(&found.classifier.coef, &expected.classifier.coef), "{found:?} {expected:?}");

    let map = Projection::new(COLUMNS, 3, 1).expect("a map");
    let expected = learn_by_projected_cuts(&problem, &options, &few.in_memory(), &map);
    let expected = expected.expect("a fit");
    let found = learn_by_cuts_from_parts(&problem, &options, &mut few, Some(&map)).expect("a fit");
    assert_eq!((found.end, found.calls), (expected.end, expected.calls));
    assert!(near(&found.classifier.coef, &expected.classifier.coef), "{found:?} {expected:?}");
}

/// Rows that are held out, and all rows divided by one number, are in parts what they are in memory.
#[test]
fn tested_cuts_and_one_divisor_are_those_in_memory() {
    let problem = Problem::new(0.1, 0.1).expect("a problem");
    let options = CutOptions::default();
    let map = Projection::new(COLUMNS, 3, 1).expect("a map");
    for divisor in [None, Some(2.0)] {
        for map in [None, Some(&map)] {
            let mut few = Parts { divisor, ..parts(true, 200) };
            let expected = learn_by_tested_cuts(&problem, &options, &few.in_memory(), map, 3);
            let (expected, held_out) = expected.expect("a fit");
            let found = learn_by_tested_cuts_from_parts(&problem, &options, &mut few, map, 3);
            let (found, others) = found.expect("a fit");
            assert_eq!((found.end, found.calls, others), (expected.end, expected.calls, held_out));
            assert!(held_out.rows <= 180 && held_out.bound > held_out.error, "{held_out:?}");
        }
    }
}

/// Each call has the same rows of its own as in memory, of which a pass shows some.
#[test]
fn fresh_rows_are_those_in_memory() {
    let problem = Problem::new(0.1, 0.1).expect("a problem");
    let limits = Limits::default();
    for (weighted, rows_per_call) in [(false, 100), (true, 100), (true, ROWS)] {
        let plan = CutPlan::new(&problem, COLUMNS, Method::Ellipsoid, Some(12));
        let plan = CutPlan { rows_per_call, ..plan };
        let mut few = parts(weighted, 200);
        let expected = learn_by_fresh_cuts(&problem, &plan, &few.in_memory(), 3, &limits);
        let (expected, held_out) = expected.expect("a fit");
        let found = learn_by_fresh_cuts_from_parts(&problem, &plan, &mut few, 3, &limits);
        let (found, others) = found.expect("a fit");
        assert_eq!((found.end, found.calls, others), (expected.end, expected.calls, held_out));
        assert!((found.error - expected.error).abs() <= 1e-12, "{found:?} {expected:?}");
        assert_eq!(few.reads, found.calls + 1);
    }
}

/// A row that cannot be scaled is named by its number among all, whatever learner meets it.
#[test]
fn rows_that_cannot_be_scaled_are_named() {
    let problem = Problem::new(0.2, 0.2).expect("a problem");
    let mut bad = parts(false, 100);
    let mut values = bad.design.to_dense();
    values.row_mut(613).fill(1e-320);
    bad.design = Design::dense(&values).expect("finite");
    let limits = Limits::default();
    let plan = Plan { steps: 5000, ..Plan::practical(&problem) };
    let messages = [
        learn_from_parts(&problem, &plan, &mut bad, 1, &limits).expect_err("refused").to_string(),
        learn_by_cuts_from_parts(&problem, &CutOptions::default(), &mut bad, None)
            .expect_err("refused")
            .to_string(),
    ];
    for message in messages {
        assert!(message.starts_with("row 613: the norm is "), "{message}");
    }
}
