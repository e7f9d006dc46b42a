//! Regression with a small absolute error on every sample.

mod least_squares;

use std::borrow::Cow;
use std::time::Duration;

use margins_boost::{Horizon, RegressionGame, RegressionOutcome, largest_norm};
use margins_data::{Design, Sample, Standardizer};
use margins_optim::Status;
use margins_optim::method::Limits;
use margins_optim::online::{LinearClassifier, Scorer};

use crate::Error;
use crate::regularised::IterationObserver;
use crate::standardization::Standardization;

/// The most steps of a game that has no limit of its own, some hours.
const MOST_STEPS: u64 = 100_000_000_000;

/// The settings of a regression by focused online learning, example 2 of Shalev-Shwartz and Wexler
/// (2016).
///
/// Targets are scaled to [0, 1] by their smallest and largest value; the functions of the
/// [game](RegressionGame) are linear, with an intercept as the coefficient of a feature that is 1,
/// and clipped to this range. Settings that are numbers of the theorem are those for the scaled
/// targets.
#[derive(Debug, Clone)]
pub struct RegressorSettings {
    /// The largest error of a sample at which the game ends, as a share of the range of the targets,
    /// between 0 and 1.
    pub epsilon: f64,
    /// The largest norm W of a function as the game sees it: of its coefficients, those of standardised
    /// features if they are, with its intercept. By default that of the least squares solution, or 1 if
    /// that is 0; of several solutions the smallest one over standardised features.
    pub norm: Option<f64>,
    /// True if the game is played on features of deviation 1, and of mean 0 if they are dense and
    /// there is an intercept.
    pub standardize: bool,
    /// True if the functions have an intercept; without, the smallest target is the prediction at 0.
    pub intercept: bool,
    /// The probability with which the theorem may fail.
    pub delta: f64,
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

impl Default for RegressorSettings {
    /// Returns the settings of epsilon 0.1 and delta 0.01, with an intercept and seed 1.
    fn default() -> Self {
        RegressorSettings {
            epsilon: 0.1,
            norm: None,
            standardize: false,
            intercept: true,
            delta: 0.01,
            max_steps: None,
            outputs: None,
            seed: 1,
            time_limit: None,
            iterations: IterationObserver::default(),
        }
    }
}

/// A regression function with values from a to b, the mean of clipped linear functions:
/// `f(x) = a + (b - a) mean_j min(1, max(0, b_j + <w_j, x>))`.
#[derive(Debug, Clone, PartialEq)]
pub struct Regressor {
    /// The linear functions, with intercepts b_j and coefficients w_j.
    pub functions: Vec<LinearClassifier>,
    /// The least value a and the largest one b.
    pub range: [f64; 2],
}

impl Regressor {
    /// Returns `f(x)`; the least value without functions.
    ///
    /// # Panics
    /// If the sample has other features than the functions.
    pub fn predict(&self, x: &Sample<'_>) -> f64 {
        let sum: f64 =
            self.functions.iter().map(|function| function.score(x).clamp(0.0, 1.0)).sum();
        let [low, high] = self.range;
        low + (high - low) * (sum / self.functions.len().max(1) as f64)
    }
}

/// The end of a regression by focused online learning.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FittedRegressor {
    /// The regression function.
    pub regressor: Regressor,
    /// The absolute error of every sample, in the units of the targets.
    pub errors: Vec<f64>,
    /// The largest norm W of a function as the game saw it, with its intercept.
    pub norm: f64,
    /// True if [`norm`](Self::norm) is that of the least squares solution.
    pub least_squares: bool,
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

/// A game that has ended.
struct Played<'d> {
    game: RegressionGame<'d>,
    ending: RegressionOutcome,
    horizon: Horizon,
    theory: Option<Horizon>,
}

impl FittedRegressor {
    /// Returns the largest error of a sample.
    pub fn max_error(&self) -> f64 {
        self.errors.iter().copied().fold(0.0, f64::max)
    }
}

