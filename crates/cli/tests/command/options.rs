//! No option is ignored: a method uses it, so that the result is another one, or refuses it by
//! name.

use std::collections::HashMap;
use std::process::Output;

use serde_json::Value;

use crate::{Workshop, text};

/// A method with the command that has it, and the options that each run needs.
struct Method {
    name: &'static str,
    command: &'static [&'static str],
    own: &'static [(&'static str, &'static str)],
}

const fn method(
    name: &'static str,
    command: &'static [&'static str],
    own: &'static [(&'static str, &'static str)],
) -> Method {
    Method { name, command, own }
}

const FIT: &[(&str, &str)] = &[("--loss", "lhs"), ("--lambda", "0.1")];
const EPOCHS: &[(&str, &str)] = &[("--lambda", "0.1"), ("--epochs", "10")];
const PURSUIT: &[(&str, &str)] =
    &[("--loss", "margin-pursuit"), ("--lambda", "0.1"), ("--epochs", "10")];
const NOISE: &[(&str, &str)] = &[("--eta", "0.2"), ("--gamma", "0.1")];
/// So little noise that the first halfspace is not accepted.
const LITTLE_NOISE: &[(&str, &str)] =
    &[("--eta", "0.01"), ("--gamma", "0.1"), ("--epsilon", "0.02")];

const METHODS: [Method; 25] = [
    method("newton", &["fit", "--solver", "newton"], FIT),
    method("mm", &["fit", "--solver", "mm"], FIT),
    method("mm-accelerated", &["fit", "--solver", "mm-accelerated"], FIT),
    method("proximal-newton", &["fit", "--solver", "proximal-newton"], FIT),
    method("sdca", &["fit", "--solver", "sdca"], FIT),
    method("bundle", &["fit", "--solver", "bundle"], FIT),
    method("lbfgs", &["fit", "--solver", "lbfgs"], FIT),
    method("gd", &["fit", "--solver", "gd"], FIT),
    method("catoni", &["fit", "--objective", "catoni"], FIT),
    method("median-of-means", &["fit", "--objective", "median-of-means:blocks=3,steps=50"], FIT),
    method(
        "margin-distribution",
        &["fit", "--objective", "margin-distribution"],
        &[("--loss", "hinge"), ("--lambda", "0.1")],
    ),
    method(
        "garg-roth",
        &["fit", "--objective", "garg-roth"],
        &[("--loss", "garg-roth"), ("--lambda", "0.1")],
    ),
    method("adaptive", &["stream"], EPOCHS),
    method("sgd", &["stream", "--method", "sgd"], EPOCHS),
    method("pegasos", &["stream", "--method", "pegasos", "--loss", "hinge"], EPOCHS),
    method("margin-pursuit", &["stream", "--method", "margin-pursuit"], PURSUIT),
    method("adaptive in one pass", &["stream"], FIT),
    method("sgd in one pass", &["stream", "--method", "sgd"], FIT),
    method("massart sgd", &["massart"], NOISE),
    method("massart cuts", &["massart", "--learner", "cuts"], LITTLE_NOISE),
    method("massart perceptron", &["massart", "--learner", "perceptron"], NOISE),
    method("massart leaky-relu", &["massart", "--learner", "leaky-relu"], NOISE),
    method("massart proper", &["massart", "--learner", "proper"], LITTLE_NOISE),
    method("massart auto", &["massart", "--learner", "auto"], &[("--epsilon", "0.2")]),
    method("focus", &["focus"], &[]),
];

