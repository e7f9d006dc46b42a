//! The functions that a classifier combines: linear in the features, in the space of a kernel, or
//! in features that approximate one. They are fitted, selected and saved by the same functions.

mod constant;
mod joint;
mod kernel;
mod leave_one_out;

use std::borrow::Cow;

use margins_data::split::{Splits, fold_indices};
use margins_data::{ClassLabels, Classes, Dataset, Design};
use margins_losses::MarginLoss;
use margins_model::Basis;
use margins_optim::certificate::DualSolution;
use margins_optim::problem::JointForm;
use margins_optim::{
    CrossValidatedPath, ErrorCurve, Fit, Lambda, Objective, Training, cross_validate,
};
use margins_robust::{RobustLearner, unpenalised, unpenalised_from};

pub(crate) use constant::{constant_fits, decided_sign, of_absent_classes};
pub(in crate::regularised) use joint::{all_of, by_class};
pub use kernel::{PRECOMPUTED, Preparation};
pub(super) use kernel::{duals_of_coefficients, kernel_features, seen_by_kernel};

use super::approximation::Approximation;
use crate::Error;

/// Data made ready for fits in a space of functions: all that lambdas and folds have in common.
#[derive(Debug)]
pub struct Prepared<'d> {
    data: Cow<'d, Dataset>,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Linear,
    Kernel(Box<kernel::Form>),
}

impl<'d> Prepared<'d> {
    /// Returns the data made ready for linear classifiers; with `standardize` features are scaled
    /// to unit standard deviation, separately in every fold.
    pub fn linear(data: &'d Dataset) -> Self {
        Prepared { data: Cow::Borrowed(data), form: Form::Linear }
    }

