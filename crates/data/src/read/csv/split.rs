//! Cells in quotes.

use std::borrow::Cow;

use crate::read::lines::Lines;
use crate::{Column, Error};

/// Returns the cells of a record in which quotes occur: a cell that starts with one ends with one,
/// and `""` within stands for one.
pub(super) fn split_quoted<'l>(
    lines: &Lines<'_>,
    line: &'l str,
) -> Result<Vec<Cow<'l, str>>, Error> {
    let refuse = |at: usize, reason: &str| {
        let column = Column::Character(line[..at].chars().count() + 1);
        Err(lines.malformed(column, reason.to_owned()))
    };
    let mut cells = Vec::new();
    let mut start = 0;
    loop {
        let rest = &line[start..];
        let end = if let Some(inner) = rest.strip_prefix('"') {
            let mut cell = String::new();
            let mut at = 0;
            loop {
                let Some(length) = inner[at..].find('"') else {
                    return refuse(start, "the quote that opens here is never closed");
                };
                cell.push_str(&inner[at..at + length]);
                at += length + 1;
                if !inner[at..].starts_with('"') {
                    break;
                }
                cell.push('"');
                at += 1;
            }
            let end = start + 1 + at;
            if !matches!(line.as_bytes().get(end), None | Some(b',')) {
                return refuse(
                    end,
                    "text follows a closing quote; write a quote within a cell twice",
                );
            }
            cells.push(Cow::Owned(cell));
            end
        } else {
            let end = start + rest.find(',').unwrap_or(rest.len());
            if let Some(quote) = line[start..end].find('"') {
                let reason = "a quote in the middle of a cell; put the whole cell in quotes";
                return refuse(start + quote, reason);
            }
            cells.push(Cow::Borrowed(&line[start..end]));
            end
        };
        if end == line.len() {
            return Ok(cells);
        }
        start = end + 1;
    }
}
