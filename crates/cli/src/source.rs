//! Data from a file or from a simulation.

use std::path::Path;

use margins::data::blocks::{self, BlockFile, BlockSettings};
use margins::data::encode::Encoding;
use margins::data::read::{self, FeatureColumns, Format, ReadOptions, Stream, Targets, Unlabelled};
use margins::data::{ClassLabels, Classes, Dataset, Listed};
use margins::model::{Header, ModelPath};
use margins::optim::Lambda;
use margins::{Model, Registry};

use crate::arguments::data::Source;
use crate::arguments::encode::EncodeArguments;
use crate::failure::Failure;
use crate::messages::{note, step};
use crate::program;
use crate::simulation::{Simulation, refuse};

/// The name of standard input in messages.
const STDIN: &str = "standard input";

impl Source<'_> {
    fn read_options(self) -> ReadOptions {
        ReadOptions {
            label: self.file.label.clone(),
            weights_column: self.weights_column.map(str::to_owned),
            fold_column: self.file.fold_column.clone(),
            positive: self.positive.map(str::to_owned),
            columns: self.file.columns,
            format: self.file.data_format,
            features: match self.encode.and_then(EncodeArguments::options) {
                Some(options) => FeatureColumns::Learn(options),
                None => FeatureColumns::Numbers,
            },
            further_files: self.file.further().to_vec(),
            drop_unlabelled: self.file.drop_unlabelled,
        }
    }

    /// Returns the columns that were to be left out.
    pub(crate) fn dropped(&self) -> &[String] {
        self.encode.map_or(&[], EncodeArguments::dropped)
    }

    /// Returns true if the data come from standard input.
    pub(crate) fn is_standard_input(self) -> bool {
        self.file.first() == Path::new("-")
    }

    /// Refuses a file that is not there, before work that needs it later.
    pub(crate) fn check_there(self) -> Result<(), Failure> {
        let name = self.file.first();
        if self.is_standard_input() || Simulation::named(name)?.is_some() {
            return Ok(());
        }
        match std::fs::metadata(name) {
            Ok(_) => Ok(()),
            Err(error) => Err(Failure::job(format!("{}: cannot be read: {error}", name.display()))),
        }
    }

    /// Returns the simulation that the data come from, which takes no option of a file.
    pub(crate) fn simulation(self) -> Result<Option<Simulation>, Failure> {
        let Some(simulation) = Simulation::named(self.file.first())? else { return Ok(None) };
        let encode = self.encode.and_then(EncodeArguments::asked);
        let of_files = [
            ("--label", self.file.label.is_some()),
            ("--positive", self.positive.is_some()),
            ("--weights-column", self.weights_column.is_some()),
            ("--fold-column", self.file.fold_column.is_some()),
            ("--columns", self.file.columns.is_some()),
            ("--data-format", self.file.data_format.is_some()),
            ("--drop-unlabelled", self.file.drop_unlabelled),
            ("a further file", !self.file.further().is_empty()),
            (encode.unwrap_or("--encode"), encode.is_some()),
        ];
        match of_files.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(refuse(format!("{option} is for files, leave it out"))),
            None => Ok(Some(simulation)),
        }
    }

    /// Returns the labelled data of two classes.
    pub(crate) fn dataset(self) -> Result<Dataset, Failure> {
        self.read_dataset(&self.read_options())
    }

    /// Returns the labelled data of two classes as the encoding of a model makes them.
    pub(crate) fn dataset_for(self, model: &Model) -> Result<Dataset, Failure> {
        self.read_dataset(&self.prediction_options(model))
    }

    fn read_dataset(self, options: &ReadOptions) -> Result<Dataset, Failure> {
        if let Some(simulation) = self.simulation()? {
            return simulation.draw();
        }
        let format = self.standard_input(options)?;
        let data = self.reading(|| match format {
            Some(format) => read::dataset_from(std::io::stdin(), STDIN, format, options),
            None => read::dataset(self.file.first(), options),
        })?;
        self.note_of_dropped(data.dropped_rows());
        self.note_of_words(data.encoding(), data.rows());
        Ok(data)
    }

    /// Returns the block file that the data are in, if they are in one.
    pub(crate) fn block_file(self) -> Result<Option<BlockFile>, Failure> {
        if !self.file.further().is_empty() || !BlockFile::is_one(self.file.first()) {
            return Ok(None);
        }
        Ok(read::block_file(self.file.first(), &self.read_options())?)
    }

    /// Returns the labelled data of any number of classes.
    pub(crate) fn classes(self) -> Result<Dataset<Classes>, Failure> {
        if let Some(simulation) = self.simulation()? {
            let data = simulation.draw()?;
            return Ok(data.relabelled(Classes::from(data.labels()))?);
        }
        self.read_classes(&self.read_options())
    }

    /// Returns the labelled data of any number of classes, to describe them: whichever of two is the
    /// positive one, and of a raw table without columns that have more categories than an encoding takes and
    /// without rows that have no label.
    pub(crate) fn to_describe(self) -> Result<Dataset<Classes>, Failure> {
        if self.simulation()?.is_some() {
            return self.classes();
        }
        let mut options = ReadOptions { positive: None, ..self.read_options() };
        if let FeatureColumns::Learn(learn) = options.features {
            options.features = FeatureColumns::LearnUncrowded(learn);
            options.drop_unlabelled = true;
        }
        self.read_classes(&options)
    }

    fn read_classes(self, options: &ReadOptions) -> Result<Dataset<Classes>, Failure> {
        let format = self.standard_input(options)?;
        let data = self.reading(|| match format {
            Some(format) => read::classes_from(std::io::stdin(), STDIN, format, options),
            None => read::classes(self.file.first(), options),
        })?;
        self.note_of_dropped(data.dropped_rows());
        self.note_of_words(data.encoding(), data.rows());
        Ok(data)
    }

    /// Writes the data as a block file.
    pub(crate) fn write_blocks(self, settings: BlockSettings, out: &Path) -> Result<(), Failure> {
        if let Some(simulation) = self.simulation()? {
            return Ok(blocks::write(&simulation.draw()?, out, settings)?);
        }
        if BlockFile::is_one(self.file.first()) {
            return Err(Failure::usage(format!("{}: already a block file", self.file.name())));
        }
        let options = self.read_options();
        let format = self.standard_input(&options)?;
        let name = format!("writing {} from {}", out.display(), self.file.name());
        let dropped = step(name, || match format {
            Some(format) => {
                read::to_blocks_from(std::io::stdin(), STDIN, format, &options, settings, out)
            }
            None => read::to_blocks(self.file.first(), &options, settings, out),
        })?;
        self.note_of_dropped(dropped);
        Ok(())
    }

    /// Says if data of a raw table come without it: folds then share the encoding that all rows have
    /// taught.
    pub(crate) fn note_of_encoding<Y: ClassLabels>(self, data: &Dataset<Y>) {
        if data.encoding().is_some() && data.raw_table().is_none() {
            note(format_args!(
                "the encoding of {} was learned from all of its rows, including those that folds hold out",
                self.file.name()
            ));
        }
    }

    /// Says which columns of numbers were taken as categories because of a few words.
    fn note_of_words(self, encoding: Option<&Encoding>, rows: usize) {
        let file = self.file.name();
        for column in encoding.map(Encoding::columns).unwrap_or_default() {
            let (name, words) = (column.name(), column.words_among_numbers());
            let levels = column.kind().levels().map_or(0, <[String]>::len);
            if !words.is_empty() {
                note(format_args!(
                    "{file}: column '{name}' is encoded as categories, because it has {} among its numbers. \
                     --missing-words sets the words for missing values",
                    Listed(&words)
                ));
            } else if levels > 10 && 2 * levels > rows {
                note(format_args!(
                    "{file}: column '{name}' has {levels} categories in {rows} rows, each of which becomes a feature. A \
                     number with a unit or a decimal comma is read as a word: change it, or pass --drop {name}."
                ));
            }
        }
    }

    /// Says how many rows were left out because they have no label.
    pub(crate) fn note_of_dropped(self, rows: usize) {
        let name = self.file.name();
        match rows {
            0 => {}
            1 => note(format_args!("1 row without a label is left out of {name}")),
            rows => note(format_args!("{rows} rows without a label are left out of {name}")),
        }
    }

    /// Reads the data, as a step of the work.
    fn reading<T>(self, read: impl FnOnce() -> T) -> T {
        step(format!("reading {}", self.file.name()), read)
    }

    /// Returns the data as a stream of these classes, labels with commas between them, of which there
    /// may be more than two if several are wanted.
    pub(crate) fn stream(
        self,
        classes: Option<&str>,
        several: bool,
    ) -> Result<Stream<'static>, Failure> {
        let classes: Option<Vec<&str>> = classes.map(|list| match several {
            true => list.split(',').collect(),
            false => list.splitn(2, ',').collect(),
        });
        if classes.as_ref().is_some_and(|classes| classes.len() < 2) {
            return Err(Failure::usage("--classes needs at least two labels, separated by commas"));
        }
        let classes = classes.as_deref();
        if self.simulation()?.is_some() {
            return Err(refuse(format_args!(
                "drawn into memory, so they cannot be streamed. Use {name} stream with --epochs, or \
                 {name} massart without --stream",
                name = program::name()
            )));
        }
        let options = self.read_options();
        Ok(match self.standard_input(&options)? {
            Some(format) => Stream::from_reader(std::io::stdin(), STDIN, format, &options, classes),
            None => Stream::open(self.file.first(), &options, classes),
        }?)
    }

    /// Returns the data to predict by a model, as its encoding makes them.
    pub(crate) fn features(self, model: &Model) -> Result<Unlabelled, Failure> {
        self.features_of(model.columns(), model.encoding())
    }

    /// Returns data to predict that have so many features, by an encoding if there is one.
    pub(crate) fn features_of(
        self,
        columns: usize,
        encoding: Option<&Encoding>,
    ) -> Result<Unlabelled, Failure> {
        if let Some(simulation) = self.simulation()? {
            return simulation.features();
        }
        let options = self.options_of(columns, encoding);
        let format = self.standard_input(&options)?;
        let data = self.reading(|| match format {
            Some(format) => read::features_from(std::io::stdin(), STDIN, format, &options),
            None => read::features(self.file.first(), &options),
        })?;
        self.note_of_dropped(data.dropped.len());
        Ok(data)
    }

    /// Calls `turn` for blocks of the data to predict, several at the same time, and `take` for the
    /// results in the order of the rows.
    pub(crate) fn each_block<T: Send, E: From<margins::data::Error> + From<Failure>>(
        self,
        model: &Model,
        turn: impl Fn(Unlabelled) -> T + Sync,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(simulation) = self.simulation()? {
            return take(turn(simulation.features()?));
        }
        let options = self.prediction_options(model);
        let dropped = match self.standard_input(&options)? {
            Some(format) => {
                read::each_block_from(std::io::stdin(), STDIN, format, &options, turn, take)
            }
            None => read::each_block(self.file.first(), &options, turn, take),
        }?;
        self.note_of_dropped(dropped);
        Ok(())
    }

    /// Returns the data whose labels are the targets of a regression.
    pub(crate) fn targets(self) -> Result<Targets, Failure> {
        if self.simulation()?.is_some() {
            return Err(refuse("their labels are classes, not the targets of a regression"));
        }
        let options = self.read_options();
        let format = self.standard_input(&options)?;
        let data = self.reading(|| match format {
            Some(format) => read::targets_from(std::io::stdin(), STDIN, format, &options),
            None => read::targets(self.file.first(), &options),
        })?;
        self.note_of_dropped(data.dropped);
        self.note_of_words(data.encoding.as_ref(), data.values.len());
        Ok(data)
    }

    /// Returns the options for data that a model is applied to.
    fn prediction_options(self, model: &Model) -> ReadOptions {
        self.options_of(model.columns(), model.encoding())
    }

    /// Returns the options for data that have so many features, by an encoding if there is one.
    fn options_of(self, columns: usize, encoding: Option<&Encoding>) -> ReadOptions {
        let mut options = self.read_options();
        // A file of sparse rows need not reach the last feature, so the number is set here; a CSV file
        // shows its own number, which the model checks.
        let format = options.format.or_else(|| Format::of(self.file.first()));
        if format == Some(Format::Svmlight) || BlockFile::is_one(self.file.first()) {
            options.columns = options.columns.or(Some(columns));
        }
        if let Some(encoding) = encoding {
            options.features = FeatureColumns::Known(Box::new(encoding.clone()));
        }
        options
    }

    /// Returns the format of standard input, if that is where the data come from.
    fn standard_input(self, options: &ReadOptions) -> Result<Option<Format>, Failure> {
        match (self.is_standard_input(), options.format) {
            (true, None) => {
                let formats = read::formats_in_words();
                Err(Failure::Usage(format!("standard input needs --data-format {formats}")))
            }
            (true, format) => Ok(format),
            (false, _) => Ok(None),
        }
    }
}

/// Reads the models of a file with what stands at its head.
pub(crate) fn read_models(
    path: &Path,
    registry: &Registry,
) -> Result<(Header, ModelPath), Failure> {
    let load = || ModelPath::load_with_header(path, registry);
    step(format!("reading {}", path.display()), load).map_err(Failure::job)
}

/// Reads a model file of one lambda with what stands at its head.
pub(crate) fn read_model(path: &Path, registry: &Registry) -> Result<(Header, Model), Failure> {
    read_model_at(path, None, registry)
}

/// Reads the model of a file at a lambda, which that of a path needs, with what stands at its head.
pub(crate) fn read_model_at(
    path: &Path,
    lambda: Option<Lambda>,
    registry: &Registry,
) -> Result<(Header, Model), Failure> {
    let (header, models) = read_models(path, registry)?;
    let model = match lambda {
        Some(lambda) => models.at(lambda.get()),
        None => models.into_only(),
    };
    let of_file = |error| Failure::job(format!("{}: {error}", path.display()));
    Ok((header, model.map_err(of_file)?))
}
