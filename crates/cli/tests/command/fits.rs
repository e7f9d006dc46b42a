//! Linear fits, paths, cross-validation, and what else is printed.

use std::process::ExitCode;

use margins::Registry;
use margins::losses::{Logistic, MarginLoss};
use serde_json::Value;

use crate::{DATA, Workshop, number, text};

/// Lemma 1 and 2 on the command line: the multipliers solve the dual, and the report has both values.
#[test]
fn dual_variables_are_written_and_reported() {
    let workshop = Workshop::new();
    let fit = ["fit", "--data", "data.csv", "--lambda", "0.02", "--tol", "1e-12"];
    for kernel in [&[][..], &["--kernel", "gaussian:sigma=0.5"]] {
        let options = [&fit[..], kernel, &["--duals", "duals.csv"]].concat();
        let document = workshop.json(&options);
        let form = &document["fits"][0]["constrained"];
        let norm = number(&form["norm"]);
        let text = std::fs::read_to_string(workshop.path("duals.csv")).expect("written");
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("sign,weight,margin,dual,multiplier,distance,slack"));
        let (mut primal, mut balance, mut rows) = (0.0, 0.0, 0);
        for line in lines {
            let numbers: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            let [sign, weight, margin, dual, sigma, distance, slack] = numbers[..] else {
                panic!("{line}");
            };
            assert_eq!(weight, 1.0);
            assert!(
                (dual * norm - sigma).abs() < 1e-12
                    && (margin / norm + slack - distance).abs() < 1e-12
            );
            primal += norm * slack - distance.ln();
            balance += sign * sigma;
            rows += 1;
        }
        assert_eq!(rows, 12);
        assert!((primal - number(&form["primal"])).abs() < 1e-10 && balance.abs() < 1e-9);
        assert!(number(&form["gap"]) < 1e-4 && number(&form["violations"]["direction"]) < 1e-2);
        assert!((number(&form["norm_by_duals"]) / norm - 1.0).abs() < 1e-3);
        assert!(workshop.output(&options).contains("constrained"), "the line of the report");
    }
    duals_of_other_fits_are_those_of_their_problems(&workshop);
    for (other, named) in [
        (&["--lambda", "0", "--loss", "logistic"][..], "--lambda 0"),
        (&["--lambda", "1", "--objective", "catoni"], "--objective catoni"),
        (&["--lambda", "1", "--penalty-factor", "height=2"], "--penalty-factor"),
    ] {
        let none = [&["fit", "--data", "data.csv", "--duals", "none.csv"], other].concat();
        let refused = workshop.run(&none);
        assert_eq!(refused.status.code(), Some(2));
        let message = text(&refused.stderr);
        assert!(message.contains("--duals") && message.contains(named), "{message}");
    }
}

/// Cross-validation, a path and several classes have the files and forms of single fits.
fn duals_of_other_fits_are_those_of_their_problems(workshop: &Workshop) {
    let written = |options: &[&str]| {
        let document =
            workshop.json(&[options, &["--duals", "duals.csv", "--tol", "1e-10"]].concat());
        (document, std::fs::read_to_string(workshop.path("duals.csv")).expect("written"))
    };
    let data = ["--data", "data.csv"];
    let (fit, of_fit) = written(&[&["fit"], &data[..], &["--lambda", "0.02"]].concat());
    let grid = ["--lambdas", "0.02", "--folds", "3"];
    let (cv, of_cv) = written(&[&["cv"], &data[..], &grid].concat());
    let (path, of_path) = written(&[&["path"], &data[..], &grid[..1], &["0.2,0.02"]].concat());
    let norm = |document: &Value| number(&document["constrained"]["norm"]);
    let expected = norm(&fit["fits"][0]);
    for found in [norm(&cv["fit"]), norm(&path["fits"][1])] {
        assert!((found / expected - 1.0).abs() < 1e-4, "{found} {expected}");
    }
    assert_eq!(of_cv.lines().next(), of_fit.lines().next());
    let rows: Vec<&str> = of_path.lines().collect();
    let header = of_fit.lines().next().expect("a header");
    assert_eq!((rows.len(), rows[0]), (25, &*format!("lambda,{header}")));
    assert!(rows[1..13].iter().all(|row| row.starts_with("0.2,")));
    assert!(rows[13..].iter().all(|row| row.starts_with("0.02,")));

    workshop.write("three.csv", b"x,label\n-3,a\n-2,a\n-1,a\n0,\"b,c\"\n1,\"b,c\"\n2,d\n3,d\n");
    let three = ["--data", "three.csv", "--multi-class"];
    let (ovr, members) = written(&[&["fit"], &three[..], &["ovr", "--lambda", "0.1"]].concat());
    let rows: Vec<&str> = members.lines().collect();
    assert_eq!((rows.len(), rows[0]), (22, &*format!("class,{header}")));
    assert!(rows[1].starts_with("a,1,1,") && rows[8].starts_with("\"b,c\",-1,1,"), "{members}");
    let forms = ovr["members"].as_array().expect("members");
    assert!(forms.iter().all(|member| number(&member["constrained"]["norm"]) > 0.0));
    let ovr_path = [&["path"], &three[..], &["ovr", "--lambdas", "0.2,0.1"]].concat();
    let (ovr_path, members) = written(&ovr_path);
    assert_eq!(members.lines().count(), 43);
    assert!(number(&ovr_path["fits"][1]["members"][2]["constrained"]["norm"]) > 0.0);
    for scheme in ["ovo", "joint"] {
        let refused = ["fit", "--lambda", "0.1", "--duals", "none.csv"];
        let refused = workshop.run(&[&refused[..], &three, &[scheme]].concat());
        assert_eq!(refused.status.code(), Some(2));
        assert!(text(&refused.stderr).contains("--duals"), "{}", text(&refused.stderr));
    }
}

/// Theorem 3 on the command line: the fits at small lambdas have the direction that is printed.
#[test]
fn the_limit_of_separable_classes_is_the_direction_of_fits() {
    let workshop = Workshop::new();
    let rows = b"x,z,label\n1,0.2,yes\n0.3,1,yes\n-1,-0.5,no\n-0.2,-0.9,no\n";
    workshop.write("apart.csv", rows);
    let path = ["path", "--data", "apart.csv", "--no-intercept"];
    for loss in ["lhs", "l-r:r=2"] {
        let limit = workshop.json(&[&path[..], &["--loss", loss, "--limit", "2"]].concat());
        assert_eq!(limit["format"], "margins-limit");
        let first = number(&limit["first_lambda"]);
        let grid = format!("{first}:{}:3", 0.01 * first);
        let fits = ["--loss", loss, "--tol", "1e-12", "--lambdas", &grid];
        let fits = workshop.json(&[&path[..], &fits].concat());
        let direction: Vec<f64> = (0..2).map(|j| number(&limit["coef"][j])).collect();
        for fit in fits["fits"].as_array().expect("fits") {
            let coef: Vec<f64> = (0..2).map(|j| number(&fit["coef"][j])).collect();
            let size = coef[0].hypot(coef[1]);
            let grown = (first / number(&fit["lambda"])).powf(number(&limit["power"]));
            let expected = number(&limit["first_size"]) * grown;
            assert!((size / expected - 1.0).abs() < 1e-5, "{loss}: {size} {expected}");
            assert!((coef[0] / size - direction[0]).abs() < 1e-5, "{loss} {coef:?} {direction:?}");
        }
    }
    let page = workshop.output(&[&path[..], &["--limit", "1"]].concat());
    let refused = |options: &[&str]| {
        let output = workshop.run(&[&["path"], options].concat());
        assert!(!output.status.success());
        text(&output.stderr)
    };
    let mixed = refused(&["--data", "data.csv", "--no-intercept", "--limit", "2"]);
    let hinge =
        refused(&["--data", "apart.csv", "--no-intercept", "--loss", "hinge", "--limit", "2"]);
    insta::assert_snapshot!([page, mixed, hinge].join("\n"));
    assert!(refused(&["--data", "apart.csv", "--limit", "2"]).contains("--no-intercept"));
}

