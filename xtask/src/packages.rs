//! Every crate built from its package, outside of the workspace. Inside the workspace a crate has the
//! features that any other one asks for, which hides what it lacks by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::layers::rust_files;
use crate::{Failure, Outcome, metadata, workspace};

/// The crates whose README has a program, which its documentation tests run.
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
    /// The features that its own code asks for, of which others only ask for those of other crates.
    own_features: BTreeSet<String>,
}

/// Packs the published crates, and checks each without features and with the default ones and all that
/// its own code asks for, and the programs of some READMEs with the default ones. A feature that only
/// asks for one of another crate is checked with that crate: to check it again would compile all crates
/// between them again.
pub(crate) fn check() -> Outcome {
    let packages = published(&metadata(&["--no-deps", "--offline"])?)?;
    pack(&packages)?;
    let unpacked = Unpacked::new(packages)?;
    for name in unpacked.packages.keys() {
        for features in unpacked.packages[name].selections() {
            println!("{name} {}", features.join(" "));
            unpacked.check(name, &features)?;
        }
    }
    for name in PROGRAMS {
        println!("{name}: the program of its README");
        unpacked.check(&program_of(name), &[])?;
    }
    Ok(())
}

/// Returns the features that a text asks for.
fn asked_for(text: &str) -> impl Iterator<Item = String> {
    let names = text.split("feature = \"").skip(1);
    names.filter_map(|rest| rest.split_once('"')).map(|(name, _)| name.to_owned())
}

/// Returns the packages of the workspace that are published, by name.
fn published(metadata: &Value) -> Result<BTreeMap<String, Package>, Failure> {
    let all = metadata["packages"].as_array().into_iter().flatten();
    let published = all.filter(|package| package["publish"].is_null());
    let read = |package: &Value| {
        let manifest = PathBuf::from(text(&package["manifest_path"]));
        let sources = rust_files(&manifest.with_file_name("src"))?;
        let texts = sources.iter().map(std::fs::read_to_string).collect::<Result<Vec<_>, _>>()?;
        Ok((text(&package["name"]), Package::new(package, &texts.concat())))
    };
    published.map(read).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl Package {
    fn new(package: &Value, sources: &str) -> Self {
        let features = package["features"].as_object();
        let has = |name: &String| features.is_some_and(|features| features.contains_key(name));
        Package {
            name: text(&package["name"]),
            version: text(&package["version"]),
            own_features: asked_for(sources).filter(has).collect(),
        }
    }

    /// Returns the options of cargo for the selections of features that differ.
    fn selections(&self) -> Vec<Vec<String>> {
        let none = vec!["--no-default-features".to_owned()];
        let own: Vec<&str> = self.own_features.iter().map(String::as_str).collect();
        let with = vec!["--features".to_owned(), own.join(",")];
        if own.is_empty() { vec![none] } else { vec![none, with] }
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

/// Packages unpacked into a workspace of their own, whose members see each other as the index would
/// give them.
struct Unpacked {
    packages: BTreeMap<String, Package>,
    root: tempfile::TempDir,
}

impl Unpacked {
    fn new(packages: BTreeMap<String, Package>) -> Result<Self, Failure> {
        let unpacked = Unpacked { packages, root: tempfile::tempdir()? };
        let root = unpacked.root.path();
        let mut manifest = "[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n".to_owned();
        manifest.push_str("\n[patch.crates-io]\n");
        for Package { name, version, .. } in unpacked.packages.values() {
            let archive = target().join(format!("package/{name}-{version}.crate"));
            let mut tar = Command::new("tar");
            tar.arg("-xzf").arg(archive).arg("-C").arg(root);
            finish(&mut tar, "tar")?;
            manifest.push_str(&format!("{name}.path = \"{name}-{version}\"\n"));
        }
        for name in PROGRAMS {
            unpacked.write_program(name)?;
        }
        std::fs::write(root.join("Cargo.toml"), manifest)?;
        // The versions that the workspace is built with.
        std::fs::copy(workspace().join("Cargo.lock"), root.join("Cargo.lock"))?;
        Ok(unpacked)
    }

    /// Writes the program of a README as a package that depends on the crates that it names.
    fn write_program(&self, name: &str) -> Outcome {
        let root = self.root.path();
        let readme = format!("{name}-{}/README.md", self.packages[name].version);
        let readme = std::fs::read_to_string(root.join(readme))?;
        let program =
            program(&readme).ok_or_else(|| format!("the README of {name} has no program"))?;
        let named = self.packages.values().filter(|package| names_crate(program, &package.name));
        let versions: String = named
            .map(|Package { name, version, .. }| format!("{name} = \"{version}\"\n"))
            .collect();
        let name = program_of(name);
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\n{versions}"
        );
        std::fs::create_dir_all(root.join(&name).join("src"))?;
        std::fs::write(root.join(&name).join("src/main.rs"), program)?;
        Ok(std::fs::write(root.join(&name).join("Cargo.toml"), manifest)?)
    }

    /// Checks one package, with the profile of the workspace, so that what others need is built
    /// once.
    fn check(&self, name: &str, features: &[String]) -> Outcome {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(self.root.path());
        command.arg("--config").arg(workspace().join(".cargo/config.toml"));
        command.args(["check", "--package", name]).args(features);
        command.args(["--offline", "--quiet"]).env("CARGO_TARGET_DIR", target());
        finish(&mut command, &format!("cargo check of {name} {}", features.join(" ")))
    }
}

/// Returns the name of the package of a README's program.
fn program_of(name: &str) -> String {
    format!("program-of-{name}")
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
    fn features_of_its_own_code_are_selected() {
        let package = serde_json::json!({
            "name": "a", "version": "1.0.0", "features": {"default": [], "b": [], "c": ["d/c"]}
        });
        let selections = |sources| Package::new(&package, sources).selections();
        assert_eq!(
            selections("#[cfg(test)]"),
            [["--no-default-features"].map(str::to_owned).to_vec()]
        );
        // What `target_feature` names is no feature of the crate.
        let sources =
            "#[cfg(feature = \"b\")] #[cfg(all(test, feature = \"b\"))] target_feature = \"e\"";
        let own = ["--features", "b"].map(str::to_owned).to_vec();
        assert_eq!(selections(sources)[1], own);
        assert_eq!(selections(sources).len(), 2);
    }

    /// The crates that a user of the published ones needs are published.
    #[test]
    fn published_crates_depend_on_published_crates() {
        let metadata = metadata(&["--no-deps", "--offline"]).unwrap();
        let packages = published(&metadata).unwrap();
        assert!(packages.contains_key("margins-model") && !packages.contains_key("xtask"));
        for package in metadata["packages"].as_array().unwrap() {
            if !packages.contains_key(&text(&package["name"])) {
                continue;
            }
            for one in package["dependencies"].as_array().unwrap() {
                // A dependency of tests without a version is not part of the package.
                if !one["path"].is_null() && one["req"] != "*" {
                    let (of, name) = (&package["name"], text(&one["name"]));
                    assert!(packages.contains_key(&name), "{of} needs {name}");
                }
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
