//! No option is ignored: a method uses it, so that the result is another one, or refuses it by name.

use std::process::Output;

use serde_json::Value;

use crate::{Workshop, text};

/// The solvers with the loss and the options that each of them needs.
const SOLVERS: [(&str, &str, &[&str]); 17] = [
    ("newton", "lhs", &["--lambda", "0.1"]),
    ("mm", "lhs", &["--lambda", "0.1"]),
    ("mm-accelerated", "lhs", &["--lambda", "0.1"]),
    ("mm-batched", "lhs", &["--lambda", "0.1"]),
    ("sdca", "lhs", &["--lambda", "0.1"]),
    ("bundle", "lhs", &["--lambda", "0.1"]),
    ("gd", "lhs", &["--lambda", "0.1"]),
    ("sgd", "lhs", &["--lambda", "0.1"]),
    ("pegasos", "hinge", &["--lambda", "0.1"]),
    ("catoni", "lhs", &["--lambda", "0.1"]),
    ("median-of-means:blocks=3,steps=50", "lhs", &["--lambda", "0.1"]),
    ("margin-distribution", "hinge", &["--lambda", "0.1"]),
    ("garg-roth", "garg-roth", &["--lambda", "0.1"]),
    ("massart-sgd", "massart:eta=0.2,gamma=0.1", &[]),
    ("massart-cuts", "massart:eta=0.2,gamma=0.1", &[]),
    ("massart-auto", "massart:epsilon=0.2", &[]),
    ("fol", "zero-one", &[]),
];

/// Each option with what both runs have and what the second has in addition.
const OPTIONS: [(&str, &[&str], &[&str]); 39] = [
    ("lambda", &[], &["--lambda", "0.3"]),
    ("tol", &[], &["--tol", "0.9"]),
    ("max-iterations", &[], &["--max-iterations", "1"]),
    ("time-limit", &[], &["--time-limit", "1e-9"]),
    ("kernel", &[], &["--kernel", "gaussian:sigma=1"]),
    ("approx", &["--kernel", "gaussian:sigma=1"], &["--approx", "nystrom:m=3"]),
    ("multi-class", &[], &["--multi-class", "ovr"]),
    ("probability", &[], &["--probability", "platt"]),
    ("standardize", &[], &["--standardize"]),
    ("class-weight", &[], &["--class-weight", "yes=3"]),
    ("no-intercept", &[], &["--no-intercept"]),
    ("weights-column", &["--fold-column", "fold"], &["--weights-column", "weight"]),
    ("fold-column", &[], &["--fold-column", "fold"]),
    ("positive", &[], &["--positive", "no"]),
    ("history", &[], &["--history", "history.csv"]),
    ("project", &[], &["--project", "1"]),
    ("step", &[], &["--step", "0.01"]),
    ("schedule", &[], &["--schedule", "constant"]),
    ("rescale-at", &["--loss", "margin-pursuit:gamma=1,scale=1"], &["--rescale-at", "3"]),
    ("epochs", &[], &["--epochs", "2"]),
    ("average", &[], &["--average", "polyak"]),
    ("batch", &[], &["--batch", "3"]),
    ("projection", &[], &["--projection", "0.01"]),
    ("with-replacement", &[], &["--with-replacement"]),
    ("random-start", &[], &["--random-start", "1"]),
    ("hold-out", &[], &["--hold-out", "0.3"]),
    ("patience", &["--hold-out", "0.3", "--epochs", "50"], &["--patience", "1"]),
    ("stream", &[], &["--stream"]),
    ("classes", &["--stream"], &["--classes", "yes,no"]),
    ("learner", &[], &["--learner", "passive-aggressive"]),
    ("max-steps", &[], &["--max-steps", "1"]),
    ("outputs", &[], &["--outputs", "1"]),
    ("combine", &[], &["--combine", "majority"]),
    ("slack", &[], &["--slack", "additive-sum:budget=5"]),
    ("subsample", &[], &["--subsample", "outliers=0,rare=3"]),
    ("checkpoint", &[], &["--checkpoint", "checkpoint.json"]),
    ("pause-at", &[], &["--checkpoint", "paused.json", "--pause-at", "1"]),
    ("seed", &[], &["--seed", "7"]),
    ("threads", &[], &["--threads", "1"]),
];

