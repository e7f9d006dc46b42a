//! Every crate built from its package, outside of the workspace. Inside the workspace a crate has the
//! features that any other one asks for, which hides what it lacks by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{Failure, Outcome, metadata, workspace};

/// The crates whose README has a program that is run.
const PROGRAMS: [&str; 7] = [
    "margins-model",
    "margins-calibration",
    "margins-optim",
    "margins-kernel-functions",
    "margins-kernels",
    "margins-boost",
    "margins-experiments",
];

/// A crate that is published.
struct Package {
    name: String,
    version: String,
    /// The features, each with what it turns on.
    features: BTreeMap<String, Vec<String>>,
    /// The crates of the workspace that it depends on.
    dependencies: Vec<String>,
}

/// Packs the published crates, checks each with no, default and all features, and runs the programs
/// of some READMEs.
pub(crate) fn check() -> Outcome {
    let packages = published(&metadata(&["--no-deps", "--offline"])?);
    pack(&packages)?;
    let unpacked = Unpacked::new(packages)?;
    for name in unpacked.packages.keys() {
        for features in unpacked.packages[name].selections() {
            let folder = unpacked.folder(name);
            println!("{name} {features}");
            unpacked.cargo(&[name], &folder, &[&["check"], features_of(features)].concat())?;
        }
    }
    for name in PROGRAMS {
        println!("{name}: the program of its README");
        unpacked.run_program(name)?;
    }
    Ok(())
}

/// The words of cargo for a selection of features.
fn features_of(selection: &'static str) -> &'static [&'static str] {
    match selection {
        "no features" => &["--no-default-features"],
        "all features" => &["--all-features"],
        _ => &[],
    }
}

/// Returns the packages of the workspace that are published, by name.
fn published(metadata: &Value) -> BTreeMap<String, Package> {
    let all = metadata["packages"].as_array().into_iter().flatten();
    let published = all.filter(|package| package["publish"].is_null());
    published.map(|package| (text(&package["name"]), Package::new(package))).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl Package {
    fn new(package: &Value) -> Self {
        let texts = |values: &Value| values.as_array().into_iter().flatten().map(text).collect();
        let features = package["features"].as_object().into_iter().flatten();
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        // A dependency of tests without a version is not part of the package.
        let own = dependencies.filter(|one| !one["path"].is_null() && one["req"] != "*");
        Package {
            name: text(&package["name"]),
            version: text(&package["version"]),
            features: features.map(|(name, turns_on)| (name.clone(), texts(turns_on))).collect(),
            dependencies: own.map(|one| text(&one["name"])).collect(),
        }
    }

    /// Returns the selections of features that differ.
    fn selections(&self) -> Vec<&'static str> {
        let default = self.features.get("default").map_or(&[][..], Vec::as_slice);
        let mut selections = vec!["no features"];
        if !default.is_empty() {
            selections.push("default features");
        }
        if self.features.keys().any(|name| name != "default" && !default.contains(name)) {
            selections.push("all features");
        }
        selections
    }
}

/// Makes the packages of crates in `target/package`.
fn pack(packages: &BTreeMap<String, Package>) -> Outcome {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(workspace()).args(["package", "--no-verify", "--allow-dirty", "--locked"]);
    command.args(["--offline", "--quiet"]).env("CARGO_TARGET_DIR", target());
    packages.keys().for_each(|name| {
        command.args(["--package", name]);
    });
    finish(&mut command, "cargo package")
}

/// Returns the directory of everything that is built.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from)
}

/// Packages in folders of their own, outside of the workspace.
struct Unpacked {
    packages: BTreeMap<String, Package>,
    root: tempfile::TempDir,
}

impl Unpacked {
    fn new(packages: BTreeMap<String, Package>) -> Result<Self, Failure> {
        let unpacked = Unpacked { packages, root: tempfile::tempdir()? };
        for Package { name, version, .. } in unpacked.packages.values() {
            let archive = target().join(format!("package/{name}-{version}.crate"));
            let mut tar = Command::new("tar");
            tar.arg("-xzf").arg(archive).arg("-C").arg(unpacked.root.path());
            finish(&mut tar, "tar")?;
            unpacked.lock(&unpacked.folder(name))?;
        }
        Ok(unpacked)
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.root.path().join(format!("{name}-{}", self.packages[name].version))
    }

    /// Takes the versions that the workspace is built with.
    fn lock(&self, folder: &Path) -> Outcome {
        std::fs::copy(workspace().join("Cargo.lock"), folder.join("Cargo.lock"))?;
        Ok(())
    }

