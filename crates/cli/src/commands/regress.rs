//! The command that makes the largest error of a regression small, by focused online learning.

use margins::data::read::{RowLabels, Targets, Unlabelled};
use margins::estimators::focused::RegressorSettings;
use margins::model::accept_features;

use crate::arguments::regress::RegressArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::messages::step;
use crate::output::files::{check_files, emit, input, inputs, output, report};
use crate::output::regression::{ErrorsDocument, RegressionDocument, TestDocument};
use crate::output::table::facts;
use crate::output::warnings::{of_unknown_levels, tell};
use crate::output::write_json;

pub(super) fn regress(arguments: &RegressArguments) -> Result<(), Failure> {
    let (file, out) = (&arguments.file, arguments.out());
    check_files(
        inputs("--data", file.files())
            .chain([output("--out", out), arguments.test().map(|path| input("--test", path))]),
    )?;
    let test = arguments.test_file()?;
    let settings = settings(arguments);
    let data = arguments.source().targets()?;
    let fitted = step("fitting", || settings.fit(&data.design, &data.values))?;
    let test = match &test {
        Some(test) => {
            let source = test.source();
            let rows = source.features_of(data.design.columns(), data.encoding.as_ref())?;
            Some((test.name(), checked(&data, &test.name(), rows)?))
        }
        None => None,
    };
    let design = test.as_ref().map_or(&data.design, |(_, rows)| &rows.design);
    let predictions: Vec<f64> = design.samples().map(|x| fitted.regressor.predict(&x)).collect();
    if let Some(path) = out {
        emit(Some(path), |out| {
            writeln!(out, "prediction")?;
            predictions.iter().try_for_each(|prediction| writeln!(out, "{prediction}"))
        })?;
    }
    let name = file.name();
    let test = test.map(|(name, rows)| TestDocument {
        name,
        rows: rows.design.rows(),
        errors: ErrorsDocument::new(&errors(&rows, &predictions)),
    });
    if let (Some(TestDocument { name, errors: None, .. }), None) = (&test, out) {
        tell(&format!(
            "{name}: no label is a number, so there are no errors. --out writes predictions."
        ));
    }
    let document = RegressionDocument::new((&name, &data), &settings, &fitted, test);
    report([out], |out| match arguments.output.format {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => facts(out, &document.lines()),
    })
}

fn settings(arguments: &RegressArguments) -> RegressorSettings {
    let game = &arguments.game;
    RegressorSettings {
        epsilon: game.epsilon,
        norm: game.norm,
        standardize: game.standardize,
        intercept: !game.no_intercept,
        delta: game.delta,
        max_steps: game.max_steps,
        outputs: game.outputs,
        seed: game.seed,
        time_limit: game.time_limit,
        ..RegressorSettings::default()
    }
}

/// Returns rows to predict if they have the features of those fitted to.
fn checked(data: &Targets, name: &str, rows: Unlabelled) -> Result<Unlabelled, Failure> {
    if let Some(sentence) = of_unknown_levels(name, rows.unknown_levels) {
        tell(&sentence);
    }
    let ours = (data.design.columns(), data.feature_names.as_deref());
    accept_features(ours, (rows.design.columns(), rows.feature_names.as_deref()))
        .map_err(|error| Failure::job(format!("{name}: {error}")))?;
    Ok(rows)
}

/// Returns the absolute errors of the rows whose labels are numbers.
fn errors(rows: &Unlabelled, predictions: &[f64]) -> Vec<f64> {
    let labels = rows.labels.iter().flat_map(RowLabels::iter).zip(predictions);
    let error = |(label, prediction): (&str, &f64)| {
        let target = label.trim().parse::<f64>().ok().filter(|target| target.is_finite())?;
        Some((target - prediction).abs())
    };
    labels.filter_map(error).collect()
}
