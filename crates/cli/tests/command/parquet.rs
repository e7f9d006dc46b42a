//! Parquet, in a build that reads it.

use crate::{Workshop, text};

/// The rows of `DATA` in row groups of five, with an eighth row that has no label. pyarrow wrote them.
const ROW_GROUPS: &[u8] = include_bytes!("../fixtures/row_groups.parquet");

fn workshop() -> Workshop {
    let workshop = Workshop::new();
    workshop.write("rows.parquet", ROW_GROUPS);
    workshop
}

/// The note on the row without a label.
const NOTE: &str = "note: 1 row without a label is left out of rows.parquet\n";

#[test]
fn a_stream_ends_where_that_of_the_same_table_as_csv_ends() {
    let workshop = workshop();
    let massart = ["massart", "--stream", "--eta", "0.3", "--gamma", "0.3"];
    for command in [&["stream", "--lambda", "0.1"][..], &massart] {
        let run = |data: &[&str]| {
            let common = [command, &["--format", "json", "--out", "m.json", "--data"], data];
            let output = workshop.run(&common.concat());
            assert!(output.status.success(), "{}", text(&output.stderr));
            assert_eq!(text(&output.stderr).contains(NOTE), data.len() == 2);
            let model = std::fs::read(workshop.path("m.json")).expect("a model");
            (text(&output.stdout).replace("rows.parquet", "data.csv"), model)
        };
        assert_eq!(run(&["rows.parquet", "--drop-unlabelled"]), run(&["data.csv"]), "{command:?}");
    }
}

#[test]
fn a_stream_names_the_row_without_a_label() {
    let output = workshop().run(&["stream", "--lambda", "0.1", "--data", "rows.parquet"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stderr),
        "error: rows.parquet, row 7, column 'label': the cell is empty, but every row needs a label. Add \
         --drop-unlabelled to drop rows without a label\n"
    );
}

#[test]
fn predictions_leave_the_same_row_out() {
    let workshop = workshop();
    workshop.output(&["fit", "--data", "data.csv", "--lambda", "0.1", "--out", "m.json"]);
    let predict = ["predict", "--model", "m.json", "--data"];
    let output = workshop.run(&[&predict[..], &["rows.parquet", "--drop-unlabelled"]].concat());
    assert_eq!(text(&output.stderr), NOTE);
    assert_eq!(text(&output.stdout), workshop.output(&[&predict[..], &["data.csv"]].concat()));
}
