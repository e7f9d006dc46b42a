//! Halfspaces under Massart noise: every learner, in memory and from a stream.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::time::Duration;

use margins_data::blocks::{self, BlockFile, BlockSettings};
use margins_data::generate::MassartDistribution;
use margins_data::read::{self, ReadOptions, Stream, dataset_from};
use margins_data::{ClassLabels, Classes, Dataset, Design, Labels, Memory};
use margins_estimators::massart::{
    CutSearch, FittedHalfspace, FittedHalfspaces, HalfspaceMethod, HalfspaceSettings,
    HalfspaceState, RowScaling,
};
use margins_estimators::regularised::IterationObserver;
use margins_estimators::{Error, Evidence};
use margins_massart::baselines::{Baseline, partition};
use margins_massart::cutting_planes::Method;
use margins_massart::{CutPlan, MarginBound, Plan, Problem, Sphere, SphereSample, Target};
use margins_model::{Format, Model, Registry, Scheme};
use margins_optim::Status;
use margins_optim::method::Limits;
use margins_optim::online::Scorer;
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
    Stream::from_reader(text.as_bytes(), "x.csv", read::Format::Csv, &options, None).unwrap()
}

fn data(rows: usize) -> Dataset {
    let text = text(rows, false);
    dataset_from(text.as_bytes(), "x.csv", read::Format::Csv, &ReadOptions::default()).unwrap()
}

fn problem() -> Problem {
    let target = Target::new(0.2, 0.1).unwrap();
    Problem::new(0.15, 0.3).unwrap().with_target(target)
}

/// The settings of the paper: no intercept, and rows on the unit sphere.
fn on_sphere(method: HalfspaceMethod) -> HalfspaceSettings {
    HalfspaceSettings {
        intercept: false,
        scaling: Some(RowScaling::Each),
        ..HalfspaceSettings::new(method)
    }
}

#[test]
fn every_learner_gets_near_the_noise_rate() {
    let data = data(6000);
    let methods = [
        HalfspaceMethod::gradient(problem()),
        HalfspaceMethod::cuts(problem()),
        HalfspaceMethod::Cuts {
            problem: problem(),
            dimensions: Some(2),
            search: CutSearch::default(),
        },
        HalfspaceMethod::Adaptive { target: problem().target },
    ];
    for method in methods {
        let fitted = on_sphere(method).fit(&data).unwrap();
        let error = fitted.training_error.unwrap();
        assert!(error < 0.35, "{method:?}: {error}");
        let Evidence::ErrorBound { bound, delta } = fitted.evidence else {
            panic!("{:?}", fitted.evidence);
        };
        assert!(bound >= 0.1 && delta == 0.1, "{method:?}: {bound}");
        assert!(fitted.selection.held_out > 0 && bound > fitted.selection.error);
        assert_eq!(fitted.status, Status::RuleMet);
        assert_eq!((fitted.divisor, fitted.distance), (None, None));
        assert_eq!(fitted.model.members()[0].intercept, 0.0);
        let eta = fitted.problem.noise.get();
        assert!(fitted.model.loss().contains(&format!("{eta}")), "{}", fitted.model.loss());
    }
}

