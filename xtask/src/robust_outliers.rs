//! What outliers and wrong labels in the training samples do to learners, robust and other: errors
//! on sound test samples along the share of spoilt ones.

use std::path::{Path, PathBuf};

use clap::Args;
use margins::data::generate::{Example, GaussianMixture};
use margins::data::metrics::error_rate;
use margins::data::read::{self, ReadOptions};
use margins::data::split::hold_out;
use margins::data::{Dataset, Design, Labels, Sample};
use margins::losses::{Hinge, LossRegistry};
use margins::optim::{Lambda, Objective, Options, fit};
use margins::robust::RobustLearner;
use margins_experiments::figure::{Axis, Style, panel, with_bars};
use margins_experiments::trials::{self, Key};
use margins_experiments::{Document, Figure, Mean, Numbers, Table};
use margins_kernels::{Gram, Linear, svm};
use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::Failure;
use crate::leaky_hockey_stick::comparison::{Settings, draw_seed, stream};
use crate::leaky_hockey_stick::table_2::{fingerprint, standardized};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    settings: Settings,
    /// Folder with banknote.csv.gz and australian.csv.gz; without it all samples are simulated
    #[arg(long)]
    data_dir: Option<PathBuf>,
}

const LAMBDA: f64 = 0.01;
const TEST_SHARE: f64 = 1.0 / 3.0;
const SHARES: [f64; 5] = [0.0, 0.02, 0.05, 0.1, 0.2];
/// The factor by which an outlier is farther out.
const FACTOR: f64 = 20.0;
const FILES: [&str; 2] = ["banknote", "australian"];
/// Samples of the mixture.
const SIMULATED: usize = 600;

/// The learners, in the order of the columns: a name, the loss, and the robust learner if it is
/// one. The hinge without one is the support vector machine.
const LEARNERS: [(&str, &str, Option<&str>); 8] = [
    ("hinge", "hinge", None),
    ("logistic", "logistic", None),
    ("LHS", "lhs", None),
    ("margin pursuit", "margin-pursuit:gamma=1,scale=1", None),
    ("Catoni", "hinge", Some("catoni:alpha=1")),
    ("median of means", "hinge", Some("median-of-means")),
    ("margin distribution", "hinge", Some("margin-distribution:mean=1,variance=1")),
    ("Garg-Roth", "garg-roth:alpha=1,beta=0.4", Some("garg-roth:restarts=5")),
];

/// The ways to spoil samples.
#[derive(Clone, Copy)]
enum Spoiling {
    /// The label is the other one.
    Flip,
    /// The features are multiplied by minus [`FACTOR`]: far out on the wrong side.
    Outlier,
}

impl Spoiling {
    const BOTH: [Spoiling; 2] = [Spoiling::Flip, Spoiling::Outlier];

    fn name(self) -> &'static str {
        match self {
            Spoiling::Flip => "flipped labels",
            Spoiling::Outlier => "outliers",
        }
    }

    /// Returns the data with the first samples of the order spoilt.
    fn apply(self, data: &Dataset, order: &[usize], share: f64) -> Result<Dataset, Failure> {
        let count = (share * data.rows() as f64).round() as usize;
        let mut spoilt = vec![false; data.rows()];
        order[..count].iter().for_each(|&i| spoilt[i] = true);
        Ok(match self {
            Spoiling::Flip => {
                let signs = data.labels().signs().iter().zip(&spoilt);
                let signs = signs.map(|(y, &wrong)| if wrong { -y } else { *y }).collect();
                Dataset::new(data.design().clone(), Labels::from_signs(signs)?)?
            }
            Spoiling::Outlier => {
                let moved = |(x, &wrong): (Sample<'_>, &bool)| {
                    let mut row = vec![0.0; data.columns()];
                    x.add_to(if wrong { -FACTOR } else { 1.0 }, &mut row);
                    row
                };
                let rows: Vec<Vec<f64>> = data.design().samples().zip(&spoilt).map(moved).collect();
                Dataset::new(Design::from_rows(&rows)?, data.labels().clone())?
            }
        })
    }
}

