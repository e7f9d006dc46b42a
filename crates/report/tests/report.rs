//! Reports: their numbers against definitions, their page against what a page must be.

use margins_calibration::location::MarginLocation;
use margins_data::encode::{EncodeOptions, RawTable};
use margins_data::generate::{Example, GaussianMixture};
use margins_data::metrics::{MarginStatistics, Measure, Ranking};
use margins_data::read::RowLabels;
use margins_data::{ClassLabels, Classes, Dataset, Design, Labels};
use margins_estimators::regularised::{ClassifierSettings, Regularisation};
use margins_losses::catoni::psi;
use margins_losses::{Logistic, MarginLoss, MarginPursuit};
use margins_model::{Model, Registry, Scheme};
use margins_optim::{ErrorCurve, Lambda};
use margins_report::page::chart::{Axis, Chart, Series, Style};
use margins_report::{
    CandidateChoice, Curve, Evaluation, Game, Labelled, Origin, PathPoint, Profile,
    RawColumnSummary, Report, Selection,
};

fn mixture(rows: usize, seed: u64) -> Dataset {
    GaussianMixture::example(Example::Two, 1).unwrap().sample(rows, seed).unwrap()
}

fn fit(data: &Dataset) -> Model {
    let regularisation = Regularisation::Single(Lambda::new(0.01).unwrap());
    ClassifierSettings {
        loss: std::sync::Arc::new(Logistic),
        regularisation,
        ..ClassifierSettings::default()
    }
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
    report.add_facts([("best", "error 12.50 % +- 1.00".to_owned())]);
    report.describe(&model, None);
    for (name, data) in [("training", &training), ("test", &test)] {
        let sample = Labelled::new(name, data, &model).unwrap();
        report.evaluate(&sample, &model, &Registry::standard()).unwrap();
    }
    let lambda = |k: i32| Lambda::new(10f64.powi(-k)).unwrap();
    let curve = ErrorCurve {
        lambdas: (0..5).map(lambda).collect(),
        mean_error: vec![0.3, 0.2, 0.15, 0.14, 0.18],
        standard_error: vec![0.02; 5],
        measure: Measure::Error,
        mean_measure: vec![0.3, 0.2, 0.15, 0.14, 0.18],
        measure_standard_error: vec![0.02; 5],
        mean_log_loss: vec![None; 5],
        unproven: vec![Some(0.0), Some(0.01), None, None, None],
        worst_relative_gap: vec![1e-8, 0.0, 1e-7, 1e-9, 1e-3],
        certified: vec![true, true, true, true, false],
        abandoned: vec![false; 5],
        reached: vec![true; 5],
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
            margin_location: None,
        })
        .collect();
    let names = ["height".to_owned(), "width".to_owned()];
    let coef: Vec<[f64; 2]> = (0..5).map(|k| [0.1 * f64::from(k), -f64::from(k)]).collect();
    let path: Vec<&[f64]> = coef.iter().map(|coef| &coef[..]).collect();
    report.profiles = Profile::largest(Some(&names), &path);
    report.duals = Profile::spread(&[
        vec![1.0, 0.5],
        vec![0.25, 1.0],
        vec![0.0, 0.5],
        vec![1.0; 2],
        vec![0.5; 2],
    ]);
    report.game = Some(Game::new(12, 100, None, &[0.0, 0.25, 1.0, 0.0], 1).unwrap());
    report.suspect(&training, &[2, 0]);
    report.candidates = Some(CandidateChoice {
        eta: 0.1,
        gamma: 0.25,
        candidates: 64,
        held_out: 1200,
        error: 0.125,
        bound: 0.175,
        delta: 0.05,
        chosen: 2,
        errors: vec![(1, 0.25), (2, 0.125), (64, 0.1875)],
    });
    report.warnings = report.found_warnings(None);
    report
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
    let positive = &evaluation.classes[1];
    let area = positive.roc.as_ref().unwrap().area.value;
    assert!((area - above / pairs).abs() < 1e-13);

    // The hardest sample has the least margin, and the distribution begins with it.
    let least = margins.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(evaluation.hardest[0].margin, least);
    assert_eq!(margins[evaluation.hardest[0].row - 1], least);
    assert_eq!(evaluation.margins[0], least);

    // Bins of the diagram have all samples, and the excess risk of the test data their mean loss.
    let bins = &positive.reliability.as_ref().unwrap().bins;
    assert_eq!(bins.iter().map(|bin| bin.count).sum::<usize>(), 80);
    let test = mixture(60, 2);
    let scores = model.decision_function(test.design(), &Registry::standard()).unwrap();
    let losses = scores.iter().zip(test.labels().signs()).map(|(f, y)| Logistic.value(f * y));
    let mean = losses.sum::<f64>() / 60.0;
    let excess = report.excess_risk.as_ref().unwrap();
    assert!((excess.risk.value - mean).abs() < 1e-14);
    assert!(excess.points.windows(2).all(|p| p[0].excess_error <= p[1].excess_error));
}

