//! Focused online learning.

use serde_json::Value;

use crate::{Workshop, number, text};

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
        let fit = ["focus", "--data", "separable.csv", "--learner", learner];
        let document = workshop.json(&[&fit[..], &["--out", "model.json"]].concat());
        assert_eq!(document["format"], "margins-focus");
        assert_eq!(document["combination"], "majority");
        assert_eq!((&document["consistent"], &document["finished"]), (&true.into(), &true.into()));
        assert_eq!(document["steps_to_consistency"], document["steps"], "{learner}");
        assert_eq!(number(&document["max_loss"]), 0.0);
        assert_eq!(document["losses"], Value::from(vec![0.0; rows]));
        let predict = ["predict", "--model", "model.json", "--data", "separable.csv"];
        assert_eq!(number(&workshop.json(&predict)["metrics"]["error"]), 0.0);
    }
    let kernel =
        ["--learner", "kernel-perceptron:budget=30", "--kernel", "gaussian", "--out", "kernel.mgn"];
    for learner in [&kernel[..], &["--learner", "mlp:hidden=16,step=0.1", "--max-steps", "60000"]] {
        let fit = ["focus", "--data", "xor.csv"];
        let document = workshop.json(&[&fit[..], learner].concat());
        assert_eq!(document["consistent"], true, "{learner:?}");
        assert_eq!(
            (&document["combination"], &document["coef"]),
            (&"majority".into(), &Value::Null)
        );
    }
    let predict = ["predict", "--model", "kernel.mgn", "--data", "xor.csv"];
    assert_eq!(number(&workshop.json(&predict)["metrics"]["error"]), 0.0);
    let stumps = ["--learner", "stump", "--loss", "ramp", "--seed", "3"];
    let document = workshop.json(&[&["focus", "--data", "separable.csv"], &stumps[..]].concat());
    let losses = document["losses"].as_array().expect("losses").iter().map(number);
    assert!(losses.clone().all(|loss| (0.0..=1.0).contains(&loss)));
    assert_eq!(losses.fold(0.0, f64::max), number(&document["max_loss"]));
}

/// The ramp is played until the largest loss is at most epsilon, and the vote is a model.
#[test]
fn a_majority_with_small_losses_is_applied_from_a_file() {
    let workshop = Workshop::new();
    workshop.write("separable.csv", separable().as_bytes());
    let fit = ["focus", "--data", "separable.csv", "--loss", "ramp", "--epsilon", "0.2"];
    let document = workshop.json(&[&fit[..], &["--out", "vote.json"]].concat());
    assert!(number(&document["max_loss"]) <= 0.2, "{}", document["max_loss"]);
    assert!(number(&document["steps_to_consistency"]) > 0.0);
    let predict = ["predict", "--model", "vote.json", "--data", "separable.csv"];
    let predicted = workshop.json(&predict);
    assert_eq!(number(&predicted["metrics"]["error"]), 0.0);
    let scores = predicted["predictions"].as_array().expect("predictions").iter();
    let smallest = scores.map(|row| number(&row["score"]).abs()).fold(f64::INFINITY, f64::min);
    assert!((number(&document["max_loss"]) - (1.0 - smallest)).abs() < 1e-12);
    assert!(workshop.output(&predict).starts_with("score,label\n"));
    let described = workshop.output(&["inspect", "--model", "vote.json"]);
    assert!(described.contains("which vote"), "{described}");
    workshop.output(&["convert", "--model", "vote.json", "--out", "vote.mgn"]);
    let refused = workshop.run(&[&predict[..], &["--threshold", "0.5", "--probability"]].concat());
    assert!(
        text(&refused.stderr).contains("a majority does not have"),
        "{}",
        text(&refused.stderr)
    );
    let page = ["--report", "page.html", "--test", "separable.csv"];
    workshop.output(&[&fit[..], &page].concat());
}

