//! What is drawn on terminals alone, which `script` of util-linux stands in for.

use std::process::{Command, Stdio};

use crate::{Workshop, skipped, text};

const CV: [&str; 9] =
    ["cv", "--data", "data.csv", "--loss", "logistic", "--lambdas", "1:1e-3:9", "--folds", "3"];

/// Returns what a UTF-8 terminal shows of a run; `None`, with a message, if `script` is not installed.
fn shown(workshop: &Workshop, variables: &[(&str, &str)], arguments: &[&str]) -> Option<String> {
    let line = [&[env!("CARGO_BIN_EXE_margins")], arguments].concat().join(" ");
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(workshop.folder.path())
        .env_remove("NO_COLOR")
        .envs([("TERM", "xterm"), ("LC_ALL", "C.UTF-8"), ("COLUMNS", "70")])
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else {
        skipped("there is no script of util-linux here, so that nothing is drawn on terminals");
        return None;
    };
    assert!(output.status.success(), "{}", text(&output.stdout));
    Some(text(&output.stdout).replace('\r', ""))
}

#[test]
fn terminals_show_charts_and_pipes_do_not() {
    let workshop = Workshop::new();
    let piped = workshop.output(&CV);
    assert!(!piped.contains("B is the best"));
    let cv = [&CV[..], &["--verbose"]].concat();
    let Some(fine) = shown(&workshop, &[], &cv) else { return };
    assert!(fine.contains("B is the best") && fine.contains('●'), "{fine}");
    assert!(
        fine.contains("63.7 │")
            && fine.lines().all(|line| line.chars().count() <= 100 || line.contains("iteration ")),
        "{fine}"
    );
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb"), ("LC_ALL", "C")] {
        let plain = shown(&workshop, &[variable, ("COLUMNS", "60")], &cv).expect("as before");
        assert!(plain.contains("B is the best") && plain.is_ascii(), "{variable:?}: {plain}");
    }
    let path = ["path", "--data", "data.csv", "--lambdas", "1:1e-3:9", "--quiet"];
    let path = shown(&workshop, &[], &path).expect("as before");
    assert!(path.contains("\nobjective\n") && path.contains('●'), "{path}");
}

#[test]
fn terminals_show_how_far_the_fits_are() {
    let workshop = Workshop::new();
    let kernels = ["--kernel", "gaussian", "--sigmas", "0.1:10:10", "--lambdas", "1:1e-4:10"];
    // Long enough for bars that are drawn twenty times a second to be drawn after the first kernel.
    let cv = [&["cv", "--data", "mixture:example=2,n=300,seed=1"], &kernels[..]].concat();
    let Some(fine) = shown(&workshop, &[], &cv) else { return };
    assert!(fine.contains("/500 fits, ") && fine.contains(" left"), "{fine}");
    assert!(fine.contains(" left, best error so far ") && fine.contains('█'), "{fine}");
    assert!(!fine.contains(" 0/500 fits, "), "nobody knows the time before the first fit: {fine}");
    let plain = shown(&workshop, &[("NO_COLOR", "1")], &cv).expect("as before");
    assert!(plain.contains("/500 fits, ") && plain.is_ascii(), "{plain}");
    for (variables, option) in [(&[("TERM", "dumb")][..], None), (&[], Some("--quiet"))] {
        let arguments: Vec<&str> = cv.iter().copied().chain(option).collect();
        let none = shown(&workshop, variables, &arguments).expect("as before");
        assert!(!none.contains(" fits, "), "{none}");
    }
    let piped = workshop.run(&cv);
    assert_eq!(text(&piped.stderr), "");
}
