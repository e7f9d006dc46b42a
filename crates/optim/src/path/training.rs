//! The settings between a data set and its fits.

use std::borrow::Cow;
use std::ops::ControlFlow;

use margins_data::metrics::Measure;
use margins_data::{ClassLabels, Classes, Dataset, Design, Sample, Standardizer};
use margins_losses::MarginLoss;
use nalgebra::DMatrix;

use super::held_out::FinishedFolds;
use super::joint::{JointFit, joint_path};
use super::joint_on_kernel::{joint_path_by_products, joint_path_on_matrix};
use super::sensitivity::Sensitivity;
use crate::certificate::DualSolution;
use crate::method::{Ending, Iteration, Observed, Watch};
use crate::online::stochastic::{self, Rescaled, StochasticGradient};
use crate::problem::{
    EmpiricalRisk, FreeColumns, JointForm, JointObjective, Penalty, PenaltyFactors,
};
use crate::{Error, Fit, Lambda, Objective, Observer, Options, Status, path};

/// The rule by which classes multiply the weights that the data give to samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClassWeights {
    /// The weights stay those of the data.
    #[default]
    AsGiven,
    /// The weights are multiplied by `total / (2 total of the class)`, so that both classes have
    /// the same total weight and the total stays what it was.
    Balanced,
}

/// The settings between a data set and its fits: the loss, the weights of samples and features, and
/// the solver.
#[derive(Clone, Copy)]
pub struct Training<'a, L: MarginLoss + ?Sized> {
    /// The loss.
    pub loss: &'a L,
    /// True if there is an intercept.
    pub intercept: bool,
    /// True if features are scaled to unit standard deviation before the fit, sparse ones kept
    /// sparse. Coefficients are reported for the features as given; the penalty acts on the
    /// coefficients of the scaled ones.
    pub standardize: bool,
    /// How strongly the penalty acts on each feature; by default on all alike. Of features that are
    /// scaled first, it acts on the scaled ones.
    pub penalty: Option<&'a PenaltyFactors>,
    /// The point `(b, w)` at which a fit without a penalty starts; by default the origin.
    pub start: Option<&'a [f64]>,
    /// The weights of the classes.
    pub class_weights: ClassWeights,
    /// The number of rows that lambda is meant for, if a fit may be to a part of them: the losses
    /// are then divided by it, so that `C = 1/(2 n lambda)` is the same for every part. By default
    /// the losses are divided by the number of rows of the fit, and lambda is the same for every
    /// part.
    pub of_rows: Option<usize>,
    /// The solver.
    pub options: Options<'a>,
    /// The measure by which a cross-validation chooses lambda.
    pub measure: Measure,
    /// True if cross-validation may leave lambdas out of the later folds that the earlier ones have
    /// shown to be hopeless; [`error_curve`](crate::error_curve) has the rule.
    pub abandon_hopeless: bool,
    /// Where the finished folds of a cross-validation are stored, and those of an earlier run are
    /// found; by default nowhere.
    pub finished: Option<&'a dyn FinishedFolds>,
    /// The observer that sees every fit as it is made, from any thread that makes one.
    pub observer: &'a Observer<'a>,
}

impl<'a, L: MarginLoss + ?Sized> Training<'a, L> {
    /// Returns the settings of a loss: an intercept, features and classes as given, default
    /// options.
    pub fn new(loss: &'a L) -> Self {
        Training {
            loss,
            intercept: true,
            standardize: false,
            penalty: None,
            start: None,
            class_weights: ClassWeights::AsGiven,
            of_rows: None,
            options: Options::default(),
            measure: Measure::Error,
            abandon_hopeless: false,
            finished: None,
            observer: &|_| {},
        }
    }

    /// Returns the fits at every lambda, largest first, with coefficients for the features as
    /// given.
    ///
    /// # Errors
    /// The errors of [`path()`] and [`Objective::of`].
    pub fn path(&self, data: &Dataset, lambdas: &[Lambda]) -> Result<Vec<Fit>, Error> {
        let design = data.design();
        let squares = self.options.solver.squares(design.rows(), design.columns());
        design.check_fits(1, self.copies(design), squares)?;
        self.path_with(data, |objective| path(objective, lambdas, &self.options, self.observer))
    }

