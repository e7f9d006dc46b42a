//! Focused online learning as a whole.

mod common;

use common::{fol, mistakes, separable};
use margins_boost::opponents::Exp3P1;
use margins_boost::{
    Checkpoint, Combination, Evaluation, FocusedPlayer, Fol, Game, Horizon, KernelPerceptron,
    MultilayerPerceptron, SamplePlayer, Slack, SlackKind, Stop, StumpWinnow, UniformPlayer,
    mean_loss_bound,
};
use margins_data::generate::RareSamples;
use margins_data::{Design, Labels, Sample};
use margins_losses::{Hinge, Logistic, MarginLoss, ZeroOne};
use margins_optim::online::{
    Aggressiveness, AveragedPerceptron, LinearClassifier, OnlineGradient, OnlineLearner,
    PassiveAggressive, Perceptron, Scorer,
};
use margins_optim::{self as optim, Lambda};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// Theorem 1 and corollary 1 at the default T and k: on all of 100 problems, each of which may fail
/// with probability 0.001.
#[test]
fn theorem_1_holds_on_every_problem() {
    for seed in 0..100 {
        let (m, p, margin) = (20 + (seed as usize % 7) * 5, 3, 0.3);
        let data = separable(m, p, margin, seed);
        let horizon = Horizon::classification(m, 1e-3, mistakes(p, margin)).unwrap();
        let mut game = fol(Perceptron::new(p).without_intercept(), &data, horizon, seed);
        let ending = game.run(Stop::Never).unwrap();
        assert_eq!(ending.rounds, horizon.rounds());
        assert!(ending.seen_loss <= mistakes(p, margin));
        let ensemble = game.ensemble();
        assert_eq!(ensemble.members().len(), horizon.outputs());
        for (row, (x, y)) in data.0.samples().zip(data.1.signs()).enumerate() {
            let wrong = ensemble.members().iter().filter(|h| y * h.score(&x) <= 0.0).count();
            let mean = wrong as f64 / ensemble.members().len() as f64;
            assert!(mean <= 0.49, "problem {seed}, row {row}: {mean}");
            assert!(y * ensemble.score(&x) > 0.0);
        }
    }
}

/// Separable samples whose every fourth one has the wrong label and the weight 0, with the weights of
/// all.
fn weighted(m: usize, margin: f64, seed: u64) -> ((Design, Labels), Vec<f64>) {
    let (design, labels) = separable(m, 3, margin, seed);
    let flipped = |(row, y): (usize, &f64)| if row % 4 == 3 { -y } else { *y };
    let signs = labels.signs().iter().enumerate().map(flipped).collect();
    let weights = (0..m).map(|row| [1.0, 0.5, 0.25, 0.0][row % 4]).collect();
    ((design, Labels::from_signs(signs).unwrap()), weights)
}

/// Theorem 1 holds for the losses times the weights, with the learner's bound on the samples that it
/// takes steps on: wrong labels of weight 0 change nothing.
#[test]
fn theorem_1_holds_for_weighted_losses() {
    for seed in 0..50 {
        let (m, margin, epsilon) = (32, 0.3, 0.2);
        let (data, weights) = weighted(m, margin, seed);
        let horizon = Horizon::theorem_1(m, epsilon, 1e-3, mistakes(3, margin)).unwrap();
        let game = fol(Perceptron::new(3).without_intercept(), &data, horizon, seed);
        let mut game = game.with_weights(weights.clone()).unwrap();
        let ending = game.run(Stop::Never).unwrap();
        assert!(ending.seen_loss <= mistakes(3, margin));
        for (row, (x, y)) in data.0.samples().zip(data.1.signs()).enumerate() {
            let members = game.ensemble().members();
            let wrong = members.iter().filter(|h| y * h.score(&x) <= 0.0).count();
            let mean = weights[row] * wrong as f64 / members.len() as f64;
            assert!(mean <= epsilon, "problem {seed}, row {row}: {mean}");
        }
    }
}

