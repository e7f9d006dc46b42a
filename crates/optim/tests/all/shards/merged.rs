//! Samples far from the kinks of a loss, which shards merge.

use margins_data::{Dataset, Design};
use margins_optim::shards::{BinaryProblem, Workers, path_over_shards};
use margins_optim::{Fit, Lambda, Options, Training};
use margins_test_support::{lambda, mixture, weighted};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::support::{Forgetful, Loss, bits, loss, sparse, threads};

/// Rows enough that a fit begins with a part of them. A rare feature tells apart a few, most of which the
/// part lacks.
fn rows() -> Dataset {
    let data = mixture(16_000, 10);
    let values = data.design().samples().enumerate().map(|(i, sample)| {
        let mut row = vec![0.0; 11];
        sample.for_each(|j, x| row[j] = x);
        row[10] = if i.is_multiple_of(400) { 5.0 } else { 0.0 };
        row
    });
    let design = Design::from_rows(&values.collect::<Vec<_>>()).expect("finite");
    data.over(design).expect("as many rows")
}

fn fits(
    mut workers: impl Workers,
    loss: &Loss,
    problem: &BinaryProblem,
    lambdas: &[Lambda],
    standardize: bool,
) -> Vec<Fit> {
    let training = Training { standardize, ..Training::new(&**loss) };
    path_over_shards(&mut workers, &training, problem, lambdas, None).expect("a path")
}

fn rounds(fits: &[Fit]) -> usize {
    fits.iter().map(|fit| fit.report.rounds).sum()
}

/// Fails unless fits to the same samples are certified, and no certificate contradicts another fit.
fn assert_meet(fits: &[Fit], expected: &[Fit], what: &str) {
    assert_eq!(fits.len(), expected.len());
    for (fit, other) in fits.iter().zip(expected) {
        let what = format!("{what} {}: {:?}", fit.lambda, fit.report);
        assert!(fit.report.converged() && other.report.converged(), "{what}");
        let (one, other) = (&fit.report, &other.report);
        assert!(one.dual_objective <= other.objective + other.rounding, "{what}");
        assert!(other.dual_objective <= one.objective + one.rounding, "{what}");
    }
}

/// The merged problems lead to the minimum in memory, in few rounds, and to the same bits however many
/// shards there are, and if some are lost.
#[test]
fn lead_to_the_minimum_in_few_rounds() {
    let lambdas = [1e-2, 1e-5].map(lambda);
    let problem = BinaryProblem::default();
    let cases = [
        (rows(), "hinge", true),
        (weighted(rows()), "leaky-relu:lambda=0.1", false),
        (sparse(&rows()), "hinge", false),
    ];
    for (data, name, standardize) in cases {
        let loss = loss(name);
        let solve =
            |count| fits(threads(&data, &loss, count), &loss, &problem, &lambdas, standardize);
        let whole = solve(3);
        let training = Training { standardize, ..Training::new(&*loss) };
        let expected = training.path(&data, &lambdas).expect("a path");
        assert_meet(&whole, &expected, &format!("{name} {standardize}"));
        let alone = threads(&data, &loss, 3).with_most_sampled(0);
        let alone = fits(alone, &loss, &problem, &lambdas, standardize);
        let (few, many) = (rounds(&whole), rounds(&alone));
        assert!(2 * few < many, "{name} {standardize}: {few} rounds instead of {many}");
        assert_eq!(bits(&solve(1)), bits(&whole), "{name}");
        let lost = Forgetful::new(&data, &loss);
        let lost = fits(lost, &loss, &problem, &lambdas, standardize);
        assert_eq!(bits(&lost), bits(&whole), "{name}");
    }
}

/// Where the driver cannot hold the samples near the kinks, smoothing leads to the minimum; samples of a
/// fold that is held out count for nothing.
#[test]
fn need_not_fit_into_the_driver() {
    let (data, loss, lambdas) = (rows(), loss("hinge"), [1e-2, 1e-4].map(lambda));
    for (held_out, sizes) in [(None, &[0, 10_000][..]), (Some(1), &[2_000])] {
        let problem = BinaryProblem { held_out, ..BinaryProblem::default() };
        let solve = |most: usize| {
            let workers = threads(&data, &loss, 2).with_most_sampled(most);
            fits(workers, &loss, &problem, &lambdas, false)
        };
        let expected = solve(1 << 22);
        for &most in sizes {
            assert_meet(&solve(most), &expected, &format!("{held_out:?} {most}"));
        }
    }
}

/// Merged problems and the steps behind them count against one limit.
#[test]
fn take_no_more_iterations_than_the_limit() {
    let (data, loss) = (wide_rows(), loss("hinge"));
    for (most, limit) in [0, 4_000, 1 << 22].into_iter().flat_map(|most| [1, 3].map(|k| (most, k)))
    {
        let mut workers = threads(&data, &loss, 2).with_most_sampled(most);
        let options =
            Options { max_iterations: Some(limit), tolerance: 1e-9, ..Options::default() };
        let training = Training { options, ..Training::new(&*loss) };
        let problem = BinaryProblem::default();
        let fits = path_over_shards(&mut workers, &training, &problem, &[lambda(1e-2)], None);
        let report = &fits.expect("a path")[0].report;
        assert!(report.iterations <= limit, "{most} {limit}: {report:?}");
    }
}

/// Rows with ten informative features and three of many others, more than a factorised system of equations
/// may have: with few rows for so many features, a fit to a part does not predict how far margins move.
fn wide_rows() -> Dataset {
    const FEATURES: usize = 3600;
    let data = mixture(1600, 10);
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let stretch = (FEATURES - 10) / 3;
    let values = data.design().samples().map(|sample| {
        let mut row = Vec::new();
        sample.for_each(|j, x| row.push((j, x)));
        row.extend((0..3).map(|k| (10 + k * stretch + random.random_range(0..stretch), 0.3)));
        row
    });
    let design = Design::from_sparse_rows(&values.collect::<Vec<_>>(), FEATURES).expect("finite");
    data.over(design).expect("as many rows")
}

/// Where no radius is known, as many samples as the driver can hold stay alone, and those that leave
/// their lines join them.
#[test]
fn grow_where_no_radius_is_known() {
    // Less than half of the values.
    const MOST: usize = 4_000;
    let (data, loss, lambdas) = (wide_rows(), loss("hinge"), [1e-2, 3e-3].map(lambda));
    let problem = BinaryProblem::default();
    let solve = |count, most| {
        let workers = threads(&data, &loss, count).with_most_sampled(most);
        fits(workers, &loss, &problem, &lambdas, false)
    };
    let whole = solve(3, MOST);
    let expected = Training::new(&*loss).path(&data, &lambdas).expect("a path");
    assert_meet(&whole, &expected, "wide rows");
    let (few, many) = (rounds(&whole), rounds(&solve(3, 0)));
    assert!(4 * few < many, "{few} rounds instead of {many}");
    assert_eq!(bits(&solve(1, MOST)), bits(&whole));
    let lost = Forgetful::new(&data, &loss).with_most_sampled(MOST);
    assert_eq!(bits(&fits(lost, &loss, &problem, &lambdas, false)), bits(&whole));
}
