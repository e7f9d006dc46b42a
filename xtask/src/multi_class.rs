//! Schemes of several classes on data sets: which one errs least, and has the best probabilities.
//!
//! The ranks of the schemes decide the default of `--multi-class`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use margins::data::metrics::Measure;
use margins::data::split::hold_out;
use margins::data::{ClassLabels, Classes, Dataset, read};
use margins::estimators::regularised::{ClassifierSettings, CrossValidation, Regularisation};
use margins::losses::LossRegistry;
use margins::model::Error as Unusable;
use margins::optim::{Lambda, lambda_grid};
use margins::{Predictor, Registry, Scheme};
use margins_experiments::{Document, Mean, Numbers, Table, Trials};

use crate::Failure;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder with covtype.csv.gz and covtype_cover_type.csv.gz, and the files NAME.csv that
    /// benches/peers/several_classes_data.py writes; what is not there is left out
    #[arg(long)]
    data_dir: PathBuf,
    /// Splits of each data set
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..))]
    trials: u32,
    /// The most rows of a data set, drawn for each split
    #[arg(long, default_value_t = 2000)]
    rows: usize,
    /// Threads, 0 for one a core; the results do not depend on them
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Seed of rows, splits and folds
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The names of the data sets and of their files.
const SETS: [&str; 10] = [
    "iris", "wine", "digits", COVERTYPE, "penguins", "segments", "glass", "crabs", "weather",
    "diamonds",
];

/// The data set whose classes are in a file of their own.
const COVERTYPE: &str = "covertype";

const LOSSES: [&str; 4] = ["logistic", "squared-hinge", "lhs", "hinge"];
/// The loss of the multinomial scheme.
const LOGISTIC: usize = 0;

/// The schemes for any loss, and last the one for the logistic loss alone.
const SCHEMES: [(&str, Scheme); 4] = [
    ("one-versus-rest", Scheme::OneVersusRest),
    ("one-versus-one", Scheme::OneVersusOne),
    ("joint", Scheme::Joint),
    ("multinomial", Scheme::Multinomial),
];
/// The number of schemes for any loss.
const FOR_ANY_LOSS: usize = 3;

const TEST_SHARE: f64 = 0.3;
const FOLDS: usize = 5;

/// The measures of a method on test rows, in the order of the numbers of a trial.
const MEASURES: [&str; 2] = ["error", "log-loss"];

/// Returns the lambdas to choose from.
fn lambdas() -> Result<Vec<Lambda>, Failure> {
    Ok(lambda_grid(1.0, 1e-6, 13)?)
}

/// Returns the methods, each with the index of its loss and of its scheme.
fn methods() -> impl Iterator<Item = (usize, usize)> {
    let of_loss = |loss| (0..schemes_of(loss)).map(move |scheme| (loss, scheme));
    (0..LOSSES.len()).flat_map(of_loss)
}

/// Returns the number of schemes that take a loss.
fn schemes_of(loss: usize) -> usize {
    if loss == LOGISTIC { SCHEMES.len() } else { FOR_ANY_LOSS }
}

/// Returns the settings of a method.
fn settings(loss: usize, scheme: usize, seed: u64) -> Result<ClassifierSettings, Failure> {
    let how =
        CrossValidation { lambdas: lambdas()?, folds: Some(FOLDS), ..CrossValidation::default() };
    Ok(ClassifierSettings {
        loss: Arc::from(LossRegistry::standard().parse(LOSSES[loss])?),
        scheme: Some(SCHEMES[scheme].1),
        standardize: true,
        regularisation: Regularisation::CrossValidated(how),
        seed,
        ..ClassifierSettings::default()
    })
}

/// Returns the error and the mean log-loss of a method on test rows; NaN for a loss without
/// probabilities.
fn tested(
    settings: &ClassifierSettings,
    train: &Dataset<Classes>,
    test: &Dataset<Classes>,
) -> Result<[f64; 2], Failure> {
    let registry = Registry::standard();
    let (n, labels) = (test.rows(), test.labels());
    let model = settings.fit(train)?.model;
    let predicted = model.predict(test.design(), &registry)?;
    let wrong = (0..n).filter(|&row| predicted[row] != labels.index(row)).count();
    let probabilities = Predictor::new(model, &registry)?.probabilities(test.design());
    let log_loss = match probabilities {
        Ok(table) => {
            let p = table.into_matrix();
            let of_row = |row: usize| {
                let p: Vec<f64> = p.row(row).iter().copied().collect();
                Measure::LogLoss.of_sample(labels.index(row), &p).unwrap_or(f64::NAN)
            };
            (0..n).map(of_row).sum::<f64>() / n as f64
        }
        Err(Unusable::NoProbabilities(_)) => f64::NAN,
        Err(other) => return Err(other.into()),
    };
    Ok([wrong as f64 / n as f64, log_loss])
}