/// Weights of 1 change nothing; a sample whose weight is at most epsilon may be wrong, and others may
/// not; a game with weights goes on from a file to the bit.
#[test]
fn weights_are_costs_that_a_checkpoint_keeps() {
    let data = separable(40, 3, 0.05, 5);
    let horizon = Horizon::new(4000, 30).unwrap();
    let plain = || fol(Perceptron::new(3), &data, horizon, 2);
    let (mut game, mut ones) = (plain(), plain().with_weights(vec![1.0; 40]).unwrap());
    assert_eq!(game.run(Stop::LossAtMost(0.3)).unwrap(), ones.run(Stop::LossAtMost(0.3)).unwrap());
    assert_eq!(game.ensemble(), ones.ensemble());

    let (data, weights) = weighted(40, 0.1, 6);
    let start = || {
        let game = fol(Perceptron::new(3), &data, horizon, 3);
        game.with_weights(weights.clone()).unwrap()
    };
    let mut whole = start();
    let ending = whole.run(Stop::LossAtMost(0.3)).unwrap();
    assert!(ending.consistent_at.is_some(), "{ending:?}");
    let result = Evaluation::new(whole.ensemble(), &data.0, &data.1, &ZeroOne).unwrap();
    assert!(!result.wrong.is_empty() && result.wrong.iter().all(|&row| weights[row] <= 0.3));
    assert!(result.weighted(&weights).unwrap().max_loss() <= 0.3);
    let mut never = start();
    assert_eq!(never.run(Stop::Consistent).unwrap().consistent_at, None);
    let mut single = start();
    let ending = single.run(Stop::LearnerLossAtMost(0.3)).unwrap();
    assert!(ending.consistent_at.is_some());

    let write = |game: &Fol<'_, Perceptron>| serde_json::to_string(game.checkpoint()).unwrap();
    let mut text = write(&start());
    for rounds in [1, 137, 4000] {
        let checkpoint = serde_json::from_str(&text).unwrap();
        let mut game = Game::resume(checkpoint, &data.0, &data.1, &ZeroOne).unwrap();
        game.run_until(rounds, Stop::LossAtMost(0.3)).unwrap();
        text = write(&game);
    }
    assert_eq!(text, write(&whole));
    for (wrong, expected) in
        [(vec![1.0; 39], "weights: expected 40, found 39"), (vec![1.5; 40], "weight 0 is 1.5")]
    {
        let refused = fol(Perceptron::new(3), &data, horizon, 3).with_weights(wrong);
        let message = refused.err().unwrap().to_string();
        assert!(message.contains(expected), "{message}");
    }
    let mut damaged: Value = serde_json::from_str(&text).unwrap();
    damaged["weights"][3] = json!(-0.5);
    let damaged = serde_json::from_value(damaged).unwrap();
    let refused: Result<Fol<'_, Perceptron>, _> = Game::resume(damaged, &data.0, &data.1, &ZeroOne);
    assert!(refused.err().unwrap().to_string().contains("weight 3 is -0.5"));
}

/// The bound by the weights of a game is at most the bound by the sum of its losses, and both hold
/// for the mean losses of the learner, which the test follows on every sample.
#[test]
fn the_losses_of_a_game_bound_those_of_every_sample() {
    let (mut tight, delta) = (0, 0.05);
    for seed in 0..10 {
        let (m, rounds) = (20, 4000);
        let data = separable(m, 3, 0.02, seed);
        let horizon = Horizon::new(rounds, 1).unwrap();
        let mut game = fol(Perceptron::new(3), &data, horizon, seed);
        let mut sums = vec![0.0; m];
        for _ in 0..rounds {
            for (sum, (x, y)) in sums.iter_mut().zip(data.0.samples().zip(data.1.signs())) {
                *sum += f64::from(u8::from(y * game.learner().score(&x) <= 0.0));
            }
            game.play().unwrap();
        }
        let of_sum = mean_loss_bound(m, rounds, game.ending().seen_loss, delta).min(1.0);
        for (row, sum) in sums.iter().enumerate() {
            let bound = game.player().loss_bound(row, rounds, delta).unwrap();
            assert!(bound <= of_sum + 1e-12 && sum / rounds as f64 <= bound, "{seed} {row}");
            tight += usize::from(bound < 0.8 * of_sum);
        }
    }
    assert!(tight > 100, "{tight}");
}

/// The last round is checked too, though m does not divide T, and where T is below m.
#[test]
fn a_learner_that_is_right_everywhere_after_the_last_round_ends_the_game() {
    let mut between = 0;
    for (seed, rounds) in (0..5).flat_map(|seed| (1..=90).map(move |rounds| (seed, rounds))) {
        let data = separable(30, 3, 0.4, seed);
        let mut game = fol(Perceptron::new(3), &data, Horizon::new(rounds, 1).unwrap(), seed);
        let ending = game.run(Stop::LearnerLossAtMost(0.49)).unwrap();
        let result = Evaluation::new(game.learner(), &data.0, &data.1, &ZeroOne).unwrap();
        assert_eq!(ending.consistent_at.is_some(), result.consistent(), "{seed} {rounds}");
        between += usize::from(ending.consistent_at.is_some() && ending.rounds % 30 != 0);
    }
    assert!(between > 20, "{between}");
}

