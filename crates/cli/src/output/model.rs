//! Model files: written, and described.

use std::io::Write;
use std::path::Path;

use margins::Model;
use margins::data::Listed;
use margins::data::digits::{self, gap};
use margins::model::{self, Format, Functions, Header, Member, ModelPath, Scheme};

use super::Lines;
use super::files::{emit, is_standard};
use super::table::{MOST_LISTED, Table, facts, name_cell, number, two_classes};
use crate::failure::Failure;
use crate::messages::step;

/// Writes a model: as JSON to standard output, else by the name of the file.
pub(crate) fn save(model: &Model, path: &Path) -> Result<(), Failure> {
    save_by(path, |format| model.to_bytes(format), || model.save(path))
}

/// Writes the models of a path as [`save`] does a model.
pub(crate) fn save_path(models: &ModelPath, path: &Path) -> Result<(), Failure> {
    save_by(path, |format| models.to_bytes(format), || models.save(path))
}

fn save_by(
    path: &Path,
    to_bytes: impl FnOnce(Format) -> Result<Vec<u8>, model::Error>,
    save: impl FnOnce() -> Result<(), model::Error>,
) -> Result<(), Failure> {
    if is_standard(path) {
        let text = to_bytes(Format::Json).map_err(Failure::job)?;
        return emit(Some(path), |out| out.write_all(&text));
    }
    step(format!("writing {}", path.display()), save).map_err(Failure::job)
}

/// Writes the page on the models of a file.
pub(crate) fn write_page(
    out: &mut dyn Write,
    path: &Path,
    header: &Header,
    models: &ModelPath,
) -> std::io::Result<()> {
    let (model, lambdas) = (models.first(), models.lambdas());
    if lambdas.len() > 1 {
        let of_file = vec![("model", path.display().to_string()), ("file", describe(header))];
        let (largest, smallest) = (lambdas[0], lambdas[lambdas.len() - 1]);
        let text = format!("{} from {} to {}", lambdas.len(), number(largest), number(smallest));
        facts(out, &[of_file, description(model), vec![("lambdas", text)]].concat())?;
        writeln!(out)?;
        let members: Vec<&Member> =
            models.steps().flat_map(|members| problems(model.scheme(), members)).collect();
        return member_table(&members).write(out);
    }
    write_model(out, path, header, model)
}

/// Writes the page on a model.
pub(crate) fn write_model(
    out: &mut dyn Write,
    path: &Path,
    header: &Header,
    model: &Model,
) -> std::io::Result<()> {
    facts(out, &lines(path, header, model))?;
    match model.members() {
        _ if model.scheme().scores_together() => Ok(()),
        [member] => {
            if model.basis().is_none() {
                coefficients(model.feature_names(), &member.coef, out)?;
            }
            Ok(())
        }
        members if model.scheme().is_joint() => {
            writeln!(out)?;
            class_table(model.classes(), members).write(out)
        }
        members => {
            writeln!(out)?;
            member_table(&members.iter().collect::<Vec<_>>()).write(out)
        }
    }
}

/// Returns the members at one lambda that have a certificate of their own: the first of a joint scheme.
fn problems(scheme: Scheme, members: &[Member]) -> &[Member] {
    if scheme.is_joint() { &members[..1] } else { members }
}

/// Returns the lines on a model from a file.
pub(crate) fn lines(path: &Path, header: &Header, model: &Model) -> Lines {
    let mut lines = vec![("model", path.display().to_string()), ("file", describe(header))];
    lines.extend(description(model));
    match model.members() {
        members if model.scheme().scores_together() => {
            let count = members.len();
            let text = match model.decision_list() {
                Some(list) => {
                    let thresholds: Vec<String> =
                        list.thresholds.iter().map(|&threshold| number(threshold)).collect();
                    let thresholds = thresholds.join(", ");
                    format!(
                        "{count}, of which the first with a score beyond its threshold decides: {thresholds}"
                    )
                }
                None => format!("{count}, which vote"),
            };
            lines.extend([
                ("members", text),
                ("rows trained on", members[0].training.rows.to_string()),
            ]);
        }
        [member] => {
            lines.extend(certificate_facts(member));
            lines.extend([
                ("intercept", number(member.intercept)),
                ("coefficients", member.coef.len().to_string()),
            ]);
        }
        [first, ..] if model.scheme().is_joint() => lines.extend(certificate_facts(first)),
        _ => {}
    }
    lines
}

