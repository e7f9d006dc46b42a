//! The builder of an estimator.

mod kernel;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use margins_data::encode::EncodeOptions;
use margins_estimators::regularised::{
    AutoScale, ClassCosts, ClassifierSettings, CrossValidation, FixedParameter, IterationObserver,
    Observer, Probabilities, Progress, Regularisation,
};
use margins_losses::MarginLoss;
use margins_model::{Registry, Scheme};
use margins_optim::method::Iteration;
use margins_optim::problem::PenaltyFactors;
use margins_optim::{ClassWeights, Lambda, Solver};
use margins_robust::RobustLearner;

use crate::{Classifier, Error, Estimator};

/// The settings of an [`Estimator`], set one by one; [`build`](Self::build) checks them together.
///
/// By default: a linear classifier with an intercept, the leaky hockey stick loss, features and
/// classes as given, lambda by cross-validation over the default grid
/// ([`CrossValidation::default`]), the automatic solver at a relative duality gap of 1e-6, seed 1,
/// one-versus-one for more than two classes. Setting a value again replaces it; settings that
/// contradict each other are an error.
#[derive(Debug, Clone, Default)]
pub struct ClassifierBuilder {
    settings: ClassifierSettings,
    registry: Registry,
    loss: Option<Arc<dyn MarginLoss>>,
    loss_name: Option<String>,
    kernels: Option<Vec<String>>,
    lambda: Option<f64>,
    path: Option<(Vec<Lambda>, usize)>,
    cross_validation: Option<CrossValidation>,
    costs: Vec<(String, f64)>,
    encode: Option<EncodeOptions>,
}

impl Classifier {
    /// Returns the settings of a classifier to be fitted.
    pub fn builder() -> ClassifierBuilder {
        ClassifierBuilder::default()
    }
}

impl ClassifierBuilder {
    /// Takes a loss: one of [`margins_losses`] or yours.
    #[must_use]
    pub fn loss(mut self, loss: impl MarginLoss + 'static) -> Self {
        self.loss = Some(Arc::new(loss));
        self
    }

    /// Takes a loss of the registry by its specification, such as `l-r:r=2`.
    #[must_use]
    pub fn loss_named(mut self, specification: impl Into<String>) -> Self {
        self.loss_name = Some(specification.into());
        self
    }

