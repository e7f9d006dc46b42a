//! The evaluation of a model on labelled samples.

use margins_calibration::location::MarginLocation;
use margins_data::metrics::mistake_rate;
use margins_losses::MarginLoss;
use margins_model::{Model, Scheme};
use nalgebra::DMatrix;
use serde::Serialize;

use crate::Error;
use crate::class_evaluation::{ClassEvaluation, Side};
use crate::class_scores::{class_scores, margin};
use crate::data::Labelled;
use crate::measured::Measured;
use crate::points::quantiles;

/// The samples of the smallest margins that are listed.
const HARDEST: usize = 10;

/// The evaluation of a model on labelled samples, by weight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// The name of the data.
    pub data: String,
    /// The share of mistakes.
    pub error: Measured,
    /// The decisions of each class.
    pub confusion: Confusion,
    /// The margins at the quantiles 0, 0.005, ..., 1: of two classes the score for the class of the
    /// sample, of more the score of its class less the largest of the others.
    pub margins: Vec<f64>,
    /// The location of the margins beside gamma, of two classes by the margin-pursuit loss.
    pub location: Option<MarginLocation>,
    /// The same of every member, of several classes one against the rest or in pairs.
    pub locations: Vec<MemberLocation>,
    /// Each class against the rest.
    pub classes: Vec<ClassEvaluation>,
    /// The samples of the smallest margins, the smallest first.
    pub hardest: Vec<HardSample>,
}

/// The location of the margins of a member, of the samples of its classes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemberLocation {
    /// The classes that the member distinguishes, in words.
    pub member: String,
    /// The location.
    #[serde(flatten)]
    pub location: MarginLocation,
}

/// The weight of the samples of each class that was decided for each: their number, where none has
/// a weight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Confusion {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// A row a true class, in it a weight a decision.
    pub weights: Vec<Vec<f64>>,
}

/// A sample on which the model errs most, or is least sure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HardSample {
    /// The row of the file, from 1, including rows left out.
    pub row: usize,
    /// The class that the data say.
    pub label: String,
    /// The class that the model decides for.
    pub decided: String,
    /// The margin.
    pub margin: f64,
    /// The probability of the class that the data say, if there are probabilities.
    pub probability: Option<f64>,
}

impl Evaluation {
    /// Evaluates a model from its scores, a row per sample and a column per member.
    pub(crate) fn new(
        sample: &Labelled<'_>,
        model: &Model,
        loss: &dyn MarginLoss,
        scores: &DMatrix<f64>,
    ) -> Result<Self, Error> {
        let decide = |row: usize| -> usize {
            model.decide(&scores.row(row).iter().copied().collect::<Vec<f64>>())
        };
        let decided: Vec<usize> = (0..scores.nrows()).map(decide).collect();
        let mistakes: Vec<bool> =
            decided.iter().zip(&sample.classes).map(|(decided, class)| decided != class).collect();
        let by_class = class_scores(model, scores);
        let margins: Vec<f64> =
            sample.classes.iter().enumerate().map(|(row, &c)| margin(&by_class, row, c)).collect();
        let probabilities = probabilities(model, loss, scores)?;
        let mut evaluation = Evaluation {
            data: sample.name.to_owned(),
            error: mistake_rate(&mistakes, sample.weights)?.into(),
            confusion: Confusion::new(model.classes(), sample, &decided),
            margins: quantiles(&margins, sample.weights)?,
            location: match model.members() {
                [_] => MarginLocation::of_loss(loss, &margins, sample.weights).unwrap_or(None),
                _ => None,
            },
            locations: locations(sample, model, loss, scores),
            classes: Vec::with_capacity(model.classes().len()),
            hardest: hardest(sample, model, &decided, &margins, probabilities.as_ref()),
        };
        for (class, name) in model.classes().iter().enumerate() {
            let (signs, scores) = (sample.signs(class), by_class.column(class));
            let probabilities = probabilities.as_ref().map(|p| p.column(class));
            let side = Side {
                signs: &signs,
                weights: sample.weights,
                scores: scores.as_slice(),
                margins: &margins,
                probabilities: probabilities.as_ref().map(nalgebra::Matrix::as_slice),
            };
            let found = ClassEvaluation::new(name, &side)?;
            let is_turned = model.classes().len() == 2 && class == 0;
            evaluation.classes.push(match is_turned {
                true => found,
                false => found.against_the_rest(&side)?,
            });
        }
        Ok(evaluation)
    }
}

