//! Fits of halfspaces under Massart noise.

use std::fmt;
use std::path::Path;

use margins::Model;
use margins::losses::LeakyRelu;
use margins::optim::massart::{
    self, CutOptions, Problem, Schedule, SphereSample, Target, learn, learn_adaptively,
    learn_by_cuts,
};
use margins::optim::online::LinearClassifier;
use serde::Serialize;

use crate::args::{ClassWeight, FitArguments, OutputFormat};
use crate::document::VERSION;
use crate::model::save;
use crate::specification::Specification;
use crate::table::{facts, percent};
use crate::train::write_json;
use crate::{Failure, emit, keep_input};

/// The learners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MassartLearner {
    /// Reweighted stochastic gradient.
    Sgd,
    /// Cutting planes.
    Cuts,
    /// Reweighted stochastic gradient for many noise rates and margins.
    Auto,
}

impl MassartLearner {
    pub(crate) const ALL: [MassartLearner; 3] =
        [MassartLearner::Sgd, MassartLearner::Cuts, MassartLearner::Auto];

    pub(crate) fn name(self) -> &'static str {
        match self {
            MassartLearner::Sgd => "massart-sgd",
            MassartLearner::Cuts => "massart-cuts",
            MassartLearner::Auto => "massart-auto",
        }
    }
}

impl fmt::Display for MassartLearner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What `--loss massart:eta=0.3,gamma=0.05,epsilon=0.05,delta=0.05` says.
struct NoiseModel {
    eta: Option<f64>,
    gamma: Option<f64>,
    target: Target,
}

impl NoiseModel {
    fn parse(text: &str) -> Result<Self, Failure> {
        let mut given = Specification::new("--loss", text)?;
        if given.name() != "massart" {
            return Err(Failure::usage(format!(
                "the massart solvers are for --loss massart:eta=ETA,gamma=GAMMA, not for '{text}'"
            )));
        }
        let (eta, gamma) = (given.take("eta")?, given.take("gamma")?);
        let (epsilon, delta) = (given.take("epsilon")?, given.take("delta")?);
        given.finish("eta, gamma, epsilon and delta")?;
        let default = Target::default();
        let target =
            Target::new(epsilon.unwrap_or(default.epsilon()), delta.unwrap_or(default.delta()));
        Ok(NoiseModel { eta, gamma, target: target.map_err(Failure::usage)? })
    }

    fn problem(&self) -> Result<Problem, Failure> {
        let (Some(eta), Some(gamma)) = (self.eta, self.gamma) else {
            return Err(Failure::usage(
                "--loss massart needs eta and gamma, as in massart:eta=0.3,gamma=0.05; --solver massart-auto does \
                 without",
            ));
        };
        let problem = Problem::new(eta, gamma).map_err(Failure::usage)?;
        Ok(problem.with_target(self.target))
    }
}

/// What is said about a fit.
#[derive(Serialize)]
struct MassartDocument<'a> {
    format: &'static str,
    version: u32,
    file: &'a str,
    rows: usize,
    columns: usize,
    negative_class: &'a str,
    positive_class: &'a str,
    solver: &'static str,
    eta: f64,
    gamma: f64,
    epsilon: f64,
    delta: f64,
    seed: u64,
    /// Steps of the stochastic gradient, or calls of the oracle.
    steps: usize,
    /// Share of all rows on the wrong side.
    training_error: f64,
    /// With probability 1 - delta the error is at most this; `None` where no rows were held out.
    error_bound: Option<f64>,
    coef: &'a [f64],
}

/// A learner's answer.
struct Found {
    classifier: LinearClassifier,
    eta: f64,
    gamma: f64,
    steps: usize,
    error_bound: Option<f64>,
}