/// The leaky hockey stick has no lower bound: where its mean is negative, Psi is shown as far as it
/// allows an error of one half above the least.
#[test]
fn a_negative_mean_loss_does_not_hide_the_transform() {
    let rows: Vec<[f64; 1]> = (0..20).map(|i| [f64::from(i) - 9.5]).collect();
    let labels = Labels::from_signs(rows.iter().map(|[x]| x.signum()).collect()).unwrap();
    let data = Dataset::new(Design::from_rows(&rows).unwrap(), labels).unwrap();
    let regularisation = Regularisation::Single(Lambda::new(1e-6).unwrap());
    let settings = ClassifierSettings { regularisation, ..ClassifierSettings::default() };
    let model = settings.fit(&data).unwrap().model;
    let mut report = Report::new("separable", Origin::default());
    let sample = Labelled::new("training", &data, &model).unwrap();
    report.evaluate(&sample, &model, &Registry::standard()).unwrap();
    let excess = report.excess_risk.as_ref().expect("a calibrated loss");
    assert!(excess.risk.value < 0.0, "{:?}", excess.risk);
    let last = excess.points.last().expect("points");
    assert!((last.excess_error - 0.5).abs() < 1e-12, "{last:?}");
}

#[test]
fn margin_pursuit_reports_where_its_margins_are() {
    let data = mixture(200, 3);
    let loss = MarginPursuit::new(1.0, 0.5).unwrap();
    let settings = ClassifierSettings {
        loss: std::sync::Arc::new(loss),
        regularisation: Regularisation::Single(Lambda::new(1e-4).unwrap()),
        ..ClassifierSettings::default()
    };
    let fitted = settings.fit(&data).unwrap();
    let model = &fitted.model;
    let mut report = Report::new("margins", Origin::default());
    let sample = Labelled::new("training", &data, model).unwrap();
    report.evaluate(&sample, model, &Registry::standard()).unwrap();
    let scores = model.decision_function(data.design(), &Registry::standard()).unwrap();
    let signs = data.labels().signs();
    let margins: Vec<f64> = scores.iter().zip(signs).map(|(f, y)| f * y).collect();
    let found = report.evaluations[0].location.unwrap();
    assert_eq!(found, MarginLocation::new(&margins, None, 1.0, 0.5).unwrap());
    let of_fit = fitted.margin_locations().unwrap()[0];
    assert!((of_fit.estimate - found.estimate).abs() < 1e-12, "{of_fit:?} {found:?}");
    let statistics = MarginStatistics::new(scores.as_slice(), signs, None).unwrap();
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
    assert!(near(found.mean, statistics.mean) && near(found.variance, statistics.variance));
    assert!(near(found.skewness, statistics.skewness));
    // The estimate solves its equation.
    let balance: f64 = margins.iter().map(|u| psi((found.estimate - u) / 0.5)).sum();
    assert!(balance.abs() < 1e-10, "{balance}");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["evaluations"][0]["location"]["gamma"], 1.0);
    assert!(report.page().contains("Location of the margins at the scale of the loss"));
    // Along a path the locations are beside gamma, with the intervals that there are.
    let point = |lambda: f64, interval| PathPoint {
        lambda,
        objective: 0.5,
        relative_gap: 1e-7,
        converged: true,
        norm: 1.0,
        training_error: 0.1,
        margin_location: Some(MarginLocation { interval, ..found }),
    };
    let mut along = Report::new("margins along a path", Origin::default());
    along.path = vec![point(0.1, None), point(0.01, None)];
    let has = |page: String, words: &str| page.contains(words);
    assert!(has(along.page(), "Location of the margins along the path"));
    assert!(!has(along.page(), "upper end"));
    along.path[1] = point(0.01, Some([0.5, 0.9]));
    assert!(has(along.page(), "upper end"));

    // Equal weights change no estimate; another loss has no level.
    let weights = vec![3.0; 200];
    let weighted = Labelled { weights: Some(&weights), ..sample };
    report.evaluate(&weighted, model, &Registry::standard()).unwrap();
    let same = report.evaluations[1].location.unwrap();
    assert!((same.estimate - found.estimate).abs() < 1e-12);
    assert!(complete().evaluations[0].location.is_none());
}