    /// Returns the same with data of its own; features are shared.
    pub fn into_owned(self) -> Prepared<'static> {
        Prepared { data: Cow::Owned(self.data.into_owned()), form: self.form }
    }

    /// Returns the same with features whose encoding was learned from these rows alone; `None` for
    /// data that were not encoded.
    pub(super) fn learned_on(&self, rows: &[usize]) -> Result<Option<Prepared<'_>>, Error> {
        let data = match self.data.learned_on(rows)? {
            Cow::Borrowed(_) => return Ok(None),
            data => data,
        };
        let form = match &self.form {
            Form::Linear => Some(Form::Linear),
            Form::Kernel(form) => {
                form.learned_from(&data)?.map(|form| Form::Kernel(Box::new(form)))
            }
        };
        Ok(form.map(|form| Prepared { data, form }))
    }

    /// Returns the features, if the functions are linear in those of the data.
    pub(super) fn linear_design(&self) -> Option<&Design> {
        matches!(self.form, Form::Linear).then(|| self.data.design())
    }

    /// Returns the names of the features that fits are linear in; those of a map have none.
    pub(super) fn feature_names(&self) -> Option<&[String]> {
        self.data.feature_names().filter(|_| matches!(self.form, Form::Linear))
    }

    pub(super) fn data(&self) -> &Dataset {
        &self.data
    }

    /// Returns some of the rows to learn from, or all of them if none are named.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn subset<'s>(&'s self, rows: Option<&'s [usize]>) -> Subset<'s> {
        let features = match &self.form {
            Form::Linear => self.data.design(),
            Form::Kernel(form) => form.features().unwrap_or(self.data.design()),
        };
        Subset {
            kernel: match &self.form {
                Form::Linear => None,
                Form::Kernel(form) => Some(form.part(rows)),
            },
            rows,
            names: self.feature_names(),
            design: rows.map_or_else(|| features.clone(), |rows| features.select(rows)),
        }
    }

    /// Returns the fits at every lambda, largest first.
    ///
    /// # Errors
    /// [`Training::path`] and `margins_kernels::path` say which.
    pub fn path<L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
        lambdas: &[Lambda],
    ) -> Result<Vec<Fit>, Error> {
        self.subset(None).path(training, None, &self.data, lambdas)
    }

    /// Calls `take` for the scores that rows get from the fits without their fold, which are made of the
    /// data as they were learned without it: with at most `most` rows at a time, and for each of the fits
    /// the scores of these rows.
    pub(super) fn each_held_out(
        &self,
        folds: &[usize],
        most: usize,
        fits: impl Fn(&Prepared<'_>, &[usize]) -> Result<Vec<Fit>, Error>,
        mut take: impl FnMut(&[usize], Vec<Vec<f64>>),
    ) -> Result<(), Error> {
        let count = folds.iter().max().map_or(0, |last| last + 1);
        for fold in 0..count {
            let (train, test) = fold_indices(folds, fold);
            let learned = self.learned_on(&train)?;
            let prepared = learned.as_ref().unwrap_or(self);
            let fits = fits(prepared, &train)?;
            let scorer = prepared.scorer(&fits);
            for rows in test.chunks(most) {
                take(rows, scorer.scores_of(rows)?);
            }
        }
        Ok(())
    }

    /// Returns the cross-validated error along the lambdas, and the fits on all of the data at each
    /// of them if these come with it, as they do for classifiers that are linear in features.
    ///
    /// # Errors
    /// [`path`](Self::path) and [`margins_optim::cross_validate`] say which.
    pub fn cross_validate<'s, L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
        splits: impl Into<Splits<'s>>,
        lambdas: &[Lambda],
    ) -> Result<(ErrorCurve, Option<Vec<Fit>>), Error> {
        let splits = splits.into();
        match &self.form {
            Form::Linear => linear_cross_validate(training, &self.data, splits, lambdas),
            Form::Kernel(form) => form.cross_validate(self, training, splits, lambdas),
        }
    }

    /// Returns the scores of some of the samples under every fit, one list a fit.
    ///
    /// # Errors
    /// Kernel values or scores that are not finite.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn scores_of(&self, fits: &[Fit], rows: &[usize]) -> Result<Vec<Vec<f64>>, Error> {
        self.scorer(fits).scores_of(rows)
    }

    /// Returns the fits ready to score some rows after others.
    pub(super) fn scorer<'p>(&'p self, fits: &'p [Fit]) -> Scorer<'p> {
        let sections = match &self.form {
            Form::Linear => kernel::Sections::default(),
            Form::Kernel(form) => form.sections(fits),
        };
        Scorer { prepared: self, fits, sections }
    }

    /// Returns the scores of the data themselves.
    ///
    /// # Errors
    /// Kernel values or scores that are not finite.
    pub fn scores(&self, fit: &Fit) -> Result<Vec<f64>, Error> {
        let scores = match &self.form {
            Form::Linear => fit.decision_function(self.data.design()),
            Form::Kernel(form) => form.scores(fit)?,
        };
        margins_optim::Error::check_scores(&scores, 0..scores.len())?;
        Ok(scores)
    }

    /// Returns the norm of a function of the kernel, the root of `a'Ka`, without what stands beside it;
    /// `None` of a linear function.
    pub(super) fn kernel_norm(&self, fit: &Fit) -> Option<Result<f64, Error>> {
        match &self.form {
            Form::Linear => None,
            Form::Kernel(form) => Some(form.norm(fit)),
        }
    }

    /// Returns true if the coefficients of fits are those of kernel sections at all samples.
    pub(super) fn is_in_sample_space(&self) -> bool {
        matches!(&self.form, Form::Kernel(form) if form.gram().is_some())
    }

    /// Returns the squares of the norms of all samples in the space of the functions, by which the scores
    /// of a function are bounded.
    pub(super) fn squared_norms<L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
    ) -> Result<Vec<f64>, Error> {
        match &self.form {
            Form::Linear => Ok(training.squared_norms(&self.data)?),
            Form::Kernel(form) => form.squared_norms(),
        }
    }

    /// Returns the features of a map that take the place of the kernel, if there are any.
    pub(super) fn map_features(&self) -> Option<&Design> {
        match &self.form {
            Form::Linear => None,
            Form::Kernel(form) => form.features(),
        }
    }

    /// Returns the matrix of the kernel that Nystrom features approximate, if they do.
    pub(super) fn approximated(&self) -> Option<Result<margins_kernels::Gram, Error>> {
        match &self.form {
            Form::Linear => None,
            Form::Kernel(form) => form.approximated(),
        }
    }

    /// Returns the functions that a model of the fits has to hold, and the coefficients of every
    /// fit. The fits share the functions; of kernel sections the model holds those alone that any
    /// fit has a use for.
    ///
    /// # Errors
    /// More features than a model can have.
    pub fn basis(
        &self,
        fits: &[&Fit],
    ) -> Result<(Option<Basis>, Vec<Vec<f64>>), margins_model::Error> {
        match &self.form {
            Form::Linear => Ok((None, coefs(fits))),
            Form::Kernel(form) => form.basis(fits),
        }
    }

    /// Returns the dual variables of a fit with its constrained form.
    ///
    /// # Errors
    /// [`Training::risk`] says which; kernel values that are not finite.
    pub(super) fn dual_solution<L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
        data: &Dataset,
        fit: &Fit,
    ) -> Result<DualSolution, Error> {
        match &self.form {
            Form::Linear => Ok(training.dual_solution(data, fit)?),
            Form::Kernel(form) => form.dual_solution(training.risk(data)?, fit),
        }
    }

    /// Returns the number of coefficients of a fit: one per feature, or a sample of the kernel matrix.
    pub(super) fn coefficients(&self) -> usize {
        match &self.form {
            Form::Linear => self.data.columns(),
            Form::Kernel(form) => form.features().map_or(self.data.rows(), Design::columns),
        }
    }

    /// Returns the specification of the kernel; `None` for linear classifiers.
    pub fn kernel_specification(&self) -> Option<String> {
        match &self.form {
            Form::Linear => None,
            Form::Kernel(form) => Some(form.kernel_specification()),
        }
    }

    /// Returns the number of coefficients that a fit has to choose: features, samples, or features
    /// of a map.
    pub fn dimension(&self) -> usize {
        match &self.form {
            Form::Linear => self.data.columns(),
            Form::Kernel(form) => form.dimension(),
        }
    }
}

