//! The sessions that the book shows: their commands print what stands below them.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::text;

/// INSTA_UPDATE=always writes what is printed into the pages, as it does the snapshots.
#[test]
fn sessions_of_the_book_print_what_it_says() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut pages = Vec::new();
    collect(&book, &mut pages);
    pages.push(book.join("../README.md"));
    let mut sessions = 0;
    for page in pages {
        let shown = std::fs::read_to_string(&page).expect("a page");
        if !shown.contains("```console\n") {
            continue;
        }
        let (printed, commands) = replayed(&shown);
        sessions += commands;
        if std::env::var("INSTA_UPDATE").as_deref() == Ok("always") {
            std::fs::write(&page, &printed).expect("a writable page");
        } else {
            assert_eq!(shown, printed, "{} is not what the command prints", page.display());
        }
    }
    assert!(sessions > 10, "only {sessions} commands were run");
}

fn collect(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, pages);
        } else if path.extension().is_some_and(|kind| kind == "md") {
            pages.push(path);
        }
    }
}

/// Returns a page with its sessions run again, one after the other in one folder, and the number of
/// their commands. The folders `data` and `fixtures/data` have the small tables of the repository.
fn replayed(page: &str) -> (String, usize) {
    let folder = TempDir::new().expect("a temporary folder");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test-support/fixtures");
    std::os::unix::fs::symlink(fixtures.join("data"), folder.path().join("data")).expect("a link");
    std::os::unix::fs::symlink(fixtures, folder.path().join("fixtures")).expect("a link");
    let (mut result, mut commands) = (String::new(), 0);
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("```console\n") {
        let (session, after) = after.split_once("```").expect("the end of a session");
        result += before;
        result += "```console\n";
        for (command, shown) in steps(session) {
            result += &command;
            let printed = run(folder.path(), &script(&command));
            result += if agrees(&shown, &printed) { &shown } else { &printed };
            commands += 1;
        }
        result += "```";
        rest = after;
    }
    (result + rest, commands)
}

/// Splits a session into its commands, which begin with `$` and go on with `>`, each with what
/// stands below it.
fn steps(session: &str) -> Vec<(String, String)> {
    let mut steps: Vec<(String, String)> = Vec::new();
    for line in session.split_inclusive('\n') {
        if line.starts_with("$ ") {
            steps.push((line.to_owned(), String::new()));
            continue;
        }
        let (command, shown) = steps.last_mut().expect("a session begins with a command");
        if line.starts_with("> ") && shown.is_empty() {
            *command += line;
        } else {
            *shown += line;
        }
    }
    steps
}

/// Returns a command without its prompts.
fn script(command: &str) -> String {
    command.split_inclusive('\n').map(|line| &line[2..]).collect()
}

/// Returns what a shell prints that knows the command, errors last.
fn run(folder: &Path, script: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_margins"));
    let mut folders = vec![program.parent().expect("a folder").to_owned()];
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let output = Command::new("sh")
        .args(["-c", script])
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .env("PATH", std::env::join_paths(folders).expect("folders"))
        .output()
        .expect("a shell");
    text(&output.stdout) + &text(&output.stderr)
}

/// Whether output is what is shown, where a line of `...` stands for any lines.
fn agrees(shown: &str, printed: &str) -> bool {
    let printed: Vec<&str> = printed.lines().collect();
    let parts: Vec<Vec<&str>> = shown.split("...\n").map(|part| part.lines().collect()).collect();
    let stands_at = |part: &[&str], place: usize| {
        let there = printed.get(place..place + part.len());
        there.is_some_and(|there| part.iter().zip(there).all(|(a, b)| says_the_same(a, b)))
    };
    let mut place = 0;
    for (count, part) in parts.iter().enumerate() {
        let first = if count > 0 && count + 1 == parts.len() {
            printed.len().saturating_sub(part.len()).max(place)
        } else {
            place
        };
        let last = if count == 0 { first } else { printed.len() };
        let Some(found) = (first..=last).find(|&place| stands_at(part, place)) else {
            return false;
        };
        place = found + part.len();
    }
    place == printed.len()
}

/// Whether two lines differ in spaces only, and in digits that depend on the machine: numbers by
/// less than a millionth, and gaps that are within the tolerance in any way.
fn says_the_same(shown: &str, printed: &str) -> bool {
    let words = |line: &str| -> Vec<String> {
        line.split([' ', ',', '=']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let (shown, printed) = (words(shown), words(printed));
    let alike = |(shown, printed): (&String, &String)| {
        shown == printed
            || match (shown.parse::<f64>(), printed.parse::<f64>()) {
                (Ok(shown), Ok(printed)) => {
                    let size = shown.abs().max(printed.abs());
                    size <= 1e-6 || (shown - printed).abs() <= 1e-6 * size
                }
                _ => false,
            }
    };
    shown.len() == printed.len() && shown.iter().zip(&printed).all(alike)
}

#[test]
fn left_out_lines_stand_for_any() {
    assert!(agrees("a\nb\n", "a\nb\n") && agrees("a\n...\nd\n", "a\nb\nc\nd\n"));
    assert!(agrees("a\n...\n", "a\nb\n") && agrees("...\nb\n", "b\na\nb\n"));
    assert!(!agrees("a\n...\nd\n", "a\nb\nc\n") && !agrees("a\n", "a\nb\n"));
    assert!(!agrees("a\n...\nb\n", "a\nb\nc\n"));
}

#[test]
fn digits_may_depend_on_the_machine() {
    assert!(says_the_same("gap 1.2e-9", "gap  9.7e-10") && says_the_same("1.00000001,a", "1,a"));
    assert!(!says_the_same("gap 1.2e-9", "gap 2e-6") && !says_the_same("1.001", "1"));
    assert!(!says_the_same("error 1", "errors 1") && !says_the_same("1 2", "1"));
}
