//! The limited-memory approximation of the inverse Hessian.

use std::collections::VecDeque;

use crate::problem::summation::dot;

/// The last steps of a descent with the changes of the gradient along them, which approximate the
/// inverse of the Hessian as in limited-memory BFGS.
///
/// Source: Nocedal, *Updating quasi-Newton matrices with limited storage*, Mathematics of
/// Computation 35, 1980.
#[derive(Debug, Clone)]
pub struct LimitedMemory {
    pairs: VecDeque<Pair>,
    most: usize,
}

#[derive(Debug, Clone)]
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    /// The number `1/<step, change>`.
    inverse: f64,
}

impl LimitedMemory {
    /// Returns a memory of at most so many steps.
    pub fn new(most: usize) -> Self {
        LimitedMemory { pairs: VecDeque::with_capacity(most), most }
    }

    /// Returns true if no step is known.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Forgets all steps.
    pub fn clear(&mut self) {
        self.pairs.clear();
    }

    /// Adds a step and the change of the gradient along it, unless the function has no curvature
    /// along the step: the approximate Hessian would be indefinite.
    pub fn learn(&mut self, step: Vec<f64>, change: Vec<f64>) {
        let curvature = dot(&step, &change);
        let least = f64::EPSILON * (dot(&step, &step) * dot(&change, &change)).sqrt();
        if curvature > least && (1.0 / curvature).is_finite() {
            if self.pairs.len() == self.most {
                self.pairs.pop_front();
            }
            self.pairs.push_back(Pair { step, change, inverse: 1.0 / curvature });
        }
    }

    /// Makes the steps those on the function plus `0.5 curvature ||x||^2`; steps along which that has no
    /// curvature are forgotten.
    pub(crate) fn add_curvature(&mut self, curvature: f64) {
        for Pair { step, mut change, .. } in std::mem::take(&mut self.pairs) {
            change.iter_mut().zip(&step).for_each(|(y, s)| *y += curvature * s);
            self.learn(step, change);
        }
    }

    /// Returns `-H g` by the two-loop recursion. It begins with a multiple of a diagonal matrix, the
    /// identity for none; without steps with that matrix itself.
    pub fn direction(&self, gradient: &[f64], diagonal: Option<&[f64]>) -> Vec<f64> {
        let scaled = |x: &[f64]| -> Vec<f64> {
            match diagonal {
                Some(diagonal) => x.iter().zip(diagonal).map(|(x, d)| x * d).collect(),
                None => x.to_vec(),
            }
        };
        let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut shares = vec![0.0; self.pairs.len()];
        for (share, pair) in shares.iter_mut().zip(&self.pairs).rev() {
            *share = pair.inverse * dot(&pair.step, &q);
            q.iter_mut().zip(&pair.change).for_each(|(q, y)| *q -= *share * y);
        }
        let mut q = scaled(&q);
        if let Some(last) = self.pairs.back() {
            let scale = 1.0 / (last.inverse * dot(&last.change, &scaled(&last.change)));
            q.iter_mut().for_each(|q| *q *= scale);
        }
        for (share, pair) in shares.iter().zip(&self.pairs) {
            let excess = share - pair.inverse * dot(&pair.change, &q);
            q.iter_mut().zip(&pair.step).for_each(|(q, s)| *q += excess * s);
        }
        q
    }
}

#[cfg(test)]
mod tests {
    use super::LimitedMemory;
    use crate::problem::summation::dot;

    /// On a quadratic function the direction satisfies the secant equation of the last step, with
    /// any diagonal, also after curvature was added.
    #[test]
    fn the_last_step_is_the_direction_of_its_change() {
        let hessian = [[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]];
        let steps = [[1.0, 0.0, 0.3], [0.2, -1.0, 0.0], [0.0, 0.4, 1.0], [-1.0, 1.0, 1.0]];
        let image = |step: &[f64; 3], more: f64| -> Vec<f64> {
            hessian.iter().zip(step).map(|(row, s)| dot(row, step) + more * s).collect()
        };
        for diagonal in [None, Some(&[1.0, 0.1, 10.0][..])] {
            let mut memory = LimitedMemory::new(2);
            steps.iter().for_each(|step| memory.learn(step.to_vec(), image(step, 0.0)));
            for more in [0.0, 1.5] {
                memory.add_curvature(more);
                let direction = memory.direction(&image(&steps[3], more), diagonal);
                for (found, expected) in direction.iter().zip(steps[3]) {
                    assert!((found + expected).abs() < 1e-12, "{direction:?}");
                }
            }
            memory.learn(vec![1.0, 0.0, 0.0], vec![-1.0, 0.0, 0.0]);
            assert_eq!(memory.pairs.len(), 2);
        }
    }
}
