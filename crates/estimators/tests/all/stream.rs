//! Stochastic gradient over streams and over data in memory.

use std::fmt::Write;
use std::sync::Arc;

use margins_data::read::{Format, ReadOptions, Stream, dataset_from};
use margins_data::{ClassLabels, Classes, Dataset, Design, Labels};
use margins_estimators::stream::{
    FittedStream, Projection, State, StepSchedule, StreamMethod, StreamSettings,
};
use margins_estimators::{Error, Evidence};
use margins_losses::{Hinge, Logistic, MarginLoss, MarginPursuit};
use margins_model::{Registry, Scheme};
use margins_optim::online::stochastic::{Averaging, EarlyStopping, Sampling};
use margins_optim::online::{OnlineLearner, Scorer};
use margins_optim::{ClassWeights, Lambda, Status};

fn settings() -> StreamSettings {
    StreamSettings { loss: Arc::new(Logistic), ..StreamSettings::new(Lambda::new(0.01).unwrap()) }
}

fn classes() -> Vec<String> {
    vec!["no".to_owned(), "yes".to_owned()]
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
    let text = text(rows);
    dataset_from(text.as_bytes(), "x.csv", Format::Csv, &ReadOptions::default()).unwrap()
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
    // Each row is predicted before it is learned.
    assert_eq!(streamed.progressive_error, mistakes / 50.0);
    assert_eq!(streamed.model.members()[0].coef, learner.snapshot().coef);
}

#[test]
fn data_in_memory_have_a_gap() {
    let data = data(60);
    let settings = StreamSettings { epochs: Some(200), ..settings() };
    let fitted = settings.fit(&data).unwrap();
    let Evidence::Gap { relative, .. } = fitted.evidence else { panic!("{:?}", fitted.evidence) };
    assert!((0.0..1e-2).contains(&relative), "{relative}");
    assert_eq!(fitted.model.members()[0].coef, fitted.fits[0].coef);
    assert_eq!(fitted.loss.specification(), "logistic");
    let costs = vec![("yes".to_owned(), 5.0)];
    let class_costs = margins_estimators::regularised::ClassCosts::new(costs).unwrap();
    let costly = StreamSettings { class_costs, ..settings }.fit(&data).unwrap();
    assert!(costly.fits[0].intercept > fitted.fits[0].intercept);
}

#[test]
fn margin_pursuit_sets_its_scale_from_the_data() {
    let loss = Arc::new(MarginPursuit::new(1.0, 1.0).unwrap());
    let method = StreamMethod::Gradient { schedule: StepSchedule::Bottou, first: None };
    let settings = StreamSettings { loss, method, rescale_at: Some(30), ..settings() };
    let fitted = settings.fit(&data(60)).unwrap();
    assert_ne!(fitted.loss.specification(), settings.loss.specification());
    assert_eq!(fitted.model.loss(), fitted.loss.specification());
    let wrong = StreamSettings { loss: Arc::new(Logistic), ..settings };
    assert!(matches!(wrong.fit(&data(60)), Err(Error::Contradiction { .. })));
}

/// The method margin-pursuit is its schedule with the ball of radius `1/sqrt(lambda)` and independent
/// draws, to the bit; a setting that is given replaces that of the method.
#[test]
fn margin_pursuit_is_a_method() {
    let loss = Arc::new(MarginPursuit::new(1.0, 2.0).unwrap());
    let lambda = Lambda::new(0.04).unwrap();
    let base = StreamSettings { loss, lambda, intercept: false, ..settings() };
    let method = StreamSettings { method: StreamMethod::MarginPursuit, ..base.clone() };
    let parts = StreamSettings {
        method: StreamMethod::Gradient { schedule: StepSchedule::MarginPursuit, first: None },
        sampling: Some(Sampling::WithReplacement),
        projection: Projection::Radius(5.0),
        ..base
    };
    let data = data(60);
    assert_eq!(method.gradient().unwrap(), parts.gradient().unwrap());
    assert_eq!(method.fit(&data).unwrap().model, parts.fit(&data).unwrap().model);
    let shuffled = StreamSettings { sampling: Some(Sampling::Shuffled), ..method.clone() };
    let free = StreamSettings { projection: Projection::None, ..method.clone() };
    for other in [shuffled, free] {
        assert_ne!(other.gradient().unwrap(), method.gradient().unwrap());
    }
    for refused in [
        StreamSettings { loss: Arc::new(Hinge), ..method.clone() },
        StreamSettings { lambda: Lambda::NONE, ..method.clone() },
    ] {
        assert!(matches!(refused.gradient(), Err(Error::Contradiction { .. })));
    }
    // A stream brings its own draws.
    method.fit_stream(&mut stream(&text(50))).unwrap();
}

