//! The page on the result of a command, which `--report` asks for.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use margins::data::read::Unlabelled;
use margins::data::{ClassLabels, Counted, Dataset, Design};
use margins::estimators::regularised::{ClassifierSettings, FittedClassifier};
use margins::{Model, Registry, TrainingReport};
use margins_report::{Labelled, Origin, Report, Selection};

use crate::arguments::data::Source;
use crate::arguments::report::{PageArguments, ReportFormat};
use crate::failure::Failure;
use crate::output::files::emit;
use crate::output::warnings::{Warnings, of_no_weights, of_unknown_levels};
use crate::output::{Lines, write_json};
use crate::program;

/// The name of the data that a model was fitted to.
const TRAINING: &str = "training rows";

/// A run of the command: its words, and when it began.
pub(crate) struct Invocation {
    words: Vec<String>,
    begun: Instant,
}

impl Invocation {
    pub(crate) fn new(words: &[OsString]) -> Self {
        let words = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
        let words = [program::name().to_owned()].into_iter().chain(words).collect();
        Invocation { words, begun: Instant::now() }
    }

    /// Returns where a report comes from that needed this seed.
    pub(super) fn origin(&self, seed: Option<u64>) -> Origin {
        let words: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        Origin {
            command: words.join(" "),
            program: program::with_version(),
            seed,
            time: moment(SystemTime::now()),
            seconds: self.begun.elapsed().as_secs_f64(),
        }
    }
}

/// Returns a time in words, for any setting of the clock.
fn moment(time: SystemTime) -> String {
    const SECOND_AFTER_9999: Duration = Duration::from_secs(253_402_300_800);
    match time.duration_since(UNIX_EPOCH) {
        Err(_) => "before 1970, by the clock".to_owned(),
        Ok(since) if since >= SECOND_AFTER_9999 => "after 9999, by the clock".to_owned(),
        Ok(_) => humantime::format_rfc3339_seconds(time).to_string(),
    }
}

/// Returns a word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=:,./+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The page that a command writes, if it was asked for one.
#[derive(Clone, Copy)]
pub(super) struct Page<'a> {
    pub(super) path: Option<&'a Path>,
    format: ReportFormat,
    registry: &'a Registry,
    invocation: &'a Invocation,
    /// The seed of what was drawn.
    seed: u64,
    /// The rows that the model is shown on beside those fitted to.
    test: Option<Source<'a>>,
}

impl<'a> Page<'a> {
    /// Returns the page that the arguments ask for.
    pub(super) fn new(
        arguments: &'a PageArguments,
        registry: &'a Registry,
        invocation: &'a Invocation,
        seed: u64,
    ) -> Self {
        let (path, format) = (arguments.path(), arguments.format());
        Page { path, format, registry, invocation, seed, test: None }
    }

    /// Adds rows to show the model on beside those fitted to.
    pub(super) fn with_test(self, test: Option<Source<'a>>) -> Self {
        Page { test, ..self }
    }

    /// Writes the page with these lines and warnings and what else there is to fill in, if it was
    /// asked for.
    pub(super) fn write(
        self,
        title: &str,
        lines: impl FnOnce() -> Result<Lines, Failure>,
        warnings: Warnings,
        fill: impl FnOnce(&mut Report) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.path.is_none() {
            return Ok(());
        }
        let mut report = Report::new(title, self.invocation.origin(Some(self.seed)));
        report.add_facts(lines()?);
        fill(&mut report)?;
        write(self.path, self.format, report, warnings)
    }

    /// Adds a fitted model as [`describe`](Self::describe) does. After a cross-validation in memory the
    /// training data are evaluated by the scores that each row gets from the fit without its fold.
    pub(super) fn describe_fitted<Y: ClassLabels>(
        self,
        report: &mut Report,
        fitted: &FittedClassifier,
        settings: &ClassifierSettings,
        data: Option<&Dataset<Y>>,
    ) -> Result<(), Failure> {
        let scores = fitted.held_out_scores(settings)?;
        let (Some(scores), Some(data)) = (scores, data) else {
            return self.describe(report, &fitted.model, data);
        };
        let model = &fitted.model;
        report.describe(model, Some(data.design()));
        let held_out = Labelled::new("held-out folds", data, model).map_err(Failure::job)?;
        report.evaluate_scores(&held_out, model, &scores, self.registry).map_err(Failure::job)?;
        let source = "from held-out scores: each row is scored by the fit without its fold";
        report.add_facts([("figures", source.to_owned())]);
        self.describe_test(report, model)
    }

    /// Adds a model, and its evaluations on the training data, if they are in memory, and on the test
    /// data.
    pub(super) fn describe<Y: ClassLabels>(
        self,
        report: &mut Report,
        model: &Model,
        data: Option<&Dataset<Y>>,
    ) -> Result<(), Failure> {
        report.describe(model, data.map(Dataset::design));
        if let Some(data) = data {
            let training = Labelled::new(TRAINING, data, model).map_err(Failure::job)?;
            report.evaluate(&training, model, self.registry).map_err(Failure::job)?;
            let source = "from the training rows, on which the error is lower than on new rows; \
                          --test FILE adds figures for new rows";
            report.add_facts(self.test.is_none().then(|| ("figures", source.to_owned())));
        }
        self.describe_test(report, model)
    }