/// Returns the numbers of all methods on one split of a data set.
fn trial(data: &Dataset<Classes>, rows: usize, seed: u64) -> Result<Numbers, Failure> {
    let drawn = match data.rows() > rows {
        true => hold_out(data.labels(), rows as f64 / data.rows() as f64, seed)?.1,
        false => (0..data.rows()).collect(),
    };
    let data = data.select(&drawn);
    let (train, test) = hold_out(data.labels(), TEST_SHARE, seed)?;
    let (train, test) = (data.select(&train), data.select(&test));
    let numbers =
        methods().map(|(loss, scheme)| tested(&settings(loss, scheme, seed)?, &train, &test));
    Ok(Numbers(numbers.collect::<Result<Vec<_>, Failure>>()?.concat()))
}

/// Returns the data set of a name, if its files are there.
fn data_set(folder: &Path, name: &str) -> Result<Option<Dataset<Classes>>, Failure> {
    let options = read::ReadOptions::default();
    if name != COVERTYPE {
        let path = folder.join(format!("{name}.csv"));
        return Ok(path.exists().then(|| read::classes(&path, &options)).transpose()?);
    }
    let [features, types] =
        ["covtype.csv.gz", "covtype_cover_type.csv.gz"].map(|file| folder.join(file));
    if !(features.exists() && types.exists()) {
        return Ok(None);
    }
    let types = read::features(&types, &options)?.design;
    let mut numbers = vec![0.0; types.rows()];
    types.multiply(&[1.0], &mut numbers);
    let names: Vec<String> = numbers.iter().map(f64::to_string).collect();
    let data = read::dataset(&features, &options)?;
    Ok(Some(data.relabelled(Classes::new(&names)?)?))
}

pub(crate) fn run(arguments: &Arguments, folder: &Path) -> Result<Document, Failure> {
    let mut sets = Vec::new();
    for name in SETS {
        sets.extend(data_set(&arguments.data_dir, name)?.map(|data| (name, data)));
    }
    if sets.is_empty() {
        let (folder, names) = (arguments.data_dir.display(), SETS.join(", "));
        return Err(format!("{folder}: no data set of {names} is there").into());
    }
    let rows: Vec<String> = sets.iter().map(|(name, _)| (*name).to_owned()).collect();
    let trials = Trials {
        name: "multi-class",
        protocol: &format!(
            "rows={} test={TEST_SHARE} folds={FOLDS} losses={}",
            arguments.rows,
            LOSSES.join(",")
        ),
        seed: arguments.seed,
        per_row: arguments.trials as usize,
        threads: arguments.threads,
    };
    let results = trials.run(folder, &rows, |row, seed| {
        let set = sets.iter().find(|(name, _)| *name == row).ok_or("a row of no data set")?;
        trial(&set.1, arguments.rows, seed)
    })?;
    let sizes: Vec<String> = sets
        .iter()
        .map(|(name, data)| {
            let (n, p, k) = (data.rows(), data.columns(), data.labels().names().len());
            format!("{name} ({n} x {p}, {k} classes)")
        })
        .collect();
    let about = format!(
        "Data sets: {}. Of a larger set {} rows are drawn for each of {} splits, with the same shares of \
         classes; 30 % of the rows are for testing. Functions are linear, features are standardised by the \
         training rows, and lambda is selected by the error in {FOLDS} folds among {} values from 1 to 1e-6, \
         of equal errors by the log-loss. A rank is that of the mean over the splits of one data set, 1 for \
         the best, the mean of the places for equal values; the table has means over the data sets with \
         standard errors. The hinge has no probabilities and so no log-loss.",
        sizes.join(", "),
        arguments.rows,
        arguments.trials,
        lambdas()?.len()
    );
    let document = Document::new("multi-class", "Schemes of several classes", finding(&results));
    let document = document.text(about).table(rank_table(&results));
    let document = document.text(
        "The logistic loss alone, with the multinomial scheme: mean ranks among four schemes."
            .to_owned(),
    );
    let document = document.table(logistic_table(&results));
    let document = document.text(
        "Test error in percent and log-loss of every method, means over the splits with standard errors."
            .to_owned(),
    );
    Ok(document.table(number_table(&rows, &results)))
}