/// Three classes of two features each around a point of its own, with weights 0 to 3.
fn three_classes() -> Dataset<Classes> {
    let place = |i: usize| {
        let class = i % 3;
        let centre = [(0.0, 0.0), (1.5, 0.0), (0.0, 1.5)][class];
        [centre.0 + (i * 7 % 11) as f64 / 4.0, centre.1 + (i * 5 % 13) as f64 / 4.0]
    };
    let rows: Vec<[f64; 2]> = (0..90).map(place).collect();
    let labels: Vec<&str> = (0..90).map(|i| ["a", "b", "c"][i % 3]).collect();
    Dataset::new(Design::from_rows(&rows).unwrap(), Classes::new(&labels).unwrap()).unwrap()
}

fn evaluate(data: &Dataset<Classes>, model: &Model) -> Evaluation {
    let mut report = Report::new("several", Origin::default());
    let sample = Labelled::new("training", data, model).unwrap();
    report.evaluate(&sample, model, &Registry::standard()).unwrap();
    report.evaluations.remove(0)
}

fn models(data: &Dataset<Classes>) -> [Model; 2] {
    [Scheme::OneVersusRest, Scheme::OneVersusOne].map(|scheme| {
        let settings = ClassifierSettings {
            loss: std::sync::Arc::new(Logistic),
            regularisation: Regularisation::Single(Lambda::new(0.01).unwrap()),
            scheme: Some(scheme),
            ..ClassifierSettings::default()
        };
        settings.fit(data).unwrap().model
    })
}

#[test]
fn several_classes_are_measured_each_against_the_rest() {
    let data = three_classes();
    for model in models(&data) {
        let registry = Registry::standard();
        let scores = model.decision_functions(data.design(), &registry).unwrap();
        let probabilities = model.class_probabilities(&scores, &Logistic).unwrap();
        let decided = model.predict(data.design(), &registry).unwrap();
        let evaluation = evaluate(&data, &model);
        let class_of = |row: usize| data.labels().index(row);

        // What decides is the score of a class, so that margins below zero are the mistakes.
        let wrong = (0..90).filter(|&row| decided[row] != class_of(row)).count();
        assert!(wrong > 0);
        let below = evaluation.margins.iter().filter(|margin| **margin < 0.0).count() as f64;
        assert!((below / 201.0 - wrong as f64 / 90.0).abs() < 0.02, "{below} {wrong}");
        let hardest = &evaluation.hardest[0];
        assert_eq!(hardest.margin, evaluation.margins[0]);
        assert_ne!(hardest.label, hardest.decided);
        let class = model.class_of(&hardest.label).unwrap();
        assert_eq!(hardest.probability, Some(probabilities[(hardest.row - 1, class)]));

        for (class, found) in evaluation.classes.iter().enumerate() {
            assert_eq!(found.class, model.classes()[class]);
            let seen = |row: usize| f64::from(u8::from(class_of(row) == class));
            let squares = (0..90).map(|row| (probabilities[(row, class)] - seen(row)).powi(2));
            let diagram = found.reliability.as_ref().unwrap();
            assert!((diagram.brier - squares.sum::<f64>() / 90.0).abs() < 1e-14);
            assert!(found.roc.as_ref().unwrap().area.value > 0.6);
            assert_eq!(found.margins.len(), 201);
        }
        // One-versus-rest ranks by the score of the member.
        if model.scheme() == Scheme::OneVersusRest {
            let signs: Vec<f64> =
                (0..90).map(|i| if class_of(i) == 2 { 1.0 } else { -1.0 }).collect();
            let ranking = Ranking::new(scores.column(2).as_slice(), &signs, None).unwrap();
            let roc = evaluation.classes[2].roc.as_ref().unwrap();
            assert_eq!(roc.area.value, ranking.roc_area().value);
        }
    }
}