impl RegressorSettings {
    /// Plays the game.
    ///
    /// ```
    /// use margins_data::Design;
    /// use margins_estimators::focused::RegressorSettings;
    ///
    /// let design = Design::from_rows(&[[0.1, 0.9], [0.5, 0.5], [0.9, 0.2], [0.3, 0.1]])?;
    /// let fitted = RegressorSettings::default().fit(&design, &[5.0, 5.0, 5.5, 2.0])?;
    /// assert!(fitted.max_error() <= 0.1 * (5.5 - 2.0));
    /// assert!((fitted.regressor.predict(&design.sample(3)) - 2.0).abs() <= 0.1 * (5.5 - 2.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Setting`]: an epsilon or delta that is not between 0 and 1, a norm that is not finite or
    /// not greater than 0, no steps or no outputs, another number of targets than of samples, targets that
    /// are not finite or whose range overflows, samples whose norms overflow, more steps of the theorem
    /// than 1e11 (2^53 with a time limit) if no number of steps is given. [`Error::Boost`]: a callback
    /// that ended the game.
    /// [`Error::Data`]: standardised values overflow.
    pub fn fit(&self, design: &Design, targets: &[f64]) -> Result<FittedRegressor, Error> {
        self.check()?;
        if targets.len() != design.rows() {
            let requirement = format!("{}, one for each sample", design.rows());
            return Err(Error::setting("the number of targets", &targets.len(), requirement));
        }
        let [low, high] = range(targets)?;
        let width = high - low;
        let scaled = |y: &f64| if width > 0.0 { ((y - low) / width).clamp(0.0, 1.0) } else { 0.0 };
        let scaled: Vec<f64> = targets.iter().map(scaled).collect();
        let limits = self.iterations.limits(self.time_limit);
        let least_squares = match self.norm {
            Some(_) => None,
            None => self.least_squares_norm(design, &scaled, &limits)?,
        };
        let norm = self.norm.or(least_squares).unwrap_or(1.0);
        let standardization = self.standardize.then(|| self.standardization(design));
        let posed = self.posed(design, standardization.as_ref())?;
        let Played { game, ending, horizon, theory } = self.play(&posed, &scaled, norm, &limits)?;
        let status = match ending.stopped {
            Some(Status::Interrupted) => return Err(margins_boost::Error::Interrupted.into()),
            Some(limit) => limit,
            None if ending.reached_at.is_some() => Status::RuleMet,
            None => Status::IterationLimit,
        };
        let regret = norm * largest_norm(&posed) * (horizon.rounds() as f64).sqrt();
        let function = |member: &Vec<f64>| self.function(member, design, standardization.as_ref());
        Ok(FittedRegressor {
            regressor: Regressor {
                functions: game.predictor().members().iter().map(function).collect(),
                range: [low, high],
            },
            errors: game.errors().into_iter().map(|error| width * error).collect(),
            norm,
            least_squares: least_squares.is_some(),
            ending,
            theory,
            horizon,
            failure: horizon.failure(design.rows(), self.epsilon, regret)?,
            status,
        })
    }