/// Returns the mean of a measure of a method over the splits of a data set.
fn mean(trials: &[Numbers], method: usize, measure: usize) -> Mean {
    let values = trials.iter().map(|trial| trial.0[method * MEASURES.len() + measure]);
    if measure == 0 { Mean::percent(values) } else { Mean::of(values) }
}

/// Returns the ranks of values, 1 for the smallest; equal values share the mean of their places.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        below as f64 + 0.5 * (equal as f64 + 1.0)
    };
    values.iter().map(rank).collect()
}

/// Returns for each data set the ranks of the first schemes with a loss by a measure; none for a loss
/// without it.
fn ranks_of(
    results: &[Vec<Numbers>],
    loss: usize,
    schemes: usize,
    measure: usize,
) -> Option<Vec<Vec<f64>>> {
    let first = methods().position(|method| method == (loss, 0))?;
    let of_set = |trials: &Vec<Numbers>| {
        let values: Vec<f64> =
            (0..schemes).map(|scheme| mean(trials, first + scheme, measure).mean).collect();
        values.iter().all(|value| !value.is_nan()).then(|| ranks(&values))
    };
    results.iter().map(of_set).collect()
}

/// Returns for each scheme its mean rank over data sets, of ranks given as data sets by schemes.
fn mean_ranks(ranks: &[Vec<f64>]) -> Vec<Mean> {
    let schemes = ranks.first().map_or(0, Vec::len);
    (0..schemes).map(|scheme| Mean::of(ranks.iter().map(|of_set| of_set[scheme]))).collect()
}

/// Returns the ranks of the schemes for any loss, averaged for each data set over losses and
/// measures.
fn overall(results: &[Vec<Numbers>]) -> Vec<Mean> {
    let all: Vec<Vec<Vec<f64>>> = (0..LOSSES.len())
        .flat_map(|loss| (0..MEASURES.len()).map(move |measure| (loss, measure)))
        .filter_map(|(loss, measure)| ranks_of(results, loss, FOR_ANY_LOSS, measure))
        .collect();
    let of_set = |set: usize| -> Vec<f64> {
        let of_scheme = |scheme: usize| Mean::of(all.iter().map(|ranks| ranks[set][scheme])).mean;
        (0..FOR_ANY_LOSS).map(of_scheme).collect()
    };
    mean_ranks(&(0..results.len()).map(of_set).collect::<Vec<_>>())
}

/// Returns in words which scheme has the best mean rank.
fn finding(results: &[Vec<Numbers>]) -> String {
    let overall = overall(results);
    let best = (0..FOR_ANY_LOSS)
        .min_by(|&a, &b| overall[a].mean.total_cmp(&overall[b].mean))
        .unwrap_or_default();
    let each: Vec<String> =
        (0..FOR_ANY_LOSS).map(|k| format!("{} {}", SCHEMES[k].0, overall[k])).collect();
    let logistic: Vec<String> = (0..MEASURES.len())
        .filter_map(|measure| {
            let ranks = mean_ranks(&ranks_of(results, LOGISTIC, SCHEMES.len(), measure)?);
            let first =
                (0..ranks.len()).min_by(|&a, &b| ranks[a].mean.total_cmp(&ranks[b].mean))?;
            Some(format!("by {} {} ({})", MEASURES[measure], SCHEMES[first].0, ranks[first]))
        })
        .collect();
    format!(
        "On {} data sets the best mean rank over error and log-loss and over {} losses has {}: {}. With the \
         logistic loss the best of four schemes is {}.",
        results.len(),
        LOSSES.len(),
        SCHEMES[best].0,
        each.join(", "),
        logistic.join(", and ")
    )
}

/// Returns the table of mean ranks of the schemes for any loss.
fn rank_table(results: &[Vec<Numbers>]) -> Table {
    let columns: Vec<(String, Vec<Mean>)> = (0..LOSSES.len())
        .flat_map(|loss| (0..MEASURES.len()).map(move |measure| (loss, measure)))
        .filter_map(|(loss, measure)| {
            let ranks = ranks_of(results, loss, FOR_ANY_LOSS, measure)?;
            Some((format!("{}: {}", LOSSES[loss], MEASURES[measure]), mean_ranks(&ranks)))
        })
        .chain([("all".to_owned(), overall(results))])
        .collect();
    let names = columns.iter().map(|(name, _)| name.clone());
    let mut table = Table::new(std::iter::once("scheme".to_owned()).chain(names));
    for scheme in 0..FOR_ANY_LOSS {
        let cells = columns.iter().map(|(_, ranks)| ranks[scheme].to_string());
        table.push(std::iter::once(SCHEMES[scheme].0.to_owned()).chain(cells));
    }
    table
}

