//! Data from a file or from a simulation.

use std::path::Path;

use margins::data::generate::{Example, GaussianMixture};
use margins::data::read::{self, Format, ReadOptions, Unlabelled};
use margins::data::{Classes, Dataset};
use margins::losses::Specification;

use crate::Failure;
use crate::args::DataArguments;
use crate::choices::DataFormat;

/// What messages call standard input.
pub(crate) const STDIN: &str = "standard input";

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

    /// The simulation that the data come from, which takes no option of a file.
    pub(crate) fn simulation(&self) -> Result<Option<Simulation>, Failure> {
        let Some(simulation) = Simulation::named(&self.data)? else { return Ok(None) };
        let of_files = [
            ("--label", self.label.is_some()),
            ("--positive", self.positive.is_some()),
            ("--weights-column", self.weights_column.is_some()),
            ("--fold-column", self.fold_column.is_some()),
            ("--columns", self.columns.is_some()),
            ("--data-format", self.data_format.is_some()),
        ];
        match of_files.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(refuse(format!("{option} is for files, leave it out"))),
            None => Ok(Some(simulation)),
        }
    }

    /// The labelled data.
    pub(crate) fn dataset(&self) -> Result<Dataset, Failure> {
        match self.simulation()? {
            Some(simulation) => simulation.draw(),
            None => {
                let options = self.read_options();
                match self.standard_input(&options)? {
                    Some(format) => read::dataset_from(std::io::stdin(), STDIN, format, &options),
                    None => read::dataset(&self.data, &options),
                }
                .map_err(refusal)
            }
        }
    }

    /// The labelled data, of any number of classes.
    pub(crate) fn classes(&self) -> Result<Dataset<Classes>, Failure> {
        if let Some(simulation) = self.simulation()? {
            let data = simulation.draw()?;
            return data.relabelled(Classes::from(data.labels())).map_err(refusal);
        }
        self.read_classes(&self.read_options())
    }

    /// The labelled data, of any number of classes, whichever of two is the positive one.
    pub(crate) fn any_classes(&self) -> Result<Dataset<Classes>, Failure> {
        match self.simulation()? {
            Some(_) => self.classes(),
            None => self.read_classes(&ReadOptions { positive: None, ..self.read_options() }),
        }
    }

    fn read_classes(&self, options: &ReadOptions) -> Result<Dataset<Classes>, Failure> {
        match self.standard_input(options)? {
            Some(format) => read::classes_from(std::io::stdin(), STDIN, format, options),
            None => read::classes(&self.data, options),
        }
        .map_err(refusal)
    }

    /// The data to predict, for a model with this number of features.
    pub(crate) fn features(&self, columns: usize) -> Result<Unlabelled, Failure> {
        if let Some(simulation) = self.simulation()? {
            let data = simulation.draw()?;
            let labels = data.labels();
            let names = labels.signs().iter().map(|&sign| labels.class_name(sign).to_owned());
            return Ok(Unlabelled {
                feature_names: None,
                labels: Some(names.collect()),
                weights: None,
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
        match self.standard_input(&options)? {
            Some(format) => read::features_from(std::io::stdin(), STDIN, format, &options),
            None => read::features(path, &options),
        }
        .map_err(refusal)
    }

    /// The format of standard input, if that is where the data come from.
    pub(crate) fn standard_input(&self, options: &ReadOptions) -> Result<Option<Format>, Failure> {
        match (self.data.as_str(), options.format) {
            ("-", None) => {
                Err(Failure::Usage("standard input needs --data-format csv or svmlight".to_owned()))
            }
            ("-", Some(format)) => Ok(Some(format)),
            _ => Ok(None),
        }
    }
}

/// A draw from a mixture of section 6.1 of Kwon and Zou (2023). The seed draws the centres and the
/// sample, in streams of their own.
pub(crate) struct Simulation {
    pub(crate) mixture: GaussianMixture,
    rows: usize,
    seed: u64,
}

impl Simulation {
    /// `mixture:example=1,n=200,p=2,seed=1`, each part optional; `None` for any other name.
    fn named(name: &str) -> Result<Option<Self>, Failure> {
        const MOST_ROWS: u64 = 100_000_000;
        let Some(parameters) = name.strip_prefix(MIXTURE) else { return Ok(None) };
        let mut given = match parameters.trim() {
            "" => Specification::parse(""),
            list => Specification::parse_list(list),
        }
        .map_err(refuse)?;
        let example = given.take_text("example").unwrap_or("1");
        let mut whole = |key: &str| given.take::<u64>(key, "a whole number").map_err(refuse);
        let (rows, p) = (whole("n")?.unwrap_or(200), whole("p")?);
        let seed = whole("seed")?.unwrap_or(1);
        given.finish("example, n, p and seed").map_err(refuse)?;
        if !(2..=MOST_ROWS).contains(&rows) {
            return Err(refuse(format!("n is {rows}, but must be from 2 to {MOST_ROWS}")));
        }
        let example = match (example, p) {
            ("1", None | Some(2)) => Example::One,
            ("2", None | Some(2)) => Example::Two,
            ("3", None | Some(30)) => Example::Three { p: 30 },
            ("3", Some(10)) => Example::Three { p: 10 },
            ("3-corrected", None | Some(30)) => Example::ThreeCorrected,
            ("1" | "2", Some(p)) => {
                return Err(refuse(format!("example {example} has p=2, not {p}")));
            }
            ("3", Some(p)) => return Err(refuse(format!("example 3 has p=10 or p=30, not {p}"))),
            ("3-corrected", Some(p)) => {
                return Err(refuse(format!("example 3-corrected has p=30, not {p}")));
            }
            _ => {
                return Err(refuse(format!(
                    "example is '{example}', but must be 1, 2, 3 or 3-corrected"
                )));
            }
        };
        let mixture = GaussianMixture::example(example, seed).map_err(Failure::job)?;
        Ok(Some(Simulation { mixture, rows: rows as usize, seed }))
    }

    fn draw(&self) -> Result<Dataset, Failure> {
        self.mixture.sample(self.rows, self.seed).map_err(Failure::job)
    }

    /// The Bayes error and the error of that number.
    pub(crate) fn bayes_error(&self) -> Result<(f64, f64), Failure> {
        const SAMPLES: usize = 200_000;
        if self.mixture.columns() == 2 {
            let quadrature = self.mixture.bayes_error_quadrature(1e-6).map_err(Failure::job)?;
            return Ok((quadrature.rate, quadrature.error));
        }
        let estimate =
            self.mixture.bayes_error_estimate(SAMPLES, self.seed).map_err(Failure::job)?;
        Ok((estimate.rate, estimate.standard_error))
    }
}

/// A format that is not told is a matter of usage, all else one of the job.
pub(crate) fn refusal(error: margins::data::Error) -> Failure {
    match error {
        margins::data::Error::UnknownFormat { .. } => {
            Failure::Usage(format!("{error} with --data-format"))
        }
        margins::data::Error::ThirdClassInFile { .. } => {
            Failure::job(format!("{error}; fit and cv take more with --multi-class ovr or ovo"))
        }
        _ => Failure::job(error),
    }
}

fn refuse(reason: impl std::fmt::Display) -> Failure {
    Failure::Usage(format!("simulated data: {reason}"))
}
