//! Regression by focused online learning, example 2.

use std::ops::ControlFlow;
use std::time::Instant;

use margins_boost::{Horizon, RegressionGame, largest_norm};
use margins_data::Design;
use margins_optim::Status;
use margins_optim::method::{Limits, Watch};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Samples whose targets are `min(1, max(0, <w, x>))` without clipping, for some w; the rare ones, one
/// in ten, depend on a feature that the others do not have.
fn targets(m: usize, seed: u64) -> (Design, Vec<f64>, f64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let w = [0.4, 0.3, 0.5];
    let mut rows = Vec::new();
    for row in 0..m {
        let mut number = || random.random::<f64>();
        let rare = if row % 10 == 0 { number() } else { 0.0 };
        rows.push([number(), number(), rare]);
    }
    let y = rows.iter().map(|x| x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>().min(1.0));
    let y = y.collect();
    let design = Design::from_rows(&rows).unwrap();
    (design, y, w.iter().map(|w| w * w).sum::<f64>().sqrt())
}

/// Example 2 at the T and k of its theorem: an error of at most epsilon on every sample for all of 20
/// problems, and losses within the regret bound `X W sqrt T`.
#[test]
fn every_sample_has_a_small_error() {
    for seed in 0..20 {
        let (design, y, norm) = targets(30, seed);
        let (epsilon, largest) = (0.1, largest_norm(&design));
        let horizon = Horizon::with_regret(30, epsilon, 1e-3, 0.0, norm * largest).unwrap();
        let mut game = RegressionGame::new(&design, &y, norm, horizon, seed).unwrap();
        let ending = game.run(None, &Limits::default()).unwrap();
        assert_eq!((ending.rounds, ending.reached_at), (horizon.rounds(), None));
        let regret = norm * largest * (ending.rounds as f64).sqrt();
        assert!(ending.seen_loss <= regret, "{} {regret}", ending.seen_loss);
        let predictor = game.predictor();
        assert_eq!(predictor.members().len(), horizon.outputs());
        for ((x, y), error) in design.samples().zip(&y).zip(game.errors()) {
            let losses = predictor.members().iter().map(|w| (x.dot(w).clamp(0.0, 1.0) - y).abs());
            let mean = losses.sum::<f64>() / predictor.members().len() as f64;
            assert!(mean <= epsilon && error <= mean + 1e-12, "{seed}: {mean} {error}");
            assert!(((predictor.predict(&x) - y).abs() - error).abs() < 1e-12);
        }
        let longest = predictor.members().iter().map(|w| w.iter().map(|w| w * w).sum::<f64>());
        assert!(longest.fold(0.0, f64::max).sqrt() <= norm * (1.0 + 1e-9));
    }
}

/// A function that has no loss only because it is clipped: `<w, x>` is 10 where the target is 1.
#[test]
fn a_clipped_function_without_loss_is_found() {
    let design = Design::from_rows(&[[1.0], [0.05]]).unwrap();
    let y = [1.0, 0.5];
    for seed in 0..5 {
        let horizon = Horizon::new(100_000, 300).unwrap();
        let mut game = RegressionGame::new(&design, &y, 10.0, horizon, seed).unwrap();
        let ending = game.run(None, &Limits::default()).unwrap();
        assert!(ending.seen_loss <= 10.0 * (ending.rounds as f64).sqrt());
        assert!(game.max_error() <= 0.05, "{seed}: {}", game.max_error());
    }
}

/// The first steps by hand: `w <- w - step sign(<w, x> - y) x`, projected, from w = 0.
#[test]
fn steps_are_those_of_the_formula() {
    let design = Design::from_rows(&[[3.0, 4.0]]).unwrap();
    let horizon = Horizon::new(100, 100).unwrap();
    let mut game = RegressionGame::new(&design, &[1.0], 0.1, horizon, 1).unwrap();
    game.run(None, &Limits::default()).unwrap();
    // The step is 0.1/(5 x 10), so that a step changes the product by 0.05, up to 0.1 x 5.
    let products = game.predictor();
    let mut reached = products.members().iter().map(|w| 3.0 * w[0] + 4.0 * w[1]);
    let on_the_way = |product: f64| (0..=10).any(|k| (product - 0.05 * f64::from(k)).abs() < 1e-9);
    assert!(reached.all(on_the_way));
    assert!((game.max_error() - 0.5).abs() < 0.1, "{}", game.max_error());
}

proptest! {
    /// The T of the theorem is the smallest with `T >= a sqrt T + b`, up to rounding.
    #[test]
    fn the_horizon_solves_its_equation(
        m in 1usize..1000, epsilon in 0.01..0.9f64, delta in 1e-6..0.5f64, regret in 0.0..100.0f64,
        loss in 0.0..100.0f64,
    ) {
        let t = Horizon::with_regret(m, epsilon, delta, loss, regret).unwrap().rounds();
        let needed = |t: u64| {
            let total = loss + regret * (t as f64).sqrt();
            Horizon::theorem_1(m, epsilon, delta, total).unwrap().rounds()
        };
        prop_assert!(t + 1 >= needed(t), "{} {}", t, needed(t));
        prop_assert!(t < 10 || t - 3 < needed(t - 3) + 1, "{} {}", t, needed(t - 3));
    }
}

#[test]
fn a_game_ends_early_or_at_a_limit_and_refuses_what_does_not_fit() {
    let (design, y, norm) = targets(40, 3);
    let horizon = Horizon::with_regret(40, 0.1, 0.01, 0.0, norm * largest_norm(&design)).unwrap();
    let new = || RegressionGame::new(&design, &y, norm, horizon, 3).unwrap();
    let mut early = new();
    let ending = early.run(Some(0.1), &Limits::default()).unwrap();
    assert!(ending.reached_at == Some(ending.rounds) && ending.rounds < horizon.rounds());
    assert!(early.max_error() <= 0.1);
    let limits = Limits { deadline: Some(Instant::now()), ..Limits::default() };
    let mut late = new();
    let ending = late.run(Some(0.1), &limits).unwrap();
    assert_eq!((ending.rounds, ending.stopped), (0, Some(Status::TimeLimit)));
    assert_eq!((late.predictor().members().len(), late.errors()), (1, y.clone()));
    let watch = |(): &()| ControlFlow::Break(());
    let limits = Limits { watch: Some(Watch::new(&watch)), ..Limits::default() };
    assert_eq!(new().run(None, &limits).unwrap().stopped, Some(Status::Interrupted));
    let refused = |y: &[f64], norm: f64| {
        RegressionGame::new(&design, y, norm, horizon, 1).unwrap_err().to_string()
    };
    assert_eq!(refused(&y[1..], 1.0), "targets: expected 40, found 39");
    let high = [&[1.5][..], &y[1..]].concat();
    assert_eq!(refused(&high, 1.0), "target 0 is 1.5, but must be from 0 to 1: scale the targets");
    assert!(refused(&y, f64::NAN).contains("the norm"));
}
