//! CSV. Splitting is done here rather than by the `csv` crate because that counts lines wrongly
//! after blank lines and CR LF, and mends stray quotes silently; a message with the wrong line is
//! worse than none.

mod part;
mod split;

use memchr::memchr;

use super::ReadOptions;
use super::blocks::in_blocks;
use super::cells::{RawStart, weight};
use super::header::{Role, check_feature_count, check_names, roles};
use super::label_gaps::{LabelGaps, no_label};
use super::labels::PlacedLabels;
use super::lines::{Block, Lines};
use super::table::{Buffer, LabelSink, Purpose, Table, without_room};
use crate::error::{columns_in_words, quoted};
use crate::{Column, Counted, Error};
use part::{Gathered, Part};
use split::split_quoted;

pub(super) fn read(
    lines: Lines<'_>,
    options: &ReadOptions,
    purpose: Purpose,
    labels: &mut LabelSink<'_>,
) -> Result<Table, Error> {
    let mut rows = Rows::open(lines, options, purpose)?;
    rows.all(labels)?.ok_or_else(|| rows.none())
}

/// The rows below a header, some at a time.
pub(super) struct Rows<'a> {
    lines: Lines<'a>,
    layout: Layout,
    /// The number of rows that were left out.
    dropped: usize,
}

/// The roles of the cells below a header.
struct Layout {
    header: Vec<String>,
    roles: Vec<Role>,
    feature_names: Vec<String>,
    /// What raw tables begin with, where words and missing values are taken.
    raw: Option<RawStart>,
    gaps: LabelGaps,
}

impl<'a> Rows<'a> {
    pub(super) fn open(
        mut lines: Lines<'a>,
        options: &ReadOptions,
        purpose: Purpose,
    ) -> Result<Self, Error> {
        let header = next_header(&mut lines, options.features.drop_unnamed())?;
        let wrong = |reason| lines.malformed_line(reason);
        let roles = roles(lines.name(), &header, options, purpose, &wrong)?;
        let feature_names: Vec<String> = header
            .iter()
            .zip(&roles)
            .filter(|&(_, &role)| role == Role::Feature)
            .map(|(name, _)| name.clone())
            .collect();
        check_feature_count(feature_names.len(), options, &wrong)?;
        let raw = RawStart::new(&feature_names, &options.features);
        let gaps = LabelGaps::new(options, purpose);
        let layout = Layout { header, roles, feature_names, raw, gaps };
        Ok(Rows { lines, layout, dropped: 0 })
    }

    pub(super) fn dropped(&self) -> usize {
        self.dropped
    }

    pub(super) fn feature_names(&self) -> &[String] {
        &self.layout.feature_names
    }

    /// Reads the next rows, as many as the buffer takes; `None` after the last.
    pub(super) fn next(
        &mut self,
        buffer: Buffer,
        labels: &mut LabelSink<'_>,
    ) -> Result<Option<Table>, Error> {
        let part = self.layout.parse(&mut self.lines, buffer);
        self.dropped += part.dropped.len();
        part.table(&self.layout, labels)
    }

    /// Reads all rows, in blocks; returns `None` for a file without rows.
    fn all(&mut self, labels: &mut LabelSink<'_>) -> Result<Option<Table>, Error> {
        let Rows { lines, layout, dropped } = self;
        let (layout, name) = (&*layout, lines.name().to_owned());
        let mut gathered = Gathered::new(layout);
        lines.take_large_blocks();
        in_blocks(
            || next_block(lines, &layout.header),
            |block| layout.parse_block(block),
            |part| gathered.take(part, labels).map_err(|error| without_room(&name, error)),
        )?;
        *dropped = gathered.dropped.len();
        gathered.finish()
    }

    /// Calls `turn` for the table of every block of rows with its labels, several at the same time,
    /// and `take` for the results in order. The number of rows left out is returned.
    pub(super) fn each_block<T: Send, E: From<Error>>(
        mut self,
        turn: impl Fn(Table, PlacedLabels) -> T + Sync,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<usize, E> {
        let Rows { lines, layout, dropped: all_dropped } = &mut self;
        let layout = &*layout;
        let mut is_empty = true;
        in_blocks(
            || next_block(lines, &layout.header),
            |block| {
                let mut part = layout.parse_block(block);
                let dropped = part.dropped.len();
                let labels = part.take_labels(layout)?;
                let table = part.table(layout, &mut |_, _| Ok(()))?;
                Ok((dropped, table.map(|table| turn(table, labels))))
            },
            |result: Result<(usize, Option<T>), Error>| {
                let (dropped, result) = result?;
                *all_dropped += dropped;
                let Some(result) = result else { return Ok(()) };
                is_empty = false;
                take(result)
            },
        )?;
        if is_empty { Err(self.none().into()) } else { Ok(self.dropped) }
    }

    fn none(&self) -> Error {
        self.lines.wrong(match self.dropped {
            0 => "there is a header, but no row below it".to_owned(),
            rows => no_label(rows),
        })
    }
}

impl Layout {
    /// Returns the name of the column of a role, if there is one.
    fn name_of(&self, role: Role) -> Option<&str> {
        let column = self.roles.iter().position(|&other| other == role)?;
        Some(&self.header[column])
    }

