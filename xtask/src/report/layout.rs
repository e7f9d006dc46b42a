//! What all experiments have found, as a page and as Markdown.

use std::path::Path;

use margins_experiments::document::wrapped;
use margins_report::page;
use maud::{Markup, PreEscaped, html};

use crate::Failure;

use crate::book::anchor;

/// The papers: what the names of their experiments start with, and their titles.
pub(super) const PAPERS: [(&str, &str); 6] = [
    ("margin-pursuit", "Margin pursuit (Holland 2019)"),
    ("lhs", "The leaky hockey stick (Kwon and Zou 2023)"),
    ("massart", "Halfspaces under Massart noise (Diakonikolas and Zarifis 2024)"),
    ("robust", "Robust learners"),
    ("multi-class", "Several classes"),
    ("fol", "The maximal loss (Shalev-Shwartz and Wexler 2016)"),
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
pub(super) struct Section<'a> {
    pub(super) name: &'a str,
    /// The title of its page; without a page, what it is about.
    pub(super) heading: String,
    /// The parameters, including seeds; may be empty.
    pub(super) parameters: String,
    pub(super) content: Content,
}

/// What the page says of an experiment.
pub(super) enum Content {
    Found(String),
    /// It needs data sets, and there is no folder of them.
    LeftOut,
    Failed(Failure),
}

pub(super) const LEFT_OUT: &str = "left out: it needs data sets, and --data-dir is not given";

impl Content {
    /// Returns the reason for missing content, if it is missing.
    pub(super) fn fault(&self) -> Option<String> {
        match self {
            Content::Found(_) => None,
            Content::LeftOut => Some(LEFT_OUT.to_owned()),
            Content::Failed(why) => Some(format!("failed: {why}")),
        }
    }
}

/// The experiments of one run.
pub(super) struct Layout<'a> {
    /// What was run, in words.
    pub(super) origin: String,
    /// The name of the folder of the page.
    pub(super) form: &'static str,
    pub(super) sections: &'a [Section<'a>],
}

impl Layout<'_> {
    /// Returns the papers that have experiments, by their titles, with these.
    fn papers(&self) -> Vec<(&'static str, Vec<&Section<'_>>)> {
        let of = |paper: &str| {
            self.sections.iter().filter(|section| section.name.starts_with(paper)).collect()
        };
        let papers = PAPERS.iter().map(|(paper, title)| (*title, of(paper)));
        papers.filter(|(_, sections): &(_, Vec<_>)| !sections.is_empty()).collect()
    }

    /// Returns the page as Markdown, of what the experiments have written into the folder, with their
    /// pictures there.
    pub(super) fn markdown(&self, folder: &Path) -> Result<String, Failure> {
        let mut text = format!(
            "# All experiments in one run\n\n{}\n## Contents\n\n",
            wrapped(&format!("The results of all experiments in one run: {}.", self.origin))
        );
        for (title, sections) in self.papers() {
            text += &format!("* {title}\n");
            for Section { heading, .. } in sections {
                text += &format!("  * [{heading}](#{})\n", anchor(heading));
            }
        }
        for (title, sections) in self.papers() {
            text += &format!("\n## {title}\n");
            for section in sections {
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
        // The first line is the title of the page.
        let (_, found) = page.split_once("\n\n").unwrap_or(("", &page));
        let parameters = match section.parameters.as_str() {
            "" => String::new(),
            parameters => format!("The parameters are: {parameters}.\n\n"),
        };
        Ok(format!("{parameters}{}", beside(found, self.form)))
    }

    /// Returns the page.
    pub(super) fn page(&self) -> String {
        page::whole("Experiments of the papers", STYLE, &self.content())
    }

    fn content(&self) -> Markup {
        html! {
            header {
                h1 { "Experiments of the papers" }
                p.origin { (self.origin) }
                p {
                    "Where a table has a published value, the difference of ours to it is in standard errors \
                     of the difference, and coloured: "
                    span.near { "below 2" } ", " span.off { "below 4" } ", " span.far { "4 and more" } "."
                }
            }
            nav {
                h2 { "Contents" }
                @for (title, sections) in self.papers() {
                    p { (title) }
                    ul { @for section in sections { li {
                        a href={ "#" (section.name) } { (section.heading) }
                        @if let Some(fault) = section.content.fault() { ": " (fault) }
                    } } }
                }
            }
            @for (title, sections) in self.papers() {
                h2 { (title) }
                @for section in sections {
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