#[test]
fn weights_count_as_repetitions() {
    let data = three_classes();
    let weights: Vec<f64> = (0..90).map(|i| f64::from(i / 3 % 4)).collect();
    let times = |row: usize| std::iter::repeat_n(row, weights[row] as usize);
    let repeated = data.select(&(0..90).flat_map(times).collect::<Vec<_>>());
    let weighted = data.clone().with_weights(weights).unwrap();
    for model in models(&data) {
        let (one, other) = (evaluate(&weighted, &model), evaluate(&repeated, &model));
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(one.error.value, other.error.value);
        assert_eq!(one.confusion, other.confusion);
        one.margins.iter().zip(&other.margins).for_each(|(a, b)| close(*a, *b));
        assert_eq!(one.hardest[0].margin, other.hardest[0].margin);
        for (a, b) in one.classes.iter().zip(&other.classes) {
            a.margins.iter().zip(&b.margins).for_each(|(a, b)| close(*a, *b));
            let areas = |curve: &Option<Curve>| curve.as_ref().unwrap().area.value;
            close(areas(&a.roc), areas(&b.roc));
            close(areas(&a.precision_recall), areas(&b.precision_recall));
            let (a, b) = (a.reliability.as_ref().unwrap(), b.reliability.as_ref().unwrap());
            close(a.calibration_error, b.calibration_error);
            close(a.brier, b.brier);
            for (a, b) in a.bins.iter().zip(&b.bins) {
                close(a.mean_probability, b.mean_probability);
                close(a.observed.value, b.observed.value);
            }
        }
    }
}

/// The page of many classes shows the worst in its charts, and all in its table.
#[test]
fn the_page_of_several_classes_has_the_same_sections() {
    let data = three_classes();
    let [model, _] = models(&data);
    let mut report = Report::new("several", Origin::default());
    let sample = Labelled::new("training", &data, &model).unwrap();
    report.evaluate(&sample, &model, &Registry::standard()).unwrap();
    let page = report.page();
    for section in
        ["Decisions", "Classes", "Margins", "Ranking", "Probabilities", "Hardest samples"]
    {
        assert!(page.contains(&format!("<h2>{section}</h2>")), "{section}");
    }
    assert_eq!(page.matches("<svg").count(), 5);
}

#[test]
fn warnings_say_what_the_numbers_show() {
    let mut open = complete();
    assert_eq!(open.uncertified(), Vec::<String>::new());
    open.members[0].converged = false;
    let expected = "The fit of '1' against '-1' is not certified: its duality gap, or the allowance for \
                    rounding in it, is above the tolerance.";
    assert_eq!(open.uncertified(), [expected]);
    let mut at_the_end = complete();
    at_the_end.selection.as_mut().unwrap().best = 4;
    let warnings = at_the_end.found_warnings(None);
    assert!(warnings.iter().any(|w| w.starts_with("The lowest error is at the smallest lambda")));
    let mut off = complete();
    let mut classes = off.evaluations[0].classes.iter_mut();
    let diagram = classes.find_map(|class| class.reliability.as_mut()).unwrap();
    diagram.calibration_error = diagram.if_calibrated.value + 0.5;
    let told = |report: &Report| -> String {
        let found = report.found_warnings(None).into_iter();
        found.filter(|w| w.contains("on training have a calibration error")).collect()
    };
    assert!(told(&off).ends_with(". Consider --probability platt."), "{off:?}");
    off.members[0].scaled_probabilities = true;
    assert!(!told(&off).is_empty() && !told(&off).contains("platt"));
}

