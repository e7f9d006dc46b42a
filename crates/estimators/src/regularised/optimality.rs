//! What is known of minima beside the certificate: the dual variables, all best intercepts, and the limit
//! as lambda falls to 0.

use std::sync::Arc;

use margins_data::Dataset;
use margins_losses::Interval;
use margins_model::Scheme;
use margins_optim::certificate::DualSolution;
use margins_optim::path::{SeparableLimit, separable_limit};
use margins_optim::{Fit, Lambda, Objective};

use super::contests::ContestData;
use super::fitted::{FittedClassifier, InMemory, Path, TrainingData};
use super::settings::{ClassifierSettings, Regularisation};
use crate::Error;

impl ClassifierSettings {
    /// Refuses dual variables of fits whose constrained form has another norm, or none.
    pub(super) fn check_duals(&self) -> Result<(), Error> {
        let unpenalised = Regularisation::Single(Lambda::NONE);
        let refused = [
            (self.regularisation == unpenalised, "lambda 0", "without a penalty there is no dual"),
            (self.learner.is_some(), "a robust learner", "its objective has other duals"),
            (
                self.penalty_factors.is_some(),
                "penalty_factors",
                "the constrained form has one norm of all coefficients",
            ),
        ];
        match refused.into_iter().find(|(given, ..)| self.options.keep_duals && *given) {
            Some((_, other, reason)) => {
                Err(Error::contradiction("keep_duals".to_owned(), other.to_owned(), reason))
            }
            None => Ok(()),
        }
    }

    /// Returns the limit of the path of a linear classifier as lambda falls to 0, with the penalty
    /// `lambda ||w||_q^q`, where a direction through the origin separates the two classes. Only the loss
    /// and the weights of samples and classes count of the settings.
    ///
    /// ```
    /// use margins_data::{Dataset, Design, Labels};
    /// use margins_estimators::regularised::ClassifierSettings;
    ///
    /// let design = Design::from_rows(&[[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])?;
    /// let data = Dataset::new(design, Labels::from_signs(vec![1.0, 1.0, -1.0])?)?;
    /// let settings = ClassifierSettings { intercept: false, ..ClassifierSettings::default() };
    /// let limit = settings.separable_limit(&data, 1.0)?;
    /// assert!(limit.coef.iter().all(|w| (w - 0.5).abs() < 1e-9));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Contradiction`]: settings of another problem, such as an intercept. The errors of
    /// [`separable_limit`].
    pub fn separable_limit(&self, data: &Dataset, exponent: f64) -> Result<SeparableLimit, Error> {
        let linear = "it is the limit of linear classifiers of the features as given";
        let refused = [
            (self.intercept, "an intercept", "fix the intercept at 0"),
            (!self.kernels.specifications.is_empty(), "a kernel", linear),
            (self.learner.is_some(), "a robust learner", "it has another objective"),
            (self.standardize, "standardize", linear),
            (self.penalty_factors.is_some(), "penalty_factors", linear),
            (!self.or_losses.is_empty(), "several losses", "each loss has a limit of its own"),
            (self.class_costs.first().is_some(), "class costs", "give them as weights of samples"),
        ];
        if let Some((_, other, reason)) = refused.into_iter().find(|(given, ..)| *given) {
            let one = "the limit of a path".to_owned();
            return Err(Error::contradiction(one, other.to_owned(), reason));
        }
        let training = self.training(data.rows(), None);
        let objective = Objective::from_risk(training.risk(data)?, data.design())?;
        Ok(separable_limit(&objective, exponent)?)
    }
}

impl Path {
    /// Returns the dual variables of every member at the lambda of an index, as
    /// [`FittedClassifier::dual_solutions`] does. `settings` are the settings of the path.
    ///
    /// # Errors
    /// Kernel values or scores that are not finite.
    ///
    /// # Panics
    /// If there is no such lambda.
    pub fn dual_solutions(
        &self,
        settings: &ClassifierSettings,
        at: usize,
    ) -> Result<Option<Vec<DualSolution>>, Error> {
        self.training_data.dual_solutions(settings, &self.fits[at])
    }
}

