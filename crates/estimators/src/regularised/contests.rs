//! Several classes as binary problems.

mod fitting;

use std::borrow::Cow;
use std::time::Instant;

use margins_data::metrics::mistake_rate;
use margins_data::{ClassLabels, Classes, Dataset, Labels, Standardizer, parallel};
use margins_model::Scheme;
use margins_optim::Fit;
use margins_optim::method::is_over;
use margins_robust::RobustLearner;

pub(super) use fitting::{Fitting, form_of};

use super::prepared::{Prepared, decided_sign};
use crate::Error;

/// The scores of a block of rows, which stay in the cache while the rows are decided.
const BLOCK: usize = if cfg!(test) { 100 } else { 1 << 16 };

/// The binary problems that the classes of a data set are broken into, one per member of the scheme.
#[derive(Debug)]
pub(super) struct Contests {
    data: Dataset<Classes>,
    scheme: Scheme,
    /// The learner of all contests; `None` for fits of the regularised risk.
    learner: Option<RobustLearner>,
    each: Vec<Contest>,
    first: Dataset,
}

pub(super) struct ContestData {
    /// All rows, with the labels of the two sides.
    pub(super) data: Dataset,
    /// The rows that take part; `None` if all do.
    pub(super) rows: Option<Vec<usize>>,
}

/// The margins of the samples that take part in a contest, with their rows.
pub(super) struct MemberMargins {
    pub(super) rows: Vec<usize>,
    pub(super) margins: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
enum Contest {
    /// A class against all others.
    Rest(usize),
    /// The second class against the first; no other takes part.
    Pair(usize, usize),
}

impl Contest {
    /// Returns all rows, with the labels of the two sides.
    fn data(self, all: &Dataset<Classes>) -> Result<Dataset, Error> {
        Ok(all.relabelled(self.labels(all.labels(), None))?)
    }

    /// Returns the labels of the two sides, of all rows or of those of a pair.
    fn labels(self, classes: &Classes, rows: Option<&[usize]>) -> Labels {
        match (self, rows) {
            (Contest::Rest(class), _) => classes.against_rest(class),
            (Contest::Pair(i, j), None) => classes.between(i, j),
            (Contest::Pair(i, j), Some(rows)) => classes.pair(i, j, rows),
        }
    }

    /// Returns true if the rows of a class take part.
    fn has(self, class: usize) -> bool {
        match self {
            Contest::Rest(_) => true,
            Contest::Pair(i, j) => class == i || class == j,
        }
    }

    /// Returns the rows that take part, ascending, of those that each class has; `None` if all take
    /// part.
    fn rows(self, by_class: &[Vec<usize>]) -> Option<Vec<usize>> {
        let Contest::Pair(i, j) = self else { return None };
        let mut rows = [&by_class[i][..], &by_class[j]].concat();
        rows.sort_unstable();
        Some(rows)
    }
}

/// Returns the margins of some samples by the first of the fits.
fn margins_of(
    data: &Dataset,
    rows: &[usize],
    prepared: &Prepared<'_>,
    fits: &[Fit],
) -> Result<Vec<f64>, Error> {
    let (signs, scorer) = (data.labels().signs(), prepared.scorer(fits));
    let blocks: Vec<&[usize]> = rows.chunks(BLOCK).collect();
    let margins = parallel::try_map(0..blocks.len(), |block| {
        let scores = scorer.scores_of(blocks[block])?;
        let margin = |(score, &row): (&f64, &usize)| score * signs[row];
        Ok::<_, Error>(scores[0].iter().zip(blocks[block]).map(margin).collect::<Vec<f64>>())
    })?;
    Ok(margins.concat())
}

impl Contests {
    pub(super) fn new(
        scheme: Scheme,
        data: Dataset<Classes>,
        learner: Option<RobustLearner>,
    ) -> Result<Self, Error> {
        let count = data.labels().names().len();
        let each: Vec<Contest> = match scheme {
            Scheme::Binary | Scheme::Majority | Scheme::DecisionList => vec![Contest::Rest(1)],
            Scheme::OneVersusRest
            | Scheme::Joint
            | Scheme::Multinomial
            | Scheme::CrammerSinger
            | Scheme::MajorityVersusRest
            | Scheme::Plurality => (0..count).map(Contest::Rest).collect(),
            Scheme::OneVersusOne => {
                Scheme::pairs(count).map(|(i, j)| Contest::Pair(i, j)).collect()
            }
        };
        let first = each[0].data(&data)?;
        Ok(Contests { data, scheme, learner, each, first })
    }

    pub(super) fn scheme(&self) -> Scheme {
        self.scheme
    }

    pub(super) fn len(&self) -> usize {
        self.each.len()
    }

