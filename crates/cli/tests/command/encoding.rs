//! Raw tables, with words and missing values, from every command that takes them.

use crate::{Workshop, number, text};

/// Rows with a number that has missing values, words, booleans, codes and a name of the row.
fn raw() -> String {
    let mut table = "id,age,town,member,code,label\n".to_owned();
    for i in 0..24_u32 {
        let age = if i % 5 == 4 { "NA".to_owned() } else { (20 + 7 * i % 40).to_string() };
        let town = ["Bern", "Basel", ""][(i * i % 7 % 3) as usize];
        let member = i % 3 == 0;
        let label = if (5 * i + i / 3) % 4 < 2 { "no" } else { "yes" };
        table += &format!("n{i},{age},{town},{member},{},{label}\n", i % 4);
    }
    table
}

const ENCODE: [&str; 6] = ["--data", "raw.csv", "--encode", "--categorical", "code", "--drop"];

#[test]
fn a_raw_table_goes_from_inspection_to_predictions() {
    let workshop = Workshop::new();
    workshop.write("raw.csv", raw().as_bytes());
    let with = |command: &[&'static str], more: &[&'static str]| {
        [command, &ENCODE, &["id"], more].concat()
    };
    insta::assert_snapshot!(workshop.output(&with(&["inspect"], &[])));
    let document = workshop.json(&with(&["inspect"], &[]));
    assert_eq!(document["raw_columns"][1]["levels"], serde_json::json!(["Bern", "Basel"]));
    assert_eq!(document["raw_columns"][0]["missing"], 4);

    let logistic = ["--loss", "logistic", "--out", "m.mgn"];
    let document =
        workshop.json(&[&with(&["cv"], &logistic)[..], &["--lambdas", "1:0.01:3"]].concat());
    assert_eq!(document["data"]["columns"], 10);
    let document = workshop.json(&["predict", "--model", "m.mgn", "--data", "raw.csv"]);
    assert_eq!(document["rows"], 24);
    // Rows without labels and without the column left out, in another order of the columns.
    workshop.write("new.csv", b"town,age,code,member\nBern,,1,true\n");
    let document = workshop.json(&["predict", "--model", "m.mgn", "--data", "new.csv"]);
    assert!(number(&document["predictions"][0]["score"]).is_finite());
    workshop.write("rome.csv", b"town,age,code,member\nRome,30,1,true\n");
    let output = workshop.run(&["predict", "--model", "m.mgn", "--data", "rome.csv"]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(text(&output.stderr));
    let predict = |more: [&'static str; 2]| {
        let command = ["predict", "--model", "m.mgn", "--data", "raw.csv"];
        text(&workshop.run(&[&command[..], &more].concat()).stderr)
    };
    let misspelled = predict(["--label", "Label"]);
    assert!(misspelled.contains("did you mean 'label'?"), "{misspelled}");
    let elsewhere = predict(["--drop", "id"]);
    assert!(elsewhere.contains("note: --drop is an option of margins fit"), "{elsewhere}");
    assert!(!elsewhere.contains("tip:"), "{elsewhere}");
    // Both formats of a model hold the encoding.
    workshop.output(&["convert", "--model", "m.mgn", "--out", "m.json"]);
    let (one, other) = (["predict", "--model", "m.mgn"], ["predict", "--model", "m.json"]);
    let data = ["--data", "raw.csv"];
    assert_eq!(
        workshop.output(&[one, data_of(&data)].concat()),
        workshop.output(&[other, data_of(&data)].concat())
    );
}

/// Returns the option for the data, as long as a command with its model.
fn data_of<'a>(data: &[&'a str; 2]) -> [&'a str; 3] {
    [data[0], data[1], "--format=table"]
}

