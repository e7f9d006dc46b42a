//! Every command that works on several threads prints and writes the same bytes on 1, 2 and 8.

use std::collections::BTreeSet;

use super::{Workshop, text, three_classes};

/// A command line, and the file that it writes.
type Line = (&'static str, Option<&'static str>);

/// Samples enough for several parts, blocks and rounds.
const LINES: [Line; 21] = [
    ("fit --data two.csv --loss logistic --lambda 1e-3 --out fit.json", Some("fit.json")),
    ("fit --data two.csv --loss hinge --lambda 1e-3 --standardize", None),
    ("fit --data two.csv --loss lhs --kernel gaussian --lambda 1e-3 --out k.mgn", Some("k.mgn")),
    ("fit --data two.csv --objective catoni --lambda 0.1", None),
    ("fit --data two.csv --loss hinge --lambda 0.1 --probability platt --out p.mgn", Some("p.mgn")),
    (
        "fit --data two.blocks --loss logistic --lambda 1e-3 --memory 300kB --out b.mgn",
        Some("b.mgn"),
    ),
    ("path --data two.csv --loss lhs --lambdas 1:1e-3:5", None),
    ("path --data two.csv --loss hinge --kernel gaussian --lambdas 1:1e-2:3", None),
    ("cv --data two.csv --loss lhs --lambdas 1:1e-3:5 --out cv.json", Some("cv.json")),
    ("cv --data two.csv --loss hinge --kernel gaussian --sigmas auto:2 --lambdas 1:1e-2:3", None),
    (
        "cv --data two.csv --loss logistic --kernel gaussian --approx nystrom:m=20 --lambdas 1:1e-2:3",
        None,
    ),
    ("cv --data three.csv --multi-class ovo --lambdas 1:1e-2:3 --out ovo.mgn", Some("ovo.mgn")),
    ("stream --data two.csv --loss logistic --lambda 1e-3 --epochs 3 --out s.json", Some("s.json")),
    ("massart --data two.csv --eta 0.2 --gamma 0.1 --out m.json", Some("m.json")),
    ("massart --data two.csv --learner auto", None),
    ("massart --data two.csv --learner cuts --eta 0.2 --gamma 0.1", None),
    ("focus --data two.csv --max-steps 2000 --out f.json", Some("f.json")),
    ("predict --model model.json --data two.csv --out p.csv", Some("p.csv")),
    ("report --model model.json --data two.csv --format json", None),
    ("inspect --data two.csv", None),
    ("blocks --data two.csv --rows 100 --out again.blocks", Some("again.blocks")),
];

#[test]
fn no_bit_depends_on_the_number_of_threads() {
    let workshop = Workshop::new();
    workshop.write("three.csv", three_classes().as_bytes());
    workshop.write("two.csv", samples().as_bytes());
    workshop.output(&["blocks", "--data", "two.csv", "--rows", "50", "--out", "two.blocks"]);
    workshop.output(&["fit", "--data", "two.csv", "--lambda", "0.01", "--out", "model.json"]);
    for (line, file) in LINES {
        let on = |threads: &str| {
            let words: Vec<&str> = line.split(' ').chain(["--threads", threads]).collect();
            let output = workshop.run(&words);
            assert!(output.status.success(), "{line}: {}", text(&output.stderr));
            let written = file.map(|name| std::fs::read(workshop.path(name)).expect("a file"));
            (without_origin(text(&output.stdout)), text(&output.stderr), written)
        };
        let one = on("1");
        for threads in ["2", "8"] {
            assert!(on(threads) == one, "{line} differs on {threads} threads");
        }
    }
}

#[test]
fn every_command_that_takes_threads_is_in_the_table() {
    let workshop = Workshop::new();
    let help = workshop.output(&["--help"]);
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = commands.take_while(|line| !line.is_empty()).filter_map(|line| {
        let is_name = line.starts_with("  ") && !line.starts_with("   ");
        line.split_whitespace().next().filter(|_| is_name)
    });
    let takes =
        |name: &&str| *name != "help" && workshop.output(&[name, "--help"]).contains("--threads");
    let expected: BTreeSet<&str> = names.filter(takes).collect();
    let tried = LINES.iter().filter_map(|(line, _)| line.split(' ').next());
    assert_eq!(tried.collect::<BTreeSet<_>>(), expected);
}

