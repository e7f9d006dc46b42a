//! Games of focused online learning: every learner, and games that go on from a file.
#![cfg(feature = "serde")]

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use margins_boost::{Horizon, PlayerKind, SlackKind, Subsample};
use margins_data::generate::RareSamples;
use margins_data::metrics::HeldOutError;
use margins_data::split::hold_out_plain;
use margins_data::{ClassLabels, Classes, Dataset, Design, Labels};
use margins_estimators::focused::{
    Checkpointing, Committee, EnsembleSettings, FocusedLearner, MistakeBound, Output,
    RegressorSettings, SlackBudget, SlackRule, Subsampling,
};
use margins_estimators::regularised::{ClassCosts, IterationObserver};
use margins_estimators::{Error, Evidence, settings};
use margins_kernels::KernelRegistry;
use margins_losses::{Hinge, Logistic};
use margins_model::{Format, Model, Registry, Scheme};
use margins_optim::online::Aggressiveness;
use margins_optim::online::stochastic::Schedule;
use margins_optim::{ClassWeights, Lambda, Status};

/// Two classes on either side of a line.
fn data() -> Dataset {
    let rows: Vec<[f64; 2]> = (0..40)
        .map(|i| {
            let (t, side) = (f64::from(i), if i % 2 == 0 { 1.0 } else { -1.0 });
            [side * (0.5 + (1.3 * t).sin().abs()), (0.7 * t).cos()]
        })
        .collect();
    let signs = (0..40).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    Dataset::new(Design::from_rows(&rows).unwrap(), Labels::from_signs(signs).unwrap()).unwrap()
}

fn learners() -> Vec<FocusedLearner> {
    let lambda = Some(Lambda::new(1e-3).unwrap());
    let (schedule, radius) = (Schedule::InverseSqrt(1.0), Some(5.0));
    vec![
        FocusedLearner::Perceptron,
        FocusedLearner::AveragedPerceptron,
        FocusedLearner::PassiveAggressive(Aggressiveness::Capped(1.0)),
        FocusedLearner::OnlineGradient { schedule, radius, lambda, loss: Arc::new(Hinge) },
        FocusedLearner::Adaptive { loss: Arc::new(Hinge) },
        FocusedLearner::Stump { thresholds: 10, eta: 0.1 },
        FocusedLearner::KernelPerceptron {
            kernel: "gaussian:sigma=1".to_owned(),
            registry: KernelRegistry::standard(),
            budget: 40,
        },
        FocusedLearner::MultilayerPerceptron {
            hidden: vec![8],
            step: 0.05,
            loss: Arc::new(Logistic),
        },
    ]
}

#[test]
fn every_learner_plays_and_goes_on_from_a_file() {
    let (data, folder) = (data(), tempfile::tempdir().unwrap());
    for (k, learner) in learners().into_iter().enumerate() {
        // A majority is never right before half of its classifiers are taken, so that the game
        // lasts.
        let whole = EnsembleSettings {
            learner,
            max_steps: Some(400),
            outputs: Some(11),
            ..EnsembleSettings::default()
        };
        let path = folder.path().join(format!("{k}.game"));
        let pausing = |pause_at| EnsembleSettings {
            checkpoint: Some(Checkpointing { path: path.clone(), pause_at }),
            ..whole.clone()
        };
        let expected = whole.fit(&data).unwrap();
        let paused = pausing(Some(9)).fit(&data).unwrap();
        assert!(!paused.is_finished() && paused.ending.rounds == 9, "{}", whole.learner);
        let resumed = pausing(None).fit(&data).unwrap();
        assert_eq!(resumed, expected, "{}", whole.learner);
        let Evidence::Played { max_loss, consistent_at } = expected.evidence else { panic!() };
        assert_eq!(
            (max_loss, consistent_at),
            (expected.evaluation.max_loss(), expected.ending.consistent_at)
        );
        assert_eq!(expected.model.is_some(), whole.makes_model());
    }
}

/// The distribution of section 3.1.
fn gap() -> Dataset {
    RareSamples::new(1, 1).gap(1199, 0.001, 0.01).unwrap()
}

/// The default is the majority of corollary 1, which is right where the average is not.
#[test]
fn the_default_is_right_on_the_distribution_of_the_paper() {
    let data = gap();
    let fitted = EnsembleSettings::default().fit(&data).unwrap();
    assert!(fitted.ending.consistent_at.is_some_and(|step| step < fitted.max_steps / 4));
    assert_eq!((fitted.evaluation.mistakes(), fitted.evaluation.max_loss()), (0, 0.0));
    let registry = Registry::standard();
    let model = fitted.model.unwrap();
    let decided = model.predict(data.design(), &registry).unwrap();
    let wrong =
        decided.iter().zip(data.labels().signs()).filter(|(k, y)| (**k == 1) != (**y > 0.0));
    assert_eq!(wrong.count(), 0);
}

/// The ensembles of linear learners and of kernels are models, which score as the ensembles do, also
/// from a file.
#[test]
fn ensembles_are_models() {
    let (data, registry) = (data(), Registry::standard());
    for learner in learners().into_iter().filter(FocusedLearner::makes_model) {
        for output in [Output::Majority, Output::Average] {
            let settings = EnsembleSettings {
                learner: learner.clone(),
                output,
                max_steps: Some(400),
                outputs: Some(7),
                epsilon: 0.01,
                ..EnsembleSettings::default()
            };
            let fitted = settings.fit(&data).unwrap();
            let model = fitted.model.unwrap();
            let majority = output == Output::Majority;
            assert_eq!(model.scheme() == Scheme::Majority, majority, "{learner}");
            assert_eq!(model.members().len(), if majority { fitted.ensemble.len() } else { 1 });
            assert_eq!((model.loss(), model.members()[0].lambda), ("zero-one", None));
            let bytes = model.to_bytes(Format::Binary).unwrap();
            assert_eq!(Model::from_bytes(&bytes, &registry).unwrap(), model);
            let scores = model.decision_function(data.design(), &registry).unwrap();
            let expected = fitted.ensemble.scores(data.design(), &registry.kernels).unwrap();
            for (score, expected) in scores.iter().zip(&expected) {
                assert!((score - expected).abs() < 1e-9, "{learner}: {score} {expected}");
            }
        }
    }
    let stumps = FocusedLearner::Stump { thresholds: 10, eta: 0.1 };
    let fitted =
        EnsembleSettings { learner: stumps, ..EnsembleSettings::default() }.fit(&data).unwrap();
    assert_eq!(fitted.model, None);
}