#[test]
fn a_stream_is_for_the_gradient_and_for_rows_without_weights() {
    let text_of = |weights| text(20_000, weights);
    let (plain, weighted) = (text_of(false), text_of(true));
    let gradient = HalfspaceSettings::new(HalfspaceMethod::gradient(problem()));
    let fitted = gradient.fit_stream(&mut stream(&plain, None)).unwrap();
    assert_eq!((fitted.training_error, fitted.model.columns()), (None, 2));
    assert!(matches!(fitted.evidence, Evidence::ErrorBound { .. }));
    let refused = gradient.fit_stream(&mut stream(&weighted, Some("w".to_owned())));
    assert!(matches!(refused, Err(Error::Contradiction { .. })), "{refused:?}");
    let cuts = HalfspaceSettings::new(HalfspaceMethod::cuts(problem()));
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
    let method = HalfspaceMethod::cuts(problem());
    let plain = on_sphere(method).fit(&moved).unwrap().training_error.unwrap();
    let settings = HalfspaceSettings { intercept: true, ..on_sphere(method) };
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
        HalfspaceMethod::gradient(hard),
        HalfspaceMethod::cuts(hard),
        HalfspaceMethod::Adaptive { target },
    ] {
        let plain = HalfspaceSettings { intercept: true, ..HalfspaceSettings::new(method) };
        let late = HalfspaceSettings { time_limit: Some(Duration::ZERO), ..plain.clone() };
        let fitted = late.fit(&data).unwrap();
        assert_eq!(fitted.status, Status::TimeLimit, "{method:?}");
        let iterations = IterationObserver::new(|()| ControlFlow::Break(()));
        let fitted = HalfspaceSettings { iterations, ..plain }.fit(&data).unwrap();
        assert_eq!(fitted.status, Status::Interrupted, "{method:?}");
    }
    let gradient = HalfspaceSettings::new(HalfspaceMethod::gradient(hard));
    let late = HalfspaceSettings { time_limit: Some(Duration::ZERO), ..gradient };
    let fitted = late.fit_stream(&mut stream(&text(20_000, false), None)).unwrap();
    assert_eq!(fitted.status, Status::TimeLimit);
}

/// Age, income and body mass index, of which the class depends on the first and the last; one label
/// in ten is flipped.
fn raw_table(flipped: usize) -> Dataset {
    let row = |i: usize| {
        let t = i as f64;
        let (age, bmi) = (45.0 + 20.0 * (1.3 * t).sin(), 26.0 + 6.0 * (0.9 * t + 1.0).cos());
        [age, 50_000.0 + 15_000.0 * (2.1 * t).cos(), bmi]
    };
    let risk = |row: &[f64; 3]| (row[0] - 45.0) / 20.0 + (row[2] - 26.0) / 6.0;
    let rows: Vec<[f64; 3]> = (0..2000).map(row).filter(|row| risk(row).abs() > 0.1).collect();
    let sign = |(i, row): (usize, &[f64; 3])| {
        risk(row).signum() * if flipped > 0 && i % flipped == 7 { -1.0 } else { 1.0 }
    };
    let signs = rows.iter().enumerate().map(sign).collect();
    Dataset::new(Design::from_rows(&rows).unwrap(), Labels::from_signs(signs).unwrap()).unwrap()
}

/// On a raw table the margin of the column with the largest numbers is all that counts: the result
/// is no better than the larger class alone. Standardised it is the best halfspace, whose model
/// takes the raw features.
#[test]
fn raw_tables_are_learned_standardised() {
    for (flipped, best) in [(0, 0.0), (10, 0.1)] {
        let data = raw_table(flipped);
        let settings = HalfspaceSettings::new(HalfspaceMethod::Adaptive {
            target: Target::new(0.1, 0.1).unwrap(),
        });
        let raw = settings.fit(&data).unwrap();
        assert!(raw.training_error.unwrap() > best + 0.15, "{:?}", raw.training_error);
        let standardized = HalfspaceSettings { standardize: true, ..settings };
        let fitted = standardized.fit(&data).unwrap();
        let error = fitted.training_error.unwrap();
        assert!(error < best + 0.03, "{error}");
        assert!(fitted.baseline > 0.4 && fitted.selection.error < fitted.baseline);
        let member = &fitted.model.members()[0];
        assert!(member.training.standardize && member.intercept != 0.0);
        let scores = fitted.model.decision_function(data.design(), &Registry::standard()).unwrap();
        let wrong = scores.iter().zip(data.labels().signs());
        let wrong = wrong.filter(|(score, y)| (**score > 0.0) != (**y > 0.0)).count();
        assert_eq!(wrong as f64 / data.rows() as f64, error);
        // Gamma as a distance: rows that far from the boundary have that margin once scaled.
        let (divisor, distance) = (fitted.divisor.unwrap(), fitted.distance.unwrap());
        let norm = member.coef.iter().map(|w| w * w).sum::<f64>().sqrt();
        assert!(divisor > 1.0 && distance > 0.0 && distance < 45.0, "{divisor} {distance} {norm}");
    }
}