/// Two overlapping classes.
fn samples() -> String {
    let mut text = "x1,x2,label\n".to_owned();
    for i in 0..1500 {
        let t = f64::from(i);
        let (x, y) = (2.0 * (1.3 * t).sin(), 1.5 * (0.7 * t + 1.0).cos());
        let label = if x + 0.5 * y + 0.8 * (2.9 * t).sin() > 0.6 { 1 } else { -1 };
        text += &format!("{x},{y},{label}\n");
    }
    text
}

/// Leaves out the time of the run and its command, in which the number of threads stands.
fn without_origin(text: String) -> String {
    match text.split_once("\"facts\"") {
        Some((_, rest)) => rest.to_owned(),
        None => text,
    }
}

/// Returns what a command does under a limit of its addresses.
#[cfg(target_os = "linux")]
fn under_limit(workshop: &Workshop, kibibytes: usize, line: &str) -> std::process::Output {
    let script = format!("ulimit -v {kibibytes}; exec \"$0\" \"$@\"");
    std::process::Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_margins")])
        .args(line.split(' '))
        .current_dir(workshop.path("."))
        .output()
        .expect("a shell")
}

/// Under every limit kernels are fitted, or refused with an estimate.
#[cfg(target_os = "linux")]
#[test]
fn kernels_are_fitted_or_refused_with_an_estimate() {
    const LINES: [&str; 7] = [
        "fit --kernel gaussian",
        "fit --kernel gaussian --loss hinge",
        "fit --kernel gaussian --approx nystrom:m=1200",
        "fit --kernel gaussian --approx cholesky:tol=1e-3",
        "fit --kernel gaussian --solver mm",
        "cv --kernel gaussian --folds 3",
        "cv --kernel gaussian --approx nystrom:m=600 --folds 3",
    ];
    let workshop = Workshop::new();
    let mut done = vec![0; LINES.len()];
    let limits = [70_000, 110_000, 160_000, 300_000];
    for (line, done) in LINES.iter().zip(&mut done) {
        let lambda = if line.starts_with("cv") { "--lambdas 1:0.1:2" } else { "--lambda 0.1" };
        let line = format!(
            "{line} --data mixture:example=1,n=1200,seed=1 {lambda} --tol 1e-3 --threads 2"
        );
        for kibibytes in limits {
            let output = under_limit(&workshop, kibibytes, &line);
            let words = text(&output.stderr);
            let is_refused = ["are needed, and", "allow more memory", "needs the kernel matrix"]
                .iter()
                .any(|reason| words.contains(reason));
            match output.status.code() {
                Some(0) => *done += 1,
                Some(1 | 2) if is_refused => {}
                _ => panic!("{line}, {kibibytes} kB: {}, {words}", output.status),
            }
        }
    }
    assert!(done.iter().all(|done| (1..=limits.len()).contains(done)), "{done:?}");
    assert!(done.iter().any(|done| *done < limits.len()), "no limit refuses anything");
}

/// Under a limit of addresses the threads are refused before they take what the job needs: no limit
/// under which the command can speak ends it in another way.
#[cfg(target_os = "linux")]
#[test]
fn threads_leave_room_for_the_job() {
    const STEP: usize = 150;
    const MOST: usize = 2_000_000;
    let workshop = Workshop::new();
    // Longer than what is read of a file before its size is estimated.
    workshop
        .write("long.csv", format!("x,label\n{}", "0.25,a\n0.5,b\n".repeat(150_000)).as_bytes());
    let ended = |kibibytes: usize| {
        under_limit(&workshop, kibibytes, "fit --data long.csv --lambda 0.1 --threads 2")
    };
    let speaks = |kibibytes: &usize| matches!(ended(*kibibytes).status.code(), Some(0 | 1));
    let mut limit = (10_000..MOST).step_by(STEP).find(speaks).expect("a limit under which it runs");
    let mut refused = 0;
    loop {
        let output = ended(limit);
        let words = text(&output.stderr);
        match output.status.code() {
            Some(0) => break,
            Some(1) => refused += usize::from(words.contains("cannot start 2 threads")),
            _ => panic!("{limit} kB: {}, {words}", output.status),
        }
        limit += STEP;
    }
    assert!(refused > 0, "no limit refuses the threads");
}
