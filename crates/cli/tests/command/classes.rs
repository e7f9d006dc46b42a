//! More than two classes.

use crate::{DATA, Workshop, number, text, three_classes};

#[test]
fn several_classes_are_fitted_selected_and_predicted() {
    let workshop = Workshop::new();
    workshop.write("three.csv", three_classes().as_bytes());
    let fit = ["fit", "--data", "three.csv", "--loss", "logistic", "--lambda", "0.01"];
    for scheme in ["ovr", "ovo"] {
        let fit = [&fit[..], &["--multi-class", scheme, "--out", "model.json"]].concat();
        let document = workshop.json(&fit);
        assert_eq!(document["format"], "margins-multiclass");
        assert_eq!(document["all_certified"], true);
        assert_eq!(document["members"].as_array().map(Vec::len), Some(3));
        assert_eq!(document["data"]["classes"][2]["name"], "c");
        let predicted = workshop.json(&["predict", "--model", "model.json", "--data", "three.csv"]);
        assert_eq!(predicted["metrics"]["error"], document["training_error"]);
        for prediction in predicted["predictions"].as_array().expect("a list") {
            let p = prediction["probabilities"].as_array().expect("probabilities");
            assert!((p.iter().map(number).sum::<f64>() - 1.0).abs() < 1e-12);
        }
        let table = workshop.output(&["predict", "--model", "model.json", "--data", "three.csv"]);
        let header = table.lines().next().expect("a header");
        insta::assert_snapshot!(format!("header_{scheme}"), header);
        assert_eq!(table.lines().count(), 31);
    }
    let cv = ["cv", "--data", "three.csv", "--loss", "logistic", "--lambdas", "0.1:0.001:3"];
    let cv = [&cv[..], &["--multi-class", "ovr", "--kernel", "gaussian:sigma=0.5"]].concat();
    let document = workshop.json(&cv);
    let lambdas = document["cv"]["lambdas"].as_array().expect("lambdas");
    assert!(lambdas.len() == 3 && lambdas.iter().all(|at| at["certified"] == true));
    assert_eq!(document["lambda"], document["cv"]["best_lambda"]);
    let one = workshop.output(&[&cv[..], &["--threads", "1"]].concat());
    assert_eq!(one, workshop.output(&[&cv[..], &["--threads", "2"]].concat()));
    // Two classes are the fit of two classes.
    let two = ["fit", "--data", "data.csv", "--lambda", "0.1"];
    let plain = workshop.json(&two);
    let multi = workshop.json(&[&two[..], &["--multi-class", "ovo"]].concat());
    assert_eq!(plain["fits"][0]["coef"], multi["members"][0]["coef"]);
}

#[test]
fn what_several_classes_cannot_have_is_refused() {
    let workshop = Workshop::new();
    workshop.write("three.csv", three_classes().as_bytes());
    let fit = ["fit", "--data", "three.csv", "--lambda", "0.1"];
    let multi = ["--multi-class", "ovr"];
    let mut messages = Vec::new();
    for more in [
        vec![],
        vec!["--multi-class", "ovr", "--solver", "sgd"],
        vec!["--multi-class", "ovr", "--solver", "catoni:alpha=1"],
        vec!["--multi-class", "ovr", "--positive", "a"],
        vec!["--multi-class", "ovr", "--history", "h.csv"],
        vec!["--multi-class", "ovr", "--loss", "none"],
        vec!["--multi-class", "ovr", "--kernel", "gaussian", "--solver", "gd"],
    ] {
        let output = workshop.run(&[&fit[..], &more].concat());
        messages.push(format!("{:?}: {}", output.status.code(), text(&output.stderr)));
    }
    let path = workshop.run(&[&["path", "--data", "three.csv"], &multi[..]].concat());
    messages.push(text(&path.stderr));
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn data_of_any_number_of_classes_are_described() {
    let workshop = Workshop::new();
    workshop.write("three.csv", three_classes().as_bytes());
    let table = workshop.output(&["inspect", "--data", "three.csv"]);
    assert!(table.contains("'a' (10), 'b' (10), 'c' (10)"), "{table}");
    let document = workshop.json(&["inspect", "--data", "three.csv"]);
    assert_eq!(document["classes"][2], serde_json::json!({"name": "c", "rows": 10}));
    assert!(document["positive_class"].is_null() && document["positives"].is_null());
    let two = workshop.json(&["inspect", "--data", "data.csv", "--positive", "no"]);
    assert_eq!((&two["positive_class"], &two["positives"]), (&"no".into(), &6.into()));
    for (data, positive) in [("three.csv", "a"), ("data.csv", "maybe")] {
        let output = workshop.run(&["inspect", "--data", data, "--positive", positive]);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    }
}

/// Costs of classes are weights of their samples.
#[test]
fn costs_are_weights() {
    let workshop = Workshop::new();
    let weighted: String = DATA
        .lines()
        .map(|line| match line.rsplit(',').next() {
            Some("label") => format!("weight,{line}\n"),
            Some("yes") => format!("3,{line}\n"),
            _ => format!("0.5,{line}\n"),
        })
        .collect();
    workshop.write("weighted.csv", weighted.as_bytes());
    let fit = |data, option, value| {
        let fit = ["fit", "--lambda", "0.1", "--data", data, option, value];
        workshop.json(&fit)["fits"][0]["coef"].clone()
    };
    let costs = fit("data.csv", "--class-weight", "yes=3,no=0.5");
    assert_eq!(costs, fit("weighted.csv", "--weights-column", "weight"));
    let several = ["fit", "--lambda", "0.1", "--multi-class", "ovr", "--data", "data.csv"];
    let members = workshop.json(&[&several[..], &["--class-weight", "yes=3,no=0.5"]].concat());
    assert_eq!(members["members"][0]["coef"], costs);
}

/// Of several kernels the one of the least error is taken, for several classes as for two.
#[test]
fn kernels_are_chosen_for_several_classes() {
    let workshop = Workshop::new();
    workshop.write("three.csv", three_classes().as_bytes());
    let cv = ["cv", "--data", "three.csv", "--lambdas", "1:0.01:3", "--folds", "3"];
    let kernels =
        ["--multi-class", "ovr", "--kernel", "gaussian:sigma=100", "--or-kernel", "linear"];
    let arguments = [&cv[..], &kernels].concat();
    let document = workshop.json(&arguments);
    let tried = document["cv"]["kernels"].as_array().expect("kernels");
    let least = |k: usize| tried[k]["least_error"].as_f64().expect("an error");
    let chosen = usize::from(least(1) < least(0));
    assert_eq!(tried[chosen]["kernel"], document["training"]["kernel"]);
    assert!(workshop.output(&arguments).contains("best lambda  error %"));
}