/// Each option with what both runs have and what the second has in addition.
const OPTIONS: [(&str, &[&str], &[&str]); 60] = [
    ("lambda", &[], &["--lambda", "0.3"]),
    ("objective", &[], &["--objective", "catoni"]),
    ("solver", &[], &["--solver", "mm"]),
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
    ("drop", &[], &["--drop", "width"]),
    ("weights-column", &["--fold-column", "fold"], &["--weights-column", "weight"]),
    ("fold-column", &[], &["--fold-column", "fold"]),
    ("positive", &[], &["--positive", "no"]),
    ("history", &[], &["--history", "history.csv"]),
    ("eta", &[], &["--eta", "0.3"]),
    ("gamma", &[], &["--gamma", "0.2"]),
    ("epsilon", &[], &["--epsilon", "0.3"]),
    ("delta", &[], &["--delta", "0.3"]),
    ("plan", &["--gamma", "0.9", "--epsilon", "0.9"], &["--plan", "proven"]),
    ("calculate", &[], &["--calculate"]),
    ("audit", &["--gamma", "0.1"], &["--audit"]),
    ("steps", &[], &["--steps", "50"]),
    ("held-out", &[], &["--held-out", "3"]),
    ("candidates", &[], &["--candidates", "all"]),
    ("project", &[], &["--project", "1"]),
    ("localization", &[], &["--localization", "ellipsoid"]),
    ("max-calls", &[], &["--max-calls", "2"]),
    ("scale-rows", &[], &["--scale-rows", "each"]),
    ("step", &[], &["--step", "0.01"]),
    ("schedule", &[], &["--schedule", "constant"]),
    ("rescale-at", &["--loss", "margin-pursuit:gamma=1,scale=1"], &["--rescale-at", "3"]),
    (
        "rescale-steps",
        &["--loss", "margin-pursuit:gamma=1,scale=1", "--rescale-at", "3"],
        &["--rescale-steps", "keep"],
    ),
    ("balanced-rows", &[], &["--balanced-rows", "10"]),
    ("epochs", &[], &["--epochs", "2"]),
    ("average", &[], &["--average", "polyak"]),
    ("batch", &[], &["--batch", "3"]),
    ("projection", &[], &["--projection", "0.01"]),
    ("with-replacement", &[], &["--with-replacement"]),
    ("random-start", &[], &["--random-start", "1"]),
    ("hold-out", &[], &["--hold-out", "0.3"]),
    ("patience", &["--hold-out", "0.3", "--epochs", "50"], &["--patience", "1"]),
    ("stream", &[], &["--stream"]),
    ("classes", &[], &["--classes", "yes,no"]),
    ("learner", &[], &["--learner", "passive-aggressive"]),
    ("max-steps", &[], &["--max-steps", "1"]),
    ("outputs", &[], &["--outputs", "1"]),
    ("combine", &[], &["--combine", "average"]),
    ("mistakes", &[], &["--mistakes", "3"]),
    ("margin", &[], &["--margin", "0.3"]),
    ("player", &[], &["--player", "uniform"]),
    ("slack", &[], &["--slack", "additive-sum:budget=5"]),
    ("subsample", &[], &["--subsample", "outliers=0,rare=3"]),
    ("checkpoint", &[], &["--checkpoint", "checkpoint.json"]),
    ("pause-at", &[], &["--checkpoint", "paused.json", "--pause-at", "1"]),
    ("seed", &[], &["--seed", "7"]),
    ("threads", &[], &["--threads", "1"]),
];

/// Options that promise something which holds of every method: a result that draws nothing depends
/// on no seed, and none depends on the threads.
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

/// Returns what a run has found out, without the settings that it repeats; and the files that it
/// has written.
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

/// The results of runs without an option, by their arguments; `None` of one that is refused.
type Plain = HashMap<String, Option<(Value, Vec<String>)>>;

/// Returns how a run compares to the run without the option.
fn verdict(
    workshop: &Workshop,
    plain: &mut Plain,
    without: &[&str],
    with: &[&str],
) -> &'static str {
    let changed = workshop.run(with);
    if changed.status.code() == Some(2) {
        let message = text(&changed.stderr);
        assert!(message.contains("--"), "{with:?}: {message}");
        return "-";
    }
    assert!(changed.status.success(), "{with:?}: {}", text(&changed.stderr));
    let changed = result(workshop, &changed);
    let run = || {
        let plain = workshop.run(without);
        if plain.status.code() == Some(2) {
            return None;
        }
        assert!(plain.status.success(), "{without:?}: {}", text(&plain.stderr));
        Some(result(workshop, &plain))
    };
    let plain = plain.entry(without.join(" ")).or_insert_with(run);
    // What is refused without the option, such as a kernel of gradient descent, is another fit with it.
    if plain.as_ref() == Some(&changed) { "same" } else { "used" }
}

