//! Reports: their numbers against definitions, their page against what a page must be.

use margins_data::Dataset;
use margins_data::generate::{Example, GaussianMixture};
use margins_estimators::regularised::{Regularisation, Settings};
use margins_losses::{Logistic, MarginLoss};
use margins_model::{Model, Registry};
use margins_optim::{ErrorCurve, Lambda};
use margins_report::page::chart::{Axis, Chart, Series, Style};
use margins_report::{Labelled, Origin, PathPoint, Report, Selection};

fn mixture(rows: usize, seed: u64) -> Dataset {
    GaussianMixture::example(Example::Two, 1).unwrap().sample(rows, seed).unwrap()
}

fn fit(data: &Dataset) -> Model {
    let regularisation = Regularisation::Single(Lambda::new(0.01).unwrap());
    Settings { loss: std::sync::Arc::new(Logistic), regularisation, ..Settings::default() }
        .fit(data)
        .unwrap()
        .model
}

/// A report with every part.
fn complete() -> Report {
    let (training, test) = (mixture(80, 1), mixture(60, 2));
    let model = fit(&training);
    let origin = Origin {
        command: "margins cv --data '<a> & b.csv'".to_owned(),
        program: "margins".to_owned(),
        seed: Some(3),
        time: "2026-01-01T00:00:00Z".to_owned(),
        seconds: 0.5,
    };
    let mut report = Report::new("<A> & \"B\"", origin);
    report.add_facts([("loss", "logistic".to_owned())]);
    report.describe(&model);
    for (name, data) in [("training", &training), ("test", &test)] {
        let sample = Labelled::new(name, data, &model).unwrap();
        report.evaluate(&sample, &model, &Registry::standard()).unwrap();
    }
    let lambda = |k: i32| Lambda::new(10f64.powi(-k)).unwrap();
    let curve = ErrorCurve {
        lambdas: (0..5).map(lambda).collect(),
        mean_error: vec![0.3, 0.2, 0.15, 0.14, 0.18],
        standard_error: vec![0.02; 5],
        worst_relative_gap: vec![1e-8, 0.0, 1e-7, 1e-9, 1e-3],
        certified: vec![true, true, true, true, false],
        abandoned: vec![false; 5],
        best: 3,
        one_standard_error: 2,
    };
    let kernels = [("gaussian:sigma=1", &curve), ("poly:degree=3", &curve)];
    report.selection = Some(Selection::new(&curve, kernels, Some("poly:degree=3")));
    report.path = (0..5)
        .map(|k| PathPoint {
            lambda: lambda(k).get(),
            objective: 0.5,
            relative_gap: 1e-7,
            converged: true,
            norm: f64::from(k + 1),
            training_error: 0.1,
        })
        .collect();
    report.outliers = Some(vec![3, 1]);
    report.with_warnings()
}

#[test]
fn numbers_are_their_definitions() {
    let (training, report) = (mixture(80, 1), complete());
    let model = fit(&training);
    let scores = model.decision_function(training.design(), &Registry::standard()).unwrap();
    let signs = training.labels().signs();
    let margins: Vec<f64> = scores.iter().zip(signs).map(|(f, y)| f * y).collect();
    let evaluation = &report.evaluations[0];

    // Error and confusion by counting.
    let wrong = scores.iter().zip(signs).filter(|(f, y)| (**f > 0.0) != (**y > 0.0)).count();
    assert_eq!(evaluation.error.value, wrong as f64 / 80.0);
    let confused = &evaluation.confusion.weights;
    assert_eq!(confused[0][1] + confused[1][0], wrong as f64);
    assert_eq!(confused.iter().flatten().sum::<f64>(), 80.0);

    // The area by pairs of one sample of each class.
    let (mut above, mut pairs) = (0.0, 0.0);
    for (i, j) in (0..80).flat_map(|i| (0..80).map(move |j| (i, j))) {
        if signs[i] > 0.0 && signs[j] < 0.0 {
            pairs += 1.0;
            above += f64::from(u8::from(scores[i] > scores[j]));
        }
    }
    let area = evaluation.roc.as_ref().unwrap().area.value;
    assert!((area - above / pairs).abs() < 1e-13);

    // The hardest sample has the least margin, and the distribution begins with it.
    let least = margins.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(evaluation.hardest[0].margin, least);
    assert_eq!(margins[evaluation.hardest[0].row - 1], least);
    assert_eq!(evaluation.margins[0], least);

    // Bins of the diagram have all samples, and the excess risk of the test data their mean loss.
    let bins = &evaluation.reliability.as_ref().unwrap().bins;
    assert_eq!(bins.iter().map(|bin| bin.count).sum::<usize>(), 80);
    let test = mixture(60, 2);
    let scores = model.decision_function(test.design(), &Registry::standard()).unwrap();
    let losses = scores.iter().zip(test.labels().signs()).map(|(f, y)| Logistic.value(f * y));
    let mean = losses.sum::<f64>() / 60.0;
    let excess = report.excess_risk.as_ref().unwrap();
    assert!((excess.risk.value - mean).abs() < 1e-14);
    assert!(excess.points.windows(2).all(|p| p[0].excess_error <= p[1].excess_error));
}