/// Remark 2: a report names all best intercepts where there are several.
#[test]
fn several_best_intercepts_are_reported() {
    let workshop = Workshop::new();
    workshop.write("four.csv", b"x,label\n-1,no\n1,no\n-1,yes\n1,yes\n");
    let fit = ["fit", "--data", "four.csv", "--lambda", "0.1"];
    assert!(
        workshop.output(&fit).contains("best intercepts  -1 to 1"),
        "{}",
        workshop.output(&fit)
    );
    let document = workshop.json(&fit);
    let best = document["fits"][0]["best_intercepts"].as_array().expect("an interval");
    assert!((number(&best[0]) + 1.0).abs() < 1e-6 && (number(&best[1]) - 1.0).abs() < 1e-6);
    let document = workshop.json(&["fit", "--data", "data.csv", "--lambda", "0.1"]);
    assert!(document["fits"][0].get("best_intercepts").is_none());
}

#[test]
fn fit_prints_a_certified_fit() {
    let workshop = Workshop::new();
    insta::assert_snapshot!(workshop.output(&["fit", "--data", "data.csv", "--lambda", "0.1"]));
}

#[test]
fn path_prints_a_table() {
    let workshop = Workshop::new();
    let arguments = ["path", "--data", "data.csv", "--loss", "l-r:r=2", "--lambdas", "1:1e-3:4"];
    insta::assert_snapshot!(workshop.output(&arguments));
}

#[test]
fn cv_prints_errors_and_the_selected_fit() {
    let workshop = Workshop::new();
    let arguments =
        ["cv", "--data", "data.csv", "--loss", "logistic", "--lambdas", "1:1e-3:4", "--folds", "3"];
    insta::assert_snapshot!(workshop.output(&arguments));
}

#[test]
fn inspect_describes_data() {
    let workshop = Workshop::new();
    insta::assert_snapshot!(workshop.output(&["inspect", "--data", "data.csv"]));
}

#[test]
fn the_path_document_is_stable() {
    let workshop = Workshop::new();
    let document = workshop.json(&["path", "--data", "data.csv", "--lambdas", "0.1,1"]);
    let keys = |value: &Value| -> Vec<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    assert_eq!(keys(&document), ["data", "fits", "format", "training", "version"]);
    assert_eq!(document["format"], "margins-path");
    assert_eq!(document["version"], 1);
    let fits = document["fits"].as_array().expect("fits");
    assert_eq!(fits.len(), 2);
    assert_eq!(
        keys(&fits[0]),
        [
            "coef",
            "converged",
            "dual_objective",
            "gradient_norm",
            "intercept",
            "iterations",
            "lambda",
            "objective",
            "passes",
            "relative_gap",
            "relative_rounding",
            "rounding",
            "status"
        ]
    );
    assert_eq!(fits[0]["lambda"], 1.0);
    for fit in fits {
        assert_eq!(fit["converged"], true);
        assert!(number(&fit["relative_gap"]) <= 1e-6);
        assert!(number(&fit["dual_objective"]) <= number(&fit["objective"]));
        assert_eq!(fit["coef"].as_array().expect("coefficients").len(), 2);
    }
}

#[test]
fn cv_selects_by_either_rule_and_saves_what_it_selected() {
    let workshop = Workshop::new();
    for (rule, key) in [("best", "best_lambda"), ("one-se", "one_standard_error_lambda")] {
        let document = workshop.json(&[
            "cv",
            "--data",
            "data.csv",
            "--folds",
            "3",
            "--select",
            rule,
            "--out",
            "model.json",
        ]);
        assert_eq!(document["all_certified"], true);
        assert_eq!(document["lambdas"].as_array().expect("lambdas").len(), 100);
        assert_eq!(document["fit"]["lambda"], document[key]);
        let model = workshop.json(&["inspect", "--model", "model.json"]);
        assert_eq!(model["members"][0]["lambda"], document[key]);
        assert_eq!(model["members"][0]["coef"], document["fit"]["coef"]);
    }
}

/// Every measure has its columns in the table, its place in the document, and its best lambda.
#[test]
fn cv_chooses_by_the_measure() {
    let workshop = Workshop::new();
    let cv = ["cv", "--data", "data.csv", "--loss", "logistic", "--lambdas", "1:1e-3:4"];
    for (measure, heading) in [
        ("error", "error %    se"),
        ("balanced-error", "balanced error %"),
        ("log-loss", "log-loss"),
        ("brier", "brier"),
        ("auc", "auc"),
    ] {
        let given = [&cv[..], &["--measure", measure]].concat();
        let document = workshop.json(&given);
        assert_eq!(document["measure"], measure);
        let lambdas = document["lambdas"].as_array().expect("lambdas");
        let sign = if measure == "auc" { -1.0 } else { 1.0 };
        let value = |at: &Value| sign * number(&at["mean_measure"]);
        let best = lambdas.iter().find(|at| at["lambda"] == document["best_lambda"]);
        let best = value(best.expect("among them"));
        assert!(lambdas.iter().all(|at| best <= value(at)), "{measure}");
        let brief = workshop.output(&given);
        assert!(brief.contains(&format!("{measure} ")) && brief.lines().count() <= 15, "{brief}");
        let shown = text(&workshop.run(&[&given[..], &["--verbose"]].concat()).stdout);
        assert!(shown.contains(heading), "{shown}");
        let kernels = ["--kernel", "linear", "--or-kernel", "gaussian:sigma=1"];
        let page = ["--report", "page.html", "--verbose"];
        let output = workshop.run(&[&given[..], &kernels, &page].concat());
        let shown = text(&output.stdout);
        let table = shown.lines().find(|line| line.contains("best lambda")).expect("kernels");
        assert!(table.contains(heading.trim_end_matches("    se")), "{shown}");
        let page = std::fs::read_to_string(workshop.path("page.html")).expect("a page");
        assert!(page.contains(&format!("Cross-validated {measure}")), "{measure}");
    }
    let refusals = [
        (&["--loss", "hinge", "--measure", "brier"][..], "the measure needs probabilities"),
        (&["--measure", "f1"], "possible values: error, balanced-error, log-loss, auc, brier"),
        (&["--measure", "auc", "--abandon-hopeless"], "cannot be used with"),
    ];
    for (given, expected) in refusals {
        let output = workshop.run(&[&["cv", "--data", "data.csv"], given].concat());
        let message = text(&output.stderr);
        assert!(!output.status.success() && message.contains(expected), "{message}");
    }
}