    /// Adds the evaluation of a model on the test data, if there are any.
    fn describe_test(self, report: &mut Report, model: &Model) -> Result<(), Failure> {
        let Some(test) = self.test else { return Ok(()) };
        evaluate(report, "test rows", test, model, self.registry).map(|_| ())
    }
}

/// Returns the title of a page on a fit to data of this name, such as `heart: linear classifier`.
pub(super) fn title(data: &str, fit: &str) -> String {
    let file = Path::new(data).file_name().map(|name| name.to_string_lossy());
    let name = file.as_deref().unwrap_or(data);
    let stem = name.split_once(['.', ':']).map_or(name, |(stem, _)| stem);
    if stem.is_empty() || stem == "-" { fit.to_owned() } else { format!("{stem}: {fit}") }
}

/// Returns the classifier of a kernel, or without one, in words.
pub(super) fn classifier_of(kernel: Option<&str>) -> &'static str {
    if kernel.is_some() { "kernel classifier" } else { "linear classifier" }
}

/// Writes a report in a format to a file, or to standard output. Its warnings are those of the run
/// and those of its numbers; all of them are printed to standard error too.
pub(super) fn write(
    path: Option<&Path>,
    format: ReportFormat,
    mut report: Report,
    mut warnings: Warnings,
) -> Result<(), Failure> {
    let mut found = std::mem::take(&mut report.warnings);
    found.extend(report.found_warnings(warnings.is_useless().then_some(TRAINING)));
    found.into_iter().for_each(|sentence| warnings.add(sentence));
    report.warnings = warnings.into_sentences();
    emit(path, |out| match format {
        ReportFormat::Html => out.write_all(report.page().as_bytes()),
        ReportFormat::Json => write_json(out, &report),
    })
}

/// Adds the evaluation of a model on the labelled rows of a file, under a name, and returns their
/// features.
pub(super) fn evaluate(
    report: &mut Report,
    name: &str,
    source: Source<'_>,
    model: &Model,
    registry: &Registry,
) -> Result<Design, Failure> {
    let refuse =
        |error: &dyn std::fmt::Display| Failure::job(format!("{}: {error}", source.file.name()));
    let data = source.features(model)?;
    let Unlabelled { design, labels, weights, feature_names, .. } = &data;
    let accepted = model.accept(design.columns(), feature_names.as_deref());
    accepted.map_err(|error| refuse(&error))?;
    let Some(labels) = labels else {
        return Err(refuse(&"it has no labels to compare the decisions with"));
    };
    let gaps = labels.iter().filter(|label| label.is_empty()).count();
    if gaps > 0 {
        let rows = Counted(gaps, "row");
        return Err(refuse(&format_args!(
            "{rows} without a label: leave such rows out by --drop-unlabelled"
        )));
    }
    let mut sample = Labelled::with_labels(name, design, labels, weights.as_deref(), model)
        .map_err(|error| refuse(&error))?;
    sample = sample.without(data.dropped.len(), |sample| data.row_of(sample));
    let (file, missing) = (source.file.name(), source.weights_column.filter(|_| weights.is_none()));
    report.warnings.extend(of_unknown_levels(&file, data.unknown_levels));
    report.warnings.extend(of_no_weights(&file, missing));
    report.evaluate(&sample, model, registry).map_err(|error| refuse(&error))?;
    Ok(data.design)
}

/// Returns the choice of lambda and kernel, if there was one.
pub(super) fn chosen(report: &TrainingReport) -> Option<Selection> {
    let kernels = report.kernels.iter().map(|tried| (tried.specification.as_str(), &tried.curve));
    let curve = report.curve.as_ref()?;
    Some(Selection::new(curve, kernels, report.kernel.as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clock_has_words() {
        let second = Duration::from_secs(1);
        let end = UNIX_EPOCH + Duration::from_secs(253_402_300_800);
        assert_eq!(moment(UNIX_EPOCH), "1970-01-01T00:00:00Z");
        assert_eq!(moment(UNIX_EPOCH - second), "before 1970, by the clock");
        assert_eq!(moment(end - second), "9999-12-31T23:59:59Z");
        assert_eq!(moment(end), "after 9999, by the clock");
    }

    #[test]
    fn a_title_names_the_data() {
        assert_eq!(title("data/heart.csv.gz", "linear classifier"), "heart: linear classifier");
        assert_eq!(title("mixture:n=80", "linear classifier"), "mixture: linear classifier");
        assert_eq!(title("-", "linear classifier"), "linear classifier");
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_split_them() {
        assert_eq!(quoted("--lambdas=1:1e-7:100"), "--lambdas=1:1e-7:100");
        assert_eq!(quoted("my data.csv"), "'my data.csv'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
