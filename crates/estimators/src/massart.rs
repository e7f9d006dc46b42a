//! Halfspaces with a margin, learned under Massart noise: every label may be flipped with a
//! probability of at most eta < 1/2 that an adversary chooses sample by sample. The evidence is a
//! bound on the error, from samples held out.
//!
//! ```
//! use margins_data::{Dataset, Design, Labels};
//! use margins_estimators::massart::{Method, Settings};
//! use margins_massart::{Problem, Target};
//!
//! let angles = (0..400).map(|i| f64::from(i) * 0.7).filter(|t| t.cos().abs() > 0.2);
//! let (rows, signs): (Vec<[f64; 2]>, Vec<f64>) =
//!     angles.map(|t| ([t.cos(), t.sin()], t.cos().signum())).unzip();
//! let data = Dataset::new(Design::from_rows(&rows)?, Labels::from_signs(signs)?)?;
//! let problem = Problem::new(0.1, 0.2)?.with_target(Target::new(0.2, 0.1)?);
//! let fitted = Settings::new(Method::Cuts { problem, dimensions: None }).fit(&data)?;
//! assert!(fitted.training_error.is_some_and(|error| error <= 0.2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod file;

use std::time::Duration;

use margins_data::read::Stream;
use margins_data::{Dataset, Design, Sample};
use margins_losses::LeakyRelu;
use margins_massart::cutting_planes::End;
use margins_massart::{
    Adaptive, CutOptions, Learned, LearnedByCuts, OnePass, Plan, Problem, Projection, SphereSample,
    Target, learn, learn_adaptively, learn_by_cuts, learn_by_projected_cuts,
};
use margins_model::{Model, TrainingSummary};
use margins_optim::Status;
use margins_optim::online::LinearClassifier;
use margins_optim::solve::Limits;
use nalgebra::DMatrix;

use crate::regularised::IterationObserver;
use crate::{Error, Evidence, linear_model};

/// The settings of a learner under Massart noise.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The learner, with all that it is told of the problem.
    pub method: Method,
    /// True for an intercept: the coefficient of a feature that is 1 for every sample before
    /// samples are scaled to norm 1. For data in memory.
    pub intercept: bool,
    /// The seed of samples held out, of their order and of random projections.
    pub seed: u64,
    /// The time after which the learner takes no more steps, or makes no more cuts, and the best
    /// halfspace so far is taken.
    pub time_limit: Option<Duration>,
    /// The function that is called every so many steps and in every cut, and may end the fit.
    pub iterations: IterationObserver<()>,
    /// The number of threads; those of the rayon pool at hand unless told.
    #[cfg(feature = "rayon")]
    pub threads: Option<usize>,
}

/// A learner under Massart noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// Stochastic gradient on losses that are reweighted at every step, for a known noise rate and
    /// margin.
    Gradient {
        /// The noise rate, the margin and the accuracy.
        problem: Problem,
    },
    /// Cutting planes with a separation oracle, for a known noise rate and margin.
    Cuts {
        /// The noise rate, the margin and the accuracy.
        problem: Problem,
        /// The number of random dimensions that features are projected to first, at the price of
        /// half of the margin; as many as keep half of it for certain unless told, if that makes
        /// the data smaller.
        dimensions: Option<usize>,
    },
    /// Reweighted stochastic gradient for many noise rates and margins, of which the best is taken.
    Adaptive {
        /// The accuracy.
        target: Target,
    },
}

/// A halfspace learned under Massart noise.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Fitted {
    /// The halfspace, with the loss that its learner reweights.
    pub model: Model,
    /// The bound on the error; [`Evidence::None`] of cutting planes, which hold no samples out.
    pub evidence: Evidence,
    /// The noise rate and the margin that the halfspace was learned with.
    pub problem: Problem,
    /// The choice among candidates; `None` of cutting planes, which hold no samples out.
    pub selection: Option<Selection>,
    /// Steps of the stochastic gradient, or calls of the oracle.
    pub steps: usize,
    /// The number of dimensions that features were projected to, if they were.
    pub dimensions: Option<usize>,
    /// Share of all rows on the wrong side, by weight; `None` of a stream, which is read once.
    pub training_error: Option<f64>,
    /// The end of the search by cutting planes; other than [`End::Accepted`] the noise rate or the
    /// margin may be wrong, the data too few, or the dimensions.
    pub end: Option<End>,
    /// The time limit or the interruption that ended the learner, if one did.
    pub stopped: Option<Status>,
}