/// A balanced subsample has as many rows of each class, and the fit is that to these rows.
#[test]
fn a_fit_takes_balanced_rows() {
    let data = data(60);
    let few: Vec<usize> = (0..60).filter(|row| row % 2 == 0 || row % 6 == 1).collect();
    let data = data.select(&few);
    let balanced = StreamSettings { balanced_rows: Some(12), ..settings() };
    let rows = balanced.drawn_rows(data.labels()).unwrap().unwrap();
    let signs = data.labels().signs();
    assert_eq!((rows.len(), rows.iter().map(|&row| signs[row]).sum::<f64>()), (12, 0.0));
    assert_eq!(settings().drawn_rows(data.labels()).unwrap(), None);
    let by_hand = settings().fit(&data.select(&rows)).unwrap();
    assert_eq!(balanced.fit(&data).unwrap().model, by_hand.model);
    let other = StreamSettings { seed: 2, ..balanced.clone() };
    assert_ne!(other.drawn_rows(data.labels()).unwrap().unwrap(), rows);
    let three: Vec<&str> = (0..data.rows()).map(|row| ["a", "b", "c"][row % 3]).collect();
    let three = data.relabelled(Classes::new(&three).unwrap()).unwrap();
    assert!(matches!(balanced.fit(&three), Err(Error::Contradiction { .. })));
    for size in [1, data.rows() + 1] {
        let wrong = StreamSettings { balanced_rows: Some(size), ..settings() };
        assert!(matches!(wrong.fit(&data), Err(Error::Data(_))));
    }
}

