//! Fits of halfspaces under Massart noise.

use std::fmt;

use margins::estimators::linear_model;
use margins::losses::LeakyRelu;
use margins::massart::{
    self, CutOptions, Learned, OnePass, Problem, Projection, Schedule, SphereSample, Target, learn,
    learn_adaptively, learn_by_cuts, learn_by_projected_cuts,
};
use margins::model::TrainingSummary;
use margins::optim::online::LinearClassifier;
use serde::Serialize;

use crate::Failure;
use crate::args::FitArguments;
use crate::choices::OutputFormat;
use crate::document::VERSION;
use crate::files::report;
use crate::job::write_json;
use crate::model::save;
use crate::specification::Specification;
use crate::table::{facts, percent};

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

    /// Refuses parameters that the learner does without, and misses those that it needs.
    fn check(&self, learner: MassartLearner) -> Result<(), Failure> {
        if learner != MassartLearner::Auto {
            return self.problem().map(drop);
        }
        match (self.eta, self.gamma) {
            (None, None) => Ok(()),
            _ => Err(Failure::usage(
                "--solver massart-auto tries many noise rates eta and margins gamma itself: leave them out of --loss \
                 massart, or say --solver massart-sgd",
            )),
        }
    }

    fn problem(&self) -> Result<Problem, Failure> {
        let (Some(eta), Some(gamma)) = (self.eta, self.gamma) else {
            return Err(Failure::usage(
                "the noise rate and the margin are needed, as in --loss massart:eta=0.3,gamma=0.05; --solver \
                 massart-auto does without",
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
    /// What the features were projected to, if they were.
    dimensions: Option<usize>,
    /// Share of all rows on the wrong side; `None` for a stream, which is read once.
    training_error: Option<f64>,
    /// With probability 1 - delta the error is at most this; `None` where no rows were held out.
    error_bound: Option<f64>,
    coef: &'a [f64],
}

/// A learner's answer.
struct Found {
    classifier: LinearClassifier,
    problem: Problem,
    steps: usize,
    dimensions: Option<usize>,
    error_bound: Option<f64>,
}

impl Found {
    fn by_gradient(problem: Problem, learned: Learned) -> Self {
        Found {
            classifier: learned.classifier,
            problem,
            steps: learned.steps,
            dimensions: None,
            error_bound: Some(learned.error_bound),
        }
    }
}

/// What a fit is about, beside the halfspace.
struct Source {
    rows: usize,
    columns: usize,
    negative_class: String,
    positive_class: String,
    feature_names: Option<Vec<String>>,
    training_error: Option<f64>,
}

fn found(
    learner: MassartLearner,
    model: &NoiseModel,
    sample: &SphereSample<'_>,
    arguments: &FitArguments,
) -> Result<Found, Failure> {
    let seed = arguments.train.seed;
    match learner {
        MassartLearner::Sgd => {
            let problem = model.problem()?;
            let schedule = Schedule::practical(&problem);
            let learned = learn(&problem, &schedule, sample, seed).map_err(Failure::job)?;
            Ok(Found::by_gradient(problem, learned))
        }
        MassartLearner::Cuts => {
            let (problem, options) = (model.problem()?, CutOptions::default());
            let dimensions = arguments.project.or_else(|| Projection::worthwhile(&problem, sample));
            let learned = match dimensions {
                None => learn_by_cuts(&problem, &options, sample),
                Some(m) => Projection::new(sample.columns(), m, seed)
                    .and_then(|map| learn_by_projected_cuts(&problem, &options, sample, &map))
                    .map_err(Failure::job)?,
            };
            if learned.end != massart::cutting_planes::End::Accepted {
                eprintln!(
                    "warning: the cutting planes ended without a halfspace of an error of at most eta + epsilon/2 \
                     on the data; eta or gamma may be wrong, the data too few, or the dimensions of --project"
                );
            }
            let (classifier, steps) = (learned.classifier, learned.calls);
            Ok(Found { classifier, problem, steps, dimensions, error_bound: None })
        }
        MassartLearner::Auto => {
            let target = model.target;
            let adaptive = learn_adaptively(target, sample, seed).map_err(Failure::job)?;
            let problem = Problem { noise: adaptive.noise, margin: adaptive.margin, target };
            Ok(Found::by_gradient(problem, adaptive.learned))
        }
    }
}

/// A fit to data in memory.
fn fit_data(
    arguments: &FitArguments,
    learner: MassartLearner,
    model: &NoiseModel,
) -> Result<(Source, Found), Failure> {
    let data = arguments.data.dataset()?;
    let sample = SphereSample::of(&data).map_err(Failure::job)?;
    let found = arguments.train.on_threads(|| found(learner, model, &sample, arguments))?;
    let source = Source {
        rows: data.rows(),
        columns: data.columns(),
        negative_class: data.labels().negative_class().to_owned(),
        positive_class: data.labels().positive_class().to_owned(),
        feature_names: data.feature_names().map(<[String]>::to_vec),
        training_error: Some(sample.error(&found.classifier.coef)),
    };
    Ok((source, found))
}

/// A fit to a file that is read once, and no further than is needed.
fn fit_stream(arguments: &FitArguments, model: &NoiseModel) -> Result<(Source, Found), Failure> {
    let in_file = |error| Failure::job(format!("{}: {error}", arguments.data.data));
    let problem = model.problem()?;
    let mut stream = arguments.stream()?;
    let schedule = Schedule::practical(&problem);
    let learner = OnePass::new(&problem, schedule, stream.columns(), arguments.train.seed);
    let mut learner = learner.map_err(in_file)?;
    let mut classes = None;
    while !learner.is_complete()
        && let Some(chunk) = stream.next_chunk().map_err(Failure::job)?
    {
        if chunk.weights.is_some() {
            return Err(Failure::usage(
                "--weights-column is not for --solver massart-sgd with --stream, whose one pass counts every row: leave \
                 --stream out, and rows are drawn by weight",
            ));
        }
        learner.take(&chunk.design, chunk.labels.signs()).map_err(in_file)?;
        let labels = &chunk.labels;
        classes = Some((labels.negative_class().to_owned(), labels.positive_class().to_owned()));
    }
    let found = Found::by_gradient(problem, learner.finish().map_err(in_file)?);
    let (negative_class, positive_class) = classes.unwrap_or_default();
    let source = Source {
        rows: stream.rows() as usize,
        columns: stream.columns(),
        negative_class,
        positive_class,
        feature_names: stream.feature_names().map(<[String]>::to_vec),
        training_error: None,
    };
    Ok((source, found))
}

pub(crate) fn fit(arguments: &FitArguments, learner: MassartLearner) -> Result<(), Failure> {
    let train = &arguments.train;
    let model = NoiseModel::parse(&train.loss)?;
    model.check(learner)?;
    let (source, found) = if arguments.gradient.stream {
        fit_stream(arguments, &model)?
    } else {
        fit_data(arguments, learner, &model)?
    };
    let classes = (source.negative_class.as_str(), source.positive_class.as_str());
    let (eta, target) = (found.problem.noise.get(), found.problem.target);
    if let Some(path) = &arguments.out {
        // The loss that the learner reweights.
        let loss = LeakyRelu::new(eta).map_err(Failure::job)?;
        let (names, rows) = (source.feature_names, source.rows);
        save(
            linear_model(
                &loss,
                None,
                classes,
                names,
                TrainingSummary::uncertified(rows),
                &found.classifier,
            ),
            path,
        )?;
    }
    let document = MassartDocument {
        format: "margins-massart",
        version: VERSION,
        file: &arguments.data.data,
        rows: source.rows,
        columns: source.columns,
        negative_class: classes.0,
        positive_class: classes.1,
        solver: learner.name(),
        eta,
        gamma: found.problem.margin.get(),
        epsilon: target.epsilon(),
        delta: target.delta(),
        seed: train.seed,
        steps: found.steps,
        dimensions: found.dimensions,
        training_error: source.training_error,
        error_bound: found.error_bound,
        coef: &found.classifier.coef,
    };
    match train.format {
        OutputFormat::Json => report([arguments.out.as_deref()], |out| write_json(out, &document)),
        OutputFormat::Table => {
            report([arguments.out.as_deref()], |out| facts(out, &document.lines()))
        }
    }
}

impl MassartDocument<'_> {
    fn lines(&self) -> Vec<(&'static str, String)> {
        let bound = self.error_bound.map_or("none: no rows held out".to_owned(), |bound| {
            format!("{} % with probability {}", percent(bound), 1.0 - self.delta)
        });
        let mut lines = vec![
            ("data", format!("{}: {} rows, {} columns", self.file, self.rows, self.columns)),
            (
                "classes",
                format!("'{}' positive, '{}' negative", self.positive_class, self.negative_class),
            ),
            ("solver", self.solver.to_owned()),
            ("noise", format!("eta {}, gamma {}", self.eta, self.gamma)),
            ("steps", self.steps.to_string()),
        ];
        lines.extend(self.dimensions.map(|m| ("projected to", format!("{m} dimensions"))));
        lines.extend(self.training_error.map(|e| ("training error", format!("{} %", percent(e)))));
        lines.extend([("error bound", bound), ("coefficients", self.coef.len().to_string())]);
        lines
    }
}
