//! Learners on data sets whose labels adversaries flip.

use std::path::PathBuf;

use clap::Args;
use margins::data::generate::{Adversary, MassartDistribution};
use margins::data::{Dataset, read, split};
use margins::losses::{LeakyRelu, Logistic};
use margins::optim::massart::baselines::leaky_relu;
use margins::optim::massart::{SphereSample, Target, learn_adaptively};
use margins::optim::{Lambda, Training};

use super::{mean, write};
use crate::Failure;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder with mushrooms.svm.gz, chess_krvskp.csv.gz, mnist5_train.svm.gz; what is not there is left out
    #[arg(long)]
    data_dir: PathBuf,
    /// Folder for the table
    #[arg(long, default_value = "report")]
    out: PathBuf,
    /// The most rows of a data set, drawn at random
    #[arg(long, default_value_t = 5000)]
    rows: usize,
    /// Seeds of noise and splits
    #[arg(long, default_value_t = 3)]
    trials: u64,
}

const FILES: [&str; 3] = ["mushrooms.svm.gz", "chess_krvskp.csv.gz", "mnist5_train.svm.gz"];
const ETA: f64 = 0.3;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut text = format!(
        "# massart-real-data\n\nErrors against the noisy labels, exact in the noise, on a third of the rows that no learner has seen; eta = {ETA}, mean of {} trials (standard error). The halfspace that the adversaries \
         attack is a logistic fit to the clean labels.\n\n| data | rows | adversary | opt | adaptive | logistic | LeakyReLU |\n| --- | --: | --- | --: | --: | --: | --: |\n",
        arguments.trials
    );
    for file in FILES {
        let path = arguments.data_dir.join(file);
        if !path.exists() {
            continue;
        }
        let data = read::dataset(&path, &read::ReadOptions::default())?;
        let size = arguments.rows.min(data.rows());
        let data = data.select(&split::balanced_subsample(data.labels(), size, 1)?);
        let normal = logistic(&data)?;
        let adversaries = [
            ("far", Adversary::FarAway),
            ("near", Adversary::NearBoundary),
            ("greedy", Adversary::Greedy),
        ];
        for (name, adversary) in adversaries {
            let trials = (0..arguments.trials)
                .map(|seed| trial(&data, &normal, &adversary, seed))
                .collect::<Result<Vec<_>, _>>()?;
            text += &format!("| {file} | {size} | {name} |");
            for at in 0..4 {
                let (value, deviation) = mean(&trials.iter().map(|t| t[at]).collect::<Vec<f64>>());
                text += &format!(" {value:.3} ({deviation:.3}) |");
            }
            text += "\n";
        }
    }
    write(&arguments.out, "massart-real-data.md", &text)
}

/// The coefficients of a logistic fit without intercept.
fn logistic(data: &Dataset) -> Result<Vec<f64>, Failure> {
    let training = Training { intercept: false, ..Training::new(&Logistic) };
    let fits = margins::Prepared::linear(data).path(&training, &[Lambda::new(1e-4)?])?;
    Ok(fits.into_iter().next().ok_or("no fit")?.coef)
}

/// opt and the errors of the learners.
fn trial(
    data: &Dataset,
    normal: &[f64],
    adversary: &Adversary,
    seed: u64,
) -> Result<[f64; 4], Failure> {
    let clean = data.labels().signs();
    let rates = adversary.rates(data.design(), clean, normal, ETA)?;
    let noisy =
        MassartDistribution::new(data.design().clone(), None, clean.to_vec(), rates.clone())?;
    let (train, test) = split::hold_out(data.labels(), 1.0 / 3.0, seed)?;
    let part =
        |values: &[f64], rows: &[usize]| rows.iter().map(|&row| values[row]).collect::<Vec<_>>();
    let unseen = MassartDistribution::new(
        data.design().select(&test),
        None,
        part(clean, &test),
        part(&rates, &test),
    )?;
    let signs = noisy.flip(seed);
    let flipped = Dataset::new(
        data.design().select(&train),
        margins::data::Labels::from_signs(part(&signs, &train))?,
    )?;
    let sample = SphereSample::of(&flipped)?;
    let adaptive = learn_adaptively(Target::new(0.1, 0.05)?, &sample, seed)?;
    let convex = leaky_relu::minimize(&LeakyRelu::new(ETA)?, &sample, 1e-3, 60);
    Ok([
        unseen.opt(),
        unseen.linear_error(&adaptive.learned.classifier.coef)?,
        unseen.linear_error(&logistic(&flipped)?)?,
        unseen.linear_error(&convex.point)?,
    ])
}