/// Without an intercept and standardisation the distance is gamma times the largest norm.
#[test]
fn zero_rows_are_taken_and_gamma_has_the_units_of_the_features() {
    let row = |i: usize| match i % 10 {
        0 => [0.0, 0.0],
        _ => {
            let (t, side) = (0.7 * i as f64, if i.is_multiple_of(2) { 2.0 } else { -2.0 });
            [side * (0.5 + t.sin().abs()), t.cos()]
        }
    };
    let rows: Vec<[f64; 2]> = (0..600).map(row).collect();
    let signs = rows.iter().map(|row| if row[0] > 0.0 { 1.0 } else { -1.0 }).collect();
    let data = Dataset::new(Design::from_rows(&rows).unwrap(), Labels::from_signs(signs).unwrap());
    let data = data.unwrap();
    let problem = Problem::new(0.15, 0.2).unwrap();
    for method in [
        HalfspaceMethod::gradient(problem),
        HalfspaceMethod::cuts(problem),
        HalfspaceMethod::Adaptive { target: problem.target },
    ] {
        for scaling in [None, Some(RowScaling::Each)] {
            let settings =
                HalfspaceSettings { intercept: false, scaling, ..HalfspaceSettings::new(method) };
            let fitted = settings.fit(&data).unwrap();
            assert!(fitted.training_error.unwrap() < 0.1, "{method:?} {:?}", fitted.training_error);
            let gamma = fitted.problem.margin.get();
            let distance = fitted.divisor.map(|divisor| gamma * divisor);
            assert_eq!(fitted.distance.is_some(), distance.is_some());
            for (distance, expected) in fitted.distance.into_iter().zip(distance) {
                assert!((distance - expected).abs() < 1e-12);
            }
        }
    }
}

/// A stream takes an intercept, and refuses what is of all rows.
#[test]
fn a_stream_takes_an_intercept_and_no_standardisation() {
    let text = text(20_000, false);
    let gradient = HalfspaceSettings::new(HalfspaceMethod::gradient(problem()));
    let fitted = gradient.fit_stream(&mut stream(&text, None)).unwrap();
    assert_eq!(fitted.model.columns(), 2);
    assert!(fitted.model.members()[0].intercept != 0.0 && fitted.baseline > 0.3);
    for refused in [
        HalfspaceSettings { standardize: true, ..gradient.clone() },
        HalfspaceSettings { scaling: Some(RowScaling::Largest), ..gradient },
    ] {
        let refused = refused.fit_stream(&mut stream(&text, None));
        assert!(matches!(refused, Err(Error::Contradiction { .. })), "{refused:?}");
    }
}

/// Chunks of any size, with the state in bytes between them, give the halfspace of the stream.
#[test]
fn chunks_are_learned_from_as_their_stream_is() {
    let rows = 200;
    for intercept in [true, false] {
        let settings = HalfspaceSettings {
            intercept,
            ..HalfspaceSettings::new(HalfspaceMethod::gradient(problem()))
        };
        let expected = settings.fit_stream(&mut stream(&text(rows, false), None)).unwrap();
        let data = data(rows);
        let mut state = settings.learner(2).unwrap().state();
        let mut learner = None;
        let (mut from, mut size) = (0, 1);
        while from < rows {
            let chunk: Vec<usize> = (from..rows.min(from + size)).collect();
            let bytes = state.to_bytes().unwrap();
            let mut next =
                settings.resumed(2, HalfspaceState::from_bytes(&bytes).unwrap()).unwrap();
            let signs: Vec<f64> = chunk.iter().map(|&row| data.labels().signs()[row]).collect();
            next.take(&data.design().select(&chunk), &signs).unwrap();
            (from, size, state) = (from + size, 2 * size, next.state());
            learner = Some(next);
        }
        let learner = learner.unwrap();
        let classes = (data.labels().negative_class(), data.labels().positive_class());
        let names = data.feature_names().map(<[String]>::to_vec);
        assert_eq!(learner.fitted(classes, names).unwrap(), expected);
        assert!(!learner.is_complete() && state.rows() == rows);
        // A state is of its settings and features alone.
        let other = HalfspaceSettings { seed: 2, ..settings.clone() };
        let refused = [other.resumed(2, state.clone()), settings.resumed(3, state.clone())];
        for refused in refused {
            assert!(matches!(refused, Err(Error::State(_))), "{refused:?}");
        }
    }
}

