use std::borrow::Cow;

use margins_data::{Dataset, Design, Labels};
use margins_losses::MarginLoss;

use crate::certificate::{Certificate, Evaluator, Point};
use crate::{Error, Lambda};

/// `F(b, w) = (1/n) sum_i c_i L(y_i (b + <w, x_i>)) + lambda ||w||^2`, up to the choice of lambda.
///
/// n counts all samples, those of weight 0 included: a held-out sample is a sample of weight zero.
#[derive(Debug)]
pub struct Objective<'a, L: MarginLoss + ?Sized> {
    pub(crate) loss: &'a L,
    pub(crate) design: Cow<'a, Design>,
    pub(crate) signs: Cow<'a, [f64]>,
    /// `c_i / n`.
    pub(crate) weights: Vec<f64>,
    pub(crate) intercept: bool,
}

impl<L: MarginLoss + ?Sized> Clone for Objective<'_, L> {
    fn clone(&self) -> Self {
        Objective {
            loss: self.loss,
            design: self.design.clone(),
            signs: self.signs.clone(),
            weights: self.weights.clone(),
            intercept: self.intercept,
        }
    }
}

impl<'a, L: MarginLoss + ?Sized> Objective<'a, L> {
    /// Every sample with weight 1, and an intercept.
    ///
    /// # Errors
    /// Another number of labels than of rows; labels of one class only.
    pub fn new(loss: &'a L, design: &'a Design, labels: &'a Labels) -> Result<Self, Error> {
        if labels.len() != design.rows() {
            return Err(Error::Shape {
                what: "labels",
                expected: design.rows(),
                found: labels.len(),
            });
        }
        for (sign, class) in [(1.0, labels.positive_class()), (-1.0, labels.negative_class())] {
            if !labels.signs().contains(&sign) {
                return Err(Error::OneClass(class.to_owned()));
            }
        }
        Ok(Objective {
            loss,
            design: Cow::Borrowed(design),
            signs: Cow::Borrowed(labels.signs()),
            weights: vec![1.0 / design.rows() as f64; design.rows()],
            intercept: true,
        })
    }

    /// The samples of a data set with its weights, if it has any, and an intercept.
    ///
    /// # Errors
    /// As [`new`](Self::new) and [`with_weights`](Self::with_weights).
    pub fn of(loss: &'a L, data: &'a Dataset) -> Result<Self, Error> {
        let objective = Self::new(loss, data.design(), data.labels())?;
        match data.weights() {
            Some(weights) => objective.with_weights(weights),
            None => Ok(objective),
        }
    }

    /// Multiplies the loss of sample i by `weights[i]`.
    ///
    /// # Errors
    /// Another number of weights than of rows; a weight that is negative or not finite; a class of
    /// which no sample has a positive weight.
    pub fn with_weights(mut self, weights: &[f64]) -> Result<Self, Error> {
        if weights.len() != self.weights.len() {
            return Err(Error::Shape {
                what: "sample weights",
                expected: self.weights.len(),
                found: weights.len(),
            });
        }
        if let Some(row) = weights.iter().position(|c| !(c.is_finite() && *c >= 0.0)) {
            return Err(Error::Weight { row, value: weights[row] });
        }
        for (ours, c) in self.weights.iter_mut().zip(weights) {
            *ours *= c;
        }
        for sign in [1.0, -1.0] {
            let present = |(y, c): (&f64, &f64)| *y == sign && *c > 0.0;
            if !self.signs.iter().zip(&self.weights).any(present) {
                return Err(Error::OneClass(format!("{sign:+}")));
            }
        }
        Ok(self)
    }

    /// Fixes the intercept at 0.
    #[must_use]
    pub fn without_intercept(mut self) -> Self {
        self.intercept = false;
        self
    }

    /// The same objective over another design of as many rows.
    pub(crate) fn over(&self, design: Design) -> Self {
        assert_eq!(design.rows(), self.design.rows(), "an objective keeps its samples");
        Objective { design: Cow::Owned(design), ..self.clone() }
    }

    /// How far a given linear classifier can be from the minimum at `lambda`: a bound for the result
    /// of any program. The intercept is first re-optimised, which the bound allows for.
    ///
    /// # Errors
    /// A loss without duality; another number of coefficients than of features; an intercept where the
    /// objective has none.
    pub fn certificate(
        &self,
        lambda: Lambda,
        intercept: f64,
        coef: &[f64],
    ) -> Result<Certificate, Error> {
        self.check_loss()?;
        if coef.len() != self.design.columns() {
            return Err(Error::Shape {
                what: "coefficients",
                expected: self.design.columns(),
                found: coef.len(),
            });
        }
        if !self.intercept && intercept != 0.0 {
            return Err(Error::Intercept(intercept));
        }
        let mut evaluator = Evaluator::new(self);
        let mut point = Point::at(self, intercept, coef.to_vec());
        let given = evaluator.value_at(lambda, &point);
        evaluator.settle_intercept(&mut point);
        Ok(evaluator.certificate(lambda, &point).raised_to(given))
    }

    /// Whether the loss has what every solver here is built on.
    pub(crate) fn check_loss(&self) -> Result<(), Error> {
        let unsuitable = |lacks, alternative| {
            Err(Error::Unsuitable { loss: self.loss.specification(), lacks, alternative })
        };
        if !self.loss.is_convex() {
            unsuitable(
                "is not convex, and without convexity no duality gap certifies a fit",
                "lhs and logistic are convex",
            )
        } else if !self.loss.is_differentiable() {
            unsuitable(
                "has a kink, and the solvers here need a differentiable loss",
                "smoothed-hinge and squared-hinge are the differentiable relatives of the hinge",
            )
        } else {
            Ok(())
        }
    }
}
