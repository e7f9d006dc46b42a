//! What settings refuse: values outside their range, and settings that contradict each other.

use margins_model::Scheme;
use margins_optim::method::{Route, SpaceKind};
use margins_optim::{ClassWeights, Lambda, Solver};
use margins_robust::RobustLearner;

use super::approximation::Approximation;
use super::cross_validation::check_folds;
use super::prepared::PRECOMPUTED;
use super::settings::{ClassifierSettings, Probabilities, Regularisation};
use super::space::{FunctionSpace, KernelChoice};
use crate::Error;

impl ClassifierSettings {
    /// Refuses settings that contradict each other or are outside their range; [`fit`](Self::fit)
    /// does so too.
    ///
    /// # Errors
    /// [`Error::Contradiction`]: an approximation without a kernel, several kernels without
    /// cross-validation, balanced classes with costs, a robust learner with what is for fits of the
    /// regularised risk alone. [`Error::Setting`]: a setting outside its range. A kernel that the
    /// registry does not have, or parameters that it does not take.
    pub fn check(&self) -> Result<(), Error> {
        if !self.or_losses.is_empty() {
            if !matches!(self.regularisation, Regularisation::CrossValidated(_)) {
                let losses = format!("{} losses", 1 + self.or_losses.len());
                let reason = "several losses need cross-validation, even at a single lambda";
                return Err(Error::contradiction(self.regularisation.describe(), losses, reason));
            }
            return self.with_each_loss().iter().try_for_each(|settings| settings.check());
        }
        let kernels = self.spaces()?.len();
        let regularisation = &self.regularisation;
        if kernels > 1 && !matches!(regularisation, Regularisation::CrossValidated(_)) {
            let reason = "several kernels need cross-validation, even at a single lambda";
            return Err(Error::contradiction(
                regularisation.describe(),
                format!("{kernels} kernels"),
                reason,
            ));
        }
        regularisation.check(&*self.loss)?;
        self.check_form()?;
        #[cfg(feature = "serde")]
        self.check_kept()?;
        if let Probabilities::Platt { folds } = self.probabilities {
            check_folds(folds)?;
        }
        if let (ClassWeights::Balanced, Some((class, cost))) =
            (self.class_weights, self.class_costs.first())
        {
            let other = format!("class_cost {cost} of '{class}'");
            let reason = "class weights are either given or balanced";
            return Err(Error::contradiction("balanced_classes".to_owned(), other, reason));
        }
        #[cfg(feature = "rayon")]
        if self.threads == Some(0) {
            return Err(Error::setting("the number of threads", &0, "at least 1"));
        }
        self.options.check()?;
        self.check_published_rule()?;
        self.check_unpenalised()?;
        self.check_penalty_factors()?;
        self.check_memory()?;
        self.check_exact()?;
        self.check_auto_scale()?;
        self.check_duals()?;
        self.learner.map_or(Ok(()), |learner| self.check_learner(&learner))
    }

    /// Refuses settings that make no sense with the published rule, which goes along whole paths from the
    /// largest lambda.
    fn check_published_rule(&self) -> Result<(), Error> {
        if !self.options.solver.ends_paths() {
            return Ok(());
        }
        let how = match &self.regularisation {
            Regularisation::CrossValidated(how) => Some(how),
            _ => None,
        };
        let refused = [
            (
                self.time_limit.is_some(),
                "a time limit",
                "the rule ends a path by its iterations: leave the time limit out",
            ),
            (
                matches!(self.regularisation, Regularisation::Single(_)),
                "a single lambda",
                "the rule is for the lambdas of a path: fit a path, or cross-validate one",
            ),
            (
                how.is_some_and(|how| how.abandon_hopeless),
                "abandon_hopeless",
                "each lambda starts from the one before it: leave abandon_hopeless out",
            ),
            (
                how.is_some_and(|how| how.leave_one_out.is_some()),
                "leave_one_out",
                "fits without one sample start from a minimum: cross-validate with folds",
            ),
            (
                self.probabilities != Probabilities::OfTheLoss,
                "Platt scaling",
                "paths of other rows may end before the lambda selected: take the probabilities of the \
                 loss",
            ),
        ];
        match refused.into_iter().find(|(given, ..)| *given) {
            Some((_, other, reason)) => {
                let rule = "the published stopping rule".to_owned();
                Err(Error::contradiction(rule, other.to_owned(), reason))
            }
            None => Ok(()),
        }
    }

