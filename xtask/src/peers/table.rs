//! The table in the page.

use std::fs;
use std::path::Path;

use margins::data::digits;
use margins::model::write_atomically;
use serde_json::Value;

use super::result_file;
use super::rows::Row;
use crate::Outcome;

const BEGIN: &str = "<!-- cargo xtask peers: begin -->";
const END: &str = "<!-- cargo xtask peers: end -->";

/// Puts the table of all stored results into the page; rows without one stay as the page has them.
pub(super) fn replace(page: &Path, rows: &[Row], work: &Path) -> Outcome {
    let text = fs::read_to_string(page)?;
    let parts = text.split_once(BEGIN).and_then(|(a, rest)| Some((a, rest.split_once(END)?.1)));
    let Some((before, after)) = parts else {
        return Err(format!("{} has no lines {BEGIN} and {END}", page.display()).into());
    };
    let old = &text[before.len()..text.len() - after.len()];
    let table = table(rows, old, |row| {
        serde_json::from_str(&fs::read_to_string(result_file(row, work)).ok()?).ok()
    });
    let text = format!("{before}{BEGIN}\n\n{table}\n{END}{after}");
    Ok(write_atomically(page, |out| out.write_all(text.as_bytes()))?)
}

/// Returns the table as Markdown. A row without a result is the one of the old table, or is marked if
/// it was never run; a row without its opponent is marked.
fn table(rows: &[Row], old: &str, result: impl Fn(&Row) -> Option<Value>) -> String {
    let mut text = String::from(
        "| work | other program | margins | other | memory of margins | excess of other | error of margins | of other |\n\
         | --- | --- | --: | --: | --: | --: | --: | --: |\n",
    );
    for row in rows {
        let head = format!("| {} | {} ", row.in_words(), row.opponent.in_words());
        if let Some(result) = result(row) {
            text += &format!("{head}{}\n", cells(&result));
        } else if let Some(line) = old.lines().find(|line| is_result(line, &head)) {
            text += &format!("{line}\n");
        } else {
            text += &format!("{head}| not run | | | | | |\n");
        }
    }
    text
}

/// Returns true if a line of a table is the result of the row that begins like this.
fn is_result(line: &str, head: &str) -> bool {
    line.strip_prefix(head).is_some_and(|rest| !rest.starts_with("| not run"))
}

fn cells(result: &Value) -> String {
    let (ours, theirs) = (&result["ours"], &result["theirs"]);
    let seconds =
        |side: &Value| number(&side["seconds"], |s| format!("{} s", digits::number(s, 2)));
    // A program that was stopped would have taken longer.
    let stopped = theirs["ended"] == false;
    let opponent = match (theirs.is_null(), stopped) {
        (true, _) => "missing".to_owned(),
        (false, true) => format!("above {}", seconds(theirs)),
        (false, false) => seconds(theirs),
    };
    let percent = |value: &Value| number(value, |error| digits::percent(error) + " %");
    let cells = [
        seconds(ours),
        opponent,
        number(&ours["memory"], |bytes| format!("{} GB", digits::number(bytes / 1e9, 2))),
        number(&result["above"], |above| digits::number(above, 1)),
        percent(&least_error(&ours["answer"])),
        percent(&theirs["answer"]["error"]),
    ];
    format!("| {} |", cells.join(" | "))
}

/// Returns the lowest cross-validated error over kernels and lambdas.
fn least_error(answer: &Value) -> Value {
    let list = |key: &str| answer[key].as_array().cloned().unwrap_or_default();
    let kernels = list("kernels").into_iter().filter_map(|kernel| kernel["least_error"].as_f64());
    let lambdas = list("lambdas").into_iter().filter_map(|cell| cell["mean_error"].as_f64());
    kernels.chain(lambdas).reduce(f64::min).map_or(Value::Null, Value::from)
}

fn number(value: &Value, show: impl Fn(f64) -> String) -> String {
    value.as_f64().map(show).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::peers::rows;

    #[test]
    fn rows_have_names_of_their_own_and_what_was_not_run_says_so() {
        let rows = rows::all();
        let mut names: Vec<String> = rows.iter().map(Row::name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), rows.len());
        let text = table(&rows, "", |_| None);
        assert_eq!(text.matches("| not run |").count(), rows.len());
    }

    #[test]
    fn a_result_fills_its_row() {
        let answer = json!({
            "lambdas": [{"mean_error": 0.25}, {"mean_error": 0.2}],
        });
        let result = json!({
            "above": 0.02,
            "ours": {"seconds": 1.0, "memory": 5e8, "answer": answer},
            "theirs": {"seconds": 2.0, "answer": {"error": 0.21}},
        });
        let rows = rows::all();
        let text = table(&rows[..1], "", |_| Some(result.clone()));
        let cells = "| 1 s | 2 s | 0.5 GB | 0.02 | 20.0 % | 21.0 % |";
        assert!(text.contains(cells), "{text}");
        let mut late = result.clone();
        late["theirs"] = json!({"seconds": 40.0, "ended": false});
        let text = table(&rows[..1], "", |_| Some(late.clone()));
        assert!(text.contains("| 1 s | above 40 s |"), "{text}");
        let text = table(&rows[..1], "", |_| Some(result.clone()));
        // Another folder keeps what the page knows of rows that it has no result of.
        let two = table(&rows[..2], &text, |row| (row.name() == rows[1].name()).then(|| json!({})));
        assert!(two.contains(cells) && two.contains("| missing |"), "{two}");
    }
}
