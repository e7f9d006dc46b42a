//! The svmlight format.

mod features;

use nalgebra_sparse::CsrMatrix;

use super::blocks::in_blocks;
use super::columns::FeatureTable;
use super::labels::PlacedLabels;
use super::lines::{Block, Lines};
use super::table::{Buffer, LabelSink, Table, collect_labels, without_room};
use super::{FeatureColumns, ReadOptions};
use crate::error::quoted;
use crate::room::make_room;
use crate::{Column, Design, Error, Shortage};
use features::{Feature, LARGEST_INDEX, feature, push_ascending, tokens};

pub(super) fn read(
    lines: Lines<'_>,
    options: &ReadOptions,
    labels: &mut LabelSink<'_>,
) -> Result<Table, Error> {
    let mut rows = Rows::open(lines, options)?;
    let table = rows.next(Buffer::UNLIMITED, labels)?;
    table.ok_or_else(|| rows.none())
}

/// The error for a file whose lines do not determine the number of columns.
pub(super) const NO_FEATURE: &str = "no line has a feature (index:value) that is not 0";

/// The rows of a file, some at a time.
pub(super) struct Rows<'a> {
    lines: Lines<'a>,
    columns: Option<usize>,
    /// The smallest number of columns if it was not given: rows of a part may have no feature.
    least: usize,
}

impl<'a> Rows<'a> {
    pub(super) fn open(lines: Lines<'a>, options: &ReadOptions) -> Result<Self, Error> {
        refuse_column_names(options)?;
        if options.features != FeatureColumns::Numbers {
            let requirement =
                "numbers in an svmlight file, which has no words and no missing values";
            return Err(Error::parameter("the kind of feature columns", "encoded", requirement));
        }
        if options.drop_unlabelled {
            let requirement = "left out for svmlight files, whose lines begin with a label";
            let parameter = "the option for rows without a label";
            return Err(Error::parameter(parameter, "to drop them", requirement));
        }
        if let Some(p) = options.columns.filter(|&p| p as u64 > LARGEST_INDEX) {
            let requirement = format!("at most {LARGEST_INDEX} in an svmlight file");
            return Err(Error::parameter("the number of columns", p, requirement));
        }
        Ok(Rows { lines, columns: options.columns, least: 0 })
    }

    /// Reads the next rows, as many as the buffer takes; `None` after the last.
    pub(super) fn next(
        &mut self,
        buffer: Buffer,
        labels: &mut LabelSink<'_>,
    ) -> Result<Option<Table>, Error> {
        let Rows { lines, columns: expected, least } = self;
        let mut taken = Taken::of(expected.unwrap_or(*least));
        while buffer.has_room(taken.rows(), taken.values.len()) && next_line(lines)? {
            taken.take_line(lines, *expected, labels)?;
        }
        let is_known = expected.is_some() || *least > 0;
        if taken.rows() > 0 && (taken.p == 0 || (!is_known && taken.values.is_empty())) {
            return Err(lines.wrong(NO_FEATURE.to_owned()));
        }
        taken.into_table()
    }

    /// Calls `turn` for the table of every block of rows with its labels, several at the same time,
    /// and `take` for the results in order. If the number of columns is not given, each table has
    /// its own.
    pub(super) fn each_block<T: Send, E: From<Error>>(
        mut self,
        turn: impl Fn(Table, PlacedLabels) -> T + Sync,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let Rows { lines, columns, .. } = &mut self;
        let columns = *columns;
        let mut is_empty = true;
        in_blocks(
            || next_block(lines),
            |block| {
                let mut rows = Rows { lines: Lines::of(block), columns, least: 1 };
                let read = collect_labels(|labels| rows.next(Buffer::UNLIMITED, labels));
                let (table, labels) = read?;
                Ok(table.map(|table| turn(table, labels)))
            },
            |result: Result<Option<T>, Error>| {
                let Some(result) = result? else { return Ok(()) };
                is_empty = false;
                take(result)
            },
        )?;
        if is_empty { Err(self.none().into()) } else { Ok(()) }
    }

    fn none(&self) -> Error {
        self.lines.wrong("there are no samples".to_owned())
    }
}

/// Rows that have been taken in, as compressed sparse rows.
struct Taken {
    offsets: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    /// The number of columns in the rows read so far.
    p: usize,
    features: Vec<Feature>,
}

impl Taken {
    fn of(p: usize) -> Self {
        Taken { offsets: vec![0], columns: Vec::new(), values: Vec::new(), p, features: Vec::new() }
    }

    fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Takes in a line, unless it is empty or a comment.
    #[inline]
    fn take_line(
        &mut self,
        lines: &Lines<'_>,
        expected: Option<usize>,
        labels: &mut LabelSink<'_>,
    ) -> Result<(), Error> {
        lines.check_returns()?;
        let line = lines.text()?;
        let line = line.split_once('#').map_or(line, |(content, _comment)| content);
        let mut tokens = tokens(line);
        let Some((at, label)) = tokens.next() else { return Ok(()) };
        check_label(lines, column(line, at), label)?;
        labels(label, &|| lines.place(column(line, at)))?;

        let rest = &line.as_bytes()[at + label.len()..];
        self.make_room_for(rest).map_err(|shortage| {
            let rows = self.offsets.len();
            without_room(lines.name(), Error::Memory { rows, columns: expected, shortage })
        })?;
        let before = self.columns.len();
        match push_ascending(rest, expected, &mut self.columns, &mut self.values) {
            Some(last) => self.p = self.p.max(last),
            None => {
                self.columns.truncate(before);
                self.values.truncate(before);
                let taken = self.push_any(tokens, expected);
                taken.map_err(|(at, reason)| lines.malformed(column(line, at), reason))?;
            }
        }
        self.offsets.push(self.columns.len());
        Ok(())
    }

    fn make_room_for(&mut self, text: &[u8]) -> Result<(), Shortage> {
        // A feature takes three bytes at least: an index, a colon and a value.
        let most = text.len() / 3;
        make_room(&mut self.columns, most)?;
        make_room(&mut self.values, most)
    }

    /// Takes in features in any order and form; refuses with the byte and the reason.
    fn push_any<'t>(
        &mut self,
        tokens: impl Iterator<Item = (usize, &'t str)>,
        expected: Option<usize>,
    ) -> Result<(), (usize, String)> {
        self.features.clear();
        for (position, (at, token)) in tokens.enumerate() {
            if position == 0 && token.starts_with("qid:") {
                continue;
            }
            let (index, value) = feature(token, at, expected)?;
            self.features.push(Feature { index, value, at });
        }
        if !self.features.is_sorted_by_key(|feature| feature.index) {
            self.features.sort_by_key(|feature| feature.index);
        }
        if let Some(pair) = self.features.windows(2).find(|pair| pair[0].index == pair[1].index) {
            // The sort is stable: the second of a pair stands later in the line.
            let Feature { index, at, .. } = pair[1];
            return Err((at, format!("feature {index} appears twice in the line")));
        }
        if let Some(last) = self.features.last() {
            self.p = self.p.max(last.index);
        }
        for feature in self.features.iter().filter(|feature| feature.value != 0.0) {
            self.columns.push(feature.index - 1);
            self.values.push(feature.value);
        }
        Ok(())
    }

    /// Returns the table of the rows; `None` for no rows.
    fn into_table(self) -> Result<Option<Table>, Error> {
        let Taken { offsets, columns, values, p, .. } = self;
        let rows = offsets.len() - 1;
        if rows == 0 {
            return Ok(None);
        }
        let matrix = CsrMatrix::try_from_csr_data(rows, p, offsets, columns, values);
        let matrix = matrix.expect("columns are below p, and strictly increasing in each row");
        let features = FeatureTable::Design { design: Design::sparse(matrix)?, names: None };
        Ok(Some(Table { features, weights: None, folds: None, dropped: Vec::new() }))
    }
}

/// Returns the next lines together, of the next file if this one has ended.
fn next_block(lines: &mut Lines<'_>) -> Result<Option<Block>, Error> {
    loop {
        match lines.next_block(false)? {
            None if lines.next_file()? => {}
            block => return Ok(block),
        }
    }
}

/// Advances to the next line, in the next file if this one has ended.
fn next_line(lines: &mut Lines<'_>) -> Result<bool, Error> {
    while !lines.advance()? {
        if !lines.next_file()? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn check_label(lines: &Lines<'_>, place: Column, label: &str) -> Result<(), Error> {
    let reason = if label.contains(':') {
        format!("the line starts with {}, but must start with a label", quoted(label))
    } else if label.contains(',') {
        format!("label {} has a comma in it: is this a CSV file?", quoted(label))
    } else {
        return Ok(());
    };
    Err(lines.malformed(place, reason))
}

fn refuse_column_names(options: &ReadOptions) -> Result<(), Error> {
    let named = [
        ("the label column", &options.label),
        ("the weights column", &options.weights_column),
        ("the fold column", &options.fold_column),
    ];
    for (parameter, name) in named {
        if let Some(name) = name {
            let requirement = "left out for svmlight files, whose columns have no names";
            return Err(Error::parameter(parameter, format!("'{name}'"), requirement));
        }
    }
    Ok(())
}

/// Returns the column of byte `at` of a line.
fn column(line: &str, at: usize) -> Column {
    Column::Character(line[..at].chars().count() + 1)
}
