//! What follows from the rows of settings: signatures, documentation and type stubs of the Python
//! package, and the page of the book. `cargo xtask settings` writes them.

mod options;

use std::path::{Path, PathBuf};

use margins::estimators::settings::{ESTIMATORS, EstimatorSettings, Kind, Setting};

use crate::{Failure, Outcome, files, workspace};

/// The longest line of Python.
const WIDTH: usize = 120;

/// Writes everything that follows from the rows.
pub(crate) fn write() -> Outcome {
    for (path, text) in written(ESTIMATORS)? {
        files::write(&path, &text)?;
    }
    Ok(())
}

/// Returns every file that follows from rows, with its text.
fn written(estimators: &[EstimatorSettings]) -> Result<Vec<(PathBuf, String)>, Failure> {
    let package = workspace().join("bindings/python/python/margins_learn");
    let stub = package.join("_native.pyi");
    let mut files = vec![
        (workspace().join("docs/settings.md"), page(estimators)),
        (stub.clone(), with_stubs(&read(&stub)?, estimators)?),
    ];
    for entry in std::fs::read_dir(package)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.starts_with('_') || !name.ends_with(".py") {
            continue;
        }
        let mut text = read(&path)?;
        for estimator in estimators {
            text = with_class(&text, estimator).map_err(|missing| {
                format!("{}: {}: no {missing}", path.display(), estimator.name)
            })?;
        }
        files.push((path, text));
    }
    Ok(files)
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(files::naming(path))
}

/// Returns a text with what lies between two markers, behind the first and before the second,
/// replaced, or the marker that it lacks.
fn replaced(text: &str, from: &str, to: &str, new: &str) -> Result<String, String> {
    let start = text.find(from).ok_or(from)? + from.len();
    let length = text[start..].find(to).ok_or(to)?;
    Ok(format!("{}{new}{}", &text[..start], &text[start + length..]))
}

/// Returns a module of Python with the parameters and the constructor of an estimator, if it defines
/// it.
fn with_class(module: &str, estimator: &EstimatorSettings) -> Result<String, String> {
    let Some(start) = module.find(&format!("\nclass {}(", estimator.name)) else {
        return Ok(module.to_owned());
    };
    let (before, class) = module.split_at(start);
    let head = "    Parameters\n    ----------\n";
    let class = replaced(class, head, "\n    Attributes\n", &parameters(estimator))?;
    let class =
        replaced(&class, "    def __init__(\n", "\n    @announced\n", &constructor(estimator))?;
    Ok(format!("{before}{class}"))
}

/// Returns the section of parameters of an estimator.
fn parameters(estimator: &EstimatorSettings) -> String {
    let entry = |row: &Setting| {
        let head = format!("    {} : {}, default={}\n", row.name, documented(row), row.default);
        head + &wrapped(&row.python_paragraph(), "        ")
    };
    estimator.settings.iter().map(entry).collect()
}

/// Returns the constructor of an estimator behind its name.
fn constructor(estimator: &EstimatorSettings) -> String {
    let mut lines = vec!["        self,".to_owned()];
    for (k, row) in estimator.settings.iter().enumerate() {
        if k == estimator.positional {
            lines.push("        *,".to_owned());
        }
        lines.push(format!("        {}: {} = {},", row.name, annotation(row), row.default));
    }
    lines.push("    ) -> None:".to_owned());
    let assigned = |row: &Setting| format!("        self.{0} = {0}", row.name);
    lines.extend(estimator.settings.iter().map(assigned));
    lines.join("\n") + "\n"
}

/// Returns the stub of the native module with the dictionaries of settings.
fn with_stubs(stub: &str, estimators: &[EstimatorSettings]) -> Result<String, String> {
    let mut classes = String::new();
    for estimator in estimators {
        let name = estimator.name;
        classes += &format!(
            "class {name}Settings(TypedDict):\n    \"\"\"The settings of {name}.\"\"\"\n\n"
        );
        for row in estimator.settings {
            if let Some(native) = native(row) {
                classes += &format!("    {}: {native}\n", row.name);
            }
        }
        classes += "\n";
    }
    let (from, to) =
        ("# The settings of the estimators, by `cargo xtask settings`.\n\n", "@final\n");
    replaced(stub, from, to, &classes)
}

/// Returns the page of the book.
fn page(estimators: &[EstimatorSettings]) -> String {
    let mut page = "# Settings\n\nLook up a setting of an estimator: the keyword in Python, the option of \
                    the command, type and\nrange, default, and meaning. [The command](command.md) and \
                    `help(margins_learn)` say more about\neach.\n"
        .to_owned();
    for estimator in estimators {
        let commands = estimator.commands.iter().map(|name| format!("`margins {name}`"));
        let commands: Vec<_> = commands.collect();
        page += &format!("\n## {}\n\nThe command: {}.\n\n", estimator.name, commands.join(", "));
        page +=
            "| Python | command | type | default | meaning |\n| --- | --- | --- | --- | --- |\n";
        for row in estimator.settings {
            let option = row.option.map(|option| format!("`--{option}`")).unwrap_or_default();
            let kind = documented(row).replace('|', "\\|");
            let sentence = row.python_sentence();
            page += &format!(
                "| `{}` | {option} | {kind} | {} | {sentence} |\n",
                row.name,
                default(row)
            );
        }
    }
    page += "\n## FocusedSampler\n\nThere is no command: it draws samples for learners of yours.\n\n\
             | Python | type | default | meaning |\n| --- | --- | --- | --- |\n\
             | `n` | int >= 1 | | Number of samples |\n\
             | `random_state` | int, RandomState or None | `None` (1) | Seed of the draws |\n";
    page + &options::section(estimators)
}