/// The present classifier ends the game once it is right on every sample, checked every m rounds.
#[test]
fn a_game_stops_when_its_learner_is_right_everywhere() {
    for seed in 0..10 {
        let data = separable(30, 3, 0.05, seed);
        let horizon = Horizon::new(20_000, 1).unwrap();
        let mut game = fol(Perceptron::new(3), &data, horizon, seed);
        let ending = game.run(Stop::LearnerLossAtMost(0.49)).unwrap();
        let consistent = |game: &Fol<'_, Perceptron>| {
            Evaluation::new(game.learner(), &data.0, &data.1, &ZeroOne).unwrap().consistent()
        };
        assert!(consistent(&game) && ending.consistent_at == Some(ending.rounds));
        assert_eq!(ending.rounds % 30, 0);
        let mut before = fol(Perceptron::new(3), &data, horizon, seed);
        before.run_until(ending.rounds - 30, Stop::Never).unwrap();
        assert!(ending.rounds == 30 || !consistent(&before), "seed {seed}");
    }
}

/// Corollary 2: for a loss that is convex in the score the average has at most the mean loss, and
/// for linear classifiers it is one vector.
#[test]
fn the_average_of_linear_classifiers_is_one_of_at_most_the_mean_loss() {
    let data = separable(40, 4, 0.1, 3);
    let mut game = fol(Perceptron::new(4), &data, Horizon::new(4000, 25).unwrap(), 1)
        .with_loss(&Hinge)
        .with_combination(Combination::Average);
    game.run(Stop::Never).unwrap();
    let ensemble = game.ensemble();
    let collapsed = ensemble.mean_classifier().unwrap();
    for (x, y) in data.0.samples().zip(data.1.signs()) {
        assert!((collapsed.score(&x) - ensemble.score(&x)).abs() < 1e-12);
        let losses = ensemble.members().iter().map(|h| Hinge.value(y * h.score(&x)));
        let mean = losses.sum::<f64>() / 25.0;
        assert!(Hinge.value(y * collapsed.score(&x)) <= mean + 1e-12);
    }
}

#[test]
fn fol_is_consistent_where_sgd_with_the_same_budget_is_not() {
    let (alpha, epsilon) = (0.001, 0.01);
    let budget = Horizon::new(15_000, 50).unwrap();
    for seed in 0..10 {
        // m >= 2 ln(4/delta)/epsilon with delta = 0.01 (lemma 1).
        let data = RareSamples::new(seed, 1).gap(1200, alpha, epsilon).unwrap();
        let (design, labels) = (data.design().clone(), data.labels().clone());
        let learner = || Perceptron::new(2).without_intercept();
        let data = (design, labels);
        let mut focused = fol(learner(), &data, budget, seed);
        focused.run(Stop::Never).unwrap();
        let uniform = UniformPlayer::new(1200).unwrap();
        let mut sgd = Game::new(uniform, learner(), &data.0, &data.1, budget, seed).unwrap();
        sgd.run(Stop::Never).unwrap();
        let evaluate = |learner: &Perceptron| {
            Evaluation::new(learner, &data.0, &data.1, &ZeroOne).unwrap().consistent()
        };
        assert!(evaluate(focused.learner()), "seed {seed}");
        assert!(!evaluate(sgd.learner()), "seed {seed}");
    }
}