/// Sparse samples are held out as they are, and no halfspace is known before the fifth row.
#[test]
fn sparse_chunks_are_held_out_too() {
    let settings = HalfspaceSettings::new(HalfspaceMethod::gradient(problem()));
    let mut learner = settings.learner(4).unwrap();
    let row = |k: usize| vec![(0, if k.is_multiple_of(2) { 1.0 } else { -1.0 }), (1 + k % 3, 0.5)];
    let chunk = |from: usize| {
        let rows: Vec<_> = (from..from + 4).map(row).collect();
        Design::from_sparse_rows(&rows, 4).unwrap()
    };
    learner.take(&chunk(0), &[1.0, -1.0, 1.0, -1.0]).unwrap();
    assert_eq!(learner.held_out(), 0);
    let none = learner.fitted(("a", "b"), None);
    assert!(matches!(none, Err(Error::Massart(_))), "{none:?}");
    for k in 1..60 {
        learner.take(&chunk(4 * k), &[1.0, -1.0, 1.0, -1.0]).unwrap();
        let bytes = learner.state().to_bytes().unwrap();
        learner = settings.resumed(4, HalfspaceState::from_bytes(&bytes).unwrap()).unwrap();
    }
    let fitted = learner.fitted(("a", "b"), None).unwrap();
    assert!(learner.is_complete() && fitted.selection.error == 0.0);
    // The rows that the plan asks for, which are fewer than there are.
    let plan = Plan::practical(&problem());
    assert_eq!((fitted.selection.held_out, fitted.steps), (plan.selection, plan.steps));
    let wrong = learner.take(&chunk(0), &[1.0, 2.0, 1.0, 1.0]);
    assert!(matches!(wrong, Err(Error::Massart(_))), "{wrong:?}");
}

/// The model of a decision list decides on every row as the list does, whatever divides the rows.
#[test]
fn a_decision_list_is_a_model() {
    let (_, noisy) = MassartDistribution::simulated(3, 0.2, 0.3, "near", 500, 2).unwrap();
    let drawn = noisy.sample(4000, 1).unwrap();
    // Rows of three lengths.
    let values = drawn.design().dense_samples().unwrap().chunks(3).enumerate();
    let rows: Vec<Vec<f64>> =
        values.map(|(i, x)| x.iter().map(|x| x * (1 + i % 3) as f64).collect()).collect();
    let data = drawn.with_design(Design::from_rows(&rows).unwrap()).unwrap();
    let target = Target::new(0.1, 0.05).unwrap();
    let problem = Problem::new(0.07, 0.2).unwrap().with_target(target);
    let method = HalfspaceMethod::Partition { problem };
    let mut most = 0;
    for (intercept, scaling) in [
        (false, RowScaling::Each),
        (true, RowScaling::Each),
        (false, RowScaling::Largest),
        (true, RowScaling::Largest),
    ] {
        let settings = HalfspaceSettings {
            intercept,
            scaling: Some(scaling),
            ..HalfspaceSettings::new(method)
        };
        let fitted = settings.fit(&data).unwrap();
        let constant = |row: &Vec<f64>| {
            let ones = if intercept { &[1.0][..] } else { &[] };
            [row.as_slice(), ones].concat()
        };
        let design = Design::from_rows(&rows.iter().map(constant).collect::<Vec<_>>()).unwrap();
        let divisor =
            (scaling == RowScaling::Largest).then(|| Sphere::largest_norm(&design).unwrap());
        let sample = SphereSample::scaled(&design, data.labels().signs(), divisor).unwrap();
        let limits = Limits::default();
        let (list, held_out) =
            partition::learn_tested(&problem, &sample, settings.seed, &limits).unwrap();
        let model = &fitted.model;
        most = most.max(list.rules().len());
        assert_eq!(
            (model.scheme(), model.members().len()),
            (Scheme::DecisionList, list.rules().len())
        );
        let scores = model.decision_function(data.design(), &Registry::standard()).unwrap();
        let mut wrong = 0;
        for (row, (x, score)) in design.samples().zip(&scores).enumerate() {
            wrong += usize::from((*score > 0.0) != (data.labels().signs()[row] > 0.0));
            assert!((list.score(&x) - score).abs() < 1e-9, "row {row}: {score}");
        }
        assert_eq!(fitted.training_error, Some(wrong as f64 / 4000.0));
        assert_eq!(fitted.selection.error, held_out.error);
        assert_eq!((fitted.steps, fitted.distance), (list.calls(), None));
        let bytes = model.to_bytes(Format::Binary).unwrap();
        assert_eq!(&Model::from_bytes(&bytes, &Registry::standard()).unwrap(), model);
    }
    assert!(most > 1);
    let standardized = HalfspaceSettings { standardize: true, ..HalfspaceSettings::new(method) };
    let fitted = standardized.fit(&data).unwrap();
    assert!(fitted.training_error.unwrap() < 0.45, "{fitted:?}");
    let each = HalfspaceSettings { scaling: Some(RowScaling::Each), ..standardized.clone() };
    let several = data.relabelled(Classes::from(data.labels())).unwrap();
    for refused in [each.fit(&data).map(|_| ()), standardized.fit_classes(&several).map(|_| ())] {
        assert!(matches!(refused, Err(Error::Contradiction { .. })), "{refused:?}");
    }
}

