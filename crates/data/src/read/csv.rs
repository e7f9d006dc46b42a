//! CSV. Splitting is done here rather than by the `csv` crate because that counts lines wrongly
//! after blank lines and CR LF, and mends stray quotes silently; a message with the wrong line is
//! worse than none.

use std::borrow::Cow;
use std::collections::HashMap;

use super::cells::Cells;
use super::lines::Lines;
use super::{Buffer, LabelSink, Purpose, ReadOptions, Table, in_file};
use crate::class_name::sorted_order;
use crate::encode::MissingWords;
use crate::error::{columns_in_words, quoted};
use crate::{Column, Error};

const DEFAULT_LABEL: &str = "label";

/// The content of a column.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Feature,
    Label,
    Weight,
    Fold,
    Dropped,
}

pub(super) fn read(
    lines: Lines<'_>,
    options: &ReadOptions,
    purpose: Purpose,
    labels: &mut LabelSink<'_>,
) -> Result<Table, Error> {
    let mut rows = Rows::open(lines, options, purpose)?;
    let table = rows.next(Buffer::UNLIMITED, labels)?;
    table.ok_or_else(|| rows.lines.wrong("there is a header, but no row below it".to_owned()))
}

/// The rows below a header, some at a time.
pub(super) struct Rows<'a> {
    lines: Lines<'a>,
    header: Vec<String>,
    roles: Vec<Role>,
    pub(super) feature_names: Vec<String>,
    /// The words that stand for gaps, where words and gaps are taken.
    missing_words: Option<MissingWords>,
}

impl<'a> Rows<'a> {
    pub(super) fn open(
        mut lines: Lines<'a>,
        options: &ReadOptions,
        purpose: Purpose,
    ) -> Result<Self, Error> {
        if !next_record(&mut lines)? {
            return Err(lines.wrong("the file is empty".to_owned()));
        }
        let header = header(&lines)?;
        let roles = roles(&lines, &header, options, purpose)?;
        let feature_names: Vec<String> = header
            .iter()
            .zip(&roles)
            .filter(|&(_, &role)| role == Role::Feature)
            .map(|(name, _)| name.clone())
            .collect();
        check_feature_count(&lines, feature_names.len(), options)?;
        let missing_words = options.features.missing_words().cloned();
        Ok(Rows { lines, header, roles, feature_names, missing_words })
    }

