//! Regression by focused online learning.

use std::fmt::Write;

use serde_json::Value;

use crate::{Workshop, number, text};

/// Forty rows, whose prices are linear in two of three columns; one in eight has a garden.
fn homes(with_price: bool) -> String {
    let mut text = format!("rooms,kind,garden{}\n", if with_price { ",price" } else { "" });
    for i in 0..40 {
        let rooms = 1.0 + f64::from(i * 7 % 11) / 2.0;
        let (kind, garden) = (["house", "flat"][i as usize % 2], f64::from(i % 8 == 3));
        write!(text, "{rooms},{kind},{garden}").unwrap();
        if with_price {
            write!(text, ",{}", 50.0 + 12.5 * rooms + 30.0 * garden).unwrap();
        }
        text += "\n";
    }
    text
}

const REGRESS: [&str; 7] = ["regress", "--data", "homes.csv", "--label", "price", "--drop", "kind"];

fn workshop() -> Workshop {
    let workshop = Workshop::new();
    workshop.write("homes.csv", homes(true).as_bytes());
    workshop.write("new.csv", homes(false).as_bytes());
    workshop
}

/// Returns the predictions of the functions of a document.
fn by_document(document: &Value, samples: &[[f64; 2]]) -> Vec<f64> {
    let ends: Vec<f64> = document["target_range"].as_array().unwrap().iter().map(number).collect();
    let functions = document["functions"].as_array().unwrap();
    let of = |x: &[f64; 2]| {
        let clipped = functions.iter().map(|function| {
            let coef = function["coef"].as_array().unwrap().iter().zip(x);
            let product: f64 = coef.map(|(w, x)| number(w) * x).sum();
            (number(&function["intercept"]) + product).clamp(0.0, 1.0)
        });
        ends[0] + (ends[1] - ends[0]) * clipped.sum::<f64>() / functions.len() as f64
    };
    samples.iter().map(of).collect()
}

#[test]
fn every_error_is_small_and_predictions_are_those_of_the_document() {
    let workshop = workshop();
    let options = ["--test", "new.csv", "--out", "predictions.csv"];
    for standardize in [&[][..], &["--standardize"]] {
        let document = workshop.json(&[&REGRESS[..], &options, standardize].concat());
        let errors: Vec<f64> = document["errors"].as_array().unwrap().iter().map(number).collect();
        let largest = errors.iter().copied().fold(0.0, f64::max);
        assert_eq!((errors.len(), largest), (40, number(&document["max_error"])));
        assert_eq!(document["status"], "rule-met");
        assert!(largest <= 0.1 * (155.0 - 62.5), "{largest}");
        assert_eq!(document["test"]["errors"], Value::Null);

        let lines = std::fs::read_to_string(workshop.path("predictions.csv")).unwrap();
        let predictions: Vec<f64> =
            lines.lines().skip(1).map(|line| line.parse().unwrap()).collect();
        let rows = homes(true);
        let rows = rows.lines().skip(1).map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            [cells[0], cells[2], cells[3]].map(|cell| cell.parse::<f64>().unwrap())
        });
        let rows: Vec<[f64; 3]> = rows.collect();
        let samples: Vec<[f64; 2]> = rows.iter().map(|row| [row[0], row[1]]).collect();
        for (k, expected) in by_document(&document, &samples).into_iter().enumerate() {
            assert!((predictions[k] - expected).abs() < 1e-9 * expected, "row {k}");
            assert!(((predictions[k] - rows[k][2]).abs() - errors[k]).abs() < 1e-9, "row {k}");
        }
    }
    let table = workshop.output(&[&REGRESS[..], &["--test", "homes.csv"]].concat());
    insta::assert_snapshot!(table);
}

#[test]
fn every_option_changes_the_regression() {
    let workshop = workshop();
    let run = |options: &[&str]| workshop.json(&[&REGRESS[..5], &["--encode"], options].concat());
    let plain = run(&[]);
    assert_eq!(number(&plain["data"]["columns"]), 4.0, "two categories and two numbers");
    for options in [
        &["--epsilon", "0.05"][..],
        &["--norm", "5"],
        &["--standardize"],
        &["--no-intercept"],
        &["--max-steps", "9"],
        &["--outputs", "3"],
        &["--delta", "0.2"],
        &["--time-limit", "1e-9"],
        &["--seed", "2"],
        &["--drop", "garden"],
    ] {
        assert_ne!(run(options)["functions"], plain["functions"], "{options:?}");
    }
    assert_eq!(run(&["--time-limit", "1e-9"])["status"], "time-limit");
    assert_eq!(run(&["--norm", "5"])["norm"], 5.0);
}

#[test]
fn refusals_name_the_value_and_the_place() {
    let workshop = workshop();
    workshop.write("words.csv", b"x,price\n1,2\n3,high\n");
    workshop.write("gap.csv", b"x,price\n1,2\n3,\n");
    workshop.write("far.csv", b"x,price\n1,-1.7e308\n3,1.7e308\n");
    workshop.write("one.svm", b"2.5 1:1\n0 2:1\n");
    workshop.write("other.csv", b"rooms,yard\n1,2\n");
    workshop.output(&["blocks", "--data", "mixture:example=1,n=9,seed=1", "--out", "b.blocks"]);
    let svm = workshop.json(&["regress", "--data", "one.svm"]);
    assert_eq!(svm["target_range"], serde_json::json!([0.0, 2.5]));
    let of = |file| ["regress", "--data", file, "--label", "price"];
    let mut messages = String::new();
    let drop = ["--drop", "kind"];
    for arguments in [
        of("words.csv").to_vec(),
        of("gap.csv").to_vec(),
        of("far.csv").to_vec(),
        vec!["regress", "--data", "b.blocks"],
        vec!["regress", "--data", "mixture:example=1,n=9,seed=1"],
        of("homes.csv").to_vec(),
        [&of("homes.csv")[..], &drop, &["--test", "other.csv"]].concat(),
        [&of("homes.csv")[..], &drop, &["--out", "homes.csv"]].concat(),
        [&of("homes.csv")[..], &drop, &["--epsilon", "1.5"]].concat(),
        [&of("homes.csv")[..], &drop, &["--norm", "0"]].concat(),
        [&of("homes.csv")[..], &drop, &["--max-steps", "0"]].concat(),
    ] {
        let output = workshop.run(&arguments);
        let status = output.status.code().expect("it ends");
        write!(messages, "{}\n{status}: {}", arguments[1..].join(" "), text(&output.stderr))
            .unwrap();
    }
    insta::assert_snapshot!(messages);
}