#[test]
fn rules_for_gaps_and_unknown_levels_are_kept() {
    let workshop = Workshop::new();
    workshop.write("raw.csv", raw().as_bytes());
    let fit = ["fit", "--lambda", "0.1", "--out", "m.mgn"];
    let astray = workshop.run(&[&fit[..], &ENCODE, &["id", "town"]].concat());
    assert_eq!(astray.status.code(), Some(2));
    assert!(text(&astray.stderr).contains("unexpected argument 'town'"));
    assert!(!text(&astray.stderr).contains("is an option of"), "{}", text(&astray.stderr));
    let run = |more: &[&'static str]| workshop.run(&[&fit[..], &ENCODE, &["id"], more].concat());
    let refused = run(&["--missing", "refuse"]);
    let other = run(&["--missing-words", "none"]);
    insta::assert_snapshot!(
        [text(&refused.stderr), text(&run(&["--categorical", "size"]).stderr)].concat()
    );
    // Where NA is no word for a missing value, it makes a category of the ages.
    assert!(text(&other.stdout).contains("24 rows"), "{}", text(&other.stderr));
    assert!(run(&["--unknown", "none"]).status.success());
    workshop.write("rome.csv", b"town,age,code,member\nRome,30,1,true\n");
    let predicted = workshop.run(&["predict", "--model", "m.mgn", "--data", "rome.csv"]);
    assert!(predicted.status.success());
    let warning = "warning: rome.csv: 1 cell with a category that the training data do not have, encoded as no category\n";
    assert_eq!(text(&predicted.stderr), warning);
}

#[test]
fn a_column_that_gives_the_label_away_is_named() {
    let workshop = Workshop::new();
    let rows: String =
        (0..12).map(|i| format!("{},{},{},{}\n", i % 5, i % 5, 2 * (i % 2), i % 2)).collect();
    workshop.write("leak.csv", format!("x,again,twice,label\n{rows}").as_bytes());
    let document = workshop.json(&["inspect", "--data", "leak.csv"]);
    assert_eq!(document["determining_columns"], serde_json::json!(["twice"]));
    assert_eq!(document["duplicate_columns"], serde_json::json!([[1, 2]]));
    insta::assert_snapshot!(workshop.output(&["inspect", "--data", "leak.csv"]));
}

/// A column whose cells are empty in exactly the rows of one class gives the class away by its missing values.
#[test]
fn a_column_that_gives_the_label_away_by_its_gaps_is_named() {
    let workshop = Workshop::new();
    let end = |i: usize| if i.is_multiple_of(2) { String::new() } else { (i * i % 7).to_string() };
    let some = |i: usize| if i.is_multiple_of(4) { String::new() } else { (i * i % 5).to_string() };
    let rows: String = (0..24).map(|i| format!("{},{},{}\n", some(i), end(i), i % 2)).collect();
    workshop.write("gaps.csv", format!("some,end,label\n{rows}").as_bytes());
    let document = workshop.json(&["inspect", "--data", "gaps.csv", "--encode"]);
    assert_eq!(document["determining_columns"], serde_json::json!(["end"]));
}

/// A description counts the rows without a label, and describes the others.
#[test]
fn a_raw_table_is_described_without_its_rows_that_have_no_label() {
    let workshop = Workshop::new();
    workshop.write("gaps.csv", b"size,label\n1,a\n2,\n3,b\n4,NA\n5,a\n");
    let inspect = ["inspect", "--data", "gaps.csv", "--encode", "--quiet"];
    let document = workshop.json(&inspect);
    assert_eq!((&document["rows"], &document["unlabelled_rows"]), (&3.into(), &2.into()));
    assert_eq!(document["features"][0]["mean"], 3.0);
    workshop.write("a.svm", b"1 1:2\n-1 1:3\n");
    let output = workshop.run(&["inspect", "--data", "a.svm", "--encode"]);
    let told = text(&output.stderr);
    assert!(told.contains("svmlight file, which has no words and no missing values"), "{told}");
    let table = workshop.output(&inspect);
    assert!(table.contains("3, and 2 without a label; a fit needs --drop-unlabelled"), "{table}");
}

#[test]
fn several_files_are_one_table() {
    let workshop = Workshop::new();
    let table = raw();
    let (header, rows) = table.split_once('\n').expect("a header");
    let (first, rest) = rows.split_at(rows.find("n10,").expect("row 10"));
    workshop.write("raw.csv", table.as_bytes());
    workshop.write("a.csv", format!("{header}\n{first}").as_bytes());
    workshop.write("b.csv", format!("{header}\n{rest}").as_bytes());
    let fit = ["fit", "--lambda", "0.1", "--encode", "--drop", "id", "--data"];
    let whole = workshop.output(&[&fit[..], &["raw.csv"]].concat());
    let parts = workshop.output(&[&fit[..], &["a.csv", "b.csv"]].concat());
    assert_eq!(whole.replace("raw.csv", "a.csv, b.csv"), parts);
    let output = workshop.run(&[&fit[..], &["a.csv", "b.csv", "--out", "b.csv"]].concat());
    assert!(text(&output.stderr).contains("would overwrite the input --data b.csv"));
}

#[test]
fn learners_of_other_kinds_encode_and_keep_the_encoding() {
    let workshop = Workshop::new();
    workshop.write("raw.csv", raw().as_bytes());
    workshop.write("new.csv", b"town,age,code,member\nBern,,1,true\nBasel,33,2,false\n");
    let encoded = |command: &[&'static str]| [command, &ENCODE, &["id"]].concat();
    for command in [
        &["massart", "--learner", "auto", "--epsilon", "0.4", "--delta", "0.4", "--quiet"][..],
        &["focus", "--max-steps", "50", "--outputs", "3", "--quiet"],
        &["stream", "--lambda", "0.1", "--epochs", "3", "--standardize"],
    ] {
        let document = workshop.json(&[&encoded(command)[..], &["--out", "m.mgn"]].concat());
        let columns = document.get("data").unwrap_or(&document)["columns"].clone();
        assert_eq!(columns, 10, "{command:?}");
        let model = workshop.json(&["inspect", "--model", "m.mgn"]);
        assert_eq!(model["encoding"]["columns"].as_array().map(Vec::len), Some(4), "{command:?}");
        let document = workshop.json(&["predict", "--model", "m.mgn", "--data", "new.csv"]);
        assert_eq!(document["rows"], 2, "{command:?}");
        assert!(number(&document["predictions"][0]["score"]).is_finite(), "{command:?}");
    }
}

#[test]
fn one_pass_learns_no_encoding_and_says_what_does() {
    let workshop = Workshop::new();
    workshop.write("raw.csv", raw().as_bytes());
    let refusal = |command: &[&'static str]| {
        let output = workshop.run(&[command, &ENCODE, &["id"]].concat());
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        text(&output.stderr).lines().next().unwrap_or_default().to_owned()
    };
    let massart = ["massart", "--stream", "--eta", "0.2", "--gamma", "0.2"];
    let found = [refusal(&["stream", "--lambda", "0.1"]), refusal(&massart)];
    assert_eq!(
        found,
        [
            "error: --encode is not for one pass over a stream: medians and categories need \
             all rows. Add --epochs 1, which reads them into memory",
            "error: --encode is not for --stream: medians and categories need all rows. Leave out \
             --stream",
        ]
    );
}

/// A column that no fit would take is a row of the description of its table.
#[test]
fn a_column_of_too_many_levels_is_described() {
    let workshop = Workshop::new();
    let rows: String = (0..1200)
        .map(|i| format!("name {i},{},{},{}\n", i % 1100, ["a", "b"][i % 2], (i / 3) % 2))
        .collect();
    workshop.write("crowded.csv", format!("id,code,word,label\n{rows}").as_bytes());
    let inspect = ["inspect", "--data", "crowded.csv", "--encode", "--categorical", "code"];
    let document = workshop.json(&inspect);
    let columns = &document["raw_columns"];
    assert_eq!(columns[0]["too_many_levels"], 1200);
    assert_eq!(columns[1]["too_many_levels"], 1100);
    assert_eq!(columns[2]["levels"], serde_json::json!(["a", "b"]));
    assert!(columns[2]["too_many_levels"].is_null() && columns[0]["levels"].is_null());
    let shown = workshop.output(&inspect);
    let row =
        "id  categorical        0  1200, more than 1000: --drop it, or merge its rare categories";
    assert!(shown.contains(row), "{shown}");
    assert!(shown.contains("'id': every row has its own category"), "{shown}");
    let dropped = workshop.json(&[&inspect[..], &["--drop", "id"]].concat());
    assert_eq!(dropped["raw_columns"].as_array().map(Vec::len), Some(2));
    let fit = ["fit", "--lambda", "1", "--data", "crowded.csv", "--encode"];
    let refused = text(&workshop.run(&fit).stderr);
    assert!(refused.contains("column 'id' has more than 1000 categories"), "{refused}");
}

/// Leaving a column out, or naming one of codes, needs no further option, and the model takes raw rows.
#[test]
fn a_column_to_leave_out_or_of_codes_asks_for_an_encoding() {
    let workshop = Workshop::new();
    let table = crate::DATA.lines().enumerate().map(|(row, line)| match row {
        0 => format!("id,{line}\n"),
        _ => format!("row {row},{line}\n"),
    });
    workshop.write("named.csv", table.collect::<String>().as_bytes());
    let fit = ["fit", "--lambda", "0.1", "--format", "json", "--data"];
    let coef = |arguments: &[&str]| {
        let document: serde_json::Value =
            serde_json::from_str(&workshop.output(arguments)).expect("a document");
        document["fits"][0]["coef"].clone()
    };
    let plain = coef(&[&fit[..], &["data.csv"]].concat());
    let dropped = coef(&[&fit[..], &["named.csv", "--drop", "id", "--out", "m.json"]].concat());
    assert_eq!(plain, dropped);
    let predictions = workshop.json(&["predict", "--model", "m.json", "--data", "named.csv"]);
    assert_eq!(predictions["rows"], 12);
    let coded = workshop.json(&["inspect", "--data", "data.csv", "--categorical", "width"]);
    assert_eq!(coded["raw_columns"][1]["kind"], "categorical");
    assert_eq!(coded["raw_columns"][1]["levels"][0], "2.0");

    let stream = ["stream", "--lambda", "0.1", "--data", "named.csv", "--drop", "id"];
    let message = text(&workshop.run(&stream).stderr);
    assert!(message.starts_with("error: --drop is not for one pass over a stream"), "{message}");
    let drawn = ["fit", "--lambda", "0.1", "--data", "mixture:n=20", "--drop", "x"];
    let message = text(&workshop.run(&drawn).stderr);
    assert!(message.contains("--drop is for files, leave it out"), "{message}");
}

/// Columns that are no features are refused by what they have.
#[test]
fn the_label_is_neither_left_out_nor_of_codes() {
    let workshop = Workshop::new();
    let fit = ["fit", "--lambda", "0.1", "--data", "data.csv"];
    for (option, what) in [("--drop", "be left out"), ("--categorical", "hold codes")] {
        let message = text(&workshop.run(&[&fit[..], &[option, "label"]].concat()).stderr);
        let expected = format!(
            "error: data.csv, line 1: column 'label' cannot {what}: it has the labels (--label)\n"
        );
        assert_eq!(message, expected);
    }
    let folds = [&fit[..], &["--fold-column", "width", "--drop", "width"]].concat();
    let message = text(&workshop.run(&folds).stderr);
    assert!(message.contains("it has the folds (--fold-column)"), "{message}");
}

/// Numbers with a unit are words, and every one of them would become a feature without a word.
#[test]
fn a_column_with_a_level_for_every_row_is_noted() {
    let workshop = Workshop::new();
    let rows: String = (0..30).map(|i| format!("{i}kg,{},{}\n", i % 7, i % 2)).collect();
    workshop.write("units.csv", format!("mass,size,label\n{rows}").as_bytes());
    let fit = ["fit", "--lambda", "0.1", "--data", "units.csv", "--encode"];
    let note = "note: units.csv: column 'mass' has 30 categories in 30 rows, each of which becomes a feature. A number \
                with a unit or a decimal comma is read as a word: change it, or pass --drop mass.\n";
    assert_eq!(text(&workshop.run(&fit).stderr), note);
    assert_eq!(text(&workshop.run(&[&fit[..], &["--drop", "mass"]].concat()).stderr), "");
}

/// A word among numbers makes categories of them, which a note tells unless the word stands for missing values.
#[test]
fn a_word_among_numbers_is_noted() {
    let workshop = Workshop::new();
    let rows: String = (0..30).map(|i| format!("{i},{},{}\n", f64::from(i).sin(), i % 2)).collect();
    let table = format!("id,size,label\n{rows}").replacen("\n3,", "\nunknown,", 1);
    workshop.write("odd.csv", table.as_bytes());
    let fit = ["fit", "--lambda", "0.1", "--data", "odd.csv", "--encode"];
    let note = "note: odd.csv: column 'id' is encoded as categories, because it has 'unknown' among its numbers. \
                --missing-words sets the words for missing values\n";
    assert_eq!(text(&workshop.run(&fit).stderr), note);
    let words = ["--missing-words", "unknown"];
    assert_eq!(text(&workshop.run(&[&fit[..], &words].concat()).stderr), "");
    // --missing-words needs no --encode beside columns to leave out.
    let dropped = ["fit", "--lambda", "0.1", "--data", "odd.csv", "--drop", "id"];
    workshop.output(&[&dropped[..], &words].concat());
    let message = text(
        &workshop.run(&["fit", "--lambda", "0.1", "--data", "data.csv", words[0], "x"]).stderr,
    );
    assert!(message.contains("--encode|--categorical <COLUMN>|--drop <COLUMN>"), "{message}");
}

#[test]
fn parquet_needs_a_build_that_reads_it() {
    let workshop = Workshop::new();
    workshop.write("raw.parquet", b"PAR1");
    let output = workshop.run(&["inspect", "--data", "raw.parquet"]);
    let message = match cfg!(feature = "parquet") {
        true => "error: raw.parquet: EOF: Parquet file too small",
        false => {
            "error: raw.parquet: the format is Parquet, but must be one that this build reads: Parquet \
             needs the feature parquet\n"
        }
    };
    assert!(text(&output.stderr).starts_with(message), "{}", text(&output.stderr));
}
