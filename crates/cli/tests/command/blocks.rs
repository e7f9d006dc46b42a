//! Block files instead of text: written by the command, and read by all others.

use serde_json::Value;

use crate::{Workshop, text};

/// Rows of dense text with weights, folds and labels of so many classes.
fn table(rows: usize, classes: &[&str]) -> String {
    let mut text = String::from("a,b,c,w,fold,label\n");
    for row in 0..rows {
        let class = row % classes.len();
        let at = |prime: usize| (row * row * prime + prime) as f64;
        let [a, b, c] = [7, 13, 29].map(|prime| at(prime).sin() + class as f64);
        text += &format!("{a},{b},{c},{},{},{}\n", 1 + row % 2, row / 3 % 3, classes[class]);
    }
    text
}

const COLUMNS: [&str; 4] = ["--weights-column", "w", "--fold-column", "fold"];

/// Returns what a command prints about text with these options, which must be what it prints about
/// blocks.
fn same(workshop: &Workshop, command: &[&str], text: &[&str], blocks: &[&str]) {
    let of = |data: &[&str]| {
        let output = workshop.run(&[command, data].concat());
        assert!(output.status.success(), "{command:?} {data:?}: {}", crate::text(&output.stderr));
        crate::text(&output.stdout)
    };
    let one = of(text).replace(text[1], "DATA");
    let two = of(blocks).replace(blocks[1], "DATA");
    assert_eq!(one, two, "{command:?}");
}

#[test]
fn every_command_finds_in_blocks_what_it_finds_in_text() {
    let workshop = Workshop::new();
    workshop.write("two.csv", table(60, &["no", "yes"]).as_bytes());
    workshop.write("three.csv", table(60, &["red", "green", "blue"]).as_bytes());
    for name in ["two", "three"] {
        let (from, to) = (format!("{name}.csv"), format!("{name}.blocks"));
        let write = ["blocks", "--data", &from, "--out", &to, "--rows", "7"];
        let facts = workshop.output(&[&write[..], &COLUMNS].concat());
        assert!(facts.contains("60 x 3") && facts.ends_with("9\n"), "{facts}");
    }
    let text = [&["--data", "two.csv"][..], &COLUMNS].concat();
    let blocks = ["--data", "two.blocks"];
    for command in [
        &["fit", "--loss", "logistic", "--lambda", "0.01"][..],
        &["path", "--lambdas", "1:0.01:4"],
        &["cv", "--lambdas", "1:0.01:4"],
        &["fit", "--loss", "hinge", "--kernel", "gaussian:sigma=1", "--lambda", "0.1"],
    ] {
        same(&workshop, command, &text, &blocks);
    }
    let text = [&["--data", "three.csv"][..], &COLUMNS].concat();
    same(&workshop, &["cv", "--multi-class", "ovr"], &text, &["--data", "three.blocks"]);
    // Models hold the same numbers, and predictions are the same.
    for (data, model) in [("two.csv", "t.json"), ("two.blocks", "b.json")] {
        let fit = ["fit", "--lambda", "0.01", "--data", data, "--out", model];
        let columns: &[&str] = if data == "two.csv" { &COLUMNS } else { &[] };
        workshop.output(&[&fit[..], columns].concat());
    }
    let model = |name: &str| std::fs::read(workshop.path(name)).expect("a model");
    assert_eq!(model("t.json"), model("b.json"));
    let predict = ["predict", "--model", "t.json"];
    let text = [&["--data", "two.csv"][..], &COLUMNS].concat();
    same(&workshop, &predict, &text, &blocks);
}

