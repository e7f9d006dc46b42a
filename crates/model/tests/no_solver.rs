//! A program that applies models builds no solver, and one that reads data no faer.

use std::process::Command;

/// Returns the names of the packages that a crate is built from.
fn packages(name: &str, features: &[&str]) -> Vec<String> {
    let tree = ["tree", "-p", name, "-e", "normal", "--offline", "--prefix", "none"];
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(tree)
        .args(["--format", "{p}"])
        .args(features)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn there_is_no_solver_below_models() {
    for features in [&[][..], &["--no-default-features"], &["--all-features"]] {
        let packages = packages("margins-model", features);
        assert!(packages.iter().any(|package| package == "margins-losses"), "{packages:?}");
        let has = |name: &str| packages.iter().any(|package| package == name);
        for solver in ["margins-optim", "margins-kernels"] {
            assert!(!has(solver), "{features:?}: {packages:?}");
        }
    }
}

#[test]
fn there_is_no_faer_below_data() {
    for features in [&[][..], &["--no-default-features"], &["--all-features"]] {
        let packages = packages("margins-data", features);
        assert!(packages.iter().any(|package| package == "csv"), "{packages:?}");
        assert!(!packages.iter().any(|package| package == "faer"), "{features:?}: {packages:?}");
    }
}