/// The audit takes features and rows as a fit does, and names rows as they are in the data.
#[test]
fn an_audit_names_rows() {
    let plain = data(1500);
    let settings = HalfspaceSettings::new(HalfspaceMethod::gradient(problem()));
    let margin = MarginBound::new(0.25).unwrap();
    let found = settings.audit(&plain, margin, 0.05).unwrap();
    assert!(found.eta_bound > 0.02 && found.eta_bound <= 0.1, "{}", found.eta_bound);
    assert!(found.flipped <= 0.1 && found.status == Status::RuleMet, "{}", found.flipped);
    // One label in ten is flipped.
    let right = found.suspects.iter().filter(|(row, _)| row % 10 == 9).count();
    assert!(right >= 140 && found.suspects.len() - right < 15, "{right} {}", found.suspects.len());
    assert!(found.suspects.windows(2).all(|two| two[0].1 >= two[1].1));
    let weights = (0..1500).map(|i| if i < 30 { 0.0 } else { 1.0 }).collect();
    let later =
        settings.audit(&plain.clone().with_weights(weights).unwrap(), margin, 0.05).unwrap();
    let chosen = plain.select(&(30..1500).collect::<Vec<_>>());
    let expected = settings.audit(&chosen, margin, 0.05).unwrap();
    assert_eq!(later.eta_bound, expected.eta_bound);
    let moved: Vec<_> = expected.suspects.iter().map(|(row, term)| (row + 30, *term)).collect();
    assert_eq!(later.suspects, moved);
    let late = HalfspaceSettings { time_limit: Some(Duration::ZERO), ..settings };
    assert_eq!(late.audit(&plain, margin, 0.05).unwrap().status, Status::TimeLimit);
}

/// Rows without weight count as none: they are not scaled, and are no fresh rows.
#[test]
fn rows_without_weight_are_not_counted() {
    let plain = data(300);
    let mut rows: Vec<Vec<f64>> =
        plain.design().samples().map(|x| vec![x.dot(&[1.0, 0.0]), x.dot(&[0.0, 1.0])]).collect();
    rows[4] = vec![1e-320, 0.0];
    let tiny = plain.with_design(Design::from_rows(&rows).unwrap()).unwrap();
    let settings = on_sphere(HalfspaceMethod::gradient(problem()));
    let seconds = |data: &Dataset| settings.seconds_per_step(data, &problem());
    assert!(seconds(&tiny).unwrap_err().to_string().contains("too small to divide by"));
    let weights: Vec<f64> = (0..300).map(|i| if i % 10 == 4 { 0.0 } else { 2.0 }).collect();
    let weighted = tiny.with_weights(weights).unwrap();
    assert!(seconds(&weighted).unwrap() > 0.0);
    let fitted = settings.fit(&weighted).unwrap();
    assert_eq!((fitted.rows, fitted.selection.held_out), (270, 54));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.blocks");
    blocks::write(&weighted, &path, BlockSettings::default()).unwrap();
    let file = BlockFile::open(&path).unwrap();
    let from_file = HalfspaceSettings { scaling: None, ..settings };
    assert_eq!(from_file.fit_file(&file, Memory::from_bytes(1 << 26)).unwrap().rows, 270);
}

