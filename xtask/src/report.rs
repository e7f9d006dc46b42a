//! All experiments on one page.
//!
//! Every finished experiment is a file of its own, whose first line says what made it, so that a run
//! that was killed goes on where it was, and only what has changed is done again.

use std::path::{Path, PathBuf};
use std::time::{Instant, UNIX_EPOCH};

use clap::{Args, Command};
use margins_report::page;
use maud::{Markup, PreEscaped, html};

use crate::document::anchor;
use crate::experiment::{self, Call};
use crate::{Failure, files, machine};

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

/// The papers: what the names of their experiments start with, and their titles.
const PAPERS: [(&str, &str); 5] = [
    ("margin-pursuit", "Margin pursuit (Holland 2019)"),
    ("lhs", "The leaky hockey stick (Kwon and Zou 2023)"),
    ("massart", "Halfspaces under Massart noise (Diakonikolas and Zarifis 2024)"),
    ("robust", "Robust learners"),
    ("fol", "The maximal loss (Shalev-Shwartz and Wexler 2016)"),
];

/// The options of experiments in both forms.
const ALWAYS: [(&str, &[&str]); 2] =
    [("margin-pursuit-fig4", &["--stand-in"]), ("margin-pursuit-fig5", &["--stand-in"])];

/// The options of experiments in their quick form alone.
const QUICK: [(&str, &[&str]); 18] = [
    ("margin-pursuit-fig3", &["--trials", "2"]),
    ("margin-pursuit-fig4", &["--trials", "2"]),
    ("margin-pursuit-fig5", &["--trials", "2"]),
    ("lhs-table1", &["--trials", "3"]),
    ("lhs-table2", &["--trials", "2"]),
    ("lhs-timing", &["--repetitions", "1"]),
    ("massart-sample-complexity", &["--instances", "2"]),
    ("massart-adversaries", &["--instances", "2", "--compared", "2"]),
    ("massart-cuts", &["--instances", "2"]),
    ("massart-selection", &["--steps", "1000,4000"]),
    ("massart-surrogates", &["--draws", "200", "--changes", "300"]),
    ("massart-real-data", &["--rows", "1000", "--trials", "2"]),
    ("robust-outliers", &["--trials", "2"]),
    ("fol-gap", &["--trials", "3"]),
    ("fol-separable", &["--trials", "1"]),
    ("fol-rare", &["--trials", "3"]),
    ("fol-outliers", &["--trials", "2"]),
    ("fol-deep", &["--trials", "1"]),
];