/// Samples under a kind of spoiling at a share.
struct Row {
    data: usize,
    spoiling: Spoiling,
    share: f64,
}

impl Row {
    fn key(&self) -> String {
        format!("{}-{}-{}", name(self.data), self.spoiling.name().replace(' ', "-"), self.share)
    }
}

/// Returns the name of a data set: the simulated one is the first, those of files follow.
fn name(data: usize) -> &'static str {
    if data == 0 { "mixture" } else { FILES[data - 1] }
}

/// Returns the rows of the simulated samples and of this many files.
fn rows(files: usize) -> impl Iterator<Item = Row> {
    let of = |data| {
        Spoiling::BOTH.into_iter().flat_map(move |spoiling| {
            SHARES.into_iter().map(move |share| Row { data, spoiling, share })
        })
    };
    (0..=files).flat_map(of)
}

/// Computes the errors.
pub(crate) fn run(
    Arguments { settings, data_dir }: &Arguments,
    folder: &Path,
) -> Result<Document, Failure> {
    let read = |(data_dir, file): (&PathBuf, &str)| {
        read::dataset(data_dir.join(format!("{file}.csv.gz")), &ReadOptions::default())
    };
    let paths = data_dir.iter().flat_map(|data_dir| FILES.map(|file| (data_dir, file)));
    let files: Vec<Dataset> = paths.map(read).collect::<Result<_, _>>()?;
    let rows: Vec<Row> = rows(files.len()).filter(|row| settings.takes(&row.key())).collect();
    if rows.is_empty() {
        return Err(format!("robust-outliers: no row begins with {:?}", settings.only).into());
    }
    // Trials on a file are those of its content.
    let content: Vec<u64> = files.iter().map(|data| fingerprint(std::iter::once(data))).collect();
    let key = |row: &Row| match row.data {
        0 => row.key(),
        at => format!("{}-{:016x}", row.key(), content[at - 1]),
    };
    let count = settings.trials();
    let keys: Vec<Key> =
        rows.iter().flat_map(|row| (0..count).map(move |number| (key(row), number))).collect();
    let arguments = format!(
        "robust-outliers 2 seed={} lambda={LAMBDA} factor={FACTOR} n={SIMULATED} {LEARNERS:?}",
        settings.seed
    );
    let journal = folder.join("robust-outliers.journal");
    let errors = trials::run(&journal, &arguments, &keys, settings.threads, |(name, number)| {
        let row = rows.iter().find(|row| key(row) == *name).ok_or("a row of no table")?;
        // The same samples for every share and both kinds of spoiling.
        let mut random = stream(settings.seed, row.data as u32, *number);
        let data = match row.data {
            0 => GaussianMixture::example(Example::One, draw_seed(&mut random))?
                .sample(SIMULATED, draw_seed(&mut random))?,
            at => files[at - 1].clone(),
        };
        errors(row, &data, &mut random)
    })?;
    let means: Vec<Vec<Mean>> = errors.chunks_exact(count).map(means).collect();
    let title = "Robust objectives and outliers";
    let document = Document::new("robust-outliers", title, finding(&rows, &means));
    let document = document.text(about(settings));
    let document = document.table(table(&rows, &means)).csv("robust-outliers", csv(&rows, &means));
    Ok(document.figure(picture(&rows, &means)))
}