/// The units of features change coefficients, and neither standardised ones nor their order.
#[test]
fn standardised_coefficients_do_not_depend_on_the_units_of_features() {
    let own = mixture(80, 1);
    let units = |factor: f64| {
        let mut design = own.design().clone();
        design.scale_columns(&[1.0, factor]);
        own.over(design).unwrap()
    };
    let standardized = |factor: f64| -> Vec<(String, f64)> {
        let data = units(factor);
        let regularisation = Regularisation::Single(Lambda::new(0.01).unwrap());
        let settings = ClassifierSettings {
            loss: std::sync::Arc::new(Logistic),
            regularisation,
            standardize: true,
            ..ClassifierSettings::default()
        };
        let mut report = Report::new("units", Origin::default());
        report.describe(&settings.fit(&data).unwrap().model, Some(data.design()));
        assert!(report.page().contains("standardised"));
        let largest = report.members[0].largest.iter();
        largest.map(|c| (c.name.clone(), c.standardized.expect("rows in memory"))).collect()
    };
    let expected = standardized(1.0);
    assert_eq!(expected.len(), 2);
    assert!(expected[0].1.abs() >= expected[1].1.abs(), "{expected:?}");
    for factor in [1024.0, 1.0 / 1024.0] {
        for ((name, found), (other, known)) in standardized(factor).iter().zip(&expected) {
            assert_eq!(name, other);
            assert!((found - known).abs() <= 1e-9 * known.abs(), "{found} and {known}");
        }
    }
}

/// The features of a path are those of the largest coefficients; the losses of a game are summed up.
#[test]
fn paths_and_games_are_summed_up() {
    let report = complete();
    let names: Vec<&str> = report.profiles.iter().map(|profile| &*profile.name).collect();
    assert_eq!(names, ["width", "height"]);
    assert_eq!(report.profiles[0].coef, [0.0, -1.0, -2.0, -3.0, -4.0]);
    let many: Vec<f64> = (0..20).map(f64::from).collect();
    let profiles = Profile::largest(None, &[&many]);
    assert_eq!((profiles.len(), &*profiles[0].name), (8, "feature 20"));
    // Duals are those of the ranks at the end, from the largest to the smallest.
    let at = |end: bool| (0..15).map(|i| if end { f64::from(i * 7 % 15) } else { 1.0 }).collect();
    let duals = Profile::spread(&[at(false), at(true)]);
    let ends: Vec<f64> = duals.iter().map(|profile| profile.coef[1]).collect();
    assert_eq!(ends, [14.0, 12.0, 10.0, 8.0, 6.0, 4.0, 2.0, 0.0]);
    assert_eq!((&*duals[0].name, duals[0].coef[0]), ("row 3", 1.0));
    assert_eq!(Profile::spread(&[vec![0.5]])[0].name, "row 1");
    assert!(Profile::spread(&[]).is_empty() && Profile::spread(&[Vec::new()]).is_empty());
    let game = report.game.as_ref().unwrap();
    assert_eq!((game.max_loss, game.mean_loss), (1.0, 0.3125));
    assert_eq!((game.losses[0], game.losses[200]), (0.0, 1.0));
    let page = report.page();
    for section in ["<h2>Path</h2>", "<h2>Game</h2>", "Largest coefficients along the path"] {
        assert!(page.contains(section), "{section}");
    }
}

/// A row that may be an outlier is reported with its label and with what is unusual about it.
#[test]
fn suspected_rows_tell_their_label_and_their_farthest_columns() {
    let rows: Vec<[f64; 2]> = (0..10).map(|i| [f64::from(i % 2), f64::from(i)]).collect();
    let mut rows = rows;
    rows[4] = [30.0, 4.5];
    let labels = Labels::new(&["a", "b"].repeat(5)).unwrap();
    let data = Dataset::new(Design::from_rows(&rows).unwrap(), labels).unwrap();
    let data = data.with_feature_names(vec!["size".to_owned(), "age".to_owned()]).unwrap();
    let mut report = Report::new("outliers", Origin::default());
    report.suspect(&data, &[4, 1]);
    assert_eq!(report.outliers, Some(vec![5, 2]));
    let first = &report.suspects[0];
    assert_eq!((first.row, &*first.label), (5, "a"));
    // One of ten values that stands alone is three deviations from the mean, nearly.
    assert_eq!(first.columns[0].column, "size");
    assert!((first.columns[0].deviations - 3.0).abs() < 0.1, "{first:?}");
    let page = report.page();
    for cell in ["Rows with slack: 2, the largest slack first", "size +3.0"] {
        assert!(page.contains(cell), "{cell}");
    }
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
    assert_eq!(pictures.len(), 18);
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
    for cell in ["64", "1200", "12.5\u{a0}%", "5.00\u{a0}%", "17.5\u{a0}%"] {
        assert!(page.contains(&format!("<td class=\"number\">{cell}</td>")), "{cell}");
    }
    for words in [
        "error 12.50\u{a0}%\u{a0}±\u{a0}1.00",
        "predicted class",
        "relative duality gap, at least 1e-18",
    ] {
        assert!(page.contains(words), "{words}");
    }
    // Pictures refer to parts of themselves alone.
    assert!(!page.contains("@import") && !page.replace("url(#", "").contains("url("));
}

