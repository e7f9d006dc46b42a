//! The crates of the workspace with the arrows between them: those that cargo knows, and those that
//! the table of `docs/architecture.md` lists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::modules::Ties;

/// Crates by the names of their folders, each with the crates that it depends on.
pub(super) type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Returns the crates of a workspace with their dependencies on each other, those of tests and
/// build scripts left out. The crates under `examples`, which are as those of users, have no layer.
pub(super) fn real(metadata: &Value) -> Arrows {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages.filter_map(|package| Some((name(package)?, dependencies(package)))).collect()
}

/// Returns the name of the folder of a package that has a layer.
fn name(package: &Value) -> Option<String> {
    let folder = Path::new(package["manifest_path"].as_str()?).parent()?;
    let of_a_user = folder.components().any(|part| part.as_os_str() == "examples");
    if of_a_user { None } else { last_part(folder) }
}

fn last_part(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

fn dependencies(package: &Value) -> BTreeSet<String> {
    let all = package["dependencies"].as_array().into_iter().flatten();
    let normal = all.filter(|dependency| dependency["kind"].is_null());
    normal.filter_map(|dependency| last_part(Path::new(dependency["path"].as_str()?))).collect()
}

/// Returns the arrows between modules by their names.
pub(super) fn of_modules(ties: &Ties) -> Arrows {
    let name = |module: &Vec<String>| module.join("::");
    let mut arrows = Arrows::new();
    for (from, used) in ties {
        for to in used.keys() {
            arrows.entry(name(to)).or_default();
        }
        arrows.entry(name(from)).or_default().extend(used.keys().map(name));
    }
    arrows
}

/// A row of the table: a crate with the crates that it may depend on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) below: BTreeSet<String>,
}

const HEAD: &str = "| Crate | What it knows | Depends on |";

/// Reads the rows of the table with the head `| Crate | What it knows | Depends on |`.
pub(super) fn listed(page: &str) -> Result<Vec<Row>, String> {
    let mut lines = page.lines().skip_while(|line| *line != HEAD).skip(2).peekable();
    if lines.peek().is_none() {
        return Err(format!("the page has no table with the head '{HEAD}'"));
    }
    lines.take_while(|line| line.starts_with('|')).map(row).collect()
}

fn row(line: &str) -> Result<Row, String> {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [name, _, below] = cells[..] else {
        return Err(format!("the row '{line}' does not have three cells"));
    };
    let below = below.split(',').map(str::trim).filter(|name| !name.is_empty());
    Ok(Row { name: name.to_owned(), below: below.map(str::to_owned).collect() })
}

/// Returns the differences between the real arrows and the listed ones, a sentence each.
pub(super) fn differences(real: &Arrows, listed: &[Row]) -> Vec<String> {
    let mut found = Vec::new();
    let mut above = BTreeSet::new();
    for Row { name, below } in listed {
        let Some(used) = real.get(name) else {
            found.push(format!(
                "the table lists the crate {name}, which the workspace does not have"
            ));
            continue;
        };
        let unlisted = used.difference(below);
        found.extend(
            unlisted.map(|to| format!("{name} depends on {to}, which the table does not list")),
        );
        let unused = below.difference(used);
        found.extend(
            unused.map(|to| format!("{name} does not depend on {to}, which the table lists")),
        );
        let higher = below.iter().filter(|to| !above.contains(to));
        found.extend(
            higher.map(|to| format!("the row of {to} does not stand above that of {name}")),
        );
        above.insert(name);
    }
    let missing = real.keys().filter(|name| !above.contains(name));
    found.extend(missing.map(|name| format!("the table has no row for the crate {name}")));
    found
}

/// Returns the arrows without those that a longer way through other crates implies.
pub(super) fn reduced(arrows: &Arrows) -> Arrows {
    let implied = |used: &BTreeSet<String>, to: &String| {
        used.iter().any(|other| other != to && reaches(arrows, other, to))
    };
    let kept = |used: &BTreeSet<String>| {
        used.iter().filter(|to| !implied(used, to)).cloned().collect::<BTreeSet<String>>()
    };
    arrows.iter().map(|(name, used)| (name.clone(), kept(used))).collect()
}

fn reaches(arrows: &Arrows, from: &str, to: &str) -> bool {
    let used = arrows.get(from).into_iter().flatten();
    used.into_iter().any(|next| next == to || reaches(arrows, next, to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn arrows(of: &[(&str, &[&str])]) -> Arrows {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        of.iter().map(|(name, used)| ((*name).to_owned(), names(used))).collect()
    }

    #[test]
    fn normal_dependencies_between_members_are_arrows() {
        let dependencies = json!([
            {"name": "own-low", "kind": null, "path": "/w/crates/low"},
            {"name": "own-kit", "kind": "dev", "path": "/w/crates/kit"},
            {"name": "serde", "kind": null},
        ]);
        let metadata = json!({"packages": [
            {"manifest_path": "/w/crates/top/Cargo.toml", "dependencies": dependencies},
            {"manifest_path": "/w/crates/low/Cargo.toml", "dependencies": []},
            {"manifest_path": "/w/examples/low/Cargo.toml", "dependencies": dependencies},
        ]});
        assert_eq!(real(&metadata), arrows(&[("low", &[]), ("top", &["low"])]));
    }

    const PAGE: &str = "text\n\n| Crate | What it knows | Depends on |\n|---|---|---|\n\
        | low | a, b | |\n| top | c | low |\n\nafter | x |";

    #[test]
    fn the_table_is_read() {
        let rows = listed(PAGE).unwrap();
        assert_eq!(rows[0], Row { name: "low".into(), below: BTreeSet::new() });
        assert_eq!(rows[1], Row { name: "top".into(), below: ["low".to_owned()].into() });
        assert_eq!(rows.len(), 2);
        assert!(listed("no table").is_err());
        assert!(listed(&PAGE.replace("| a, b |", "|")).is_err());
    }

    #[test]
    fn page_and_workspace_must_agree() {
        let rows = listed(PAGE).unwrap();
        assert_eq!(differences(&arrows(&[("low", &[]), ("top", &["low"])]), &rows), [""; 0]);
        let real = arrows(&[("low", &["new"]), ("new", &[])]);
        let expected = [
            "low depends on new, which the table does not list",
            "the table lists the crate top, which the workspace does not have",
            "the table has no row for the crate new",
        ];
        assert_eq!(differences(&real, &rows), expected);
        let rows = listed(&PAGE.replace("| low | a, b | |", "| low | a, b | top |")).unwrap();
        let expected = [
            "low does not depend on top, which the table lists",
            "the row of top does not stand above that of low",
        ];
        assert_eq!(differences(&arrows(&[("low", &[]), ("top", &["low"])]), &rows), expected);
    }

    #[test]
    fn implied_arrows_are_left_out() {
        let all = arrows(&[("a", &[]), ("b", &["a"]), ("c", &["a", "b"]), ("d", &["a", "c"])]);
        let least = arrows(&[("a", &[]), ("b", &["a"]), ("c", &["b"]), ("d", &["c"])]);
        assert_eq!(reduced(&all), least);
    }
}
