//! The runs behind the trajectories: data sets, methods, and the states that a run goes through.

use std::fmt::{self, Display};
use std::str::FromStr;

use margins::data::metrics::{MarginStatistics, error_rate};
use margins::data::read::{self, ReadOptions};
use margins::data::split::balanced_subsample;
use margins::data::{Dataset, Standardizer};
use margins::losses::{Hinge, MarginLoss, MarginPursuit};
use margins::optim::Lambda;
use margins::optim::online::stochastic::{
    Schedule, Start, Steps, StochasticGradient, StochasticLearner,
};
use margins::optim::online::{LinearClassifier, OnlineLearner};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Arguments;
use crate::Failure;

/// A data set as section 4 takes it.
pub(super) struct Source {
    /// The name in keys and files, without white space.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) file: &'static str,
    /// Rows to train on.
    pub(super) rows: usize,
    pub(super) scaled: bool,
    /// The lambda of figure 5.
    pub(super) under: f64,
}

#[rustfmt::skip]
pub(super) const SOURCES: [Source; 5] = [
    Source { name: "COV", title: "COV", file: "covtype", rows: 540, scaled: true, under: 1e-5 },
    Source { name: "COV-5000", title: "COV of 5000 rows", file: "covtype", rows: 5000, scaled: true, under: 1e-5 },
    Source { name: "DIGIT5", title: "DIGIT5", file: "mnist5_train", rows: 5000, scaled: false, under: 1e-5 },
    Source { name: "PROTEIN", title: "PROTEIN", file: "protein", rows: 740, scaled: true, under: 1e-5 },
    Source { name: "SIDO", title: "SIDO", file: "sido", rows: 425, scaled: false, under: 1e-3 },
];

pub(super) const STAND_IN: &str = "dorothea";
/// Steps of a run over rows to train on.
pub(super) const EPOCHS: f64 = 40.0;
/// Points of a trajectory, evenly spaced in the logarithm of the step.
pub(super) const POINTS: usize = 32;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Method {
    Pursuit,
    /// With the scale from the data, and the steps divided by it, as printed.
    Rescaled,
    /// With the scale from the data, and the steps as before.
    RescaledAlone,
    /// With steps `1/sqrt(t)`.
    Slow,
    /// With steps `1/sqrt(t)`, and the scale from the data.
    SlowRescaled,
    Pegasos,
    /// With the penalty `lambda ||w||^2` of the others, twice its own.
    PegasosDoubled,
}

impl Method {
    /// Returns true if the scale is set from the data.
    pub(super) fn rescales(self) -> bool {
        matches!(self, Method::Rescaled | Method::RescaledAlone | Method::SlowRescaled)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Method::Pursuit => "margin-pursuit",
            Method::Rescaled => "rescaled",
            Method::RescaledAlone => "rescaled-alone",
            Method::Slow => "slow",
            Method::SlowRescaled => "slow-rescaled",
            Method::Pegasos => "pegasos",
            Method::PegasosDoubled => "pegasos-doubled",
        }
    }
}

/// The state of a run after some steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct State {
    pub(super) training_error: f64,
    pub(super) test_error: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
    pub(super) skewness: f64,
}

/// A number of a state.
pub(super) type Statistic = fn(&State) -> f64;

/// The states of a run, one a point.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Trajectory(pub(super) Vec<State>);

impl Display for Trajectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, state) in self.0.iter().enumerate() {
            let State { training_error, test_error, mean, variance, skewness } = state;
            let separator = if k == 0 { "" } else { ";" };
            write!(f, "{separator}{training_error},{test_error},{mean},{variance},{skewness}")?;
        }
        Ok(())
    }
}

impl FromStr for Trajectory {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let state = |text: &str| {
            let numbers: Result<Vec<f64>, _> = text.split(',').map(str::parse).collect();
            match numbers.as_deref() {
                Ok(&[training_error, test_error, mean, variance, skewness]) => {
                    Ok(State { training_error, test_error, mean, variance, skewness })
                }
                _ => Err(format!("'{text}' is not the state of a run")),
            }
        };
        text.split(';').map(state).collect::<Result<_, _>>().map(Trajectory)
    }
}

