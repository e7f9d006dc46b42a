//! Halfspaces of several classes, each against the rest.

use margins_data::metrics::{error_bound, mistake_rate};
use margins_data::{ClassLabels, Classes, Dataset};
use margins_losses::LeakyRelu;
use margins_massart::{Plan, held_out_rows};
use margins_model::{Model, Registry, Scheme, TrainingSummary};
use margins_optim::Status;
use margins_optim::method::Limits;

use super::answer::{Answer, Source};
use super::features::{baseline, wrong_weight};
use super::{FittedHalfspace, HalfspaceMethod, HalfspaceSettings, sample_of};
use crate::against_rest::each_against_rest;
use crate::linear_model::linear_model_of_classes;
use crate::{Error, Evidence};

/// Halfspaces of several classes, each learned against the rest, that decide together.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FittedHalfspaces {
    /// A member for each class: the class of the largest score. The halfspace w_k of a class has the
    /// norm 1 among the features that the learner sees, where all rows are divided by the same
    /// numbers, so that the scores of the classes compare. The loss is that of the largest noise
    /// rate.
    pub model: Model,
    /// The bound on the error of the halfspaces together, from the rows held out.
    pub evidence: Evidence,
    /// The halfspace of each class against the rest, in the order of the classes. Its errors and its
    /// bound are those of this class against the rest.
    pub classes: Vec<FittedHalfspace>,
    /// The number of rows of positive weight, those held out among them.
    pub rows: usize,
    /// The number of rows held out, the same rows for every class.
    pub held_out: usize,
    /// The share of them that the halfspaces together get wrong, by weight.
    pub held_out_error: f64,
    /// The share of all rows that they get wrong, by weight.
    pub training_error: f64,
    /// The share, by weight, of the rows that are not of the largest class.
    pub baseline: f64,
    /// [`Status::RuleMet`] if the learner of every class ended so, and else the end of the first one
    /// that did not.
    pub status: Status,
}

impl HalfspaceMethod {
    /// Returns the largest number of rows that the learner holds out.
    fn most_held_out(&self) -> usize {
        match self {
            HalfspaceMethod::Gradient { plan, .. } => plan.selection,
            HalfspaceMethod::Cuts { problem, .. }
            | HalfspaceMethod::Baseline { problem, .. }
            | HalfspaceMethod::Partition { problem } => Plan::practical(problem).selection,
            HalfspaceMethod::Adaptive { .. } => usize::MAX,
        }
    }
}

impl HalfspaceSettings {
    /// Learns a halfspace for each of several classes against the rest, from data in memory: one
    /// division into rows to learn from and rows held out, one scaling, and as many fits as classes,
    /// [in parallel](margins_data::parallel), which share the time limit.
    ///
    /// The guarantees are those of each class against the rest, where a halfspace has to have the
    /// margin: a stronger assumption than that some halfspaces together decide the classes. If every
    /// halfspace is right on a row, one score is at least 0 and all others are negative, so the decision
    /// is right. The error is therefore at most the sum of the errors of the K halfspaces: at most
    /// `K (eta + epsilon)` with probability `1 - K delta`, if the theorem holds for each of them. The
    /// bound of the result is on the error itself ([`error_bound`]).
    ///
    /// ```
    /// use margins_data::{Classes, Dataset, Design};
    /// use margins_estimators::massart::{HalfspaceMethod, HalfspaceSettings};
    /// use margins_massart::{Problem, Target};
    ///
    /// let angles: Vec<f64> = (0..600).map(|i| f64::from(i) * 0.7).collect();
    /// let third = std::f64::consts::TAU / 3.0;
    /// let near = |t: f64| (t / third).round() * third;
    /// let rows: Vec<[f64; 2]> = angles
    ///     .iter()
    ///     .map(|&t| near(t) + 0.5 * (t - near(t)))
    ///     .map(|t| [t.cos(), t.sin()])
    ///     .collect();
    /// let names: Vec<String> =
    ///     angles.iter().map(|t| format!("{}", (t / third).round() % 3.0)).collect();
    /// let data = Dataset::new(Design::from_rows(&rows)?, Classes::new(&names)?)?;
    /// let problem = Problem::new(0.05, 0.2)?.with_target(Target::new(0.1, 0.1)?);
    /// let fitted = HalfspaceSettings::new(HalfspaceMethod::gradient(problem)).fit_classes(&data)?;
    /// assert_eq!((fitted.classes.len(), fitted.model.members().len()), (3, 3));
    /// assert!(fitted.training_error < 0.05, "{}", fitted.training_error);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`fit`](Self::fit). [`Error::Contradiction`]: a learner of decision lists.
    pub fn fit_classes(&self, data: &Dataset<Classes>) -> Result<FittedHalfspaces, Error> {
        if let HalfspaceMethod::Partition { .. } = self.method {
            return Err(Error::contradiction(
                "a decision list".to_owned(),
                "several classes".to_owned(),
                "the scores of its rules cannot be compared between classes",
            ));
        }
        self.on_threads(|| self.fit_classes_here(data))
    }

