//! Stochastic gradient in epochs over data in memory, with a certificate.

use margins::data::digits::percent;
use margins::data::metrics::{is_mistake, mistake_rate};
use margins::data::{ClassLabels, Dataset};
use margins::estimators::regularised::DataSummary;
use margins::estimators::stream::StreamSettings;
use margins::optim::Status;
use margins::{MemberReport, Prepared, Registry};

use super::document;
use crate::arguments::stream::StreamArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::messages::step;
use crate::output::classes::{
    CertificateDocument, ClassesDocument, ClassesFitDocument, MemberDocument, MulticlassDocument,
    member_table,
};
use crate::output::data::{ClassDocument, DataDocument, describe, size};
use crate::output::files::report;
use crate::output::fits::{FitDocument, PathDocument, describe_fit, location_line, write_history};
use crate::output::model::save;
use crate::output::table::{facts, number};
use crate::output::warnings::{of_stochastic_step, refuse_contradiction, tell};
use crate::output::{VERSION, write_json};

pub(super) fn fit(arguments: &StreamArguments, settings: &StreamSettings) -> Result<(), Failure> {
    let StreamArguments { memory, output: to, .. } = arguments;
    let data = arguments.source().dataset()?;
    let fitted = step("fitting", || settings.fit(&data))?;
    let data = match settings.drawn_rows(data.labels())? {
        Some(rows) => data.select(&rows),
        None => data,
    };
    let (fit, loss) = (&fitted.fits[0], fitted.loss.specification());
    refuse_contradiction(&loss, &[fit.report.status])?;
    of_stochastic_step(fitted.too_long_step).iter().for_each(|sentence| tell(sentence));
    if let Some(path) = &memory.history {
        write_history(path, fit, data.rows())?;
    }
    if let Some(path) = to.out() {
        save(&fitted.model, path)?;
    }
    let scores = Prepared::linear(&data).scores(fit)?;
    let location = fitted.margin_locations.first().copied();
    let outputs = [to.out(), memory.history.as_deref()];
    let name = &arguments.data.name();
    match to.format() {
        OutputFormat::Json => {
            let document = PathDocument {
                format: "margins-fit",
                version: VERSION,
                data: DataDocument::new(name, &DataSummary::of(&data)),
                training: document(arguments, loss),
                fits: vec![FitDocument::new(fit, None).with_location(location)],
                platt: None,
            };
            report(outputs, |out| write_json(out, &document))
        }
        OutputFormat::Table => {
            let data = settings.class_costs.weigh(data)?;
            let mut lines = describe(name, &DataSummary::of(&data));
            lines.push(("loss", loss));
            lines.extend(describe_fit(fit, None, training_error(&scores, &data)?));
            lines.extend(location_line(location));
            report(outputs, |out| facts(out, &lines))
        }
    }
}

/// Fits a classifier of two classes or of several.
pub(super) fn fit_several(
    registry: &Registry,
    arguments: &StreamArguments,
    settings: &StreamSettings,
) -> Result<(), Failure> {
    let to = &arguments.output;
    let data = arguments.source().classes()?;
    let data = match settings.drawn_rows(data.labels())? {
        Some(rows) => data.select(&rows),
        None => data,
    };
    let table = DataSummary::of(&data);
    table.doubt().iter().for_each(|sentence| tell(sentence));
    let fitted = step("fitting", || settings.fit(&data))?;
    let (model, loss) = (&fitted.model, fitted.loss.specification());
    let ends: Vec<Status> = fitted.fits.iter().map(|fit| fit.report.status).collect();
    refuse_contradiction(&loss, &ends)?;
    of_stochastic_step(fitted.too_long_step).iter().for_each(|sentence| tell(sentence));
    if let Some(path) = to.out() {
        save(model, path)?;
    }
    let names = model.scheme().member_names(model.classes());
    let members = names.into_iter().zip(model.members()).zip(&fitted.fits);
    let reports: Vec<MemberReport> = members
        .map(|((name, member), fit)| MemberReport {
            name,
            lambda: member.lambda,
            summary: member.training.clone(),
            report: Some(fit.report.clone()),
        })
        .collect();
    let predicted = model.predict(data.design(), registry).map_err(margins::Error::from)?;
    let wrong: Vec<bool> = predicted
        .iter()
        .enumerate()
        .map(|(row, &class)| class != data.labels().index(row))
        .collect();
    let training_error = mistake_rate(&wrong, data.weights())?.rate;
    let (scheme, classes) =
        (model.scheme().to_string(), ClassDocument::all(&table.classes, &table.class_rows));
    report([to.out()], |out| match to.format() {
        OutputFormat::Json => {
            let members = reports.iter().zip(model.members()).map(|(report, member)| {
                let certificate = CertificateDocument::of_problem(report);
                MemberDocument::new(&report.name, Some(certificate), member)
            });
            let mut document = MulticlassDocument {
                format: "margins-multiclass",
                version: VERSION,
                data: ClassesDocument::new(arguments.data.name(), &table),
                training: document(arguments, loss.clone()),
                scheme: scheme.clone(),
                fit: ClassesFitDocument {
                    lambda: arguments.lambda.get(),
                    training_error: Some(training_error),
                    all_certified: fitted.fits.iter().all(|fit| fit.report.converged()),
                    certificate: None,
                    members: members.collect(),
                },
                cv: None,
            };
            document.fit.add_locations(&fitted.margin_locations);
            write_json(out, &document)
        }
        OutputFormat::Table => {
            let lines = vec![
                size(&arguments.data.name(), table.rows(), table.features),
                ("classes", ClassDocument::line(&classes)),
                ("scheme", scheme.clone()),
                ("loss", loss.clone()),
                ("lambda", number(arguments.lambda.get())),
                ("training error", format!("{} %", percent(training_error))),
            ];
            facts(out, &lines)?;
            writeln!(out)?;
            member_table(&reports, &fitted.margin_locations).write(out)
        }
    })
}

/// Returns the share of training samples on the wrong side, by their weights.
fn training_error(scores: &[f64], data: &Dataset) -> Result<f64, Failure> {
    let signs = data.labels().signs();
    let wrong: Vec<bool> = scores.iter().zip(signs).map(|(&f, &y)| is_mistake(f, y)).collect();
    Ok(mistake_rate(&wrong, data.weights())?.rate)
}