    /// Returns the fits that a deadline leaves no time for: no function at all, at every lambda, with
    /// this number of coefficients and without a bound on the distance to the minimum.
    pub fn origin(&self, data: &Dataset, coefficients: usize, lambdas: &[Lambda]) -> Vec<Fit> {
        let rows = data.rows() as f64;
        let total = data.weights().map_or(rows, |weights| weights.iter().sum());
        let value = total / self.of_rows.map_or(rows, |all| all as f64) * self.loss.value(0.0);
        let fit = |&lambda: &Lambda| Fit {
            lambda,
            intercept: 0.0,
            coef: vec![0.0; coefficients],
            report: Ending::without_bound(Status::TimeLimit, value)
                .report(0, self.options.tolerance),
        };
        lambdas.iter().map(fit).collect()
    }

    /// Returns the fits to some of the rows at every lambda, largest first, from the features of all
    /// rows instead of the features of the data: the other rows have weight 0, and nothing is copied.
    /// These features are fitted as they are, whether or not the training standardises.
    ///
    /// # Errors
    /// The errors of [`path`](fn@crate::path) and [`risk_of_rows`](Self::risk_of_rows), and features of
    /// another number of rows.
    ///
    /// # Panics
    /// The function panics if a row is out of range.
    pub fn path_of_rows(
        &self,
        data: &Dataset,
        rows: &[usize],
        features: &Design,
        lambdas: &[Lambda],
    ) -> Result<Vec<Fit>, Error> {
        let objective = Objective::from_risk(self.risk_of_rows(data, rows)?, features)?;
        let penalty = self.penalty_on(None, features.columns())?;
        let objective = objective.with_free(penalty.free().clone())?;
        path(&objective, lambdas, &self.options, self.observer)
    }