#[test]
fn a_game_stops_exactly_when_its_ensemble_is_consistent() {
    for seed in 0..20 {
        let data = separable(60, 3, 0.05, seed);
        let horizon = Horizon::classification(60, 0.01, mistakes(3, 0.05)).unwrap();
        let mut game = fol(Perceptron::new(3), &data, horizon, seed);
        let ending = game.run(Stop::Consistent).unwrap();
        let evaluate = |game: &Fol<'_, Perceptron>| {
            Evaluation::new(game.ensemble(), &data.0, &data.1, &ZeroOne).unwrap()
        };
        assert!(evaluate(&game).consistent());
        assert_eq!(ending.consistent_at, Some(ending.rounds));
        assert!(ending.rounds < horizon.rounds());
        // It is over, and stays so.
        assert_eq!(game.run(Stop::Consistent).unwrap(), ending);
        // The check lags behind by no more than it needs for m visits after the last member: with
        // the members of that many rounds earlier, the ensemble was not consistent, or had changed
        // since.
        let mut again = fol(Perceptron::new(3), &data, horizon, seed);
        let visits = (2.0 * 60.0 * horizon.outputs() as f64 / horizon.rounds() as f64).ceil();
        let lag = (60.0 / visits).ceil() as u64;
        again.run_until(ending.rounds.saturating_sub(lag + 1), Stop::Never).unwrap();
        let members = |game: &Fol<'_, Perceptron>| game.ensemble().members().len();
        assert!(members(&again) < members(&game) || !evaluate(&again).consistent());
    }
}

/// With a loss other than the 0-1 loss the signs are right long before the losses are small.
#[test]
fn a_game_goes_on_until_every_loss_is_small() {
    let data = separable(60, 3, 0.05, 2);
    let horizon = Horizon::new(100_000, 4000).unwrap();
    let start = || fol(Perceptron::new(3), &data, horizon, 1).with_loss(&Hinge);
    let evaluate = |game: &Fol<'_, Perceptron>| {
        Evaluation::new(game.ensemble(), &data.0, &data.1, &Hinge).unwrap()
    };
    let mut right = start();
    right.run(Stop::Consistent).unwrap();
    assert!(evaluate(&right).max_loss() > 0.5);
    let mut small = start();
    let ending = small.run(Stop::LossAtMost(0.2)).unwrap();
    assert!(ending.consistent_at.is_some() && ending.rounds > right.round());
    assert!(evaluate(&small).max_loss() <= 0.2);
    // Another goal of the same game is looked after from the beginning.
    let mut later = start();
    later.run_until(right.round() - 1, Stop::Consistent).unwrap();
    later.run(Stop::LossAtMost(0.2)).unwrap();
    assert!(evaluate(&later).max_loss() <= 0.2);
}

#[test]
fn stumps_need_a_column_of_two_values() {
    let constant = Design::from_rows(&[[1.0, 0.0], [1.0, 0.0]]).unwrap();
    let sparse = Design::from_sparse_rows(&[vec![], vec![]], 3).unwrap();
    for design in [constant, sparse] {
        let refused = StumpWinnow::new(&design, 20, 0.1).unwrap_err().to_string();
        assert!(refused.starts_with("no column has two values"), "{refused}");
    }
}

/// A learner of a user's: `f(x) = <w, x>` by stochastic gradient descent on the logistic loss.
#[derive(Clone)]
struct Mine(LinearClassifier);

impl Scorer for Mine {
    fn score(&self, x: &Sample<'_>) -> f64 {
        self.0.score(x)
    }
}

impl OnlineLearner for Mine {
    type Snapshot = LinearClassifier;

    fn step(&mut self, x: &Sample<'_>, y: f64) -> Result<(), margins_optim::Error> {
        let slope = Logistic.derivative(y * self.score(x));
        x.add_to(-0.5 * slope * y, &mut self.0.coef);
        Ok(())
    }

    fn snapshot(&self) -> LinearClassifier {
        self.0.clone()
    }
}

fn ends_consistent<P: SamplePlayer, L: OnlineLearner>(player: P, learner: L) {
    let (design, labels) = separable(50, 2, 0.2, 8);
    let horizon = Horizon::new(60_000, 60).unwrap();
    let mut game = Game::new(player, learner, &design, &labels, horizon, 5).unwrap();
    game.run(Stop::Consistent).unwrap();
    let result = Evaluation::new(game.ensemble(), &design, &labels, &ZeroOne).unwrap();
    assert_eq!((result.max_loss(), result.mean_loss(), result.mistakes()), (0.0, 0.0, 0));
}

