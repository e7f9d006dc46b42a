//! What the modules of a crate use of each other, read from its sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::tokens::{Source, Token};
use crate::Failure;

/// A path from the root of the crate; that of a module has one word a level, and none for the root.
type Names = Vec<String>;

/// Names that a module uses of others: from, to, names.
pub(super) type Ties = BTreeMap<Names, BTreeMap<Names, BTreeSet<String>>>;

/// A name that a module has from elsewhere.
struct Import {
    name: String,
    path: Names,
}

/// The paths that one module speaks of.
#[derive(Default)]
struct Module {
    imports: Vec<Import>,
    paths: Vec<Names>,
}

/// The modules of one crate by their paths.
pub(super) struct Modules(BTreeMap<Names, Module>);

impl Modules {
    /// Reads the modules of a folder of sources.
    pub(super) fn read(folder: &Path) -> Result<Self, Failure> {
        let mut sources = Vec::new();
        for file in rust_files(folder)? {
            let name = names(file.strip_prefix(folder)?);
            sources.push((name, std::fs::read_to_string(&file)?));
        }
        Ok(Self::new(&sources))
    }

    /// Joins the sources of modules, of which those of tests are left out.
    fn new(sources: &[(Names, String)]) -> Self {
        let sources: Vec<(&Names, Source<'_>)> =
            sources.iter().map(|(name, text)| (name, Source::new(text))).collect();
        let tests: Vec<Names> = sources
            .iter()
            .flat_map(|(name, source)| source.test_modules.iter().map(|test| joined(name, test)))
            .collect();
        let mut modules: BTreeMap<Names, Module> = BTreeMap::new();
        for (name, source) in sources {
            if !tests.iter().any(|test| name.starts_with(test)) {
                modules.entry(name.clone()).or_default().read(name, &source.tokens);
            }
        }
        Modules(modules)
    }

    /// Returns what each module uses of modules that are neither inside it nor around it.
    pub(super) fn ties(&self) -> Ties {
        let mut ties = Ties::new();
        for (from, module) in &self.0 {
            let imports = module.imports.iter().map(|import| &import.path);
            for path in imports.chain(&module.paths) {
                let (to, name) = self.home(path, &mut BTreeSet::new());
                if !from.starts_with(&to) && !to.starts_with(from) {
                    ties.entry(from.clone()).or_default().entry(to).or_default().extend(name);
                }
            }
        }
        ties
    }

    /// Returns the module that a path leads to through imports, and the name that it has there.
    fn home(&self, path: &[String], seen: &mut BTreeSet<Names>) -> (Names, Option<String>) {
        let depth = (0..=path.len()).rev().find(|&depth| self.0.contains_key(&path[..depth]));
        let (module, rest) = path.split_at(depth.unwrap_or(0));
        let Some((name, inner)) = rest.split_first() else { return (module.to_vec(), None) };
        let here = self.0.get(module);
        let import = here.and_then(|here| here.imports.iter().find(|import| import.name == *name));
        let beyond = import
            .filter(|_| seen.insert(joined(module, name)))
            .map(|import| self.home(&[&import.path, inner].concat(), seen))
            .filter(|(to, _)| to != module); // An import that stays is of another crate.
        beyond.unwrap_or_else(|| (module.to_vec(), Some(name.clone())))
    }
}

/// Returns the ties between the modules of the first level, each with all modules inside it.
pub(super) fn first_level(ties: &Ties) -> Ties {
    let mut outer = Ties::new();
    for (from, used) in ties {
        for (to, names) in used {
            let (Some(from), Some(to)) = (from.first(), to.first()) else { continue };
            if from != to {
                let below = outer.entry(vec![from.clone()]).or_default();
                below.entry(vec![to.clone()]).or_default().extend(names.iter().cloned());
            }
        }
    }
    outer
}

impl Module {
    /// Reads the paths of a source, of which inline modules count as part.
    fn read(&mut self, name: &[String], tokens: &[Token<'_>]) {
        let mut inline: Vec<usize> = Vec::new(); // depths of braces at which inline modules begin
        let (mut depth, mut at) = (0_usize, 0);
        while let Some(token) = tokens.get(at) {
            let here = Location { module: name, inline: inline.len() };
            match token.text {
                "{" => depth += 1,
                "}" => {
                    depth = depth.saturating_sub(1);
                    inline.pop_if(|begin| *begin == depth);
                }
                "mod" if tokens.get(at + 2).is_some_and(|next| next.text == "{") => {
                    inline.push(depth);
                }
                "use" if tokens.get(at + 1).is_some_and(|next| next.text != "<") => {
                    let end = tokens[at..].iter().position(|token| token.text == ";");
                    let end = end.map_or(tokens.len(), |length| at + length);
                    here.imports(&tokens[at + 1..end], &mut self.imports);
                    at = end;
                }
                _ => {
                    let words = path(&tokens[at..]);
                    if words.len() > 1 {
                        self.paths.push(here.absolute(&words));
                        at += 2 * words.len() - 2;
                    }
                }
            }
            at += 1;
        }
    }
}

/// Returns the words of the path that the tokens begin with.
fn path<'s>(tokens: &[Token<'s>]) -> Vec<&'s str> {
    let mut words = Vec::new();
    for pair in tokens.chunks(2) {
        if !pair[0].is_word() {
            break;
        }
        words.push(pair[0].text);
        if pair.get(1).is_none_or(|mark| mark.text != "::") {
            break;
        }
    }
    words
}

