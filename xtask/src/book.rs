//! The book against itself: every page is in the summary, every link leads somewhere, also from what
//! is published without the repository, every command that a page shows exists with its options, and
//! every formula is valid LaTeX.

mod commands;
mod page;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use clap::Parser;
use clap::error::ErrorKind;

use crate::{Arguments, Failure, Outcome, formulas, workspace};
use commands::Commands;
use page::{Page, Piece};

/// The folders whose text nobody here has written.
const LEFT_OUT: [&str; 3] = ["target", "node_modules", "corpus"];

/// Checks the pages of the book, and everything in the repository that points to them.
pub(crate) fn check() -> Outcome {
    let root = workspace();
    let mut files = Vec::new();
    collect(root, &mut files)?;
    files.sort();
    let commands = Commands::read(&std::fs::read_to_string(root.join("docs/command.md"))?)?;
    let pages = pages(root, &files)?;
    let mut faults = unreached(&pages);
    for (name, page) in &pages {
        let text = std::fs::read_to_string(root.join(name))?;
        faults
            .extend(formulas::render(&name.display().to_string(), &text).err().unwrap_or_default());
        faults.extend(broken_links(root, name, &pages));
        faults.extend(links_into_the_repository(name, page));
        faults.extend(page.commands.iter().filter_map(|shown| {
            let fault = commands.fault(&shown.text).or_else(|| fault_of_task(&shown.text))?;
            Some(format!("{}:{}: {fault}", name.display(), shown.line))
        }));
    }
    let has_mentions = |file: &&PathBuf| {
        file.extension().is_some_and(|kind| ["rs", "md"].iter().any(|own| kind == *own))
    };
    for file in files.iter().filter(has_mentions) {
        faults.extend(broken_mentions(root, file)?);
    }
    if faults.is_empty() {
        println!("{} pages of Markdown: links, anchors, commands and formulas hold", pages.len());
        Ok(())
    } else {
        Err(faults.join("\n").into())
    }
}

/// Adds the files below a folder, as seen from the root of the workspace.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Outcome {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') || LEFT_OUT.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path.strip_prefix(workspace())?.to_owned());
        }
    }
    Ok(())
}

/// Returns the pages among some files by their names.
fn pages(root: &Path, files: &[PathBuf]) -> Result<BTreeMap<PathBuf, Page>, Failure> {
    let is_page = |file: &&PathBuf| file.extension().is_some_and(|kind| kind == "md");
    let read =
        |file: &PathBuf| Ok((file.clone(), Page::read(&std::fs::read_to_string(root.join(file))?)));
    files.iter().filter(is_page).map(read).collect()
}

/// Returns the pages of the book that its summary does not name.
fn unreached(pages: &BTreeMap<PathBuf, Page>) -> Vec<String> {
    let summary = Path::new("docs/SUMMARY.md");
    let Some(contents) = pages.get(summary) else {
        return vec!["docs/SUMMARY.md is not there".to_owned()];
    };
    let named: Vec<PathBuf> =
        contents.links.iter().map(|link| destination(summary, &link.text).0).collect();
    pages
        .keys()
        .filter(|page| page.starts_with("docs") && *page != summary && !named.contains(page))
        .map(|page| format!("docs/SUMMARY.md does not name {}", page.display()))
        .collect()
}

/// Returns the file and the anchor that a link of a page points to.
fn destination<'a>(page: &Path, link: &'a str) -> (PathBuf, Option<&'a str>) {
    let (file, anchor) = match link.split_once('#') {
        Some((file, anchor)) => (file, Some(anchor)),
        None => (link, None),
    };
    if file.is_empty() {
        return (page.to_owned(), anchor);
    }
    let mut path = PathBuf::new();
    for part in page.parent().unwrap_or(Path::new("")).join(file).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => (),
            part => path.push(part),
        }
    }
    (path, anchor)
}

/// Returns the links of a page that lead to no file, or to no heading of it.
fn broken_links(root: &Path, name: &Path, pages: &BTreeMap<PathBuf, Page>) -> Vec<String> {
    let mut faults = Vec::new();
    for link in pages[name].links.iter().filter(|link| !link.text.contains("://")) {
        let (file, anchor) = destination(name, &link.text);
        let fault = match (pages.get(&file), anchor) {
            (Some(page), Some(anchor)) if !page.anchors.contains(anchor) => "no such heading",
            (None, _) if !root.join(&file).exists() => "no such file",
            _ => continue,
        };
        faults.push(format!("{}:{}: {}: {fault}", name.display(), link.line, link.text));
    }
    faults
}

