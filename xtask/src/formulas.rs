//! The formulas of the book: blocks of LaTeX marked `math`, which GitHub renders by itself. mdBook
//! calls [`run`] as a preprocessor, so that its site shows them as MathML, without scripts or fonts.

use std::io;

use clap::{Args, Subcommand};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::{ParserError, Storage, push_mathml};
use serde_json::Value;

use crate::{Failure, Outcome};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    question: Option<Question>,
}

#[derive(Subcommand)]
enum Question {
    /// Succeed if the output of a renderer of mdBook shows MathML
    Supports { renderer: String },
}

/// Reads a book from standard input and writes it, with MathML, to standard output, as mdBook asks
/// of a preprocessor.
pub(crate) fn run(arguments: &Arguments) -> Outcome {
    match &arguments.question {
        None => {
            let (_context, mut book): (Value, Value) = serde_json::from_reader(io::stdin().lock())?;
            render_chapters(&mut book)?;
            Ok(serde_json::to_writer(io::stdout().lock(), &book)?)
        }
        Some(Question::Supports { renderer }) if renderer == "html" => Ok(()),
        Some(Question::Supports { renderer }) => {
            Err(format!("{renderer} shows no MathML: use the renderer html").into())
        }
    }
}

/// Renders the formulas of the chapters within a part of mdBook's document.
fn render_chapters(part: &mut Value) -> Outcome {
    match part {
        Value::Array(parts) => parts.iter_mut().try_for_each(render_chapters),
        Value::Object(fields) => {
            let page = fields.get("source_path").and_then(Value::as_str).map(str::to_owned);
            if let (Some(page), Some(Value::String(text))) = (page, fields.get_mut("content")) {
                *text = render(&page, text).map_err(|faults| Failure::from(faults.join("\n")))?;
            }
            fields.values_mut().try_for_each(render_chapters)
        }
        _ => Ok(()),
    }
}

/// Returns a page with MathML instead of its blocks of LaTeX.
///
/// # Errors
/// The formulas that are not valid LaTeX, each with page and line.
pub(crate) fn render(page: &str, text: &str) -> Result<String, Vec<String>> {
    let mut rendered = String::new();
    let mut faults = Vec::new();
    let mut copied = 0;
    let mut formula: Option<String> = None;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(kind))) if &*kind == "math" => {
                formula = Some(String::new());
            }
            Event::Text(piece) => {
                if let Some(formula) = &mut formula {
                    formula.push_str(&piece);
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                let Some(formula) = formula.take() else { continue };
                match mathml(&formula) {
                    // A `div` starts a block of HTML, which the blank line ends.
                    Ok(mathml) => {
                        rendered.push_str(&text[copied..range.start]);
                        rendered += &format!("<div class=\"formula\">{mathml}</div>\n\n");
                        copied = range.end;
                    }
                    Err(reason) => {
                        let line = 1 + text[..range.start].matches('\n').count();
                        faults.push(format!("{page}:{line}: formula: {reason}"));
                    }
                }
            }
            _ => (),
        }
    }
    rendered.push_str(&text[copied..]);
    if faults.is_empty() { Ok(rendered) } else { Err(faults) }
}

/// Returns a formula in LaTeX as a `math` element on one line.
fn mathml(latex: &str) -> Result<String, Failure> {
    let storage = Storage::new();
    let parsed = pulldown_latex::Parser::new(latex, &storage);
    let events: Vec<_> =
        parsed.collect::<Result<_, _>>().map_err(|error| Failure::from(error.to_string()))?;
    let config = RenderConfig { display_mode: DisplayMode::Block, ..RenderConfig::default() };
    let mut mathml = String::new();
    push_mathml(&mut mathml, events.into_iter().map(Ok::<_, ParserError>), config)?;
    // The crate writes `<` as it is, and the sign of micro, which has no italics, for mu.
    Ok(mathml.replace("><<", ">&lt;<").replace('\u{b5}', "\u{3bc}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_mathml() {
        let text = "* one\n\n  ```math\n  \\frac{1}{n}\n  < \\mu\n  ```\n  `two`\n";
        let inner = serde_json::json!({"source_path": "b.md", "content": "```math\nx\n```\n"});
        let mut book = serde_json::json!({"items": [{"Chapter": {
            "source_path": "a.md", "content": text, "sub_items": [{"Chapter": inner}],
        }}]});
        render_chapters(&mut book).unwrap();
        let outer = &book["items"][0]["Chapter"];
        assert_eq!(
            outer["content"],
            "* one\n\n  <div class=\"formula\"><math display=\"block\"><mfrac><mrow><mn>1</mn></mrow>\
             <mrow><mi>n</mi></mrow></mfrac><mo>&lt;</mo><mi>\u{3bc}</mi></math></div>\n\n\n  `two`\n"
        );
        let inner = outer["sub_items"][0]["Chapter"]["content"].as_str().unwrap();
        assert!(inner.contains("<math display=\"block\"><mi>x</mi></math>"), "{inner}");
    }

    #[test]
    fn wrong_formulas_are_named_by_page_and_line() {
        let text = "```math\nx^2\n```\n\n```math\n\\farc{1}{n}\n```\n\n```math\n\\left( x\n```\n";
        let faults = render("a.md", text).unwrap_err();
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].starts_with("a.md:5: formula: "), "{}", faults[0]);
        assert!(faults[0].contains("farc"), "{}", faults[0]);
        assert!(faults[1].starts_with("a.md:9: formula: "), "{}", faults[1]);
    }
}