/// A place in the sources: a module, and the number of inline modules around the place.
#[derive(Clone, Copy)]
struct Location<'m> {
    module: &'m [String],
    inline: usize,
}

impl Location<'_> {
    /// Returns a path as seen from the root of the crate.
    fn absolute(self, words: &[&str]) -> Names {
        let supers = words.iter().take_while(|word| **word == "super").count();
        let up = supers.saturating_sub(self.inline);
        let (around, below) = match words.first() {
            Some(&"crate") => (&self.module[..0], &words[1..]),
            Some(&"self") => (self.module, &words[1..]),
            _ => (&self.module[..self.module.len().saturating_sub(up)], &words[supers..]),
        };
        around.iter().cloned().chain(below.iter().map(|word| (*word).to_owned())).collect()
    }

    /// Appends the names that a tree of imports brings.
    fn imports(self, tree: &[Token<'_>], found: &mut Vec<Import>) {
        self.branch(&[], tree, found);
    }

    /// Appends the names of the part of a tree that follows a path.
    fn branch<'s>(self, prefix: &[&'s str], tree: &[Token<'s>], found: &mut Vec<Import>) {
        let mut words = prefix.to_vec();
        let mut rest = tree;
        while let [first, after @ ..] = rest {
            match first.text {
                "{" => {
                    let inner = &after[..after.len().saturating_sub(1)];
                    return branches(inner).for_each(|tree| self.branch(&words, tree, found));
                }
                "as" | "*" => break,
                _ if first.is_word() => words.push(first.text),
                _ => (),
            }
            rest = after;
        }
        words.pop_if(|last| *last == "self" && !prefix.is_empty());
        let name = match rest {
            [first, ..] if first.text == "*" => "*",
            [_, name, ..] => name.text,
            _ => words.last().copied().unwrap_or_default(),
        };
        if !words.is_empty() {
            found.push(Import { name: name.to_owned(), path: self.absolute(&words) });
        }
    }
}

/// Returns the parts of a list that stand between its commas.
fn branches<'t, 's>(list: &'t [Token<'s>]) -> impl Iterator<Item = &'t [Token<'s>]> {
    let mut depth = 0;
    list.split(move |token| {
        match token.text {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => (),
        }
        depth == 0 && token.text == ","
    })
    .filter(|tree| !tree.is_empty())
}

fn joined(module: &[String], name: &str) -> Names {
    [module, &[name.to_owned()]].concat()
}

/// Returns the path of the module that a file holds.
fn names(file: &Path) -> Names {
    let mut names: Names =
        file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let is_root = |name: &mut String| ["mod", "lib", "main"].contains(&name.as_str());
    names.pop_if(is_root);
    names
}

/// Returns the Rust files below a folder in the order of their names.
pub(crate) fn rust_files(folder: &Path) -> std::io::Result<Vec<std::path::PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the ties as lines.
    fn ties(sources: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<(Names, String)> = sources
            .iter()
            .map(|(file, text)| (names(Path::new(file)), (*text).to_owned()))
            .collect();
        let mut lines = Vec::new();
        for (from, tos) in Modules::new(&sources).ties() {
            for (to, names) in tos {
                let names: Vec<String> = names.into_iter().collect();
                lines.push(format!(
                    "{} -> {}: {}",
                    from.join("::"),
                    to.join("::"),
                    names.join(" ")
                ));
            }
        }
        lines
    }

    #[test]
    fn imports_and_paths_are_ties() {
        let found = ties(&[
            ("lib.rs", "mod a; mod b; mod c; pub use a::A;"),
            (
                "a.rs",
                "use crate::b::{self, B, inner::{Inner as Other, *}}; fn f() { super::c::g() }",
            ),
            ("b.rs", "// use crate::c::C;\npub struct B; mod inner;"),
            ("b/inner.rs", "pub struct Inner; use super::B;"),
            (
                "c.rs",
                "const T: &str = \"crate::a::A\"; #[cfg(test)] mod tests { use crate::a::A; }",
            ),
        ]);
        assert_eq!(found, ["a -> b: B", "a -> b::inner: Inner", "a -> c: g"]);
    }

    #[test]
    fn exports_lead_to_the_module_that_defines() {
        let found = ties(&[
            ("lib.rs", "pub use first::Name; use rand::Rng;"),
            ("first/mod.rs", "pub use second::Thing as Name; mod second;"),
            ("first/second.rs", "use other::Thing; #[derive(Thing)] pub struct Thing;"),
            ("user.rs", "use crate::Name; use crate::Rng; use crate::first; fn f() { first::g() }"),
        ]);
        assert_eq!(found, ["user -> first: g", "user -> first::second: Thing"]);
    }

    #[test]
    fn inline_modules_are_part_of_their_file() {
        let source = "mod inline { use super::x; use super::super::b::B; } use super::b::C;";
        let found = ties(&[("a/mod.rs", source), ("b.rs", ""), ("a/x.rs", "")]);
        assert_eq!(found, ["a -> b: B C"]);
    }

    #[test]
    fn captured_lifetimes_are_no_imports() {
        let source = "fn f() -> impl Sized + use<> { super::b::g() } fn h() {} use super::b::B;";
        assert_eq!(ties(&[("a.rs", source), ("b.rs", "")]), ["a -> b: B g"]);
    }

    #[test]
    fn files_of_tests_are_left_out() {
        let found = ties(&[
            ("a.rs", "#[cfg(test)]\nmod checks;"),
            ("a/checks.rs", "use crate::b::B;"),
            ("b.rs", "use b::b; use a::b;"),
        ]);
        assert_eq!(found, [""; 0]);
    }
}