    /// Refuses a fit without a penalty except of a differentiable loss, by linear functions and the method
    /// for it.
    fn check_unpenalised(&self) -> Result<(), Error> {
        if self.regularisation != Regularisation::Single(Lambda::NONE) {
            if self.start.is_none() {
                return Ok(());
            }
            let reason =
                "with a penalty the minimum is the same from every start: leave the start out";
            let other = self.regularisation.describe();
            return Err(Error::contradiction("a start".to_owned(), other, reason));
        }
        let is_kernel = self.spaces()?.iter().any(|space| space.kernel().is_some());
        let loss = format!("loss {}", self.loss.specification());
        let refused = [
            (is_kernel, "a kernel", "a fit without a penalty is linear in the features"),
            (self.learner.is_some(), "a robust learner", "the learner needs a penalty"),
            (
                !self.loss.is_differentiable(),
                &loss,
                "without a penalty the loss must be differentiable. Use squared-hinge, or a lambda above 0",
            ),
            (
                !self.options.solver.takes(SpaceKind::Unpenalised),
                "this solver",
                "without a penalty leave the solver out, or for binary problems use lbfgs or gd",
            ),
            (
                self.start.is_some() && self.standardize,
                "a start with standardised features",
                "the start is for the features as given: leave one of them out",
            ),
        ];
        match refused.into_iter().find(|(given, ..)| *given) {
            Some((_, other, reason)) => {
                Err(Error::contradiction("lambda 0".to_owned(), other.to_owned(), reason))
            }
            None => Ok(()),
        }
    }

    /// Refuses penalty factors where they have no meaning, or nothing that could fit them.
    fn check_penalty_factors(&self) -> Result<(), Error> {
        let Some(factors) = &self.penalty_factors else { return Ok(()) };
        let spaces = self.spaces()?;
        let kernel =
            spaces.iter().find_map(FunctionSpace::kernel).map(|kernel| format!("kernel {kernel}"));
        let kernel = kernel.unwrap_or_default();
        let approximation = format!("approximation {}", self.kernels.approximation);
        let is_beside = factors.has_free() && !kernel.is_empty();
        let is_cholesky = matches!(self.kernels.approximation, Approximation::Cholesky { .. });
        let solver = self.options.solver;
        let takes_free = solver.takes(SpaceKind::FreeFeatures);
        let how = match &self.regularisation {
            Regularisation::CrossValidated(how) => Some(how),
            _ => None,
        };
        let refused = [
            (
                self.learner.is_some(),
                "a robust learner",
                "the learner penalises all features alike: leave the factors out",
            ),
            (
                self.regularisation == Regularisation::Single(Lambda::NONE),
                "lambda 0",
                "without a penalty there are no factors of it: leave them out",
            ),
            (
                !kernel.is_empty() && factors.has_scaled(),
                &kernel,
                "with a kernel a factor is 0, which takes a feature out of the kernel, or 1",
            ),
            (
                kernel.contains(PRECOMPUTED),
                &kernel,
                "a kernel matrix has no features: leave the factors out",
            ),
            (
                factors.has_free() && !takes_free,
                "another solver than auto and newton",
                "the others penalise all features: leave the solver out",
            ),
            (
                is_beside && how.is_some_and(|how| how.leave_one_out.is_some()),
                "leave_one_out",
                "it is for functions of the kernel alone: cross-validate with folds",
            ),
            (
                is_beside && self.certify_exact,
                "certify_exact",
                "the gap for the exact kernel is for functions of the kernel alone",
            ),
            (
                is_beside && is_cholesky,
                &approximation,
                "features beside the kernel need the kernel as it is, or nystrom or rff",
            ),
        ];
        match refused.into_iter().find(|(given, ..)| *given) {
            Some((_, other, reason)) => {
                let one = format!("penalty factors {factors}");
                Err(Error::contradiction(one, other.to_owned(), reason))
            }
            None => Ok(()),
        }
    }

