//! HTML pages of reports: sentences, tables, and charts as SVG with their numbers in folded tables.

mod axis;
pub mod chart;
mod evaluations;
mod figures;
mod number;
mod tables;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::report::{Fact, Report};

const STYLE: &str = include_str!("page/style.css");

/// Returns one HTML page, which is well-formed XML too if its content is. It loads nothing, runs no
/// script, and is light or dark as the reader prefers. Rules of `style` follow those of all pages.
pub fn whole(title: &str, style: &str, content: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (PreEscaped("<meta charset=\"utf-8\"/>"))
                (PreEscaped("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"))
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(style)) }
            }
            body { main { (content) } }
        }
    };
    page.into_string()
}

impl Report {
    /// Returns the report as one HTML page that loads nothing and runs no script.
    pub fn page(&self) -> String {
        let content = html! { (self.head()) @for section in self.sections() { (section) } };
        whole(&self.title, "", &content)
    }

    fn head(&self) -> Markup {
        let origin = &self.origin;
        html! {
            header {
                h1 { (self.title) }
                @if !origin.command.is_empty() { pre { code { (unbroken(&origin.command)) } } }
                p.origin {
                    (origin.program)
                    @if let Some(seed) = origin.seed { ", seed " (seed) }
                    @if !origin.time.is_empty() { ", " time datetime=(origin.time) { (origin.time) } }
                    @if origin.seconds > 0.0 { ", " (number::duration(origin.seconds)) }
                }
            }
            @if !self.warnings.is_empty() {
                section.warnings {
                    h2 { "Warnings" }
                    ul { @for warning in &self.warnings { li { (unbroken(warning)) } } }
                }
            }
        }
    }

    fn sections(&self) -> Vec<Markup> {
        let mut sections = vec![section("What was fitted", &facts(&self.facts))];
        let mut add = |title: &str, parts: Vec<Markup>| {
            if !parts.is_empty() {
                sections.push(section(title, &html! { @for part in &parts { (part) } }));
            }
        };
        let raw_columns = self.data.iter().filter_map(tables::raw_columns);
        add("Data", self.data.iter().map(tables::data).chain(raw_columns).collect());
        add("Choice of lambda", self.selection.iter().flat_map(figures::selection).collect());
        add("Path", figures::path(self));
        add("Game", self.game.iter().flat_map(figures::game).collect());
        add("Certificates", tables::certificates(&self.certificates()).into_iter().collect());
        add("Decisions", self.evaluations.iter().map(tables::decisions).collect());
        add("Classes", self.evaluations.iter().filter_map(evaluations::classes).collect());
        let locations = tables::margin_locations(&self.evaluations);
        add(
            "Margins",
            evaluations::margins(&self.evaluations).into_iter().chain(locations).collect(),
        );
        add("Ranking", evaluations::ranking(&self.evaluations));
        add("Probabilities", evaluations::reliability(&self.evaluations));
        add("Coefficients", self.members.iter().map(tables::coefficients).collect());
        add("Hardest samples", self.evaluations.iter().map(tables::hardest).collect());
        let choice = self.candidates.as_ref();
        let picture = choice.and_then(figures::candidates);
        let table = choice.map(tables::candidates);
        add("Choice of the halfspace", picture.into_iter().chain(table).collect());
        add(
            "Suspected outliers",
            self.outliers.iter().map(|rows| tables::outliers(rows, &self.suspects)).collect(),
        );
        add("Excess risk", self.excess_risk.iter().map(figures::excess_risk).collect());
        sections
    }
}

fn section(title: &str, content: &Markup) -> Markup {
    html! { section { h2 { (title) } div.parts { (content) } } }
}

fn facts(facts: &[Fact]) -> Markup {
    html! {
        dl { @for fact in facts { dt { (fact.name) } dd { (unbroken(&typeset(&fact.value))) } } }
    }
}

/// Returns words with the signs that a terminal may lack, and a percentage on one line.
fn typeset(text: &str) -> String {
    text.replace(" +- ", "\u{a0}±\u{a0}").replace(" %", "\u{a0}%")
}

/// Returns words that no line breaks at a hyphen, such as `--loss` and `1e-6`.
fn unbroken(text: &str) -> Markup {
    html! {
        @for (k, word) in text.split(' ').enumerate() {
            @if k > 0 { " " }
            @if word.contains('-') { span.word { (word) } } @else { (word) }
        }
    }
}