    /// Returns the names of the problems that are solved.
    pub(super) fn problems(&self) -> Vec<String> {
        self.scheme.problem_names(self.data.labels().names())
    }

    /// Returns the rows of every class, of those that are named or of all.
    fn rows_by_class(&self, among: Option<&[usize]>) -> Vec<Vec<usize>> {
        let labels = self.data.labels();
        let Some(among) = among else { return labels.rows_by_class() };
        let mut rows = vec![Vec::new(); labels.names().len()];
        among.iter().for_each(|&row| rows[labels.index(row)].push(row));
        rows
    }

    /// Returns the number of rows of the contest that has most of them.
    pub(super) fn largest(&self) -> usize {
        if self.scheme != Scheme::OneVersusOne {
            return self.data.rows();
        }
        let mut rows: Vec<usize> = self.rows_by_class(None).iter().map(Vec::len).collect();
        rows.sort_unstable();
        rows.iter().rev().take(2).sum()
    }

    /// Returns what every contest is fitted to.
    pub(super) fn datasets(&self) -> Result<Vec<ContestData>, Error> {
        let by_class = self.rows_by_class(None);
        let own = |contest: &Contest| {
            Ok(ContestData { data: contest.data(&self.data)?, rows: contest.rows(&by_class) })
        };
        self.each.iter().map(own).collect()
    }

    pub(super) fn classes(&self) -> &Dataset<Classes> {
        &self.data
    }

    /// Returns the data of one of the contests; its samples are those of all.
    pub(super) fn any(&self) -> &Dataset {
        &self.first
    }

    /// Returns true if one side of the first contest has no weight.
    pub(super) fn first_is_decided(&self) -> bool {
        decided_sign(&self.first, None).is_some()
    }

    /// Returns the factors by which the fit of each contest scales the features to unit standard deviation
    /// of the rows that take part.
    pub(super) fn scales(&self) -> Vec<Vec<f64>> {
        let scales =
            |data: &Dataset<Classes>| Standardizer::fit(data.design(), data.weights()).factors();
        let (all, by_class) = (scales(&self.data), self.rows_by_class(None));
        let of = |contest: &Contest| {
            let rows = contest.rows(&by_class);
            rows.map_or_else(|| all.clone(), |rows| scales(&self.data.select(&rows)))
        };
        self.each.iter().map(of).collect()
    }

    fn data_of(&self, member: usize) -> Result<Cow<'_, Dataset>, Error> {
        match member {
            0 => Ok(Cow::Borrowed(&self.first)),
            _ => self.each[member].data(&self.data).map(Cow::Owned),
        }
    }

    /// Returns the margins `y_i f(x_i)` of the samples of the only contest; `None` if there are several.
    pub(super) fn margins(
        &self,
        prepared: &Prepared<'_>,
        fits: &[Fit],
    ) -> Result<Option<Vec<f64>>, Error> {
        if self.len() > 1 {
            return Ok(None);
        }
        let scores = prepared.scores(&fits[0])?;
        let signs = self.first.labels().signs();
        Ok(Some(scores.iter().zip(signs).map(|(score, y)| score * y).collect()))
    }

    /// Returns the margins of every contest.
    pub(super) fn margins_of_members(
        &self,
        prepared: &Prepared<'_>,
        fits: &[Fit],
    ) -> Result<Vec<MemberMargins>, Error> {
        let of = |(ContestData { data, rows }, fit): (ContestData, &Fit)| {
            let rows = rows.unwrap_or_else(|| (0..data.rows()).collect());
            let margins = margins_of(&data, &rows, prepared, std::slice::from_ref(fit))?;
            Ok(MemberMargins { rows, margins })
        };
        self.datasets()?.into_iter().zip(fits).map(of).collect()
    }

