//! Licences and sources of the dependencies, from `cargo metadata`.

use serde_json::Value;

use crate::{LOCKED, Outcome, metadata};

/// Licences that let anyone use, change and redistribute the code, by their SPDX names.
const LICENCES: [&str; 8] = [
    "MIT",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(crate) fn check() -> Outcome {
    let metadata = metadata(&LOCKED)?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let faults: Vec<String> = packages.iter().flat_map(faults).collect();
    if faults.is_empty() {
        println!(
            "{} packages: licences, sources and versions asked for are in order",
            packages.len()
        );
        Ok(())
    } else {
        Err(faults.join("\n").into())
    }
}

/// Returns the faults of a package, a line each.
fn faults(package: &Value) -> Vec<String> {
    let name = format!("{} {}", package["name"], package["version"]).replace('"', "");
    let mut faults = Vec::new();
    match package["license"].as_str() {
        Some(expression) if is_allowed(expression) => (),
        licence => {
            let stated = licence.map_or("it states no licence".to_owned(), |expression| {
                format!("the licence '{expression}' is not allowed")
            });
            faults.push(format!("{name}: {stated}"));
        }
    }
    match package["source"].as_str() {
        // Our own, whose dependencies must say which versions they are.
        None => faults.extend(wildcards(package).map(|of| format!("{name}: any version of {of}"))),
        Some(SOURCE) => (),
        Some(source) => faults.push(format!("{name}: the source '{source}' is not crates.io")),
    }
    faults
}

/// Returns the dependencies of a package that may be of any version.
fn wildcards(package: &Value) -> impl Iterator<Item = &Value> {
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    let any = |of: &&Value| of["req"] == "*" && of["path"].is_null();
    dependencies.filter(any).map(|of| &of["name"])
}

/// Returns true if the licences of the list meet an SPDX expression: a choice (`OR`, or `/` in old
/// packages) by one of its sides, a conjunction by both.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = expression.split_whitespace().peekable();
    let allowed = choice(&mut words);
    allowed && words.next().is_none()
}

type Words<'w> = std::iter::Peekable<std::str::SplitWhitespace<'w>>;

fn choice(words: &mut Words<'_>) -> bool {
    let mut allowed = conjunction(words);
    while words.next_if_eq(&"OR").is_some() {
        allowed |= conjunction(words);
    }
    allowed
}

fn conjunction(words: &mut Words<'_>) -> bool {
    let mut allowed = licence(words);
    while words.next_if_eq(&"AND").is_some() {
        allowed &= licence(words);
    }
    allowed
}

fn licence(words: &mut Words<'_>) -> bool {
    match words.next() {
        Some("(") => choice(words) & words.next_if_eq(&")").is_some(),
        Some(name) => {
            // An exception grants more than the licence does.
            if words.next_if_eq(&"WITH").is_some() {
                words.next();
            }
            LICENCES.contains(&name)
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn expressions_of_licences() {
        for allowed in [
            "MIT",
            "Unlicense/MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0-only",
            "MIT OR Apache-2.0 OR LGPL-2.1-or-later",
        ] {
            assert!(is_allowed(allowed), "{allowed}");
        }
        for refused in ["", "GPL-3.0-only", "MIT AND GPL-3.0-only", "(MIT", "MIT)", "MIT MIT", "OR"]
        {
            assert!(!is_allowed(refused), "{refused}");
        }
    }

    #[test]
    fn faults_name_the_package() {
        let own = json!({
            "name": "ours", "version": "1.0.0", "license": "MIT", "source": null,
            "dependencies": [{"name": "any", "req": "*"}, {"name": "near", "req": "*", "path": "/"}],
        });
        assert_eq!(faults(&own), ["ours 1.0.0: any version of \"any\""]);
        let fork = json!({"name": "fork", "version": "2.0.0", "license": null, "source": "git+https://a.b"});
        let expected = [
            "fork 2.0.0: it states no licence",
            "fork 2.0.0: the source 'git+https://a.b' is not crates.io",
        ];
        assert_eq!(faults(&fork), expected);
        let strict =
            json!({"name": "x", "version": "3.0.0", "license": "AGPL-3.0-only", "source": SOURCE});
        assert_eq!(faults(&strict), ["x 3.0.0: the licence 'AGPL-3.0-only' is not allowed"]);
    }
}
