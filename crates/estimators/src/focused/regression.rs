//! Regression with a small absolute error on every sample.

use std::time::Duration;

use margins_boost::{ClippedMean, Horizon, RegressionGame, RegressionOutcome, largest_norm};
use margins_data::Design;
use margins_optim::Status;

use crate::Error;
use crate::regularised::IterationObserver;

/// The settings of a regression by focused online learning ([`RegressionGame`]): targets in [0, 1],
/// the mean of linear functions without intercept that are clipped to [0, 1].
#[derive(Debug, Clone)]
pub struct RegressorSettings {
    /// The largest error of a sample at which the game ends, between 0 and 1.
    pub epsilon: f64,
    /// The probability with which the theorem may fail.
    pub delta: f64,
    /// The largest norm W of the coefficients.
    pub norm: f64,
    /// The most steps; by default those of the theorem.
    pub max_steps: Option<u64>,
    /// The number of functions in the mean; by default that of the theorem.
    pub outputs: Option<usize>,
    /// The seed of the draws and of the steps whose functions are kept.
    pub seed: u64,
    /// The time after which no more steps are taken.
    pub time_limit: Option<Duration>,
    /// The function that is called every so many steps, and may end the game.
    pub iterations: IterationObserver<()>,
}

/// The end of a regression by focused online learning.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FittedRegressor {
    /// The mean of the functions kept.
    pub predictor: ClippedMean,
    /// The error of every sample.
    pub errors: Vec<f64>,
    /// The end of the game.
    pub ending: RegressionOutcome,
    /// The steps and functions of the theorem; `None` if [`max_steps`](RegressorSettings::max_steps) is
    /// given and the theorem needs more steps or functions than a game can have.
    pub theory: Option<Horizon>,
    /// The most steps of the game, and its functions.
    pub horizon: Horizon,
    /// A bound on the probability that, at the end of [`horizon`](Self::horizon), some error is above
    /// epsilon although the clipped function of some coefficients of the norm has no error.
    pub failure: f64,
    /// [`Status::RuleMet`] if every error was at most epsilon, [`Status::IterationLimit`] after the
    /// most steps, or [`Status::TimeLimit`].
    pub status: Status,
}

impl RegressorSettings {
    /// Returns the settings of an error and a norm, with delta 0.01 and seed 1.
    pub fn new(epsilon: f64, norm: f64) -> Self {
        RegressorSettings {
            epsilon,
            delta: 0.01,
            norm,
            max_steps: None,
            outputs: None,
            seed: 1,
            time_limit: None,
            iterations: IterationObserver::default(),
        }
    }

    /// Plays the game.
    ///
    /// ```
    /// use margins_data::Design;
    /// use margins_estimators::focused::RegressorSettings;
    ///
    /// let design = Design::from_rows(&[[0.1, 0.9], [0.5, 0.5], [0.9, 0.2], [0.3, 0.1]])?;
    /// let fitted = RegressorSettings::new(0.1, 1.0).fit(&design, &[0.5, 0.5, 0.55, 0.2])?;
    /// assert!(fitted.errors.iter().all(|&error| error <= 0.1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Setting`]: an epsilon or delta that is not between 0 and 1, a norm that is not finite or
    /// not greater than 0. [`Error::Boost`]: another number outside its range, more steps of the theorem than 2^53 if no number of steps is given,
    /// another number of targets than of samples, a target that is not in [0, 1], or a callback that
    /// ended the game.
    pub fn fit(&self, design: &Design, targets: &[f64]) -> Result<FittedRegressor, Error> {
        let (rows, largest) = (design.rows(), largest_norm(design));
        let Self { epsilon, delta, norm, .. } = *self;
        for (name, value) in [("epsilon", epsilon), ("delta", delta)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(Error::setting(name, &value, "between 0 and 1"));
            }
        }
        if !(norm > 0.0 && norm.is_finite()) {
            return Err(Error::setting("norm", &norm, "a finite number greater than 0"));
        }
        let theory = Horizon::with_regret(rows, epsilon, delta, 0.0, norm * largest);
        let (steps, theory) = match (self.max_steps, theory) {
            (Some(steps), theory) => (steps, theory.ok()),
            (None, theory) => {
                let theory = theory?;
                (theory.rounds(), Some(theory))
            }
        };
        let outputs = match self.outputs {
            Some(outputs) => outputs,
            // Their number does not depend on the losses of the learner.
            None => Horizon::theorem_1(rows, epsilon, delta, 0.0)?.outputs(),
        };
        let horizon = Horizon::new(steps, outputs)?;
        let mut game = RegressionGame::new(design, targets, norm, horizon, self.seed)?;
        let ending = game.run(Some(epsilon), &self.iterations.limits(self.time_limit))?;
        let status = match ending.stopped {
            Some(Status::Interrupted) => return Err(margins_boost::Error::Interrupted.into()),
            Some(limit) => limit,
            None if ending.reached_at.is_some() => Status::RuleMet,
            None => Status::IterationLimit,
        };
        let regret = norm * largest * (steps as f64).sqrt();
        Ok(FittedRegressor {
            predictor: game.predictor(),
            errors: game.errors(),
            ending,
            theory,
            horizon,
            failure: horizon.failure(rows, epsilon, regret)?,
            status,
        })
    }
}
