//! Games of focused online learning: every learner, and games that go on from a file.
#![cfg(feature = "serde")]

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use margins_boost::{Combination, SlackKind};
use margins_data::{Dataset, Design, Labels};
use margins_estimators::focused::{
    Checkpointing, Committee, Learner, Settings, SlackBudget, Subsampling,
};
use margins_estimators::regularised::IterationObserver;
use margins_estimators::{Error, Evidence};
use margins_kernels::KernelRegistry;
use margins_losses::{Hinge, Logistic};
use margins_optim::online::Aggressiveness;
use margins_optim::online::stochastic::Schedule;
use margins_optim::{Lambda, Status};

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

fn learners() -> Vec<Learner> {
    let lambda = Some(Lambda::new(1e-3).unwrap());
    let (schedule, radius) = (Schedule::InverseSqrt(1.0), Some(5.0));
    vec![
        Learner::Perceptron,
        Learner::AveragedPerceptron,
        Learner::PassiveAggressive(Aggressiveness::Capped(1.0)),
        Learner::OnlineGradient { schedule, radius, lambda, loss: Arc::new(Hinge) },
        Learner::Stump { thresholds: 10, eta: 0.1 },
        Learner::KernelPerceptron {
            kernel: "gaussian:sigma=1".to_owned(),
            registry: KernelRegistry::standard(),
            budget: 40,
        },
        Learner::MultilayerPerceptron { hidden: vec![8], step: 0.05, loss: Arc::new(Logistic) },
    ]
}

#[test]
fn every_learner_plays_and_goes_on_from_a_file() {
    let (data, folder) = (data(), tempfile::tempdir().unwrap());
    for (k, learner) in learners().into_iter().enumerate() {
        // A majority is never right before half of its classifiers are taken, so that the game
        // lasts.
        let combination = Some(Combination::Majority);
        let whole = Settings {
            learner,
            combination,
            max_steps: Some(400),
            outputs: Some(11),
            ..Settings::default()
        };
        let path = folder.path().join(format!("{k}.game"));
        let pausing = |pause_at| Settings {
            checkpoint: Some(Checkpointing { path: path.clone(), pause_at }),
            ..whole.clone()
        };
        let expected = whole.fit(&data).unwrap();
        let paused = pausing(Some(9)).fit(&data).unwrap();
        assert!(!paused.finished && paused.ending.rounds == 9, "{}", whole.learner);
        let resumed = pausing(None).fit(&data).unwrap();
        assert_eq!(resumed, expected, "{}", whole.learner);
        let Evidence::Played { max_loss, consistent_at } = expected.evidence else { panic!() };
        assert_eq!(
            (max_loss, consistent_at),
            (expected.evaluation.max_loss(), expected.ending.consistent_at)
        );
        assert_eq!(expected.model, None);
    }
}

#[test]
fn the_average_of_linear_classifiers_is_a_model() {
    let data = data();
    let settings = Settings::default();
    assert!(settings.makes_model());
    let fitted = settings.fit(&data).unwrap();
    let (model, classifier) = (fitted.model.unwrap(), fitted.ensemble.classifier().unwrap());
    assert_eq!(model.members()[0].coef, classifier.coef);
    assert_eq!((model.loss(), model.members()[0].lambda), ("zero-one", None));
    let stumps = Learner::Stump { thresholds: 10, eta: 0.1 };
    assert!(!Settings { learner: stumps, ..Settings::default() }.makes_model());
}

#[test]
fn files_of_other_games_are_refused() {
    let (data, folder) = (data(), tempfile::tempdir().unwrap());
    let path = folder.path().join("game");
    let settings = Settings {
        max_steps: Some(100),
        outputs: Some(5),
        checkpoint: Some(Checkpointing { path: path.clone(), pause_at: Some(3) }),
        ..Settings::default()
    };
    settings.fit(&data).unwrap();
    let refusal = |settings: &Settings| settings.fit(&data).unwrap_err().to_string();
    let other = Settings { seed: 2, ..settings.clone() };
    assert!(
        refusal(&other)
            .ends_with("it is of a game with seed '1', not '2'; another name begins anew"),
        "{}",
        refusal(&other)
    );
    let other = Settings { loss: Arc::new(Hinge), ..settings.clone() };
    assert!(refusal(&other).contains("loss"), "{}", refusal(&other));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("\"round\":3", "\"round\":2", 1)).unwrap();
    assert!(refusal(&settings).contains("it is damaged"), "{}", refusal(&settings));
    std::fs::write(&path, "height,width\n").unwrap();
    assert!(refusal(&settings).contains("no checkpoint"), "{}", refusal(&settings));
}

