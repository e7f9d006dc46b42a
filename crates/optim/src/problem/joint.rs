//! The objective of several classes in one problem.

use std::borrow::Cow;

use margins_data::{ClassLabels, Classes, Dataset, Design};
use margins_losses::MarginLoss;

use crate::Error;
use crate::problem::{Block, FreeColumns, FreePart, Rivals, Weights};

/// The loss of a sample of several classes, as a function of its margins over the other classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum JointForm {
    /// The sum of a margin loss over the other classes. With the hinge it is the machine of Weston
    /// and Watkins, *Support vector machines for multi-class pattern recognition*, ESANN 1999.
    Pairwise,
    /// The multinomial logistic loss, `log(sum_c exp(s_c)) - s_y`, whatever the margin loss.
    Multinomial,
    /// The largest hinge over the other classes, whatever the margin loss: the machine of Crammer and
    /// Singer, *On the algorithmic implementation of multiclass kernel-based vector machines*, JMLR 2
    /// (2001).
    CrammerSinger,
}

impl JointForm {
    /// Returns true if the loss of a sample has a kink, given the margin loss.
    pub fn has_kink<L: MarginLoss + ?Sized>(self, loss: &L) -> bool {
        match self {
            JointForm::Pairwise => !loss.is_differentiable(),
            JointForm::Multinomial => false,
            JointForm::CrammerSinger => true,
        }
    }
}

/// The objective of k classes at once, up to the choice of lambda:
///
/// `F(b, w) = (1/n) sum_i c_i l(u_i) + lambda sum_c ||w_c||^2`, with scores `s_c = b_c + <w_c, x>`
/// and margins `u_ic = s_y(x_i) - s_c(x_i)` of the class y of sample i over every other class c,
///
/// for `l(u) = sum_c L(u_c)`, the [multinomial](JointForm::Multinomial) logistic loss or the
/// [largest](JointForm::CrammerSinger) hinge. The intercepts add up to 0, and are not penalised;
/// features can be [free](Self::with_free) likewise. With two classes and the sum, it is the problem of
/// [`Objective`](crate::Objective) at half of lambda: `w_2 = -w_1` is half of its coefficients.
///
/// n counts all samples, those of weight 0 included. Classes without a sample of positive weight
/// take no part.
#[derive(Debug)]
pub struct JointObjective<'a, L: MarginLoss + ?Sized> {
    pub(crate) loss: &'a L,
    pub(crate) form: JointForm,
    pub(crate) design: Cow<'a, Design>,
    classes: &'a Classes,
    /// The weights over n.
    pub(crate) weights: Weights,
    pub(crate) has_intercepts: bool,
    /// The features that no penalty acts on.
    pub(crate) free: FreeColumns,
}

