//! All experiments on one page.
//!
//! Every finished experiment is a file of its own, whose first line says what made it, so that a run
//! that was killed goes on where it was, and only what has changed is done again.

mod layout;

use std::path::{Path, PathBuf};
use std::time::{Instant, UNIX_EPOCH};

use clap::{Args, Command};
use maud::html;

use crate::experiment::{self, Call};
use crate::{Failure, files, machine};

use layout::{Content, Layout, Section};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder, which gets the page `quick/index.html` or `full/index.html` with its files beside it, and the
    /// same as Markdown, `quick.md` or `full.md`
    #[arg(long, default_value = "report")]
    out: PathBuf,
    /// Folder with the data sets; without it the experiments that need one are left out
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// As many trials as were published, which takes hours, instead of a few
    #[arg(long)]
    full: bool,
    /// Only experiments whose name starts with this (may be repeated)
    #[arg(long)]
    only: Vec<String>,
}

/// The options of experiments in both forms.
const ALWAYS: [(&str, &[&str]); 2] =
    [("margin-pursuit-fig4", &["--stand-in"]), ("margin-pursuit-fig5", &["--stand-in"])];

/// The options of experiments in their quick form alone.
const QUICK: [(&str, &[&str]); 22] = [
    ("margin-pursuit-fig3", &["--trials", "2"]),
    ("margin-pursuit-fig4", &["--trials", "2"]),
    ("margin-pursuit-fig5", &["--trials", "2"]),
    ("lhs-fig2", &["--draws", "100"]),
    ("lhs-table1", &["--trials", "3"]),
    ("lhs-table2", &["--trials", "2", "--slow-trials", "0"]),
    ("lhs-consistency", &["--trials", "2", "--largest", "400"]),
    ("lhs-timing", &["--repetitions", "1"]),
    ("massart-sample-complexity", &["--instances", "2"]),
    ("massart-adversaries", &["--instances", "2", "--compared", "2"]),
    ("massart-cuts", &["--instances", "2"]),
    ("massart-selection", &["--steps", "1000,4000"]),
    ("massart-surrogates", &["--draws", "200", "--changes", "300"]),
    ("massart-real-data", &["--rows", "1000", "--trials", "2"]),
    ("robust-outliers", &["--trials", "2"]),
    ("multi-class", &["--trials", "2", "--rows", "300"]),
    ("fol-gap", &["--trials", "3"]),
    ("fol-margin", &["--trials", "1", "--smallest", "0.05"]),
    ("fol-separable", &["--trials", "1"]),
    ("fol-rare", &["--trials", "3"]),
    ("fol-outliers", &["--trials", "2"]),
    ("fol-deep", &["--trials", "1"]),
];

/// Runs all experiments that the page does not have yet, and writes it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let folder = arguments.out.join(arguments.form());
    files::make_folder(&folder)?;
    let all = experiment::command();
    let wanted: Vec<&Command> =
        all.get_subcommands().filter(|experiment| arguments.takes(experiment)).collect();
    if wanted.is_empty() {
        return Err(format!("no experiment begins with {:?}", arguments.only).into());
    }
    let mut sections = Vec::new();
    for (at, experiment) in wanted.iter().enumerate() {
        let name = experiment.get_name();
        let place = format!("[{}/{}] {name}", at + 1, wanted.len());
        eprintln!("{place} begins");
        let (start, content) = (Instant::now(), arguments.section(experiment, &folder));
        let seconds = || format!("{:.1} s", start.elapsed().as_secs_f64());
        eprintln!("{place}: {}", content.fault().unwrap_or_else(seconds));
        let about = || experiment.get_about().map(ToString::to_string).unwrap_or_default();
        let heading = title_of(&folder.join(format!("{name}.md"))).unwrap_or_else(about);
        let parameters = arguments.parameters(experiment)?;
        sections.push(Section { name, heading, parameters, content });
    }
    let path = folder.join("index.html");
    let (origin, form) = (arguments.origin(), arguments.form());
    let layout = Layout { origin, form, sections: &sections };
    files::write(&path, &layout.page())?;
    files::write(&folder.with_extension("md"), &layout.markdown(&folder)?)?;
    println!("{}", path.display());
    let failed = sections.iter().filter(|section| matches!(section.content, Content::Failed(_)));
    match failed.map(|section| section.name).collect::<Vec<_>>() {
        names if names.is_empty() => Ok(()),
        names => Err(format!("failed: {}", names.join(", ")).into()),
    }
}

