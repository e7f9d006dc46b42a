//! Rows without a label: an error, or left out and counted.

use serde_json::Value;

use crate::{DATA, Workshop, text};

/// The data with three rows that have no label, and cells that are no numbers.
fn gaps() -> String {
    let with_gaps = |(row, line): (usize, &str)| match row {
        3 => format!("x,,NA\n{line}\n"),
        7 => format!("1.0,1.0,\n{line}\n9.0,9.0,?\n"),
        _ => format!("{line}\n"),
    };
    DATA.lines().enumerate().map(with_gaps).collect()
}

fn workshop() -> Workshop {
    let workshop = Workshop::new();
    workshop.write("gaps.csv", gaps().as_bytes());
    workshop
}

/// The line on the rows that were left out.
const NOTE: &str = "note: 3 rows without a label are left out of gaps.csv\n";

/// Returns the document that a command prints on the data with gaps, and that on those without.
fn both(workshop: &Workshop, command: &[&str]) -> [Value; 2] {
    let run = |data: &[&str]| {
        let output = workshop.run(&[command, &["--format", "json", "--data"], data].concat());
        let warnings = text(&output.stderr);
        assert!(output.status.success(), "{command:?}: {warnings}");
        assert_eq!(warnings.contains(NOTE), data.len() == 2, "{command:?}: {warnings}");
        let document = text(&output.stdout).replace("gaps.csv", "data.csv");
        serde_json::from_str(&document).expect("JSON")
    };
    [run(&["gaps.csv", "--drop-unlabelled"]), run(&["data.csv"])]
}

#[test]
fn the_first_one_is_an_error_by_default() {
    let workshop = workshop();
    for command in [&["fit", "--lambda", "0.1"][..], &["stream", "--lambda", "0.1"], &["inspect"]] {
        let output = workshop.run(&[command, &["--data", "gaps.csv"]].concat());
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        let expected = "error: gaps.csv, line 4, column";
        assert!(text(&output.stderr).starts_with(expected), "{}", text(&output.stderr));
    }
}

#[test]
fn every_command_is_as_without_them() {
    let workshop = workshop();
    for command in [
        &["fit", "--lambda", "0.1", "--out", "m.json"][..],
        &["path", "--lambdas", "1:0.1:3"],
        &["cv", "--folds", "3"],
        &["stream", "--lambda", "0.1"],
        &["stream", "--lambda", "0.1", "--epochs", "2"],
        &["focus", "--max-steps", "20"],
        &["massart", "--eta", "0.3", "--gamma", "0.3"],
        &["massart", "--stream", "--eta", "0.3", "--gamma", "0.3"],
        &["inspect"],
        &["predict", "--model", "m.json"],
        &["report", "--model", "m.json"],
    ] {
        let [mut gaps, mut data] = both(&workshop, command);
        // A report says which words it comes from, and when, and numbers rows as the file does.
        for document in [&mut gaps, &mut data] {
            document.as_object_mut().expect("an object").remove("origin");
            let hardest = document.pointer_mut("/evaluations/0/hardest");
            for hard in hardest.and_then(Value::as_array_mut).into_iter().flatten() {
                hard["row"].take();
            }
        }
        // The commands that describe data report the number of such rows.
        let reported = |document: &mut Value| match command[0] {
            "report" => document["data"][0]["left_out"].take(),
            "inspect" => document["unlabelled_rows"].take(),
            _ => Value::Null,
        };
        let numbers = [&mut gaps, &mut data].map(reported);
        let describes = ["report", "inspect"].contains(&command[0]);
        assert_eq!(
            numbers,
            if describes { [3.into(), 0.into()] } else { [Value::Null, Value::Null] }
        );
        // A report is called after its file.
        for document in [&mut gaps, &mut data] {
            document.as_object_mut().map(|all| all.remove("title"));
        }
        assert_eq!(gaps, data, "{command:?}");
    }
}

/// The page counts the rows left out, and numbers the others as in the file.
#[test]
fn pages_number_rows_as_the_file_does() {
    let workshop = workshop();
    let fit = ["fit", "--lambda", "0.1", "--quiet", "--drop-unlabelled", "--out", "m.json"];
    workshop.output(&[&fit[..], &["--data", "gaps.csv", "--report", "fit.html"]].concat());
    let report = ["report", "--model", "m.json", "--quiet", "--drop-unlabelled", "--out"];
    workshop.output(&[&report[..], &["report.html", "--data", "gaps.csv"]].concat());
    for page in ["fit.html", "report.html"] {
        let page = std::fs::read_to_string(workshop.path(page)).expect("a page");
        assert!(page.contains("; 3 rows without a label are left out"), "{page}");
    }
    let report = ["report", "--model", "m.json", "--quiet", "--drop-unlabelled", "--training"];
    let page = workshop.json(&[&report[..], &["gaps.csv", "--data", "gaps.csv"]].concat());
    let table = gaps();
    let rows: Vec<&str> = table.lines().skip(1).collect();
    for evaluation in page["evaluations"].as_array().expect("two evaluations") {
        for hard in evaluation["hardest"].as_array().expect("samples") {
            let row = rows[hard["row"].as_u64().expect("a row") as usize - 1];
            assert_eq!(row.rsplit(',').next(), hard["label"].as_str(), "{row}");
        }
    }
}

#[test]
fn block_files_are_made_without_them() {
    let workshop = workshop();
    let blocks = ["blocks", "--data", "gaps.csv", "--drop-unlabelled", "--out", "gaps.blocks"];
    let output = workshop.run(&blocks);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), NOTE);
    let quiet = workshop.run(&[&["--quiet"], &blocks[..]].concat());
    assert_eq!(text(&quiet.stderr), "");
    let fit = ["fit", "--lambda", "0.1", "--format", "json", "--data"];
    let of = |data| workshop.output(&[&fit[..], &[data]].concat());
    assert_eq!(of("gaps.blocks").replace("gaps.blocks", "data.csv"), of("data.csv"));
}

#[test]
fn other_data_refuse_the_option() {
    let workshop = workshop();
    workshop.write("data.svm", b"1 1:1\n-1 1:2\n");
    let refusal = |data| {
        let output = workshop.run(&["inspect", "--drop-unlabelled", "--data", data]);
        assert!(!output.status.success());
        text(&output.stderr).lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        [refusal("data.svm"), refusal("mixture:example=1")],
        [
            "error: the option for rows without a label is to drop them, but must be left out for \
             svmlight files, whose lines begin with a label",
            "error: simulated data: --drop-unlabelled is for files, leave it out",
        ]
    );
}