/// A single classifier comes out: the last one is right on every row if the game ends early, and the
/// validated one has the error on the rows held out that it is said to have.
#[test]
fn single_classifiers_come_out() {
    let (data, registry) = (data(), Registry::standard());
    let (learned, held_out) = hold_out_plain(data.rows(), 0.2, 1).unwrap();
    for learner in learners() {
        for output in [Output::Last, Output::Validated] {
            let settings = EnsembleSettings {
                learner: learner.clone(),
                output,
                max_steps: Some(2000),
                outputs: Some(30),
                ..EnsembleSettings::default()
            };
            let fitted = settings.fit(&data).unwrap();
            assert_eq!(fitted.ensemble.len(), 1, "{learner}");
            assert!(fitted.model.is_none_or(|model| model.scheme() == Scheme::Binary));
            let scores = fitted.ensemble.scores(data.design(), &registry.kernels).unwrap();
            let signs = data.labels().signs();
            let wrong = |rows: &[usize]| {
                rows.iter().filter(|&&row| scores[row] * signs[row] <= 0.0).count()
            };
            let Some(choice) = fitted.validation else {
                assert_eq!(output, Output::Last);
                if fitted.ending.consistent_at.is_some() {
                    assert_eq!(fitted.ending.rounds % data.rows() as u64, 0);
                    assert_eq!(fitted.evaluation.mistakes(), 0, "{learner}");
                }
                continue;
            };
            assert_eq!((choice.rows, fitted.samples), (held_out.len(), learned.len()));
            let error = wrong(&held_out) as f64 / held_out.len() as f64;
            assert_eq!(choice.error, error, "{learner}");
            let deviation = (choice.candidates as f64 / 0.01).ln() / (2.0 * choice.rows as f64);
            assert!(error <= choice.bound && choice.bound <= (error + deviation.sqrt()).min(1.0));
            let ones = vec![1.0; choice.rows];
            assert_eq!(choice, HeldOutError::new(error, choice.candidates, 0.01, &ones));
            assert!((1..=31).contains(&choice.candidates) && fitted.slack.is_none());
        }
    }
    let subsample = Some(Subsampling { outliers: 1, rare: 20 });
    let refused =
        EnsembleSettings { output: Output::Validated, subsample, ..EnsembleSettings::default() };
    assert!(refused.fit(&data).unwrap_err().to_string().contains("a subsample"));
}

/// The names of outputs are those of the settings, and stand for one output each.
#[test]
fn outputs_have_the_names_of_the_setting() {
    let names: Vec<&str> = settings::choices("combine").map(|(name, _)| name).collect();
    assert_eq!(names, Output::NAMED.map(|(name, _)| name));
    for (name, output) in Output::NAMED {
        assert_eq!((output.name(), Output::named(name)), (name, Some(output)));
    }
    assert_eq!(Output::named("best"), None);
}

/// A seed that holds out all rows of a class is refused, and no other.
#[test]
fn no_class_is_held_out_as_a_whole() {
    let row = |i: u32| [f64::from(i), f64::from(i % 3)];
    let design = Design::from_rows(&(0..20).map(row).collect::<Vec<_>>()).unwrap();
    let signs = (0..20).map(|i| if i == 7 { 1.0 } else { -1.0 }).collect();
    let data = Dataset::new(design, Labels::from_signs(signs).unwrap()).unwrap();
    let mut refused = 0;
    for seed in 0..40 {
        let short = EnsembleSettings { max_steps: Some(50), seed, ..EnsembleSettings::default() };
        let fitted = EnsembleSettings { output: Output::Validated, ..short }.fit(&data);
        let (_, held_out) = hold_out_plain(20, 0.2, seed).unwrap();
        match fitted {
            Ok(_) => assert!(!held_out.contains(&7), "seed {seed}"),
            Err(error) => {
                let message = format!("the seed {seed}, which holds out all rows of the class '1'");
                assert!(held_out.contains(&7) && error.to_string().contains(&message), "{error}");
                refused += 1;
            }
        }
    }
    assert!((1..20).contains(&refused), "{refused}");
}

/// The rows held out are not learned from: other labels there leave the same candidates, so that the
/// mistakes of the last one turn around where there is no other.
#[test]
fn rows_held_out_are_not_learned_from() {
    let data = data();
    let (_, held_out) = hold_out_plain(data.rows(), 0.2, 1).unwrap();
    let mut signs = data.labels().signs().to_vec();
    held_out.iter().for_each(|&row| signs[row] = -signs[row]);
    let turned = Dataset::new(data.design().clone(), Labels::from_signs(signs).unwrap()).unwrap();
    let settings = EnsembleSettings {
        output: Output::Validated,
        standardize: true,
        max_steps: Some(1),
        outputs: Some(1),
        ..EnsembleSettings::default()
    };
    // Of the first round's classifier, 0 everywhere, and the last one.
    let [fitted, turned] = [&data, &turned].map(|data| settings.fit(data).unwrap());
    let (error, turned) = (fitted.validation.unwrap().error, turned.validation.unwrap().error);
    assert!(error < 0.5 && (turned - (1.0 - error)).abs() < 1e-12, "{error} {turned}");
}

