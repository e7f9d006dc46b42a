//! Halfspaces with a margin, learned under Massart noise: every label may be flipped with a
//! probability of at most eta < 1/2 that an adversary chooses sample by sample. The evidence is a
//! bound on the error, from samples held out.
//!
//! ```
//! use margins_data::{Dataset, Design, Labels};
//! use margins_estimators::massart::{HalfspaceMethod, HalfspaceSettings};
//! use margins_massart::{Problem, Target};
//!
//! let angles = (0..400).map(|i| f64::from(i) * 0.7).filter(|t| t.cos().abs() > 0.2);
//! let (rows, signs): (Vec<[f64; 2]>, Vec<f64>) =
//!     angles.map(|t| ([t.cos(), t.sin()], t.cos().signum())).unzip();
//! let data = Dataset::new(Design::from_rows(&rows)?, Labels::from_signs(signs)?)?;
//! let problem = Problem::new(0.1, 0.2)?.with_target(Target::new(0.2, 0.1)?);
//! let fitted = HalfspaceSettings::new(HalfspaceMethod::cuts(problem)).fit(&data)?;
//! assert!(fitted.training_error.is_some_and(|error| error <= 0.2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod classes;
mod cut_search;
mod features;
mod file;
mod stream;
mod without_fit;

use std::borrow::Cow;
use std::time::Duration;

use margins_data::{ClassLabels, Dataset, Design, Standardizer};
use margins_massart::baselines::{Baseline, learn_tested, partition};
use margins_massart::{Plan, Problem, Sphere, SphereSample, Target, learn, learn_adaptively};
use margins_model::{Model, Registry, Scheme};
use margins_optim::Status;
use margins_optim::method::Limits;

use crate::regularised::IterationObserver;
use crate::standardization::Standardization;
use crate::{Error, Evidence};
use answer::{Answer, Source};
pub(crate) use features::baseline;
use features::{FeatureScaling, positive_rows, wrong_weight, wrong_weight_of};

pub use classes::FittedHalfspaces;
pub use cut_search::CutSearch;
pub use stream::{HalfspaceLearner, HalfspaceState};
pub use without_fit::NoiseAudit;

/// The settings of a learner under Massart noise.
#[derive(Debug, Clone)]
pub struct HalfspaceSettings {
    /// The learner, with what is known of the problem.
    pub method: HalfspaceMethod,
    /// True for an intercept: the coefficient of a feature that is 1 for every sample before
    /// samples are divided.
    pub intercept: bool,
    /// True to scale features to mean 0 and deviation 1 first, sparse ones to deviation 1. The
    /// model is one of the features as given.
    pub standardize: bool,
    /// The numbers that samples are divided by, so that their norms are at most 1: by default the
    /// largest norm, and the norm of each for a stream, whose largest norm is unknown.
    pub scaling: Option<RowScaling>,
    /// The seed of samples held out, of their order and of random projections.
    pub seed: u64,
    /// The time after which the learner takes no more steps, or makes no more cuts, and the best
    /// halfspace so far is taken.
    pub time_limit: Option<Duration>,
    /// The function that is called at regular steps and in every cut, and may end the fit.
    pub iterations: IterationObserver<()>,
    /// The number of threads; by default those of the current rayon pool.
    #[cfg(feature = "rayon")]
    pub threads: Option<usize>,
}

/// The numbers that samples are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowScaling {
    /// All by the largest norm of a sample, so that a margin is a distance.
    Largest,
    /// Each by its own norm, so that a margin is an angle; a zero sample stays zero.
    Each,
}

/// A learner under Massart noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HalfspaceMethod {
    /// Stochastic gradient on losses that are reweighted at every step, for a known noise rate and
    /// margin.
    Gradient {
        /// The noise rate, the margin and the accuracy.
        problem: Problem,
        /// The step size, the number of steps, and the candidates with the rows to select them by.
        plan: Plan,
    },
    /// Cutting planes with a separation oracle, for a known noise rate and margin.
    Cuts {
        /// The noise rate, the margin and the accuracy.
        problem: Problem,
        /// The number of random dimensions that features are projected to first, at the price of
        /// half of the margin; by default as many as certainly keep half of it, if that makes
        /// the data smaller. Cuts with fresh rows in each call are never projected.
        dimensions: Option<usize>,
        /// The localisation method, the number of calls, and the rows of each call.
        search: CutSearch,
    },
    /// An earlier learner that the paper compares with; it may miss eta + epsilon.
    Baseline {
        /// The noise rate, the margin and the accuracy.
        problem: Problem,
        /// The learner.
        baseline: Baseline,
    },
    /// The decision list of Diakonikolas, Gouleakis and Tzamos (2019), for two classes: its model is
    /// no halfspace, but several with thresholds.
    Partition {
        /// The noise rate, the margin and the accuracy.
        problem: Problem,
    },
    /// Reweighted stochastic gradient for many noise rates and margins, of which the best is taken.
    Adaptive {
        /// The accuracy.
        target: Target,
    },
}

