//! Predictions as CSV.

use margins::{Model, Scheme};

use super::scored::Scored;
use crate::output::table::csv_cell;

/// CSV with a row per sample. With one score it has score, label and, where there is one, probability;
/// with several the label, the scores under the names of the members, and the probabilities under
/// those of the classes.
pub(super) struct CsvRows<'m> {
    model: &'m Model,
    /// The names of the classes as cells.
    labels: Vec<String>,
}

impl<'m> CsvRows<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        let labels = model.classes().iter().map(|name| csv_cell(name)).collect();
        CsvRows { model, labels }
    }

    /// Returns the header.
    pub(super) fn header(&self, with_probabilities: bool) -> Vec<u8> {
        let model = self.model;
        let mut names = Vec::new();
        if model.scores_per_sample() == 1 {
            names.extend(["score".to_owned(), "label".to_owned()]);
            names.extend(with_probabilities.then(|| "probability".to_owned()));
        } else {
            names.push("label".to_owned());
            names.extend(members(model).iter().map(|name| csv_cell(&format!("score {name}"))));
            let classes = if with_probabilities { model.classes() } else { &[] };
            names.extend(classes.iter().map(|name| csv_cell(&format!("probability {name}"))));
        }
        (names.join(",") + "\n").into_bytes()
    }

    /// Returns the rows of predictions.
    pub(super) fn of(&self, scored: &Scored) -> Vec<u8> {
        let members = self.model.scores_per_sample();
        let each = if members == 1 { 1 } else { self.model.classes().len() };
        let numbers = scored.scores.len() + scored.probabilities.as_ref().map_or(0, Vec::len);
        let longest = self.labels.iter().map(String::len).max().unwrap_or_default();
        let mut text =
            Vec::with_capacity(scored.rows() * (longest + 1) + numbers * (LONGEST_NUMBER + 1));
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

/// The most bytes of a decimal.
const LONGEST_NUMBER: usize = 24;

/// Appends the shortest decimal that is read back as the number.
fn push_number(text: &mut Vec<u8>, number: f64) {
    const HALF: usize = 16;
    let mut buffer = zmij::Buffer::new();
    let digits = buffer.format(number).as_bytes();
    match (digits.first_chunk::<HALF>(), digits.last_chunk::<HALF>()) {
        // Two pieces of a length that is known, which may overlap, are copied faster than one of any.
        (Some(first), Some(last)) => {
            let end = text.len() + digits.len();
            text.extend_from_slice(first);
            text.truncate(end - HALF);
            text.extend_from_slice(last);
        }
        _ => text.extend_from_slice(digits),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_are_written_whole() {
        let numbers = [0.0, -0.5, 1e-300, 0.1 + 0.2, -1.797_693_134_862_315_7e308, 1.0 / 3.0]
            .into_iter()
            .chain((0..24).map(|k| 1.0 + f64::powi(0.5, 2 * k)));
        for number in numbers {
            let mut text = b"x,".to_vec();
            push_number(&mut text, number);
            let written = std::str::from_utf8(&text).expect("text").strip_prefix("x,");
            let written = written.expect("what was there");
            assert_eq!(written, zmij::Buffer::new().format(number));
            assert!(written.len() <= LONGEST_NUMBER && written.parse() == Ok(number), "{written}");
        }
    }
}
