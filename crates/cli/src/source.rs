//! Data from a file or from a simulation.

use std::path::Path;

use margins::data::Dataset;
use margins::data::generate::{Example, GaussianMixture};
use margins::data::read::{self, Format, ReadOptions, Unlabelled};

use crate::Failure;
use crate::args::{DataArguments, DataFormat};

/// Prefix of a simulated data set.
const MIXTURE: &str = "mixture:";

impl DataArguments {
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions {
            label: self.label.clone(),
            weights_column: self.weights_column.clone(),
            fold_column: self.fold_column.clone(),
            positive: self.positive.clone(),
            columns: self.columns,
            format: self.data_format.map(|format| match format {
                DataFormat::Csv => Format::Csv,
                DataFormat::Svmlight => Format::Svmlight,
            }),
        }
    }

    /// The labelled data.
    pub(crate) fn dataset(&self) -> Result<Dataset, Failure> {
        dataset(&self.data, &self.read_options())
    }

    /// The data to predict, for a model with this number of features.
    pub(crate) fn features(&self, columns: usize) -> Result<Unlabelled, Failure> {
        if let Some(parameters) = self.data.strip_prefix(MIXTURE) {
            let data = simulate(parameters)?;
            let labels = data.labels();
            let names = labels.signs().iter().map(|&sign| labels.class_name(sign).to_owned());
            return Ok(Unlabelled {
                feature_names: None,
                labels: Some(names.collect()),
                design: data.design().clone(),
            });
        }
        // A svmlight file need not reach the last feature, so it is told how many there are; a CSV
        // file says how many it has, and the model judges.
        let mut options = self.read_options();
        let path = Path::new(&self.data);
        if options.format.or_else(|| Format::of(path)) == Some(Format::Svmlight) {
            options.columns = options.columns.or(Some(columns));
        }
        read::features(path, &options).map_err(Failure::job)
    }
}

/// A file or a simulation, by its name.
pub(crate) fn dataset(name: &str, options: &ReadOptions) -> Result<Dataset, Failure> {
    match name.strip_prefix(MIXTURE) {
        Some(parameters) => simulate(parameters),
        None => read::dataset(Path::new(name), options).map_err(Failure::job),
    }
}

/// A draw from a mixture of section 6.1 of Kwon and Zou (2023): `example=1,n=200,p=2,seed=1`, each
/// part optional. The seed draws the centres and the sample, in streams of their own.
fn simulate(parameters: &str) -> Result<Dataset, Failure> {
    let (mut example, mut n, mut p, mut seed) = (1, 200, None, 1);
    for part in parameters.split(',').filter(|part| !part.is_empty()) {
        let Some((key, value)) = part.split_once('=') else {
            return Err(Failure::Usage(format!("simulated data: '{part}' is not KEY=VALUE")));
        };
        let whole: u64 = value.parse().map_err(|_| {
            Failure::Usage(format!("simulated data: {key} is '{value}', not a whole number"))
        })?;
        match key {
            "example" => example = whole,
            "n" => n = whole,
            "p" => p = Some(whole),
            "seed" => seed = whole,
            _ => {
                return Err(Failure::Usage(format!(
                    "simulated data: unknown key '{key}'; known are example, n, p, seed"
                )));
            }
        }
    }
    const MOST_ROWS: u64 = 100_000_000;
    if !(2..=MOST_ROWS).contains(&n) {
        return Err(Failure::Usage(format!(
            "simulated data: n is {n}, but must be from 2 to {MOST_ROWS}"
        )));
    }
    let example = match (example, p) {
        (1, None | Some(2)) => Example::One,
        (2, None | Some(2)) => Example::Two,
        (3, None | Some(30)) => Example::Three { p: 30 },
        (3, Some(10)) => Example::Three { p: 10 },
        (1 | 2, Some(p)) => {
            return Err(Failure::Usage(format!(
                "simulated data: example {example} has p=2, not {p}"
            )));
        }
        (3, Some(p)) => {
            return Err(Failure::Usage(format!(
                "simulated data: example 3 has p=10 or p=30, not {p}"
            )));
        }
        _ => {
            return Err(Failure::Usage(format!(
                "simulated data: example is {example}, but must be 1, 2 or 3"
            )));
        }
    };
    GaussianMixture::example(example, seed)
        .and_then(|mixture| mixture.sample(n as usize, seed))
        .map_err(Failure::job)
}