impl HalfspaceMethod {
    /// Returns stochastic gradient by [`Plan::practical`].
    pub fn gradient(problem: Problem) -> Self {
        HalfspaceMethod::Gradient { problem, plan: Plan::practical(&problem) }
    }

    /// Returns cutting planes with all rows in each call.
    pub fn cuts(problem: Problem) -> Self {
        HalfspaceMethod::Cuts { problem, dimensions: None, search: CutSearch::default() }
    }

    /// Returns the accuracy.
    pub fn target(&self) -> Target {
        match self {
            HalfspaceMethod::Gradient { problem, .. }
            | HalfspaceMethod::Cuts { problem, .. }
            | HalfspaceMethod::Baseline { problem, .. }
            | HalfspaceMethod::Partition { problem } => problem.target,
            HalfspaceMethod::Adaptive { target } => *target,
        }
    }
}

/// A halfspace learned under Massart noise.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FittedHalfspace {
    /// The halfspace, or the decision list, with the loss that its learner reweights or minimises.
    pub model: Model,
    /// The bound on the error, from samples held out.
    pub evidence: Evidence,
    /// The noise rate and the margin that the halfspace was learned with.
    pub problem: Problem,
    /// The choice among candidates; cutting planes have a single one.
    pub selection: Selection,
    /// The number of rows of positive weight, those held out among them.
    pub rows: usize,
    /// Steps of the stochastic gradient, or calls of the oracle.
    pub steps: usize,
    /// The number of dimensions that features were projected to, if they were.
    pub dimensions: Option<usize>,
    /// The number that all samples were divided by; `None` if each was divided by its norm.
    pub divisor: Option<f64>,
    /// Gamma in the units of the features as given: the distance from the boundary at which a
    /// sample has this margin. `None` if each sample was divided by its norm.
    pub distance: Option<f64>,
    /// Share of all rows on the wrong side, by weight; `None` of a stream, which is read once.
    pub training_error: Option<f64>,
    /// The share, by weight, of the rows that are not of the larger class, which the decision for
    /// that class alone gets wrong.
    pub baseline: f64,
    /// Why the learner ended: [`Status::RuleMet`] if it did all that its theory asks for;
    /// [`Status::Infeasible`] or [`Status::IterationLimit`] if cutting planes found no halfspace,
    /// because the noise rate or the margin may be wrong, or the data or the dimensions too few;
    /// [`Status::TimeLimit`] or [`Status::Interrupted`].
    pub status: Status,
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

/// Returns the rows of a design with their signs and weights.
fn sample_of<'d>(
    design: &'d Design,
    signs: &[f64],
    weights: Option<&[f64]>,
    divisor: Option<f64>,
) -> Result<SphereSample<'d>, margins_massart::Error> {
    let sample = SphereSample::scaled(design, signs, divisor)?;
    match weights {
        Some(weights) => sample.with_weights(weights.to_vec()),
        None => Ok(sample),
    }
}

impl HalfspaceSettings {
    /// Returns the settings of a learner with an intercept and seed 1.
    pub fn new(method: HalfspaceMethod) -> Self {
        HalfspaceSettings {
            method,
            intercept: true,
            standardize: false,
            scaling: None,
            seed: 1,
            time_limit: None,
            iterations: IterationObserver::default(),
            #[cfg(feature = "rayon")]
            threads: None,
        }
    }

    /// Learns a halfspace from data in memory.
    ///
    /// Rows are drawn in proportion to their weights, and errors count them by weight. A row of the
    /// weight 0 changes nothing, and a common factor of all weights changes nothing but rounding.
    ///
    /// # Errors
    /// [`Error::Massart`]: a row that cannot be scaled, too few rows for the problem, dimensions out
    /// of range, candidates that do not fit in memory. [`Error::Data`]: a feature that overflows when it
    /// is scaled. [`Error::Contradiction`]: dimensions with fresh rows in each call, or a decision list
    /// of standardised rows, each divided by its norm.
    pub fn fit(&self, data: &Dataset) -> Result<FittedHalfspace, Error> {
        self.on_threads(|| self.fit_here(data))
    }

    #[cfg(feature = "rayon")]
    fn on_threads<T: Send>(
        &self,
        job: impl FnOnce() -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        crate::on_threads(self.threads, job)
    }

    #[cfg(not(feature = "rayon"))]
    fn on_threads<T>(&self, job: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        job()
    }

