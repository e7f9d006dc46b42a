//! Kernel classifiers.

use serde_json::Value;

use crate::{Workshop, number, text};

/// Kernel classifiers, exact and approximate, from fit to file to the same scores.
#[test]
fn a_kernel_model_scores_like_its_fit() {
    let workshop = Workshop::new();
    let spaces: [&[&str]; 9] = [
        &["--kernel", "gaussian"],
        &["--kernel", "gaussian:sigma=0.5+linear", "--standardize"],
        &["--kernel", "poly:degree=2*linear", "--loss", "logistic"],
        &["--kernel", "(linear+gaussian:sigma=1)*(linear+poly:degree=2)"],
        &["--kernel", "matern52:length=2", "--approx", "cholesky:tol=1e-12"],
        &["--kernel", "laplacian:sigma=1", "--approx", "nystrom:m=12", "--standardize"],
        &["--kernel", "gaussian:sigma=0.2", "--approx", "nystrom:m=6,leverage=0.01"],
        &["--kernel", "gaussian:sigma=0.2", "--approx", "rff:m=64", "--standardize"],
        &["--kernel", "gaussian:sigma=0.2", "--loss", "hinge"],
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
        assert!(table.contains(&format!("training error  {:.2} %", 100.0 * wrong)), "{table}");
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
