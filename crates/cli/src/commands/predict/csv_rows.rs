//! Predictions as CSV.

use margins::{Model, Scheme};

use super::scored::Scored;

/// CSV with a row a sample. With one member it has score, label and, where there is one, probability;
/// with several the label, the scores under the names of the members, and the probabilities under
/// those of the classes.
pub(super) struct CsvRows<'m> {
    model: &'m Model,
    /// The names of the classes as cells.
    labels: Vec<String>,
}

impl<'m> CsvRows<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        let labels = model.classes().iter().map(|name| cell(name)).collect();
        CsvRows { model, labels }
    }

    /// Returns the header.
    pub(super) fn header(&self, with_probabilities: bool) -> Vec<u8> {
        let model = self.model;
        let mut names = Vec::new();
        if model.members().len() == 1 {
            names.extend(["score".to_owned(), "label".to_owned()]);
            names.extend(with_probabilities.then(|| "probability".to_owned()));
        } else {
            names.push("label".to_owned());
            names.extend(members(model).iter().map(|name| cell(&format!("score {name}"))));
            let classes = if with_probabilities { model.classes() } else { &[] };
            names.extend(classes.iter().map(|name| cell(&format!("probability {name}"))));
        }
        (names.join(",") + "\n").into_bytes()
    }

    /// Returns the rows of predictions.
    pub(super) fn of(&self, scored: &Scored) -> Vec<u8> {
        let members = self.model.members().len();
        let each = if members == 1 { 1 } else { self.model.classes().len() };
        let mut text = Vec::new();
        for (row, &class) in scored.classes.iter().enumerate() {
            let scores = &scored.scores[row * members..(row + 1) * members];
            let probabilities = scored
                .probabilities
                .as_ref()
                .map_or(&[][..], |all| &all[row * each..(row + 1) * each]);
            let label = self.labels[class].as_bytes();
            match scores {
                [score] => {
                    push_number(&mut text, *score);
                    text.push(b',');
                    text.extend(label);
                }
                _ => text.extend(label),
            }
            let others = if members == 1 { &[] } else { scores };
            for &number in others.iter().chain(probabilities) {
                text.push(b',');
                push_number(&mut text, number);
            }
            text.push(b'\n');
        }
        text
    }
}

/// Appends the shortest decimal that is read back as the number.
fn push_number(text: &mut Vec<u8>, number: f64) {
    text.extend_from_slice(zmij::Buffer::new().format(number).as_bytes());
}

/// Returns the names of the members.
fn members(model: &Model) -> Vec<String> {
    let classes = model.classes();
    match model.scheme() {
        Scheme::OneVersusOne => Scheme::pairs(classes.len())
            .map(|(i, j)| format!("{} against {}", classes[j], classes[i]))
            .collect(),
        _ => classes.to_vec(),
    }
}

/// Returns a text as a cell, in quotes if it needs them.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
