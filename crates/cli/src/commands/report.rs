//! The command that reports on a model.

use margins::Registry;
use margins::model::Basis;
use margins_report::Report;

use super::page::{Invocation, classifier_of, evaluate, title, write};
use crate::arguments::report::ReportArguments;
use crate::failure::Failure;
use crate::output::files::{check_files, input, inputs, output};
use crate::output::model::lines;
use crate::output::warnings::Warnings;
use crate::source::read_model_at;

pub(super) fn report(
    registry: &Registry,
    arguments: &ReportArguments,
    invocation: &Invocation,
) -> Result<(), Failure> {
    let training = arguments.training();
    let compared = training.as_ref().map(|file| input("--training", file.first()));
    check_files(inputs("--data", arguments.file.files()).chain([
        Some(input("--model", &arguments.model)),
        compared,
        output("--out", arguments.out()),
    ]))?;
    let format = arguments.format()?;
    let (header, model) = read_model_at(&arguments.model, arguments.lambda, registry)?;
    let kind = format!("{} on labelled rows", classifier_of(model.basis().map(Basis::kernel)));
    let data = arguments.file.first().display().to_string();
    let mut report = Report::new(title(&data, &kind), invocation.origin(None));
    report.add_facts(lines(&arguments.model, &header, &model));
    let mut show =
        |name: &str, file| evaluate(&mut report, name, arguments.source(file), &model, registry);
    let fitted_to = training.as_ref().map(|file| show("training rows", file)).transpose()?;
    let name = if fitted_to.is_some() { "test rows" } else { "the data" };
    show(name, &arguments.file)?;
    report.describe(&model, fitted_to.as_ref());
    let mut warnings = Warnings::default();
    report.uncertified().into_iter().for_each(|sentence| warnings.add(sentence));
    write(arguments.out(), format, report, warnings)
}
