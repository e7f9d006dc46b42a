//! Halfspaces under Massart noise.

use serde_json::Value;

use crate::{Workshop, text};

/// Points of the plane at least 0.2 from a line through the origin, every ninth label wrong on one side of it, rows
/// of many lengths.
fn noisy_halfspace() -> String {
    let mut text = String::from("x,z,label\n");
    for k in 0..900 {
        let angle = 0.3 + 2.5 * f64::from(k % 300) / 300.0;
        let side = if k % 2 == 0 { 1.0 } else { -1.0 };
        let length = side * (0.1 + f64::from(k % 7));
        let wrong = k % 2 == 0 && k % 9 == 0;
        let label = if (side > 0.0) == wrong { "no" } else { "yes" };
        text += &format!("{},{},{label}\n", length * angle.cos(), length * angle.sin());
    }
    text
}

#[test]
fn halfspaces_are_learned_under_massart_noise() {
    let workshop = Workshop::new();
    workshop.write("noisy.csv", noisy_halfspace().as_bytes());
    for (solver, loss) in [
        ("massart-sgd", "massart:eta=0.15,gamma=0.2"),
        ("massart-cuts", "massart:eta=0.15,gamma=0.2,epsilon=0.02"),
        ("massart-auto", "massart:epsilon=0.1"),
    ] {
        let arguments = ["fit", "--data", "noisy.csv", "--loss", loss, "--solver", solver];
        let json = [&arguments[..], &["--out", "model.json", "--format", "json"]].concat();
        let document: Value = serde_json::from_str(&workshop.output(&json)).expect("JSON");
        assert_eq!(document["format"], "margins-massart");
        let error = document["training_error"].as_f64().expect("an error");
        assert!(error < 0.2, "{solver}: {error}");
        assert_eq!(document["error_bound"].is_null(), solver == "massart-cuts");
        // The model applies to rows as they are.
        let predict =
            ["predict", "--model", "model.json", "--data", "noisy.csv", "--format", "json"];
        workshop.output(&predict);
        let table = workshop.output(&arguments);
        assert!(table.contains("error bound") && table.contains(solver), "{table}");
    }
}

#[test]
fn halfspaces_are_learned_from_a_file_read_once() {
    let workshop = Workshop::new();
    workshop.write("noisy.csv", noisy_halfspace().as_bytes());
    let loss = ["--loss", "massart:eta=0.15,gamma=0.2", "--solver", "massart-sgd", "--stream"];
    let json = ["fit", "--data", "noisy.csv", "--out", "model.json", "--format", "json"];
    let document: Value =
        serde_json::from_str(&workshop.output(&[&json[..], &loss].concat())).expect("JSON");
    // Every fifth row is for the selection.
    assert_eq!((&document["rows"], &document["steps"]), (&Value::from(900), &Value::from(720)));
    assert!(document["training_error"].is_null() && document["error_bound"].is_f64());
    let coef = [0, 1].map(|k| document["coef"][k].as_f64().expect("a coefficient"));
    for angle in [0.3f64, 2.8] {
        assert!(coef[0] * angle.cos() + coef[1] * angle.sin() > 0.0, "{coef:?}");
    }
    workshop.output(&["predict", "--model", "model.json", "--data", "noisy.csv"]);
}

#[test]
fn cutting_planes_learn_after_a_projection() {
    let workshop = Workshop::new();
    workshop.write("noisy.csv", noisy_halfspace().as_bytes());
    let fit = ["fit", "--data", "noisy.csv", "--loss", "massart:eta=0.15,gamma=0.2"];
    let project = ["--solver", "massart-cuts", "--project", "7", "--format", "json"];
    let output = workshop.output(&[&fit[..], &project].concat());
    let document: Value = serde_json::from_str(&output).expect("JSON");
    assert_eq!(document["dimensions"], 7);
    assert_eq!(document["coef"].as_array().map(Vec::len), Some(2));
    // eta and half of epsilon.
    assert!(document["training_error"].as_f64().expect("an error") <= 0.175, "{document}");
}

#[test]
fn massart_solvers_refuse_what_they_cannot_take() {
    let workshop = Workshop::new();
    workshop.write("zero.csv", b"x,z,label\n1,2,a\n0,0,b\n2,1,a\n");
    let loss = "massart:eta=0.3,gamma=0.05";
    let mut report = String::new();
    for arguments in [
        &["fit", "--data", "zero.csv", "--loss", loss, "--solver", "massart-sgd"][..],
        &[
            "fit",
            "--data",
            "zero.csv",
            "--loss",
            "massart:eta=0.5,gamma=0.05",
            "--solver",
            "massart-cuts",
        ],
        &[
            "fit",
            "--data",
            "zero.csv",
            "--loss",
            "massart:eta=0.1,gamma=1",
            "--solver",
            "massart-cuts",
        ],
        &["fit", "--data", "zero.csv", "--loss", "massart:eta=0.1", "--solver", "massart-cuts"],
        &["fit", "--data", "zero.csv", "--loss", "massart:noise=0.1", "--solver", "massart-auto"],
        &["fit", "--data", "zero.csv", "--loss", "massart:eta=x", "--solver", "massart-auto"],
        &["fit", "--data", "zero.csv", "--loss", "hinge", "--solver", "massart-sgd"],
        &["fit", "--data", "zero.csv", "--loss", loss, "--solver", "massart-sgd", "--standardize"],
        &["fit", "--data", "zero.csv", "--loss", loss, "--solver", "massart-sgd", "--stream"],
        &["fit", "--data", "zero.csv", "--loss", loss, "--solver", "massart-cuts", "--stream"],
        &["fit", "--data", "zero.csv", "--loss", loss, "--solver", "massart-sgd", "--project", "9"],
        &["fit", "--data", "data.csv", "--lambda", "1", "--project", "9"],
        &[
            "fit",
            "--data",
            "zero.csv",
            "--loss",
            loss,
            "--solver",
            "massart-cuts",
            "--project",
            "0",
        ],
        &["path", "--data", "data.csv", "--solver", "massart-sgd"],
        &["fit", "--data", "data.csv"],
    ] {
        let output = workshop.run(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        let first = text(&output.stderr).lines().next().unwrap_or_default().to_owned();
        report += &format!("$ margins {}\n{first}\n", arguments.join(" "));
    }
    insta::assert_snapshot!(report);
}