/// The choice of a halfspace among candidates, by rows held out.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The number of candidates.
    pub candidates: usize,
    /// The number of rows held out.
    pub held_out: usize,
    /// The share of them that the halfspace gets wrong, by weight.
    pub error: f64,
    /// The index of the halfspace among the candidates.
    pub index: usize,
    /// The share of errors of candidates by their index: for all of them, or for a hundred that are spread
    /// evenly and the one chosen.
    pub candidate_errors: Vec<(usize, f64)>,
}

/// The answer of a learner.
struct Answer {
    classifier: LinearClassifier,
    evidence: Evidence,
    problem: Problem,
    selection: Option<Selection>,
    steps: usize,
    dimensions: Option<usize>,
    end: Option<End>,
    stopped: Option<Status>,
}

/// The facts about the data that a model keeps.
struct Source<'a> {
    classes: (&'a str, &'a str),
    feature_names: Option<Vec<String>>,
    rows: usize,
}

impl Settings {
    /// Returns the settings of a learner with seed 1.
    pub fn new(method: Method) -> Self {
        Settings {
            method,
            intercept: false,
            seed: 1,
            time_limit: None,
            iterations: IterationObserver::default(),
            #[cfg(feature = "rayon")]
            threads: None,
        }
    }

    /// Learns a halfspace from data in memory, whose rows are drawn by weight.
    ///
    /// # Errors
    /// [`Error::Massart`]: a row without a direction, too few rows for the problem, dimensions out
    /// of range.
    pub fn fit(&self, data: &Dataset) -> Result<Fitted, Error> {
        #[cfg(feature = "rayon")]
        let fitted = crate::on_threads(self.threads, || self.fit_here(data));
        #[cfg(not(feature = "rayon"))]
        let fitted = self.fit_here(data);
        fitted
    }

    fn fit_here(&self, data: &Dataset) -> Result<Fitted, Error> {
        data.design().check_fits(1, usize::from(self.intercept))?;
        let limits = self.iterations.limits(self.time_limit);
        let with_constant = match self.intercept {
            true => Some(with_constant(data)?),
            false => None,
        };
        let sample = SphereSample::of(with_constant.as_ref().unwrap_or(data))?;
        let mut answer = self.learn(&sample, &limits)?;
        let training_error = Some(sample.error(&answer.classifier.coef));
        if self.intercept {
            answer.classifier.intercept = answer.classifier.coef.pop().unwrap_or_default();
        }
        let labels = data.labels();
        let source = Source {
            classes: (labels.negative_class(), labels.positive_class()),
            feature_names: data.feature_names().map(<[String]>::to_vec),
            rows: data.rows(),
        };
        let fitted = answer.fitted(source)?;
        let model = fitted.model.with_encoding(data.encoding().cloned())?;
        Ok(Fitted { model, training_error, ..fitted })
    }

    fn learn(&self, sample: &SphereSample<'_>, limits: &Limits<'_>) -> Result<Answer, Error> {
        match self.method {
            Method::Gradient { problem } => {
                let plan = Plan::practical(&problem);
                let learned = learn(&problem, &plan, sample, self.seed, limits)?;
                Ok(Answer::by_gradient(problem, learned))
            }
            Method::Cuts { problem, dimensions } => {
                let options = CutOptions { limits: *limits, ..CutOptions::default() };
                let dimensions = dimensions.or_else(|| Projection::worthwhile(&problem, sample));
                let learned = match dimensions {
                    None => learn_by_cuts(&problem, &options, sample),
                    Some(m) => {
                        let map = Projection::new(sample.columns(), m, self.seed)?;
                        learn_by_projected_cuts(&problem, &options, sample, &map)?
                    }
                };
                Ok(Answer::by_cuts(problem, dimensions, learned))
            }
            Method::Adaptive { target } => {
                let adaptive = learn_adaptively(target, sample, self.seed, limits)?;
                Ok(Answer::adaptively(target, adaptive))
            }
        }
    }