/// Returns the arguments of a run without and with an option, which takes the place of the method's
/// own.
fn arguments<'a>(
    method: &Method,
    base: &[&'a str],
    with: &[&'a str],
) -> (Vec<&'a str>, Vec<&'a str>) {
    let head = [method.command, &["--data", "samples.csv", "--format", "json"]].concat();
    let own = |taken: &[&str]| -> Vec<&'static str> {
        let kept = method.own.iter().filter(|(name, _)| !taken.contains(name));
        kept.flat_map(|(name, value)| [*name, *value]).collect()
    };
    let without = [&head[..], base, &own(base)].concat();
    let with = [&head[..], base, &own(&[base, with].concat()), with].concat();
    (without, with)
}

#[test]
fn every_option_is_used_or_refused_by_every_method() {
    let workshop = Workshop::new();
    workshop.write("samples.csv", samples().as_bytes());
    let (mut table, mut plain) = (String::new(), Plain::new());
    for (option, base, with) in OPTIONS {
        table += &format!("{option:<17}");
        for method in &METHODS {
            let (without, with) = arguments(method, base, with);
            let verdict = verdict(&workshop, &mut plain, &without, &with);
            let name = method.name;
            assert!(verdict != "same" || PROMISES.contains(&option), "{name} ignores --{option}");
            table += &format!(" {verdict:<4}");
        }
        table = table.trim_end().to_owned() + "\n";
    }
    let names = METHODS.map(|method| method.name).join(", ");
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
    let drawn = ["inspect", "--data", "mixture:n=20", "--loss", "lhs", "--format", "json"];
    let inspect = ["inspect", "--data", "samples.csv", "--format", "json"];
    let psi = ["psi", "--loss", "lhs", "--at", "0.5", "--format", "json"];
    let kernel = ["--kernel", "gaussian:sigma=1"];
    let cases: [(&[&str], &[&str], &[&str]); 27] = [
        (&cv, &[], &["--folds", "3"]),
        (&cv, &[], &["--fold-column", "fold"]),
        (&cv, &[], &["--select", "one-se"]),
        (&cv, &[], &["--seed", "2"]),
        (&cv, &["--loss", "margin-pursuit"], &["--scales", "0.5,2"]),
        (&cv, &kernel, &["--or-kernel", "linear"]),
        (&cv, &["--kernel", "gaussian"], &["--sigmas", "auto:2"]),
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
        (&path, &[], &["--stop", "published"]),
        (&cv, &[], &["--stop", "published"]),
        (&path, &[], &["--multi-class", "ovr"]),
        (&path, &[], &["--class-weight", "balanced"]),
        (&predict, &[], &["--label", "fold"]),
        (&predict, &[], &["--positive", "no"]),
        (&inspect, &[], &["--positive", "no"]),
        (&inspect, &[], &["--weights-column", "weight"]),
        (&inspect, &[], &["--columns", "9"]),
        (&drawn, &[], &["--loss", "logistic"]),
        (&psi, &[], &["--inverse"]),
        (&psi, &[], &["--quantity", "risk"]),
        (&psi, &[], &["--quantity", "minimizer"]),
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
            _ => verdict_of(&workshop, &without, &[&without, with].concat()),
        };
        let line = format!("{verdict:<5}{} {} {}", command[0], base.join(" "), with.join(" "));
        assert_ne!(verdict, "same", "{line}");
        table += &(line + "\n");
    }
    insta::assert_snapshot!(table);
}

/// Returns the [`verdict`], where a file may be wrong as well.
fn verdict_of(workshop: &Workshop, without: &[&str], with: &[&str]) -> &'static str {
    let output = workshop.run(with);
    match output.status.code() {
        Some(1) => "no",
        _ => verdict(workshop, &mut Plain::new(), without, with),
    }
}