    /// Reads the next rows, as many as the buffer takes; `None` after the last.
    pub(super) fn next(
        &mut self,
        buffer: Buffer,
        labels: &mut LabelSink<'_>,
    ) -> Result<Option<Table>, Error> {
        let Rows { lines, header, roles, feature_names, missing_words } = self;
        let mut features = Cells::new(feature_names, missing_words.as_ref());
        let mut weights = Vec::new();
        let mut folds = FoldCollector::default();
        let mut rows = 0;
        while buffer.has_room(rows, features.len()) && next_row(lines, header)? {
            let lines = &*lines;
            let line = lines.text()?;
            let mut feature = 0;
            let mut take = |(cell, column): (&str, usize)| {
                let cell = cell.trim();
                match roles[column] {
                    Role::Feature => {
                        features.push(lines, feature, &header[column], cell)?;
                        feature += 1;
                    }
                    Role::Weight => weights.push(weight(lines, &header[column], cell)?),
                    Role::Label | Role::Fold if cell.is_empty() => {
                        return Err(empty_cell(lines, &header[column]));
                    }
                    Role::Label => {
                        labels(cell, &|| lines.place(Column::Name(header[column].clone())))?;
                    }
                    Role::Fold => folds.push(cell),
                    Role::Dropped => {}
                }
                Ok(())
            };
            if line.contains('"') {
                let cells = split_quoted(lines, line)?;
                check_cell_count(lines, cells.len(), header.len())?;
                cells.iter().map(AsRef::as_ref).zip(0..).try_for_each(&mut take)?;
            } else {
                let commas = line.bytes().filter(|&byte| byte == b',').count();
                check_cell_count(lines, commas + 1, header.len())?;
                line.split(',').zip(0..).try_for_each(&mut take)?;
            }
            features.end_row(lines);
            rows += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        let fold = roles.iter().position(|&role| role == Role::Fold);
        let folds = fold.map(|column| folds.finish(lines, &header[column])).transpose()?;
        Ok(Some(Table {
            features: features.finish(feature_names, rows)?,
            weights: roles.contains(&Role::Weight).then_some(weights),
            folds,
        }))
    }
}

fn empty_cell(lines: &Lines<'_>, column: &str) -> Error {
    let reason = "the cell is empty, but every row needs a value here";
    lines.malformed(Column::Name(column.to_owned()), reason.to_owned())
}

/// Goes on to the next row, in the next file if this one has ended, whose header must be the same.
fn next_row(lines: &mut Lines<'_>, expected: &[String]) -> Result<bool, Error> {
    while !next_record(lines)? {
        if !lines.next_file()? {
            return Ok(false);
        }
        if !next_record(lines)? {
            return Err(lines.wrong("the file is empty".to_owned()));
        }
        let found = header(lines)?;
        if found != expected {
            let reason =
                format!("the header is not that of the first file: {}", columns_in_words(&found));
            return Err(lines.malformed_line(reason));
        }
    }
    Ok(true)
}

/// Goes on to the next line that is not blank, with those appended that a quoted cell runs over.
fn next_record(lines: &mut Lines<'_>) -> Result<bool, Error> {
    loop {
        if !lines.advance()? {
            return Ok(false);
        }
        if !lines.bytes().iter().all(u8::is_ascii_whitespace) {
            break;
        }
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

/// Returns the cells of a record in which quotes occur: a cell that starts with one ends with one,
/// and `""` within stands for one.
fn split_quoted<'l>(lines: &Lines<'_>, line: &'l str) -> Result<Vec<Cow<'l, str>>, Error> {
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

/// Returns the column names: not empty, and distinct.
fn header(lines: &Lines<'_>) -> Result<Vec<String>, Error> {
    let line = lines.text()?;
    let names: Vec<String> =
        split_quoted(lines, line)?.iter().map(|name| name.trim().to_owned()).collect();
    let mut seen = HashMap::with_capacity(names.len());
    for (name, column) in names.iter().zip(1..) {
        if name.is_empty() {
            let reason = format!("column {column} of the header has no name");
            return Err(lines.malformed_line(reason));
        }
        if let Some(first) = seen.insert(name.as_str(), column) {
            let name = quoted(name);
            let reason =
                format!("columns {first} and {column} of the header are both named {name}");
            return Err(lines.malformed_line(reason));
        }
    }
    // Column numbers are names too, but fractions and signs are data.
    let is_data = |name: &String| name.parse::<f64>().is_ok();
    let is_column_number = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    if names.iter().all(is_data) && !names.iter().all(is_column_number) {
        let reason = "the first line holds numbers, but must name the columns";
        return Err(lines.malformed_line(reason.to_owned()));
    }
    Ok(names)
}

fn roles(
    lines: &Lines<'_>,
    header: &[String],
    options: &ReadOptions,
    purpose: Purpose,
) -> Result<Vec<Role>, Error> {
    let mut roles = vec![Role::Feature; header.len()];
    let fit = purpose == Purpose::Fit;
    let label = options.label.as_deref().unwrap_or(DEFAULT_LABEL);
    // Without labels there is nothing to weigh.
    let weighed = fit || header.iter().any(|column| column == label);
    let weight = if weighed { Role::Weight } else { Role::Dropped };
    let fold = if fit { Role::Fold } else { Role::Dropped };
    let wanted = [
        ("for the label", Some(label), Role::Label),
        ("for the weights", options.weights_column.as_deref(), weight),
        ("for the folds", options.fold_column.as_deref(), fold),
    ];
    for (purpose, name, role) in wanted {
        let Some(name) = name else { continue };
        match header.iter().position(|column| column == name) {
            Some(column) if roles[column] == Role::Feature => roles[column] = role,
            Some(_) => {
                let reason = format!(
                    "column '{name}' cannot be taken {purpose}: it has another use already"
                );
                return Err(lines.malformed_line(reason));
            }
            None if fit => {
                let (name, columns) = (name.to_owned(), header.to_vec());
                let unknown = Error::UnknownColumn { name, purpose, columns };
                return Err(in_file(lines.name(), unknown));
            }
            None => {}
        }
    }
    Ok(roles)
}

fn check_feature_count(lines: &Lines<'_>, p: usize, options: &ReadOptions) -> Result<(), Error> {
    match options.columns {
        _ if p == 0 => Err(lines.malformed_line("there is no feature column".to_owned())),
        Some(expected) if expected != p => {
            let reason = format!("the header names {p} features, but {expected} are expected");
            Err(lines.malformed_line(reason))
        }
        _ => Ok(()),
    }
}

fn check_cell_count(lines: &Lines<'_>, cells: usize, columns: usize) -> Result<(), Error> {
    if cells == columns {
        return Ok(());
    }
    let reason = format!("the row has {cells} cells, but the header has {columns}");
    Err(lines.malformed_line(reason))
}

fn weight(lines: &Lines<'_>, column: &str, cell: &str) -> Result<f64, Error> {
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => {
            let reason = format!("weight {} is not a number that is 0 or more", quoted(cell));
            Err(lines.malformed(Column::Name(column.to_owned()), reason))
        }
    }
}

/// A collector that numbers the values of a fold column as they come.
#[derive(Default)]
struct FoldCollector {
    numbers: HashMap<String, usize>,
    folds: Vec<usize>,
}

impl FoldCollector {
    fn push(&mut self, value: &str) {
        let fold = match self.numbers.get(value) {
            Some(&fold) => fold,
            None => {
                let fold = self.numbers.len();
                self.numbers.insert(value.to_owned(), fold);
                fold
            }
        };
        self.folds.push(fold);
    }

    /// Returns the folds, renumbered in the order of their values.
    fn finish(self, lines: &Lines<'_>, column: &str) -> Result<Vec<usize>, Error> {
        let (values, folds): (Vec<String>, Vec<usize>) = self.numbers.into_iter().unzip();
        if let [only] = &values[..] {
            let only = quoted(only);
            let reason = format!("column '{column}' puts every row in fold {only}; two are needed");
            return Err(lines.wrong(reason));
        }
        let mut position = vec![0; values.len()];
        for (rank, value) in sorted_order(&values).into_iter().enumerate() {
            position[folds[value]] = rank;
        }
        Ok(self.folds.into_iter().map(|fold| position[fold]).collect())
    }
}
