//! The learner in one pass over samples that arrive in parts.

use margins_data::{Design, Sample};
use margins_optim::method::Limits;
use margins_optim::online::Iterate;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::selection::Candidates;
use crate::sgd::{CandidateRule, Learned, Plan, Sgd, Trajectory};
use crate::sphere::UnitSample;
use crate::{Problem, SphereSample};

/// Algorithm 1 in one pass over samples that come in parts, such as a file of any size, in memory
/// for the candidates and N samples.
///
/// Every fifth sample is held out until there are N to select with; the learner takes steps on the
/// others until there were T, and holds out the samples after that. The candidates are those of the
/// [`Plan`], but random ones are drawn from the steps taken, however many there will be: the
/// t-th iterate takes the place of one of the k candidates with probability `k/t` (Vitter 1985,
/// algorithm R). For the guarantee the samples must come in random order.
///
/// ```
/// use margins_data::generate::{Adversary, MarginHalfspace, MassartDistribution};
/// use margins_massart::{OnePass, Problem, Plan};
///
/// let halfspace = MarginHalfspace::new(5, 0.2, 1)?;
/// let points = halfspace.points(2000, 1)?;
/// let noisy = MassartDistribution::of_halfspace(&halfspace, points, &Adversary::Random, 0.1)?;
/// let problem = Problem::new(0.1, 0.2)?;
/// let plan = Plan::practical(&problem);
/// let mut learner = OnePass::new(&problem, plan, 5, 1)?;
/// for part in 0..8 {
///     let draws = noisy.draw(1000, part);
///     learner.take(&noisy.design().select(&draws.rows), &draws.signs)?;
/// }
/// let learned = learner.finish()?;
/// assert_eq!(learned.steps, 8000 - plan.selection);
/// assert!(noisy.linear_error(&learned.classifier.coef)? <= 0.1 + problem.target.epsilon());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct OnePass {
    sgd: Sgd,
    plan: Plan,
    delta: f64,
    random: ChaCha8Rng,
    candidates: Candidates,
    taken: usize,
    steps: usize,
    held_out: Vec<Design>,
    signs: Vec<f64>,
}

/// The progress of a [`OnePass`] between two parts: all but the problem, the plan and the seed.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct OnePassState {
    iterate: Iterate,
    /// The position in the random numbers.
    words: u64,
    candidates: Vec<Vec<f64>>,
    taken: usize,
    steps: usize,
    held_out: Vec<HeldOutRows>,
    signs: Vec<f64>,
}

/// The samples held out of a part, as states store them.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
enum HeldOutRows {
    Dense(Vec<Vec<f64>>),
    Sparse(Vec<Vec<(usize, f64)>>),
}

impl HeldOutRows {
    fn of(design: &Design) -> Self {
        let stored = |sample: Sample<'_>| {
            let mut stored = Vec::new();
            sample.for_each(|column, x| stored.push((column, x)));
            stored
        };
        let all = |sample: Sample<'_>| {
            let mut all = vec![0.0; design.columns()];
            sample.for_each(|column, x| all[column] = x);
            all
        };
        match design.is_sparse() {
            true => HeldOutRows::Sparse(design.samples().map(stored).collect()),
            false => HeldOutRows::Dense(design.samples().map(all).collect()),
        }
    }

    fn design(&self, columns: usize) -> Result<Design, margins_data::Error> {
        match self {
            HeldOutRows::Dense(rows) => Design::from_rows(rows),
            HeldOutRows::Sparse(rows) => Design::from_sparse_rows(rows, columns),
        }
    }
}

impl OnePass {
    /// Returns a learner at the start, for samples with this number of features.
    ///
    /// # Errors
    /// [`Error::TooFew`]: there are no features. [`Error::Parameter`]: the step is not positive.
    /// [`Error::Candidates`]: the candidates do not fit in memory.
    pub fn new(problem: &Problem, plan: Plan, columns: usize, seed: u64) -> Result<Self, Error> {
        let sgd = Sgd::new(*problem, columns, plan.step)?;
        Ok(OnePass {
            sgd,
            plan,
            delta: problem.target.delta(),
            random: ChaCha8Rng::seed_from_u64(seed),
            candidates: Candidates::with_capacity(columns, plan.most_candidates())?,
            taken: 0,
            steps: 0,
            held_out: Vec::new(),
            signs: Vec::new(),
        })
    }

