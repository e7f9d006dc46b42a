//! Stochastic gradient over streams and over data in memory.

use std::fmt::Write;
use std::sync::Arc;

use margins_data::read::{Format, ReadOptions, Stream, dataset};
use margins_data::{Dataset, Design, Labels};
use margins_estimators::stream::{Method, Projection, Settings, State, StepSchedule};
use margins_estimators::{Error, Evidence};
use margins_losses::{Hinge, Logistic, MarginPursuit};
use margins_optim::online::stochastic::{Averaging, EarlyStopping, Sampling};
use margins_optim::online::{OnlineLearner, Scorer};
use margins_optim::{ClassWeights, Lambda};

fn settings() -> Settings {
    Settings { loss: Arc::new(Logistic), ..Settings::new(Lambda::new(0.01).unwrap()) }
}

/// Two classes of rows `x, z`, as CSV.
fn text(rows: usize) -> String {
    (0..rows).fold("x,z,label\n".to_owned(), |mut text, i| {
        let (t, label) = (i as f64, if i % 2 == 0 { "no" } else { "yes" });
        let x = (i % 2) as f64 + 0.3 * (1.7 * t).sin();
        writeln!(text, "{x},{},{label}", (2.3 * t).cos()).unwrap();
        text
    })
}

fn stream(text: &str) -> Stream<'_> {
    let options = ReadOptions::default();
    Stream::from_reader(text.as_bytes(), "x.csv", Format::Csv, &options, None).unwrap()
}

fn data(rows: usize) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    std::fs::write(&path, text(rows)).unwrap();
    dataset(&path, &ReadOptions::default()).unwrap()
}

#[test]
fn a_stream_is_one_pass_over_its_rows_in_order() {
    let text = text(50);
    let streamed = settings().fit_stream(&mut stream(&text)).unwrap();
    assert_eq!((streamed.rows, streamed.steps, streamed.evidence), (50, 50, Evidence::None));
    assert_eq!(streamed.model.classes(), ["no", "yes"]);
    assert_eq!(streamed.model.feature_names().unwrap(), ["x", "z"]);
    let summary = &streamed.model.members()[0].training;
    assert_eq!((summary.rows, summary.objective), (50, None));
    // The same pass by hand.
    let data = data(50);
    let gradient = settings().gradient().unwrap();
    let lambda = settings().lambda;
    let mut learner = gradient.learner(&Logistic, 2, lambda, true, 0).unwrap();
    let mut mistakes = 0.0;
    for (x, &y) in data.design().samples().zip(data.labels().signs()) {
        mistakes += f64::from((learner.score(&x) > 0.0) != (y > 0.0));
        learner.step(&x, y).unwrap();
    }
    // Each row is predicted before it is learnt.
    assert_eq!(streamed.progressive_error, mistakes / 50.0);
    assert_eq!(streamed.model.members()[0].coef, learner.snapshot().coef);
}

#[test]
fn data_in_memory_have_a_gap() {
    let data = data(60);
    let settings = Settings { epochs: Some(200), ..settings() };
    let fitted = settings.fit(&data).unwrap();
    let Evidence::Gap { relative, .. } = fitted.evidence else { panic!("{:?}", fitted.evidence) };
    assert!((0.0..1e-2).contains(&relative), "{relative}");
    assert_eq!(fitted.model.members()[0].coef, fitted.fit.coef);
    assert_eq!(fitted.loss.specification(), "logistic");
    let costs = vec![("yes".to_owned(), 5.0)];
    let class_costs = margins_estimators::regularised::ClassCosts::new(costs).unwrap();
    let costly = Settings { class_costs, ..settings }.fit(&data).unwrap();
    assert!(costly.fit.intercept > fitted.fit.intercept);
}

#[test]
fn margin_pursuit_sets_its_scale_from_the_data() {
    let loss = Arc::new(MarginPursuit::new(1.0, 1.0).unwrap());
    let method = Method::Gradient { schedule: StepSchedule::Bottou, first: None };
    let settings = Settings { loss, method, rescale_at: Some(30), ..settings() };
    let fitted = settings.fit(&data(60)).unwrap();
    assert_ne!(fitted.loss.specification(), settings.loss.specification());
    assert_eq!(fitted.model.loss(), fitted.loss.specification());
    let wrong = Settings { loss: Arc::new(Logistic), ..settings };
    assert!(matches!(wrong.fit(&data(60)), Err(Error::Contradiction { .. })));
}