fn found(
    learner: MassartLearner,
    model: &NoiseModel,
    sample: &SphereSample<'_>,
    seed: u64,
) -> Result<Found, Failure> {
    let (classifier, problem, steps, error_bound) = match learner {
        MassartLearner::Sgd => {
            let problem = model.problem()?;
            let schedule = Schedule::practical(&problem);
            let learned = learn(&problem, &schedule, sample, seed).map_err(Failure::job)?;
            (learned.classifier, problem, learned.steps, Some(learned.error_bound))
        }
        MassartLearner::Cuts => {
            let problem = model.problem()?;
            let learned = learn_by_cuts(&problem, &CutOptions::default(), sample);
            if learned.end != massart::cutting_planes::End::Accepted {
                eprintln!(
                    "warning: the cutting planes ended without a halfspace of an error of at most eta + epsilon/2 \
                     on the data; eta or gamma may be wrong, or the data too few"
                );
            }
            (learned.classifier, problem, learned.calls, None)
        }
        MassartLearner::Auto => {
            let target = model.target;
            let adaptive = learn_adaptively(target, sample, seed).map_err(Failure::job)?;
            let learned = adaptive.learned;
            let problem = Problem { noise: adaptive.noise, margin: adaptive.margin, target };
            (learned.classifier, problem, learned.steps, Some(learned.error_bound))
        }
    };
    let (eta, gamma) = (problem.noise.get(), problem.margin.get());
    Ok(Found { classifier, eta, gamma, steps, error_bound })
}

pub(crate) fn fit(arguments: &FitArguments, learner: MassartLearner) -> Result<(), Failure> {
    let train = &arguments.train;
    let refused = [
        ("--kernel", train.kernel.is_some()),
        ("--standardize", train.standardize),
        ("--class-weight", train.class_weight == ClassWeight::Balanced),
        ("--history", arguments.history.is_some()),
    ];
    if let Some((option, _)) = refused.iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format!("{option} is not for {learner}")));
    }
    let model = NoiseModel::parse(&train.loss)?;
    if learner != MassartLearner::Auto {
        model.problem()?;
    }
    keep_input(arguments.out.as_deref(), Path::new(&arguments.data.data))?;
    let data = arguments.data.dataset()?;
    let sample = SphereSample::of(&data).map_err(Failure::job)?;
    let found = train.on_threads(|| found(learner, &model, &sample, train.seed))?;
    let labels = data.labels();
    let classes = (labels.negative_class(), labels.positive_class());
    if let Some(path) = &arguments.out {
        // The loss that the learner reweights; the intercept and the lambda have no part in it.
        let loss = LeakyRelu::new(found.eta).map_err(Failure::job)?;
        let names = data.feature_names().map(<[String]>::to_vec);
        let (lambda, rows) = (arguments.lambda, data.rows());
        save(Model::of_stream(&loss, lambda, classes, names, rows, &found.classifier), path)?;
    }
    let document = MassartDocument {
        format: "margins-massart",
        version: VERSION,
        file: &arguments.data.data,
        rows: data.rows(),
        columns: data.columns(),
        negative_class: classes.0,
        positive_class: classes.1,
        solver: learner.name(),
        eta: found.eta,
        gamma: found.gamma,
        epsilon: model.target.epsilon(),
        delta: model.target.delta(),
        seed: train.seed,
        steps: found.steps,
        training_error: sample.error(&found.classifier.coef),
        error_bound: found.error_bound,
        coef: &found.classifier.coef,
    };
    match train.format {
        OutputFormat::Json => emit(None, |out| write_json(out, &document)),
        OutputFormat::Table => emit(None, |out| facts(out, &document.lines())),
    }
}

impl MassartDocument<'_> {
    fn lines(&self) -> Vec<(&'static str, String)> {
        let bound = self.error_bound.map_or("none: no rows held out".to_owned(), |bound| {
            format!("{} % with probability {}", percent(bound), 1.0 - self.delta)
        });
        vec![
            ("data", format!("{}: {} rows, {} columns", self.file, self.rows, self.columns)),
            (
                "classes",
                format!("'{}' positive, '{}' negative", self.positive_class, self.negative_class),
            ),
            ("solver", self.solver.to_owned()),
            ("noise", format!("eta {}, gamma {}", self.eta, self.gamma)),
            ("steps", self.steps.to_string()),
            ("training error", format!("{} %", percent(self.training_error))),
            ("error bound", bound),
            ("coefficients", self.coef.len().to_string()),
        ]
    }
}