    /// Returns the fits of `solve` to the objective, with coefficients for the features as given.
    ///
    /// # Errors
    /// The errors of `solve` and [`Objective::of`].
    pub fn path_with<E: From<Error>>(
        &self,
        data: &Dataset,
        solve: impl FnOnce(&Objective<'_, L>) -> Result<Vec<Fit>, E>,
    ) -> Result<Vec<Fit>, E> {
        let (mut fits, scales) = self.on_scaled(data, |data| {
            let objective = Objective::from_risk(self.risk(data)?, data.design())?;
            let penalty = self.penalty_on(data.feature_names(), data.columns())?;
            solve(&objective.with_free(penalty.free().clone())?)
        })?;
        fits.iter_mut().for_each(|fit| unscale(fit, &scales));
        Ok(fits)
    }

    /// Returns the fits to several classes in one problem at every lambda, largest first, with
    /// coefficients for the features as given. Balanced classes have the same total weight. At
    /// [`Lambda::NONE`] alone no feature has a penalty.
    ///
    /// # Errors
    /// The errors of [`joint_path`] and [`JointObjective::of`]. [`Error::FreeColumns`]: more features than
    /// duals are balanced over have no penalty.
    pub fn joint_path(
        &self,
        form: JointForm,
        data: &Dataset<Classes>,
        lambdas: &[Lambda],
    ) -> Result<Vec<JointFit>, Error> {
        let penalty = self.penalty_on(data.feature_names(), data.columns())?;
        let is_unpenalised = lambdas == [Lambda::NONE];
        let free = match is_unpenalised {
            true => FreeColumns::new((0..data.columns()).collect())?,
            false => penalty.free().clone(),
        };
        data.design().check_fits(data.labels().names().len(), self.copies(data.design()), 0)?;
        let (mut fits, scalings) = self.on_scaled(data, |data| {
            let objective = self.joint_objective(form, data)?.with_free(free)?;
            if !is_unpenalised {
                return joint_path(&objective, lambdas, &self.options, self.observer);
            }
            // Where no coefficient has a penalty, the minimum is the same for every lambda.
            let lambda = Lambda::NONE;
            let see = |iteration: &Iteration| match self.options.watch {
                Some(watch) => watch.see(&Iteration { lambda, ..*iteration }),
                None => ControlFlow::Continue(()),
            };
            let watch = self.options.watch.map(|_| Watch::new(&see));
            let observer = |made: &Observed<'_>| (self.observer)(&Observed { lambda, ..*made });
            let options = Options { watch, ..self.options };
            joint_path(&objective, &[Lambda::new(1.0)?], &options, &observer)
        })?;
        if is_unpenalised {
            fits.iter_mut().for_each(|fit| fit.lambda = Lambda::NONE);
        }
        for coef in fits.iter_mut().flat_map(|fit| &mut fit.coefs) {
            unscale_coefficients(coef, &scalings);
        }
        Ok(fits)
    }

    /// Returns the fits of several classes in one problem in the function space of a kernel, given its matrix
    /// over the rows of the data, which stands for the features: see [`joint_path_on_matrix`].
    ///
    /// # Errors
    /// The errors of [`joint_path_on_matrix`] and [`JointObjective::of`].
    pub fn joint_path_on_matrix(
        &self,
        form: JointForm,
        data: &Dataset<Classes>,
        matrix: &DMatrix<f64>,
        lambdas: &[Lambda],
    ) -> Result<Vec<JointFit>, Error> {
        let objective = self.joint_objective(form, data)?;
        joint_path_on_matrix(&objective, matrix, lambdas, &self.options, self.observer)
    }

    /// Returns what [`joint_path_on_matrix`](Self::joint_path_on_matrix) does for a differentiable loss, given
    /// the diagonal of the matrix and its products: see [`joint_path_by_products`].
    ///
    /// # Errors
    /// The errors of [`joint_path_by_products`] and [`JointObjective::of`].
    pub fn joint_path_by_products(
        &self,
        form: JointForm,
        data: &Dataset<Classes>,
        diagonal: &[f64],
        multiply: &dyn Fn(&DMatrix<f64>) -> DMatrix<f64>,
        lambdas: &[Lambda],
    ) -> Result<Vec<JointFit>, Error> {
        let objective = self.joint_objective(form, data)?;
        let (options, observer) = (&self.options, self.observer);
        joint_path_by_products(&objective, diagonal, multiply, lambdas, options, observer)
    }

    /// Returns the objective of several classes in one problem, without features that no penalty acts on.
    fn joint_objective<'d>(
        &self,
        form: JointForm,
        data: &'d Dataset<Classes>,
    ) -> Result<JointObjective<'d, L>, Error>
    where
        'a: 'd,
    {
        let mut objective = JointObjective::of(self.loss, form, data)?;
        if self.class_weights == ClassWeights::Balanced {
            objective = objective.balanced()?;
        }
        let n = data.rows();
        if let Some(all) = self.of_rows.filter(|&all| all != n) {
            objective = objective.with_weights(&vec![n as f64 / all as f64; n])?;
        }
        Ok(if self.intercept { objective } else { objective.without_intercepts() })
    }

    /// Returns a fit by stochastic gradient, with coefficients for the features as given, and the
    /// learner after its last step, which knows the features as the fit scales them.
    ///
    /// # Errors
    /// The errors of [`stochastic::fit`] and [`Objective::of`].
    pub fn stochastic(
        &self,
        data: &Dataset,
        lambda: Lambda,
        settings: &StochasticGradient,
    ) -> Result<(Fit, stochastic::StochasticLearner<()>), Error> {
        let ((mut fit, learner), scales) = self.on_scaled(data, |data| {
            let objective = Objective::from_risk(self.risk(data)?, data.design())?;
            stochastic::fit_and_learner(&objective, lambda, settings, &self.options)
        })?;
        unscale(&mut fit, &scales);
        Ok((fit, learner))
    }

    /// Returns a fit by stochastic gradient during which the loss is replaced once, and the new
    /// loss.
    ///
    /// # Errors
    /// The errors of [`stochastic::fit_rescaled`] and [`Objective::of`].
    pub fn stochastic_rescaled(
        &self,
        data: &Dataset,
        lambda: Lambda,
        settings: &StochasticGradient,
        at: u64,
        rule: impl FnOnce(&[f64]) -> Result<Rescaled, Error>,
    ) -> Result<(Fit, Box<dyn MarginLoss>), Error> {
        let ((mut fit, loss), scales) = self.on_scaled(data, |data| {
            let objective = Objective::from_risk(self.risk(data)?, data.design())?;
            stochastic::fit_rescaled(&objective, lambda, settings, &self.options, at, rule)
        })?;
        unscale(&mut fit, &scales);
        Ok((fit, loss))
    }