/// Theorem 1 with the settings of the user, and theorem 3 for the subsample.
#[test]
fn guarantees_are_those_of_the_settings() {
    let data = data();
    let theory = |settings: &EnsembleSettings| settings.fit(&data).unwrap().guarantee;
    let default = theory(&EnsembleSettings::default());
    assert_eq!((default.delta, default.mistakes), (0.01, 40.0));
    assert_eq!(default.theory, Horizon::theorem_1(40, 0.49, 0.01, 40.0).unwrap());
    assert_eq!((default.horizon, default.of_subsample), (default.theory, None));
    assert!(default.failure.is_some_and(|p| p <= 0.01 && p > 0.008), "{:?}", default.failure);
    let strict = EnsembleSettings {
        delta: 1e-6,
        mistakes: MistakeBound::Margin(0.5),
        max_steps: Some(500),
        ..EnsembleSettings::default()
    };
    let norms = data.design().samples().map(|x| x.squared_norm()).fold(0.0, f64::max);
    let found = theory(&strict);
    assert!((found.mistakes - (norms + 1.0) / 0.25).abs() < 1e-9);
    assert_eq!(found.theory, Horizon::theorem_1(40, 0.49, 1e-6, found.mistakes).unwrap());
    assert_eq!((found.horizon.rounds(), found.failure), (500, Some(1.0)));
    let last = EnsembleSettings { output: Output::Last, ..EnsembleSettings::default() };
    assert_eq!(theory(&last).failure, None);
    let subsample = Some(Subsampling { outliers: 1, rare: 20 });
    let of_subsample =
        theory(&EnsembleSettings { subsample, ..EnsembleSettings::default() }).of_subsample;
    assert_eq!(of_subsample, Some(Subsample::new(40, 1, 20).unwrap().failure()));
    for (refused, message) in [
        (EnsembleSettings { delta: 1.0, ..strict.clone() }, "delta is 1, but"),
        (
            EnsembleSettings { mistakes: MistakeBound::Mistakes(-1.0), ..strict.clone() },
            "mistakes is -1",
        ),
        (EnsembleSettings { mistakes: MistakeBound::Margin(0.0), ..strict.clone() }, "margin is 0"),
        (
            EnsembleSettings { learner: FocusedLearner::AveragedPerceptron, ..strict.clone() },
            "give a number of mistakes instead",
        ),
        (EnsembleSettings { loss: Arc::new(Hinge), ..strict }, "give a number of mistakes instead"),
    ] {
        let refused = refused.check().unwrap_err().to_string();
        assert!(refused.contains(message), "{refused}");
    }
}

/// Every player plays, from a file too, and the evidence of theorem 1 is that of the focused one.
#[test]
fn every_player_plays_and_goes_on_from_a_file() {
    let (data, folder) = (data(), tempfile::tempdir().unwrap());
    for (name, player) in PlayerKind::NAMED {
        assert_eq!((name, Some(player)), (player.name(), PlayerKind::named(name)));
        let whole = EnsembleSettings {
            player,
            max_steps: Some(3000),
            outputs: Some(3000),
            slack: SlackRule::Off,
            ..EnsembleSettings::default()
        };
        let path = folder.path().join(name);
        let pausing = |pause_at| EnsembleSettings {
            checkpoint: Some(Checkpointing { path: path.clone(), pause_at }),
            ..whole.clone()
        };
        let expected = whole.fit(&data).unwrap();
        pausing(Some(200)).fit(&data).unwrap();
        assert_eq!(pausing(None).fit(&data).unwrap(), expected, "{name}");
        assert_eq!(expected.seen.bound.is_some(), player == PlayerKind::Focused);
        let (seen, rounds) = (expected.ending.seen_loss, expected.ending.rounds);
        assert_eq!(expected.seen.mean, seen / rounds as f64);
        assert_eq!(expected.guarantee.failure.is_some(), player == PlayerKind::Focused);
        let most = margins_boost::mean_loss_bound(40, rounds, seen, 0.01);
        assert!(expected.seen.bound.is_none_or(|bound| bound <= most.min(1.0) + 1e-12));
    }
    // Lemma 2: in 15 000 uniform draws no perceptron gets the rare samples right, for it needs 400 of
    // them; the focused player finds them.
    let data = gap();
    let mistakes = |player| {
        let settings = EnsembleSettings {
            player,
            intercept: false,
            output: Output::Last,
            max_steps: Some(15_000),
            slack: SlackRule::Off,
            ..EnsembleSettings::default()
        };
        settings.fit(&data).unwrap().evaluation.mistakes()
    };
    let rare = |row: usize| data.design().sample(row).dot(&[0.0, 1.0]) * data.labels().signs()[row];
    let rare = (0..data.rows()).filter(|&row| rare(row) < 0.0).count();
    assert_eq!((mistakes(PlayerKind::Focused), mistakes(PlayerKind::Uniform)), (0, rare));
}

/// With a loss other than the 0-1 loss the game goes on until every loss is at most epsilon.
#[test]
fn the_largest_loss_is_at_most_epsilon() {
    let data = data();
    for epsilon in [0.49, 0.2] {
        let settings =
            EnsembleSettings { loss: Arc::new(Hinge), epsilon, ..EnsembleSettings::default() };
        let fitted = settings.fit(&data).unwrap();
        assert!(fitted.is_finished() && fitted.ending.consistent_at.is_some());
        assert!(fitted.evaluation.max_loss() <= epsilon, "{}", fitted.evaluation.max_loss());
    }
    let refusal = |settings: EnsembleSettings| settings.fit(&data).unwrap_err().to_string();
    for epsilon in [0.0, 1.0, f64::NAN] {
        let refused = refusal(EnsembleSettings { epsilon, ..EnsembleSettings::default() });
        assert!(refused.ends_with("must be between 0 and 1"), "{refused}");
    }
    let logistic =
        EnsembleSettings { loss: Arc::new(Logistic), epsilon: 0.2, ..EnsembleSettings::default() };
    let refused = refusal(logistic.clone());
    assert!(refused.starts_with("epsilon is 0.2, but must be more than 0.3133"), "{refused}");
    let average = EnsembleSettings { output: Output::Average, max_steps: Some(50), ..logistic };
    assert!(average.fit(&data).is_ok());
}