/// Returns the default of a setting for a table.
fn default(row: &Setting) -> String {
    let python = format!("`{}`", row.default);
    let none = match row.python_none() {
        none if none.is_empty() => none,
        none => format!(" ({none})"),
    };
    let command = match row.command_default {
        Some(default) if row.option.is_some() && !default.is_empty() && default != "none" => {
            format!("; command: {default}")
        }
        _ => String::new(),
    };
    python + &none + &command
}

/// Returns the type of a setting in documentation, with its range.
fn documented(row: &Setting) -> String {
    let kind = match row.kind {
        Kind::Text => "str".to_owned(),
        Kind::Number => "float".to_owned(),
        Kind::Whole => "int".to_owned(),
        Kind::Switch => "bool".to_owned(),
        Kind::Choice(choices) => {
            let names: Vec<_> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            format!("{{{}}}", names.join(", "))
        }
        Kind::Other { documented, .. } => return documented.to_owned(),
    };
    let range = if row.range.is_empty() { String::new() } else { format!(" {}", row.range) };
    let none = if row.default == "None" { " or None" } else { "" };
    kind + &range + none
}

/// Returns the annotation of the argument of a setting.
fn annotation(row: &Setting) -> String {
    let kind = match row.kind {
        Kind::Text | Kind::Choice(_) => "str",
        Kind::Number => "float",
        Kind::Whole => "int",
        Kind::Switch => "bool",
        Kind::Other { annotation, .. } => return annotation.to_owned(),
    };
    if row.default == "None" { format!("{kind} | None") } else { kind.to_owned() }
}

/// Returns the type of a setting that the native module takes, if it takes it.
fn native(row: &Setting) -> Option<String> {
    row.is_for_the_library().then(|| match row.kind {
        Kind::Other { native, .. } => native.to_owned(),
        _ => annotation(row),
    })
}

/// Returns a text in lines behind an indentation.
fn wrapped(text: &str, indent: &str) -> String {
    let (mut lines, mut line) = (String::new(), indent.to_owned());
    for word in text.split(' ') {
        if line.trim().is_empty() {
            line += word;
        } else if line.chars().count() + 1 + word.chars().count() <= WIDTH {
            line += " ";
            line += word;
        } else {
            lines += &(line + "\n");
            line = format!("{indent}{word}");
        }
    }
    lines + &line + "\n"
}

/// Returns the words of the modules of the Python package.
#[cfg(test)]
pub(crate) fn words_of_python() -> std::collections::HashSet<String> {
    let package = workspace().join("bindings/python/python/margins_learn");
    let folders = [package.clone(), package.join("display")];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let modules = files.map(|entry| entry.unwrap().path());
    let modules = modules.filter(|path| path.extension().is_some_and(|end| end == "py"));
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words =
        |text: String| -> Vec<String> { text.split(|c| !is_part(c)).map(str::to_owned).collect() };
    modules.map(|path| read(&path).unwrap()).flat_map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_follow_from_the_rows() {
        for (path, text) in written(ESTIMATORS).unwrap() {
            let advice = "differs from the rows of crates/estimators/src/settings: run `cargo xtask settings`";
            assert!(read(&path).unwrap() == text, "{} {advice}", path.display());
        }
    }

    #[test]
    fn a_new_setting_is_everywhere() {
        let mut estimators = ESTIMATORS.to_vec();
        let momentum = Setting {
            name: "momentum",
            option: Some("momentum"),
            kind: Kind::Number,
            range: "in [0, 1)",
            default: "0.9",
            sentence: "Share of the step before",
            more: "",
            python: "It is 0 for others than {method}.",
            ..estimators[4].settings[0]
        };
        let settings = [estimators[4].settings, &[momentum]].concat();
        estimators[4].settings = settings.leak();
        let files = written(&estimators).unwrap();
        let expected = [
            (
                "_stream.py",
                "    momentum : float in [0, 1), default=0.9\n        Share of the step before.",
            ),
            ("_stream.py", " It is 0 for others than `method`."),
            ("_stream.py", "        momentum: float = 0.9,\n    ) -> None:"),
            ("_stream.py", "        self.momentum = momentum\n\n    @announced"),
            ("_native.pyi", "    momentum: float\n\nclass MassartClassifierSettings"),
            (
                "settings.md",
                "| `momentum` | `--momentum` | float in [0, 1) | `0.9` | Share of the step before |",
            ),
        ];
        for (file, part) in expected {
            let (_, text) = files.iter().find(|(path, _)| path.ends_with(file)).unwrap();
            assert!(text.contains(part), "{file}: {part}");
        }
    }

    #[test]
    fn texts_mention_settings_that_exist() {
        for estimator in ESTIMATORS {
            for row in estimator.settings {
                for text in [row.none, row.sentence, row.more, row.python] {
                    for part in text.split('{').skip(1) {
                        let name = part.split('}').next().unwrap_or_default();
                        let is_there = estimator.settings.iter().any(|other| other.name == name);
                        assert!(is_there, "{}: {}: {{{name}}}", estimator.name, row.name);
                    }
                }
            }
        }
    }
}