    /// Returns the share of samples whose class the fits, one per contest, together do not decide, by
    /// the weights of the samples; `None` if the deadline comes first. Costs of classes do not count.
    pub(super) fn training_error(
        &self,
        prepared: &Prepared<'_>,
        fits: &[Fit],
        deadline: Option<Instant>,
    ) -> Result<Option<f64>, Error> {
        const LEAST_ROWS: usize = 16;
        /// The seconds that a score takes at least, with its part in the decision.
        const SECONDS: f64 = 4e-9;
        let (n, labels) = (self.data.rows(), self.data.labels());
        let most = (BLOCK / self.len()).max(LEAST_ROWS);
        let blocks = n.div_ceil(most);
        let predicted = SECONDS * (n * self.len()) as f64 / parallel::threads() as f64;
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if blocks > 1 && left.is_some_and(|left| left.as_secs_f64() < predicted) {
            return Ok(None);
        }
        let scorer = prepared.scorer(fits);
        let mistakes = parallel::try_map(0..blocks, |block| {
            if blocks > 1 && is_over(deadline) {
                return Ok(None);
            }
            let rows: Vec<usize> = (block * most..n.min((block + 1) * most)).collect();
            let scores = scorer.scores_of(&rows)?;
            let is_wrong = |(t, &row): (usize, &usize)| {
                let of_row: Vec<f64> = scores.iter().map(|scores| scores[t]).collect();
                self.scheme.decide(labels.names().len(), &of_row) != labels.index(row)
            };
            Ok::<_, Error>(Some(rows.iter().enumerate().map(is_wrong).collect::<Vec<bool>>()))
        })?;
        let Some(mistakes) = mistakes.into_iter().collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let mistakes = mistakes.concat();
        Ok(Some(mistake_rate(&mistakes, self.data.own_weights())?.rate))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use margins_data::{ClassLabels, Classes, Dataset, Design};
    use margins_model::{Registry, Scheme};
    use margins_optim::Lambda;

    use crate::regularised::platt::{PlattFolds, platt_scaling};
    use crate::regularised::{ClassifierSettings, Probabilities, Regularisation};

    fn settings(scheme: Scheme, probabilities: Probabilities) -> ClassifierSettings {
        let regularisation = Regularisation::Single(Lambda::new(0.01).unwrap());
        ClassifierSettings {
            scheme: Some(scheme),
            regularisation,
            probabilities,
            ..ClassifierSettings::default()
        }
    }

    /// Counted a few rows at a time, the error is that of decisions on all rows at once.
    #[test]
    fn the_training_error_is_that_of_all_rows() {
        let rows: Vec<[f64; 2]> =
            (0..90).map(|i| [f64::from(i % 5) + f64::from(i).sin(), f64::from(i).cos()]).collect();
        let names: Vec<String> = (0..90).map(|i| format!("class {}", i % 5)).collect();
        let design = Design::from_rows(&rows).unwrap();
        let data = Dataset::new(design, Classes::new(&names).unwrap()).unwrap();
        for scheme in [Scheme::OneVersusRest, Scheme::OneVersusOne] {
            let fitted = settings(scheme, Probabilities::default()).fit(&data).unwrap();
            let classes = fitted.model.predict(data.design(), &Registry::standard()).unwrap();
            let wrong = (0..90).filter(|&row| classes[row] != data.labels().index(row)).count();
            assert!(wrong > 0);
            assert!((fitted.training_error().unwrap() - wrong as f64 / 90.0).abs() < 1e-15);
            let within = |time: Duration| fitted.training_error_within(time).unwrap();
            assert_eq!(within(Duration::MAX), Some(fitted.training_error().unwrap()));
            assert_eq!(within(Duration::ZERO), None);
        }
    }

    /// Every contest is scaled by the held-out scores of the rows that take part in it.
    #[test]
    fn scalings_are_those_of_the_rows_that_take_part() {
        let n = 60;
        let rows: Vec<[f64; 1]> = (0..n).map(|i| [f64::from(i % 3) + f64::from(i).sin()]).collect();
        let names: Vec<String> = (0..n).map(|i| format!("class {}", i % 3)).collect();
        let design = Design::from_rows(&rows).unwrap();
        let data = Dataset::new(design.clone(), Classes::new(&names).unwrap()).unwrap();
        let platt = Probabilities::Platt { folds: Some(2) };
        let fitted = settings(Scheme::OneVersusOne, platt).fit(&data).unwrap();
        let folds =
            PlattFolds::new(&data, Some(2), ClassifierSettings::default().seed).unwrap().of_rows;
        let binary = settings(Scheme::Binary, Probabilities::default());
        for ((i, j), member) in Scheme::pairs(3).zip(fitted.model.members()) {
            let (mut scores, mut signs) = (Vec::new(), Vec::new());
            for fold in 0..2 {
                let own = (0..n as usize).filter(|row| [i, j].contains(&(row % 3)));
                let (test, train): (Vec<usize>, Vec<usize>) =
                    own.partition(|&row| folds[row] == fold);
                let labels: Vec<&String> = train.iter().map(|&row| &names[row]).collect();
                let part = Dataset::new(design.select(&train), Classes::new(&labels).unwrap());
                let model = binary.fit(&part.unwrap()).unwrap().model;
                let held_out =
                    model.decision_function(&design.select(&test), &Registry::standard());
                scores.extend(held_out.unwrap());
                signs.extend(test.iter().map(|&row| if row % 3 == j { 1.0 } else { -1.0 }));
            }
            let expected = platt_scaling(&scores, &signs, None).unwrap();
            let scaling = member.platt.unwrap();
            assert!((scaling.slope() - expected.slope()).abs() < 1e-6, "{scaling:?}, {expected:?}");
        }
    }
}
