//! More than two classes.

use crate::{Workshop, number, text, three_classes};

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
fn platt_scaling_gives_any_loss_probabilities() {
    let workshop = Workshop::new();
    workshop.write("three.csv", three_classes().as_bytes());
    let platt = ["--loss", "hinge", "--probability", "platt", "--out", "model.json"];
    let sigmoid = |scaling: &serde_json::Value, score: f64| {
        let z = number(&scaling["slope"]) * score + number(&scaling["intercept"]);
        1.0 / (1.0 + z.exp())
    };
    for command in [&["fit", "--lambda", "0.1"][..], &["cv", "--lambdas", "0.1:0.01:2"]] {
        let document = workshop.json(&[command, &["--data", "data.csv"], &platt].concat());
        let predicted = workshop.json(&["predict", "--model", "model.json", "--data", "data.csv"]);
        for prediction in predicted["predictions"].as_array().expect("a list") {
            let wanted = sigmoid(&document["platt"], number(&prediction["score"]));
            assert!((number(&prediction["probability"]) - wanted).abs() < 1e-12);
        }
        let several = ["--data", "three.csv", "--multi-class", "ovo"];
        let document = workshop.json(&[command, &several, &platt].concat());
        assert!(number(&document["members"][2]["platt"]["slope"]) < 0.0);
        let predicted = workshop.json(&["predict", "--model", "model.json", "--data", "three.csv"]);
        assert!(predicted["predictions"][0]["probabilities"].is_array());
    }
}

#[test]
fn platt_scaling_is_refused_without_held_out_folds() {
    let workshop = Workshop::new();
    let mut messages = Vec::new();
    for command in [
        &["path", "--data", "data.csv"][..],
        &["fit", "--data", "data.csv", "--lambda", "0.1", "--solver", "sgd"],
        &["fit", "--data", "data.csv", "--lambda", "0.1", "--solver", "catoni:alpha=1"],
    ] {
        let output = workshop.run(&[command, &["--probability", "platt"]].concat());
        messages.push(format!("{:?}: {}", output.status.code(), text(&output.stderr)));
    }
    assert!(
        messages[0].contains("Some(2)") && messages[0].contains("not for path"),
        "{messages:?}"
    );
    for message in &messages[1..] {
        assert!(message.contains("Some(2)") && message.contains("held-out folds"), "{message}");
    }
}
