//! Parquet: flat columns of numbers, booleans and words. A cell is taken as that of a CSV file which
//! says the same, and a null as an empty cell.

mod column;
mod file;
mod layout;
mod part;
mod rows;

use super::ReadOptions;
use super::label_gaps::no_label;
use super::labels::{PlacedLabels, in_file};
use super::table::{Buffer, LabelSink, Purpose, Source, Table, collect_labels};
use crate::Error;
use file::malformed;

pub(super) use rows::Rows;

pub(super) fn read(
    source: Source<'_>,
    name: &str,
    options: &ReadOptions,
    purpose: Purpose,
    labels: &mut LabelSink<'_>,
) -> Result<Table, Error> {
    let mut rows = Rows::open(source, name, options, purpose)?;
    rows.check_room().map_err(|error| in_file(name, error))?;
    let table = rows.next(Buffer::UNLIMITED, labels);
    table.map_err(|error| in_file(name, error))?.ok_or_else(|| no_row(name, rows.dropped()))
}

/// Calls `turn` for the rows of one row group after the other, and `take` for the results. The number
/// of rows left out is returned.
pub(super) fn each_table<T, E: From<Error>>(
    source: Source<'_>,
    name: &str,
    options: &ReadOptions,
    purpose: Purpose,
    turn: impl Fn(Table, PlacedLabels) -> T,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<usize, E> {
    let mut rows = Rows::open(source, name, options, purpose)?;
    let mut is_empty = true;
    loop {
        let next = collect_labels(|labels| rows.next_group(labels));
        let (table, labels) = next.map_err(|error| in_file(rows.name(), error))?;
        let Some(table) = table else { break };
        is_empty = false;
        take(turn(table, labels))?;
    }
    let dropped = rows.dropped();
    if is_empty { Err(no_row(name, dropped).into()) } else { Ok(dropped) }
}

fn no_row(file: &str, dropped: usize) -> Error {
    let reason = match dropped {
        0 => "there are columns, but no row".to_owned(),
        rows => no_label(rows),
    };
    malformed(file, None, reason)
}
