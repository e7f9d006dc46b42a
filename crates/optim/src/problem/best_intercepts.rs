//! All intercepts that are best for given scores.

use margins_losses::{Interval, MarginLoss};

use crate::problem::Margins;

impl<L: MarginLoss + ?Sized> Margins<'_, L> {
    /// Returns all intercepts that minimise the risk for these scores, for a convex loss; `intercept` is
    /// where the search begins. There are several only if the risk is flat there: no sample has curvature,
    /// and the slopes of both classes cancel. Where all margins of the leaky hockey stick are at most 1
    /// and the classes have the same weight, the interval is from the largest `-1 - f_i` of the negative
    /// class to the smallest `1 - f_i` of the positive one. A risk without intercept has 0 alone. An
    /// interval that ends within 1e-9 on both sides of an intercept, relative to `1 + |b|`, counts as that
    /// intercept alone.
    ///
    /// Source: Kwon and Zou, *Leaky hockey stick loss*, JMLR 24 (2023), remarks 2 and 3.
    ///
    /// ```
    /// use margins_data::Labels;
    /// use margins_losses::LeakyHockeyStick;
    /// use margins_optim::problem::EmpiricalRisk;
    ///
    /// // The four points of remark 2, whose best coefficients are 0.
    /// let labels = Labels::from_signs(vec![-1.0, -1.0, 1.0, 1.0])?;
    /// let risk = EmpiricalRisk::new(&LeakyHockeyStick, &labels)?;
    /// let best = risk.margins().best_intercepts(&[0.0; 4], 0.0);
    /// assert!((best.lower + 1.0).abs() < 1e-15 && (best.upper - 1.0).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn best_intercepts(&mut self, scores: &[f64], intercept: f64) -> Interval {
        /// The curvature, relative to the slopes, that a flat risk does not have.
        const CURVED: f64 = 1e-14;
        if self.risk.intercept && self.is_alone(scores, intercept) {
            return Interval::new(intercept, intercept);
        }
        let best = self.settle(scores, intercept);
        if !self.risk.intercept || self.side(scores, best) != 0 || self.is_alone(scores, best) {
            return Interval::new(best, best);
        }
        let mut end = |side: f64| {
            let (mut inside, mut outside, mut reach) = (best, best + side, 1.0);
            while self.side(scores, outside) == 0 && outside.is_finite() {
                reach *= 2.0;
                (inside, outside) = (outside, best + side * reach);
            }
            loop {
                let middle = inside + 0.5 * (outside - inside);
                if middle == inside || middle == outside {
                    return inside;
                }
                *(if self.side(scores, middle) == 0 { &mut inside } else { &mut outside }) = middle;
            }
        };
        let (lower, upper) = (end(-1.0), end(1.0));
        // A curved risk is level within rounding of its minimum.
        self.set(scores, lower + 0.5 * (upper - lower));
        match self.curvature() > CURVED * self.total_slope() {
            true => Interval::new(best, best),
            false => Interval::new(lower, upper),
        }
    }

    /// Returns true if the slope changes its sign at an intercept, and is not level near it.
    fn is_alone(&mut self, scores: &[f64], intercept: f64) -> bool {
        /// How far an interval reaches to one side at least, relative to `1 + |b|`.
        const SHORTEST: f64 = 1e-9;
        let short = SHORTEST * (1.0 + intercept.abs());
        self.side(scores, intercept - short) < 0 && self.side(scores, intercept + short) > 0
    }

    /// Returns the sign of the slope in the intercept: 0 where it is no more than rounding.
    fn side(&mut self, scores: &[f64], intercept: f64) -> i8 {
        let slope = self.set(scores, intercept);
        match slope.abs() <= 2.0 * f64::EPSILON * self.total_slope() {
            true => 0,
            false => slope.signum() as i8,
        }
    }
}