impl Arguments {
    /// Returns the name of the folder of the page.
    fn form(&self) -> &'static str {
        if self.full { "full" } else { "quick" }
    }

    fn takes(&self, experiment: &Command) -> bool {
        let name = experiment.get_name();
        self.only.is_empty() || self.only.iter().any(|only| name.starts_with(only.as_str()))
    }

    /// Returns the words that call an experiment, unless it needs data sets that are not there.
    fn words(&self, experiment: &Command) -> Result<Option<Vec<String>>, Failure> {
        let name = experiment.get_name();
        let of = |options: &[(&str, &'static [&'static str])]| {
            let found = options.iter().find(|(other, _)| *other == name);
            found.map_or::<&[&str], _>(&[], |(_, options)| options)
        };
        let quick = if self.full { &[] } else { of(&QUICK) };
        let options = of(&ALWAYS).iter().chain(quick);
        let mut words = vec![name.to_owned()];
        words.extend(options.map(|word| (*word).to_owned()));
        match (experiment::needs_data(experiment), &self.data_dir) {
            (Some(_), Some(folder)) => {
                let folder = folder.to_str().ok_or("the folder of data sets is no text")?;
                words.extend(["--data-dir".to_owned(), folder.to_owned()]);
            }
            (Some(true), None) => return Ok(None),
            _ => {}
        }
        Ok(Some(words))
    }

    /// Returns what the page says of an experiment, which is run unless a file has it.
    fn section(&self, experiment: &Command, folder: &Path) -> Content {
        let content = match self.words(experiment) {
            Ok(Some(words)) => findings(experiment.get_name(), &words, folder),
            Ok(None) => return Content::LeftOut,
            Err(why) => Err(why),
        };
        content.map_or_else(Content::Failed, Content::Found)
    }

    /// Returns what was run, in words.
    fn origin(&self) -> String {
        let form = if self.full { "as many trials as were published" } else { "the quick form" };
        let data = if self.data_dir.is_some() { "with data sets" } else { "without data sets" };
        let (version, day) = (env!("CARGO_PKG_VERSION"), machine::today());
        format!("margins {version}, {form}, {data}, {day}, {}", machine::name())
    }

    /// Returns the parameters of an experiment in words.
    fn parameters(&self, experiment: &Command) -> Result<String, Failure> {
        let words = self.words(experiment)?;
        let call = words.map(|words| Call::parse(&words)).transpose()?;
        Ok(call.map_or(String::new(), |call| call.in_words()))
    }
}

/// Returns the title of a page of Markdown, if there is one.
fn title_of(page: &Path) -> Option<String> {
    let text = std::fs::read_to_string(page).ok()?;
    Some(text.lines().next()?.strip_prefix("# ")?.to_owned())
}

/// Returns the section of an experiment: that of a file if this program has made it by the same words,
/// and else what the experiment finds now.
fn findings(name: &str, words: &[String], folder: &Path) -> Result<String, Failure> {
    let origin = format!("{} {}", program()?, words.join(" "));
    let path = folder.join(format!("{name}.section.html"));
    let finished = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some((first, content)) = finished.split_once('\n')
        && first == origin
    {
        return Ok(content.to_owned());
    }
    let call = Call::parse(words)?;
    let start = Instant::now();
    let (document, _) = call.run(folder)?;
    let seconds = start.elapsed().as_secs_f64();
    let content = html! {
        pre { code { (call.line) } }
        p.origin {
            @if !call.parameters.is_empty() { (call.in_words()) ", " }
            (format!("{seconds:.1} s"))
        }
        (document.page())
    };
    let content = content.into_string();
    let text = format!("{origin}\n{content}");
    files::write(&path, &text)?;
    Ok(content)
}

