//! The objective over samples in memory.

use std::borrow::Cow;

use margins_data::{Dataset, Design, Labels};
use margins_losses::MarginLoss;
use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use crate::Error;
use crate::problem::margins::weighted;
use crate::problem::{Block, EmpiricalRisk, FreeColumns, FreePart, Mobility};

/// The stored features of a part of the samples, 32 MB of them, beyond which it is made smaller.
pub(crate) const MOST_OF_A_PART: usize = 1 << 22;

/// Returns the number of samples, of n with p features, whose minimiser is worth finding first: one
/// in eight, or fewer where these would have more than so many stored features, down to a few
/// samples per feature. `None` if all samples are few beside the features.
pub(crate) fn part_of((n, p): (usize, usize), stored: usize, most: usize) -> Option<usize> {
    const PART: usize = 8;
    const SAMPLES_A_FEATURE: usize = 25;
    const WORTH: usize = 1 << 17;
    const FEWEST_A_FEATURE: usize = 4;
    if n < PART * SAMPLES_A_FEATURE * (p + 1) || stored < WORTH {
        return None;
    }
    let few = (most as f64 / stored as f64 * n as f64) as usize;
    Some((n / PART).min(few.max(FEWEST_A_FEATURE * (p + 1))))
}

/// The objective `F(b, w) = (1/n) sum_i c_i L(y_i (b + <w, x_i>)) + lambda ||w||^2`, up to the
/// choice of lambda.
///
/// n counts all samples, those of weight 0 included: a held-out sample is a sample of weight zero.
#[derive(Debug)]
pub struct Objective<'a, L: MarginLoss + ?Sized> {
    pub(crate) risk: EmpiricalRisk<'a, L>,
    pub(crate) design: Cow<'a, Design>,
    pub(crate) free: FreeColumns,
}

impl<L: MarginLoss + ?Sized> Clone for Objective<'_, L> {
    fn clone(&self) -> Self {
        Objective { risk: self.risk.clone(), design: self.design.clone(), free: self.free.clone() }
    }
}

impl<'a, L: MarginLoss + ?Sized> Objective<'a, L> {
    /// Returns the objective of samples of weight 1, with an intercept.
    ///
    /// # Errors
    /// [`Error::Shape`]: the labels are not as many as the rows. [`Error::OneClass`]: the labels
    /// are of one class only.
    pub fn new(loss: &'a L, design: &'a Design, labels: &'a Labels) -> Result<Self, Error> {
        if labels.len() != design.rows() {
            return Err(Error::Shape {
                what: "labels, one per row",
                expected: design.rows(),
                found: labels.len(),
            });
        }
        let risk = EmpiricalRisk::new(loss, labels)?;
        Ok(Objective::made_of(risk, Cow::Borrowed(design)))
    }

    /// Returns the objective of a data set with its weights, if it has any, and an intercept.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new) and [`with_weights`](Self::with_weights).
    pub fn of(loss: &'a L, data: &'a Dataset) -> Result<Self, Error> {
        let objective = Self::new(loss, data.design(), data.labels())?;
        match data.weights() {
            Some(weights) => objective.with_weights(weights),
            None => Ok(objective),
        }
    }

    /// Returns the objective of a risk over a design of as many rows.
    ///
    /// # Errors
    /// [`Error::Shape`]: the rows are not as many as the samples.
    pub fn from_risk(risk: EmpiricalRisk<'a, L>, design: &'a Design) -> Result<Self, Error> {
        let (expected, found) = (risk.sample_count(), design.rows());
        if expected != found {
            return Err(Error::Shape { what: "rows", expected, found });
        }
        Ok(Objective::made_of(risk, Cow::Borrowed(design)))
    }

    /// Returns the objective of a risk over a design of as many rows, all features penalised.
    pub(crate) fn made_of(risk: EmpiricalRisk<'a, L>, design: Cow<'a, Design>) -> Self {
        Objective { risk, design, free: FreeColumns::default() }
    }