/// Returns in words which learners withstand outliers and flipped labels: those whose error rises by at
/// most this many points above their own on sound samples, on every data set.
fn finding(rows: &[Row], means: &[Vec<Mean>]) -> String {
    const MOST: f64 = 5.0;
    let largest = rows.iter().map(|row| row.share).fold(0.0, f64::max);
    let of_spoiling = |spoiling: Spoiling| {
        let of = |data: usize, share: f64| {
            let mut pairs = rows.iter().zip(means);
            let found = pairs.find(|(row, _)| {
                row.data == data && row.share == share && row.spoiling.name() == spoiling.name()
            });
            found.map(|(_, means)| means)
        };
        let rise = |k: usize| {
            let sets =
                (0..=FILES.len()).filter_map(|data| Some((of(data, 0.0)?, of(data, largest)?)));
            sets.map(|(sound, spoilt)| spoilt[k].mean - sound[k].mean).fold(f64::NAN, f64::max)
        };
        let (withstand, fail): (Vec<_>, Vec<_>) = LEARNERS
            .iter()
            .enumerate()
            .map(|(k, (name, ..))| (*name, rise(k)))
            .partition(|l| l.1 <= MOST);
        let listed = |learners: &[(&str, f64)]| {
            let names: Vec<String> =
                learners.iter().map(|(name, rise)| format!("{name} ({rise:+.1})")).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        format!(
            "With {:.0} % of {} the error rises by at most {MOST} points above that on sound samples, on \
             every data set, of: {}; by more, of: {}.",
            100.0 * largest,
            spoiling.name(),
            listed(&withstand),
            listed(&fail)
        )
    };
    [Spoiling::Outlier, Spoiling::Flip].map(of_spoiling).join(" ")
}

/// Returns the mean error of every learner over the trials.
fn means(trials: &[Numbers]) -> Vec<Mean> {
    let of = |k: usize| Mean::percent(trials.iter().map(move |errors| errors.0[k]));
    (0..LEARNERS.len()).map(of).collect()
}

/// Returns the test error of every learner in one trial.
fn errors(row: &Row, data: &Dataset, random: &mut ChaCha8Rng) -> Result<Numbers, Failure> {
    let (train, test) = hold_out(data.labels(), TEST_SHARE, draw_seed(random))?;
    let (train, test) = standardized(data.select(&train), data.select(&test))?;
    let mut order: Vec<usize> = (0..train.rows()).collect();
    order.shuffle(random);
    let train = row.spoiling.apply(&train, &order, row.share)?;
    let seed = random.next_u32();
    let error = |learner: &(&str, &str, Option<&str>)| {
        let scores = scores(learner, &train, &test, seed)?;
        Ok::<_, Failure>(error_rate(&scores, test.labels().signs(), None)?.rate)
    };
    Ok(Numbers(LEARNERS.iter().map(error).collect::<Result<_, _>>()?))
}

/// Returns the scores of the test samples.
fn scores(
    (_, loss, robust): &(&str, &str, Option<&str>),
    train: &Dataset,
    test: &Dataset,
    seed: u32,
) -> Result<Vec<f64>, Failure> {
    let lambda = Lambda::new(LAMBDA)?;
    let options = Options::default();
    if (*loss, robust) == ("hinge", &None) {
        let gram = Gram::new(&Linear, train.design())?;
        let machine = svm::fit(&gram, train.labels().signs(), None, true, lambda, &options)?;
        let mut coef = vec![0.0; train.columns()];
        train.design().multiply_transposed(&machine.coef, &mut coef);
        let mut scores = vec![0.0; test.rows()];
        test.design().multiply(&coef, &mut scores);
        scores.iter_mut().for_each(|score| *score += machine.intercept);
        return Ok(scores);
    }
    let loss = LossRegistry::standard().parse(loss)?;
    let fit = match robust {
        None => fit(&Objective::of(&*loss, train)?, lambda, &options)?,
        Some(text) => {
            let blocks = train.rows() / 3;
            let text = match *text {
                "median-of-means" => format!("{text}:blocks={blocks},seed={seed}"),
                other => format!("{other},seed={seed}"),
            };
            let learner: RobustLearner = text.parse()?;
            if loss.name() == "hinge" {
                learner.fit(&Objective::of(&Hinge, train)?, lambda, &options)?
            } else {
                learner.fit(&Objective::of(&*loss, train)?, lambda, &options)?
            }
        }
    };
    Ok(fit.decision_function(test.design()))
}

fn csv(rows: &[Row], means: &[Vec<Mean>]) -> String {
    let mut text = String::from("data,spoilt,share,learner,mean_error,standard_error\n");
    for (row, means) in rows.iter().zip(means) {
        for ((learner, ..), Mean { mean, standard_error }) in LEARNERS.iter().zip(means) {
            let (data, kind, share) = (name(row.data), row.spoiling.name(), row.share);
            text += &format!("{data},{kind},{share},{learner},{mean},{standard_error}\n");
        }
    }
    text
}

fn about(settings: &Settings) -> String {
    format!(
        "The table has test errors in percent (standard errors) over {} trials, with seed {}. Two \
         thirds of the samples are for training, and standardise the features; then a share of \
         these is corrupted: labels are flipped, or features multiplied by -{FACTOR}. Test samples \
         are not corrupted. Lambda is {LAMBDA} for all. The mixture is example 1 of Kwon and Zou, \
         {SIMULATED} samples, with new centres every trial; the median of means has a third as \
         many blocks as samples.",
        settings.trials(),
        settings.seed
    )
}

fn table(rows: &[Row], means: &[Vec<Mean>]) -> Table {
    let learners = LEARNERS.map(|(learner, ..)| learner);
    let mut table = Table::new(["data", "spoilt", "share"].into_iter().chain(learners));
    for (row, means) in rows.iter().zip(means) {
        let share = format!("{} %", 100.0 * row.share);
        let first = [name(row.data).to_owned(), row.spoiling.name().to_owned(), share];
        table.push(first.into_iter().chain(means.iter().map(Mean::to_string)));
    }
    table
}

/// Returns one panel for the outliers of each data set.
fn picture(rows: &[Row], means: &[Vec<Mean>]) -> Figure {
    let of_set = |data: usize| {
        let of_data = || {
            let pairs = rows.iter().zip(means);
            pairs.filter(move |(row, _)| {
                row.data == data && matches!(row.spoiling, Spoiling::Outlier)
            })
        };
        let series = |(k, (learner, ..)): (usize, &(&str, &str, Option<&str>))| {
            let points = of_data()
                .map(|(row, means)| (100.0 * row.share, means[k].mean, means[k].standard_error));
            with_bars(*learner, points, Style::Bars)
        };
        let title = format!("Outliers in the training samples, {}", name(data));
        let axes = [Axis::new("outliers, %"), Axis::new("test error, %")];
        let series = LEARNERS.iter().enumerate().map(series).collect();
        (of_data().count() > 1).then(|| panel(name(data), title, axes, series))
    };
    Figure::new("robust-outliers-curves", (0..=FILES.len()).filter_map(of_set).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_samples_are_spoilt() {
        let mixture = GaussianMixture::example(Example::One, 1).expect("valid");
        let data = mixture.sample(50, 2).expect("samples");
        let order: Vec<usize> = (0..50).rev().collect();
        let flipped = Spoiling::Flip.apply(&data, &order, 0.1).expect("two classes");
        let pairs = data.labels().signs().iter().zip(flipped.labels().signs());
        let wrong: Vec<usize> =
            pairs.enumerate().filter(|(_, (a, b))| a != b).map(|(i, _)| i).collect();
        assert_eq!(wrong, [45, 46, 47, 48, 49]);
        let moved = Spoiling::Outlier.apply(&data, &order, 0.1).expect("finite");
        for (i, (x, z)) in data.design().samples().zip(moved.design().samples()).enumerate() {
            let ratio = if i < 45 { 1.0 } else { FACTOR * FACTOR };
            assert!((z.squared_norm() / x.squared_norm() / ratio - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_robust_learners_stand_outliers_that_ruin_the_hinge() {
        let row = Row { data: 1, spoiling: Spoiling::Outlier, share: 0.1 };
        let centres = |sign: f64| vec![vec![2.0 * sign, 0.0]];
        let mixture = GaussianMixture::with_centres(centres(1.0), centres(-1.0), 1.0);
        let data = mixture.expect("valid").sample(300, 3).expect("samples");
        let errors = errors(&row, &data, &mut stream(1, 1, 1)).expect("errors");
        let (hinge, catoni, median) = (errors.0[0], errors.0[4], errors.0[5]);
        assert!(hinge > 0.3 && catoni < 0.08 && median < 0.08, "{errors}");
    }
}
