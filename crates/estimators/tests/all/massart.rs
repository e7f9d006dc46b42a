//! Halfspaces under Massart noise: every learner, in memory and from a stream.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::time::Duration;

use margins_data::blocks::{self, BlockFile, BlockSettings};
use margins_data::read::{Format, ReadOptions, Stream, dataset};
use margins_data::{Dataset, Design, Memory};
use margins_estimators::massart::{Fitted, Method, Settings};
use margins_estimators::regularised::IterationObserver;
use margins_estimators::{Error, Evidence};
use margins_massart::{Problem, Target};
use margins_model::Registry;
use margins_optim::Status;
use margins_optim::shards::OnDisk;

/// Unit samples with a margin of 0.3 from the first axis, one label in ten flipped.
fn text(rows: usize, weights: bool) -> String {
    let mut text = if weights { "x,z,w,label\n" } else { "x,z,label\n" }.to_owned();
    for i in 0..rows {
        let t = i as f64 * 0.7;
        let x = t.sin().signum() * (0.3 + 0.7 * t.sin().abs());
        let flipped = i % 10 == 9;
        let label = if (x > 0.0) == flipped { "minus" } else { "plus" };
        let weight = if weights { ",1" } else { "" };
        writeln!(text, "{x},{}{weight},{label}", (1.0 - x * x).max(0.0).sqrt()).unwrap();
    }
    text
}

fn stream(text: &str, weights_column: Option<String>) -> Stream<'_> {
    let options = ReadOptions { weights_column, ..ReadOptions::default() };
    Stream::from_reader(text.as_bytes(), "x.csv", Format::Csv, &options, None).unwrap()
}

fn data(rows: usize) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    std::fs::write(&path, text(rows, false)).unwrap();
    dataset(&path, &ReadOptions::default()).unwrap()
}

fn problem() -> Problem {
    let target = Target::new(0.2, 0.1).unwrap();
    Problem::new(0.15, 0.3).unwrap().with_target(target)
}

#[test]
fn every_learner_gets_near_the_noise_rate() {
    let data = data(6000);
    let methods = [
        Method::Gradient { problem: problem() },
        Method::Cuts { problem: problem(), dimensions: None },
        Method::Cuts { problem: problem(), dimensions: Some(2) },
        Method::Adaptive { target: problem().target },
    ];
    for method in methods {
        let fitted = Settings::new(method).fit(&data).unwrap();
        let error = fitted.training_error.unwrap();
        assert!(error < 0.35, "{method:?}: {error}");
        match fitted.evidence {
            Evidence::ErrorBound { bound, delta } => {
                assert!(bound >= 0.1 && delta == 0.1, "{method:?}: {bound}");
                assert_eq!(fitted.end, None);
            }
            evidence => {
                assert_eq!(evidence, Evidence::None);
                assert!(matches!(method, Method::Cuts { .. }) && fitted.end.is_some());
            }
        }
        assert_eq!(fitted.model.members()[0].intercept, 0.0);
        let eta = fitted.problem.noise.get();
        assert!(fitted.model.loss().contains(&format!("{eta}")), "{}", fitted.model.loss());
    }
}

#[test]
fn a_stream_is_for_the_gradient_and_for_rows_without_weights() {
    let text_of = |weights| text(20_000, weights);
    let (plain, weighted) = (text_of(false), text_of(true));
    let gradient = Settings::new(Method::Gradient { problem: problem() });
    let fitted = gradient.fit_stream(&mut stream(&plain, None)).unwrap();
    assert_eq!((fitted.training_error, fitted.model.columns()), (None, 2));
    assert!(matches!(fitted.evidence, Evidence::ErrorBound { .. }));
    let refused = gradient.fit_stream(&mut stream(&weighted, Some("w".to_owned())));
    assert!(matches!(refused, Err(Error::Contradiction { .. })), "{refused:?}");
    let cuts = Settings::new(Method::Cuts { problem: problem(), dimensions: None });
    let refused = cuts.fit_stream(&mut stream(&plain, None));
    assert!(matches!(refused, Err(Error::Contradiction { .. })), "{refused:?}");
}

