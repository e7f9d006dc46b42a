//! Raw tables, with words and missing values, as features.
//!
//! A [`RawTable`] holds columns as people have them. [`Encoding::learn`] learns from its rows how
//! to make features of them, and [`Encoding::encode`] makes them, of these rows or of others:
//!
//! * A column of numbers is one feature. So is one of booleans, `true` and `false` in any case, as
//!   1 and 0. A missing value becomes the median of the rows learned from.
//! * A column with any other word is categorical, as are those that [`EncodeOptions`] name: each of
//!   its categories is a feature that is 1 in the rows of this category, else 0. Categories keep the order of
//!   first sight. Numbers are compared as numbers, so that `1`, `+1` and `1.0` are one category, and
//!   from 2^53 on by all of their digits. In columns of codes cells keep their texts. Files are read so that the columns named have codes.
//! * A column with missing values in the rows learned from has an indicator beside that, 1 where a value
//!   is missing, else 0. A missing value in a categorical column is no category.
//!
//! The design is sparse where at most a quarter of its values are not zero.
//!
//! ```
//! use margins_data::encode::{EncodeOptions, Encoding, RawTable};
//!
//! let options = EncodeOptions::default();
//! let mut table = RawTable::new(vec!["age".to_owned(), "town".to_owned()]);
//! for row in [["31", "Bern"], ["NA", "Basel"], ["45", "Bern"]] {
//!     table.push(&row, &options.missing_words)?;
//! }
//! let encoding = Encoding::learn(&table, None, options)?;
//! assert_eq!(encoding.feature_names(), ["age", "age (missing)", "town=Bern", "town=Basel"]);
//! assert_eq!(encoding.encode(&table)?.to_dense().row(1).transpose().as_slice(), [38.0, 1.0, 0.0, 1.0]);
//! # Ok::<(), margins_data::Error>(())
//! ```

mod column;
mod encoded;
mod features;
mod learner;
mod level_name;
mod median;
mod numbers;
mod options;
mod table;
mod words;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use crate::error::{LABEL_ADVICE, quoted};
use crate::{Design, Error, parallel};

pub use column::{ColumnEncoding, Kind, MOST_LEVELS};
pub(crate) use encoded::Encoded;
use features::{AllFeatures, ColumnFeatures};
pub(crate) use learner::EncodingLearner;
pub(crate) use options::Gaps;
pub use options::{EncodeOptions, Missing, MissingWords, Unknown};
pub use table::{RawColumn, RawTable};
pub(crate) use words::Words;

/// The encoding of a raw table as features, learned from rows.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Parts", into = "Parts"))]
pub struct Encoding {
    options: EncodeOptions,
    columns: Vec<ColumnEncoding>,
}

/// The fields of an encoding, not yet checked.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    options: EncodeOptions,
    columns: Vec<ColumnEncoding>,
}

