use margins_data::{Dataset, Standardizer};
use margins_losses::MarginLoss;

use crate::online::stochastic::{self, Rescaled, StochasticGradient};
use crate::problem::EmpiricalRisk;
use crate::{Error, Fit, Lambda, Objective, Observer, Options, path};

/// How much the loss of a sample counts beyond the weight that the data give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClassWeights {
    /// As the data say.
    #[default]
    AsGiven,
    /// Multiplied so that both classes have the same total weight and the total stays what it was:
    /// by `total / (2 total of the class)`.
    Balanced,
}

/// Everything between a data set and its fits that does not depend on the data: the loss, how
/// samples and features are weighed, and the solver.
#[derive(Clone, Copy)]
pub struct Training<'a, L: MarginLoss + ?Sized> {
    /// The loss.
    pub loss: &'a L,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// Whether features are scaled to unit standard deviation before the fit, sparse ones kept
    /// sparse. Coefficients are reported for the features as given; the penalty acts on those of the
    /// scaled ones.
    pub standardize: bool,
    /// The weights of the classes.
    pub class_weights: ClassWeights,
    /// The solver.
    pub options: Options<'a>,
    /// Whether cross-validation may leave lambdas out of the later folds that the earlier ones have shown
    /// to be hopeless; see [`error_curve`](crate::error_curve).
    pub abandon_hopeless: bool,
    /// Sees every fit as it is made, from whatever thread makes it.
    pub observer: &'a Observer<'a>,
}

impl<'a, L: MarginLoss + ?Sized> Training<'a, L> {
    /// With an intercept, features and classes as given, and default options.
    pub fn new(loss: &'a L) -> Self {
        Training {
            loss,
            intercept: true,
            standardize: false,
            class_weights: ClassWeights::AsGiven,
            options: Options::default(),
            abandon_hopeless: false,
            observer: &|_| {},
        }
    }

    /// The fits at every lambda, largest first, with coefficients for the features as given.
    ///
    /// # Errors
    /// As [`path`] and [`Objective::of`].
    pub fn path(&self, data: &Dataset, lambdas: &[Lambda]) -> Result<Vec<Fit>, Error> {
        self.path_with(data, |objective| path(objective, lambdas, &self.options, self.observer))
    }

    /// The fits that `solve` makes of the objective, with coefficients for the features as given.
    ///
    /// # Errors
    /// Those of `solve`, and as [`Objective::of`].
    pub fn path_with<E: From<Error>>(
        &self,
        data: &Dataset,
        solve: impl FnOnce(&Objective<'_, L>) -> Result<Vec<Fit>, E>,
    ) -> Result<Vec<Fit>, E> {
        let (mut fits, scales) = self.on_scaled(data, |data| {
            solve(&Objective::from_risk(self.risk(data)?, data.design())?)
        })?;
        fits.iter_mut().for_each(|fit| unscale(fit, scales.as_ref()));
        Ok(fits)
    }

    /// A fit by stochastic gradient, with coefficients for the features as given.
    ///
    /// # Errors
    /// As [`stochastic::fit`] and [`Objective::of`].
    pub fn stochastic(
        &self,
        data: &Dataset,
        lambda: Lambda,
        settings: &StochasticGradient,
    ) -> Result<Fit, Error> {
        let (mut fit, scales) = self.on_scaled(data, |data| {
            let objective = Objective::from_risk(self.risk(data)?, data.design())?;
            stochastic::fit(&objective, lambda, settings)
        })?;
        unscale(&mut fit, scales.as_ref());
        Ok(fit)
    }

    /// The same with a loss that is replaced once in the course of it.
    ///
    /// # Errors
    /// As [`stochastic::fit_rescaled`] and [`Objective::of`].
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
            stochastic::fit_rescaled(&objective, lambda, settings, at, rule)
        })?;
        unscale(&mut fit, scales.as_ref());
        Ok((fit, loss))
    }

    /// What `solve` makes of the data with their features scaled, if that is asked for, and the scales.
    fn on_scaled<T, E: From<Error>>(
        &self,
        data: &Dataset,
        solve: impl FnOnce(&Dataset) -> Result<T, E>,
    ) -> Result<(T, Option<Standardizer>), E> {
        if !self.standardize {
            return Ok((solve(data)?, None));
        }
        let standardizer = Standardizer::fit(data.design(), data.weights());
        let scaled = standardizer.scale(data.design().clone()).map_err(Error::from)?;
        let data = data.clone().with_design(scaled).map_err(Error::from)?;
        Ok((solve(&data)?, Some(standardizer)))
    }

    /// The first part of the objective: the samples as they count.
    ///
    /// # Errors
    /// As [`Objective::of`].
    pub fn risk<'d>(&self, data: &'d Dataset) -> Result<EmpiricalRisk<'d, L>, Error>
    where
        'a: 'd,
    {
        let mut risk = EmpiricalRisk::new(self.loss, data.labels())?;
        if let Some(weights) = data.weights() {
            risk = risk.with_weights(weights)?;
        }
        if self.class_weights == ClassWeights::Balanced {
            risk = risk.with_weights(&balancing_weights(data))?;
        }
        Ok(if self.intercept { risk } else { risk.without_intercept() })
    }

    /// The risk of some of the samples as one over all of them, in which the others weigh nothing.
    ///
    /// # Errors
    /// As [`risk`](Self::risk).
    ///
    /// # Panics
    /// If a row is none of the data.
    pub fn risk_of_rows<'d>(
        &self,
        data: &'d Dataset,
        rows: &[usize],
    ) -> Result<EmpiricalRisk<'d, L>, Error>
    where
        'a: 'd,
    {
        let n = data.rows();
        let mut weights = vec![0.0; n];
        for (&i, c) in rows.iter().zip(self.risk(&data.select(rows))?.weights()) {
            weights[i] = n as f64 * c;
        }
        let risk = EmpiricalRisk::new(self.loss, data.labels())?.with_weights(&weights)?;
        Ok(if self.intercept { risk } else { risk.without_intercept() })
    }
}

fn unscale(fit: &mut Fit, scales: Option<&Standardizer>) {
    if let Some(scales) = scales {
        fit.coef = scales.unscale_coefficients(&fit.coef);
    }
}

/// One factor a sample, to be multiplied with its weight.
fn balancing_weights(data: &Dataset) -> Vec<f64> {
    let signs = data.labels().signs();
    let weight = |i: usize| data.weights().map_or(1.0, |weights| weights[i]);
    let total_of =
        |sign: f64| -> f64 { (0..signs.len()).filter(|&i| signs[i] == sign).map(weight).sum() };
    let (positive, negative) = (total_of(1.0), total_of(-1.0));
    let total = positive + negative;
    signs.iter().map(|&y| total / (2.0 * if y > 0.0 { positive } else { negative })).collect()
}
