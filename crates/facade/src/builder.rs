#[cfg(feature = "kernels")]
mod kernel;

use std::sync::Arc;
use std::time::Duration;

use margins_losses::{LeakyHockeyStick, MarginLoss};
use margins_optim::{ClassWeights, Lambda, Options, Solver, StepRule};

use crate::estimator::{Estimator, Observer, Probabilities, Progress, Regularization};
use crate::model::Scheme;
use crate::space::Space;
use crate::{ClassCosts, CrossValidation, Error, Registry};

/// The settings of an [`Estimator`], made one by one; [`build`](Self::build) checks them together.
///
/// Unless told: a linear classifier with an intercept, the leaky hockey stick loss, features and classes as given,
/// lambda by cross-validation over the default grid ([`CrossValidation::default`]), the automatic solver at a relative
/// duality gap of 1e-6, seed 1, one-versus-rest where there are more than two classes. A setting made twice is
/// replaced; settings that contradict each other are errors.
#[derive(Debug, Clone)]
pub struct ClassifierBuilder {
    estimator: Estimator,
    loss: Option<Arc<dyn MarginLoss>>,
    loss_name: Option<String>,
    #[cfg(feature = "kernels")]
    kernel: kernel::Settings,
    lambda: Option<f64>,
    path: Option<(Vec<Lambda>, usize)>,
    cross_validation: Option<CrossValidation>,
    balanced: bool,
    costs: Vec<(String, f64)>,
}

impl Default for ClassifierBuilder {
    fn default() -> Self {
        ClassifierBuilder {
            estimator: Estimator {
                loss: Arc::new(LeakyHockeyStick),
                registry: Registry::standard(),
                spaces: vec![Space::Linear],
                regularization: Regularization::CrossValidated(CrossValidation::default()),
                scheme: None,
                intercept: true,
                standardize: false,
                class_weights: ClassWeights::AsGiven,
                costs: ClassCosts::default(),
                sample_weights: None,
                probabilities: Probabilities::default(),
                options: Options::default(),
                #[cfg(feature = "rayon")]
                threads: None,
                time_limit: None,
                progress: Observer::default(),
            },
            loss: None,
            loss_name: None,
            #[cfg(feature = "kernels")]
            kernel: kernel::Settings::default(),
            lambda: None,
            path: None,
            cross_validation: None,
            balanced: false,
            costs: Vec::new(),
        }
    }
}

impl ClassifierBuilder {
    /// The loss: one of [`margins_losses`] or yours.
    #[must_use]
    pub fn loss(mut self, loss: impl MarginLoss + 'static) -> Self {
        self.loss = Some(Arc::new(loss));
        self
    }

    /// The loss by its specification, such as `l-r:r=2`, as the registry has it.
    #[must_use]
    pub fn loss_named(mut self, specification: impl Into<String>) -> Self {
        self.loss_name = Some(specification.into());
        self
    }

    /// What specifications of losses and kernels mean, for those of your own; those of this project unless told.
    #[must_use]
    pub fn registry(mut self, registry: Registry) -> Self {
        self.estimator.registry = registry;
        self
    }