/// Features that are not stored are zeros: the same rows as CSV and as svmlight make the same game.
#[test]
fn the_kernel_perceptron_takes_sparse_rows_for_what_they_are() {
    let workshop = Workshop::new();
    let rows: Vec<[usize; 5]> =
        (0..40).map(|i| [0, 1, 2, 3, 4].map(|j| (i * (j + 2) + j * j) % 7 % 3)).collect();
    let sign =
        |row: &[usize; 5]| if (row[0] + row[1] * row[2]).is_multiple_of(2) { "1" } else { "-1" };
    let dense = rows.iter().map(|row| {
        format!("{},{},{},{},{},{}\n", row[0], row[1], row[2], row[3], row[4], sign(row))
    });
    let sparse = rows.iter().map(|row| {
        let stored = row.iter().enumerate().filter(|(_, x)| **x != 0);
        let stored: String = stored.map(|(j, x)| format!(" {}:{x}", j + 1)).collect();
        format!("{}{stored}\n", sign(row))
    });
    let text = format!("a,b,c,d,e,label\n{}", dense.collect::<String>());
    workshop.write("rows.csv", text.as_bytes());
    workshop.write("rows.svm", sparse.collect::<String>().as_bytes());
    for kernel in ["anova:sigma=1", "anova:sigma=0.5,degree=2*(linear+gaussian:sigma=1)"] {
        let run = |data| {
            let fit = ["focus", "--data", data, "--learner", "kernel-perceptron"];
            workshop.json(&[&fit[..], &["--kernel", kernel, "--max-steps", "300"]].concat())
        };
        let (dense, sparse) = (run("rows.csv"), run("rows.svm"));
        assert_eq!(dense["losses"], sparse["losses"], "{kernel}");
        assert_eq!(dense["steps"], sparse["steps"], "{kernel}");
    }
}

