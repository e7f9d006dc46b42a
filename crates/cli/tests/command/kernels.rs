//! Kernel classifiers.

use serde_json::Value;

use crate::{Workshop, number, text};

/// Kernel classifiers, exact and approximate, from fit to file to the same scores.
#[test]
fn a_kernel_model_scores_like_its_fit() {
    let workshop = Workshop::new();
    let spaces: [&[&str]; 11] = [
        &["--kernel", "gaussian"],
        &["--kernel", "gaussian:sigma=0.5+linear", "--standardize"],
        &["--kernel", "poly:degree=2*linear", "--loss", "logistic"],
        &["--kernel", "(linear+gaussian:sigma=1)*(linear+poly:degree=2)"],
        &["--kernel", "matern52:length=2", "--approx", "cholesky:tol=1e-12"],
        &["--kernel", "laplacian:sigma=1", "--approx", "nystrom:m=12", "--standardize"],
        &["--kernel", "gaussian:sigma=0.2", "--approx", "nystrom:m=6,leverage=0.01"],
        &["--kernel", "gaussian:sigma=0.2", "--approx", "rff:m=64", "--standardize"],
        &["--kernel", "gaussian:sigma=0.2", "--loss", "hinge"],
        &["--kernel", "bessel:sigma=0.3,order=4", "--standardize"],
        &["--kernel", "spline"],
    ];
    for space in spaces {
        let fit = ["fit", "--data", "data.csv", "--lambda", "0.01", "--out", "model.json"];
        let document = workshop.json(&[&fit[..], space].concat());
        let fitted = &document["fits"][0];
        assert_eq!(fitted["converged"], true, "{space:?}");
        let predictions =
            workshop.json(&["predict", "--model", "model.json", "--data", "data.csv"]);
        let inspected = workshop.output(&["inspect", "--model", "model.json"]);
        assert!(inspected.contains("kernel"), "{inspected}");
        let table = workshop.output(&[&fit[..5], space].concat());
        let wrong = predictions["metrics"]["error"].as_f64().expect("labels");
        let words: Vec<&str> = table.split_whitespace().collect();
        let line = format!("training error {:.2} %", 100.0 * wrong);
        assert!(words.join(" ").contains(&line), "{table}");
        let cv = [&["cv", "--data", "data.csv", "--lambdas", "1:1e-3:5", "--folds", "3"], space];
        let cv = workshop.json(&cv.concat());
        assert_eq!(cv["all_certified"], true, "{space:?}");
        assert!(cv["training"]["kernel"].is_string());
    }
}

/// Kernels are chosen by their least error, and the document says what all of them had.
#[test]
fn cv_chooses_among_kernels() {
    let workshop = Workshop::new();
    let cv = ["cv", "--data", "data.csv", "--lambdas", "1:1e-3:5", "--folds", "3", "--kernel"];
    let document =
        workshop.json(&[&cv[..], &["linear", "--or-kernel", "gaussian:sigma=50"]].concat());
    let kernels = document["kernels"].as_array().expect("kernels");
    let error = |kernel: &Value| number(&kernel["least_error"]);
    assert_eq!(kernels.len(), 2);
    assert!(error(&kernels[1]) < error(&kernels[0]), "{kernels:?}");
    assert_eq!(document["training"]["kernel"], "gaussian:sigma=50");
    let alone = workshop.json(&[&cv[..], &["gaussian:sigma=50"]].concat());
    assert_eq!(document["lambdas"], alone["lambdas"]);
    let errors = |lambda: &Value| number(&lambda["mean_error"]);
    let curve: Vec<f64> =
        alone["lambdas"].as_array().expect("a curve").iter().map(errors).collect();
    let of_kernel = |kernel: &Value| -> Vec<f64> {
        kernel["errors"].as_array().expect("errors").iter().map(number).collect()
    };
    assert_eq!(of_kernel(&kernels[1]), curve);

    // The same widths as a grid, and the table of its errors.
    let grid = ["gaussian", "--sigmas", "50:0.5:3"];
    let sigmas = workshop.json(&[&cv[..], &grid].concat());
    let tried = sigmas["kernels"].as_array().expect("kernels");
    let names: Vec<&str> = tried.iter().filter_map(|kernel| kernel["kernel"].as_str()).collect();
    assert_eq!((names.len(), names[0]), (3, "gaussian:sigma=50"));
    assert_eq!(of_kernel(&tried[0]), curve);
    let tables = workshop.run(&[&cv[..], &grid, &["--verbose"]].concat());
    let tables = text(&tables.stdout);
    let rows = tables.lines().filter(|line| line.contains("gaussian:sigma=0.5 ")).count();
    assert_eq!(rows, 2, "{tables}");
}

/// Every sample is a fold; for the squared loss one Newton step is all the way.
#[test]
fn one_sample_at_a_time_is_left_out() {
    let workshop = Workshop::new();
    let run = |how, loss| {
        workshop.json(&[
            "cv",
            "--data",
            "data.csv",
            "--lambdas",
            "1:1e-3:5",
            "--kernel",
            "gaussian:sigma=0.3",
            "--loss",
            loss,
            "--leave-one-out",
            how,
        ])
    };
    let exact = run("exact", "squared");
    assert_eq!(exact["folds"], 12);
    assert_eq!(exact["all_certified"], true);
    let errors = |document: &Value| -> Vec<f64> {
        let lambdas = document["lambdas"].as_array().expect("lambdas");
        lambdas.iter().map(|lambda| number(&lambda["mean_error"])).collect()
    };
    assert_eq!(errors(&exact), errors(&run("one-step", "squared")));
    assert_eq!(run("exact", "lhs")["all_certified"], true);
}