/// Returns the links to other files from a page that is published on its own: the README of a crate or
/// of the Python package.
fn links_into_the_repository(name: &Path, page: &Page) -> Vec<String> {
    let is_published = ["crates", "bindings"].iter().any(|folder| name.starts_with(folder))
        && name.file_name().is_some_and(|file| file == "README.md")
        && !name.components().any(|part| part.as_os_str() == "tests");
    let leads_out = |link: &&Piece| !link.text.contains("://") && !link.text.starts_with('#');
    let links = page.links.iter().filter(|link| is_published && leads_out(link));
    links
        .map(|link| {
            format!("{}:{}: {}: is not published with it", name.display(), link.line, link.text)
        })
        .collect()
}

/// Returns what is wrong with a call of this program, if anything is. `NAME` stands for any name.
fn fault_of_task(line: &str) -> Option<String> {
    let words = line.trim_start().strip_prefix("cargo xtask ")?.split_whitespace();
    let error = Arguments::try_parse_from(std::iter::once("xtask").chain(words)).err()?;
    let is_help = error.kind() == ErrorKind::DisplayHelp;
    let reason = error.to_string().lines().next().unwrap_or_default().to_owned();
    (!is_help && !line.contains("NAME")).then_some(reason)
}

/// Returns the paths in a source or a page that do not name an existing page or source.
fn broken_mentions(root: &Path, file: &Path) -> Result<Vec<String>, Failure> {
    let text = std::fs::read_to_string(root.join(file))?;
    let faults = mentions(&text).into_iter().filter(|(_, page)| !root.join(page).exists());
    Ok(faults
        .map(|(line, page)| format!("{}:{line}: {page}: no such file", file.display()))
        .collect())
}

/// Returns the pages and sources that a text names by their paths, each with its line.
fn mentions(text: &str) -> Vec<(usize, String)> {
    const FOLDERS: [&str; 4] = ["docs/", "crates/", "benches/", "xtask/"];
    const KINDS: [&str; 3] = [".md", ".rs", ".py"];
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let mut found = Vec::new();
    for (line, text) in text.lines().enumerate() {
        for word in text.split(|c| !is_part(c)) {
            let path = word.trim_end_matches('.');
            let is_path = FOLDERS.iter().any(|folder| path.starts_with(folder))
                && KINDS.iter().any(|kind| path.ends_with(kind));
            if is_path && !path.contains("...") {
                found.push((line + 1, path.to_owned()));
            }
        }
    }
    found
}