#[test]
fn settings_that_no_game_can_use_are_refused() {
    let stump = Learner::Stump { thresholds: 10, eta: 0.1 };
    let settings = Settings { learner: stump, intercept: false, ..Settings::default() };
    assert!(settings.check().unwrap_err().to_string().contains("stump:thresholds=10,eta=0.1"));
    let slack = Some(SlackBudget { kind: SlackKind::AdditiveSum, budget: 2.0 });
    let subsample = Some(Subsampling { outliers: 1, rare: 20 });
    assert!(Settings { slack, subsample, ..Settings::default() }.fit(&data()).is_err());
    let with_slack = Settings { slack, ..Settings::default() }.fit(&data()).unwrap();
    assert!(with_slack.outliers.is_some());
}

/// Every learner leaves an ensemble that decides as the game has judged it, also from a file.
#[test]
fn ensembles_of_every_learner_score_samples() {
    let registry = margins_model::Registry::standard();
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
        let learner = Learner::parse(text, Some("gaussian:sigma=1"), &registry).unwrap();
        let settings =
            Settings { learner, max_steps: Some(400), outputs: Some(5), ..Settings::default() };
        let fitted = settings.fit(&data).unwrap();
        // A game that is won early leaves fewer classifiers than were asked for.
        assert!((1..=5).contains(&fitted.ensemble.len()), "{text}");
        let scores = fitted.ensemble.scores(data.design(), &registry.kernels).unwrap();
        let wrong = scores.iter().zip(data.labels().signs());
        let wrong = wrong.filter(|(score, y)| (if **score > 0.0 { 1.0 } else { -1.0 }) != **y);
        assert_eq!(wrong.count(), fitted.evaluation.mistakes, "{text}");
        let text = serde_json::to_string(&fitted.ensemble).unwrap();
        let read: Committee = serde_json::from_str(&text).unwrap();
        assert_eq!(read, fitted.ensemble);
    }
    for (text, reason) in [
        ("boost", "known are perceptron, averaged"),
        ("stump:eta=x", "the value 'x' of 'eta' is not a number"),
        ("mlp:hidden=8,loss=hinges", "unknown loss 'hinges'"),
    ] {
        let refused = Learner::parse(text, None, &registry).unwrap_err();
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
        let settings = Settings { learner, max_steps: Some(1 << 40), ..Settings::default() };
        let settings = Settings { outputs: Some(3), ..settings };
        let late = Settings { time_limit: Some(Duration::ZERO), ..settings.clone() };
        let fitted = late.fit(&data).unwrap();
        assert_eq!((fitted.stopped, fitted.finished), (Some(Status::TimeLimit), false));
        assert_eq!((fitted.ensemble.len(), fitted.ending.rounds), (1, 64), "{}", late.learner);
        assert!(fitted.evaluation.mistakes <= 20, "{}", late.learner);

        let path = folder.path().join(number.to_string());
        let checkpoint = Some(Checkpointing { path: path.clone(), pause_at: None });
        let iterations = IterationObserver::new(|()| ControlFlow::Break(()));
        let ended = Settings { iterations, checkpoint: checkpoint.clone(), ..settings.clone() };
        let refused = ended.fit(&data).unwrap_err();
        assert!(matches!(refused, Error::Boost(margins_boost::Error::Interrupted)), "{refused}");
        let later = Settings { checkpoint, ..late }.fit(&data).unwrap();
        assert_eq!(later.ending.rounds, 128);
    }
}