/// A kernel matrix instead of features.
#[test]
fn a_precomputed_kernel_is_the_kernel() {
    let workshop = Workshop::new();
    let x = [0.0, 0.3, 1.0, 1.4, 2.2, 2.9f64];
    let mut file = String::from("a,b,c,d,e,f,label\n");
    for (i, xi) in x.iter().enumerate() {
        let row: Vec<String> =
            x.iter().map(|xj| format!("{:?}", (-0.5 * (xi - xj) * (xi - xj)).exp())).collect();
        file.push_str(&format!("{},{}\n", row.join(","), if i % 4 < 2 { "no" } else { "yes" }));
    }
    workshop.write("gram.csv", file.as_bytes());
    let plain: String = (x.iter().enumerate())
        .map(|(i, x)| format!("{x:?},{}\n", if i % 4 < 2 { "no" } else { "yes" }))
        .collect();
    workshop.write("x.csv", format!("x,label\n{plain}").as_bytes());
    let fit = |data, kernel, model| {
        ["fit", "--data", data, "--lambda", "0.01", "--kernel", kernel, "--out", model]
    };
    let one = workshop.json(&fit("gram.csv", "precomputed", "one.json"));
    let other = workshop.json(&fit("x.csv", "gaussian:sigma=0.5", "other.json"));
    let objective = |document: &Value| number(&document["fits"][0]["objective"]);
    assert!((objective(&one) - objective(&other)).abs() < 1e-9);
    let scores = |model, data| {
        let predictions = workshop.json(&["predict", "--model", model, "--data", data]);
        let rows = predictions["predictions"].as_array().expect("rows").clone();
        rows.iter().map(|row| number(&row["score"])).collect::<Vec<f64>>()
    };
    for (a, b) in scores("one.json", "gram.csv").iter().zip(scores("other.json", "x.csv")) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

/// A kernel that is defined for some samples refuses the others, in training and in prediction.
#[test]
fn samples_outside_the_domain_of_a_kernel_are_refused() {
    let workshop = Workshop::new();
    let refusal = |arguments: &[&str]| {
        let output = workshop.run(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        text(&output.stderr)
    };
    let rows = "1.0,2.0,no\n0.5,-0.25,yes\n2.0,1.0,yes\n0.5,1.5,no\n3.0,1.0,yes\n0.5,2.5,no\n";
    workshop.write("below.csv", format!("height,width,label\n{rows}").as_bytes());
    let below = "kernel 'spline' of rows 1 and ";
    let advice =
        "feature 1 is -0.25, but must not be negative. Scale the features to numbers from 0 to 1";
    let spline = ["--kernel", "spline", "--lambda", "0.01"];
    let fit = [&["fit", "--data", "data.csv", "--out", "model.json"][..], &spline].concat();
    workshop.output(&fit);
    let predict = refusal(&["predict", "--model", "model.json", "--data", "below.csv"]);
    let fit = refusal(&[&["fit", "--data", "below.csv"][..], &spline].concat());
    let focus = ["focus", "--data", "below.csv", "--learner", "kernel-perceptron"];
    let focus = refusal(&[&focus[..], &spline[..2]].concat());
    for message in [predict, fit, focus] {
        assert!(message.contains(below) && message.contains(advice), "{message}");
    }
    let bessel = ["fit", "--data", "data.csv", "--kernel", "bessel:sigma=1,order=0"];
    workshop.output(&[&bessel[..], &["--lambda", "0.01"]].concat());
    workshop.write("three.csv", b"a,b,c,label\n1,2,3,no\n3,1,2,yes\n2,2,1,no\n");
    let bessel = ["fit", "--data", "three.csv", "--kernel", "bessel:sigma=1,order=0"];
    let message = refusal(&[&bessel[..], &["--lambda", "0.01"]].concat());
    assert!(message.contains("at most 2 features, and these are 3. Set order=0.5"), "{message}");
}

/// The leave-one-out error of refits is between the bounds that a fit without an intercept prints.
#[test]
fn leave_one_out_bounds_hold_the_error_of_refits() {
    let workshop = Workshop::new();
    let data = ["--data", "data.csv", "--kernel", "gaussian:sigma=0.3"];
    let fit = [&["fit", "--lambda", "0.1"][..], &data].concat();
    let without = [&fit[..], &["--no-intercept"]].concat();
    let bounds = &workshop.json(&without)["fits"][0]["leave_one_out"];
    let [lower, upper] = [0, 1].map(|k| number(&bounds[k]));
    let cv = ["cv", "--lambdas", "0.1,0.01", "--leave-one-out", "exact", "--no-intercept"];
    let document = workshop.json(&[&cv[..], &data].concat());
    let error = number(&document["lambdas"][0]["mean_error"]);
    assert!(lower <= error && error <= upper && upper < 1.0, "{lower} {error} {upper}");
    assert!(document["fit"]["leave_one_out"].is_array());
    let table = workshop.output(&without);
    assert!(table.contains("leave-one-out error") && table.contains("without refits"), "{table}");
    assert!(workshop.json(&fit)["fits"][0].get("leave_one_out").is_none());
}