/// The page of a raw table shows the columns that its features were made of.
#[test]
fn columns_of_a_raw_table_are_shown_as_they_came() {
    let options = EncodeOptions::default();
    let mut table = RawTable::new(vec!["age".to_owned(), "town".to_owned()]);
    for i in 0..20 {
        let age = if i == 3 { "NA".to_owned() } else { i.to_string() };
        table.push(&[&*age, ["Bern", "Basel"][i / 5 % 2]], &options.missing_words).unwrap();
    }
    let labels = Labels::new(&["a", "b"].repeat(10)).unwrap();
    let data = Dataset::encoded(table, labels, options).unwrap();
    let model = fit(&data);
    let mut report = Report::new("raw", Origin::default());
    let sample = Labelled::new("training", &data, &model).unwrap();
    report.evaluate(&sample, &model, &Registry::standard()).unwrap();
    let column = |name: &str, kind, missing, levels| RawColumnSummary {
        name: name.to_owned(),
        kind,
        missing,
        levels,
    };
    let towns = Some(vec!["Bern".to_owned(), "Basel".to_owned()]);
    let expected = [column("age", "number", 1, None), column("town", "categorical", 0, towns)];
    assert_eq!(report.data[0].raw_columns, expected);
    let page = report.page();
    for text in ["Columns of training before they were encoded", "'Bern', 'Basel'"] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!complete().page().contains("before they were encoded"));
}

/// An axis of whole numbers names all of them, and nothing between.
#[test]
fn an_axis_of_whole_numbers_names_no_fractions() {
    for count in [1, 2, 8, 12] {
        let points = (1..=count).map(|k| (0.5, k as f64)).collect();
        let style = Style::Cells(vec![0.25; count]);
        let chart = Chart {
            key: "kernels".to_owned(),
            title: "Kernels".to_owned(),
            description: "All of them.".to_owned(),
            x: Axis::share("lambda"),
            y: Axis::whole("kernel", count),
            series: vec![Series::new("error", points, style)],
        };
        let figure = chart.figure().into_string();
        let picture = figure.split("</svg>").next().unwrap();
        let texts = picture.split("</text>").filter_map(|part| part.rsplit('>').next());
        let named: Vec<&str> = texts.map(str::trim).filter(|text| !text.is_empty()).collect();
        for k in 1..=count {
            assert!(named.contains(&&*k.to_string()), "{k} of {count}: {named:?}");
        }
        for fraction in ["0.5", "1.5", "2.5"] {
            let of_x = usize::from(fraction == "0.5");
            let seen = named.iter().filter(|text| **text == fraction).count();
            assert!(seen <= of_x, "{fraction} of {count}: {named:?}");
        }
    }
}

#[test]
fn unknown_labels_are_named() {
    let data = mixture(80, 1);
    let model = fit(&data);
    let labels = RowLabels::from_iter(["neither"; 80]);
    let error = Labelled::with_labels("test", data.design(), &labels, None, &model).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the label 'neither' of test is not a class of the model ('-1', '1')"
    );
}

#[test]
fn a_chart_names_its_categories_and_leaves_out_what_is_beyond_its_axis() {
    let points = vec![(0.0, 0.25), (1.0, 0.5), (1.0, 7.5)];
    let series = Series::new("found", points, Style::Dots);
    let chart = Chart {
        key: "kinds".to_owned(),
        title: "Kinds".to_owned(),
        description: "Two kinds.".to_owned(),
        x: Axis { names: &["near", "far"], ..Axis::share("kind") },
        y: Axis::share("error"),
        series: vec![series],
    };
    let figure = chart.figure().into_string();
    // Two points and their sample in the legend.
    assert_eq!(figure.matches("<circle").count(), 3, "{figure}");
    for text in ["<td class=\"number\">far</td>", "<td class=\"number\">7.5</td>"] {
        assert!(figure.contains(text), "{text}");
    }
}
