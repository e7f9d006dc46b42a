//! The layers of the workspace: arrows between crates, and between the modules of a crate, point
//! down only.

mod circles;
mod crates;
mod drawing;
mod modules;
mod sizes;
mod tokens;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use crate::{Failure, Outcome, metadata, workspace};

pub(crate) use modules::rust_files;

#[derive(Args)]
pub(crate) struct Arguments {
    /// List long files and functions instead
    #[arg(long, conflicts_with = "draw")]
    sizes: bool,
    /// Draw the crates and the modules of optim into docs/pictures instead
    #[arg(long)]
    draw: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    match arguments {
        Arguments { sizes: true, .. } => list_sizes(),
        Arguments { draw: true, .. } => draw(),
        Arguments { .. } => check(),
    }
}

/// Checks that every module opens with what it holds, that no modules of a crate form a circle, and
/// that the crates depend on each other as the
/// table of `docs/architecture.md` lists and its picture shows.
fn check() -> Outcome {
    let mut faults = Vec::new();
    let folders = sources()?;
    for folder in &folders {
        let ties = modules::Modules::read(folder)?.ties();
        let name = shown(folder.parent().unwrap_or(folder));
        faults.extend(circles::circles(&name, &ties));
        if name == "crates/optim" {
            faults.extend(circles::circles(&name, &modules::first_level(&ties)));
        }
        for file in modules::rust_files(folder)? {
            let text = std::fs::read_to_string(&file)?;
            if !["//!", "#![doc"].iter().any(|opening| text.starts_with(opening)) {
                let file = shown(&file);
                faults.push(format!("{file}: say in a first line `//! ...` what the module holds"));
            }
        }
    }
    let page = std::fs::read_to_string(workspace().join("docs/architecture.md"))?;
    let rows = crates::listed(&page).map_err(|error| format!("docs/architecture.md: {error}"))?;
    let arrows = crates::real(&members()?);
    for (picture, drawn) in pictures(&arrows)? {
        if std::fs::read_to_string(&picture).ok() != Some(drawn) {
            faults.push(format!("{}: `cargo xtask layers --draw` draws another", shown(&picture)));
        }
    }
    let differences = crates::differences(&arrows, &rows);
    faults.extend(differences.iter().map(|fault| format!("docs/architecture.md: {fault}")));
    if faults.is_empty() {
        println!("{} crates depend on each other as listed; no modules form a circle", rows.len());
        Ok(())
    } else {
        Err(faults.join("\n").into())
    }
}

fn list_sizes() -> Outcome {
    for folder in sources()? {
        for file in modules::rust_files(&folder)? {
            let text = std::fs::read_to_string(&file)?;
            sizes::long(&shown(&file), &text).iter().for_each(|line| println!("{line}"));
        }
    }
    Ok(())
}

fn draw() -> Outcome {
    for (picture, drawn) in pictures(&crates::real(&members()?))? {
        std::fs::write(&picture, drawn)?;
        println!("{}", shown(&picture));
    }
    Ok(())
}

/// Returns the pictures by their files: the crates, and the modules of optim.
fn pictures(crates: &crates::Arrows) -> Result<[(PathBuf, String); 2], Failure> {
    let optim = modules::Modules::read(&workspace().join("crates/optim/src"))?.ties();
    let modules = crates::of_modules(&modules::first_level(&optim));
    let picture = |name: &str, arrows: &crates::Arrows| {
        let file = workspace().join("docs/pictures").join(name);
        (file, drawing::draw(&crates::reduced(arrows)))
    };
    Ok([picture("architecture.svg", crates), picture("architecture-optim.svg", &modules)])
}

/// Returns what cargo says of the members of the workspace.
fn members() -> Result<Value, Failure> {
    metadata(&["--no-deps", "--offline"])
}

/// Returns the folders of sources: those of the crates, of the automation and of the bindings.
fn sources() -> Result<Vec<PathBuf>, Failure> {
    let mut packages = vec![workspace().join("xtask")];
    for group in ["crates", "bindings"] {
        let group = workspace().join(group);
        if group.is_dir() {
            let entries = std::fs::read_dir(group)?;
            packages.extend(
                entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?,
            );
        }
    }
    packages.sort();
    Ok(packages.into_iter().map(|package| package.join("src")).filter(|src| src.is_dir()).collect())
}

/// Returns a path as seen from the root of the workspace.
fn shown(path: &Path) -> String {
    path.strip_prefix(workspace()).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    #[test]
    fn crates_and_modules_depend_on_each_other_in_one_direction() {
        if let Err(faults) = super::check() {
            panic!("{faults}");
        }
    }
}