#[test]
fn settings_that_cannot_be_used_are_refused() {
    let pegasos = StreamSettings { method: StreamMethod::Pegasos, ..settings() };
    assert!(matches!(pegasos.gradient(), Err(Error::Contradiction { .. })));
    let hinge = StreamSettings { loss: Arc::new(Hinge), ..pegasos };
    assert!(hinge.gradient().unwrap().projection.is_some());
    let free = StreamSettings { projection: Projection::None, ..hinge };
    assert_eq!(free.gradient().unwrap().projection, None);
    let method = StreamMethod::Gradient { schedule: StepSchedule::MarginPursuit, first: None };
    assert!(matches!(
        StreamSettings { method, ..settings() }.gradient(),
        Err(Error::Contradiction { .. })
    ));

    let text = text(10);
    let early = EarlyStopping { hold_out: 0.2, patience: 3 };
    let refused = [
        StreamSettings { epochs: Some(2), ..settings() },
        StreamSettings { sampling: Some(Sampling::WithReplacement), ..settings() },
        StreamSettings { balanced_rows: Some(8), ..settings() },
        StreamSettings { averaging: Averaging::Suffix(0.5), ..settings() },
        StreamSettings { early_stopping: Some(early), ..settings() },
        StreamSettings { standardize: true, ..settings() },
        StreamSettings { class_weights: ClassWeights::Balanced, ..settings() },
        StreamSettings { history: true, ..settings() },
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
    let method = StreamMethod::Gradient { schedule: StepSchedule::Bottou, first: None };
    let error = StreamSettings { method, ..settings() }.fit(&data).unwrap_err().to_string();
    assert!(error.contains("row 8"), "{error}");
}

/// A learner takes chunks as a stream does, and goes on from its state as if nothing had been.
#[test]
fn a_learner_takes_chunks_and_goes_on_from_its_state() {
    let text = text(50);
    let streamed = settings().fit_stream(&mut stream(&text)).unwrap();
    let data = data(50);
    let mut learner = settings().learner(&classes(), 2).unwrap();
    for rows in [0..20usize, 20..50] {
        let chunk = data.select(&rows.collect::<Vec<_>>());
        learner.take(chunk.design(), chunk.labels(), None).unwrap();
        let bytes = learner.state().to_bytes().unwrap();
        learner = settings().resumed(&classes(), 2, State::from_bytes(&bytes).unwrap()).unwrap();
    }
    let names = Some(vec!["x".to_owned(), "z".to_owned()]);
    assert_eq!(learner.model(names).unwrap(), streamed.model);
    assert_eq!((learner.rows(), learner.steps()), (50, 50));
    let refused = settings().resumed(&classes(), 3, learner.state()).unwrap_err();
    assert_eq!(refused.to_string(), "not the state of this learner: it has 2 features, not 3");
    let sgd = StreamMethod::Gradient { schedule: StepSchedule::Bottou, first: None };
    for other in [
        StreamSettings { method: StreamMethod::Coin, ..settings() },
        StreamSettings { method: sgd, ..settings() },
        StreamSettings { lambda: Lambda::new(0.02).unwrap(), ..settings() },
        StreamSettings { intercept: false, ..settings() },
        StreamSettings { averaging: Averaging::Polyak, ..settings() },
    ] {
        let refused = other.resumed(&classes(), 2, learner.state()).unwrap_err().to_string();
        assert!(refused.ends_with("are not those of the settings"), "{refused}");
    }
    // A text without any coordinate has no intercept either.
    let state = serde_json::to_string(&learner.state()).unwrap();
    let (head, _) = state.split_once(r#""coordinates":["#).unwrap();
    let refused =
        serde_json::from_str::<State>(&format!(r#"{head}"coordinates":[]}}}}}}]}}"#)).unwrap_err();
    assert!(refused.to_string().contains("features and an intercept"), "{refused}");
    let (before, weights) = (learner.state(), [1.0, -1.0]);
    let two = data.select(&[0, 1]);
    let refused = learner.take(two.design(), two.labels(), Some(&weights)).unwrap_err();
    assert_eq!(refused.to_string(), "weight -1 of row 1 is not a finite number of at least 0");
    assert_eq!(learner.state(), before);
}

/// The batches of a stream, its model and its mistakes do not depend on how it is cut into chunks.
#[test]
fn batches_do_not_depend_on_chunks() {
    let method = StreamMethod::Gradient { schedule: StepSchedule::Bottou, first: None };
    let settings = StreamSettings { method, batch: 7, ..settings() };
    let data = data(50);
    let by_chunks = |cuts: &[usize]| {
        let mut learner = settings.learner(&classes(), 2).unwrap();
        let ends = cuts.iter().copied().chain([50]);
        for (start, end) in [0].iter().chain(cuts).copied().zip(ends) {
            let chunk = data.select(&(start..end).collect::<Vec<_>>());
            learner.take(chunk.design(), chunk.labels(), None).unwrap();
            let bytes = learner.state().to_bytes().unwrap();
            learner = settings.resumed(&classes(), 2, State::from_bytes(&bytes).unwrap()).unwrap();
        }
        learner
    };
    let names = || Some(vec!["x".to_owned(), "z".to_owned()]);
    let streamed = settings.fit_stream(&mut stream(&text(50))).unwrap();
    assert_eq!(streamed.steps, 8);
    for cuts in [&[][..], &[3, 6, 20], &[10, 20, 30, 40], &[1]] {
        let learner = by_chunks(cuts);
        assert_eq!(learner.model(names()).unwrap(), streamed.model, "{cuts:?}");
        assert_eq!(learner.state(), by_chunks(&[]).state(), "{cuts:?}");
    }
    let mut learner = by_chunks(&[]);
    let before = learner.model(None).unwrap();
    let (two, none) = (data.select(&[0, 1]), Some(&[0.0, 0.0][..]));
    learner.take(two.design(), two.labels(), none).unwrap();
    let members = |model: &margins_model::Model| model.members()[0].coef.clone();
    assert_eq!(members(&learner.model(None).unwrap()), members(&before));
    let other = StreamSettings { batch: 5, ..settings.clone() };
    assert!(
        other.resumed(&classes(), 2, learner.state()).unwrap_err().to_string().contains("batch")
    );
}

/// A fit leaves the state that its steps lead to, from which chunks go on.
#[test]
fn a_learner_goes_on_from_a_fit() {
    let data = data(2);
    let sgd = StreamMethod::Gradient { schedule: StepSchedule::Bottou, first: None };
    for method in [StreamMethod::Adaptive, StreamMethod::Coin, sgd] {
        let settings = StreamSettings { method, epochs: Some(1), ..settings() };
        let by_chunks = |order: [usize; 2]| {
            let mut learner = settings.learner(&classes(), 2).unwrap();
            let rows = data.select(&order);
            learner.take(rows.design(), rows.labels(), None).unwrap();
            learner.state()
        };
        let fitted = settings.fit(&data).unwrap();
        let state = fitted.state.unwrap();
        assert!([[0, 1], [1, 0]].map(by_chunks).contains(&state), "{method:?}");
        let longer = StreamSettings { epochs: Some(7), ..settings.clone() };
        let state = longer.fit(&data).unwrap().state.unwrap();
        let mut learner = longer.resumed(&classes(), 2, state).unwrap();
        assert_eq!((learner.rows(), learner.steps()), (2, 14));
        learner.take(data.design(), data.labels(), None).unwrap();
        assert_eq!((learner.rows(), learner.steps()), (4, 16));
    }
    for settings in [
        StreamSettings { standardize: true, ..settings() },
        StreamSettings { averaging: Averaging::Suffix(0.5), ..settings() },
        StreamSettings { class_weights: ClassWeights::Balanced, ..settings() },
    ] {
        assert_eq!(settings.fit(&data).unwrap().state, None);
    }
}

/// Rows of three classes around three points, with their classes.
fn three_classes(rows: usize) -> Dataset<Classes> {
    let row = |i: usize| {
        let (t, angle) = (i as f64, 2.1 * (i % 3) as f64);
        [angle.cos() + 0.3 * (1.7 * t).sin(), angle.sin() + 0.3 * (2.3 * t).cos()]
    };
    let design = Design::from_rows(&(0..rows).map(row).collect::<Vec<_>>()).unwrap();
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    let indices = (0..rows).map(|i| i as u32 % 3).collect();
    Dataset::new(design, Classes::from_indices(indices, names).unwrap()).unwrap()
}

/// The members of several classes are those of each class against the rest.
#[test]
fn several_classes_are_learned_one_versus_rest() {
    let data = three_classes(90);
    let fitted = settings().fit(&data).unwrap();
    assert_eq!(fitted.model.scheme(), Scheme::OneVersusRest);
    assert!(matches!(fitted.evidence, Evidence::Gap { .. }));
    let mut learner = settings().learner(data.labels().names(), 2).unwrap();
    learner.take(data.design(), data.labels(), None).unwrap();
    let streamed = learner.model(None).unwrap();
    for (k, member) in fitted.model.members().iter().enumerate() {
        let labels = data.labels().against_rest(k);
        let alone = settings().fit(&data.relabelled(labels.clone()).unwrap()).unwrap();
        assert_eq!(member, &alone.model.members()[0]);
        let mut learner = settings().learner(labels.names(), 2).unwrap();
        learner.take(data.design(), &labels, None).unwrap();
        assert_eq!(streamed.members()[k], learner.model(None).unwrap().members()[0]);
    }
    for model in [&fitted.model, &streamed] {
        let decided = model.predict(data.design(), &Registry::standard()).unwrap();
        let right = (0..90).filter(|&row| decided[row] == data.labels().index(row)).count();
        assert!(right >= 88, "{right}");
    }
    // A chunk goes on from the state of a fit, as from one of a learner.
    let state = State::from_bytes(&fitted.state.unwrap().to_bytes().unwrap()).unwrap();
    let mut resumed = settings().resumed(data.labels().names(), 2, state.clone()).unwrap();
    resumed.take(data.design(), data.labels(), None).unwrap();
    assert_eq!((resumed.rows(), resumed.steps()), (180, 990));
    let refused = settings().resumed(&classes(), 2, state).unwrap_err().to_string();
    assert!(refused.ends_with("it has 3 members, not those of 2 classes"), "{refused}");
    let one = settings().learner(&["a".to_owned()], 2).unwrap_err().to_string();
    assert!(one.contains("the number of classes"), "{one}");
}

/// A weight of k is a weight of the objective, and a class without weight is never predicted.
#[test]
fn weights_count_and_classes_without_any_are_never_predicted() {
    let data = three_classes(90);
    let weights: Vec<f64> = (0..90).map(|i| [1.0, 3.0, 0.0][i % 3]).collect();
    let weighted = data.clone().with_weights(weights).unwrap();
    let settings = StreamSettings { epochs: Some(100), ..settings() };
    let fitted = settings.fit(&weighted).unwrap();
    let decided = fitted.model.predict(data.design(), &Registry::standard()).unwrap();
    assert!(decided.iter().all(|&class| class < 2));
    assert_eq!(fitted.state, None);
    // A row of weight 3 counts as three copies do, whose losses are divided by more rows.
    let two = three_classes(90).select(&(0..90).filter(|i| i % 3 < 2).collect::<Vec<_>>());
    let labels = two.labels().between(0, 1);
    let two = two.relabelled(labels).unwrap();
    let copies: Vec<usize> =
        (0..60).flat_map(|i| vec![i; if two.labels().positive()[i] { 3 } else { 1 }]).collect();
    let weight = |&positive: &bool| if positive { 3.0 } else { 1.0 };
    let weights = two.labels().positive().iter().map(weight).collect();
    let weighted = settings.fit(&two.clone().with_weights(weights).unwrap()).unwrap();
    let lambda = Lambda::new(settings.lambda.get() / 2.0).unwrap();
    let repeated = StreamSettings { lambda, ..settings.clone() }.fit(&two.select(&copies)).unwrap();
    let objective = |fitted: &FittedStream| fitted.fits[0].report.objective;
    assert!(
        (objective(&weighted) - 2.0 * objective(&repeated)).abs() < 1e-2 * objective(&weighted)
    );
}

/// Without a penalty nothing bounds the distance to the minimum, and steps that follow from lambda
/// are refused.
#[test]
fn a_penalty_is_not_needed() {
    let free = StreamSettings { lambda: Lambda::NONE, ..settings() };
    let fitted = free.fit(&data(60)).unwrap();
    let report = &fitted.fits[0].report;
    assert_eq!((fitted.evidence, report.status), (Evidence::None, Status::RuleMet));
    assert!(report.duality_gap == f64::INFINITY && report.gradient_norm < 1.0, "{report:?}");
    assert_eq!(fitted.model.members()[0].lambda, Some(0.0));
    let state = State::from_bytes(&fitted.state.unwrap().to_bytes().unwrap()).unwrap();
    free.resumed(&classes(), 2, state).unwrap();
    let sgd = |schedule, first| StreamSettings {
        method: StreamMethod::Gradient { schedule, first },
        ..free.clone()
    };
    let constant = sgd(StepSchedule::Bottou, Some(0.1));
    let state = constant.fit(&data(60)).unwrap().state.unwrap().to_bytes().unwrap();
    constant.resumed(&classes(), 2, State::from_bytes(&state).unwrap()).unwrap();
    let pegasos =
        StreamSettings { method: StreamMethod::Pegasos, loss: Arc::new(Hinge), ..free.clone() };
    for refused in [pegasos, sgd(StepSchedule::Bottou, None)] {
        let refused = refused.gradient().unwrap_err().to_string();
        assert!(refused.contains("cannot be combined with lambda 0"), "{refused}");
    }
}

/// A logistic loss with a derivative that is a tenth too large.
#[derive(Debug)]
struct Mistaken;

impl MarginLoss for Mistaken {
    fn value(&self, u: f64) -> f64 {
        Logistic.value(u)
    }
    fn derivative(&self, u: f64) -> f64 {
        1.1 * Logistic.derivative(u)
    }
}

#[test]
fn a_loss_that_contradicts_itself_is_noticed() {
    for lambda in [Lambda::NONE, Lambda::new(0.01).unwrap()] {
        let settings = StreamSettings { loss: Arc::new(Mistaken), lambda, ..settings() };
        let fitted = settings.fit(&data(60)).unwrap();
        assert_eq!(fitted.fits[0].report.status, Status::Contradicted);
        let streamed = settings.fit_stream(&mut stream(&text(60))).unwrap();
        assert_eq!(streamed.status, Status::Contradicted);
    }
    assert_eq!(settings().fit_stream(&mut stream(&text(60))).unwrap().status, Status::RuleMet);
}
