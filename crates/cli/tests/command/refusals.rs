//! Wrong input, each with its message.

use std::path::Path;

use crate::{DATA, Workshop, text, without_versions};

/// Malformed files, models and parameter values, with exit status and message.
#[test]
fn bad_input_gets_a_clear_message() {
    let workshop = Workshop::new();
    let model = workshop.path("model.json");
    workshop.output(&["fit", "--data", "data.csv", "--lambda", "0.1", "--out", "model.json"]);
    let model = std::fs::read_to_string(Path::new(&model)).expect("a model");
    workshop.output(&["convert", "--model", "model.json", "--out", "model.mgn"]);
    let binary = std::fs::read(workshop.path("model.mgn")).expect("a model");
    workshop.output(&["blocks", "--data", "data.csv", "--out", "rows.blocks"]);

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
        ("zero-weights.csv", b"x,w,label\n1,0,a\n2,0,b\n".to_vec()),
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
        ("future.json", model.replace("\"version\": 1", "\"version\": 99").into_bytes()),
        ("no-version.json", model.replace("\"version\": 1,", "").into_bytes()),
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
        vec!["cv", "--data", "data.csv", "--folds", "70"],
        vec!["cv", "--data", "class-fold.csv", "--folds", "3", "--fold-column", "fold"],
        vec![
            "cv",
            "--data",
            "data.csv",
            "--loss",
            "hinge",
            "--kernel",
            "gaussian",
            "--leave-one-out",
            "exact",
        ],
        vec!["blocks", "--data", "rows.blocks", "--out", "again.blocks"],
        vec!["stream", "--data", "mixture:example=1,n=20,seed=1", "--lambda", "1"],
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
        vec!["psi", "--cubic", "1,0,1"],
        vec!["psi", "--cubic", "1,0,1,x"],
        vec!["psi", "--cubic", "1,0,1,nan"],
        vec!["psi", "--cubic", "1,0,1,1", "--loss", "lhs"],
        vec!["psi", "--loss", "lhs", "--at", "1.5"],
        vec!["psi", "--loss", "lhs", "--at", "-1", "--inverse"],
        vec!["psi", "--loss", "lhs", "--at", "2", "--quantity", "minimizer"],
        vec!["psi", "--loss", "lhs", "--at", "0.5", "--quantity", "risk", "--inverse"],
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
        with(&["--lambda", "1", "--objective", "catoni:beta=1"]),
        with(&["--lambda", "1", "--objective", "catoni:alpha=0"]),
        with(&["--lambda", "1", "--objective", "median-of-means:blocks=100"]),
        with(&["--lambda", "1", "--objective", "margin-distribution"]),
        with(&[
            "--lambda",
            "1",
            "--loss",
            "hinge",
            "--objective",
            "margin-distribution:variance=0",
        ]),
        with(&["--lambda", "1", "--objective", "garg-roth"]),
        with(&["--lambda", "1", "--objective", "catoni", "--kernel", "gaussian"]),
        with(&["--lambda", "1", "--objective", "catoni", "--solver", "newton"]),
        with(&["--lambda", "1", "--objective", "catoni", "--seed", "2"]),
        with(&["--lambda", "1", "--solver", "catoni:alpha=1"]),
        vec!["cv", "--data", "data.csv", "--objective", "catoni"],
        vec!["predict", "--model", "model.json", "--data", "data.csv", "--positive", "no"],
        vec!["inspect", "--model", "model.json", "--positive", "no"],
        vec!["inspect", "--model", "model.json", "--label", "no"],
        vec!["inspect", "--positive", "no"],
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

/// No file of a command is two of its files, whatever they are called, and nothing is written
/// before that is known.
#[test]
fn no_two_files_are_one() {
    let workshop = Workshop::new();
    let fit = ["fit", "--data", "data.csv", "--lambda", "0.1"];
    workshop.output(&[&fit[..], &["--out", "model.json"]].concat());
    let focus = ["focus", "--data", "data.csv"];
    let report: String = [
        [&fit[..], &["--history", "data.csv"]].concat(),
        [&fit[..], &["--out", "./data.csv"]].concat(),
        [&fit[..], &["--out", "new.json", "--history", "./new.json"]].concat(),
        [&fit[..], &["--out", "-", "--history", "-"]].concat(),
        [&focus[..], &["--out", "new.json", "--checkpoint", "new.json"]].concat(),
        [&focus[..], &["--checkpoint", "-"]].concat(),
        vec!["cv", "--data", "data.csv", "--checkpoint", "data.csv"],
        vec!["cv", "--data", "data.csv", "--checkpoint", "-"],
        vec!["cv", "--data", "data.csv", "--checkpoint", "grid.json", "--time-limit", "1"],
        vec!["cv", "--data", "data.csv", "--folds", "2", "--out", "data.csv"],
        vec!["predict", "--model", "model.json", "--data", "data.csv", "--out", "model.json"],
        vec!["predict", "--model", "model.json", "--data", "data.csv", "--out", "data.csv"],
        vec!["convert", "--model", "model.json", "--out", "model.json"],
    ]
    .iter()
    .map(|arguments| {
        let output = workshop.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        text(&output.stderr).lines().next().unwrap_or_default().to_owned() + "\n"
    })
    .collect();
    assert!(!workshop.path("new.json").exists());
    assert_eq!(std::fs::read(workshop.path("data.csv")).expect("data"), DATA.as_bytes());
    insta::assert_snapshot!(report);
}

/// Names that were mistyped, each with the one meant.
#[test]
fn errors_say_what_was_meant() {
    let workshop = Workshop::new();
    let fit = "fit --data data.csv --lambda 0.1";
    let cases = [
        ("predct".to_owned(), "predict"),
        ("fti --data data.csv".to_owned(), "fit"),
        (format!("{fit} --standardise"), "--standardize"),
        (format!("{fit} --loss hingee"), "hinge"),
        (format!("{fit} --loss hinge --solver buntle"), "bundle"),
        (format!("{fit} --kernel gausian"), "gaussian"),
        (format!("{fit} --kernel gaussian --approx nistrom:m=5"), "nystrom"),
        (format!("{fit} --kernel gaussian --approx nystrom:leverge=5"), "leverage"),
        (format!("{fit} --objective cantoni"), "catoni"),
        (format!("{fit} --label lable"), "label"),
        (format!("{fit} --weights-column hight"), "height"),
        (format!("{fit} --encode --drop widht"), "width"),
        (format!("{fit} --encode --categorical Width"), "width"),
        ("focus --data data.csv --learner percepton".to_owned(), "perceptron"),
        ("focus --data data.csv --slack aditive-sum:budget=1".to_owned(), "additive-sum"),
        ("cv --data mixture:exmple=1".to_owned(), "example"),
    ];
    let mut page = String::new();
    for (line, meant) in cases {
        let output = workshop.run(&line.split(' ').collect::<Vec<_>>());
        let message = text(&output.stderr);
        assert!(!output.status.success(), "{line}");
        let of_clap = message.contains(&format!("exists: '{meant}'"));
        assert!(of_clap || message.contains(&format!("did you mean '{meant}'?")), "{message}");
        page += &format!("{line}\n{message}\n");
    }
    insta::assert_snapshot!(page);
}

#[test]
fn columns_joined_by_commas_are_told_apart() {
    let workshop = Workshop::new();
    let refusal = |drop: &str| {
        let fit = ["fit", "--data", "data.csv", "--lambda", "0.1", "--drop", drop];
        text(&workshop.run(&fit).stderr)
    };
    let advice = "each column needs an option of its own";
    assert!(refusal("height,width").contains(advice), "{}", refusal("height,width"));
    assert!(!refusal("height,depth").contains(advice), "one of them is no column");
}

/// The places are looked at before the data, which are not there.
#[test]
fn a_file_without_a_place_is_refused_before_any_work() {
    let workshop = Workshop::new();
    std::fs::create_dir(workshop.path("taken")).expect("a folder");
    std::fs::write(workshop.path("file"), "").expect("a file");
    let commands: [(&[&str], &str); 9] = [
        (&["fit", "--lambda", "1"], "--out"),
        (&["fit", "--lambda", "1"], "--history"),
        (&["path"], "--report"),
        (&["cv"], "--out"),
        (&["cv"], "--checkpoint"),
        (&["massart", "--learner", "auto"], "--out"),
        (&["focus"], "--checkpoint"),
        (&["blocks"], "--out"),
        (&["predict", "--model", "absent.json"], "--out"),
    ];
    for (command, option) in commands {
        let places = [
            ("gone/x", "there is no folder 'gone'"),
            ("file/x", "'file' is no folder"),
            ("taken", "it is a folder"),
        ];
        for (path, reason) in places {
            let arguments = [command, &["--data", "absent.csv", option, path]].concat();
            let output = workshop.run(&arguments);
            let message = format!("error: {option} {path}: cannot be written: {reason}\n");
            assert_eq!(text(&output.stderr), message, "{arguments:?}");
            assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        }
    }
}
