//! The decision of `predict` between two classes.

use margins::Classifier;
use margins::data::read;
use serde_json::Value;

use crate::{Workshop, number, text, three_classes};

const PREDICT: [&str; 5] = ["predict", "--model", "m.json", "--data", "data.csv"];

/// Returns the predictions with options, and the error.
fn predictions(workshop: &Workshop, options: &[&str]) -> (Vec<Value>, f64) {
    let document = workshop.json(&[&PREDICT[..], options].concat());
    let error = number(&document["metrics"]["error"]);
    (document["predictions"].as_array().expect("a list").clone(), error)
}

#[test]
fn thresholds_and_costs_decide() {
    let workshop = Workshop::new();
    let fit = ["fit", "--data", "data.csv", "--loss", "logistic", "--lambda", "0.1"];
    workshop.output(&[&fit[..], &["--out", "m.json"]].concat());
    let plain = predictions(&workshop, &[]);
    assert_eq!(predictions(&workshop, &["--threshold", "0"]), plain);
    assert_eq!(predictions(&workshop, &["--cost", "2:2"]), plain);
    let truth = read::dataset(workshop.path("data.csv"), &Default::default()).expect("data");
    let cases: [(&[&str], &str, f64); 4] = [
        (&["--threshold", "-0.6"], "score", -0.6),
        (&["--threshold", "0.7", "--probability"], "probability", 0.7),
        (&["--cost", "1:3"], "probability", 0.25),
        (&["--cost", "4:1"], "probability", 0.8),
    ];
    for (options, by, least) in cases {
        let (decided, error) = predictions(&workshop, options);
        assert_ne!(decided, plain.0, "{options:?} decides as the model does");
        let mut mistakes = 0.0;
        for (prediction, sign) in decided.iter().zip(truth.labels().signs()) {
            let positive = number(&prediction[by]) > least;
            assert_eq!(prediction["label"], if positive { "yes" } else { "no" }, "{options:?}");
            mistakes += f64::from(u8::from(positive != (*sign > 0.0)));
        }
        assert!((error - mistakes / 12.0).abs() < 1e-15, "{options:?}: {error}");
        // The table has the same decisions.
        let table = workshop.output(&[&PREDICT[..], options].concat());
        let labels = table.lines().skip(1).map(|line| line.split(',').nth(1).expect("a label"));
        assert!(labels.eq(decided.iter().map(|row| row["label"].as_str().expect("a label"))));
    }
}

#[test]
fn decisions_that_have_no_meaning_are_refused() {
    let workshop = Workshop::new();
    let fit = |data: &str, loss: &str, out: &str, options: &[&str]| {
        let fit = ["fit", "--data", data, "--loss", loss, "--lambda", "0.1", "--out", out];
        workshop.output(&[&fit[..], options].concat());
    };
    workshop.write("three.csv", three_classes().as_bytes());
    fit("data.csv", "logistic", "m.json", &[]);
    fit("data.csv", "hinge", "hinge.json", &["--solver", "sdca"]);
    fit("three.csv", "logistic", "three.json", &["--multi-class", "ovr"]);
    let loaded = Classifier::load(workshop.path("three.json"), &margins::Registry::standard());
    assert_eq!(loaded.expect("a model").classes().len(), 3);
    let mut page = String::new();
    for line in [
        "m.json data.csv --threshold 0.5 --cost 1:2",
        "m.json data.csv --probability",
        "m.json data.csv --probability --cost 1:2",
        "m.json data.csv --threshold 2 --probability",
        "m.json data.csv --threshold nan",
        "m.json data.csv --threshold high",
        "m.json data.csv --cost 1",
        "m.json data.csv --cost 0:0",
        "m.json data.csv --cost -1:2",
        "m.json data.csv --threshold -high",
        "hinge.json data.csv --cost 1:2",
        "hinge.json data.csv --threshold 0.5 --probability",
        "three.json three.csv --threshold 0.5",
        "three.json three.csv --cost 1:2",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let predict = ["predict", "--model", words[0], "--data", words[1]];
        let output = workshop.run(&[&predict[..], &words[2..]].concat());
        assert_eq!(output.status.code(), Some(2), "{line}");
        let message = text(&output.stderr);
        page += &format!("{line}\n{}\n\n", message.split("\n\n").next().unwrap_or_default());
    }
    insta::assert_snapshot!(page);
    // Scores are there for every loss.
    let by_score = ["predict", "--model", "hinge.json", "--data", "data.csv", "--threshold", "0.5"];
    assert!(workshop.output(&by_score).lines().count() == 13);
}

/// A table of many blocks has its rows in order, from a file and from standard input, whatever the
/// number of threads; an error far down names its row.
#[test]
fn predictions_of_many_blocks_are_in_order() {
    let workshop = Workshop::new();
    workshop.output(&["fit", "--data", "data.csv", "--lambda", "0.1", "--out", "m.json"]);
    let row = |i: usize| format!("{:?},{:?}\n", i as f64 / 1024.0, (i % 97) as f64 / 8.0);
    let rows: String = (0..120_000).map(row).collect();
    workshop.write("many.csv", format!("height,width\n{rows}").as_bytes());
    let predict = ["predict", "--model", "m.json", "--data", "many.csv"];
    let one = workshop.output(&[&predict[..], &["--threads", "1"]].concat());
    assert_eq!(workshop.output(&[&predict[..], &["--threads", "3"]].concat()), one);
    let document = workshop.json(&predict);
    let predictions = document["predictions"].as_array().expect("a list");
    assert_eq!(one.lines().count(), 120_001);
    for (line, prediction) in one.lines().skip(1).zip(predictions) {
        let score = line.split(',').next().expect("a score");
        assert_eq!(score.parse(), Ok(number(&prediction["score"])));
    }
    let bad = format!("height,width\n{rows}1e308,-1e308\n");
    workshop.write("many.csv", bad.as_bytes());
    let model = std::fs::read_to_string(workshop.path("m.json")).expect("a model");
    let mut model: Value = serde_json::from_str(&model).expect("JSON");
    model["members"][0]["coef"] = serde_json::json!([1e10, 1e10]);
    workshop.write("m.json", model.to_string().as_bytes());
    let output = workshop.run(&[&predict[..], &["--out", "p.csv"]].concat());
    let message = text(&output.stderr);
    assert!(message.starts_with("error: many.csv: row 120001: the score is "), "{message}");
    assert!(!workshop.path("p.csv").exists(), "no half of a table is left");
}

/// Measures without the weights that were asked for say so.
#[test]
fn a_column_of_weights_that_is_not_there_is_told() {
    let workshop = Workshop::new();
    workshop.output(&["fit", "--data", "data.csv", "--lambda", "0.1", "--out", "model.json"]);
    let warning = "warning: data.csv has no weight column 'cost': every row has weight 1\n";
    for command in [&["predict", "--out", "rows.csv"][..], &["report", "--out", "page.html"]] {
        let options = ["--model", "model.json", "--data", "data.csv", "--weights-column", "cost"];
        let output = workshop.run(&[command, &options].concat());
        assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(warning), "{command:?}: {}", text(&output.stderr));
    }
}