/// Columns of very different scales, as of a table of persons.
fn raw_table() -> Dataset {
    let row = |i: usize| {
        let t = i as f64;
        let (age, bmi) = (45.0 + 20.0 * (1.3 * t).sin(), 26.0 + 6.0 * (0.9 * t + 1.0).cos());
        [age, 50_000.0 + 15_000.0 * (2.1 * t).cos(), bmi]
    };
    let rows: Vec<[f64; 3]> = (0..300).map(row).collect();
    let risk = |row: &[f64; 3]| (row[0] - 45.0) / 20.0 + (row[2] - 26.0) / 6.0;
    let rows: Vec<[f64; 3]> = rows.into_iter().filter(|row| risk(row).abs() > 0.2).collect();
    let signs = rows.iter().map(|row| risk(row).signum()).collect();
    Dataset::new(Design::from_rows(&rows).unwrap(), Labels::from_signs(signs).unwrap()).unwrap()
}

/// Standardised features are learned in a fraction of the steps, and the model is one of the
/// features as given.
#[test]
fn standardised_games_leave_models_of_raw_features() {
    let (data, registry) = (raw_table(), Registry::standard());
    for learner in learners() {
        for output in [Output::Majority, Output::Average] {
            let settings = EnsembleSettings {
                learner: learner.clone(),
                output,
                standardize: true,
                max_steps: Some(30_000),
                ..EnsembleSettings::default()
            };
            let fitted = settings.fit(&data).unwrap();
            let scores = fitted.ensemble.scores(data.design(), &registry.kernels).unwrap();
            let wrong = scores.iter().zip(data.labels().signs());
            let wrong = wrong.filter(|(score, y)| (**score > 0.0) != (**y > 0.0)).count();
            assert_eq!(wrong, fitted.evaluation.mistakes(), "{learner}");
            if matches!(
                learner,
                FocusedLearner::Perceptron | FocusedLearner::KernelPerceptron { .. }
            ) {
                assert_eq!(wrong, 0, "{learner} {output:?}");
            }
            assert_eq!(fitted.model.is_some(), settings.makes_model());
            let Some(model) = fitted.model else { continue };
            assert!(model.members()[0].training.standardize);
            let of_model = model.decision_function(data.design(), &registry).unwrap();
            for (score, expected) in of_model.iter().zip(&scores) {
                assert!((score - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{learner}");
            }
        }
    }
    let raw = EnsembleSettings { max_steps: Some(2000), ..EnsembleSettings::default() }
        .fit(&data)
        .unwrap();
    assert!(raw.evaluation.mistakes() > 50, "{}", raw.evaluation.mistakes());
    assert!(raw.baseline > 0.3 && raw.baseline <= 0.5);
}

#[test]
fn stumps_without_two_values_are_refused() {
    let design = Design::from_rows(&[[1.0, 1.0], [1.0, 1.0]]).unwrap();
    let data = Dataset::new(design, Labels::from_signs(vec![1.0, -1.0]).unwrap()).unwrap();
    let learner = FocusedLearner::Stump { thresholds: 20, eta: 0.1 };
    let refused = EnsembleSettings { learner, ..EnsembleSettings::default() }
        .fit(&data)
        .unwrap_err()
        .to_string();
    assert!(refused.starts_with("no column has two values"), "{refused}");
}

#[test]
fn files_of_other_games_are_refused() {
    let (data, folder) = (data(), tempfile::tempdir().unwrap());
    let path = folder.path().join("game");
    let settings = EnsembleSettings {
        max_steps: Some(100),
        outputs: Some(5),
        checkpoint: Some(Checkpointing { path: path.clone(), pause_at: Some(3) }),
        ..EnsembleSettings::default()
    };
    settings.fit(&data).unwrap();
    let refusal = |settings: &EnsembleSettings| settings.fit(&data).unwrap_err().to_string();
    let other = EnsembleSettings { seed: 2, ..settings.clone() };
    assert!(
        refusal(&other).ends_with(
            "it is of a game with seed '1', not '2'; use another file name to start from scratch"
        ),
        "{}",
        refusal(&other)
    );
    let other = EnsembleSettings { loss: Arc::new(Hinge), ..settings.clone() };
    assert!(refusal(&other).contains("loss"), "{}", refusal(&other));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("\"round\":3", "\"round\":2", 1)).unwrap();
    assert!(refusal(&settings).contains("it is damaged"), "{}", refusal(&settings));
    std::fs::write(&path, "height,width\n").unwrap();
    assert!(refusal(&settings).contains("no checkpoint"), "{}", refusal(&settings));
}

#[test]
fn settings_that_no_game_can_use_are_refused() {
    let stump = FocusedLearner::Stump { thresholds: 10, eta: 0.1 };
    let settings =
        EnsembleSettings { learner: stump, intercept: false, ..EnsembleSettings::default() };
    assert!(settings.check().unwrap_err().to_string().contains("stump:thresholds=10,eta=0.1"));
    let slack = SlackRule::Budget(SlackBudget { kind: SlackKind::AdditiveSum, budget: 2.0 });
    let subsample = Some(Subsampling { outliers: 1, rare: 20 });
    assert!(
        EnsembleSettings { slack, subsample, ..EnsembleSettings::default() }.fit(&data()).is_err()
    );
    let with_slack =
        EnsembleSettings { slack, ..EnsembleSettings::default() }.fit(&data()).unwrap();
    assert!(with_slack.outliers.is_some());
}

/// Every learner leaves an ensemble that decides as the game has judged it, also from a file.
#[test]
fn ensembles_of_every_learner_score_samples() {
    let registry = Registry::standard();
    let data = data();
    let learners = [
        "perceptron",
        "averaged-perceptron",
        "passive-aggressive:capped=1",
        "online-gradient:inverse-sqrt=1,loss=hinge",
        "stump:thresholds=5,eta=0.1",
        "kernel-perceptron:budget=50",
        "mlp:hidden=4,step=0.05,loss=logistic",
    ];
    for text in learners {
        let learner = FocusedLearner::parse(text, Some("gaussian:sigma=1"), &registry).unwrap();
        let settings = EnsembleSettings {
            learner,
            max_steps: Some(400),
            outputs: Some(5),
            ..EnsembleSettings::default()
        };
        let fitted = settings.fit(&data).unwrap();
        // A game that is won early leaves fewer classifiers than were asked for.
        assert!((1..=5).contains(&fitted.ensemble.len()), "{text}");
        let scores = fitted.ensemble.scores(data.design(), &registry.kernels).unwrap();
        let wrong = scores.iter().zip(data.labels().signs());
        let wrong = wrong.filter(|(score, y)| (if **score > 0.0 { 1.0 } else { -1.0 }) != **y);
        assert_eq!(wrong.count(), fitted.evaluation.mistakes(), "{text}");
        let text = serde_json::to_string(&fitted.ensemble).unwrap();
        let read: Committee = serde_json::from_str(&text).unwrap();
        assert_eq!(read, fitted.ensemble);
    }
    for (text, reason) in [
        ("boost", "known are perceptron, averaged"),
        ("stump:eta=x", "the value 'x' of 'eta' is not a number"),
        ("mlp:hidden=8,loss=hinges", "unknown loss 'hinges'"),
    ] {
        let refused = FocusedLearner::parse(text, None, &registry).unwrap_err();
        assert!(refused.starts_with(reason), "{refused}");
    }
}

/// The time leaves a classifier, though none was taken yet; who interrupts a game wants none, and
/// can go on from its checkpoint.
#[test]
fn limits_end_every_game() {
    let (data, folder) = (data(), tempfile::tempdir().unwrap());
    for (number, learner) in learners().into_iter().enumerate() {
        // The outputs come late, so that the ensemble is empty.
        let settings =
            EnsembleSettings { learner, max_steps: Some(1 << 40), ..EnsembleSettings::default() };
        let settings = EnsembleSettings { outputs: Some(3), ..settings };
        let late = EnsembleSettings { time_limit: Some(Duration::ZERO), ..settings.clone() };
        let fitted = late.fit(&data).unwrap();
        assert_eq!((fitted.status, fitted.is_finished()), (Status::TimeLimit, false));
        assert_eq!((fitted.ensemble.len(), fitted.ending.rounds), (1, 64), "{}", late.learner);
        assert!(fitted.evaluation.mistakes() <= 20, "{}", late.learner);

        let path = folder.path().join(number.to_string());
        let checkpoint = Some(Checkpointing { path: path.clone(), pause_at: None });
        let iterations = IterationObserver::new(|()| ControlFlow::Break(()));
        let ended =
            EnsembleSettings { iterations, checkpoint: checkpoint.clone(), ..settings.clone() };
        let refused = ended.fit(&data).unwrap_err();
        assert!(matches!(refused, Error::Boost(margins_boost::Error::Interrupted)), "{refused}");
        let later = EnsembleSettings { checkpoint, ..late }.fit(&data).unwrap();
        assert_eq!(later.ending.rounds, 128);
    }
}

/// Rows of which a fifth has the wrong label: no learner gets every one right, so that the default plays
/// a second game with slack, whose ensemble is wrong on little more than the wrong labels. It pauses and
/// goes on as if there had been one game.
#[test]
fn a_game_that_is_lost_is_followed_by_one_with_slack() {
    let (rows, flipped) = (100, 20);
    let side = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let features: Vec<[f64; 4]> = (0..rows)
        .map(|i| {
            let t = i as f64;
            [
                side(i) * (0.2 + (1.3 * t).sin().abs()),
                9.0 + (0.7 * t).cos(),
                (2.1 * t).sin(),
                (5.3 * t).cos(),
            ]
        })
        .collect();
    let sign = |i: usize| if i % 5 == 3 { -side(i) } else { side(i) };
    let labels = Labels::from_signs((0..rows).map(sign).collect()).unwrap();
    let noisy = Dataset::new(Design::from_rows(&features).unwrap(), labels).unwrap();

    let off = EnsembleSettings { slack: SlackRule::Off, ..EnsembleSettings::default() };
    let alone = off.fit(&noisy).unwrap();
    let whole = EnsembleSettings::default().fit(&noisy).unwrap();
    assert_eq!((alone.status, alone.slack), (Status::IterationLimit, None));
    let wrong = alone.evaluation.mistakes();
    let budget = SlackBudget { kind: SlackKind::AdditiveSum, budget: wrong as f64 };
    assert_eq!((whole.status, whole.slack), (Status::IterationLimit, Some(budget)));
    // Theorem 1 is for the first game.
    assert!(alone.guarantee.failure.is_some() && whole.guarantee.failure.is_none());
    assert!(wrong > flipped + 2, "{wrong} rows wrong without slack");
    assert!(
        whole.evaluation.mistakes() <= flipped + 2,
        "{} rows wrong",
        whole.evaluation.mistakes()
    );
    let given = EnsembleSettings {
        learner: FocusedLearner::Adaptive { loss: Arc::new(Logistic) },
        slack: SlackRule::Budget(budget),
        ..EnsembleSettings::default()
    };
    assert_eq!(
        (alone.learner.as_str(), whole.learner.as_str()),
        ("perceptron", "adaptive:loss=logistic")
    );
    assert!(whole.ensemble == given.fit(&noisy).unwrap().ensemble);
    // Fewer steps than theorem 1 asks for say nothing on outliers.
    let short = EnsembleSettings { max_steps: Some(500), ..EnsembleSettings::default() }
        .fit(&noisy)
        .unwrap();
    assert_eq!((short.status, short.slack), (Status::IterationLimit, None));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("noisy.game");
    let pausing = |pause_at, iterations| {
        let checkpoint = Some(Checkpointing { path: path.clone(), pause_at });
        EnsembleSettings { iterations, checkpoint, ..EnsembleSettings::default() }
            .fit(&noisy)
            .unwrap()
    };
    let steps = whole.max_steps / 2;
    assert_eq!((alone.ending.rounds, whole.ending.rounds), (steps, whole.max_steps));
    for pause_at in [steps - 7, steps, steps + 99] {
        let paused = pausing(Some(pause_at), IterationObserver::default());
        assert_eq!((paused.status, paused.ending.rounds), (Status::Paused, pause_at));
    }
    // No step of a resumed game is played with a file that has lost the second game.
    let file = path.clone();
    let resumed = pausing(
        None,
        IterationObserver::new(move |()| {
            let games = std::fs::read_to_string(&file).unwrap().matches("\"seen_loss\"").count();
            assert_eq!(games, 2);
            ControlFlow::Continue(())
        }),
    );
    assert_eq!(resumed, whole);
}

/// Three classes around the corners of a triangle.
fn three_classes(rows: usize) -> Dataset<Classes> {
    let point = |i: usize| {
        let angle = (i % 3) as f64 * 2.1 + 0.4 * (1.3 * i as f64).sin();
        [(1.0 + (i % 5) as f64 / 5.0) * angle.cos(), angle.sin()]
    };
    let names: Vec<String> = (0..rows).map(|i| format!("class {}", i % 3)).collect();
    let design = Design::from_rows(&(0..rows).map(point).collect::<Vec<_>>()).unwrap();
    Dataset::new(design, Classes::new(&names).unwrap()).unwrap()
}

/// Each class has the game that it has against the rest alone with its share of delta; the largest
/// score decides, also from a file; and where every ensemble is right, so is the decision.
#[test]
fn several_classes_have_a_game_each() {
    let (data, registry) = (three_classes(60), Registry::standard());
    let mut consistent = 0;
    for learner in learners() {
        for output in [Output::Majority, Output::Average, Output::Last] {
            let settings = EnsembleSettings {
                learner: learner.clone(),
                output,
                max_steps: Some(600),
                outputs: Some(9),
                delta: 0.03,
                standardize: true,
                ..EnsembleSettings::default()
            };
            let fitted = settings.fit_classes(&data).unwrap();
            for (class, game) in fitted.classes.iter().enumerate() {
                let labels = data.labels().against_rest(class);
                let alone = EnsembleSettings { delta: 0.01, ..settings.clone() };
                assert_eq!(game, &alone.fit(&data.relabelled(labels).unwrap()).unwrap());
            }
            let majority = output == Output::Majority;
            let model = fitted.model.clone();
            assert_eq!(model.is_some(), settings.makes_model(), "{learner}");
            let mistakes = fitted.wrong.clone();
            if fitted.classes.iter().all(|game| game.evaluation.mistakes() == 0) {
                assert!(mistakes.is_empty(), "{learner}: {mistakes:?}");
                consistent += 1;
            }
            let committee = fitted.into_committee();
            let bytes = committee.to_bytes().unwrap();
            assert_eq!(Committee::from_bytes(&bytes).unwrap(), committee);
            let scores = committee.scores(data.design(), &registry.kernels).unwrap();
            let best = |row: usize| {
                (0..3).fold(
                    0,
                    |best, k| if scores[(row, k)] > scores[(row, best)] { k } else { best },
                )
            };
            let wrong: Vec<usize> =
                (0..60).filter(|&row| best(row) != data.labels().index(row)).collect();
            assert_eq!(mistakes, wrong, "{learner}");
            let Some(model) = model else { continue };
            let scheme = if majority { Scheme::MajorityVersusRest } else { Scheme::OneVersusRest };
            assert_eq!((model.scheme(), model.classes().len()), (scheme, 3));
            let read = Model::from_bytes(&model.to_bytes(Format::Binary).unwrap(), &registry);
            let of_model = read.unwrap().decision_functions(data.design(), &registry).unwrap();
            assert!((of_model - &scores).amax() < 1e-9, "{learner}");
        }
    }
    assert!(consistent >= 10, "{consistent}");
}

/// A game of each class pauses and goes on from its own file; the classes share the time.
#[test]
fn games_of_several_classes_go_on_from_their_files() {
    let (data, folder) = (three_classes(60), tempfile::tempdir().unwrap());
    let whole =
        EnsembleSettings { max_steps: Some(400), outputs: Some(11), ..EnsembleSettings::default() };
    let path = folder.path().join("three.game");
    let pausing = |pause_at| EnsembleSettings {
        checkpoint: Some(Checkpointing { path: path.clone(), pause_at }),
        ..whole.clone()
    };
    let paused = pausing(Some(9)).fit_classes(&data).unwrap();
    assert_eq!((paused.status, paused.is_finished()), (Status::Paused, false));
    assert!((1..4).all(|k| folder.path().join(format!("three.game.{k}")).exists()));
    assert_eq!(pausing(None).fit_classes(&data).unwrap(), whole.fit_classes(&data).unwrap());
    // A game of 400 steps may be over before the clock is read, after 64 steps.
    let late =
        EnsembleSettings { max_steps: Some(1 << 40), time_limit: Some(Duration::ZERO), ..whole };
    assert_eq!(late.fit_classes(&data).unwrap().status, Status::TimeLimit);
}

/// One game of several classes: what it reports is what the model decides, also from a file; the bound of
/// a margin is that of Kesler's construction; a part of the rows and rows held out are those of the
/// seed.
#[test]
fn several_classes_have_one_game() {
    let (data, registry) = (three_classes(60), Registry::standard());
    for (output, scheme) in [
        (Output::Majority, Scheme::Plurality),
        (Output::Average, Scheme::OneVersusRest),
        (Output::Last, Scheme::OneVersusRest),
        (Output::Validated, Scheme::OneVersusRest),
    ] {
        let settings =
            EnsembleSettings { output, standardize: true, ..EnsembleSettings::default() };
        let fitted = settings.fit_joint(&data).unwrap();
        assert_eq!(fitted.status, Status::RuleMet, "{output:?}");
        assert_eq!(fitted.samples, if output == Output::Validated { 48 } else { 60 });
        let model = fitted.model.clone().unwrap();
        assert_eq!(model.scheme(), scheme);
        let read = Model::from_bytes(&model.to_bytes(Format::Binary).unwrap(), &registry).unwrap();
        let decided = read.predict(data.design(), &registry).unwrap();
        let wrong = |row: &usize| decided[*row] != data.labels().index(*row);
        assert_eq!(fitted.evaluation.wrong, (0..60).filter(wrong).collect::<Vec<_>>());
        assert!(output == Output::Validated || fitted.evaluation.consistent());
        assert!((fitted.evaluation.mean_loss() - fitted.training_error).abs() < 1e-12);
        let bytes = fitted.ensemble.to_bytes().unwrap();
        let scores = Committee::from_bytes(&bytes).unwrap();
        let scores = scores.scores(data.design(), &registry.kernels).unwrap();
        let of_model = read.decision_functions(data.design(), &registry).unwrap();
        assert!((of_model - scores).amax() < 1e-9);
    }
    let by_margin = EnsembleSettings {
        mistakes: MistakeBound::Margin(0.1),
        subsample: Some(Subsampling { outliers: 1, rare: 30 }),
        class_weights: ClassWeights::Balanced,
        ..EnsembleSettings::default()
    };
    let fitted = by_margin.fit_joint(&data).unwrap();
    let part = Subsample::new(60, 1, 30).unwrap().draw(by_margin.seed);
    let largest =
        data.design().select(&part).samples().map(|x| x.squared_norm()).fold(0.0, f64::max);
    assert!((fitted.guarantee.mistakes - 2.0 * (largest + 1.0) / 0.01).abs() < 1e-9);
    assert!(fitted.guarantee.of_subsample.is_some() && fitted.samples == part.len());
    for (settings, other) in [
        (
            EnsembleSettings { loss: Arc::new(Hinge), ..EnsembleSettings::default() },
            "the loss hinge",
        ),
        (
            EnsembleSettings {
                learner: FocusedLearner::Stump { thresholds: 3, eta: 0.1 },
                ..EnsembleSettings::default()
            },
            "the learner stump:thresholds=3,eta=0.1",
        ),
    ] {
        let refused = settings.fit_joint(&data).unwrap_err().to_string();
        assert!(refused.contains(other), "{refused}");
    }
}

/// Rows that contradict others are followed by a second game of the same learner; a row that is spared by
/// its weight may be wrong; a game goes on from its file.
#[test]
fn one_game_has_slack_weights_and_a_file() {
    let data = three_classes(60);
    let rows: Vec<usize> = (0..60).chain([0, 1]).collect();
    let indices = data.labels().indices();
    let moved = (0..62).map(|row| match row {
        0..60 => indices[row],
        _ => (indices[row - 60] + 1) % 3,
    });
    let names = data.labels().names().to_vec();
    let labels = Classes::from_indices(moved.collect(), names).unwrap();
    let contradictory = Dataset::new(data.design().select(&rows), labels).unwrap();
    let settings = EnsembleSettings { outputs: Some(31), ..EnsembleSettings::default() };
    let fitted = settings.fit_joint(&contradictory).unwrap();
    assert_eq!((&fitted.learner[..], fitted.status), ("perceptron", Status::IterationLimit));
    assert_eq!(fitted.ending.rounds, 2 * fitted.guarantee.horizon.rounds());
    assert!(fitted.evaluation.mistakes() >= 2);

    let weights = (0..62).map(|row| if row < 60 { 2.0 } else { 0.2 }).collect();
    let weighed = contradictory.with_weights(weights).unwrap();
    let fitted = settings.fit_joint(&weighed).unwrap();
    assert_eq!((fitted.status, &fitted.evaluation.wrong[..]), (Status::RuleMet, &[60, 61][..]));
    assert!((fitted.evaluation.max_loss() - 0.1).abs() < 1e-12);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("joint.game");
    let pausing = |pause_at| EnsembleSettings {
        checkpoint: Some(Checkpointing { path: path.clone(), pause_at }),
        ..settings.clone()
    };
    let paused = pausing(Some(5)).fit_joint(&data).unwrap();
    assert_eq!((paused.status, paused.is_finished(), path.exists()), (Status::Paused, false, true));
    assert_eq!(pausing(None).fit_joint(&data).unwrap(), settings.fit_joint(&data).unwrap());
}

/// Contradictory rows: of every pair one has a tenth of the weight of the other.
fn contradictory() -> Dataset {
    let plain = data();
    let flipped = plain.labels().signs().iter().map(|sign| -sign);
    let signs: Vec<f64> = plain.labels().signs().iter().copied().chain(flipped).collect();
    let rows: Vec<usize> = (0..40).chain(0..40).collect();
    let labels = Labels::from_signs(signs).unwrap();
    let twice = Dataset::new(plain.design().select(&rows), labels).unwrap();
    let weights = (0..80).map(|row| if row < 40 { 3.0 } else { 0.3 }).collect();
    twice.with_weights(weights).unwrap()
}

/// The heavier one of contradictory rows decides, the lighter one is spared, and errors count weights;
/// a common factor of the weights changes nothing; theorem 1 asks for the rows that are not spared.
#[test]
fn weights_are_costs() {
    let data = contradictory();
    for output in [Output::Majority, Output::Last] {
        let settings = EnsembleSettings { output, ..EnsembleSettings::default() };
        let fitted = settings.fit(&data).unwrap();
        assert_eq!(fitted.status, Status::RuleMet);
        assert_eq!(fitted.evaluation.wrong, (40..80).collect::<Vec<_>>());
        assert!(fitted.evaluation.max_loss() <= 0.1 + 1e-12);
        assert!((fitted.training_error - 0.3 / 3.3).abs() < 1e-12, "{}", fitted.training_error);
        let quarter =
            data.clone().with_weights(data.weights().unwrap().iter().map(|w| w / 4.0).collect());
        let again = settings.fit(&quarter.unwrap()).unwrap();
        assert_eq!((&again.ensemble, again.ending), (&fitted.ensemble, fitted.ending));
    }
    let plain = data.select(&(0..40).collect::<Vec<_>>());
    let settings = EnsembleSettings { max_steps: Some(300), ..EnsembleSettings::default() };
    let ones = plain.clone().with_weights(vec![2.0; 40]).unwrap();
    assert_eq!(
        settings.fit(&ones).unwrap().ensemble,
        settings.fit(&self::data()).unwrap().ensemble
    );
    // With epsilon 0.3, rows of weight 0.6 have to be right, so that the mean is 0.49 x 0.6.
    let weights = (0..40).map(|row| [1.0, 0.6, 0.2][row % 3]).collect();
    let weighed = plain.with_weights(weights).unwrap();
    let epsilon = 0.3;
    let fitted = EnsembleSettings { epsilon, ..EnsembleSettings::default() }.fit(&weighed).unwrap();
    assert_eq!(fitted.guarantee.theory, Horizon::theorem_1(40, 0.49 * 0.6, 0.01, 40.0).unwrap());
}

/// Costs of classes are weights, balanced ones those of equal totals, and an error of a class counts a
/// row once; a game of other weights is refused.
#[test]
fn class_weights_are_weights() {
    let data = data();
    let rows: Vec<usize> = (0..40).filter(|row| row % 2 == 0 || row % 8 == 1).collect();
    let data = data.select(&rows);
    let (n, positive) = (data.rows(), |row: usize| data.labels().signs()[row] > 0.0);
    let positives = (0..n).filter(|&row| positive(row)).count();
    let with = |of_positive: f64, of_negative: f64| {
        let weight = |row: usize| if positive(row) { of_positive } else { of_negative };
        data.clone().with_weights((0..n).map(weight).collect()).unwrap()
    };
    let settings = EnsembleSettings { max_steps: Some(500), ..EnsembleSettings::default() };
    let class = data.labels().positive_class().to_owned();
    let costs = EnsembleSettings {
        class_costs: ClassCosts::new(vec![(class, 4.0)]).unwrap(),
        ..settings.clone()
    };
    let (costly, weighted) = (costs.fit(&data).unwrap(), settings.fit(&with(4.0, 1.0)).unwrap());
    assert_eq!((&costly.ensemble, &costly.evaluation), (&weighted.ensemble, &weighted.evaluation));
    assert_eq!(costly.training_error, costly.evaluation.mistakes() as f64 / n as f64);
    // At 4 to 1 an epsilon of a quarter or more spares the larger class.
    let balanced = EnsembleSettings { class_weights: ClassWeights::Balanced, ..settings.clone() };
    let refused = balanced.fit(&data);
    assert!(matches!(refused, Err(Error::Contradiction { .. })), "{refused:?}");
    let negatives = n - positives;
    let low = EnsembleSettings { epsilon: 0.2, ..settings.clone() };
    let by_hand = low.fit(&with(negatives as f64, positives as f64)).unwrap();
    let balanced = EnsembleSettings { epsilon: 0.2, ..balanced }.fit(&data).unwrap();
    assert_eq!(balanced.ending.rounds, by_hand.ending.rounds);
    let distance = |one: &[f64], other: &[f64]| {
        one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    assert!(distance(&balanced.evaluation.losses, &by_hand.evaluation.losses) < 1e-12);

    // At 5 to 1 an epsilon of 0.1 spares no row, and both classes are right.
    let rows: Vec<usize> = (0..40).filter(|row| row % 2 == 0 || row % 10 == 1).collect();
    let five_to_one = self::data().select(&rows);
    let low = EnsembleSettings {
        class_weights: ClassWeights::Balanced,
        epsilon: 0.1,
        ..EnsembleSettings::default()
    };
    let fitted = low.fit(&five_to_one).unwrap();
    let (signs, wrong) = (five_to_one.labels().signs(), &fitted.evaluation.wrong);
    let errors = |side: bool| wrong.iter().filter(|&&row| (signs[row] > 0.0) == side).count();
    assert_eq!((errors(true), errors(false)), (0, 0));

    let folder = tempfile::tempdir().unwrap();
    let checkpoint = Checkpointing { path: folder.path().join("game"), pause_at: Some(5) };
    let pausing = EnsembleSettings { checkpoint: Some(checkpoint), ..settings };
    pausing.fit(&with(4.0, 1.0)).unwrap();
    let refused = pausing.fit(&with(3.0, 1.0));
    assert!(matches!(refused, Err(Error::Checkpoint { .. })), "{refused:?}");
    let both = EnsembleSettings { class_weights: ClassWeights::Balanced, ..costs };
    assert!(matches!(both.check(), Err(Error::Contradiction { .. })));
}

#[test]
fn a_norm_of_coefficients_outside_its_range_is_named() {
    let design = Design::from_rows(&[[0.1], [0.9]]).unwrap();
    for norm in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
        let refused = RegressorSettings { norm: Some(norm), ..RegressorSettings::default() };
        let refused = refused.fit(&design, &[0.2, 0.4]).unwrap_err();
        let message = format!("norm is {norm}, but must be a finite number greater than 0");
        assert_eq!(refused.to_string(), message);
    }
}
