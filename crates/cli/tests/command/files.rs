//! Files that are out of the ordinary: by their names, by their content, by where they lead.

use std::fs::File;
use std::process::Command;
use std::time::Instant;

use crate::{DATA, Workshop, text};

const FIT: [&str; 5] = ["fit", "--data", "data.csv", "--lambda", "0.1"];

/// Twelve times the columns take twelve times as long, where pairs of columns would take 144 times.
#[test]
fn wide_data_are_inspected_in_linear_time() {
    let workshop = Workshop::new();
    let time = |columns: usize| {
        let rows = format!("+1 1:0.5 {columns}:1\n-1 2:1 3:0.25\n+1 1:2\n-1 3:2\n");
        workshop.write("wide.svm", rows.as_bytes());
        let begun = Instant::now();
        let document = workshop.json(&["inspect", "--data", "wide.svm"]);
        let took = begun.elapsed().as_secs_f64();
        let constant = document["constant_columns"].as_array().expect("columns").len();
        assert_eq!(constant, columns - 4);
        took
    };
    let times: Vec<(f64, f64)> = (0..2).map(|_| (time(50_000), time(600_000))).collect();
    let few = times.iter().fold(f64::INFINITY, |least, of| least.min(of.0));
    let many = times.iter().fold(f64::INFINITY, |least, of| least.min(of.1));
    assert!(many < 40.0 * few, "{times:?}");
}

#[test]
fn names_may_be_longer_than_any_line() {
    let workshop = Workshop::new();
    let long = "n".repeat(70_000);
    let classes: String = (0..12).map(|k| format!("{k},{long}{}\n", k % 3)).collect();
    workshop.write("classes.csv", format!("{long},label\n{classes}").as_bytes());
    workshop.write("two.csv", DATA.replace("width", &long).as_bytes());
    let levels = DATA.replace(",0.5,", &format!(",{long},"));
    workshop.write("levels.csv", levels.as_bytes());
    for arguments in [
        &["inspect", "--data", "classes.csv"][..],
        &["inspect", "--data", "levels.csv", "--encode"],
        &["fit", "--data", "classes.csv", "--lambda", "1", "--multi-class", "ovr"],
        &[
            "fit",
            "--data",
            "classes.csv",
            "--lambda",
            "1",
            "--multi-class",
            "ovo",
            "--out",
            "m.mgn",
        ],
        &["inspect", "--model", "m.mgn"],
        &["fit", "--data", "two.csv", "--lambda", "1", "--out", "two.json", "--report", "two.html"],
        &["inspect", "--model", "two.json"],
        &["predict", "--model", "two.json", "--data", "two.csv"],
        &["blocks", "--data", "two.csv", "--out", "two.blocks"],
    ] {
        let output = workshop.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        let longest = text(&output.stdout).lines().map(str::len).max();
        assert!(longest < Some(300), "{arguments:?} prints a line of {longest:?} characters");
    }
}

#[test]
fn a_line_feed_in_a_level_stays_in_its_line() {
    let workshop = Workshop::new();
    let table = "a,note,label\n1,\"x\ny\",0\n2,\"z, \"\"q\"\"\",1\n3,\"x\ny\",0\n4,w,1\n";
    workshop.write("levels.csv", table.as_bytes());
    let shown = workshop.output(&["inspect", "--data", "levels.csv", "--encode"]);
    assert!(shown.contains("  note=x\\ny  "), "{shown}");
}