/// Returns the name that GitHub and mdBook give to the first place of a heading.
pub(crate) fn anchor(heading: &str) -> String {
    let is_kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    heading.to_lowercase().chars().filter(is_kept).collect::<String>().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(pages: &[(&str, &str)]) -> BTreeMap<PathBuf, Page> {
        pages.iter().map(|(name, text)| (PathBuf::from(name), Page::read(text))).collect()
    }

    #[test]
    fn the_book_leads_somewhere() {
        if let Err(faults) = check() {
            panic!("{faults}");
        }
    }

    #[test]
    fn every_status_is_explained() {
        for page in ["docs/json.md", "docs/glossary.md"] {
            let text = std::fs::read_to_string(workspace().join(page)).unwrap();
            for status in margins::optim::Status::ALL {
                let is_listed = text.contains(&format!("`{status}`"));
                assert!(is_listed, "{page} does not explain the status `{status}`");
            }
        }
    }

    #[test]
    fn pages_must_be_in_the_summary() {
        let pages = book(&[
            ("docs/SUMMARY.md", "[One](how-to/loss.md)"),
            ("docs/how-to/loss.md", ""),
            ("docs/losses.md", ""),
            ("README.md", ""),
        ]);
        assert_eq!(unreached(&pages), ["docs/SUMMARY.md does not name docs/losses.md"]);
        assert_eq!(unreached(&book(&[])), ["docs/SUMMARY.md is not there"]);
    }

    #[test]
    fn links_must_lead_to_files_and_headings() {
        let one = "# One\n[a](../losses.md#part-two) [b](#one) [c](https://example.org/x)\n\n\
            [d](losses.md) [e](../losses.md#three) [f](#two) ![g](no.svg)";
        let pages = book(&[("docs/how-to/loss.md", one), ("docs/losses.md", "## Part two")]);
        let nowhere = Path::new("/nowhere");
        assert_eq!(
            broken_links(nowhere, Path::new("docs/how-to/loss.md"), &pages),
            [
                "docs/how-to/loss.md:4: losses.md: no such file",
                "docs/how-to/loss.md:4: ../losses.md#three: no such heading",
                "docs/how-to/loss.md:4: #two: no such heading",
                "docs/how-to/loss.md:4: no.svg: no such file",
            ]
        );
    }

    #[test]
    fn what_is_published_alone_has_no_links_into_the_repository() {
        let page =
            Page::read("[a](../../docs/losses.md)\n[b](#here)\n[c](https://docs.rs/margins)");
        let faults = |name: &str| links_into_the_repository(Path::new(name), &page);
        let fault = "crates/boost/README.md:1: ../../docs/losses.md: is not published with it";
        assert_eq!(faults("crates/boost/README.md"), [fault]);
        assert!(faults("README.md").is_empty() && faults("docs/README.md").is_empty());
    }

    #[test]
    fn tasks_must_be_those_of_this_program() {
        assert_eq!(fault_of_task("cargo xtask experiment fol-gap --trials 2"), None);
        assert_eq!(fault_of_task("cargo xtask experiment NAME --help"), None);
        assert_eq!(fault_of_task("cargo test"), None);
        let fault = fault_of_task("cargo xtask experiment fol-gap --trails 2").unwrap_or_default();
        assert!(fault.contains("--trails"), "{fault}");
    }

    #[test]
    fn texts_name_pages_and_sources() {
        let text = "//! See docs/json.md.\n//! and (docs/how-to/loss.md#d), docs/pictures, `xtask/src/book.rs`";
        let named = ["docs/json.md", "docs/how-to/loss.md", "xtask/src/book.rs"];
        let expected = [1, 2, 2].into_iter().zip(named.map(str::to_owned));
        assert_eq!(mentions(text), expected.collect::<Vec<_>>());
    }

    /// The functions, classes and keywords of Python in the column of commands are in its package.
    #[test]
    fn the_calls_of_python_in_papers_exist() {
        let words = crate::settings::words_of_python();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let page = std::fs::read_to_string(workspace().join("docs/papers.md")).unwrap();
        let (mut calls, mut faults) = (0, Vec::new());
        for (line, row) in (1..).zip(page.lines()).filter(|(_, row)| row.starts_with('|')) {
            let Some(cell) = row.trim_matches('|').split('|').nth(2) else { continue };
            for code in cell.split('`').skip(1).step_by(2) {
                if ["margins ", "cargo ", "--"].iter().any(|start| code.starts_with(start)) {
                    continue;
                }
                for (at, _) in code.match_indices(['(', '=']) {
                    let name = code[..at].rsplit(|c| !is_part(c)).next().unwrap_or_default();
                    calls += usize::from(!name.is_empty());
                    if !name.is_empty() && !words.contains(name) {
                        faults.push(format!("docs/papers.md:{line}: {code}: no {name} in Python"));
                    }
                }
            }
        }
        assert!(calls > 100 && faults.is_empty(), "{calls} calls\n{}", faults.join("\n"));
    }

    /// In the column of the tests the names after a path are functions.
    #[test]
    fn the_named_items_of_papers_exist() {
        const FOLDERS: [&str; 5] = ["crates/", "xtask/", "bindings/", "benches/", "examples/"];
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let read = |path: &str| std::fs::read_to_string(workspace().join(path)).unwrap_or_default();
        let page = read("docs/papers.md");
        let (kinds, mut files, mut faults) = (["fn", "def"], 0, Vec::new());
        for (line, row) in (1..).zip(page.lines()).filter(|(_, row)| row.starts_with('|')) {
            let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
            assert_eq!(cells.len(), 5, "docs/papers.md:{line}: {row}");
            for (column, cell) in cells.into_iter().enumerate() {
                let mut source: Option<String> = None;
                for code in cell.split('`').skip(1).step_by(2) {
                    if FOLDERS.iter().any(|folder| code.starts_with(folder)) {
                        source = Some(read(code));
                        files += 1;
                    }
                    let is_name = code.chars().all(|c| is_part(c) || c == ':')
                        && !code.starts_with(|c: char| c.is_ascii_digit());
                    let name = code.rsplit(':').next().unwrap_or(code);
                    let is_there = match &source {
                        Some(text) if text.is_empty() => false,
                        Some(text) if is_name && column == 3 => {
                            kinds.iter().any(|kind| text.contains(&format!("{kind} {name}(")))
                        }
                        Some(text) if is_name => {
                            text.split(|c: char| !is_part(c)).any(|word| word == name)
                        }
                        _ => true,
                    };
                    if !is_there {
                        faults.push(format!("docs/papers.md:{line}: {code}: not there"));
                    }
                }
            }
        }
        assert!(files > 0 && faults.is_empty(), "{}", faults.join("\n"));
    }
}
