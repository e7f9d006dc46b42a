//! The score of every class, from the scores of the members.

use margins_model::{Model, Scheme};
use nalgebra::DMatrix;

/// Returns the score of every class, one per column, for every sample, one per row, from those of the
/// members. The class of the largest score is the one that is decided, but for ties. The scores of
/// two classes differ by that of their member.
///
/// One-versus-one: the number of pairs that the class wins, with the sum of its signed scores, which
/// decides between as many wins, brought to less than a third.
pub(crate) fn class_scores(model: &Model, scores: &DMatrix<f64>) -> DMatrix<f64> {
    let (rows, classes) = (scores.nrows(), model.classes().len());
    match model.scheme() {
        Scheme::Binary | Scheme::Majority | Scheme::DecisionList => {
            DMatrix::from_fn(rows, 2, |row, class| [-0.5, 0.5][class] * scores[(row, 0)])
        }
        Scheme::OneVersusRest
        | Scheme::Joint
        | Scheme::Multinomial
        | Scheme::CrammerSinger
        | Scheme::MajorityVersusRest
        | Scheme::Plurality => scores.clone(),
        Scheme::OneVersusOne => {
            let mut all = DMatrix::zeros(rows, classes);
            for row in 0..rows {
                let of_members: Vec<f64> = scores.row(row).iter().copied().collect();
                let standings = Scheme::standings(classes, &of_members);
                for (class, (wins, sum)) in standings.into_iter().enumerate() {
                    all[(row, class)] = wins as f64 + sum / (3.0 * (sum.abs() + 1.0));
                }
            }
            all
        }
    }
}

/// Returns the margin of a sample: the score of its class less the largest of the others.
pub(crate) fn margin(scores: &DMatrix<f64>, row: usize, class: usize) -> f64 {
    let others = (0..scores.ncols()).filter(|&other| other != class);
    let largest = others.map(|other| scores[(row, other)]).fold(f64::NEG_INFINITY, f64::max);
    scores[(row, class)] - largest
}
