//! What Parquet files say of their columns, and the tables of their rows.

use nalgebra::DMatrix;

use super::column::{Cells, Kind};
use super::file::{ParquetFile, malformed};
use super::part::Part;
use crate::encode::{EncodeOptions, RawColumn, RawTable, Words};
use crate::read::ReadOptions;
use crate::read::cells::weight;
use crate::read::columns::FeatureTable;
use crate::read::folds::FileFolds;
use crate::read::header::{Role, Wrong, check_feature_count, check_names, roles};
use crate::read::label_gaps::LabelGaps;
use crate::read::table::{LabelSink, Purpose, Table};
use crate::{Column, Design, Error};

pub(super) struct Layout {
    header: Vec<String>,
    roles: Vec<Role>,
    feature_names: Vec<String>,
    /// The options of an encoding, where words and missing values are taken.
    encode: Option<EncodeOptions>,
    /// The columns whose cells keep their texts.
    codes: Vec<String>,
    gaps: LabelGaps,
}

impl Layout {
    pub(super) fn new(
        file: &str,
        header: Vec<String>,
        options: &ReadOptions,
        purpose: Purpose,
        wrong: &Wrong<'_>,
    ) -> Result<Self, Error> {
        check_names(&header, options.features.drop_unnamed(), wrong)?;
        let roles = roles(file, &header, options, purpose, wrong)?;
        let features = header.iter().zip(&roles).filter(|&(_, &role)| role == Role::Feature);
        let feature_names: Vec<String> = features.map(|(name, _)| name.clone()).collect();
        check_feature_count(feature_names.len(), options, wrong)?;
        let encode = options.features.options().cloned();
        let codes = options.features.codes();
        let gaps = LabelGaps::new(options, purpose);
        Ok(Layout { header, roles, feature_names, encode, codes, gaps })
    }

    pub(super) fn header(&self) -> &[String] {
        &self.header
    }

    /// Returns the column of the labels, if there is one.
    pub(super) fn label(&self) -> Option<usize> {
        self.roles.iter().position(|&role| role == Role::Label)
    }

    /// Returns which of the last rows, after so many, have a label, and stay; `None` where all do.
    pub(super) fn kept(&self, labels: &Cells, before: usize) -> Option<Vec<bool>> {
        let is_gap = |row| labels.text(row).is_ok_and(|cell| self.gaps.contain(&cell));
        self.gaps.may_drop().then(|| (before..labels.len()).map(|row| !is_gap(row)).collect())
    }

    /// Returns the names of the features, those that an encoding leaves out among them.
    pub(super) fn feature_names(&self) -> &[String] {
        &self.feature_names
    }

    /// Returns the kinds of the columns of a file; `None` of a column whose cells do not matter.
    pub(super) fn kinds(&self, file: &ParquetFile) -> Result<Vec<Option<Kind>>, Error> {
        let kind = |(at, name): (usize, &String)| {
            let refuse = |reason| malformed(&file.name, Some(name), reason);
            let codes = self.has_codes(at);
            self.is_read(at).then(|| Kind::of(file.column(at), codes).map_err(refuse)).transpose()
        };
        self.header.iter().enumerate().map(kind).collect()
    }

    /// Returns true if the whole numbers of a column are taken as texts.
    fn has_codes(&self, at: usize) -> bool {
        match self.roles[at] {
            Role::Feature => self.codes.contains(&self.header[at]),
            // Whole numbers serve as names: all of their digits count.
            Role::Label | Role::Fold => true,
            Role::Weight | Role::Dropped => false,
        }
    }

    fn is_read(&self, at: usize) -> bool {
        let drops = |options: &EncodeOptions| options.drops(&self.header[at]);
        match self.roles[at] {
            Role::Dropped => false,
            Role::Feature => !self.encode.as_ref().is_some_and(drops),
            _ => true,
        }
    }

