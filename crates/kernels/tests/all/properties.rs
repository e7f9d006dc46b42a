//! What holds for every fit, over the list of spaces x methods x losses.
//!
//! F is 2 lambda strongly convex in the function f that the penalty acts on, also after minimisation
//! over all else, so that `lambda ||f - f*||^2 <= F - F* <= gap`: the values of two fits to one
//! problem at x differ by at most `sqrt(k(x, x))` times the sum of their `sqrt(gap/lambda)`.

use std::sync::Arc;

use margins_losses::MarginLoss;
use margins_optim::{Lambda, Solver, Status};
use margins_test_support::{CONVEX_LOSSES, lambda, loss};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::spaces::{Functions, Problem, SPACES, Solution, Space};

/// Problems with whole weights, some of them 0, and with fewer than a third as many features as
/// samples, so that a matrix of their products has low rank.
///
/// Samples are in pairs of both classes which share the last feature, and a weight of 0. No loss falls
/// for ever along that feature, if it is free, or along an intercept. Classes differ so much in the first
/// feature that the leaky ReLU has a minimum below its value at 0, in most of the problems.
fn problems() -> impl Strategy<Value = Problem> {
    (6usize..8, 1usize..3, 1u32..9, any::<bool>()).prop_flat_map(|(half, p, zeros, intercept)| {
        let entry = prop_oneof![zeros => Just(0.0), 3 => -1.5..1.5f64];
        let sample = (vec(entry, p), 1u8..4);
        let pair =
            ((sample.clone(), sample), -1.5..1.5f64, prop_oneof![1 => Just(0), 3 => Just(1)]);
        vec(pair, half).prop_map(move |mut pairs| {
            pairs[0].2 = 1;
            let (mut rows, mut signs, mut weights) = (Vec::new(), Vec::new(), Vec::new());
            for ((one, other), last, counts) in pairs {
                for ((mut x, weight), y) in [(one, 1.0), (other, -1.0)] {
                    x[0] += y;
                    x.push(last);
                    rows.push(x);
                    signs.push(y);
                    weights.push(f64::from(weight * counts));
                }
            }
            let (loss, tolerance) = (Arc::from(loss("logistic")), 1e-7);
            Problem { rows, signs, weights, intercept, loss, tolerance }
        })
    })
}

fn any_lambda() -> impl Strategy<Value = Lambda> {
    (-2.5..0.0f64).prop_map(|exponent| lambda(10f64.powf(exponent)))
}

/// Calls `check` with every method of a space, and its name.
fn for_each_method(space: &Space, loss: &dyn MarginLoss, mut check: impl FnMut(Solver, &str)) {
    for (name, solver) in Solver::NAMED {
        if space.methods.take(solver, loss) {
            check(solver, &format!("{}, {name}, {}", space.name, loss.specification()));
        }
    }
}

/// Calls `check` with the problem for every loss, with an intercept and without in turn.
fn for_each_loss(problem: &Problem, mut check: impl FnMut(&Problem)) {
    for (k, name) in CONVEX_LOSSES.into_iter().enumerate() {
        let intercept = problem.intercept == k.is_multiple_of(2);
        check(&Problem { intercept, loss: Arc::from(loss(name)), ..problem.clone() });
    }
}

fn assert_certified(problem: &Problem, solution: &Solution, case: &str) {
    let Solution { primal, rounding, report, intercept, .. } = solution;
    // The minimum of the leaky ReLU may be 0, of which no tolerance is a share.
    let is_zero = report.objective.abs().max(report.duality_gap) <= 1e-14;
    let is_certified = report.converged() && report.relative_gap <= problem.tolerance;
    let is_seen = is_certified || is_zero && report.status == Status::RoundingLimit;
    assert!(is_seen, "{case}: {report:?}");
    let apart = (report.objective - primal).abs();
    assert!(apart <= rounding + report.rounding, "{case}: F is {primal}: {report:?}");
    assert!(report.dual_objective <= primal + rounding, "{case}: F is {primal}: {report:?}");
    assert!(problem.intercept || *intercept == 0.0, "{case}: {intercept}");
}

/// Another problem that has the same solutions.
struct Equivalent {
    problem: Problem,
    /// The sample of the first problem that a sample of this one is.
    samples: Vec<usize>,
    /// The sign by which scores differ.
    sign: f64,
    /// The objective of the first problem as a multiple of that of this one, and of its lambda.
    factor: f64,
}

/// Fails unless two certified solutions can both be right.
fn assert_same(one: &Solution, other: &Solution, how: &Equivalent, k: Functions, case: &str) {
    let Equivalent { problem, samples, sign, factor } = how;
    // Landmarks stand for the kernel to its rounding: some 1e-12 of F.
    let slack = one.rounding + factor * other.rounding + 1e-11 * one.primal.abs().max(1.0);
    let (value, bound) = (factor * other.primal, factor * other.report.dual_objective);
    assert!(one.report.dual_objective <= value + slack, "{case}: {value} {one:?} {other:?}");
    assert!(bound <= one.primal + slack, "{case}: {bound} {one:?} {other:?}");
    let radius = |of: &Solution| ((of.report.duality_gap + slack) / of.lambda).sqrt();
    let most = radius(one) + radius(other);
    for (i, x) in problem.rows.iter().enumerate() {
        let apart = (one.values[samples[i]] - sign * other.values[i]).abs();
        let most = most * k.kernel(x, x).sqrt() + 1e-11;
        assert!(apart <= most, "{case}: row {i}: {apart:e} > {most:e}");
    }
}