/// The scaling of the inputs after that of [`Source::scaled`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Inputs {
    AsTheyAre,
    /// Divided by the root of their mean squared norm over the training rows.
    OfNormOne,
    /// Divided by the largest size of each feature in the training rows, where the source is scaled.
    OfRangeOne,
}

impl Inputs {
    /// Returns what the title of a panel has after the data set.
    pub(super) fn in_title(self) -> &'static str {
        match self {
            Inputs::AsTheyAre => "",
            Inputs::OfNormOne => ", norm 1",
            Inputs::OfRangeOne => ", size 1",
        }
    }

    pub(super) fn in_words(self) -> &'static str {
        match self {
            Inputs::AsTheyAre => "inputs as in figures 3 and 4",
            Inputs::OfNormOne => "inputs of mean squared norm 1",
            Inputs::OfRangeOne => "features of size at most 1",
        }
    }
}

/// A data set that is there.
pub(super) struct Loaded {
    pub(super) source: &'static Source,
    pub(super) title: String,
    pub(super) data: Dataset,
    /// Rows to train on, fewer than published if a class has too few for a balanced half.
    pub(super) rows: usize,
    pub(super) inputs: Inputs,
}

impl Loaded {
    /// Returns the steps of the points, 1 to the last, each once.
    pub(super) fn checkpoints(&self) -> Vec<u64> {
        let last = (EPOCHS * self.rows as f64).ln();
        let at = |k: usize| (last * k as f64 / (POINTS - 1) as f64).exp().round() as u64;
        let mut steps: Vec<u64> = (0..POINTS).map(at).collect();
        steps.dedup();
        steps
    }
}

pub(super) fn load(
    arguments: &Arguments,
    source: &'static Source,
    inputs: Inputs,
    missing: &mut Vec<String>,
) -> Result<Option<Loaded>, Failure> {
    let find = |name: &str| {
        let path = |ending| arguments.data_dir.join(format!("{name}.{ending}"));
        ["csv.gz", "svm.gz"].map(path).into_iter().find(|path| path.exists())
    };
    let has_stand_in = source.name == "SIDO";
    let (path, title) = match find(source.file) {
        Some(path) => (path, source.title.to_owned()),
        None if has_stand_in && arguments.stand_in => match find(STAND_IN) {
            Some(path) => (path, format!("{STAND_IN} for {}", source.name)),
            None => return Err(format!("there is no {STAND_IN} either").into()),
        },
        None => {
            let advice = if has_stand_in { " (--stand-in takes dorothea)" } else { "" };
            eprintln!("{}: not there, left out{advice}", source.name);
            missing.push(source.name.to_owned());
            return Ok(None);
        }
    };
    let data = read::dataset(&path, &ReadOptions::default())?;
    let positive = data.labels().count_positive();
    let smaller = positive.min(data.rows() - positive);
    // Both samples balanced: half of the smaller class at most is for training.
    let rows = source.rows.min(2 * (smaller / 2));
    Ok(Some(Loaded { source, title, data, rows, inputs }))
}

/// Returns balanced samples to train on and to test on, as much of the rest as balance allows.
pub(super) fn draw(loaded: &Loaded, seed: u64) -> Result<(Dataset, Dataset), Failure> {
    let data = &loaded.data;
    let rows = balanced_subsample(data.labels(), loaded.rows, seed)?;
    let rest: Vec<usize> =
        (0..data.rows()).filter(|row| rows.binary_search(row).is_err()).collect();
    let (train, rest) = (data.select(&rows), data.select(&rest));
    let positive = rest.labels().count_positive();
    let size = 2 * positive.min(rest.rows() - positive);
    let test = rest.select(&balanced_subsample(rest.labels(), size, seed)?);
    let (mut design, mut unseen) = (train.design().clone(), test.design().clone());
    if loaded.source.scaled && loaded.inputs == Inputs::OfRangeOne {
        let mut sizes = vec![0.0_f64; design.columns()];
        for x in design.samples() {
            x.for_each(|k, value| sizes[k] = sizes[k].max(value.abs()));
        }
        let factors: Vec<f64> =
            sizes.iter().map(|&size| if size > 0.0 { 1.0 / size } else { 1.0 }).collect();
        design.scale_columns(&factors);
        unseen.scale_columns(&factors);
    } else if loaded.source.scaled {
        let scales = Standardizer::fit(&design, None);
        (design, unseen) = (scales.scale(design)?, scales.scale(unseen)?);
    }
    if loaded.inputs == Inputs::OfNormOne {
        let squares: f64 = design.samples().map(|x| x.squared_norm()).sum();
        let factors = vec![(design.rows() as f64 / squares).sqrt(); design.columns()];
        design.scale_columns(&factors);
        unseen.scale_columns(&factors);
    }
    Ok((train.with_design(design)?, test.with_design(unseen)?))
}

