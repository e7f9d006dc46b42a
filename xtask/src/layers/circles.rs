//! Circles among modules: groups of which each member reaches every other.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::Ties;

/// Describes the circles among the modules of a crate, a text each, with the ties of each.
pub(super) fn circles(name: &str, ties: &Ties) -> Vec<String> {
    let below: BTreeMap<&[String], BTreeSet<&[String]>> =
        ties.keys().map(|module| (module.as_slice(), below(module, ties))).collect();
    let reaches =
        |from: &[String], to: &[String]| below.get(from).is_some_and(|set| set.contains(to));
    let mut found = Vec::new();
    let mut placed = BTreeSet::new();
    for &module in below.keys() {
        if !reaches(module, module) || placed.contains(module) {
            continue;
        }
        let group: Vec<&[String]> = below
            .keys()
            .copied()
            .filter(|other| reaches(module, other) && reaches(other, module))
            .collect();
        placed.extend(group.iter().copied());
        found.push(describe(name, &group, ties));
    }
    found
}

/// Returns the modules that a module reaches along ties.
fn below<'t>(module: &'t [String], ties: &'t Ties) -> BTreeSet<&'t [String]> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&[String]> = vec![module];
    while let Some(module) = next.pop() {
        let used = ties.get(module).into_iter().flat_map(BTreeMap::keys);
        next.extend(used.map(Vec::as_slice).filter(|module| found.insert(*module)));
    }
    found
}

fn describe(name: &str, group: &[&[String]], ties: &Ties) -> String {
    let members: Vec<String> = group.iter().map(|module| module.join("::")).collect();
    let mut text = format!("{name}: {} modules in a circle: {}", group.len(), members.join(", "));
    for from in group {
        for (to, names) in ties.get(*from).into_iter().flatten() {
            if group.contains(&to.as_slice()) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let tie =
                    format!("\n    {} -> {}: {}", from.join("::"), to.join("::"), names.join(", "));
                text.push_str(&tie);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ties(arrows: &[(&str, &str)]) -> Ties {
        let mut ties = Ties::new();
        for (from, to) in arrows {
            let names = ties.entry(vec![(*from).to_owned()]).or_default();
            names.entry(vec![(*to).to_owned()]).or_default().insert(to.to_uppercase());
        }
        ties
    }

    #[test]
    fn layers_have_no_circle() {
        assert_eq!(circles("x", &ties(&[("a", "b"), ("b", "c"), ("a", "c")])), [""; 0]);
    }

    #[test]
    fn every_circle_is_described_once() {
        let ties = ties(&[("a", "b"), ("b", "a"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "c")]);
        let expected = [
            "x: 2 modules in a circle: a, b\n    a -> b: B\n    b -> a: A",
            "x: 3 modules in a circle: c, d, e\n    c -> d: D\n    d -> e: E\n    e -> c: C",
        ];
        assert_eq!(circles("x", &ties), expected);
    }
}