/// Fits to blocks that memory does not hold are those to all rows, and say what was kept.
#[test]
fn blocks_larger_than_memory_are_read_in_each_pass() {
    let workshop = Workshop::new();
    for (name, classes) in [("two", &["no", "yes"][..]), ("three", &["red", "green", "blue"])] {
        let (from, to) = (format!("{name}.csv"), format!("{name}.blocks"));
        workshop.write(&from, table(60, classes).as_bytes());
        let write = ["blocks", "--data", &from, "--out", &to, "--rows", "7"];
        workshop.output(&[&write[..], &COLUMNS].concat());
    }
    let small = ["--memory", "6kB", "--threads", "1"];
    for command in [
        &["fit", "--data", "two.blocks", "--loss", "logistic", "--lambda", "0.01"][..],
        &["path", "--data", "two.blocks", "--lambdas", "1:0.01:4", "--standardize"],
        &["cv", "--data", "two.blocks", "--lambdas", "1:0.01:4"],
        &["cv", "--data", "three.blocks", "--lambdas", "1:0.01:4", "--multi-class", "ovr"],
        &["fit", "--data", "three.blocks", "--lambda", "0.1", "--multi-class", "ovr"],
    ] {
        let command = &[command, &["--tol", "1e-10"]].concat();
        let here = workshop.output(command);
        let disk = workshop.output(&[&command[..], &small].concat());
        assert!(disk.contains("4 of 9 blocks, the others are read in each pass\n"), "{disk}");
        // The two ways differ within their gaps, which leave an intercept its first digits.
        let but_gaps = |text: &str| -> Vec<String> {
            let own = ["memory", "iterations", "rounds", "intercept", "exact errors"];
            let other = |line: &&str| !own.iter().any(|name| line.starts_with(name));
            let lines: Vec<&str> = text.lines().filter(other).collect();
            let text = ["unproven %", "rounds"]
                .iter()
                .fold(lines.join("\n"), |text, name| without_column(&text, name));
            text.split_whitespace()
                .filter(|word| !word.contains("e-") && *word != "0")
                .map(str::to_owned)
                .collect()
        };
        assert_eq!(but_gaps(&here), but_gaps(&disk), "{here}\n{disk}");
    }
    let refusal = |arguments: &[&str]| {
        let output = workshop.run(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        text(&output.stderr)
    };
    let fit = ["fit", "--lambda", "0.1", "--data"];
    let message = refusal(&[&fit[..], &["two.blocks", "--memory", "1kB"]].concat());
    assert!(message.contains("labels, margins and blocks in use take"), "{message}");
    let message = refusal(&[&fit[..], &["two.csv", "--memory", "1kB"], &COLUMNS].concat());
    assert!(message.contains("--memory needs --kernel or a block file"), "{message}");
    let message = refusal(&[&fit[..], &["three.blocks"], &small].concat());
    assert!(message.contains("'blue'") || message.contains("'red'"), "{message}");
}

/// Returns a text without a column of the table that has it, which rows on disk have not.
fn without_column(text: &str, name: &str) -> String {
    let mut place = None;
    let mut rest = String::new();
    for line in text.lines() {
        place = line.find(name).map(|start| start..start + name.len()).or(place);
        place = place.filter(|_| !line.is_empty());
        let mut line = line.to_owned();
        if let Some(place) = place.clone() {
            line.replace_range(place.start..place.end.min(line.len()), "");
        }
        rest += &line;
        rest.push('\n');
    }
    rest
}

/// Losses with kinks, and Nystrom features, of rows that memory does not hold.
#[test]
fn hinge_and_nystrom_fits_read_blocks_in_each_pass() {
    let workshop = Workshop::new();
    workshop.write("two.csv", table(60, &["no", "yes"]).as_bytes());
    let write = ["blocks", "--data", "two.csv", "--out", "two.blocks", "--rows", "7"];
    workshop.output(&[&write[..], &COLUMNS].concat());
    let nystrom = ["--kernel", "gaussian:sigma=1", "--approx", "nystrom:m=10"];
    for (options, memory) in [(&["--loss", "hinge"][..], "6kB"), (&nystrom[..], "7kB")] {
        let fit = ["fit", "--data", "two.blocks", "--lambda", "0.01", "--tol", "1e-7"];
        let fit = [&fit[..], options].concat();
        let objective = |document: Value| document["fits"][0]["objective"].as_f64();
        let here = objective(workshop.json(&fit)).expect("an objective");
        let small = [&fit[..], &["--memory", memory, "--threads", "1"]].concat();
        let disk = objective(workshop.json(&small)).expect("an objective");
        assert!((here - disk).abs() <= 2e-7 * here, "{options:?}: {here} and {disk}");
        let table = workshop.output(&small);
        assert!(table.contains("blocks, the others are read in each pass\n"), "{table}");
    }
}

/// Halfspaces are learned from rows that memory does not hold.
#[test]
fn massart_reads_blocks_in_some_passes() {
    let workshop = Workshop::new();
    workshop.write("two.csv", table(600, &["no", "yes"]).as_bytes());
    let write = ["blocks", "--data", "two.csv", "--out", "two.blocks", "--rows", "50"];
    workshop.output(&[&write[..], &COLUMNS].concat());
    let noise = ["--eta", "0.3", "--gamma", "0.1", "--epsilon", "0.2", "--delta", "0.2"];
    for (learner, same) in [("sgd", true), ("cuts", false), ("auto", false)] {
        let noise = if learner == "auto" { &noise[4..] } else { &noise[..] };
        let command =
            &[&["massart", "--data", "two.blocks", "--learner", learner][..], noise].concat();
        let here = workshop.output(command);
        let disk =
            workshop.output(&[&command[..], &["--memory", "60kB", "--threads", "1"]].concat());
        assert!(disk.contains("training error"), "{disk}");
        if same {
            assert_eq!(here, disk);
        }
    }
    let refusal = |arguments: &[&str]| {
        let output = workshop.run(&[&["massart"][..], arguments, &noise].concat());
        assert!(!output.status.success(), "{arguments:?}");
        text(&output.stderr)
    };
    let message = refusal(&["--data", "two.blocks", "--memory", "10kB"]);
    assert!(message.contains("labels, margins and blocks in use take"), "{message}");
    let message = refusal(&[&["--data", "two.csv", "--memory", "1MB"][..], &COLUMNS].concat());
    assert!(message.contains("--memory is for a block file"), "{message}");
}

/// A fit goes on from the points that it has reached, and other jobs are refused.
#[test]
fn fits_of_a_block_file_keep_their_points() {
    let workshop = Workshop::new();
    workshop.write("two.csv", table(60, &["no", "yes"]).as_bytes());
    let write = ["blocks", "--data", "two.csv", "--out", "two.blocks", "--rows", "7"];
    workshop.output(&[&write[..], &COLUMNS].concat());
    let kept = ["--checkpoint", "points.json"];
    let common = ["--data", "two.blocks", "--loss", "logistic", "--standardize"];
    let fit = [&["fit", "--lambda", "0.01"][..], &common, &kept].concat();
    let path = [&["path", "--lambdas", "1:0.01:4"][..], &common, &kept].concat();
    for job in [&fit, &path] {
        let first = workshop.json(job);
        let again = workshop.json(job);
        let last =
            |document: &Value| document["fits"].as_array().and_then(|fits| fits.last().cloned());
        let (first, again) = (last(&first).expect("a fit"), last(&again).expect("a fit"));
        assert!(again["iterations"].as_u64() <= Some(1), "{again}");
        let objective = |fit: &Value| fit["objective"].as_f64().expect("an objective");
        assert!((objective(&first) - objective(&again)).abs() <= 2e-6 * objective(&first));
    }
    let refusal = |arguments: &[&str]| {
        let output = workshop.run(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        text(&output.stderr)
    };
    let message = refusal(&[&fit[..], &["--no-intercept"]].concat());
    assert!(message.contains("it is of a fit with intercept 'true', not 'false'"), "{message}");
    let of_text = ["fit", "--lambda", "0.1", "--data", "two.csv", "--checkpoint", "points.json"];
    let message = refusal(&[&of_text[..], &COLUMNS].concat());
    assert!(
        message.contains("--checkpoint is for linear classifiers of a block file"),
        "{message}"
    );
}

#[test]
fn sparse_rows_and_streams_are_read_from_blocks() {
    let workshop = Workshop::new();
    let rows: String = (0..40)
        .map(|row| format!("{} {}:1 {}:0.5\n", 2 * (row % 2) - 1, 1 + row % 5, 6 + row % 3))
        .collect();
    workshop.write("data.svm", rows.as_bytes());
    let facts = workshop.output(&["blocks", "--data", "data.svm", "--out", "data.blocks"]);
    assert!(facts.contains("40 x 8"), "{facts}");
    let (text, blocks) = (["--data", "data.svm"], ["--data", "data.blocks"]);
    same(&workshop, &["fit", "--lambda", "0.01"], &text, &blocks);
    let stream = ["stream", "--loss", "hinge", "--lambda", "0.01"];
    same(&workshop, &stream, &["--data", "data.svm", "--columns", "8"], &blocks);
    // Rows that end before the last feature of the model.
    workshop.output(&["fit", "--lambda", "0.1", "--data", "data.svm", "--out", "m.mgn"]);
    workshop.write("short.svm", b"1 2:1\n-1 1:1\n");
    workshop.output(&["blocks", "--data", "short.svm", "--out", "short.blocks"]);
    let predict = ["predict", "--model", "m.mgn"];
    same(&workshop, &predict, &["--data", "short.svm"], &["--data", "short.blocks"]);
}

#[test]
fn raw_tables_keep_their_encoding_and_folds_say_that_they_share_it() {
    let workshop = Workshop::new();
    let mut raw = String::from("town,age,label\n");
    for row in 0..30 {
        let age = if row % 7 == 0 { String::new() } else { (20 + row).to_string() };
        raw += &format!("{},{age},{}\n", ["Bern", "Basel"][row % 2], ["n", "y"][row / 2 % 2]);
    }
    workshop.write("raw.csv", raw.as_bytes());
    let write = ["blocks", "--data", "raw.csv", "--encode", "--out", "raw.blocks"];
    workshop.output(&write);
    let fit = ["fit", "--lambda", "0.1"];
    same(&workshop, &fit, &["--data", "raw.csv", "--encode"], &["--data", "raw.blocks"]);
    let run = workshop.run(&["cv", "--data", "raw.blocks", "--out", "m.mgn"]);
    assert!(run.status.success());
    assert_eq!(
        text(&run.stderr),
        "note: the encoding of raw.blocks was learned from all of its rows, including those that folds \
         hold out\n"
    );
    // The model takes raw rows.
    workshop.output(&["predict", "--model", "m.mgn", "--data", "raw.csv"]);
}

#[test]
fn damage_is_refused_by_the_number_of_the_block() {
    let workshop = Workshop::new();
    workshop.write("two.csv", table(60, &["no", "yes"]).as_bytes());
    let write = ["blocks", "--data", "two.csv", "--out", "two.blocks", "--rows", "10"];
    workshop.output(&write);
    let bytes = std::fs::read(workshop.path("two.blocks")).expect("a file");
    let mut altered = bytes.clone();
    altered[bytes.len() / 2] ^= 1;
    workshop.write("altered.blocks", &altered);
    workshop.write("cut.blocks", &bytes[..bytes.len() / 2]);
    let refused = |arguments: &[&str]| {
        let run = workshop.run(arguments);
        assert!(!run.status.success(), "{arguments:?}");
        text(&run.stderr)
    };
    insta::assert_snapshot!(
        [
            refused(&["fit", "--lambda", "1", "--data", "altered.blocks"]),
            refused(&["fit", "--lambda", "1", "--data", "cut.blocks"]),
            refused(&["fit", "--lambda", "1", "--data", "two.blocks", "--label", "label"]),
            refused(&["fit", "--lambda", "1", "--data", "two.blocks", "--encode"]),
            refused(&["blocks", "--data", "two.csv", "--out", "-"]),
            refused(&["blocks", "--data", "two.csv", "--out", "two.csv"]),
            refused(&["blocks", "--data", "two.csv", "--out", "x.blocks", "--rows", "0"]),
        ]
        .concat()
    );
}