/// A row without weight changes nothing, be it the longest; a factor of all weights changes nothing;
/// and of contradictory rows the heavier ones decide.
#[test]
fn weights_draw_rows() {
    let plain = data(3000);
    let n = plain.rows();
    let rows = || plain.design().samples().map(|x| vec![x.dot(&[1.0, 0.0]), x.dot(&[0.0, 1.0])]);
    let signs = plain.labels().signs();
    let signs: Vec<f64> = signs.iter().copied().chain(signs.iter().map(|y| -y)).collect();
    // Every row again with the other label, of another length and weight.
    let weighted = |own: f64, length: f64, other: f64| {
        let longer = rows().map(|row| row.iter().map(|x| length * x).collect());
        let both = Design::from_rows(&rows().chain(longer).collect::<Vec<Vec<f64>>>()).unwrap();
        let both = Dataset::new(both, Labels::from_signs(signs.clone()).unwrap()).unwrap();
        let weight = |i: usize| if i < n { own * (1 + i % 3) as f64 } else { other };
        both.with_weights((0..2 * n).map(weight).collect()).unwrap()
    };
    let absent = weighted(1.0, 50.0, 0.0).select(&(0..n).collect::<Vec<_>>());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.blocks");
    for method in [
        HalfspaceMethod::gradient(problem()),
        HalfspaceMethod::cuts(problem()),
        HalfspaceMethod::Adaptive { target: problem().target },
    ] {
        let settings = HalfspaceSettings::new(method);
        let fit = |data: &Dataset| settings.fit(data).unwrap();
        let expected = fit(&absent);
        let found = fit(&weighted(1.0, 50.0, 0.0));
        assert_eq!(found.model.members()[0].coef, expected.model.members()[0].coef, "{method:?}");
        assert_eq!((found.divisor, &found.selection), (expected.divisor, &expected.selection));
        assert_eq!(found.training_error, expected.training_error);
        blocks::write(&weighted(1.0, 50.0, 0.0), &path, BlockSettings::default()).unwrap();
        let from_file =
            settings.fit_file(&BlockFile::open(&path).unwrap(), Memory::from_bytes(1 << 26));
        assert_eq!(from_file.unwrap().divisor, expected.divisor);
        let scaled = fit(&weighted(4.0, 50.0, 0.0));
        assert_eq!(scaled.model.members()[0].coef, expected.model.members()[0].coef, "{method:?}");
        assert_eq!(scaled.evidence, expected.evidence);
        // One row in ten is flipped, and of all weight less than a tenth contradicts.
        let outvoted = fit(&weighted(1.0, 1.0, 0.2)).training_error.unwrap();
        assert!(outvoted < 0.35, "{method:?}: {outvoted}");
    }
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
        HalfspaceMethod::gradient(problem()),
        HalfspaceMethod::cuts(problem()),
        HalfspaceMethod::Cuts {
            problem: problem(),
            dimensions: Some(2),
            search: CutSearch::default(),
        },
        HalfspaceMethod::Adaptive { target: problem().target },
    ] {
        for (intercept, standardize, scaling) in [
            (false, false, Some(RowScaling::Each)),
            (true, false, Some(RowScaling::Each)),
            (true, true, None),
        ] {
            let settings = HalfspaceSettings {
                intercept,
                standardize,
                scaling,
                ..HalfspaceSettings::new(method)
            };
            let expected = settings.fit(&data).unwrap();
            for beside in [8 * file.bytes_of(0), 1 << 20] {
                let memory = Memory::from_bytes(least + beside);
                let found = settings.fit_file(&file, memory).unwrap();
                let coef = |fitted: &FittedHalfspace| fitted.model.members()[0].coef.clone();
                if matches!(method, HalfspaceMethod::Gradient { .. }) {
                    assert_eq!(coef(&found), coef(&expected));
                    assert_eq!(found.evidence, expected.evidence);
                    assert_eq!(
                        (found.divisor, found.distance, found.baseline),
                        (expected.divisor, expected.distance, expected.baseline)
                    );
                    assert_eq!(found.training_error, expected.training_error);
                } else {
                    // Less memory holds fewer rows out, and sums of blocks round otherwise.
                    assert!(found.training_error.unwrap() < 0.35, "{method:?} {found:?}");
                }
                assert_eq!(found.model.classes(), expected.model.classes());
            }
        }
    }
    let settings = HalfspaceSettings::new(HalfspaceMethod::gradient(problem()));
    let too_little = settings.fit_file(&file, Memory::from_bytes(least / 2)).unwrap_err();
    assert!(too_little.to_string().contains("cannot be used in"), "{too_little}");
}

