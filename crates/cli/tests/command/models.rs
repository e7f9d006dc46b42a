//! Model files, predictions, and outputs that are never half written.

use margins::data::{ClassLabels, read};
use margins::losses::Hinge;
use margins::{Classifier, Probabilities};
use serde_json::Value;
use std::path::Path;

use crate::{DATA, Workshop, number, text, three_classes, without_versions};

#[test]
fn a_useless_fit_is_not_saved() {
    let workshop = Workshop::new();
    workshop.write("huge.csv", DATA.replace(".0", ".0e200").as_bytes());
    let output =
        workshop.run(&["fit", "--data", "huge.csv", "--lambda", "1e-300", "--out", "m.json"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(!workshop.path("m.json").exists());
}

#[test]
fn predictions_follow_the_model() {
    let workshop = Workshop::new();
    workshop.output(&[
        "fit", "--data", "data.csv", "--loss", "logistic", "--lambda", "0.01", "--out", "m.json",
    ]);
    insta::assert_snapshot!(
        workshop.output(&["predict", "--model", "m.json", "--data", "data.csv"])
    );

    let document = workshop.json(&["predict", "--model", "m.json", "--data", "data.csv"]);
    assert_eq!(document["rows"], 12);
    assert!(number(&document["metrics"]["auc"]) > 0.9);

    // Without labels there is nothing to measure.
    workshop.write("new.csv", b"height,width\n1,2\n5,3\n");
    let document = workshop.json(&["predict", "--model", "m.json", "--data", "new.csv"]);
    assert_eq!(document["metrics"], Value::Null);
    assert_eq!(document["predictions"][0]["label"], "no");
    assert_eq!(document["predictions"][1]["label"], "yes");

    let summary = workshop.output(&[
        "predict",
        "--model",
        "m.json",
        "--data",
        "data.csv",
        "--out",
        "predictions.csv",
    ]);
    insta::assert_snapshot!(summary);
    let written = std::fs::read_to_string(workshop.path("predictions.csv")).expect("written");
    assert_eq!(written.lines().count(), 13);
}

/// The name of the file chooses its format, which changes nothing else.
#[test]
fn a_model_is_the_same_in_either_format() {
    let workshop = Workshop::new();
    let fit = ["fit", "--data", "data.csv", "--lambda", "0.01", "--loss", "logistic"];
    for extra in [&[][..], &["--standardize", "--kernel", "gaussian:sigma=0.5"]] {
        workshop.output(&[&fit[..], extra, &["--out", "m.mgn"]].concat());
        workshop.output(&[&fit[..], extra, &["--out", "direct.JSON"]].concat());
        workshop.output(&["convert", "--model", "m.mgn", "--out", "m.json"]);
        workshop.output(&["convert", "--model", "m.json", "--out", "again.mgn"]);
        let content = |name: &str| std::fs::read(workshop.path(name)).expect("a model");
        assert!(content("m.mgn").starts_with(b"\x89MGN"));
        assert_eq!(content("m.json"), content("direct.JSON"));
        assert_eq!(content("m.mgn"), content("again.mgn"));
        let predictions =
            |model| workshop.output(&["predict", "--model", model, "--data", "data.csv"]);
        assert_eq!(predictions("m.mgn"), predictions("m.json"));
        let json = |model| workshop.output(&["inspect", "--model", model, "--format", "json"]);
        assert_eq!(json("m.mgn"), json("m.json"));
    }
    let inspected = workshop.output(&["inspect", "--model", "m.mgn"]);
    without_versions().bind(|| insta::assert_snapshot!(inspected));
}

/// One file has the models at all lambdas, each of which predicts as the fit at its lambda alone.
#[test]
fn a_path_predicts_at_each_lambda_as_its_fit_does() {
    let workshop = Workshop::new();
    let settings = ["--data", "data.csv", "--loss", "logistic", "--tol", "1e-12"];
    for (functions, name) in [(&[][..], "p.json"), (&["--kernel", "gaussian:sigma=0.5"], "p.mgn")] {
        let lambdas = ["--lambdas", "1:0.01:3", "--out", name];
        workshop.output(&[&["path"], &settings[..], functions, &lambdas].concat());
        for lambda in ["1", "0.1", "0.0100000001"] {
            let fit = ["--lambda", lambda, "--out", "m.json"];
            workshop.output(&[&["fit"], &settings[..], functions, &fit].concat());
            let scores = |options: &[&str]| -> Vec<f64> {
                let predict = ["predict", "--data", "data.csv"];
                let document = workshop.json(&[&predict[..], options].concat());
                let rows = document["predictions"].as_array().expect("a list");
                rows.iter().map(|row| number(&row["score"])).collect()
            };
            let of_path = scores(&["--model", name, "--lambda", lambda]);
            for (one, other) in of_path.iter().zip(scores(&["--model", "m.json"])) {
                assert!((one - other).abs() < 1e-4 * (1.0 + other.abs()), "{name} {lambda}");
            }
        }
        let report = ["report", "--model", name, "--data", "data.csv", "--format", "json"];
        let output = workshop.run(&[&report[..], &["--lambda", "0.1"]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        workshop.output(&["convert", "--model", name, "--out", "c.json"]);
        workshop.output(&["convert", "--model", "c.json", "--out", "c.mgn"]);
        let inspected = |file| workshop.output(&["inspect", "--model", file, "--format", "json"]);
        assert_eq!(inspected("c.mgn"), inspected(name));
    }
    let refused = |options: &[&str]| {
        let predict = ["predict", "--model", "p.mgn", "--data", "data.csv"];
        let output = workshop.run(&[&predict[..], options].concat());
        assert_eq!(output.status.code(), Some(1));
        text(&output.stderr)
    };
    let one = ["inspect", "--model", "p.mgn", "--lambda", "0.1"];
    assert!(workshop.output(&one).contains("rows trained on"), "the page of one model");
    let members = workshop.json(&one)["members"].as_array().expect("members").clone();
    assert!(members.len() == 1 && number(&members[0]["lambda"]) == 0.1);
    let mixed = workshop.run(&["inspect", "--data", "data.csv", "--lambda", "0.1"]);
    assert_eq!(mixed.status.code(), Some(2));
    let inspected = workshop.output(&["inspect", "--model", "p.mgn"]);
    let page = [inspected, refused(&[]), refused(&["--lambda", "0.03"])].join("\n");
    without_versions().bind(|| insta::assert_snapshot!(page));
}

#[test]
fn a_model_of_several_classes_lists_its_members() {
    let workshop = Workshop::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../model/tests/fixtures");
    std::fs::copy(fixtures.join("one.mgn"), workshop.path("m.mgn")).expect("a fixture");
    let inspected = workshop.output(&["inspect", "--model", "m.mgn"]);
    without_versions().bind(|| insta::assert_snapshot!(inspected));
}

#[test]
fn labels_that_the_model_does_not_know_are_said() {
    let workshop = Workshop::new();
    workshop.output(&["fit", "--data", "data.csv", "--lambda", "0.1", "--out", "m.json"]);
    workshop.write("other.csv", DATA.replace("yes", "1").replace("no", "0").as_bytes());
    let output =
        workshop.run(&["predict", "--model", "m.json", "--data", "other.csv", "--out", "p.csv"]);
    assert!(output.status.success());
    insta::assert_snapshot!(text(&output.stderr));
}

#[cfg(unix)]
#[test]
fn outputs_keep_links_modes_and_devices() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let workshop = Workshop::new();
    workshop.write("target.json", b"old");
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(workshop.path("target.json"), private).expect("my own file");
    symlink(workshop.path("target.json"), workshop.path("link.json")).expect("a link");
    let fit = |out: &str| {
        workshop.output(&["fit", "--data", "data.csv", "--lambda", "0.1", "--out", out]);
    };
    fit("link.json");
    let link = std::fs::symlink_metadata(workshop.path("link.json")).expect("there");
    assert!(link.file_type().is_symlink());
    let target = std::fs::metadata(workshop.path("target.json")).expect("there");
    assert_eq!(target.permissions().mode() & 0o777, 0o600);
    assert!(target.len() > 10);
    fit("/dev/null");
    let device = std::fs::metadata("/dev/null").expect("there");
    assert!(device.file_type().is_char_device());
}

#[test]
fn a_loss_without_probabilities_gives_none() {
    let workshop = Workshop::new();
    workshop.output(&["fit", "--data", "data.csv", "--lambda", "0.1", "--out", "m.json"]);
    let model = std::fs::read_to_string(workshop.path("m.json")).expect("a model");
    workshop.write("hinge.json", model.replace("\"lhs\"", "\"hinge\"").as_bytes());
    let output = workshop.output(&["predict", "--model", "hinge.json", "--data", "data.csv"]);
    assert_eq!(output.lines().next(), Some("score,label"));
}

/// Probabilities of two classes and of several are as the library has them.
#[test]
fn probabilities_are_those_of_the_scaling_of_the_model() {
    let workshop = Workshop::new();
    workshop.write("three.csv", three_classes().as_bytes());
    for (data, model) in [("data.csv", "two.mgn"), ("three.csv", "three.json")] {
        let samples = read::classes(workshop.path(data), &Default::default()).expect("data");
        let builder = Classifier::builder().loss(Hinge).lambda(0.1);
        let builder = builder.probabilities(Probabilities::Platt { folds: Some(3) });
        let classifier = builder.build().expect("settings").fit(&samples).expect("a fit");
        classifier.save(workshop.path(model)).expect("written");
        let expected = classifier.predict_proba(&samples).expect("probabilities");

        let document = workshop.json(&["predict", "--model", model, "--data", data]);
        let two = classifier.classes().len() == 2;
        let predictions = document["predictions"].as_array().expect("a list");
        assert_eq!(predictions.len(), expected.nrows());
        for (row, prediction) in predictions.iter().enumerate() {
            match two {
                true => assert_eq!(number(&prediction["probability"]), expected[(row, 1)]),
                false => {
                    let p = prediction["probabilities"].as_array().expect("probabilities");
                    let p: Vec<f64> = p.iter().map(number).collect();
                    assert!(expected.row(row).iter().eq(p.iter()), "{row}");
                }
            }
        }
        if two {
            assert_eq!(document["undecided_scores"], Value::Null);
            let of_rows = (0..samples.rows()).map(|row| {
                let class = samples.labels().index(row);
                -expected[(row, class)].ln()
            });
            let log_loss = of_rows.sum::<f64>() / samples.rows() as f64;
            assert!((number(&document["metrics"]["log_loss"]) - log_loss).abs() < 1e-12);
        }
        let inspected = workshop.output(&["inspect", "--model", model]);
        assert!(inspected.contains("by Platt scaling"), "{inspected}");
    }
}

#[test]
fn a_failed_job_leaves_the_old_file() {
    let workshop = Workshop::new();
    workshop.write("m.json", b"old");
    workshop.write("bad.csv", b"x,label\n1,a\n2,b\nnan,a\n");
    let output = workshop.run(&["fit", "--data", "bad.csv", "--lambda", "1", "--out", "m.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(std::fs::read(workshop.path("m.json")).expect("still there"), b"old");
    let output =
        workshop.run(&["fit", "--data", "data.csv", "--lambda", "1", "--out", "no/such/m.json"]);
    assert_eq!(output.status.code(), Some(1));
    let left: Vec<_> = std::fs::read_dir(workshop.folder.path()).expect("a folder").collect();
    assert_eq!(left.len(), 3, "no temporary file is left: {left:?}");
}

/// A score that overflowed has no class: the row is named and nothing is written.
#[test]
fn scores_that_overflow_are_an_error() {
    let workshop = Workshop::new();
    workshop.output(&["fit", "--data", "data.csv", "--lambda", "0.1", "--out", "m.json"]);
    let model = std::fs::read_to_string(workshop.path("m.json")).expect("a model");
    let mut model: Value = serde_json::from_str(&model).expect("JSON");
    model["members"][0]["coef"] = serde_json::json!([1e10, 1e10]);
    workshop.write("m.json", model.to_string().as_bytes());
    workshop.write("big.csv", b"height,width\n1,1\n1e308,-1e308\n");
    let output = workshop.run(&["predict", "--model", "m.json", "--data", "big.csv"]);
    let message = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(1), ""));
    assert!(message.starts_with("error: big.csv: row 2: the score is "), "{message}");
}

/// `-` is standard output, which the model has to itself.
#[test]
fn models_go_to_standard_output() {
    let workshop = Workshop::new();
    workshop.write("three.csv", three_classes().as_bytes());
    let lambdas = ["--lambdas", "1:0.1:2", "--folds", "2", "--data"];
    workshop.output(&["fit", "--data", "data.csv", "--lambda", "0.1", "--out", "m.mgn"]);
    for arguments in [
        &["fit", "--data", "data.csv", "--lambda", "0.1"][..],
        &["fit", "--data", "data.csv", "--lambda", "0.1", "--format", "json"],
        &["fit", "--data", "three.csv", "--lambda", "0.1", "--multi-class", "ovo"],
        &["stream", "--data", "data.csv", "--lambda", "0.1"],
        &["focus", "--data", "data.csv"],
        &["massart", "--data", "data.csv", "--learner", "auto"],
        &[&["cv"], &lambdas[..], &["data.csv"]].concat(),
        &[&["cv", "--multi-class", "ovr"], &lambdas[..], &["three.csv"]].concat(),
        &["convert", "--model", "m.mgn"],
    ] {
        let output = workshop.run(&[arguments, &["--out", "-"]].concat());
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        let model: Value = serde_json::from_slice(&output.stdout).expect("a model alone");
        assert_eq!(model["format"], "margins-model", "{arguments:?}");
        assert_eq!(text(&output.stderr).is_empty(), arguments[0] == "convert", "{arguments:?}");
        // What has no penalty has no lambda.
        let without = arguments.iter().any(|part| ["focus", "massart"].contains(part));
        assert_eq!(model["members"][0]["lambda"].is_null(), without, "{arguments:?}");
    }
    assert!(!workshop.path("-").exists());
    let predict = ["predict", "--model", "m.mgn", "--data", "data.csv"];
    let with = workshop.output(&[&predict[..], &["--out", "-"]].concat());
    assert_eq!(with, workshop.output(&predict));
}

/// A fit without a lambda stays one in either format.
#[test]
fn fits_without_a_lambda_have_none() {
    let workshop = Workshop::new();
    for name in ["m.json", "m.mgn"] {
        workshop.output(&["focus", "--data", "data.csv", "--combine", "average", "--out", name]);
        let table = workshop.output(&["inspect", "--model", name]);
        assert!(table.contains("lambda           none"), "{table}");
        assert!(workshop.json(&["inspect", "--model", name])["members"][0]["lambda"].is_null());
    }
}