    /// Returns the table of rows; `None` of no rows.
    pub(super) fn table(
        &self,
        part: Part,
        labels: &mut LabelSink<'_>,
    ) -> Result<Option<Table>, Error> {
        if part.rows() == 0 {
            return Ok(None);
        }
        let located = |error| part.places.locate(error);
        self.labels(&part, labels)?;
        let weights = self.weights(&part.columns).map_err(located)?;
        let folds = self.folds(&part.columns).map_err(located)?;
        let features = match &self.encode {
            Some(options) => {
                let table = self.raw(&part, options).map_err(located)?;
                FeatureTable::Raw(table, part.places)
            }
            None => self.numbers(&part).map_err(located)?,
        };
        Ok(Some(Table { features, weights, folds, dropped: part.dropped }))
    }

    /// Hands the labels over, if there are any.
    fn labels(&self, part: &Part, labels: &mut LabelSink<'_>) -> Result<(), Error> {
        let Some((name, cells)) = self.of(Role::Label, &part.columns) else { return Ok(()) };
        let text = |cell: &str| match self.gaps.refusal(cell) {
            Some(reason) => Err(reason),
            None => Ok(cell.to_owned()),
        };
        let found: Result<Vec<String>, Error> = cells.each(name, text).collect();
        let found = found.map_err(|error| part.places.locate(error))?;
        found.iter().enumerate().try_for_each(|(row, label)| {
            labels(label, &|| part.places.place(row, Column::Name(name.to_owned())))
        })
    }

    fn weights(&self, columns: &[Option<Cells>]) -> Result<Option<Vec<f64>>, Error> {
        let found = self.of(Role::Weight, columns);
        found.map(|(name, cells)| cells.each(name, weight).collect()).transpose()
    }

    fn folds(&self, columns: &[Option<Cells>]) -> Result<Option<FileFolds>, Error> {
        let Some((name, cells)) = self.of(Role::Fold, columns) else { return Ok(None) };
        let mut values = Words::default();
        cells.required(name)?.iter().for_each(|fold| values.push(Some(fold)));
        let mut folds = FileFolds::new(name);
        folds.append(&values);
        Ok(Some(folds))
    }

    /// Returns the column of a role, if there is one.
    fn of<'c>(&self, role: Role, columns: &'c [Option<Cells>]) -> Option<(&str, &'c Cells)> {
        let at = self.roles.iter().position(|&other| other == role)?;
        Some((&self.header[at], columns[at].as_ref()?))
    }

    /// Returns the features with their names, without the cells of those that are left out.
    fn features<'c>(
        &'c self,
        columns: &'c [Option<Cells>],
    ) -> impl Iterator<Item = (&'c str, Option<&'c Cells>)> {
        let all = self.header.iter().zip(&self.roles).zip(columns);
        all.filter(|((_, role), _)| **role == Role::Feature)
            .map(|((name, _), cells)| (name.as_str(), cells.as_ref()))
    }

    /// Returns the features as they are, with words and missing values.
    fn raw(&self, part: &Part, options: &EncodeOptions) -> Result<RawTable, Error> {
        let raw = |(name, cells): (&str, Option<&Cells>)| match cells {
            Some(cells) => {
                let codes = self.codes.iter().any(|column| column == name);
                cells.raw(name, &options.missing_words, codes)
            }
            None => Ok(RawColumn::words(name, vec![None::<&str>; part.rows()])),
        };
        RawTable::from_columns(self.features(&part.columns).map(raw).collect::<Result<_, _>>()?)
    }

    fn numbers(&self, part: &Part) -> Result<FeatureTable, Error> {
        let mut samples = DMatrix::zeros(self.feature_names.len(), part.rows());
        for (feature, (name, cells)) in self.features(&part.columns).enumerate() {
            if let Some(cells) = cells {
                cells.numbers(name, |row, value| samples[(feature, row)] = value)?;
            }
        }
        let names = Some(self.feature_names.clone());
        Ok(FeatureTable::Design { design: Design::from_samples(samples)?, names })
    }
}