/// Returns the version of this program and when it was built, which the findings may depend on.
fn program() -> Result<String, Failure> {
    let built = std::fs::metadata(std::env::current_exe()?)?.modified()?;
    let seconds = built.duration_since(UNIX_EPOCH)?.as_secs();
    Ok(format!("margins {}, built at {seconds}:", env!("CARGO_PKG_VERSION")))
}

#[cfg(test)]
mod tests {
    use super::layout::{LEFT_OUT, PAPERS};
    use super::*;
    use crate::book::anchor;

    fn arguments(out: &Path, full: bool) -> Arguments {
        let only = vec!["lhs-fig".to_owned(), "fol-deep".to_owned()];
        Arguments { out: out.to_owned(), data_dir: None, full, only }
    }

    #[test]
    fn every_experiment_has_a_paper_and_a_call_in_both_forms() {
        let all = experiment::command();
        let names: Vec<&str> = all.get_subcommands().map(Command::get_name).collect();
        for name in &names {
            let papers = PAPERS.iter().filter(|(paper, _)| name.starts_with(paper));
            assert_eq!(papers.count(), 1, "{name}");
        }
        for (name, _) in ALWAYS.iter().chain(&QUICK) {
            assert!(names.contains(name), "{name}");
        }
        for full in [false, true] {
            let data_dir = Some(PathBuf::from("data"));
            let arguments = Arguments { data_dir, ..arguments(Path::new("out"), full) };
            for experiment in all.get_subcommands() {
                let words = arguments.words(experiment).expect("words").expect("data sets");
                let call = Call::parse(&words).expect("a call");
                let expected = words.join(" ").replace("--data-dir data", "--data-dir DIR");
                assert!(call.line.starts_with(&format!("cargo xtask experiment {}", words[0])));
                for word in expected.split(' ') {
                    assert!(call.line.split(' ').any(|other| other == word), "{}", call.line);
                }
            }
        }
    }

    #[test]
    fn a_page_is_well_formed_and_what_is_finished_is_not_done_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let arguments = arguments(folder.path(), false);
        let made = || {
            run(&arguments).expect("a page");
            let page = std::fs::read_to_string(folder.path().join("quick/index.html"));
            page.expect("a page").replace("<!DOCTYPE html>", "")
        };
        let page = made();
        let document = roxmltree::Document::parse(&page).expect("well-formed");
        let with =
            |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count();
        assert_eq!((with("section"), with("svg")), (4, 6));
        assert!(page.contains(LEFT_OUT));
        let text = std::fs::read_to_string(folder.path().join("quick.md")).expect("Markdown");
        assert!(text.contains(&format!("The experiment is {LEFT_OUT}.")), "{text}");
        let title = "Figure 2: two kinds of separators";
        assert!(text.contains(&format!("  * [{title}](#{})\n", anchor(title))), "{text}");
        assert!(text.contains("\n\nThe parameters are: seed 1, draws 100.\n\n"), "{text}");
        let pictures = text.split("](").skip(1).filter_map(|link| link.split_once(')'));
        let pictures: Vec<&str> =
            pictures.map(|(link, _)| link).filter(|link| !link.starts_with('#')).collect();
        assert_eq!(pictures.len(), 3, "{text}");
        for link in pictures {
            assert!(folder.path().join(link).exists(), "{link}");
        }
        for link in document.descendants().filter_map(|node| node.attribute("href")) {
            let is_there = match link.strip_prefix('#') {
                Some(id) => document.descendants().any(|node| node.attribute("id") == Some(id)),
                None => folder.path().join("quick").join(link).exists(),
            };
            assert!(is_there, "{link}");
        }

        let file = folder.path().join("quick/lhs-fig2.section.html");
        let finished = std::fs::read_to_string(&file).expect("a section");
        std::fs::write(&file, format!("{finished}<p>of the first run</p>")).expect("a file");
        assert!(made().contains("<p>of the first run</p>"));
        std::fs::write(&file, format!("other {finished}<p>of the first run</p>")).expect("a file");
        assert!(!made().contains("<p>of the first run</p>"));
    }
}