    /// Refuses a loss whose form for several classes another scheme has, for two classes too.
    fn check_form(&self) -> Result<(), Error> {
        let (scheme, loss) = (self.scheme.unwrap_or(Scheme::Binary), self.loss.specification());
        let (only, reason) = match scheme {
            Scheme::Multinomial => (
                "logistic",
                "the multinomial loss is a form of the logistic one: take loss logistic, or joint",
            ),
            Scheme::CrammerSinger => {
                ("hinge", "its loss is the largest hinge: take loss hinge, or joint")
            }
            _ => return Ok(()),
        };
        if loss == only {
            return Ok(());
        }
        Err(Error::contradiction(format!("{scheme} classes"), format!("loss {loss}"), reason))
    }

    /// Refuses what one problem for several classes does not take; two classes are a binary problem.
    pub(super) fn check_joint(&self, scheme: Scheme) -> Result<(), Error> {
        if !scheme.is_joint() {
            return Ok(());
        }
        self.options.solver.check_space(SpaceKind::Joint)?;
        let leaves_one_out = matches!(
            &self.regularisation,
            Regularisation::CrossValidated(how) if how.leave_one_out.is_some()
        );
        let refused: [(bool, &str, &str); 5] = [
            (self.learner.is_some(), "a robust learner", "it learns two classes: take ovr or ovo"),
            (
                self.probabilities != Probabilities::OfTheLoss,
                "Platt scaling",
                "it scales the scores of two classes: take ovr or ovo, or the probabilities of the loss",
            ),
            (
                leaves_one_out,
                "leave_one_out",
                "the response to a sample is known for two classes: cross-validate with folds",
            ),
            (
                self.start.is_some(),
                "a start",
                "without a penalty its gap certifies any minimum: leave the start out",
            ),
            (
                self.options.keep_duals,
                "keep_duals",
                "a sample has a dual for every other class: take ovr",
            ),
        ];
        match refused.into_iter().find(|(given, ..)| *given) {
            Some((_, other, reason)) => {
                let one = format!("{scheme} classes");
                Err(Error::contradiction(one, other.to_owned(), reason))
            }
            None => Ok(()),
        }
    }

    /// Refuses a bound on memory for features whose inner products are not used.
    fn check_memory(&self) -> Result<(), Error> {
        let KernelChoice { memory: Some(memory), approximation, .. } = &self.kernels else {
            return Ok(());
        };
        let route = Route::of(&*self.loss, self.options.solver);
        let by_steps =
            route.is_ok_and(|route| route == Route::SupportVectors) && self.learner.is_none();
        if by_steps || !approximation.has_features() {
            return Ok(());
        }
        let reason = "for features the memory limits their inner products, which only the hinge with \
                      the automatic solver uses";
        let other = format!("approximation {approximation}");
        Err(Error::contradiction(format!("memory {memory}"), other, reason))
    }

    /// Refuses settings that a robust learner ignores, and probabilities of scores that it shifts.
    fn check_learner(&self, learner: &RobustLearner) -> Result<(), Error> {
        let refused = [
            (
                matches!(self.regularisation, Regularisation::CrossValidated(_)),
                "cross-validation",
                "it selects among fits of the regularised risk: give a lambda or a path",
            ),
            (
                self.probabilities != Probabilities::OfTheLoss,
                "Platt scaling",
                "the scores of held-out folds are scaled for fits of the regularised risk alone",
            ),
            (
                self.options.solver != Solver::default(),
                "a solver",
                "the learner has a method of its own: leave the solver out",
            ),
        ];
        if let Some((_, other, reason)) = refused.into_iter().find(|(given, ..)| *given) {
            return Err(Error::contradiction(learner.to_string(), other.to_owned(), reason));
        }
        if let Some(own) = learner.lambda()
            && self.regularisation != Regularisation::Single(own)
        {
            let reason =
                "lambda3 sets lambda to 1/(2 lambda3): leave lambda out, or give mean and variance";
            let other = self.regularisation.describe();
            return Err(Error::contradiction(learner.to_string(), other, reason));
        }
        let shifts = matches!(learner, RobustLearner::MarginDistribution(_));
        if shifts && self.loss.probability(0.0).is_some() {
            let loss = self.loss.specification();
            return Err(Error::ShiftedScores { learner: *learner, loss });
        }
        Ok(())
    }
}