fn describe(header: &Header) -> String {
    let Header { format, version, crate_version, length, .. } = header;
    let mut text =
        format!("{format}, version {version}, by margins {crate_version}, {length} bytes");
    if let Some(checksum) = header.checksum {
        text += &format!(", checksum {checksum:08x}");
    }
    text
}

/// Returns the lines on what the members have in common.
fn description(model: &Model) -> Lines {
    let classes = match (model.scheme(), model.classes()) {
        (Scheme::Binary | Scheme::Majority | Scheme::DecisionList, [negative, positive]) => {
            two_classes(positive, negative)
        }
        (scheme, several) => format!("{}, {scheme}", Listed(several)),
    };
    let mut lines = vec![("loss", model.loss().to_owned()), ("classes", classes)];
    if let Some(basis) = model.basis() {
        let of = match basis.functions() {
            Functions::Sections(_) => "samples",
            Functions::Fourier(_) => "random Fourier features",
        };
        lines.push(("kernel", digits::specification(basis.kernel())));
        let beside = basis.linear().len();
        let (count, columns) = (basis.len() - beside, basis.columns() - beside);
        let functions = format!("{count} of {of} with {columns} features");
        lines.push(("functions", functions));
        if beside > 0 {
            let name = |&j: &usize| match model.feature_names() {
                Some(names) => names[j].clone(),
                None => format!("feature {}", j + 1),
            };
            let names: Vec<String> = basis.linear().iter().map(name).collect();
            lines.push(("beside the kernel", Listed(&names).to_string()));
        }
    }
    if model.members().iter().any(|member| member.platt.is_some()) {
        lines.push(("probabilities", "by Platt scaling".to_owned()));
    }
    lines
}

fn certified(member: &Member) -> String {
    let training = &member.training;
    let state = if training.converged { "" } else { ", NOT CERTIFIED" };
    match training.relative_gap {
        Some(relative_gap) => format!("{}{state}", gap(relative_gap)),
        None => "unknown, NOT CERTIFIED".to_owned(),
    }
}

fn objective(member: &Member) -> String {
    member.training.objective.map_or("unknown".to_owned(), number)
}

fn lambda(member: &Member) -> String {
    member.lambda.map_or("none".to_owned(), number)
}

fn certificate_facts(member: &Member) -> Lines {
    let training = &member.training;
    vec![
        ("lambda", lambda(member)),
        ("rows trained on", training.rows.to_string()),
        ("standardised", if training.standardize { "yes" } else { "no" }.to_owned()),
        ("objective", objective(member)),
        ("relative gap", certified(member)),
    ]
}

/// Returns the table of the classes of a joint scheme.
fn class_table(classes: &[String], members: &[Member]) -> Table {
    let mut table = Table::new(&["class", "intercept", "coefficients", "norm of coefficients"]);
    for (class, member) in classes.iter().zip(members) {
        let norm = member.coef.iter().copied().fold(0.0, f64::hypot);
        let (intercept, count) = (number(member.intercept), member.coef.len().to_string());
        table.row(vec![name_cell(class), intercept, count, number(norm)]);
    }
    table
}

fn member_table(members: &[&Member]) -> Table {
    let mut table =
        Table::new(&["member", "lambda", "rows", "objective", "relative gap", "intercept"]);
    for (m, member) in members.iter().enumerate() {
        table.row(vec![
            (m + 1).to_string(),
            lambda(member),
            member.training.rows.to_string(),
            objective(member),
            certified(member),
            number(member.intercept),
        ]);
    }
    table
}

/// Writes the largest coefficients of a linear classifier of features with these names.
pub(crate) fn coefficients(
    names: Option<&[String]>,
    coef: &[f64],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let mut order: Vec<usize> = (0..coef.len()).collect();
    order.sort_by(|&i, &j| coef[j].abs().total_cmp(&coef[i].abs()));
    let mut table = Table::new(&["column", "name", "coefficient"]);
    for &k in order.iter().take(MOST_LISTED) {
        let name = names.map(|names| name_cell(&names[k])).unwrap_or_default();
        table.row(vec![(k + 1).to_string(), name, number(coef[k])]);
    }
    writeln!(out)?;
    table.write(out)?;
    if coef.len() > MOST_LISTED {
        writeln!(out, "... and {} smaller ones", coef.len() - MOST_LISTED)?;
    }
    Ok(())
}
