//! The calculators of theorems and lemmas beside simulations and proofs.

use margins_boost::bounds::{GapDistribution, TypicalAndRare, risk_bound, subsample_failure};
use margins_data::Sample;
use margins_losses::Hinge;
use margins_optim::online::stochastic::Schedule;
use margins_optim::online::{OnlineGradient, OnlineLearner, Perceptron, Scorer};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

proptest! {
    #[test]
    fn the_probability_of_theorem_3_is_below_its_bounds(
        rows in 100usize..10_000, outliers in 0usize..20, rare in 1usize..80, size in 1usize..3000,
    ) {
        let failure = subsample_failure(rows, outliers, rare, size).unwrap();
        prop_assert!((0.0..=1.0).contains(&failure.exact));
        prop_assert!(failure.exact <= failure.bound * (1.0 + 1e-11), "{failure:?}");
        prop_assert!(failure.bound <= failure.published);
    }

    #[test]
    fn lemma_1_is_enough_and_below_its_proof(epsilon in 0.01..0.5f64, delta in 0.001..0.9f64) {
        let gap = GapDistribution::new(0.1, epsilon).unwrap();
        let m = gap.samples(delta).unwrap();
        prop_assert!(gap.unseen(m) <= delta);
        for m in [0, 1, 3, m / 2, m] {
            let proof = 4.0 * (1.0 - epsilon / 2.0).powf(m as f64);
            prop_assert!(gap.unseen(m) <= proof + 1e-12);
        }
    }

    /// Lemma 3 over sequences that choose a point that is wrong whenever there is one.
    #[test]
    fn the_perceptron_keeps_to_lemma_3(
        alpha in 0.002..0.125f64, choices in prop::collection::vec(any::<bool>(), 1500),
    ) {
        let most = GapDistribution::new(alpha, 0.1).unwrap().mistakes().unwrap();
        let points = [[alpha, 1.0], [alpha, -2.0 * alpha]];
        let mut learner = Perceptron::new(2).without_intercept();
        let mut mistakes = 0;
        for choice in choices {
            let wrong = points.map(|x| learner.score(&Sample::Dense(&x)) <= 0.0);
            let at = match wrong {
                [true, true] => usize::from(choice),
                [true, false] => 0,
                [false, true] => 1,
                [false, false] => break,
            };
            mistakes += 1;
            learner.step(&Sample::Dense(&points[at]), 1.0).unwrap();
        }
        prop_assert!(f64::from(mistakes) <= most, "{} {}", mistakes, most);
        // Nothing is wrong in the end, and the bound is of the right order.
        prop_assert!(points.iter().all(|x| learner.score(&Sample::Dense(x)) > 0.0));
        prop_assert!(f64::from(mistakes) >= 0.4 / alpha - 1.0);
    }
}

/// The share of 20 000 trials that fail.
fn share(mut fails: impl FnMut(&mut ChaCha8Rng) -> bool) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    f64::from((0..20_000).map(|_| u32::from(fails(&mut random))).sum::<u32>()) / 20_000.0
}

/// Four standard deviations of a share of 20 000 trials.
fn near(found: f64, p: f64) -> bool {
    (found - p).abs() <= 4.0 * (p * (1.0 - p) / 20_000.0).sqrt()
}

#[test]
fn theorem_3_is_exact() {
    for (rows, outliers, rare, size) in [(500, 2, 60, 40), (100, 0, 7, 30), (300, 5, 200, 9)] {
        let failed = share(|random| {
            let drawn: Vec<usize> = (0..size).map(|_| random.random_range(0..rows)).collect();
            let rares = drawn.iter().filter(|&&row| (outliers..outliers + rare).contains(&row));
            drawn.iter().any(|&row| row < outliers) || 2 * rares.count() * rows < size * rare
        });
        let exact = subsample_failure(rows, outliers, rare, size).unwrap().exact;
        assert!(near(failed, exact), "{failed} {exact}");
    }
}

/// Probabilities so small that a difference from 1 would lose all of their digits. The first two are of
/// an outlier alone, `1 - (1 - k/m)^n`; the others `P(Bin(n, m_2/m) < n m_2/(2m))`, by exact fractions.
#[test]
fn theorem_3_is_exact_where_it_hardly_fails() {
    for (rows, outliers, rare, size, expected) in [
        (1_000_000_000, 1, 999_999_000, 40, 3.999_999_922_000_001e-8),
        (1 << 50, 3, 1 << 49, 200, 6.701_213_336_198_976e-13),
        (10_000, 0, 5_000, 3_000, 3.097_878_664_638_130_5e-173),
        (1000, 0, 300, 1_000, 7.411_786_879_874_365e-29),
    ] {
        let exact = subsample_failure(rows, outliers, rare, size).unwrap().exact;
        assert!((exact / expected - 1.0).abs() < 1e-11, "{exact:e} {expected:e}");
    }
}

#[test]
fn lemma_1_is_exact() {
    let gap = GapDistribution::new(0.1, 0.3).unwrap();
    for m in [4, 12, 30] {
        let failed = share(|random| {
            let mut seen = [false; 4];
            for _ in 0..m {
                let rare = random.random::<f64>() < 0.3;
                seen[2 * usize::from(rare) + usize::from(random.random::<bool>())] = true;
            }
            seen != [true; 4]
        });
        assert!(near(failed, gap.unseen(m)), "{m}: {failed} {}", gap.unseen(m));
    }
}