    /// Returns the dual variables of a linear fit to the data with its constrained form, whose norm is the
    /// one that the penalty has: of the coefficients for features as the training scales them.
    ///
    /// # Errors
    /// The errors of [`Objective::of`]. [`Error::Shape`]: another number of coefficients than of features.
    pub fn dual_solution(&self, data: &Dataset, fit: &Fit) -> Result<DualSolution, Error> {
        if fit.coef.len() != data.columns() {
            return Err(Error::Shape {
                what: "coefficients, one per feature",
                expected: data.columns(),
                found: fit.coef.len(),
            });
        }
        let mut scaled = fit.clone();
        if let Some(factors) = factors(&self.scalings(data)?) {
            scaled.coef.iter_mut().zip(factors).for_each(|(w, factor)| *w /= factor);
        }
        let (solution, _) = self.on_scaled(data, |data| {
            let objective = Objective::from_risk(self.risk(data)?, data.design())?;
            Ok::<_, Error>(scaled.dual_solution(&objective))
        })?;
        Ok(solution)
    }

    /// Returns the penalty factors of the features of data.
    ///
    /// # Errors
    /// The errors of [`PenaltyFactors::on`].
    pub(crate) fn penalty_on(
        &self,
        names: Option<&[String]>,
        columns: usize,
    ) -> Result<Penalty, Error> {
        self.penalty.map_or_else(|| Ok(Penalty::default()), |factors| factors.on(names, columns))
    }

    /// Returns the scalings before a fit, one after another: to unit deviation if the settings say so,
    /// and by the roots of the penalty factors.
    fn scalings<Y: ClassLabels>(&self, data: &Dataset<Y>) -> Result<Vec<Standardizer>, Error> {
        let standardizer =
            self.standardize.then(|| Standardizer::fit(data.design(), data.weights()));
        let penalty = self.penalty_on(data.feature_names(), data.columns())?;
        Ok(standardizer.into_iter().chain(penalty.roots().cloned()).collect())
    }

    /// Returns the maximal number of copies of a table during a path: scaled, and shifted.
    pub(super) fn copies(&self, design: &Design) -> usize {
        let is_scaled = self.standardize || self.penalty.is_some();
        usize::from(is_scaled) + usize::from(self.intercept && !design.is_sparse())
    }

    /// Returns how far scores can move with the functions of linear fits to these rows.
    ///
    /// # Errors
    /// The errors of [`PenaltyFactors::on`].
    pub(super) fn sensitivity(
        &self,
        rows: &Dataset,
        held_out: &Design,
    ) -> Result<Sensitivity, Error> {
        let factors = factors(&self.scalings(rows)?);
        let norms = |design: &Design| -> Vec<f64> {
            scaled_squares(factors.as_deref(), design).into_iter().map(f64::sqrt).collect()
        };
        let training = norms(rows.design()).into_iter().fold(0.0, f64::max);
        Ok(Sensitivity { held_out: norms(held_out), training })
    }

    /// Returns the squared norms of the samples of linear fits, in the norm whose dual the penalty is the
    /// square of: of features divided by the roots of their penalty factors.
    ///
    /// # Errors
    /// The errors of [`PenaltyFactors::on`].
    pub fn squared_norms(&self, data: &Dataset) -> Result<Vec<f64>, Error> {
        Ok(scaled_squares(factors(&self.scalings(data)?).as_deref(), data.design()))
    }

    /// Applies `solve` to the data, with features scaled if the settings say so; returns its result
    /// and the scales.
    fn on_scaled<T, E: From<Error>, Y: ClassLabels>(
        &self,
        data: &Dataset<Y>,
        solve: impl FnOnce(&Dataset<Y>) -> Result<T, E>,
    ) -> Result<(T, Vec<Standardizer>), E> {
        let scalings = self.scalings(data)?;
        if scalings.is_empty() {
            return Ok((solve(data)?, scalings));
        }
        let mut scaled = data.design().clone();
        for scaling in &scalings {
            scaled = scaling.scale(scaled).map_err(Error::from)?;
        }
        let data = data.clone().with_design(scaled).map_err(Error::from)?;
        Ok((solve(&data)?, scalings))
    }

