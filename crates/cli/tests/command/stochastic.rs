//! Gradient methods, streams, robust learners.

use serde_json::Value;

use crate::{DATA, Workshop, text};

/// Every robust learner fits, says whether anything certifies it, and leaves a model that predicts.
#[test]
fn robust_learners_fit_and_predict() {
    let workshop = Workshop::new();
    let cases: [(&[&str], bool); 5] = [
        (&["--loss", "hinge", "--objective", "catoni:alpha=2"], false),
        (&["--loss", "hinge", "--objective", "median-of-means:blocks=3,steps=50"], false),
        (&["--loss", "hinge", "--objective", "margin-distribution:mean=0.5"], true),
        (
            &[
                "--loss",
                "hinge",
                "--objective",
                "margin-distribution",
                "--kernel",
                "gaussian:sigma=1",
            ],
            true,
        ),
        (&["--loss", "garg-roth", "--objective", "garg-roth:restarts=2"], false),
    ];
    for (arguments, certified) in cases {
        let common = ["fit", "--data", "data.csv", "--lambda", "0.05", "--out", "robust.json"];
        let output = workshop.run(&[&common[..], arguments, &["--format", "json"]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(text(&output.stderr).contains("has no certificate"), !certified);
        let document: Value = serde_json::from_str(&text(&output.stdout)).expect("JSON");
        let fit = &document["fits"][0];
        assert_eq!(fit["converged"], certified, "{arguments:?}");
        assert_eq!(fit["relative_gap"].is_null(), !certified, "{arguments:?}");
        let objective = document["training"]["objective"].as_str().expect("a specification");
        assert!(objective.starts_with(arguments[3].split(':').next().expect("a name")));
        let predictions =
            workshop.output(&["predict", "--model", "robust.json", "--data", "data.csv"]);
        assert_eq!(predictions.lines().count(), DATA.lines().count(), "{arguments:?}");
        workshop.output(&["inspect", "--model", "robust.json"]);
    }
}

#[test]
fn gradient_methods_fit_and_tell_their_history() {
    let workshop = Workshop::new();
    let run = |command: &str, options: &[&str]| -> Value {
        let common = [command, "--data", "data.csv", "--lambda", "0.1", "--format", "json"];
        let output = workshop.output(&[&common[..], options].concat());
        serde_json::from_str::<Value>(&output).expect("JSON")["fits"][0].clone()
    };
    let fit = |options: &[&str]| run("fit", options);
    let stream = |options: &[&str]| run("stream", options);
    let newton = fit(&["--loss", "logistic"]);
    let least = newton["objective"].as_f64().expect("a number");
    for options in [
        &["--solver", "gd"][..],
        &["--solver", "gd", "--step", "smooth"],
        &["--solver", "gd", "--step", "0.05", "--max-iterations", "100000"],
    ] {
        let descent = fit(&[&["--loss", "logistic"][..], options].concat());
        assert_eq!(descent["converged"], true, "{options:?}");
        assert!((descent["objective"].as_f64().expect("a number") - least).abs() <= 2e-6 * least);
    }
    let options = [
        "--average",
        "suffix:0.5",
        "--method",
        "sgd",
        "--schedule",
        "inverse-sqrt",
        "--epochs",
        "500",
        "--history",
        "h.csv",
    ];
    let stochastic = stream(&[&["--loss", "logistic"][..], &options].concat());
    let excess = stochastic["objective"].as_f64().expect("a number") - least;
    assert!((0.0..0.01).contains(&excess), "{excess}");
    assert_eq!(stochastic["status"], "rule-met");
    let history = std::fs::read_to_string(workshop.path("h.csv")).expect("a history");
    let lines: Vec<&str> = history.lines().collect();
    assert_eq!(lines.len(), 501);
    assert!(
        lines[0].starts_with("iteration,gradients,passes,objective,relative_gap,training_error,")
    );
    assert!(lines[500].starts_with("500,6000,1000,"), "{}", lines[500]);
    let pegasos = ["--loss", "hinge", "--method", "pegasos", "--epochs", "10", "--hold-out", "0.3"];
    let pegasos = stream(&pegasos);
    assert!(pegasos["relative_gap"].is_number());
    let scaled = [
        "--loss",
        "margin-pursuit:gamma=1,scale=1",
        "--epochs",
        "10",
        "--method",
        "sgd",
        "--schedule",
        "margin-pursuit",
        "--rescale-at",
        "30",
        "--out",
        "m.json",
    ];
    stream(&scaled);
    let model = std::fs::read_to_string(workshop.path("m.json")).expect("a model");
    let model: Value = serde_json::from_str(&model).expect("JSON");
    let loss = model["loss"].as_str().expect("a loss");
    assert!(
        loss.starts_with("margin-pursuit:gamma=1,scale=") && !loss.ends_with("scale=1"),
        "{loss}"
    );
    workshop.output(&["fit", "--data", "data.csv", "--lambda", "0.1", "--history", "n.csv"]);
    let newton = std::fs::read_to_string(workshop.path("n.csv")).expect("a history");
    assert!(newton.lines().count() > 2);
}

#[test]
fn streams_are_learned_in_one_pass() {
    let workshop = Workshop::new();
    let common = [
        "stream", "--data", "data.csv", "--lambda", "0.1", "--loss", "hinge", "--method", "pegasos",
    ];
    let output = workshop.output(&[&common[..], &["--format", "json", "--out", "m.json"]].concat());
    let document: Value = serde_json::from_str(&output).expect("JSON");
    assert_eq!(document["format"], "margins-stream");
    assert_eq!((document["rows"].as_u64(), document["steps"].as_u64()), (Some(12), Some(12)));
    assert_eq!(document["positive_class"], "yes");
    let predictions = workshop.output(&["predict", "--model", "m.json", "--data", "data.csv"]);
    assert_eq!(predictions.lines().count(), 13);
    let inspected = workshop.output(&["inspect", "--model", "m.json"]);
    assert!(inspected.contains("unknown"), "{inspected}");
}

/// In one pass and in epochs, for two classes and several; steps that the method sets are never named.
#[test]
fn steps_that_are_too_long_are_named() {
    let workshop = Workshop::new();
    let warnings = |options: &[&str]| {
        let stream = ["stream", "--data", "data.csv", "--loss", "logistic", "--lambda", "1e-4"];
        text(&workshop.run(&[&stream[..], options].concat()).stderr)
    };
    let long = ["--method", "sgd", "--step", "1e6"];
    for options in [&[][..], &["--epochs", "3"], &["--multi-class", "ovr"]] {
        let said = warnings(&[options, &long].concat());
        assert!(said.contains("--step 1000000 may be too long: the loss has grown"), "{said}");
        for short in [&["--method", "sgd", "--step", "0.01"][..], &["--method", "sgd"], &[]] {
            let said = warnings(&[options, short].concat());
            assert!(!said.contains("too long"), "{options:?} {short:?}: {said}");
        }
    }
}

/// Without --lambda there is no penalty, and no gap.
#[test]
fn a_stream_needs_no_lambda() {
    let workshop = Workshop::new();
    let stream = ["stream", "--data", "data.csv", "--loss", "logistic", "--out", "m.json"];
    let document = workshop.json(&stream);
    assert_eq!(document["lambda"], 0.0);
    assert_eq!(workshop.json(&[&stream[..], &["--lambda", "0"]].concat()), document);
    workshop.output(&["predict", "--model", "m.json", "--data", "data.csv"]);
    let fit = workshop.json(&[&stream[..], &["--epochs", "20"]].concat())["fits"][0].clone();
    assert_eq!((&fit["lambda"], &fit["status"]), (&0.0.into(), &"rule-met".into()));
    assert!(fit["relative_gap"].is_null() && fit["gradient_norm"].is_number(), "{fit}");
    let table = workshop.output(&[&stream[..], &["--epochs", "20"]].concat());
    assert!(table.contains("gradient"), "{table}");
    let refused = workshop.run(&["stream", "--data", "data.csv", "--lambda", "-1"]);
    assert!(text(&refused.stderr).contains("lambda is -1"), "{}", text(&refused.stderr));
}

/// The recipe of Holland (2019), section 4, is one method: its steps, ball and draws.
#[test]
fn margin_pursuit_is_a_method_of_streams() {
    let workshop = Workshop::new();
    let data = ["stream", "--data", "data.csv", "--loss", "margin-pursuit", "--lambda", "0.04"];
    let recipe =
        ["--epochs", "20", "--random-start", "1", "--no-intercept", "--balanced-rows", "10"];
    let base = [&data[..], &recipe].concat();
    let method = [&base[..], &["--method", "margin-pursuit"]].concat();
    let parts = ["--method", "sgd", "--schedule", "margin-pursuit", "--projection", "5"];
    let parts = [&base[..], &parts, &["--with-replacement"]].concat();
    let rescaled = ["--rescale-at", "10", "--rescale-steps", "keep"];
    for more in [&[][..], &rescaled] {
        let [method, parts] = [&method, &parts].map(|words| workshop.json(&[words, more].concat()));
        assert_eq!(method["fits"], parts["fits"]);
        assert_eq!(method["training"]["loss"], parts["training"]["loss"]);
        assert_eq!(method["data"]["rows"], 10);
        assert_eq!(method["data"]["positives"], 5);
    }
}

#[test]
fn gradient_options_are_refused_where_they_mean_nothing() {
    let workshop = Workshop::new();
    let refusal = |command: &str, options: &[&str]| {
        let given = command == "path" || options.contains(&"--lambda");
        let lambda: &[&str] = if given { &[] } else { &["--lambda", "0.1"] };
        let output =
            workshop.run(&[&[command, "--data", "data.csv"][..], lambda, options].concat());
        let message = text(&output.stderr);
        let message = message.split("\n\n").next().unwrap_or_default().to_owned();
        format!("{} {message}", output.status.code().unwrap_or(-1))
    };
    workshop.write("wrong.csv", b"a,label\n1,yes\n2,no\nnan,yes\n");
    let many = ["--epochs", "10", "--method", "sgd"];
    let sgd = ["--method", "sgd"];
    insta::assert_snapshot!(
        [
            refusal("fit", &["--epochs", "3"]),
            refusal("fit", &["--solver", "gd", "--schedule", "bottou"]),
            refusal("fit", &["--step", "smooth"]),
            refusal("fit", &["--solver", "pegasos"]),
            refusal("fit", &["--stream"]),
            refusal("fit", &["--solver", "gd", "--kernel", "gaussian"]),
            refusal("path", &["--solver", "sgd"]),
            refusal("stream", &["--method", "pegasos"]),
            refusal("stream", &["--method", "pegasos", "--loss", "hinge", "--step", "1"]),
            refusal("stream", &["--method", "margin-pursuit"]),
            refusal("stream", &["--method", "margin-pursuit", "--schedule", "constant"]),
            refusal("stream", &["--batch", "2"]),
            refusal("stream", &["--method", "coin", "--schedule", "constant"]),
            refusal("stream", &["--projection", "0"]),
            refusal("stream", &["--step", "smooth"]),
            refusal("stream", &["--method", "sgd", "--lambda", "0"]),
            refusal("stream", &[&sgd[..], &["--schedule", "margin-pursuit"]].concat()),
            refusal(
                "stream",
                &[&sgd[..], &["--schedule", "margin-pursuit", "--step", "1"]].concat()
            ),
            refusal("stream", &["--rescale-at", "3"]),
            refusal("stream", &[&many[..], &["--rescale-at", "3"]].concat()),
            refusal("stream", &[&many[..], &["--rescale-steps", "keep"]].concat()),
            refusal("stream", &[&many[..], &["--balanced-rows", "1"]].concat()),
            refusal("stream", &[&many[..], &["--classes", "no,yes"]].concat()),
            refusal("stream", &["--classes", "no"]),
            refusal("stream", &["--kernel", "gaussian"]),
            refusal("stream", &["--standardize"]),
            refusal("stream", &["--average", "suffix:0.5"]),
            refusal(
                "stream",
                &[
                    &many[..],
                    &["--schedule", "constant", "--step", "1e6", "--loss", "squared-hinge"]
                ]
                .concat()
            ),
            {
                let wrong = ["stream", "--data", "wrong.csv", "--lambda", "0.1", "--loss", "hinge"];
                text(&workshop.run(&wrong).stderr)
            },
        ]
        .join("\n")
    );
}