/// Returns the table of mean ranks of all schemes with the logistic loss.
fn logistic_table(results: &[Vec<Numbers>]) -> Table {
    let ranks = |measure| ranks_of(results, LOGISTIC, SCHEMES.len(), measure);
    let columns: Vec<Vec<Mean>> =
        (0..MEASURES.len()).filter_map(ranks).map(|ranks| mean_ranks(&ranks)).collect();
    let mut table = Table::new(["scheme"].into_iter().chain(MEASURES));
    for (scheme, (name, _)) in SCHEMES.iter().enumerate() {
        let cells = columns.iter().map(|ranks| ranks[scheme].to_string());
        table.push(std::iter::once((*name).to_owned()).chain(cells));
    }
    table
}

/// Returns the table of errors and log-losses, a row for each data set and method.
fn number_table(rows: &[String], results: &[Vec<Numbers>]) -> Table {
    let mut table = Table::new(["data", "loss", "scheme", "error, %", "log-loss"]);
    for (set, trials) in rows.iter().zip(results) {
        for (method, (loss, scheme)) in methods().enumerate() {
            let [error, log_loss] = [0, 1].map(|measure| mean(trials, method, measure).to_string());
            let names = [set.as_str(), LOSSES[loss], SCHEMES[scheme].0].map(str::to_owned);
            table.push(names.into_iter().chain([error, log_loss]));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use margins::data::Design;

    #[test]
    fn ranks_share_the_places_of_equal_values() {
        assert_eq!(ranks(&[0.2, 0.1, 0.2, 0.4]), [2.5, 1.0, 2.5, 4.0]);
        assert_eq!(ranks(&[f64::INFINITY, 1.0, f64::INFINITY]), [2.5, 1.0, 2.5]);
    }

    /// The best scheme is found where one is best on every data set and by every measure.
    #[test]
    fn the_finding_names_the_scheme_that_is_best() {
        let of_method = |(loss, scheme): (usize, usize)| {
            let value = if scheme == 2 { 0.1 } else { 0.2 + 0.1 * scheme as f64 };
            [value, if LOSSES[loss] == "hinge" { f64::NAN } else { value }]
        };
        let numbers = Numbers(methods().flat_map(of_method).collect());
        let results = vec![vec![numbers.clone(), numbers]; 3];
        let [rest, one, joint] = [0, 1, 2].map(|scheme| overall(&results)[scheme].mean);
        assert_eq!([rest, one, joint], [2.0, 3.0, 1.0]);
        assert!(finding(&results).contains("has joint"), "{}", finding(&results));
        assert!(ranks_of(&results, 3, FOR_ANY_LOSS, 1).is_none());
    }

    /// Every method learns three clouds, by better probabilities than equal ones if it has any.
    #[test]
    fn all_methods_learn_clouds() {
        let centre = |k: usize| [[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]][k % 3];
        let noise = |i: usize, f: fn(f64) -> f64| f(1.7 * i as f64);
        let point =
            |i: usize| [centre(i)[0] + noise(i, f64::sin), centre(i)[1] + noise(i, f64::cos)];
        let design = Design::from_rows(&(0..60).map(point).collect::<Vec<_>>()).expect("rows");
        let names: Vec<String> = (0..60).map(|i| format!("class {}", i % 3)).collect();
        let data = Dataset::new(design, Classes::new(&names).expect("classes")).expect("data");
        let (train, test) = hold_out(data.labels(), TEST_SHARE, 1).expect("rows");
        let (train, test) = (data.select(&train), data.select(&test));
        for (loss, scheme) in methods() {
            let regularisation = Regularisation::Single(Lambda::new(0.01).expect("a lambda"));
            let settings = settings(loss, scheme, 1).expect("settings");
            let settings = ClassifierSettings { regularisation, ..settings };
            let [error, log_loss] = tested(&settings, &train, &test).expect("numbers");
            let what = (LOSSES[loss], SCHEMES[scheme].0, error, log_loss);
            assert!(error < 0.3, "{what:?}");
            assert_eq!(log_loss < 3f64.ln(), LOSSES[loss] != "hinge", "{what:?}");
        }
    }
}