    /// Takes the losses and kernels that specifications may name; by default those of this
    /// project.
    #[must_use]
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// Fits at a single lambda > 0.
    #[doc(alias = "C")]
    #[doc(alias = "alpha")]
    #[must_use]
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.lambda = Some(lambda);
        self
    }

    /// Follows a path of lambdas from the largest down to the one at this index in descending
    /// order. It ends at the same classifier as [`lambda`](Self::lambda), to the tolerance, from
    /// warm starts.
    #[must_use]
    pub fn path(mut self, lambdas: Vec<Lambda>, index: usize) -> Self {
        self.path = Some((lambdas, index));
        self
    }

    /// Chooses lambda by cross-validation, the same for all members; the error is that of the class
    /// decided by all of them.
    #[must_use]
    pub fn cross_validation(mut self, how: CrossValidation) -> Self {
        self.cross_validation = Some(how);
        self
    }

    /// Adds a loss to choose from by cross-validation, on the same folds: the loss with the
    /// lowest error is selected.
    ///
    /// ```
    /// use margins::data::generate::{Example, GaussianMixture};
    /// use margins::losses::{Hinge, Logistic};
    /// use margins::{Classifier, CrossValidation};
    ///
    /// let data = GaussianMixture::example(Example::One, 1)?.sample(60, 2)?;
    /// let builder = Classifier::builder().loss(Hinge).or_loss(Logistic);
    /// let classifier = builder.cross_validation(CrossValidation::default()).build()?.fit(&data)?;
    /// assert_eq!(classifier.report().losses.len(), 2);
    /// # Ok::<(), margins::Error>(())
    /// ```
    #[must_use]
    pub fn or_loss(mut self, loss: impl MarginLoss + 'static) -> Self {
        self.settings.or_losses.push(Arc::new(loss));
        self
    }

    /// Takes the scale s of the margin-pursuit loss from the training data, by the rule `s = v k/gamma`
    /// with v a bound on the variance of the margins; [`AutoScale`] says how.
    ///
    /// ```
    /// use margins::data::generate::{Example, GaussianMixture};
    /// use margins::losses::MarginPursuit;
    /// use margins::{AutoScale, Classifier};
    ///
    /// let data = GaussianMixture::example(Example::One, 1)?.sample(60, 2)?;
    /// let builder = Classifier::builder().loss(MarginPursuit::new(1.0, 1.0)?);
    /// let classifier = builder.auto_scale(AutoScale { k: 10.0 }).lambda(0.01).build()?.fit(&data)?;
    /// let scale = classifier.report().scale.expect("from the data").scale;
    /// assert!(classifier.model().loss().ends_with(&format!("scale={scale}")));
    /// # Ok::<(), margins::Error>(())
    /// ```
    #[must_use]
    pub fn auto_scale(mut self, rule: AutoScale) -> Self {
        self.settings.auto_scale = Some(rule);
        self
    }

    /// Holds lambda or C the same for fits to all rows and to parts of them; by default lambda.
    #[must_use]
    pub fn fixed_parameter(mut self, parameter: FixedParameter) -> Self {
        self.settings.fixed_parameter = parameter;
        self
    }

    /// Fits by this method.
    #[must_use]
    pub fn solver(mut self, solver: Solver) -> Self {
        self.settings.options.solver = solver;
        self
    }

    /// Minimises the objective of a robust learner instead of the regularised risk, at a
    /// single lambda or along a path.
    ///
    /// ```
    /// use margins::Classifier;
    /// use margins::losses::Hinge;
    /// use margins::robust::{RobustLearner, MarginDistribution};
    ///
    /// let rows = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 1.0]];
    /// let learner = RobustLearner::MarginDistribution(MarginDistribution::new(0.5, 0.5)?);
    /// let builder = Classifier::builder().loss(Hinge).learner(learner).lambda(0.1);
    /// let classifier = builder.build()?.fit_samples(&rows, [0, 0, 1, 1])?;
    /// assert!(classifier.report().is_certified());
    /// # Ok::<(), margins::Error>(())
    /// ```
    #[must_use]
    pub fn learner(mut self, learner: RobustLearner) -> Self {
        self.settings.learner = Some(learner);
        self
    }

    /// Sets the relative duality gap to reach, 1e-6 by default.
    #[must_use]
    pub fn tolerance(mut self, relative_gap: f64) -> Self {
        self.settings.options.tolerance = relative_gap;
        self
    }

    /// Sets the limit of iterations at one lambda; by default that of the solver.
    #[must_use]
    pub fn max_iterations(mut self, iterations: usize) -> Self {
        self.settings.options.max_iterations = Some(iterations);
        self
    }

    /// Scales features to unit standard deviation for the fit, if true: by the training rows of
    /// every fold for linear classifiers, once over all rows for kernels.
    #[must_use]
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.settings.standardize = standardize;
        self
    }

    /// Sets how strongly the penalty acts on single features; a factor of 0 takes a feature out of it.
    ///
    /// ```
    /// use margins::Classifier;
    /// use margins::optim::problem::PenaltyFactors;
    ///
    /// let rows = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.5], [3.0, 1.0]];
    /// let factors = PenaltyFactors::of_columns(vec![0.0, 1.0])?;
    /// let builder = Classifier::builder().loss_named("logistic").penalty_factors(factors);
    /// let classifier = builder.lambda(1e3).build()?.fit_samples(&rows, [0, 1, 0, 1])?;
    /// assert!(classifier.model().members()[0].coef[0] > 0.4);
    /// # Ok::<(), margins::Error>(())
    /// ```
    #[doc(alias = "penalty.factor")]
    #[must_use]
    pub fn penalty_factors(mut self, factors: PenaltyFactors) -> Self {
        self.settings.penalty_factors = Some(factors);
        self
    }

    /// Sets whether there is an intercept; by default there is.
    #[doc(alias = "fit_intercept")]
    #[must_use]
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.settings.intercept = intercept;
        self
    }

    /// Gives both sides of every binary problem the same total weight: [`ClassWeights::Balanced`].
    #[doc(alias = "class_weight")]
    #[must_use]
    pub fn balanced_classes(mut self) -> Self {
        self.settings.class_weights = ClassWeights::Balanced;
        self
    }

    /// Sets the cost of an error on a sample of this class, 1 by default: its weight is multiplied
    /// by that, in the fit and in the cross-validated error alike.
    #[doc(alias = "class_weight")]
    #[must_use]
    pub fn class_cost(mut self, class: &(impl ToString + ?Sized), cost: f64) -> Self {
        self.costs.push((class.to_string(), cost));
        self
    }

    /// Sets the weight of every sample, for data that have none of their own.
    #[must_use]
    pub fn sample_weights(mut self, weights: Vec<f64>) -> Self {
        self.settings.sample_weights = Some(weights);
        self
    }

    /// Takes raw tables, with words and missing values, by these rules: [`Estimator::fit_table`] learns the
    /// encoding of the columns from the rows, in a cross-validation separately in every fold.
    ///
    /// ```
    /// use margins::data::encode::{EncodeOptions, RawColumn, RawTable, Unknown};
    /// use margins::{Classifier, CrossValidation};
    ///
    /// let floors: Vec<f64> = (0..30).map(|i| if i % 7 == 6 { f64::NAN } else { f64::from(i % 5) }).collect();
    /// let towns = (0..30).map(|i| (i % 4 < 3).then_some(["Bern", "Basel", "Chur"][i % 3]));
    /// let zones: Vec<f64> = (0..30).map(|i| f64::from(10 * (i % 3))).collect();
    /// let table = RawTable::from_columns(vec![
    ///     RawColumn::numbers("floor", &floors)?,
    ///     RawColumn::words("town", towns),
    ///     RawColumn::numbers("zone", &zones)?,
    /// ])?;
    /// let labels = (0..30).map(|i| if i % 3 == 0 { "let" } else { "sold" });
    ///
    /// // The numbers of zones are codes, and an unknown town is not an error.
    /// let rules = EncodeOptions {
    ///     categorical: vec!["zone".to_owned()],
    ///     unknown: Unknown::None,
    ///     ..EncodeOptions::default()
    /// };
    /// let how = CrossValidation { folds: Some(3), ..CrossValidation::default() };
    /// let estimator = Classifier::builder().encode(rules).cross_validation(how).build()?;
    /// let classifier = estimator.fit_table(table, labels)?;
    ///
    /// let new = RawTable::from_columns(vec![
    ///     RawColumn::numbers("zone", &[0.0, 10.0])?,
    ///     RawColumn::words("town", ["Bern", "Rome"].map(Some)),
    ///     RawColumn::numbers("floor", &[2.0, f64::NAN])?,
    /// ])?;
    /// assert_eq!(classifier.predict(&classifier.encode(&new)?)?, ["let", "sold"]);
    /// # Ok::<(), margins::Error>(())
    /// ```
    #[doc(alias = "one_hot")]
    #[doc(alias = "impute")]
    #[must_use]
    pub fn encode(mut self, options: EncodeOptions) -> Self {
        self.encode = Some(options);
        self
    }

    /// Breaks several classes into binary problems by this scheme.
    #[must_use]
    pub fn scheme(mut self, scheme: Scheme) -> Self {
        self.settings.scheme = Some(scheme);
        self
    }

    /// Takes probabilities from this source.
    #[must_use]
    pub fn probabilities(mut self, probabilities: Probabilities) -> Self {
        self.settings.probabilities = probabilities;
        self
    }

    /// Sets the seed of folds, landmarks, random features and of the pairs that sigma is taken
    /// from. Dual ascent has its own, in [`Solver::Sdca`].
    #[doc(alias = "random_state")]
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// Sets the number of threads; by default those of the current rayon pool. No result depends
    /// on it. With the feature `rayon`: there is no such setting where it could have no effect.
    #[cfg(feature = "rayon")]
    #[doc(alias = "n_jobs")]
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.settings.threads = Some(threads);
        self
    }

    /// Sets the time after which a fit is not improved further. It includes the kernel matrix,
    /// without which it is an error; a factorisation that would not be ready in time is not begun. A
    /// cross-validation gets four fifths of it, which its folds share, and then chooses among the
    /// lambdas that were certified in all folds, without which it is an error; for the
    /// other lambdas only the certificate is computed. A fit that is not certified by the end is kept
    /// and marked as [`Status::TimeLimit`](margins_optim::Status::TimeLimit), and
    /// [`TrainingReport::is_certified`](crate::TrainingReport::is_certified) returns false. A fit that
    /// was cut short depends on the speed of the computer.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.settings.time_limit = Some(limit);
        self
    }

    /// Calls a function with every fit as soon as it is made, from the thread that makes it.
    #[must_use]
    pub fn progress(mut self, observer: impl Fn(&Progress<'_>) + Send + Sync + 'static) -> Self {
        self.settings.progress = Observer::new(observer);
        self
    }

    /// Calls a function for every iteration of every fit, on the thread that makes it; the fit
    /// stops where the function breaks, and ends as
    /// [`Status::Interrupted`](margins_optim::Status::Interrupted).
    #[must_use]
    pub fn iterations(
        mut self,
        see: impl Fn(&Iteration) -> ControlFlow<()> + Send + Sync + 'static,
    ) -> Self {
        self.settings.iterations = IterationObserver::new(see);
        self
    }

    /// Returns the settings, checked.
    ///
    /// # Errors
    /// [`Error::Contradiction`]: a loss both by value and by name, more than one choice of lambda.
    /// [`ClassifierSettings::check`] says which others. A loss that the registry does not have, or
    /// parameters that it does not take.
    pub fn build(mut self) -> Result<Estimator, Error> {
        let loss = self.chosen_loss()?;
        let regularisation = self.choice_of_lambda()?;
        let kernels = self.kernel_choice()?;
        let settings = ClassifierSettings {
            loss: loss.unwrap_or(self.settings.loss),
            kernels,
            regularisation: regularisation.unwrap_or_default(),
            class_costs: ClassCosts::new(self.costs)?,
            ..self.settings
        };
        settings.check()?;
        Ok(Estimator { settings, registry: self.registry, encode: self.encode })
    }

    /// Returns the loss that was given by value or by name, if any was.
    fn chosen_loss(&mut self) -> Result<Option<Arc<dyn MarginLoss>>, Error> {
        match (self.loss.take(), self.loss_name.take()) {
            (Some(loss), Some(name)) => {
                let (one, other) =
                    (format!("loss {}", loss.specification()), format!("loss_named {name}"));
                Err(contradiction(one, other, "there is one loss"))
            }
            (Some(loss), None) => Ok(Some(loss)),
            (None, Some(name)) => {
                let named = ClassifierSettings::default();
                let named = named.with_losses(&name, &[], &[], &self.registry.losses)?;
                self.settings.auto_scale = named.auto_scale.or(self.settings.auto_scale);
                Ok(Some(named.loss))
            }
            (None, None) => Ok(None),
        }
    }

    /// Returns the choice of lambda, of which there may be only one.
    fn choice_of_lambda(&mut self) -> Result<Option<Regularisation>, Error> {
        let (lambda, path) = (self.lambda.take(), self.path.take());
        let how = self.cross_validation.take();
        let ways = [
            lambda.map(|lambda| format!("lambda {lambda}")),
            path.as_ref().map(|(lambdas, _)| format!("a path of {} lambdas", lambdas.len())),
            how.as_ref().map(|_| "cross_validation".to_owned()),
        ];
        let mut ways = ways.into_iter().flatten();
        if let (Some(one), Some(other)) = (ways.next(), ways.next()) {
            return Err(contradiction(one, other, "there can be only one choice of lambda"));
        }
        let single = lambda.map(Lambda::new).transpose()?.map(Regularisation::Single);
        let path = path.map(|(lambdas, index)| Regularisation::Path { lambdas, index });
        Ok(single.or(path).or(how.map(Regularisation::CrossValidated)))
    }
}

fn contradiction(one: String, other: String, reason: &'static str) -> Error {
    Error::Contradiction { one, other, reason }
}
