//! The command that estimates the excess risk bound of margin pursuit from data.

use std::path::Path;

use margins::Registry;
use margins::calibration::projection_bound::projection_bound;
use margins::data::Standardizer;
use margins::estimators::risk_bound::RiskBoundSettings;
use margins::losses::SpecialCase;

use crate::arguments::bound::BoundArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::messages::step;
use crate::output::bound::{BoundDocument, ProjectionDocument};
use crate::output::files::emit;
use crate::output::write_json;
use crate::source::read_model;

/// The multiples of the scale that the bound is shown at.
const MULTIPLES: [f64; 5] = [1.0, 4.0, 16.0, 64.0, 256.0];

pub(crate) fn bound(registry: &Registry, arguments: &BoundArguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.model {
        return of_model(registry, arguments, path);
    }
    let loss = registry.losses.parse(&arguments.loss).map_err(Failure::usage)?;
    let Some(SpecialCase::MarginPursuit { gamma, scale }) = loss.special_case() else {
        return Err(Failure::Usage(format!(
            "--loss {}: the bound is for margin pursuit. Use --loss margin-pursuit:gamma=1,scale=1",
            loss.specification()
        )));
    };
    let mut data = arguments.source().dataset()?;
    if arguments.standardize {
        let standardizer = Standardizer::fit(data.design(), data.own_weights());
        let design = standardizer.center_and_scale(data.design())?;
        data = data.with_design(design)?;
    }
    let scales = match &arguments.scales {
        Some(scales) => scales.clone(),
        None => MULTIPLES.map(|multiple| multiple * scale).to_vec(),
    };
    // The scale of the loss is one of them by default.
    let mut all = scales.clone();
    let place = scales.iter().position(|&other| other == scale).unwrap_or_else(|| {
        all.push(scale);
        scales.len()
    });
    let (radius, delta) = (arguments.radius, arguments.delta);
    let settings = RiskBoundSettings { gamma, scale, radius, delta };
    let found = step("estimating the bound", || settings.along(&data, &all))?;
    let (name, along) = (arguments.file.name(), &found[..scales.len()]);
    let document = BoundDocument::new(&name, gamma, delta, &found[place], along);
    emit(None, |out| match arguments.output.format {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => document.write(out),
    })
}

/// Prints the bound of Garg and Roth for a linear model.
fn of_model(registry: &Registry, arguments: &BoundArguments, path: &Path) -> Result<(), Failure> {
    let (_, model) = read_model(path, registry)?;
    let ([member], None) = (model.members(), model.basis()) else {
        return Err(Failure::Usage(format!(
            "--model {}: the bound is for a linear model of two classes",
            path.display()
        )));
    };
    let data = arguments.source().dataset_for(&model)?;
    let name = arguments.file.name();
    if data.own_weights().is_some() {
        return Err(Failure::usage(format!("{name}: the bound does not support sample weights")));
    }
    model.accept(data.columns(), data.feature_names()).map_err(Failure::job)?;
    if model.classes() != [data.labels().class_name(-1.0), data.labels().class_name(1.0)] {
        let fault = "the classes are not those of the model. Check --label and --positive";
        return Err(Failure::job(format!("{name}: {fault}")));
    }
    // The intercept is the coefficient of a feature that is 1.
    let constant = if member.intercept == 0.0 { 0.0 } else { 1.0 };
    let square: f64 = member.coef.iter().map(|w| w * w).sum();
    let length = square.sqrt().hypot(member.intercept);
    let margin = |(x, y): (margins::data::Sample<'_>, &f64)| {
        let score = y * (x.dot(&member.coef) + member.intercept);
        let norm = x.norm().hypot(constant) * length;
        if norm > 0.0 { (score / norm).clamp(-1.0, 1.0) } else { 0.0 }
    };
    let margins: Vec<f64> =
        data.design().samples().zip(data.labels().signs()).map(margin).collect();
    let found =
        projection_bound(&margins, arguments.delta, arguments.seed).map_err(Failure::usage)?;
    let document = ProjectionDocument::new(&name, margins.len(), &found);
    emit(None, |out| match arguments.output.format {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => document.write(out),
    })
}