    /// Parses the rows of a block, up to the first fault.
    fn parse_block(&self, block: Block) -> Part<'_> {
        let mut part = Part::new(self);
        let rows = block.most_rows(self.header.len());
        part.reserve(rows, self.feature_names.len());
        self.parse_into(part, &mut Lines::of(block), Buffer::UNLIMITED)
    }

    /// Parses the next rows, as many as the buffer takes, up to the first fault.
    fn parse(&self, lines: &mut Lines<'_>, buffer: Buffer) -> Part<'_> {
        self.parse_into(Part::new(self), lines, buffer)
    }

    fn parse_into<'m>(
        &self,
        mut part: Part<'m>,
        lines: &mut Lines<'_>,
        buffer: Buffer,
    ) -> Part<'m> {
        while buffer.has_room(part.rows, part.cells.len()) {
            let parsed = match next_row(lines, &self.header) {
                Ok(true) => self.parse_row(lines, &mut part),
                Ok(false) => break,
                Err(fault) => Err(fault),
            };
            if let Err(fault) = parsed {
                part.fault = Some(fault);
                break;
            }
        }
        part
    }

    fn parse_row(&self, lines: &Lines<'_>, part: &mut Part<'_>) -> Result<(), Error> {
        let line = lines.text()?;
        let columns = self.header.len();
        let mut feature = 0;
        if lines.may_have_quotes() && memchr(b'"', line.as_bytes()).is_some() {
            let cells = split_quoted(lines, line)?;
            check_cell_count(lines, cells.len(), columns)?;
            if self.drops(|label| Some(cells[label].as_ref())) {
                part.drop_row();
                return Ok(());
            }
            part.places.push(lines);
            for (column, cell) in cells.iter().enumerate() {
                self.take(lines, part, (column, &mut feature), cell)?;
            }
        } else {
            let commas = line.bytes().filter(|&byte| byte == b',').count();
            check_cell_count(lines, commas + 1, columns)?;
            if self.drops(|label| line.split(',').nth(label)) {
                part.drop_row();
                return Ok(());
            }
            part.places.push(lines);
            let mut rest = line;
            for column in 0..columns {
                let is_feature = self.roles[column] == Role::Feature;
                let taken = if is_feature {
                    part.cells.push_leading(feature, rest.as_bytes())
                } else {
                    None
                };
                let length = if let Some(length) = taken {
                    feature += 1;
                    length
                } else {
                    // Cells are short, so that a loop over bytes is faster than a search.
                    let length = rest.bytes().position(|byte| byte == b',').unwrap_or(rest.len());
                    self.take(lines, part, (column, &mut feature), &rest[..length])?;
                    length
                };
                rest = rest.get(length + 1..).unwrap_or_default();
            }
        }
        part.cells.end_row();
        part.rows += 1;
        Ok(())
    }

    /// Returns true if a row is left out because of the cell of its label, which a function finds.
    fn drops<'l>(&self, cell: impl FnOnce(usize) -> Option<&'l str>) -> bool {
        let label = || self.roles.iter().position(|&role| role == Role::Label).and_then(cell);
        self.gaps.may_drop() && label().is_some_and(|cell| self.gaps.contain(trimmed(cell)))
    }

    /// Takes in the cell of a column, which may be that of the next feature.
    fn take(
        &self,
        lines: &Lines<'_>,
        part: &mut Part<'_>,
        (column, feature): (usize, &mut usize),
        cell: &str,
    ) -> Result<(), Error> {
        let (cell, name) = (trimmed(cell), &self.header[column]);
        match self.roles[column] {
            Role::Feature => {
                part.cells.push(lines, *feature, name, cell)?;
                *feature += 1;
            }
            Role::Weight => {
                let placed = |reason| lines.malformed(Column::Name(name.clone()), reason);
                part.weights.push(weight(cell).map_err(placed)?);
            }
            Role::Label => match self.gaps.refusal(cell) {
                Some(reason) => return Err(lines.malformed(Column::Name(name.clone()), reason)),
                None => part.labels.push(Some(cell)),
            },
            Role::Fold if cell.is_empty() => return Err(empty_cell(lines, name)),
            Role::Fold => part.folds.push(Some(cell)),
            Role::Dropped => {}
        }
        Ok(())
    }
}