impl<'a, L: MarginLoss + ?Sized> JointObjective<'a, L> {
    /// Returns the objective of samples of weight 1, with intercepts.
    ///
    /// # Errors
    /// [`Error::Shape`]: the labels are not as many as the rows. [`Error::OneClass`]: they are of one
    /// class only.
    ///
    /// ```
    /// use margins_data::{Classes, Design};
    /// use margins_losses::Logistic;
    /// use margins_optim::path::joint_path;
    /// use margins_optim::problem::{JointForm, JointObjective};
    /// use margins_optim::{Lambda, Options};
    ///
    /// let design = Design::from_rows(&[[0.0, 1.0], [1.0, 3.0], [2.0, 0.5], [3.0, 1.0], [0.0, 2.0]])?;
    /// let classes = Classes::new(&["low", "mid", "top", "top", "low"])?;
    /// let objective = JointObjective::new(&Logistic, JointForm::Pairwise, &design, &classes)?;
    /// let fits = joint_path(&objective, &[Lambda::new(0.1)?], &Options::default(), &|_| {})?;
    /// let fit = &fits[0];
    /// assert!(fit.report.converged() && fit.classes == [0, 1, 2]);
    /// assert!(fit.intercepts.iter().sum::<f64>().abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        loss: &'a L,
        form: JointForm,
        design: &'a Design,
        classes: &'a Classes,
    ) -> Result<Self, Error> {
        let (expected, found) = (design.rows(), classes.len());
        if expected != found {
            return Err(Error::Shape { what: "labels, one per row", expected, found });
        }
        let weights = Weights::equal(1.0 / expected as f64, expected);
        let design = Cow::Borrowed(design);
        let (has_intercepts, free) = (true, FreeColumns::default());
        let objective =
            JointObjective { loss, form, design, classes, weights, has_intercepts, free };
        objective.checked()
    }

    /// Returns the objective of a data set with its weights, if it has any, and intercepts.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new) and [`with_weights`](Self::with_weights).
    pub fn of(loss: &'a L, form: JointForm, data: &'a Dataset<Classes>) -> Result<Self, Error> {
        let objective = Self::new(loss, form, data.design(), data.labels())?;
        match data.weights() {
            Some(weights) => objective.with_weights(weights),
            None => Ok(objective),
        }
    }

    /// Multiplies the loss of sample i by `weights[i]`.
    ///
    /// # Errors
    /// [`Error::Shape`]: the weights are not as many as the samples. [`Error::Weight`]: a weight is
    /// negative or not finite. [`Error::OneClass`]: less than two classes have a positive weight.
    pub fn with_weights(mut self, weights: &[f64]) -> Result<Self, Error> {
        let (expected, found) = (self.weights.len(), weights.len());
        if expected != found {
            return Err(Error::Shape { what: "weights, one per row", expected, found });
        }
        if let Some(row) = weights.iter().position(|c| !(c.is_finite() && *c >= 0.0)) {
            return Err(Error::Weight { row, value: weights[row] });
        }
        self.weights = self.weights.times(weights);
        self.checked()
    }

    /// Multiplies the weights of the samples of every class by one number, so that all classes that are
    /// present have the same total weight and the total stays what it was.
    ///
    /// # Errors
    /// The errors of [`with_weights`](Self::with_weights).
    pub fn balanced(self) -> Result<Self, Error> {
        let mut totals = vec![0.0; self.classes.names().len()];
        for (i, &class) in self.classes.indices().iter().enumerate() {
            totals[class as usize] += self.weights.get(i);
        }
        let mean = totals.iter().sum::<f64>() / self.present().len() as f64;
        let factor = |class: &u32| match totals[*class as usize] {
            0.0 => 0.0,
            total => mean / total,
        };
        let factors: Vec<f64> = self.classes.indices().iter().map(factor).collect();
        self.with_weights(&factors)
    }

    /// Returns the form of the loss.
    pub fn form(&self) -> JointForm {
        self.form
    }

    /// Returns the margin loss.
    pub fn loss(&self) -> &'a L {
        self.loss
    }

    /// Fixes the intercepts at 0.
    #[must_use]
    pub fn without_intercepts(self) -> Self {
        JointObjective { has_intercepts: false, ..self }
    }

    /// Takes features out of the penalty. Their coefficients add up to 0 over the classes, as the
    /// intercepts do.
    ///
    /// # Errors
    /// [`Error::Shape`]: a column is not below the number of features.
    pub fn with_free(self, free: FreeColumns) -> Result<Self, Error> {
        free.check(self.design.columns())?;
        Ok(JointObjective { free, ..self })
    }

    /// Returns the free columns that the others do not [make up](FreeColumns::independent).
    pub(crate) fn independent_free(&self) -> FreeColumns {
        if self.free.is_empty() {
            return FreeColumns::default();
        }
        let part = FreePart { columns: self.free.clone(), intercept: self.has_intercepts };
        let block = Block::of(&self.design, &part);
        let gram = block.gram(self.design.rows(), |i| self.weights.get(i));
        self.free.independent(self.has_intercepts, &gram)
    }

    /// Returns the objective over another design of as many rows.
    pub(crate) fn over(&self, design: Design) -> Self {
        JointObjective {
            loss: self.loss,
            form: self.form,
            design: Cow::Owned(design),
            classes: self.classes,
            weights: self.weights.clone(),
            has_intercepts: self.has_intercepts,
            free: self.free.clone(),
        }
    }

    /// Refuses less than two classes of positive weight.
    fn checked(self) -> Result<Self, Error> {
        let present = self.present();
        if present.len() >= 2 {
            return Ok(self);
        }
        let names = self.classes.names();
        let missing = (0..names.len()).find(|class| !present.contains(class));
        Err(Error::OneClass(missing.map_or_else(String::new, |class| names[class].clone())))
    }

    /// Returns the classes that have a sample of positive weight, ascending.
    pub(crate) fn present(&self) -> Vec<usize> {
        let mut has_weight = vec![false; self.classes.names().len()];
        for (i, &class) in self.classes.indices().iter().enumerate() {
            has_weight[class as usize] |= self.weights.get(i) > 0.0;
        }
        (0..has_weight.len()).filter(|&class| has_weight[class]).collect()
    }

    /// Returns the rivals among the classes that are present; samples of other classes, whose weight is 0,
    /// count among the first.
    pub(crate) fn rivals(&self, present: &[usize]) -> Rivals<'a> {
        let indices = self.classes.indices();
        if present.len() == self.classes.names().len() {
            return Rivals::new(Cow::Borrowed(indices), present.len());
        }
        let place = |class: &u32| present.binary_search(&(*class as usize)).unwrap_or(0) as u32;
        Rivals::new(Cow::Owned(indices.iter().map(place).collect()), present.len())
    }
}
