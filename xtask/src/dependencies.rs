//! What the dependencies ask for: the Rust version against the promised one (Clippy's
//! `incompatible_msrv` does the same for our own use of the standard library), licences and sources.
//! `cargo deny` has the latter two as well, with advisories, but takes minutes to compile.

use std::iter::Peekable;

use serde_json::Value;

use crate::{Failure, LOCKED, Outcome, metadata, workspace};

/// Checks the packages of the workspace and those that they need.
pub(crate) fn check() -> Outcome {
    let metadata = metadata(&LOCKED)?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let promised = packages
        .iter()
        .find(|package| package["name"] == "margins")
        .and_then(|package| version(&package["rust_version"]))
        .ok_or("the package 'margins' states no rust-version")?;
    let allowed = Allowed::read()?;
    let mut faults = String::new();
    for package in packages {
        let mut fault = |what: String| {
            faults += &format!("{} {} {what}\n", package["name"], package["version"]);
        };
        if version(&package["rust_version"]).is_some_and(|needs| needs > promised) {
            let (major, minor) = promised;
            fault(format!(
                "needs Rust {}, but {major}.{minor} is promised",
                package["rust_version"]
            ));
        }
        let name = package["name"].as_str().unwrap_or_default();
        if !package["license"].as_str().is_some_and(|licence| allowed.takes(name, licence)) {
            fault(format!(
                "has the licence {}, which deny.toml does not allow",
                package["license"]
            ));
        }
        if !(package["source"].is_null() || package["source"] == CRATES_IO) {
            fault(format!("comes from {}", package["source"]));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.into()) }
}

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The licences of `deny.toml`, by their SPDX names.
struct Allowed {
    licences: Vec<String>,
    /// Further ones of single crates.
    exceptions: Vec<(String, String)>,
}

impl Allowed {
    fn read() -> Result<Self, Failure> {
        let text = std::fs::read_to_string(workspace().join("deny.toml"))?;
        let list = |name: &str| {
            let list = text
                .split_once(&format!("\n{name} = ["))
                .and_then(|(_, rest)| rest.split_once("]\n"));
            let quoted = list.ok_or(format!("deny.toml has no list {name}"))?.0.split('"').skip(1);
            Ok::<_, Failure>(quoted.step_by(2).map(str::to_owned).collect::<Vec<_>>())
        };
        let exceptions = list("exceptions")?;
        let pairs = exceptions.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()));
        Ok(Allowed { licences: list("allow")?, exceptions: pairs.collect() })
    }

    /// Returns true if a crate may be used under an SPDX expression; a slash stands for OR, as in old
    /// manifests.
    fn takes(&self, name: &str, expression: &str) -> bool {
        let is_allowed = |licence: &str| {
            let exception = |(of, what): &(String, String)| of == name && what == licence;
            self.licences.iter().any(|one| one == licence) || self.exceptions.iter().any(exception)
        };
        let spaced = expression.replace('/', " OR ").replace('(', "( ").replace(')', " )");
        let mut words = spaced.split_whitespace().peekable();
        any(&mut words, &is_allowed) && words.next().is_none()
    }
}

fn any<'w>(
    words: &mut Peekable<impl Iterator<Item = &'w str>>,
    is_allowed: &impl Fn(&str) -> bool,
) -> bool {
    let mut one = all(words, is_allowed);
    while words.next_if_eq(&"OR").is_some() {
        one |= all(words, is_allowed);
    }
    one
}

fn all<'w>(
    words: &mut Peekable<impl Iterator<Item = &'w str>>,
    is_allowed: &impl Fn(&str) -> bool,
) -> bool {
    let mut every = licence(words, is_allowed);
    while words.next_if_eq(&"AND").is_some() {
        every &= licence(words, is_allowed);
    }
    every
}

fn licence<'w>(
    words: &mut Peekable<impl Iterator<Item = &'w str>>,
    is_allowed: &impl Fn(&str) -> bool,
) -> bool {
    match words.next() {
        Some("(") => any(words, is_allowed) & words.next().is_some_and(|word| word == ")"),
        Some(name) => match words.next_if_eq(&"WITH") {
            Some(_) => is_allowed(&format!("{name} WITH {}", words.next().unwrap_or_default())),
            None => is_allowed(name),
        },
        None => false,
    }
}

/// Returns major and minor of "1.89" or "1.89.0".
fn version(value: &Value) -> Option<(u32, u32)> {
    let mut parts = value.as_str()?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_keep_the_promises() {
        if let Err(faults) = check() {
            panic!("{faults}");
        }
    }

    #[test]
    fn expressions_are_read_as_spdx_has_them() {
        let allowed = Allowed::read().unwrap();
        for good in
            ["MIT", "GPL-3.0-only OR MIT", "GPL-3.0-only/MIT", "(GPL-3.0-only OR MIT) AND Zlib"]
        {
            assert!(allowed.takes("a", good), "{good}");
        }
        let none = [
            "",
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "(MIT",
            "MIT Zlib",
            "MIT WITH GCC-exception-3.1",
        ];
        for bad in none {
            assert!(!allowed.takes("a", bad), "{bad}");
        }
        let [own, other] = ["libfuzzer-sys", "a"].map(|name| allowed.takes(name, "MIT AND NCSA"));
        assert!(own && !other);
    }
}