#[test]
fn every_learner_and_every_player_plays() {
    let (design, _) = separable(50, 2, 0.2, 8);
    let focused = || FocusedPlayer::new(50).unwrap();
    let gaussian = |x: &Sample<'_>, z: &Sample<'_>| (-x.squared_distance(z)).exp();
    ends_consistent(focused(), Mine(LinearClassifier::zero(2)));
    ends_consistent(focused(), KernelPerceptron::new(gaussian, 40, 1).unwrap());
    ends_consistent(focused(), StumpWinnow::new(&design, 20, 0.1).unwrap());
    ends_consistent(focused(), MultilayerPerceptron::new(2, &[8], Logistic, 0.1, 1).unwrap());
    ends_consistent(focused(), AveragedPerceptron::new(2));
    ends_consistent(focused(), PassiveAggressive::new(2, Aggressiveness::Full).unwrap());
    ends_consistent(UniformPlayer::new(50).unwrap(), Perceptron::new(2));
    ends_consistent(Exp3P1::new(50, 0.1).unwrap(), Perceptron::new(2));
}

/// A game of the learner, interrupted four times and written to text each time, ends as the one in
/// one go does, to the last bit. `hold` takes the functions out of the learner, `back` puts them
/// in.
fn is_resumed_to_the_bit<L, M, R>(
    learner: &L,
    hold: impl Fn(Checkpoint<FocusedPlayer, L, L::Snapshot>) -> Checkpoint<FocusedPlayer, M, R>,
    back: impl Fn(Checkpoint<FocusedPlayer, M, R>) -> Checkpoint<FocusedPlayer, L, L::Snapshot>,
) where
    L: OnlineLearner + Clone,
    M: Serialize + DeserializeOwned,
    R: Serialize + DeserializeOwned,
{
    let data = separable(70, 3, 0.02, 4);
    let horizon = Horizon::new(9000, 40).unwrap();
    let slack = Slack::new(SlackKind::AdditiveSum, 70, 2.0, 9000).unwrap();
    let start = || {
        let game = fol(learner.clone(), &data, horizon, 11).with_loss(&Hinge);
        game.with_slack(slack.clone()).unwrap()
    };
    let write =
        |game: &Fol<'_, L>| serde_json::to_string(&hold(game.checkpoint().clone())).unwrap();
    let mut whole = start();
    whole.run(Stop::Consistent).unwrap();
    let mut text = write(&start());
    for rounds in [1, 137, 2000, 9000] {
        let checkpoint = back(serde_json::from_str(&text).unwrap());
        let mut game = Game::resume(checkpoint, &data.0, &data.1, &Hinge).unwrap();
        game.run_until(rounds, Stop::Consistent).unwrap();
        text = write(&game);
    }
    assert_eq!(text, write(&whole));
}

#[test]
fn a_game_resumed_from_a_file_is_the_game_in_one_go() {
    let (design, _) = separable(70, 3, 0.02, 4);
    let lambda = Lambda::new(0.01).unwrap();
    let gradient =
        OnlineGradient::new(Logistic, 3, optim::online::stochastic::Schedule::InverseSqrt(1.0))
            .and_then(|learner| learner.projected(3.0))
            .unwrap()
            .penalized(lambda)
            .averaged_after(100);
    let bottou = optim::online::stochastic::Schedule::Bottou { first: 0.5, lambda };
    let gaussian: fn(&Sample<'_>, &Sample<'_>) -> f64 = |x, z| (-x.squared_distance(z)).exp();
    let network = MultilayerPerceptron::new(3, &[8], Logistic, 0.1, 1).unwrap();
    is_resumed_to_the_bit(&Perceptron::new(3), |c| c, |c| c);
    is_resumed_to_the_bit(&AveragedPerceptron::new(3), |c| c, |c| c);
    for how in [Aggressiveness::Full, Aggressiveness::Capped(0.3), Aggressiveness::Damped(2.0)] {
        is_resumed_to_the_bit(&PassiveAggressive::new(3, how).unwrap(), |c| c, |c| c);
    }
    for gradient in [gradient, OnlineGradient::new(Logistic, 3, bottou).unwrap()] {
        is_resumed_to_the_bit(
            &gradient,
            |c| c.map(|learner| learner.map_loss(drop), |classifier| classifier),
            |c| c.map(|learner| learner.map_loss(|()| Logistic), |classifier| classifier),
        );
    }
    is_resumed_to_the_bit(&StumpWinnow::new(&design, 6, 0.1).unwrap(), |c| c, |c| c);
    is_resumed_to_the_bit(
        &KernelPerceptron::new(gaussian, 12, 5).unwrap(),
        |c| c.map(|learner| learner.map_kernel(drop), |classifier| classifier.map_kernel(drop)),
        |c| c.map(|learner| learner.map_kernel(|()| gaussian), |c| c.map_kernel(|()| gaussian)),
    );
    is_resumed_to_the_bit(
        &network,
        |c| c.map(|learner| learner.map_loss(drop), |classifier| classifier),
        |c| c.map(|learner| learner.map_loss(|()| Logistic), |classifier| classifier),
    );
}