/// Options that promise something which holds of every method: a result that draws nothing depends on no seed, and none
/// depends on the threads.
const PROMISES: [&str; 2] = ["seed", "threads"];

/// Forty samples of two overlapping classes, with weights and folds.
fn samples() -> String {
    let mut text = "height,width,weight,fold,label\n".to_owned();
    for i in 0..40 {
        let t = f64::from(i);
        let (x, y) = (2.0 * (1.3 * t).sin(), 1.5 * (0.7 * t + 1.0).cos());
        let label = if x + 0.5 * y + 0.8 * (2.9 * t).sin() > 0.6 { "yes" } else { "no" };
        text += &format!("{x},{y},{},{},{label}\n", 1 + i % 3, i % 4);
    }
    text
}

/// What a run has found out, without the settings that it repeats; and the files that it has written.
fn result(workshop: &Workshop, output: &Output) -> (Value, Vec<String>) {
    let mut document: Value = serde_json::from_slice(&output.stdout).expect("a JSON document");
    for echo in ["training", "seed", "learner"] {
        document.as_object_mut().expect("an object").remove(echo);
    }
    let written = ["history.csv", "checkpoint.json", "paused.json"];
    let written: Vec<String> = written
        .into_iter()
        .map(str::to_owned)
        .filter(|name| workshop.path(name).exists())
        .collect();
    for name in &written {
        std::fs::remove_file(workshop.path(name)).expect("a file");
    }
    (document, written)
}

/// How a run with an option compares to the run without it.
fn verdict(workshop: &Workshop, without: &[&str], with: &[&str]) -> &'static str {
    let run = |more: &[&str]| workshop.run(&[without, more].concat());
    let changed = run(with);
    if changed.status.code() == Some(2) {
        let message = text(&changed.stderr);
        assert!(message.contains("--"), "{without:?} {with:?}: {message}");
        return "-";
    }
    assert!(changed.status.success(), "{without:?} {with:?}: {}", text(&changed.stderr));
    let changed = result(workshop, &changed);
    let plain = run(&[]);
    if plain.status.code() == Some(2) {
        // The option makes a fit of what is refused without it, such as a kernel of gradient descent.
        return "used";
    }
    assert!(plain.status.success(), "{without:?}: {}", text(&plain.stderr));
    if result(workshop, &plain) == changed { "same" } else { "used" }
}