    /// Returns the crates with all that they depend on.
    fn with_dependencies(&self, names: &[&str]) -> BTreeSet<&str> {
        let mut all = BTreeSet::new();
        let mut next: Vec<&str> = names.to_vec();
        while let Some((name, package)) =
            next.pop().and_then(|name| self.packages.get_key_value(name))
        {
            if all.insert(name.as_str()) {
                next.extend(package.dependencies.iter().map(String::as_str));
            }
        }
        all
    }

    /// Calls cargo in a folder whose package depends on some of the crates, with the profile of the
    /// workspace, so that what other packages need is built once.
    fn cargo(&self, names: &[&str], folder: &Path, arguments: &[&str]) -> Outcome {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(folder).arg("--config").arg(workspace().join(".cargo/config.toml"));
        for name in self.with_dependencies(names) {
            let path = self.folder(name);
            if path != folder {
                command.args(["--config", &format!("patch.crates-io.{name}.path={path:?}")]);
            }
        }
        command.args(arguments).args(["--offline", "--quiet"]).env("CARGO_TARGET_DIR", target());
        finish(&mut command, &format!("cargo {} in {}", arguments.join(" "), folder.display()))
    }

    /// Runs the program of a README with the crates that it names.
    fn run_program(&self, name: &str) -> Outcome {
        let readme = std::fs::read_to_string(self.folder(name).join("README.md"))?;
        let program =
            program(&readme).ok_or_else(|| format!("the README of {name} has no program"))?;
        let known = self.packages.keys().map(String::as_str);
        let names: Vec<&str> = known.filter(|name| names_crate(program, name)).collect();
        let folder = self.root.path().join(format!("program-of-{name}"));
        std::fs::create_dir_all(folder.join("src"))?;
        std::fs::write(folder.join("src/main.rs"), program)?;
        let versions = names.iter().map(|name| (name, &self.packages[*name].version));
        let versions: String =
            versions.map(|(name, version)| format!("{name} = \"{version}\"\n")).collect();
        let manifest = format!(
            "[package]\nname = \"program-of-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\n{versions}"
        );
        std::fs::write(folder.join("Cargo.toml"), manifest)?;
        self.lock(&folder)?;
        self.cargo(&names, &folder, &["run"])
    }
}

/// Returns the first program of a README.
fn program(readme: &str) -> Option<&str> {
    let blocks = readme.split("```rust\n").skip(1);
    blocks.filter_map(|block| block.split("```").next()).find(|block| block.contains("fn main()"))
}

/// Returns true if a program uses a crate.
fn names_crate(program: &str, name: &str) -> bool {
    program.contains(&format!("{}::", name.replace('-', "_")))
}

/// Runs a command that has to succeed without a warning.
fn finish(command: &mut Command, what: &str) -> Outcome {
    let output = command.output().map_err(|error| format!("{what}: {error}"))?;
    let words = String::from_utf8_lossy(&output.stderr);
    if output.status.success() && !words.contains("warning") {
        Ok(())
    } else {
        Err(format!("{what}: {}\n{words}", output.status).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_that_differ_are_selected() {
        let features = |features: Value| {
            let package =
                serde_json::json!({"name": "a", "version": "1.0.0", "features": features});
            Package::new(&package).selections()
        };
        let [none, default, all] = ["no features", "default features", "all features"];
        assert_eq!(features(serde_json::json!({})), [none]);
        assert_eq!(features(serde_json::json!({"default": ["a"], "a": []})), [none, default]);
        assert_eq!(features(serde_json::json!({"default": [], "a": []})), [none, all]);
        let three = serde_json::json!({"default": ["a"], "a": ["dep:a"], "b": []});
        assert_eq!(features(three), [none, default, all]);
    }

    /// The crates that a user of the published ones needs are published.
    #[test]
    fn published_crates_depend_on_published_crates() {
        let packages = published(&metadata(&["--no-deps", "--offline"]).unwrap());
        assert!(packages.contains_key("margins-model") && !packages.contains_key("xtask"));
        for package in packages.values() {
            for name in &package.dependencies {
                assert!(packages.contains_key(name), "{} needs {name}", package.name);
            }
        }
    }

    #[test]
    fn readmes_have_programs_that_name_their_crates() {
        for name in PROGRAMS {
            let folder = name.strip_prefix("margins-").unwrap();
            let path = workspace().join("crates").join(folder).join("README.md");
            let readme = std::fs::read_to_string(path).unwrap();
            let program = program(&readme).unwrap();
            assert!(names_crate(program, name), "{name}");
        }
        // A program that applies models needs one crate.
        let readme = std::fs::read_to_string(workspace().join("crates/model/README.md")).unwrap();
        assert_eq!(program(&readme).unwrap().matches("use margins").count(), 1);
    }
}
