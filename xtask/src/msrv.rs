//! The promised Rust version against what the dependencies ask for. Clippy's `incompatible_msrv`
//! does the same for our own use of the standard library.

use serde_json::Value;

use crate::{LOCKED, Outcome, metadata};

pub(crate) fn check() -> Outcome {
    let metadata = metadata(&LOCKED)?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let promised = packages
        .iter()
        .find(|package| package["name"] == "margins")
        .and_then(|package| version(&package["rust_version"]))
        .ok_or("the package 'margins' states no rust-version")?;
    let newer: Vec<String> = packages
        .iter()
        .filter(|package| version(&package["rust_version"]).is_some_and(|needs| needs > promised))
        .map(|package| {
            format!(
                "{} {} needs Rust {}",
                package["name"], package["version"], package["rust_version"]
            )
        })
        .collect();
    if newer.is_empty() {
        println!("no dependency needs more than the promised Rust {}.{}", promised.0, promised.1);
        Ok(())
    } else {
        Err(format!("Rust {}.{} is promised, but\n{}", promised.0, promised.1, newer.join("\n"))
            .into())
    }
}

/// Returns major and minor of "1.89" or "1.89.0".
fn version(value: &Value) -> Option<(u32, u32)> {
    let mut parts = value.as_str()?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_dependency_needs_a_newer_rust_than_promised() {
        if let Err(faults) = super::check() {
            panic!("{faults}");
        }
    }
}
