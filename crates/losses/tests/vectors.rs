//! Values, derivatives and conjugates against reference vectors: `fixtures/README.md`.

use margins_losses::{LossRegistry, MarginLoss};
use serde_json::{Map, Value};

type Row = Map<String, Value>;

fn rows(text: &str) -> Vec<Row> {
    serde_json::from_str(text).expect("a list of rows")
}

fn number(row: &Row, key: &str) -> f64 {
    row.get(key).and_then(Value::as_f64).unwrap_or_else(|| panic!("{key} in {row:?}"))
}

/// The loss of a row: every number that is not one of `others` is a parameter.
fn loss_of(row: &Row, others: &[&str]) -> Box<dyn MarginLoss> {
    let name = row["loss"].as_str().expect("a name");
    let parameters: Vec<(String, f64)> = row
        .iter()
        .filter(|(key, _)| *key != "loss" && !others.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.as_f64().expect("a number")))
        .collect();
    LossRegistry::standard().build(name, &parameters).expect("a loss")
}

fn close(got: f64, want: f64, relative: f64) -> bool {
    (got - want).abs() <= (relative * want.abs()).max(1e-15)
}

#[test]
fn losses() {
    let rows = rows(include_str!("fixtures/losses.json"));
    assert!(rows.len() >= 500);
    let mut faults = Vec::new();
    for row in &rows {
        let loss = loss_of(row, &["margin", "value", "derivative", "second_derivative"]);
        let u = number(row, "margin");
        let mut batch = [[f64::NAN]; 3];
        loss.values(&[u], &mut batch[0]);
        loss.derivatives(&[u], &mut batch[1]);
        loss.second_derivatives(&[u], &mut batch[2]);
        let scalar = [loss.value(u), loss.derivative(u), loss.second_derivative(u)];
        for (i, key) in ["value", "derivative", "second_derivative"].into_iter().enumerate() {
            let want = number(row, key);
            for (form, got) in [("scalar", scalar[i]), ("batch", batch[i][0])] {
                if !close(got, want, 1e-14) {
                    faults.push(format!(
                        "{} at {u}, {form} {key}: {got:e}, not {want:e}",
                        loss.specification()
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn conjugates() {
    let rows = rows(include_str!("fixtures/conjugates.json"));
    assert!(rows.len() >= 100);
    let mut faults = Vec::new();
    for row in &rows {
        let loss = loss_of(row, &["t", "conjugate"]);
        let (t, want) = (number(row, "t"), number(row, "conjugate"));
        let got = loss.conjugate(t);
        if !close(got, want, 1e-13) {
            faults.push(format!("{} at t = {t}: {got:e}, not {want:e}", loss.specification()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
