//! Adaptive steps and coin betting: what does not depend on units, storage or repetition, and the
//! regret.

use margins_data::{Design, Sample};
use margins_losses::{Hinge, Logistic, MarginLoss};
use margins_optim::online::stochastic::{Batches, Start, StochasticGradient, pass};
use margins_optim::online::{Adaptive, Experts, OnlineLearner, Scorer};
use margins_optim::{Error, Lambda};
use margins_test_support::loss;
use proptest::prelude::*;

const BOTH: [Experts; 2] = [Experts::All, Experts::Coin];

/// Rows, a third of their entries zero, and signs.
fn samples() -> impl Strategy<Value = Vec<(Vec<f64>, f64)>> {
    (2usize..7).prop_flat_map(|p| {
        let entry = prop_oneof![Just(0.0), -2.0..2.0f64, -50.0..50.0f64];
        let row = proptest::collection::vec(entry, p);
        proptest::collection::vec((row, prop_oneof![Just(-1.0), Just(1.0)]), 1..40)
    })
}

/// Returns the scores of the samples before their steps.
fn learned<L: MarginLoss>(
    learner: &mut Adaptive<L>,
    samples: &[(Vec<f64>, f64)],
) -> Result<Vec<f64>, Error> {
    samples
        .iter()
        .map(|(x, y)| {
            let score = learner.score(&Sample::Dense(x));
            learner.step(&Sample::Dense(x), *y).map(|()| score)
        })
        .collect()
}

/// Two classes that a line separates but for every tenth sample, features of unequal units.
fn stream(count: usize) -> Vec<(Vec<f64>, f64)> {
    let sample = |i: usize| {
        let (a, b) = ((1.7 * i as f64).sin(), (2.3 * i as f64).cos());
        let y = if (a + 0.5 * b > 0.1) != i.is_multiple_of(10) { 1.0 } else { -1.0 };
        (vec![1e3 * a, 1e-3 * b], y)
    };
    (0..count).map(sample).collect()
}

proptest! {
    #[test]
    fn units_of_features_do_not_matter(
        samples in samples(),
        powers in proptest::collection::vec(-60..60i32, 7),
        name in proptest::sample::select(vec!["hinge", "logistic", "squared-hinge", "exponential", "lhs"]),
    ) {
        let scaled: Vec<(Vec<f64>, f64)> = samples
            .iter()
            .map(|(x, y)| (x.iter().zip(&powers).map(|(x, k)| x * 2f64.powi(*k)).collect(), *y))
            .collect();
        for experts in BOTH {
            let p = samples[0].0.len();
            let (mut plain, mut other) = (
                Adaptive::new(loss(name), p, experts).averaged_after(10),
                Adaptive::new(loss(name), p, experts).averaged_after(10),
            );
            let (a, b) = (learned(&mut plain, &samples), learned(&mut other, &scaled));
            prop_assert_eq!(a.ok(), b.ok());
        }
    }

    #[test]
    fn sparse_samples_are_dense_ones(samples in samples(), penalty in 1e-6..1.0f64) {
        for experts in BOTH {
            let p = samples[0].0.len();
            let new = || Adaptive::new(Logistic, p, experts).penalized(Lambda::new(penalty).unwrap());
            let (mut dense, mut sparse) = (new(), new());
            for (x, y) in &samples {
                let (columns, values): (Vec<usize>, Vec<f64>) =
                    x.iter().copied().enumerate().filter(|(_, x)| *x != 0.0).unzip();
                let stored = Sample::Sparse { columns: &columns, values: &values, features: p };
                dense.step(&Sample::Dense(x), *y).unwrap();
                sparse.step(&stored, *y).unwrap();
            }
            prop_assert_eq!(dense.snapshot(), sparse.snapshot());
        }
    }
}

#[test]
fn the_regret_vanishes() {
    let samples = stream(4000);
    let best = |x: &[f64]| 4.0 * (1e-3 * x[0] + 0.5e3 * x[1] - 0.1);
    for experts in BOTH {
        let mean = |scores: &[f64]| {
            let losses = scores.iter().zip(&samples).map(|(f, (_, y))| Hinge.value(f * y));
            losses.sum::<f64>() / samples.len() as f64
        };
        let mut learner = Adaptive::new(Hinge, 2, experts);
        let scores = learned(&mut learner, &samples).unwrap();
        let other: Vec<f64> = samples.iter().map(|(x, _)| best(x)).collect();
        // Of a comparator of this norm: 3 |v| sqrt(T) of three coordinates, over T.
        let bound = 3.0 * (4.0 + 2.0 + 0.4) / (samples.len() as f64).sqrt();
        assert!(mean(&scores) <= mean(&other) + bound, "{experts:?} {}", mean(&scores));
        assert!(mean(&scores) < 0.75 * Hinge.value(0.0), "{experts:?} {}", mean(&scores));
    }
}

#[test]
fn samples_that_are_refused_change_nothing() {
    for experts in BOTH {
        let mut learner = Adaptive::new(Logistic, 2, experts);
        learned(&mut learner, &stream(20)).unwrap();
        let before = learner.snapshot();
        for wrong in [f64::NAN, f64::INFINITY] {
            assert!(learner.step(&Sample::Dense(&[1.0, wrong]), 1.0).is_err());
        }
        assert_eq!((learner.snapshot(), learner.steps()), (before, 20));
    }
}

#[test]
fn small_weights_are_repetitions() {
    let design = |rows: &[Vec<f64>]| Design::from_rows(rows).unwrap();
    let warm: Vec<Vec<f64>> = stream(500).into_iter().map(|(x, _)| x).collect();
    let signs: Vec<f64> = stream(500).into_iter().map(|(_, y)| y).collect();
    let mut one_by_one = Batches::new(1);
    for name in ["logistic", "squared-hinge", "hinge"] {
        let settings = StochasticGradient::adaptive(Experts::All);
        let tiny = Lambda::new(1e-12).unwrap();
        let mut once = settings
            .learner(std::sync::Arc::<dyn MarginLoss>::from(loss(name)), 2, tiny, true, 0)
            .unwrap();
        pass(&mut once, &design(&warm), &signs, None, &mut one_by_one, 0, |_, _| ()).unwrap();
        let mut often = once.clone();
        let x = vec![200.0, 5e-4];
        let before = once.score(&Sample::Dense(&x));
        let one = design(std::slice::from_ref(&x));
        pass(&mut once, &one, &[-1.0], Some(&[0.03]), &mut one_by_one, 0, |_, _| ()).unwrap();
        for _ in 0..3 {
            pass(&mut often, &one, &[-1.0], Some(&[0.01]), &mut one_by_one, 0, |_, _| ()).unwrap();
        }
        let (a, b) =
            (once.score(&Sample::Dense(&x)) - before, often.score(&Sample::Dense(&x)) - before);
        assert!(a < 0.0 && (a - b).abs() <= 0.02 * b.abs(), "{name}: {a} {b}");
    }
}

#[test]
fn settings_of_schedules_are_refused() {
    let settings = StochasticGradient::adaptive(Experts::All);
    for wrong in [
        StochasticGradient { batch: 2, ..settings },
        StochasticGradient { projection: Some(1.0), ..settings },
        StochasticGradient { start: Start::Random(1.0), ..settings },
    ] {
        assert!(matches!(wrong.check(), Err(Error::AdaptiveSteps(_))), "{wrong:?}");
    }
}