impl TrainingData {
    /// Returns the dual variables of fits, one per member, with their constrained forms.
    fn dual_solutions(
        &self,
        settings: &ClassifierSettings,
        fits: &[Fit],
    ) -> Result<Option<Vec<DualSolution>>, Error> {
        let TrainingData::InMemory(here) = self else { return Ok(None) };
        let InMemory { contests, prepared } = &**here;
        let training = settings.training(contests.classes().rows(), None);
        let scheme = contests.scheme();
        if scheme.is_joint() || contests.len() > 1 && scheme == Scheme::OneVersusOne {
            return Ok(None);
        }
        let solution = |(ContestData { data, .. }, fit): (ContestData, &Fit)| {
            prepared.dual_solution(&training, &data, fit)
        };
        let solutions = contests.datasets()?.into_iter().zip(fits).map(solution);
        solutions.collect::<Result<_, _>>().map(Some)
    }
}

impl FittedClassifier {
    /// Returns the dual variables of every member with its constrained form; `None` for data that are not
    /// in memory, and for several classes one-versus-one or in one problem. `settings` are the settings of
    /// the fit; for a loss with kinks its options have to [keep the
    /// duals](margins_optim::Options::keep_duals).
    ///
    /// ```
    /// use margins_data::generate::{Example, GaussianMixture};
    /// use margins_estimators::regularised::{ClassifierSettings, Regularisation};
    /// use margins_optim::Lambda;
    ///
    /// let data = GaussianMixture::example(Example::One, 1)?.sample(60, 2)?;
    /// let regularisation = Regularisation::Single(Lambda::new(0.05)?);
    /// let mut settings = ClassifierSettings { regularisation, ..ClassifierSettings::default() };
    /// settings.options.keep_duals = true;
    /// let fitted = settings.fit(&data)?;
    /// let solution = &fitted.dual_solutions(&settings)?.expect("data in memory")[0];
    /// let form = solution.constrained.as_ref().expect("coefficients other than 0");
    /// assert!(form.violations.balance < 1e-9 && form.gap < 1e-3 * form.primal.abs());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kernel values or scores that are not finite.
    pub fn dual_solutions(
        &self,
        settings: &ClassifierSettings,
    ) -> Result<Option<Vec<DualSolution>>, Error> {
        let settings = ClassifierSettings { loss: Arc::clone(&self.loss), ..settings.clone() };
        self.training_data.dual_solutions(&settings, &self.fits)
    }

    /// Returns all intercepts that are best for the coefficients of the fit, of two classes, where there is
    /// more than one because the risk is flat in the intercept. `None` if only one is best, for several
    /// classes, robust objectives, fits without an intercept, and data that are not in memory. `settings`
    /// are the settings of the fit.
    ///
    /// # Errors
    /// Kernel values or scores that are not finite.
    pub fn best_intercepts(
        &self,
        settings: &ClassifierSettings,
    ) -> Result<Option<Interval>, Error> {
        /// The largest relative width of an interval that rounding alone may leave.
        const ROUNDING: f64 = 1e-9;
        let TrainingData::InMemory(here) = &self.training_data else { return Ok(None) };
        let InMemory { contests, prepared } = &**here;
        let [fit] = &self.fits[..] else { return Ok(None) };
        let is_mean = settings.learner.is_none() && self.loss.is_convex();
        if !is_mean || !settings.intercept || contests.first_is_decided() {
            return Ok(None);
        }
        let training = self.training(settings, contests.classes().rows());
        let risk = training.risk(contests.any())?;
        let mut scores = prepared.scores(fit)?;
        scores.iter_mut().for_each(|score| *score -= fit.intercept);
        let best = risk.margins().best_intercepts(&scores, fit.intercept);
        Ok((best.upper - best.lower > ROUNDING * fit.intercept.abs().max(1.0)).then_some(best))
    }
}
