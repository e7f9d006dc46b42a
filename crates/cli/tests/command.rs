//! The command from outside: what it prints, how it ends, what it leaves behind.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use margins::data::{Target, read};
use margins::losses::Hinge;
use margins::{Classifier, Probabilities};
use serde_json::Value;
use tempfile::TempDir;

/// Twelve samples of two overlapping classes.
const DATA: &str = "\
height,width,label
1.0,2.0,no
1.5,0.5,no
2.0,3.0,yes
2.5,1.0,no
3.0,2.5,yes
3.5,0.0,no
4.0,1.5,yes
4.5,3.5,yes
0.5,1.0,no
5.0,0.5,yes
1.0,4.0,yes
2.0,0.0,no
";

struct Workshop {
    folder: TempDir,
}

impl Workshop {
    fn new() -> Self {
        let workshop = Workshop { folder: TempDir::new().expect("a temporary folder") };
        workshop.write("data.csv", DATA.as_bytes());
        workshop
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: &[u8]) {
        std::fs::write(self.path(name), content).expect("a writable folder");
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_margins"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env("NO_COLOR", "1")
            .output()
            .expect("the command runs")
    }

    /// Standard output of a run that must succeed and print nothing else.
    fn output(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(text(&output.stderr), "", "{arguments:?}");
        assert!(output.status.success(), "{arguments:?}");
        text(&output.stdout)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let arguments = [arguments, &["--format", "json"]].concat();
        serde_json::from_str(&self.output(&arguments)).expect("a JSON document")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
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

/// Every robust learner fits, says whether anything certifies it, and leaves a model that predicts.
#[test]
fn robust_learners_fit_and_predict() {
    let workshop = Workshop::new();
    let cases: [(&[&str], bool); 5] = [
        (&["--loss", "hinge", "--solver", "catoni:alpha=2"], false),
        (&["--loss", "hinge", "--solver", "median-of-means:blocks=3,steps=50"], false),
        (&["--loss", "hinge", "--solver", "margin-distribution:mean=0.5"], true),
        (
            &["--loss", "hinge", "--solver", "margin-distribution", "--kernel", "gaussian:sigma=1"],
            true,
        ),
        (&["--loss", "garg-roth", "--solver", "garg-roth:restarts=2"], false),
    ];
    for (arguments, certified) in cases {
        let common = ["fit", "--data", "data.csv", "--lambda", "0.05", "--out", "robust.json"];
        let output = workshop.run(&[&common[..], arguments, &["--format", "json"]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(text(&output.stderr).contains("nothing certifies"), !certified);
        let document: Value = serde_json::from_str(&text(&output.stdout)).expect("JSON");
        let fit = &document["fits"][0];
        assert_eq!(fit["converged"], certified, "{arguments:?}");
        assert_eq!(fit["relative_gap"].is_null(), !certified, "{arguments:?}");
        let solver = document["training"]["solver"].as_str().expect("a specification");
        assert!(solver.starts_with(arguments[3].split(':').next().expect("a name")));
        let predictions =
            workshop.output(&["predict", "--model", "robust.json", "--data", "data.csv"]);
        assert_eq!(predictions.lines().count(), DATA.lines().count(), "{arguments:?}");
        workshop.output(&["inspect", "--model", "robust.json"]);
    }
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
    let infinite = workshop.json(&["psi", "--loss", "lhs", "--at", "1"]);
    assert_eq!(infinite["values"][0]["value"], Value::Null);
}

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

/// What of a binary model changes with the version that writes it.
fn without_versions() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"checksum [0-9a-f]{8}", "checksum [crc]");
    settings.add_filter(r"checksum is \w+, but \w+", "checksum is [crc], but [crc]");
    settings.add_filter(r"by margins [0-9.]+", "by margins [version]");
    settings
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

#[test]
fn a_model_of_several_classes_lists_its_members() {
    let workshop = Workshop::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../facade/tests/fixtures");
    std::fs::copy(fixtures.join("v3-one.mgn"), workshop.path("m.mgn")).expect("a fixture");
    let inspected = workshop.output(&["inspect", "--model", "m.mgn"]);
    without_versions().bind(|| insta::assert_snapshot!(inspected));
}

#[test]
fn labels_that_the_model_does_not_know_are_said() {
    let workshop = Workshop::new();
    workshop.output(&["fit", "--data", "data.csv", "--lambda", "0.1", "--out", "m.json"]);
    workshop.write("other.csv", DATA.replace("yes", "1").replace("no", "0").as_bytes());
    let output = workshop.run(&["predict", "--model", "m.json", "--data", "other.csv"]);
    assert!(output.status.success());
    insta::assert_snapshot!(text(&output.stderr));
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

/// Of two classes and of several, as the library has them.
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

/// Malformed files, models and parameter values, with exit status and message.
/// Kernel classifiers, exact and approximate, from fit to file to the same scores.
#[test]
fn a_kernel_model_scores_like_its_fit() {
    let workshop = Workshop::new();
    let spaces: [&[&str]; 8] = [
        &["--kernel", "gaussian"],
        &["--kernel", "gaussian:sigma=0.5+linear", "--standardize"],
        &["--kernel", "poly:degree=2*linear", "--loss", "logistic"],
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

/// A kernel matrix in the place of features.
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

#[test]
fn bad_input_gets_a_clear_message() {
    let workshop = Workshop::new();
    let model = workshop.path("model.json");
    workshop.output(&["fit", "--data", "data.csv", "--lambda", "0.1", "--out", "model.json"]);
    let model = std::fs::read_to_string(Path::new(&model)).expect("a model");
    workshop.output(&["convert", "--model", "model.json", "--out", "model.mgn"]);
    let binary = std::fs::read(workshop.path("model.mgn")).expect("a model");

    let mut gzip = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    gzip.extend_from_slice(b"not deflate");
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("empty.csv", b"".to_vec()),
        ("header-only.csv", b"x,label\n".to_vec()),
        ("no-label.csv", b"x,y\n1,2\n".to_vec()),
        ("only-label.csv", b"label\na\nb\n".to_vec()),
        ("ragged.csv", b"x,y,label\n1,2,a\n1,b\n".to_vec()),
        ("categorical.csv", b"x,colour,label\n1,red,a\n2,blue,b\n".to_vec()),
        ("missing.csv", b"x,y,label\n1,,a\n2,3,b\n".to_vec()),
        ("nan.csv", b"x,label\n1,a\nNaN,b\n".to_vec()),
        ("inf.csv", b"x,label\n1,a\n-inf,b\n".to_vec()),
        ("huge.csv", b"x,label\n1,a\n1e999,b\n".to_vec()),
        ("missing-label.csv", b"x,label\n1,a\n2,NA\n3,b\n".to_vec()),
        ("one-class.csv", b"x,label\n1,a\n2,a\n".to_vec()),
        ("three-classes.csv", b"x,label\n1,a\n2,b\n3,c\n".to_vec()),
        ("twice.csv", b"x,x,label\n1,2,a\n3,4,b\n".to_vec()),
        ("latin1.csv", b"h\xf6he,label\n1,a\n2,b\n".to_vec()),
        ("weights.csv", b"x,w,label\n1,1,a\n2,-1,b\n".to_vec()),
        ("zero-weights.csv", b"x,w,label\n1,1,a\n2,0,b\n".to_vec()),
        ("one-fold.csv", b"x,fold,label\n1,1,a\n2,1,b\n3,1,a\n4,1,b\n".to_vec()),
        ("class-fold.csv", b"x,fold,label\n1,1,a\n2,2,b\n3,1,a\n4,2,b\n".to_vec()),
        ("broken.csv.gz", gzip),
        ("duplicate.svm", b"+1 1:2 3:4\n-1 2:1 2:3\n".to_vec()),
        ("zero-index.svm", b"+1 0:2\n-1 2:1\n".to_vec()),
        ("no-colon.svm", b"+1 1:2\n-1 2\n".to_vec()),
        ("bad-value.svm", b"+1 1:2\n-1 2:x\n".to_vec()),
        ("bad-index.svm", b"+1 1:2\n-1 a:1\n".to_vec()),
        ("nan.svm", b"+1 1:2\n-1 2:nan\n".to_vec()),
        ("three.svm", b"+1 1:2\n-1 2:1\n0 1:1\n".to_vec()),
        ("empty.svm", b"\n\n".to_vec()),
        ("good.svm", b"+1 1:2 3:1\n-1 2:1\n".to_vec()),
        ("data.xyz", DATA.as_bytes().to_vec()),
        ("other-names.csv", DATA.replace("width", "depth").into_bytes()),
        ("more-columns.csv", DATA.replace("width", "width,x").replace(".0,", ".0,1,").into_bytes()),
        ("wide.csv", b"height,width,depth,label\n1,2,3,no\n2,1,3,yes\n".to_vec()),
        ("text.json", b"{ \"format\": \"margins-model\"".to_vec()),
        ("other.json", b"{ \"format\": \"recipe\" }".to_vec()),
        ("future.json", model.replace("\"version\": 3", "\"version\": 99").into_bytes()),
        ("no-version.json", model.replace("\"version\": 3,", "").into_bytes()),
        ("no-coef.json", model.replace("\"coef\"", "\"koef\"").into_bytes()),
        ("unknown-loss.json", model.replace("\"lhs\"", "\"lsh\"").into_bytes()),
        ("short.json", model.replace("\"height\",", "").into_bytes()),
        ("text.mgn", b"This is no model.".to_vec()),
        ("half.mgn", binary[..binary.len() / 2].to_vec()),
        ("damaged.mgn", [&binary[..binary.len() - 1], &[0xff]].concat()),
    ];
    for (name, content) in &files {
        workshop.write(name, content);
    }

    let fit = |data: &'static str| vec!["fit", "--lambda", "0.1", "--data", data];
    let with = |more: &[&'static str]| [&["fit", "--data", "data.csv"], more].concat();
    let simulated = |data: &'static str| vec!["fit", "--lambda", "0.1", "--data", data];
    let mut cases: Vec<Vec<&str>> = files
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| {
            !name.ends_with(".json")
                && !name.ends_with(".mgn")
                && !name.contains("weights")
                && !name.contains("fold")
                && !["good.svm", "other-names.csv", "wide.csv"].contains(name)
        })
        .map(fit)
        .collect();
    cases.extend([
        fit("absent.csv"),
        fit("."),
        [&fit("data.csv")[..], &["--label", "klass"]].concat(),
        [&fit("data.csv")[..], &["--positive", "maybe"]].concat(),
        [&fit("data.csv")[..], &["--columns", "5"]].concat(),
        [&fit("good.svm")[..], &["--columns", "2"]].concat(),
        [&fit("good.svm")[..], &["--fold-column", "fold"]].concat(),
        [&fit("weights.csv")[..], &["--weights-column", "w"]].concat(),
        [&fit("weights.csv")[..], &["--weights-column", "v"]].concat(),
        [&fit("zero-weights.csv")[..], &["--weights-column", "w"]].concat(),
        vec!["cv", "--data", "one-fold.csv", "--fold-column", "fold"],
        vec!["cv", "--data", "class-fold.csv", "--fold-column", "fold"],
        vec!["cv", "--data", "data.csv", "--folds", "1"],
        vec!["cv", "--data", "data.csv", "--folds", "7"],
        vec!["cv", "--data", "data.csv", "--folds", "3", "--fold-column", "fold"],
        with(&["--lambda", "0"]),
        with(&["--lambda", "-1"]),
        with(&["--lambda", "nan"]),
        with(&["--lambda", "much"]),
        with(&[]),
        with(&["--lambda", "1", "--tol", "0"]),
        with(&["--lambda", "1", "--threads", "0"]),
        with(&["--lambda", "1", "--solver", "magic"]),
        with(&["--lambda", "1", "--loss", "lsh"]),
        with(&["--lambda", "1", "--loss", ""]),
        with(&["--lambda", "1", "--loss", "l-r:r=1"]),
        with(&["--lambda", "1", "--loss", "l-r:r=two"]),
        with(&["--lambda", "1", "--loss", "l-r:q=2"]),
        with(&["--lambda", "1", "--loss", "l-r:r=2,r=3"]),
        with(&["--lambda", "1", "--loss", "lhs:r=2"]),
        with(&["--lambda", "1", "--loss", "margin-pursuit:gamma=1,scale=0"]),
        with(&["--lambda", "1", "--loss", "hinge", "--solver", "newton"]),
        with(&["--lambda", "1", "--loss", "garg-roth"]),
        with(&["--lambda", "1", "--loss", "exponential", "--solver", "mm"]),
        vec!["path", "--data", "data.csv", "--lambdas", "1:0:10"],
        vec!["path", "--data", "data.csv", "--lambdas", "1:0.1:1"],
        vec!["path", "--data", "data.csv", "--lambdas", "1:0.1"],
        vec!["path", "--data", "data.csv", "--lambdas", "1,x"],
        simulated("mixture:example=4"),
        simulated("mixture:example=3,p=7"),
        simulated("mixture:n=1"),
        simulated("mixture:size=3"),
        simulated("mixture:n=many"),
        vec!["predict", "--model", "absent.json", "--data", "data.csv"],
        vec!["predict", "--model", "text.json", "--data", "data.csv"],
        vec!["predict", "--model", "other.json", "--data", "data.csv"],
        vec!["predict", "--model", "future.json", "--data", "data.csv"],
        vec!["predict", "--model", "no-coef.json", "--data", "data.csv"],
        vec!["predict", "--model", "unknown-loss.json", "--data", "data.csv"],
        vec!["predict", "--model", "short.json", "--data", "data.csv"],
        vec!["predict", "--model", "text.mgn", "--data", "data.csv"],
        vec!["predict", "--model", "half.mgn", "--data", "data.csv"],
        vec!["inspect", "--model", "damaged.mgn"],
        vec!["convert", "--model", "model.json"],
        vec!["convert", "--model", "model.json", "--out", "model.json"],
        vec!["convert", "--model", "data.csv", "--out", "new.json"],
        vec!["predict", "--model", "model.json", "--data", "other-names.csv"],
        vec!["predict", "--model", "model.json", "--data", "wide.csv"],
        vec!["predict", "--model", "model.json", "--data", "good.svm"],
        with(&["--lambda", "1", "--columns", "3"]),
        vec!["path", "--data", "data.csv", "--lambdas", "1:0.1:1000000000000"],
        vec!["predict", "--model", "no-version.json", "--data", "data.csv"],
        vec!["psi", "--loss", "lhs"],
        vec!["psi", "--loss", "lhs", "--at", "1.5"],
        vec!["psi", "--loss", "lhs", "--at", "-1", "--inverse"],
        vec!["psi", "--loss", "leaky-relu:lambda=0.2", "--at", "0.5"],
        vec!["psi", "--loss", "garg-roth", "--at", "0.5"],
        vec!["fit", "--data", "-", "--lambda", "1"],
        [&fit("good.svm")[..], &["--columns", "100000000000"]].concat(),
        [&fit("missing-label.csv")[..]].concat(),
        with(&["--lambda", "1", "--tol", "2"]),
        with(&["--lambda", "1", "--out", "data.csv"]),
        vec!["cv", "--data", "one-fold.csv", "--fold-column", "fold", "--seed", "3"],
        simulated("mixture:n=20,n=30"),
        vec!["predict", "--model", "model.json", "--data", "data.csv", "--label", "nosuch"],
        vec!["inspect"],
        vec!["frobnicate"],
        with(&["--lambda", "1", "--solver", "catoni:beta=1"]),
        with(&["--lambda", "1", "--solver", "catoni:alpha=0"]),
        with(&["--lambda", "1", "--solver", "median-of-means:blocks=100"]),
        with(&["--lambda", "1", "--solver", "margin-distribution"]),
        with(&["--lambda", "1", "--loss", "hinge", "--solver", "margin-distribution:variance=0"]),
        with(&["--lambda", "1", "--solver", "garg-roth"]),
        with(&["--lambda", "1", "--solver", "catoni", "--kernel", "gaussian"]),
        vec!["cv", "--data", "data.csv", "--solver", "catoni"],
        with(&["--lambda", "1", "--kernel", "gausian"]),
        with(&["--lambda", "1", "--kernel", ""]),
        with(&["--lambda", "1", "--kernel", "matern32"]),
        with(&["--lambda", "1", "--kernel", "gaussian:sigma=0"]),
        with(&["--lambda", "1", "--kernel", "gaussian:width=1"]),
        with(&["--lambda", "1", "--kernel", "poly:degree=2.5"]),
        with(&["--lambda", "1", "--kernel", "gaussian+"]),
        with(&["--lambda", "1", "--kernel", "precomputed"]),
        with(&["--lambda", "1", "--kernel", "poly:degree=1000,scale=1e9"]),
        with(&["--lambda", "1", "--kernel", "sigmoid:scale=1,offset=-1"]),
        with(&["--lambda", "1", "--kernel", "gaussian", "--loss", "garg-roth"]),
        with(&["--lambda", "1", "--approx", "nystrom:m=10"]),
        with(&["--lambda", "1", "--kernel", "gaussian", "--approx", "magic"]),
        with(&["--lambda", "1", "--kernel", "gaussian", "--approx", "nystrom:m=0"]),
        with(&["--lambda", "1", "--kernel", "gaussian", "--approx", "nystrom:k=10"]),
        with(&["--lambda", "1", "--kernel", "gaussian", "--approx", "cholesky:tol=-1"]),
        with(&["--lambda", "1", "--kernel", "linear", "--approx", "rff:m=10"]),
        with(&["--lambda", "1", "--kernel", "precomputed", "--approx", "rff:m=10"]),
    ]);
    let report: String = cases
        .iter()
        .map(|arguments| {
            let output = workshop.run(arguments);
            assert_ne!(output.status.code(), Some(0), "{arguments:?} succeeded");
            assert_eq!(text(&output.stdout), "", "{arguments:?}");
            let message = text(&output.stderr);
            let message = message.split("\n\nUsage:").next().unwrap_or_default();
            let message = message.split("\n\nFor more").next().unwrap_or_default().trim_end();
            let status = output.status.code().unwrap_or(-1);
            format!("$ margins {}\n[{status}] {message}\n\n", arguments.join(" "))
        })
        .collect();
    without_versions().bind(|| insta::assert_snapshot!(report));
}

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

#[test]
fn gradient_methods_fit_and_tell_their_history() {
    let workshop = Workshop::new();
    let fit = |options: &[&str]| -> Value {
        let common = ["fit", "--data", "data.csv", "--lambda", "0.1", "--format", "json"];
        let output = workshop.output(&[&common[..], options].concat());
        serde_json::from_str::<Value>(&output).expect("JSON")["fits"][0].clone()
    };
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
        "--solver",
        "sgd",
        "--average",
        "suffix:0.5",
        "--schedule",
        "inverse-sqrt",
        "--epochs",
        "500",
        "--history",
        "h.csv",
    ];
    let stochastic = fit(&[&["--loss", "logistic"][..], &options].concat());
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
    let pegasos = fit(&["--loss", "hinge", "--solver", "pegasos", "--hold-out", "0.3"]);
    assert!(pegasos["relative_gap"].is_number());
    let scaled = [
        "--loss",
        "margin-pursuit:gamma=1,scale=1",
        "--solver",
        "sgd",
        "--schedule",
        "margin-pursuit",
        "--rescale-at",
        "30",
        "--out",
        "m.json",
    ];
    fit(&scaled);
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
fn streams_are_learnt_in_one_pass() {
    let workshop = Workshop::new();
    let common =
        ["fit", "--data", "data.csv", "--lambda", "0.1", "--loss", "hinge", "--solver", "pegasos"];
    let output = workshop
        .output(&[&common[..], &["--stream", "--format", "json", "--out", "m.json"]].concat());
    let document: Value = serde_json::from_str(&output).expect("JSON");
    assert_eq!(document["format"], "margins-stream");
    assert_eq!((document["rows"].as_u64(), document["steps"].as_u64()), (Some(12), Some(12)));
    assert_eq!(document["positive_class"], "yes");
    let predictions = workshop.output(&["predict", "--model", "m.json", "--data", "data.csv"]);
    assert_eq!(predictions.lines().count(), 13);
    let inspected = workshop.output(&["inspect", "--model", "m.json"]);
    assert!(inspected.contains("unknown"), "{inspected}");
}

#[test]
fn gradient_options_are_refused_where_they_mean_nothing() {
    let workshop = Workshop::new();
    let refusal = |command: &str, options: &[&str]| {
        let lambda: &[&str] = if command == "fit" { &["--lambda", "0.1"] } else { &[] };
        let output =
            workshop.run(&[&[command, "--data", "data.csv"][..], lambda, options].concat());
        let message = text(&output.stderr);
        let message = message.split("\n\n").next().unwrap_or_default().to_owned();
        format!("{} {message}", output.status.code().unwrap_or(-1))
    };
    workshop.write("wrong.csv", b"a,label\n1,yes\n2,no\nnan,yes\n");
    let stream = ["--solver", "sgd", "--stream", "--loss", "hinge"];
    insta::assert_snapshot!(
        [
            refusal("fit", &["--epochs", "3"]),
            refusal("fit", &["--solver", "gd", "--schedule", "bottou"]),
            refusal("fit", &["--solver", "pegasos"]),
            refusal("fit", &["--solver", "sgd", "--projection", "0"]),
            refusal("fit", &["--solver", "sgd", "--step", "smooth"]),
            refusal("fit", &["--solver", "sgd", "--schedule", "margin-pursuit"]),
            refusal("fit", &["--solver", "sgd", "--rescale-at", "3"]),
            refusal("fit", &["--solver", "sgd", "--kernel", "gaussian"]),
            refusal("fit", &["--solver", "gd", "--kernel", "gaussian"]),
            refusal("path", &["--solver", "sgd"]),
            refusal("fit", &[&stream[..], &["--average", "suffix:0.5"]].concat()),
            refusal(
                "fit",
                &[
                    "--solver",
                    "sgd",
                    "--schedule",
                    "constant",
                    "--step",
                    "1e6",
                    "--loss",
                    "squared-hinge"
                ]
            ),
            {
                let options =
                    [&["fit", "--data", "wrong.csv", "--lambda", "0.1"][..], &stream].concat();
                text(&workshop.run(&options).stderr)
            },
        ]
        .join("\n")
    );
}

/// Two classes with a gap between them, of whole numbers.
fn separable() -> String {
    let points = (0i32..20).flat_map(|h| (0..11).map(move |w| (h, w)));
    let sides = points.map(|(h, w)| (h, w, 2 * h - 3 * w + 1)).filter(|side| side.2.abs() >= 8);
    let row = |(h, w, side): (i32, i32, i32)| {
        format!("{h},{w},{}\n", if side > 0 { "wide" } else { "narrow" })
    };
    format!("height,width,label\n{}", sides.step_by(3).map(row).collect::<String>())
}

/// Four clusters, opposite ones of the same class.
fn exclusive_or() -> String {
    let row = |k: usize| {
        let (a, b) = (k % 2, k / 2 % 2);
        let shift = |turn: usize| 0.02 * ((7 * k + 3 * turn) % 10) as f64;
        let label = if a == b { "same" } else { "other" };
        format!("{},{},{label}\n", a as f64 + shift(0), b as f64 + shift(1))
    };
    format!("a,b,label\n{}", (0..40).map(row).collect::<String>())
}

#[test]
fn focused_online_learning_makes_every_loss_small() {
    let workshop = Workshop::new();
    workshop.write("separable.csv", separable().as_bytes());
    workshop.write("xor.csv", exclusive_or().as_bytes());
    let rows = separable().lines().count() - 1;
    for learner in [
        "perceptron",
        "averaged-perceptron",
        "passive-aggressive",
        "passive-aggressive:capped=0.1",
        "online-gradient:constant=0.1,loss=smoothed-hinge:width=0.5",
    ] {
        let fit = ["fit", "--data", "separable.csv", "--solver", "fol", "--learner", learner];
        let document = workshop.json(&[&fit[..], &["--out", "model.json"]].concat());
        assert_eq!(document["format"], "margins-fol");
        assert_eq!(document["combination"], "average");
        assert_eq!((&document["consistent"], &document["finished"]), (&true.into(), &true.into()));
        assert_eq!(document["steps_to_consistency"], document["steps"], "{learner}");
        assert_eq!(number(&document["max_loss"]), 0.0);
        assert_eq!(document["losses"], Value::from(vec![0.0; rows]));
        let predict = ["predict", "--model", "model.json", "--data", "separable.csv"];
        assert_eq!(number(&workshop.json(&predict)["metrics"]["error"]), 0.0);
    }
    let kernel = ["--learner", "kernel-perceptron:budget=30", "--kernel", "gaussian"];
    for learner in [&kernel[..], &["--learner", "mlp:hidden=16,step=0.1", "--max-steps", "60000"]] {
        let fit = ["fit", "--data", "xor.csv", "--solver", "fol"];
        let document = workshop.json(&[&fit[..], learner].concat());
        assert_eq!(document["consistent"], true, "{learner:?}");
        assert_eq!(
            (&document["combination"], &document["coef"]),
            (&"majority".into(), &Value::Null)
        );
    }
    let stumps = ["--solver", "fol", "--learner", "stump", "--loss", "ramp", "--seed", "3"];
    let document = workshop.json(&[&["fit", "--data", "separable.csv"], &stumps[..]].concat());
    let losses = document["losses"].as_array().expect("losses").iter().map(number);
    assert!(losses.clone().all(|loss| (0.0..=1.0).contains(&loss)));
    assert_eq!(losses.fold(0.0, f64::max), number(&document["max_loss"]));
}

#[test]
fn slack_flags_the_row_with_the_wrong_label() {
    let workshop = Workshop::new();
    // Row 21 of the data is turned over.
    let turned: Vec<String> = separable()
        .lines()
        .enumerate()
        .map(|(at, line)| match (at, line.strip_suffix("wide")) {
            (21, Some(features)) => format!("{features}narrow"),
            _ => line.to_owned(),
        })
        .collect();
    workshop.write("turned.csv", turned.join("\n").as_bytes());
    let arguments = ["fit", "--data", "turned.csv", "--solver", "fol", "--combine", "majority"];
    let slack = ["--slack", "additive-sum:budget=1", "--max-steps", "40000"];
    insta::assert_snapshot!(workshop.output(&[&arguments[..], &slack].concat()));
    let subsample = ["--subsample", "outliers=1,rare=30"];
    let document = workshop.json(&[&arguments[..], &subsample].concat());
    assert!(number(&document["samples"]) < number(&document["data"]["rows"]));
}

#[test]
fn a_game_goes_on_from_its_checkpoint() {
    let workshop = Workshop::new();
    workshop.write("separable.csv", separable().as_bytes());
    for learner in [
        &["perceptron"][..],
        &["online-gradient:loss=hinge"],
        &["kernel-perceptron", "--kernel", "gaussian:sigma=0.1"],
        &["stump"],
    ] {
        let common = ["fit", "--data", "separable.csv", "--solver", "fol", "--max-steps", "5000"];
        let fit = [&common[..], &["--slack", "multiplicative:budget=2", "--learner"], learner];
        let whole = workshop.json(&fit.concat());
        let step = |options: &[&str]| {
            workshop.json(&[&fit.concat(), &["--checkpoint", "game.json"][..], options].concat())
        };
        let first = step(&["--pause-at", "7"]);
        assert_eq!((&first["steps"], &first["finished"]), (&7.into(), &false.into()));
        step(&["--pause-at", "30"]);
        assert_eq!(step(&[]), whole, "{learner:?}");
        // It is over, and stays so.
        assert_eq!(step(&[]), whole, "{learner:?}");
        std::fs::remove_file(workshop.path("game.json")).expect("a checkpoint");
    }
}

#[test]
fn focused_online_learning_refuses_what_it_cannot_take() {
    let workshop = Workshop::new();
    workshop.write("separable.csv", separable().as_bytes());
    let checkpoint = ["--checkpoint", "game.json", "--pause-at", "9"];
    workshop.output(
        &[&["fit", "--data", "separable.csv", "--solver", "fol"][..], &checkpoint].concat(),
    );
    let game = std::fs::read_to_string(workshop.path("game.json")).expect("a checkpoint");
    workshop.write("damaged.json", game.replace("\"round\":9", "\"round\":8").as_bytes());
    let mut report = String::new();
    for options in [
        "--learner boost",
        "--learner perceptron:eta=1",
        "--learner passive-aggressive:capped=1,damped=1",
        "--learner online-gradient:constant=1,constant=2",
        "--learner online-gradient:constant=0",
        "--learner mlp:hidden=8xy",
        "--learner mlp:loss=hinges",
        "--learner kernel-perceptron",
        "--learner kernel-perceptron:budget=0 --kernel linear",
        "--kernel gaussian",
        "--learner stump --no-intercept",
        "--learner stump --out model.json",
        "--combine majority --out model.json",
        "--slack sum:budget=1",
        "--slack additive-sum",
        "--slack additive-sum:budget=-1",
        "--subsample outliers=5",
        "--subsample outliers=5,rare=10",
        "--standardize",
        "--max-steps 0",
        "--pause-at 5",
        "--epochs 3",
        "--checkpoint game.json --seed 2",
        "--checkpoint game.json --loss hinge",
        "--checkpoint damaged.json",
        "--checkpoint separable.csv",
        "--weights-column height",
    ] {
        let command = format!("fit --data separable.csv --solver fol {options}");
        let output = workshop.run(&command.split(' ').collect::<Vec<_>>());
        assert!(!output.status.success(), "{options}");
        let first = text(&output.stderr).lines().next().unwrap_or_default().to_owned();
        report += &format!("$ {options}\n{first}\n");
    }
    for command in [
        "path --data data.csv --solver fol",
        "cv --data data.csv --solver fol",
        "fit --data data.csv --lambda 1 --learner perceptron",
    ] {
        let output = workshop.run(&command.split(' ').collect::<Vec<_>>());
        assert!(!output.status.success(), "{command}");
        let first = text(&output.stderr).lines().next().unwrap_or_default().to_owned();
        report += &format!("$ margins {command}\n{first}\n");
    }
    insta::assert_snapshot!(report);
}

/// Thirty samples around three corners, and the label of each.
fn three_classes() -> String {
    let mut text = "x,y,label\n".to_owned();
    for i in 0..30 {
        let (class, t) = (i % 3, f64::from(i));
        let (x, y) = ([0.0, 2.0, 0.0][class as usize], [0.0, 0.0, 2.0][class as usize]);
        let (x, y) = (x + 0.7 * (1.7 * t).sin(), y + 0.7 * (2.3 * t).cos());
        text += &format!("{x},{y},{}\n", ["a", "b", "c"][class as usize]);
    }
    text
}

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