/// Returns the location of the margins of every member, of several classes one against the rest or in
/// pairs, for a loss that aims at a level.
fn locations(
    sample: &Labelled<'_>,
    model: &Model,
    loss: &dyn MarginLoss,
    scores: &DMatrix<f64>,
) -> Vec<MemberLocation> {
    let count = model.classes().len();
    // The positive and the negative class of every member; all others are negative without one.
    let sides: Vec<(usize, Option<usize>)> = match model.scheme() {
        Scheme::OneVersusRest => (0..count).map(|class| (class, None)).collect(),
        Scheme::OneVersusOne => Scheme::pairs(count).map(|(i, j)| (j, Some(i))).collect(),
        _ => return Vec::new(),
    };
    let names = model.scheme().member_names(model.classes()).into_iter();
    let of_member = |(at, (member, sides)): (usize, (String, (usize, Option<usize>)))| {
        let (positive, negative) = sides;
        let takes_part =
            |class: usize| class == positive || negative.is_none_or(|negative| class == negative);
        let rows = (0..scores.nrows()).filter(|&row| takes_part(sample.classes[row]));
        let margin = |row: usize| {
            let sign = if sample.classes[row] == positive { 1.0 } else { -1.0 };
            (sign * scores[(row, at)], sample.weights.map_or(1.0, |weights| weights[row]))
        };
        let (margins, weights): (Vec<f64>, Vec<f64>) = rows.map(margin).unzip();
        let location = MarginLocation::of_loss(loss, &margins, Some(&weights)).ok()??;
        Some(MemberLocation { member, location })
    };
    names.zip(sides).enumerate().filter_map(of_member).collect()
}

/// Returns the probability of every class, one per column; `None` if the model has none.
fn probabilities(
    model: &Model,
    loss: &dyn MarginLoss,
    scores: &DMatrix<f64>,
) -> Result<Option<DMatrix<f64>>, Error> {
    match model.class_probabilities(scores, loss) {
        // Rounding may lead beyond the ends.
        Ok(probabilities) => Ok(Some(probabilities.map(|p| p.clamp(0.0, 1.0)))),
        Err(margins_model::Error::NoProbabilities(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the samples of the smallest margins among those that count.
fn hardest(
    sample: &Labelled<'_>,
    model: &Model,
    decided: &[usize],
    margins: &[f64],
    probabilities: Option<&DMatrix<f64>>,
) -> Vec<HardSample> {
    let counts = |row: &usize| sample.weights.is_none_or(|weights| weights[*row] > 0.0);
    let mut order: Vec<usize> = (0..margins.len()).filter(counts).collect();
    order.sort_by(|&i, &j| margins[i].total_cmp(&margins[j]));
    let hard = |&row: &usize| {
        let class = sample.classes[row];
        HardSample {
            row: sample.row(row),
            label: model.classes()[class].clone(),
            decided: model.classes()[decided[row]].clone(),
            margin: margins[row],
            probability: probabilities.map(|probabilities| probabilities[(row, class)]),
        }
    };
    order.iter().take(HARDEST).map(hard).collect()
}

impl Confusion {
    fn new(classes: &[String], sample: &Labelled<'_>, decided: &[usize]) -> Self {
        let mut weights = vec![vec![0.0; classes.len()]; classes.len()];
        for (row, (&class, &decided)) in sample.classes.iter().zip(decided).enumerate() {
            weights[class][decided] += sample.weights.map_or(1.0, |weights| weights[row]);
        }
        Confusion { classes: classes.to_vec(), weights }
    }
}