    /// A single lambda > 0.
    #[doc(alias = "C")]
    #[doc(alias = "alpha")]
    #[must_use]
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.lambda = Some(lambda);
        self
    }

    /// A path of lambdas, followed from the largest down to the one at this index in descending order. It ends at the
    /// same classifier as [`lambda`](Self::lambda), to the tolerance, from warm starts.
    #[must_use]
    pub fn path(mut self, lambdas: Vec<Lambda>, index: usize) -> Self {
        self.path = Some((lambdas, index));
        self
    }

    /// Lambda by cross-validation, the same for all members; the error is that of the class decided by all of them.
    #[must_use]
    pub fn cross_validation(mut self, how: CrossValidation) -> Self {
        self.cross_validation = Some(how);
        self
    }

    /// The method that fits.
    #[must_use]
    pub fn solver(mut self, solver: Solver) -> Self {
        self.estimator.options.solver = solver;
        self
    }

    /// The steps of [`Solver::GradientDescent`], a line search unless told; no other solver looks at them.
    #[must_use]
    pub fn step_rule(mut self, rule: StepRule) -> Self {
        self.estimator.options.step = rule;
        self
    }

    /// The relative duality gap to reach, 1e-6 unless told.
    #[must_use]
    pub fn tolerance(mut self, relative_gap: f64) -> Self {
        self.estimator.options.tolerance = relative_gap;
        self
    }

    /// The most iterations at one lambda; that of the solver unless told.
    #[must_use]
    pub fn max_iterations(mut self, iterations: usize) -> Self {
        self.estimator.options.max_iterations = Some(iterations);
        self
    }

    /// Whether features are scaled to unit standard deviation for the fit: by the training rows of every fold for linear
    /// classifiers, once over all rows for kernels.
    #[must_use]
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.estimator.standardize = standardize;
        self
    }

    /// Whether there is an intercept.
    #[doc(alias = "fit_intercept")]
    #[must_use]
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.estimator.intercept = intercept;
        self
    }

    /// Both sides of every binary problem with the same total weight: [`ClassWeights::Balanced`].
    #[doc(alias = "class_weight")]
    #[must_use]
    pub fn balanced_classes(mut self) -> Self {
        self.balanced = true;
        self
    }

    /// What an error on a sample of this class costs, 1 unless told: its weight is multiplied by that, in the fit and in
    /// the cross-validated error alike.
    #[doc(alias = "class_weight")]
    #[must_use]
    pub fn class_cost(mut self, class: &(impl ToString + ?Sized), cost: f64) -> Self {
        self.costs.push((class.to_string(), cost));
        self
    }

    /// The weight of every sample, for data that have none of their own.
    #[must_use]
    pub fn sample_weights(mut self, weights: Vec<f64>) -> Self {
        self.estimator.sample_weights = Some(weights);
        self
    }

    /// How several classes are broken into binary problems.
    #[must_use]
    pub fn scheme(mut self, scheme: Scheme) -> Self {
        self.estimator.scheme = Some(scheme);
        self
    }

    /// Where probabilities come from.
    #[must_use]
    pub fn probabilities(mut self, probabilities: Probabilities) -> Self {
        self.estimator.probabilities = probabilities;
        self
    }

    /// The seed of folds, landmarks, random features, the order in which stochastic solvers visit the samples, and the part
    /// of many samples that Newton starts from.
    #[doc(alias = "random_state")]
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.estimator.options.seed = seed;
        self
    }

    /// The number of threads; those of the rayon pool at hand unless told. No result depends on it. With the feature
    /// `rayon`: there is no such setting where it could have no effect.
    #[cfg(feature = "rayon")]
    #[doc(alias = "n_jobs")]
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.estimator.threads = Some(threads);
        self
    }

    /// The time after which a fit is not improved further. It is looked at between lambdas and iterations, not while a
    /// kernel matrix is computed or factorised. A cross-validation gets four fifths of it and then chooses among the
    /// lambdas that were certified in all folds, without which it is an error; lambdas that are left are only looked
    /// at, which takes a certificate each. What is not certified by the end is kept as it is and marked as
    /// [`Status::TimeLimit`](margins_optim::Status::TimeLimit), and
    /// [`TrainingReport::is_certified`](crate::TrainingReport::is_certified) says no. A fit that was cut short depends on
    /// the machine.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.estimator.time_limit = Some(limit);
        self
    }

    /// Sees every fit on the way as it is made, from whatever thread makes it.
    #[must_use]
    pub fn progress(mut self, observer: impl Fn(&Progress<'_>) + Send + Sync + 'static) -> Self {
        self.estimator.progress = Observer(Some(Arc::new(observer)));
        self
    }

    /// The settings, checked.
    ///
    /// # Errors
    /// [`Error::Contradiction`]: a loss both by value and by name, more than one way to a lambda, an approximation
    /// without a kernel, several kernels without cross-validation, balanced classes with costs. A setting outside its
    /// range; a loss or a kernel that the registry does not have, or parameters that it does not take.
    pub fn build(self) -> Result<Estimator, Error> {
        let ClassifierBuilder { mut estimator, loss, loss_name, .. } = self;
        estimator.loss = match (loss, loss_name) {
            (Some(loss), Some(name)) => {
                let (one, other) =
                    (format!("loss {}", loss.specification()), format!("loss_named {name}"));
                return Err(contradiction(one, other, "there is one loss"));
            }
            (Some(loss), None) => loss,
            (None, Some(name)) => Arc::from(estimator.registry.losses.parse(&name)?),
            (None, None) => estimator.loss,
        };
        #[cfg(feature = "kernels")]
        {
            estimator.spaces = self.kernel.spaces(&estimator.registry)?;
        }
        let ways = [
            self.lambda.map(|lambda| format!("lambda {lambda}")),
            self.path.as_ref().map(|(lambdas, _)| format!("a path of {} lambdas", lambdas.len())),
            self.cross_validation.as_ref().map(|_| "cross_validation".to_owned()),
        ];
        if let (Some(one), [_, _, ..]) = (ways[..2].iter().flatten().next(), &estimator.spaces[..])
        {
            let other = format!("{} kernels", estimator.spaces.len());
            let reason = "kernels are chosen by cross-validation, be it of a single lambda";
            return Err(contradiction(one.clone(), other, reason));
        }
        let mut ways = ways.into_iter().flatten();
        if let (Some(one), Some(other)) = (ways.next(), ways.next()) {
            return Err(contradiction(one, other, "lambda is found in one way"));
        }
        if let Some(lambda) = self.lambda {
            estimator.regularization = Regularization::Single(Lambda::new(lambda)?);
        }
        if let Some((lambdas, index)) = self.path {
            let lambdas = Lambda::descending(&lambdas)?;
            if index >= lambdas.len() {
                let requirement = format!("less than {}, the number of lambdas", lambdas.len());
                return Err(Error::setting("the index of the path", &index, requirement));
            }
            estimator.regularization = Regularization::Path(lambdas[..=index].to_vec());
        }
        if let Some(how) = self.cross_validation {
            Lambda::descending(&how.lambdas)?;
            check_folds(how.folds)?;
            estimator.regularization = Regularization::CrossValidated(how);
        }
        if let Probabilities::Platt { folds } = estimator.probabilities {
            check_folds(folds)?;
        }
        estimator.costs = ClassCosts::new(self.costs)?;
        if self.balanced {
            if let Some((class, cost)) = estimator.costs.first() {
                let other = format!("class_cost {cost} of '{class}'");
                let reason = "the weights of classes are told or balanced";
                return Err(contradiction("balanced_classes".to_owned(), other, reason));
            }
            estimator.class_weights = ClassWeights::Balanced;
        }
        #[cfg(feature = "rayon")]
        if estimator.threads == Some(0) {
            return Err(Error::setting("the number of threads", &0, "at least 1"));
        }
        estimator.options.check()?;
        Ok(estimator)
    }
}

fn check_folds(folds: Option<usize>) -> Result<(), Error> {
    match folds {
        Some(count) if count < 2 => {
            Err(Error::setting("the number of folds", &count, "at least 2"))
        }
        _ => Ok(()),
    }
}

fn contradiction(one: String, other: String, reason: &'static str) -> Error {
    Error::Contradiction { one, other, reason }
}
