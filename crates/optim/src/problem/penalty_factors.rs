//! Penalty factors of features.

use margins_data::{Listed, Standardizer};

use crate::Error;
use crate::problem::FreeColumns;

/// How strongly the penalty acts on each feature: `lambda sum_j W_j w_j^2`, `W_j` 1 for a feature that
/// is not named.
///
/// A feature with a positive factor is one of the plain problem divided by the root of its factor; a
/// feature with the factor 0 is a [free column](FreeColumns).
///
/// ```
/// use margins_optim::problem::PenaltyFactors;
///
/// let names = ["age", "town=Bern", "town=Basel"].map(String::from);
/// let factors = PenaltyFactors::of_names(vec![("town".to_owned(), 0.0)])?;
/// assert_eq!(factors.on(Some(&names), 3)?.free().get(), [1, 2]);
/// let factors = PenaltyFactors::of_columns(vec![1.0, 0.0, 4.0])?;
/// assert_eq!(factors.on(Some(&names), 3)?.free().get(), [1]);
/// assert!(PenaltyFactors::of_columns(vec![1.0, -2.0]).is_err());
/// # Ok::<(), margins_optim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PenaltyFactors(Given);

#[derive(Debug, Clone, PartialEq)]
enum Given {
    Columns(Vec<f64>),
    Names(Vec<(String, f64)>),
}

/// Penalty factors of the features of a design.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Penalty {
    free: FreeColumns,
    roots: Option<Standardizer>,
}

impl PenaltyFactors {
    /// Takes the factors of all features, one each.
    ///
    /// # Errors
    /// [`Error::PenaltyFactor`]: a factor is negative, NaN or infinite.
    pub fn of_columns(factors: Vec<f64>) -> Result<Self, Error> {
        let numbered = factors.iter().enumerate();
        numbered.clone().try_for_each(|(j, &factor)| check(&(j + 1).to_string(), factor))?;
        Ok(PenaltyFactors(Given::Columns(factors)))
    }

    /// Takes the factors of some features. The name of an encoded column stands for all features made of
    /// it, `town` for `town=Bern`; features without names have their numbers, counted from 1.
    ///
    /// # Errors
    /// [`Error::PenaltyFactor`]: a factor is negative, NaN or infinite. [`Error::TwoPenaltyFactors`]: two
    /// factors for one name.
    pub fn of_names(factors: Vec<(String, f64)>) -> Result<Self, Error> {
        for (k, (name, factor)) in factors.iter().enumerate() {
            check(name, *factor)?;
            if factors[..k].iter().any(|(other, _)| other == name) {
                return Err(Error::TwoPenaltyFactors(name.clone()));
            }
        }
        Ok(PenaltyFactors(Given::Names(factors)))
    }

    /// Returns true if a factor is 0.
    pub fn has_free(&self) -> bool {
        match &self.0 {
            Given::Columns(factors) => factors.contains(&0.0),
            Given::Names(factors) => factors.iter().any(|(_, factor)| *factor == 0.0),
        }
    }

    /// Returns true if a factor is neither 0 nor 1.
    pub fn has_scaled(&self) -> bool {
        let is_scaled = |factor: f64| factor != 0.0 && factor != 1.0;
        match &self.0 {
            Given::Columns(factors) => factors.iter().copied().any(is_scaled),
            Given::Names(factors) => factors.iter().any(|(_, factor)| is_scaled(*factor)),
        }
    }

    /// Returns the factors of so many features with these names. A name without a feature does
    /// nothing, as for a category that the rows of a fold lack.
    ///
    /// # Errors
    /// [`Error::NoSuchFeature`]: a name that is no number, of features without names. [`Error::Shape`]: factors of another number of features. [`Error::FreeColumns`]: too many factors
    /// are 0.
    pub fn on(&self, names: Option<&[String]>, columns: usize) -> Result<Penalty, Error> {
        if names.is_none() {
            self.check_names(None, columns)?;
        }
        let factors = self.of_all(names, columns);
        if factors.len() != columns {
            let what = "penalty factors, one per feature";
            return Err(Error::Shape { what, expected: columns, found: factors.len() });
        }
        Penalty::of(&factors)
    }

    /// Returns the same as factors of all features, for features whose names are not known where the fit
    /// is made.
    #[must_use]
    pub fn numbered(&self, names: Option<&[String]>, columns: usize) -> Self {
        PenaltyFactors(Given::Columns(self.of_all(names, columns)))
    }

    fn of_all(&self, names: Option<&[String]>, columns: usize) -> Vec<f64> {
        match &self.0 {
            Given::Columns(factors) => factors.clone(),
            Given::Names(given) => {
                let mut factors = vec![1.0; columns];
                for (name, factor) in given {
                    features_of(name, names, columns)
                        .into_iter()
                        .for_each(|j| factors[j] = *factor);
                }
                factors
            }
        }
    }