    /// Learns a halfspace from a stream, which is read once and no further than is needed.
    ///
    /// # Errors
    /// [`Error::Contradiction`]: a method that needs all rows at once, or rows with weights, for
    /// the one pass counts every row. [`Error::Data`]: a row that cannot be read.
    /// [`Error::Massart`]: a row without a direction, or too few rows.
    pub fn fit_stream(&self, stream: &mut Stream<'_>) -> Result<Fitted, Error> {
        let refuse = |one: &str, reason| {
            Err(Error::contradiction(one.to_owned(), "a stream".to_owned(), reason))
        };
        if self.intercept {
            return refuse("an intercept", "it is for data in memory: add a column of ones");
        }
        let Method::Gradient { problem } = self.method else {
            return refuse("a learner of several passes", "it needs all rows at once");
        };
        let plan = Plan::practical(&problem);
        let mut learner = OnePass::new(&problem, plan, stream.columns(), self.seed)?;
        let limits = self.iterations.limits(self.time_limit);
        let (mut classes, mut stopped) = (None, None);
        while !learner.is_complete()
            && stopped.is_none()
            && let Some(chunk) = stream.next_chunk()?
        {
            if chunk.weights.is_some() {
                let reason = "its one pass counts every row: read the rows into memory, and they are drawn by weight";
                return refuse("the weights of rows", reason);
            }
            learner.take(&chunk.design, chunk.labels.signs())?;
            let (negative, positive) =
                (chunk.labels.negative_class(), chunk.labels.positive_class());
            classes = Some((negative.to_owned(), positive.to_owned()));
            stopped = limits.reached();
        }
        let answer = Answer { stopped, ..Answer::by_gradient(problem, learner.finish()?) };
        let (negative, positive) = classes.ok_or(Error::EmptyStream)?;
        answer.fitted(Source {
            classes: (&negative, &positive),
            feature_names: stream.feature_names().map(<[String]>::to_vec),
            rows: stream.rows() as usize,
        })
    }
}

/// Returns the data with one more feature, which is 1 for every sample.
fn with_constant(data: &Dataset) -> Result<Dataset, Error> {
    let design = design_with_constant(data.design())?;
    let augmented = Dataset::new(design, data.labels().clone())?;
    Ok(match data.weights() {
        Some(weights) => augmented.with_weights(weights.to_vec())?,
        None => augmented,
    })
}

/// Returns samples with one more feature, which is 1 for all of them.
fn design_with_constant(design: &Design) -> Result<Design, margins_data::Error> {
    let (rows, columns) = (design.rows(), design.columns());
    if design.is_sparse() {
        let row = |sample: Sample<'_>| {
            let mut row = Vec::new();
            sample.for_each(|column, x| row.push((column, x)));
            row.push((columns, 1.0));
            row
        };
        let rows: Vec<Vec<(usize, f64)>> = design.samples().map(row).collect();
        return Design::from_sparse_rows(&rows, columns + 1);
    }
    let mut values = vec![1.0; rows * (columns + 1)];
    for (out, sample) in values.chunks_exact_mut(columns + 1).zip(design.samples()) {
        sample.for_each(|column, x| out[column] = x);
    }
    Design::from_samples(DMatrix::from_vec(columns + 1, rows, values))
}

impl Answer {
    fn by_cuts(problem: Problem, dimensions: Option<usize>, learned: LearnedByCuts) -> Self {
        let stopped = match learned.end {
            End::Stopped(status) => Some(status),
            _ => None,
        };
        Answer {
            classifier: learned.classifier,
            evidence: Evidence::None,
            problem,
            selection: None,
            steps: learned.calls,
            dimensions,
            end: Some(learned.end),
            stopped,
        }
    }

    fn adaptively(target: Target, found: Adaptive) -> Self {
        let problem = Problem { noise: found.noise, margin: found.margin, target };
        Answer::by_gradient(problem, found.learned)
    }

    fn by_gradient(problem: Problem, learned: Learned) -> Self {
        let (bound, delta) = (learned.error_bound, problem.target.delta());
        Answer {
            classifier: learned.classifier,
            evidence: Evidence::ErrorBound { bound, delta },
            problem,
            selection: Some(Selection {
                candidates: learned.selected.candidates,
                held_out: learned.held_out,
                error: learned.selected.error,
                index: learned.selected.index,
                candidate_errors: learned.candidate_errors,
            }),
            steps: learned.steps,
            dimensions: None,
            end: None,
            stopped: learned.stopped,
        }
    }

    fn fitted(self, source: Source<'_>) -> Result<Fitted, Error> {
        // The loss that the learner reweights.
        let loss = LeakyRelu::new(self.problem.noise.get())?;
        let Source { classes, feature_names, rows } = source;
        let training = TrainingSummary::uncertified(rows);
        let model = linear_model(&loss, None, classes, feature_names, training, &self.classifier)?;
        Ok(Fitted {
            model,
            evidence: self.evidence,
            problem: self.problem,
            selection: self.selection,
            steps: self.steps,
            dimensions: self.dimensions,
            training_error: None,
            end: self.end,
            stopped: self.stopped,
        })
    }
}