#[test]
fn settings_that_cannot_be_used_are_refused() {
    let pegasos = Settings { method: Method::Pegasos, ..settings() };
    assert!(matches!(pegasos.gradient(), Err(Error::Contradiction { .. })));
    let hinge = Settings { loss: Arc::new(Hinge), ..pegasos };
    assert!(hinge.gradient().unwrap().projection.is_some());
    let free = Settings { projection: Projection::None, ..hinge };
    assert_eq!(free.gradient().unwrap().projection, None);
    let method = Method::Gradient { schedule: StepSchedule::MarginPursuit, first: None };
    assert!(matches!(
        Settings { method, ..settings() }.gradient(),
        Err(Error::Contradiction { .. })
    ));

    let text = text(10);
    let early = EarlyStopping { hold_out: 0.2, patience: 3 };
    let refused = [
        Settings { epochs: Some(2), ..settings() },
        Settings { sampling: Sampling::WithReplacement, ..settings() },
        Settings { averaging: Averaging::Suffix(0.5), ..settings() },
        Settings { early_stopping: Some(early), ..settings() },
        Settings { standardize: true, ..settings() },
        Settings { class_weights: ClassWeights::Balanced, ..settings() },
        Settings { history: true, ..settings() },
    ];
    for settings in refused {
        let refused = settings.fit_stream(&mut stream(&text));
        assert!(matches!(refused, Err(Error::Contradiction { .. })), "{settings:?}");
        settings.fit(&data(20)).unwrap();
    }
    let empty = settings().fit_stream(&mut stream("x,z,label\n"));
    assert!(matches!(empty, Err(Error::EmptyStream | Error::Data(_))), "{empty:?}");
}

/// Steps that diverge are refused with the row.
#[test]
fn steps_that_diverge_name_the_row() {
    let rows: Vec<[f64; 1]> =
        (0..10).map(|i| [if i == 7 { 1e200 } else { f64::from(i) }]).collect();
    let signs = (0..10).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let labels = Labels::from_signs(signs).unwrap();
    let data = Dataset::new(Design::from_rows(&rows).unwrap(), labels).unwrap();
    let method = Method::Gradient { schedule: StepSchedule::Bottou, first: None };
    let error = Settings { method, ..settings() }.fit(&data).unwrap_err().to_string();
    assert!(error.contains("row 8"), "{error}");
}

