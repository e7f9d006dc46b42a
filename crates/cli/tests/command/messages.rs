//! What is said on standard error, and how much of it.

#[cfg(target_os = "linux")]
use std::fs::File;
#[cfg(target_os = "linux")]
use std::process::Command;

use crate::{Workshop, text};

/// A fit that misses its tolerance.
const LIMITED: [&str; 9] =
    ["fit", "--data", "data.csv", "--lambda", "1e-4", "--solver", "mm", "--max-iterations", "1"];

#[test]
fn quiet_runs_print_nothing_but_the_answer() {
    let workshop = Workshop::new();
    let (plain, quiet) = (workshop.run(&LIMITED), [&["--quiet"], &LIMITED[..]].concat());
    assert!(text(&plain.stderr).starts_with("warning: "), "{}", text(&plain.stderr));
    assert_eq!(workshop.output(&quiet), text(&plain.stdout));
    // An option of all commands may stand behind the command too.
    let model = workshop.output(&[&LIMITED[..], &["--out", "-", "--quiet"]].concat());
    assert!(model.starts_with('{'), "{model}");
    let refused = workshop.run(&["--quiet", "fit", "--data", "none.csv", "--lambda", "1"]);
    assert!(text(&refused.stderr).starts_with("error: none.csv: "), "errors are said");
    let refused = workshop.run(&["--quiet", "--verbose", "examples"]);
    assert_eq!(refused.status.code(), Some(2));
}

/// The result does not depend on whether anybody reads the messages.
#[cfg(target_os = "linux")]
#[test]
fn messages_that_cannot_be_written_are_lost() {
    let workshop = Workshop::new();
    let cv = ["cv", "--data", "data.csv", "--lambdas", "1:0.1:2", "--folds", "2", "--verbose"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_margins"));
    command.args(cv).current_dir(workshop.folder.path()).env("COLUMNS", "100");
    command.stderr(File::options().write(true).open("/dev/full").expect("a full device"));
    let output = command.output().expect("the command runs");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout), text(&workshop.run(&cv).stdout));
}

#[test]
fn verbose_runs_tell_their_steps() {
    let workshop = Workshop::new();
    let starts = |arguments: &[&str]| -> Vec<String> {
        let output = workshop.run(&[arguments, &["--verbose"]].concat());
        assert!(output.status.success(), "{arguments:?}");
        let lines = text(&output.stderr);
        assert!(lines.lines().all(|line| line.ends_with(" s")), "{lines}");
        let starts = lines.lines().map(|line| line.split([':', ',']).next().unwrap_or_default());
        starts.map(str::to_owned).filter(|start| start != "lambda 0.1").collect()
    };
    let fit = ["fit", "--data", "data.csv", "--lambda", "0.1", "--out", "m.json"];
    assert_eq!(starts(&fit), ["reading data.csv", "fitting", "method", "writing m.json"]);
    let predict = ["predict", "--model", "m.json", "--data", "data.csv", "--out", "p.csv"];
    let steps = ["reading m.json", "writing p.csv", "predicting data.csv"];
    assert_eq!(starts(&predict), steps);
    assert_eq!(starts(&["inspect", "--model", "m.json"]), ["reading m.json"]);
    assert_eq!(starts(&["stream", "--data", "data.csv", "--lambda", "0.1"]), ["fitting"]);
    let blocks = ["blocks", "--data", "data.csv", "--out", "data.mgb"];
    assert_eq!(starts(&blocks), ["writing data.mgb from data.csv"]);
}

#[test]
fn the_environment_says_the_threads() {
    let workshop = Workshop::new();
    let fit = ["fit", "--data", "data.csv", "--lambda", "0.1"];
    let massart = ["massart", "--data", "data.csv", "--learner", "auto"];
    let model = ["--model", "m.json", "--data", "data.csv"];
    workshop.output(&[&fit[..], &["--out", "m.json"]].concat());
    let commands: [&[&str]; 10] = [
        &fit,
        &massart,
        &["path", "--data", "data.csv", "--lambdas", "1:0.1:2"],
        &["cv", "--data", "data.csv", "--lambdas", "1:0.1:2", "--folds", "2"],
        &["focus", "--data", "data.csv", "--max-steps", "20"],
        &["stream", "--data", "data.csv", "--lambda", "0.1", "--epochs", "1"],
        &["inspect", "--data", "data.csv"],
        &["blocks", "--data", "data.csv", "--out", "data.mgb"],
        &[&["predict"], &model[..]].concat(),
        &[&["report", "--quiet", "--format", "json"], &model[..]].concat(),
    ];
    for command in commands {
        // The time is that of the run, and standard error may report the status of the fit.
        let without_origin = |text: String| match text.split_once("\"facts\"") {
            Some((_, rest)) => rest.to_owned(),
            None => text,
        };
        let output = |variables: &[(&str, &str)]| {
            let output = workshop.run_in(variables, command);
            assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
            without_origin(text(&output.stdout))
        };
        let plain = output(&[]);
        assert_eq!(output(&[("MARGINS_THREADS", "1")]), plain, "{command:?}");
        for wrong in ["0", "two", "-1", "", "70000"] {
            let refused = workshop.run_in(&[("MARGINS_THREADS", wrong)], command);
            let message = text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(2), "{message}");
            let expected = format!("the environment variable MARGINS_THREADS is '{wrong}', but");
            assert!(message.contains(&expected), "{message}");
            // The option is looked at first.
            let told = [command, &["--threads", "1"]].concat();
            assert!(workshop.run_in(&[("MARGINS_THREADS", wrong)], &told).status.success());
        }
    }
    // What works on one thread alone takes no number of them.
    let psi = ["psi", "--loss", "hinge", "--at", "0.5"];
    assert!(workshop.run_in(&[("MARGINS_THREADS", "0")], &psi).status.success());
    for command in [
        &["inspect", "--model", "m.json"][..],
        &["stream", "--data", "data.csv", "--lambda", "0.1"],
        &psi,
    ] {
        let refused = workshop.run(&[command, &["--threads", "1"]].concat());
        assert_eq!(refused.status.code(), Some(2), "{command:?}");
        assert!(text(&refused.stderr).contains("--threads"), "{command:?}");
    }
}

/// Colours belong to terminals, and not to those who want none.
#[test]
fn nothing_is_coloured_where_colour_is_not_wanted() {
    let workshop = Workshop::new();
    for arguments in [&["--help"][..], &["fit"], &LIMITED] {
        let output = workshop.run(arguments);
        assert!(!text(&output.stdout).contains('\u{1b}'), "{arguments:?}");
        assert!(!text(&output.stderr).contains('\u{1b}'), "{arguments:?}");
    }
}