    /// Refuses a name that is no feature.
    ///
    /// # Errors
    /// [`Error::NoSuchFeature`], and the errors of [`on`](Self::on).
    pub fn check(&self, names: Option<&[String]>, columns: usize) -> Result<(), Error> {
        self.check_names(names, columns)?;
        self.on(names, columns).map(drop)
    }

    fn check_names(&self, names: Option<&[String]>, columns: usize) -> Result<(), Error> {
        if let Given::Names(given) = &self.0 {
            let is_unknown =
                |(name, _): &&(String, f64)| features_of(name, names, columns).is_empty();
            if let Some((name, _)) = given.iter().find(is_unknown) {
                let features = match names {
                    Some(names) => Listed(names).to_string(),
                    None => format!("numbers from 1 to {columns}"),
                };
                return Err(Error::NoSuchFeature { name: name.clone(), features });
            }
            let mut seen = vec![false; columns];
            for (name, _) in given {
                for j in features_of(name, names, columns) {
                    if std::mem::replace(&mut seen[j], true) {
                        return Err(Error::TwoPenaltyFactors(name.clone()));
                    }
                }
            }
        }
        Ok(())
    }
}

impl std::fmt::Display for PenaltyFactors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words: Vec<String> = match &self.0 {
            Given::Columns(factors) => factors.iter().map(|factor| format!("{factor:?}")).collect(),
            Given::Names(factors) => {
                factors.iter().map(|(name, factor)| format!("{name}={factor:?}")).collect()
            }
        };
        f.write_str(&words.join(" "))
    }
}

fn check(feature: &str, value: f64) -> Result<(), Error> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(Error::PenaltyFactor { feature: feature.to_owned(), value })
}

fn features_of(name: &str, names: Option<&[String]>, columns: usize) -> Vec<usize> {
    let Some(names) = names else {
        let number = name.parse::<usize>().ok().filter(|k| (1..=columns).contains(k));
        return number.map(|k| k - 1).into_iter().collect();
    };
    let having = |is_one: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..names.len()).filter(|&j| is_one(&names[j])).collect()
    };
    let missing = format!("{name} (missing)");
    if names.iter().any(|other| other == name) {
        return having(&|other| other == name || other == missing);
    }
    let level = format!("{name}=");
    having(&|other| other.starts_with(&level) || other == missing)
}

impl Penalty {
    /// Returns the factors of all features, which are finite and not negative.
    fn of(factors: &[f64]) -> Result<Self, Error> {
        let columns = (0..factors.len()).filter(|&j| factors[j] == 0.0).collect();
        let is_plain = factors.iter().all(|&w| w == 0.0 || w == 1.0);
        let root = |&w: &f64| if w == 0.0 { 1.0 } else { w.sqrt() };
        let roots = || {
            let roots = factors.iter().map(root).collect();
            Standardizer::of(vec![0.0; factors.len()], roots)
        };
        Ok(Penalty { free: FreeColumns::new(columns)?, roots: (!is_plain).then(roots) })
    }

    /// Returns the features with the factor 0.
    pub fn free(&self) -> &FreeColumns {
        &self.free
    }

    /// Returns the norm whose square the penalty has, `sqrt(sum_j W_j (w_j / s_j)^2)` of coefficients w,
    /// for features that are multiplied by the scales s before the fit, by default by 1. Features with the
    /// factor 0 do not count.
    ///
    /// ```
    /// use margins_optim::problem::PenaltyFactors;
    ///
    /// let penalty = PenaltyFactors::of_columns(vec![0.0, 4.0, 1.0])?.on(None, 3)?;
    /// assert_eq!(penalty.norm(&[7.0, 2.0, 3.0], None), 5.0);
    /// assert_eq!(penalty.norm(&[7.0, 0.5, 1.5], Some(&[1.0, 0.25, 0.5])), 5.0);
    /// # Ok::<(), margins_optim::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the coefficients, the scales and the factors are not as many.
    pub fn norm(&self, coef: &[f64], scales: Option<&[f64]>) -> f64 {
        let mut scaled = self.free.penalised(coef).into_owned();
        let roots = self.roots.as_ref().map(Standardizer::factors);
        for factors in [scales, roots.as_deref()].into_iter().flatten() {
            assert_eq!(factors.len(), scaled.len(), "one factor a coefficient");
            scaled.iter_mut().zip(factors).for_each(|(w, factor)| *w /= factor);
        }
        scaled.iter().map(|w| w * w).sum::<f64>().sqrt()
    }

    /// Returns the scaling that divides each feature by the root of its factor; `None` if all are 0 or 1.
    pub(crate) fn roots(&self) -> Option<&Standardizer> {
        self.roots.as_ref()
    }
}