/// Rows without a known label are counted, and the others are measured as if they were alone.
#[test]
fn predictions_are_measured_where_the_label_is_known() {
    let workshop = Workshop::new();
    workshop.output(&[&FIT[..], &["--out", "m.json"]].concat());
    let predict = |file: &str, content: &str| {
        workshop.write(file, content.as_bytes());
        let predict = ["predict", "--model", "m.json", "--data", file, "--out", "p.csv"];
        let output = workshop.run(&predict);
        assert!(output.status.success(), "{}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    };
    let unknown = "height,width,label\n1,1,maybe\n1,2,\n";
    let (known, warning) = predict("data.csv", DATA);
    assert_eq!(warning, "");
    let (some, warning) =
        predict("some.csv", &(unknown.to_owned() + &DATA[DATA.find('\n').expect("a line") + 1..]));
    assert_eq!(
        warning,
        "warning: 2 of 14 rows are not measured: their labels ('maybe', '') are not classes of the \
         model ('no', 'yes')\n"
    );
    let without_counts = |lines: &str| {
        let kept = lines.lines().filter(|line| !line.starts_with("predictions"));
        kept.filter(|line| !line.starts_with("measured")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(without_counts(&some), without_counts(&known));
    assert!(some.contains("measured        12 of 14 rows\n"), "{some}");
    let (none, warning) = predict("none.csv", unknown);
    assert_eq!(none, "predictions  2 rows in p.csv\n");
    assert!(warning.starts_with("warning: 2 of 2 rows are not measured"), "{warning}");
    let refused = workshop.run(&["report", "--model", "m.json", "--data", "none.csv"]);
    let expected =
        "error: none.csv: 1 row without a label: leave such rows out by --drop-unlabelled\n";
    assert_eq!(text(&refused.stderr), expected);
}

#[test]
fn streams_of_sorted_rows_are_warned_of() {
    let workshop = Workshop::new();
    let rows = |class: &str| format!("1,{class}\n2,{class}\n").repeat(10);
    workshop.write("sorted.csv", format!("x,label\n{}{}", rows("no"), rows("yes")).as_bytes());
    workshop
        .write("mixed.csv", format!("x,label\n{}", "1,no\n2,yes\n2,no\n".repeat(20)).as_bytes());
    let warning = |file| {
        let output = workshop.run(&["stream", "--data", file, "--lambda", "0.1"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    assert_eq!(
        warning("sorted.csv"),
        "warning: the rows of sorted.csv come sorted by class: neighbouring rows differ in class 1 time, \
         but about 20 times in random order. The fit follows the last rows; shuffle them, or pass --epochs\n"
    );
    assert_eq!(warning("mixed.csv"), "");
}

#[test]
fn steps_that_are_too_long_are_named() {
    let workshop = Workshop::new();
    let step = |loss: &str, step: &str| {
        let solver = ["--loss", loss, "--solver", "gd", "--step", step];
        text(&workshop.run(&[&FIT[..], &solver].concat()).stderr)
    };
    let refused = step("squared", "100");
    assert!(
        refused.starts_with(
            "error: gradient descent diverges with steps of length 100: choose a shorter"
        ),
        "{refused}"
    );
    let warned = step("logistic", "5");
    let expected = "--step 5 may be too long. Leave out --step to use a line search\n";
    assert!(warned.ends_with(expected), "{warned}");
    assert_eq!(step("logistic", "0.05"), "");
}

#[test]
fn amounts_of_memory_need_a_unit() {
    let workshop = Workshop::new();
    let output = workshop.run(&[&FIT[..], &["--memory", "5"]].concat());
    let message = text(&output.stderr);
    assert!(message.contains("'5' has no unit: write 5MB or 5GB"), "{message}");
}

/// Standard streams that lead to files are written to, and the files stay the same files.
#[cfg(unix)]
#[test]
fn redirected_streams_are_written_to() {
    use std::os::unix::fs::MetadataExt;
    let workshop = Workshop::new();
    let names =
        [("/dev/stdout", true), ("/dev/fd/1", true), ("/dev/stderr", false), ("/dev/fd/2", false)];
    for (name, is_output) in names {
        let file = File::create(workshop.path("stream")).expect("a file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_margins"));
        command.args(FIT).args(["--out", name]).current_dir(workshop.folder.path());
        let other = if is_output {
            command.stdout(file.try_clone().expect("a copy"));
            command.output().expect("a run").stderr
        } else {
            command.stderr(file.try_clone().expect("a copy"));
            command.output().expect("a run").stdout
        };
        let written = std::fs::metadata(workshop.path("stream")).expect("a file");
        assert_eq!(written.ino(), file.metadata().expect("a file").ino(), "{name}");
        let model = std::fs::read(workshop.path("stream")).expect("a model");
        let model: serde_json::Value = serde_json::from_slice(&model).expect("JSON");
        assert_eq!(model["format"], "margins-model");
        assert!(text(&other).contains("relative gap"), "{name}: {}", text(&other));
    }
    let appends =
        format!("{} {} --out /dev/fd/3 3>> stream", env!("CARGO_BIN_EXE_margins"), FIT.join(" "));
    std::fs::write(workshop.path("stream"), "before\n").expect("a file");
    let ended =
        Command::new("sh").args(["-c", &appends]).current_dir(workshop.folder.path()).output();
    assert!(ended.expect("a run").status.success());
    let written = std::fs::read_to_string(workshop.path("stream")).expect("text");
    assert!(written.starts_with("before\n{"), "{written}");
    workshop.output(&["blocks", "--data", "data.csv", "--out", "rows.blocks"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_margins"));
    command.args(["fit", "--data", "rows.blocks", "--lambda", "1", "--checkpoint", "/dev/stdout"]);
    command.current_dir(workshop.folder.path());
    command.stdout(File::create(workshop.path("stream")).expect("a file"));
    let message = text(&command.output().expect("a run").stderr);
    assert_eq!(
        message,
        "error: /dev/stdout: a checkpoint must be a regular file, which can be read again\n"
    );
}

/// The data are not there, which nobody finds out.
#[cfg(unix)]
#[test]
fn what_cannot_be_written_is_refused_before_any_work() {
    use std::os::unix::fs::PermissionsExt;
    let workshop = Workshop::new();
    workshop.write("read-only.json", b"old");
    let mode = std::fs::Permissions::from_mode(0o444);
    std::fs::set_permissions(workshop.path("read-only.json"), mode).expect("my own file");
    std::os::unix::fs::symlink("absent/model.json", workshop.path("link.json")).expect("a link");
    let mut cases = vec![
        ("read-only.json", "the file is read-only"),
        ("link.json", "there is no folder './absent'"),
    ];
    if cfg!(target_os = "linux") {
        // No process can make a file there.
        cases.push(("/proc/model.json", ""));
    }
    for (out, reason) in cases {
        let fit = ["fit", "--data", "absent.csv", "--lambda", "1", "--out", out];
        let output = workshop.run(&fit);
        let expected = format!("error: --out {out}: cannot be written: {reason}");
        assert!(text(&output.stderr).starts_with(&expected), "{}", text(&output.stderr));
    }
    assert_eq!(std::fs::read(workshop.path("read-only.json")).expect("a file"), b"old");
}

#[cfg(target_os = "linux")]
#[test]
fn names_of_files_need_not_be_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let workshop = Workshop::new();
    let name = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
    let (data, model) = (name(b"caf\xe9.csv"), name(b"mod\xe9l.json"));
    std::fs::write(workshop.folder.path().join(data), DATA).expect("a file");
    let run = |arguments: &[&OsStr]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_margins"));
        let output = command.args(arguments).current_dir(workshop.folder.path()).output();
        let output = output.expect("a run");
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    };
    let word = OsStr::new;
    let fit =
        [word("fit"), word("--data"), data, word("--lambda"), word("1"), word("--out"), model];
    run(&[&fit[..], &[word("--report"), name(b"\xff.html"), word("--test"), data]].concat());
    run(&[word("predict"), word("--model"), model, word("--data"), data]);
    run(&[word("blocks"), word("--data"), data, data, word("--out"), name(b"\xff.blocks")]);
    run(&[word("inspect"), word("--data"), name(b"\xff.blocks")]);
    run(&[word("report"), word("--model"), model, word("--training"), data, word("--data"), data]);
}