/// Lemma 2 in 2000 runs: right on `z_2` no more often than the bound says, where it says something.
#[test]
fn stochastic_gradient_keeps_to_lemma_2() {
    let (alpha, epsilon, runs) = (0.02, 0.05, 2000);
    let gap = GapDistribution::new(alpha, epsilon).unwrap();
    let (mut informative, points) = (0, [[alpha, 1.0], [alpha, -2.0 * alpha]]);
    for rounds in [100, 250, 350, 400] {
        let mut random = ChaCha8Rng::seed_from_u64(rounds);
        let mut right = 0.0;
        for _ in 0..runs {
            let mut learner =
                OnlineGradient::new(Hinge, 2, Schedule::Constant(0.3)).unwrap().without_intercept();
            for _ in 0..rounds {
                let x = points[usize::from(random.random::<f64>() < epsilon)];
                let y = [1.0, -1.0][usize::from(random.random::<bool>())];
                learner.step(&Sample::Dense(&x.map(|x| y * x)), y).unwrap();
            }
            right += f64::from(u8::from(learner.score(&Sample::Dense(&points[1])) > 0.0));
        }
        let bound = gap.gradient_is_right(rounds);
        assert!(right / f64::from(runs) <= bound, "{rounds}: {right} {bound}");
        informative += usize::from(bound < 0.9);
    }
    assert!(informative >= 2 && gap.gradient_is_right(100_000) > 0.999);
}

/// Theorem 2 for thresholds on [0, 1], whose reduced class is one of thresholds too: typical samples
/// are uniform with the boundary 1/2, the rare ones are the point 0.52. Its error there is 0 or 1, so
/// that any c below 1 is a gap.
#[test]
fn theorem_2_is_enough_for_thresholds() {
    let plan = TypicalAndRare {
        dimension: 1,
        reduced_dimension: 1,
        epsilon: 0.1,
        gap: 0.9,
        rare: 0.05,
        delta: 0.1,
    };
    let worst = |m: u64, random: &mut ChaCha8Rng| {
        // The consistent threshold with the largest error: one end of the interval left.
        let (mut low, mut high) = (0.0f64, 1.0f64);
        for _ in 0..m {
            let x = if random.random::<f64>() < 0.05 { 0.52 } else { random.random::<f64>() };
            if x < 0.5 { low = low.max(x) } else { high = high.min(x) }
        }
        0.5 - low > 0.1 || high - 0.5 > 0.1 || high > 0.52
    };
    let failed = |m: u64| {
        let mut random = ChaCha8Rng::seed_from_u64(m);
        (0..1000).filter(|_| worst(m, &mut random)).count() as f64 / 1000.0
    };
    let m = plan.samples().unwrap();
    assert!(failed(m) <= plan.delta && failed(20) > plan.delta);
    // The rare samples decide both numbers, and the reduced class asks for fewer of them.
    let naive = plan.naive_samples().unwrap();
    assert!(m < naive / 5, "{m} {naive}");
    let by_hand = 2.0 * (8.0 / 0.1 * 130f64.log2()) / 0.05;
    assert_eq!(naive, by_hand.ceil() as u64);
}

#[test]
fn the_bound_of_section_3_has_its_two_ends() {
    let (m, d, delta) = (100_000, 10, 0.05);
    let bound = |loss| risk_bound(m, d, loss, delta).unwrap();
    let a = (10.0 * (2.0 * std::f64::consts::E * 1e4).ln() + 80f64.ln()) / 1e5;
    assert!((bound(0.0) - 4.0 * a).abs() < 1e-15);
    // At the mean loss a it is 7 a, of the same order.
    assert!((bound(a) - 7.0 * a).abs() < 1e-12);
    assert!(bound(0.3) > bound(0.2) && bound(0.2) > 0.2 && bound(1.0) == 1.0);
    assert_eq!(risk_bound(20, 10, 0.0, delta).unwrap(), 1.0);
}

#[test]
fn refusals_name_the_parameter() {
    let told = |error: margins_boost::Error| error.to_string();
    let plan = TypicalAndRare {
        dimension: 1,
        reduced_dimension: 1,
        epsilon: 0.1,
        gap: 0.9,
        rare: 0.05,
        delta: 0.1,
    };
    let refused = |plan: TypicalAndRare| plan.samples().unwrap_err().to_string();
    insta::assert_snapshot!(
        [
            told(subsample_failure(10, 0, 0, 1).unwrap_err()),
            told(subsample_failure(10, 6, 5, 1).unwrap_err()),
            told(subsample_failure(10, 1, 5, 0).unwrap_err()),
            told(risk_bound(10, 11, 0.0, 0.1).unwrap_err()),
            told(risk_bound(10, 1, 1.5, 0.1).unwrap_err()),
            told(risk_bound(10, 1, 0.5, 0.0).unwrap_err()),
            told(GapDistribution::new(0.0, 0.1).unwrap_err()),
            told(GapDistribution::new(0.1, 0.6).unwrap_err()),
            told(GapDistribution::new(0.125, 0.1).unwrap().mistakes().unwrap_err()),
            refused(TypicalAndRare { rare: 0.6, ..plan }),
            refused(TypicalAndRare { gap: 0.05, ..plan }),
            refused(TypicalAndRare { dimension: 0, ..plan }),
            refused(TypicalAndRare { epsilon: 1e-300, ..plan }),
        ]
        .join("\n")
    );
}