#[cfg(feature = "serde")]
impl From<Encoding> for Parts {
    fn from(Encoding { options, columns }: Encoding) -> Self {
        Parts { options, columns }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<Parts> for Encoding {
    type Error = Error;

    fn try_from(Parts { options, columns }: Parts) -> Result<Self, Error> {
        columns.iter().try_for_each(ColumnEncoding::check)?;
        Encoding::from_columns(options, columns)
    }
}

impl Encoding {
    /// Makes an encoding of columns that are right, each by itself.
    pub(crate) fn from_columns(
        options: EncodeOptions,
        columns: Vec<ColumnEncoding>,
    ) -> Result<Self, Error> {
        if columns.is_empty() {
            return Err(Error::Empty("columns to encode"));
        }
        check_distinct(&columns)?;
        Ok(Encoding { options, columns })
    }

    /// Learns from the rows named, or from all, which categories, medians and missing values the columns have.
    /// The kinds of the columns are those of the whole table.
    ///
    /// # Errors
    /// A column in the options that the table does not have, or that is both categorical and left
    /// out; no column that is left; a missing value where [`Missing::Refuse`] is asked for; more than
    /// [`MOST_LEVELS`] categories; two features of one name.
    pub fn learn(
        table: &RawTable,
        rows: Option<&[usize]>,
        options: EncodeOptions,
    ) -> Result<Self, Error> {
        check_columns(&options, table)?;
        let all: Vec<usize>;
        let rows = match rows {
            Some(rows) => rows,
            None => {
                all = (0..table.rows()).collect();
                &all
            }
        };
        let taken = table.columns().iter().filter(|column| !options.drops(column.name()));
        let taken: Vec<&RawColumn> = taken.collect();
        let learned = |k: usize| ColumnEncoding::learn(taken[k], rows, &options);
        let columns = parallel::try_map(0..taken.len(), learned)?;
        Encoding::from_columns(options, columns)
    }

    /// Returns options that leave out the columns of a table with more categories than they may have, too.
    pub(crate) fn uncrowded(table: &RawTable, mut options: EncodeOptions) -> EncodeOptions {
        let crowded: Vec<String> = table
            .columns()
            .iter()
            .filter(|column| !options.drops(column.name()))
            .filter(|column| ColumnEncoding::is_crowded(column, &options))
            .map(|column| column.name().to_owned())
            .collect();
        options.categorical.retain(|name| !crowded.contains(name));
        options.drop.extend(crowded);
        options
    }

    /// Returns what was asked for.
    pub fn options(&self) -> &EncodeOptions {
        &self.options
    }

    /// Returns the columns of the raw table that features are made of.
    pub fn columns(&self) -> &[ColumnEncoding] {
        &self.columns
    }

    /// Returns the names of the columns of codes, whose cells keep their texts.
    pub fn codes(&self) -> Vec<String> {
        let codes = self.columns.iter().filter(|column| matches!(column.kind(), Kind::Codes(_)));
        codes.map(|column| column.name().to_owned()).collect()
    }

    /// Returns the names of the features: that of the column, `COLUMN=LEVEL` or `COLUMN (missing)`.
    pub fn feature_names(&self) -> Vec<String> {
        self.columns.iter().flat_map(ColumnEncoding::feature_names).collect()
    }

    /// Returns the same with another rule for categories that are not known.
    #[must_use]
    pub fn with_unknown(mut self, unknown: Unknown) -> Self {
        self.options.unknown = unknown;
        self
    }

    /// Returns the features of every row of a table, whose columns are found by their names.
    ///
    /// # Errors
    /// A column that the encoding has and the table has not, or the other way round unless it was
    /// left out; a word in a column of numbers or booleans; a missing value where [`Missing::Refuse`] was
    /// asked for; an unknown category where [`Unknown::Refuse`] was; no rows.
    pub fn encode(&self, table: &RawTable) -> Result<Design, Error> {
        let raw = self.matched(table)?;
        let of_column = |k: usize| self.columns[k].features(raw[k], &self.options);
        let columns = parallel::try_map(0..raw.len(), of_column)?;
        let widths = self.columns.iter().map(ColumnEncoding::width);
        let before = widths.scan(0, |end, width| Some(std::mem::replace(end, *end + width)));
        let columns: Vec<(usize, ColumnFeatures<'_>)> = before.zip(columns).collect();
        let width = self.columns.iter().map(ColumnEncoding::width).sum();
        AllFeatures { rows: table.rows(), width, columns }.design()
    }

    /// Returns the number of cells with a category that was not learned, which [`Unknown::None`] takes
    /// as none. Missing values are not counted.
    ///
    /// # Errors
    /// A column that the encoding has and the table has not, or the other way round unless it was
    /// left out.
    pub fn unknown_levels(&self, table: &RawTable) -> Result<usize, Error> {
        let columns = self.matched(table)?;
        Ok(self.columns.iter().zip(columns).map(|(own, raw)| own.unknown_levels(raw)).sum())
    }

    /// Returns the columns of the table in the order of the encoding.
    fn matched<'t>(&self, table: &'t RawTable) -> Result<Vec<&'t RawColumn>, Error> {
        let names: HashMap<&str, &RawColumn> =
            table.columns().iter().map(|column| (column.name(), column)).collect();
        let known: HashSet<&str> = self.columns.iter().map(ColumnEncoding::name).collect();
        let extra = |column: &&RawColumn| {
            !known.contains(column.name()) && !self.options.drops(column.name())
        };
        if let Some(column) = table.columns().iter().find(extra) {
            return Err(Error::EncodedColumn {
                column: column.name().to_owned(),
                reason: format!(
                    "is in the table, but not among the columns learned from{LABEL_ADVICE}"
                ),
            });
        }
        let find = |column: &ColumnEncoding| {
            names.get(column.name()).copied().ok_or_else(|| Error::EncodedColumn {
                column: column.name().to_owned(),
                reason: "was in the training table, but is not in this one".to_owned(),
            })
        };
        self.columns.iter().map(find).collect()
    }
}

/// Refuses columns in the options that the table does not have, and those of two uses.
fn check_columns(options: &EncodeOptions, table: &RawTable) -> Result<(), Error> {
    let known: HashSet<&str> = table.columns().iter().map(RawColumn::name).collect();
    let unknown = |column: &&String| !known.contains(column.as_str());
    for (columns, purpose) in [(&options.categorical, "for codes"), (&options.drop, "to leave out")]
    {
        if let Some(name) = columns.iter().find(unknown) {
            let columns = table.columns().iter().map(|column| column.name().to_owned()).collect();
            return Err(Error::UnknownColumn { name: name.clone(), purpose, columns });
        }
    }
    let refuse = |column: &String, reason: &str| {
        Err(Error::EncodedColumn { column: column.clone(), reason: reason.to_owned() })
    };
    match options.categorical.iter().find(|column| options.drops(column)) {
        Some(column) => refuse(column, "cannot be both categorical and left out"),
        None => Ok(()),
    }
}

fn check_distinct(columns: &[ColumnEncoding]) -> Result<(), Error> {
    let mut owners = HashMap::with_capacity(columns.len());
    for column in columns {
        for name in column.feature_names() {
            match owners.entry(name) {
                Entry::Vacant(place) => {
                    place.insert(column.name());
                }
                Entry::Occupied(owner) => {
                    let (name, other) = (quoted(owner.key()), quoted(owner.get()));
                    let reason = format!(
                        "would have a feature named {name}, and so would column {other}: rename one of them"
                    );
                    return Err(Error::EncodedColumn { column: column.name().to_owned(), reason });
                }
            }
        }
    }
    Ok(())
}