pub(super) fn state(
    now: &LinearClassifier,
    train: &Dataset,
    test: &Dataset,
) -> Result<State, Failure> {
    let scores = |data: &Dataset| {
        let mut scores = vec![0.0; data.rows()];
        data.design().multiply(&now.coef, &mut scores);
        scores
    };
    let (seen, unseen) = (scores(train), scores(test));
    let margins = MarginStatistics::new(&seen, train.labels().signs(), None)?;
    Ok(State {
        training_error: error_rate(&seen, train.labels().signs(), None)?.rate,
        test_error: error_rate(&unseen, test.labels().signs(), None)?.rate,
        mean: margins.mean,
        variance: margins.variance,
        skewness: margins.skewness,
    })
}

/// Returns one run; its seed is that of the trial, so that methods and lambdas share samples, start
/// and order.
pub(super) fn follow(
    loaded: &Loaded,
    method: Method,
    lambda: f64,
    seed: u64,
) -> Result<Trajectory, Failure> {
    let (train, test) = draw(loaded, seed)?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(2);
    let mut states = Vec::new();
    let settings = |settings| StochasticGradient { start: Start::Random(1.0), seed, ..settings };
    let run = |learner: &mut StochasticLearner<Box<dyn MarginLoss>>,
               until: u64,
               random: &mut ChaCha8Rng| {
        while learner.steps() < until {
            let i = random.random_range(0..train.rows());
            learner.step(&train.design().sample(i), train.labels().signs()[i])?;
        }
        Ok::<(), Failure>(())
    };
    let (features, lambda) = (train.columns(), Lambda::new(lambda)?);
    let mut learner = match method {
        // The penalty of Pegasos is lambda/2.
        Method::Pegasos | Method::PegasosDoubled => {
            let share = if method == Method::Pegasos { 0.5 } else { 1.0 };
            let lambda = Lambda::new(share * lambda.get())?;
            let pegasos = settings(StochasticGradient::pegasos(lambda));
            let loss: Box<dyn MarginLoss> = Box::new(Hinge);
            pegasos.learner(loss, features, lambda, false, 0)?
        }
        _ => {
            let mut pursuit = settings(StochasticGradient::margin_pursuit(1.0, lambda));
            if matches!(method, Method::Slow | Method::SlowRescaled) {
                pursuit.steps = Steps::Scheduled(Schedule::InverseSqrt(1.0));
            }
            let loss: Box<dyn MarginLoss> = Box::new(MarginPursuit::new(1.0, 1.0)?);
            pursuit.learner(loss, features, lambda, false, 0)?
        }
    };
    let rescale_at = loaded.rows as u64;
    for step in loaded.checkpoints() {
        if method.rescales() && learner.steps() < rescale_at && step > rescale_at {
            run(&mut learner, rescale_at, &mut random)?;
            let now = learner.snapshot();
            let mut margins = vec![0.0; train.rows()];
            train.design().multiply(&now.coef, &mut margins);
            margins.iter_mut().zip(train.labels().signs()).for_each(|(u, y)| *u *= y);
            let rescaled = margins::data_driven_scale(1.0, 1.0, lambda)(&margins)?;
            let factor = if method == Method::Rescaled { rescaled.step_factor } else { 1.0 };
            learner = learner.with_loss(rescaled.loss, factor)?;
        }
        run(&mut learner, step, &mut random)?;
        states.push(state(&learner.snapshot(), &train, &test)?);
    }
    Ok(Trajectory(states))
}