/// Moved classes are as easy to part with an intercept as those around the origin.
#[test]
fn an_intercept_parts_classes_that_are_not_around_the_origin() {
    let data = data(600);
    let rows: Vec<Vec<f64>> = data
        .design()
        .samples()
        .map(|x| vec![x.dot(&[1.0, 0.0]) + 3.0, x.dot(&[0.0, 1.0])])
        .collect();
    let moved = data.with_design(Design::from_rows(&rows).unwrap()).unwrap();
    let method = Method::Cuts { problem: problem(), dimensions: None };
    let plain = Settings::new(method).fit(&moved).unwrap().training_error.unwrap();
    let settings = Settings { intercept: true, ..Settings::new(method) };
    let fitted = settings.fit(&moved).unwrap();
    let member = &fitted.model.members()[0];
    let error = fitted.training_error.unwrap();
    assert!(error < 0.35 && error < plain, "{error} {plain}");
    assert!(member.coef.len() == 2 && member.intercept != 0.0);
    let scores = fitted.model.decision_function(moved.design(), &Registry::standard()).unwrap();
    let wrong =
        scores.iter().zip(moved.labels().signs()).filter(|(s, y)| (**s > 0.0) != (**y > 0.0));
    assert_eq!(wrong.count() as f64 / 600.0, fitted.training_error.unwrap());
}

#[test]
fn limits_end_every_learner() {
    let data = data(600);
    let hard = Problem::new(0.01, 0.001).unwrap().with_target(Target::new(0.001, 0.1).unwrap());
    let target = Target::new(0.001, 0.1).unwrap();
    for method in [
        Method::Gradient { problem: hard },
        Method::Cuts { problem: hard, dimensions: None },
        Method::Adaptive { target },
    ] {
        let plain = Settings { intercept: true, ..Settings::new(method) };
        let late = Settings { time_limit: Some(Duration::ZERO), ..plain.clone() };
        let fitted = late.fit(&data).unwrap();
        assert_eq!(fitted.stopped, Some(Status::TimeLimit), "{method:?}");
        let iterations = IterationObserver::new(|()| ControlFlow::Break(()));
        let fitted = Settings { iterations, ..plain }.fit(&data).unwrap();
        assert_eq!(fitted.stopped, Some(Status::Interrupted), "{method:?}");
    }
    let gradient = Settings::new(Method::Gradient { problem: hard });
    let late = Settings { time_limit: Some(Duration::ZERO), ..gradient };
    let fitted = late.fit_stream(&mut stream(&text(20_000, false), None)).unwrap();
    assert_eq!(fitted.stopped, Some(Status::TimeLimit));
}

/// Rows of a file that memory does not hold give the halfspace that rows in memory give.
#[test]
fn block_files_need_not_be_held() {
    let data = data(6000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.blocks");
    let of_blocks = BlockSettings { rows: Some(100), ..BlockSettings::default() };
    blocks::write(&data, &path, of_blocks).unwrap();
    let file = BlockFile::open(&path).unwrap();
    let least = OnDisk::least(&file, 1).bytes();
    for method in [
        Method::Gradient { problem: problem() },
        Method::Cuts { problem: problem(), dimensions: None },
        Method::Cuts { problem: problem(), dimensions: Some(2) },
        Method::Adaptive { target: problem().target },
    ] {
        for intercept in [false, true] {
            let settings = Settings { intercept, ..Settings::new(method) };
            let expected = settings.fit(&data).unwrap();
            for beside in [8 * file.bytes_of(0), 1 << 20] {
                let memory = Memory::from_bytes(least + beside);
                let found = settings.fit_file(&file, memory).unwrap();
                let coef = |fitted: &Fitted| fitted.model.members()[0].coef.clone();
                if matches!(method, Method::Gradient { .. }) {
                    assert_eq!(coef(&found), coef(&expected));
                    assert_eq!(found.evidence, expected.evidence);
                    assert_eq!(found.training_error, expected.training_error);
                } else {
                    // Less memory holds fewer rows out, and sums of blocks round otherwise.
                    assert!(found.training_error.unwrap() < 0.35, "{method:?} {found:?}");
                }
                assert_eq!(found.model.classes(), expected.model.classes());
            }
        }
    }
    let settings = Settings::new(Method::Gradient { problem: problem() });
    let too_little = settings.fit_file(&file, Memory::from_bytes(least / 2)).unwrap_err();
    assert!(too_little.to_string().contains("cannot be used in"), "{too_little}");
}
