use margins_losses::MarginLoss;

use crate::Lambda;
use crate::point::Point;
use crate::risk::EmpiricalRisk;

/// The last two solutions of a path, from which the next one starts.
#[derive(Debug, Default)]
pub struct Trail {
    last: Option<(Lambda, Point)>,
    before: Option<(Lambda, Point)>,
}

impl Trail {
    /// Whether there is no solution yet.
    pub fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// The solution last pushed.
    pub fn last(&self) -> Option<&Point> {
        self.last.as_ref().map(|(_, point)| point)
    }

    /// Adds a solution.
    pub fn push(&mut self, lambda: Lambda, point: Point) {
        self.before = self.last.replace((lambda, point));
    }

    /// Where to start at a smaller lambda: on the ray if the last solution lies beyond separation
    /// (with `closed_form_ray`), else the candidate of least `value`: the last solution, that
    /// solution scaled along the ray, and the line through the last two in the logarithm of lambda.
    /// `None` without a solution to start from.
    pub fn start<L: MarginLoss + ?Sized>(
        &self,
        risk: &EmpiricalRisk<'_, L>,
        lambda: Lambda,
        closed_form_ray: bool,
        mut value: impl FnMut(&Point) -> f64,
    ) -> Option<Point> {
        let (last_lambda, last) = self.last.as_ref()?;
        let mut candidates = vec![last.clone()];
        if let (Some(tail), true) = (risk.loss().homogeneous_tail(), closed_form_ray) {
            let factor = (last_lambda.get() / lambda.get()).powf(1.0 / (1.0 + tail.degree));
            if risk.all_beyond(&last.products, last.intercept, tail.from) {
                return Some(last.scaled(factor));
            }
            candidates.push(last.scaled(factor));
        }
        if let Some((before_lambda, before)) = &self.before {
            let taken = (last_lambda.get() / before_lambda.get()).ln();
            let ahead = (lambda.get() / last_lambda.get()).ln();
            if taken != 0.0 {
                candidates.push(last.step(ahead / taken, &last.step(-1.0, before)));
            }
        }
        let values: Vec<f64> = candidates.iter().map(&mut value).collect();
        let lowest = (0..candidates.len()).min_by(|&i, &j| values[i].total_cmp(&values[j]))?;
        Some(candidates.swap_remove(lowest))
    }
}