/// Fits with what their scores have in common: with a kernel, one copy of all coefficients.
pub(super) struct Scorer<'p> {
    prepared: &'p Prepared<'p>,
    fits: &'p [Fit],
    sections: kernel::Sections,
}

impl Scorer<'_> {
    /// Returns the scores of some of the samples, as [`Prepared::scores_of`] does.
    pub(super) fn scores_of(&self, rows: &[usize]) -> Result<Vec<Vec<f64>>, Error> {
        let scores = match &self.prepared.form {
            Form::Linear => linear_scores_of(self.prepared.data.design(), self.fits, rows),
            Form::Kernel(form) => form.scores_of(self.fits, &self.sections, rows)?,
        };
        let check =
            |scores: &Vec<f64>| margins_optim::Error::check_scores(scores, rows.iter().copied());
        scores.iter().try_for_each(check)?;
        Ok(scores)
    }
}

/// Returns the fits of the learner, or of the regularised risk without one, to the features of the
/// data.
fn linear_path<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    learner: Option<&RobustLearner>,
    data: &Dataset,
    lambdas: &[Lambda],
) -> Result<Vec<Fit>, Error> {
    if lambdas == [Lambda::NONE] {
        let solve = |objective: &Objective<'_, L>| {
            let fit = match training.start {
                Some(start) => unpenalised_from(objective, start, &training.options)?,
                None => unpenalised(objective, &training.options)?,
            };
            Ok::<_, Error>(vec![fit])
        };
        return training.path_with(data, solve);
    }
    let Some(learner) = learner else { return Ok(training.path(data, lambdas)?) };
    let solve = |objective: &Objective<'_, L>| {
        learner.path(objective, lambdas, &training.options, training.observer)
    };
    Ok(training.path_with(data, solve)?)
}

fn linear_cross_validate<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    data: &Dataset,
    splits: Splits<'_>,
    lambdas: &[Lambda],
) -> Result<(ErrorCurve, Option<Vec<Fit>>), Error> {
    let CrossValidatedPath { curve, fits } = cross_validate(training, data, splits, lambdas)?;
    Ok((curve, (!fits.is_empty()).then_some(fits)))
}

fn linear_scores_of(design: &Design, fits: &[Fit], rows: &[usize]) -> Vec<Vec<f64>> {
    /// The number of values that are copied at a time, 1 MB, which stay in the cache.
    const VALUES: usize = 1 << 17;
    let most = (VALUES / design.columns().max(1)).max(16);
    let mut scores = vec![Vec::with_capacity(rows.len()); fits.len()];
    for rows in rows.chunks(most) {
        let chosen = design.select(rows);
        for (scores, fit) in scores.iter_mut().zip(fits) {
            scores.extend(fit.decision_function(&chosen));
        }
    }
    scores
}

fn norm(coef: &[f64]) -> f64 {
    coef.iter().map(|w| w * w).sum::<f64>().sqrt()
}