/// Three sectors of the plane, each with a margin of 0.25 against the others; one label in thirteen is
/// that of the next sector.
fn sectors(rows: usize) -> Dataset<Classes> {
    let third = std::f64::consts::TAU / 3.0;
    let angle = |i: usize| third * ((i % 3) as f64 + 0.125 * (i as f64 * 0.7).sin());
    let length = |i: usize| 1.0 + (i % 5) as f64;
    let points: Vec<[f64; 2]> =
        (0..rows).map(|i| [length(i) * angle(i).cos(), length(i) * angle(i).sin()]).collect();
    let names: Vec<String> =
        (0..rows).map(|i| format!("sector {}", (i + usize::from(i % 13 == 12)) % 3)).collect();
    Dataset::new(Design::from_rows(&points).unwrap(), Classes::new(&names).unwrap()).unwrap()
}

/// Every method learns, for each class, the halfspace that it learns for this class against the rest
/// alone; all rows are held out alike; a decision is wrong only where a halfspace is; and the bound
/// counts the combinations of candidates.
#[test]
fn several_classes_are_learned_against_the_rest() {
    let target = Target::new(0.2, 0.1).unwrap();
    let problem = Problem::new(0.1, 0.2).unwrap().with_target(target);
    let data = sectors(900).with_weights(vec![2.0; 900]).unwrap();
    for method in [
        HalfspaceMethod::gradient(problem),
        HalfspaceMethod::cuts(problem),
        HalfspaceMethod::Baseline { problem, baseline: Baseline::Perceptron },
        HalfspaceMethod::Adaptive { target: Target::new(0.4, 0.1).unwrap() },
    ] {
        let settings = on_sphere(method);
        let fitted = settings.fit_classes(&data).unwrap();
        let mut sums = [0.0; 2];
        for (class, alone) in fitted.classes.iter().enumerate() {
            let labels = data.labels().against_rest(class);
            assert_eq!(alone, &settings.fit(&data.relabelled(labels).unwrap()).unwrap());
            let member = &fitted.model.members()[class];
            let norm = member.coef.iter().map(|w| w * w).sum::<f64>().sqrt();
            assert!((norm - 1.0).abs() < 1e-12 && member.intercept == 0.0, "{method:?}: {norm}");
            assert_eq!(alone.selection.held_out, fitted.held_out);
            sums[0] += alone.training_error.unwrap();
            sums[1] += alone.selection.error;
        }
        let errors = [fitted.training_error, fitted.held_out_error];
        assert!(errors[0] < 0.2 && errors[0] > 0.06, "{method:?}: {errors:?}");
        assert!((0..2).all(|k| errors[k] <= sums[k] + 1e-12), "{method:?}: {errors:?} {sums:?}");
        let wrong = fitted.model.predict(data.design(), &Registry::standard()).unwrap();
        let wrong = (0..900).filter(|&row| wrong[row] != data.labels().index(row)).count();
        assert!((fitted.training_error - wrong as f64 / 900.0).abs() < 1e-12);
        let Evidence::ErrorBound { bound, delta } = fitted.evidence else { panic!("no bound") };
        let logs = fitted.classes.iter().map(|c| (c.selection.candidates as f64).ln()).sum::<f64>();
        let hoeffding = ((logs - delta.ln()) / (2.0 * fitted.held_out as f64)).sqrt();
        assert!(bound > errors[1] && bound <= errors[1] + hoeffding + 1e-9, "{method:?}: {bound}");
        assert_eq!((fitted.status, delta), (Status::RuleMet, 0.1));
        assert!((fitted.baseline - 2.0 / 3.0).abs() < 0.1, "{}", fitted.baseline);
    }
}

