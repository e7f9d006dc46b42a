//! Every crate built from its package, outside of the workspace. Inside the workspace a crate has the
//! features that any other one asks for, which hides what it lacks by itself.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

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
    has_features: bool,
}

/// Packs the published crates, and checks each with no and with all features, and the programs of some
/// READMEs with the default ones.
pub(crate) fn check() -> Outcome {
    let packages = published(&metadata(&["--no-deps", "--offline"])?);
    pack(&packages)?;
    let unpacked = Unpacked::new(packages)?;
    for name in unpacked.packages.keys() {
        for features in unpacked.packages[name].selections() {
            println!("{name} {features}");
            unpacked.check(name, &[features])?;
        }
    }
    for name in PROGRAMS {
        println!("{name}: the program of its README");
        unpacked.check(&program_of(name), &[])?;
    }
    Ok(())
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
        let mut features = package["features"].as_object().into_iter().flatten();
        Package {
            name: text(&package["name"]),
            version: text(&package["version"]),
            has_features: features.any(|(name, _)| name != "default"),
        }
    }

    /// Returns the options of cargo for the selections of features that differ. The default ones, which the programs have, are
    /// among all.
    fn selections(&self) -> &'static [&'static str] {
        if self.has_features {
            &["--no-default-features", "--all-features"]
        } else {
            &["--no-default-features"]
        }
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
    fn check(&self, name: &str, features: &[&str]) -> Outcome {
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
    fn features_that_differ_are_selected() {
        let selections = |features: Value| {
            Package::new(
                &serde_json::json!({"name": "a", "version": "1.0.0", "features": features}),
            )
            .selections()
        };
        assert_eq!(selections(serde_json::json!({"default": []})), ["--no-default-features"]);
        let [none, all] = ["--no-default-features", "--all-features"];
        assert_eq!(selections(serde_json::json!({"default": [], "a": []})), [none, all]);
    }

    /// The crates that a user of the published ones needs are published.
    #[test]
    fn published_crates_depend_on_published_crates() {
        let metadata = metadata(&["--no-deps", "--offline"]).unwrap();
        let packages = published(&metadata);
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