/// Everything that comes of a document by one edit: an entry of a list left out or doubled, a
/// number replaced.
fn edits(document: &Value) -> Vec<Value> {
    fn places(value: &Value, at: &str, out: &mut Vec<String>) {
        out.push(at.to_owned());
        match value {
            Value::Array(list) => {
                let each = list.iter().enumerate();
                each.for_each(|(k, value)| places(value, &format!("{at}/{k}"), out));
            }
            Value::Object(map) => {
                map.iter().for_each(|(key, value)| places(value, &format!("{at}/{key}"), out));
            }
            _ => (),
        }
    }
    let mut all = Vec::new();
    places(document, "", &mut all);
    let mut edited = Vec::new();
    for place in all {
        let mut with = |edit: &dyn Fn(&mut Value)| {
            let mut copy = document.clone();
            edit(copy.pointer_mut(&place).unwrap());
            edited.push(copy);
        };
        match document.pointer(&place).unwrap() {
            Value::Array(list) if !list.is_empty() => {
                with(&|value| drop(value.as_array_mut().unwrap().pop()));
                with(&|value| value.as_array_mut().unwrap().clear());
                with(&|value| {
                    let list = value.as_array_mut().unwrap();
                    list.push(list[0].clone());
                });
            }
            Value::Number(_) => {
                let others =
                    [json!(0), json!(1), json!(63), json!(u64::MAX), json!(-1.5), json!(1e300)];
                others.into_iter().for_each(|other| with(&|value| *value = other.clone()));
            }
            _ => (),
        }
    }
    edited
}

/// A checkpoint that somebody has edited is refused or played, in any case without a panic.
fn survives_edits<P, L, M, R>(
    player: P,
    learner: L,
    hold: impl Fn(Checkpoint<P, L, L::Snapshot>) -> Checkpoint<P, M, R>,
    back: impl Fn(Checkpoint<P, M, R>) -> Checkpoint<P, L, L::Snapshot>,
) where
    P: SamplePlayer + Clone + Serialize + DeserializeOwned,
    L: OnlineLearner + Clone,
    M: Serialize + DeserializeOwned,
    R: Serialize + DeserializeOwned,
{
    let data = separable(5, 3, 0.02, 4);
    let horizon = Horizon::new(40, 3).unwrap();
    let mut game = Game::new(player, learner, &data.0, &data.1, horizon, 1).unwrap();
    game.run_until(25, Stop::Never).unwrap();
    let document = serde_json::to_value(hold(game.checkpoint().clone())).unwrap();
    let (mut refused, mut played) = (0, 0);
    for edited in edits(&document) {
        let Ok(checkpoint) = serde_json::from_value(edited) else {
            refused += 1;
            continue;
        };
        let Ok(mut game) = Game::resume(back(checkpoint), &data.0, &data.1, &ZeroOne) else {
            refused += 1;
            continue;
        };
        played += 1;
        for _ in 0..40 {
            if !game.play().unwrap_or(false) {
                break;
            }
        }
        let scores: Vec<f64> = data.0.samples().map(|x| game.ensemble().score(&x)).collect();
        assert_eq!(scores.len(), 5);
    }
    assert!(refused > 0 && played > 0);
}

#[test]
fn edited_checkpoints_do_not_panic() {
    let (design, _) = separable(5, 3, 0.02, 4);
    let network = MultilayerPerceptron::new(3, &[2, 2], Logistic, 0.1, 1).unwrap();
    let focused = || FocusedPlayer::new(5).unwrap();
    survives_edits(
        focused(),
        network,
        |c| c.map(|learner| learner.map_loss(drop), |classifier| classifier),
        |c| c.map(|learner| learner.map_loss(|()| Logistic), |classifier| classifier),
    );
    survives_edits(focused(), StumpWinnow::new(&design, 2, 0.1).unwrap(), |c| c, |c| c);
    survives_edits(Exp3P1::new(5, 0.1).unwrap(), Perceptron::new(3), |c| c, |c| c);
    survives_edits(focused(), AveragedPerceptron::new(3), |c| c, |c| c);
    fn kernel(x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        (-x.squared_distance(z)).exp()
    }
    survives_edits(
        focused(),
        KernelPerceptron::new(kernel as fn(&Sample<'_>, &Sample<'_>) -> f64, 2, 1).unwrap(),
        |c| c.map(|learner| learner.map_kernel(drop), |member| member.map_kernel(drop)),
        |c| {
            c.map(
                |learner| learner.map_kernel(|()| kernel as _),
                |member| member.map_kernel(|()| kernel as _),
            )
        },
    );
}

