//! What the command says of itself to shells, to man and to newcomers.

use crate::help::COMMANDS;
use crate::{Workshop, text};

#[test]
fn completions_know_every_command_and_its_options() {
    let workshop = Workshop::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = workshop.output(&["completions", shell]);
        for word in COMMANDS.iter().chain(&["or-kernel", "pause-at"]) {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    let refused = workshop.run(&["completions", "tcsh"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("bash, elvish, fish, powershell, zsh"));
}

/// Bash itself completes the names of options and of their values.
#[test]
fn bash_completes_options() {
    let workshop = Workshop::new();
    workshop.write("completions", workshop.output(&["completions", "bash"]).as_bytes());
    let ask = "source ./completions
        COMP_WORDS=(margins cv --lo) COMP_CWORD=2
        _margins margins --lo cv
        echo ${COMPREPLY[@]}
        COMP_WORDS=(margins cv --solver mm-) COMP_CWORD=3
        _margins margins m --solver
        echo ${COMPREPLY[@]}";
    let bash = std::process::Command::new("bash")
        .args(["--norc", "-c", ask])
        .current_dir(workshop.folder.path())
        .output();
    // Where there is no bash it needs no completions.
    let Ok(output) = bash else { return };
    assert_eq!(text(&output.stdout), "--loss\nmm mm-accelerated\n", "{}", text(&output.stderr));
}

#[test]
fn every_command_has_a_manual_page() {
    let workshop = Workshop::new();
    assert_eq!(workshop.output(&["man", "new/man1"]), "");
    let page =
        |name: &str| std::fs::read_to_string(workshop.path("new/man1").join(name)).expect("a page");
    for command in COMMANDS {
        let page = page(&format!("margins-{command}.1"));
        assert!(page.contains(&format!(".TH margins-{command} 1")), "{page}");
        assert!(page.contains(&format!("margins {command}").replace('-', "\\-")), "{page}");
        assert!(page.contains("\\-\\-help"), "{page}");
    }
    let whole = page("margins.1");
    assert!(COMMANDS.iter().all(|command| whole.contains(&format!("margins\\-{command}(1)"))));
    let left = std::fs::read_dir(workshop.path("new/man1")).expect("a folder").count();
    assert_eq!(left, COMMANDS.len() + 1, "no temporary file is left");
}

#[test]
fn manual_pages_need_a_folder() {
    let workshop = Workshop::new();
    let output = workshop.run(&["man", "data.csv"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("error: data.csv: "), "{}", text(&output.stderr));
}

/// In their order, in a folder without any file.
#[test]
fn all_ten_examples_work_as_they_are() {
    let workshop = Workshop::new();
    let page = workshop.output(&["examples"]);
    insta::assert_snapshot!(page);
    let examples: Vec<&str> = page.lines().filter(|line| line.starts_with("margins ")).collect();
    assert_eq!(examples.len(), 10);
    for example in examples {
        let words: Vec<&str> = example.split_whitespace().skip(1).collect();
        let writes_page = words.contains(&"page.html");
        let output = workshop.output(&[&words[..], &["--quiet"]].concat());
        assert_eq!(output.is_empty(), writes_page, "{example}");
    }
    assert!(workshop.path("model.json").exists() && workshop.path("page.html").exists());
}
