//! The cells of a column.

use std::borrow::Cow;

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;

use crate::Error;
use crate::encode::{MissingWords, RawColumn};
use crate::read::cells::number;

/// The rows that are decoded at a time.
const BATCH: usize = 1 << 13;

/// The cells of a column that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number {
        is_signed: bool,
    },
    /// Whole numbers by their texts.
    Code {
        is_signed: bool,
    },
    Word,
}

/// The cells of a column as they come.
pub(super) enum Cells {
    /// NaN stands for a null.
    Numbers(Vec<f64>),
    /// Words of any type but numbers.
    Words(Vec<Option<ByteArray>>),
}

impl Kind {
    pub(super) fn is_word(self) -> bool {
        !matches!(self, Kind::Number { .. })
    }

    /// Returns the kind of a column, whose whole numbers may be codes, or why it is not read.
    pub(super) fn of(column: &ColumnDescriptor, codes: bool) -> Result<Self, String> {
        if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
            return Err(not_read("nested values"));
        }
        let (logical, converted) = (column.logical_type_ref(), column.converted_type());
        let plain = logical.is_none() && converted == ConvertedType::NONE;
        let is_integer = plain
            || matches!(logical, Some(LogicalType::Integer { .. }))
            || (logical.is_none() && is_integer(converted));
        let is_text = plain
            || matches!(logical, Some(LogicalType::String | LogicalType::Enum | LogicalType::Json))
            || matches!(converted, ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON);
        let is_signed = !matches!(converted, ConvertedType::UINT_32 | ConvertedType::UINT_64);
        match column.physical_type() {
            Type::FLOAT | Type::DOUBLE => Ok(Kind::Number { is_signed: true }),
            Type::INT32 | Type::INT64 if is_integer && codes => Ok(Kind::Code { is_signed }),
            Type::INT32 | Type::INT64 if is_integer => Ok(Kind::Number { is_signed }),
            Type::BOOLEAN => Ok(Kind::Word),
            Type::BYTE_ARRAY if is_text => Ok(Kind::Word),
            other => Err(not_read(&match (logical, converted) {
                (Some(logical), _) => format!("values of the type {}", name_of(logical)),
                (None, ConvertedType::NONE) => format!("values of the type {other}"),
                (None, converted) => format!("values of the type {converted}"),
            })),
        }
    }
}

fn is_integer(converted: ConvertedType) -> bool {
    use ConvertedType as C;
    matches!(
        converted,
        C::INT_8
            | C::INT_16
            | C::INT_32
            | C::INT_64
            | C::UINT_8
            | C::UINT_16
            | C::UINT_32
            | C::UINT_64
    )
}

/// Returns the name of a type without its units.
fn name_of(logical: &LogicalType) -> String {
    let name = format!("{logical:?}");
    name.split(['(', ' ']).next().unwrap_or_default().to_owned()
}

fn not_read(what: &str) -> String {
    format!(
        "the column holds {what}, which are neither numbers nor words: make some of them, or leave the \
         column out (--encode --drop)"
    )
}