#[test]
fn slack_finds_the_outliers() {
    let (design, labels) = separable(200, 3, 0.2, 6);
    // Five labels are wrong, of samples far from the boundary too.
    let flipped = [3, 50, 77, 120, 199];
    let mut signs = labels.signs().to_vec();
    flipped.iter().for_each(|&row| signs[row] = -signs[row]);
    let data = (design, Labels::from_signs(signs).unwrap());
    let rounds = 400_000;
    let horizon = Horizon::new(rounds, 200).unwrap();
    for kind in [SlackKind::AdditiveSum, SlackKind::AdditiveEuclidean, SlackKind::Multiplicative] {
        let slack = Slack::new(kind, 200, 5.0, rounds).unwrap();
        let learner = Perceptron::new(3).without_intercept();
        let mut game = fol(learner, &data, horizon, 2).with_slack(slack).unwrap();
        game.run(Stop::Never).unwrap();
        // The ball has room for up to 4 K = 20 that are at least 1/2: the largest five then.
        let mut outliers = game.slack().unwrap().outliers();
        if kind == SlackKind::AdditiveEuclidean {
            outliers.truncate(5);
        }
        outliers.sort_unstable();
        assert_eq!(outliers, flipped, "{kind:?}");
        let result = Evaluation::new(game.ensemble(), &data.0, &data.1, &ZeroOne).unwrap();
        let wrong: Vec<usize> = (0..200).filter(|&row| result.losses[row] > 0.0).collect();
        assert_eq!(wrong, flipped, "{kind:?}");
    }
}

#[test]
fn refusals_name_what_does_not_fit() {
    let data = separable(10, 2, 0.1, 1);
    let other = separable(10, 2, 0.1, 2);
    let short = separable(9, 2, 0.1, 1);
    let horizon = Horizon::new(10, 2).unwrap();
    let player = |rows| FocusedPlayer::new(rows).unwrap();
    let new = |player, labels| Game::new(player, Perceptron::new(2), &data.0, labels, horizon, 1);
    let game = new(player(10), &data.1).unwrap();
    let slack = Slack::new(SlackKind::AdditiveSum, 9, 1.0, 10).unwrap();
    let resume = |design: &Design, labels: &Labels, loss: &dyn MarginLoss| {
        Game::resume(game.checkpoint().clone(), design, labels, loss).err().unwrap().to_string()
    };
    let constant = |scale: f64| {
        let mut learner = Perceptron::new(2);
        learner.step(&Sample::Dense(&[scale, scale]), 1.0).unwrap();
        learner
    };
    let huge = (
        Design::from_rows(&[[1e200, 0.0], [-1e200, 0.0]]).unwrap(),
        Labels::from_signs(vec![1.0, -1.0]).unwrap(),
    );
    let mut overflowing = fol(constant(1e200), &huge, horizon, 1);
    // The hash of the data is not the message's business.
    let text = [
        new(player(10), &short.1).err().unwrap().to_string(),
        new(player(9), &data.1).err().unwrap().to_string(),
        Game::new(player(10), Perceptron::new(3), &data.0, &data.1, horizon, 1)
            .err()
            .unwrap()
            .to_string(),
        new(player(10), &data.1).unwrap().with_slack(slack).err().unwrap().to_string(),
        resume(&other.0, &other.1, &ZeroOne).replace(char::is_numeric, "#"),
        resume(&data.0, &data.1, &Hinge),
        overflowing.play().unwrap_err().to_string(),
        Exp3P1::new(0, 0.1).unwrap_err().to_string(),
        UniformPlayer::new(0).unwrap_err().to_string(),
        Slack::new(SlackKind::AdditiveSum, 3, f64::NAN, 10).unwrap_err().to_string(),
    ];
    insta::with_settings!({filters => vec![(r"hash [0-9a-f#]+", "hash H")]}, {
        insta::assert_snapshot!(text.join("\n"));
    });
}