/// The same problem.
fn itself(problem: &Problem) -> Equivalent {
    let samples = (0..problem.rows.len()).collect();
    Equivalent { problem: problem.clone(), samples, sign: 1.0, factor: 1.0 }
}

fn select(problem: &Problem, samples: &[usize]) -> Problem {
    Problem {
        rows: samples.iter().map(|&i| problem.rows[i].clone()).collect(),
        signs: samples.iter().map(|&i| problem.signs[i]).collect(),
        weights: samples.iter().map(|&i| problem.weights[i]).collect(),
        ..problem.clone()
    }
}

/// Fails unless all spaces, methods and losses have the same solutions for both problems.
fn assert_equivalent(problem: &Problem, at: Lambda, to: impl Fn(&Problem) -> Equivalent) {
    for_each_loss(problem, |problem| {
        let how = to(problem);
        let also_at = lambda(at.get() / how.factor);
        for space in &SPACES {
            for_each_method(space, &*problem.loss, |solver, case| {
                let one = &space.path(problem, solver, &[at]).expect(case)[0];
                let other = &space.path(&how.problem, solver, &[also_at]).expect(case)[0];
                assert_certified(problem, one, case);
                assert_certified(&how.problem, other, case);
                assert_same(one, other, &how, space.functions, case);
            });
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 20, ..ProptestConfig::with_cases(2) })]

    /// Every fit is certified for F by its definition, with an intercept and without, and all spaces and
    /// methods agree: no lower bound, of a fit to any tolerance, is above any value.
    #[test]
    fn fits_are_certified_and_agree(problem in problems(), at in any_lambda()) {
        for intercept in [true, false] {
            for_each_loss(&Problem { intercept, ..problem.clone() }, |problem| {
                for functions in [Functions::Linear, Functions::LastFree, Functions::Gaussian] {
                    let mut solutions: Vec<(String, Solution)> = Vec::new();
                    for space in SPACES.iter().filter(|space| space.functions == functions) {
                        for_each_method(space, &*problem.loss, |solver, case| {
                            // A bound that is wrong is not above the minimum where the gap is small.
                            for tolerance in [problem.tolerance, 1e-2] {
                                let problem = &Problem { tolerance, ..problem.clone() };
                                let solution = space.path(problem, solver, &[at]);
                                let solution = solution.expect(case).remove(0);
                                assert_certified(problem, &solution, case);
                                solutions.push((case.to_owned(), solution));
                            }
                        });
                    }
                    let value = |(_, one): &&(String, Solution)| one.primal;
                    let best = solutions.iter().min_by(|a, b| value(a).total_cmp(&value(b)));
                    let (name, best) = best.expect("a solution");
                    for (case, one) in &solutions {
                        let case = format!("{case} and {name}");
                        assert_same(one, best, &itself(problem), functions, &case);
                    }
                }
            });
        }
    }

    /// F with whole weights of sum N is N/n of F with the samples repeated, at `lambda n/N`.
    #[test]
    fn a_whole_weight_is_a_repeated_sample(problem in problems(), at in any_lambda()) {
        assert_equivalent(&problem, at, |problem| {
            let n = problem.rows.len();
            let copies = |i: usize| std::iter::repeat_n(i, problem.weights[i] as usize);
            let samples: Vec<usize> = (0..n).flat_map(copies).collect();
            let weights = vec![1.0; samples.len()];
            let factor = samples.len() as f64 / n as f64;
            let problem = Problem { weights, ..select(problem, &samples) };
            Equivalent { problem, samples, sign: 1.0, factor }
        });
    }

    /// The other labels flip all scores, and the order of samples and features changes nothing.
    #[test]
    fn neither_order_nor_names_matter(problem in problems(), at in any_lambda()) {
        assert_equivalent(&problem, at, |problem| {
            let n = problem.rows.len();
            let samples: Vec<usize> = (0..n).map(|i| (5 * i + 3) % n).collect();
            let mut problem = select(problem, &samples);
            problem.signs.iter_mut().for_each(|y| *y = -*y);
            // The last feature, which may be free, stays where it is.
            let other = (problem.rows[0].len() - 1) / 2;
            problem.rows.iter_mut().for_each(|x| x.swap(0, other));
            Equivalent { problem, samples, sign: -1.0, factor: 1.0 }
        });
    }

    /// Every point of a path is the fit at its lambda.
    #[test]
    fn a_path_has_the_fit_of_every_lambda(problem in problems(), at in any_lambda()) {
        let lambdas = [1.0, 4.0, 0.25].map(|factor| lambda(factor * at.get()));
        for_each_loss(&problem, |problem| {
            for space in &SPACES {
                for_each_method(space, &*problem.loss, |solver, case| {
                    let path = space.path(problem, solver, &lambdas).expect(case);
                    assert_eq!(path.len(), 3, "{case}");
                    path.iter().for_each(|along| assert_certified(problem, along, case));
                    let alone = &space.path(problem, solver, &lambdas[2..]).expect(case)[0];
                    assert_same(&path[2], alone, &itself(problem), space.functions, case);
                });
            }
        });
    }
}