#[test]
fn warnings_say_what_the_numbers_show() {
    let report = complete();
    let found = report.warnings.join("\n");
    assert!(found.contains("1 of the 5 lambdas are not certified in all folds."), "{found}");
    let mut at_the_end = complete();
    at_the_end.selection.as_mut().unwrap().best = 4;
    let warnings = at_the_end.with_warnings().warnings;
    assert!(warnings.iter().any(|w| w.starts_with("The least error is at the smallest lambda")));
}

/// Reads the page as XML, which is stricter than HTML: tags are closed and attributes quoted.
#[test]
fn the_page_is_well_formed_and_every_picture_has_words() {
    let page = complete().page();
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let tree = roxmltree::Document::parse_with_options(&page, options).expect("well formed");
    let named = |name: &'static str| tree.descendants().filter(move |n| n.has_tag_name(name));
    let svg = ("http://www.w3.org/2000/svg", "svg");
    let pictures: Vec<_> = tree.descendants().filter(|node| node.has_tag_name(svg)).collect();
    assert_eq!(pictures.len(), 11);
    for picture in pictures {
        assert_eq!(picture.attribute("role"), Some("img"));
        let words = picture.attribute("aria-labelledby").expect("a text alternative");
        for id in words.split(' ') {
            let with_id: Vec<_> =
                tree.descendants().filter(|node| node.attribute("id") == Some(id)).collect();
            let [text] = with_id[..] else { panic!("{} elements have the id {id}", with_id.len()) };
            assert!(text.text().is_some_and(|text| text.len() > 3), "{id} has no words");
        }
        let figure = picture.parent().expect("a figure");
        assert!(figure.descendants().any(|node| node.has_tag_name("td")), "no numbers");
    }
    assert_eq!(named("h1").next().and_then(|h| h.text()), Some("<A> & \"B\""));
    for (name, attribute) in [("script", "src"), ("link", "href"), ("img", "src")] {
        assert!(named(name).all(|node| node.attribute(attribute).is_none()), "{name}");
        assert_eq!(named(name).count(), 0, "{name}");
    }
    assert!(!page.contains("@import") && !page.contains("url("));
}

#[test]
fn unknown_labels_are_named() {
    let data = mixture(80, 1);
    let model = fit(&data);
    let labels = vec!["neither".to_owned(); 80];
    let error = Labelled::with_labels("test", data.design(), &labels, None, &model).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the label 'neither' of test is no class of the model ('-1', '1')"
    );
}

#[test]
fn a_chart_names_its_categories_and_leaves_out_what_is_beyond_its_axis() {
    let points = vec![(0.0, 0.25), (1.0, 0.5), (1.0, 7.5)];
    let series = Series { name: "found".to_owned(), points, style: Style::Dots };
    let chart = Chart {
        key: "kinds".to_owned(),
        title: "Kinds".to_owned(),
        description: "Two kinds.".to_owned(),
        x: Axis { names: &["near", "far"], ..Axis::share("kind") },
        y: Axis::share("error"),
        series: vec![series],
    };
    let figure = chart.figure().into_string();
    assert_eq!(figure.matches("<circle").count(), 2, "{figure}");
    for text in ["<td class=\"number\">far</td>", "<td class=\"number\">7.5</td>"] {
        assert!(figure.contains(text), "{text}");
    }
}