    fn check(&self) -> Result<(), Error> {
        for (name, value) in [("epsilon", self.epsilon), ("delta", self.delta)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(Error::setting(name, &value, "between 0 and 1"));
            }
        }
        for (name, count) in
            [("max_steps", self.max_steps), ("outputs", self.outputs.map(|count| count as u64))]
        {
            if count == Some(0) {
                return Err(Error::setting(name, &0, "at least 1"));
            }
        }
        match self.norm {
            Some(norm) if !(norm > 0.0 && norm.is_finite()) => {
                Err(Error::setting("norm", &norm, "a finite number greater than 0"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the scaling of the features; without an intercept, and of sparse ones, it does not centre
    /// them.
    fn standardization(&self, design: &Design) -> Standardization {
        let centred = self.intercept && !design.is_sparse();
        Standardization::new(Standardizer::fit(design, None), centred)
    }

    /// Returns the norm of the least squares solution, unless it is 0 or overflows. It is found over
    /// standardised features, where features of large numbers do not hide others.
    fn least_squares_norm(
        &self,
        design: &Design,
        targets: &[f64],
        limits: &Limits<'_>,
    ) -> Result<Option<f64>, Error> {
        let scaling = self.standardization(design);
        let found = least_squares::solution(&*self.posed(design, Some(&scaling))?, targets, limits);
        let scaling = (!self.standardize).then_some(&scaling);
        let function = self.function(&found, design, scaling);
        let norm = function.coef.iter().fold(function.intercept.abs(), |norm, w| norm.hypot(*w));
        Ok((norm > 0.0 && norm.is_finite()).then_some(norm))
    }

    /// Returns the function of the features as given, from coefficients of the game.
    fn function(
        &self,
        member: &[f64],
        design: &Design,
        standardization: Option<&Standardization>,
    ) -> LinearClassifier {
        let (coef, intercept) = member.split_at(design.columns());
        let intercept = intercept.first().copied().unwrap_or(0.0);
        let function = LinearClassifier { intercept, coef: coef.to_vec() };
        standardization.map(|scaling| scaling.unscale(&function)).unwrap_or(function)
    }

    /// Returns the samples as the game sees them: standardised, and with a feature of value 1 for the
    /// intercept.
    fn posed<'d>(
        &self,
        design: &'d Design,
        standardization: Option<&Standardization>,
    ) -> Result<Cow<'d, Design>, Error> {
        let mut posed = Cow::Borrowed(design);
        if let Some(standardization) = standardization {
            posed = Cow::Owned(standardization.apply(design)?);
        }
        if self.intercept {
            let ones = match design.is_sparse() {
                true => Design::from_sparse_rows(&vec![vec![(0, 1.0)]; design.rows()], 1)?,
                false => Design::from_rows(&vec![[1.0]; design.rows()])?,
            };
            posed = Cow::Owned(posed.beside(&ones)?);
        }
        Ok(posed)
    }

    /// Plays the game on targets in [0, 1].
    fn play<'d>(
        &self,
        design: &'d Design,
        targets: &'d [f64],
        norm: f64,
        limits: &Limits<'_>,
    ) -> Result<Played<'d>, Error> {
        let (rows, epsilon, delta) = (design.rows(), self.epsilon, self.delta);
        let largest = largest_norm(design);
        if !(norm * largest).is_finite() {
            let requirement = "such that its product with the norm of a function is finite: standardise \
                               the features";
            return Err(Error::setting("the largest norm of a sample", &largest, requirement));
        }
        let theory = Horizon::with_regret(rows, epsilon, delta, 0.0, norm * largest).ok();
        let is_short =
            |theory: &Horizon| theory.rounds() <= MOST_STEPS || self.time_limit.is_some();
        let steps = match (self.max_steps, theory.filter(is_short)) {
            (Some(steps), _) => steps,
            (None, Some(theory)) => theory.rounds(),
            (None, None) => {
                let steps = match theory {
                    Some(theory) => format!("{:.2e}", theory.rounds() as f64),
                    None => "more than 2^53".to_owned(),
                };
                let requirement = format!(
                    "at most {:e}: standardise features of large numbers, or set the maximum number of steps",
                    MOST_STEPS as f64
                );
                return Err(Error::setting(
                    "the number of steps of theorem 1",
                    &steps,
                    requirement,
                ));
            }
        };
        let outputs = match self.outputs {
            Some(outputs) => outputs,
            // Their number does not depend on the losses of the learner.
            None => Horizon::theorem_1(rows, epsilon, delta, 0.0)?.outputs(),
        };
        let horizon = Horizon::new(steps, outputs)?;
        let mut game = RegressionGame::new(design, targets, norm, horizon, self.seed)?;
        let ending = game.run(Some(epsilon), limits)?;
        Ok(Played { game, ending, horizon, theory })
    }
}

/// Returns the smallest and the largest target.
fn range(targets: &[f64]) -> Result<[f64; 2], Error> {
    if let Some(row) = targets.iter().position(|y| !y.is_finite()) {
        let requirement = format!("a finite number (row {row}, counted from 0)");
        return Err(Error::setting("target", &targets[row], requirement));
    }
    let (low, high) = targets
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &y| (low.min(y), high.max(y)));
    match (high - low).is_finite() || targets.is_empty() {
        true => Ok([low, high]),
        false => {
            let found = format!("from {low:e} to {high:e}");
            Err(Error::setting(
                "the range of the targets",
                &found,
                "a finite length: divide them by a number",
            ))
        }
    }
}