/// A class of one row is no reason to end a search.
#[test]
fn a_class_with_one_row_is_warned_of() {
    let workshop = Workshop::new();
    let single = format!("{DATA}0.5,0.5,single\n");
    workshop.write("single.csv", single.as_bytes());
    let output =
        workshop.run(&["cv", "--data", "single.csv", "--multi-class", "ovr", "--lambdas", "0.1"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let message = text(&output.stderr);
    assert!(message.contains("leaves no sample of class 'single' to train on"), "{message}");
}

/// Messages name a fold by the value in its column, and `1` and `1.0` are one fold.
#[test]
fn folds_have_the_names_of_their_column() {
    let workshop = Workshop::new();
    let rows = |parts: &[&str]| -> String {
        let label = |part: &str| if part.starts_with("20") { "b" } else { "a" };
        let rows = parts.iter().enumerate();
        rows.map(|(row, part)| format!("{},{part},{}\n", row * 7 % 5, label(part))).collect()
    };
    let header = "x,part,label\n";
    let parts = rows(&["0", "10", "20", "30", "0", "10", "20.0", "30", "2e1"]);
    workshop.write("named.csv", format!("{header}{parts}").as_bytes());
    let cv = ["cv", "--lambdas", "1:0.1:2", "--fold-column", "part", "--data", "named.csv"];
    let output = workshop.run(&cv);
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr);
    assert!(message.contains("fold '20' leaves no sample of class 'b'"), "{message}");
    workshop.output(&[
        "blocks",
        "--data",
        "named.csv",
        "--fold-column",
        "part",
        "--out",
        "named.blocks",
    ]);
    let output = workshop.run(&["cv", "--lambdas", "1:0.1:2", "--data", "named.blocks"]);
    let message = text(&output.stderr);
    assert!(message.contains("fold '20' leaves no sample of class 'b'"), "{message}");
}

/// More groups than folds are distributed over them, and no group is divided.
#[test]
fn groups_are_distributed_over_folds() {
    let workshop = Workshop::new();
    let lines = DATA.lines().enumerate();
    let grouped: String = lines
        .map(|(i, line)| match i {
            0 => format!("{line},patient\n"),
            _ => format!("{line},p{}\n", i % 6),
        })
        .collect();
    workshop.write("groups.csv", grouped.as_bytes());
    let cv = ["cv", "--data", "groups.csv", "--fold-column", "patient", "--lambdas", "0.1"];
    assert_eq!(workshop.json(&cv)["folds"], 6);
    let document = workshop.json(&[&cv[..], &["--folds", "3"]].concat());
    assert_eq!((&document["folds"], &document["seed"]), (&3.into(), &1.into()));
    let output = workshop.run(&[&cv[..], &["--folds", "7"]].concat());
    let message = text(&output.stderr);
    assert!(message.contains("at most 6, the number of groups of rows"), "{message}");
}

#[test]
fn folds_may_come_with_the_data() {
    let workshop = Workshop::new();
    let with_folds: String = (DATA.lines().enumerate())
        .map(|(i, line)| match i {
            0 => format!("{line},part\n"),
            _ => format!("{line},{}\n", ["a", "b", "c"][i % 3]),
        })
        .collect();
    workshop.write("folds.csv", with_folds.as_bytes());
    let arguments = ["cv", "--data", "folds.csv", "--fold-column", "part", "--lambdas", "0.1"];
    let document = workshop.json(&arguments);
    assert_eq!(document["folds"], 3);
    assert_eq!(document["seed"], Value::Null);
    assert_eq!(document["data"]["columns"], 2);
}

#[test]
fn threads_change_no_number() {
    let workshop = Workshop::new();
    let run = |threads: &str| {
        let data = "mixture:example=1,n=80,seed=3";
        workshop.output(&["cv", "--data", data, "--threads", threads, "--format", "json"])
    };
    assert_eq!(run("1"), run("3"));
}

#[test]
fn weights_and_solvers_agree_through_the_command() {
    let workshop = Workshop::new();
    let objective = |arguments: &[&str]| {
        let common = ["fit", "--data", "data.csv", "--lambda", "0.05", "--tol", "1e-9"];
        number(&workshop.json(&[&common[..], arguments].concat())["fits"][0]["objective"])
    };
    let newton = objective(&[]);
    for solver in ["auto", "newton", "mm", "mm-accelerated"] {
        assert!((objective(&["--solver", solver]) - newton).abs() < 1e-8 * newton.abs());
    }
    // Six of twelve are positive: balanced already.
    assert!((objective(&["--class-weight", "balanced"]) - newton).abs() < 1e-8);
    assert!(objective(&["--no-intercept"]) > newton + 1e-6);
}

#[test]
fn options_of_the_data_change_the_fit_as_they_say() {
    let workshop = Workshop::new();
    let positives_twice: String = (DATA.lines().enumerate())
        .map(|(i, line)| match i {
            0 => format!("{line},weight\n"),
            _ => format!("{line},{}\n", if line.ends_with("yes") { 2 } else { 1 }),
        })
        .collect();
    workshop.write("weights.csv", positives_twice.as_bytes());
    let repeated: String = (DATA.lines())
        .flat_map(|line| std::iter::repeat_n(line, if line.ends_with("yes") { 2 } else { 1 }))
        .map(|line| format!("{line}\n"))
        .collect();
    workshop.write("repeated.csv", repeated.as_bytes());
    let fit = |arguments: &[&str]| {
        let common = ["fit", "--loss", "logistic", "--tol", "1e-10"];
        workshop.json(&[&common[..], arguments].concat())["fits"][0].clone()
    };
    let close = |a: &Value, b: &Value| (number(a) - number(b)).abs() < 1e-4;
    // A weight of 2 is a sample twice; 18 weighted samples of 12 rows rescale lambda.
    let weighted = ["--data", "weights.csv", "--weights-column", "weight", "--lambda", "0.03"];
    let twice = fit(&["--data", "repeated.csv", "--lambda", "0.02"]);
    assert!(close(&fit(&weighted)["intercept"], &twice["intercept"]));
    // Balancing takes that back.
    let balanced = fit(&[&weighted[..], &["--class-weight", "balanced"]].concat());
    let plain = fit(&["--data", "data.csv", "--lambda", "0.02"]);
    assert!(close(&balanced["intercept"], &plain["intercept"]));
    assert!(!close(&twice["intercept"], &plain["intercept"]));
    // The other class as the positive one turns all signs.
    let turned = fit(&["--data", "data.csv", "--lambda", "0.02", "--positive", "no"]);
    assert!((number(&turned["intercept"]) + number(&plain["intercept"])).abs() < 1e-4);
    // In other units a standardised fit has other coefficients and the same objective.
    let tall: String = DATA.lines().map(|line| line.replacen(".0,", ".00,", 1) + "\n").collect();
    workshop.write("same.csv", tall.as_bytes());
    let scaled = fit(&["--data", "data.csv", "--lambda", "0.02", "--standardize"]);
    assert!(!close(&scaled["objective"], &plain["objective"]));
    assert_eq!(fit(&["--data", "same.csv", "--lambda", "0.02", "--standardize"]), scaled);
}

#[test]
fn the_seed_draws_the_folds() {
    let workshop = Workshop::new();
    let run = |seed: &str| {
        workshop.json(&[
            "cv",
            "--data",
            "mixture:example=1,n=60",
            "--lambdas",
            "0.1,0.01",
            "--seed",
            seed,
        ])
    };
    assert_eq!(run("1"), run("1"));
    assert_ne!(run("1")["lambdas"], run("2")["lambdas"]);
}

#[test]
fn margin_pursuit_prints_where_the_margins_are() {
    let workshop = Workshop::new();
    let fit = ["fit", "--data", "data.csv", "--lambda", "0.001", "--loss"];
    let words = [&fit[..], &["margin-pursuit:gamma=1,scale=0.5"]].concat();
    let found = &workshop.json(&words)["fits"][0]["margin_location"];
    assert_eq!((number(&found["gamma"]), number(&found["scale"])), (1.0, 0.5));
    // The mean is on the side of the long tail.
    let beside = number(&found["mean"]) - number(&found["estimate"]);
    assert!(beside * number(&found["skewness"]) > 0.0 && found["attained"] == false);
    let line = workshop.output(&words);
    assert!(line.contains("margin location") && line.contains("attain"), "{line}");
    let cv = ["cv", "--data", "data.csv", "--folds", "3", "--lambdas", "0.1,0.001"];
    let cv = [&cv[..], &["--loss", "margin-pursuit:gamma=1,scale=0.5"]].concat();
    assert!(workshop.json(&cv)["fit"]["margin_location"]["attained"].is_boolean());
    assert!(workshop.output(&cv).contains("margin location"));
    // A path has it at every lambda, the last of which is that of the fit.
    let path = [&["path"], &cv[1..3], &cv[5..]].concat();
    let last = &workshop.json(&path)["fits"][1]["margin_location"];
    assert!((number(&last["estimate"]) / number(&found["estimate"]) - 1.0).abs() < 1e-2);
    assert!(workshop.output(&path).contains("margin location"));
    // So has a stochastic fit of margin pursuit to rows in memory.
    let stream = ["stream", "--data", "data.csv", "--lambda", "0.001", "--epochs", "200", "--loss"];
    let stream = [&stream[..], &["margin-pursuit:gamma=1,scale=2"]].concat();
    let location = &workshop.json(&stream)["fits"][0]["margin_location"];
    assert_eq!(number(&location["scale"]), 2.0);
    assert!(workshop.output(&stream).contains("which"), "{location}");
    // At a large scale there is an interval, for a classifier that has not seen the rows.
    let wide = [&fit[..], &["margin-pursuit:gamma=1,scale=9"]].concat();
    let (estimate, interval) = {
        let document = workshop.json(&wide);
        let location = &document["fits"][0]["margin_location"];
        (number(&location["estimate"]), location["interval"].clone())
    };
    assert!(number(&interval[0]) < estimate && estimate < number(&interval[1]), "{interval}");
    assert!(workshop.output(&wide).contains("for a variance up to"));
    let other = [&fit[..], &["logistic"]].concat();
    assert!(workshop.json(&other)["fits"][0].get("margin_location").is_none());
    // Of several classes every member has its own, in a fit, along a path and of a stream.
    workshop.write("three.csv", b"x,label\n-3,a\n-2,a\n-1,a\n0,b\n1,b\n2,d\n3,d\n");
    let loss = ["--data", "three.csv", "--loss", "margin-pursuit:gamma=1,scale=2", "--multi-class"];
    for scheme in ["ovr", "ovo"] {
        let fit = [&["fit"], &loss[..], &[scheme, "--lambda", "0.01"]].concat();
        let document = workshop.json(&fit);
        let members = document["members"].as_array().expect("members");
        let estimates: Vec<f64> =
            members.iter().map(|member| number(&member["margin_location"]["estimate"])).collect();
        assert!(estimates.iter().all(|estimate| *estimate > 0.0), "{scheme}: {estimates:?}");
        assert!(workshop.output(&fit).contains("margin location"), "{scheme}");
        let path = [&["path"], &loss[..], &[scheme, "--lambdas", "0.1,0.01"]].concat();
        let document = workshop.json(&path);
        let page = [&path[..], &["--report", "path.html"]].concat();
        assert!(workshop.run(&page).status.success());
        let page = std::fs::read_to_string(workshop.path("path.html")).expect("a page");
        assert!(page.contains("Location of the margins along the path"), "{scheme}");
        // So has a report on rows, with the members of the fit.
        workshop.output(&[&fit[..], &["--out", "three.json"]].concat());
        let report = ["report", "--model", "three.json", "--data", "three.csv"];
        let report = workshop.run(&[&report[..], &["--format", "json"]].concat());
        let report: Value = serde_json::from_slice(&report.stdout).expect("JSON");
        let locations = report["evaluations"][0]["locations"].as_array().expect("locations");
        for (location, estimate) in locations.iter().zip(&estimates) {
            assert!((number(&location["estimate"]) / estimate - 1.0).abs() < 1e-9, "{location}");
        }
        assert_eq!(locations.len(), estimates.len());
        let last = &document["fits"][1]["members"][2]["margin_location"]["estimate"];
        assert!((number(last) / estimates[2] - 1.0).abs() < 1e-2, "{last} {estimates:?}");
    }
    // Without a penalty the evidence of a member is its gradient, and nothing is missed.
    workshop.write("mixed.csv", b"x,label\n-1,a\n1,a\n0,a\n0,b\n2,b\n1,d\n3,d\n-1,d\n");
    let unpenalised = ["fit", "--data", "mixed.csv", "--multi-class", "ovr", "--lambda", "0"];
    let unpenalised = [&unpenalised[..], &loss[2..4]].concat();
    assert!(workshop.output(&unpenalised).contains("gradient norm"), "and no warning");
    let member = workshop.json(&unpenalised)["members"][0].clone();
    assert!(number(&member["gradient_norm"]) < 1e-5 && member["status"] == "rule-met", "{member}");
    let stream = ["ovr", "--lambda", "0.01", "--epochs", "20"];
    let stream = [&["stream"], &loss[..], &stream].concat();
    assert_eq!(number(&workshop.json(&stream)["members"][0]["margin_location"]["scale"]), 2.0);
    assert!(workshop.output(&stream).contains("margin location"));
}

/// A mixture has a Bayes error, a lowest risk and a share of rows with hardly any label noise; data of
/// other sizes are drawn like the examples of the paper.
#[test]
fn mixtures_are_inspected_with_their_lowest_risk() {
    let workshop = Workshop::new();
    let inspect = |data: &str, loss: &[&str]| {
        let document = workshop.json(&[&["inspect", "--data", data][..], loss].concat());
        (document["least_risk"].clone(), document["bayes_error"].clone())
    };
    let (least, bayes) = inspect("mixture:example=1,n=20", &[]);
    assert_eq!(least["loss"], "lhs");
    assert!(number(&least["risk"]) < 0.0 && number(&least["error"]) > 0.0, "{least}");
    let shares = least["noiseless"].as_array().expect("shares");
    assert!(number(&shares[0]["share"]) >= number(&shares[1]["share"]));
    let (logistic, _) = inspect("mixture:example=1,n=20", &["--loss", "logistic"]);
    assert!((0.0..0.7).contains(&number(&logistic["risk"])), "{logistic}");
    // The same mixture by its sizes, and by what they are left out for.
    for same in
        ["mixture:k=3,p=2,sigma=0.31622776601683794,n=20", "mixture:n=20", "mixture:k=3,n=20"]
    {
        assert_eq!(inspect(same, &[]), (least.clone(), bayes.clone()), "{same}");
    }
    let document = workshop.json(&["inspect", "--data", "mixture:k=2,p=6,sigma=1,n=30,seed=4"]);
    assert_eq!((number(&document["rows"]), number(&document["columns"])), (30.0, 6.0));
    let table = workshop.output(&["inspect", "--data", "mixture:example=2,n=20"]);
    assert!(table.contains("lowest risk") && table.contains("% at delta 0.01"), "{table}");
    for (data, options, message) in [
        ("mixture:p=3,n=20", &[][..], "the number of features is 3, but must be even"),
        ("mixture:sigma=0", &[][..], "the deviation is 0, but must be from 1e-100 to 1e100"),
        ("mixture:k=0", &[][..], "k is 0, but must be from 1"),
        ("mixture:k=100000,p=1000", &[][..], "k p must be at most 10000000"),
        ("mixture:example=1,k=4", &[][..], "example=1 has its own k and sigma. Leave one out"),
        ("data.csv", &["--loss", "lhs"][..], "--loss needs class probabilities"),
    ] {
        let output = workshop.run(&[&["inspect", "--data", data][..], options].concat());
        assert!(text(&output.stderr).contains(message), "{data}: {}", text(&output.stderr));
    }
}

#[test]
fn psi_says_when_an_excess_is_finite() {
    let workshop = Workshop::new();
    for (loss, condition) in [
        ("lhs", Some("the mean of |log odds| is finite")),
        ("l-r:r=3", Some("the mean of exp(0.5 |log odds|) is finite")),
        ("logistic", None),
    ] {
        let psi = ["psi", "--loss", loss, "--at", "0.1"];
        assert_eq!(workshop.json(&psi)["finite_if"].as_str(), condition);
        let table = workshop.output(&psi);
        assert_eq!(table.contains("bounds nothing"), condition.is_some(), "{table}");
        let risk = [&psi[..], &["--quantity", "risk"]].concat();
        assert!(workshop.json(&risk)["finite_if"].is_null());
    }
}

/// The letters of Zhang and Zhou set lambda, and their bound is printed.
#[test]
fn the_letters_of_zhang_and_zhou_set_lambda() {
    let workshop = Workshop::new();
    let fit = ["fit", "--data", "data.csv", "--loss", "hinge", "--objective"];
    let letters = "margin-distribution:lambda1=1,lambda2=2,lambda3=4";
    let found = workshop.json(&[&fit[..], &[letters]].concat());
    let weights = ["margin-distribution:mean=0.5,variance=0.25", "--lambda", "0.125"];
    let same = workshop.json(&[&fit[..], &weights].concat());
    assert_eq!(found["fits"], same["fits"]);
    let bound = number(&found["fits"][0]["fixed_moments_leave_one_out_bound"]);
    assert!(bound > 0.0, "{bound}");
    let lines = workshop.output(&[&fit[..], &[letters]].concat());
    assert!(lines.contains("wrong, with the moments of all rows"), "{lines}");
    for (wrong, told) in [
        (&[letters, "--lambda", "0.1"][..], "lambda3 sets lambda to 1/(2 lambda3)"),
        (&["margin-distribution"], "Add --lambda 0.01"),
    ] {
        let output = workshop.run(&[&fit[..], wrong].concat());
        let refusal = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(refusal.contains(told) && output.status.code() != Some(0), "{refusal}");
    }
}

/// `scale=auto` takes the scale from the data, and writes it into the model.
#[test]
fn the_scale_of_margin_pursuit_comes_from_the_data() {
    let workshop = Workshop::new();
    let fit = ["fit", "--data", "data.csv", "--lambda", "0.01", "--out", "model.json", "--loss"];
    let auto = [&fit[..], &["margin-pursuit:gamma=2,scale=auto,k=4"]].concat();
    let document = workshop.json(&auto);
    let (found, loss) = (&document["fits"][0]["scale"], &document["training"]["loss"]);
    let scale = number(&found["scale"]);
    assert_eq!(*loss, format!("margin-pursuit:gamma=2,scale={scale}"));
    assert!(number(&found["required"]) / scale - 1.0 < 0.0101 && found["settled"] == true);
    let rule = number(&found["variance_bound"]) * 4.0 / 2.0;
    assert!((number(&found["required"]) / rule - 1.0).abs() < 1e-12);
    assert_eq!(number(&document["fits"][0]["margin_location"]["scale"]), scale);
    let line = workshop.output(&auto);
    assert!(line.contains("from the data (k 4, variance of the margins at most"), "{line}");
    let given = [&fit[..], &[loss.as_str().expect("a loss")]].concat();
    let given = workshop.json(&given);
    assert_eq!(given["fits"][0]["coef"], document["fits"][0]["coef"]);
    assert!(given["fits"][0].get("scale").is_none());
    let path = ["path", "--data", "data.csv", "--loss", "margin-pursuit:scale=auto"];
    let cv = ["cv", "--data", "data.csv", "--loss", "margin-pursuit:scale=auto"];
    for (command, told) in [(path, "every lambda would have"), (cv, "every fold would have")] {
        let output = workshop.run(&command);
        let refusal = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(refusal.contains(told) && output.status.code() != Some(0), "{refusal}");
    }
}

#[test]
fn psi_and_its_inverse() {
    let workshop = Workshop::new();
    let document = workshop.json(&["psi", "--loss", "squared", "--at", "0.5,0.1"]);
    assert_eq!(document["loss"], "squared");
    let values = document["values"].as_array().expect("values");
    assert_eq!((number(&values[0]["at"]), number(&values[0]["value"])), (0.5, 0.25));
    assert_eq!(number(&values[1]["at"]), 0.1);
    let document = workshop.json(&["psi", "--loss", "squared", "--at", "0.25", "--inverse"]);
    assert!((number(&document["values"][0]["value"]) - 0.5).abs() < 1e-12);
    insta::assert_snapshot!(workshop.output(&[
        "psi",
        "--loss",
        "margin-pursuit:gamma=1,scale=1",
        "--at",
        "0,1e-6,0.1,0.5,1",
    ]));
    // H and u* of figure 2; a loss need not be calibrated for them.
    let loss = "margin-pursuit:gamma=1,scale=1";
    let of = |loss: &str, quantity: &str| {
        let found =
            workshop.json(&["psi", "--loss", loss, "--quantity", quantity, "--at", "0.3,0.7"]);
        assert!(found["quantity"] == quantity && found["inverse"] == false);
        [0, 1].map(|k| number(&found["values"][k]["value"]))
    };
    let ([score, mirrored], [risk, same]) = (of(loss, "minimizer"), of(loss, "risk"));
    assert!((score + mirrored).abs() < 1e-15 && mirrored > 0.0 && (risk - same).abs() < 1e-15);
    let rho = |u: f64| match u * u <= 2.0 {
        true => u * u / 2.0 - u.powi(4) / 24.0,
        false => 8f64.sqrt() / 3.0 * u.abs() - 0.5,
    };
    let at = |u: f64| 0.7 * rho(1.0 - u) + 0.3 * rho(1.0 + u);
    assert!((at(mirrored) - risk).abs() < 1e-14 && at(mirrored + 1e-3) > risk);
    assert!((of("garg-roth", "risk")[0] - 1.0).abs() < 1e-9);
    let infinite = workshop.json(&["psi", "--loss", "lhs", "--at", "1"]);
    assert_eq!(infinite["values"][0]["value"], Value::Null);
    // (u - 1) (u - 2) (u + 4), and u* without saturation as a root of its cubic.
    let roots = |cubic: &str| -> Vec<f64> {
        let found = workshop.json(&["psi", "--cubic", cubic]);
        found["roots"].as_array().expect("roots").iter().map(number).collect()
    };
    assert_eq!(roots("1,1,-10,8"), [-4.0, 1.0, 2.0]);
    assert_eq!(roots("-1,-1,10,-8"), roots("1,1,-10,8"));
    let [_, score] = of("margin-pursuit:gamma=0.5,scale=1", "minimizer");
    assert!(roots("1,-0.6,-5.25,1.15").iter().any(|u| (u - score).abs() < 1e-12));
}

#[test]
fn a_fit_far_below_the_usual_lambdas_starts_from_larger_ones() {
    let workshop = Workshop::new();
    let rows: String = (0..100)
        .map(|i| if i % 2 == 0 { 1 } else { -1 })
        .map(|y| format!("{y},{},{y}\n", 0.3 * f64::from(y) + 0.01))
        .collect();
    workshop.write("separable.csv", format!("a,b,label\n{rows}").as_bytes());
    for lambda in ["3e-8", "1e-8", "1e-12"] {
        let document = workshop.json(&["fit", "--data", "separable.csv", "--lambda", lambda]);
        assert_eq!(document["fits"][0]["converged"], true, "{document}");
    }
}

#[test]
fn a_limit_that_was_met_is_a_warning() {
    let workshop = Workshop::new();
    let output = workshop.run(&[
        "path",
        "--data",
        "data.csv",
        "--lambdas",
        "1:1e-5:4",
        "--solver",
        "mm",
        "--max-iterations",
        "3",
    ]);
    assert!(output.status.success());
    insta::assert_snapshot!(text(&output.stderr));
    assert!(text(&output.stdout).contains("not certified"));
}

/// The final fit is no lambda of the path.
#[test]
fn a_warning_counts_the_lambdas_and_names_the_final_fit() {
    let workshop = Workshop::new();
    let short =
        ["--lambdas", "1:0.1:10", "--folds", "3", "--max-iterations", "1", "--tol", "1e-12"];
    let output = workshop.run(&[&["cv", "--data", "data.csv"][..], &short].concat());
    let message = text(&output.stderr);
    assert!(
        message.starts_with("warning: at 9 of 10 lambdas a fit, and so the final one, missed the tolerance of 1e-12 "),
        "{message}"
    );
    // Fits of folds alone have no status here, but a gap.
    let short = ["--lambdas", "1,1e-6", "--folds", "3", "--max-iterations", "5"];
    let output = workshop.run(&[&["cv", "--data", "data.csv"][..], &short].concat());
    let (message, of_folds) = (
        text(&output.stderr),
        "at 2 of 2 lambdas a fit missed the tolerance of 1e-6 for the relative duality gap: the largest gap is ",
    );
    assert!(message.contains(of_folds), "{message}");
}

/// What is certified in time is kept, the rest is reported as cut short.
#[test]
fn a_time_limit_ends_fits() {
    let workshop = Workshop::new();
    for (command, more) in [("fit", ["--lambda", "0.1"]), ("path", ["--lambdas", "1:0.1:3"])] {
        let arguments = [command, "--data", "data.csv", more[0], more[1], "--format", "json"];
        let output = workshop.run(&[&arguments[..], &["--time-limit", "1e-9"]].concat());
        assert!(
            output.status.success()
                && text(&output.stderr)
                    .contains("the time limit was reached first. Raise --time-limit")
        );
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let fits = document["fits"].as_array().expect("fits");
        assert!(fits.iter().all(|fit| fit["status"] == "time-limit" && fit["converged"] == false));
        // Time enough changes nothing.
        let long = workshop.output(&[&arguments[..], &["--time-limit", "1e9"]].concat());
        assert_eq!(long, workshop.output(&arguments));
    }
    let kernel: &[&str] = &["--kernel", "gaussian:sigma=1"];
    let leave: &[&str] = &["--kernel", "gaussian:sigma=1", "--leave-one-out", "one-step"];
    for more in [&[][..], kernel, leave, &["--multi-class", "ovr"]] {
        let cv = ["cv", "--data", "data.csv", "--lambdas", "1:0.1:3", "--time-limit", "1e-9"];
        let output = workshop.run(&[&cv[..], more].concat());
        assert_eq!(output.status.code(), Some(1), "{more:?}");
        assert!(text(&output.stderr).contains("the time limit of 1ns"), "{}", text(&output.stderr));
    }
}

/// Features without a penalty that separate the classes are named, by a path as by a fit.
#[test]
fn a_path_names_the_direction_without_a_minimum() {
    let workshop = Workshop::new();
    let rows: String = (0..20)
        .map(|i| format!("{i},{},{}\n", i * 7 % 5, if i < 10 { "no" } else { "yes" }))
        .collect();
    workshop.write("apart.csv", format!("height,width,label\n{rows}").as_bytes());
    for more in [["fit", "--lambda", "0.1"], ["path", "--lambdas", "1:0.1:3"]] {
        let data = ["--data", "apart.csv", "--loss", "logistic", "--penalty-factor", "height=0"];
        let said = text(&workshop.run(&[&more[..], &data].concat()).stderr);
        assert!(said.contains("decrease without bound along 0.105 height - 1"), "{said}");
    }
}

/// The published rule ends the table at its last fit, certifies nothing, and selects among the lambdas
/// that it reaches; options that make no sense with it are refused.
#[test]
fn the_published_rule_ends_a_path() {
    let workshop = Workshop::new();
    let stop = ["--data", "apart.csv", "--stop", "published", "--format", "json"];
    // Separated classes, whose coefficients grow without end.
    let rows: String = (0..20)
        .map(|i| format!("{},{},{}\n", i, f64::from(i * 7 % 5), if i < 10 { "no" } else { "yes" }))
        .collect();
    workshop.write("apart.csv", format!("height,width,label\n{rows}").as_bytes());
    for kernel in [&[][..], &["--kernel", "gaussian:sigma=1"]] {
        let output = workshop.run(&[&["path"], &stop[..], kernel].concat());
        let said = text(&output.stderr);
        assert!(said.contains("by the iteration limit of --stop published: "), "{said}");
        assert!(said.contains("by its own rule. Use --stop gap for certified fits"), "{said}");
        let path: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let fits = path["fits"].as_array().expect("fits");
        assert!((2..100).contains(&fits.len()));
        assert_eq!(fits[fits.len() - 1]["status"], "rule-met");

        let output = workshop.run(&[&["cv"], &stop[..], kernel].concat());
        let said = text(&output.stderr);
        assert!(said.contains("of 100 lambdas have a fit in every fold and on all rows"), "{said}");
        let cv: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(cv["fit"]["lambda"], cv["best_lambda"]);
    }
    let refusals: [(&str, &[&str], &str); 4] = [
        ("path", &["--solver", "newton"], "--solver newton is not for --stop published"),
        ("path", &["--time-limit", "9"], "--time-limit is not for --stop published"),
        ("path", &["--objective", "catoni"], "--objective is not for --stop published"),
        ("cv", &["--abandon-hopeless"], "--abandon-hopeless is not for --stop published"),
    ];
    for (command, more, message) in refusals {
        let output = workshop.run(&[&[command], &stop[..], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
    }
}

/// The message about an objective without a minimum says so, and does not suggest scaling; nothing else
/// changes.
#[test]
fn an_objective_without_a_minimum_says_so() {
    let workshop = Workshop::new();
    let mut rows = "height,width,label\n".to_owned();
    for i in 0..40 {
        let (t, label) = (f64::from(i), if [7, 23].contains(&i) { "yes" } else { "no" });
        rows += &format!("{},{},{label}\n", (1.3 * t).sin(), (0.7 * t + 1.0).cos());
    }
    assert_eq!(rows.matches("yes").count(), 2);
    workshop.write("rare.csv", rows.as_bytes());
    let rare = ["--data", "rare.csv", "--loss", "leaky-relu:lambda=0.1"];
    let reason = margins::optim::Status::Unbounded.explanation();
    let fit = [&["fit", "--lambda", "0.1"], &rare[..]].concat();
    let output = workshop.run(&fit);
    assert_eq!(output.status.code(), Some(0));
    let (table, warning) = (text(&output.stdout), text(&output.stderr));
    assert!(table.contains(&format!("NOT CERTIFIED (unbounded): {reason}")), "{table}");
    assert!(warning.contains(reason) && warning.contains("--class-weight balanced"), "{warning}");
    assert!(!warning.contains("--standardize"), "{warning}");
    let output = workshop.run(&[&fit[..], &["--format", "json"]].concat());
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let fitted = &document["fits"][0];
    assert_eq!((&fitted["status"], &fitted["converged"]), (&"unbounded".into(), &false.into()));
    assert!(fitted["relative_gap"].is_null() && fitted["rounding"].is_number(), "{fitted}");

    let path = workshop.run(&[&["path", "--lambdas", "1:0.1:2"], &rare[..]].concat());
    assert_eq!(text(&path.stdout).matches("not certified: unbounded").count(), 2);
    let several = workshop.run(&[&fit[..], &["--multi-class", "ovr"]].concat());
    assert!(text(&several.stdout).contains("not certified: unbounded"));
    for command in [path, several] {
        let warning = text(&command.stderr);
        assert!(warning.contains(reason) && !warning.contains("--standardize"), "{warning}");
    }
    // What the warning advises.
    for more in [&["--class-weight", "balanced"][..], &["--no-intercept"]] {
        let output = workshop.run(&[&fit[..], more].concat());
        assert!(output.stderr.is_empty() && output.status.success(), "{}", text(&output.stderr));
    }
    // Other fits that fall short get other advice.
    let few = ["--data", "rare.csv", "--solver", "mm", "--max-iterations", "1"];
    let short = workshop.run(&[&["fit", "--lambda", "0.01"], &few[..]].concat());
    assert!(text(&short.stderr).contains("Use --solver auto"), "{}", text(&short.stderr));
    assert!(text(&short.stdout).contains("NOT CERTIFIED (iteration-limit): "));
}

/// Every solver and every objective tells its iterations on standard error, and none without being
/// asked.
#[test]
fn iterations_are_told_on_request() {
    let workshop = Workshop::new();
    for method in [
        &["--solver", "newton"][..],
        &["--solver", "mm"],
        &["--solver", "mm-accelerated"],
        &["--solver", "sdca"],
        &["--solver", "bundle"],
        &["--solver", "gd"],
        &["--solver", "newton", "--kernel", "gaussian:sigma=1"],
        &["--objective", "catoni", "--loss", "hinge"],
        &["--objective", "median-of-means:blocks=3,steps=20", "--loss", "hinge"],
        &["--objective", "margin-distribution", "--loss", "hinge"],
        &["--objective", "garg-roth", "--loss", "garg-roth"],
    ] {
        let fit = [&["fit", "--data", "data.csv", "--lambda", "0.1"], method].concat();
        let told = workshop.run(&[&fit[..], &["--verbose"]].concat());
        let lines = text(&told.stderr);
        let mut iterations = lines.lines().filter(|line| line.contains("iteration"));
        let line = iterations.next().unwrap_or_default();
        assert!(line.starts_with("lambda 0.1, iteration "), "{method:?}: {line}");
        let quiet = workshop.run(&fit);
        assert!(!text(&quiet.stderr).contains("iteration"), "{method:?}");
        assert_eq!(told.stdout, quiet.stdout, "{method:?}");
    }
}

/// A grid goes on from its file; what is finished is not made again, and another job is refused.
#[test]
fn a_cross_validation_goes_on_from_its_checkpoint() {
    let workshop = Workshop::new();
    for space in [&[][..], &["--kernel", "gaussian:sigma=1"], &["--multi-class", "ovr"]] {
        let cv = ["cv", "--data", "data.csv", "--lambdas", "1:1e-3:4", "--folds", "3"];
        let cv = [&cv[..], space].concat();
        let kept = [&cv[..], &["--checkpoint", "grid.json"]].concat();
        let whole = workshop.json(&cv);
        assert_eq!(workshop.json(&kept), whole, "{space:?}");
        let finished = std::fs::read(workshop.path("grid.json")).expect("a checkpoint");
        assert_eq!(workshop.json(&kept), whole, "{space:?}");
        let after = std::fs::read(workshop.path("grid.json")).expect("a checkpoint");
        assert!(finished == after, "{space:?}");
        let other = workshop.run(&[&kept[..], &["--seed", "2"]].concat());
        assert_eq!(other.status.code(), Some(1));
        let refusal = String::from_utf8_lossy(&other.stderr).into_owned();
        assert!(
            refusal.contains("grid.json: it is of a cross-validation with other folds;"),
            "{refusal}"
        );
        std::fs::remove_file(workshop.path("grid.json")).expect("a checkpoint");
    }
}

/// Of several losses the loss with the lowest error is selected, each cross-validated as if it were alone; a
/// search that is kept goes on with further losses.
#[test]
fn several_losses_share_the_folds() {
    let workshop = Workshop::new();
    let cv = ["cv", "--data", "data.csv", "--lambdas", "1:1e-3:4", "--folds", "3"];
    let losses = ["lhs", "squared", "hinge"];
    let alone = losses.map(|loss| workshop.json(&[&cv[..], &["--loss", loss]].concat()));
    let kept = [&cv[..], &["--checkpoint", "grid.json"]].concat();
    workshop.json(&[&kept[..], &["--loss", "squared"]].concat());
    for search in [&cv[..], &kept, &kept] {
        let or =
            ["--loss", "lhs", "--or-loss", "squared", "--or-loss", "hinge", "--or-loss", "lhs"];
        let all = workshop.json(&[search, &or].concat());
        let tried = all["losses"].as_array().expect("losses");
        assert_eq!(tried.len(), 3);
        for (tried, alone) in tried.iter().zip(&alone) {
            let curve = alone["lambdas"].as_array().expect("lambdas");
            let errors: Vec<_> = curve.iter().map(|at| at["mean_error"].clone()).collect();
            assert_eq!(tried["errors"], serde_json::Value::from(errors));
            assert_eq!(tried["loss"], alone["training"]["loss"]);
        }
        let error = |of: &serde_json::Value| of["least_error"].as_f64().expect("an error");
        let least = tried.iter().map(error).fold(f64::INFINITY, f64::min);
        let chosen = tried.iter().position(|tried| tried["loss"] == all["training"]["loss"]);
        let chosen = chosen.expect("one of them");
        assert_eq!(error(&tried[chosen]), least);
        assert_eq!(all["fit"], alone[chosen]["fit"]);
    }
    // Scales stand for the losses with them.
    let scales = [&cv[..], &["--loss", "margin-pursuit:gamma=2", "--scales", "0.5,2"]].concat();
    let named = ["margin-pursuit:gamma=2,scale=0.5", "margin-pursuit:gamma=2,scale=2"];
    let named = [&cv[..], &["--loss", named[0], "--or-loss", named[1]]].concat();
    assert_eq!(workshop.json(&scales), workshop.json(&named));
    let refused = ["fit", "--data", "data.csv", "--lambda", "1", "--or-loss", "hinge"];
    assert_eq!(workshop.run(&refused).status.code(), Some(2));
}

/// Below the rounding of sums no gap can be seen, and none is claimed.
#[test]
fn rounding_above_the_tolerance_is_reported_in_every_form() {
    let workshop = Workshop::new();
    let fit = ["fit", "--data", "data.csv", "--lambda", "0.1", "--tol", "1e-17"];
    let output = workshop.run(&[&fit[..], &["--report", "page.html"]].concat());
    assert!(output.status.success());
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert!(out.contains("NOT CERTIFIED (rounding-limit): "), "{out}");
    assert!(out.contains("\nrounding        "), "{out}");
    assert!(error.contains("rounding may hide a gap above the tolerance. Raise --tol"), "{error}");
    let page = std::fs::read_to_string(workshop.path("page.html")).unwrap();
    for words in ["(rounding-limit):", "is a minimum up to rounding", "rounding may hide a gap"] {
        assert!(page.contains(words), "{words}");
    }
    let output = workshop.run(&[&fit[..], &["--format", "json"]].concat());
    let document: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    let fit = &document["fits"][0];
    assert_eq!((&fit["status"], &fit["converged"]), (&"rounding-limit".into(), &false.into()));
    assert!(number(&fit["relative_rounding"]) > 1e-17);
}

/// A logistic loss with a derivative that is a tenth too large.
#[derive(Debug)]
struct Mistaken;

impl MarginLoss for Mistaken {
    fn value(&self, u: f64) -> f64 {
        Logistic.value(u)
    }
    fn derivative(&self, u: f64) -> f64 {
        1.1 * Logistic.derivative(u)
    }
    fn name(&self) -> &str {
        "mistaken"
    }
}

/// The command over a registry of one's own ends with status 1, and says so where it would write.
#[test]
fn a_loss_that_contradicts_itself_is_a_failure() {
    let registry = Registry::standard().with_loss("mistaken", &[], |_| Ok(Box::new(Mistaken)));
    let workshop = Workshop::new();
    let (model, data) = (workshop.path("model.json"), workshop.path("data.csv"));
    let status = |loss: &str, command: &[&str]| {
        let data = ["margins", command[0], "--data", data.to_str().unwrap(), "--quiet"];
        let words = [&data[..], &["--loss", loss], &command[1..]].concat();
        format!("{:?}", margins_cli::run(&registry, words))
    };
    let out = model.to_str().unwrap();
    let commands: [&[&str]; 7] = [
        &["fit", "--lambda", "0.1", "--out", out],
        &["fit", "--lambda", "0.1", "--multi-class", "ovr", "--out", out],
        &["path", "--lambdas", "0.1,1"],
        &["cv", "--lambdas", "0.1,1", "--folds", "3", "--out", out],
        &["stream", "--epochs", "3", "--lambda", "0.1", "--out", out],
        &["stream", "--epochs", "3", "--out", out],
        &["stream", "--out", out],
    ];
    for command in commands {
        assert_eq!(status("mistaken", command), format!("{:?}", ExitCode::FAILURE), "{command:?}");
        assert!(!model.exists(), "{command:?}");
    }
    assert_eq!(status("logistic", commands[2]), format!("{:?}", ExitCode::SUCCESS));
}

#[test]
fn gradient_descent_without_a_penalty_starts_at_a_model() {
    let workshop = Workshop::new();
    let loss = "margin-pursuit:gamma=1,scale=2";
    let fit = ["fit", "--data", "data.csv", "--lambda", "0", "--no-intercept", "--loss", loss];
    let descent = [&fit[..], &["--solver", "gd", "--step", "smooth"]].concat();
    let run = |arguments: &[&str]| {
        let output = workshop.run(&[arguments, &["--format", "json", "--quiet"]].concat());
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        let document: Value = serde_json::from_str(&text(&output.stdout)).expect("a document");
        document["fits"][0].clone()
    };
    let coefs = |fit: &Value| -> Vec<f64> {
        fit["coef"].as_array().expect("coefficients").iter().map(number).collect()
    };
    let by_descent = run(&[&descent[..], &["--out", "w.json"]].concat());
    assert_eq!(by_descent["status"], "rule-met");
    let by_lbfgs = run(&fit);
    for (a, b) in coefs(&by_descent).iter().zip(coefs(&by_lbfgs)) {
        assert!((a - b).abs() < 1e-4 * (1.0 + b.abs()), "{a} {b}");
    }
    let again = run(&[&descent[..], &["--start", "w.json"]].concat());
    assert_eq!(number(&again["iterations"]), 0.0);
    // A few steps, and the rest from there.
    let few = run(&[&descent[..], &["--max-iterations", "3", "--out", "few.json"]].concat());
    assert_eq!(few["status"], "iteration-limit");
    let rest = run(&[&descent[..], &["--start", "few.json"]].concat());
    let (rest, all) = (number(&rest["iterations"]), number(&by_descent["iterations"]));
    assert_eq!(rest + 3.0, all);
    workshop.write("wide.csv", b"a,b,c,label\n1,2,3,no\n3,1,2,yes\n2,2,1,yes\n1,1,4,no\n");
    workshop.output(&["fit", "--data", "wide.csv", "--lambda", "1", "--out", "wide.json"]);
    let data = String::from_utf8(std::fs::read(workshop.path("data.csv")).unwrap()).unwrap();
    let last =
        |line: &str| line.rsplit_once(',').map(|(rest, label)| format!("{rest},not {label}"));
    let (header, rows) = data.split_once('\n').expect("a header");
    let renamed: Vec<String> = rows.lines().filter_map(last).collect();
    workshop.write("renamed.csv", format!("{header}\n{}\n", renamed.join("\n")).as_bytes());
    workshop.output(&["fit", "--data", "renamed.csv", "--lambda", "1", "--out", "renamed.json"]);
    let mut table = String::new();
    for with in [
        &["--start", "wide.json"][..],
        &["--start", "renamed.json"],
        &["--start", "w.json", "--standardize"],
        &["--solver", "newton"],
        &["--kernel", "linear"],
    ] {
        let refused = workshop.run(&[&fit[..], with].concat());
        let status = refused.status.code().expect("a status");
        table += &format!("{}: {status}: {}", with.join(" "), text(&refused.stderr));
    }
    let fit = ["fit", "--data", "data.csv", "--lambda", "0.1", "--start", "w.json"];
    table += &text(&workshop.run(&fit).stderr);
    insta::assert_snapshot!(table);
}