    fn fit_here(&self, data: &Dataset) -> Result<FittedHalfspace, Error> {
        let is_list = matches!(self.method, HalfspaceMethod::Partition { .. });
        if is_list && self.standardize && self.scaling == Some(RowScaling::Each) {
            return Err(Error::contradiction(
                "a decision list of standardised features".to_owned(),
                "rows divided by their own norms".to_owned(),
                "the model has the norms of the features as given: divide by the largest norm",
            ));
        }
        let chosen = self.weighted_rows(data)?;
        let (rows, data) = (data.rows(), chosen.as_ref().unwrap_or(data));
        let limits = self.iterations.limits(self.time_limit);
        let (features, design, divisor) = self.prepared(data)?;
        let (labels, weights) = (data.labels(), data.weights());
        let sample = sample_of(&design, labels.signs(), weights, divisor)?;
        let answer = self.learn(&sample, &limits)?;
        let classifier = features.classifier(&answer.halfspace);
        let total = weights.map_or(data.rows() as f64, |weights| weights.iter().sum());
        let fitted = answer.fitted(
            &features,
            Source {
                classes: (labels.negative_class(), labels.positive_class()),
                feature_names: data.feature_names().map(<[String]>::to_vec),
                rows,
                baseline: baseline(labels.signs(), weights),
                divisor,
            },
        )?;
        let wrong = match fitted.model.scheme() {
            Scheme::DecisionList => {
                let scores =
                    fitted.model.decision_function(data.design(), &Registry::standard())?;
                wrong_weight_of(scores.into_iter(), labels.signs(), weights)
            }
            _ => wrong_weight(&classifier, data.design(), labels.signs(), weights),
        };
        let model = fitted.model.with_encoding(data.encoding().cloned())?;
        let training_error = Some(wrong / total);
        Ok(FittedHalfspace { model, training_error, rows: data.rows(), ..fitted })
    }

    /// Returns the rows of positive weight if not all are, and refuses data whose copies do not fit in
    /// memory.
    fn weighted_rows<Y: ClassLabels>(
        &self,
        data: &Dataset<Y>,
    ) -> Result<Option<Dataset<Y>>, Error> {
        let positive = positive_rows(data.weights().unwrap_or_default());
        let copies = [self.intercept, self.standardize, positive.is_some()];
        data.design().check_fits(1, copies.into_iter().map(usize::from).sum(), 0)?;
        Ok(positive.map(|rows| data.select(&rows)))
    }

    /// Returns the features that the learner sees, and the number that all rows are divided by, if it
    /// is one.
    fn prepared<'d, Y: ClassLabels>(
        &self,
        data: &'d Dataset<Y>,
    ) -> Result<(FeatureScaling, Cow<'d, Design>, Option<f64>), Error> {
        let standardizer = || Standardizer::fit(data.design(), data.weights());
        let features =
            self.features(data.design().is_sparse(), self.standardize.then(standardizer));
        let design = features.of(data.design())?;
        let divisor = match self.scaling {
            Some(RowScaling::Each) => None,
            Some(RowScaling::Largest) | None => Some(Sphere::largest_norm(&design)?),
        };
        Ok((features, design, divisor))
    }

    /// Returns the scaling of the features that the learner sees.
    fn features(&self, sparse: bool, standardizer: Option<Standardizer>) -> FeatureScaling {
        let centred = self.intercept && !sparse;
        let standardization = standardizer.map(|fitted| Standardization::new(fitted, centred));
        FeatureScaling { standardization, intercept: self.intercept }
    }

    fn learn(&self, sample: &SphereSample<'_>, limits: &Limits<'_>) -> Result<Answer, Error> {
        match self.method {
            HalfspaceMethod::Gradient { problem, plan } => {
                let learned = learn(&problem, &plan, sample, self.seed, limits)?;
                Ok(Answer::by_gradient(problem, learned))
            }
            HalfspaceMethod::Cuts { problem, dimensions, search } => {
                search.learn(problem, dimensions, sample, self.seed, limits)
            }
            HalfspaceMethod::Baseline { problem, baseline } => {
                let learned = learn_tested(baseline, &problem, sample, self.seed, limits)?;
                Ok(Answer::by_baseline(problem, baseline, learned))
            }
            HalfspaceMethod::Partition { problem } => {
                let learned = partition::learn_tested(&problem, sample, self.seed, limits)?;
                Ok(Answer::by_partition(problem, learned))
            }
            HalfspaceMethod::Adaptive { target } => {
                let adaptive = learn_adaptively(target, sample, self.seed, limits)?;
                Ok(Answer::adaptively(target, adaptive))
            }
        }
    }
}