    /// Returns the first part of the objective: the weighted samples with their loss.
    ///
    /// # Errors
    /// The errors of [`Objective::of`].
    pub fn risk<'d>(&self, data: &'d Dataset) -> Result<EmpiricalRisk<'d, L>, Error>
    where
        'a: 'd,
    {
        let counts = data.own_weights().map(Cow::Borrowed);
        let mut risk = EmpiricalRisk::new(self.loss, data.labels())?.counted_by(counts);
        if let Some(weights) = data.weights() {
            risk = risk.with_weights(weights)?;
        }
        if self.class_weights == ClassWeights::Balanced {
            risk = risk.with_weights(&balancing_weights(data))?;
        }
        let n = data.rows();
        if let Some(all) = self.of_rows.filter(|&all| all != n) {
            risk = risk.with_weights(&vec![n as f64 / all as f64; n])?;
        }
        Ok(if self.intercept { risk } else { risk.without_intercept() })
    }

    /// Returns the risk of some of the samples as one over all of them, in which the others weigh
    /// nothing, and a row that repeats as much as its copies.
    ///
    /// # Errors
    /// The errors of [`risk`](Self::risk).
    ///
    /// # Panics
    /// The function panics if a row is out of range.
    pub fn risk_of_rows<'d>(
        &self,
        data: &'d Dataset,
        rows: &[usize],
    ) -> Result<EmpiricalRisk<'d, L>, Error>
    where
        'a: 'd,
    {
        let n = data.rows();
        let (mut weights, mut counts) = (vec![0.0; n], vec![0.0; n]);
        let chosen = data.select(rows);
        let part = self.risk(&chosen)?;
        for ((&i, c), count) in rows.iter().zip(part.weights()).zip(part.counts().iter()) {
            weights[i] += n as f64 * c;
            counts[i] += *count;
        }
        let risk = EmpiricalRisk::new(self.loss, data.labels())?.with_weights(&weights)?;
        let risk = risk.counted_by(Some(Cow::Owned(counts)));
        Ok(if self.intercept { risk } else { risk.without_intercept() })
    }
}

/// Returns the factors of the features in scalings, one after another; `None` without a scaling.
pub(crate) fn factors(scalings: &[Standardizer]) -> Option<Vec<f64>> {
    scalings.iter().map(Standardizer::factors).reduce(|mut all, next| {
        all.iter_mut().zip(next).for_each(|(factor, next)| *factor *= next);
        all
    })
}

/// Returns the squared norms of samples whose features are multiplied by factors.
fn scaled_squares(factors: Option<&[f64]>, design: &Design) -> Vec<f64> {
    let square = |sample: Sample<'_>| {
        let Some(factors) = factors else { return sample.squared_norm() };
        let mut square = 0.0;
        sample.for_each(|column, value| square += (factors[column] * value).powi(2));
        square
    };
    design.samples().map(square).collect()
}

/// Takes the coefficients back to the features as given.
pub(crate) fn unscale(fit: &mut Fit, scalings: &[Standardizer]) {
    unscale_coefficients(&mut fit.coef, scalings);
}

pub(crate) fn unscale_coefficients(coef: &mut Vec<f64>, scalings: &[Standardizer]) {
    for scaling in scalings.iter().rev() {
        *coef = scaling.unscale_coefficients(coef);
    }
}

/// Returns one factor a sample, which multiplies the weight of the sample.
fn balancing_weights(data: &Dataset) -> Vec<f64> {
    let signs = data.labels().signs();
    let weight = |i: usize| data.weights().map_or(1.0, |weights| weights[i]);
    let total_of =
        |sign: f64| -> f64 { (0..signs.len()).filter(|&i| signs[i] == sign).map(weight).sum() };
    let (positive, negative) = (total_of(1.0), total_of(-1.0));
    let total = positive + negative;
    signs.iter().map(|&y| total / (2.0 * if y > 0.0 { positive } else { negative })).collect()
}