fn coefs(fits: &[&Fit]) -> Vec<Vec<f64>> {
    fits.iter().map(|fit| fit.coef.clone()).collect()
}

/// Rows of prepared data to learn from, with all that fits to them have in common.
#[derive(Debug)]
pub struct Subset<'s> {
    kernel: Option<kernel::Part<'s>>,
    rows: Option<&'s [usize]>,
    names: Option<&'s [String]>,
    /// The features of these rows, or the ones in their place.
    design: Design,
}

impl Subset<'_> {
    /// Returns the fits of the learner, or of the regularised risk without one, at every lambda,
    /// largest first. The data are those that were prepared, all rows of them, perhaps with other
    /// labels or weights; so are the functions that the coefficients belong to. Where one of the two
    /// classes has no weight the fits decide the other for every sample.
    ///
    /// # Errors
    /// [`Training::path`], `margins_kernels::path` and [`RobustLearner::path`] say which; a learner that
    /// takes no kernel matrix.
    pub fn path<L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
        learner: Option<&RobustLearner>,
        data: &Dataset,
        lambdas: &[Lambda],
    ) -> Result<Vec<Fit>, Error> {
        if let Some(sign) = constant::decided_sign(data, self.rows) {
            return Ok(constant::constant_fits(sign, self.coefs(data.rows()), lambdas));
        }
        if let Some(part) = &self.kernel {
            return part.path(self, training, learner, data, lambdas);
        }
        linear_path(training, learner, &self.chosen(data)?, lambdas)
    }

    /// Returns the fits of every class at every lambda, largest first, from one problem for all classes
    /// that have weight in these rows. No sample is decided for another class. Where one class alone
    /// has weight, every sample is.
    ///
    /// # Errors
    /// [`Training::joint_path`] and [`margins_kernels::joint_path`] say which.
    pub(super) fn joint_path(
        &self,
        training: &Training<'_, dyn MarginLoss>,
        form: JointForm,
        data: &Dataset<Classes>,
        lambdas: &[Lambda],
    ) -> Result<Vec<Vec<Fit>>, Error> {
        let chosen = self.chosen(data)?;
        let (classes, coefs) = (chosen.labels().names().len(), self.coefs(data.rows()));
        let weighs = |row: usize| chosen.weights().is_none_or(|weights| weights[row] > 0.0);
        let mut present: Vec<usize> = (0..chosen.rows())
            .filter(|&row| weighs(row))
            .map(|row| chosen.labels().index(row))
            .collect();
        present.sort_unstable();
        present.dedup();
        if let [class] = present[..] {
            return Ok(all_of(class, classes, coefs, lambdas));
        }
        let fits = match &self.kernel {
            Some(part) => part.joint_path(self, training, form, (data, &chosen), lambdas)?,
            None => joint::fits(training, form, &chosen, lambdas)?,
        };
        Ok(by_class(fits, classes, coefs, lambdas))
    }

    /// Returns the number of coefficients of a fit, of which the prepared data have this number of rows.
    fn coefs(&self, rows: usize) -> usize {
        let is_of_samples = self.kernel.as_ref().is_some_and(|part| !part.has_features());
        if is_of_samples { rows } else { self.design.columns() }
    }

    /// Returns coefficients of these rows as those of all rows of the data; copies of a row add up.
    fn in_all(&self, coef: Vec<f64>, all: usize) -> Vec<f64> {
        let Some(rows) = self.rows else { return coef };
        let mut of_all = vec![0.0; all];
        rows.iter().zip(coef).for_each(|(&i, a)| of_all[i] += a);
        of_all
    }

    /// Returns these rows of the data, with the features in place.
    fn chosen<Y: ClassLabels>(&self, data: &Dataset<Y>) -> Result<Dataset<Y>, Error> {
        let design = self.design.clone();
        let chosen = match self.rows {
            Some(rows) => data.select_as(rows, design),
            None => data.over(design),
        }?;
        Ok(match self.names {
            Some(names) => chosen.with_feature_names(names.to_vec())?,
            None => chosen,
        })
    }
}

/// Returns the lambdas of the warm starts, largest first, that lead a fit to the one at an index.
pub(crate) fn approach_to(lambdas: &[Lambda], at: usize) -> Vec<Lambda> {
    const STRIDE: usize = 16;
    (0..=at).filter(|k| (at - k).is_multiple_of(STRIDE)).map(|k| lambdas[k]).collect()
}