/// A learner takes chunks as a stream does, and goes on from its state as if nothing had been.
#[test]
fn a_learner_takes_chunks_and_goes_on_from_its_state() {
    let text = text(50);
    let streamed = settings().fit_stream(&mut stream(&text)).unwrap();
    let data = data(50);
    let mut learner = settings().learner(2).unwrap();
    for rows in [0..20usize, 20..50] {
        let chunk = data.select(&rows.collect::<Vec<_>>());
        learner.take(chunk.design(), chunk.labels().signs(), None).unwrap();
        let bytes = learner.state().to_bytes().unwrap();
        learner = settings().resumed(2, State::from_bytes(&bytes).unwrap()).unwrap();
    }
    let names = Some(vec!["x".to_owned(), "z".to_owned()]);
    assert_eq!(learner.model(("no", "yes"), names).unwrap(), streamed.model);
    assert_eq!((learner.rows(), learner.steps()), (50, 50));
    let refused = settings().resumed(3, learner.state()).unwrap_err();
    assert_eq!(refused.to_string(), "not the state of this learner: it has 2 features, not 3");
    let sgd = Method::Gradient { schedule: StepSchedule::Bottou, first: None };
    for other in [
        Settings { method: Method::Coin, ..settings() },
        Settings { method: sgd, ..settings() },
        Settings { lambda: Lambda::new(0.02).unwrap(), ..settings() },
        Settings { intercept: false, ..settings() },
        Settings { averaging: Averaging::Polyak, ..settings() },
    ] {
        let refused = other.resumed(2, learner.state()).unwrap_err().to_string();
        assert!(refused.ends_with("are not those of the settings"), "{refused}");
    }
    // A text without any coordinate has no intercept either.
    let state = serde_json::to_string(&learner.state()).unwrap();
    let (head, _) = state.split_once(r#""coordinates":["#).unwrap();
    let refused =
        serde_json::from_str::<State>(&format!(r#"{head}"coordinates":[]}}}}}}"#)).unwrap_err();
    assert!(refused.to_string().contains("features and an intercept"), "{refused}");
    let (before, weights) = (learner.state(), [1.0, -1.0]);
    let two = data.select(&[0, 1]);
    let refused = learner.take(two.design(), two.labels().signs(), Some(&weights)).unwrap_err();
    assert_eq!(refused.to_string(), "weight -1 of row 1 is not a finite number of at least 0");
    assert_eq!(learner.state(), before);
}

/// The batches of a stream, its model and its mistakes do not depend on how it is cut into chunks.
#[test]
fn batches_do_not_depend_on_chunks() {
    let method = Method::Gradient { schedule: StepSchedule::Bottou, first: None };
    let settings = Settings { method, batch: 7, ..settings() };
    let data = data(50);
    let by_chunks = |cuts: &[usize]| {
        let mut learner = settings.learner(2).unwrap();
        let ends = cuts.iter().copied().chain([50]);
        for (start, end) in [0].iter().chain(cuts).copied().zip(ends) {
            let chunk = data.select(&(start..end).collect::<Vec<_>>());
            learner.take(chunk.design(), chunk.labels().signs(), None).unwrap();
            let bytes = learner.state().to_bytes().unwrap();
            learner = settings.resumed(2, State::from_bytes(&bytes).unwrap()).unwrap();
        }
        learner
    };
    let names = || Some(vec!["x".to_owned(), "z".to_owned()]);
    let streamed = settings.fit_stream(&mut stream(&text(50))).unwrap();
    assert_eq!(streamed.steps, 8);
    for cuts in [&[][..], &[3, 6, 20], &[10, 20, 30, 40], &[1]] {
        let learner = by_chunks(cuts);
        assert_eq!(learner.model(("no", "yes"), names()).unwrap(), streamed.model, "{cuts:?}");
        assert_eq!(learner.state(), by_chunks(&[]).state(), "{cuts:?}");
    }
    let mut learner = by_chunks(&[]);
    let before = learner.model(("no", "yes"), None).unwrap();
    let (two, none) = (data.select(&[0, 1]), Some(&[0.0, 0.0][..]));
    learner.take(two.design(), two.labels().signs(), none).unwrap();
    let members = |model: &margins_model::Model| model.members()[0].coef.clone();
    assert_eq!(members(&learner.model(("no", "yes"), None).unwrap()), members(&before));
    let other = Settings { batch: 5, ..settings.clone() };
    assert!(other.resumed(2, learner.state()).unwrap_err().to_string().contains("batch"));
}

/// A fit leaves the state that its steps lead to, from which chunks go on.
#[test]
fn a_learner_goes_on_from_a_fit() {
    let data = data(2);
    let sgd = Method::Gradient { schedule: StepSchedule::Bottou, first: None };
    for method in [Method::Adaptive, Method::Coin, sgd] {
        let settings = Settings { method, epochs: Some(1), ..settings() };
        let by_chunks = |order: [usize; 2]| {
            let mut learner = settings.learner(2).unwrap();
            let rows = data.select(&order);
            learner.take(rows.design(), rows.labels().signs(), None).unwrap();
            learner.state()
        };
        let fitted = settings.fit(&data).unwrap();
        let state = fitted.state.unwrap();
        assert!([[0, 1], [1, 0]].map(by_chunks).contains(&state), "{method:?}");
        let longer = Settings { epochs: Some(7), ..settings.clone() };
        let state = longer.fit(&data).unwrap().state.unwrap();
        let mut learner = longer.resumed(2, state).unwrap();
        assert_eq!((learner.rows(), learner.steps()), (2, 14));
        learner.take(data.design(), data.labels().signs(), None).unwrap();
        assert_eq!((learner.rows(), learner.steps()), (4, 16));
    }
    for settings in [
        Settings { standardize: true, ..settings() },
        Settings { averaging: Averaging::Suffix(0.5), ..settings() },
        Settings { class_weights: ClassWeights::Balanced, ..settings() },
    ] {
        assert_eq!(settings.fit(&data).unwrap().state, None);
    }
}