    /// Returns the state from which a learner of the same problem, plan and seed
    /// [continues](Self::resumed) later.
    ///
    /// ```
    /// use margins_data::Design;
    /// use margins_massart::{OnePass, Plan, Problem};
    ///
    /// let problem = Problem::new(0.1, 0.2)?;
    /// let start = || OnePass::new(&problem, Plan::practical(&problem), 2, 1);
    /// let (part, signs) = (Design::from_rows(&[[1.0, 0.5], [-0.5, 1.0]])?, [1.0, -1.0]);
    /// let mut learner = start()?;
    /// learner.take(&part, &signs)?;
    /// let mut resumed = start()?.resumed(learner.state())?;
    /// for _ in 0..9 {
    ///     learner.take(&part, &signs)?;
    ///     resumed.take(&part, &signs)?;
    /// }
    /// assert_eq!(resumed.finish()?, learner.finish()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn state(&self) -> OnePassState {
        let candidates = (0..self.candidates.len()).map(|k| self.candidates.get(k).to_vec());
        OnePassState {
            iterate: self.sgd.iterate().clone(),
            words: self.random.get_word_pos() as u64,
            candidates: candidates.collect(),
            taken: self.taken,
            steps: self.steps,
            held_out: self.held_out.iter().map(HeldOutRows::of).collect(),
            signs: self.signs.clone(),
        }
    }

    /// Returns the learner that continues from a state; this one is at the start.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::Sign`], [`Error::Data`]: a state of another number of features, or
    /// one that contradicts itself.
    pub fn resumed(mut self, state: OnePassState) -> Result<Self, Error> {
        let columns = self.candidates.columns();
        let check = |what, expected, found| {
            (expected == found).then_some(()).ok_or(Error::Shape { what, expected, found })
        };
        check("features of a state", columns, state.iterate.features())?;
        for candidate in &state.candidates {
            check("features of a candidate", columns, candidate.len())?;
            self.candidates.push(candidate);
        }
        if let Some(row) = state.signs.iter().position(|sign| sign.abs() != 1.0) {
            return Err(Error::Sign { row, sign: state.signs[row] });
        }
        let designs = state.held_out.iter().map(|rows| rows.design(columns));
        self.held_out = designs.collect::<Result<_, _>>()?;
        for design in &self.held_out {
            check("features of a sample held out", columns, design.columns())?;
        }
        let rows = self.held_out.iter().map(Design::rows).sum();
        check("signs of samples held out", rows, state.signs.len())?;
        self.random.set_word_pos(state.words.into());
        let OnePassState { iterate, taken, steps, signs, .. } = state;
        self.sgd = self.sgd.at(iterate);
        Ok(OnePass { taken, steps, signs, ..self })
    }

    /// Returns the number of samples held out so far.
    pub fn held_out(&self) -> usize {
        self.signs.len()
    }

    /// Returns true if all T steps are taken and all N samples held out, so that no more samples
    /// are needed.
    pub fn is_complete(&self) -> bool {
        self.steps >= self.plan.steps && self.signs.len() >= self.plan.selection
    }

    /// Takes the next samples, each with its sign.
    ///
    /// # Errors
    /// [`Error::Shape`]: the features are of another number, or there is not one sign a row.
    /// [`Error::Sign`]: a sign is neither +1 nor -1. [`Error::Direction`]: a sample cannot be
    /// scaled to norm 1; the row is its number since the start.
    pub fn take(&mut self, design: &Design, signs: &[f64]) -> Result<(), Error> {
        /// The number of samples of which one is held out.
        const SHARE: usize = 5;
        let columns = self.candidates.columns();
        for (what, expected, found) in [
            ("features of a part", columns, design.columns()),
            ("signs, one per row", design.rows(), signs.len()),
        ] {
            if expected != found {
                return Err(Error::Shape { what, expected, found });
            }
        }
        let mut held_out = Vec::new();
        for (row, (x, &y)) in design.samples().zip(signs).enumerate() {
            if y.abs() != 1.0 {
                return Err(Error::Sign { row: self.taken, sign: y });
            }
            self.taken += 1;
            let unit = self.unit(x)?;
            let learns = self.steps < self.plan.steps;
            let lacks = self.signs.len() + held_out.len() < self.plan.selection;
            if lacks && (self.taken.is_multiple_of(SHARE) || !learns) {
                held_out.push(row);
            } else if learns {
                self.consider();
                self.sgd.take(&unit, y)?;
                self.steps += 1;
            }
        }
        if !held_out.is_empty() {
            self.held_out.push(design.select(&held_out));
            self.signs.extend(held_out.iter().map(|&row| signs[row]));
        }
        Ok(())
    }

    fn unit<'s>(&self, x: Sample<'s>) -> Result<UnitSample<'s>, Error> {
        UnitSample::new(x).map_err(|error| error.of_row(self.taken - 1))
    }

    /// Makes the present iterate a candidate, if the rule or chance decides so.
    fn consider(&mut self) {
        match self.plan.candidates {
            CandidateRule::Random(most) if self.candidates.len() >= most => {
                let place = self.random.random_range(0..=self.steps);
                if place < most {
                    self.candidates.replace(place, &self.sgd.coef());
                }
            }
            _ => self.candidates.push(&self.sgd.coef()),
        }
    }

    /// Returns the best of the candidates and the last iterate on the samples held out.
    ///
    /// # Errors
    /// [`Error::TooFew`]: there are fewer than five samples, so that none is held out.
    pub fn finish(mut self) -> Result<Learned, Error> {
        if self.held_out.is_empty() {
            let found = self.taken;
            return Err(Error::TooFew { what: "samples of a stream", needed: 5, found });
        }
        let design = Design::stack(&self.held_out)?;
        self.candidates.push(&self.sgd.coef());
        let selection = SphereSample::new(&design, &self.signs)?;
        let (candidates, mean) = (self.candidates, Vec::new());
        let run = Trajectory { steps: self.steps, candidates, mean, stopped: None };
        Ok(Learned::new(&run, &selection, self.delta, &Limits::default()))
    }
}
