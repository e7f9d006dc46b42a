//! What an experiment finds, as data: a finding, paragraphs, tables and figures. They become files in
//! a folder, and a section of a page.

use std::path::Path;

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{Event, Parser, Tag, TagEnd, html::push_html};

use crate::figure::Figure;
use crate::{Failure, files, machine};

/// The findings of one experiment.
pub struct Document {
    /// The name of the experiment and of its files.
    pub name: String,
    title: String,
    /// What its tables and figures show, in sentences that are computed from the same numbers.
    pub finding: String,
    parts: Vec<Part>,
    /// Files of numbers, each a name and its content.
    numbers: Vec<(String, String)>,
}

enum Part {
    /// A paragraph of Markdown.
    Text(String),
    Table(Table),
    Figure(Figure),
}

/// A table. Columns of numbers are aligned to the right.
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
pub struct Cell {
    text: String,
    /// How far from what was published, in standard errors of the difference.
    difference: Option<f64>,
}

impl Cell {
    /// Returns the cell of a difference to what was published, in standard errors; of NaN a dash.
    pub fn difference(difference: f64) -> Self {
        if difference.is_nan() {
            return "-".into();
        }
        Cell { text: format!("{difference:+.1}"), difference: Some(difference) }
    }

    fn is_number(&self) -> bool {
        self.text.starts_with(|first: char| first.is_ascii_digit() || "+-".contains(first))
    }

    /// Returns the class that colours the cell on a page.
    fn class(&self) -> Option<&'static str> {
        self.difference.map(|difference| match difference.abs() {
            ..2.0 => "near",
            ..4.0 => "off",
            _ => "far",
        })
    }
}

impl<T: std::fmt::Display> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell { text: text.to_string(), difference: None }
    }
}

impl Table {
    /// Returns a table without rows.
    pub fn new(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Table { header: header.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = impl Into<Cell>>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }

    /// Returns true for every column of numbers, of which some may be left out.
    fn numeric(&self) -> Vec<bool> {
        let column = |k: usize| self.rows.iter().filter_map(move |row: &Vec<Cell>| row.get(k));
        let is_text = |cell: &Cell| cell.text.starts_with(char::is_alphabetic);
        let is_numeric = |k: usize| column(k).any(Cell::is_number) && !column(k).any(is_text);
        (0..self.header.len()).map(is_numeric).collect()
    }

    fn markdown(&self) -> String {
        let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        let rule = |is_number: bool| if is_number { "--:" } else { "---" };
        let mut text = line(self.header.iter().map(String::as_str).collect());
        text += &line(self.numeric().into_iter().map(rule).collect());
        for row in &self.rows {
            text += &line(row.iter().map(|cell| cell.text.as_str()).collect());
        }
        text
    }

    fn csv(&self) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let mut text = self.header.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",");
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|cell| quoted(&cell.text)).collect();
            text += &format!("\n{}", cells.join(","));
        }
        text + "\n"
    }

    fn page(&self) -> Markup {
        let numeric = self.numeric();
        let of_column = |k: usize| if numeric[k] { "number" } else { "" };
        html! {
            div.scroll { table {
                thead { tr { @for (k, name) in self.header.iter().enumerate() {
                    th scope="col" class=(of_column(k)) { (name) }
                } } }
                tbody { @for row in &self.rows { tr {
                    @for (k, cell) in row.iter().enumerate() {
                        td class={ (of_column(k)) " " (cell.class().unwrap_or_default()) } { (cell.text) }
                    }
                } } }
            } }
        }
    }
}

impl Document {
    /// Returns a document that has only a finding, which may be Markdown.
    pub fn new(
        name: impl Into<String>,
        title: impl Into<String>,
        finding: impl Into<String>,
    ) -> Self {
        let (name, title, finding) = (name.into(), title.into(), finding.into());
        Document { name, title, finding, parts: Vec::new(), numbers: Vec::new() }
    }

    /// Returns the document of a figure and its finding, with the name of the figure.
    pub fn of((figure, finding): (Figure, String), title: impl Into<String>) -> Self {
        Document::new(figure.name.clone(), title, finding).figure(figure)
    }

