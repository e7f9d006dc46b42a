//! The command that learns halfspaces under Massart noise.

use margins::estimators::linear_model;
use margins::losses::LeakyRelu;
use margins::massart::{
    self, CutOptions, Learned, OnePass, Problem, Projection, Schedule, SphereSample, Target, learn,
    learn_adaptively, learn_by_cuts, learn_by_projected_cuts,
};
use margins::optim::online::LinearClassifier;

use crate::arguments::check;
use crate::arguments::massart::{MassartArguments, MassartLearner, NoiseArguments};
use crate::arguments::values::{OutputFormat, name_of};
use crate::failure::Failure;
use crate::output::files::{input, keep_apart, output, report};
use crate::output::massart::MassartDocument;
use crate::output::model::save_fit;
use crate::output::table::facts;
use crate::output::{VERSION, write_json};

/// The noise rate and the margin, which a learner may do without, with the accuracy to reach.
struct NoiseModel {
    /// The noise rate and the margin.
    known: Option<(f64, f64)>,
    target: Target,
}

impl NoiseModel {
    fn new(noise: &NoiseArguments) -> Result<Self, Failure> {
        let default = Target::default();
        let target = Target::new(
            noise.epsilon.unwrap_or(default.epsilon()),
            noise.delta.unwrap_or(default.delta()),
        );
        let target = target.map_err(Failure::usage)?;
        Ok(NoiseModel { known: noise.eta.zip(noise.gamma), target })
    }

    fn problem(&self) -> Result<Problem, Failure> {
        let (eta, gamma) =
            self.known.ok_or_else(|| Failure::usage("--eta and --gamma are needed"))?;
        let problem = Problem::new(eta, gamma).map_err(Failure::usage)?;
        Ok(problem.with_target(self.target))
    }
}

/// The answer of a learner.
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

/// The data of a fit, as far as its model and its report name them.
struct Source {
    rows: usize,
    columns: usize,
    negative_class: String,
    positive_class: String,
    feature_names: Option<Vec<String>>,
    training_error: Option<f64>,
}

/// Returns the answer of the learner to data in memory.
fn learned(
    arguments: &MassartArguments,
    model: &NoiseModel,
    sample: &SphereSample<'_>,
) -> Result<Found, Failure> {
    let seed = arguments.learner.seed;
    match arguments.learner.learner {
        MassartLearner::Sgd => {
            let problem = model.problem()?;
            let schedule = Schedule::practical(&problem);
            let learned = learn(&problem, &schedule, sample, seed).map_err(Failure::job)?;
            Ok(Found::by_gradient(problem, learned))
        }
        MassartLearner::Cuts => {
            let (problem, options) = (model.problem()?, CutOptions::default());
            let dimensions =
                arguments.learner.project.or_else(|| Projection::worthwhile(&problem, sample));
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

/// Fits to data in memory.
fn fit_data(arguments: &MassartArguments, model: &NoiseModel) -> Result<(Source, Found), Failure> {
    let data = arguments.data.source().dataset()?;
    let sample = SphereSample::of(&data).map_err(Failure::job)?;
    let threads = arguments.learner.threads.map(usize::from);
    let found = margins::on_threads(threads, || learned(arguments, model, &sample))?;
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

/// Fits to a file that is read once, and no further than is needed.
fn fit_stream(
    arguments: &MassartArguments,
    model: &NoiseModel,
) -> Result<(Source, Found), Failure> {
    let name = arguments.data.name();
    let in_file = |error| Failure::job(format!("{name}: {error}"));
    let problem = model.problem()?;
    let mut stream = arguments.data.source().stream(arguments.classes.classes.as_deref())?;
    let schedule = Schedule::practical(&problem);
    let learner = OnePass::new(&problem, schedule, stream.columns(), arguments.learner.seed);
    let mut learner = learner.map_err(in_file)?;
    let mut classes = None;
    while !learner.is_complete()
        && let Some(chunk) = stream.next_chunk().map_err(Failure::job)?
    {
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

pub(super) fn massart(arguments: &MassartArguments) -> Result<(), Failure> {
    check::massart(arguments)?;
    let to = &arguments.output;
    keep_apart([Some(input("--data", arguments.data.name())), output("--out", to.out())])?;
    let model = NoiseModel::new(&arguments.noise)?;
    if arguments.learner.learner != MassartLearner::Auto {
        model.problem()?;
    }
    let (source, found) = if arguments.stream {
        fit_stream(arguments, &model)?
    } else {
        fit_data(arguments, &model)?
    };
    let classes = (source.negative_class.as_str(), source.positive_class.as_str());
    let (eta, target) = (found.problem.noise.get(), found.problem.target);
    if let Some(path) = to.out() {
        // The loss that the learner reweights.
        let loss = LeakyRelu::new(eta).map_err(Failure::job)?;
        let (names, rows) = (source.feature_names, source.rows);
        save_fit(linear_model(&loss, None, classes, names, rows, &found.classifier), path)?;
    }
    let document = MassartDocument {
        format: "margins-massart",
        version: VERSION,
        file: arguments.data.name(),
        rows: source.rows,
        columns: source.columns,
        negative_class: classes.0,
        positive_class: classes.1,
        solver: name_of(&arguments.learner.learner),
        eta,
        gamma: found.problem.margin.get(),
        epsilon: target.epsilon(),
        delta: target.delta(),
        seed: arguments.learner.seed,
        steps: found.steps,
        dimensions: found.dimensions,
        training_error: source.training_error,
        error_bound: found.error_bound,
        coef: &found.classifier.coef,
    };
    report([to.out()], |out| match to.format() {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => facts(out, &document.lines()),
    })
}
