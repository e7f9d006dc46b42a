//! What a page of Markdown points to, and what others may point to in it.

use std::collections::BTreeSet;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::anchor;

/// A piece of a page with the line on which it stands.
#[derive(Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) line: usize,
    pub(super) text: String,
}

/// Links, headings and commands of a page.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// The destinations of links and pictures.
    pub(super) links: Vec<Piece>,
    /// The names by which a link finds a heading.
    pub(super) anchors: BTreeSet<String>,
    /// The lines of shell code, in blocks and within text.
    pub(super) commands: Vec<Piece>,
}

impl Page {
    pub(super) fn read(text: &str) -> Self {
        let mut page = Page::default();
        let mut heading: Option<String> = None;
        let mut code: Option<(Shell, String)> = None;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            let line = 1 + text[..range.start].matches('\n').count();
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(Piece { line, text: dest_url.into_string() });
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    page.add_anchor(&heading.take().unwrap_or_default());
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    code = Shell::of(&kind).map(|shell| (shell, String::new()));
                }
                Event::End(TagEnd::CodeBlock) => {
                    if let Some((shell, block)) = code.take() {
                        page.add_commands(line, shell, &block);
                    }
                }
                Event::Code(piece) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&piece);
                    }
                    page.commands.push(Piece { line, text: piece.into_string() });
                }
                Event::Text(piece) => {
                    let block = code.as_mut().map(|(_, block)| block).or(heading.as_mut());
                    if let Some(block) = block {
                        block.push_str(&piece);
                    }
                }
                _ => (),
            }
        }
        page
    }

    /// Adds the name that GitHub and mdBook give to a heading.
    fn add_anchor(&mut self, heading: &str) {
        let slug = anchor(heading);
        let repeated = (1..).map(|count| format!("{slug}-{count}"));
        let free = std::iter::once(slug.clone()).chain(repeated);
        self.anchors
            .extend(free.filter(|name| !self.anchors.contains(name)).take(1).collect::<Vec<_>>());
    }

    /// Adds the commands of a block, lines that a backslash continues as one.
    fn add_commands(&mut self, line: usize, shell: Shell, block: &str) {
        for text in block.replace("\\\n", " ").lines() {
            let command = match shell {
                Shell::Script => Some(text),
                Shell::Session => text.strip_prefix("$ ").or_else(|| text.strip_prefix("> ")),
            };
            if let Some(command) = command {
                self.commands.push(Piece { line, text: command.to_owned() });
            }
        }
    }
}

/// How a block shows commands.
#[derive(Clone, Copy)]
enum Shell {
    /// Nothing but commands.
    Script,
    /// Commands after `$`, and what they print.
    Session,
}

impl Shell {
    fn of(kind: &CodeBlockKind<'_>) -> Option<Self> {
        match kind {
            CodeBlockKind::Indented => Some(Shell::Script),
            CodeBlockKind::Fenced(language) => match &**language {
                "sh" => Some(Shell::Script),
                "console" => Some(Shell::Session),
                _ => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_the_names_that_sites_give_them() {
        let page = Page::read("# L_r, *the* `cv -h`\n## Same\n## Same\n");
        let names: Vec<&str> = page.anchors.iter().map(String::as_str).collect();
        assert_eq!(names, ["l_r-the-cv--h", "same", "same-1"]);
    }

    #[test]
    fn commands_of_scripts_and_sessions_are_told_from_output() {
        let text = "`in text`\n\n```sh\na \\\n  b\n```\n\n```console\n$ c\nprinted\n```\n\n```rust\nd\n```\n\n    e\n";
        let page = Page::read(text);
        let commands: Vec<String> = page
            .commands
            .iter()
            .map(|command| command.text.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(commands, ["in text", "a b", "c", "e"]);
        assert_eq!(page.commands[2].line, 8);
    }

    #[test]
    fn links_and_pictures_are_links() {
        let page = Page::read("[a](b.md)\n\n![c](d.svg)");
        let link = |line, text: &str| Piece { line, text: text.to_owned() };
        assert_eq!(page.links, [link(1, "b.md"), link(3, "d.svg")]);
    }
}