    /// Adds a paragraph of Markdown.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Part::Text(text.into()));
        self
    }

    /// Adds a table.
    pub fn table(mut self, table: Table) -> Self {
        self.parts.push(Part::Table(table));
        self
    }

    /// Adds a figure.
    pub fn figure(mut self, figure: Figure) -> Self {
        self.parts.push(Part::Figure(figure));
        self
    }

    /// Adds a file `NAME.csv` of numbers with all their digits.
    pub fn csv(mut self, name: &str, text: String) -> Self {
        self.numbers.push((format!("{name}.csv"), text));
        self
    }

    /// Returns the files of numbers. Tables are among them as they are if the experiment has no
    /// file of its own.
    fn numbers(&self) -> Vec<(String, String)> {
        let mut files = self.numbers.clone();
        let mut tables = 0;
        for part in &self.parts {
            match part {
                Part::Figure(figure) => files.push((format!("{}.csv", figure.name), figure.csv())),
                Part::Table(table) if self.numbers.is_empty() => {
                    tables += 1;
                    files.push((format!("{}-table{tables}.csv", self.name), table.csv()));
                }
                _ => {}
            }
        }
        files
    }

    /// Returns the figures, which stand between the finding and the numbers.
    fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.parts.iter().filter_map(|part| match part {
            Part::Figure(figure) => Some(figure),
            _ => None,
        })
    }

    /// Returns the document as a page of Markdown, with the command line that makes it.
    pub fn markdown(&self, command: &str) -> String {
        let mut text = format!("# {}\n\n{}", self.title, wrapped(&self.finding));
        for Figure { name, .. } in self.figures() {
            text += &format!("\n![{name}]({name}.svg)\n");
        }
        let day = machine::today();
        text += &format!("\n```sh\n{command}\n```\n\nThe page shows the run of {day}.\n");
        for part in &self.parts {
            match part {
                Part::Text(paragraph) => text += &format!("\n{}", wrapped(paragraph)),
                Part::Table(table) => text += &format!("\n{}", table.markdown()),
                Part::Figure(_) => {}
            }
        }
        text
    }

    /// Writes the document into a folder, which is created if it is missing: the page of
    /// [`markdown`](Self::markdown), pictures and numbers. Returns the names of the files.
    ///
    /// # Errors
    /// The error of the system, with the name of the file or folder.
    pub fn write(&self, folder: &Path, command: &str) -> Result<Vec<String>, Failure> {
        files::make_folder(folder)?;
        let mut files = vec![(format!("{}.md", self.name), self.markdown(command))];
        for figure in self.figures() {
            files.push((format!("{}.svg", figure.name), figure.svg()));
        }
        files.extend(self.numbers());
        let write = |(name, text): (String, String)| {
            files::write(&folder.join(&name), &text)?;
            Ok(name)
        };
        files.into_iter().map(write).collect()
    }

    /// Returns the content of the document for a page, with links to its numbers beside the page.
    pub fn page(&self) -> Markup {
        let files: Vec<String> = self.numbers().into_iter().map(|(name, _)| name).collect();
        html! {
            (formatted(&self.finding))
            @for figure in self.figures() {
                div.parts { @for chart in figure.charts() { (chart.figure()) } }
            }
            @for part in &self.parts {
                @match part {
                    Part::Text(text) => (formatted(text)),
                    Part::Table(table) => (table.page()),
                    Part::Figure(_) => {},
                }
            }
            p.origin {
                "Numbers: "
                @for (k, file) in files.iter().enumerate() {
                    @if k > 0 { ", " }
                    a href=(file) { (file) }
                }
            }
        }
    }
}

/// The most characters of a line of Markdown.
const WIDTH: usize = 100;

/// Returns Markdown in lines of at most 100 characters, where its words allow it. Lines that begin with
/// a star are items of a list.
pub fn wrapped(text: &str) -> String {
    // At the beginning of a line these would begin a list, so that they stay with the word before.
    let is_marker = |word: &str| {
        ["-", "+", "*", "#", ">"].contains(&word)
            || word.strip_suffix('.').is_some_and(|n| n.parse::<u32>().is_ok())
    };
    let mut all = String::new();
    for line in text.lines() {
        let mut words: Vec<String> = Vec::new();
        for word in line.split(' ') {
            match words.last_mut() {
                Some(last) if is_marker(word) => *last += &format!(" {word}"),
                _ => words.push(word.to_owned()),
            }
        }
        let indent = if line.starts_with("* ") { "  " } else { "" };
        let mut length = 0;
        for (k, word) in words.iter().enumerate() {
            let size = word.chars().count();
            let separator = match k {
                0 => String::new(),
                _ if length + 1 + size > WIDTH => format!("\n{indent}"),
                _ => " ".to_owned(),
            };
            length =
                if separator.starts_with('\n') { indent.len() } else { length + separator.len() };
            length += size;
            all += &format!("{separator}{word}");
        }
        all.push('\n');
    }
    all
}

/// Returns Markdown as HTML. Of links to pages of the book, which are not beside the page, the words stay.
fn formatted(text: &str) -> Markup {
    let mut leads_out = false;
    let events = Parser::new(text).filter(|event| match event {
        Event::Start(Tag::Link { dest_url, .. }) => {
            leads_out = dest_url.starts_with("../");
            !leads_out
        }
        Event::End(TagEnd::Link) => !std::mem::take(&mut leads_out),
        _ => true,
    });
    let mut page = String::new();
    push_html(&mut page, events);
    PreEscaped(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_before_words_that_begin_no_list() {
        let words = ["word"; 19].join(" ");
        let text = format!("{words} more - less\n\n* {words} more");
        let expected = format!("{words}\nmore - less\n\n* {words}\n  more\n");
        assert_eq!(wrapped(&text), expected);
    }

    #[test]
    fn links_into_the_book_are_words_on_a_page() {
        let text = "See [errata](../errata.md) and [numbers](a.csv).";
        let page = "<p>See errata and <a href=\"a.csv\">numbers</a>.</p>\n";
        assert_eq!(formatted(text).into_string(), page);
    }
}