    pub(crate) fn with_loss<'b, M: MarginLoss + ?Sized>(&self, loss: &'b M) -> Objective<'b, M>
    where
        'a: 'b,
    {
        Objective {
            risk: self.risk.with_loss(loss),
            design: self.design.clone(),
            free: self.free.clone(),
        }
    }

    /// Multiplies the loss of sample i by `weights[i]`.
    ///
    /// # Errors
    /// The errors of [`EmpiricalRisk::with_weights`].
    pub fn with_weights(self, weights: &[f64]) -> Result<Self, Error> {
        Ok(Objective { risk: self.risk.with_weights(weights)?, ..self })
    }

    /// Fixes the intercept at 0.
    #[must_use]
    pub fn without_intercept(self) -> Self {
        Objective { risk: self.risk.without_intercept(), ..self }
    }

    /// Takes the penalty off some features: F has `lambda sum w_j^2` over all others.
    ///
    /// # Errors
    /// [`Error::Shape`]: there is no such column.
    ///
    /// ```
    /// use margins_data::{Design, Labels};
    /// use margins_losses::Logistic;
    /// use margins_optim::problem::FreeColumns;
    /// use margins_optim::{Lambda, Objective, Options, fit};
    ///
    /// let design = Design::from_rows(&[[0.0, 1.0], [1.0, 3.0], [2.0, 0.5], [3.0, 1.0]])?;
    /// let labels = Labels::from_signs(vec![-1.0, 1.0, -1.0, 1.0])?;
    /// let objective =
    ///     Objective::new(&Logistic, &design, &labels)?.with_free(FreeColumns::new(vec![0])?)?;
    /// // However large lambda is, the coefficient of the first feature stays what it is without others.
    /// let fit = fit(&objective, Lambda::new(1e6)?, &Options::default())?;
    /// assert!(fit.report.converged() && fit.coef[0] > 0.4 && fit.coef[1].abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_free(self, free: FreeColumns) -> Result<Self, Error> {
        free.check(self.design.columns())?;
        Ok(Objective { free, ..self })
    }

    /// Returns the features that no penalty acts on.
    pub fn free(&self) -> &FreeColumns {
        &self.free
    }

    pub(crate) fn free_part(&self) -> FreePart {
        FreePart { columns: self.free.clone(), intercept: self.risk.intercept }
    }

    /// Returns the objective with those free columns that the others do not
    /// [make up](FreeColumns::independent).
    pub(crate) fn with_independent_free(&self) -> Self {
        let block = Block::of(&self.design, &self.free_part());
        let duals = vec![0.0; self.design.rows()];
        let gram = self.risk.block_sums(&block, &duals, Mobility::All).gram;
        let free = self.free.independent(self.risk.intercept, &gram);
        Objective { free, ..self.clone() }
    }

    /// Returns the first part of F, as a function of scores.
    pub fn risk(&self) -> &EmpiricalRisk<'a, L> {
        &self.risk
    }

    /// Returns the samples.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Returns `(1/n) sum c_i ||x_i||^2`.
    pub(crate) fn mean_square(&self) -> f64 {
        let samples = self.design.samples().enumerate();
        samples.map(|(i, x)| weighted(self.risk.weights.get(i), x.squared_norm())).sum()
    }

    /// Returns the objective over another design of as many rows.
    ///
    /// # Panics
    /// The method panics if the design has another number of rows.
    #[must_use]
    pub fn over(&self, design: Design) -> Self {
        assert_eq!(design.rows(), self.design.rows(), "an objective keeps its samples");
        Objective { risk: self.risk.clone(), design: Cow::Owned(design), free: self.free.clone() }
    }

    /// Returns the objective on a [part](part_of) of the samples, drawn at random; `None` if there is
    /// none or it is of one class.
    pub(crate) fn part(&self) -> Option<Self> {
        let n = self.design.rows();
        let shape = (n, self.design.columns());
        let count = part_of(shape, self.design.stored(), MOST_OF_A_PART)?;
        const SEED: u64 = 1;
        const STREAM: u64 = 2;
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        random.set_stream(STREAM);
        let mut rows = index::sample(&mut random, n, count).into_vec();
        rows.sort_unstable();
        let risk = self.risk.select(&rows)?;
        let design = Cow::Owned(self.design.select(&rows));
        Some(Objective { risk, design, free: self.free.clone() })
    }
}