    fn fit_classes_here(&self, data: &Dataset<Classes>) -> Result<FittedHalfspaces, Error> {
        let chosen = self.weighted_rows(data)?;
        let (rows, data) = (data.rows(), chosen.as_ref().unwrap_or(data));
        let limits = self.iterations.limits(self.time_limit);
        let (features, design, divisor) = self.prepared(data)?;
        let (labels, weights) = (data.labels(), data.weights());
        let total = weights.map_or(data.rows() as f64, |weights| weights.iter().sum());
        let names = || data.feature_names().map(<[String]>::to_vec);
        let learned = each_against_rest(labels, limits.deadline, |_, labels, deadline| {
            let sample = sample_of(&design, labels.signs(), weights, divisor)?;
            let answer = self.learn(&sample, &Limits { deadline, ..limits })?;
            let unit = features.classifier(&answer.unit_halfspace());
            let wrong = wrong_weight(&unit, data.design(), labels.signs(), weights);
            let source = Source {
                classes: (labels.negative_class(), labels.positive_class()),
                feature_names: names(),
                rows,
                baseline: baseline(labels.signs(), weights),
                divisor,
            };
            let fitted = answer.fitted(&features, source)?;
            let training_error = Some(wrong / total);
            Ok((unit, FittedHalfspace { training_error, rows: data.rows(), ..fitted }))
        })?;
        let (units, classes): (Vec<_>, Vec<_>) = learned.into_iter().unzip();
        let noise = classes.iter().map(|class| class.problem.noise.get()).fold(0.0, f64::max);
        let training =
            TrainingSummary { standardize: self.standardize, ..TrainingSummary::uncertified(rows) };
        let scheme = (labels.names().to_vec(), Scheme::OneVersusRest);
        let members = units.into_iter().map(|unit| (unit, training.clone())).collect();
        let model =
            linear_model_of_classes(&LeakyRelu::new(noise)?, None, scheme, names(), members)?;
        let model = model.with_encoding(data.encoding().cloned())?;
        let decided = model.predict(data.design(), &Registry::standard())?;
        let wrong: Vec<bool> =
            decided.iter().enumerate().map(|(row, &class)| class != labels.index(row)).collect();
        let ones = vec![1.0; data.rows()];
        let weights = weights.unwrap_or(&ones);
        let held_out = held_out_rows(weights, self.method.most_held_out(), self.seed)?;
        let (wrong_of, weights_of): (Vec<bool>, Vec<f64>) =
            held_out.iter().map(|&row| (wrong[row], weights[row])).unzip();
        let held_out_error = mistake_rate(&wrong_of, Some(&weights_of))?.rate;
        let candidates: Vec<usize> =
            classes.iter().map(|class| class.selection.candidates).collect();
        let delta = self.method.target().delta();
        let bound = error_bound(held_out_error, &candidates, delta, &weights_of);
        let is_unfinished = |status: &Status| *status != Status::RuleMet;
        let mut ends = classes.iter().map(|class| class.status);
        Ok(FittedHalfspaces {
            model,
            evidence: Evidence::ErrorBound { bound, delta },
            rows: data.rows(),
            held_out: held_out.len(),
            held_out_error,
            training_error: mistake_rate(&wrong, Some(weights))?.rate,
            baseline: 1.0 - largest_share(labels, weights),
            status: ends.find(is_unfinished).unwrap_or(Status::RuleMet),
            classes,
        })
    }
}

/// Returns the share of the weight of the largest class.
fn largest_share(labels: &Classes, weights: &[f64]) -> f64 {
    let of_class = |rows: &Vec<usize>| rows.iter().map(|&row| weights[row]).sum::<f64>();
    let shares = labels.rows_by_class();
    shares.iter().map(of_class).fold(0.0, f64::max) / weights.iter().sum::<f64>()
}

impl Answer {
    /// Returns the halfspace scaled to the norm 1; a halfspace of 0 stays so.
    fn unit_halfspace(&self) -> Vec<f64> {
        let norm = self.halfspace.iter().map(|w| w * w).sum::<f64>().sqrt();
        let inverse = if norm > 0.0 { norm.recip() } else { 0.0 };
        self.halfspace.iter().map(|w| w * inverse).collect()
    }
}