impl Cells {
    pub(super) fn of(kind: Kind) -> Self {
        if kind.is_word() { Cells::Words(Vec::new()) } else { Cells::Numbers(Vec::new()) }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Cells::Numbers(values) => values.len(),
            Cells::Words(words) => words.len(),
        }
    }

    /// Appends the cells of some rows, of the same kind but for the sign.
    pub(super) fn take(
        &mut self,
        reader: &mut ColumnReader,
        rows: usize,
        kind: Kind,
    ) -> Result<(), ParquetError> {
        match self {
            Cells::Numbers(values) => {
                let is_signed = kind != Kind::Number { is_signed: false };
                numbers(reader, rows, values, is_signed)
            }
            Cells::Words(words) => match reader {
                ColumnReader::BoolColumnReader(reader) => {
                    let names = ["false", "true"].map(ByteArray::from);
                    each(reader, rows, |value| {
                        words.push(value.map(|&value| names[usize::from(value)].clone()));
                    })
                }
                ColumnReader::ByteArrayColumnReader(reader) => {
                    each(reader, rows, |value| words.push(value.cloned()))
                }
                ColumnReader::Int32ColumnReader(reader) => {
                    let text = |&x: &i32| match kind {
                        Kind::Code { is_signed: false } => (x as u32).to_string(),
                        _ => x.to_string(),
                    };
                    each(reader, rows, |value| words.push(value.map(text).map(to_bytes)))
                }
                ColumnReader::Int64ColumnReader(reader) => {
                    let text = |&x: &i64| match kind {
                        Kind::Code { is_signed: false } => (x as u64).to_string(),
                        _ => x.to_string(),
                    };
                    each(reader, rows, |value| words.push(value.map(text).map(to_bytes)))
                }
                _ => Err(ParquetError::General("the type of the column changed".to_owned())),
            },
        }
    }

    /// Leaves out those of the last cells, after so many, that are not to be kept.
    pub(super) fn retain(&mut self, before: usize, keep: &[bool]) {
        match self {
            Cells::Numbers(values) => retain(values, before, keep),
            Cells::Words(words) => retain(words, before, keep),
        }
    }

    /// Applies a function to the text of every cell; returns the results, or the first error with its
    /// row.
    pub(super) fn each<'c, T>(
        &'c self,
        column: &'c str,
        make: impl Fn(&str) -> Result<T, String> + 'c,
    ) -> impl Iterator<Item = Result<T, Error>> + 'c {
        (0..self.len()).map(move |row| {
            let cell = self.text(row).and_then(|text| make(&text));
            cell.map_err(|reason| Error::Cell { row, column: column.to_owned(), reason })
        })
    }

    /// Calls a function for every row and its number, or returns the first refusal.
    pub(super) fn numbers(
        &self,
        column: &str,
        mut take: impl FnMut(usize, f64),
    ) -> Result<(), Error> {
        match self {
            Cells::Numbers(values) if values.iter().all(|value| value.is_finite()) => {
                values.iter().enumerate().for_each(|(row, &value)| take(row, value));
                Ok(())
            }
            _ => (0..).zip(self.each(column, number)).try_for_each(|(row, value)| {
                take(row, value?);
                Ok(())
            }),
        }
    }

    /// Returns the text of every cell, which none may lack.
    pub(super) fn required(&self, column: &str) -> Result<Vec<String>, Error> {
        let text = |cell: &str| match cell {
            "" => Err("the cell is empty, but every row needs a value here".to_owned()),
            cell => Ok(cell.to_owned()),
        };
        self.each(column, text).collect()
    }

    /// Returns the cells as a column of a raw table, which may have codes.
    pub(super) fn raw(
        &self,
        name: &str,
        missing: &MissingWords,
        codes: bool,
    ) -> Result<RawColumn, Error> {
        match self {
            Cells::Numbers(values) => RawColumn::numbers(name, values),
            _ => {
                let texts = self.each(name, |cell| Ok(cell.to_owned()));
                let texts: Vec<String> = texts.collect::<Result<_, _>>()?;
                let texts = texts.iter().map(Some);
                match codes {
                    true => Ok(RawColumn::codes(name, texts, missing)),
                    false => RawColumn::cells(name, texts, missing),
                }
            }
        }
    }

    /// Returns the text of a cell without the blanks around it, empty for a null.
    pub(super) fn text(&self, row: usize) -> Result<Cow<'_, str>, String> {
        match self {
            Cells::Numbers(values) => Ok(match values[row] {
                gap if gap.is_nan() => Cow::Borrowed(""),
                value => Cow::Owned(value.to_string()),
            }),
            Cells::Words(words) => match &words[row] {
                None => Ok(Cow::Borrowed("")),
                Some(word) => match word.as_utf8() {
                    Ok(text) => Ok(Cow::Borrowed(text.trim())),
                    Err(_) => Err("the cell is not text in UTF-8".to_owned()),
                },
            },
        }
    }
}

fn to_bytes(text: String) -> ByteArray {
    text.into_bytes().into()
}

fn retain<T>(cells: &mut Vec<T>, before: usize, keep: &[bool]) {
    let last = cells.split_off(before);
    cells.extend(last.into_iter().zip(keep).filter_map(|(cell, &keep)| keep.then_some(cell)));
}

/// Appends numbers; NaN for a null.
fn numbers(
    reader: &mut ColumnReader,
    rows: usize,
    values: &mut Vec<f64>,
    is_signed: bool,
) -> Result<(), ParquetError> {
    let mut push = |value: Option<f64>| values.push(value.unwrap_or(f64::NAN));
    match reader {
        ColumnReader::Int32ColumnReader(reader) => each(reader, rows, |value| {
            let of = |&x: &i32| if is_signed { f64::from(x) } else { f64::from(x as u32) };
            push(value.map(of));
        }),
        ColumnReader::Int64ColumnReader(reader) => each(reader, rows, |value| {
            let of = |&x: &i64| if is_signed { x as f64 } else { x as u64 as f64 };
            push(value.map(of));
        }),
        ColumnReader::FloatColumnReader(reader) => {
            each(reader, rows, |value| push(value.map(|&x| f64::from(x))))
        }
        ColumnReader::DoubleColumnReader(reader) => {
            each(reader, rows, |value| push(value.copied()))
        }
        _ => Err(ParquetError::General("the type of the column changed".to_owned())),
    }
}

/// Calls a function for the value of every row, `None` for a null.
fn each<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    mut take: impl FnMut(Option<&T::T>),
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut left = rows;
    while left > 0 {
        values.clear();
        levels.clear();
        let (records, ..) =
            reader.read_records(left.min(BATCH), Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::EOF(format!("the column lacks {left} of its rows")));
        }
        left -= records;
        if levels.is_empty() {
            values.iter().for_each(|value| take(Some(value)));
        } else {
            // A flat column that may lack values has them at the level 1.
            let mut present = values.iter();
            levels.iter().for_each(|&level| take(if level > 0 { present.next() } else { None }));
        }
    }
    Ok(())
}