/// Fresh rows in each call, by the method and the number of calls of the settings: in memory and from a file,
/// with the bound of rows held out, and without a projection.
#[test]
fn cutting_planes_take_fresh_rows_in_each_call() {
    let data = data(6000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.blocks");
    let of_blocks = BlockSettings { rows: Some(100), ..BlockSettings::default() };
    blocks::write(&data, &path, of_blocks).unwrap();
    let file = BlockFile::open(&path).unwrap();
    let memory = Memory::from_bytes(OnDisk::least(&file, 1).bytes() + 8 * file.bytes_of(0));
    // So large a target that a call needs about 1500 rows.
    let easy = Problem::new(0.15, 0.9).unwrap().with_target(Target::new(0.9, 0.5).unwrap());
    let search = CutSearch { fresh_rows: true, ..CutSearch::default() };
    let settings = |problem, dimensions, search| {
        HalfspaceSettings::new(HalfspaceMethod::Cuts { problem, dimensions, search })
    };
    let fresh = settings(easy, None, search);
    let plan = fresh.cut_plan(2).unwrap();
    assert_eq!(plan, CutPlan::proven(&easy, 3));
    assert!((1000..3000).contains(&plan.rows_per_call), "{plan:?}");
    for fitted in [fresh.fit(&data).unwrap(), fresh.fit_file(&file, memory).unwrap()] {
        assert_eq!((fitted.status, fitted.dimensions), (Status::RuleMet, None));
        assert!(fitted.steps >= 2 && fitted.training_error.unwrap() < 0.5, "{fitted:?}");
    }
    let few = CutSearch { method: Some(Method::Ellipsoid), most_calls: Some(2), fresh_rows: false };
    let hard = Problem::new(0.01, 0.3).unwrap().with_target(Target::new(0.01, 0.1).unwrap());
    let calls = settings(hard, None, few).fit(&data).unwrap();
    assert_eq!((calls.steps, calls.status), (2, Status::IterationLimit));
    assert_eq!(settings(hard, None, few).cut_plan(2), None);
    for refused in [
        settings(easy, Some(2), search).fit(&data).unwrap_err(),
        settings(easy, Some(2), search).fit_file(&file, memory).unwrap_err(),
    ] {
        assert!(refused.to_string().contains("theorem B.3 is for the features as they are"));
    }
}

/// Rows of weight 0 change nothing, nor do threads; the classes share the time.
#[test]
fn several_classes_keep_to_weights_threads_and_limits() {
    let method = HalfspaceMethod::gradient(problem());
    let settings = HalfspaceSettings { standardize: true, ..HalfspaceSettings::new(method) };
    let data = sectors(600);
    let halves: Vec<usize> = (0..600).filter(|row| row % 7 > 0).collect();
    let weights = (0..600).map(|row| f64::from(u8::from(row % 7 > 0))).collect();
    let ones = vec![1.0; halves.len()];
    let alone = settings.fit_classes(&data.select(&halves).with_weights(ones).unwrap()).unwrap();
    let weighted = settings.fit_classes(&data.clone().with_weights(weights).unwrap()).unwrap();
    let coefs = |fitted: &FittedHalfspaces| -> Vec<(f64, Vec<f64>)> {
        fitted.model.members().iter().map(|m| (m.intercept, m.coef.clone())).collect()
    };
    assert_eq!(coefs(&weighted), coefs(&alone));
    assert_eq!(weighted.evidence, alone.evidence);
    let on = |threads| HalfspaceSettings { threads: Some(threads), ..settings.clone() };
    assert_eq!(on(1).fit_classes(&data).unwrap(), on(3).fit_classes(&data).unwrap());
    let late = HalfspaceSettings { time_limit: Some(Duration::ZERO), ..settings };
    assert_eq!(late.fit_classes(&data).unwrap().status, Status::TimeLimit);
}
