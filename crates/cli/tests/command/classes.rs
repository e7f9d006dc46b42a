//! More than two classes.

use margins::data::digits;

use crate::{DATA, Workshop, number, text, three_classes};

#[test]
fn several_classes_are_fitted_selected_and_predicted() {
    let workshop = Workshop::new();
    workshop.write("three.csv", three_classes().as_bytes());
    let fit = ["fit", "--data", "three.csv", "--loss", "logistic", "--lambda", "0.01"];
    for scheme in ["ovr", "ovo", "joint", "multinomial"] {
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
    for scheme in ["joint", "multinomial"] {
        for approx in ["none", "nystrom:m=20"] {
            let kernel = ["--kernel", "gaussian:sigma=0.5", "--approx", approx, "--out", "k.json"];
            let document = workshop.json(&[&fit[..], &["--multi-class", scheme], &kernel].concat());
            assert_eq!(document["all_certified"], true, "{scheme} {approx}");
            let predicted = workshop.json(&["predict", "--model", "k.json", "--data", "three.csv"]);
            assert_eq!(predicted["metrics"]["error"], document["training_error"]);
        }
    }
    // The certificate for the kernel itself stands beside that of the problem.
    let exact = ["--kernel", "gaussian:sigma=0.5", "--approx", "nystrom:m=20", "--certify-exact"];
    for scheme in ["ovr", "joint"] {
        let own = |document: &serde_json::Value| match scheme {
            "joint" => document["certificate"].clone(),
            _ => document["members"][2].clone(),
        };
        let document = workshop.json(&[&fit[..], &["--multi-class", scheme], &exact].concat());
        let path = ["path", "--data", "three.csv", "--loss", "logistic", "--lambdas", "0.01"];
        let along = workshop.json(&[&path[..], &["--multi-class", scheme], &exact].concat());
        for fit in [&document, &along["fits"][0]] {
            let of = own(fit);
            let (gap, exact) = (number(&of["relative_gap"]), number(&of["exact"]["relative_gap"]));
            assert!(gap <= exact && exact < 1.0, "{scheme}: {of}");
        }
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

/// A path has the classifier of every lambda, and one problem for all classes has one certificate.
#[test]
fn a_path_takes_several_classes() {
    let workshop = Workshop::new();
    workshop.write("three.csv", three_classes().as_bytes());
    let data = ["--data", "three.csv"];
    for scheme in ["ovr", "ovo", "joint", "multinomial", "crammer-singer"] {
        let joint = !scheme.starts_with("ov");
        let loss = if scheme == "crammer-singer" { "hinge" } else { "logistic" };
        let data = [&data[..], &["--loss", loss, "--multi-class", scheme]].concat();
        let to = ["--out", "path.json", "--report", "report.json"];
        let path = [&["path", "--lambdas", "0.1:0.001:3"], &data[..], &to].concat();
        let document = workshop.json(&path);
        assert_eq!(document["format"], "margins-multiclass-path");
        let fits = document["fits"].as_array().expect("fits");
        assert_eq!(fits.len(), 3);
        for at in fits {
            let lambda = at["lambda"].to_string();
            let alone = workshop.json(&[&["fit", "--lambda", &lambda], &data[..]].concat());
            assert_eq!(at["members"].as_array().map(Vec::len), Some(3));
            // The objective of the one problem, or of the first of three.
            let of = |document: &serde_json::Value| match joint {
                true => document["certificate"]["objective"].clone(),
                false => document["members"][0]["objective"].clone(),
            };
            let (along, alone) = (number(&of(at)), number(&of(&alone)));
            assert!((along - alone).abs() <= 2e-6 * alone, "{scheme}: {along} and {alone}");
            assert_eq!(at["certificate"].is_null(), !joint, "{scheme}");
            assert_eq!(at["members"][2]["objective"].is_null(), joint, "{scheme}");
            let predict = ["predict", "--model", "path.json", "--data", "three.csv", "--lambda"];
            let predicted = workshop.json(&[&predict[..], &[&lambda]].concat());
            assert_eq!(predicted["metrics"]["error"], at["training_error"], "{scheme}");
        }
        let inspected = workshop.output(&["inspect", "--model", "path.json"]);
        let listed = inspected.lines().skip_while(|line| !line.starts_with("member")).count() - 1;
        assert_eq!(listed, if joint { 3 } else { 9 }, "{inspected}");
        let report = std::fs::read_to_string(workshop.path("report.json")).expect("a report");
        let report: serde_json::Value = serde_json::from_str(&report).expect("a document");
        assert_eq!(report["path"].as_array().map(Vec::len), Some(3));
        let norm = |coefficient: usize| {
            let members = fits[2]["members"].as_array().expect("members").iter();
            members.map(|member| number(&member["coef"][coefficient])).fold(0.0, f64::hypot)
        };
        let profiles = report["profiles"].as_array().expect("profiles");
        let ends: Vec<f64> = profiles.iter().map(|profile| number(&profile["coef"][2])).collect();
        for end in [norm(0), norm(1)] {
            assert!(ends.iter().any(|of_page| (of_page - end).abs() < 1e-12), "{ends:?}, {end}");
        }
        let table = workshop.output(&path);
        assert!(table.contains("scheme"), "{table}");
    }
}

/// A joint fit shows its certificate once: in the table, in the file and on the page.
#[test]
fn a_joint_fit_has_one_certificate() {
    let workshop = Workshop::new();
    workshop.write("three.csv", three_classes().as_bytes());
    let fit = ["fit", "--data", "three.csv", "--lambda", "0.01", "--multi-class", "joint"];
    let to = ["--out", "m.json", "--report", "report.json"];
    let document = workshop.json(&[&fit[..], &to].concat());
    let gap = number(&document["certificate"]["relative_gap"]);
    assert!((0.0..=1e-6).contains(&gap), "{document}");
    let cv = ["cv", "--data", "three.csv", "--lambdas", "0.1:0.01:2", "--multi-class", "joint"];
    for command in [&fit[..], &["inspect", "--model", "m.json"], &cv] {
        let table = workshop.output(command);
        let lines = table.lines().filter(|line| line.starts_with("relative gap"));
        assert_eq!(lines.count(), 1, "{table}");
    }
    let report = std::fs::read_to_string(workshop.path("report.json")).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("a document");
    assert_eq!(report["certificate"]["objective"], document["certificate"]["objective"]);
    assert!(report["members"][0]["objective"].is_null(), "{report}");
}

/// The classes of a stream are those of its first rows, or all that are named.
#[test]
fn a_stream_takes_several_classes() {
    let workshop = Workshop::new();
    workshop.write("three.csv", three_classes().as_bytes());
    let stream = ["stream", "--data", "three.csv", "--loss", "logistic", "--multi-class", "ovr"];
    let run = |options: &[&str]| workshop.json(&[&stream[..], options].concat());
    let document = run(&["--out", "model.json"]);
    assert_eq!(document["format"], "margins-stream");
    assert_eq!(document["classes"], serde_json::json!(["a", "b", "c"]));
    assert_eq!(document["members"][2]["name"], "'c' against the rest");
    let error = number(&document["progressive_error"]);
    assert!(0.0 < error && error < 0.5, "{error}");
    let predicted = workshop.json(&["predict", "--model", "model.json", "--data", "three.csv"]);
    assert!(number(&predicted["metrics"]["error"]) < 0.2);
    let named = run(&["--classes", "c,b,a"]);
    assert_eq!(named["members"][0]["coef"], document["members"][2]["coef"]);
    let table = workshop.output(&stream);
    assert!(table.contains("scheme             one-versus-rest"), "{table}");

    let epochs = run(&["--epochs", "20", "--out", "epochs.json"]);
    assert_eq!(
        (&epochs["format"], &epochs["scheme"]),
        (&"margins-multiclass".into(), &"one-versus-rest".into())
    );
    let predicted = workshop.json(&["predict", "--model", "epochs.json", "--data", "three.csv"]);
    assert_eq!(predicted["metrics"]["error"], epochs["training_error"]);

    // The two classes of a stream are those of a stream of two.
    let two = ["stream", "--data", "data.csv", "--loss", "logistic"];
    let both = workshop.json(&[&two[..], &["--multi-class", "ovr"]].concat());
    assert_eq!(both["scheme"], "binary");
    assert_eq!(both["members"][0]["coef"], workshop.json(&two)["coef"]);

    let output = workshop.run(&[&stream[..], &["--classes", "a,b,d"]].concat());
    let message = text(&output.stderr);
    assert!(
        message.contains("three.csv, line 4, column 'label': label 'c' is not among the 3 classes"),
        "{message}"
    );
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
        vec!["--multi-class", "ovr", "--objective", "catoni:alpha=1"],
        vec!["--multi-class", "ovr", "--positive", "a"],
        vec!["--multi-class", "ovr", "--history", "h.csv"],
        vec!["--multi-class", "ovr", "--loss", "none"],
        vec!["--multi-class", "ovr", "--kernel", "gaussian", "--solver", "gd"],
    ] {
        let output = workshop.run(&[&fit[..], &more].concat());
        messages.push(format!("{:?}: {}", output.status.code(), text(&output.stderr)));
    }
    let robust = ["path", "--data", "three.csv", "--objective", "catoni:alpha=1"];
    messages.push(text(&workshop.run(&[&robust[..], &multi].concat()).stderr));
    insta::assert_snapshot!(messages.join("\n"));
}

/// Rows that each have a class of their own are fitted, with a warning.
#[test]
fn one_row_a_class_is_doubted() {
    let workshop = Workshop::new();
    workshop.write("names.csv", b"x,z,label\n1,2,ann\n2,1,bob\n0,0,eve\n");
    let fit = ["fit", "--data", "names.csv", "--lambda", "0.01", "--multi-class", "ovr"];
    let output = workshop.run(&fit);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(
        text(&output.stderr),
        "warning: the 3 rows have 3 classes: are the labels measurements, or names of the rows?\n"
    );
}

#[test]
fn data_of_any_number_of_classes_are_described() {
    let workshop = Workshop::new();
    workshop.write("three.csv", three_classes().as_bytes());
    let table = workshop.output(&["inspect", "--data", "three.csv"]);
    assert!(table.contains("'a' (10, 33.3 %), 'b' (10, 33.3 %), 'c' (10, 33.3 %)"), "{table}");
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

/// Costs are for the fits: the scaling of their scores counts samples by their own weights, of two
/// classes as of several.
#[test]
fn costs_do_not_count_in_the_scaling() {
    let workshop = Workshop::new();
    let platt = ["--data", "data.csv", "--class-weight", "yes=3", "--probability", "platt"];
    for command in [&["fit", "--lambda", "0.1"][..], &["cv", "--lambdas", "0.1"]] {
        let two = workshop.json(&[command, &platt].concat());
        let several = workshop.json(&[command, &platt, &["--multi-class", "ovr"]].concat());
        assert!(number(&two["platt"]["slope"]) < 0.0);
        assert_eq!(two["platt"], several["members"][0]["platt"], "{command:?}");
    }
}

/// The kernel with the lowest error is chosen for several classes as for two.
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
    let tables = workshop.run(&[&arguments[..], &["--verbose"]].concat());
    assert!(text(&tables.stdout).contains("best lambda  error %"));
}

/// The value behind a name in a table of facts.
fn fact(table: &str, name: &str) -> String {
    let line = table.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_else(|| panic!("no {name} in {table}")).trim().to_owned()
}

/// One training error, by weight, whatever reports it: here everything is taken for the heavier
/// class.
#[test]
fn errors_count_the_weights() {
    let workshop = Workshop::new();
    let mut weighted = "weight,".to_owned() + &DATA.replace('\n', "\n1,");
    weighted.truncate(weighted.len() - 2);
    let weighted: String = weighted
        .lines()
        .map(|line| if line.ends_with("yes") { line.replacen('1', "3", 1) } else { line.to_owned() } + "\n")
        .collect();
    workshop.write("weighted.csv", weighted.as_bytes());
    let data = ["--data", "weighted.csv", "--weights-column", "weight"];
    let fit = [&["fit", "--lambda", "10", "--loss", "logistic"], &data[..]].concat();
    for more in [
        &[][..],
        &["--multi-class", "ovr"],
        &["--objective", "catoni:alpha=1"],
        &["--kernel", "gaussian:sigma=0.001"],
    ] {
        let output = workshop.run(&[&fit[..], more].concat());
        assert_eq!(fact(&text(&output.stdout), "training error"), "25.0 %", "{more:?}");
    }
    // The history counts as the report does, and costs count in neither.
    for more in [
        &[][..],
        &["--solver", "mm"],
        &["--solver", "mm-accelerated"],
        &["--solver", "sdca"],
        &["--solver", "bundle"],
        &["--solver", "gd"],
        &["--kernel", "gaussian:sigma=0.001"],
        &["--kernel", "gaussian:sigma=0.001", "--loss", "hinge"],
        &["--class-weight", "balanced"],
        &["--class-weight", "no=9"],
        &["--class-weight", "no=9", "--solver", "sdca"],
        &["--class-weight", "no=9", "--kernel", "gaussian:sigma=0.001", "--loss", "hinge"],
    ] {
        let fit = ["fit", "--lambda", "10", "--history", "history.csv"];
        let output = workshop.output(&[&fit[..], &data, more].concat());
        let history = std::fs::read_to_string(workshop.path("history.csv")).expect("a history");
        let last = history.lines().last().expect("a row").split(',').nth(5).expect("an error");
        let shown = digits::percent(last.parse().expect("a number")) + " %";
        assert_eq!(fact(&output, "training error"), shown, "{more:?}");
    }
    let stream = [&["stream", "--lambda", "10", "--loss", "logistic"], &data[..]].concat();
    let epochs = workshop.output(&[&stream[..], &["--epochs", "10"]].concat());
    assert_eq!(fact(&epochs, "training error"), "25.0 %");
    let stream = workshop.json(&stream);
    // Of the weight of 24, 18 of it that of yes, the classifier before each row got 10 wrong.
    assert_eq!(stream["progressive_error"], 10.0 / 24.0);
    let path = [&["path", "--lambdas", "20:10:2", "--loss", "logistic"], &data[..]].concat();
    let path = workshop.output(&path);
    let errors: Vec<&str> =
        path.lines().rev().take(2).filter_map(|line| line.split_whitespace().last()).collect();
    assert_eq!(errors, ["25.0", "25.0"], "{path}");
    workshop.output(&[&fit[..], &["--out", "m.json"]].concat());
    let predict = [&["predict", "--model", "m.json"], &data[..]].concat();
    let metrics = &workshop.json(&predict)["metrics"];
    assert_eq!((&metrics["error"], &metrics["balanced_error"]), (&0.25.into(), &0.5.into()));
    // Without the column named, it is one more feature than the model has.
    assert_eq!(
        workshop.run(&["predict", "--model", "m.json", "--data", "weighted.csv"]).status.code(),
        Some(1)
    );
    let unweighted = workshop.json(&["predict", "--model", "m.json", "--data", "data.csv"]);
    assert_eq!(unweighted["metrics"]["error"], 0.5);

    // Of several classes.
    let three = three_classes();
    let header = three.lines().next().expect("a header");
    let rows: String = three
        .lines()
        .skip(1)
        .zip([1, 2, 5].iter().cycle())
        .map(|(row, c)| format!("{c},{row}\n"))
        .collect();
    workshop.write("three.csv", format!("c,{header}\n{rows}").as_bytes());
    let data = ["--data", "three.csv", "--weights-column", "c"];
    let fit =
        ["fit", "--lambda", "5", "--loss", "logistic", "--multi-class", "ovo", "--out", "m.json"];
    let document = workshop.json(&[&fit[..], &data].concat());
    let predicted = workshop.json(&[&["predict", "--model", "m.json"], &data[..]].concat());
    assert_eq!(predicted["metrics"]["error"], document["training_error"]);
    // All of them are taken for the heaviest class.
    assert!((number(&document["training_error"]) - 3.0 / 8.0).abs() < 1e-12, "{document}");
}

/// Measurements are no classes though some of them repeat; many names are asked about.
#[test]
fn measurements_are_refused() {
    let workshop = Workshop::new();
    let rows = |label: &dyn Fn(usize) -> String| -> String {
        (0..200).map(|i| format!("{},{}\n", i % 13, label(i.max(1)))).collect()
    };
    let measured = rows(&|i| format!("{}", i as f64 / 8.0));
    workshop.write("measured.csv", format!("x,label\n{measured}").as_bytes());
    let counted = rows(&|i| i.to_string());
    workshop.write("counted.csv", format!("x,label\n{counted}").as_bytes());
    for command in [&["fit", "--lambda", "1"][..], &["cv"]] {
        for multi in [&[][..], &["--multi-class", "ovr"]] {
            let output = workshop.run(&[command, &["--data", "measured.csv"], multi].concat());
            let message = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{message}");
            assert!(
                message.contains(
                    "measured.csv, line 2, column 'label': the label '0.125' is not a whole number"
                ),
                "{message}"
            );
        }
    }
    let fit = [
        "fit",
        "--lambda",
        "1",
        "--loss",
        "squared-hinge",
        "--data",
        "counted.csv",
        "--multi-class",
        "ovr",
    ];
    let output = workshop.run(&fit);
    assert!(output.status.success());
    let message = text(&output.stderr);
    assert!(message.starts_with("warning: the 200 rows have 199 classes"), "{message}");
    let table = text(&output.stdout);
    assert!(table.contains("... and 179 more members") && table.lines().count() < 40, "{table}");
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

/// A class with fewer rows than folds has one in each of as many folds.
#[test]
fn platt_scaling_takes_no_more_folds_than_a_class_has_rows() {
    let workshop = Workshop::new();
    let labels = ["a", "a", "b", "a", "a", "b", "a", "a", "b", "a"];
    let rows = labels.iter().enumerate();
    let rows: String = rows.map(|(row, label)| format!("{},{label}\n", row * 7 % 10)).collect();
    workshop.write("few.csv", format!("x,label\n{rows}").as_bytes());
    let fit = ["fit", "--data", "few.csv", "--loss", "hinge", "--lambda", "0.1"];
    for more in [&[][..], &["--multi-class", "ovr"]] {
        let output = workshop.run(&[&fit[..], more, &["--probability", "platt"]].concat());
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{message}");
        let note = "note: the Platt scaling takes 3 folds instead of 5: class 'b' has 3 rows";
        assert!(message.contains(note), "{message}");
    }
}

/// Probabilities do not fall as scores rise; a warning says that they are all equal.
#[test]
fn platt_scaling_of_scores_without_worth_warns() {
    let workshop = Workshop::new();
    // Each of four groups has as many rows of one class as of the other: a row that is held out
    // leaves more rows of the other class to learn from.
    let row = |row: usize| {
        let of_group = |group: usize| u8::from(row % 4 == group);
        let label = ["a", "b"][row / 4 % 2];
        format!("{},{},{},{},{label}\n", of_group(0), of_group(1), of_group(2), of_group(3))
    };
    let rows: String = (0..40).map(row).collect();
    workshop.write("worthless.csv", format!("p,q,r,s,label\n{rows}").as_bytes());
    let fit = ["fit", "--data", "worthless.csv", "--lambda", "0.01", "--probability", "platt"];
    let output = workshop.run(&[&fit[..], &["--out", "m.json", "--format", "json"]].concat());
    let message = text(&output.stderr);
    let warning =
        "warning: the Platt scaling of 'b' against 'a' gives every sample the same probability";
    assert!(message.contains(warning), "{message}");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(number(&document["platt"]["slope"]), 0.0);
    let predicted = workshop.json(&["predict", "--model", "m.json", "--data", "worthless.csv"]);
    let predicted = predicted["predictions"].as_array().expect("a list");
    let p = |row: usize| number(&predicted[row]["probability"]);
    assert!((0..40).all(|row| (p(row) - p(0)).abs() < 1e-9));
}

#[test]
fn platt_scaling_is_refused_without_held_out_folds() {
    let workshop = Workshop::new();
    let mut messages = Vec::new();
    for command in [
        &["path", "--data", "data.csv"][..],
        &["stream", "--data", "data.csv", "--lambda", "0.1"],
        &["fit", "--data", "data.csv", "--lambda", "0.1", "--objective", "catoni:alpha=1"],
    ] {
        let output = workshop.run(&[command, &["--probability", "platt"]].concat());
        messages.push(format!("{:?}: {}", output.status.code(), text(&output.stderr)));
    }
    for message in &messages[..2] {
        let homes = "--probability is an option of margins fit, margins cv";
        assert!(message.contains("Some(2)") && message.contains(homes), "{message}");
    }
    let message = &messages[2];
    assert!(message.contains("Some(2)") && message.contains("mean loss only"), "{message}");
}