/// What a page has beside the style of all pages.
const STYLE: &str = "
:root { --near: #d6f0e2; --off: #fbeac2; --far: #f9d3cb }
@media (prefers-color-scheme: dark) { :root { --near: #153d2e; --off: #4a3a10; --far: #55231a } }
.near { background: var(--near) } .off { background: var(--off) } .far { background: var(--far) }
h3 { font-size: 1.05rem; margin: 2rem 0 .4rem }
section table { width: auto }
section > .scroll { max-height: 32rem; overflow: auto; margin: .8rem 0 }
section th, section td { white-space: nowrap }
section td.text { white-space: normal; min-width: 8rem; max-width: 30rem }
@media print { section > .scroll { max-height: none } }
";

/// An experiment on the page.
struct Section<'a> {
    name: &'a str,
    /// The name and what it is about.
    heading: String,
    /// The parameters, seeds among them; empty if there are none.
    parameters: String,
    content: Content,
}

/// What the page says of an experiment.
enum Content {
    Found(String),
    /// It needs data sets, and there is no folder of them.
    LeftOut,
    Failed(Failure),
}

const LEFT_OUT: &str = "left out: it needs data sets, and no --data-dir is told";

impl Content {
    /// Returns why there is none, if so.
    fn fault(&self) -> Option<String> {
        match self {
            Content::Found(_) => None,
            Content::LeftOut => Some(LEFT_OUT.to_owned()),
            Content::Failed(why) => Some(format!("failed: {why}")),
        }
    }
}

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
        let title = experiment.get_about().map(ToString::to_string).unwrap_or_default();
        let parameters = arguments.parameters(experiment)?;
        sections.push(Section { name, heading: format!("{name}: {title}"), parameters, content });
    }
    let path = folder.join("index.html");
    let page = page::whole("Experiments of the papers", STYLE, &arguments.content(&sections));
    files::write(&path, &page)?;
    files::write(&folder.with_extension("md"), &arguments.markdown(&sections, &folder)?)?;
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

    /// Returns the page as Markdown, of what the experiments have written into the folder, with their
    /// pictures there.
    fn markdown(&self, sections: &[Section<'_>], folder: &Path) -> Result<String, Failure> {
        let mut text = format!(
            "# Experiments of one run\n\nAfter this page you know what one run of all experiments finds: {}.\n\n\
             ## Contents\n\n",
            self.origin()
        );
        let of_paper = |paper: &'static str| {
            sections.iter().filter(move |section| section.name.starts_with(paper))
        };
        let papers = || PAPERS.iter().filter(|(paper, _)| of_paper(paper).next().is_some());
        for (paper, title) in papers() {
            text += &format!("* {title}\n");
            for Section { heading, .. } in of_paper(paper) {
                text += &format!("  * [{heading}](#{})\n", anchor(heading));
            }
        }
        for (paper, title) in papers() {
            text += &format!("\n## {title}\n");
            for section in of_paper(paper) {
                text +=
                    &format!("\n### {}\n\n{}", section.heading, self.findings(section, folder)?);
            }
        }
        Ok(text)
    }

    /// Returns what an experiment finds, as Markdown.
    fn findings(&self, section: &Section<'_>, folder: &Path) -> Result<String, Failure> {
        if let Some(fault) = section.content.fault() {
            return Ok(format!("The experiment is {fault}.\n"));
        }
        let page = std::fs::read_to_string(folder.join(format!("{}.md", section.name)))?;
        // What follows the heading and the aim is the command line and the findings.
        let (_, found) = page.split_once("\n\n    ").unwrap_or(("", &page));
        let (call, found) = found.split_once('\n').unwrap_or((found, ""));
        let parameters = match section.parameters.as_str() {
            "" => String::new(),
            parameters => format!("\nThe parameters are: {parameters}.\n"),
        };
        Ok(format!("    {call}\n{parameters}{}", beside(found, self.form())))
    }

    /// Returns the content of the page.
    fn content(&self, sections: &[Section<'_>]) -> Markup {
        let of_paper = |paper: &'static str| {
            sections.iter().filter(move |section| section.name.starts_with(paper))
        };
        let papers = || PAPERS.iter().filter(|(paper, _)| of_paper(paper).next().is_some());
        html! {
            header {
                h1 { "Experiments of the papers" }
                p.origin { (self.origin()) }
                p {
                    "Where a table has a published value, the difference of ours to it is in standard errors \
                     of the difference, and coloured: "
                    span.near { "below 2" } ", " span.off { "below 4" } ", " span.far { "4 and more" } "."
                }
            }
            nav {
                h2 { "Contents" }
                @for (paper, title) in papers() {
                    p { (title) }
                    ul { @for section in of_paper(paper) { li {
                        a href={ "#" (section.name) } { (section.heading) }
                        @if let Some(fault) = section.content.fault() { ": " (fault) }
                    } } }
                }
            }
            @for (paper, title) in papers() {
                h2 { (title) }
                @for section in of_paper(paper) {
                    section id=(section.name) {
                        h3 { (section.heading) }
                        @match &section.content {
                            Content::Found(content) => (PreEscaped(content)),
                            _ => p { (section.content.fault().unwrap_or_default()) "." },
                        }
                    }
                }
            }
        }
    }
}

/// Returns Markdown whose links to files beside it lead to those files in a folder.
fn beside(text: &str, folder: &str) -> String {
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, link| match link.starts_with("../") || link.starts_with("http") {
        true => format!("{text}]({link}"),
        false => format!("{text}]({folder}/{link}"),
    })
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
    let document = call.run(folder)?;
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
    use super::*;

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
        let all = experiment::command();
        let fig2 = all.find_subcommand("lhs-fig2").and_then(|c| c.get_about()).expect("a title");
        let link = format!("  * [lhs-fig2: {fig2}](#lhs-fig2-{})\n", anchor(&fig2.to_string()));
        assert!(text.contains(&link), "{text}");
        assert!(text.contains("\n\nThe parameters are: seed 1.\n\n"), "{text}");
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
