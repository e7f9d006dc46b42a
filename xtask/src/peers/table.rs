//! The table in the page.

use std::fs;
use std::path::Path;

use margins::model::write_atomically;
use serde_json::Value;

use super::result_file;
use super::rows::Row;
use crate::Outcome;

const BEGIN: &str = "<!-- cargo xtask peers: begin -->";
const END: &str = "<!-- cargo xtask peers: end -->";
/// What goes before the days of the measurements, and between two of them.
const MEASURED: &str = "Measured on ";
const BETWEEN: &str = "; on ";

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
        "| work | opponent | ours | theirs | ratio | goal | our memory | our gap | their excess | our error | their error | turns |\n\
         | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    let mut days = Vec::new();
    let mut add = |day: String| {
        if !days.contains(&day) {
            days.push(day);
        }
    };
    for row in rows {
        let head = format!("| {} | {} ", row.in_words(), row.opponent.in_words());
        if let Some(result) = result(row) {
            text += &format!("{head}{}\n", cells(row, &result));
            add(format!("{}, {}", string(&result["date"]), string(&result["machine"])));
        } else if let Some(line) = old.lines().find(|line| is_result(line, &head)) {
            text += &format!("{line}\n");
            let measured = old.lines().find_map(|line| line.strip_prefix(MEASURED));
            let listed = measured.and_then(|days| days.strip_suffix('.')).unwrap_or_default();
            listed.split(BETWEEN).for_each(|day| add(day.to_owned()));
        } else {
            text += &format!("{head}| not run | | | {} | | | | | | |\n", row.goal);
        }
    }
    format!("{text}\n{MEASURED}{}.\n", days.join(BETWEEN))
}

/// Returns true if a line of a table is the result of the row that begins like this.
fn is_result(line: &str, head: &str) -> bool {
    line.strip_prefix(head).is_some_and(|rest| !rest.starts_with("| not run"))
}

fn cells(row: &Row, result: &Value) -> String {
    let (ours, theirs) = (&result["ours"], &result["theirs"]);
    let seconds = |side: &Value| number(&side["seconds"], |s| format!("{s:.2} s"));
    // A program that was stopped would have taken longer.
    let stopped = theirs["ended"] == false;
    let ratio = |ratio: f64| match stopped {
        true => format!("below {:.2}", (100.0 * ratio).ceil() / 100.0),
        false => format!("{ratio:.2}"),
    };
    let opponent = match (theirs.is_null(), stopped) {
        (true, _) => "missing".to_owned(),
        (false, true) => format!("above {}", seconds(theirs)),
        (false, false) => seconds(theirs),
    };
    let percent = |value: &Value| number(value, |error| format!("{:.2} %", 100.0 * error));
    let cells = [
        seconds(ours),
        opponent,
        number(&result["ratio"], ratio),
        row.goal.to_string(),
        number(&ours["memory"], |bytes| format!("{:.2} GB", bytes / 1e9)),
        number(&worst_gap(&ours["answer"]), |gap| format!("{gap:.0e}")),
        number(&result["above"], |above| format!("{above:.0e}")),
        percent(&least_error(&ours["answer"])),
        percent(&theirs["answer"]["error"]),
        number(&result["runs"], |runs| format!("{runs}")),
    ];
    format!("| {} |", cells.join(" | "))
}

/// Returns the largest relative gap of our fits, of cross-validated ones and the last one alike.
fn worst_gap(answer: &Value) -> Value {
    let of = |list: &Value, key: &str| -> Vec<f64> {
        list.as_array().into_iter().flatten().filter_map(|entry| entry[key].as_f64()).collect()
    };
    let mut gaps = of(&answer["lambdas"], "worst_relative_gap");
    gaps.extend(of(&answer["fits"], "relative_gap"));
    gaps.extend(answer["fit"]["relative_gap"].as_f64());
    gaps.into_iter().reduce(f64::max).map_or(Value::Null, Value::from)
}

/// Returns the least cross-validated error over kernels and lambdas.
fn least_error(answer: &Value) -> Value {
    let list = |key: &str| answer[key].as_array().cloned().unwrap_or_default();
    let kernels = list("kernels").into_iter().filter_map(|kernel| kernel["least_error"].as_f64());
    let lambdas = list("lambdas").into_iter().filter_map(|cell| cell["mean_error"].as_f64());
    kernels.chain(lambdas).reduce(f64::min).map_or(Value::Null, Value::from)
}

fn number(value: &Value, show: impl Fn(f64) -> String) -> String {
    value.as_f64().map(show).unwrap_or_default()
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or("an unknown day")
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
            "lambdas": [{"worst_relative_gap": 2e-7, "mean_error": 0.25}, {"worst_relative_gap": 9e-7, "mean_error": 0.2}],
            "fit": {"relative_gap": 1e-7},
        });
        let result = json!({
            "date": "1 May 2026", "machine": "2 cores", "runs": 3, "ratio": 0.5, "above": 0.02,
            "ours": {"seconds": 1.0, "memory": 5e8, "answer": answer},
            "theirs": {"seconds": 2.0, "answer": {"error": 0.21}},
        });
        let rows = rows::all();
        let text = table(&rows[..1], "", |_| Some(result.clone()));
        let cells =
            "| 1.00 s | 2.00 s | 0.50 | 1.5 | 0.50 GB | 9e-7 | 2e-2 | 20.00 % | 21.00 % | 3 |";
        assert!(text.contains(cells), "{text}");
        assert!(text.contains("Measured on 1 May 2026, 2 cores."));
        let mut late = result.clone();
        late["theirs"] = json!({"seconds": 40.0, "ended": false});
        late["ratio"] = json!(0.021);
        let text = table(&rows[..1], "", |_| Some(late.clone()));
        assert!(text.contains("| 1.00 s | above 40.00 s | below 0.03 |"), "{text}");
        let text = table(&rows[..1], "", |_| Some(result.clone()));
        // Another folder keeps what the page knows of rows that it has no result of.
        let two = table(&rows[..2], &text, |row| {
            let later = json!({"date": "2 May 2026", "machine": "2 cores"});
            (row.name() == rows[1].name()).then_some(later)
        });
        assert!(two.contains(cells), "{two}");
        assert!(two.contains("Measured on 1 May 2026, 2 cores; on 2 May 2026, 2 cores."));
    }
}