/// Returns a cell without the blanks around it; most cells have no blanks.
#[inline]
fn trimmed(cell: &str) -> &str {
    let is_plain = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    let bytes = cell.as_bytes();
    if is_plain(bytes.first()) && is_plain(bytes.last()) { cell } else { cell.trim() }
}

/// Advances to the header and returns its names, of which one may be empty if such a column is dropped.
/// A line above that names the separator to spreadsheets is skipped.
fn next_header(lines: &mut Lines<'_>, drops_unnamed: bool) -> Result<Vec<String>, Error> {
    let mut more = next_record(lines)?;
    if more && let Some(separator) = separator(lines.text()?) {
        if separator != "," {
            let separator = quoted(separator);
            let reason = format!(
                "cells are separated by {separator} (sep=): write the file with commas between them"
            );
            return Err(lines.malformed_line(reason));
        }
        more = next_record(lines)?;
    }
    if !more {
        return Err(lines.wrong("the file is empty".to_owned()));
    }
    header(lines, drops_unnamed)
}

/// Returns the separator that a line names, as in `sep=,`, with or without quotes around it.
fn separator(line: &str) -> Option<&str> {
    let line = line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).unwrap_or(line);
    let start = line.get(..4)?;
    let separator = &line[4..];
    (start.eq_ignore_ascii_case("sep=") && separator.chars().count() == 1).then_some(separator)
}

/// Returns the column names: not empty unless such a column is left out, and distinct.
fn header(lines: &Lines<'_>, drops_unnamed: bool) -> Result<Vec<String>, Error> {
    let line = lines.text()?;
    if !line.contains('"') {
        lines.check_returns()?;
    }
    let names: Vec<String> =
        split_quoted(lines, line)?.iter().map(|name| name.trim().to_owned()).collect();
    check_names(&names, drops_unnamed, &|reason| lines.malformed_line(reason))?;
    // Column numbers are names too, but fractions and signs are data.
    let is_data = |name: &String| name.parse::<f64>().is_ok();
    let is_column_number = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    if names.iter().all(is_data) && !names.iter().all(is_column_number) {
        let reason = "the first line holds numbers, but must name the columns";
        return Err(lines.malformed_line(reason.to_owned()));
    }
    Ok(names)
}

fn empty_cell(lines: &Lines<'_>, column: &str) -> Error {
    let reason = "the cell is empty, but every row needs a value here";
    lines.malformed(Column::Name(column.to_owned()), reason.to_owned())
}

/// Advances to the next row, in the next file if this one has ended.
fn next_row(lines: &mut Lines<'_>, header: &[String]) -> Result<bool, Error> {
    while !next_record(lines)? {
        if !next_file(lines, header)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the next rows together, of the next file if this one has ended.
fn next_block(lines: &mut Lines<'_>, header: &[String]) -> Result<Option<Block>, Error> {
    loop {
        match lines.next_block(true)? {
            None if next_file(lines, header)? => {}
            block => return Ok(block),
        }
    }
}

/// Advances to the next file, below its header, which must be the same; false after the last.
fn next_file(lines: &mut Lines<'_>, expected: &[String]) -> Result<bool, Error> {
    if !lines.next_file()? {
        return Ok(false);
    }
    let found = next_header(lines, expected.iter().any(String::is_empty))?;
    if found == expected {
        return Ok(true);
    }
    let found = columns_in_words(&found);
    let reason = format!("the header is not that of the first file: {found}");
    Err(lines.malformed_line(reason))
}

/// Advances to the next line that is not blank, with those appended that a quoted cell runs over.
fn next_record(lines: &mut Lines<'_>) -> Result<bool, Error> {
    loop {
        if !lines.advance()? {
            return Ok(false);
        }
        if !lines.bytes().iter().all(u8::is_ascii_whitespace) {
            break;
        }
    }
    if !lines.may_have_quotes() {
        return Ok(true);
    }
    let mut looked_at = 0;
    let mut open = false;
    loop {
        let quotes = lines.bytes()[looked_at..].iter().filter(|&&byte| byte == b'"').count();
        open ^= quotes % 2 == 1;
        looked_at = lines.bytes().len();
        if !open || !lines.append()? {
            return Ok(true);
        }
    }
}

fn check_cell_count(lines: &Lines<'_>, cells: usize, columns: usize) -> Result<(), Error> {
    if cells == columns {
        return Ok(());
    }
    lines.check_returns()?;
    let cells = Counted(cells, "cell");
    Err(lines.malformed_line(format!("the row has {cells}, but the header has {columns}")))
}
