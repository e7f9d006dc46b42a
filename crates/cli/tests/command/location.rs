//! The location of a column of numbers.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::{Workshop, number, text};

/// Numbers around 2, of which every tenth is an outlier.
fn numbers() -> String {
    let value = |i: u32| match i % 10 {
        9 => 500.0,
        _ => 2.0 + (1.7 * f64::from(i)).sin(),
    };
    (0..200).map(|i| format!("{}\n", value(i))).collect()
}

#[test]
fn standard_input_gives_the_document_of_a_file() {
    let workshop = Workshop::new();
    workshop.write("margins.txt", numbers().as_bytes());
    let mut child = Command::new(env!("CARGO_BIN_EXE_margins"))
        .args(["location", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command runs");
    child.stdin.take().expect("a pipe").write_all(numbers().as_bytes()).expect("it reads");
    let piped = child.wait_with_output().expect("it ends");
    assert!(piped.status.success());
    let file = workshop.output(&["location", "--data", "margins.txt", "--format", "json"]);
    assert_eq!(text(&piped.stdout).replace("standard input", "margins.txt"), file);
    let table = |options: &[&str]| {
        workshop.output(&[&["location", "--data", "margins.txt"], options].concat())
    };
    insta::assert_snapshot!([table(&[]), table(&["--variance", "23000"])].join("\n"));
}

#[test]
fn every_option_changes_its_numbers_alone() {
    let workshop = Workshop::new();
    workshop.write("margins.txt", numbers().as_bytes());
    let run = |options: &[&str]| {
        workshop
            .json(&[&["location", "--data", "margins.txt", "--variance", "9"], options].concat())
    };
    let plain = run(&[]);
    assert!(number(&plain["variance_bound"]) == 9.0 && plain["variance_estimated"] == false);
    // The scale of a variance of 9 leaves the outliers outside.
    assert!((number(&plain["estimate"]) - 2.0).abs() < 3.0 && number(&plain["mean"]) > 50.0);
    let changed = |options: &[&str]| -> Vec<String> {
        let other = run(options);
        let fields = plain.as_object().expect("an object").iter();
        fields
            .filter(|(name, value)| other[*name] != **value)
            .map(|(name, _)| name.clone())
            .collect()
    };
    assert_eq!(changed(&["--changes", "20"]), ["after_changes", "changes"]);
    assert_eq!(changed(&["--seed", "5"]), ["median_of_means"]);
    let of_scale = changed(&["--scale", "1"]);
    assert!(of_scale.contains(&"estimate".to_owned()) && !of_scale.contains(&"median".to_owned()));
    assert!(changed(&["--delta", "0.01"]).contains(&"interval".to_owned()));
    // Half of the values.
    assert!(run(&["--changes", "100"])["after_changes"].is_null());
    assert!(run(&["--scale", "1e-3"])["interval"].is_null());
}

#[test]
fn numbers_that_cannot_be_read_are_named() {
    let workshop = Workshop::new();
    workshop.write("header.txt", b"score\n1\n2\n");
    workshop.write("nan.txt", b"1\n\nnan\n");
    workshop.write("empty.txt", b"\n");
    workshop.write("constant.txt", b"1\n1\n1\n");
    let mut table = String::new();
    for arguments in [
        vec!["--data", "header.txt"],
        vec!["--data", "nan.txt"],
        vec!["--data", "empty.txt"],
        vec!["--data", "constant.txt"],
        vec!["--data", "none.txt"],
        vec!["--data", "constant.txt", "--variance", "1", "--scale", "0"],
        vec!["--data", "constant.txt", "--variance", "-1"],
        vec!["--data", "constant.txt", "--delta", "1"],
    ] {
        let output = workshop.run(&[vec!["location"], arguments.clone()].concat());
        let status = output.status.code().expect("a status");
        table += &format!(
            "$ margins location {}\n{status}: {}",
            arguments.join(" "),
            text(&output.stderr)
        );
    }
    insta::assert_snapshot!(table);
}

#[test]
fn the_bound_of_data_is_printed_term_by_term() {
    let workshop = Workshop::new();
    let data = ["bound", "--data", "mixture:example=1,n=500", "--loss"];
    let bound = |loss: &str, with: &[&str]| workshop.json(&[&data[..], &[loss], with].concat());
    let found = bound("margin-pursuit:gamma=1,scale=10", &["--scales", "0.5,10"]);
    assert_eq!((number(&found["rows"]), number(&found["columns"])), (500.0, 2.0));
    assert!(found["stationary"] == true && found["vacuous"] == true);
    let [small, same] = [0, 1].map(|k| &found["scales"][k]);
    assert!(number(&small["strong_convexity"]) == 0.0 && small["statistical_error"].is_null());
    assert_eq!(same["statistical_error"], found["statistical_error"]);
    assert_eq!(found["scales"].as_array().map(Vec::len), Some(2));
    let sum = number(&found["optimization_error"]) + number(&found["statistical_error"]);
    assert!((sum / number(&found["excess_over_linear"]) - 1.0).abs() < 1e-12);
    let scaled = bound("margin-pursuit:gamma=1,scale=10", &["--standardize", "--delta", "0.1"]);
    assert!((number(&scaled["input_second_moment"]) - 2.0).abs() < 1e-12);
    let narrow = bound("margin-pursuit:gamma=1,scale=10", &["--radius", "0.01"]);
    assert!(narrow["stationary"] == false && narrow["statistical_error"].is_null());
    let verdict = |data: &str, options: &[&str]| {
        let fixed = ["bound", "--data", data, "--loss", "margin-pursuit:gamma=1,scale=10"];
        let table = workshop.output(&[&fixed[..], options].concat());
        table.lines().find(|line| line.starts_with("bound ")).expect("a verdict").to_owned()
    };
    let told = verdict(data[2], &["--radius", "0.01"]);
    assert!(told.ends_with("A1 fails. Raise --radius above 0.331513"), "{told}");
    let told = verdict(data[2], &["--radius", "40"]);
    assert!(told.ends_with("Raise the scale, or lower --radius"), "{told}");
    workshop.write("twins.csv", b"a,b,label\n1,2,1\n2,4,1\n-1,-2,0\n-3,-6,0\n");
    let told = verdict("twins.csv", &[]);
    assert!(told.ends_with("features are linearly dependent. Leave some out"), "{told}");
    insta::assert_snapshot!(
        workshop.output(&[&data[..], &["margin-pursuit:gamma=1,scale=10"]].concat())
    );
    let refused = workshop.run(&[&data[..], &["hinge"]].concat());
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--loss hinge: the bound is for margin pursuit"));
}

#[test]
fn the_bound_of_a_linear_model_is_that_of_garg_and_roth() {
    let workshop = Workshop::new();
    let data = "mixture:example=1,n=3000";
    let fit = ["fit", "--data", data, "--loss", "logistic", "--lambda", "0.01", "--out", "m.json"];
    workshop.output(&fit);
    let bound = ["bound", "--data", data, "--model", "m.json"];
    let found = workshop.json(&bound);
    let terms = ["error", "projection", "complexity"].map(|name| number(&found[name]));
    assert!((number(&found["bound"]) - terms.iter().sum::<f64>().min(1.0)).abs() < 1e-12);
    assert!(found["vacuous"] == true && number(&found["confidence"]) == 0.9);
    let other = workshop.json(&[&bound[..], &["--seed", "2"]].concat());
    assert_ne!(other["error"], found["error"]);
    assert!(workshop.output(&bound).contains("vacuous: it allows any error"));
    for option in [&["--radius", "2"][..], &["--encode"]] {
        let refused = workshop.run(&[&bound[..], option].concat());
        assert_eq!(refused.status.code(), Some(2), "{option:?}");
    }
    let kernel = ["--kernel", "gaussian:sigma=1", "--lambda", "0.1", "--out", "k.json"];
    workshop.output(&[&["fit", "--data", "data.csv"][..], &kernel].concat());
    let refused = workshop.run(&["bound", "--data", "data.csv", "--model", "k.json"]);
    assert!(text(&refused.stderr).contains("the bound is for a linear model of two classes"));
}

/// The categories are in the order of the training rows, and a missing number is their median.
#[test]
fn the_bound_of_a_model_takes_its_encoding() {
    let workshop = Workshop::new();
    let rows = |order: [&str; 2], gap: &str| -> String {
        let row = |i: usize| {
            let colour = order[i % 2];
            let label = if colour == "red" { "yes" } else { "no" };
            format!("{colour},{},{label}\n", if i == 3 { gap.to_owned() } else { i.to_string() })
        };
        format!("colour,size,label\n{}", (0..20).map(row).collect::<String>())
    };
    workshop.write("train.csv", rows(["red", "blue"], "").as_bytes());
    workshop.write("test.csv", rows(["blue", "red"], "").as_bytes());
    let fit = ["fit", "--data", "train.csv", "--encode", "--loss", "logistic", "--lambda", "0.01"];
    workshop.output(&[&fit[..], &["--out", "m.json"]].concat());
    let found = workshop.json(&["bound", "--data", "test.csv", "--model", "m.json"]);
    assert_eq!((number(&found["error"]), number(&found["rows"])), (0.0, 20.0));
    workshop.write("weights.csv", b"colour,size,w,label\nred,1,2,yes\nblue,,1,no\n");
    let blocks = ["blocks", "--data", "weights.csv", "--weights-column", "w", "--encode"];
    workshop.output(&[&blocks[..], &["--out", "weights.mgb"]].concat());
    let refused = workshop.run(&["bound", "--data", "weights.mgb"]);
    assert!(text(&refused.stderr).contains("cannot be combined with sample weights"));
    let refused = workshop.run(&["bound", "--data", "weights.mgb", "--model", "m.json"]);
    assert!(text(&refused.stderr).contains("does not support sample weights"), "{refused:?}");
}