/// The arguments of a fit without and with an option; a loss or a lambda that the option brings replaces the solver's.
fn arguments<'a>(
    (solver, loss, own): (&'a str, &'a str, &[&'a str]),
    (option, base, with): (&str, &[&'a str], &[&'a str]),
) -> (Vec<&'a str>, Vec<&'a str>) {
    let mut without = vec!["fit", "--data", "samples.csv", "--format", "json", "--solver", solver];
    if !base.contains(&"--loss") {
        without.extend(["--loss", loss]);
    }
    without.extend(base);
    if option != "lambda" {
        without.extend(own);
    }
    (without, with.to_vec())
}

#[test]
fn every_option_is_used_or_refused_by_every_solver() {
    let workshop = Workshop::new();
    workshop.write("samples.csv", samples().as_bytes());
    let mut table = String::new();
    for (option, base, with) in OPTIONS {
        table += &format!("{option:<17}");
        for solver in SOLVERS {
            let (without, with) = arguments(solver, (option, base, with));
            let verdict = match option {
                // It cannot be left out where it is used.
                "lambda" if !solver.2.is_empty() => {
                    let first = workshop.run(&[&without[..], solver.2].concat());
                    let other = workshop.run(&[&without[..], &with].concat());
                    let (first, other) = (result(&workshop, &first), result(&workshop, &other));
                    if first == other { "same" } else { "used" }
                }
                _ => verdict(&workshop, &without, &with),
            };
            let name = solver.0;
            assert!(verdict != "same" || PROMISES.contains(&option), "{name} ignores --{option}");
            table += &format!(" {verdict:<4}");
        }
        table = table.trim_end().to_owned() + "\n";
    }
    let names = SOLVERS.map(|(name, ..)| name.split(':').next().unwrap_or_default()).join(", ");
    insta::assert_snapshot!(format!("{names}\n\n{table}"));
}

#[test]
fn every_option_of_the_other_commands_is_used_or_refused() {
    let workshop = Workshop::new();
    workshop.write("samples.csv", samples().as_bytes());
    let fit = ["fit", "--data", "samples.csv", "--lambda", "0.1", "--out", "model.json"];
    workshop.output(&fit);
    let cv = ["cv", "--data", "samples.csv", "--lambdas", "1:1e-3:8", "--format", "json"];
    let path = ["path", "--data", "samples.csv", "--lambdas", "1:1e-2:3", "--format", "json"];
    let predict = ["predict", "--model", "model.json", "--data", "samples.csv", "--format", "json"];
    let inspect = ["inspect", "--data", "samples.csv", "--format", "json"];
    let psi = ["psi", "--loss", "lhs", "--at", "0.5", "--format", "json"];
    let kernel = ["--kernel", "gaussian:sigma=1"];
    let cases: [(&[&str], &[&str], &[&str]); 20] = [
        (&cv, &[], &["--folds", "3"]),
        (&cv, &[], &["--fold-column", "fold"]),
        (&cv, &[], &["--select", "one-se"]),
        (&cv, &[], &["--seed", "2"]),
        (&cv, &kernel, &["--or-kernel", "linear"]),
        (&cv, &kernel, &["--leave-one-out", "exact"]),
        (&cv, &kernel, &["--leave-one-out", "one-step"]),
        (
            &cv,
            &["--multi-class", "ovr", "--kernel", "linear"],
            &["--or-kernel", "gaussian:sigma=1"],
        ),
        (&cv, &[], &["--class-weight", "yes=3"]),
        (&path, &[], &["--lambdas", "1"]),
        (&path, &[], &["--time-limit", "1e-9"]),
        (&path, &[], &["--multi-class", "ovr"]),
        (&path, &[], &["--class-weight", "balanced"]),
        (&predict, &[], &["--label", "fold"]),
        (&predict, &[], &["--positive", "no"]),
        (&inspect, &[], &["--positive", "no"]),
        (&inspect, &[], &["--weights-column", "weight"]),
        (&inspect, &[], &["--columns", "9"]),
        (&psi, &[], &["--inverse"]),
        (&psi, &[], &["--loss", "logistic"]),
    ];
    let mut table = String::new();
    for (command, base, with) in cases {
        let without: Vec<&str> = match with {
            ["--lambdas" | "--loss", _] => {
                let at = command.iter().position(|part| *part == with[0]).expect("it is there");
                [&command[..at], &command[at + 2..], base].concat()
            }
            _ => [command, base].concat(),
        };
        let verdict = match with {
            // The other value is that of the command.
            ["--lambdas" | "--loss", _] => {
                let other = workshop.run(&[&without[..], with].concat());
                let (other, plain) = (result(&workshop, &other), workshop.run(command));
                if other == result(&workshop, &plain) { "same" } else { "used" }
            }
            _ => verdict_of(&workshop, &without, with),
        };
        let line = format!("{verdict:<5}{} {} {}", command[0], base.join(" "), with.join(" "));
        assert_ne!(verdict, "same", "{line}");
        table += &(line + "\n");
    }
    insta::assert_snapshot!(table);
}

/// As [`verdict`], where a file may be wrong as well.
fn verdict_of(workshop: &Workshop, without: &[&str], with: &[&str]) -> &'static str {
    let output = workshop.run(&[without, with].concat());
    match output.status.code() {
        Some(1) => "no",
        _ => verdict(workshop, without, with),
    }
}