/// A single classifier has coefficients, and every probability of failure is printed.
#[test]
fn a_single_classifier_comes_out_with_its_bound() {
    let workshop = Workshop::new();
    workshop.write("separable.csv", separable().as_bytes());
    let focus = ["focus", "--data", "separable.csv", "--combine"];
    let last = workshop.json(&[&focus[..], &["last", "--out", "last.json"]].concat());
    assert_eq!((number(&last["max_loss"]), number(&last["members"])), (0.0, 1.0));
    assert!(last["coef"].is_array() && last["validation"].is_null());
    assert!(last["theorem"]["failure"].is_null());
    let validated = [&focus[..], &["validated", "--delta", "0.1"]].concat();
    let document = workshop.json(&validated);
    let [rows, candidates, error, bound] = ["rows", "candidates", "error", "error_bound"]
        .map(|name| number(&document["validation"][name]));
    let all = number(&document["data"]["rows"]);
    assert_eq!((rows, number(&document["samples"])), ((0.2 * all).round(), all - rows));
    // Without a mistake (1 - bound)^rows is delta over the number of candidates.
    let expected = -((0.1 / candidates).ln() / rows).exp_m1();
    assert!(error == 0.0 && (bound / expected - 1.0).abs() < 1e-12, "{bound} {expected}");
    assert!(workshop.output(&validated).contains("with probability 0.9"));
    let options = ["majority", "--margin", "0.5", "--max-steps", "100000", "--outputs", "20"];
    let limited = [&focus[..], &options].concat();
    let theorem = &workshop.json(&limited)["theorem"];
    assert!(number(&theorem["failure"]) > 0.0 && number(&theorem["mistakes"]) > 4.0);
    let (theorem, printed) = (theorem.clone(), workshop.output(&limited));
    assert!(
        printed.contains(&format!("\ntheorem 1       {} steps", theorem["steps"])),
        "{printed}"
    );
    assert!(printed.contains("with 100000 steps and 20 classifiers"), "{printed}");
    let part = [&focus[..], &["majority", "--subsample", "outliers=1,rare=30"]].concat();
    assert!(number(&workshop.json(&part)["theorem"]["subsample_failure"]) < 1.0);
    assert!(workshop.output(&part).contains("\nsubsample "), "{}", workshop.output(&part));
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
    let arguments = ["focus", "--data", "turned.csv", "--combine", "majority"];
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
        let common = ["focus", "--data", "separable.csv", "--max-steps", "5000"];
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
    workshop.output(&[&["focus", "--data", "separable.csv"][..], &checkpoint].concat());
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
        "--learner mlp:hidden=8,,loss=logistic",
        "--learner mlp:loss=hinges",
        "--learner mlp,loss=logistic",
        "--learner mlp:hidden=9223372036854775807",
        "--outputs 1000000000000000",
        "--learner kernel-perceptron",
        "--learner kernel-perceptron:budget=0 --kernel linear",
        "--kernel gaussian",
        "--learner stump --no-intercept",
        "--learner stump --out model.json",
        "--learner mlp:hidden=4 --test separable.csv",
        "--epsilon 0",
        "--epsilon 1.5",
        "--loss logistic --epsilon 0.3",
        "--slack sum:budget=1",
        "--slack additive-sum",
        "--slack additive-sum:budget=-1",
        "--subsample outliers=5",
        "--subsample outliers=5,rare=10",
        "--max-steps 0",
        "--delta 0",
        "--mistakes -1",
        "--margin 0",
        "--margin 1 --learner stump",
        "--margin 1 --mistakes 3",
        "--combine best",
        "--combine validated --subsample outliers=1,rare=30",
        "--player random",
        "--pause-at 5",
        "--epochs 3",
        "--checkpoint game.json --seed 2",
        "--checkpoint game.json --loss hinge",
        "--checkpoint damaged.json",
        "--checkpoint separable.csv",
    ] {
        let command = format!("focus --data separable.csv {options}");
        let output = workshop.run(&command.split(' ').collect::<Vec<_>>());
        assert!(!output.status.success(), "{options}");
        let first = text(&output.stderr).lines().next().unwrap_or_default().to_owned();
        report += &format!("$ {options}\n{first}\n");
    }
    for command in [
        "fit --data data.csv --solver fol --learner stump",
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

/// Three classes around the corners of a triangle.
fn triangle() -> String {
    let mut text = "x,z,label\n".to_owned();
    for k in 0..90 {
        let angle = 2.1 * f64::from(k % 3) + 0.4 * (1.3 * f64::from(k)).sin();
        let label = ["left", "right", "up"][k as usize % 3];
        text += &format!("{},{},{label}\n", angle.cos(), angle.sin());
    }
    text
}

/// The votes of each class against the rest are a model that decides every row; stumps are none, and
/// other options exclude several classes.
#[test]
fn several_classes_have_a_game_each() {
    let workshop = Workshop::new();
    workshop.write("triangle.csv", triangle().as_bytes());
    let base = ["focus", "--data", "triangle.csv", "--multi-class", "ovr"];
    for (more, scheme) in [
        (&[][..], "majority-versus-rest"),
        (
            &["--learner", "kernel-perceptron", "--kernel", "gaussian:sigma=1"],
            "majority-versus-rest",
        ),
        (&["--combine", "average"], "one-versus-rest"),
    ] {
        let arguments = [&base[..], more, &["--out", "model.mgn"]].concat();
        let json = [&arguments[..], &["--format", "json"]].concat();
        let document: Value = serde_json::from_str(&workshop.output(&json)).expect("JSON");
        assert_eq!(
            (&document["format"], &document["scheme"]),
            (&"margins-focus-classes".into(), &scheme.into())
        );
        assert_eq!(
            (&document["consistent"], &document["training_error"]),
            (&true.into(), &0.0.into())
        );
        let games = document["games"].as_array().expect("games");
        assert_eq!((games.len(), &games[1]["name"]), (3, &"right".into()));
        assert!(games.iter().all(|game| game["mistakes"] == 0 && game["status"] == "rule-met"));
        let predict = ["predict", "--model", "model.mgn", "--data", "triangle.csv"];
        let predicted = workshop.output(&[&predict[..], &["--format", "json"]].concat());
        let predicted: Value = serde_json::from_str(&predicted).expect("JSON");
        assert_eq!(predicted["metrics"]["error"], 0.0, "{predicted}");
        assert_eq!(predicted["scheme"], scheme);
        let inspected = workshop.output(&["inspect", "--model", "model.mgn"]);
        assert!(inspected.contains(scheme), "{inspected}");
        let table = workshop.output(&arguments);
        for word in ["'up' (30)", "classifiers", "consistent", "failure probability"] {
            assert!(table.contains(word), "{word}: {table}");
        }
    }
    let stumps =
        workshop.output(&[&base[..], &["--learner", "stump", "--format", "json"]].concat());
    let stumps: Value = serde_json::from_str(&stumps).expect("JSON");
    assert!(stumps["scheme"].is_null() && stumps["games"][2]["members"].as_u64() > Some(0));
    let refused = workshop.run(&["focus", "--data", "triangle.csv"]);
    assert!(text(&refused.stderr).contains("add --multi-class ovr"), "{}", text(&refused.stderr));
    let both = workshop.run(&[&base[..], &["--positive", "up"]].concat());
    assert!(text(&both.stderr).contains("cannot be used with"), "{}", text(&both.stderr));
}

/// A row that costs little may be wrong; weights of a column and of a class count.
#[test]
fn weights_are_costs_of_rows_and_classes() {
    let workshop = Workshop::new();
    let mut rows = separable().lines().map(|line| format!("{line},4\n")).collect::<String>();
    rows = rows.replacen("label,4", "label,cost", 1);
    workshop.write("costs.csv", (rows + "19,0,narrow,1\n").as_bytes());
    let focus = |more: &[&str]| -> Value {
        let base = ["focus", "--data", "costs.csv", "--weights-column", "cost", "--format", "json"];
        let output = workshop.run(&[&base[..], more].concat());
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let found = focus(&[]);
    assert_eq!((&found["status"], &found["mistakes"]), (&"rule-met".into(), &1.into()));
    let n = found["losses"].as_array().expect("losses").len();
    assert_eq!(found["losses"][n - 1], 0.25);
    let error = 1.0 / (4.0 * (n as f64 - 1.0) + 1.0);
    assert!((number(&found["training_error"]) - error).abs() < 1e-12, "{found}");
    // Rows of a cheap class are spared.
    let cheap = focus(&["--class-weight", "wide=0.1"]);
    assert_eq!(cheap["status"], "rule-met");
    let losses = cheap["losses"].as_array().expect("losses").iter().map(number);
    let is_cheap = |loss: f64| [0.0, 0.1, 0.25].iter().any(|cost| (loss - cost).abs() < 1e-12);
    assert!(losses.clone().all(is_cheap) && losses.sum::<f64>() > 0.25, "{cheap}");
}

/// The numbers are those that a game prints and uses, and every theorem stands alone.
#[test]
fn the_theorems_are_calculated_without_data() {
    let workshop = Workshop::new();
    let plan = |options: &str| -> Value {
        let words: Vec<&str> = options.split(' ').collect();
        let output = workshop.output(&[&["plan", "--format", "json"][..], &words].concat());
        serde_json::from_str(&output).expect("JSON")
    };
    workshop.write("data.csv", separable().as_bytes());
    let game = ["focus", "--data", "data.csv", "--mistakes", "50", "--format", "json"];
    let limits = ["--max-steps", "9000", "--outputs", "40"];
    let game: Value =
        serde_json::from_str(&workshop.output(&[&game[..], &limits].concat())).expect("JSON");
    let rows = game["data"]["rows"].as_u64().expect("a number");
    let found = plan(&format!("--rows {rows} --mistakes 50 --steps 9000 --outputs 40"));
    for field in ["steps", "outputs", "failure"] {
        assert_eq!(found["theorem_1"][field], game["theorem"][field], "{field}");
    }
    assert!(found["theorem_2"].is_null() && found["theorem_3"].is_null());
    // Slack for K outliers adds 3/(2 sqrt 2) sqrt(K T) to the losses of the learner.
    let slack = |more: &str| plan(&format!("--rows 100 --mistakes 50 --slack 8{more}"));
    let theorem = slack("")["theorem_1"].clone();
    let (steps, outputs) = (number(&theorem["steps"]), number(&theorem["outputs"]));
    assert_eq!(number(&theorem["slack"]), 8.0);
    let losses = 50.0 + 3.0 * steps.sqrt();
    let without = plan(&format!("--rows 100 --mistakes {losses}"));
    assert!((number(&without["theorem_1"]["steps"]) / steps - 1.0).abs() < 1e-4, "{without}");
    let failure = slack(&format!(" --steps {steps} --outputs {outputs}"));
    let failure = number(&failure["theorem_1"]["failure"]);
    assert!(0.009 < failure && failure <= 0.01, "{failure}");

    let typical = "--dimension 10 --epsilon 0.01 --rare-share 0.05 --delta 0.05";
    let (naive, reduced) =
        (plan(typical), plan(&format!("{typical} --reduced-dimension 1 --gap 0.2")));
    let samples = |found: &Value, field: &str| number(&found["theorem_2"][field]);
    assert_eq!(samples(&naive, "samples"), samples(&naive, "naive_samples"));
    assert_eq!(samples(&naive, "samples"), samples(&reduced, "naive_samples"));
    assert!(samples(&reduced, "samples") * 5.0 < samples(&naive, "samples"), "{reduced}");

    let found = plan("--rows 1000000 --outliers 10 --rare 46052 --size 1000");
    let third = &found["theorem_3"];
    assert!((number(&third["failure"]) - 0.01005).abs() < 1e-5, "{third}");
    assert!(number(&third["bound"]) < number(&third["published_bound"]), "{third}");
    let best = plan("--rows 1000000 --outliers 10 --rare 46052");
    assert!(number(&best["theorem_3"]["bound"]) <= number(&third["bound"]));

    let table = workshop.output(&["plan", "--rows", "200"]);
    insta::assert_snapshot!(table);
    for options in [
        "",
        "--dimension 3",
        "--rows 100 --outliers 3",
        "--rows 0",
        "--rows 9 --epsilon 2",
        "--mistakes 3",
        "--rows 9 --slack=-1",
    ] {
        let words: Vec<&str> = ["plan"].into_iter().chain(options.split_whitespace()).collect();
        assert_eq!(workshop.run(&words).status.code(), Some(2), "{options}");
    }
}

/// The simulated samples of section 3 are decided by their features, so that a game is right on all of
/// them; parts out of range are refused.
#[test]
fn rare_samples_are_simulated() {
    let workshop = Workshop::new();
    for (data, rows) in
        [("gap:", 1200), ("gap:alpha=0.1,epsilon=0.3,n=50,seed=2", 50), ("rare:n=300,rare=5", 300)]
    {
        let output = workshop.output(&["focus", "--data", data, "--format", "json"]);
        let document: Value = serde_json::from_str(&output).expect("JSON");
        assert_eq!(
            (&document["data"]["rows"], &document["mistakes"]),
            (&rows.into(), &0.into()),
            "{data}"
        );
        let inspected = workshop.output(&["inspect", "--data", data]);
        assert!(inspected.contains("0.00 %"), "{inspected}");
    }
    let mut report = String::new();
    for data in ["gap:n=3", "gap:alpha=2", "gap:beta=1", "rare:n=5,rare=6", "rare:rare=-1"] {
        let output = workshop.run(&["focus", "--data", data]);
        report += &format!("{data}: {}", text(&output.stderr));
    }
    insta::assert_snapshot!(report);
}

/// One game of several classes has the document of a game, with its classes, and a model whose plurality
/// decides.
#[test]
fn several_classes_have_one_game() {
    let workshop = Workshop::new();
    workshop.write("triangle.csv", triangle().as_bytes());
    let base = ["focus", "--data", "triangle.csv", "--multi-class", "joint"];
    let fit = [&base[..], &["--out", "model.mgn"]].concat();
    let json = [&fit[..], &["--report", "page.html", "--format", "json"]].concat();
    let document: Value = serde_json::from_str(&workshop.output(&json)).expect("JSON");
    assert_eq!((&document["format"], &document["mistakes"]), (&"margins-focus".into(), &0.into()));
    assert_eq!(document["data"]["classes"][1]["name"], "right");
    assert_eq!(document["losses"].as_array().map(Vec::len), Some(90));
    let predict = ["predict", "--model", "model.mgn", "--data", "triangle.csv", "--format", "json"];
    let predicted: Value = serde_json::from_str(&workshop.output(&predict)).expect("JSON");
    assert_eq!(
        (&predicted["scheme"], &predicted["metrics"]["error"]),
        (&"plurality".into(), &0.0.into())
    );
    let table = workshop.output(&fit);
    for word in ["'up' (30)", "plurality of", "yes, after", "failure probability"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    assert!(workshop.output(&["inspect", "--model", "model.mgn"]).contains("plurality"));
    let stumps = workshop.run(&[&base[..], &["--learner", "stump"]].concat());
    assert!(
        text(&stumps.stderr).contains("one game of several classes"),
        "{}",
        text(&stumps.stderr)
    );
}
